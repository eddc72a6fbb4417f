"""Subject lines of messages: the topic, and the thing that it names."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from orgflow.agents.language.dependents import Token
from orgflow.agents.language.lexicon import EnglishLexicon, load_lexicon
from orgflow.agents.language.parsing import load_parser

from orgflow_ir.model.message import bare_subject

_WORDS, _NOUNS = load_lexicon(EnglishLexicon).words, load_lexicon(EnglishLexicon).nouns

_REPLY = re.compile(r"^\s*(?:(?:re|fw|fwd|aw|wg)\s*:\s*)+", re.IGNORECASE)
_FROM_PREPOSITION = re.compile(r"\s(?:about|as|at|by|for|from|in|of|on|to|with)\s.*", re.IGNORECASE)


def subject_phrase(subject: str) -> str:
    """The topic of a subject line without reply prefixes: its first part without a number, if there
    is one; `L-70418: invoice - Miller` gives `invoice`."""
    text = _REPLY.sub("", subject)
    if not bare_subject(text)[0]:
        return ""
    parts = [" ".join(part.split()) for part in re.split(r"\s[-–—|]\s|[,:;(?!]", text)]
    plain = (part for part in parts if part and not any(map(str.isdigit, part)))
    return next(plain, parts[0])


def things_of_topics(topics: Sequence[str], names: Collection[str]) -> dict[str, tuple[str, ...]]:
    """The words of the thing that each topic names, in lower case; none where it is a sentence
    (`paid!`), or its last word means nothing."""
    nlp = load_parser()
    given = sorted(set(topics))
    if nlp is None:
        return dict.fromkeys(given, ())
    things: dict[str, tuple[str, ...]] = {}
    bare = [_FROM_PREPOSITION.sub("", topic.lower()) for topic in given]
    for topic, document in zip(given, nlp.pipe(bare, disable=["ner"]), strict=True):
        words = [
            t for t in document
            if t.is_alpha and t.lower_ not in names and t.lower_ not in _WORDS.little
            and t.pos_ not in ("NUM", "DET", "PRON")
        ][-3:]  # fmt: skip
        things[topic] = tuple(w.lower_ for w in words) if _name_thing(words) else ()
    return things


def _name_thing(words: Sequence[Token]) -> bool:
    """Whether words are a noun with nouns and adjectives before it, and the noun means
    something."""
    return (
        bool(words) and words[-1].tag_ in ("NN", "NNS")
        and all(w.pos_ in ("NOUN", "ADJ", "PROPN") for w in words)
        and not any(w.lower_ in _WORDS.topicless or w.lower_ == "not" for w in words)
        and len(words[-1]) > 3 and words[-1].lemma_ not in _NOUNS.empty | _NOUNS.media
    )  # fmt: skip
