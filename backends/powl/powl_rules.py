"""The rules of the POWL backend."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class LeftOutOfPowl(Rule):
    """
    What it finds
        Parts of a process that POWL cannot express and that do not affect the order of its steps:
        types of tasks, implementations, data, notes, documentation. In Python code, conditions and
        questions are comments.
    Why it is wrong
        The order of steps is complete, but a process read from the file lacks these parts.
    Example
        A service task with an HTTP call, compiled with --target powl: its label is kept.
    Instead
        Keep the original model, or use --target bpmn, which keeps all parts.
    """

    code = "POWL001"
    name = "left-out-of-powl"
    severity = Severity.INFO
    category = Category.TARGET
    target = "powl"


class RepeatedInPowl(Rule):
    """
    What it finds
        Steps at the end of a process that several branches share, where the branches do not form
        pairs of splits and joins.
    Why it is wrong
        The order of steps is the same, but each branch has its own copy of the steps: a process
        read from the POWL has several tasks with the same label.
    Example
        Two gateways, one after the other, whose `no` leads to the same task `Send rejection`.
    Instead
        Use --target triples, which supports any flow structure, or accept the repetition.
    """

    code = "POWL002"
    name = "repeated-in-powl"
    severity = Severity.INFO
    category = Category.TARGET
    target = "powl"
