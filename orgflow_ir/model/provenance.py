"""The source elements that an element stands for, as recorded in `derived_from`, not in ids."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from orgflow_ir.model.elements import Element, Model, Scope


def source_ids(element: Element) -> tuple[str, ...]:
    """Ids of the source elements that an element was made from; its own id if it was read from the
    source.

    Example:
        source_ids(Task(id="pack")) == ("pack",)
        source_ids(Event(id="pack__end", position="end", derived_from=("pack",))) == ("pack",)
    """
    return element.derived_from or (element.id,)


def joint_source_ids(elements: Iterable[Element]) -> tuple[str, ...]:
    """Ids of the source elements of several elements, each once, in order."""
    return tuple(dict.fromkeys(id for element in elements for id in source_ids(element)))


def all_scoped(process: Scope) -> Iterator[Element]:
    """Everything inside a process or sub-process that has an id."""
    for scope in process.scopes():
        yield from (*scope.nodes, *scope.flows, *scope.lanes)
        yield from (*scope.data_objects, *scope.data_flows, *scope.artifacts)


def all_elements(model: Model) -> Iterator[Element]:
    """Everything in a model that has an id, except the model itself."""
    for process in model.processes:
        yield process
        yield from all_scoped(process)
    yield from (*model.pools, *model.message_flows, *model.artifacts, *model.opaque)
    catalog = model.catalog
    yield from (*catalog.messages, *catalog.signals, *catalog.errors, *catalog.escalations)
    yield from model.correlation_keys


def elements_by_id(model: Model) -> dict[str, Element]:
    """Everything in a model by its id; the first of several with the same id."""
    elements: dict[str, Element] = {}
    for element in all_elements(model):
        elements.setdefault(element.id, element)
    return elements
