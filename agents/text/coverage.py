"""The part of a text that a draft uses: the best cheap indication of omissions and inventions."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from orgflow.agents.text.sentences import Sentence

from orgflow_ir.model import Event, Gateway, Model, Task
from orgflow_ir.model.element_names import one_line


class Coverage(NamedTuple):
    """Attributes:
    unused: sentences that no element cites and that may tell of a step.
    words: for cited sentences, the words that no element uses, if they are many.
    unsupported: labels of elements that cite no sentence.
    foreign: elements (label, words) whose words do not occur in the text.
    """

    unused: tuple[Sentence, ...]
    words: tuple[tuple[Sentence, tuple[str, ...]], ...]
    unsupported: tuple[str, ...]
    foreign: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def faults(self) -> int:
        """The number of points for a reviewer."""
        return len(self.unused) + len(self.words) + len(self.unsupported) + len(self.foreign)


_COMMON = frozenset(
    (
        "a", "about", "after", "afterwards", "again", "all", "also", "an", "and", "another", "any",
        "are", "as", "at", "be", "because", "been", "before", "begin", "begins", "being", "between",
        "both", "but", "by", "can", "case", "could", "did", "do", "does", "done", "during", "each",
        "either", "else", "end", "ends", "every", "finally", "first", "for", "from", "had", "has",
        "have", "having", "he", "her", "here", "him", "his", "however", "i", "if", "in", "into",
        "is", "it", "its", "just", "last", "may", "me", "might", "more", "most", "must", "my",
        "need", "needs", "neither", "next", "no", "nor", "not", "of", "off", "on", "once", "only",
        "onto", "or", "other", "otherwise", "our", "out", "over", "per", "process", "same",
        "second", "several", "shall", "she", "should", "since", "so", "some", "start", "starts",
        "step", "such", "than", "that", "the", "their", "them", "then", "there", "therefore",
        "these", "they", "third", "this", "those", "through", "thus", "to", "unless", "until", "up",
        "upon", "us", "very", "via", "was", "we", "were", "what", "when", "where", "which", "while",
        "who", "whom", "whose", "will", "with", "within", "without", "would", "you", "your",
    )
)  # fmt: skip
"""Words that mean little in a description of a process."""
_MANY = 4
"""Minimum number of unused words of a sentence for a question."""


def content_words(text: str) -> list[str]:
    """The content words of a text, in order, reduced to a rough stem."""
    return [stem(word) for word in _meaningful(text)]


def _meaningful(text: str) -> list[str]:
    words = re.findall(r"[^\W\d_][\w'’-]+", text.lower())
    return [word for word in words if word not in _COMMON and len(word) > 2]


def _without(text: str, stems: Collection[str]) -> tuple[str, ...]:
    """The words of a text whose stems are others than these, as it has them first."""
    first: dict[str, str] = {}
    for word in _meaningful(text):
        first.setdefault(stem(word), word)
    return tuple(word for key, word in first.items() if key not in stems)


_ENDINGS = (
    "'s", "’s", "ations", "ation", "ings", "ing", "ies", "ied", "es", "ed", "s", "e", "y",
)  # fmt: skip


def stem(word: str) -> str:
    """A rough stem, sufficient to unify `checks`, `checked` and `checking`."""
    for ending in (
        "'s",
        "’s",
        "ations",
        "ation",
        "ings",
        "ing",
        "ies",
        "ied",
        "es",
        "ed",
        "s",
        "e",
        "y",
    ):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def coverage(model: Model, sentences: tuple[Sentence, ...]) -> Coverage:
    """The part of the sentences that a draft uses."""
    cited: dict[int, set[str]] = {}
    unsupported: list[str] = []
    foreign: list[tuple[str, tuple[str, ...]]] = []
    all_words = {word for sentence in sentences for word in content_words(sentence.text)}
    by_span = {sentence.span: sentence.number for sentence in sentences}
    for process in model.processes:
        lanes = {id: lane.name for lane in process.lanes for id in lane.members}
        conditions: dict[str, str] = {}
        for flow in process.flows:
            conditions[flow.source] = f"{conditions.get(flow.source, '')} {flow.name}"
        for node in process.nodes:
            if not isinstance(node, Task | Gateway | Event) or (
                not isinstance(node, Task) and not node.name
            ):
                told_by = content_words(conditions.get(node.id, ""))
                for evidence in node.evidence:
                    if evidence.span in by_span:
                        cited.setdefault(by_span[evidence.span], set()).update(told_by)
                continue
            text = f"{node.name} {lanes.get(node.id, '')} {conditions.get(node.id, '')}"
            words = set(content_words(text))
            for evidence in node.evidence:
                if evidence.span in by_span:
                    cited.setdefault(by_span[evidence.span], set()).update(words)
            if not node.evidence:
                unsupported.append(one_line(node.label))
            strange = _without(node.name, all_words)
            if strange:
                foreign.append((one_line(node.label), strange))
    told = [s for s in sentences if not s.heading]
    unused = tuple(s for s in told if s.number not in cited and len(content_words(s.text)) > 1)
    words_left = []
    for sentence in told:
        if sentence.number in cited:
            used = cited[sentence.number]
            left = _without(sentence.text, used)
            if len(left) >= _MANY and len(left) * 2 > len(set(content_words(sentence.text))):
                words_left.append((sentence, left))
    return Coverage(unused, tuple(words_left), tuple(unsupported), tuple(foreign))
