"""The results of runs, as text of 80 columns: a table with the executed steps, then the
failures."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from orgflow.evaluation.wording import choices_line

if TYPE_CHECKING:
    from orgflow.evaluation.failures import Failure
    from orgflow.evaluation.replay import ReplayReport, RunReport

    from orgflow_ir.plugins.runners import WorkflowReport

WIDTH = 80
_FIRST, _LAST = 60, 20
_CODE = re.compile(r"OF\d{3}")


REDRAWN = (
    "read from a workflow: a model of it was compiled again, so its own conditions and Code nodes "
    "are not executed, and nothing is said about them"
)
"""The first line about runs of a workflow that was read as a model."""


def report_text(
    report: ReplayReport,
    failures: Sequence[Failure] = (),
    *,
    redrawn: frozenset[str] | None = None,
) -> str:
    """One row per run, the reasons of failures, then the sums. `redrawn` are the names of the nodes
    of the workflow that the model was read from: it is not what runs, and other steps are not
    shown."""
    if redrawn is not None:
        return _redrawn_text(report, failures, redrawn)
    lines: list[str] = []
    if report.runs:
        rows = [_run_row(number, run, report) for number, run in enumerate(report.runs, 1)]
        lines += [*format_table(("run", "result", "F1"), "what fired", rows), ""]
    for flow, reason in report.uncovered:
        lines += wrap_text(f"not taken by any run: `{report.labels.get(flow, flow)}`: {reason}")
    for line in report.unfinished:
        lines += wrap_text(f"not played: {line}")
    if report.left_out:
        is_single = report.left_out == 1
        more, them = (
            ("one more run", "it") if is_single else (f"{report.left_out} more runs", "them")
        )
        lines += wrap_text(f"not executed: {more} of the model (--all-paths executes {them})")
    for change in dict.fromkeys(report.changed):
        lines += wrap_text(f"differs from the delivered workflow: {change}")
    lines += failure_lines(failures)
    equal = sum(r.verdict == "equal" for r in report.runs)
    covered, total = report.flows
    stubbed = sum(r.verdict == "stub" for r in report.runs)
    at_stubs = f", {stubbed} stopped at {'a stub' if stubbed == 1 else 'stubs'}" if stubbed else ""
    lines += wrap_text(
        f"{equal} of {len(report.runs)} runs conform to the model{at_stubs}, mean F1 "
        f"{report.f1:.3f}, {covered} of {total} flows covered"
    )
    return "\n".join(lines) + "\n"


def workflow_text(report: WorkflowReport, failures: Sequence[Failure] = ()) -> str:
    """The replaced nodes, one row per run, the reasons of failures, then the sums."""
    lines: list[str] = []
    for replaced in report.replaced:
        lines += wrap_text(f"replaced: {replaced}")
    if report.replaced:
        lines += wrap_text("nothing is said about these nodes, nor about errors behind them")
        lines.append("")
    rows = []
    for number, run in enumerate(report.runs, 1):
        texts = [chain_steps(run.executed)]
        result = "ran"
        if run.status != "success":
            result = "fails" if run.is_known else "open"
            place = f"at `{run.failed}`: " if run.failed else ""
            texts.append(f"! {place}{run.error or run.status}")
        if result == "open":
            texts.append("! the data of this run is invented, so this may be no fault")
        rows.append(((str(number), result), texts))
    if rows:
        lines += [*format_table(("run", "result"), "what fired", rows), ""]
    lines += failure_lines(failures)
    failed = sum(run.status != "success" and run.is_known for run in report.runs)
    lines += wrap_text(
        f"{len(report.runs) - failed} of {len(report.runs)} runs did not fail by themselves; "
        "orgflow did not compile this workflow, so they are compared with no model"
    )
    return "\n".join(lines) + "\n"


def _redrawn_text(report: ReplayReport, failures: Sequence[Failure], names: frozenset[str]) -> str:
    """The replaced nodes first, then the runs without figures of conformance."""
    lines = wrap_text(REDRAWN)
    for change in dict.fromkeys(report.changed):
        lines += wrap_text(f"replaced: {change}")
    lines.append("")
    rows = []
    for number, run in enumerate(report.runs, 1):
        own = run._replace(executed=tuple(name for name in run.executed if name in names))
        (_, result, _), texts = _run_row(number, own, report)
        rows.append(((str(number), "ran" if result == "equal" else result), texts))
    if rows:
        lines += [*format_table(("run", "result"), "what fired", rows), ""]
    lines += failure_lines(failures)
    ran = sum(run.verdict == "equal" for run in report.runs)
    lines += wrap_text(
        f"{ran} of {len(report.runs)} runs follow the connections; what the replaced nodes decide "
        "and compute is not known"
    )
    return "\n".join(lines) + "\n"


def _run_row(
    number: int, run: RunReport, report: ReplayReport
) -> tuple[tuple[str, ...], list[str]]:
    labels = report.labels
    texts = [chain_steps(run.executed)]
    choices = choices_line(run.run.choices, lambda element: labels.get(element, element))
    if choices:
        texts.append(f"chose: {choices}")
    if run.verdict != "equal":
        texts.append(f"! {run.divergence or run.verdict}")
        if run.missing:
            texts.append(f"! did not run: {', '.join(run.missing)}")
        texts.append(f"! precision {run.precision:.2f}, recall {run.recall:.2f}")
    return (str(number), run.verdict, f"{run.f1:.2f}"), texts


def chain_steps(names: Sequence[str]) -> str:
    """The executed steps in order; of a long run, only its beginning and end."""
    shown = [one_line(name) for name in names]
    if len(shown) > _FIRST + _LAST:
        left_out = len(shown) - _FIRST - _LAST
        shown = [*shown[:_FIRST], f"… ({left_out} more) …", *shown[-_LAST:]]
    return " → ".join(shown) or "nothing"


def failure_lines(failures: Iterable[Failure]) -> list[str]:
    """The reasons of failures and their remedies, one after the other."""
    lines: list[str] = []
    for failure in failures:
        if _CODE.fullmatch(failure.rule) and failure.failure_stage == "logical":
            continue  # a finding, which is shown with its place
        who = "" if failure.failure_source == "unknown" else f"{failure.failure_source}, "
        lines += wrap_text(f"failure: {failure.root_cause} ({who}{failure.confidence} confidence)")
        lines += wrap_text(f"  help: {failure.suggested_fix}")
    return lines


def format_table(
    heads: Sequence[str], last: str, rows: Sequence[tuple[Sequence[str], Sequence[str]]]
) -> list[str]:
    """Narrow columns, then one that fills the remaining of 80 columns and wraps; each row may have
    several paragraphs there. The first column and those of numbers are aligned right."""
    cells = [list(heads), *(list(row) for row, _ in rows)]
    wide = [max(len(row[i]) for row in cells) for i in range(len(heads))]
    numbers = [i == 0 or all(_is_number(row[i]) for row in cells[1:]) for i in range(len(heads))]
    indent = sum(wide) + 2 * len(wide)
    lines = []
    for row, texts in zip(cells, [[last], *(texts for _, texts in rows)], strict=True):
        shown = [
            c.rjust(w) if n else c.ljust(w) for c, w, n in zip(row, wide, numbers, strict=True)
        ]
        first = "  ".join([*shown, ""])
        for paragraph in texts:
            lines += _fold_text(paragraph, first, " " * indent)
            first = " " * indent
    return lines


def _fold_text(text: str, first: str, rest: str) -> list[str]:
    return textwrap.wrap(
        one_line(text), WIDTH, initial_indent=first, subsequent_indent=rest,
        break_on_hyphens=False,
    ) or [first.rstrip()]  # fmt: skip


def wrap_text(text: str) -> list[str]:
    """A line of at most 80 columns, and its continuation below it."""
    start = text[: len(text) - len(text.lstrip())]
    return textwrap.wrap(
        one_line(text), WIDTH, initial_indent=start, subsequent_indent=start + "  ",
        break_long_words=False, break_on_hyphens=False,
    )  # fmt: skip


def one_line(text: str) -> str:
    """Text that moves no cursor of a terminal: non-printing characters become U+FFFD."""
    words = " ".join(text.split())
    return "".join(c if c.isprintable() else "\ufffd" for c in words)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()
