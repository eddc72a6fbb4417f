"""Decision tables with missing inputs, two answers for one input, or rules without effect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, assert_never

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model, Task
from orgflow_ir.pipeline import Pass, PassContext, Stage

if TYPE_CHECKING:
    from orgflow_ir.decisions import completeness as table_completeness
    from orgflow_ir.decisions import found as results
    from orgflow_ir.decisions import table_faults
    from orgflow_ir.decisions.found import FoundDecision
    from orgflow_ir.decisions.table_faults import UnreachableRule
    from orgflow_ir.work import process_variables, tasks
else:  # models with decision tables only
    table_completeness = LazyModule("orgflow_ir.decisions.completeness")
    results = LazyModule("orgflow_ir.decisions.found")
    table_faults = LazyModule("orgflow_ir.decisions.table_faults")
    process_variables = LazyModule("orgflow_ir.work.process_variables")
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


class UnreachableDecisionRule(Rule):
    """
    What it finds
        A rule of a decision table that no input can match: a cell that no value passes, or only
        values that its column does not allow; with the hit policy FIRST also a rule whose inputs
        earlier rules match. The analysis covers cells with constants, comparisons, ranges and
        lists.
    Why it is wrong
        The rule never applies. Usually it was meant for other inputs, or stands too late.
    Example
        With FIRST, a rule for `>= 10` after a rule for `>= 0`.
    Instead
        Move the special rule before the general one, correct the cell, or delete the rule.
    """

    code = "OF316"
    name = "unreachable-decision-rule"
    severity = Severity.WARNING
    category = Category.DATA


class UnquotedDecisionText(Rule):
    """
    What it finds
        A cell of a decision table that is a single name, in a column of texts, where the name is no
        input of the decision and no variable that the process sets.
    Why it is wrong
        A name without quotes is a variable. It is null here, so the rule never matches, or its
        output is null.
    Example
        `VIP` in a column of the type `string`.
    Instead
        Write the text in quotes: `"VIP"`.
    """

    code = "OF317"
    name = "unquoted-decision-text"
    severity = Severity.WARNING
    category = Category.DATA


class DecisionTables(Pass):
    """Reports inputs that no rule of a decision table matches, inputs that two match, and rules
    without effect."""

    name: ClassVar[str] = "decision-tables"
    stage: ClassVar[Stage] = Stage.ANALYSE
    rules: ClassVar[tuple[type[Rule], ...]] = (
        DecisionGap, DecisionOverlap, UnreachableDecisionRule, UnquotedDecisionText,
    )  # fmt: skip

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        seen: set[str] = set()
        for scope in ctx.scopes(model):
            for node in scope.nodes:
                if isinstance(node, Task) and node.binding is not None:
                    binding = node.binding
                    if binding.kind == "decision" and binding.decision not in seen:
                        seen.add(binding.decision or "")
                        decision = _find_decision(node, binding.decision or "", ctx)
                        if decision is not None:
                            _check_table(node, decision, ctx)
                            _check_rules(node, decision, ctx)
                            _check_texts(node, decision, model, ctx)
        return model


def _find_decision(task: Task, reference: str, ctx: PassContext) -> FoundDecision | None:
    """The decision of a task; `None` if it is missing or cannot be used, which a target that runs
    it reports."""
    library = tasks.library_for(task, ctx)
    try:
        return library.find(reference) if library is not None else None
    except results.Unusable:
        return None


def _check_table(task: Task, decision: FoundDecision, ctx: PassContext) -> None:
    answer = table_completeness.find_completeness(decision)
    if answer is None:
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


def _check_rules(task: Task, decision: FoundDecision, ctx: PassContext) -> None:
    """The rules of a table that never apply."""
    for fault in table_faults.find_unreachable_rules(decision):
        where = f"rule {fault.rule} of the decision `{decision.name}` in {decision.file}"
        why, help = _describe_cause(fault)
        message = f"{where} never applies: {why}"
        ctx.emit(UnreachableDecisionRule, message, element=task, help=help)


def _describe_cause(fault: UnreachableRule) -> tuple[str, str]:
    """Why a rule never applies, and the remedy."""
    match fault.cause:
        case "empty":
            return f"no value passes its cell in column {fault.column}", "correct the cell"
        case "excluded":
            return (
                f"column {fault.column} does not allow the values of its cell",
                "correct the cell, or the values that the column allows",
            )
        case "covered":
            by = _list_rules(fault.by)
            verbs = "comes first and matches" if len(fault.by) == 1 else "come first and match"
            return f"{by} {verbs} all its inputs", f"move it before {by}, or delete it"
        case _:
            assert_never(fault.cause)


def _list_rules(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"rule {numbers[0]}"
    return f"rules {', '.join(map(str, numbers[:-1]))} and {numbers[-1]}"


def _check_texts(task: Task, decision: FoundDecision, model: Model, ctx: PassContext) -> None:
    known = {
        name
        for scope in ctx.scopes(model)
        for node in scope.nodes
        for name in process_variables.declared_by(node)
    }
    known.update(value.name for value in task.binding.inputs) if task.binding is not None else None
    for fault in table_faults.find_unquoted_texts(decision, known):
        ctx.emit(
            UnquotedDecisionText,
            f"rule {fault.rule} of the decision `{decision.name}` in {decision.file} reads the "
            f"variable `{fault.name}`, which nothing sets",
            element=task,
            help=f'did you mean the text "{fault.name}"?',
        )
