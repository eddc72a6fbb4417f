"""One process of a model: the others become black boxes."""

from __future__ import annotations

from collections.abc import Sequence

from orgflow.compilation.usage_errors import UnknownProcess

from orgflow_ir.model import Model, Process
from orgflow_ir.model.index import ModelIndex
from orgflow_ir.model.provenance import all_elements


def select_process(model: Model, wanted: str) -> Model:
    """The model with one process, identified by its id, its name or that of its pool; the other
    pools become black boxes, and messages to and from them end at their pools. Raises
    `UnknownName`."""
    index = ModelIndex(model)
    names: dict[str, str] = {}
    for process in model.processes:
        pool = index.pool(process.id)
        for name in (pool.caption if pool else "", process.name.strip(), process.id):
            if name:
                names.setdefault(name, process.id)
    if wanted not in names:
        raise UnknownProcess(wanted, process_names(model))
    return keep_processes(model, index, [p for p in model.processes if p.id == names[wanted]])


def keep_processes(model: Model, index: ModelIndex, kept: Sequence[Process]) -> Model:
    """The model with some of its processes; see `select_process`."""
    ids = {process.id for process in kept}

    def moved(end: str) -> str:
        """The pool that replaces a step of another process; empty if it has none."""
        process = index.process(end) if end in index.nodes else None
        if process is None or process.id in ids:
            return end
        pool = index.pool(end)
        return pool.id if pool else ""

    flows = [
        f.replace(source=moved(f.source), target=moved(f.target))
        for f in model.message_flows
        if moved(f.source) == f.source or moved(f.target) == f.target
    ]
    selected = model.replace(
        processes=tuple(kept),
        pools=tuple(p if p.process in ids else p.replace(process=None) for p in model.pools),
        message_flows=tuple(f for f in flows if f.source and f.target),
    )
    return _without_traces(selected, model)


def process_names(model: Model) -> tuple[str, ...]:
    """A name for each process, in order: the name of its pool, its own name, or its id."""
    index = ModelIndex(model)
    names = []
    for process in model.processes:
        pool = index.pool(process.id)
        names.append((pool.caption if pool else "") or process.name.strip() or process.id)
    return tuple(names)


def _without_traces(model: Model, whole: Model) -> Model:
    """The model without associations and shapes of elements that only `whole` has."""
    gone = {e.id for e in all_elements(whole)} - {e.id for e in all_elements(model)}
    processes = model.processes
    every = (*model.artifacts, *(a for process in processes for a in process.artifacts))
    cut = {a.id for a in every if a.source in gone or a.target in gone}
    if cut:
        processes = tuple(
            process.replace(artifacts=tuple(a for a in process.artifacts if a.id not in cut))
            for process in processes
        )
    drawing = model.diagram
    if drawing is not None:
        drawing = drawing.replace(
            shapes=tuple(s for s in drawing.shapes if s.element not in gone),
            edges=tuple(e for e in drawing.edges if e.element not in gone | cut),
        )
    return model.replace(
        processes=processes,
        artifacts=tuple(a for a in model.artifacts if a.id not in cut),
        diagram=drawing,
    )
