"""Conditions in parsed sentences: `if`, `unless`, `in case of`, `until`, and questions that are
none."""

from __future__ import annotations

import re

from orgflow.agents.language.dependents import ParsedText, Token, join_as_written, words_behind
from orgflow.agents.language.lexicon import EnglishLexicon, load_lexicon

from orgflow_ir.model.records import NamedTuple

_ASKING = load_lexicon(EnglishLexicon).verbs.asking

_IN_CASE = re.compile(
    r"\b(?<!which )in (?:case|the event)(?: of| that)? ((?:[^,;.]|(?<=\d)[.,](?=\d))+)", re.I
)
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
    match = _IN_CASE.search(sentence.text)
    return Condition(match[1].strip() if match is not None else "")


def find_exception(text: str) -> StatedException | None:
    """The parts of a sentence that states an exception with `unless` and `in which case`."""
    match = _IN_WHICH_CASE.fullmatch(text)
    return StatedException(**match.groupdict()) if match is not None else None


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
    for clause in verb.children:
        mark = next((t for t in clause.children if t.dep_ == "mark" and is_question(t)), None)
        if mark is not None:
            kept = [t for t in clause.subtree if t.i > mark.i and t.dep_ != "det"]
            return " ".join(("whether", *join_as_written(kept).split()[:8]))
    return ""
