"""Rules of merging: N8N001 to N8N009."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class MergeConflicts(Rule):
    """
    What it finds
        One thing that was changed both in the workflow and in the model, each time differently:
        a filled placeholder whose element was removed, a node that was renamed on both sides, an
        expression that reads a node that the model has no more.
    Why it is wrong
        Only a person can say which of the two counts. Nothing was written.
    Example
        `Check stock` was filled with an HTTP Request in n8n's editor, and removed from the model.
    Instead
        Settle it on one of the two sides, as the help says, and give the command again.
    """

    code = "N8N001"
    name = "merge-conflict"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class MergedWithoutBase(Rule):
    """
    What it finds
        A workflow that does not carry what it was compiled to: the note with its map was deleted or
        edited, or an orgflow that keeps that in another form compiled it.
    Why it is wrong
        Where workflow and model differ, it is not known which of the two was changed. Filled
        placeholders and added nodes are kept, everything else that differs is a conflict.
    Example
        A workflow compiled by orgflow 0.1.
    Instead
        Look at the result with --dry-run. From then on the workflow contains the base for the next
        merge.
    """

    code = "N8N002"
    name = "merged-without-base"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class AdaptedEdit(Rule):
    """
    What it finds
        An edit of the workflow that was kept, but whose surroundings the model changed.
    Why it is wrong
        Perhaps nothing: it may have to be adapted by the person who made it.
    Example
        A node was put between two tasks, and the model has a third task between them now.
    Instead
        Look at the node in n8n's editor.
    """

    code = "N8N003"
    name = "adapted-edit"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class UnmergeableFile(Rule):
    """
    What it finds
        A file given to `compile --merge` that is not JSON, in which there is no workflow, or that
        has a workflow of another model.
    Why it is wrong
        There is nothing to merge with, or a workflow would be missing in the result.
    Example
        orgflowc compile order.bpmn --target n8n --merge invoice.json
    Instead
        Give the workflow that was compiled from this model, as n8n's editor exports it.
    """

    code = "N8N004"
    name = "unmergeable-file"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


MERGE_RULES: tuple[type[Rule], ...] = (
    MergeConflicts,
    MergedWithoutBase,
    AdaptedEdit,
    UnmergeableFile,
)
