"""The frontend of outlines."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orgflow.frontends.outline.outline_rules import (
    EndedBranch,
    MisreadOutline,
    NotOutline,
    UnknownLine,
)

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Frontend

if TYPE_CHECKING:
    from orgflow.backends.outline.format import printer
    from orgflow.backends.outline.format.line_forms import Outline
    from orgflow.frontends.outline import build, checks, line_reader
else:  # a frontend is loaded to recognise its files; the rest when it reads one
    printer = LazyModule("orgflow.backends.outline.format.printer")
    build = LazyModule("orgflow.frontends.outline.build")
    checks = LazyModule("orgflow.frontends.outline.checks")
    line_reader = LazyModule("orgflow.frontends.outline.line_reader")

MAX_BYTES = 4 * 1024 * 1024

# Compiled where a source may be an outline: `re` keeps what it compiled.
_KEYWORD_LINE = (
    r"(?im)^[ \t]*(?:[-*•] )?(?:start|end|stop|choose|if|else|together|row|some|first|on|repeat"
    r"|again(?: if)?|leave|part|each|wait|receive|send|call|go to|process)\??:(?:[ \t]|$)"
)
_FIELD_LINE = r"(?im)^[ \t]*\S[^|\n]*\|.*\bs\d+[ \t]*$"
_ARROW = r"->|→|=>"
_RULES = {
    "unread": MisreadOutline,
    "size": MisreadOutline,
    "ended-branch": EndedBranch,
    "reference": UnknownLine,
}


class OutlineFrontend(Frontend):
    """Reads outlines: one line per step, keywords such as `choose:` with lines inside them, fields
    behind bars (`check order | clerk | s1`)."""

    name = "outline"
    suffixes = (".outline", ".txt")
    rules = (NotOutline, MisreadOutline, EndedBranch, UnknownLine)
    summary = "a process as an indented outline, one line per step"
    formats = True

    def sniff(self, source: SourceFile) -> bool:
        """A matching file name, or text of which a third of the lines have a keyword or cite a
        sentence, and few have arrows."""
        if source.path.lower().endswith(".outline"):
            return True
        head = source.data[:4096].decode("utf-8", "replace")
        lines = [line for line in head.splitlines() if line.strip()]
        keywords = len(re.findall(_KEYWORD_LINE, head))
        matching = keywords + len(re.findall(_FIELD_LINE, head))
        arrows = sum(1 for line in lines if re.search(_ARROW, line))
        if not keywords or matching < 2:
            return False
        return matching * 3 > len(lines) and arrows * 3 <= len(lines)

    def parse(self, source: SourceFile, ctx: PassContext) -> Model | None:
        """The model, or `None` after OF076 to OF079."""
        outline = self._read_outline(source, ctx)
        return build.build_model(outline, source.path) if outline is not None else None

    def format_source(self, source: SourceFile, ctx: PassContext) -> str | None:
        """The outline in its canonical form, comments included."""
        outline = self._read_outline(source, ctx)
        return printer.print_outline(outline) if outline is not None else None

    def _read_outline(self, source: SourceFile, ctx: PassContext) -> Outline | None:
        """The lines of a file, if they have no fault."""
        utf16 = source.data.startswith((b"\xff\xfe", b"\xfe\xff"))
        text = source.data[:MAX_BYTES].decode("utf-16" if utf16 else "utf-8-sig", "replace")
        outline, faults = line_reader.read_outline(text)
        if len(source.data) > MAX_BYTES:
            ctx.emit(
                MisreadOutline, f"the file has more than {MAX_BYTES // 1024 // 1024} MB",
                loc=SourceLocation(file=source.path, line=1, column=1),
                help="split it into several files",
            )  # fmt: skip
            return None
        faults = (*faults, *checks.find_faults(outline))
        for fault in sorted(faults, key=lambda f: (f.line, f.column)):
            loc = SourceLocation(file=source.path, line=fault.line, column=fault.column)
            ctx.emit(_RULES[fault.kind], fault.message, loc=loc, help=fault.help)
        if faults:
            return None
        if not any(checks.split_processes(outline)):
            ctx.emit(
                NotOutline, "there is no step in the file",
                loc=SourceLocation(file=source.path, line=1, column=1),
                help="write one step per line, or name the right frontend with --from",
            )  # fmt: skip
            return None
        return outline
