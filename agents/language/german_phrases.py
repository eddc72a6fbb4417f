"""Phrases of German messages, as `Rechnung prüfen`: object and verb by word forms and word order.

No parser of German is needed: nouns have a capital, participles and infinitives stand at the end of
their clause after the object, and an imperative or a verb in second place stands before it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from orgflow.agents.language.german_forms import (
    KNOWN,
    infinitive_of_finite,
    infinitive_of_participle,
    infinitive_with_zu,
)
from orgflow.agents.language.lexicon import GermanLexicon, load_lexicon
from orgflow.agents.language.phrases import MAX_TEXT, Phrase
from orgflow.agents.language.sentences import split_german_sentences
from orgflow.agents.language.subjects import subject_phrase

from orgflow_ir.model.records import NamedTuple

_LEXICON = load_lexicon(GermanLexicon)
_VERBS, _WORDS, _EMPTY = _LEXICON.verbs, _LEXICON.words, _LEXICON.nouns.empty

_MODAL = re.compile(
    r"kann|kannst|könn\w*|soll\w*|muss|musst|müss\w*|will|wollen|wollt\w*|möcht\w*|werd\w*|wird|"
    r"wirst|würd\w*|dürf\w*|darf\w*|lass|lassen|bitte|zu|mag|mögen"
)
"""Verbs with an infinitive."""

_ASKED = re.compile(r"\b(?:kann|könn|würd|magst|mögt|möcht)\w*\s+(?:sie|du|ihr|jemand)\b|\bbitte\b")
_SUPPOSED = re.compile(r"^(?:wenn|falls|sofern|ob|bevor|sobald|solange|dass|weil|da|obwohl)\b")
_NEGATED = re.compile(r"\b(?:nicht|kein\w*|ohne|niemand|nie|nichts|noch immer)\b")

_UNUSUAL_INFINITIVE = re.compile(r"\w{3,}(?:en|ern|eln)")

_BETWEEN = re.compile(
    r"d(?:er|ie|as|en|em|es)|ein(?:e[nmrs]?)?|kein(?:e[nmrs]?)?|(?:mein|dein|sein|ihr|unser|euer|eur"
    r"|dies|jed|jen|welch|all|beid|viel|einig|mehrer|solch)e?[nmrs]?|frau|herrn?|\w{3,}(?:e|en|em|er|es)|\d+"
)
"""What may stand between a preposition and its noun: articles, adjectives, numbers."""

_NOUN = re.compile(
    r"\w{2,}(?:ung|heit|keit|schaft|tion|tät|nis|ment|anz|enz|ur|age|ie|ik)(?:en|s)?"
)
"""Endings that only nouns have."""

_SENDING = re.compile(
    r"\b(?:anbei|beiliegend|beigefügt|angehängt|im anhang|als anlage|in der anlage)\b"
)

_TOKEN = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*|\d[\w.,-]*|[^\w\s]")
_CLAUSE = re.compile(
    r"[,;:()–]|\s-\s|\b(?:und|oder|aber|sondern|denn)\b", re.IGNORECASE
)  # fmt: skip

CLEAR, UNUSUAL = 1.6, 1.0
"""The scores of a verb of `acts`, and of another one."""
_LATER = 0.04
"""Reduction of the score by each sentence before."""


class _Word(NamedTuple):
    """A word of a clause: as it is written, in lower case, and whether it is a noun."""

    text: str
    lower: str
    noun: bool


class _Act(NamedTuple):
    """A verb of a clause.

    Attributes:
        verb: the infinitive.
        noun: its object; empty where there is none.
        planned: whether it is only a plan or a habit.
    """

    verb: str
    noun: str
    planned: bool


class _Context(NamedTuple):
    """What is known of a text: parts of people's names, words that are nouns in all texts, and its
    topic."""

    names: Collection[str]
    nouns: Collection[str]
    topic: str


def find_german_phrases(
    texts: Sequence[str], names: Collection[str], topics: Sequence[str] = ()
) -> list[list[Phrase]]:
    """The phrases of each German text, best first.

    Args:
        texts: what messages say.
        names: parts of people's names, in lower case, which are left out of phrases.
        topics: what each text is about where a verb has no object: `Genehmigt!`.
    """
    nouns = _find_nouns(texts)
    return [
        _find_in_text(text[:MAX_TEXT], _Context(names, nouns, topics[place] if topics else ""))
        for place, text in enumerate(texts)
    ]


def _find_nouns(texts: Sequence[str]) -> frozenset[str]:
    """Words that are written with a capital inside sentences, mostly."""
    large: Counter[str] = Counter()
    for text in texts:
        for sentence in split_german_sentences(text):
            for place, match in enumerate(re.finditer(r"[^\W\d_]{3,}", sentence[1])):
                if place:
                    word = match.group()
                    large[word.lower()] += 1 if word[0].isupper() else -1
    return frozenset(word for word, surplus in large.items() if surplus > 0)


def _find_in_text(text: str, context: _Context) -> list[Phrase]:
    """The phrases of a text, of equal names the best."""
    best: dict[str, Phrase] = {}
    for number, (begin, sentence) in enumerate(split_german_sentences(text)):
        span = (begin, begin + len(sentence))
        for verb, thing, score in _find_in_sentence(sentence, context):
            score -= _LATER * number
            name = f"{thing} {verb}"
            if name not in best or best[name].score < score:
                best[name] = Phrase(name, verb, (thing.lower(),), sentence, span, score)
    return sorted(best.values(), key=lambda p: (-p.score, p.span, p.name))


def _find_in_sentence(sentence: str, context: _Context) -> Iterator[tuple[str, str, float]]:
    """The verbs of a sentence, each with its object and its score; a verb without an object shares
    that of the clause before, or the topic of the text."""
    object_before = ""
    ends = [0, *(m.end() for m in _CLAUSE.finditer(sentence)), len(sentence)]
    for first, last in pairwise(ends):
        clause = sentence[first:last]
        words = list(_read_clause(clause, context, begins=first == 0))
        acts = list(_find_acts(words))
        for act in acts:
            thing = act.noun or object_before
            if not thing and not act.planned:
                thing = _thing_of_topic(context)
            object_before = act.noun or object_before
            if thing:
                yield act.verb, thing, _score_act(act, clause.lower(), sentence.lower())
        if not acts:
            object_before = next((w.text for w in reversed(words) if w.noun), object_before)


def _score_act(act: _Act, clause: str, sentence: str) -> float:
    """How well a verb and its object name what a message is for, by the verb, the sentence and the
    clause (both in lower case)."""
    asks = bool(_ASKED.search(sentence))
    score = CLEAR if act.verb in _VERBS.acts else UNUSUAL
    score += 0.3 if asks or not sentence.endswith("?") else -0.3
    score += 0.3 if asks or not act.planned else 0.0
    score -= 0.8 if _NEGATED.search(clause) else 0.0
    score -= 0.6 if _SUPPOSED.match(clause.strip()) else 0.0
    score -= 0.0 if act.noun else 0.4
    return score


def _read_clause(clause: str, context: _Context, *, begins: bool) -> Iterator[_Word]:
    """The words of a clause; at the beginning of a sentence a capital tells nothing."""
    for place, match in enumerate(_TOKEN.finditer(clause)):
        text = match.group()
        lower = text.lower()
        noun = (
            text[0].isupper() and len(text) > 2 and lower not in context.names
            and lower not in _EMPTY
            and (place > 0 or not begins or lower in context.nouns or bool(_NOUN.fullmatch(lower)))
        )  # fmt: skip
        yield _Word(text, lower, noun)


def _thing_of_topic(context: _Context) -> str:
    """The thing that a subject line names."""
    words = list(_read_clause(subject_phrase(context.topic), context, begins=False))
    return next(_free_nouns(words), "")


# -- verbs of a clause -----------------------------------------------------------------------


def _find_acts(words: Sequence[_Word]) -> Iterator[_Act]:
    """The verbs of a clause, each with its object."""
    words = [word for word in words if word.text[0].isalnum()]
    thing = next(_free_nouns(words), "") if _hands_over(words) else ""
    if thing:
        yield _Act("senden", thing, False)
        return
    for place, word in enumerate(words):
        act = None if word.noun else _read_act(words, place)
        if act is not None and act.verb not in _VERBS.talk:
            yield act


def _hands_over(words: Sequence[_Word]) -> bool:
    """Whether a clause says that a document comes with the message: `anbei`, `… liegt bei`."""
    lower = [word.lower for word in words]
    return bool(
        _SENDING.search(" ".join(lower))
        or (lower[-1:] == ["bei"] and {"liegt", "liegen"} & set(lower))
        or (lower[-1:] == ["an"] and {"hängt", "hängen"} & set(lower))
    )


def _read_act(words: Sequence[_Word], place: int) -> _Act | None:
    """The verb that a word of a clause is, by the first form that fits; `None` if it is none."""
    # 1. a participle, but in `wie besprochen`; what has come is received
    word = words[place].lower
    idiom = place > 0 and words[place - 1].lower == "wie"
    verb = None if idiom else infinitive_of_participle(word)
    if verb is not None and verb in _VERBS.coming:
        thing = _noun_before(words, place)
        return _Act("erhalten", thing, False) if thing else None
    if verb is not None and verb not in _VERBS.talk:
        return _Act(verb, _noun_before(words, place), False)
    # 2. an infinitive; in `bitte prüfen Sie den Antrag` the object follows
    verb = infinitive_with_zu(word) or _infinitive_behind_modal(words, place)
    if verb is not None and verb not in _VERBS.talk:
        follows = place + 1 < len(words) and words[place + 1].lower in ("sie", "bitte")
        noun = _noun_after(words, place) if follows else _noun_before(words, place)
        return _Act(verb, noun, True)
    # 3. a finite form
    verb = infinitive_of_finite(word, words[-1].lower)
    if verb is None:
        return None
    return _Act(verb, _noun_after(words, place) or _noun_before(words, place, article=True), True)


def _infinitive_behind_modal(words: Sequence[_Word], place: int) -> str | None:
    """An infinitive behind a verb that has one: a known one, or at the end of the clause any word
    with an object that is spelled like one."""
    word = words[place].lower
    if not any(_MODAL.fullmatch(before.lower) for before in words[:place]):
        return None
    if word in KNOWN:
        return word
    if place == len(words) - 1 and _noun_before(words, place):
        unusual = _UNUSUAL_INFINITIVE.fullmatch(word) and word not in _WORDS.adverbs
        return word if unusual else None
    return None


# -- nouns of a clause -----------------------------------------------------------------------


def _free_nouns(words: Sequence[_Word]) -> Iterator[str]:
    """The nouns of a clause that no preposition governs."""
    return (w.text for place, w in enumerate(words) if w.noun and not _is_governed(words, place))


def _noun_before(words: Sequence[_Word], place: int, *, article: bool = False) -> str:
    """The nearest noun before a word that no preposition governs; `article` if it needs one that
    may be accusative."""
    for at in range(place - 1, -1, -1):
        if words[at].noun and not _is_governed(words, at):
            before = words[at - 1].lower if at else ""
            if not article or before in ("den", "die", "das", "einen", "eine", "ein"):
                return words[at].text
    return ""


def _noun_after(words: Sequence[_Word], place: int) -> str:
    """The first noun after a word that no preposition governs."""
    for at in range(place + 1, len(words)):
        if words[at].noun and not _is_governed(words, at):
            return words[at].text
    return ""


def _is_governed(words: Sequence[_Word], place: int) -> bool:
    """Whether a noun follows a preposition, or a noun whose genitive it may be."""
    # to the left over articles and adjectives
    at = place - 1
    while (
        at >= 0 and not words[at].noun and words[at].lower not in _WORDS.prepositions
        and _BETWEEN.fullmatch(words[at].lower)
    ):  # fmt: skip
        at -= 1
    if at >= 0 and words[at].lower in _WORDS.prepositions:
        return True
    genitive = place - at > 1 and at >= 0 and words[at].noun
    return bool(genitive and words[at + 1].lower in ("des", "eines", "meines", "unseres", "ihres"))
