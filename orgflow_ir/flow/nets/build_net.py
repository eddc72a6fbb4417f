"""Lowering of one scope to a net.

A malformed model (a flow into a boundary event, out of an end event …) is interpreted as in the
token game.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import assert_never

from orgflow_ir.flow.control_flow.outgoing import sort_outgoing
from orgflow_ir.flow.nets.net import SINK, SOURCE, TERM, VOID, Body, Kind, Net
from orgflow_ir.flow.nets.wiring import Wiring
from orgflow_ir.model import CallActivity, Event, Flow, Gateway, Opaque, Scope, SubProcess, Task
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.model.constructs import is_several

_ENDING = frozenset({"terminate", "error", "cancel"})
_NONE: Mapping[str, Body] = MappingProxyType({})


def lower_scope(
    scope: Scope,
    bodies: Mapping[str, Body] = _NONE,
    ending: frozenset[str] = frozenset(),
    mute: bool = False,
    ghosts: bool = False,
    wiring: Wiring | None = None,
) -> Net:
    """The net of a scope. Unreachable nodes are omitted.

    `bodies` contains the summaries of activities; `ending` are throw events that end the scope (an
    escalation caught by an interrupting event around it). With `mute`, events that would end the
    scope by throwing never occur. With `ghosts`, flows that `bodies` rule out are kept as paths.
    `wiring` is the wiring of the scope if it exists already."""
    return _Lowering(wiring or Wiring(scope), bodies, ending, mute, ghosts).run()


_JOINS: Mapping[str, Kind] = {"parallel": "A", "inclusive": "O", "complex": "O"}
"""How gateways join, by their kind; all others pass on every token."""

_PLAIN_BODY = Body()
"""The body of an activity of which nothing is known: it completes."""


def _cuts_activity(node: ModelNode) -> bool:
    """Whether a boundary event ends its activity."""
    assert isinstance(node, Event)
    return node.interrupting or any(d.kind in ("error", "cancel") for d in node.definitions)


class _Lowering:
    def __init__(
        self,
        wiring: Wiring,
        bodies: Mapping[str, Body],
        ending: frozenset[str],
        mute: bool,
        ghosts: bool,
    ) -> None:
        self.wiring, self.bodies, self.ending, self.mute = wiring, bodies, ending, mute
        self.ghosts = ghosts
        self.net = Net()
        count = len(wiring.nodes)
        self.entry = [-1] * count
        self.exit = [-1] * count
        self.live: list[bool] = []
        self.all_used = False

    def run(self) -> Net:
        net, wiring = self.net, self.wiring
        begin, everywhere = wiring.begins
        self.live = live = wiring.reached(begin, _NONE if self.ghosts else self.bodies)
        begins = set(begin)
        self.all_used = all(live) and not self.bodies
        if everywhere:
            net.kind[SOURCE] = "A"
        nodes = wiring.nodes
        entry, exit_ = self.entry, self.exit
        kind, element, ins, outs = net.kind, net.element, net.ins, net.outs
        plain: list[bool] = [False] * len(nodes)
        boundaries = wiring.boundaries
        for i, node in enumerate(nodes):
            if not live[i]:
                continue
            net.live.add(node.id)
            what = node.kind
            if (
                (what == "task" or isinstance(node, Gateway))
                and len(wiring.outs[i]) == 1
                and len(wiring.ins[i]) == 1
                and i not in begins
                and i not in boundaries
                and not node.extra
                and not (isinstance(node, Gateway) and node.gateway_kind == "complex")
            ):
                entry[i] = exit_[i] = len(kind)
                kind.append("X")
                element.append(node.id)
                ins.append([])
                outs.append([])
                plain[i] = True
                continue
            self._lower_node(i, node, i in begins)
        for i in begin:
            net.arc(SOURCE, entry[i])
        if self.ghosts:
            real = wiring.reached(begin, self.bodies)
            net.live = {n.id for n, r in zip(nodes, real, strict=True) if r}
        src, dst, flow = net.src, net.dst, net.flow
        for i in range(len(nodes)):
            if plain[i]:
                number, at = len(src), exit_[i]
                t = entry[wiring.to[i][0]]
                src.append(at)
                dst.append(t)
                flow.append(wiring.outs[i][0])
                outs[at].append(number)
                ins[t].append(number)
            elif live[i] and exit_[i] >= 0:
                self._ways_out(i, nodes[i])
        return net

    # -- nodes --------------------------------------------------------------------------------

    def _lower_node(self, i: int, node: ModelNode, begins: bool) -> None:
        net, wiring = self.net, self.wiring
        incoming = wiring.ins[i]
        used = incoming if self.all_used else [f for f in incoming if self._is_used(f)]
        count = len(used) + begins
        joins = _JOINS.get(node.gateway_kind, "X") if isinstance(node, Gateway) else "X"
        if node.extra or not isinstance(node, Gateway) or joins == "O":
            self._note_doubts(node, count)
        if isinstance(node, Event) and not wiring.outs[i]:
            ends = self._end_of(node, i, count)
            if ends >= 0:
                self.entry[i] = ends
                return
        if count > 1 or (joins == "A" and len(incoming) > 1):
            first, last = self._add_join(i, node, joins, whole=len(used) == len(incoming))
        else:
            first = last = net.node("X", node.id)
            if self.ghosts and isinstance(node, Event) and node.position == "boundary":
                last = self._add_split(first, node)  # ghosts come to it, too
        self.entry[i], self.exit[i] = first, last

    def _add_join(self, i: int, node: ModelNode, joins: Kind, *, whole: bool) -> tuple[int, int]:
        """A node that joins, and one that splits behind it where it does both. `whole`: a token may
        come by every flow; otherwise a parallel join never has all of them."""
        net = self.net
        first = last = net.node(joins, node.id)
        if node.kind != "gateway":
            net.acting.add(first)
        if joins == "A" and not whole:
            unused = (f for f in self.wiring.ins[i] if not self._is_used(f))
            net.dead_inputs[first] = tuple(unused)
            net.never.add(first)
        if self._may_split(i, node):
            net.acting.discard(first)
            last = net.node("X", node.id)
            inner = net.arc(first, last)
            if node.kind == "gateway":
                net.passing.add(inner)
        return first, last

    def _is_used(self, flow: Flow) -> bool:
        source = self.wiring.at[flow.source]
        if not self.live[source]:
            return False
        body = self.bodies.get(flow.source)
        return body is None or body.completes or self.ghosts

    def _end_of(self, node: Event, i: int, count: int) -> int:
        """The sink that an event without a way out is part of, if it does nothing that could be
        seen to happen twice."""
        if i in self.wiring.links:
            return -1
        if node.id in self.ending or (
            node.position == "end" and any(d.kind in _ENDING for d in node.definitions)
        ):
            throws = any(d.kind != "terminate" for d in node.definitions)
            return -1 if self.mute and throws else TERM
        if node.position == "end" and (not node.definitions or count < 2):
            return SINK
        return -1

    def _note_doubts(self, node: ModelNode, count: int) -> None:
        doubt = ""
        if node.extra and any("Quantity" in key and is_several(v) for key, v in node.extra):
            doubt = "it consumes or produces more than one token at a time"
        match node:
            case Gateway():
                if node.gateway_kind == "complex" and count > 1:
                    doubt = "data determines when a complex gateway continues"
            case Opaque():
                doubt = "its effect on the flow is unknown"
            case Event():
                if (
                    not doubt
                    and node.position in ("throw", "end")
                    and any(d.kind in _ENDING for d in node.definitions)
                    and self.wiring.outs[self.wiring.at[node.id]]
                ):
                    doubt = "a flow leads out of an event that ends everything"
            case Task() | CallActivity() | SubProcess():
                pass
            case _:
                assert_never(node)
        if doubt:
            self.net.doubtful.append((node, doubt))

    def _may_split(self, i: int, node: ModelNode) -> bool:
        """Whether more than one way may lead out."""
        exits = len(self.wiring.outs[i]) + len(self.wiring.links.get(i, ()))
        body = self.bodies.get(node.id)
        held = body is not None and not body.completes
        return exits > 1 or held or i in self.wiring.boundaries

    # -- ways out -----------------------------------------------------------------------------

    def _ways_out(self, i: int, node: ModelNode) -> None:
        net, wiring = self.net, self.wiring
        at = self.exit[i]
        body = self.bodies.get(node.id)
        around = wiring.armed(i, None if self.ghosts else body)
        if around or body is not None:
            at = self._lower_activity(i, node, at, around, body)
            if at < 0:
                return
        for caught in wiring.links.get(i, ()):
            net.arc(at, self.entry[caught])
        if i in wiring.links and not wiring.links[i]:
            net.never.add(at)  # a link without its other end: the token stays (OF118)
        out = wiring.outs[i]
        if node.id in self.ending or (self.mute and self._throws_out(node)):
            if self.mute:
                net.never.add(at)
            else:
                net.arc(at, TERM)
            return
        match node:
            case Gateway():
                self._lower_gateway(i, node, at, out)
            case Task() | CallActivity() | SubProcess():
                always, chosen, default = sort_outgoing(out)
                self._connect_choices(
                    node, at, [*always], [*chosen], [] if default is None else [default]
                )
            case Event() | Opaque():
                self._connect_all(at, out)
            case _:
                assert_never(node)
        if not net.outs[at]:
            net.arc(at, SINK)

    def _throws_out(self, node: ModelNode) -> bool:
        return (
            isinstance(node, Event)
            and node.position == "end"
            and any(d.kind in _ENDING and d.kind != "terminate" for d in node.definitions)
        )

    def _lower_gateway(self, i: int, node: Gateway, at: int, out: list[Flow]) -> None:
        kind = node.gateway_kind
        if kind == "parallel" or (kind == "event" and node.await_all):
            self._connect_all(at, out)
        elif kind in ("exclusive", "event"):
            for flow, target in zip(out, self.wiring.to[i], strict=True):
                self.net.arc(at, self.entry[target], flow)
            if kind == "event" and not out:
                self.net.never.add(at)  # it waits for an event that is not there
        else:
            default = [f for f in out if f.default][:1]
            self._connect_choices(
                node, at, [], [f for f in out if not default or f is not default[0]], default
            )

    def _connect_all(self, at: int, out: list[Flow]) -> None:
        if len(out) + len(self.net.outs[at]) > 1:
            self.net.kind[at] = "A"
        for flow in out:
            self.net.arc(at, self.entry[self.wiring.at[flow.target]], flow)

    def _connect_choices(
        self,
        node: ModelNode,
        at: int,
        always: list[Flow],
        free: list[Flow],
        default: list[Flow],
    ) -> None:
        """All of `always`, and any of `free` or the default in place of them."""
        net = self.net
        if not free:
            self._connect_all(at, always + default)
            return
        if always or net.outs[at]:
            net.kind[at] = "A"
            group = net.node("X", node.id)
            self._connect_all(at, always)
            net.arc(at, group)
            at = group
        skip = bool(always) and not default
        if default or skip:
            if len(free) > 1:
                some = net.node("O", node.id)
                net.arc(at, some)
                self._connect_some(some, free)
            else:
                self._connect_some(at, free)
            if skip:
                net.arc(at, VOID)
            else:
                self._connect_some(at, default)
            return
        if len(free) > 1:
            net.kind[at] = "O"
        self._connect_some(at, free)

    def _connect_some(self, at: int, out: list[Flow]) -> None:
        for flow in out:
            self.net.arc(at, self.entry[self.wiring.at[flow.target]], flow)

    def _lower_activity(
        self, i: int, node: ModelNode, at: int, around: list[int], body: Body | None
    ) -> int:
        """Boundary events: X after the activity; a non-interrupting one may run beside it. Returns
        the node that the normal ways leave, -1 where the activity is never done."""
        net, wiring = self.net, self.wiring
        armed = set(wiring.armed(i, body))
        cutting = [b for b in around if _cuts_activity(wiring.nodes[b])]
        if len(cutting) < len(around):
            beside = [b for b in around if b not in cutting]
            at = self._fork_beside(node, at, beside, armed)
        body = body or _PLAIN_BODY
        completes, escapes, holds = body.completes, body.escapes, body.holds
        if not (cutting or escapes or holds or not completes):
            return at
        # 1. Each interrupting event takes the token out of the activity.
        for b in cutting:
            self._event_arc(at, b, ghost=b not in armed)
        # 2. What escapes the body ends the scope around it.
        if escapes and not self.mute:
            net.arc(at, TERM)
        # 3. A body that may wait forever keeps its token, or lets only ghosts out.
        wait = self._hold_token(node, at, cutting) if holds else -1
        if not completes and net.ghosts.issuperset(net.outs[at]):
            net.never.add(at)
            net.held.add(at)
        if not completes and not self.ghosts:
            return -1
        # 4. The normal way out, which only ghosts take where the body is never done.
        normal = net.node("X", node.id)
        arc = net.arc(at, normal)
        if not completes:
            net.ghosts.add(arc)
        if holds and self.ghosts:
            net.ghosts.add(net.arc(wait, normal))
            normal = self._add_split(normal, node)
        return normal

    def _event_arc(self, source: int, event: int, *, ghost: bool) -> None:
        """An arc to a boundary event; a `ghost` one is never taken by a token of a run."""
        arc = self.net.arc(source, self.entry[event])
        self.net.by_event.add(arc)
        if ghost:
            self.net.ghosts.add(arc)

    def _fork_beside(self, node: ModelNode, fork: int, beside: list[int], armed: set[int]) -> int:
        """Events that do not interrupt may each run once beside the activity, or not at all.
        Returns the node of the activity itself."""
        net = self.net
        net.kind[fork] = "A"
        at = net.node("X", node.id)
        net.arc(fork, at)
        for b in beside:
            maybe = net.node("X", node.id)
            net.aside.add(maybe)
            net.arc(fork, maybe)
            self._event_arc(maybe, b, ghost=b not in armed)
            net.arc(maybe, VOID)
        return at

    def _hold_token(self, node: ModelNode, at: int, cutting: list[int]) -> int:
        """The node at which a token waits forever."""
        net = self.net
        wait = net.node("X", node.id)
        net.arc(at, wait)
        net.never.add(wait)
        net.held.add(wait)
        if self.ghosts:  # what waits in it is still on its way out
            for b in cutting:
                self._event_arc(wait, b, ghost=True)
        return wait

    def _add_split(self, merge: int, node: ModelNode) -> int:
        """A node after `merge` from which ways may part: one node of a net either waits for all its
        ways in, or has one."""
        split = self.net.node("X", node.id)
        self.net.arc(merge, split)
        return split
