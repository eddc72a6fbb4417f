"""Values of decisions that a person can tell apart."""

from __future__ import annotations

import pytest
from text_model import model

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.work.gateway_decisions import DecisionConventions, read_decisions

FLOW = "start -> d\nd -> g\ng -> a{one}\ng -> b{two}\na -> c\nb -> e\nc -> end1\ne -> end2"

VALUES = {
    "named by what follows": (
        ("", ""), {"a": "Task 1", "b": "Task 1", "c": "Call", "e": "Mail"},
        ("Task 1, then Call", "Task 1, then Mail"),
    ),
    "labels are named by where they lead": (
        (": yes", ": yes"), {"a": "Call", "b": "Mail", "c": "C", "e": "E"},
        ("yes, then Call", "yes, then Mail"),
    ),
    "nothing differs but the elements": (
        ("", ""), {"a": "Task 1", "b": "Task 1", "c": "Call", "e": "Call",
                   "end1": "Done", "end2": "Done"},
        ("Task 1 (a)", "Task 1 (b)"),
    ),
    "nothing to tell apart": (
        ("", ""), {"a": "Call", "b": "Mail", "c": "C", "e": "E"}, ("Call", "Mail"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_values_differ_in_words(name: str, conventions: DecisionConventions) -> None:
    (one, two), names, wanted = VALUES[name]
    process = model(FLOW.format(one=one, two=two), {"g": "exclusive Which?"}).processes[0]
    scope = process.replace(
        nodes=tuple(n.replace(name=names[n.id]) if n.id in names else n for n in process.nodes)
    )
    graph = ControlFlow(scope)
    (decision,) = read_decisions(scope, graph, conventions).values()
    assert decision.values == wanted


@pytest.fixture
def conventions() -> DecisionConventions:
    from orgflow.backends.n8n.plan.scope_plan import CONVENTIONS

    return CONVENTIONS
