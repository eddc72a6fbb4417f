"""The text reporter: diagnostics for people, with excerpts and runs."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar, TextIO

from orgflow_ir.diagnostics.diagnostic import Diagnostic, Step
from orgflow_ir.diagnostics.ordering import count_severities, order_diagnostics
from orgflow_ir.diagnostics.rule import Severity
from orgflow_ir.lazy_patterns import lazy_pattern
from orgflow_ir.model.printable import escape_controls, mask_controls
from orgflow_ir.model.records import dataclass
from orgflow_ir.model.source import SourceLocation
from orgflow_ir.plugins.contracts import Reporter

if TYPE_CHECKING:
    from orgflow_ir.reporting.streamed_lines import StreamedLines

FOLD_ABOVE = 5
"""More infos of one code than this are shown as one, unless `verbose` is set."""

FOLD_MANY = 20
"""The same limit for errors and warnings in a brief report."""

BRIEF = 8
"""Number of lines in a brief report, if errors and warnings leave room."""

_HARD = "\x00"
"""Marks a space at which lines do not break; `make_printable` removes it from all text."""

_COLOURS = {"error": "1;31", "warning": "1;33", "info": "1;36", "dim": "2", "bold": "1"}


_SHORT = 32
"""Longest label, with its quotes, that stays on one line."""


def _keep_together(label: re.Match[str]) -> str:
    return label[0].replace(" ", _HARD) if len(label[0]) <= _SHORT else label[0]


def summarise_findings(diagnostics: Iterable[Diagnostic], inputs: Iterable[str] = ()) -> str:
    """`2 errors, 1 warning in order.bpmn`; infos are counted only if there is no other finding."""
    diagnostics = list(diagnostics)
    numbers = count_severities(diagnostics)
    hidden = numbers.pop("suppressed", 0)
    shown = [(n, word) for word, n in numbers.items() if n and word != "info"]
    shown = shown or [(n, word) for word, n in numbers.items() if n]
    counted = ", ".join(f"{n} {word}{'s' if n > 1 else ''}" for n, word in shown) or "nothing found"
    counted += f", {hidden} suppressed" if hidden else ""
    names = list(dict.fromkeys(inputs))
    if not names:
        return counted
    if len(names) == 1:
        return f"{counted} in {make_printable(names[0])}"
    files = {d.loc.file if d.loc else None for d in diagnostics if d.suppressed is None}
    part = 0 if None in files else len(files.intersection(names))
    return f"{counted} in {f'{part} of ' if part else ''}{len(names)} files"


@dataclass(frozen=True, eq=False, repr=False)
class TextReporter(Reporter):
    """For people: place, severity, code, message, help, related places, excerpt with caret.

    `sources` maps file names to bytes, or to an object that reads lines again (for excerpts).
    `labels` maps file names to the labels of nodes and flows by id (for runs). `inputs` are the
    files in the summary. `width` is in columns. `brief` is for commands with another result: one
    line for all infos of a rule, and the same help only once. `quiet` leaves out infos and the
    summary. `outcome` is the result and the next step in a brief summary.
    """

    name: ClassVar[str] = "text"
    colour: bool = False
    verbose: bool = False
    brief: bool = False
    quiet: bool = False
    outcome: tuple[str, str] | None = None
    width: int = 80
    inputs: tuple[str, ...] = ()
    sources: Mapping[str, bytes | StreamedLines] = field(default_factory=dict)
    labels: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    name_of: Callable[[str, str], str] = lambda file, id: f"`{id}`"

    def report(self, diagnostics: Iterable[Diagnostic], out: TextIO) -> None:
        items = order_diagnostics(diagnostics)
        reported = [d for d in items if d.suppressed is None or self.verbose]
        in_full = not self.brief or self.verbose
        infos = [d for d in reported if d.severity is Severity.INFO]
        shown = reported if in_full and not self.quiet else reported[: len(reported) - len(infos)]
        spaced = in_full or any(d.severity is Severity.ERROR for d in shown)
        written = 0
        helped: set[tuple[str, str | None]] = set()
        for item, more in self._fold_alike(shown):
            again = not in_full and item.help is not None and (item.code, item.help) in helped
            helped.add((item.code, item.help))
            lines = list(self._finding_lines(item, excerpt=spaced and not again, help_=not again))
            if more:
                lines.append(
                    self._paint_text("dim", f"  and {more} more {item.code} (-v shows them)")
                )
            written += len(lines)
            out.writelines(f"{line.rstrip()}\n" for line in (*lines, *([""] if spaced else [])))
        if self.quiet:
            return
        ending = self._ending_lines(items)
        rows = [] if in_full else self._rule_rows(infos, BRIEF - written - len(ending))
        out.writelines(f"{line}\n" for line in (*rows, *ending))

    def _rule_rows(self, infos: Sequence[Diagnostic], room: int) -> Iterator[str]:
        """A line a rule with the number of its findings and the first of them, in at most `room`
        lines; the most frequent rules first."""
        by_code: dict[str, list[Diagnostic]] = {}
        for d in infos:
            by_code.setdefault(d.code, []).append(d)
        groups = sorted(by_code.values(), key=lambda group: (-len(group), group[0].code))
        shown = groups if len(groups) <= room else groups[: max(room - 1, 0)]
        wide = len(str(len(groups[0]))) if groups else 0
        for group in shown:
            first = group[0]
            text = (
                f"{len(group):>{wide}} {first.name} ({first.code}): {make_printable(first.message)}"
            )
            yield _cut_text(text, self.width)
        rest = groups[len(shown) :]
        if rest and room > 0:
            named = ", ".join(f"{len(group)} {group[0].name} ({group[0].code})" for group in rest)
            yield _cut_text(named, self.width)

    def _ending_lines(self, items: Sequence[Diagnostic]) -> list[str]:
        """The summary: what was found, and where the command states it, what was made and what to
        do next."""
        if self.outcome is None:
            return [summarise_findings(items, self.inputs)] if items or self.inputs else []
        outcome_text, after = self.outcome
        numbers = count_severities(items)
        hidden = numbers.pop("suppressed", 0)
        counted = ", ".join(f"{n} {word}{'s' if n > 1 else ''}" for word, n in numbers.items() if n)
        counted = counted or "no findings"
        counted += f", {hidden} suppressed" if hidden else ""
        more = " (-v: all)" if numbers.get("info") and self.brief and not self.verbose else ""
        return self._wrap_text(
            f"{outcome_text}: {counted}{more}" + (f"; {after}" if after else ""), "", "  "
        )

    def _fold_alike(self, items: list[Diagnostic]) -> Iterator[tuple[Diagnostic, int]]:
        """The diagnostics to show, each with the number of its like left out after it."""
        alike: dict[tuple[str, Severity], int] = {}
        for d in items:
            alike[d.code, d.severity] = alike.get((d.code, d.severity), 0) + 1
        folded: set[tuple[str, Severity]] = set()
        for d in items:
            key = d.code, d.severity
            info = d.severity is Severity.INFO
            most = FOLD_ABOVE if info else FOLD_MANY
            if self.verbose or alike[key] <= most or not (info or self.brief):
                yield d, 0
            elif key not in folded:
                folded.add(key)
                yield d, alike[key] - 1

    def _paint_text(self, style: str, text: str) -> str:
        return f"\x1b[{_COLOURS[style]}m{text}\x1b[0m" if self.colour else text

    def _wrap_text(self, text: str, first: str, rest: str) -> list[str]:
        # A short label stays on one line: its spaces are hidden from the wrapping.
        whole = re.sub(r"`[^`]+`", _keep_together, make_printable(text))
        lines = textwrap.wrap(
            whole,
            self.width,
            initial_indent=first,
            subsequent_indent=rest,
            break_long_words=False,
            break_on_hyphens=False,
        )
        return [line.replace(_HARD, " ") for line in lines]

    def _finding_lines(
        self, d: Diagnostic, *, excerpt: bool = True, help_: bool = True
    ) -> Iterator[str]:
        place = (
            f"{self._paint_text('bold', make_printable(str(d.loc)))}: " if d.loc is not None else ""
        )
        word = self._paint_text(d.severity.value, d.severity.value)
        if d.suppressed is not None:
            word = self._paint_text("dim", f"suppressed {d.severity.value}")
        yield f"{place}{word} {d.code} [{d.name}]"
        yield from self._wrap_text(d.message, "  ", "  ")
        if excerpt:
            yield from self._excerpt_lines(d.loc)
        for related in d.related:
            where = f"{related.loc}: " if related.loc is not None else ""
            yield from self._wrap_text(where + related.message, "  also: ", "        ")
        if d.trace:
            yield from self._wrap_text(self._trace_text(d), "  run: ", "       ")
        if d.help and help_:
            yield from self._wrap_text(d.help, "  help: ", "        ")
        if d.suppressed is not None:
            yield from self._wrap_text(d.suppressed, "  accepted: ", "            ")
        if d.fix is not None:
            yield from self._wrap_text(
                f"{d.fix.title} ({d.fix.applicability})", "  fix: ", "       "
            )

    def _trace_text(self, d: Diagnostic) -> str:
        """The run as people tell it: what has a name, and which way was taken."""
        labels = self.labels.get(d.loc.file if d.loc is not None else "", {})
        steps = [
            text for step in _tellable_steps(d.trace, labels) if (text := _step_text(*step, labels))
        ]
        if steps:
            return " → ".join(steps)
        file = d.loc.file if d.loc is not None else ""  # nothing has a label
        return " → ".join(self.name_of(file, element) for element in _list_elements(d.trace))

    def _excerpt_lines(self, loc: SourceLocation | None) -> Iterator[str]:
        if loc is None or loc.line is None:
            return
        source = self.sources.get(loc.file)
        if source is None or isinstance(source, bytes):
            text = _read_line(source, loc.line)
        else:
            text = source.line(loc)
        if text is None:
            if loc.quote is None:
                return
            text, column = loc.quote.strip().split("\n")[0], None
        else:
            column = loc.column
        number = str(loc.line)
        room = max(self.width - len(number) - 5, 20)
        shown, caret = _cut_window(text, column, room)
        yield self._paint_text("dim", f"  {number} | ") + shown
        if caret is not None:
            yield self._paint_text("dim", f"  {' ' * len(number)} | ") + " " * caret + "^"


def _tellable_steps(
    trace: Iterable[Step], labels: Mapping[str, str]
) -> Iterator[tuple[Step, str, bool]]:
    """The steps that have something to tell, each with what is said of it (`begins`, `is done`
    where other steps are told between the two) and whether it has been told before."""
    steps = [s for s in trace if _has_name(s, labels)]
    steps_told: set[tuple[str, int]] = set()
    begun: set[tuple[str, int]] = set()
    for i, step in enumerate(steps):
        key = step.element, step.instance
        after = steps[i + 1] if i + 1 < len(steps) else None
        if step.action == "open":
            if after is not None and after.action == "done" and key == (after[1], after[3]):
                continue  # told at once
            begun.add(key)
        says = {"open": "begins", "done": "is done" if key in begun else ""}.get(step.action, "")
        again = key in steps_told and says != "is done"
        steps_told.add(key)
        if step.action != "open":
            begun.discard(key)
        yield step, says, again


def _list_elements(trace: Sequence[Step]) -> Iterator[str]:
    """The elements of a run in order, one that waits once."""
    for step, after in zip(trace, (*trace[1:], None), strict=True):
        done = after is not None and after.action == "done" and after.element == step.element
        if not (step.action == "open" and done):
            yield step.element


def _has_name(step: Step, labels: Mapping[str, str]) -> bool:
    """Whether a step has a name, or takes a way that has one."""
    name = labels.get(step.element, step.element)
    named = name != step.element or step.element not in labels
    return named or any(labels.get(f, f) != f for f in step.taken)


def _step_text(step: Step, says: str, again: bool, labels: Mapping[str, str]) -> str:
    name = labels.get(step.element, step.element)
    flow_labels = [w for f in step.taken if (w := labels.get(f, f)) != f]
    takes = " and ".join(f"`{w}`" for w in flow_labels)
    if name == step.element and step.element in labels:
        return f"takes {takes}"
    words = [f"`{name}`", says, "again" if again else "", f"takes {takes}" if flow_labels else ""]
    return " ".join(w for w in words if w)


def make_printable(text: str) -> str:
    """`text` on one line, with control characters made visible, since a label must not control the
    terminal."""
    return escape_controls(re.sub(r"[\t\n\r\f\v ]+", " ", text))


def _cut_text(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}…"


_DECLARED = lazy_pattern(rb"<\?xml[^>]{0,100}encoding=[\"']([\w.-]+)")


@lru_cache(maxsize=8)
def _as_utf8(data: bytes) -> bytes:
    """The file in UTF-8, by its byte order mark or its XML declaration; as it is where it has
    neither, or they are wrong."""
    declared = _DECLARED.match(data[:200])
    encoding = declared[1].decode("ascii") if declared else "utf-8"
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        encoding = "utf-16"
    try:
        return data.decode(encoding).encode("utf-8", "replace")
    except (LookupError, UnicodeDecodeError):
        return data


def _read_line(data: bytes | None, number: int) -> str | None:
    if data is None:
        return None
    data = _as_utf8(data)
    at = 0
    for _ in range(number - 1):
        at = data.find(b"\n", at) + 1
        if at == 0:
            return None
    end = data.find(b"\n", at)
    return data[at : end if end >= 0 else len(data)].decode("utf-8", "replace").rstrip("\r")


def _cut_window(text: str, column: int | None, room: int) -> tuple[str, int | None]:
    """The part of a line that fits into `room` columns, without its indentation, and where in it
    the caret stands."""
    at = len(text) - len(text.lstrip()) if column is None else min(column - 1, len(text))
    start = min(len(text) - len(text.lstrip()), at)
    if at - start > room - 20:
        start = at - 8
    shown = text[start:].replace("\t", " ")
    head = "…" if start > len(text) - len(text.lstrip()) else ""
    shown = head + shown
    if len(shown) > room:
        shown = shown[: room - 1] + "…"
    return mask_controls(shown), None if column is None else at - start + len(head)
