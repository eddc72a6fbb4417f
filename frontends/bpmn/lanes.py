"""Lanes and sets of lanes (BPMN 2.0.2, 10.8)."""

from __future__ import annotations

from orgflow.backends.bpmn.format import child_rank
from orgflow.frontends.bpmn.bpmn_reading import NAMED, Reading, describe_element
from orgflow.frontends.bpmn.reading_rules import UnknownReference
from orgflow.frontends.bpmn.xml.bpmn_names import BPMN
from orgflow.frontends.xml.tree import XmlElement

from orgflow_ir.model import Lane
from orgflow_ir.model.value import Extra

_ATTRIBUTES = NAMED | {"partitionElementRef"}
_CHILDREN = frozenset(("flowNodeRef", "childLaneSet"))


def read_lanes(r: Reading, lane_set: XmlElement) -> tuple[list[Lane], Extra]:
    """The lanes of a set and of nested sets, outer before inner; and the set itself without its
    lanes, as kept data, if it contains more than its id."""
    lanes: list[Lane] = []
    shells: list[tuple[str, str]] = []
    stack: list[tuple[XmlElement, str | None]] = [(lane_set, None)]
    while stack:
        current, parent = stack.pop()
        set_id = current.attrs.get("id", "").strip() or r.claim(current)
        shells.extend(_read_shell(r, current, set_id))
        inner: list[tuple[XmlElement, str | None]] = []
        for node in current.children:
            if node.local == "lane" and node.ns == BPMN:
                lane = _read_lane(r, node, parent, set_id)
                lanes.append(lane)
                inner.extend(
                    (c, lane.id)
                    for c in node.children
                    if c.local == "childLaneSet" and c.ns == BPMN
                )
        stack.extend(reversed(inner))
    return lanes, tuple(shells)


def _read_shell(r: Reading, lane_set: XmlElement, set_id: str) -> Extra:
    rest = [c for c in lane_set.children if c.local != "lane" or c.ns != BPMN]
    plain = all(k == "id" or k.startswith("xmlns") for k in lane_set.attrs)
    if plain and not rest and lane_set.children:
        return ()
    r.kept(lane_set, NAMED, frozenset(("lane",)))  # for what it reports
    rest.sort(key=lambda c: child_rank(lane_set.local, c.ns, c.local))
    text = r.document.shell(lane_set, (r.document.raw(c) for c in rest))
    if "id" not in lane_set.attrs:
        at = 1 + len(lane_set.qname)
        text = f'{text[:at]} id="{set_id}"{text[at:]}'
    return ((lane_set.tag, text),)


def _read_lane(r: Reading, node: XmlElement, parent: str | None, lane_set: str) -> Lane:
    args = r.base(node, _ATTRIBUTES, _CHILDREN)
    members: list[str] = []
    for child in node.children:
        if child.local != "flowNodeRef" or child.ns != BPMN:
            continue
        member = r.resolve(child.text)
        if member in r.ids:
            assert member is not None
            members.append(member)
            continue
        r.report(
            UnknownReference,
            f"lane {describe_element(node)} lists `{member or ''}`, which is not in the file",
            child,
            of=node,
            help="remove the `flowNodeRef`; it is kept and has no effect",
        )
        args["extra"] += ((child.tag, r.document.standalone(child)),)
    return Lane(
        members=tuple(members),
        parent=parent,
        performer=r.ref(node, "partitionElementRef"),
        lane_set=lane_set,
        **args,
    )
