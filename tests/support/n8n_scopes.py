"""Processes with sub-processes that become workflows of their own."""

from __future__ import annotations

from orgflow_ir.model import Event, Flow, Gateway, Model, Process, SubProcess, Task


def flows(prefix: str, *pairs: str) -> tuple[Flow, ...]:
    """Flows written `a>b` or `a>b:name`."""
    found = []
    for number, pair in enumerate(pairs):
        ends, _, name = pair.partition(":")
        source, target = ends.split(">")
        found.append(Flow(id=f"{prefix}{number}", source=source, target=target, name=name))
    return tuple(found)


def choosing() -> SubProcess:
    """Check, then one of two steps of one name with a step outside."""
    return SubProcess(
        id="sub",
        name="Handle order",
        nodes=(
            Event(id="s", position="start"),
            Task(id="check", name="Check"),
            Gateway(id="g", name="Fine?", gateway_kind="exclusive"),
            Task(id="yes", name="Prepare"),
            Task(id="no", name="Refuse"),
            Gateway(id="j", gateway_kind="exclusive"),
            Event(id="e", position="end"),
        ),
        flows=flows(
            "i", "s>check", "check>g", "g>yes:fine", "g>no:not fine", "yes>j", "no>j", "j>e"
        ),
    )


def parallel() -> SubProcess:
    """Two steps at once, one of them a sub-process."""
    inner = SubProcess(
        id="inner",
        name="Pack",
        nodes=(
            Event(id="is", position="start"),
            Task(id="wrap", name="Wrap"),
            Event(id="ie", position="end"),
        ),
        flows=flows("n", "is>wrap", "wrap>ie"),
    )
    return SubProcess(
        id="sub",
        name="Fulfil",
        nodes=(
            Event(id="s", position="start"),
            Gateway(id="split", gateway_kind="parallel"),
            inner,
            Task(id="bill", name="Write bill"),
            Gateway(id="join", gateway_kind="parallel"),
            Event(id="e", position="end"),
        ),
        flows=flows(
            "i", "s>split", "split>inner", "split>bill", "inner>join", "bill>join", "join>e"
        ),
    )


def around(sub: SubProcess) -> Model:
    """A process with the sub-process between two steps."""
    process = Process(
        id="p",
        name="Order",
        nodes=(
            Event(id="start", position="start"),
            Task(id="a", name="Prepare"),
            sub,
            Task(id="b", name="Close"),
            Event(id="end", position="end"),
        ),
        flows=flows("o", "start>a", "a>sub", "sub>b", "b>end"),
    )
    return Model(id="m", processes=(process,))
