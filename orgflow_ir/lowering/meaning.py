"""The model whose token game executions follow, where repetition and listeners are rewritten."""

from __future__ import annotations

from orgflow_ir.lowering.compensation import repeated_compensation_as_flows
from orgflow_ir.lowering.listeners import listeners_as_steps
from orgflow_ir.lowering.loops import loops_as_flows
from orgflow_ir.model import Model


def as_executed(model: Model) -> Model:
    """The model with all that is repeated as loops of flows, what undoes it included, and with the
    code of listeners as tasks; itself where there is neither."""
    return listeners_as_steps(loops_as_flows(repeated_compensation_as_flows(model)))
