"""`Rewriter`: changes a model by small typed edits, for lowerings, fixes and agents alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeVar

from orgflow_ir.model.bindings import AnyBinding, without_binding
from orgflow_ir.model.diagram import Diagram, Edge, Shape
from orgflow_ir.model.edits import Edit, EditAction
from orgflow_ir.model.elements import (
    Artifact,
    DataFlow,
    Element,
    Event,
    EventDefinition,
    Expression,
    Flow,
    Gateway,
    Lane,
    MessageFlow,
    Model,
    Node,
    Process,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.evidence import Evidence, joint_evidence
from orgflow_ir.model.provenance import all_elements, all_scoped, joint_source_ids

T = TypeVar("T", bound=Element)
S = TypeVar("S", Process, SubProcess)
L = TypeVar("L", DataFlow, Artifact, MessageFlow)
D = TypeVar("D", Shape, Edge)

_Place = tuple[str, str]
"""The ids of a scope and of an element in it."""


class EditError(ValueError):
    """An edit that does not fit the model."""


class Rewriter:
    """Collects edits of a model and builds the new value once (a copy per edit would be quadratic).

    Elements keep their order: a replaced element keeps its position, and new ones come last.
    References to a removed or renamed node are corrected when the model is built: flows, boundary
    events, data and message flows, associations and shapes of a removed node are removed with it,
    also from lanes.

    With an `origin` (the name of a pass or lowering), every element that is made or changed gets
    it, together with the ids of the source elements it comes from (`derived_from`) and, if it has
    no place, their place. Without an origin, the edits belong to the source, like those of a fix,
    and nothing is recorded. Evidence is kept in both cases: an element has its own evidence and
    that of the elements it comes from.

    Args:
        model: the model, which is not modified.
        origin: the author of the edits.

    Example:
        rewriter = Rewriter(model, origin="my-lowering")
        end = Event(id=rewriter.fresh_id("pack", "end"), position="end")
        rewriter.insert("process", end, of=(pack,))
        rewriter.connect("process", pack.id, end.id, of=(pack,))
        model = rewriter.done()
    """

    def __init__(self, model: Model, *, origin: str | None = None) -> None:
        self.model = model
        self.origin = origin
        self._scopes: dict[str, Scope] = {scope.id: scope for scope in model.scopes()}
        self._nodes: dict[str, dict[str, Node]] = {}
        self._flows: dict[str, dict[str, Flow]] = {}
        self._edits: dict[_Place, Edit] = {}
        self._places: dict[_Place, _Place] = {}
        self._renamed: dict[str, str] = {}
        self._gone: set[str] = set()
        self._taken_in: dict[str, list[tuple[str, SubProcess]]] = {}
        self._ids: set[str] | None = None
        self._about: tuple[Element, ...] = ()
        self._count = 0

    # -- what is there -------------------------------------------------------------------------

    def node(self, scope: str, id: str) -> Node:
        """A node as edited so far, including the edits inside a sub-process. Raises `EditError`."""
        node_there = self._node_table(scope).get(id)
        if node_there is None:
            raise EditError(f"`{scope}` has no node `{id}`")
        return self._build_scope(node_there) if isinstance(node_there, SubProcess) else node_there

    def flow(self, scope: str, id: str) -> Flow:
        """A flow as edited so far. Raises `EditError`."""
        flow_there = self._flow_table(scope).get(id)
        if flow_there is None:
            raise EditError(f"`{scope}` has no flow `{id}`")
        return flow_there

    @property
    def count(self) -> int:
        """The number of edits made so far."""
        return self._count

    def touched(self, scope: str, id: str) -> bool:
        """Whether an element was made, changed or removed by an edit."""
        place = (scope, id)
        return place in self._edits or place in self._places or id in self._gone

    def stale(self, scope: Scope | None, id: str) -> bool:
        """Whether an edit changed or removed an element of the model, or the scope that contains
        it."""
        if scope is None:
            return id in self._gone
        return self._scopes.get(scope.id) is not scope or self.touched(scope.id, id)

    def fresh_id(self, owner: str, role: str) -> str:
        """`{owner}__{role}`, followed by a number if that id is taken in the model."""
        return self.free_id(f"{owner}__{role}")

    def free_id(self, wanted: str) -> str:
        """`wanted`, followed by a number if that id is taken; the result is reserved."""
        if self._ids is None:
            self._ids = {
                self.model.id,
                *(e.id for e in all_elements(self.model)),
                *self._present_ids(),
            }
        candidate, number = wanted, 2
        while candidate in self._ids:
            candidate = f"{wanted}_{number}"
            number += 1
        self._ids.add(candidate)
        return candidate

    # -- edits ---------------------------------------------------------------------------------

    def about(self, *elements: Element) -> None:
        """Set the elements from which the results of later edits are derived, unless an edit names
        others."""
        self._about = elements

    def insert(self, scope: str, element: Node | Flow, *, of: Iterable[Element] = ()) -> None:
        """Add a node or a flow, derived from the elements `of`; an element moved here from another
        scope is derived from itself.

        Raises `EditError` if the scope already has its id, or if the model does not contain the
        elements that it derives from.
        """
        nodes, flows = self._node_table(scope), self._flow_table(scope)
        if element.id in nodes or element.id in flows:
            raise EditError(f"`{scope}` already has an element `{element.id}`")
        moved = self._element_before(element.id)
        parents = tuple(of) or ((moved,) if moved is not None else self._about)
        if self.origin is not None and not parents:
            raise EditError(
                f"the model does not define which element `{element.id}` is derived from"
            )
        self._record_edit(scope, element.id, self._put_element(scope, element, parents))

    def connect(
        self,
        scope: str,
        source: str,
        target: str,
        *,
        id: str,
        condition: Expression | None = None,
        default: bool = False,
        of: Iterable[Element] = (),
    ) -> None:
        """Add a flow between two nodes. Raises `EditError` as `insert` does."""
        flow = Flow(id=id, source=source, target=target, condition=condition, default=default)
        self.insert(scope, flow, of=of)

    def replace(
        self, scope: str, id: str, element: Node | Flow, *, of: Iterable[Element] = ()
    ) -> None:
        """Replace a node with a node, or a flow with a flow, derived from it (and from the elements
        `of`). If the id differs, references to the old one are changed to the new one.

        Raises `EditError` if no element has that id and kind, or if the new id is taken.
        """
        old = self.flow(scope, id) if isinstance(element, Flow) else self.node(scope, id)
        if element.id != id:
            self._rename_element(scope, old, element.id)
        if isinstance(old, SubProcess):
            self._forget_tables(old)
        self._record_edit(scope, id, self._put_element(scope, element, (old, *of)))
        if isinstance(old, SubProcess) and not isinstance(element, SubProcess):
            self._lose_content(old)

    def remove(self, scope: str, id: str) -> None:
        """Remove a node or a flow. Raises `EditError` if it does not exist."""
        if id in self._flow_table(scope):
            del self._flow_table(scope)[id]
        else:
            node = self.node(scope, id)
            del self._node_table(scope)[id]
            if isinstance(node, SubProcess):
                self._forget_tables(node)
                self._lose_content(node)
        self._gone.add(id)
        self._record_edit(scope, id, None)

    def dissolve(self, scope: str, id: str) -> None:
        """Replace a sub-process with its content: nodes and flows, each derived from itself, data,
        artifacts and lanes. Lanes that contain the sub-process then contain its nodes. Flows and
        boundary events that are still attached to it are removed with it.

        Raises `EditError` if there is no such sub-process.
        """
        sub = self.node(scope, id)
        if not isinstance(sub, SubProcess):
            raise EditError(f"`{id}` is no sub-process")
        table = self._node_table(scope)
        ids = [*table]
        after = {last: table[last] for last in ids[ids.index(id) + 1 :]}
        self.remove(scope, id)
        self._gone.difference_update(element.id for element in all_scoped(sub))
        for last in after:
            del table[last]
        for node in sub.nodes:
            self.insert(scope, node)
        table.update(after)
        for flow in sub.flows:
            self.insert(scope, flow)
        self._taken_in.setdefault(scope, []).append((id, sub))

    def set_binding(self, scope: str, id: str, binding: AnyBinding | None) -> None:
        """Set the binding of a task; extension data that defined the old work is removed.

        Raises `EditError` for anything other than a task.
        """
        task = self.node(scope, id)
        if not isinstance(task, Task):
            raise EditError(f"`{id}` is not a task and cannot have a binding")
        self.replace(scope, id, task.replace(binding=binding, extra=without_binding(task.extra)))

    def set_condition(self, scope: str, id: str, condition: Expression | None) -> None:
        """Give a flow a condition, or none. Raises `EditError`."""
        self.replace(scope, id, self.flow(scope, id).replace(condition=condition))

    def set_timer(self, scope: str, id: str, timer: EventDefinition) -> None:
        """Set the timer of an event; its other definitions stay.

        Raises `EditError` for anything other than an event with one timer.
        """
        event = self.node(scope, id)
        definitions = event.definitions if isinstance(event, Event) else ()
        if timer.kind != "timer" or sum(d.kind == "timer" for d in definitions) != 1:
            raise EditError(f"`{id}` is not an event with one timer")
        self.set_definitions(
            scope, id, tuple(timer if d.kind == "timer" else d for d in definitions)
        )

    def set_definitions(
        self, scope: str, id: str, definitions: tuple[EventDefinition, ...]
    ) -> None:
        """Set the definitions of an event. Raises `EditError` for anything other than an event."""
        event = self.node(scope, id)
        if not isinstance(event, Event):
            raise EditError(f"`{id}` is not an event")
        self.replace(scope, id, event.replace(definitions=definitions))

    def relabel(self, scope: str, id: str, name: str) -> None:
        """Rename a node or a flow. Raises `EditError`."""
        if id in self._flow_table(scope):
            self.replace(scope, id, self.flow(scope, id).replace(name=name))
        else:
            self.replace(scope, id, self.node(scope, id).replace(name=name))

    def cite(self, scope: str, id: str, *evidence: Evidence) -> None:
        """Add passages that support a node or a flow. Raises `EditError`."""
        flow = id in self._flow_table(scope)
        element: Node | Flow = self.flow(scope, id) if flow else self.node(scope, id)
        self.replace(
            scope, id, element.replace(evidence=joint_evidence(element.evidence, evidence))
        )

    def redirect(
        self, scope: str, id: str, *, source: str | None = None, target: str | None = None
    ) -> None:
        """Make a flow begin or end at another node of its scope. Raises `EditError`."""
        ends = {"source": source, "target": target}
        moved = {end: node for end, node in ends.items() if node is not None}
        for node in moved.values():
            self.node(scope, node)
        self.replace(scope, id, self.flow(scope, id).replace(**moved))

    def set_default(self, scope: str, id: str, default: bool = True) -> None:
        """Make a flow the default flow of its source, in place of any other, or an ordinary one.
        Raises `EditError`."""
        flow = self.flow(scope, id)
        for other in tuple(self._flow_table(scope).values()):
            if default and other.default and other.source == flow.source and other.id != id:
                self.replace(scope, other.id, other.replace(default=False))
        self.replace(scope, id, flow.replace(default=default))

    def make(self, edit: Edit) -> None:
        """Apply an edit given as data. Raises `EditError` if it does not fit the model."""
        self._find_scope(edit.scope)
        scope, id = edit.scope, edit.id or ""
        if edit.node is not None and edit.flow is not None:
            raise EditError("an edit adds or replaces either a node or a flow")
        match edit.action:
            case "add":
                self.insert(scope, _edited_element(edit))
            case "replace":
                self.replace(scope, id, _edited_element(edit))
            case "remove":
                self.remove(scope, id)
            case "set-binding":
                self.set_binding(scope, id, edit.binding)
            case "set-condition":
                self.set_condition(scope, id, edit.condition)
            case "set-timer":
                if edit.timer is None:
                    raise EditError(f"no time is given for `{id}`")
                self.set_timer(scope, id, edit.timer)
            case "relabel":
                self.relabel(scope, id, edit.name or "")
            case "redirect":
                self.redirect(scope, id, source=edit.source, target=edit.target)
            case "set-default":
                self.set_default(scope, id, edit.default is not False)

    # -- results -------------------------------------------------------------------------------

    @property
    def edits(self) -> tuple[Edit, ...]:
        """The changes, as one `add`, `replace` or `remove` per element, in the order in which
        elements were first edited. The consequences of a removal are not included."""
        return tuple(self._edits.values())

    def done(self) -> Model:
        """The edited model; the original model if nothing was changed."""
        if not self._edits:
            return self.model
        for scope in dict.fromkeys(place[0] for place in self._edits):
            if scope in self._scopes:
                self._tidy_scope(scope)
        model = self.model.replace(
            processes=tuple(self._build_scope(process) for process in self.model.processes)
        )
        return self._tidy_model(model) if self._gone or self._renamed else model

    # -- tables --------------------------------------------------------------------------------

    def _node_table(self, scope: str) -> dict[str, Node]:
        if scope not in self._nodes:
            self._nodes[scope] = {n.id: n for n in self._find_scope(scope).nodes}
        return self._nodes[scope]

    def _flow_table(self, scope: str) -> dict[str, Flow]:
        if scope not in self._flows:
            self._flows[scope] = {f.id: f for f in self._find_scope(scope).flows}
        return self._flows[scope]

    def _find_scope(self, id: str) -> Scope:
        scope = self._scopes.get(id)
        if scope is None:
            raise EditError(f"no process or sub-process `{id}`")
        return scope

    def _present_ids(self) -> Iterator[str]:
        """The ids in all scopes that were looked at."""
        for scope in (*self._nodes, *self._flows):
            yield from self._nodes.get(scope, ())
            yield from self._flows.get(scope, ())

    def _lose_content(self, node: SubProcess) -> None:
        """Everything in a sub-process is gone with it, but what was moved."""
        inside = {element.id for element in all_scoped(node)}
        self._gone |= inside.difference(self._present_ids())

    def _forget_tables(self, node: SubProcess) -> None:
        """Drop the tables of a sub-process that is removed or replaced, and of those in it."""
        for scope in node.scopes():
            for table in (self._scopes, self._nodes, self._flows):
                table.pop(scope.id, None)

    def _put_element(
        self, scope: str, element: Node | Flow, parents: tuple[Element, ...]
    ) -> Node | Flow:
        element_put = self._stamp_origin(element, parents)
        if isinstance(element_put, Flow):
            self._flow_table(scope)[element_put.id] = element_put
        else:
            self._node_table(scope)[element_put.id] = element_put
        if isinstance(element_put, SubProcess):
            self._scopes.update((inner.id, inner) for inner in element_put.scopes())
        self._gone.discard(element_put.id)
        if self._ids is not None:
            self._ids.add(element_put.id)
        return element_put

    def _rename_element(self, scope: str, old: Node | Flow, new: str) -> None:
        if new in self._node_table(scope) or new in self._flow_table(scope):
            raise EditError(f"`{scope}` already has an element `{new}`")
        # The table is made again so that the element keeps its place in the order.
        if isinstance(old, Flow):
            flows = self._flow_table(scope)
            self._flows[scope] = {new if id == old.id else id: f for id, f in flows.items()}
        else:
            nodes = self._node_table(scope)
            self._nodes[scope] = {new if id == old.id else id: n for id, n in nodes.items()}
        self._renamed.pop(new, None)  # it has its first name again
        self._renamed[old.id] = new
        self._places[scope, new] = self._places.get((scope, old.id), (scope, old.id))

    def _record_edit(self, scope: str, id: str, element: Node | Flow | None) -> None:
        self._count += 1
        place = self._places.get((scope, id), (scope, id))
        before = self._edits.get(place)
        there = self._source_elements.get(place[1], ("", None))[0] == scope
        added = before.action == "add" if before is not None else not there
        node, flow = (None, element) if isinstance(element, Flow) else (element, None)
        if element is None and added:
            del self._edits[place]
        elif added:
            self._edits[place] = Edit(action="add", scope=scope, node=node, flow=flow)
        else:
            action: EditAction = "remove" if element is None else "replace"
            self._edits[place] = Edit(action=action, scope=scope, id=place[1], node=node, flow=flow)

    @cached_property
    def _source_elements(self) -> dict[str, tuple[str, Node | Flow]]:
        """Scope and value of every node and flow of the model, by its id, as they were."""
        return {e.id: (s.id, e) for s in self.model.scopes() for e in (*s.nodes, *s.flows)}

    def _element_before(self, id: str) -> Node | Flow | None:
        entry = self._source_elements.get(id)
        return entry[1] if entry is not None else None

    # -- provenance ----------------------------------------------------------------------------

    def _stamp_origin(self, element: T, parents: tuple[Element, ...]) -> T:
        stamped = element
        if any(parent.evidence for parent in parents):
            joined = joint_evidence(element.evidence, *(p.evidence for p in parents))
            stamped = stamped.replace(evidence=joined)
        if self.origin is not None:
            loc = element.loc or next((p.loc for p in parents if p.loc is not None), None)
            stamped = stamped.replace(
                origin=self.origin, derived_from=joint_source_ids(parents), loc=loc
            )
        if not isinstance(stamped, SubProcess):
            return stamped
        nodes = tuple(self._stamped_inside(n, parents) for n in stamped.nodes)
        flows = tuple(self._stamped_inside(f, parents) for f in stamped.flows)
        if _are_same(nodes, stamped.nodes) and _are_same(flows, stamped.flows):
            return stamped
        return stamped.replace(nodes=nodes, flows=flows)

    def _stamped_inside(self, element: T, parents: tuple[Element, ...]) -> T:
        """What a sub-process brings along: only what is new or other than before is stamped."""
        before = self._element_before(element.id)
        stamped = self.origin is not None and element.origin == self.origin
        if before is element or (stamped and element.derived_from):
            return element
        return self._stamp_origin(element, (before,) if before is not None else parents)

    # -- the new value -------------------------------------------------------------------------

    def _current_id(self, id: str) -> str:
        while id in self._renamed:
            id = self._renamed[id]
        return id

    def _tidy_scope(self, scope: str) -> None:
        """Put the references between nodes and flows of an edited scope right."""
        nodes, flows = self._node_table(scope), self._flow_table(scope)
        hosted = [n for n in nodes.values() if isinstance(n, Event) and n.attached_to is not None]
        for event in hosted:  # an event is attached to activities only, so one round is enough
            assert event.attached_to is not None
            host = self._current_id(event.attached_to)
            if host in self._gone:
                del nodes[event.id]
                self._gone.add(event.id)
            elif host != event.attached_to:
                nodes[event.id] = self._stamp_origin(event.replace(attached_to=host), (event,))
        for flow in tuple(flows.values()):
            source, target = self._current_id(flow.source), self._current_id(flow.target)
            if source in self._gone or target in self._gone:
                del flows[flow.id]
                self._gone.add(flow.id)
                continue
            keeps = flow.default and self._may_default(scope, source)
            if (source, target, keeps) != (flow.source, flow.target, flow.default):
                tidy = flow.replace(source=source, target=target, default=keeps)
                flows[flow.id] = self._stamp_origin(tidy, (flow,))

    def _may_default(self, scope: str, id: str) -> bool:
        """Whether the node may have a default flow (BPMN 2.0.2, 8.3.13); one that nothing here
        changed keeps what it has."""
        node = self._node_table(scope).get(id)
        decides = not isinstance(node, Gateway) or node.gateway_kind not in ("parallel", "event")
        return decides or not self.touched(scope, id)

    def _build_scope(self, scope: S) -> S:
        dirty = scope.id in self._nodes or scope.id in self._flows
        changes: dict[str, tuple[Element, ...]] = {}
        old = tuple(self._node_table(scope.id).values()) if dirty else scope.nodes
        nodes = tuple(self._build_scope(n) if isinstance(n, SubProcess) else n for n in old)
        if not _are_same(nodes, scope.nodes):
            changes["nodes"] = nodes
        if dirty and not _are_same(
            flows := tuple(self._flow_table(scope.id).values()), scope.flows
        ):
            changes["flows"] = flows
        if self._gone or self._renamed:
            for field, parts in self._list_beside(scope):
                if not _are_same(parts, getattr(scope, field)):
                    changes[field] = parts
        return scope.replace(**changes) if changes else scope

    def _list_beside(self, scope: Scope) -> Iterator[tuple[str, tuple[Element, ...]]]:
        """What a scope has beside nodes and flows, with that of the sub-processes dissolved in it,
        by the name of the field."""
        subs = [sub for _, sub in self._taken_in.get(scope.id, ())]
        yield "lanes", self._update_lanes(scope)
        data = (
            *scope.data_objects,
            *(data_object for sub in subs for data_object in sub.data_objects),
        )
        yield "data_objects", data
        flows = (*scope.data_flows, *(data_flow for sub in subs for data_flow in sub.data_flows))
        yield "data_flows", self._update_links(flows)
        artifacts = (*scope.artifacts, *(artifact for sub in subs for artifact in sub.artifacts))
        yield "artifacts", self._update_links(artifacts)

    def _update_lanes(self, scope: Scope) -> tuple[Lane, ...]:
        taken_in = dict(self._taken_in.get(scope.id, ()))
        lanes = list(scope.lanes)
        for id, sub in taken_in.items():
            holder = next((lane.id for lane in reversed(lanes) if id in lane.members), None)
            lanes += (
                lane if lane.parent is not None else lane.replace(parent=holder)
                for lane in sub.lanes
            )  # fmt: skip
        kept_lanes = []
        for lane in lanes:
            members_now = self._with_inner(lane.members, taken_in) if taken_in else lane.members
            members = tuple(
                m for id in members_now if (m := self._current_id(id)) not in self._gone
            )
            kept_lanes.append(lane if members == lane.members else lane.replace(members=members))
        return tuple(kept_lanes)

    @staticmethod
    def _with_inner(members: Iterable[str], taken_in: Mapping[str, SubProcess]) -> tuple[str, ...]:
        """Members of a lane with what is in those that were dissolved."""
        ids: dict[str, None] = {}
        stack = [*members][::-1]
        while stack:
            id = stack.pop()
            ids[id] = None
            if id in taken_in:
                stack += [n.id for n in reversed(taken_in[id].nodes) if n.id not in ids]
        return tuple(ids)

    def _update_links(self, links: tuple[L, ...]) -> tuple[L, ...]:
        """Links between elements without those that an end is gone of."""
        links_left = []
        for link in links:
            source, target = (end and self._current_id(end) for end in (link.source, link.target))
            if source in self._gone or target in self._gone:
                self._gone.add(link.id)
                continue
            same = (source, target) == (link.source, link.target)
            links_left.append(link if same else link.replace(source=source, target=target))
        return tuple(links_left)

    def _tidy_model(self, model: Model) -> Model:
        """The model with what stands beside its processes put right."""
        changes: dict[str, Any] = {}
        messages, artifacts = (
            self._update_links(model.message_flows),
            self._update_links(model.artifacts),
        )
        if not _are_same(messages, model.message_flows):
            changes["message_flows"] = messages
        if not _are_same(artifacts, model.artifacts):
            changes["artifacts"] = artifacts
        if model.diagram is not None:
            changes["diagram"] = Diagram(
                shapes=self._update_marks(model.diagram.shapes),
                edges=self._update_marks(model.diagram.edges),
            )
        return model.replace(**changes) if changes else model

    def _update_marks(self, marks: tuple[D, ...]) -> tuple[D, ...]:
        kept = (m for m in marks if self._current_id(m.element) not in self._gone)
        return tuple(
            m if (id := self._current_id(m.element)) == m.element else m.replace(element=id)
            for m in kept
        )


def _are_same(new: Sequence[object], old: Sequence[object]) -> bool:
    return len(new) == len(old) and all(a is b for a, b in zip(new, old, strict=True))


def _edited_element(edit: Edit) -> Node | Flow:
    element = edit.node or edit.flow
    if element is None:
        raise EditError("an edit adds or replaces either a node or a flow")
    return element
