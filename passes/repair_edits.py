"""A change that may mend a fault of the flow, and the edits that such changes are made of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

from orgflow.passes.wording import Namer, listed

from orgflow_ir.analysis.control_flow.graph import ControlFlow
from orgflow_ir.diagnostics import Applicability, Edit, Fix
from orgflow_ir.model import Flow, Gateway, GatewayKind, Model, Node, Scope

KINDS = {"exclusive": "an exclusive", "parallel": "a parallel", "inclusive": "an inclusive"}
"""Kinds of gateways that split and join, with their article."""


class Candidate(NamedTuple):
    """A change as a fix, and as a clause of a help text. A safe one only makes the drawing agree
    with itself; what others stand for is for a person to decide."""

    fix: Fix
    advice: str

    @property
    def safe(self) -> bool:
        """Whether nothing is to be decided."""
        return self.fix.applicability == "safe"


def by_hand(advice: str, *edits: Edit) -> Candidate:
    """A change that is proved and told, and that a person draws."""
    return Candidate(Fix(title=advice, applicability="manual", edits=edits), advice)


class Changes:
    """Edits of one scope."""

    def __init__(self, model: Model, scope: Scope) -> None:
        self.scope, self.namer, self.graph = scope, Namer(scope), ControlFlow(scope)
        self.taken = {e.id for s in model.scopes() for e in (s, *s.nodes, *s.flows)}

    def of_kind(self, gateway: Gateway, kind: str, applicability: Applicability) -> Fix:
        """A gateway of another kind."""
        changed = gateway.replace(gateway_kind=kind)
        edits = [self.replaced(changed)]
        if kind == "parallel":
            edits += [
                Edit(
                    action="replace",
                    scope=self.scope.id,
                    id=f.id,
                    flow=f.replace(default=False),
                )
                for f in self.graph.flows_out(gateway.id)
                if f.default
            ]
        title = f"make {self.namer.name(gateway.id)} {KINDS[kind]} gateway"
        return _fix(title, applicability, edits)

    def joined(
        self, node: str, kind: str, into: Sequence[Flow], applicability: Applicability
    ) -> Fix:
        """A join of some of the flows into a node."""
        name = self.free(f"{node}_join")
        join = Gateway(id=name, gateway_kind=cast(GatewayKind, kind))
        some = len(into) < len(self.graph.flows_in(node))
        what = (
            f"what comes from {listed(dict.fromkeys(self.namer.source(f) for f in into))}"
            if some
            else ("the branches")
        )
        title = f"join {what} with {KINDS[kind]} gateway before {self.namer.name(node)}"
        edits = [
            Edit(action="add", scope=self.scope.id, node=join),
            *(self.moved(f, target=name) for f in into),
            self.added(name, node),
        ]
        return _fix(title, applicability, edits)

    def moved(self, flow: Flow, **ends: str) -> Edit:
        """A flow that begins or ends elsewhere."""
        return self.replaced(flow.replace(**ends))

    def replaced(self, item: Node | Flow) -> Edit:
        """A node or flow in the place of the one with its id."""
        node, flow = (None, item) if isinstance(item, Flow) else (item, None)
        return Edit(action="replace", scope=self.scope.id, id=item.id, node=node, flow=flow)

    def added(self, source: str, target: str) -> Edit:
        """A new flow."""
        flow = Flow(id=self.free(f"{source}_flow"), source=source, target=target)
        return Edit(action="add", scope=self.scope.id, flow=flow)

    def free(self, wanted: str) -> str:
        """An id that nothing in the model has."""
        name, number = wanted, 2
        while name in self.taken:
            name, number = f"{wanted}_{number}", number + 1
        return name


def _fix(title: str, applicability: Applicability, edits: Sequence[Edit]) -> Fix:
    return Fix(title=title, applicability=applicability, edits=tuple(edits))
