"""Data on a token: a decision reaches its gateway unharmed, on n8n's real engine.

The nodes between setter and gateway *replace* the item here, as HTTP Request, Form and Wait do, so
nothing but the reference to the setter can carry the decision.
"""

from __future__ import annotations

from typing import Any

import pytest
from n8n_compiled import workflows
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.plan.passes import plan_process
from orgflow.backends.n8n.plan.target import N8N_TARGET
from text_model import model

from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import Event, Model
from orgflow_ir.pipeline import PassContext

OTHER = {"visits": [], "mode": "replace"}
"""A stub that drops whatever the item carried."""


def run(
    engine: LocalEngine,
    made: Model,
    stubs: dict[str, list[dict[str, Any]] | None],
    start: str = "Start",
) -> list[str]:
    """Names of executed nodes; a stub of `None` replaces the item by an empty one."""
    legal = legalise(made, N8N_TARGET, PassContext(), allow_lossy=False)
    workflow = workflows(legal)[0]
    replaced = {
        name: OTHER if visits is None else {"visits": visits, "mode": "replace"}
        for name, visits in stubs.items()
    }
    result = engine.run(workflow, start, stubs=replaced)
    assert result.status == "success", result.error
    return [n.node for n in result.order]


def test_survives_item_replacing_nodes(engine: LocalEngine) -> None:
    made = model(
        """
        start -> check
        check -> ask
        ask -> note
        note -> g
        g -> ship: Yes
        g -> cancel: No
        ship -> end1
        cancel -> end2
        """,
        {"g": "exclusive Stock ok?"},
    )
    # the nearest dominating task sets it: `note`; a decision made earlier is not asked for again
    order = run(engine, made, {"Check": None, "Ask": None, "Note": [{"stock_ok": "No"}]})
    assert order[-2:] == ["Cancel", "end2"]


def test_survives_a_join_with_a_stale_copy(engine: LocalEngine) -> None:
    made = model(
        """
        start -> loop
        loop -> split
        split -> a
        split -> b
        a -> join
        b -> join
        join -> g
        g -> end: Done
        g -> again: Not yet
        again -> loop
        """,
        {
            "loop": "exclusive",
            "split": "parallel",
            "join": "parallel",
            "g": "exclusive Finished?",
        },
    )
    legal = legalise(made, N8N_TARGET, PassContext(), allow_lossy=False)
    decision = plan_process(legal, legal.processes[0], PassContext()).root.decisions["g"]
    # neither branch dominates: a decision node does, and reads nothing that the Merge could spoil
    assert decision.setter == "g"
    visits = [{"finished": "Not yet"}, {"finished": "Not yet"}, {"finished": "Done"}]
    stale = [{"finished": "Done"}, {"finished": "Done"}, {"finished": "Not yet"}]
    order = run(engine, made, {"Decide: Finished?": visits, "A": stale, "B": stale})
    assert order.count("A") == 3
    assert order.count("Again") == 2
    assert order[-1] == "end"


def test_loops_read_the_latest_decision(engine: LocalEngine) -> None:
    made = model(
        """
        start -> outer
        outer -> plan
        plan -> inner
        inner -> work
        work -> test
        test -> g1
        g1 -> inner: Again
        g1 -> review: Good
        review -> g2
        g2 -> outer: Reject
        g2 -> end: Accept
        """,
        {
            "outer": "exclusive",
            "inner": "exclusive",
            "g1": "exclusive Test result?",
            "g2": "exclusive Review result?",
        },
    )
    tests = [{"test_result": v} for v in ("Again", "Good", "Again", "Again", "Good")]
    reviews = [{"review_result": v} for v in ("Reject", "Accept")]
    order = run(engine, made, {"Plan": None, "Work": None, "Test": tests, "Review": reviews})
    assert order.count("Work") == 5
    assert order.count("Plan") == 2
    assert order[-1] == "end"


def test_a_task_that_a_way_back_avoids_is_no_setter(engine: LocalEngine) -> None:
    made = model(
        """
        start -> check
        check -> loop
        loop -> g
        g -> loop: Again
        g -> end: Done
        """,
        {"loop": "exclusive", "g": "exclusive More?"},
    )
    legal = legalise(made, N8N_TARGET, PassContext(), allow_lossy=False)
    decision = plan_process(legal, legal.processes[0], PassContext()).root.decisions["g"]
    assert decision.setter == "g", "`check` would be read again and again: an endless loop"
    visits = [{"more": "Again"}, {"more": "Done"}]
    order = run(engine, made, {"Decide: More?": visits, "Check": [{"more": "Again"}]})
    assert order.count("Decide: More?") == 2


def test_inclusive_values_and_code_conditions(engine: LocalEngine) -> None:
    made = model(
        """
        start -> check
        check -> g
        g -> a: Paper
        g -> b: Mail
        g -> c: big
        a -> join
        b -> join
        c -> join
        join -> h
        h -> end1: small
        h -> end2: default
        """,
        {"g": "inclusive How?", "join": "inclusive", "h": "exclusive"},
        {"big": "${order.amount > 1000 and vip}", "small": "order.amount <= 1000"},
    )
    stub = [{"how": ["Mail"], "order": {"amount": 2000}, "vip": True}]
    order = run(engine, made, {"Check": stub, "B": None, "C": None})
    assert [n for n in order if n in "ABC"] == ["B", "C"]
    assert order[-1] == "end2"
    stub = [{"how": "Paper", "order": {"amount": 7}, "vip": True}]
    order = run(engine, made, {"Check": stub, "A": None})
    assert [n for n in order if n in "ABC"] == ["A"], "one value may come without its list"
    assert order[-1] == "end1"


CODED = """
start -> t1
t1 -> t2
t2 -> g
g -> c: cond
g -> d: default
c -> end1
d -> end2
"""


@pytest.mark.parametrize(
    ("condition", "first", "second", "taken"),
    [
        ("${x == null}", {"x": 5}, {"x": None}, "C"),  # cleared by the later step
        ("${approved}", {"approved": True}, {"approved": None}, "D"),
        ("${order.total > 100}", {"order": {"total": 500}}, {"order": {}}, "D"),
        ("${order.total > 100}", {"order": {"total": 500}}, {}, "C"),  # nothing said of it later
        ("${x == 1}", {}, {"x": "1"}, "C"),
        ("${empty list}", {}, {"list": []}, "C"),
    ],
)
def test_coded_variables_come_from_the_latest_step_that_has_them(
    engine: LocalEngine, condition: str, first: Any, second: Any, taken: str
) -> None:
    made = model(CODED, {"g": "exclusive"}, {"cond": condition})
    order = run(engine, made, {"T1": [first], "T2": [second]})
    assert order[-2] == taken


def test_a_webhook_start_is_read_under_body(engine: LocalEngine) -> None:
    made = model(
        """
        start -> g
        g -> a: big
        g -> b: default
        a -> end1
        b -> end2
        """,
        {"g": "exclusive"},
        {"big": "amount >= 10"},
    )
    process = made.processes[0]
    start = Event.validate(
        {"id": "start", "name": "Order", "position": "start", "definitions": [{"kind": "message"}]}
    )
    process = process.replace(nodes=(start, *process.nodes[1:]))
    made = made.replace(processes=(process,))
    workflow = workflows(made)[0]
    item = [{"json": {"headers": {}, "body": {"amount": 10}}}]
    result = engine.run(workflow, "Order", items=item)
    assert [n.node for n in result.order][-1] == "end1"
    item = [{"json": {"headers": {}, "body": {"amount": 9}}}]
    result = engine.run(workflow, "Order", items=item)
    assert [n.node for n in result.order][-1] == "end2"


def test_two_gateways_share_a_variable_only_where_they_may_differ() -> None:
    text = """
        start -> a
        a -> g1
        g1 -> b: Yes
        g1 -> m: No
        b -> m
        m -> {between}g2
        g2 -> end1: Yes
        g2 -> end2: No
        """
    gateways = {"g1": "exclusive Ok?", "g2": "exclusive Ok?", "m": "exclusive"}
    one_setter = model(text.replace("{between}", ""), gateways)
    names = {d.variable for d in _decisions(one_setter)}
    assert names == {"ok", "ok_2"}
    two_setters = model(text.replace("{between}g2", "c\n        c -> g2"), gateways)
    assert {d.variable for d in _decisions(two_setters)} == {"ok"}


def _decisions(made: Model) -> list[Any]:
    emission = plan_process(made, made.processes[0], PassContext()).root
    return list(emission.decisions.values())
