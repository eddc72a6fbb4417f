"""The operations that match the words of a task: BM25 over titles, descriptions and other words.

S. Robertson and H. Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with
k1 = 1.2 and b = 0.75; the title counts twice.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

from orgflow.agents.language.lexicon import OperationsLexicon, load_lexicon
from orgflow.agents.language.stems import stem_for_catalogue

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline.operation_catalogue import Catalogue, Operation

_K, _B = 1.2, 0.75
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_LEXICON = load_lexicon(OperationsLexicon)


class Candidate(NamedTuple):
    """An operation that may perform a task; a higher score is better."""

    operation: Operation
    score: float


def words_of(text: str) -> list[str]:
    """Words in lower case, stemmed, without function words.

    Example:
        >>> words_of("Send e-mails to the customerService")
        ['send', 'email', 'customer', 'service']
    """
    text = re.sub(r"\be-?mail", "email", text, flags=re.IGNORECASE)
    words = (word.lower() for word in _WORD.findall(text))
    kept = (word for word in words if word not in _LEXICON.idle)
    return [stem_for_catalogue(_LEXICON.counterparts.get(word, word)) for word in kept]


class OperationIndex:
    """The operations of a catalogue by their words."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._operations = operations
        self._documents = [
            Counter(words_of(f"{o.title} {o.title} {o.description} {o.words}")) for o in operations
        ]
        self._lengths = [sum(d.values()) for d in self._documents]
        self._usual = sum(self._lengths) / max(1, len(self._lengths))
        self._numbers: dict[str, list[int]] = {}
        for number, document in enumerate(self._documents):
            for word in document:
                self._numbers.setdefault(word, []).append(number)

    def weight(self, word: str) -> float:
        """The weight of a word."""
        count = len(self._numbers.get(word, ()))
        return math.log(1 + (len(self._documents) - count + 0.5) / (count + 0.5))

    def search(self, text: str, limit: int = 12, *, more: str = "") -> list[Candidate]:
        """The best operations for a text; words of `more` count half. Equal ones keep the order of
        the catalogue."""
        wanted: dict[str, float] = {}
        for word in words_of(more):
            wanted[word] = 0.5
        for word in words_of(text):
            wanted[word] = 1.0
        scores: dict[int, float] = {}
        for word, share in wanted.items():
            weight = share * self.weight(word)
            for number in self._numbers.get(word, ()):
                count, length = self._documents[number][word], self._lengths[number]
                part = count * (_K + 1) / (count + _K * (1 - _B + _B * length / self._usual))
                scores[number] = scores.get(number, 0.0) + weight * part
        best = sorted(scores, key=lambda n: (-scores[n], n))[:limit]
        return [Candidate(self._operations[n], scores[n]) for n in best]

    def coverage(self, text: str, operation: Operation) -> float:
        """The share of the information in the words of a text that an operation covers."""
        own = set(words_of(f"{operation.title} {operation.description} {operation.words}"))
        wanted = dict.fromkeys(words_of(text))
        total = sum(self.weight(word) for word in wanted)
        return sum(self.weight(w) for w in wanted if w in own) / total if total else 0.0


@lru_cache(maxsize=4)
def _build_index(content: str, catalogue: Catalogue) -> OperationIndex:
    del content
    return OperationIndex(catalogue.operations)


def index_of(catalogue: Catalogue) -> OperationIndex:
    """The index of a catalogue, built once for its content."""
    return _build_index(catalogue.content, catalogue)


def list_candidates(candidates: Iterable[Candidate]) -> list[tuple[str, str]]:
    """Candidates in the form for prompts: id and description."""
    return [
        (c.operation.id, f"{c.operation.title}. {c.operation.description}".rstrip(". "))
        for c in candidates
    ]
