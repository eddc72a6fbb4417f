"""How elements, branches and runs are called in messages: by what people wrote into the drawing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from orgflow_ir.analysis.soundness.net import FIRST, Net
from orgflow_ir.model import CallActivity, Event, Flow, Gateway, Opaque, Scope, SubProcess, Task
from orgflow_ir.model import Node as ModelNode

_GATE = {
    "exclusive": "exclusive gateway", "parallel": "parallel gateway",
    "inclusive": "inclusive gateway", "event": "event-based gateway",
    "complex": "complex gateway",
}  # fmt: skip
_POSITION = {
    "start": "start event", "end": "end event", "catch": "intermediate event",
    "throw": "intermediate event", "boundary": "boundary event",
}  # fmt: skip


def listed(items: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *some, last = items
    return f"{', '.join(some)} and {last}" if some else last


class Namer:
    """Names for the elements of one scope."""

    def __init__(self, scope: Scope) -> None:
        self.nodes: dict[str, ModelNode] = {n.id: n for n in scope.nodes}
        self.after: dict[str, list[str]] = {}
        self.before: dict[str, list[str]] = {}
        for flow in scope.flows:
            if flow.source in self.nodes and flow.target in self.nodes:
                self.after.setdefault(flow.source, []).append(flow.target)
                self.before.setdefault(flow.target, []).append(flow.source)

    def name(self, element: str) -> str:
        """`` `Ship` ``, or for one without a label what it is and what is next to it."""
        node = self.nodes.get(element)
        if node is None:
            return "the start"
        if node.name.strip():
            return f"`{node.label}`"
        what = self._what(node)
        if what is None:
            return f"`{element}`"
        joins = len(self.before.get(element, ())) > 1
        for word, near in (("before", self.after), ("after", self.before))[:: 1 if joins else -1]:
            found = [n for n in near.get(element, ()) if self.nodes[n].name.strip()]
            if found:
                return f"the {what} {word} `{self.nodes[found[0]].label}`"
        return f"the {what} `{element}`"

    def _what(self, node: ModelNode) -> str | None:
        match node:
            case Gateway():
                return _GATE[node.gateway_kind]
            case Event():
                return _POSITION[node.position]
            case Task() | CallActivity() | SubProcess() | Opaque():
                return None
            case _:
                assert_never(node)

    def named(self, elements: Iterable[str], most: int = 4) -> str:
        """Several elements, labelled ones first, at most so many."""
        ids = list(dict.fromkeys(elements))
        ids.sort(key=lambda i: not self.nodes[i].name.strip())
        shown = [self.name(i) for i in ids[:most]]
        more = len(ids) - len(shown)
        return ", ".join(shown) + (f" and {more} more" if more else "")

    def way(self, net: Net, arc: int) -> str:
        """A way out of a gateway: its label, else where it leads to."""
        flow = net.flow[arc]
        if flow is not None and flow.name.strip():
            return f"`{flow.label}`"
        target = flow.target if flow is not None else net.element[net.dst[arc]]
        if flow is None and target == net.element[net.src[arc]]:
            return "the normal way"
        return f"the way to {self.name(target)}" if target else "the way to the end"

    def labelled(self, flow: Flow) -> str:
        """A way out of an element: by its label, else by where it leads, and where it begins."""
        name = self.name(flow.source)
        if flow.name.strip():
            return f"`{flow.label}` at {name}"
        return f"the way from {name} to {self.name(flow.target)}"

    def source(self, flow: Flow) -> str:
        """What comes by a flow: what it leaves, and by which way where that chooses."""
        if flow.name.strip() and len(self.after.get(flow.source, ())) > 1:
            return self.labelled(flow)
        return self.name(flow.source)

    def ways(self, net: Net, arcs: Iterable[int]) -> str:
        """Several ways out."""
        told = [self.way(net, a) for a in arcs]
        if len(told) > 1 and len(set(told)) == 1:
            return told[0].replace("the way", f"{len(told)} ways", 1)
        told = list(dict.fromkeys(told))
        if len(told) > 1 and all(t.startswith("the way to ") for t in told):
            return f"the ways to {listed(t.removeprefix('the way to ') for t in told)}"
        return listed(told)

    def comes_from(self, net: Net, arc: int) -> str:
        """What a branch that ends with `arc` does last: the nearest labelled step before it."""
        for _ in range(6):
            element = net.element[net.src[arc]]
            if not element:
                break
            node = self.nodes[element]
            if not isinstance(node, Gateway) or node.name.strip():
                return self.name(element)
            flow = net.flow[arc]
            if flow is not None and flow.name.strip():
                return f"the branch `{flow.label}`"
            if len(net.outs[net.src[arc]]) > 1:
                return f"the other way from {self.name(element)}"
            if len(net.ins[net.src[arc]]) != 1:
                return self.name(element)
            arc = net.ins[net.src[arc]][0]
        return "the start"

    def follows(self, net: Net, node: int) -> str | None:
        """The first step with a label or a meaning after a net node, if there is one near."""
        for _ in range(6):
            outs = net.outs[node]
            if len(outs) != 1:
                break
            flow = net.flow[outs[0]]
            node = net.dst[outs[0]]
            element = flow.target if flow is not None else net.element[node]
            if not element:
                break
            if not isinstance(self.nodes[element], Gateway):
                return self.name(element)
            if node < FIRST:
                break
        return None
