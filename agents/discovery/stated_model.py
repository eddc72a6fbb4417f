"""The model of a process whose structure a language model stated, with the messages that its
elements cite."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from orgflow.agents.discovery.case_replay import CaseEvent, CaseFit
from orgflow.agents.discovery.stated_outline import cut_names, list_steps, prefix_ids

from orgflow_ir.model import Catalog, Event, Flow, MessageFlow, Model, Node, Pool, Task
from orgflow_ir.model.elements import Element, Scope, SubProcess
from orgflow_ir.model.evidence import DOUBT, SENTENCES, Evidence
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.model.records import NamedTuple

AGENT = "discover"

MOST_CITED = 5
"""Maximum number of passages of one element; a step may have many messages."""

MOST_ROUNDS = 200
"""Maximum distance over which an element has the evidence of others: blocks of blocks."""

Quote = Callable[[int, str], Evidence]
"""The passage of a message (by its place) that speaks of a name."""


class StatedDrawing(NamedTuple):
    """A stated structure.

    Attributes:
        model: the model of the outline, with one process.
        cited: the places of the messages that each element cites, by its id.
        fits: how each case fits the model, by its number.
    """

    model: Model
    cited: Mapping[str, tuple[int, ...]]
    fits: Mapping[int, CaseFit]


class Collaboration(NamedTuple):
    """The exchange of a process with parties outside of it."""

    pools: tuple[Pool, ...] = ()
    message_flows: tuple[MessageFlow, ...] = ()
    catalog: Catalog = Catalog()


def list_case_events(
    model: Model, cited: Mapping[str, Sequence[int]], cases: Sequence[Sequence[int]]
) -> dict[int, list[CaseEvent]]:
    """The events of each case, by its number: the messages that steps cite, in the order of time,
    those of one message in the order of the model. Messages of one step in a row are one event."""
    case_of = {place: number for number, case in enumerate(cases) for place in case}
    rows: dict[int, list[tuple[int, int, str]]] = {number: [] for number in range(len(cases))}
    for order, step in enumerate(list_steps(model)):
        for place in cited.get(step.id, ()):
            if place in case_of:
                rows[case_of[place]].append((place, order, step.id))
    events: dict[int, list[CaseEvent]] = {}
    for number, row in rows.items():
        kept: list[CaseEvent] = []
        for place, _, id_ in sorted(row):
            if not kept or kept[-1].element != id_:
                kept.append(CaseEvent(id_, place))
        events[number] = kept
    return events


def draw_stated_model(
    drawing: StatedDrawing, prefix: str, name: str, quote: Quote
) -> tuple[Model, dict[str, str]]:
    """The model with evidence, and the new id of each element.

    A line of the outline that cites nothing has no evidence and is marked as a doubt, so that
    pictures show it dashed. Elements that follow from lines, such as joins, cite what is next to
    them.

    Args:
        drawing: the structure.
        prefix: the id of the process, with which the ids of its elements begin.
        name: the name of the process.
        quote: the passages of messages.
    """
    plain, ids = prefix_ids(cut_names(drawing.model), prefix)
    evidence = {
        ids[id_]: cite_places(places, quote, names)
        for id_, places in drawing.cited.items()
        if id_ in ids and places
        for names in [_find_name(plain, ids[id_])]
    }
    doubts = {
        element.id
        for element in all_elements(plain)
        if element.id not in evidence and _is_line(element)
    }
    _spread_evidence(plain, evidence, doubts)

    def mark(element: Any) -> dict[str, Any]:
        extra = tuple(item for item in element.extra if item[0] not in (SENTENCES, DOUBT))
        if element.id in doubts:
            extra = (*extra, (DOUBT, "true"))
        return {
            "extra": extra, "loc": None, "origin": AGENT, "evidence": evidence.get(element.id, ()),
        }  # fmt: skip

    def mark_all(elements: Iterable[Any]) -> tuple[Any, ...]:
        return tuple(element.replace(**mark(element)) for element in elements)

    def mark_node(node: Node) -> Node:
        more: dict[str, Any] = mark(node)
        if isinstance(node, Task) and node.task_type == "abstract":
            more["task_type"] = "user"
        if isinstance(node, SubProcess):
            more |= mark_scope(node)
        return node.replace(**more)

    def mark_scope(scope: Scope) -> dict[str, Any]:
        return {
            "nodes": tuple(mark_node(node) for node in scope.nodes),
            "flows": mark_all(scope.flows), "lanes": mark_all(scope.lanes),
            "data_objects": mark_all(scope.data_objects),
            "data_flows": mark_all(scope.data_flows),
        }  # fmt: skip

    (process,) = plain.processes
    process = process.replace(**mark(process), **mark_scope(process))
    catalog = plain.catalog
    model = plain.replace(
        source="",
        processes=(process.replace(name=name, executable=True),),
        pools=mark_all(plain.pools), message_flows=mark_all(plain.message_flows),
        catalog=catalog.replace(
            messages=mark_all(catalog.messages), errors=mark_all(catalog.errors)
        ),
    )  # fmt: skip
    return model, ids


def cite_places(places: Sequence[int], quote: Quote, name: str) -> tuple[Evidence, ...]:
    """The passages of messages, a few of them."""
    return tuple(quote(place, name) for place in places[:MOST_CITED])


def _find_name(model: Model, id_: str) -> str:
    return next((getattr(e, "name", "") for e in all_elements(model) if e.id == id_), "")


def _is_line(element: Element) -> bool:
    """Whether an element says something of its own: a step, a condition, a named event."""
    if isinstance(element, Task):
        return True
    return isinstance(element, Event | Flow) and bool(element.name.strip())


def _spread_evidence(
    model: Model, evidence: dict[str, tuple[Evidence, ...]], doubts: set[str]
) -> None:
    """Give elements without evidence that of the elements next to them, the nearest first."""
    near: dict[str, list[str]] = {element.id: [] for element in all_elements(model)}

    def connect(element: str, *others: str) -> None:
        for other in others:
            if element in near and other in near:
                near[element].append(other)
                near[other].append(element)

    for scope in model.scopes():
        for flow in scope.flows:
            connect(flow.id, flow.target, flow.source)
        for node in scope.nodes:
            connect(scope.id, node.id)
            if isinstance(node, Event):
                connect(node.id, *(d.ref for d in node.definitions if d.ref))
                connect(node.id, *([node.attached_to] if node.attached_to else []))
            if isinstance(node, Task) and node.message:
                connect(node.id, node.message)
        for lane in scope.lanes:
            connect(lane.id, *lane.members)
        for data in scope.data_flows:
            connect(data.id, data.source, data.target)
    for message in model.message_flows:
        connect(message.id, message.source, message.target)
    missing = [id_ for id_ in near if id_ not in evidence and id_ not in doubts]
    for _ in range(MOST_ROUNDS):
        given = {
            id_: cited[:2]
            for id_ in missing
            if (cited := next((evidence[n] for n in near[id_] if n in evidence), ()))
        }
        evidence.update(given)
        missing = [id_ for id_ in missing if id_ not in given]
        if not given:
            break
