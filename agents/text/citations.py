"""Citations of sentences: evidence of elements, and places for messages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from orgflow.agents.language.sentences import Sentence, title_of_sentences

from orgflow_ir.model import Evidence, Flow, Model, Process, SubProcess
from orgflow_ir.model.evidence import SENTENCES
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.plugins.agents import Document


def evidence_of_sentences(
    numbers: Iterable[int], sentences: tuple[Sentence, ...], document: Document, agent: str
) -> tuple[Evidence, ...]:
    """Evidence for the sentences with these numbers; unknown numbers are omitted."""
    evidence = []
    for number in dict.fromkeys(numbers):
        if 1 <= number <= len(sentences):
            sentence = sentences[number - 1]
            first = document.text.count("\n", 0, sentence.span[0]) + 1
            last = first + document.text.count("\n", *sentence.span)
            evidence.append(
                Evidence(
                    document=document.name, quote=sentence.text, span=sentence.span,
                    lines=(first, last), agent=agent,
                )
            )  # fmt: skip
    return tuple(evidence)


def place_of_sentence(sentence: Sentence, document: Document) -> SourceLocation:
    """Line and column at which a sentence begins."""
    start = sentence.span[0]
    line_start = document.text.rfind("\n", 0, start) + 1
    line = document.text.count("\n", 0, start) + 1
    return SourceLocation(file=document.name, line=line, column=start - line_start + 1)


def cite_sentences(
    drafted: Model, document: Document, sentences: tuple[Sentence, ...], agent: str
) -> Model:
    """The model of a draft, with its numbers of sentences as evidence and with places in the
    document."""
    first = place_of_sentence(sentences[0], document) if sentences else None
    processes = []
    for process in drafted.processes:
        cited = _cite_scope(process, document, sentences, agent)
        processes.append(
            cited.replace(name=process.name or title_of_sentences(sentences), loc=first)
        )
    pools = tuple(pool.replace(loc=first) for pool in drafted.pools)
    return drafted.replace(processes=tuple(processes), pools=pools, source=document.name)


S = TypeVar("S", Process, SubProcess)


def _cite_scope(scope: S, document: Document, sentences: tuple[Sentence, ...], agent: str) -> S:
    nodes = tuple(_cite_node(node, document, sentences, agent) for node in scope.nodes)
    places = _find_places(nodes, scope.flows, sentences, document)
    nodes = tuple(node.replace(loc=places.get(node.id)) for node in nodes)
    flows = tuple(
        flow.replace(
            loc=places.get(flow.source), origin=agent, extra=_without_numbers(flow),
            evidence=evidence_of_sentences(_cited_numbers(flow), sentences, document, agent),
        )
        for flow in scope.flows
    )  # fmt: skip
    return scope.replace(nodes=nodes, flows=flows, extra=_without_numbers(scope))


def _cite_node(node: Any, document: Document, sentences: tuple[Sentence, ...], agent: str) -> Any:
    """A node with its sentences as evidence; inside a part, all its nodes."""
    evidence = evidence_of_sentences(_cited_numbers(node), sentences, document, agent)
    if isinstance(node, SubProcess):
        node = _cite_scope(node, document, sentences, agent)
    return node.replace(evidence=evidence, extra=_without_numbers(node), origin=agent)


def _cited_numbers(element: Any) -> list[int]:
    numbers = next((value for key, value in element.extra if key == SENTENCES), "")
    return [int(number) for number in numbers.split(",") if number.isdigit()]


def _without_numbers(element: Any) -> tuple[tuple[str, str], ...]:
    return tuple(item for item in element.extra if item[0] != SENTENCES)


def _find_places(
    nodes: Sequence[Any],
    flows: Sequence[Flow],
    sentences: tuple[Sentence, ...],
    document: Document,
) -> dict[str, SourceLocation]:
    """Where the first sentence of each node stands, by id; a node without one is where what comes
    before it is, or else what comes next."""
    by_span = {sentence.span: sentence for sentence in sentences}
    places = {
        node.id: place_of_sentence(by_span[node.evidence[0].span], document)
        for node in nodes
        if node.evidence
    }
    neighbours: dict[str, list[str]] = {node.id: [] for node in nodes if node.id not in places}
    for flow in flows:
        if flow.target in neighbours:
            neighbours[flow.target].insert(0, flow.source)
        if flow.source in neighbours:
            neighbours[flow.source].append(flow.target)
    while True:
        near_places = {
            id: places[next(n for n in near if n in places)]
            for id, near in neighbours.items()
            if id not in places and any(n in places for n in near)
        }
        if not near_places:
            return places
        places |= near_places
