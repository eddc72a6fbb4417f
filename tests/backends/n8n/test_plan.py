"""The plan of a workflow: its passes and records, and the printers of these."""

from __future__ import annotations

from typing import get_args

import pytest
from orgflow.backends.n8n.emit.printers import PRINTERS, check_printers
from orgflow.backends.n8n.plan import actions
from orgflow.backends.n8n.plan.elements import plan_elements
from orgflow.backends.n8n.plan.passes import PLAN_PASSES


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
    parts = {"Thrown", "PayloadField", "FailurePlace", "NamedTuple"}
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
