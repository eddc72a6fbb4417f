"""A change that may repair a flow fault, and the edits of such changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from orgflow.passes.wording import Namer

from orgflow_ir.diagnostics import Applicability, Fix
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import Event, Flow, Gateway, GatewayKind, Model, Node, Scope
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.rewriter import Rewriter

KINDS = {"exclusive": "an exclusive", "parallel": "a parallel", "inclusive": "an inclusive"}
"""Kinds of gateways that split and join, with their article."""


class Candidate(NamedTuple):
    """A change as a fix, and as a clause of a help text. A safe change only makes the model
    consistent with itself; all others need a person's decision."""

    fix: Fix
    advice: str

    @property
    def safe(self) -> bool:
        """Whether no decision is needed."""
        return self.fix.applicability == "safe"


class ScopeRepair:
    """Makes candidates for the faults of one scope."""

    def __init__(
        self,
        model: Model,
        scope: Scope,
        namer: Namer | None = None,
        graph: ControlFlow | None = None,
    ) -> None:
        self.model, self.scope = model, scope
        self.namer, self.graph = namer or Namer(scope), graph or ControlFlow(scope)

    def draft(self) -> Draft:
        """Pending edits of the current model."""
        return Draft(self.model, self.scope)

    def of_kind(self, gateway: Gateway, kind: str, applicability: Applicability) -> Fix:
        """A gateway of another kind."""
        draft = self.draft()
        draft.replace(gateway.replace(gateway_kind=kind))
        if kind == "parallel":
            for flow in self.graph.flows_out(gateway.id):
                if flow.default:
                    draft.replace(flow.replace(default=False))
        title = f"make {self.namer.name(gateway.id)} {KINDS[kind]} gateway"
        return draft.fix(title, applicability)

    def joined(
        self, node: str, kind: str, into: Sequence[Flow], applicability: Applicability
    ) -> Fix:
        """A join of some of the flows into a node."""
        draft = self.draft()
        some = len(into) < len(self.graph.flows_in(node))
        what = (
            f"what comes from {join_listed(dict.fromkeys(self.namer.source(f) for f in into))}"
            if some
            else ("the branches")
        )
        title = f"join {what} with {KINDS[kind]} gateway before {self.namer.name(node)}"
        join = draft.gateway(f"{node}_join", kind)
        for flow in into:
            draft.move(flow, target=join)
        draft.connect(join, node)
        return draft.fix(title, applicability)


class Draft:
    """Edits of one scope that become a fix. They are recorded, and made when the fix is applied."""

    def __init__(self, model: Model, scope: Scope) -> None:
        self._rewriter, self._scope = Rewriter(model), scope.id

    def gateway(self, wanted: str, kind: str) -> str:
        """A new gateway with the id `wanted` or a similar one."""
        return self.add(
            Gateway(id=self._rewriter.free_id(wanted), gateway_kind=cast(GatewayKind, kind))
        )

    def end(self, wanted: str) -> str:
        """A new end event with the id `wanted` or a similar one."""
        return self.add(Event(id=self._rewriter.free_id(wanted), position="end"))

    def add(self, node: Node) -> str:
        """A new node; returns its id."""
        self._rewriter.insert(self._scope, node)
        return node.id

    def connect(self, source: str, target: str, wanted: str | None = None) -> None:
        """A new flow with the id `wanted` or a similar one."""
        id = self._rewriter.free_id(wanted or f"{source}_flow")
        self._rewriter.connect(self._scope, source, target, id=id)

    def move(self, flow: Flow, *, source: str | None = None, target: str | None = None) -> None:
        """A flow with a different source or target."""
        self._rewriter.redirect(self._scope, flow.id, source=source, target=target)

    def replace(self, element: Node | Flow) -> None:
        """Replace the node or flow with the same id."""
        self._rewriter.replace(self._scope, element.id, element)

    def remove(self, id: str) -> None:
        """Remove a node or flow."""
        self._rewriter.remove(self._scope, id)

    def fix(self, title: str, applicability: Applicability) -> Fix:
        """The edits as a fix."""
        return Fix(title=title, applicability=applicability, edits=self._rewriter.edits)

    def by_hand(self, advice: str) -> Candidate:
        """A change that is proved and reported, and that a person makes in the model."""
        return Candidate(self.fix(advice, "manual"), advice)
