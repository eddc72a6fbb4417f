"""Rules of drafts by language models: OF645 to OF647."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


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
