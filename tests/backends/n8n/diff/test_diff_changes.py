"""What is a change is told as what it is; that behaviour differs is shown on the real engine."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import diff_edits as edits
import pytest
from diff_edits import behaviour, shown, told
from engine_fixture import START, call, flow, if_node, noop
from engine_fixture import node as make
from orgflow.backends.n8n.diff.file_comparison import diff_workflows
from orgflow.backends.n8n.engine.local import LocalEngine

from orgflow_ir.plugins import Registry
from orgflow_ir.targets.comparison import Change, Part

Json = dict[str, Any]
DECISION = "Request approved?"
SETTER = "Check leave request"
JOIN = "Join before Confirm leave"


@pytest.fixture(scope="module")
def leave(root: Path, registry: Registry) -> Json:
    (workflow,) = edits.compiled(root / "examples" / "leave-request" / "model.bpmn", registry)
    return workflow


def columns(part: Part) -> tuple[list[str], list[str]]:
    """Node names of both runs, without branches and items; ends are left out."""

    def name(text: str) -> str:
        return text.split(" → ")[0].split(" (")[0]

    rows = behaviour(part).run
    sides = [[name(row.old) for row in rows], [name(row.new) for row in rows]]
    return tuple([n for n in side if n and not n.startswith("the run ")] for side in sides)  # type: ignore[return-value]


def decided(part: Part, name: str = DECISION) -> list[str]:
    """The branches that the old run takes at a decision."""
    rows = [row.old for row in behaviour(part).run if row.old.startswith(f"{name} → ")]
    return [row.split(" → ")[1] for row in rows]


def order(engine: LocalEngine, workflow: Json, values: Sequence[str], items: int = 1) -> list[str]:
    """Node names in the order in which n8n's engine runs them."""
    visits = [{"request_approved": value} for value in values]
    run = engine.run(
        workflow,
        next(n["name"] for n in workflow["nodes"] if n["type"].endswith("Trigger")),
        items=[{"json": {}} for _ in range(items)],
        stubs={SETTER: {"visits": visits}} if SETTER in workflow["connections"] else None,
        limits={"nodes": 200},
    )
    return [entry.node for entry in run.order]


DIFFERENT: dict[str, Callable[[Json], Json]] = {
    "branches swapped": lambda w: edits.swapped_branches(w, DECISION),
    "first and third swapped": lambda w: edits.swapped_branches(w, DECISION, 0, 2),
    "merge takes what comes": lambda w: edits.merge_as(
        edits.for_each_item(w, JOIN, "Confirm leave"), JOIN, mode="append", numberInputs=2
    ),
    "merge waits for a third": lambda w: edits.merge_as(
        w, JOIN, mode="combine", combineBy="combineByPosition", numberInputs=3
    ),
    "step runs twice": lambda w: edits.doubled(w, "Send rejection"),
    "edge moved forward": lambda w: edits.moved_edge(w, "Leave needed", 0, SETTER),
    "edge moved back": lambda w: edits.moved_edge(w, "Send rejection", 0, "Fill in leave request"),
    "condition negated": lambda w: edits.negated(w, DECISION),
    "end cut off": lambda w: {
        **w, "connections": {k: v for k, v in w["connections"].items() if k != "Confirm leave"}
    },
}  # fmt: skip


@pytest.mark.parametrize("name", DIFFERENT)
def test_a_difference_is_one_on_the_real_engine(
    name: str, leave: Json, engine: LocalEngine
) -> None:
    """Both runs that are shown happen: with the branches of the rows as data, n8n's engine runs
    the nodes of the columns, in their order, and then the two go apart."""
    changed = DIFFERENT[name](leave)
    part = diff_workflows(leave, changed)
    assert behaviour(part).verdict == "different", shown(part)
    values = [v if v in ("Yes", "No", "Needs changes") else "?" for v in decided(part)]
    runs = [order(engine, w, values) for w in (leave, changed)]
    assert runs[0] != runs[1] or "items" in behaviour(part).reason
    for run, column in zip(runs, columns(part), strict=True):
        assert run[: len(column)] == column
    assert not behaviour(part).run[-1].same


def test_items_that_pile_up_do_so_on_the_real_engine(leave: Json, engine: LocalEngine) -> None:
    changed = DIFFERENT["merge takes what comes"](leave)
    part = diff_workflows(leave, changed)
    assert behaviour(part).reason == (
        "`Confirm leave` receives 1 item in the old workflow and 2 items in the new one"
    )
    counts = []
    for workflow in (leave, changed):
        stubs = {SETTER: {"visits": [{"request_approved": "Yes"}]}}
        run = engine.run(workflow, "Leave needed", stubs=stubs)
        counts += [e.outputs for e in run.order if e.node == JOIN]
    assert counts == [(1,), (2,)]


SAME: dict[str, Callable[[Json], Json]] = {
    "rules and wires in another order": lambda w: edits.reordered_rules(w, DECISION),
    "a step put in": lambda w: edits.inserted(w, "Fill in leave request", "Log it"),
    "a step taken out": lambda w: edits.dropped(w, "Send rejection"),
    "a wait put in": lambda w: edits.inserted(w, "Leave needed", "Sleep on it", "wait"),
}


@pytest.mark.parametrize("name", SAME)
def test_what_is_the_same_is_so_on_the_real_engine(
    name: str, leave: Json, engine: LocalEngine
) -> None:
    changed = SAME[name](leave)
    part = diff_workflows(leave, changed)
    assumes = name in ("a wait put in", "a step taken out")
    assert behaviour(part).verdict == ("changed" if assumes else "same"), shown(part)
    assert part.differs is (name != "rules and wires in another order")
    both = {n["name"] for n in leave["nodes"]} & {n["name"] for n in changed["nodes"]}
    for values in (["Yes"], ["No"], ["Needs changes", "No"], ["?"]):
        runs = [order(engine, w, values) for w in (leave, changed)]
        assert [n for n in runs[0] if n in both] == [n for n in runs[1] if n in both]


def test_what_is_told_of_each(leave: Json) -> None:
    part = diff_workflows(leave, SAME["a step put in"](leave))
    assert part.changes == (
        Change("added", "node", "Log it",
               "between `Fill in leave request` and `Check leave request`", None, "noOp"),
    )  # fmt: skip
    part = diff_workflows(leave, SAME["a step taken out"](leave))
    assert part.changes == (
        Change("removed", "node", "Send rejection",
               "between `Request approved?` and `Request rejected`", "noOp", None),
    )  # fmt: skip
    part = diff_workflows(leave, SAME["rules and wires in another order"](leave))
    assert (part.changes, part.differs) == ((), False), "each asks for a value of its own"
    several = copy.deepcopy(leave)
    for rule in edits.rules_of(several, DECISION):
        rule["conditions"]["conditions"][0]["operator"]["operation"] = "contains"
    part = diff_workflows(several, SAME["rules and wires in another order"](several))
    (change,) = part.changes
    assert change.detail == "its conditions are evaluated in another order"


def test_a_changed_condition_is_told_and_not_judged(leave: Json) -> None:
    changed = copy.deepcopy(leave)
    rule = next(r for r in edits.rules_of(changed, DECISION) if r["outputKey"] == "Yes")
    rule["conditions"]["conditions"][0]["rightValue"] = "Agreed"
    part = diff_workflows(leave, changed)
    assert behaviour(part).verdict == "changed"
    assert behaviour(part).assumed == ("the changed conditions decide as before",)
    (change,) = part.changes
    assert (change.what, change.name, change.detail) == ("condition", DECISION, "Yes")
    assert (change.old or "").endswith('= "Yes"')
    assert (change.new or "").endswith('= "Agreed"')
    assert "same behaviour, if the changed conditions" in shown(part)


def test_positions_that_change_the_order_change_what_is_done(
    leave: Json, engine: LocalEngine
) -> None:
    changed = copy.deepcopy(leave)
    one, two = (
        edits.node(changed, n) for n in ("Record absence in payroll", "Update team calendar")
    )
    one["position"], two["position"] = two["position"], one["position"]
    part = diff_workflows(leave, changed)
    assert behaviour(part).reason.endswith("run in a different order")
    assert part.changes == ()
    assert part.differs
    assert order(engine, leave, ["Yes"]) != order(engine, changed, ["Yes"])


def test_the_run_fits_in_eighty_columns(leave: Json) -> None:
    for change in DIFFERENT.values():
        assert all(
            len(line) <= 80 for line in shown(diff_workflows(leave, change(leave))).split("\n")
        )


def test_long_names_and_long_runs_are_cut() -> None:
    names = [f"A step with quite a long name, number {i:03}" for i in range(60)]
    wires = ["T>" + names[0], *(f"{a}>{b}" for a, b in itertools.pairwise(names))]
    old = flow([START, *map(noop, names)], *wires)
    new = flow([START, *map(noop, names)], *wires[:-3])
    text = shown(diff_workflows(old, new))
    assert "more steps on both sides" in text
    assert "number 057" in text
    assert all(len(line) <= 80 for line in text.split("\n"))


# -- single nodes ----------------------------------------------------------------------------


def yes_no(condition: str, swapped: bool = False) -> Json:
    ends = ("If>N", "If.1>Y") if swapped else ("If>Y", "If.1>N")
    return flow([START, if_node("If", condition), noop("Y"), noop("N")], "T>If", *ends)


def test_a_negated_condition_with_swapped_branches_is_the_same() -> None:
    part = diff_workflows(yes_no("$json.ok"), yes_no("!($json.ok)", swapped=True))
    assert behaviour(part).verdict == "same"
    assert [c.what for c in part.changes] == ["condition"]


@pytest.mark.parametrize(("condition", "swapped"), [("!($json.ok)", False), ("$json.ok", True)])
def test_either_alone_is_not(condition: str, swapped: bool, engine: LocalEngine) -> None:
    old, new = yes_no("$json.ok"), yes_no(condition, swapped)
    part = diff_workflows(old, new)
    assert behaviour(part).verdict == "different"
    assert order(engine, old, []) == ["T", "If", "N"]
    assert order(engine, new, []) == ["T", "If", "Y"]


def test_a_node_that_is_disabled_or_stops() -> None:
    old = flow([START, noop("A"), noop("B")], "T>A", "A>B")
    new = copy.deepcopy(old)
    new["nodes"][1]["disabled"] = True
    part = diff_workflows(old, new)
    assert behaviour(part).verdict == "same"  # it passed on what it got, and still does
    assert [(c.what, c.detail, c.new) for c in part.changes] == [("setting", "disabled", "true")]
    new = copy.deepcopy(old)
    new["nodes"][1] = make("A", "stopAndError", 1, {"errorMessage": "no"})
    part = diff_workflows(old, new)
    assert behaviour(part).reason == "`B` runs only in the old workflow"
    assert behaviour(part).run[-1].new == "the run ends in an error"


def test_going_on_after_an_error() -> None:
    old = flow([START, make("Ask", "httpRequest", 4.2), noop("B")], "T>Ask", "Ask>B")
    new = copy.deepcopy(old)
    new["nodes"][1]["onError"] = "continueRegularOutput"
    part = diff_workflows(old, new)
    assert behaviour(part).verdict == "different"
    assert [row.old for row in behaviour(part).run] == ["T", "Ask → fails",
                                                        "the run ends in an error"]  # fmt: skip


def test_a_placeholder_that_was_filled_is_no_difference_in_behaviour() -> None:
    old = flow([START, noop("Ask"), noop("B")], "T>Ask", "Ask>B")
    for kind, version in (("httpRequest", 4.2), ("wait", 1.1), ("code", 2), ("form", 2.3)):
        new = copy.deepcopy(old)
        new["nodes"][1] = make("Ask", kind, version)
        part = diff_workflows(old, new)
        assert behaviour(part).verdict == "changed", (kind, shown(part))
        assert behaviour(part).assumed[-1] == (
            "`Ask` returns one item and changes no variable of other steps"
        )
        assert [c.detail for c in part.changes] == ["type"]


def test_a_wait_that_gets_a_limit() -> None:
    hook = {"resume": "webhook", "httpMethod": "POST", "options": {}}
    limit = {**hook, "limitWaitTime": True, "resumeAmount": 5, "resumeUnit": "minutes"}
    old = flow([START, make("W", "wait", 1.1, hook), noop("B")], "T>W", "W>B")
    new = flow([START, make("W", "wait", 1.1, limit), noop("B")], "T>W", "W>B")
    part = diff_workflows(old, new)
    assert behaviour(part).reason == (
        "`W` waits differently: it ends by time running out only in the new workflow"
    )


def test_a_trigger_more() -> None:
    old = flow([START, noop("A")], "T>A")
    new = flow([START, noop("A"), make("Hook", "webhook", 2)], "T>A", "Hook>A")
    part = diff_workflows(old, new)
    assert behaviour(part).reason == "`Hook` starts runs only in the new workflow"
    assert behaviour(diff_workflows(new, old)).reason.endswith("only in the old workflow")


def test_a_loop_that_never_ends_any_more() -> None:
    old = flow([START, noop("A"), noop("B")], "T>A", "A>B")
    new = flow([START, noop("A"), noop("B"), noop("X"), noop("Y")], "T>A", "A>X", "X>Y", "Y>X")
    assert behaviour(diff_workflows(old, new)).reason == "only the new run loops indefinitely"
    assert behaviour(diff_workflows(new, old)).reason == "only the old run loops indefinitely"


def test_the_first_order_of_execution_is_not_judged() -> None:
    old = flow([START, noop("A"), noop("B")], "T>A", "T>B")
    new = flow([START, noop("A"), noop("B")], "T>A", "A>B")
    for one in (old, new):
        del one["settings"]
    found = behaviour(diff_workflows(old, new))
    assert found.verdict == "unknown"
    assert "legacy execution order" in found.reason
    assert behaviour(diff_workflows(old, copy.deepcopy(old))).verdict == "same"


def test_calls_of_other_workflows_are_steps() -> None:
    old = flow([START, call("C", "x"), noop("B")], "T>C", "C>B")
    new = flow([START, call("C", "y"), noop("B")], "T>C", "C>B")
    part = diff_workflows(old, new)
    assert behaviour(part).verdict == "changed"
    assert behaviour(part).assumed == ("`C` calls the same workflow under another id: x → y",)
    assert behaviour(diff_workflows(old, new, ids={"x": "y"})).verdict == "same"
    assert [c.detail for c in part.changes] == ["workflowId.value"]


def answer(text: str) -> Json:
    return make("R", "respondToWebhook", 1.4, {"respondWith": "text", "responseBody": text})


def test_another_answer_to_a_call_is_no_same_behaviour() -> None:
    old, new, gone = (
        flow([START, *nodes], *wires)
        for nodes, wires in (
            ([answer("a"), noop("B")], ("T>R", "R>B")),
            ([answer("b"), noop("B")], ("T>R", "R>B")),
            ([noop("B")], ("T>B",)),
        )
    )
    assert behaviour(diff_workflows(old, new)).assumed == (
        "the changed node does the same as before: `R`",
    )
    assert behaviour(diff_workflows(old, gone)).assumed == (
        "nothing is missing without the removed node: `R`",
    )


def test_a_merge_by_fields_is_no_same_behaviour() -> None:
    old, new = (
        flow([START, make("M", "merge", 3.2, {"mode": "combine", "combineBy": by}), noop("B")],
             "T>M", "M>B")
        for by in ("combineByPosition", "combineByFields")
    )  # fmt: skip
    assert behaviour(diff_workflows(old, new)).verdict != "same"


def test_callers_that_are_turned_away_are_no_same_behaviour() -> None:
    old = flow([START, noop("B")], "T>B")
    new = copy.deepcopy(old)
    new["settings"]["callerPolicy"] = "none"
    assert behaviour(diff_workflows(old, new)).verdict == "different"
    new["settings"]["callerPolicy"] = "workflowsFromSameOwner"
    assert behaviour(diff_workflows(old, new)).verdict == "same"


@pytest.mark.parametrize(
    "added",
    [
        make("X", "switch", 3, {"mode": "expression", "numberOutputs": 10**6}),
        {**make("X", "unknown", 1), "type": "some-package.unknown"},
        make("X", "switch", 3, {"rules": {"values": [{"outputKey": str(i)} for i in range(40)]},
                                "options": {"allMatchingOutputs": True}}),
    ],
    ids=["computed", "unknown", "rules"],
)  # fmt: skip
def test_a_step_put_in_that_may_go_many_ways(added: Json) -> None:
    old = flow([START, noop("A"), noop("B")], "T>A", "A>B")
    new = flow([START, noop("A"), noop("B"), added], "T>A", "A>X")
    new["connections"]["X"] = {
        "main": [[{"node": "B", "type": "main", "index": 0}] for _ in range(40)]
    }
    part = diff_workflows(old, new)
    computed = added["parameters"].get("mode") == "expression"  # always by one of its outputs
    assert behaviour(part).verdict == ("same" if computed else "different")
    assert told(part, "node")[0].name == "X"


# -- many ------------------------------------------------------------------------------------


def test_every_dropped_edge_and_swapped_branch_of_the_benchmark_is_seen(
    shared: Path, registry: Registry
) -> None:
    counts = {"edge dropped": [0, 0], "branches swapped": [0, 0]}
    missed = []
    for path in list(edits.models(shared))[::4]:
        for workflow in edits.compiled(path, registry):
            for name, kinds in workflow["connections"].items():
                main = kinds["main"]
                found = [("edge dropped", 0)]
                if len(main) > 1 and main[0] and main[1] and main[0] != main[1]:
                    found.append(("branches swapped", 1))
                for what, _ in found:
                    if what == "edge dropped":
                        new = copy.deepcopy(workflow)
                        edits.outputs(new, name)[0][:] = edits.outputs(new, name)[0][1:]
                    else:
                        new = edits.swapped_branches(workflow, name)
                    part = diff_workflows(workflow, new)
                    assert part.differs
                    counts[what][0] += 1
                    counts[what][1] += behaviour(part).verdict == "different"
                    if behaviour(part).verdict != "different":
                        missed.append((path.name, name, what, behaviour(part)))
    print(counts, missed[:5])
    assert all(total > 20 and seen >= 0.97 * total for total, seen in counts.values())


def test_a_changed_rule_in_another_order_is_one_change(leave: Json) -> None:
    new = edits.reordered_rules(leave, DECISION)
    rule = edits.rules_of(new, DECISION)[0]
    was, rule["outputKey"] = rule["outputKey"], "Other"
    changes = told(diff_workflows(leave, new), "parameter")
    assert [(one.old, one.new) for one in changes] == [(was, "Other")]
