"""From an outline to a model. Every block becomes a split with its join; the flow behind a line
goes on at the next one."""

from __future__ import annotations

from typing import Any

from orgflow.backends.outline.format.line_forms import Outline
from orgflow.frontends.outline.checks import split_processes
from orgflow.frontends.outline.ids import Ids
from orgflow.frontends.outline.scope_builder import ScopeBuilder, Shared

from orgflow_ir.model import Catalog, Model, Pool, Process
from orgflow_ir.model.evidence import SENTENCES
from orgflow_ir.model.message_ends import Endpoint, connect_messages
from orgflow_ir.model.source import SourceLocation


def build_model(outline: Outline, file: str) -> Model:
    """The model of an outline without faults, with a pool for each participant."""
    shared = Shared(Ids(), file)
    headers = [line for line in outline.lines if line.keyword == "process"]
    bodies = split_processes(outline)
    names: list[str] = [""] * (len(bodies) - len(headers)) + [line.text for line in headers]
    processes: list[Process] = []
    pools: list[Pool] = []
    endpoints: list[Endpoint] = []
    for number, (name, lines) in enumerate(zip(names, bodies, strict=True)):
        header = headers[number - len(bodies)] if number >= len(bodies) - len(headers) else None
        loc = (
            SourceLocation(file=file, line=header.line, column=header.column)
            if header is not None else None
        )  # fmt: skip
        id = shared.ids.take_id(name, "process")
        builder = ScopeBuilder(shared, name)
        builder.build_process(lines)
        more: dict[str, Any] = builder.content()
        if header is not None and header.sentences:
            more["extra"] = ((SENTENCES, ",".join(map(str, header.sentences))),)
        processes.append(Process(id=id, name=name, loc=loc, **more))
        endpoints += builder.endpoints
        if header is not None:
            pool = shared.ids.take_id(f"{name} pool", "pool")
            pools.append(Pool(id=pool, name=name, process=id, loc=loc))
    boxes, flows = connect_messages(endpoints, pools, shared.ids.take_id)
    return Model(
        id="model", source=file, processes=tuple(processes), pools=(*pools, *boxes),
        message_flows=flows,
        catalog=Catalog(messages=shared.messages.entries(), errors=shared.errors.entries()),
    )  # fmt: skip
