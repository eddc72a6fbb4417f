"""Phrases of English messages: their actions, as a verb and its object in the author's words."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

from orgflow.agents.language.dependents import ParsedText, Token
from orgflow.agents.language.lexicon import EnglishLexicon, load_lexicon
from orgflow.agents.language.objects import (
    Target,
    find_handed_over,
    find_tail,
    find_targets,
    is_act_noun,
    object_words,
)
from orgflow.agents.language.parsing import load_parser
from orgflow.agents.language.sentences import split_paragraphs
from orgflow.agents.language.subjects import subject_phrase, things_of_topics
from orgflow.agents.language.verbs import (
    is_aside,
    is_asked_politely,
    is_complete,
    is_done_or_asked,
    is_in_title,
    is_misread_noun,
    is_negated,
    is_supposed,
    is_usual,
    name_verb,
)

from orgflow_ir.model.records import NamedTuple

_VERBS = load_lexicon(EnglishLexicon).verbs

CLEAR = 1.55
"""A phrase with a lower score may be an aside: alone, it does not make a step."""

MAX_TEXT = 3000
"""Number of parsed characters of a message: its purpose is stated at its beginning."""

_KNOWN, _UNUSUAL = 1.6, 1.0
"""The scores of a plain verb of `acts`, and of another one."""
_HANDED = 1.6
"""The score of a handed-over object, which is clear if several messages state it."""
_LATER = 0.04
"""Reduction of the score by each sentence before."""


class Phrase(NamedTuple):
    """An action and the sentence that states it, with its place in the text.

    Attributes:
        name: verb and object, as `check stock level`.
        verb: the verb.
        object: the words of the object.
        sentence: the literal sentence.
        span: the position of the sentence in the text.
        score: how well it names the purpose of a message.
    """

    name: str
    verb: str
    object: tuple[str, ...]
    sentence: str
    span: tuple[int, int]
    score: float


def find_phrases(
    texts: Sequence[str], names: Collection[str], topics: Sequence[str] = ()
) -> list[list[Phrase]]:
    """The phrases of each text, best first. Without spaCy's model, there are none.

    Args:
        texts: the texts of messages.
        names: parts of people's names, in lower case, which are omitted from phrases.
        topics: the topic of each text, for texts with only a pronoun: `I approved it`.
    """
    nlp = load_parser()
    if nlp is None:
        return [[] for _ in texts]
    pieces = [list(split_paragraphs(text[:MAX_TEXT])) for text in texts]
    given = [piece for own in pieces for _, piece in own]
    parsed = nlp.pipe(given, batch_size=64, disable=["ner"])
    things = things_of_topics(topics, names)
    return [
        _find_in_text(
            [(begin, next(parsed)) for begin, _ in own],
            names, things[topics[place]] if topics else (),
        )
        for place, own in enumerate(pieces)
    ]  # fmt: skip


def phrase_of_subject(subject: str) -> list[Phrase]:
    """The replacement for the phrases of a message that cannot be parsed: its subject. The phrase
    has no place in the text."""
    title = subject_phrase(subject)
    words = tuple(title.lower().split())
    return [Phrase(title, words[0], words, title, (0, 0), CLEAR)] if words else []


class _Candidate(NamedTuple):
    """A phrase, and the score that a phrase of its name has to reach to stay."""

    phrase: Phrase
    bar: float


class _Place(NamedTuple):
    """A sentence in its text: its literal text, its span, and how many sentences are before it."""

    text: str
    span: tuple[int, int]
    number: int


def _find_in_text(
    documents: Sequence[tuple[int, ParsedText]], names: Collection[str], about: Sequence[str] = ()
) -> list[Phrase]:
    """The phrases of a text; `about` are the words of what it is about.

    Args:
        documents: the parsed pieces of the text, each with its place in it.
    """
    best: dict[str, Phrase] = {}
    # 1. the sentences with a verb: no greeting
    sentences = [
        (begin, sentence)
        for begin, document in documents for sentence in document.sents
        if any(t.pos_ in ("VERB", "AUX") for t in sentence)
    ]  # fmt: skip
    for number, (begin, sentence) in enumerate(sentences):
        text = sentence.text.strip()
        if not 2 < len(text) < 400 or text.startswith(">"):
            continue
        begin += sentence.start_char + len(sentence.text) - len(sentence.text.lstrip())
        place = _Place(text, (begin, begin + len(text)), number)
        # 2. the phrases of each of its words; of equal names, the best
        for verb in sentence:
            for phrase, bar in _find_of_verb(verb, place, names, about):
                if phrase.name not in best or best[phrase.name].score < bar:
                    best[phrase.name] = phrase
    return sorted(best.values(), key=lambda p: (-p.score, p.span, p.name))


def _find_of_verb(
    verb: Token, place: _Place, names: Collection[str], about: Sequence[str]
) -> Iterator[_Candidate]:
    """The phrases of one word of a sentence."""
    for act, noun in find_handed_over(verb, names):
        words, tail = object_words(noun, names), find_tail((noun,), names)
        if words:
            name = f"{act} {' '.join(words)}{tail}"
            handed = _HANDED - _LATER * place.number
            phrase = Phrase(name, act, tuple(words), place.text, place.span, handed)
            yield _Candidate(phrase, _HANDED)
    if verb.pos_ != "VERB" or not verb.lemma_.isalpha() or is_misread_noun(verb):
        return
    base, lemma = name_verb(verb)
    if base not in _VERBS.acts and is_in_title(verb):
        return
    targets = find_targets(verb, base, names, about)
    alone = not targets and is_complete(verb, base)
    for target in [Target([base], "", 0.5)] if alone else targets:
        itself = any(w.removesuffix("s") == base for w in target.words)
        score = _score_phrase(verb, base, lemma, target) if alone or not itself else None
        if score is not None:
            score -= target.less + _LATER * place.number
            score -= 0.3 if _is_mere_question(verb, place.text) else 0.0
            name = lemma if alone else f"{lemma} {' '.join(target.words)}{target.tail}"
            phrase = Phrase(name, lemma, tuple(target.words), place.text, place.span, score)
            yield _Candidate(phrase, score)


def _is_mere_question(verb: Token, text: str) -> bool:
    """Whether a question mentions a verb and does not ask the reader for it."""
    return text.endswith("?") and verb.dep_ != "ROOT" and not is_asked_politely(verb)


def _score_phrase(verb: Token, base: str, lemma: str, target: Target) -> float | None:
    """How well a verb and its object name what a message is for; `None` where they name nothing.

    Args:
        verb: the verb.
        base: its infinitive.
        lemma: the infinitive with its particle.
        target: its object.
    """
    by_words = _score_words(base, lemma, target)
    return None if by_words is None else _add_clause(by_words, verb, base)


def _score_words(base: str, lemma: str, target: Target) -> float | None:
    """How specific the words of a phrase are; `None` where they name nothing."""
    act = base in _VERBS.light and lemma == base and is_act_noun(target.words[-1])
    if base in _VERBS.talk and base not in _VERBS.weak and not act:
        return None
    if f"{base}-{target.words[-1]}" in _VERBS.idioms:
        return None
    score = _KNOWN if base in _VERBS.acts or act else _UNUSUAL
    unspecific = len(target.words) == 1 and not target.tail
    if base in _VERBS.weak and not act and lemma == base:
        score -= 0.9 if unspecific else 0.5
    score -= 0.4 if base == "do" and unspecific else 0.0  # `do a test`: which?
    return score


def _add_clause(score: float, verb: Token, base: str) -> float:
    """A score with what the clause says of its verb; a request counts whatever else it says."""
    score += 0.3 if verb.dep_ in ("ROOT", "conj") else 0.0
    score -= 0.8 if is_negated(verb) else 0.0
    if is_asked_politely(verb):
        return score + 0.3
    for weight, holds in _CLAUSE_WEIGHTS:
        score += weight if holds(verb, base) else 0.0
    return score


_CLAUSE_WEIGHTS: tuple[tuple[float, Callable[[Token, str], bool]], ...] = (
    (0.3, lambda verb, base: is_done_or_asked(verb)),
    (-0.4, lambda verb, base: is_aside(verb)),
    (-0.6, lambda verb, base: is_supposed(verb)),
    (-0.4, is_usual),
)
"""Conditions on the clause of a verb (with its infinitive), and how much clearer each makes a
phrase."""
