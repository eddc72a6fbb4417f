"""Reads the lines of a draft as an outline or as graph lines, and finds what a program proves to be
wrong in them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from orgflow.agents.language.sentences import Sentence
from orgflow.agents.model_client.answer_reading import fenced_text
from orgflow.agents.prompting import visible_text
from orgflow.agents.text.citations import cite_sentences
from orgflow.agents.text.coverage import Coverage, measure_coverage
from orgflow.agents.text.drafts import draft_errors

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model import Model
from orgflow_ir.model.element_names import one_line
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.agents import Document

ELEMENT_LIMIT = 400
"""A draft with more steps, or with more than three per sentence, is not a draft of the text."""

OUTLINE, GRAPH_LINES = "outline", "triples"
"""The frontends that read drafts."""

NEVER_RUNS = "OF207"
"""The code of a step that no run reaches."""

_MOST_UNREAD = 30
"""Maximum number of lines that are left out of a draft."""

_ARROW = re.compile(r"->|→|=>")
_CITING = re.compile(r"\|\s*s\d")
_KEYWORD = re.compile(
    r"\s*(?:start|end|stop|choose|if|else|together|row|some|first|on|repeat|again(?: if)?|leave"
    r"|part|each|wait|receive|send|call|go to|process)\??:",
    re.IGNORECASE,
)
_PROSE = re.compile(r"[^|]*[.:!?][\"'*)]*\s*")


class UnreadLine(NamedTuple):
    """A line of a draft that its reader refuses: its number, its text, and the message."""

    number: int
    text: str
    message: str


class Candidate(NamedTuple):
    """A draft that was read, with what is wrong about it.

    Attributes:
        lines: the lines as the language model wrote them.
        model: their process, without unread lines; `None` if they contain none.
        faults: what a program proves to be wrong, one sentence each.
        covered: what the process uses of the text.
        errors: the faults of the flow.
        unread: the lines that the process does not contain.
        numbers: the number of the line of each element.
    """

    lines: tuple[str, ...]
    model: Model | None
    faults: tuple[str, ...]
    covered: Coverage | None = None
    errors: tuple[Diagnostic, ...] = ()
    unread: tuple[UnreadLine, ...] = ()
    numbers: Mapping[str, int] = {}

    @property
    def text(self) -> str:
        """The lines as one text."""
        return "\n".join(self.lines)

    @property
    def badness(self) -> int:
        """The number of faults."""
        return 1_000_000 if self.model is None else len(self.faults)


def split_answer(answer: str) -> tuple[str, ...]:
    """The lines of an answer without reasoning, fences, empty lines, and sentences around the
    outline."""
    rows = [row.rstrip() for row in visible_text(fenced_text(answer)).splitlines()]
    rows = [row for row in rows if row.strip() and not row.lstrip().startswith(("```", "~~~"))]
    rows = rows[: ELEMENT_LIMIT * 4]
    while rows and _is_prose(rows[0]):
        rows.pop(0)
    while rows and _is_prose(rows[-1]):
        rows.pop()
    return tuple(rows)


def _is_prose(row: str) -> bool:
    """Whether a row at the edge of an answer is a sentence to the reader."""
    unindented = not row[:1].isspace()
    return (
        unindented and not _KEYWORD.match(row) and not _ARROW.search(row)
        and _PROSE.fullmatch(row) is not None
    )  # fmt: skip


def read_candidate(
    lines: Sequence[str],
    document: Document,
    sentences: tuple[Sentence, ...],
    agent: str,
    ctx: PassContext,
) -> Candidate:
    """The draft in these lines. Raises `LookupError` if a frontend is not registered."""
    lines = tuple(lines)
    keywords = any(map(_KEYWORD.match, lines))
    flows = any(_ARROW.search(line) and "|" not in line for line in lines)
    reader = GRAPH_LINES if flows and not keywords else OUTLINE
    if reader == OUTLINE and not keywords and not any(map(_CITING.search, lines)):
        return Candidate(lines, None, ("no line is one of an outline",))
    drafted, unread = _parse_lines(lines, reader, ctx)
    if drafted is None:
        faults = tuple(f"line {row.number}: {row.message}" for row in unread)
        return Candidate(lines, None, faults or ("no line is a step",), unread=unread)
    steps = sum(
        node.kind in ("task", "call-activity") for scope in drafted.scopes() for node in scope.nodes
    )
    most = min(ELEMENT_LIMIT, 3 * len(sentences) + 10)
    if steps > most:
        return Candidate(lines, None, (f"there are {steps} steps; at most {most}",))
    numbers = {
        element.id: element.loc.line
        for element in all_elements(drafted)
        if element.loc is not None and element.loc.line is not None
    }
    model = cite_sentences(drafted, document, sentences, agent)
    errors = draft_errors(model, ctx, also=(NEVER_RUNS,))
    faults = (
        *(f"line {row.number}: {row.message}" for row in unread),
        *(describe_error(error, numbers) for error in errors),
    )
    covered = measure_coverage(model, sentences)
    return Candidate(lines, model, faults, covered, errors, unread, numbers)


def _parse_lines(
    lines: tuple[str, ...], reader: str, ctx: PassContext
) -> tuple[Model | None, tuple[UnreadLine, ...]]:
    """The model of the lines that can be read, and the others. Lines inside an unread one are left
    out with it."""
    if ctx.registry is None or reader not in ctx.registry.frontends:
        raise LookupError(f"there is no frontend `{reader}`")
    left = list(lines)
    unread: dict[int, UnreadLine] = {}
    while True:
        own = PassContext(registry=ctx.registry)
        data = "\n".join(left).encode("utf-8", "replace")
        drafted = ctx.registry.frontends[reader].parse(SourceFile("draft", data), own)
        places = [
            (d.loc.line, d) for d in own.diagnostics
            if d.loc is not None and d.loc.line is not None and d.loc.line <= len(left)
        ]  # fmt: skip
        new = [(number, d) for number, d in places if left[number - 1]]
        for number, diagnostic in new:
            message = one_line(diagnostic.message)
            if diagnostic.help:
                message = f"{message}; {one_line(diagnostic.help)}"
            row = UnreadLine(number, left[number - 1].strip(), message)
            unread.setdefault(number, row)
        if drafted is not None or not new or len(unread) > _MOST_UNREAD:
            return drafted, tuple(unread[number] for number in sorted(unread))
        for number, _ in new:
            _blank_block(left, number - 1)


def _blank_block(lines: list[str], first: int) -> None:
    """Empty a line and the lines inside it."""
    width = _indent_width(lines[first])
    lines[first] = ""
    for number in range(first + 1, len(lines)):
        if lines[number] and _indent_width(lines[number]) <= width:
            return
        lines[number] = ""


def _indent_width(line: str) -> int:
    expanded = line.expandtabs(2)
    return len(expanded) - len(expanded.lstrip())


def describe_error(diagnostic: Diagnostic, numbers: Mapping[str, int]) -> str:
    """An error of the flow with its line and the run that shows it: as lines if the elements have
    numbers, otherwise as elements."""
    run = [str(step.element) for step in diagnostic.trace]
    if not numbers:
        shown = " → ".join(one_line(element) for element in run[:_LONGEST_RUN])
        return f"{one_line(diagnostic.message)}{f'; a run: {shown}' if shown else ''}"
    near = (diagnostic.element or "", *(r.element or "" for r in diagnostic.related), *run[::-1])
    number = next((numbers[id] for id in near if id in numbers), None)
    place = f"line {number}: " if number else ""
    lines = [numbers[id] for id in run if id in numbers]
    passed = [str(n) for n, before in zip(lines, (0, *lines), strict=False) if n != before]
    shown = f"; a run through lines {', '.join(passed[:_LONGEST_RUN])}" if passed else ""
    return f"{place}{one_line(diagnostic.message)}{shown}"


_LONGEST_RUN = 12
"""Maximum number of steps of a run that are shown."""
