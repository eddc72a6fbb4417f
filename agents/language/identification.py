"""The language of a text or a message, by its function words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from orgflow.agents.language.lexicon import LanguagesLexicon, load_lexicon

from orgflow_ir.model.message import Message

ENGLISH, GERMAN = "en", "de"

_LEXICON = load_lexicon(LanguagesLexicon)

LANGUAGE_NAMES = _LEXICON.names
"""The names of the languages known by their words, by their code."""

_SCRIPTS = (
    ("Greek", re.compile(r"[Ͱ-Ͽ]")),
    ("Cyrillic script", re.compile(r"[Ѐ-ӿ]")),
    ("Hebrew", re.compile(r"[֐-׿]")),
    ("Arabic script", re.compile(r"[؀-ۿ]")),
    ("Japanese", re.compile(r"[぀-ヿ]")),
    ("Chinese", re.compile(r"[一-鿿]")),
    ("Korean", re.compile(r"[가-힯]")),
)
"""Languages that a script determines, and scripts of several languages."""

_VOTES = {
    word: [code for code, others in _LEXICON.frequent.items() if word in others]
    for words in _LEXICON.frequent.values()
    for word in words
}
"""The codes of the languages in which a word is frequent."""

SHORT = 60
"""Maximum number of characters of a short message."""

RARE = 0.02
"""A language with a smaller share of the messages is ignored for short ones."""

_TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")

ENOUGH = 2.0
"""With fewer votes, a short message counts as in the language of its neighbours."""


def function_words() -> frozenset[str]:
    """The frequent small words of all languages, which are about nothing."""
    return frozenset(_VOTES)


def identify_language(text: str) -> str:
    """The code of a text's language or the name of its script; empty if it is undetermined.

    Each function word votes; a word of several languages is shared among them.
    """
    letters = sum(map(str.isalpha, text))
    for name, script in _SCRIPTS:
        if letters and len(script.findall(text)) * 3 > letters:
            return name
    votes: dict[str, float] = {}
    for word in _TOKEN.findall(text.lower()[:3000].replace("’", "'")):
        for code in _VOTES.get(word, ()):
            votes[code] = votes.get(code, 0.0) + 1 / len(_VOTES[word])
    if not votes:
        return ""
    best, *others = sorted(votes, key=lambda code: (-votes[code], code))
    second = votes[others[0]] if others else 0.0
    return best if votes[best] >= ENOUGH and votes[best] > 1.2 * second else ""


def identify_languages(messages: Sequence[Message]) -> list[str]:
    """The language of each message; an undetermined one has the language of most of its thread, its
    sender, or all messages. The same holds for a short message in an apparently rare language,
    since a name is enough to mislead."""
    codes = [identify_language(f"{m.subject}. {m.body}") for m in messages]
    counts = Counter(codes)
    codes = [
        "" if counts[code] < RARE * len(messages) and len(m.body) < SHORT else code
        for m, code in zip(messages, codes, strict=True)
    ]
    by_thread: dict[str, Counter[str]] = {}
    by_sender: dict[str, Counter[str]] = {}
    for message, code in zip(messages, codes, strict=True):
        if code and message.thread:
            by_thread.setdefault(message.thread, Counter())[code] += 1
        if code and message.sender is not None:
            by_sender.setdefault(message.sender.key, Counter())[code] += 1
    overall = Counter(code for code in codes if code)

    def nearest_language(message: Message) -> str:
        sender = message.sender.key if message.sender is not None else ""
        for votes in (by_thread.get(message.thread), by_sender.get(sender), overall):
            if votes:
                return min(votes, key=lambda code: (-votes[code], code))
        return ENGLISH

    return [code or nearest_language(m) for m, code in zip(messages, codes, strict=True)]


def language_name(code: str) -> str:
    """The name of a language; a code without one is its own name."""
    return LANGUAGE_NAMES.get(code, code)


_GERMAN_MARKS = re.compile(r"[äöüß]|\b(?:der|die|das|den|dem|und|wird|ein|eine|einen|im|zum)\b")
_ENGLISH_MARKS = re.compile(r"\b(?:the|an|and|is|are|of|to|he|she|they|it|with)\b", re.IGNORECASE)


def seems_german(text: str) -> bool:
    """Whether a text is German, also if it is short: by its function words and letters."""
    if identify_language(text) == GERMAN:
        return True
    undetermined = identify_language(text) == "" and _ENGLISH_MARKS.search(text) is None
    return undetermined and _GERMAN_MARKS.search(text) is not None


def seems_english(text: str) -> bool:
    """Whether a text is more likely English than another language, by function words; terse texts
    without any are treated as English."""
    letters = [c for c in text if c.isalpha()]
    if sum(c >= "\u0370" for c in letters) * 2 > len(letters):  # Greek, Cyrillic, and all beyond
        return False
    small = _LEXICON.english_or_not
    words = re.findall(r"[^\W\d_]+", text)
    others = sum(word in small.other for word in words)  # "La" and "Los" may be of a name
    return others < 2 or others <= sum(word.lower() in small.english for word in words)
