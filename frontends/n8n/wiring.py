"""From connections to flows: joins before nodes with several inputs, choices and splits after them.

Several connections into one input are several flows into one element, which handles each token
separately. Several connections from one output are several flows if a task or event forks, and a
parallel gateway after a gateway. An unconnected output ends the path: after a gateway, it is a flow
to an end event.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from orgflow.frontends.n8n.bodies import Bodies, Body, form_limit
from orgflow.frontends.n8n.bypasses import Bypasses, find_bypasses
from orgflow.frontends.n8n.identity import Ids
from orgflow.frontends.n8n.keeping import compact_json, extension_key
from orgflow.frontends.n8n.ports import NO_MATCH, Join, Outlet, Ways, merge_join, read_outputs
from orgflow.frontends.n8n.source import SourceNode, Wire

from orgflow_ir.model import (
    CallActivity,
    Event,
    EventDefinition,
    Flow,
    Gateway,
    GatewayKind,
    Task,
)
from orgflow_ir.model.records import NamedTuple, dataclass

_ERROR = EventDefinition(kind="error")


@dataclass
class Exit:
    """The origin of the connections of an output: the element, and the data of their flow. An
    output of a gateway with several connections, or with none, needs its own element."""

    element: str
    outlet: Outlet = field(default_factory=Outlet)
    of_gateway: bool = False


@dataclass
class Wired:
    """A node in the flow: its elements, the targets of its inputs, and the sources of its
    outputs."""

    node: SourceNode
    entries: dict[int, str] = field(default_factory=dict)
    exits: dict[int, Exit] = field(default_factory=dict)
    limit: str | None = None


class Beside(NamedTuple):
    """The node for which an element was added, and whether tokens reach the element before the
    node."""

    owner: str
    before: bool


class Wiring:
    """The nodes and flows of one process."""

    def __init__(self, bodies: Bodies, ids: Ids) -> None:
        self.bodies, self.ids = bodies, ids
        self.nodes: list[Body] = []
        self.flows: list[Flow] = []
        self.dead: list[tuple[Wire, str]] = []
        self.beside: dict[str, Beside] = {}
        self.bypasses = Bypasses()
        self._wired: dict[int, Wired] = {}
        self._ends: dict[int, str] = {}

    def build(self, nodes: list[SourceNode], wires: list[Wire]) -> None:
        """Fill `nodes` and `flows`; `dead` are connections without items, with the reason, `beside`
        gives for each added element the one it was added for, and `bypasses` contains the nodes and
        connections that only support an inclusive gateway."""
        self.bypasses = find_bypasses(nodes, wires)
        nodes, wires = self.bypasses.steps(nodes), self.bypasses.flows(wires)
        into: dict[int, list[Wire]] = {n.place: [] for n in nodes}
        out: dict[int, list[Wire]] = {n.place: [] for n in nodes}
        for wire in wires:  # one that is there twice carries two tokens: n8n runs its target twice
            out[wire.source.place].append(wire)
            into[wire.target.place].append(wire)
        shapes = {n.place: self._outgoing_ways(n, out[n.place]) for n in nodes}
        for node in nodes:
            alive = [w for w in into[node.place] if self._is_alive(w, shapes)]
            self._wire_node(node, shapes[node.place], alive)
        for node in nodes:
            live = [w for w in out[node.place] if self._is_alive(w, shapes, tell=True)]
            self._connect_exits(self._wired[node.place], live)

    def _outgoing_ways(self, node: SourceNode, out: list[Wire]) -> Ways:
        known = self.bypasses.outlets.get(node.place, {})
        wired = sorted({w.output for w in out if w.output not in known})
        outputs = self.bypasses.bypass_ways(
            node, read_outputs(node.raw, node.short, node.version, wired)
        )
        if node.short == "stopAndError" and not node.disabled:
            return Ways("one", {})
        return outputs

    def _is_alive(self, wire: Wire, shapes: dict[int, Ways], *, tell: bool = False) -> bool:
        shape = shapes[wire.source.place]
        why = ""
        if wire.output not in shape.outlets and wire.output != shape.error:
            if wire.source.disabled:
                why = "leaves a disabled node from an output other than the first"
            else:
                why = f"leaves from output {wire.output + 1}, which the node does not have"
        elif wire.target.trigger:
            why = "leads into a trigger, which has no input"
        if why and tell:
            self.dead.append((wire, why))
        return not why

    # -- elements ------------------------------------------------------------------------------

    def _wire_node(self, node: SourceNode, shape: Ways, into: list[Wire]) -> None:
        wired = self._wired[node.place] = Wired(node)
        inputs = sorted({w.input for w in into})
        kind: Join | None = None
        if node.short == "merge":
            kind = merge_join(node.raw, node.version, inputs)
            if node.place in self.bypasses.joins and kind.kind == "parallel":
                kind = Join("inclusive")
        elif shape.own:
            kind = Join("inclusive" if shape.mode == "inclusive" else "exclusive")
        entry = node.id
        if node.short != "merge" and len(inputs) > 1:
            # n8n waits for all inputs and goes on with what came.
            entry = self._add_gateway(node, "join", "inclusive", before=True)
            self._add_flow(entry, node.id)
        for number in inputs:
            several = len(inputs) > 1 and sum(w.input == number for w in into) > 1
            wired.entries[number] = entry
            if several:  # each of these is a token for the same input
                front = self._add_gateway(node, f"input{number}", "exclusive", before=True)
                wired.entries[number] = front
                self._add_flow(front, entry)
        body = self.bodies.element(node, kind)
        self.nodes.append(body)
        self._add_exits(wired, body, shape)

    def _add_exits(self, wired: Wired, body: Body, shape: Ways) -> None:
        node = wired.node
        activity = isinstance(body, Task | CallActivity)
        outlets = dict(shape.outlets)
        mode = shape.mode
        if shape.error is not None and activity:
            caught = self._add_boundary(node, "error", _ERROR)
            wired.exits[shape.error] = Exit(caught, of_gateway=True)
        elif shape.error is not None:
            if mode in ("one", "all"):
                outlets = {i: Outlet("success") for i in outlets}
                mode = "exclusive"
            outlets[shape.error] = Outlet("error")
        limit = form_limit(node)
        if limit is not None and activity:
            wired.limit = self._add_boundary(node, "limit", limit)
        if mode in ("exclusive", "inclusive"):
            owner = node.id
            if not shape.own:
                owner = self._add_gateway(
                    node, "choice", "inclusive" if mode == "inclusive" else "exclusive"
                )
                self._add_flow(node.id, owner)
            for number, outlet in outlets.items():
                wired.exits[number] = Exit(owner, outlet, of_gateway=True)
            return
        for number, outlet in outlets.items():
            wired.exits[number] = Exit(node.id, outlet, of_gateway=isinstance(body, Gateway))

    def _add_boundary(self, node: SourceNode, role: str, definition: EventDefinition) -> str:
        id = self._free_id(node, role)
        name = "Failed" if role == "error" else ""
        self.nodes.append(
            Event(
                id=id,
                name=name,
                position="boundary",
                attached_to=node.id,
                definitions=(definition,),
                loc=node.loc,
            )
        )
        return id

    def _add_gateway(
        self, node: SourceNode, role: str, kind: GatewayKind, *, before: bool = False
    ) -> str:
        id = self._free_id(node, role, before=before)
        self.nodes.append(Gateway(id=id, gateway_kind=kind, loc=node.loc))
        return id

    def _free_id(self, node: SourceNode, role: str, *, before: bool = False) -> str:
        id = self.ids.take(f"{node.id}__{role}")
        self.beside[id] = Beside(node.id, before)
        return id

    # -- flows ---------------------------------------------------------------------------------

    def _connect_exits(self, wired: Wired, live: list[Wire]) -> None:
        node = wired.node
        by_output: dict[int, list[Wire]] = {}
        for wire in live:
            by_output.setdefault(wire.output, []).append(wire)
        for number in sorted(wired.exits, key=lambda n: (n == NO_MATCH, n)):
            exit_ = wired.exits[number]
            wires = by_output.get(number, [])
            source, outlet = exit_.element, exit_.outlet
            if not wires and outlet is not None and outlet.never:
                continue
            if not wires and exit_.of_gateway:
                self._add_flow(source, self._add_end(node), outlet)
                continue
            if len(wires) > 1 and exit_.of_gateway:
                split = self._add_gateway(node, f"split{number}", "parallel")
                self._add_flow(source, split, outlet)
                source, outlet = split, Outlet()
            for wire in wires:
                target = self._wired[wire.target.place].entries[wire.input]
                self._add_flow(source, target, outlet, wire)
                if wired.limit is not None and number == 0:
                    self._add_flow(wired.limit, target)

    def _add_end(self, node: SourceNode) -> str:
        """The end of every path of this node that is not wired."""
        if node.place not in self._ends:
            id = self._ends[node.place] = self._free_id(node, "end")
            self.nodes.append(Event(id=id, position="end", loc=node.loc))
        return self._ends[node.place]

    def _add_flow(
        self, source: str, target: str, outlet: Outlet | None = None, wire: Wire | None = None
    ) -> None:
        condition: dict[str, Any] = {}
        if outlet is not None:
            condition = {
                "name": outlet.name,
                "condition": outlet.condition,
                "default": outlet.default,
                "doc": outlet.note,
            }
        if wire is not None:
            kept = [wire.source.name, wire.kind, wire.output, wire.raw]
            condition["extra"] = ((extension_key("wire"), compact_json(kept)),)
            condition["loc"] = wire.source.loc
        self.flows.append(
            Flow(
                id=self.ids.take(f"{source}__to__{target}"),
                source=source,
                target=target,
                **condition,
            )
        )
