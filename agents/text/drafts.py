"""Drafts: graph lines become a model whose elements cite their sentences."""

from __future__ import annotations

from typing import Any

from orgflow.agents.text.sentences import Sentence, evidence_of

from orgflow_ir.diagnostics import Diagnostic, Severity
from orgflow_ir.model import Model
from orgflow_ir.model.evidence import SENTENCES
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import Pass, PassContext, PassManager, Stage
from orgflow_ir.plugins.agents import Document

READER = "triples"
"""The frontend that reads graph lines."""


def read_draft(
    lines: str, document: Document, sentences: tuple[Sentence, ...], agent: str, ctx: PassContext
) -> tuple[Model | None, tuple[Diagnostic, ...]]:
    """The model that graph lines describe, and what the reader says of the lines.

    Raises `LookupError` where the frontend is not registered.
    """
    if ctx.registry is None or READER not in ctx.registry.frontends:
        raise LookupError(f"there is no frontend `{READER}`")
    own = PassContext(registry=ctx.registry)
    data = lines.encode("utf-8", "replace")
    drafted = ctx.registry.frontends[READER].parse(SourceFile("draft", data), own)
    found = tuple(own.diagnostics)
    if drafted is None:
        return None, found
    processes = []
    for process in drafted.processes:
        nodes = tuple(_cited(node, document, sentences, agent) for node in process.nodes)
        flows = tuple(flow.replace(loc=None, origin=agent) for flow in process.flows)
        processes.append(process.replace(nodes=nodes, flows=flows, name=title_of(sentences)))
    return drafted.replace(processes=tuple(processes), source=document.name), found


def _cited(node: Any, document: Document, sentences: tuple[Sentence, ...], agent: str) -> Any:
    """A node with its sentences as evidence, placed where the first of them stands."""
    numbers = next((value for key, value in node.extra if key == SENTENCES), "")
    cited = [int(number) for number in numbers.split(",") if number.isdigit()]
    evidence = evidence_of(cited, sentences, document, agent)
    place = None
    if evidence and evidence[0].lines is not None:
        place = SourceLocation(file=document.name, line=evidence[0].lines[0], column=1)
    extra = tuple(item for item in node.extra if item[0] != SENTENCES)
    return node.replace(evidence=evidence, extra=extra, loc=place, origin=agent)


def title_of(sentences: tuple[Sentence, ...]) -> str:
    """The title where the text begins with one, else nothing."""
    if sentences and sentences[0].heading:
        return sentences[0].text.partition(":")[2].strip() or sentences[0].text.lstrip("# ").strip()
    return ""


def draft_errors(model: Model, ctx: PassContext) -> tuple[Diagnostic, ...]:
    """The errors that the registered checks find in a draft, with runs that show them."""
    assert ctx.registry is not None
    checks: list[Pass] = [cls() for cls in ctx.registry.passes.values()]
    first = (Stage.VERIFY, Stage.ANALYSE)
    quiet = PassContext(registry=ctx.registry, services=ctx.services)
    PassManager([p for stage in first for p in checks if p.stage is stage]).run(model, quiet)
    return tuple(d for d in quiet.diagnostics if d.severity is Severity.ERROR)
