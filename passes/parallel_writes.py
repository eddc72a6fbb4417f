"""Parallel branches that set one process variable."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from orgflow_ir.diagnostics import Category, Related, Rule, Severity
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import CallActivity, Model, Scope, SubProcess, Task
from orgflow_ir.pipeline import Pass, PassContext, Stage
from orgflow_ir.work.gateway_decisions import DecisionConventions, DecisionMemory

if TYPE_CHECKING:
    from orgflow_ir.lowering import ad_hoc
    from orgflow_ir.work import process_variables
else:  # models with concurrent steps
    ad_hoc = LazyModule("orgflow_ir.lowering.ad_hoc")
    process_variables = LazyModule("orgflow_ir.work.process_variables")


class ParallelWrites(Rule):
    """
    What it finds
        Two tasks that may run in parallel and both set a variable that a condition, a mapping or a
        collection reads.
    Why it is wrong
        The task that ends last determines the value, so the same case can be decided differently.
        On n8n, the run stops at the join if the two values differ.
    Example
        `Check credit` and `Check address`, in parallel, have a form field `approved` each; the
        gateway after them reads `approved`.
    Instead
        Let only one of them set it, or use two variables and read both.
    """

    code = "OF330"
    name = "parallel-writes"
    severity = Severity.WARNING
    category = Category.DATA


class ParallelWritesPass(Pass):
    """Reports pairs of tasks in parallel branches that set one variable."""

    name: ClassVar[str] = "parallel-writes"
    stage: ClassVar[Stage] = Stage.ANALYSE
    rules: ClassVar[tuple[type[Rule], ...]] = (ParallelWrites,)

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        for scope in ctx.scopes(model):
            if isinstance(scope, SubProcess) and scope.flavour == "ad-hoc" and scope.extra:
                chosen = ad_hoc.chosen_by(scope)
                if chosen:  # each of its steps has variables of its own
                    continue
            bound = [
                n
                for n in scope.nodes
                if isinstance(n, (Task, CallActivity)) and n.binding is not None
            ]
            if len(bound) > 1:
                for variable, first, second in _list_conflicts(scope, ctx):
                    _report_conflict(variable, first, second, scope, ctx)
        return model


def _list_conflicts(scope: Scope, ctx: PassContext) -> Iterator[tuple[str, str, str]]:
    """Variables that are read, each with two elements that set it at the same time."""
    graph = ctx.analysis(ControlFlow, scope)
    variables = process_variables.Variables(graph, {}, ctx)
    several = {name: s for name, s in variables.declared.items() if len(s) > 1}
    beside: list[tuple[str, str, str]] = []
    for name, setters in several.items() if variables.splits else ():
        elements = dict.fromkeys(s.element for s in setters)
        for first, second in itertools.combinations(elements, 2):
            same = variables.constant(first, name) is not None and (
                variables.constant(first, name) == variables.constant(second, name)
            )
            if not same and variables.concurrent(first, second):
                beside.append((name, first, second))
    if not beside:  # before every expression is parsed to see what is read
        return
    decisions = ctx.shared(DecisionMemory).decisions(graph, DecisionConventions())
    variables = process_variables.Variables(graph, decisions, ctx)
    read = {r.variable for r in variables.reads}
    yield from (conflict for conflict in beside if conflict[0] in read)


def _report_conflict(
    variable: str, first: str, second: str, scope: Scope, ctx: PassContext
) -> None:
    nodes = {n.id: n for n in scope.nodes}
    ctx.emit(
        ParallelWrites,
        f"{ctx.name(nodes[first])} and {ctx.name(nodes[second])} run in parallel and both set "
        f"`{variable}`: the value of the one that ends last wins",
        element=nodes[first],
        help="let only one of them set it, or use a separate variable for each",
        related=[
            Related(
                message=f"{ctx.name(nodes[second])} sets it too",
                element=second,
                loc=nodes[second].loc,
            )
        ],
    )
