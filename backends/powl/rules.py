"""The rules of the POWL backend."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class LeftOutOfPowl(Rule):
    """
    What it finds
        Parts of a process that POWL has no words for and that do not change the order of its steps:
        kinds of tasks, what they do, data, notes, documentation; conditions and questions in the
        form of Python code, where they are comments.
    Why it is wrong
        Nothing is wrong; they are not in the file, so a process that is made of it lacks them.
    Example
        A service task with an HTTP call, compiled with --target powl: its label is kept.
    Instead
        Keep the model that the POWL was made of, or take --target bpmn, which has all of it.
    """

    code = "POWL001"
    name = "left-out-of-powl"
    severity = Severity.INFO
    category = Category.TARGET
    target = "powl"


class RepeatedInPowl(Rule):
    """
    What it finds
        Steps that several branches of a process share up to its end, where the branches do not
        meet in pairs of a split and a join.
    Why it is wrong
        The order of steps is the same, but each branch has the steps for itself: a process that is
        made of the POWL has several tasks with one label.
    Example
        Two gateways, one after the other, whose `no` leads to the same task `Send rejection`.
    Instead
        Take --target triples, which keeps any wiring, or live with the repetition.
    """

    code = "POWL002"
    name = "repeated-in-powl"
    severity = Severity.INFO
    category = Category.TARGET
    target = "powl"
