"""Clauses of German descriptions: verb, object and performer by lemmas (simplemma) and word order.

There is no parser. A sentence is cut at commas and conjunctions; the verb of a piece is its finite
form in the first or second place, or the form at its end. Nouns have a capital.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from orgflow.agents.language.german_forms import (
    infinitive_of_participle,
    infinitive_with_zu,
)
from orgflow.agents.language.lemmas import lemma_of_word
from orgflow.agents.language.lexicon import GermanLexicon, load_lexicon

from orgflow_ir.model.records import NamedTuple

_LEXICON = load_lexicon(GermanLexicon)
_VERBS, _NOUNS, _WORDS = _LEXICON.verbs, _LEXICON.nouns, _LEXICON.words

_SMALL = _WORDS.pronouns | _WORDS.subordinate | _WORDS.prepositions
"""Words that are no nouns at the beginning of a sentence or behind a colon."""
_TIMES = re.compile(
    r"(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|tag|woche|monat|jahr|stunde|minute"
    r"|werktag|arbeitstag|euro|prozent|uhr|januar|februar|märz|april|mai|juni|juli|august|september"
    r"|oktober|november|dezember)(?:e?[sn]?)"
)
"""Nouns of times and amounts, which are neither objects nor performers."""

ClauseKind = Literal["main", "condition", "question", "during", "aside"]

_TOKEN = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*|\d[\d.,]*|[^\w\s]")
_CUT = re.compile(r"[,;:()–]|\b(?:und|oder|sowie|aber|sondern|dann|denn)\b", re.IGNORECASE)
_ARTICLE = re.compile(
    r"d(?:er|ie|as|en|em|es)|ein(?:e[nmrs]?)?|kein(?:e[nmrs]?)?|(?:mein|dein|sein|ihr|unser|euer|eur"
    r"|dies|jed|jen|welch|all|beid|viel|einig|mehrer|solch)e?[nmrs]?"
)
_ADJECTIVE = re.compile(r"\w{3,}(?:e|en|em|er|es)")
_MODAL = re.compile(
    r"kann|kannst|könn\w*|soll\w*|muss|musst|müss\w*|will|wollen|wollt\w*|darf\w*|dürf\w*|lässt"
)
_PASSIVE = re.compile(r"wird|werden|wurden?|worden")
_NEGATION = re.compile(r"nicht|nichts|niemand|nie|kein\w*")
_IRREGULAR = {
    "ist": "sein", "sind": "sein", "bin": "sein", "war": "sein", "waren": "sein", "seid": "sein",
    "hat": "haben", "habt": "haben", "wird": "werden", "liegt": "liegen", "gibst": "geben",
    "besichtigt": "besichtigen", "prüft": "prüfen", "bestellt": "bestellen",
}  # fmt: skip


class GermanClause(NamedTuple):
    """A clause of a sentence.

    Attributes:
        kind: `main` states an action, `condition` the case (`wenn …`), `question` what is asked
            (`ob …`), `during` an action at the same time (`während …`); `aside` is any other.
        at: where it begins, in characters.
        end: where it ends.
        verb: the infinitive; empty where no verb is known.
        thing: the object; a pronoun in lower case stands for one.
        about: what a preposition names, with the preposition, if there is no object.
        actor: the performer, if it is stated.
        denied: whether it is negated.
        joined: the conjunction before it, as `oder`.
        text: its words without the word that begins it.
    """

    kind: ClauseKind
    at: int
    end: int
    verb: str
    thing: str
    about: str
    actor: str
    denied: bool
    joined: str
    text: str

    @property
    def is_act(self) -> bool:
        """Whether its verb tells of an action and not of a state."""
        if not self.verb or self.verb in _VERBS.states:
            return False
        return self.verb not in _VERBS.talk or (self.verb in _VERBS.handling and bool(self.thing))


class _Word(NamedTuple):
    text: str
    lower: str
    at: int
    noun: bool


class _Piece(NamedTuple):
    """The words between two cuts, with what cut them off before."""

    words: tuple[_Word, ...]
    joined: str


class _Verb(NamedTuple):
    """The verb of a piece: its infinitive, the places of its parts, and its form."""

    infinitive: str
    places: tuple[int, ...]
    passive: bool = False
    final: bool = False


def read_german_clauses(sentence: str) -> tuple[GermanClause, ...]:
    """The clauses of a sentence, in its order."""
    clauses: list[GermanClause] = []
    for piece in _join_pieces(_cut_sentence(sentence)):
        clauses.append(_read_piece(piece, clauses, sentence))
    return tuple(clauses)


# -- pieces ----------------------------------------------------------------------------------


def _cut_sentence(sentence: str) -> Iterator[_Piece]:
    """The pieces of a sentence at commas and conjunctions."""
    words = []
    for match in _TOKEN.finditer(sentence):
        text = match.group()
        first = not sentence[: match.start()].strip(" -*•0123456789.")
        words.append(_Word(text, text.lower(), match.start(), _is_noun(text, first=first)))
    if len(words) > 1 and words[0].noun and words[1].noun and _ADJECTIVE.fullmatch(words[0].lower):
        words[0] = words[0]._replace(noun=False)  # `Geeignete Bewerber`
    joined, own = "", list[_Word]()
    for word in words:
        if _CUT.fullmatch(word.text):
            if own:
                yield _Piece(tuple(own), joined)
                own, joined = [], ""
            joined = word.lower if word.text.isalpha() or not joined else joined
        elif word.text[0].isalnum():
            own.append(word)
    if own:
        yield _Piece(tuple(own), joined)


def _is_noun(text: str, *, first: bool) -> bool:
    """Whether a word is written as a noun; the first word of a sentence is one if its lemma is."""
    lower = text.lower()
    if not text[0].isupper() or lower in _SMALL or _ARTICLE.fullmatch(lower):
        return False
    if not first:
        return True
    lemma = lemma_of_word(text)
    return lemma[:1].isupper() and lemma.lower() not in (_infinitive_of(lower), f"{lower}en")


def _join_pieces(pieces: Iterator[_Piece]) -> Iterator[_Piece]:
    """Pieces with a verb each: nouns that `und` joins belong to the next piece, or to the one
    before it."""
    held: _Piece | None = None
    last: _Piece | None = None
    for piece in pieces:
        if held is not None and piece.joined == ":":
            yield held
            held = None
        if held is not None:
            piece, held = _Piece((*held.words, *piece.words), held.joined), None
        conditional = piece.words[0].lower in ("bei", *_WORDS.subordinate)
        if _find_verb(piece.words) is None and not conditional:
            held = piece
            continue
        if last is not None:
            yield last
        last = piece
    if held is not None and last is not None and held.joined in ("und", "oder", "sowie", ","):
        last = _Piece((*last.words, *held.words), last.joined)
        held = None
    if last is not None:
        yield last
    if held is not None:
        yield held


# -- verbs -----------------------------------------------------------------------------------


@cache
def _infinitive_of(word: str) -> str:
    """The infinitive of a verb form in lower case; empty where the word is no verb."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    lemma = lemma_of_word(word)
    if lemma[:1].isupper() or not re.fullmatch(r"\w{2,}(?:en|ern|eln|tun|sein)", lemma.lower()):
        return ""
    if lemma == word:  # an infinitive, or a word that only ends like one
        known = word in _VERBS.acts or word in _VERBS.talk or lemma_of_word(f"{word[:-2]}t") == word
        return word if known and word not in _WORDS.adverbs else ""
    return lemma


def _find_verb(words: Sequence[_Word]) -> _Verb | None:
    """The verb of a piece, by the first form that it has."""
    if not words:
        return None
    last = len(words) - 1
    finite = next(
        (i for i, w in enumerate(words) if not w.noun and _is_finite(w.lower) and i < last), None
    )
    subordinate = words[0].lower in _WORDS.subordinate
    # 1. passive and modal: the other part stands at the end
    helper = next((i for i, w in enumerate(words) if _PASSIVE.fullmatch(w.lower)), None)
    if helper is not None:
        others = [i for i in range(last, -1, -1) if i != helper and not words[i].noun]
        for i in others:
            participle = infinitive_of_participle(words[i].lower) or _infinitive_of_lemma(
                words[i].lower
            )
            if participle:
                return _Verb(participle, (helper, i), True, subordinate)
    modal = next((i for i, w in enumerate(words) if _MODAL.fullmatch(w.lower)), None)
    if modal is not None:
        for i in range(last, -1, -1):
            infinitive = "" if words[i].noun or i == modal else _infinitive_form(words[i].lower)
            if infinitive:
                return _Verb(infinitive, (modal, i), False, subordinate)
    # 2. the form at the end of a subordinate clause
    if subordinate and not words[last].noun:
        infinitive = _infinitive_of(words[last].lower)
        if infinitive:
            return _Verb(infinitive, (last,), False, True)
    # 3. a finite form, with its particle at the end
    if finite is not None and not subordinate:
        base = _infinitive_of(words[finite].lower)
        ending = words[last].lower
        if last > finite and ending in _VERBS.separable and not words[last].noun:
            return _Verb(ending + base, (finite, last))
        return _Verb(base, (finite,))
    # 4. an infinitive at the end of a note, or a single finite form
    if not words[last].noun:
        infinitive = _infinitive_form(words[last].lower) or (
            _infinitive_of(words[last].lower) if _is_finite(words[last].lower) else ""
        )
        if infinitive:
            return _Verb(infinitive, (last,), False, _infinitive_form(words[last].lower) != "")
    return None


def _is_finite(word: str) -> bool:
    """Whether a form is finite: one that is not the infinitive, or that may be plural."""
    if _ARTICLE.fullmatch(word) or word in _WORDS.prepositions or word in _WORDS.adverbs:
        return False
    if _NEGATION.fullmatch(word) or word in _VERBS.separable or word in _WORDS.pronouns:
        return False
    infinitive = _infinitive_of(word)
    return bool(infinitive) and (not word.startswith("ge") or infinitive.startswith("ge"))


def _infinitive_form(word: str) -> str:
    """The infinitive if a form is one, also with `zu` in it."""
    return infinitive_with_zu(word) or (word if _infinitive_of(word) == word else "")


def _infinitive_of_lemma(word: str) -> str:
    """The infinitive of a participle by its lemma."""
    lemma = lemma_of_word(word)
    return lemma if lemma != word and re.fullmatch(r"\w+(?:en|ern|eln)", lemma) else ""


# -- clauses ---------------------------------------------------------------------------------


def _read_piece(piece: _Piece, before: Sequence[GermanClause], sentence: str) -> GermanClause:
    """The clause of a piece, with regard to the clauses before it in the sentence."""
    words = piece.words
    at, end = words[0].at, words[-1].at + len(words[-1].text)
    verb = _find_verb(words)
    denied = any(_NEGATION.fullmatch(word.lower) for word in words)
    kind = _kind_of_piece(words, verb, before, sentence)
    text = (
        sentence[words[1].at : end] if kind in ("condition", "question") and len(words) > 1 else ""
    )
    if kind == "condition" and words[0].lower not in _WORDS.conditional:
        text = sentence[at:end]
    if verb is None:
        return GermanClause(kind, at, end, "", "", "", "", denied, piece.joined, text)
    begun = not before or before[-1].kind != "main" or piece.joined in (":",)
    thing, actor = _find_roles(words, verb, alone=not begun)
    about = "" if thing else _find_topic(words, verb)
    return GermanClause(
        kind,
        at,
        end,
        verb.infinitive,
        thing,
        about,
        actor,
        denied,
        piece.joined,
        " ".join(text.split()),
    )


def _kind_of_piece(
    words: Sequence[_Word], verb: _Verb | None, before: Sequence[GermanClause], sentence: str
) -> ClauseKind:
    first = words[0].lower
    if first in _WORDS.conditional:
        return "condition"
    if first == "ob":
        return "question"
    if first == "während":
        return "during" if verb is not None else "aside"
    if first == "bei" and verb is None:
        return "condition"
    if first in _WORDS.subordinate or verb is None:
        return "aside"
    # `ist die Ware da, …`: a verb in the first place before a comma
    verb_first = verb.places[0] == 0 and not verb.final and not before
    follows = sentence[words[-1].at + len(words[-1].text) :].lstrip()[:1] == ","
    if verb_first and follows and len(words) > 2:
        return "condition"
    relative = re.fullmatch(r"d(?:er|ie|as|en|em)|welche[rsnm]?", first)
    at_end = verb.places == (len(words) - 1,) and len(words) > 2 and not verb.passive
    return "aside" if before and relative and at_end else "main"


class _Phrase(NamedTuple):
    """A noun with its article, and its place in the piece."""

    article: str
    words: tuple[str, ...]
    place: int
    governed: bool


def _find_roles(words: Sequence[_Word], verb: _Verb, *, alone: bool) -> tuple[str, str]:
    """The object and the performer of a piece.

    Args:
        alone: whether its subject may be that of the clause before.
    """
    phrases = [
        p for p in _find_phrases(words, verb) if not _TIMES.fullmatch(p.words[-1].lower())
    ]  # fmt: skip
    free = [p for p in phrases if not p.governed]
    if verb.passive:
        agents = [
            p for p in phrases if p.governed and p.article.startswith(("von", "vom", "durch"))
        ]
        things = [p for p in free if not p.article.startswith(("dem ", "einem "))]
        return _words_of(things[:1]), _words_of(agents[:1])
    nominal = next((w for w in words if w.lower in _WORDS.pronouns), None)
    head = verb.places[0]
    own = [p for p in free if p.article.split(" ")[0] not in _WORDS.datives]
    accusative = [p for p in own if p.article.split(" ")[0] in ("den", "einen", "keinen")]
    notes = verb.final and len(verb.places) == 1 and words[0].lower not in _WORDS.subordinate
    if notes or (alone and head == 0):  # no subject of its own
        pointing = [w.lower for w in words if w.lower in ("ihn", "sie", "es")]
        things = accusative or [p for p in own if p.article != "der"]
        return _words_of(things[:1]) or (pointing[0] if pointing else ""), ""
    pronoun_first = nominal is not None and (
        nominal.at < words[head].at or words[min(head + 1, len(words) - 1)].at == nominal.at
    )
    if pronoun_first:
        pronouns = [w for w in words if w.lower in _WORDS.pronouns]
        pointing = [w.lower for w in pronouns[1:] if w.lower in ("ihn", "sie", "es")]
        things = accusative or [p for p in own if p.article != "der"]
        return _words_of(things[:1]) or (pointing[0] if pointing else ""), ""
    before = [p for p in own if p.place < head and p not in accusative]
    subject = before[0] if before else next((p for p in own if p not in accusative), None)
    rest = [p for p in own if p is not subject and p.article != "der"]
    things = [p for p in accusative if p is not subject] or rest
    pointing = [w.lower for w in words if w.lower in ("ihn", "sie", "es")]
    thing = _words_of(things[:1]) or (pointing[0] if pointing else "")
    return thing, _words_of([subject] if subject is not None else [])


def _find_topic(words: Sequence[_Word], verb: _Verb) -> str:
    """What a verb without an object is about: `über die Einstellung`."""
    for phrase in _find_phrases(words, verb):
        preposition = phrase.article.split(" ")[0]
        timed = _TIMES.fullmatch(phrase.words[-1].lower())
        if phrase.governed and preposition in ("über", "auf", "an", "mit", "um") and not timed:
            return f"{preposition} {' '.join(phrase.words)}"
    return ""


def _words_of(phrases: Sequence[_Phrase]) -> str:
    return " ".join(phrases[0].words) if phrases else ""


def _find_phrases(words: Sequence[_Word], verb: _Verb) -> Iterator[_Phrase]:
    """The noun phrases of a piece; a genitive belongs to the noun before it."""
    place = 0
    while place < len(words):
        if not words[place].noun or place in verb.places:
            place += 1
            continue
        start = place
        while start and start - 1 not in verb.places and _may_precede(words[start - 1]):
            start -= 1
            if _ARTICLE.fullmatch(words[start].lower):
                break
        end = place + 1
        before = words[start - 1].lower if start else ""
        governed = before in _WORDS.prepositions and start - 1 not in verb.places
        genitive = words[start].lower in ("des", "eines") and start < place
        article = (
            words[start].lower if start < place and _ARTICLE.fullmatch(words[start].lower) else ""
        )
        named = [w.text for w in words[start + bool(article) : end]]
        shown = f"{before} {article}".strip() if governed else article
        if not genitive:
            yield _Phrase(shown, tuple(named), start, governed)
        place = end


def _may_precede(word: _Word) -> bool:
    """Whether a word may stand between an article and its noun, or be the article."""
    if word.noun or word.lower in _WORDS.prepositions:
        return False
    if _ARTICLE.fullmatch(word.lower):
        return True
    adjective = _ADJECTIVE.fullmatch(word.lower) and not _is_finite(word.lower)
    known = word.lower in _WORDS.adverbs or word.lower in _WORDS.subordinate
    return bool((adjective or word.text[0].isdigit()) and not known) or word.lower in (
        "zwei", "drei", "vier", "fünf",
    )  # fmt: skip
