"""Rules of gaps (OF501 to OF510, OF519): information that the source does not contain."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class OpenTask(Rule):
    """
    What it finds
        A task that has a name but no implementation.
    Why it is wrong
        Nothing is known that does the work. A target emits a placeholder that passes on what it
        receives: the workflow runs, but no work is done.
    Example
        A user task `Check invoice`.
    Instead
        Bind the task to a script, a service or a form, or replace the placeholder in the target's
        editor and keep its name.
    """

    code = "OF501"
    name = "open-task"
    severity = Severity.INFO
    category = Category.GAP


class OpenDecision(Rule):
    """
    What it finds
        A gateway whose branches have labels ("Yes", "No") instead of conditions, or conditions that
        read variables which some step has to set; and an activity that chooses so among its own
        flows.
    Why it is wrong
        No data decides which branch is taken. A target reads a decision variable instead; until a
        step sets it, the run stops at the gateway and names the variable.
    Example
        `Payment ok?` with the branches `Yes` and `No`, after the task `Check payment`.
    Instead
        Write conditions on the flows, or let the step named in the message set the variable to one
        of the values listed.
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
        Nothing in the model defines when it is taken; the value that is made for it from its target
        is a guess at a name, not at a meaning. `compile` reports it as a warning.
    Example
        A gateway after `Check stock` with two flows without a name.
    Instead
        Label the flow with the answer that takes it, or make it the default flow.
    """

    code = "OF503"
    name = "unlabelled-branch"
    severity = Severity.INFO
    category = Category.GAP


class OpenTime(Rule):
    """
    What it finds
        A timer event without a time that can be read: none at all, words, or an expression.
    Why it is wrong
        Nothing defines when it fires. Where there is no time at all a target waits 0 seconds, or
        starts by hand, until it is set; words and expressions that it cannot keep it refuses
        (OF405).
    Example
        A timer event `some days later` without a timer definition.
    Instead
        Give the event an ISO 8601 duration such as `PT2H`, a date or a cycle.
    """

    code = "OF504"
    name = "open-time"
    severity = Severity.INFO
    category = Category.GAP


class OpenMessage(Rule):
    """
    What it finds
        A message, a signal or a condition that is waited for, or a message that is sent, by name
        only.
    Why it is wrong
        The model does not define the channel: who calls the waiting run, or how the message is
        delivered. A target waits for a call from outside, and passes on where a message is sent.
    Example
        A message catch event `Order received`.
    Instead
        Hand the address of the waiting run to the sender in an earlier step, or replace the
        placeholder by the channel used (mail, chat, HTTP).
    """

    code = "OF505"
    name = "open-message"
    severity = Severity.INFO
    category = Category.GAP


class UnreadCondition(Rule):
    """
    What it finds
        A condition marked as code that is not understood: FEEL is read whole; of JUEL, JavaScript,
        Groovy, Java, MVEL and XPath comparisons, logic, arithmetic, the choice `a ? b : c` and the
        methods that texts and collections have. A target may support less.
    Why it is wrong
        It cannot be compiled; the branch becomes a value of a decision variable. `compile` reports
        it as a warning.
    Example
        `${orderService.isVip(customer)}`
    Instead
        Write it with what is understood, or set the decision variable.
    """

    code = "OF507"
    name = "unread-condition"
    severity = Severity.INFO
    category = Category.GAP


class SingleBranch(Rule):
    """
    What it finds
        An exclusive or inclusive gateway that asks a question and has one labelled branch only.
    Why it is wrong
        There is nothing to choose: the branch is always taken, and the workflow has no step for
        the gateway. Often a second branch was forgotten. `compile` reports it as a warning.
    Example
        `Approved?` with the one branch `Yes`.
    Instead
        Draw what happens otherwise, or leave the gateway out.
    """

    code = "OF508"
    name = "single-branch"
    severity = Severity.INFO
    category = Category.GAP


class OpenStart(Rule):
    """
    What it finds
        A process with several start events.
    Why it is wrong
        They are alternatives, and the model does not define which of them begins a run where the
        target has one way to start.
    Example
        `Order by phone` and `Order by mail` as start events of one process.
    Instead
        Start the process with one event, or select the start event when you start a run.
    """

    code = "OF509"
    name = "open-start"
    severity = Severity.INFO
    category = Category.GAP


class OpenList(Rule):
    """
    What it finds
        A multi-instance activity whose list is only named, or which names neither a list nor a
        number.
    Why it is wrong
        The model does not define which step provides the list; a target reads it from the input of
        the run and fails without it.
    Example
        `Review application` for each of `applications`.
    Instead
        Name the list, and start the run with an input that contains it.
    """

    code = "OF510"
    name = "open-list"
    severity = Severity.INFO
    category = Category.GAP


class OpenMapping(Rule):
    """
    What it finds
        An input or output mapping of a task, or what a call activity hands in or takes back, that
        reads a variable of which the model does not say who sets it. What a mapping tests for null
        or empty is not reported, nor what is taken from a process that is in another file.
    Why it is wrong
        The run has no value for the mapping unless it is started with one, or a step happens to
        hand on a value under that name; without it the run stops at the activity and names the
        variable.
    Example
        A service task `Charge` with the input `${amount}`, where no form, script, mapping or result
        before it sets `amount`.
    Instead
        Let a step named in the help set the variable, or start the run with it.
    """

    code = "OF519"
    name = "open-mapping"
    severity = Severity.INFO
    category = Category.GAP


GAP_RULES: tuple[type[Rule], ...] = (
    OpenTask,
    OpenDecision,
    UnlabelledBranch,
    OpenTime,
    OpenMessage,
    UnreadCondition,
    SingleBranch,
    OpenStart,
    OpenList,
    OpenMapping,
)
