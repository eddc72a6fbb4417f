"""Exclusive and inclusive gateways whose conditions omit values or overlap."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, ClassVar

from orgflow.passes.wording import Namer

from orgflow_ir.diagnostics import Category, Edit, Fix, Related, Rule, Severity
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.lazy_patterns import lazy_pattern
from orgflow_ir.model import CallActivity, Event, Flow, Gateway, Model, Scope, Task
from orgflow_ir.model.bindings import Form
from orgflow_ir.pipeline import Pass, PassContext, Stage

if TYPE_CHECKING:
    from orgflow_ir.program import (
        condition_completeness,
        evaluator,
        juel_operators,
        structure_evaluation,
        syntax,
    )
    from orgflow_ir.program.feel import values as feel_values
    from orgflow_ir.program.syntax import Tree
    from orgflow_ir.work import gateway_decisions
else:  # models with conditions only
    condition_completeness = LazyModule("orgflow_ir.program.condition_completeness")
    evaluator = LazyModule("orgflow_ir.program.evaluator")
    feel_values = LazyModule("orgflow_ir.program.feel.values")
    juel_operators = LazyModule("orgflow_ir.program.juel_operators")
    structure_evaluation = LazyModule("orgflow_ir.program.structure_evaluation")
    syntax = LazyModule("orgflow_ir.program.syntax")
    gateway_decisions = LazyModule("orgflow_ir.work.gateway_decisions")


class NoBranchFits(Rule):
    """
    What it finds
        A gateway whose branches all have conditions, without a default flow, if there are values
        that match none of the conditions; the values are named.
    Why it is wrong
        A run with these values cannot continue: an engine stops it with an error. On n8n, the
        execution stops at the gateway and reports the reason.
    Example
        `amount > 1000` and `amount < 1000`: no branch matches 1000.
    Instead
        Make one branch the default flow, or cover all values.
    """

    code = "OF311"
    name = "no-branch-fits"
    severity = Severity.WARNING
    category = Category.DATA


class OverlappingBranches(Rule):
    """
    What it finds
        Two branches of an exclusive gateway whose conditions are both true for some values.
    Why it is wrong
        Only the first in the order of the file is taken, and the diagram does not show this order.
    Example
        `amount > 100` and `amount > 1000`: for 2000 the first is taken.
    Instead
        Make the conditions mutually exclusive, or use an inclusive gateway if both branches should
        be taken.
    """

    code = "OF312"
    name = "overlapping-branches"
    severity = Severity.WARNING
    category = Category.DATA


class ConstantBranch(Rule):
    """
    What it finds
        A branch of a gateway whose condition reads no variable and has a constant value, other than
        the constants `true` and `false` themselves.
    Why it is wrong
        The branch is always or never taken. In FEEL, a comparison of values of different types is
        null, so never true.
    Example
        `date and time("2024-01-01T10:00:00") > date("2024-01-01")`.
    Instead
        Compare with a variable, or convert both sides to one type.
    """

    code = "OF318"
    name = "constant-branch"
    severity = Severity.WARNING
    category = Category.DATA


class GatewayConditions(Pass):
    """Reports values that no branch of a gateway matches, values that two match, and conditions
    that are constant."""

    name: ClassVar[str] = "gateway-conditions"
    stage: ClassVar[Stage] = Stage.ANALYSE
    rules: ClassVar[tuple[type[Rule], ...]] = (NoBranchFits, OverlappingBranches, ConstantBranch)

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        chosen: dict[str, tuple[str, ...]] | None = None
        for scope in ctx.scopes(model):
            if all(f.condition is None for f in scope.flows):
                continue
            out: dict[str, list[Flow]] = {}
            for flow in scope.flows:
                out.setdefault(flow.source, []).append(flow)
            namer = ctx.analysis(Namer, scope)
            for node in scope.nodes:
                if isinstance(node, Gateway) and node.gateway_kind in ("exclusive", "inclusive"):
                    flows = out.get(node.id, [])
                    if len(flows) > 1:
                        chosen = _chosen_values(model) if chosen is None else chosen
                        _check_gateway(node, flows, scope, namer, chosen, ctx)
        return model


def _chosen_values(model: Model) -> dict[str, tuple[str, ...]]:
    """Variables that only people set, each by a choice in forms, and all the values that they may
    choose."""
    values_by_name: dict[str, tuple[str, ...]] = {}
    others: set[str] = set()
    for node in (n for scope in model.scopes() for n in scope.nodes):
        if not isinstance(node, Task | CallActivity | Event) or node.binding is None:
            continue
        others.update(p.variable for p in node.binding.outputs)
        if node.binding.result:
            others.add(node.binding.result)
        for field in node.binding.fields if isinstance(node.binding, Form) else ():
            if field.is_read_only:
                continue
            values = tuple(value for value, _ in field.values)
            if not values or len(field.path) > 1:
                others.add(field.path[0])
            else:
                values_by_name[field.path[0]] = (*values_by_name.get(field.path[0], ()), *values)
    return {name: values for name, values in values_by_name.items() if name not in others}


def _unlike_tree(name: str, values: tuple[str, ...]) -> Tree:
    """That a variable has none of these values."""
    parts = [
        juel_operators.JUEL.comparison["!="](syntax.Variable((name,)), syntax.Constant(v))
        for v in values
    ]
    tree: Tree = parts[0]
    for part in parts[1:]:
        tree = juel_operators.JUEL.logic["and"](tree, part)
    return tree


def _check_gateway(
    gateway: Gateway,
    flows: list[Flow],
    scope: Scope,
    namer: Namer,
    chosen: dict[str, tuple[str, ...]],
    ctx: PassContext,
) -> None:
    trees = {
        f.id: tree for f in flows if not f.default and (tree := _condition_tree(f, ctx)) is not None
    }
    coded = [f for f in flows if f.id in trees]
    for flow in coded:
        _check_constant(gateway, flow, trees[flow.id], namer, ctx)
    if gateway.gateway_kind == "exclusive":
        for first, second in itertools.combinations(coded, 2):
            both = condition_completeness.find_overlapping(trees[first.id], trees[second.id])
            if both:
                _report_overlap(
                    gateway, first, second, condition_completeness.values_text(both), namer, ctx
                )
    if len(coded) == len(flows):
        read = {path[0] for f in flows for path in syntax.variables(trees[f.id]) if len(path) == 1}
        never = [_unlike_tree(name, values) for name, values in chosen.items() if name in read]
        none = condition_completeness.find_uncovered([*(trees[f.id] for f in flows), *never])
        if none:
            last = flows[-1]
            values = condition_completeness.values_text(none)
            ctx.emit(
                NoBranchFits,
                f"no branch of {namer.name(gateway.id)} matches {values}: the run stops there",
                element=gateway,
                help="make one branch the default flow, or cover all values",
                fix=Fix(
                    title=f"make {_name_branch(last, namer)} the default flow",
                    applicability="unsafe",
                    edits=(
                        Edit(
                            action="replace",
                            scope=scope.id,
                            id=last.id,
                            flow=last.replace(default=True, condition=None),
                        ),
                    ),
                ),
            )


_CHANGING = lazy_pattern(r"(?i)\b(?:now|today|random|date\s*\(\s*\)|uuid|time\w*millis)")
"""Functions with another value in each run."""


def _check_constant(
    gateway: Gateway, flow: Flow, tree: Tree, namer: Namer, ctx: PassContext
) -> None:
    """The condition of a branch that reads nothing; n8n's own conditions have rules of its own."""
    condition = flow.condition
    if condition is None or condition.language == "n8n" or isinstance(tree, syntax.Constant):
        return
    if _CHANGING.search(condition.text):
        return
    if any(True for _ in syntax.variables(tree)):
        return
    try:
        if isinstance(tree, syntax.Exact):
            exact, value = True, structure_evaluation.evaluate_json(tree, {})
        else:
            exact, value = False, evaluator.evaluate(tree, {})
    except feel_values.Unsupported:
        return
    if value is True or value is False or (exact and value is None):
        ctx.emit(
            ConstantBranch,
            f"the condition of {_name_branch(flow, namer)} at {namer.name(gateway.id)} is "
            f"{'always' if value is True else 'never'} true: it reads no variable",
            element=flow,
            help="compare with a variable, or convert both sides to one type",
        )


def _condition_tree(flow: Flow, ctx: PassContext) -> Tree | None:
    if flow.condition is None:
        return None

    try:
        return ctx.shared(gateway_decisions.DecisionMemory).tree(flow.condition)
    except syntax.ConditionError:
        return None


def _name_branch(flow: Flow, namer: Namer) -> str:
    return f"`{flow.label}`" if flow.name.strip() else f"the way to {namer.name(flow.target)}"


def _report_overlap(
    gateway: Gateway,
    first_flow: Flow,
    second_flow: Flow,
    values: str,
    namer: Namer,
    ctx: PassContext,
) -> None:
    first, second = _name_branch(first_flow, namer), _name_branch(second_flow, namer)
    ctx.emit(
        OverlappingBranches,
        f"for {values}, the conditions {first} and {second} of {namer.name(gateway.id)} both "
        f"hold: {first} is taken, since it comes first in the file",
        element=gateway,
        help="make the conditions mutually exclusive, or use an inclusive gateway",
        related=[
            Related(message=f"{_name_branch(f, namer)}: {f.condition.text.strip()}",
                element=f.id,
                loc=f.loc,
            )
            for f in (first_flow, second_flow)
            if f.condition is not None
        ],
    )  # fmt: skip
