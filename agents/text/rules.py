"""Rules of the agents that read texts: OF517 and OF518."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class NoSteps(Rule):
    """
    What it finds
        A text in which no step of a process was found.
    Why it is wrong
        There is nothing to make a model of.
    Example
        The weather is fine.
    Instead
        The clerk checks the order. Then the clerk ships it.
    """

    code = "OF517"
    name = "no-steps"
    severity = Severity.ERROR
    category = Category.INPUT


class DoubtfulDraft(Rule):
    """
    What it finds
        A draft of a language model that could not be improved: errors that its last attempt still
        has, sentences that no element rests on, or words that stand nowhere in the text. A draft by
        rules of a text that does not seem to be English.
    Why it is wrong
        Something may be missing, wrong or made up.
    Example
        A task `Archive order` made from a text that mentions no archive.
    Instead
        Compare the element or the sentence named with the text, and correct the model.
    """

    code = "OF518"
    name = "doubtful-draft"
    severity = Severity.WARNING
    category = Category.GAP
