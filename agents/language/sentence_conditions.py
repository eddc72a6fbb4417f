"""Conditions in parsed sentences: `if`, `unless`, `in case of`, `until`, and questions that are
none."""

from __future__ import annotations

import re

from orgflow.agents.language.dependents import (
    ParsedText,
    Token,
    dependents_of,
    has_word,
    join_as_written,
    words_behind,
)
from orgflow.agents.language.lexicon import EnglishLexicon, load_lexicon

from orgflow_ir.model.records import NamedTuple

_ASKING = load_lexicon(EnglishLexicon).verbs.asking

_IN_CASE = re.compile(
    r"\b(?<!which )in (?:case|the event)(?: of| that)? ((?:[^,;.]|(?<=\d)[.,](?=\d))+)", re.I
)
_LEADING = re.compile(
    r"(?P<condition>in (?:case|the event) of (?:an? |the )?(?:[\w-]+ )?[\w-]+"
    r"|(?:below|above|over|under|up to|depending on)\b (?:(?:EUR|USD) )?[$€£]?(?:\d[\d.,]*\d|\d)"
    r"(?: (?:EUR|USD|euros?|dollars?|%|percent|units?|pieces?))?"
    r"|depending on [^,]+|where (?:necessary|applicable|needed|required|appropriate))"
    r"(?:,|(?= (?:the|an?|our|we|you|they|he|she) )) (?P<rest>.+)",
    re.I | re.S,
)
"""A condition without a verb before the clause that it decides on: `below 1,000 EUR the team lead
signs`."""
_NOTED = re.compile(r"(?P<condition>(?:\w+ ){1,2}\w+(?:s|ed)): (?P<rest>(?P<verb>[a-z]+) .+)", re.S)
"""A case in a note: `customer declines: file the plan`."""
_ACTS = load_lexicon(EnglishLexicon).verbs.acts | load_lexicon(EnglishLexicon).verbs.talk
_IN_WHICH_CASE = re.compile(
    r"(?P<main>.+?),? unless (?P<condition>.+?),? in which case (?P<then>.+)", re.I | re.S
)


class Condition(NamedTuple):
    """The condition of a sentence.

    Attributes:
        text: its words; empty without a condition.
        begins: where the part begins that depends on it, in characters; steps before are done in
            any case.
    """

    text: str
    begins: int = 0


class StatedException(NamedTuple):
    """The parts of `MAIN, unless CONDITION, in which case THEN`."""

    main: str
    condition: str
    then: str


def find_condition(sentence: ParsedText) -> Condition:
    """The condition of a sentence: an `if` clause, a leading `where` clause, or `in case of`."""
    for token in sentence:
        if token.dep_ == "mark" and token.lower_ in ("if", "unless") and not is_question(token):
            text, clause = words_behind(token), token.head
            governor = clause.head if clause.dep_ == "advcl" else clause
            begins = min(token.idx, governor.idx)
            text = f"unless {text}" if token.lower_ == "unless" else text
            return Condition(text, begins if governor.dep_ == "conj" else 0)
    first = sentence[0]
    if first.lower_ == "where" and first.dep_ == "advmod" and first.head.dep_ == "advcl":
        return Condition(words_behind(first))  # `where a claim exceeds the limit, …`
    if first.lower_ == "should" and first.dep_ == "aux" and first.head.dep_ != "ROOT":
        return Condition(words_behind(first))  # `should you cancel later, …`
    match = _IN_CASE.search(sentence.text)
    return Condition(match[1].strip() if match is not None else "")


def find_exception(text: str) -> StatedException | None:
    """The parts of a sentence that states an exception with `unless` and `in which case`."""
    match = _IN_WHICH_CASE.fullmatch(text)
    return StatedException(**match.groupdict()) if match is not None else None


def split_leading_condition(text: str) -> tuple[str, str]:
    """The condition without a verb at the beginning of a sentence, and the rest of the sentence,
    with a capital; if there is none, an empty condition and the sentence."""
    match = _LEADING.fullmatch(text) or _NOTED.fullmatch(text)
    if match is not None and "verb" in match.groupdict() and match["verb"] not in _ACTS:
        match = None
    if match is None:
        return "", text
    condition = re.sub(
        r"^in (?:case|the event) of (?:an? |the )?", "", match["condition"], flags=re.I
    )
    return condition, match["rest"][:1].upper() + match["rest"][1:]


def find_until(sentence: ParsedText) -> str:
    """The condition of `… until …`; empty without one."""
    for token in sentence:
        if token.lower_ == "until" and token.dep_ == "mark":
            return words_behind(token)
    return ""


def is_question(mark: Token) -> bool:
    """Whether what `whether` or `if` begins is asked, as in `checks if the item is damaged`, and no
    condition."""
    clause = mark.head
    if mark.lower_ not in ("whether", "if") or clause.dep_ not in ("ccomp", "advcl"):
        return False
    behind = mark.i == clause.head.i + 1 and clause.head.lemma_ in _ASKING
    return bool(mark.lower_ == "whether" or clause.dep_ == "ccomp" or behind)


def question_of_verb(verb: Token) -> str:
    """The question that is checked or decided: `whether item is under warranty`; empty without
    one."""
    for clause in dependents_of(verb, "xcomp"):
        if has_word(clause, ("whether",)):  # `decides whether to accept the paper`
            kept = [t for t in clause.subtree if t.dep_ != "det"]
            return " ".join(join_as_written(kept).split()[:9])
    for clause in verb.children:
        mark = next((t for t in clause.children if t.dep_ == "mark" and is_question(t)), None)
        if mark is not None:
            kept = [t for t in clause.subtree if t.i > mark.i and t.dep_ != "det"]
            return " ".join(("whether", *join_as_written(kept).split()[:8]))
    return ""
