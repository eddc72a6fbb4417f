"""Rules of merging: N8N001 to N8N009."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class MergeConflicts(Rule):
    """
    What it finds
        A conflict: the workflow and the model were both changed, differently. Examples are a filled
        placeholder whose element was removed, a node that was renamed on both sides, and an
        expression that reads a node that the model no longer has.
    Why it is wrong
        Only a person can decide which change to keep. Nothing was written.
    Example
        `Check stock` was filled with an HTTP Request in n8n's editor, and removed from the model.
    Instead
        Resolve the conflict on one side, as the help suggests, and run the command again.
    """

    code = "N8N001"
    name = "merge-conflict"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class MergedWithoutBase(Rule):
    """
    What it finds
        A workflow without the base for a merge: the note with its map was deleted or edited, or
        another version of orgflow compiled it.
    Why it is wrong
        If the workflow and the model differ, it is unknown which of them was changed. Filled
        placeholders and added nodes are kept; every other difference is a conflict.
    Example
        A workflow compiled by orgflow 0.1.
    Instead
        Review the result with --dry-run. After this merge, the workflow contains the base for the
        next one.
    """

    code = "N8N002"
    name = "merged-without-base"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class AdaptedEdit(Rule):
    """
    What it finds
        An edit of the workflow that was kept although the model changed around it.
    Why it is wrong
        This may be intended, but the author of the edit may have to adapt it.
    Example
        A node was inserted between two tasks, and the model now has a third task between them.
    Instead
        Review the node in n8n's editor.
    """

    code = "N8N003"
    name = "adapted-edit"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class UnmergeableFile(Rule):
    """
    What it finds
        A file given to `compile --merge` that is not JSON, contains no workflow, or contains a
        workflow of another model; a file that `compile -o` would overwrite, in which somebody
        implemented work that the model no longer names.
    Why it is wrong
        There is nothing to merge with, or the result would lack a workflow.
    Example
        orgflowc compile order.bpmn --target n8n --merge invoice.json
    Instead
        Pass the workflow that was compiled from this model, as exported from n8n's editor. Move
        implementations that are no longer used to another folder.
    """

    code = "N8N004"
    name = "unmergeable-file"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class UncalledWork(Rule):
    """
    What it finds
        A workflow of an earlier `compile -o DIR/` that exists only to be called, and that no
        workflow in the folder calls any more: work whose class, topic or job type has another name
        now, or a process in another file. It is a warning if somebody implemented something in it.
    Why it is wrong
        The implementation is no longer executed. The file was not changed.
    Example
        The class `org.acme.Book` was implemented in org-acme-book-class.json, and then renamed in
        the model.
    Instead
        Copy the nodes of the implementation into the workflow that is called now, or restore the
        name in the model. Delete the file if it is no longer used.
    """

    code = "N8N005"
    name = "uncalled-work"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class RemovedWorkflow(Rule):
    """
    What it finds
        A workflow in a file given to `compile --merge` that the model no longer has: its process,
        class, decision, topic or job type was removed or has another name now. It is an info if
        nobody implemented anything in it.
    Why it is wrong
        Nothing of the model executes the workflow. One that somebody implemented, or that another
        workflow still calls, stays in the merged file; any other is left out.
    Example
        The task of the class `org.acme.Book` was deleted from the model, and the file still has
        the workflow `org.acme.Book (class)`.
    Instead
        Copy the nodes of the implementation to where they are needed now, and delete the workflow;
        or restore the name in the model.
    """

    code = "N8N006"
    name = "removed-workflow"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


MERGE_RULES: tuple[type[Rule], ...] = (
    MergeConflicts,
    MergedWithoutBase,
    AdaptedEdit,
    UnmergeableFile,
    UncalledWork,
    RemovedWorkflow,
)
