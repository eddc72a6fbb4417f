"""Labels that are missing or meaningless: rules of style."""

from __future__ import annotations

from typing import ClassVar

from orgflow_ir.diagnostics import Category, Edit, Fix, Rule, Severity
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import Element, Flow, Gateway, Model, Opaque, Scope, SubProcess
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.model.records import dataclass
from orgflow_ir.pipeline import Pass, PassContext, Stage


class MissingLabel(Rule):
    """
    What it finds
        A task, event, splitting gateway, pool, lane or conditional flow without a label. (Not
        parallel and event-based gateways, joins and sub-processes.) The option `kinds` selects
        among `task`, `event`, `gateway`, `flow`, `pool` and `lane`.
    Why it is wrong
        Readers do not know its meaning, and messages can refer to it only by its neighbours.
    Example
        <task id="Activity_1k9x2"/>
    Instead
        <task id="Activity_1k9x2" name="Pack order"/>
    """

    code = "OF170"
    name = "missing-label"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


class SuperfluousLabel(Rule):
    """
    What it finds
        A label on a sequence flow that is not part of a choice: the flow has no condition, is not a
        default flow and does not leave a splitting exclusive or inclusive gateway.
    Why it is wrong
        Readers take a label on a flow for the condition under which it is taken.
    Example
        A flow `then` from `Pack` to `Ship`.
    Instead
        Remove the label, or make it an annotation.
    """

    code = "OF171"
    name = "superfluous-label"
    severity = Severity.WARNING
    category = Category.STYLE
    optional = True


KINDS = ("task", "event", "gateway", "flow", "pool", "lane")


@dataclass(frozen=True)
class Labels(Pass):
    """Reports labels that are missing or superfluous."""

    name: ClassVar[str] = "labels"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (MissingLabel, SuperfluousLabel)
    kinds: tuple[str, ...] = KINDS

    def __post_init__(self) -> None:
        for kind in self.kinds:
            if kind not in KINDS:
                raise ValueError(f"`{kind}` is not one of: {', '.join(KINDS)}")

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        if "pool" in self.kinds:
            for pool in model.pools:
                if not pool.name.strip():
                    _report_missing(pool, f"the pool `{pool.id}`", ctx)
        for scope in ctx.scopes(model):
            self._check_scope(scope, ctx)
        return model

    def _check_scope(self, scope: Scope, ctx: PassContext) -> None:
        graph = ctx.analysis(ControlFlow, scope)
        kinds = self.kinds
        for node in scope.nodes:
            if not node.name.strip():
                kind = _node_kind(node, graph)
                if kind in kinds:
                    _report_missing(node, ctx.name(node), ctx)
        if "lane" in kinds:
            for lane in scope.lanes:
                if not lane.name.strip():
                    _report_missing(lane, f"the lane `{lane.id}`", ctx)
        for flow in scope.flows:
            if flow.name.strip():
                if not _is_choice(flow, graph):
                    _report_superfluous(flow, scope, ctx)
            elif flow.condition is not None and "flow" in kinds:
                _report_missing(flow, ctx.name(flow), ctx)


def _node_kind(node: ModelNode, graph: ControlFlow) -> str | None:
    """The option's word for a node that needs a label."""
    if isinstance(node, SubProcess | Opaque):
        return None
    if not isinstance(node, Gateway):
        return "event" if node.kind == "event" else "task"
    splits = len(graph.flows_out(node.id)) > 1
    return "gateway" if splits and node.gateway_kind not in ("parallel", "event") else None


def _is_choice(flow: Flow, graph: ControlFlow) -> bool:
    if flow.condition is not None or flow.default:
        return True
    source = graph.nodes.get(flow.source)
    return (
        isinstance(source, Gateway)
        and source.gateway_kind in ("exclusive", "inclusive")
        and len(graph.flows_out(source.id)) > 1
    )


def _report_missing(element: Element, named: str, ctx: PassContext) -> None:
    ctx.emit(
        MissingLabel,
        f"{named} has no label",
        element=element,
        help="add a label",
    )


def _report_superfluous(flow: Flow, scope: Scope, ctx: PassContext) -> None:
    ctx.emit(
        SuperfluousLabel,
        f"the label `{flow.label}` on the flow from {ctx.name(flow.source)} to "
        f"{ctx.name(flow.target)} has no effect",
        element=flow,
        help="remove the label, or move it to an annotation",
        fix=Fix(
            title=f"remove the label `{flow.label}`",
            applicability="unsafe",
            edits=(Edit(action="relabel", scope=scope.id, id=flow.id, name=""),),
        ),
    )
