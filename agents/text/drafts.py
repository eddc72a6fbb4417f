"""Drafts: graph lines become a model whose elements cite their sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orgflow.agents.language.sentences import Sentence, is_table_row, title_of_sentences
from orgflow.agents.text.citations import evidence_of_sentences, place_of_sentence
from orgflow.agents.text.text_rules import DoubtfulDraft

from orgflow_ir.diagnostics import Diagnostic, Severity
from orgflow_ir.model import Flow, Model
from orgflow_ir.model.element_names import one_line
from orgflow_ir.model.evidence import SENTENCES
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import Pass, PassContext, PassManager, Stage
from orgflow_ir.plugins.agents import Document

READER = "triples"
"""The frontend for graph lines."""

_LONGEST_SHOWN = 120
"""Maximum number of characters of a sentence in a message."""


def read_draft(
    lines: str, document: Document, sentences: tuple[Sentence, ...], agent: str, ctx: PassContext
) -> tuple[Model | None, tuple[Diagnostic, ...]]:
    """The model in graph lines, and the findings of the reader.

    Raises `LookupError` if the frontend is not registered.
    """
    if ctx.registry is None or READER not in ctx.registry.frontends:
        raise LookupError(f"there is no frontend `{READER}`")
    own = PassContext(registry=ctx.registry)
    data = lines.encode("utf-8", "replace")
    drafted = ctx.registry.frontends[READER].parse(SourceFile("draft", data), own)
    findings = tuple(own.diagnostics)
    if drafted is None:
        return None, findings
    processes = []
    for process in drafted.processes:
        nodes = tuple(_cite_node(node, document, sentences, agent) for node in process.nodes)
        places = _find_places(nodes, process.flows, sentences, document)
        nodes = tuple(node.replace(loc=places.get(node.id)) for node in nodes)
        flows = tuple(
            flow.replace(loc=places.get(flow.source), origin=agent) for flow in process.flows
        )
        first = place_of_sentence(sentences[0], document) if sentences else None
        processes.append(
            process.replace(nodes=nodes, flows=flows, name=title_of_sentences(sentences), loc=first)
        )
    return drafted.replace(processes=tuple(processes), source=document.name), findings


def _cite_node(node: Any, document: Document, sentences: tuple[Sentence, ...], agent: str) -> Any:
    """A node with its sentences as evidence."""
    numbers = next((value for key, value in node.extra if key == SENTENCES), "")
    cited = [int(number) for number in numbers.split(",") if number.isdigit()]
    evidence = evidence_of_sentences(cited, sentences, document, agent)
    extra = tuple(item for item in node.extra if item[0] != SENTENCES)
    return node.replace(evidence=evidence, extra=extra, origin=agent)


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


def report_unused(unused: Sequence[Sentence], document: Document, ctx: PassContext) -> None:
    """Report the sentences that support no element of a draft; the rows of a table together."""
    rows = [sentence for sentence in unused if is_table_row(sentence.text)]
    if rows:
        count = f"{len(rows)} row{'s'[: len(rows) != 1]} of tables"
        ctx.emit(
            DoubtfulDraft, f"no element of the draft is based on {count}",
            loc=place_of_sentence(rows[0], document), help="describe the work there in sentences",
        )  # fmt: skip
    for sentence in (s for s in unused if s not in rows):
        text = one_line(sentence.text)
        shown = text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"
        ctx.emit(
            DoubtfulDraft, f'no element of the draft cites "{shown}"',
            loc=place_of_sentence(sentence, document), help="check whether a step is missing",
        )  # fmt: skip


def draft_errors(model: Model, ctx: PassContext) -> tuple[Diagnostic, ...]:
    """The errors that the registered checks find in a draft, with runs that show them."""
    assert ctx.registry is not None
    checks: list[Pass] = [cls() for cls in ctx.registry.passes.values()]
    first = (Stage.VERIFY, Stage.ANALYSE)
    quiet = PassContext(registry=ctx.registry, services=ctx.services)
    PassManager([p for stage in first for p in checks if p.stage is stage]).run(model, quiet)
    return tuple(d for d in quiet.diagnostics if d.severity is Severity.ERROR)
