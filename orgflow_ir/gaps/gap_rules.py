"""Rules of gaps (OF501 to OF510, OF519): information that the source does not contain."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class OpenTask(Rule):
    """
    What it finds
        A task that has a name but no implementation.
    Why it is wrong
        The work of the task is undefined. The target emits a placeholder that passes on what it
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
        A gateway whose branches have labels ("Yes", "No") instead of conditions, or conditions on
        variables that some step has to set; also an activity with such labels on its own flows.
    Why it is wrong
        No data determines which branch is taken. Instead, the target reads a decision variable.
        Until a step sets it, the run stops at the gateway and names the variable.
    Example
        `Payment ok?` with the branches `Yes` and `No`, after the task `Check payment`.
    Instead
        Write conditions on the flows, or make the step named in the message set the variable to one
        of the listed values.
    """

    code = "OF502"
    name = "open-decision"
    severity = Severity.INFO
    category = Category.GAP


class UnlabelledBranch(Rule):
    """
    What it finds
        A branch of a deciding gateway that has neither a condition nor a label and is not the
        default.
    Why it is wrong
        It is undefined when the branch is taken. The value generated from the name of the next step
        may not have the intended meaning. `compile` reports it as a warning.
    Example
        A gateway after `Check stock` with two flows without a name.
    Instead
        Label the flow with the answer that selects it, or make it the default flow.
    """

    code = "OF503"
    name = "unlabelled-branch"
    severity = Severity.INFO
    category = Category.GAP


class OpenTime(Rule):
    """
    What it finds
        A timer event without a usable time: none at all, free text, or an expression. In an
        executable process, one without any time is a warning.
    Why it is wrong
        It is undefined when the timer fires; an executable process must define it (BPMN 2.0.2,
        10.5.5.11). If there is no time at all, the target waits 0 seconds or starts manually until
        you set one. It rejects texts and expressions that it does not
        support (OF405).
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
        A message, signal or condition event, or a sent message, that is defined only by its name.
    Why it is wrong
        The model does not define the channel: who calls the waiting run, or how the message is
        delivered. The target waits for an external call, and emits a placeholder that sends nothing
        for a sent message.
    Example
        A message catch event `Order received`.
    Instead
        Pass the address of the waiting run to the sender in an earlier step, or replace the
        placeholder with the actual channel (mail, chat, HTTP).
    """

    code = "OF505"
    name = "open-message"
    severity = Severity.INFO
    category = Category.GAP


class UnreadCondition(Rule):
    """
    What it finds
        A condition in code that is not supported. FEEL is fully supported; for JUEL, JavaScript,
        Groovy, Java, MVEL and XPath, the supported subset is comparisons, logic, arithmetic, the
        choice `a ? b : c` and the methods of texts and collections. A target may support less.
    Why it is wrong
        The condition cannot be compiled; the branch becomes a value of a decision variable.
        `compile` reports it as a warning.
    Example
        `${orderService.isVip(customer)}`
    Instead
        Rewrite it in the supported subset, or set the decision variable.
    """

    code = "OF507"
    name = "unread-condition"
    severity = Severity.INFO
    category = Category.GAP


class SingleBranch(Rule):
    """
    What it finds
        An exclusive or inclusive gateway that asks a question but has only one labelled branch.
    Why it is wrong
        There is no choice: the branch is always taken, and the workflow has no step for the
        gateway. Often a second branch was forgotten. `compile` reports it as a warning.
    Example
        `Approved?` with the single branch `Yes`.
    Instead
        Add the other branch, or remove the gateway.
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
        They are alternatives. For a target with a single trigger, the model does not define which
        start event begins a run.
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
        A multi-instance activity that only names its list, or has neither a list nor a number.
    Why it is wrong
        The model does not define which step provides the list. The target reads it from the input
        of the run and fails without it.
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
        An input or output mapping of a task or call activity that reads a variable that no known
        step sets. Variables that a mapping tests for null or empty, and values from a process in
        another file, are not reported.
    Why it is wrong
        The mapping has no value unless the run is started with one or a step passes on a value
        under that name. Without it, the run stops at the activity and names the variable.
    Example
        A service task `Charge` with the input `${amount}`, and no earlier form, script, mapping or
        result that sets `amount`.
    Instead
        Make a step named in the help set the variable, or start the run with it.
    """

    code = "OF519"
    name = "open-mapping"
    severity = Severity.INFO
    category = Category.GAP


class OpenDoubt(Rule):
    """
    What it finds
        An element that its author marked as uncertain: `together?:` in an outline.
    Why it is wrong
        The text behind the model allows two readings, and the model has one of them.
    Example
        together?:
          record complaint
          label goods
    Instead
        Ask somebody who knows the process, change the line or remove the question mark.
    """

    code = "OF524"
    name = "open-doubt"
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
    OpenDoubt,
)
