"""How elements, branches and runs are called in messages: by what people wrote into the drawing."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.analysis.soundness.net import FIRST, Net
from orgflow_ir.model import Element, Flow, Gateway
from orgflow_ir.model.element_names import ElementNames, listed


class Namer(ElementNames):
    """Names for the elements of one scope, and for ways and branches in its net."""

    def name(self, of: Element | str) -> str:
        """As for every message; what is no element of the scope is where its net begins."""
        if isinstance(of, str) and of not in self.nodes:
            return "the start"
        return super().name(of)

    def way(self, net: Net, arc: int) -> str:
        """A way out of a gateway: its label, else where it leads to."""
        flow = net.flow[arc]
        if flow is not None and flow.name.strip():
            return f"`{flow.label}`"
        target = flow.target if flow is not None else net.element[net.dst[arc]]
        if flow is None and target == net.element[net.src[arc]]:
            return "the normal flow"
        return f"the flow to {self.name(target)}" if target else "the flow to the end"

    def labelled(self, flow: Flow) -> str:
        """A way out of an element: by its label, else by where it leads, and where it begins."""
        name = self.name(flow.source)
        if flow.name.strip():
            return f"`{flow.label}` at {name}"
        return f"the flow from {name} to {self.name(flow.target)}"

    def source(self, flow: Flow) -> str:
        """What comes by a flow: what it leaves, and by which way where that chooses."""
        if flow.name.strip() and len(self.after.get(flow.source, ())) > 1:
            return self.labelled(flow)
        return self.name(flow.source)

    def ways(self, net: Net, arcs: Iterable[int]) -> str:
        """Several ways out."""
        told = [self.way(net, a) for a in arcs]
        if len(told) > 1 and len(set(told)) == 1:
            return told[0].replace("the flow", f"{len(told)} flows", 1)
        told = list(dict.fromkeys(told))
        if len(told) > 1 and all(t.startswith("the flow to ") for t in told):
            return f"the flows to {listed(t.removeprefix('the flow to ') for t in told)}"
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
                return f"the other branch of {self.name(element)}"
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
