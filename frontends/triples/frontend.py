"""The frontend of procedural graphs, which tolerates additional output of language models."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from orgflow.frontends.triples.mermaid import is_flowchart
from orgflow.frontends.triples.triples_reading_rules import NotGraph, UnreadLine

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Frontend

if TYPE_CHECKING:
    from orgflow.frontends.triples import (
        build,
        extended_build,
        extended_reader,
        graph_reader,
    )
    from orgflow.frontends.triples.graph_reader import Unread
else:  # a frontend is loaded to recognise its files; the rest when it reads one
    build = LazyModule("orgflow.frontends.triples.build")
    extended_build = LazyModule("orgflow.frontends.triples.extended_build")
    extended_reader = LazyModule("orgflow.frontends.triples.extended_reader")
    graph_reader = LazyModule("orgflow.frontends.triples.graph_reader")

MAX_BYTES = 4 * 1024 * 1024


class TriplesFrontend(Frontend):
    """Reads one flow per line (`A -> B`, `XOR1 -> (in stock) ship`), steps with ids, actors and
    their sentences (`T1 check the order | Sales | s2`), data and notes of steps."""

    name = "triples"
    suffixes = (".triples", ".graph", ".txt")
    rules = (NotGraph, UnreadLine)
    summary = "a procedural graph as lines of text: triples, or steps with ids and flows"

    def sniff(self, source: SourceFile) -> bool:
        """A matching file name, or text most of whose lines have an arrow."""
        if source.path.lower().endswith((".triples", ".graph")):
            return True
        if is_flowchart(source.data):
            return False
        head = source.data[:4096].decode("utf-8", "replace")
        lines = [line for line in head.splitlines() if line.strip()]
        arrows = sum(1 for line in lines if re.search(r"->|→|=>", line))
        return arrows > 1 and arrows * 3 > len(lines)

    def parse(self, source: SourceFile, ctx: PassContext) -> Model | None:
        """The model, or `None` after OF074."""
        utf16 = source.data.startswith((b"\xff\xfe", b"\xfe\xff"))
        text = source.data[:MAX_BYTES].decode("utf-16" if utf16 else "utf-8-sig", "replace")
        if extended_reader.is_extended(text):
            sections, left = extended_reader.read_sections(text)
            if not any(section.scope.graph.flows for section in sections):
                self._report_empty(source, ctx)
                return None
            self._report_unread(left, source, ctx)
            return extended_build.build_sections(sections, source.path)
        graph = graph_reader.read_graph(text)
        if not graph.flows:
            self._report_empty(source, ctx)
            return None
        self._report_unread(graph.unread, source, ctx)
        return build.build_model(graph, source.path)

    def _report_empty(self, source: SourceFile, ctx: PassContext) -> None:
        """OF074 for a file without any flow."""
        ctx.emit(
            NotGraph,
            "there is no flow such as `A -> B` in the file",
            loc=SourceLocation(file=source.path, line=1, column=1),
            help="write one flow per line, or name the right frontend with --from",
        )

    def _report_unread(
        self, unread_lines: Iterable[Unread], source: SourceFile, ctx: PassContext
    ) -> None:
        """OF075 for each line that was not read."""
        for unread in unread_lines:
            ctx.emit(
                UnreadLine,
                "this line may name one step or several"
                if unread.help
                else "this line is not part of a procedural graph",
                loc=SourceLocation(file=source.path, line=unread.line, column=1),
                help=unread.help or "write `A -> B` or `T1 name | actor | s1`, or remove the line",
            )
