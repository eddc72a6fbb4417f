"""Small models from lines of text, for tests."""

from __future__ import annotations

from typing import Any

from orgflow_ir.model import Event, Expression, Flow, Gateway, Model, Process, Task


def model(text: str, gateways: dict[str, str], conditions: dict[str, str] | None = None) -> Model:
    """A model from lines `a -> b: label`; ids in `gateways` are gateways (`kind Label`), `start`
    and ids beginning with `end` are events, the rest are tasks."""
    nodes: dict[str, Any] = {}
    flows = []
    for number, line in enumerate(text.strip().splitlines()):
        ends, _, label = line.strip().partition(": ")
        source, target = ends.split(" -> ")
        for item in (source, target):
            if item in gateways:
                kind, _, name = gateways[item].partition(" ")
                nodes[item] = Gateway.validate({"id": item, "gateway_kind": kind, "name": name})
            elif item == "start":
                nodes[item] = Event(id=item, position="start")
            elif item.startswith("end"):
                nodes[item] = Event(id=item, name=item, position="end")
            else:
                nodes.setdefault(item, Task(id=item, name=item.capitalize()))
        condition = (conditions or {}).get(label)
        flows.append(
            Flow(
                id=f"f{number}",
                source=source,
                target=target,
                name="" if label == "default" else label,
                default=label == "default",
                condition=Expression(text=condition) if condition else None,
            )
        )
    process = Process(id="P", nodes=tuple(nodes.values()), flows=tuple(flows))
    return Model(id="m", processes=(process,))
