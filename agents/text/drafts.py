"""Drafts: graph lines become a model whose elements cite their sentences."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from orgflow.agents.language.sentences import Sentence, is_table_row
from orgflow.agents.text.citations import cite_sentences, place_of_sentence
from orgflow.agents.text.text_rules import DoubtfulDraft

from orgflow_ir.diagnostics import Diagnostic, Severity
from orgflow_ir.model import Model
from orgflow_ir.model.element_names import one_line
from orgflow_ir.model.source import SourceFile
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
    return cite_sentences(drafted, document, sentences, agent), findings


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


def draft_errors(
    model: Model, ctx: PassContext, also: Collection[str] = ()
) -> tuple[Diagnostic, ...]:
    """The errors that the registered checks find in a draft, with runs that show them, and findings
    with the codes of `also`."""
    assert ctx.registry is not None
    checks: list[Pass] = [cls() for cls in ctx.registry.passes.values()]
    first = (Stage.VERIFY, Stage.ANALYSE)
    quiet = PassContext(registry=ctx.registry, services=ctx.services)
    PassManager([p for stage in first for p in checks if p.stage is stage]).run(model, quiet)
    return tuple(d for d in quiet.diagnostics if d.severity is Severity.ERROR or d.code in also)
