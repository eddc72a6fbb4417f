"""Workflows that people have edited since they were compiled, and workflows drawn by hand."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import verify_edits as edits
from orgflow import compiler
from orgflow.backends.n8n.verify.verify import verify_process
from orgflow.compilation.reading import load_model

from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets.verification import Verdict, Verification

ROOT = Path(__file__).resolve().parents[4]
CHOICE = "Request approved?"
PLACEHOLDERS = {"people": "placeholder"}

TWO_WAYS = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d"
 targetNamespace="https://example.org"><process id="p" isExecutable="true">
 <startEvent id="s" /><userTask id="a" name="Measure" /><exclusiveGateway id="g" name="Large?"
 default="no" /><userTask id="b" name="Call two" /><userTask id="c" name="Call one" />
 <endEvent id="e" /><endEvent id="f" /><sequenceFlow id="1" sourceRef="s" targetRef="a" />
 <sequenceFlow id="2" sourceRef="a" targetRef="g" />
 <sequenceFlow id="yes" name="Yes" sourceRef="g" targetRef="b" />
 <sequenceFlow id="no" sourceRef="g" targetRef="c" />
 <sequenceFlow id="3" sourceRef="b" targetRef="e" />
 <sequenceFlow id="4" sourceRef="c" targetRef="f" /></process></definitions>"""


class Case:
    """A model and its compiled workflow."""

    def __init__(self, path: Path, registry: Registry) -> None:
        ctx = PassContext(registry=registry, options=PLACEHOLDERS)
        model = load_model(str(path), registry, ctx)
        assert model is not None
        self.model: Model = model
        self.registry = registry
        made = compiler.compile_model(model, registry.backends["n8n"], ctx)
        assert made is not None
        self.workflow: dict[str, Any] = json.loads(made.artifacts[0].text)

    def verify(self, workflow: dict[str, Any], *, strict: bool = False) -> Verification:
        ctx = PassContext(registry=self.registry, options=PLACEHOLDERS)
        process = self.model.processes[0]
        return verify_process(self.model, process, workflow, ctx, strict=strict)


@pytest.fixture(scope="module")
def leave(registry: Registry) -> Case:
    return Case(ROOT / "examples" / "leave-request" / "model.bpmn", registry)


def how(result: Verification, node: str) -> str:
    return next(m.how for m in result.matched if m.node == node)


# -- what changes nothing --------------------------------------------------------------------


def test_renamed_is_found_by_notes(leave: Case) -> None:
    result = leave.verify(edits.renamed(leave.workflow, "Check leave request", "Boss looks at it"))
    assert result.verdict is Verdict.PROVED
    assert how(result, "Boss looks at it") == "notes"
    assert result.changed == ()


def test_an_end_at_which_nothing_is_done_may_be_switched_off(leave: Case) -> None:
    workflow = copy.deepcopy(leave.workflow)
    edits.node(workflow, "Request rejected")["disabled"] = True
    assert leave.verify(workflow).verdict is Verdict.PROVED


def test_an_end_that_sends_may_not(registry: Registry, tmp_path: Path) -> None:
    path = tmp_path / "sends.bpmn"
    path.write_text(
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p">'
        '<startEvent id="s"/><endEvent id="e" name="Receipt sent"><messageEventDefinition/>'
        '</endEvent><sequenceFlow id="f" sourceRef="s" targetRef="e"/></process></definitions>'
    )
    case = Case(path, registry)
    workflow = copy.deepcopy(case.workflow)
    edits.node(workflow, "Receipt sent")["disabled"] = True
    message = different(case, workflow)
    assert message == ("`Receipt sent` is switched off in the workflow, but the model executes it")


@pytest.mark.parametrize("times", [1, 2])
@pytest.mark.parametrize("name", ["leave-request", "order-to-cash", "incident"])
def test_a_workflow_pasted_again_does_what_it_says_from_each_start(
    name: str, times: int, registry: Registry
) -> None:
    """The decision nodes of the copy read the copies: n8n's editor makes references follow."""
    case = Case(next((ROOT / "examples" / name).glob("model.*")), registry)
    workflow = case.workflow
    for number in range(times):
        workflow = edits.pasted_again(case.workflow if not number else workflow, number + 1)
    result = case.verify(workflow)
    assert result.verdict is Verdict.PROVED, result
    assert result.added == ()


@pytest.mark.parametrize("kind", ["inclusive", "exclusive"])
def test_branches_with_the_same_condition(kind: str, registry: Registry, tmp_path: Path) -> None:
    """No data takes one of them alone where all that hold are taken, nor the second where the first
    that holds is."""
    condition = "<conditionExpression>${amount &gt; 100}</conditionExpression>"
    path = tmp_path / "equal.bpmn"
    path.write_text(
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"><process id="p">'
        f'<startEvent id="s"/><task id="a" name="Order"/><{kind}Gateway id="g" default="d"/>'
        '<task id="b" name="B"/><task id="c" name="C"/><task id="n" name="Neither"/>'
        f'<{kind}Gateway id="j"/><endEvent id="e"/>'
        '<sequenceFlow id="f1" sourceRef="s" targetRef="a"/>'
        '<sequenceFlow id="f2" sourceRef="a" targetRef="g"/>'
        f'<sequenceFlow id="x" sourceRef="g" targetRef="b">{condition}</sequenceFlow>'
        f'<sequenceFlow id="y" sourceRef="g" targetRef="c">{condition}</sequenceFlow>'
        '<sequenceFlow id="d" sourceRef="g" targetRef="n"/>'
        '<sequenceFlow id="x2" sourceRef="b" targetRef="j"/>'
        '<sequenceFlow id="y2" sourceRef="c" targetRef="j"/>'
        '<sequenceFlow id="d2" sourceRef="n" targetRef="j"/>'
        '<sequenceFlow id="z" sourceRef="j" targetRef="e"/></process></definitions>'
    )
    case = Case(path, registry)
    assert case.verify(case.workflow).verdict is Verdict.PROVED
    wrong = copy.deepcopy(case.workflow)
    outputs = next(
        kinds["main"] for kinds in wrong["connections"].values() if len(kinds["main"]) > 2
    )
    outputs[0], outputs[2] = outputs[2], outputs[0]
    assert case.verify(wrong).verdict is Verdict.DIFFERENT


def test_new_ids_do_not_matter(leave: Case) -> None:
    assert leave.verify(edits.imported(leave.workflow)).verdict is Verdict.PROVED


def test_without_notes_the_map_tells(leave: Case) -> None:
    result = leave.verify(edits.imported(edits.stripped(leave.workflow, sticky=False)))
    assert result.verdict is Verdict.PROVED
    assert how(result, "Send rejection") == "map"


def test_without_notes_and_map_the_id_tells(leave: Case) -> None:
    bare = edits.stripped(leave.workflow)
    result = leave.verify(edits.renamed(bare, "Send rejection", "Say no"))
    assert result.verdict is Verdict.PROVED
    assert how(result, "Say no") == "id"


def test_then_the_name_and_then_the_neighbours(leave: Case) -> None:
    bare = edits.imported(edits.stripped(leave.workflow))
    result = leave.verify(edits.renamed(bare, "Send rejection", "Say no"))
    assert result.verdict is Verdict.PROVED
    assert how(result, "Check leave request") == "name"
    assert how(result, "Say no") == "graph"


def test_two_names_exchanged_are_told_by_the_notes(leave: Case) -> None:
    """The map is of the day it was compiled; notes travel with the node."""
    once = edits.renamed(leave.workflow, "Send rejection", "x")
    twice = edits.renamed(once, "Confirm leave", "Send rejection")
    result = leave.verify(edits.renamed(twice, "x", "Confirm leave"))
    assert result.verdict is Verdict.PROVED
    assert how(result, "Confirm leave") == "notes"


def test_order_of_rules_with_their_wires(leave: Case) -> None:
    workflow = edits.swapped(leave.workflow, CHOICE)
    rules = edits.node(workflow, CHOICE)["parameters"]["rules"]["values"]
    rules[0], rules[1] = rules[1], rules[0]
    result = leave.verify(workflow)
    assert result.verdict is Verdict.PROVED
    assert result.changed == ()


def test_filled_in_steps(leave: Case) -> None:
    workflow = copy.deepcopy(leave.workflow)
    kinds = {"Send rejection": ("n8n-nodes-base.gmail", 2.1), "Confirm leave": ("@x/n8n.y", 1)}
    for name, (kind, version) in kinds.items():
        edits.node(workflow, name).update(type=kind, typeVersion=version, parameters={"a": 1})
    result = leave.verify(workflow)
    assert result.verdict is Verdict.PROVED
    assert len(result.assumed) == 1


def test_an_added_step_is_told_and_strictly_a_difference(leave: Case) -> None:
    workflow = edits.inserted(leave.workflow, "Confirm leave", "httpRequest")
    result = leave.verify(workflow)
    assert (result.verdict, result.added) == (Verdict.CONDITIONAL, ("Log it",))
    assert [c.text for c in result.conditions] == ["`Log it` returns one item"]
    assert result.assumed
    strictly = leave.verify(workflow, strict=True)
    assert strictly.verdict is Verdict.DIFFERENT
    assert strictly.difference is not None
    assert "`Log it`" in strictly.difference.message


def test_an_added_trigger_starts_the_same(leave: Case) -> None:
    workflow = copy.deepcopy(leave.workflow)
    workflow["nodes"].append(
        {
            "id": "t", "name": "Every day", "type": "n8n-nodes-base.scheduleTrigger",
            "typeVersion": 1.2, "position": [0, 400], "parameters": {},
        }
    )  # fmt: skip
    workflow["connections"]["Every day"] = copy.deepcopy(workflow["connections"]["Leave needed"])
    result = leave.verify(workflow)
    assert (result.verdict, result.added) == (Verdict.PROVED, ("Every day",))
    workflow["connections"]["Every day"]["main"][0][0]["node"] = "Confirm leave"
    assert leave.verify(workflow).verdict is Verdict.DIFFERENT


def test_an_added_step_that_leads_nowhere_in_a_loop(leave: Case) -> None:
    """It is pending indefinitely: without care the states would never end."""
    workflow = copy.deepcopy(leave.workflow)
    edits.node(workflow, "Leave needed")
    workflow["nodes"].append(
        {
            "id": "a", "name": "Audit", "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2,
            "position": [9999, 9999], "parameters": {},
        }
    )  # fmt: skip
    workflow["connections"]["Fill in leave request"]["main"][0].append(
        {"node": "Audit", "type": "main", "index": 0}
    )
    assert leave.verify(workflow).verdict is Verdict.PROVED


# -- what changes the process ----------------------------------------------------------------


def different(case: Case, workflow: dict[str, Any]) -> str:
    """The message of the difference, whose run the token game can follow."""
    result = case.verify(workflow)
    assert result.verdict is Verdict.DIFFERENT
    assert result.difference is not None
    game = Game(case.model)
    process = case.model.processes[0].id
    state = game.initial(process, game.starts(process)[0])
    for step in result.difference.steps:
        state = game.fire(state, step)
    return result.difference.message


def test_swapped_branches(leave: Case) -> None:
    result = leave.verify(edits.swapped(leave.workflow, CHOICE))
    assert result.difference is not None
    *_, before, last = result.difference.lines
    assert before == ("Request approved? → Yes", "Request approved? → Yes")
    shown = "Record absence in payroll or Update team calendar"
    assert last == (shown, "Send rejection")
    different(leave, edits.swapped(leave.workflow, CHOICE))


def test_deleted_step(leave: Case) -> None:
    workflow = edits.without(leave.workflow, "Send rejection")
    assert leave.verify(workflow).missing == ("Send rejection",)
    assert different(leave, workflow) == (
        "`Send rejection` was deleted from the workflow, but the model executes it"
    )


def test_cut_wire(leave: Case) -> None:
    workflow = copy.deepcopy(leave.workflow)
    workflow["connections"]["Send rejection"]["main"] = [[]]
    message = different(leave, workflow)
    assert message == "the workflow ends, but the model continues with `Request rejected`"


def test_switched_off(leave: Case) -> None:
    workflow = copy.deepcopy(leave.workflow)
    edits.node(workflow, "Send rejection")["disabled"] = True
    message = different(leave, workflow)
    assert message == (
        "`Send rejection` is switched off in the workflow, but the model executes it"
    )
    result = leave.verify(workflow)
    assert result.difference is not None
    assert ("", "Send rejection (switched off)") in result.difference.lines


def test_pasted_copy_does_the_work_twice(leave: Case) -> None:
    message = different(leave, edits.pasted(leave.workflow, "Confirm leave", "Confirm leave1"))
    assert message.startswith("the workflow runs `Confirm leave")
    result = leave.verify(edits.pasted(leave.workflow, "Confirm leave", "Confirm leave1"))
    assert how(result, "Confirm leave1") == "copy"


def test_merge_that_hands_on_two_items(leave: Case) -> None:
    workflow = copy.deepcopy(leave.workflow)
    merge = next(n for n in workflow["nodes"] if n["type"].endswith(".merge"))
    merge["parameters"] = {"mode": "append", "numberInputs": 2}
    assert leave.verify(workflow).verdict is Verdict.PROVED, "it takes the first of them"
    for name in (merge["name"], "Confirm leave"):
        del edits.node(workflow, name)["executeOnce"]
    assert different(leave, workflow) == (
        "the workflow does `Confirm leave` 2 times, but the model does it once"
    )


def test_join_taken_out(leave: Case) -> None:
    merge = next(n["name"] for n in leave.workflow["nodes"] if n["type"].endswith(".merge"))
    message = different(leave, edits.without(leave.workflow, merge))
    assert message.startswith("the workflow runs `Confirm leave`, but the model does not")


def test_a_rename_that_references_did_not_follow(leave: Case) -> None:
    workflow = edits.renamed(leave.workflow, "Check leave request", "Boss looks at it")
    text = json.dumps(workflow, ensure_ascii=False)
    broken = json.loads(text.replace("$('Boss looks at it')", "$('Check leave request')"))
    message = different(leave, broken)
    assert "reads `Check leave request`, which does not exist in the workflow" in message


def test_stop_taken_out_ends_silently(leave: Case) -> None:
    message = different(leave, edits.without(leave.workflow, f"Stop: {CHOICE}"))
    assert message.startswith("if no branch of `Request approved?` matches, the run ends")
    result = leave.verify(edits.without(leave.workflow, f"Stop: {CHOICE}"))
    assert result.difference is not None
    assert result.difference.unfit


def test_early_end_in_an_added_check(leave: Case) -> None:
    workflow = edits.inserted(leave.workflow, "Confirm leave", "if", "Really?")
    assert different(leave, workflow) == (
        "the workflow ends, but the model continues with `Confirm leave`"
    )


def test_going_round_in_circles(leave: Case) -> None:
    """A step that leads back to itself, alone or beside its way on: nothing that the model shows
    happens, and the run never ends."""
    alone = edits.inserted(leave.workflow, "Confirm leave")
    alone["connections"]["Log it"]["main"] = [[{"node": "Log it", "type": "main", "index": 0}]]
    message = different(leave, alone)
    assert message.startswith("the workflow loops at `Log it` indefinitely")
    beside = edits.inserted(leave.workflow, "Confirm leave")
    edits.node(beside, "Log it")["position"] = [-999, -999]
    beside["connections"]["Log it"]["main"][0].append(
        {"node": "Log it", "type": "main", "index": 0}
    )
    assert different(leave, beside) == message


def test_trying_again_is_no_circle(leave: Case) -> None:
    workflow = edits.inserted(leave.workflow, "Confirm leave", "if", "Worked?")
    workflow["connections"]["Worked?"]["main"].append(
        [{"node": "Worked?", "type": "main", "index": 0}]
    )
    assert leave.verify(workflow).verdict is Verdict.PROVED


def test_trigger_gone(leave: Case) -> None:
    workflow = edits.without(leave.workflow, "Leave needed")
    assert different(leave, workflow) == (
        "`Leave needed` was deleted from the workflow, but the model starts with it"
    )


# -- what cannot be judged -------------------------------------------------------------------


def test_changed_condition_is_reported_and_the_rest_is_judged(leave: Case) -> None:
    workflow = copy.deepcopy(leave.workflow)
    rule = edits.node(workflow, CHOICE)["parameters"]["rules"]["values"][0]["conditions"]
    rule["conditions"][0]["operator"]["operation"] = "startsWith"
    result = leave.verify(workflow)
    assert result.verdict is Verdict.CHANGED
    (change,) = result.changed
    assert (change.node, change.element) == (CHOICE, "request_approved")
    assert change.was == "request_approved of “Check leave request” equals No"
    assert change.now == "request_approved of “Check leave request” startsWith No"
    assert leave.verify(workflow, strict=True).verdict is Verdict.DIFFERENT
    cut = copy.deepcopy(workflow)
    cut["connections"]["Send rejection"]["main"] = [[]]
    assert leave.verify(cut).verdict is Verdict.DIFFERENT


@pytest.mark.parametrize(
    "change",
    [
        {"rightValue": "Never"},
        {"operator": {"type": "string", "operation": "notEquals"}},
        {"leftValue": ("request_approved", "approved_by")},
    ],
)
def test_another_value_variable_or_sign_is_different(leave: Case, change: dict[str, Any]) -> None:
    for place in (0, 1):
        workflow = copy.deepcopy(leave.workflow)
        rule = edits.node(workflow, CHOICE)["parameters"]["rules"]["values"][place]["conditions"]
        condition = rule["conditions"][0]
        for key, value in change.items():
            new = condition[key].replace(*value) if isinstance(value, tuple) else value
            assert new != condition[key]
            condition[key] = new
        assert leave.verify(workflow).verdict is Verdict.DIFFERENT


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"rightValue": "approved"}, "return [{json: {request_approved: 'approved'}}];"),
        ({"leftValue": ("request_approved", "state")}, "return [{json: {state: 'Yes'}}];"),
    ],
)
def test_a_value_or_variable_that_the_filled_step_names_is_a_changed_expression(
    leave: Case, change: dict[str, Any], code: str
) -> None:
    workflow = copy.deepcopy(leave.workflow)
    for rule in edits.node(workflow, CHOICE)["parameters"]["rules"]["values"]:
        condition = rule["conditions"]["conditions"][0]
        for key, value in change.items():
            if isinstance(value, tuple):
                condition[key] = condition[key].replace(*value)
            elif condition[key] == "Yes":
                condition[key] = value
    assert leave.verify(workflow).verdict is Verdict.DIFFERENT
    filled = {"type": "n8n-nodes-base.code", "typeVersion": 2, "parameters": {"jsCode": code}}
    edits.node(workflow, "Check leave request").update(filled)
    assert leave.verify(workflow).verdict is Verdict.CHANGED


def _old_switch(workflow: dict[str, Any], version: int, **changes: Any) -> dict[str, Any]:
    """The choice as a Switch of version 1 or 2; the fallback of version 1 is output 3."""
    found = copy.deepcopy(workflow)
    row = edits.node(found, CHOICE)
    values = row["parameters"]["rules"]["values"]
    conditions = [rule["conditions"]["conditions"][0] for rule in values]
    rules = [
        {"operation": "equal", "value2": c["rightValue"], **({"output": i} if version < 2 else {})}
        for i, c in enumerate(conditions)
    ]
    rules[0] |= changes
    row["typeVersion"] = version
    row["parameters"] = {
        "dataType": "string",
        "value1": conditions[0]["leftValue"],
        "rules": {"rules": rules},
        "fallbackOutput": 3 if version < 2 else -1,
    }
    return found


def test_old_switch(leave: Case) -> None:
    assert leave.verify(_old_switch(leave.workflow, 1)).verdict is Verdict.PROVED
    turned = _old_switch(leave.workflow, 1, output=1)
    assert leave.verify(turned).verdict is Verdict.DIFFERENT
    rules = edits.node(turned, CHOICE)["parameters"]["rules"]["rules"]
    rules[1]["output"] = 0
    wires = turned["connections"][CHOICE]["main"]
    wires[0], wires[1] = wires[1], wires[0]
    assert leave.verify(turned).verdict is Verdict.PROVED
    for change in ({"value2": "Never"}, {"operation": "notEqual"}):
        assert leave.verify(_old_switch(leave.workflow, 1, **change)).verdict is Verdict.DIFFERENT
    smaller = _old_switch(leave.workflow, 1, operation="smaller")
    assert leave.verify(smaller).verdict is Verdict.CHANGED


def test_switch_of_version_2_ends_silently_where_no_branch_fits(leave: Case) -> None:
    found = different(leave, _old_switch(leave.workflow, 2))
    assert "if no branch of `Request approved?` matches" in found


@pytest.mark.parametrize(
    ("operation", "value", "verdict"),
    [
        ("equal", "Yes", Verdict.PROVED),
        ("notEqual", "Yes", Verdict.DIFFERENT),
        ("equal", "yes", Verdict.DIFFERENT),
        ("contains", "Yes", Verdict.CHANGED),
    ],
)
def test_if_of_version_1(
    registry: Registry, tmp_path: Path, operation: str, value: str, verdict: Verdict
) -> None:
    path = tmp_path / "model.bpmn"
    path.write_text(TWO_WAYS, "utf-8")
    case = Case(path, registry)
    row = edits.node(case.workflow, "Large?")
    assert row["type"].endswith(".if")
    left = row["parameters"]["conditions"]["conditions"][0]["leftValue"]
    test = {"value1": left, "operation": operation, "value2": value}
    row |= {"typeVersion": 1, "parameters": {"conditions": {"string": [test]}}}
    assert case.verify(case.workflow).verdict is verdict


def test_a_step_without_items_sets_nothing(registry: Registry, tmp_path: Path) -> None:
    """What comes by an input that a step does not have is not worked on, even where the step always
    outputs data."""
    text = TWO_WAYS.replace('<userTask id="a" name="Measure" />', "")
    text = text.replace('<sequenceFlow id="2" sourceRef="a" targetRef="g" />', "")
    path = tmp_path / "model.bpmn"
    path.write_text(text.replace('targetRef="a"', 'targetRef="g"'), "utf-8")
    case = Case(path, registry)
    assert case.verify(case.workflow).verdict is Verdict.PROVED
    workflow = copy.deepcopy(case.workflow)
    setter = edits.node(workflow, "Decide: Large?")
    assert setter["alwaysOutputData"]
    (end,) = (
        end
        for kinds in workflow["connections"].values()
        for ends in kinds["main"]
        for end in ends
        if end["node"] == setter["name"]
    )
    end["index"] = 1
    assert case.verify(workflow).verdict is Verdict.DIFFERENT


def test_first_order_of_execution_is_reported(leave: Case) -> None:
    workflow = copy.deepcopy(leave.workflow)
    del workflow["settings"]["executionOrder"]
    result = leave.verify(workflow)
    assert result.verdict is Verdict.CHANGED
    assert result.changed[0].node == "the workflow's settings"


@pytest.mark.parametrize(
    "change",
    [
        {"typeVersion": 99},
        {"typeVersion": 1},
        {"parameters": {"mode": "combine", "combineBy": "combineByFields"}},
        {"parameters": {"mode": "combineBySql"}},
        {"parameters": {"mode": "={{ 'append' }}"}},
    ],
)
def test_a_merge_that_goes_by_the_data_is_reported(leave: Case, change: dict[str, Any]) -> None:
    workflow = copy.deepcopy(leave.workflow)
    next(n for n in workflow["nodes"] if n["type"].endswith(".merge")).update(change)
    result = leave.verify(workflow)
    assert result.verdict is Verdict.CHANGED
    assert [c.element for c in result.changed] == ["book_join"]


def test_a_decision_that_is_not_set_any_more_is_reported(leave: Case) -> None:
    setter = edits.node(leave.workflow, "Check leave request")
    fields = setter["parameters"]["assignments"]["assignments"]
    assert [f["name"] for f in fields] == ["request_approved"]
    said = "request_approved is set to one of: Yes, No, Needs changes"
    for change, told in (
        ({**fields[0], "name": "approved"}, "request_approved is not set"),
        ({**fields[0], "value": "Ja"}, "request_approved is always Ja"),
    ):
        workflow = copy.deepcopy(leave.workflow)
        body = edits.node(workflow, "Check leave request")["parameters"]
        body["assignments"]["assignments"] = [change]
        result = leave.verify(workflow)
        assert result.verdict is Verdict.CHANGED
        assert [(c.was, c.now) for c in result.changed] == [(said, told)]
    workflow = copy.deepcopy(leave.workflow)
    edits.node(workflow, "Check leave request").update(type="n8n-nodes-base.noOp", parameters={})
    assert leave.verify(workflow).verdict is Verdict.CHANGED


def test_a_wait_taken_out_is_reported(registry: Registry) -> None:
    case = Case(ROOT / "examples" / "invoice-approval" / "model.bpmn", registry)
    workflow = copy.deepcopy(case.workflow)
    wait = next(n for n in workflow["nodes"] if n["type"].endswith(".wait"))
    wait.update(type="n8n-nodes-base.noOp", typeVersion=1, parameters={})
    result = case.verify(workflow)
    assert result.verdict is Verdict.CHANGED
    assert result.changed[0].now == "a node of the type n8n-nodes-base.noOp"


def test_names_that_contradict_the_notes_are_told(leave: Case) -> None:
    once = edits.renamed(leave.workflow, "Send rejection", "x")
    twice = edits.renamed(once, "Confirm leave", "Send rejection")
    workflow = edits.renamed(twice, "x", "Confirm leave")
    result = leave.verify(workflow)
    assert sorted(result.assumed) == [
        "`Confirm leave` belongs to `Send rejection` according to its notes, but its name "
        "matches `Confirm leave`",
        "`Send rejection` belongs to `Confirm leave` according to its notes, but its name "
        "matches `Send rejection`",
    ]
    assert leave.verify(workflow, strict=True).verdict is Verdict.DIFFERENT


def test_a_copy_with_the_name_of_another_step_is_that_step(leave: Case) -> None:
    """ "Keep the name": its notes are those of the node that was copied."""
    workflow = copy.deepcopy(leave.workflow)
    made = edits.node(workflow, "Send rejection")
    made.update(id="pasted", notes=edits.node(workflow, "Confirm leave")["notes"])
    assert leave.verify(workflow).verdict is Verdict.PROVED


def test_limit_and_aggregate_hand_on_fewer_items(leave: Case) -> None:
    merge = next(n["name"] for n in leave.workflow["nodes"] if n["type"].endswith(".merge"))
    appended = copy.deepcopy(leave.workflow)
    edits.node(appended, merge)["parameters"] = {"mode": "append", "numberInputs": 2}
    for kind in ("limit", "aggregate"):
        assert leave.verify(edits.inserted(appended, "Confirm leave", kind)).verdict is (
            Verdict.PROVED
        )
    nothing = edits.inserted(leave.workflow, "Confirm leave", "limit")
    edits.node(nothing, "Log it")["parameters"] = {"maxItems": 0}
    assert leave.verify(nothing).verdict is Verdict.DIFFERENT


# -- drawn by hand ---------------------------------------------------------------------------


def drawn(wires: list[tuple[str, int, str, int]], kinds: dict[str, str]) -> dict[str, Any]:
    """A workflow nobody compiled: names and wires."""
    merge = {"mode": "combine", "combineBy": "combineByPosition", "numberInputs": 2}
    nodes = [
        {
            "id": str(number), "name": name, "type": f"n8n-nodes-base.{kind}", "typeVersion":
            3.2 if kind == "merge" else 2.2 if kind == "if" else 1, "position": [200 * number, 0],
            "parameters": merge if kind == "merge" else {"conditions": {"conditions": [
                {"id": "1", "leftValue": "={{ $json.ok }}", "rightValue": "", "operator":
                 {"type": "boolean", "operation": "true"}}]}} if kind == "if" else {},
        }
        for number, (name, kind) in enumerate(kinds.items())
    ]  # fmt: skip
    connections: dict[str, Any] = {}
    for source, output, target, slot in wires:
        main = connections.setdefault(source, {"main": []})["main"]
        while len(main) <= output:
            main.append([])
        main[output].append({"node": target, "type": "main", "index": slot})
    return {
        "name": "Leave", "nodes": nodes, "connections": connections,
        "settings": {"executionOrder": "v1"},
    }  # fmt: skip


KINDS = {
    "When clicking": "manualTrigger", "Fill in leave request": "set",
    "check leave request": "httpRequest", "Request approved?": "if", "Needs changes?": "if",
    "Send rejection": "httpRequest", "Record absence in payroll": "httpRequest",
    "Update team calendar": "googleCalendar", "Both": "merge", "Confirm leave": "gmail",
}  # fmt: skip
WIRES = [
    ("When clicking", 0, "Fill in leave request", 0),
    ("Fill in leave request", 0, "check leave request", 0),
    ("check leave request", 0, "Request approved?", 0),
    ("Request approved?", 0, "Record absence in payroll", 0),
    ("Request approved?", 0, "Update team calendar", 0),
    ("Request approved?", 1, "Needs changes?", 0),
    ("Needs changes?", 0, "Fill in leave request", 0),
    ("Needs changes?", 1, "Send rejection", 0),
    ("Record absence in payroll", 0, "Both", 0),
    ("Update team calendar", 0, "Both", 1),
    ("Both", 0, "Confirm leave", 0),
]


def test_a_choice_drawn_as_two_nodes_is_bounded(leave: Case) -> None:
    result = leave.verify(drawn(WIRES, KINDS))
    assert result.verdict is Verdict.BOUNDED
    assert result.bound is not None
    assert "`Request approved?`" in result.bound


def test_a_branch_that_never_comes(leave: Case) -> None:
    wires = [w for w in WIRES if w[:2] != ("Needs changes?", 0)]
    wires += [("Needs changes?", 0, "Send rejection", 0)]
    result = leave.verify(drawn(wires, KINDS))
    assert result.difference is not None
    assert result.difference.message == (
        "no node decides at `Request approved?`, and no run of the workflow takes `Needs changes`"
    )


def test_a_branch_that_leads_elsewhere(leave: Case) -> None:
    wires = [w for w in WIRES if w[:2] != ("Needs changes?", 1)]
    result = leave.verify(drawn([*wires, ("Needs changes?", 1, "Confirm leave", 0)], KINDS))
    assert result.verdict is Verdict.DIFFERENT


def test_a_choice_of_two_drawn_by_hand_is_told_by_where_it_leads(registry: Registry) -> None:
    case = Case(ROOT / "examples" / "invoice-approval" / "model.bpmn", registry)
    bare = edits.imported(edits.stripped(case.workflow))
    for row in bare["nodes"]:
        if row["type"].endswith((".if", ".switch")):
            text = json.dumps(row["parameters"])
            row["parameters"] = json.loads(text.replace("isExecuted", "isPaired"))
    result = case.verify(bare)
    assert result.verdict is Verdict.CHANGED
    assert result.changed
