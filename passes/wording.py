"""Names of elements, branches and runs in messages, from the labels in the model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from orgflow_ir.flow.nets.net import FIRST, Net
from orgflow_ir.model import Element, Flow, Gateway
from orgflow_ir.model.element_names import ElementNames, join_listed
from orgflow_ir.model.records import NamedTuple


class Branch(NamedTuple):
    """The name of an outgoing flow of a gateway, or of its token.

    Attributes:
        text: the form in a message.
        kind: `element` for the name of an element, `label` for that of a branch, `other` for the
            branch that a run does not take, `flow` if only the target of a flow identifies it.
        target: the name of the target, for a `flow`.
    """

    text: str
    kind: Literal["element", "label", "other", "flow"]
    target: str = ""


class Namer(ElementNames):
    """Names for the elements of one scope, and for flows and branches in its net."""

    def name(self, of: Element | str) -> str:
        """As in every message; an arc without an element of the scope is the beginning of the
        net."""
        if isinstance(of, str) and of not in self.nodes:
            return "the start"
        return super().name(of)

    def way(self, net: Net, arc: int) -> Branch:
        """An outgoing flow of a gateway: its label, otherwise its target."""
        flow = net.flow[arc]
        if flow is not None and flow.name.strip():
            return Branch(f"`{flow.label}`", "label")
        target = flow.target if flow is not None else net.element[net.dst[arc]]
        if flow is None and target == net.element[net.src[arc]]:
            return Branch("the normal flow", "label")
        name = self.name(target) if target else "the end"
        return Branch(f"the flow to {name}", "flow", name)

    def labelled(self, flow: Flow) -> str:
        """An outgoing flow of an element: its label, otherwise its target and source."""
        name = self.name(flow.source)
        if flow.name.strip():
            return f"`{flow.label}` at {name}"
        return f"the flow from {name} to {self.name(flow.target)}"

    def source(self, flow: Flow) -> str:
        """The token that arrives by a flow: its source, and the outgoing flow if the source
        chooses."""
        if flow.name.strip() and len(self.after.get(flow.source, ())) > 1:
            return self.labelled(flow)
        return self.name(flow.source)

    def name_ways(self, net: Net, arcs: Iterable[int]) -> str:
        """Several ways out."""
        names = [self.way(net, a) for a in arcs]
        different = list(dict.fromkeys(names))
        if len(names) > 1 and all(way.kind == "flow" for way in names):
            number = "the" if len(different) > 1 else str(len(names))
            return f"{number} flows to {join_listed(way.target for way in different)}"
        return join_listed(way.text for way in different)

    def comes_from(self, net: Net, arc: int) -> Branch:
        """The last step of a branch that ends with `arc`: the nearest labelled step before it."""
        for _ in range(6):
            element = net.element[net.src[arc]]
            if not element:
                break
            node = self.nodes[element]
            if not isinstance(node, Gateway) or node.name.strip():
                return Branch(self.name(element), "element")
            flow = net.flow[arc]
            if flow is not None and flow.name.strip():
                return Branch(f"the branch `{flow.label}`", "label")
            if len(net.outs[net.src[arc]]) > 1:
                return Branch(f"the other branch of {self.name(element)}", "other")
            if len(net.ins[net.src[arc]]) != 1:
                return Branch(self.name(element), "element")
            arc = net.ins[net.src[arc]][0]
        return Branch("the start", "element")

    def follows(self, net: Net, node: int) -> str | None:
        """The first step with a label or a meaning after a net node, if there is one nearby."""
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
