"""The frontend of Mermaid flowcharts: shapes define the kind of a node, subgraphs its performer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orgflow.frontends.triples.triples_reading_rules import NotGraph, UnreadLine

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Frontend

if TYPE_CHECKING:
    from orgflow.frontends.triples import build, mermaid_reader
else:  # a frontend is loaded to recognise its files; the rest when it reads one
    build = LazyModule("orgflow.frontends.triples.build")
    mermaid_reader = LazyModule("orgflow.frontends.triples.mermaid_reader")


_FLOWCHART = re.compile(rb"\s*(?:%%[^\n]*\n\s*)*(?:flowchart|graph)[ \t]+(?:TD|TB|BT|LR|RL)\b")


def is_flowchart(data: bytes) -> bool:
    """Whether a text begins as a Mermaid flowchart does."""
    return _FLOWCHART.match(data) is not None


class MermaidFrontend(Frontend):
    """Reads Mermaid flowcharts: rectangles are steps, rhombs decide (with `+` all branches, with
    `O` one or more), round nodes are starts and ends, subgraphs are lanes."""

    name = "mermaid"
    suffixes = (".mmd", ".mermaid")
    rules = (NotGraph, UnreadLine)
    summary = "a Mermaid flowchart"

    def sniff(self, source: SourceFile) -> bool:
        """A matching file name, or text that begins as a flowchart does."""
        return source.suffix in self.suffixes or is_flowchart(source.data)

    def parse(self, source: SourceFile, ctx: PassContext) -> Model | None:
        """The model, or `None` after OF074."""
        graph = mermaid_reader.read_chart(source.data.decode("utf-8-sig", "replace"))
        if not graph.flows:
            ctx.emit(
                NotGraph, "there is no flow such as `A --> B` in the file",
                loc=SourceLocation(file=source.path, line=1, column=1),
                help="write a flowchart, or name the right frontend with --from",
            )  # fmt: skip
            return None
        for unread in graph.unread:
            ctx.emit(
                UnreadLine, "this line is not supported in flowcharts",
                loc=SourceLocation(file=source.path, line=unread.line, column=1),
                help=unread.help or "write `A[step] --> B{question}`, or remove the line",
            )  # fmt: skip
        return build.build_model(graph, source.path)
