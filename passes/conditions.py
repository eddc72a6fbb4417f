"""Conditions, defaults and labels on the outgoing flows of a split."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from orgflow_ir.diagnostics import Category, Edit, Fix, Rule, Severity
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.gaps.gap_rules import UnlabelledBranch
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Event, Flow, Gateway, Model, Opaque, Scope
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.model.element_names import one_line
from orgflow_ir.pipeline import Pass, PassContext, Stage
from orgflow_ir.work.gateway_decisions import DecisionMemory

if TYPE_CHECKING:
    from orgflow_ir.program import condition_completeness, syntax
else:  # models with conditions only
    condition_completeness = LazyModule("orgflow_ir.program.condition_completeness")
    syntax = LazyModule("orgflow_ir.program.syntax")


class ConditionalDefault(Rule):
    """
    What it finds
        A default flow that also has a condition.
    Why it is wrong
        The default flow is taken if no other flow is; its condition is never evaluated (BPMN 2.0.2,
        8.4.13), so it has no effect.
    Example
        The default flow `other` of `Amount?` has the condition `amount < 100`.
    Instead
        Remove the condition, or do not make the flow the default.
    """

    code = "OF112"
    name = "conditional-default"
    severity = Severity.WARNING
    category = Category.MALFORMED


class SeveralDefaults(Rule):
    """
    What it finds
        Two default flows out of the same gateway or activity.
    Why it is wrong
        If no condition holds, it is undefined which one is taken.
    Example
        `Amount?` has the default flows `small` and `other`.
    Instead
        Add a condition to all but one of them.
    """

    code = "OF113"
    name = "several-defaults"
    severity = Severity.ERROR
    category = Category.MALFORMED


class MisplacedCondition(Rule):
    """
    What it finds
        A condition or a default flow out of a parallel or event-based gateway or of an event.
    Why it is wrong
        A parallel gateway takes all branches, an event-based one the branch of the event that
        occurs
        first: the condition is never evaluated (BPMN 2.0.2, 10.6.4 and 10.6.6).
    Example
        The parallel gateway before `Pack` has the condition `in stock` on its flow to `Pack`.
    Instead
        Use an exclusive or inclusive gateway, or remove the condition.
    """

    code = "OF114"
    name = "misplaced-condition"
    severity = Severity.WARNING
    category = Category.MALFORMED


class UnconditionalBranch(Rule):
    """
    What it finds
        A branch of an exclusive, inclusive or complex gateway that has no condition and is not the
        default flow, although other branches have conditions. (A branch that has no label either is
        OF503.)
    Why it is wrong
        It is undefined when the branch is taken (BPMN 2.0.2, 8.4.13 and 10.6.2): engines reject the
        gateway or always take the branch.
    Example
        `Amount?` has a branch with `amount > 1000` and one without a condition.
    Instead
        Make the second branch the default flow, or add a condition.
    """

    code = "OF132"
    name = "unconditional-branch"
    severity = Severity.WARNING
    category = Category.MALFORMED


class MissingDefault(Rule):
    """
    What it finds
        A task or sub-process whose outgoing flows all have conditions without a default flow; also
        a gateway whose only outgoing flow has a condition.
    Why it is wrong
        If no condition holds, the run ends there silently (BPMN 2.0.2, 8.4.13; 10.3.1 does not
        allow it for a single flow). (OF311 reports which values the conditions of a gateway do not
        cover.)
    Example
        The only flow out of `Check` has the condition `ok`.
    Instead
        Use an exclusive gateway with a default flow after `Check`, or remove the condition.
    """

    code = "OF133"
    name = "missing-default"
    severity = Severity.WARNING
    category = Category.MALFORMED


class SameBranchLabel(Rule):
    """
    What it finds
        Two flows with the same label from one exclusive or inclusive gateway to different steps.
    Why it is wrong
        The label selects the branch: a duplicate label is ambiguous.
    Example
        `Order ok?` has two flows `yes`, to `Ship` and to `Bill`.
    Instead
        Use different labels, or lead one flow `yes` to a parallel gateway.
    """

    code = "OF310"
    name = "same-branch-label"
    severity = Severity.WARNING
    category = Category.DATA


class UnmarkedFeel(Rule):
    """
    What it finds
        A condition of a process for Camunda 8 that does not begin with `=`.
    Why it is wrong
        Camunda 8 reads a condition only as FEEL, which begins with `=`: it refuses to deploy the
        process.
    Example
        <conditionExpression>orderValue &gt;= 100</conditionExpression>
    Instead
        <conditionExpression>=orderValue &gt;= 100</conditionExpression>
    """

    code = "OF148"
    name = "unmarked-feel"
    severity = Severity.WARNING
    category = Category.MALFORMED


class Conditions(Pass):
    """Reports conditions and labels that cannot decide anything."""

    name: ClassVar[str] = "conditions"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (
        ConditionalDefault, SeveralDefaults, MisplacedCondition, UnconditionalBranch,
        MissingDefault, SameBranchLabel, UnmarkedFeel,
    )  # fmt: skip

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        for scope in ctx.scopes(model):
            graph = ctx.analysis(ControlFlow, scope)
            for node in scope.nodes:
                out = graph.flows_out(node.id)
                if out:
                    _check_split(node, out, scope, ctx)
        for process in model.processes:
            if process.dialect is not None and process.dialect.engine == "camunda8":
                for scope in ctx.scopes(process):
                    _check_marks(scope, ctx)
        return model


def _check_marks(scope: Scope, ctx: PassContext) -> None:
    """Conditions of Camunda 8 without the sign of FEEL."""
    for flow in scope.flows:
        text = flow.condition.text.strip() if flow.condition is not None else ""
        if flow.condition is None or not text or text.startswith("="):
            continue
        marked = flow.replace(condition=flow.condition.replace(text=f"={text}"))
        ctx.emit(
            UnmarkedFeel,
            f"the condition of {ctx.name(flow)}, `{one_line(text)}`, does not begin with `=`: "
            "Camunda 8 refuses the process",
            element=flow,
            help=f"write `={one_line(text)}`",
            fix=Fix(
                title="begin the condition with `=`",
                applicability="unsafe",
                edits=(Edit(action="replace", scope=scope.id, id=flow.id, flow=marked),),
            ),
        )


def _check_split(node: ModelNode, out: list[Flow], scope: Scope, ctx: PassContext) -> None:
    kind = node.gateway_kind if isinstance(node, Gateway) else ""
    if kind in ("parallel", "event") or isinstance(node, Event):
        for flow in out:
            if flow.condition or flow.default:
                _report_misplaced(node, flow, scope, ctx)
        return
    defaults = [f for f in out if f.default]
    if len(defaults) > 1:
        names = " and ".join(f"`{f.label}`" if f.name.strip() else ctx.name(f) for f in defaults)
        ctx.emit(
            SeveralDefaults,
            f"{ctx.name(node)} has {len(defaults)} default flows: {names}",
            element=node,
            help="keep one default flow; give the others a condition",
        )
    for flow in defaults:
        if flow.condition:
            ctx.emit(
                ConditionalDefault,
                f"{ctx.name(flow)} is the default flow and has a condition, which is never "
                "evaluated",
                element=flow,
                help="remove the condition, or choose another default flow",
                fix=_without_condition(flow, scope, ctx),
            )
    conditional = [f for f in out if f.condition is not None]
    if conditional and not isinstance(node, Opaque):
        _check_unconditional(node, out, conditional, defaults, scope, ctx)
    if kind in ("exclusive", "inclusive"):
        for first, second in _same_labels(out):
            _report_same_labels(node, first, second, ctx)


def _report_same_labels(node: ModelNode, first: Flow, second: Flow, ctx: PassContext) -> None:
    labels = f"labelled `{second.label}`"
    if first.label != second.label:
        labels = f"labelled `{first.label}` and `{second.label}`, which differ only in case"
    ctx.emit(
        SameBranchLabel,
        f"two flows out of {ctx.name(node)} are {labels}",
        element=second,
        help="label them differently; if both should be taken, connect one flow to a "
        "parallel gateway that starts both",
    )


def _check_unconditional(
    node: ModelNode,
    out: list[Flow],
    conditional: list[Flow],
    defaults: list[Flow],
    scope: Scope,
    ctx: PassContext,
) -> None:
    """What is not said where some flows have conditions: of an activity an unconditional flow is
    always taken, of a gateway it is open when."""
    plain = [f for f in out if f.condition is None and not f.default]
    if isinstance(node, Gateway):
        for flow in plain:
            if not flow.name.strip() and _asks_for_labels(ctx):
                continue
            ctx.emit(
                UnconditionalBranch,
                f"it is undefined when {_name_branch(flow, ctx)} of {ctx.name(node)} is "
                "taken: it has "
                "no condition and is not the default flow",
                element=flow,
                help="make it the default flow, or give it a condition",
                fix=None if len(plain) > 1 or defaults else _as_default(flow, scope, ctx),
            )
        if len(out) > 1:
            return
    elif plain:
        return
    if defaults or (len(out) > 1 and _are_covered(out, ctx)):
        return
    what = "the only outgoing flow" if len(out) == 1 else "every outgoing flow"
    ctx.emit(
        MissingDefault,
        f"{what} of {ctx.name(node)} has a condition: if {'it' if len(out) == 1 else 'none'} "
        f"{'does not hold' if len(out) == 1 else 'holds'}, a run ends there",
        element=node,
        help="remove the condition, or use an exclusive gateway with a default flow"
        if len(out) == 1
        else "make one of them the default flow",
        fix=_without_condition(conditional[0], scope, ctx) if len(out) == 1 else None,
    )


def _asks_for_labels(ctx: PassContext) -> bool:
    """Whether branches without label and condition are reported as gaps."""
    return ctx.grading.reports(UnlabelledBranch)


def _are_covered(flows: list[Flow], ctx: PassContext) -> bool:
    """Whether no values were found for which none of the conditions holds."""
    read = ctx.shared(DecisionMemory).tree
    trees = []
    for flow in flows:
        try:
            tree = read(flow.condition) if flow.condition is not None else None
        except syntax.ConditionError:
            return False
        if tree is None:
            return False
        trees.append(tree)
    return condition_completeness.find_uncovered(trees) is None


def _name_branch(flow: Flow, ctx: PassContext) -> str:
    return f"`{flow.label}`" if flow.name.strip() else f"the way to {ctx.name(flow.target)}"


def _as_default(flow: Flow, scope: Scope, ctx: PassContext) -> Fix:
    return Fix(
        title=f"make {_name_branch(flow, ctx)} the default flow",
        applicability="unsafe",
        edits=(Edit(action="set-default", scope=scope.id, id=flow.id, default=True),),
    )


def _report_misplaced(node: ModelNode, flow: Flow, scope: Scope, ctx: PassContext) -> None:
    what = "has a condition" if flow.condition else "is marked as the default"
    instead = f"make {ctx.name(node)} an exclusive or inclusive gateway"
    if not isinstance(node, Gateway):
        why = "all outgoing flows of an event are taken"
        instead = f"put an exclusive or inclusive gateway after {ctx.name(node)}"
    elif node.gateway_kind == "parallel":
        why = "the gateway takes all branches"
    else:
        why = "the gateway takes the branch of the event that occurs first"
    ctx.emit(
        MisplacedCondition,
        f"{ctx.name(flow)} {what}, but {why}",
        element=flow,
        help=f"if {_subject_words(flow)} should decide, {instead}; otherwise remove it",
        fix=_without_condition(flow, scope, ctx),
    )


def _subject_words(flow: Flow) -> str:
    return "the condition" if flow.condition else "the mark"


def _without_condition(flow: Flow, scope: Scope, ctx: PassContext) -> Fix:
    plain = flow.replace(condition=None) if flow.condition else flow.replace(default=False)
    return Fix(
        title=f"remove {_subject_words(flow)} of {ctx.name(flow)}",
        applicability="unsafe",
        edits=(Edit(action="replace", scope=scope.id, id=flow.id, flow=plain),),
    )


def _same_labels(out: list[Flow]) -> Iterator[tuple[Flow, Flow]]:
    first: dict[str, Flow] = {}
    for flow in out:
        label = " ".join(flow.name.split()).casefold()
        if not label:
            continue
        other = first.setdefault(label, flow)
        if other is not flow and other.target != flow.target:
            yield other, flow
