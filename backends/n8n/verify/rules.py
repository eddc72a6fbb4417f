"""Rules of `verify` (OF480 to OF489)."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class DifferentWorkflow(Rule):
    """
    What it finds
        A workflow that does something its model does not, or does not do something it does.
    Why it is wrong
        Somebody relies on the drawing: what is drawn and what runs are no longer the same process.
    Example
        In n8n's editor the wire from `Order ok?` → `no` was moved from `Send rejection` to `Ship`.
    Instead
        Compile the model again, or change the model to what the workflow does now. The two runs
        printed side by side show the first step in which they part.
    """

    code = "OF480"
    name = "different-workflow"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class ChangedExpression(Rule):
    """
    What it finds
        A condition or a waiting time that is not the one the model gives.
    Why it is wrong
        Whether the new one decides as the old one did depends on data, and nobody has judged that:
        everything else was verified as if it did. A condition that is negated, or that compares
        with another value or variable, is judged (OF480), unless the step that sets the decision
        was filled with a node that names the new value or variable.
    Example
        `amount > 1000` became `amount > 5000` in n8n's editor.
    Instead
        Write the condition into the model, and compile it again.
    """

    code = "OF481"
    name = "changed-expression"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class AddedStep(Rule):
    """
    What it finds
        A node of the workflow that stands for nothing in the model.
    Why it is wrong
        It need not be: people add logging, lookups and messages. The verdict takes for granted
        that it hands on each item once. With --strict it is a difference.
    Example
        A node `Log to sheet` between two steps of the model.
    Instead
        Nothing to do, or draw the step.
    """

    code = "OF482"
    name = "added-step"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class UnfinishedVerification(Rule):
    """
    What it finds
        A workflow of which not every run was looked at; the message says where it ended.
    Why it is wrong
        No difference was found, but that is no proof.
    Example
        A parallel block of fifteen branches, each with a choice, has too many states.
    Instead
        Run it as well (`orgflowc run --all-paths`), or take the block apart.
    """

    code = "OF483"
    name = "unfinished-verification"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class StandsStill(Rule):
    """
    What it finds
        Work that the model lets go on while something is waited for, and that n8n leaves standing.
    Why it is wrong
        An n8n execution waits as a whole. The steps and their order are as the model says; only
        the time differs, and a message for another wait is refused meanwhile.
    Example
        `Pack goods` beside a timer `Two days` in a parallel block.
    Instead
        Put the wait before or after the parallel block. With --strict it is a difference.
    """

    code = "OF484"
    name = "stands-still"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class MissingWorkflow(Rule):
    """
    What it finds
        A process of the model that no workflow in the file is made of.
    Why it is wrong
        There is nothing that runs it.
    Example
        The model has the pools `Customer` and `Supplier`, the file only the workflow of `Supplier`.
    Instead
        Give the file with all workflows, or name one process with --process.
    """

    code = "OF485"
    name = "missing-workflow"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class UnverifiableFile(Rule):
    """
    What it finds
        A file that is no n8n workflow, or one that cannot be followed: it has n8n's first order of
        execution, two nodes of one name.
    Why it is wrong
        Its behaviour cannot be determined.
    Example
        A workflow without `"executionOrder": "v1"` in its settings.
    Instead
        Export the workflow from n8n again; in its settings choose the execution order v1.
    """

    code = "OF486"
    name = "unverifiable-file"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class UnverifiedWorkflow(Rule):
    """
    What it finds
        A workflow in the file that is made of no process of the model.
    Why it is wrong
        Its behaviour is not checked, though the file was called verified.
    Example
        An export of all workflows of a server beside the model of one.
    Instead
        Give the workflow alone, or the model that it belongs to.
    """

    code = "OF487"
    name = "unverified-workflow"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


VERIFY_RULES: tuple[type[Rule], ...] = (
    DifferentWorkflow,
    ChangedExpression,
    AddedStep,
    UnfinishedVerification,
    StandsStill,
    MissingWorkflow,
    UnverifiableFile,
    UnverifiedWorkflow,
)
