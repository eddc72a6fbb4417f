"""Rules of comparisons: OF490 to OF499."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class NotComparable(Rule):
    """
    What it finds
        A file given to `diff` or to `compile --check` as an n8n workflow that is not JSON or
        contains no workflow.
    Why it is wrong
        There is nothing to compare with: every node would be reported as new.
    Example
        A golden file that contains merge conflict markers: <<<<<<< HEAD
    Instead
        Correct the file, export the workflow again, or write the golden file again:
        orgflowc compile model.bpmn --target n8n -o golden.json
    """

    code = "OF490"
    name = "not-comparable"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


DIFF_RULES: tuple[type[Rule], ...] = (NotComparable,)
