"""Which elements of the source an element stands for."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow_ir.model.elements import Element, Model, Process


def source_ids(element: Element) -> tuple[str, ...]:
    """Ids of the source elements that an element was made from; its own id where it was read."""
    id = element.id
    while element.origin is not None and "__" in id:
        id = id.rpartition("__")[0]
    return (id,)


def all_scoped(process: Process) -> Iterator[Element]:
    """Everything inside a process that has an id."""
    for scope in process.scopes():
        yield from (*scope.nodes, *scope.flows, *scope.lanes)
        yield from (*scope.data_objects, *scope.data_flows, *scope.artifacts)


def all_elements(model: Model) -> Iterator[Element]:
    """Everything in a model that has an id, but for the model itself."""
    for process in model.processes:
        yield process
        yield from all_scoped(process)
    yield from (*model.pools, *model.message_flows, *model.artifacts, *model.opaque)
    catalog = model.catalog
    yield from (*catalog.messages, *catalog.signals, *catalog.errors, *catalog.escalations)
    yield from model.correlation_keys
