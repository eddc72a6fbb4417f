"""The model whose token game matches executions, with some constructs rewritten."""

from __future__ import annotations

from orgflow_ir.lowering.compensation import repeated_compensation_as_flows
from orgflow_ir.lowering.listeners import listeners_as_steps
from orgflow_ir.lowering.loops import loops_as_flows
from orgflow_ir.lowering.mappings import mappings_as_steps
from orgflow_ir.lowering.signals import signals_as_escalations
from orgflow_ir.lowering.unreached_events import without_unreached_events
from orgflow_ir.model import Model


def as_executed(model: Model) -> Model:
    """The model with all repeated activities and their compensation as loops of flows, with
    listeners and mappings of sub-processes as tasks, with signals that only an event around them
    catches as escalations, and without events that never occur; the model itself if it has none of
    these."""
    thrown = signals_as_escalations(without_unreached_events(model))
    flows = loops_as_flows(repeated_compensation_as_flows(thrown))
    return listeners_as_steps(mappings_as_steps(flows), model)
