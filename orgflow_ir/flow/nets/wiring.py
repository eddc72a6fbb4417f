"""The numbered nodes of a scope with their connections, and which of them are reached."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import assert_never

from orgflow_ir.flow.nets.net import Body
from orgflow_ir.model import (
    CallActivity,
    Event,
    Flow,
    Gateway,
    Opaque,
    Process,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.model.links import Links


def is_handler(node: ModelNode) -> bool:
    """Whether the node is started by something other than a token on a sequence flow."""
    match node:
        case Task() | CallActivity():
            return node.for_compensation
        case SubProcess():
            return node.flavour == "event" or node.for_compensation
        case Event() | Gateway() | Opaque():
            return False
        case _:
            assert_never(node)


def is_startable(node: ModelNode) -> bool:
    """Whether a node without incoming flows starts with its scope (BPMN 2.0.2, 13.2)."""
    match node:
        case Event():
            if node.position in ("throw", "end"):
                return True
            return node.position == "catch" and all(d.kind != "link" for d in node.definitions)
        case Opaque():
            return not node.harmless
        case Gateway():
            return True
        case Task() | CallActivity() | SubProcess():
            return not is_handler(node)
        case _:
            assert_never(node)


class Wiring:
    """The numbered nodes of a scope with the flows between them, shared by lowering and liveness,
    computed once per scope (`ctx.analysis(Wiring, scope)`)."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        nodes = self.nodes = scope.nodes
        at: dict[str, int] = {}
        for i, node in enumerate(nodes):
            at.setdefault(node.id, i)
        self.at = at
        self.outs: list[list[Flow]] = [[] for _ in nodes]
        self.ins: list[list[Flow]] = [[] for _ in nodes]
        self.to: list[list[int]] = [[] for _ in nodes]
        self.boundaries: dict[int, list[int]] = {}
        self.links: dict[int, list[int]] = {}
        self.twins: dict[int, list[int]] = {}
        """Catching links that have the name of an earlier one, to which no token goes (OF119)."""
        outs, ins, to = self.outs, self.ins, self.to
        for flow in scope.flows:
            s, t = at.get(flow.source), at.get(flow.target)
            if s is not None and t is not None:
                outs[s].append(flow)
                to[s].append(t)
                ins[t].append(flow)
        self._connect_events()

    def _connect_events(self) -> None:
        linking = False
        for i, node in enumerate(self.nodes):
            if node.kind != "event":
                continue
            kinds = [d.kind for d in node.definitions]
            linking = linking or "link" in kinds
            if node.position == "boundary" and "compensation" not in kinds:
                host = self.at.get(node.attached_to or "")
                if host is not None:
                    self.boundaries.setdefault(host, []).append(i)
        if linking:
            self._connect_links()

    def _connect_links(self) -> None:
        links = Links(self.nodes)
        for i, node in enumerate(self.nodes):
            caught = links.caught(node) if node.kind == "event" else []
            if caught and node.position != "boundary":  # type: ignore[union-attr]  # an event
                caught_links = [[self.at[e.id] for e in events] for events in caught if events]
                self.links[i] = [first for first, *_ in caught_links]
                for first, *others in caught_links:
                    known = self.twins.setdefault(first, []) if others else []
                    known += [other for other in others if other not in known]

    @cached_property
    def begins(self) -> tuple[list[int], bool]:
        """The nodes where a run begins, and whether it begins at all of them at once (if the model
        does not define the start)."""
        scope, nodes = self.scope, self.nodes
        starts = [i for i, n in enumerate(nodes) if n.kind == "event" and n.position == "start"]
        if isinstance(scope, SubProcess) and scope.flavour == "ad-hoc":
            return [i for i, n in enumerate(nodes) if not self.ins[i] and is_startable(n)], True
        if isinstance(scope, SubProcess) and scope.flavour == "event":
            return starts, False
        if isinstance(scope, Process):
            starts += [
                i
                for i, n in enumerate(nodes)
                if isinstance(n, (Task, Gateway)) and n.instantiate and not self.ins[i]
            ]
        else:
            starts = [i for i in starts if not nodes[i].definitions] or starts  # type: ignore[union-attr]
        if starts:
            return starts, False
        return [i for i, n in enumerate(nodes) if not self.ins[i] and is_startable(n)], True

    def reached(
        self,
        begin: Iterable[int],
        bodies: Mapping[str, Body],
        links: Mapping[int, list[int]] | None = None,
    ) -> list[bool]:
        """Nodes with an incoming connection; `links` replace those of the scope."""
        live = [False] * len(self.nodes)
        stack = list(begin)
        for i in stack:
            live[i] = True
        to, boundaries = self.to, self.boundaries
        links = self.links if links is None else links
        while stack:
            i = stack.pop()
            targets: Sequence[int] = to[i]
            if i in boundaries or i in links or bodies:
                body = bodies.get(self.nodes[i].id)
                if body is not None and not body.completes:
                    targets = ()
                targets = [*targets, *self.armed(i, body), *links.get(i, ())]
            for t in targets:
                if not live[t]:
                    live[t] = True
                    stack.append(t)
        return live

    @cached_property
    def led_to(self) -> frozenset[str]:
        """Ids of the nodes reachable from the start of the scope."""
        return self._reached_ids(self.links)

    @cached_property
    def live(self) -> frozenset[str]:
        """As `led_to`, including links with the same name, of which only the first counts."""
        if not self.twins:
            return self.led_to
        nodes = self.links.keys() | self.twins.keys()
        return self._reached_ids(
            {i: [*self.links.get(i, ()), *self.twins.get(i, ())] for i in nodes}
        )

    def _reached_ids(self, links: Mapping[int, list[int]]) -> frozenset[str]:
        reached = self.reached(self.begins[0], {}, links)
        return frozenset([n.id for n, r in zip(self.nodes, reached, strict=True) if r])

    @property
    def has_starts(self) -> bool:
        """Whether the scope defines its start."""
        begin, everywhere = self.begins
        return bool(begin) and not everywhere

    def armed(self, i: int, body: Body | None) -> list[int]:
        """Boundary events of a node that can fire."""
        boundaries = self.boundaries.get(i)
        if not boundaries:
            return []
        if body is None and self.nodes[i].kind == "task":
            return [b for b in boundaries if not self._is_cancel_event(b)]
        if body is None or body.fires is None:
            return boundaries
        return [b for b in boundaries if self.nodes[b].id in body.fires]

    def _is_cancel_event(self, b: int) -> bool:
        node = self.nodes[b]
        return isinstance(node, Event) and any(d.kind == "cancel" for d in node.definitions)
