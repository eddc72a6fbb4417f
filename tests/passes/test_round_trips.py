"""Loops that never end, in processes that begin in odd places: reported, without a crash."""

from __future__ import annotations

import pytest
from orgflow.passes.lack_of_synchronisation import LackOfSynchronisation

from orgflow_ir.model import Event, EventDefinition, Flow, Model, Process, Task
from orgflow_ir.pipeline import PassContext


@pytest.mark.parametrize("instantiate", [True, False])
def test_an_endless_loop_behind_an_event_that_starts_nothing(instantiate: bool) -> None:
    """The loop is entered from a catch event, at which no run of the process can begin alone."""
    arrived = Event(id="b", position="catch", definitions=(EventDefinition(kind="message"),))
    first = Task(id="a", name="First", task_type="receive", instantiate=instantiate)
    nodes = (
        first, Event(id="e1", position="end"), arrived, Task(id="x", name="Look"),
        Task(id="m", name="Remind"), Task(id="c", name="Close"), Event(id="e2", position="end"),
    )  # fmt: skip
    ways = ("a>e1", "b>x", "x>m", "m>c", "m>x", "c>e2")
    flows = tuple(Flow(id=w, source=w.split(">")[0], target=w.split(">")[1]) for w in ways)
    model = Model(id="m", processes=(Process(id="p", nodes=nodes, flows=flows),))
    ctx = PassContext(source=model)
    LackOfSynchronisation().run(model, ctx)
    assert [d.code for d in ctx.diagnostics] == ["OF206"]
    assert "`Remind`" in ctx.diagnostics[0].message
