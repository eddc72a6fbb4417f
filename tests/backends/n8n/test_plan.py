"""The plan of a workflow: its passes and records, and the printers of these."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from orgflow.backends.n8n.emit.printers import PRINTERS, check_printers
from orgflow.backends.n8n.plan import actions
from orgflow.backends.n8n.plan.elements import plan_elements
from orgflow.backends.n8n.plan.passes import PLAN_PASSES
from orgflow.backends.n8n.plan.plan_roles import read_roles
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.compilation.input_sources import read_source
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

ROOT = Path(__file__).resolve().parents[3]


def test_every_action_has_a_printer() -> None:
    assert PRINTERS.keys() == {*get_args(actions.Action)}


@pytest.mark.parametrize("left_out", get_args(actions.Action), ids=lambda kind: kind.__name__)
def test_an_action_without_a_printer_is_an_error(left_out: type) -> None:
    rest = {kind: printer for kind, printer in PRINTERS.items() if kind is not left_out}
    with pytest.raises(KeyError, match=left_out.__name__):
        check_printers(rest)


def test_a_printer_without_an_action_is_an_error() -> None:
    with pytest.raises(KeyError, match="int"):
        check_printers({**PRINTERS, int: PRINTERS[actions.PassOn]})


def test_every_record_is_an_action() -> None:
    parts = {"Thrown", "PayloadField", "FailurePlace", "NamedTuple", "OpenedRow", "ChosenRows"}
    records = {
        name
        for name, value in vars(actions).items()
        if isinstance(value, type) and issubclass(value, tuple) and name not in parts
    }
    assert records == {kind.__name__ for kind in get_args(actions.Action)}


def test_every_pass_exists_and_states_its_reason() -> None:
    assert len({step.function for step in PLAN_PASSES}) == len(PLAN_PASSES)
    for step in PLAN_PASSES:
        assert callable(step.load())
        assert step.reason[0].islower()
        assert not step.reason.endswith(".")
    functions = [step.function for step in PLAN_PASSES]
    assert PLAN_PASSES[functions.index("elements.plan_elements")].load() is plan_elements


def list_plans() -> list[ScopePlan]:
    """The plans of the examples that are processes for n8n."""
    registry = Registry(outside=False)
    plans = []
    for path in sorted((ROOT / "examples").glob("*/model.bpmn")):
        ctx = PassContext(registry=registry)
        model = load_model(read_source(str(path)), registry, ctx)
        emitted = None if model is None else compile_model(model, registry.backends["n8n"], ctx)
        if emitted is not None:
            plans += [s.plan for one in emitted.compiled.values() for s in one.scopes]
    return plans


def test_a_decision_is_set_by_one_node_or_is_free() -> None:
    decided = 0
    for plan in list_plans():
        roles = read_roles(plan, plan.scope.body.nodes)
        assert {*roles.steps, *roles.setters, *roles.failing} <= plan.workflow_graph.nodes.keys()
        assert roles.owners.keys() == plan.decisions.keys() == roles.branches.keys()
        for gateway in plan.decisions:
            decided += 1
            setters = [key for key, gateways in roles.setters.items() if gateway in gateways]
            kinds = [bool(setters), gateway in roles.coded, gateway in roles.given]
            assert kinds.count(True) == 1
            assert len(setters) <= 1
    assert decided > 10


def test_each_output_of_a_decision_leads_to_its_branch() -> None:
    checked = 0
    for plan in list_plans():
        for node in plan.workflow_graph.nodes.values():
            if not isinstance(node.action, actions.Decide):
                continue
            for number, branch in enumerate(node.action.branches, node.action.first):
                assert plan.exits[branch.flow.id] == (node.key, number)
                checked += 1
    assert checked > 10
