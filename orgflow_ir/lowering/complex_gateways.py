"""Complex gateways rewritten as gateways with the same behaviour."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import Gateway, GatewayKind
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import RewritePattern

if TYPE_CHECKING:
    from orgflow_ir.model.rewriter import Rewriter

_COUNT = r"\W*activationCount\s*(?:>=|==|=|ge|eq)\s*(\d+)\W*"
"""A condition on the number of tokens that have arrived: the attribute of BPMN 2.0.2, table
10.68."""


class ComplexToInclusive(RewritePattern):
    """A complex gateway without a rule waits, like an inclusive one, for all tokens that can still
    arrive, and splits like one (BPMN 2.0.2, 13.4.5, if activation and reset coincide). A complex
    gateway that waits for a token from each flow is a parallel gateway."""

    name = "complex-to-inclusive"
    consumes = ("gateway.complex",)
    produces = ("gateway.inclusive", "gateway.parallel")

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        gateway, scope = use.element, use.scope
        assert isinstance(gateway, Gateway)
        assert scope is not None
        graph = ctx.analysis(ControlFlow, scope)
        into, out = len(graph.flows_in(gateway.id)), len(graph.flows_out(gateway.id))
        kind: GatewayKind = "inclusive"
        words = "has no rule: it waits for all branches that can still arrive"
        if into < 2:
            words = "starts one or several of its branches, like an inclusive one"
        if gateway.condition is not None and gateway.condition.text.strip():
            count = re.fullmatch(_COUNT, gateway.condition.text.strip())
            if into < 2 or out > 1 or count is None or int(count[1]) != into:
                return None
            kind, words = "parallel", "waits for each of its branches"
        simple = gateway.replace(gateway_kind=kind, condition=None)
        rewriter.replace(scope.id, gateway.id, simple)
        return f"the complex gateway {ctx.name(gateway)} {words}"


class ComplexWithoutItsRule(RewritePattern):
    """A complex gateway continues by its own rule; without one, it continues when no further token
    can arrive."""

    name = "complex-without-its-rule"
    consumes = ("gateway.complex",)
    produces = ("gateway.inclusive",)
    loses = "the rule by which it continues before all branches have arrived"

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        gateway, scope = use.element, use.scope
        assert isinstance(gateway, Gateway)
        assert scope is not None
        simple = gateway.replace(gateway_kind="inclusive", condition=None)
        rewriter.replace(scope.id, gateway.id, simple)
        return (
            f"the complex gateway {ctx.name(gateway)} waits for all branches that can still arrive"
        )


COMPLEX_GATEWAYS: tuple[RewritePattern, ...] = (ComplexToInclusive(), ComplexWithoutItsRule())
