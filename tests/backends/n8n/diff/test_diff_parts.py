"""The parts of a comparison: matching, references, conditions, decisions; and hostile files."""

from __future__ import annotations

import copy
import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest
from cli_cases import orgflowc
from engine_fixture import START, flow, if_node, noop
from engine_fixture import node as make
from orgflow.backends.n8n.backend import N8nBackend
from orgflow.backends.n8n.diff.decisions import join_decisions
from orgflow.backends.n8n.diff.file_comparison import (
    diff_files,
    diff_workflows,
    match_versions,
)
from orgflow.backends.n8n.format.canonical_parameters import canonical_value
from orgflow.backends.n8n.format.node_decisions import Decision, Rule, decision_of
from orgflow.backends.n8n.format.references import follow_renames
from orgflow.backends.n8n.format.workflow_document import Node, WorkflowDocument, workflows_of

from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.comparison import Comparison
from orgflow_ir.targets.comparison_text import comparison_text

Json = dict[str, Any]

# -- references ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("={{ $('Old').item.json.x }}", "={{ $('It\\'s new').item.json.x }}"),
        ('={{ $("Old").first() }}', '={{ $("It\'s new").first() }}'),
        ("={{ $(`Old`).first() }}", "={{ $(`It's new`).first() }}"),
        ('={{ $node["Old"].json }}', '={{ $node["It\'s new"].json }}'),
        ("={{ $node.Old.json }}", '={{ $node["It\'s new"].json }}'),
        ("={{ $items('Old', 0) }}", "={{ $items('It\\'s new', 0) }}"),
        ("={{ $( 'Old' ).all() }}", "={{ $( 'It\\'s new' ).all() }}"),
        ("={{ $('Older').x + 'Old' }}", "={{ $('Older').x + 'Old' }}"),
        ("$('Old') in plain text", "$('Old') in plain text"),
    ],
)
def test_references_follow_a_rename(before: str, after: str) -> None:
    assert follow_renames({"a": [before]}, {"Old": "It's new"}) == {"a": [after]}


def test_references_in_code_follow_and_swaps_do_not_chain() -> None:
    said = {"jsCode": "return $('A').all().concat($('B').all())"}
    assert follow_renames(said, {"A": "B", "B": "A"}) == {
        "jsCode": "return $('B').all().concat($('A').all())"
    }


# -- matching --------------------------------------------------------------------------------


def test_nodes_are_matched_by_name_map_notes_id_and_place() -> None:
    old = flow(
        [
            START,
            {**noop("Same"), "id": "1"},
            {**noop("Noted"), "notes": "words\n\norgflow: task_1"},
            {**noop("By id"), "id": "7"},
            noop("By place"),
            noop("End"),
        ],
        "T>Same", "Same>Noted", "Noted>By id", "By id>By place", "By place>End",
    )  # fmt: skip
    text = json.dumps(old)
    for name in ("Noted", "By id", "By place"):
        text = text.replace(f'"{name}"', f'"{name} now"')
    new = json.loads(text)
    found = match_versions(WorkflowDocument(old), WorkflowDocument(new))
    assert {found.key_of[new]: how for new, how in found.how.items()} == {
        "T": "name", "Same": "name", "Noted": "notes", "By id": "id", "By place": "graph",
        "End": "name",
    }  # fmt: skip
    assert found.renamed == {n: f"{n} now" for n in ("Noted", "By id", "By place")}


def test_a_copy_is_not_taken_for_the_original() -> None:
    """It is found by its place."""
    old = flow([START, {**noop("A"), "notes": "orgflow: a"}], "T>A")
    new = flow(
        [START, {**noop("B"), "notes": "orgflow: a"}, {**noop("C"), "notes": "orgflow: a"}],
        "T>B", "B>C",
    )  # fmt: skip
    assert match_versions(WorkflowDocument(old), WorkflowDocument(new)).renamed == {
        "A": "B"
    }  # by its place


def test_a_wire_to_a_sticky_note_is_no_evidence() -> None:
    note = make("Note", "stickyNote", 1)
    old = flow([START, noop("A"), noop("B"), note], "T>A", "T>Note", "A>B", "A>Note")
    new = flow([START, noop("C"), noop("D"), note], "T>C", "T>Note", "C>D", "C>Note")
    found = match_versions(WorkflowDocument(old), WorkflowDocument(new))
    assert found.renamed == {"A": "C", "B": "D"}


def test_a_trigger_does_not_become_a_step() -> None:
    old = flow([{**START, "id": "1"}, noop("A")], "T>A")
    new = flow([make("U", "manualTrigger", 1), {**noop("Z"), "id": "1"}, noop("A")], "U>Z", "Z>A")
    assert "Z" not in match_versions(WorkflowDocument(old), WorkflowDocument(new)).renamed.values()


# -- parameters ------------------------------------------------------------------------------


def test_what_the_editor_adds_says_nothing() -> None:
    one = {"conditions": {"conditions": [{"id": "1", "leftValue": "a", "rightValue": "b",
                                          "operator": {"type": "string", "operation": "equals"}}]},
           "options": {}}  # fmt: skip
    other = copy.deepcopy(one)
    item: Json = other["conditions"]["conditions"][0]  # type: ignore[assignment, call-overload]
    item["id"] = "2"
    item["operator"]["name"] = "filter.operator.equals"
    del other["options"]
    assert canonical_value(one) == canonical_value(other)
    item["rightValue"] = "c"
    assert canonical_value(one) != canonical_value(other)


def test_ids_that_mean_something_are_kept() -> None:
    assert canonical_value({"workflowId": {"value": "x"}}) != canonical_value(
        {"workflowId": {"value": "y"}}
    )
    assert canonical_value({"id": "1"}) != canonical_value({"id": "2"})


# -- decisions -------------------------------------------------------------------------------


def decision(*rules: str, otherwise: int | None = None, every: bool = False) -> Decision:
    """Rules by atom, `!` before one that holds where it is false."""
    return Decision(
        tuple(
            Rule(r.lstrip("!"), not r.startswith("!"), i, r, exclusive=None)
            for i, r in enumerate(rules)
        ),
        otherwise,
        every,
        {},
    )


def brute(one: Decision, other: Decision) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    atoms = sorted({r.atom for r in (*one.rules, *other.rules)})
    sets = itertools.chain.from_iterable(
        itertools.combinations(atoms, n) for n in range(len(atoms) + 1)
    )
    return {(one.taken(frozenset(s)), other.taken(frozenset(s))) for s in sets}


def test_pairs_of_branches_are_those_of_every_combination() -> None:
    """Two true conditions show all that any number of them shows, where the first one counts."""
    rng = random.Random(7)
    for _ in range(300):
        atoms = [f"a{i}" for i in range(rng.randint(1, 5))]
        sides = []
        for _ in range(2):
            chosen = rng.sample(atoms, rng.randint(1, len(atoms)))
            every = rng.random() < 0.3
            sides.append(decision(*chosen, otherwise=rng.choice([None, 9]), every=every))
        joint = join_decisions(*sides)
        if joint.changed:
            continue
        found, cut = joint._list_cases()
        assert not cut
        assert set(found) == brute(*sides)


def test_conditions_are_paired_by_label_then_in_order() -> None:
    def rule(atom: str, output: int, label: str) -> Rule:
        return Rule(atom, True, output, atom, label)

    old = Decision((rule("a", 0, "Yes"), rule("b", 1, "No"), rule("c", 2, "")), None, False, {})
    new = Decision((rule("x", 0, "No"), rule("y", 1, "Yes"), rule("z", 2, "")), None, False, {})
    joint = join_decisions(old, new)
    assert [(c.old, c.new) for c in joint.changed] == [("a", "y"), ("b", "x"), ("c", "z")]
    assert [r.atom for r in joint.new.rules] == ["b", "a", "c"]


def step_of(row: Json) -> Node:
    (step,) = WorkflowDocument({"nodes": [row]}).steps.values()
    return step


def switch(values: list[Json], **options: Any) -> Decision:
    row = make("S", "switch", 3.2, {"rules": {"values": values}, "options": options})
    found = decision_of(step_of(row), row["parameters"])
    assert found is not None
    return found


def equals(value: str, operation: str = "equals") -> Json:
    operator = {"type": "string", "operation": operation}
    said = {"leftValue": "={{ $json.x }}", "rightValue": value, "operator": operator}
    return {"conditions": {"conditions": [said], "combinator": "and"}, "outputKey": value}


def test_rules_that_exclude_each_other_may_change_places() -> None:
    old, new = switch([equals("a"), equals("b")]), switch([equals("b"), equals("a")])
    assert set(join_decisions(old, new)._list_cases()[0]) == {((0,), (1,)), ((1,), (0,)), ((), ())}
    old = switch([equals("a", "contains"), equals("b", "contains")])
    new = switch([equals("b", "contains"), equals("a", "contains")])
    assert ((0,), (0,)) in join_decisions(old, new)._list_cases()[0]  # "ab" is first of both


def test_old_versions_of_nodes_ask_the_same() -> None:
    one = make("I", "if", 1, {"conditions": {"string": [
        {"value1": "={{ $json.x }}", "operation": "equal", "value2": "a"}]}})  # fmt: skip
    two = make("I", "if", 2, {"conditions": {"conditions": [equals("a")["conditions"]
        ["conditions"][0]], "combinator": "and",
        "options": {"caseSensitive": True, "typeValidation": "loose", "version": 2}}})  # fmt: skip
    both = [decision_of(step_of(row), row["parameters"]) for row in (one, two)]
    assert both[0] is not None
    assert both[1] is not None
    assert both[0].rules[0].atom == both[1].rules[0].atom


def test_an_added_rule_takes_from_what_was_left() -> None:
    old, new = switch([equals("a")]), switch([equals("a"), equals("b")])
    assert set(join_decisions(old, new)._list_cases()[0]) == {((0,), (0,)), ((), (1,)), ((), ())}


# -- files -----------------------------------------------------------------------------------


def files(old: Any, new: Any) -> tuple[Comparison | None, PassContext]:
    ctx = PassContext()
    sources = [
        SourceFile(name, one if isinstance(one, bytes) else json.dumps(one).encode())
        for name, one in (("old.json", old), ("new.json", new))
    ]
    return diff_files(sources[0], sources[1], ctx), ctx


GOOD = flow([START, noop("A")], "T>A", name="W", id="w")


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"null", b"[]", b"{}", b"<a/>", b"\xff\xfe", b'{"tasks": []}', b"[" * 3000,
     b"<<<<<<< HEAD\n{}"],
)  # fmt: skip
def test_what_is_no_workflow_is_of490(data: bytes) -> None:
    for pair in ((data, GOOD), (GOOD, data)):
        found, ctx = files(*pair)
        assert found is None
        assert [d.code for d in ctx.diagnostics] == ["OF490"]
        (said,) = ctx.diagnostics
        assert said.loc is not None
        assert said.loc.file == ("old.json" if pair[0] is data else "new.json")
    assert "OF490" in {rule.code for rule in N8nBackend().rules}


ODD: list[Any] = [
    {"nodes": None}, {"connections": 3}, {"nodes": [1, None, {}], "connections": {"A": 3}},
    {"nodes": [{"name": 3, "type": [], "parameters": "x", "position": "y", "typeVersion": "z"}]},
    {"nodes": [noop("A"), noop("A")], "connections": {"A": {"main": [None, 3, [None, {}]]}}},
    {"nodes": [make("S", "switch", 3, {"rules": [], "options": 3})], "settings": []},
    {"nodes": [make("S", "switch", 3, {"rules": {"values": [3, {"conditions": 3}]}})]},
    {"nodes": [make("I", "if", 2, {"conditions": {"conditions": [3, {"operator": 3}]}})]},
    {"nodes": [make("I", "if", 1, {"conditions": {"string": 3, "number": [3]}})]},
    {"nodes": [make("M", "merge", 3, {"numberInputs": "x", "mode": 7})], "pinData": 3},
    {"nodes": [make("W", "wait", 1.1, {"amount": [], "unit": {}}), make("L", "splitInBatches", 3,
               {"batchSize": "x"})], "settings": {"executionOrder": 3}, "name": 3, "id": []},
    {"nodes": [{**noop("A"), "onError": 3, "credentials": 3, "notes": 3, "maxTries": "x",
                "retryOnFail": True}], "connections": {"A": {"main": [[{"node": "A", "index": -1},
                {"node": "A", "index": 10**9}, {"node": [], "index": 0}]]}}},
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(ODD)))
def test_odd_files_are_compared_as_far_as_they_go(number: int) -> None:
    odd = {"settings": {"executionOrder": "v1"}, **ODD[number]}
    for pair in ((odd, GOOD), (GOOD, odd), (odd, odd)):
        found, ctx = files(*pair)
        assert found is not None
        assert ctx.diagnostics == []
        comparison_text(found)
        assert not found.differs if pair[0] is pair[1] else found.differs


def test_workflows_are_paired_by_process_name_id_or_what_is_left() -> None:
    second = flow([START, noop("B")], "T>B", name="V", id="v")
    third = flow([START, noop("C")], "T>C", name="U", id="u")
    found, _ = files([GOOD, second], [second, GOOD])
    assert found is not None
    assert not found.differs
    assert [(p.old, p.new, p.how) for p in found.parts] == [("V", "V", "name"), ("W", "W", "name")]
    found, _ = files([GOOD, second], [{**second, "name": "New name"}, GOOD])
    assert found is not None
    assert [(p.old, p.new, p.how) for p in found.parts] == [("V", "New name", "id"),
                                                            ("W", "W", "name")]  # fmt: skip
    found, _ = files([GOOD, second], [GOOD, third])
    assert found is not None
    assert [p.how for p in found.parts] == ["name", "only one"]
    found, _ = files(GOOD, [GOOD, third])
    assert found is not None
    assert found.differs
    assert found.verdict == "different"
    assert "U: only in the new version" in comparison_text(found)


def test_what_the_api_puts_around_is_looked_through() -> None:
    assert len(workflows_of({"data": [GOOD, {"workflow": GOOD}]})) == 2
    found, _ = files(GOOD, {"data": [{**GOOD, "active": True, "updatedAt": "now"}]})
    assert found is not None
    assert found.layout_only
    assert comparison_text(found) == "only layout differs: positions, ids or order\n"


def test_names_cannot_drive_a_terminal() -> None:
    old = flow([START, if_node("A\x1b[31m\x07", "1")], "T>A\x1b[31m\x07")
    text = comparison_text(Comparison("o", "n", "workflows", (diff_workflows(old, GOOD),)))
    assert "\x1b" not in text
    assert "\\x1b" in text


def test_a_webhook_path_of_the_editor_is_an_id() -> None:
    def hook(path: str, own: str) -> Json:
        return flow([{**make("H", "webhook", 2, {"path": path}), "webhookId": own}])

    assert not diff_workflows(hook("u1", "u1"), hook("u2", "u2")).differs
    assert diff_workflows(hook("orders", "u1"), hook("sales", "u2")).differs


def test_other_connections_and_settings_are_told() -> None:
    tool = make("Model", "lmChatOpenAi", 1)
    old = flow([START, noop("A"), tool], "T>A")
    new = copy.deepcopy(old)
    new["connections"]["Model"] = {
        "ai_languageModel": [[{"node": "A", "type": "ai_languageModel", "index": 0}]]
    }
    new["settings"] = {"executionOrder": "v1", "timezone": "Europe/Berlin"}
    part = diff_workflows(old, new)
    assert [(c.kind, c.what, c.name) for c in part.changes] == [
        ("added", "connection", "Model → A (ai_languageModel)"),
        ("added", "setting", "workflow"),
    ]
    assert part.behaviour is not None
    assert part.behaviour.verdict == "different"


def agent(model: str, *, reached: bool = True, disabled: bool = False, **settings: str) -> Json:
    """An agent that the node called `model` serves; a trigger leads to it unless not `reached`."""
    made = flow(
        [
            START,
            {**make("Agent", "agent", 1), "type": "@n8n/n8n-nodes-langchain.agent"},
            make("Model", "lmChatOpenAi", 1),
            {**make("Other", "lmChatOpenAi", 1), "disabled": disabled},
        ],
        *(["T>Agent"] if reached else []),
    )
    made["connections"][model] = {
        "ai_languageModel": [[{"node": "Agent", "type": "ai_languageModel", "index": 0}]]
    }
    return {**made, "settings": {"executionOrder": "v1", **settings}}


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (agent("Model"), agent("Other"), "`Model` serves `Agent` (ai_languageModel) only in the "
         "old workflow"),
        (agent("Model"), agent("Other", disabled=True), "`Model` serves"),
        (agent("Model", timezone="Europe/Berlin"), agent("Model", timezone="Asia/Tokyo"),
         "the time zone is `Europe/Berlin` in the old workflow and `Asia/Tokyo` in the new one"),
        (agent("Model"), agent("Model", timezone="Asia/Tokyo"),
         "the time zone is the server's default in the old workflow"),
        (agent("Model"), agent("Model", errorWorkflow="w1"), "after an error"),
    ],
)  # fmt: skip
def test_models_and_time_zones_are_behaviour(old: Json, new: Json, reason: str) -> None:
    for order in ({"executionOrder": "v1"}, {"executionOrder": "v0"}):
        pair = [{**one, "settings": {**one["settings"], **order}} for one in (old, new)]
        found = diff_workflows(*pair).behaviour
        assert found is not None
        assert found.verdict == "different"
        assert reason in found.reason


def test_what_serves_nobody_and_defaults_are_not() -> None:
    pairs = [
        (agent("Model", reached=False), agent("Other", reached=False)),
        (agent("Model"), agent("Model", timezone="DEFAULT")),
    ]
    for old, new in pairs:
        # Another step, so that the walk is asked and not only whether anything differs.
        new["nodes"].append(noop("Idle"))
        found = diff_workflows(old, new).behaviour
        assert found is not None
        assert found.verdict == "same", found


def ask(operation: str, label: str, left: str = "={{ $json.p }}") -> Json:
    """A rule of a Switch: a string, one operand."""
    return {
        "outputKey": label,
        "renameOutput": True,
        "conditions": {
            "options": {"version": 2},
            "combinator": "and",
            "conditions": [
                {"operator": {"type": "string", "operation": operation}, "leftValue": left}
            ],
        },
    }


def test_a_condition_and_its_negation_in_one_switch() -> None:
    both = [ask("exists", "a"), ask("notExists", "b")]
    same = join_decisions(switch(both), switch(both))
    assert not same.changed
    other = [ask("exists", "a", "={{ $json.q }}"), ask("notExists", "b", "={{ $json.q }}")]
    changed = join_decisions(switch(both), switch(other))
    assert [c.label for c in changed.changed] == ["a", "b"]
    # Both changed alike: each value still leaves by one of the two, never by both or none.
    assert {(way.old, way.new) for way in changed.joint_ways(1)[0]} == {
        ((1,), (1,)),
        ((0, 1), (0, 1)),
    }
    swapped = join_decisions(switch(both), switch([ask("notExists", "a"), ask("exists", "b")]))
    assert not swapped.changed  # the same questions, asked in another order


def test_a_run_does_not_list_what_counts_the_visits_of_a_form(tmp_path: Path) -> None:
    """A form in a loop has nodes around it that no step of the process stands behind."""
    xml = (
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">'
        '<process id="p"><startEvent id="s"/><userTask id="x" name="Try it"/>{}<userTask id="y" '
        'name="Ship"/><endEvent id="e"/>{}</process></definitions>'
    )
    gates = '<exclusiveGateway id="m"/><exclusiveGateway id="g" name="Again?"/>'
    loop = [("s", "m"), ("m", "x"), ("x", "g"), ("g", "m"), ("g", "y"), ("y", "e")]
    line = [("s", "x"), ("x", "y"), ("y", "e")]
    for name, more, pairs in (("loop", gates, loop), ("line", "", line)):
        flows = "".join(
            f'<sequenceFlow id="{a}{b}" sourceRef="{a}" targetRef="{b}" name="{a}{b}"/>'
            for a, b in pairs
        )
        (tmp_path / f"{name}.bpmn").write_text(xml.format(more, flows))
        made = orgflowc(
            "compile", tmp_path / f"{name}.bpmn", "--target", "n8n", "-o", tmp_path / f"{name}.json"
        )
        assert made.code == 0, made.err
    done = orgflowc("diff", tmp_path / "line.json", tmp_path / "loop.json")
    run, _, nodes = done.out.partition("\n  nodes\n")
    assert "Try it" in run
    assert "Try it round" not in run
    assert "Before Try it" not in run
    assert "+ Try it round" in nodes
