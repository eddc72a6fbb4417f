"""Rules of the n8n backend: gaps the source leaves open (OF50x) and what n8n does (OF42x)."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class SequentialParallel(Rule):
    """
    What it finds
        Branches of a parallel or inclusive gateway.
    Why it is wrong
        Nothing is lost: n8n runs one branch after the other, top branch first, and the join waits
        for all of them. Only the time they take adds up.
    Example
        `Pack goods` and `Write invoice` behind a parallel gateway.
    Instead
        Nothing to do.
    """

    code = "OF421"
    name = "sequential-parallel"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class SequentialWait(Rule):
    """
    What it finds
        A timer or a message that is waited for while another branch is active.
    Why it is wrong
        An n8n execution waits as a whole: the other branches stand still until this wait is over,
        and a message for a second wait is refused until the first has come.
    Example
        `Wait for payment` beside `Pack goods` in a parallel block.
    Instead
        Put the wait before or after the parallel block, or accept that the branches take turns.
    """

    code = "OF422"
    name = "sequential-wait"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class OpenTask(Rule):
    """
    What it finds
        A task that has a name but no implementation, or one whose implementation (a script, a
        class, a job type, a form, an assignee …) no n8n node runs yet.
    Why it is wrong
        The workflow gets a placeholder that passes the item on, so it runs, but no work is done.
        The note of the placeholder keeps everything the model states about the task.
    Example
        A user task `Check invoice`, or a service task with a Java class.
    Instead
        In n8n, replace the placeholder by the node that does the work and keep its name.
    """

    code = "OF501"
    name = "open-task"
    severity = Severity.INFO
    category = Category.GAP


class OpenDecision(Rule):
    """
    What it finds
        A gateway whose branches have labels ("Yes", "No") instead of conditions, or conditions on
        variables that some step has to set.
    Why it is wrong
        Somebody has to say which branch is taken: the gateway reads a decision variable, and
        until it is set the run stops there and names it.
    Example
        `Payment ok?` with the branches `Yes` and `No`, after the task `Check payment`.
    Instead
        Make the node named in the message output the field, with one of the values listed.
    """

    code = "OF502"
    name = "open-decision"
    severity = Severity.INFO
    category = Category.GAP


class UnlabelledBranch(Rule):
    """
    What it finds
        A branch of a deciding gateway with neither a condition nor a label, and not the default.
    Why it is wrong
        Nothing in the model says when it is taken; the value made for it from its target is a
        guess at a name, not at a meaning.
    Example
        A gateway behind `Check stock` with two flows without a name.
    Instead
        Label the flow with the answer that takes it, or make it the default flow.
    """

    code = "OF503"
    name = "unlabelled-branch"
    severity = Severity.WARNING
    category = Category.GAP


class OpenTime(Rule):
    """
    What it finds
        A timer event without a time that can be read (none at all, or words, or a variable).
    Why it is wrong
        The workflow waits 0 seconds there, or is started by hand, until the time is set.
    Example
        A timer event `some days later` without a timer definition.
    Instead
        Give the event a duration such as `PT2H`, a date or a cycle, or set it in n8n's node.
    """

    code = "OF504"
    name = "open-time"
    severity = Severity.INFO
    category = Category.GAP


class OpenMessage(Rule):
    """
    What it finds
        A message or a condition that is waited for, or a message that is sent, by name only.
    Why it is wrong
        n8n waits at a URL of the run for a message, and passes on at a condition or a send; the
        model does not say who calls that URL, or how the message travels.
    Example
        A message catch event `Order received`.
    Instead
        Hand the wait's resume URL to the sender in an earlier node, or replace the node by the
        channel used (mail, chat, HTTP).
    """

    code = "OF505"
    name = "open-message"
    severity = Severity.INFO
    category = Category.GAP


class UnreadCondition(Rule):
    """
    What it finds
        A condition marked as code that is not in the common part of FEEL, JUEL and JavaScript.
    Why it is wrong
        It cannot be compiled, so the branch became a value of a decision variable.
    Example
        `${orderService.isVip(customer)}`
    Instead
        Write it with comparisons, `and`, `or`, `not` and variables, or set the decision variable.
    """

    code = "OF507"
    name = "unread-condition"
    severity = Severity.WARNING
    category = Category.GAP


class SingleBranch(Rule):
    """
    What it finds
        An exclusive or inclusive gateway that asks a question and has one labelled branch only.
    Why it is wrong
        There is nothing to choose: the branch is always taken, and the workflow has no node for
        the gateway. Often a second branch was forgotten.
    Example
        `Approved?` with the one branch `Yes`.
    Instead
        Draw what happens otherwise, or leave the gateway out.
    """

    code = "OF508"
    name = "single-branch"
    severity = Severity.WARNING
    category = Category.GAP


class FaultyWorkflow(Rule):
    """
    What it finds
        The compiler made a workflow that its own check of n8n's format refuses.
    Why it is wrong
        It would fail in n8n or, worse, do something else silently. It is a defect of orgflow.
    Example
        A connection to an input that a node does not have.
    Instead
        Report it with the model.
    """

    code = "OF911"
    name = "faulty-workflow"
    severity = Severity.ERROR
    category = Category.INTERNAL
    target = "n8n"


N8N_RULES: tuple[type[Rule], ...] = (
    SequentialParallel,
    SequentialWait,
    OpenTask,
    OpenDecision,
    UnlabelledBranch,
    OpenTime,
    OpenMessage,
    UnreadCondition,
    SingleBranch,
    FaultyWorkflow,
)
