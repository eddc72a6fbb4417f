"""Decision tables that omit inputs or have two answers for one input."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model, Task
from orgflow_ir.pipeline import Pass, PassContext, Stage

if TYPE_CHECKING:
    from orgflow_ir.decisions import completeness as table_completeness
    from orgflow_ir.decisions import found as results
    from orgflow_ir.work import tasks
else:  # models with decision tables only
    table_completeness = LazyModule("orgflow_ir.decisions.completeness")
    results = LazyModule("orgflow_ir.decisions.found")
    tasks = LazyModule("orgflow_ir.work.tasks")


class DecisionGap(Rule):
    """
    What it finds
        A decision table, in a task or a DMN file, whose hit policy requires a rule for every input
        (UNIQUE, ANY, FIRST, PRIORITY) but that has inputs without a rule and no default output;
        these inputs are named. The analysis covers cells with constants, comparisons, ranges and
        lists.
    Why it is wrong
        The decision has no result for these inputs: it is null, or an engine stops with an error.
    Example
        Rules for `< 100` and `> 100`: 100 is not covered.
    Instead
        Cover all inputs with a last rule of dashes or a default output.
    """

    code = "OF313"
    name = "decision-gap"
    severity = Severity.WARNING
    category = Category.DATA


class DecisionOverlap(Rule):
    """
    What it finds
        A decision table with the hit policy UNIQUE in which two rules match the same input, or with
        ANY in which their outputs differ; the input and the rules are named.
    Why it is wrong
        DMN defines no result for such an input (DMN 1.5, 8.2.10): an engine stops with an error, or
        returns null.
    Example
        Rules for `<= 100` and `>= 100` with the policy UNIQUE: both match 100.
    Instead
        Make the rules mutually exclusive, or use FIRST, which applies them in order.
    """

    code = "OF314"
    name = "decision-overlap"
    severity = Severity.WARNING
    category = Category.DATA


class DecisionTables(Pass):
    """Reports inputs that no rule of a decision table matches, and inputs that two match."""

    name: ClassVar[str] = "decision-tables"
    stage: ClassVar[Stage] = Stage.ANALYSE
    rules: ClassVar[tuple[type[Rule], ...]] = (DecisionGap, DecisionOverlap)

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        seen: set[str] = set()
        for scope in ctx.scopes(model):
            for node in scope.nodes:
                if isinstance(node, Task) and node.binding is not None:
                    binding = node.binding
                    if binding.kind == "decision" and binding.decision not in seen:
                        seen.add(binding.decision or "")
                        _check_table(node, binding.decision or "", ctx)
        return model


def _check_table(task: Task, reference: str, ctx: PassContext) -> None:
    # Imported for a model that refers to a decision.

    library = tasks.library_for(task, ctx)
    try:
        decision = library.find(reference) if library is not None else None
    except results.Unusable:
        return  # a target that runs it says so
    answer = table_completeness.find_completeness(decision) if decision is not None else None
    if answer is None or decision is None:
        return
    where = f"the decision `{decision.name}` in {decision.file}"
    if answer.gap is not None:
        ctx.emit(
            DecisionGap,
            f"no rule of {where} covers {answer.gap.text()}",
            element=task,
            help="add a rule for these inputs, or a default output",
        )
    if answer.overlap is not None:
        first, second, *_ = answer.overlap.rules
        ctx.emit(
            DecisionOverlap,
            f"the rules {first} and {second} of {where} both match {answer.overlap.text()}",
            element=task,
            help="make the rules mutually exclusive, or use the hit policy FIRST",
        )
