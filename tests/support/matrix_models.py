"""The cells of the support matrix, with a model for each construct, also for those that only
analyses derive."""

from __future__ import annotations

from orgflow.commands.list import support_matrix

from orgflow_ir.model import (
    Event,
    EventDefinition,
    EventKind,
    Expression,
    Flow,
    Gateway,
    Model,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.elements import TaskType
from orgflow_ir.plugins import Registry
from orgflow_ir.testing.conformance.minimal_models import minimal_models
from orgflow_ir.testing.conformance.shapes import build_shape

RUNS = frozenset({"Supported", "Supported*", "Lowered"})


def only_inside(name: str) -> bool:
    """Whether only event sub-processes have such a start: these are refused, and the cell is about
    the start."""
    return name.startswith("event.start.") and name.endswith(".non-interrupting")


def _mixed() -> Model:
    nodes = (
        Event(id="s", position="start"),
        Gateway(id="x", gateway_kind="exclusive"),
        Gateway(id="g", gateway_kind="exclusive", name="Which?"),
        *(Task(id=t, name=t.upper()) for t in "abcd"),
        *(Event(id=f"e{t}", position="end") for t in "cd"),
    )
    wires = ("s>x", "x>a", "x>b", "a>g", "b>g", "g>c", "g>d", "c>ec", "d>ed")
    flows = [
        Flow(id=f"f{n}", source=w.split(">")[0], target=w.split(">")[1], name=w.split(">")[1])
        for n, w in enumerate(wires)
    ]
    return Model(id="m", processes=(Process(id="p", nodes=nodes, flows=tuple(flows)),))


def _conditional() -> Model:
    """A task that chooses among its own flows."""
    model = build_shape("s>A A>B:One A>C:Two B>e C>f")
    (process,) = model.processes
    choosing = [f for f in process.flows if f.source == "A"]
    flows = tuple(
        f.replace(condition=Expression(text=f"${{n == {choosing.index(f)}}}")) if f in choosing
        else f
        for f in process.flows
    )  # fmt: skip
    return model.replace(processes=(process.replace(flows=flows),))


def _listened() -> Model:
    script = "<script scriptFormat='groovy'>execution.setVariable('x', 1)</script>"
    xml = f"<executionListener xmlns='{CAMUNDA}' event='start'>{script}</executionListener>"
    return Model(
        id="m",
        processes=(
            Process(
                id="p",
                nodes=(
                    Event(id="s", position="start"),
                    Event(
                        id="e", position="end", extra=((f"{{{CAMUNDA}}}executionListener", xml),)
                    ),
                ),
                flows=(Flow(id="f", source="s", target="e"),),
            ),
        ),
    )


def _mapped() -> Model:
    """A sub-process with an input and an output."""
    xml = (
        f"<inputOutput xmlns='{CAMUNDA}'><inputParameter name='x'>1</inputParameter>"
        "<outputParameter name='y'>${x}</outputParameter></inputOutput>"
    )
    inside = SubProcess(
        id="sub",
        nodes=(Event(id="i", position="start"), Event(id="t", position="end")),
        flows=(Flow(id="g", source="i", target="t"),),
        extra=((f"{{{CAMUNDA}}}inputOutput", xml),),
    )
    return Model(
        id="m",
        processes=(
            Process(
                id="p",
                nodes=(Event(id="s", position="start"), inside, Event(id="e", position="end")),
                flows=(
                    Flow(id="1", source="s", target="sub"),
                    Flow(id="2", source="sub", target="e"),
                ),
            ),
        ),
    )


def _signalled(*, done_at_once: bool) -> Model:
    thrown = (EventDefinition(kind="signal", name="Alarm"),)
    inside = SubProcess(
        id="sub",
        nodes=(
            Event(id="i", position="start"),
            Event(id="a", position="throw") if done_at_once else Task(id="a"),
            Event(id="t", position="end", definitions=thrown),
        ),
        flows=(Flow(id="g", source="i", target="a"), Flow(id="h", source="a", target="t")),
    )
    return Model(
        id="m",
        processes=(
            Process(
                id="p",
                nodes=(
                    Event(id="s", position="start"),
                    inside,
                    Event(id="b", position="boundary", attached_to="sub", definitions=thrown),
                    Event(id="e", position="end"),
                    Event(id="f", position="end"),
                ),
                flows=(
                    Flow(id="1", source="s", target="sub"),
                    Flow(id="2", source="sub", target="e"),
                    Flow(id="3", source="b", target="f"),
                ),
            ),
        ),
    )


def _parallel_waits() -> Model:
    nodes = (
        Event(id="s", position="start"),
        Gateway(id="f", gateway_kind="parallel"),
        Task(id="a", name="Ask", task_type="user"),
        Task(id="b", name="Answer", task_type="user"),
        Gateway(id="j", gateway_kind="parallel"),
        Event(id="e", position="end"),
    )
    pairs = ("s f", "f a", "f b", "a j", "b j", "j e")
    flows = tuple(Flow(id=f"f{n}", source=pair[0], target=pair[2]) for n, pair in enumerate(pairs))
    return Model(id="m", processes=(Process(id="p", nodes=nodes, flows=flows),))


def _raced(kind: EventKind, *, interrupting: bool = True, host: TaskType = "user") -> Model:
    """An event on the boundary of a step, by default of one that waits."""
    nodes = (
        Event(id="s", position="start"),
        Task(id="a", name="Ask", task_type=host),
        Event(
            id="b",
            position="boundary",
            attached_to="a",
            interrupting=interrupting,
            definitions=(EventDefinition(kind=kind),),
        ),
        Event(id="e", position="end"),
        Event(id="f", position="end"),
    )
    pairs = ("s a", "a e", "b f")
    flows = tuple(Flow(id=f"f{n}", source=pair[0], target=pair[2]) for n, pair in enumerate(pairs))
    return Model(id="m", processes=(Process(id="p", nodes=nodes, flows=flows),))


CAMUNDA = "http://camunda.org/schema/1.0/bpmn"
DERIVED = {
    "gateway.mixed": _mixed(),
    "split.conditional": _conditional(),
    "listener": _listened(),
    "mapping": _mapped(),
    "signal.around": _signalled(done_at_once=True),
    "signal.lasting": _signalled(done_at_once=False),
    "wait.parallel": _parallel_waits(),
    "wait.race": _raced("message", interrupting=False),
    "wait.interrupted": _raced("message"),
    "task.awaited": _raced("message", host="abstract"),
    "timer.unsupported": Model(
        id="m",
        processes=(
            Process(
                id="p",
                nodes=(
                    Event(
                        id="s",
                        position="start",
                        definitions=(
                            EventDefinition(
                                kind="timer", timer="duration", expression=Expression(text="PT5M")
                            ),
                        ),
                    ),
                    Event(id="e", position="end"),
                ),
                flows=(Flow(id="f", source="s", target="e"),),
            ),
        ),
    ),
}
"""Models of constructs that analyses derive, which have no minimal one."""


ROWS = {
    "event.boundary.message": _raced("message"),
    "event.boundary.timer": _raced("timer"),
    "event.boundary.message.non-interrupting": _raced("message", interrupting=False),
    "event.boundary.timer.non-interrupting": _raced("timer", interrupting=False),
}
"""Models of events that n8n supports on steps that wait, as rows of a Data Table."""

ONLY_ROWS = frozenset({*ROWS, "gateway.event", "task.awaited", "wait.race", "wait.interrupted"})
"""Constructs that need a Data Table, which n8n 1 does not have in its API."""


def cells(registry: Registry, target: str) -> dict[str, str]:
    head, *rows = support_matrix(registry)
    column = head.index(target)
    return {row[0]: row[column] for row in rows}


def cases() -> dict[str, Model]:
    return {**dict(minimal_models()), **DERIVED, **ROWS}
