"""Statements about a draft for one review: few, and true by the lemmas of the text's language."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec

from orgflow.agents.language.identification import GERMAN
from orgflow.agents.language.lexicon import LanguagesLexicon, load_lexicon
from orgflow.agents.language.sentences import Sentence
from orgflow.agents.language.stems import content_words, stem_word
from orgflow.agents.text.coverage import Coverage

from orgflow_ir.model import CallActivity, Model, SubProcess, Task
from orgflow_ir.model.element_names import one_line

MOST_STATEMENTS = 8

_LEXICON = load_lexicon(LanguagesLexicon)
_WORD = re.compile(r"[^\W\d_][\w'’-]*")
_GERMAN_ENDING = re.compile(r"(?:e?ten|e?te|e?st|e?t|en|e|n)$")
"""Of German verbs: `sucht` and `suchen`."""
_STEM = 5
"""Words that begin with the same letters are of one family: `approve`, `approval`."""
_LONGEST = 160


def cited_share(covered: Coverage, sentences: Iterable[Sentence]) -> float:
    """The share of the sentences with content that the elements of a draft cite."""
    stated = [s for s in sentences if not s.heading and len(content_words(s.text)) > 1]
    return 1 - len(covered.unused) / len(stated) if stated else 1.0


def find_foreign_words(name: str, text_words: frozenset[str], language: str) -> tuple[str, ...]:
    """The words of a name that the text has in no form: no common lemma, no common stem, no German
    verb with a separate particle, no verb such as `conduct`.

    Args:
        text_words: the words of the text in small letters.
    """
    lemmas = {lemmatise_word(word, language) for word in text_words}
    foreign = []
    for word in _WORD.findall(name):
        low = word.lower()
        if len(low) < 3 or not content_words(low):
            continue
        lemma = lemmatise_word(low, language)
        if low in text_words or lemma in lemmas or lemma in _LEXICON.light_verbs:
            continue
        if any(_is_related(low, other) or _is_related(lemma, other) for other in text_words):
            continue
        if language == GERMAN and _is_separated(lemma, lemmas, text_words):
            continue
        foreign.append(word)
    return tuple(foreign)


def _is_related(word: str, other: str) -> bool:
    """Whether two words begin alike, or one is the end of a compound."""
    if word[:_STEM] == other[:_STEM] and len(word) >= _STEM:
        return True
    if stem_word(word) == stem_word(other):
        return True
    german = _GERMAN_ENDING.sub("", word)
    if len(german) > 2 and german == _GERMAN_ENDING.sub("", other):
        return True
    short, long = sorted((word, other), key=len)
    return len(short) >= _STEM and short[: max(_STEM, len(short) - 2)] in long


def _is_separated(lemma: str, lemmas: set[str], words: frozenset[str]) -> bool:
    for particle in _LEXICON.particles:
        rest = lemma.removeprefix(particle)
        if rest != lemma and particle in words and rest in lemmas:
            return True
    return False


@lru_cache(maxsize=16_384)
def lemmatise_word(word: str, language: str) -> str:
    """The basic form of a word in small letters; its stem without the package `simplemma`."""
    if find_spec("simplemma") is None:
        return stem_word(word)
    simplemma = import_module("simplemma")
    code = language if language in ("en", "de") else "en"
    forms = [word, word.capitalize()] if code == "de" else [word]
    for form in forms:
        lemma: str = simplemma.lemmatize(form, lang=code)
        if lemma != form:
            return lemma.lower()
    return word


def list_foreign(
    model: Model, sentences: Iterable[Sentence], language: str
) -> Iterator[tuple[Task | CallActivity | SubProcess, tuple[str, ...]]]:
    """Steps and parts with the words of their names that the text does not have."""
    words = frozenset(w.lower() for s in sentences for w in _WORD.findall(s.text))
    for scope in model.scopes():
        for node in scope.nodes:
            if isinstance(node, Task | CallActivity | SubProcess) and node.name:
                foreign = find_foreign_words(node.name, words, language)
                if foreign:
                    yield node, foreign


def list_statements(
    model: Model,
    numbers: Mapping[str, int],
    sentences: tuple[Sentence, ...],
    language: str,
    uncited: Iterable[Sentence] = (),
) -> tuple[str, ...]:
    """At most eight statements about a draft: words that the text does not have, acts of a
    performer of the draft that no line tells, and sentences that no line cites.

    Args:
        numbers: the number of the line of each element.
        language: of the text, as a code.
        uncited: the sentences to state; none where the draft cites most of the text, since those
            that are left tell of no act.
    """
    statements = [f"no line cites s{s.number}: {one_line(s.text)[:_LONGEST]}" for s in uncited]
    for node, foreign in list_foreign(model, sentences, language):
        words = ", ".join(f"“{word}”" for word in foreign)
        place = f"line {numbers[node.id]}" if node.id in numbers else f"`{one_line(node.name)}`"
        passage = one_line(node.evidence[0].quote)[:_LONGEST] if node.evidence else ""
        shown = f"; it cites: {passage}" if passage else ""
        statements.append(f"{place}: the text has no {words}{shown}")
    performers = {
        lane.name.lower().removeprefix("the ")
        for scope in model.scopes() for lane in scope.lanes if lane.name
    }  # fmt: skip
    drawn = _list_drawn_words(model)
    cited = {
        evidence.span
        for scope in model.scopes() for element in (*scope.nodes, *scope.flows)
        for evidence in element.evidence
    }  # fmt: skip
    for sentence in sentences:
        if sentence.span in cited:  # the lines that cite it state it in other words
            continue
        for verb in _find_acts(sentence.text, performers, language):
            if not _is_drawn(verb, drawn, language):
                text = one_line(sentence.text)[:_LONGEST]
                statements.append(f"s{sentence.number}: nobody “{verb}”: {text}")
    return tuple(dict.fromkeys(statements))[:MOST_STATEMENTS]


def _list_drawn_words(model: Model) -> frozenset[str]:
    """The words of all names and conditions of a model."""
    texts = [
        element.name
        for scope in model.scopes() for element in (*scope.nodes, *scope.flows)
    ]  # fmt: skip
    return frozenset(word.lower() for text in texts for word in _WORD.findall(text))


def _is_drawn(verb: str, drawn: frozenset[str], language: str) -> bool:
    return not find_foreign_words(verb, drawn, language)


def _find_acts(text: str, performers: set[str], language: str) -> Iterator[str]:
    """The finite verbs that follow a performer of the draft in a sentence."""
    words = _WORD.findall(text)
    low = [word.lower() for word in words]
    heads = {performer.split()[-1] for performer in performers if performer.split()}
    for place, word in enumerate(low):
        if word not in heads and word.removesuffix("s") not in heads:
            continue
        after = place + 1
        while after < len(low) and low[after] in _LEXICON.adverbs:
            after += 1
        if after >= len(low):
            continue
        verb = low[after]
        lemma = lemmatise_word(verb, language)
        if lemma in _LEXICON.light_verbs or lemma in _LEXICON.states:
            continue
        if _is_finite(words[after], lemma, language):
            yield verb


def _is_finite(word: str, lemma: str, language: str) -> bool:
    """Whether a word behind a performer has the form of a verb in the present tense."""
    if language == GERMAN:
        return word.islower() and word.endswith("t") and lemma.endswith("n") and lemma != word
    return word.endswith("s") and not word.endswith(("ss", "'s", "’s")) and lemma != word
