"""Rules of the agents that read texts: OF517 and OF518."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class NoSteps(Rule):
    """
    What it finds
        A text that contains no recognisable process step.
    Why it is wrong
        There is nothing to build a model from.
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
        A draft of a language model that could not be improved: errors in its last attempt,
        sentences that no element cites, or words that do not occur in the text. A rule-based draft
        of a text that does not seem to be English.
    Why it is wrong
        Parts of the process may be missing, wrong or invented.
    Example
        A task `Archive order` made from a text that mentions no archive.
    Instead
        Compare the reported element or sentence with the text, and correct the model.
    """

    code = "OF518"
    name = "doubtful-draft"
    severity = Severity.WARNING
    category = Category.GAP
