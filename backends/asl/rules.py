"""Rules of the `asl` backend: state machines that AWS would refuse."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, RetiredRule, Rule, Severity


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
    OversizedStateMachine,
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
"""Gaps that this backend reported by rules of its own; they are gaps of the source."""
