"""Rules of the agents that read texts: OF517, OF518, and OF650 to OF653."""

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
        sentences that no element cites, or words that do not occur in the text. In a draft by
        rules: an action, a condition or a time of the text that no element models, and an announced
        number with fewer steps behind it.
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


class MissingParser(Rule):
    """
    What it finds
        A text that is drafted by rules although the parser of English, or the word list of German,
        is not installed.
    Why it is wrong
        Without it, the rules cannot distinguish actions from conditions.
    Example
        `orgflowc model order.txt --no-model` without the extra `text`.
    Instead
        Install the parser, configure a language model, or draft one step per sentence with
        `--sentence-steps`.
    """

    code = "OF650"
    name = "missing-parser"
    severity = Severity.ERROR
    category = Category.INPUT


class UnsupportedLanguage(Rule):
    """
    What it finds
        A text in a language for which there are no rules. There are rules for English and German.
    Why it is wrong
        A draft would consist of sentences instead of steps.
    Example
        El cliente envía el pedido. El empleado comprueba el pedido.
    Instead
        Configure a language model, or draft one step per sentence with `--sentence-steps`.
    """

    code = "OF651"
    name = "unsupported-language"
    severity = Severity.ERROR
    category = Category.INPUT


class FewClauses(Rule):
    """
    What it finds
        A draft by rules that models fewer than 60 % of the clauses of its text.
    Why it is wrong
        Most of the process is missing, although the draft may look complete.
    Example
        modelled 4 of 9 clauses
    Instead
        Describe the work in plain sentences, one action each, or configure a language model.
        `--force` writes the draft anyway.
    """

    code = "OF652"
    name = "few-clauses"
    severity = Severity.ERROR
    category = Category.INPUT


class DraftedClauses(Rule):
    """
    What it finds
        How many actions, conditions and times of a text a draft by rules models.
    Why it is wrong
        It is not: the count shows how much of the text to compare with the draft.
    Example
        modelled 9 of 15 clauses, 6 warnings
    Instead
        Read the warnings, each with its place in the text.
    """

    code = "OF653"
    name = "drafted-clauses"
    severity = Severity.INFO
    category = Category.GAP
