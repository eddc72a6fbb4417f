"""The model whose token game executions follow, for targets that rewrite repetition."""

from __future__ import annotations

from orgflow_ir.lowering.compensation import repeated_compensation_as_flows
from orgflow_ir.lowering.loops import loops_as_flows
from orgflow_ir.model import Model


def repetition_as_flows(model: Model) -> Model:
    """The model with all that is repeated as loops of flows, what undoes it included; itself where
    nothing is repeated."""
    return loops_as_flows(repeated_compensation_as_flows(model))
