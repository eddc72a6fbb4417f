"""Rules of the agents that read texts: OF517, OF518 and OF645 to OF647."""

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


class UnreadDraftLine(Rule):
    """
    What it finds
        A line in the last draft of a language model that is none of an outline, also after the
        model was asked to correct it.
    Why it is wrong
        The draft does not contain what the line was to say.
    Example
        if: in stock
          ship order
    Instead
        choose: in stock?
          if: in stock
            ship order
    """

    code = "OF645"
    name = "unread-draft-line"
    severity = Severity.ERROR
    category = Category.GAP


class CutDraft(Rule):
    """
    What it finds
        A draft whose end is missing: the server of the language model ended each of its answers at
        the maximum length.
    Why it is wrong
        The last part of the process is missing.
    Example
        A text of 20 pages, and `answer-tokens = 200` in `orgflow.toml`.
    Instead
        Set `answer-tokens` to more, or draft the parts of the text separately.
    """

    code = "OF646"
    name = "cut-draft"
    severity = Severity.ERROR
    category = Category.GAP


class UnsoundDraft(Rule):
    """
    What it finds
        A draft whose flow still has errors after the language model was asked to correct them.
    Why it is wrong
        The process would wait forever, do work twice, or never end. The draft is written
        nevertheless, so that it can be corrected.
    Example
        An exclusive gateway whose branches come together at a parallel gateway.
    Instead
        Correct the draft, draft again, or use another model.
    """

    code = "OF647"
    name = "unsound-draft"
    severity = Severity.ERROR
    category = Category.GAP
