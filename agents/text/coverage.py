"""The part of a text that a draft uses: the best cheap indication of omissions and inventions."""

from __future__ import annotations

from orgflow.agents.language.sentences import Sentence
from orgflow.agents.language.stems import content_words, other_words

from orgflow_ir.model import CallActivity, Event, Gateway, Model, Node, Scope, SubProcess, Task
from orgflow_ir.model.element_names import one_line
from orgflow_ir.model.records import NamedTuple


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


_MANY = 4
"""Minimum number of unused words of a sentence for a question."""


def measure_coverage(model: Model, sentences: tuple[Sentence, ...]) -> Coverage:
    """The part of the sentences that a draft uses."""
    all_words = {word for sentence in sentences for word in content_words(sentence.text)}
    nodes = [_words_of_node(node, scope) for scope in model.scopes() for node in scope.nodes]
    # 1. the words that elements use, by the number of the sentence that they cite
    cited: dict[int, set[str]] = {}
    by_span = {sentence.span: sentence.number for sentence in sentences}
    for node in nodes:
        for evidence in node.element.evidence:
            if evidence.span in by_span:
                cited.setdefault(by_span[evidence.span], set()).update(node.words)
    for flow in (flow for scope in model.scopes() for flow in scope.flows):
        for evidence in flow.evidence:
            if evidence.span in by_span:
                cited.setdefault(by_span[evidence.span], set()).update(content_words(flow.name))
    # 2. named elements without a sentence, and their words that are not in the text
    named = [node.element for node in nodes if node.named]
    unsupported = tuple(one_line(node.label) for node in named if not node.evidence)
    foreign = tuple(
        (one_line(node.label), strange)
        for node in named if (strange := other_words(node.name, all_words))
    )  # fmt: skip
    # 3. sentences that no element cites, and many words of others
    stated = [s for s in sentences if not s.heading]
    unused = tuple(s for s in stated if s.number not in cited and len(content_words(s.text)) > 1)
    words_left = []
    for sentence in stated:
        left = (
            other_words(sentence.text, cited[sentence.number]) if sentence.number in cited else ()
        )
        if len(left) >= _MANY and len(left) * 2 > len(set(content_words(sentence.text))):
            words_left.append((sentence, left))
    return Coverage(unused, tuple(words_left), unsupported, foreign)


class _Words(NamedTuple):
    """An element of a draft: whether it is a step or has a name, and the stems of its words."""

    element: Node
    named: bool
    words: tuple[str, ...]


def _words_of_node(node: Node, process: Scope) -> _Words:
    """The words of a node and of the conditions behind it; of a step or a named element, also its
    name and its lanes."""
    conditions = " ".join(flow.name for flow in process.flows if flow.source == node.id)
    named = isinstance(node, Task) or (
        isinstance(node, Gateway | Event | CallActivity | SubProcess) and bool(node.name)
    )
    if not named:
        return _Words(node, False, tuple(content_words(conditions)))
    lane = next((ln.name for ln in reversed(process.lanes) if node.id in ln.members), "")
    return _Words(node, True, tuple(content_words(f"{node.name} {lane} {conditions}")))
