"""Small models of events in a line."""

from __future__ import annotations

import itertools
from typing import Any

from orgflow_ir.model import Event, Flow, Model, Process, Task


def event(id: str, position: str, kind: str | None = None, **more: Any) -> Event:
    definitions = [{"kind": kind, **more.pop("definition", {})}] if kind else []
    return Event.validate(
        {"id": id, "name": id, "position": position, "definitions": definitions, **more}
    )


def timer(id: str, kind: str | None, text: str | None, position: str = "catch") -> Event:
    definition = {"timer": kind, "expression": {"text": text} if text is not None else None}
    return event(id, position, "timer", definition=definition)


def line(*nodes: Event | Task) -> Model:
    flows = tuple(
        Flow(id=f"f{i}", source=a.id, target=b.id)
        for i, (a, b) in enumerate(itertools.pairwise(nodes))
    )
    return Model(id="m", processes=(Process(id="P", nodes=nodes, flows=flows),))
