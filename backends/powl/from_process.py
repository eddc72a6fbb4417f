"""From a process to POWL: the graph of its gateways is reduced, part by part, until a single flow
from the start to the end carries the whole model.

Every flow of the graph carries POWL: the activities on it. A task is a flow. The reductions are
- a node with one flow in and one out: both become a sequence;
- parallel flows between an exclusive split and an exclusive join: a choice;
- a join, a part, and a split that leads back to the join: a loop;
- parallel gateways with one incoming and one outgoing flow, connected in any way: a partial order.
If none of these applies, a part that several branches share up to the end is repeated in each. Each
reduction preserves the language, so the result has that of the process. A graph that cannot be
reduced further is not POWL: `Unstructured` names its gateways.
"""

from __future__ import annotations

from itertools import count, pairwise

from orgflow.backends.powl.format import (
    Activity,
    Choice,
    Loop,
    PartialOrder,
    Powl,
    Silent,
    check_size,
    list_activities,
    partial_order,
)

from orgflow_ir.model import Event, Gateway, Model, Node, Opaque, Process, Task
from orgflow_ir.model.records import dataclass

_START, _END = "start", "end"


class Unstructured(ValueError):
    """A process without a POWL model.

    Attributes:
        nodes: ids of the gateways (or starts) outside of any part of POWL; the first of them.
    """

    def __init__(self, nodes: tuple[str, ...]) -> None:
        super().__init__("no POWL model matches this process")
        self.nodes = nodes


@dataclass(eq=False)
class _Edge:
    """A flow of the graph with what happens on it, and the condition at its source."""

    source: str
    target: str
    powl: Powl
    label: str = ""


def powl_of(model: Model, process: Process) -> tuple[Powl, tuple[str, ...]]:
    """The POWL of a process of plain events, tasks, exclusive and parallel gateways, and the labels
    of repeated steps.

    Raises:
        Unstructured: no POWL describes it.
        PowlError: it exceeds the maximum size of POWL files.
    """
    reduction = _Reduction(model, process)
    powl = reduction.powl()
    check_size(powl)
    return powl, tuple(dict.fromkeys(reduction.repeated))


class _Reduction:
    """The graph as reduced so far.

    Attributes:
        kinds: by node `X` or `A` for gateways, `start` and `end` for events.
        elements: by node the id of the element that it is, or is a part of.
        repeated: labels of steps that stand in several branches.
    """

    def __init__(self, model: Model, process: Process) -> None:
        self._process = process
        self._fresh = count(1)
        self.kinds: dict[str, str] = {}
        self.elements: dict[str, str] = {}
        self.names: dict[str, str] = {}
        self.edges: list[_Edge] = []
        self.repeated: list[str] = []
        self._actors = _map_actors(model, process)
        self._build_graph()

    # -- the graph ----------------------------------------------------------------------------

    def _build_graph(self) -> None:
        into: dict[str, list[str]] = {}
        out: dict[str, list[str]] = {}
        for flow in self._process.flows:
            into.setdefault(flow.target, []).append(flow.id)
            out.setdefault(flow.source, []).append(flow.id)
        ports: dict[str, tuple[str, str]] = {}
        for node in self._process.nodes:
            if isinstance(node, Opaque):  # harmless, or it would have been refused
                continue
            ports[node.id] = self._add_node(
                node, len(into.get(node.id, ())), len(out.get(node.id, ()))
            )
        for flow in self._process.flows:
            if flow.source not in ports or flow.target not in ports:
                continue
            label = flow.name or (flow.condition.text if flow.condition is not None else "")
            source, target = ports[flow.source][1], ports[flow.target][0]
            if self.kinds[target] == _END:  # every way to an end has an end of its own
                target = self._fresh_node(_END, flow.target)
            self.edges.append(_Edge(source, target, Silent(), " ".join(label.split())))

    def _add_node(self, node: Node, into: int, out: int) -> tuple[str, str]:
        """Where flows come in and go out; a step is an edge between the two, a gateway that joins
        and splits is one of each."""
        if isinstance(node, Event) and node.position == "end":
            end = self._fresh_node(_END, node.id)
            return end, end
        kind = "A" if isinstance(node, Gateway) and node.gateway_kind == "parallel" else "X"
        if isinstance(node, Gateway):
            entry = exit_ = self._fresh_node(kind, node.id, node.name)
            if kind == "X" and into > 1 and out > 1:
                self.names[entry] = ""
                exit_ = self._fresh_node(kind, node.id, node.name)
                self.edges.append(_Edge(entry, exit_, Silent()))
        else:
            first = isinstance(node, Event) and node.position == "start"
            entry = self._fresh_node(_START if first else "X", node.id)
            exit_ = self._fresh_node("A", node.id)
            self.edges.append(_Edge(entry, exit_, self._step_powl(node)))
        if not out:  # it ends where nothing follows
            self.edges.append(_Edge(exit_, self._fresh_node(_END, node.id), Silent()))
        return entry, exit_

    def _step_powl(self, node: Node) -> Powl:
        if not isinstance(node, Task):
            return Silent()
        pool, lane = self._actors.get(node.id, ("", ""))
        return Activity(" ".join(node.caption.split()) or node.id, lane, pool)

    def _fresh_node(self, kind: str, element: str, name: str = "") -> str:
        id = f"{next(self._fresh)}"
        self.kinds[id] = kind
        self.elements[id] = element
        self.names[id] = " ".join(name.split())
        return id

    def _edges_into(self, node: str) -> list[_Edge]:
        return [e for e in self.edges if e.target == node]

    def _edges_out(self, node: str) -> list[_Edge]:
        return [e for e in self.edges if e.source == node]

    # -- reductions ---------------------------------------------------------------------------

    def powl(self) -> Powl:
        """What is on the one flow that is left. Raises `Unstructured`."""
        steps = (
            self._reduce_chain,
            self._reduce_choice,
            self._reduce_loop,
            self._reduce_order,
            self._shared_end,
        )
        while any(step() for step in steps):
            pass
        starts = [n for n, kind in self.kinds.items() if kind == _START]
        if len(starts) == 1 and len(self.edges) == 1 and self.edges[0].source == starts[0]:
            return self.edges[0].powl
        left = {n for e in self.edges for n in (e.source, e.target)}
        gateways = [n for n in left if self.kinds[n] in ("X", "A")]
        named = gateways or starts or list(left)
        order = {node.id: number for number, node in enumerate(self._process.nodes)}
        names = {self.elements[n] for n in named}
        raise Unstructured(tuple(sorted(names, key=lambda id: order[id])))

    def _reduce_chain(self) -> bool:
        """A node with one flow in and one flow out: what happens on one, then on the other."""
        into: dict[str, list[_Edge]] = {}
        out: dict[str, list[_Edge]] = {}
        for edge in self.edges:
            into.setdefault(edge.target, []).append(edge)
            out.setdefault(edge.source, []).append(edge)
        for node, kind in self.kinds.items():
            if kind in ("X", "A") and len(into.get(node, ())) == len(out.get(node, ())) == 1:
                (before,), (after,) = into[node], out[node]
                if before is after:
                    continue
                before.target = after.target
                before.powl = _join_sequence(before.powl, after.powl)
                self.edges.remove(after)
                return True
        return False

    def _side_by_side(self, node: str) -> list[_Edge]:
        """Flows of a split that meet again at one join, or that all end."""
        edges_by_end: dict[str, list[_Edge]] = {}
        for edge in self._edges_out(node):
            kind = self.kinds[edge.target]
            if kind in ("X", _END):
                edges_by_end.setdefault(_END if kind == _END else edge.target, []).append(edge)
        return next((edges for edges in edges_by_end.values() if len(edges) > 1), [])

    def _reduce_choice(self) -> bool:
        """Flows side by side from an exclusive split: one of them."""
        for node, kind in self.kinds.items():
            edges = self._side_by_side(node) if kind == "X" else []
            if edges:
                first, *others = edges
                whole = len(edges) == len(self._edges_out(node))
                parts, labels = tuple(e.powl for e in edges), tuple(e.label for e in edges)
                first.powl = Choice(parts, labels, self.names[node] if whole else "")
                first.label = ""
                self.edges = [e for e in self.edges if e not in others]
                return True
        return False

    def _reduce_loop(self) -> bool:
        """A join whose flow leads to a split that leads back: a loop."""
        for node, kind in self.kinds.items():
            if kind != "X" or len(self._edges_out(node)) != 1:
                continue
            (do,) = self._edges_out(node)
            split = do.target
            back = [e for e in self._edges_out(split) if e.target == node]
            if self.kinds[split] != "X" or len(self._edges_into(split)) != 1 or not back:
                continue
            redo, again = back[0].powl, back[0].label
            if len(back) > 1:
                redo, again = Choice(
                    tuple(e.powl for e in back), tuple(e.label for e in back)
                ), ""  # fmt: skip
            self.edges = [e for e in self.edges if e not in back]
            leaving = self._edges_out(split)
            leave = leaving[0].label if len(leaving) == 1 else ""
            name = self.names[split] if len(leaving) == 1 else ""
            do.powl = Loop(do.powl, redo, again, leave, name)
            return True
        return False

    def _reduce_order(self) -> bool:
        """Parallel gateways that are entered by one flow and left by one: a partial order.

        From a split on, parallel gateways are added whose flows all come from those added already,
        until one flow leads out, or all that lead out end.
        """
        for split, kind in self.kinds.items():
            if kind != "A" or len(self._edges_into(split)) > 1 or len(self._edges_out(split)) < 2:
                continue
            region = [split]
            while True:
                inside = [e for e in self.edges if e.source in region and e.target in region]
                leaving = [e for e in self.edges if e.source in region and e.target not in region]
                if len(leaving) == 1 or all(self.kinds[e.target] == _END for e in leaving):
                    self._put_order(split, inside, leaving)
                    return True
                added = next(
                    (
                        e.target for e in leaving
                        if self.kinds[e.target] == "A"
                        and all(f.source in region for f in self._edges_into(e.target))
                    ),
                    None,
                )  # fmt: skip
                if added is None:
                    break
                region.append(added)
        return False

    def _shared_end(self) -> bool:
        """An exclusive join behind which all is reduced up to the end: each branch has it."""
        for node, kind in self.kinds.items():
            out, into = self._edges_out(node), self._edges_into(node)
            if kind != "X" or len(out) != 1 or len(into) < 2 or self.kinds[out[0].target] != _END:
                continue
            for edge in into:
                edge.target = self._fresh_node(_END, self.elements[out[0].target])
                edge.powl = _join_sequence(edge.powl, out[0].powl)
            self.edges.remove(out[0])
            self.repeated += [step.label for step in list_activities(out[0].powl)]
            return True
        return False

    def _put_order(self, split: str, inside: list[_Edge], leaving: list[_Edge]) -> None:
        """Put one flow with a partial order in the place of a region."""
        # What leads out alone comes after everything; flows that all end are parts like the others.
        parts = inside if len(leaving) == 1 else [*inside, *leaving]
        reach: dict[str, set[str]] = {}

        def reached_from(node: str) -> set[str]:
            if node not in reach:
                reach[node] = {node}
                for edge in inside:
                    if edge.source == node:
                        reach[node] |= reached_from(edge.target)
            return reach[node]

        steps = [e for e in parts if not isinstance(e.powl, Silent)]
        pairs = [
            (a, b)
            for a, first_step in enumerate(steps)
            for b, other in enumerate(steps)
            if a != b and other.source in reached_from(first_step.target)
        ]
        order = _flatten_order(partial_order([e.powl for e in steps], pairs))
        last = leaving[0]
        first = _join_sequence(order, last.powl) if len(leaving) == 1 else order
        gone = {id(e) for e in (*inside, *leaving)}
        self.edges = [e for e in self.edges if id(e) not in gone]
        self.edges.append(_Edge(split, last.target, first))


def _flatten_order(order: PartialOrder) -> Powl:
    """An order of one node is the node, one of none is silent."""
    if not order.nodes:
        return Silent()
    return order.nodes[0] if len(order.nodes) == 1 else order


def _join_sequence(first: Powl, second: Powl) -> Powl:
    """One, then the other; sequences in sequences are one."""
    parts = [*_list_row(first), *_list_row(second)]
    if not parts:
        return Silent()
    if len(parts) == 1:
        return parts[0]
    return PartialOrder(tuple(parts), frozenset(pairwise(range(len(parts)))))


def _list_row(powl: Powl) -> tuple[Powl, ...]:
    if isinstance(powl, Silent):
        return ()
    if isinstance(powl, PartialOrder) and is_sequence(powl):
        return powl.nodes
    return (powl,)


def is_sequence(order: PartialOrder) -> bool:
    """Whether the nodes of an order are a sequence in their current order."""
    return order.order == frozenset(pairwise(range(len(order.nodes))))


def _map_actors(model: Model, process: Process) -> dict[str, tuple[str, str]]:
    """The pool and the innermost lane of each node, by their names."""
    pool = next((p.name for p in model.pools if p.process == process.id), "")
    actors: dict[str, tuple[str, str]] = {}
    for lane in process.lanes:  # inner lanes come after the lanes around them
        for member in lane.members:
            actors[member] = (" ".join(pool.split()), " ".join(lane.name.split()))
    for node in process.nodes:
        actors.setdefault(node.id, (" ".join(pool.split()), ""))
    return actors
