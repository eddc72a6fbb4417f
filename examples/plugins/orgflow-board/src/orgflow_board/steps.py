"""The frontend `board`: lines of a whiteboard text with their places, nested by how far they are
set in; `reader.py` makes a process of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from orgflow_ir.model import Model, SourceFile, SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Frontend

from orgflow_board.rules import RULES, NoProcessLine, NotUtf8, OddIndent

MAX_DEPTH = 40


@dataclass
class Line:
    """A line with something on it: where it stands, and the lines that are set in under it."""

    text: str
    loc: SourceLocation
    depth: int
    under: list[Line] = field(default_factory=list)

    @property
    def word(self) -> str:
        """The first word."""
        return self.text.split(maxsplit=1)[0]

    @property
    def rest(self) -> str:
        """What stands behind the first word."""
        return self.text.removeprefix(self.word).strip()


class BoardFrontend(Frontend):
    """Reads a process that is written down line by line, with branches set in."""

    name = "board"
    suffixes = (".board",)
    rules = RULES
    summary = "a process as people write it on a whiteboard"

    def sniff(self, source: SourceFile) -> bool:
        """Whether the first word that is no comment is `process`."""
        lines = source.data.removeprefix(b"\xef\xbb\xbf").splitlines()
        said = [line.strip() for line in lines[:50] if line.strip()[:1] not in (b"", b"#")]
        return bool(said) and said[0].startswith(b"process ")

    def parse(self, source: SourceFile, ctx: PassContext) -> Model | None:
        """The model, or `None` after an error."""
        from orgflow_board.reader import Reader

        try:
            text = source.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = source.data.count(b"\n", 0, error.start) + 1
            loc = SourceLocation(file=source.path, line=line)
            ctx.emit(NotUtf8, "this is not text in UTF-8", loc=loc, help="save it in UTF-8")
            return None
        root = _nested(source, text, ctx)
        if root is None or ctx.has_errors:
            return None
        model = Reader(source.path, ctx).model(root)
        return None if ctx.has_errors else model


def _nested(source: SourceFile, text: str, ctx: PassContext) -> Line | None:
    """The line of the process with all others under it."""
    lines = _lines(source, text)
    if not lines or lines[0].word != "process" or not lines[0].rest:
        loc = lines[0].loc if lines else SourceLocation(file=source.path, line=1)
        help_text = "begin with a line such as `process Leave request`"
        ctx.emit(NoProcessLine, "the first line does not name a process", loc=loc, help=help_text)
        return None
    root = lines[0]
    open_: list[tuple[int, Line]] = [(-1, root)]
    for line in lines[1:]:
        while len(open_) > 1 and open_[-1][0] >= line.depth:
            open_.pop()
        known = [other.depth for other in open_[-1][1].under]
        if line.depth < 0 or (known and known[0] != line.depth):
            message = f"`{line.text}` is set in like no line before it"
            ctx.emit(OddIndent, message, loc=line.loc, help="use the same number of spaces")
            return None
        if len(open_) > MAX_DEPTH:
            message = f"`{line.text}` is the {len(open_)}th level"
            ctx.emit(OddIndent, message, loc=line.loc, help="write a process of its own for it")
            return None
        open_[-1][1].under.append(line)
        open_.append((line.depth, line))
    return root


def _lines(source: SourceFile, text: str) -> list[Line]:
    """Lines with something on them. A line that is set in with tabs has the depth -1."""
    found = []
    offset = len(source.data) - len(text.encode())  # a byte order mark
    for number, raw in enumerate(text.splitlines(keepends=True), 1):
        said = raw.partition("#")[0].strip()
        if said:
            column = raw.index(said)
            start = offset + len(raw[:column].encode())
            loc = SourceLocation(
                file=source.path,
                line=number,
                column=column + 1,
                span=(start, start + len(said.encode())),
                quote=said,
            )
            depth = column if not raw[:column].strip(" ") else -1
            found.append(Line(said, loc, depth))
        offset += len(raw.encode())
    return found
