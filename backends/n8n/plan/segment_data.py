"""The segments of a plan as data."""

from __future__ import annotations

from dataclasses import field

from orgflow.backends.n8n.plan.graph import Port
from orgflow.backends.n8n.plan.row_scopes import FlatProcess

from orgflow_ir.model import Flow
from orgflow_ir.model.records import dataclass


@dataclass(eq=False)
class SegmentCuts:
    """The segments of a process.

    Attributes:
        flat: the scopes of the process.
        waits: elements that wait as rows: tasks, events, event-based gateways.
        begun: the outputs of the switch by the event by which each segment begins.
        labels: the names of these outputs.
        absorbed: flows that become rows and have no connection.
        called: start events that another process of the model begins.
        entered: connections from the switch to elements that begin as branches of their own.
    """

    flat: FlatProcess
    waits: set[str] = field(default_factory=set)
    begun: dict[str, Port] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    absorbed: set[str] = field(default_factory=set)
    called: list[str] = field(default_factory=list)
    entered: list[tuple[Port, Flow]] = field(default_factory=list)
