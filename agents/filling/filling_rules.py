"""Rules of filling (OF520, OF521, OF523): proposals, omitted values, and remaining gaps."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class ProposedOperation(Rule):
    """
    What it finds
        An operation of the target that matches the words of an open task.
    Why it is wrong
        Nothing is wrong. The match rests on words alone, so the operation is only proposed: the
        task stays open until you accept it.
    Example
        A task `Send invoice by email`, for which "Send Email: send" is proposed.
    Instead
        Accept it with `orgflowc fill --accept`, let a language model choose, or bind the task.
    """

    code = "OF520"
    name = "proposed-operation"
    severity = Severity.INFO
    category = Category.GAP


class LeftOutParameter(Rule):
    """
    What it finds
        A parameter that a language model gave for a filled task and that was omitted: the operation
        does not have it, hides it, or expects another type of value; or the value does not occur in
        the source.
    Why it is wrong
        The value was not used. If the operation requires the parameter, somebody has to fill it in.
    Example
        A channel `#sales` that no text of the model names.
    Instead
        Set the parameter in the target, or write the value into the documentation of the task.
    """

    code = "OF521"
    name = "left-out-parameter"
    severity = Severity.INFO
    category = Category.GAP


class UnfilledTask(Rule):
    """
    What it finds
        A task that stays open although a language model was asked: it gave no usable answer, or
        chose none of the operations (reported as an info).
    Why it is wrong
        The task has no implementation; the target gets a placeholder.
    Example
        A task `Send invoice`, for which the language model named an operation that is not in the
        list, twice.
    Instead
        Bind the task in the source, give it documentation, or use a more capable language model.
    """

    code = "OF523"
    name = "unfilled-task"
    severity = Severity.WARNING
    category = Category.GAP
