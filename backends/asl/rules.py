"""Rules of the `asl` backend: state machines that AWS refuses."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, RetiredRule, Rule, Severity


class OversizedStateMachine(Rule):
    """
    What it finds
        A process whose state machine is larger than 1 MiB (1,048,576 bytes), the limit for a Step
        Functions definition.
    Why it is wrong
        AWS refuses to create it.
    Example
        A process of several thousand tasks with long documentation.
    Instead
        Split the process and compile its parts, or shorten the documentation.
    """

    code = "OF479"
    name = "oversized-state-machine"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "asl"


class UnseenVariable(Rule):
    """
    What it finds
        A gateway whose conditions read a variable that a task may set where a state machine cannot
        pass it on: in a branch parallel to the gateway, in a sub-process that ends with an error,
        or in the iterations of a multi-instance activity. The model does not define which task sets
        it. The same of a script, mapping or decision, if the model defines the task.
    Why it is wrong
        In a process engine every task writes to one store. A branch of a Parallel state works on a
        copy, which is dropped if an error is caught: the gateway then reads an older value.
    Example
        In parallel to `Check credit`, a loop tests `${approved}` until it is true. Only `Check
        credit` sets it, so the loop never ends.
    Instead
        Set the variable where every path to the gateway passes the task, or read it after the join.
        If the tasks set other variables, declare these (form fields, outputs).
    """

    code = "OF488"
    name = "unseen-variable"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "asl"


class FaultyStateMachine(Rule):
    """
    What it finds
        The compiler emitted a state machine that fails its own validation of the language.
    Why it is wrong
        AWS would refuse it or, worse, silently run it with a different meaning. This is a bug in
        orgflow.
    Example
        A transition to a state that does not exist.
    Instead
        Report it and attach the model.
    """

    code = "OF912"
    name = "faulty-state-machine"
    severity = Severity.ERROR
    category = Category.INTERNAL
    target = "asl"


ASL_RULES: tuple[type[Rule], ...] = (
    OversizedStateMachine,
    UnseenVariable,
    FaultyStateMachine,
)

RETIRED: tuple[RetiredRule, ...] = (
    RetiredRule("OF470", "placeholder-state", "OF501"),
    RetiredRule("OF471", "open-variable", "OF502"),
    RetiredRule("OF472", "unnamed-branch", "OF503"),
    RetiredRule("OF473", "open-delay", "OF504"),
    RetiredRule("OF474", "open-callback", "OF505"),
    RetiredRule("OF475", "unsaid-condition", "OF507"),
    RetiredRule("OF476", "lone-branch", "OF508"),
    RetiredRule("OF477", "outside-start", "OF509"),
    RetiredRule("OF478", "open-items", "OF510"),
)
"""Gaps that this backend reported by its own rules; they are gaps of the source."""
