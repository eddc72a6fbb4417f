"""Duplicate sequence flows."""

from __future__ import annotations

from typing import ClassVar

from orgflow_ir.diagnostics import Category, Edit, Fix, Related, Rule, Severity
from orgflow_ir.model import Flow, Gateway, Model, Scope
from orgflow_ir.pipeline import Pass, PassContext, Stage


class DuplicateFlow(Rule):
    """
    What it finds
        Two sequence flows between the same two elements, with the same condition and label. It is a
        warning after an exclusive or event-based gateway, and before a parallel gateway that waits
        for both.
    Why it is wrong
        Both are taken, so the following steps run twice (BPMN 2.0.2, 10.3.1); after an exclusive
        gateway the second one is never taken. Usually one arrow was drawn over another. `compile`
        reports it as a warning: the workflow behaves like the model.
    Example
        <sequenceFlow id="f" sourceRef="Pack" targetRef="Ship"/>
        <sequenceFlow id="g" sourceRef="Pack" targetRef="Ship"/>
    Instead
        <sequenceFlow id="f" sourceRef="Pack" targetRef="Ship"/>
    """

    code = "OF131"
    name = "duplicate-flow"
    severity = Severity.ERROR
    category = Category.FLOW


class DuplicateFlows(Pass):
    """Reports duplicate sequence flows."""

    name: ClassVar[str] = "duplicate-flows"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (DuplicateFlow,)

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        for scope in ctx.scopes(model):
            if len({(f.source, f.target) for f in scope.flows}) < len(scope.flows):
                _check_scope(scope, ctx)
        return model


def _check_scope(scope: Scope, ctx: PassContext) -> None:
    first: dict[tuple[str, ...], Flow] = {}
    here = {n.id for n in scope.nodes}
    gateways = {n.id: n.gateway_kind for n in scope.nodes if isinstance(n, Gateway)}
    for flow in scope.flows:
        if flow.source not in here or flow.target not in here:
            continue  # OF101 reports it
        key = (flow.source, *branch_key(flow))
        other = first.setdefault(key, flow)
        if other is flow:
            continue
        spare = other if flow.default and not other.default else flow
        then = ""
        if gateways.get(flow.source) in ("exclusive", "event"):
            then = "the second is never taken"
        elif gateways.get(flow.target) in ("parallel", "inclusive"):
            then = "the second changes nothing"
        ctx.emit(
            DuplicateFlow,
            f"there are two flows from {ctx.name(flow.source)} to {ctx.name(flow.target)}: "
            f"{then or 'both are taken'}",
            element=flow,
            severity=Severity.WARNING if then else None,
            help="remove one of them",
            related=(Related(message="the first one", element=other.id, loc=other.loc),),
            fix=Fix(
                title=f"remove the second flow to {ctx.name(flow.target)}",
                applicability="safe",
                edits=(Edit(action="remove", scope=scope.id, id=spare.id),),
            ),
        )


def branch_key(flow: Flow) -> tuple[str, str, str]:
    """The target and condition of a flow, which distinguish it from others with the same source."""
    condition = flow.condition.text.strip() if flow.condition is not None else ""
    return flow.target, condition, " ".join(flow.name.split())
