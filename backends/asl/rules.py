"""Rules of the `asl` backend: the gaps that the source leaves open (OF470 to OF478)."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class PlaceholderState(Rule):
    """
    What it finds
        A task of which the model says the name but not what does it, or of which it says a script
        or a binding of another engine that no state can run.
    Why it is wrong
        It became a Pass state that does nothing, so the state machine runs, but no work is done.
    Example
        A user task `Check invoice`.
    Instead
        Replace the Pass state by a Task state that does the work; keep its name, its `ResultPath`
        and where it leads.
    """

    code = "OF470"
    name = "placeholder-state"
    severity = Severity.INFO
    category = Category.TARGET
    target = "asl"


class OpenVariable(Rule):
    """
    What it finds
        A gateway whose branches have labels ("Yes", "No") instead of conditions, or conditions on
        variables that some step has to set.
    Why it is wrong
        Somebody has to say which branch is taken: the Choice state reads a variable from the result
        of a step, and until it is set the execution fails there and names it.
    Example
        `Payment ok?` with the branches `Yes` and `No`, after the task `Check payment`.
    Instead
        Make the state named in the message give the field, with one of the values listed.
    """

    code = "OF471"
    name = "open-variable"
    severity = Severity.INFO
    category = Category.TARGET
    target = "asl"


class UnnamedBranch(Rule):
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

    code = "OF472"
    name = "unnamed-branch"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "asl"


class OpenDelay(Rule):
    """
    What it finds
        A timer event without a time that a Wait state or a timeout can keep: none at all, or (as a
        warning) words, months and years, which have no fixed length, a repetition, a negative time,
        a time without a zone, or an expression. A plain variable is read from the input.
    Why it is wrong
        The Wait state waits 0 seconds, or the timeout never comes, until the time is set.
    Example
        A timer event `some days later` without a timer definition.
    Instead
        Give the event a duration such as `PT2H` or a date, or set it in the state machine.
    """

    code = "OF473"
    name = "open-delay"
    severity = Severity.INFO
    category = Category.TARGET
    target = "asl"


class OpenCallback(Rule):
    """
    What it finds
        Something outside that the execution waits for or tells: a message, a signal, a condition,
        the first of several events.
    Why it is wrong
        Waiting became an event on the default event bus of EventBridge with a task token, and the
        execution goes on when somebody calls SendTaskSuccess with it; the model does not say
        who. Telling became a Pass state.
    Example
        A message catch event `Order received`.
    Instead
        Let a rule on the event bus hand the token to whoever answers, or replace the state by the
        integration used.
    """

    code = "OF474"
    name = "open-callback"
    severity = Severity.INFO
    category = Category.TARGET
    target = "asl"


class UnsaidCondition(Rule):
    """
    What it finds
        A condition marked as code that a Choice state cannot say: it is not in the common part of
        FEEL, JUEL and JavaScript, or it computes something before it compares.
    Why it is wrong
        It cannot be compiled, so the branch became a value of a decision variable.
    Example
        `${price * quantity > 1000}`
    Instead
        Compute the value in a task and compare that, or set the decision variable.
    """

    code = "OF475"
    name = "unsaid-condition"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "asl"


class LoneBranch(Rule):
    """
    What it finds
        An exclusive or inclusive gateway that asks a question and has one labelled branch only.
    Why it is wrong
        There is nothing to choose: the branch is always taken, and no state stands for the gateway.
        Often a second branch was forgotten.
    Example
        `Approved?` with the one branch `Yes`.
    Instead
        Draw what happens otherwise, or leave the gateway out.
    """

    code = "OF476"
    name = "lone-branch"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "asl"


class OutsideStart(Rule):
    """
    What it finds
        A start event that waits for something (a message, a time, a signal, a condition), or
        several start events in one process.
    Why it is wrong
        An execution of a state machine begins when somebody starts it; the model does not say who.
        Of several start events the input's field `start` names one.
    Example
        A message start event `Order received`.
    Instead
        Start executions from an EventBridge rule or schedule, an API, or the sender; with several
        start events, give the input `{"start": …}` with one of the values listed.
    """

    code = "OF477"
    name = "outside-start"
    severity = Severity.INFO
    category = Category.TARGET
    target = "asl"


class OpenItems(Rule):
    """
    What it finds
        A multi-instance activity over a collection that some step has to give.
    Why it is wrong
        The Map state reads the list from the execution's input, and the execution fails there
        without it.
    Example
        `Review application` for each of `applications`.
    Instead
        Start the execution with an input that has the list.
    """

    code = "OF478"
    name = "open-items"
    severity = Severity.INFO
    category = Category.TARGET
    target = "asl"


class OversizedStateMachine(Rule):
    """
    What it finds
        A process whose state machine is longer than the 1 MiB (1,048,576 bytes) that Step Functions
        takes as a definition.
    Why it is wrong
        AWS refuses to create it.
    Example
        A process of some thousand tasks with long documentation.
    Instead
        Split the process and compile its parts, or shorten the documentation.
    """

    code = "OF479"
    name = "oversized-state-machine"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "asl"


class FaultyStateMachine(Rule):
    """
    What it finds
        The compiler made a state machine that its own check of the language refuses.
    Why it is wrong
        AWS would refuse it or, worse, do something else silently. It is a defect of orgflow.
    Example
        A transition to a state that does not exist.
    Instead
        Report it with the model.
    """

    code = "OF912"
    name = "faulty-state-machine"
    severity = Severity.ERROR
    category = Category.INTERNAL
    target = "asl"


ASL_RULES: tuple[type[Rule], ...] = (
    PlaceholderState,
    OpenVariable,
    UnnamedBranch,
    OpenDelay,
    OpenCallback,
    UnsaidCondition,
    LoneBranch,
    OutsideStart,
    OpenItems,
    OversizedStateMachine,
    FaultyStateMachine,
)
