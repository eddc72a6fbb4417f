"""Executable models: those that compile, those whose runs conform, and the remaining gaps.

For each model of a folder: whether it compiles with the options that leave the fewest gaps; whether
every enumerated run on the target's engine equals the token game; the number of empty
placeholders; and whether the model contains races or parallel waits, which targets that wait in
one place at a time do not support. Shares are counted with and without these models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from orgflow.evaluation.charts import BarChart, Charts, chart_counts, measure_share
from orgflow.evaluation.replay import ReplayReport, replay_model
from orgflow.evaluation.tables import csv_text

from orgflow_ir.diagnostics import Severity
from orgflow_ir.flow.concurrency.model_concurrency import concurrent_waits
from orgflow_ir.model import Model
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.records import dataclass
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.services import Progress
from orgflow_ir.plugins.engines import RemoteError
from orgflow_ir.plugins.runners import Runner
from orgflow_ir.targets import TargetSpec
from orgflow_ir.targets.artifact import Emitted

COLUMNS = (
    "model", "status", "compiled", "codes", "refused", "reason", "waits_beside", "runs",
    "runs_equal", "placeholders", "empty", "options",
)  # fmt: skip

WANTED = {"stubs": "workflow", "people": "form", "messages": "request"}
"""Options of targets that leave the fewest gaps: named work is called by its name, user tasks
become forms, and messages become requests to an address that is set later."""

LEAST_COMPILED, LEAST_EQUAL = 0.90, 0.75
"""Target shares for the models without races and parallel waits: those that compile, and those
whose runs conform without empty placeholders."""

_SHOWN = 3

Compiler = Callable[
    [Path, PassContext, Mapping[str, str]], tuple[Model | None, Sequence[tuple[Model, Emitted]]]
]
"""Reads and compiles a file with options: the model and its output, as a whole or process by
process; empty if it was refused."""

SEPARATELY = "each process separately"
"""Note next to the options of a file that compiles only process by process."""


def options_for(target: TargetSpec) -> dict[str, str]:
    """The options of `WANTED` that a target has."""
    return {k: v for k, v in WANTED.items() if _takes_option(target, k, v)}


def _takes_option(target: TargetSpec, option: str, value: str) -> bool:
    why_not = target.values.get(option)
    free = why_not is not None and why_not(value) is None
    return free or value in target.options.get(option, ())


@dataclass
class ExecutableReport:
    """Rows in the order of files; `complete` is false after an interruption.

    A row's `status` is `equal` (every run conforms, nothing empty), `open` (every run conforms,
    placeholders remain), `different`, `unplayed` (it compiles, but there is no run), or `refused`.
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    complete: bool = False

    @property
    def ok(self) -> bool:
        """Whether no run of a model that compiles differs from the model."""
        return self.complete and all(r["status"] != "different" for r in self.rows)

    def to_csv(self) -> str:
        """The rows as CSV text."""
        return csv_text(COLUMNS, self.rows)

    def summary(self) -> str:
        """Both shares, the reasons by count, and the models that are not part of the shares."""
        counted = [r for r in self.rows if not r["waits_beside"]]
        left_out = [r for r in self.rows if r["waits_beside"]]
        lines = [f"{'':42}{'all':>14}{'without waits beside':>24}"]
        for title, test in _FIGURES:
            cells = (_format_share(rows, test) for rows in (self.rows, counted))
            lines.append(f"{title:42}{next(cells):>14}{next(cells):>24}")
        runs = sum(r["runs"] for r in self.rows)
        equal = sum(r["runs_equal"] for r in self.rows)
        lines.append(f"{'runs equal to the model':42}{f'{equal} of {runs}':>14}")
        lines.append(
            f"{'aimed at':42}{'':>14}{f'{LEAST_COMPILED:.0%} compile, {LEAST_EQUAL:.0%}':>24}"
        )
        for title, rows in (("without waits beside", counted), ("all", self.rows)):
            reasons = Counter(reason for r in rows for reason in r["refused"].split("|") if reason)
            if reasons:
                lines += ["", f"models refused by reason, {title}:"]
                lines += [f"{number:6}  {reason}" for reason, number in reasons.most_common()]
        kinds = Counter(kind for r in counted for kind in r["empty"].split("|") if kind)
        if kinds:
            lines += ["", "models with empty placeholders by element, without parallel waits:"]
            lines += [f"{number:6}  {kind}" for kind, number in kinds.most_common()]
        wrong = [r for r in self.rows if r["status"] in ("different", "unplayed")]
        if wrong:
            lines += ["", "compiled but not equal:"]
            lines += [f"  {r['model']}: {r['status']} {r['reason']}".rstrip() for r in wrong]
        if left_out:
            lines += ["", f"races and parallel waits ({len(left_out)}):"]
            lines += [f"  {r['model']}: {r['waits_beside']}" for r in left_out]
        if not self.complete:
            lines += ["", f"interrupted after {len(self.rows)} models"]
        return "\n".join(lines) + "\n"

    def charts(self) -> Charts:
        """The shares and the reasons for refusals, as charts."""
        counted = [r for r in self.rows if not r["waits_beside"]]
        sides = (("all", self.rows), ("without waits beside", counted))
        bars = [
            BarChart(title, tuple(measure_share(label, sum(map(test, rows)), len(rows))
                                  for label, rows in sides))
            for title, test in _FIGURES
        ]  # fmt: skip
        runs = sum(r["runs"] for r in self.rows)
        equal = sum(r["runs_equal"] for r in self.rows)
        bars.append(BarChart("runs equal to the model", (measure_share("all", equal, runs),)))
        reasons = Counter(reason for r in self.rows for reason in r["refused"].split("|") if reason)
        kinds = Counter(kind for r in counted for kind in r["empty"].split("|") if kind)
        return Charts(
            (
                *bars,
                *chart_counts("models by status", Counter(r["status"] for r in self.rows)),
                *chart_counts("models refused, by reason", reasons),
                *chart_counts("models with empty placeholders, by element", kinds),
            )
        )


_FIGURES: tuple[tuple[str, Callable[[dict[str, Any]], bool]], ...] = (
    ("models that compile", lambda r: r["compiled"]),
    ("every run equal to the model", lambda r: r["status"] in ("equal", "open")),
    ("every run equal, no empty placeholder", lambda r: r["status"] == "equal"),
)


def _format_share(rows: Sequence[dict[str, Any]], test: Callable[[dict[str, Any]], bool]) -> str:
    number = sum(1 for row in rows if test(row))
    return f"{number} of {len(rows)} ({number / (len(rows) or 1):.0%})"


def evaluate_folder(
    folder: Path,
    suffixes: Sequence[str],
    compiler: Compiler,
    runner: Runner,
    options: Mapping[str, str],
    *,
    progress: Progress | None = None,
    max_runs: int = 32,
) -> ExecutableReport:
    """Compile and replay every file below a folder with one of the suffixes.

    An interruption (Ctrl-C) ends it with the rows done so far. Raises `FileNotFoundError` if there
    is no such file, and the exceptions of the runner if its engine is missing.
    """
    paths = sorted(p for p in folder.rglob("*") if p.is_file() and p.name.endswith(tuple(suffixes)))
    if not paths:
        raise FileNotFoundError(f"no model in {folder}")
    report = ExecutableReport()
    try:
        for index, path in enumerate(paths):
            name = path.relative_to(folder).as_posix()
            if progress is not None:
                progress(index, len(paths), name)
            row = _evaluate_file(path, compiler, runner, options, max_runs)
            report.rows.append(row | {"model": name})
        report.complete = True
    except KeyboardInterrupt:
        return report
    if progress is not None:
        progress(len(paths), len(paths), "")
    return report


def _evaluate_file(
    path: Path,
    compiler: Compiler,
    runner: Runner,
    options: Mapping[str, str],
    max_runs: int,
) -> dict[str, Any]:
    ctx = PassContext()
    model, compiled = compiler(path, ctx, options)
    row: dict[str, Any] = dict.fromkeys(COLUMNS, "")
    row |= {"compiled": bool(compiled), "runs": 0, "runs_equal": 0, "placeholders": 0}
    separately = [SEPARATELY] if any(part is not model for part, _ in compiled) else []
    row["options"] = ",".join([*(f"{k}={v}" for k, v in options.items()), *separately])
    if model is not None:
        beside = list(concurrent_waits(model, ctx))
        named = [f"{ctx.name(w.element)} ({w.element.construct}): {w.reason}" for w in beside]
        more = [f"{len(named) - _SHOWN} more"] if len(named) > _SHOWN else []
        row["waits_beside"] = join_listed([*named[:_SHOWN], *more]) if named else ""
    if model is None or not compiled:
        return row | _describe_refusal(ctx, model)
    elements = {n.id: n for scope in model.scopes() for n in scope.nodes}
    empty = [p for _, emitted in compiled for p in emitted.source_map.parts if p.placeholder]
    row["placeholders"] = len(empty)
    kinds = (elements[e].construct for p in empty for e in p.elements[:1] if e in elements)
    row["empty"] = "|".join(dict.fromkeys(kinds))
    try:
        replays = [
            replay_model(part, emitted, runner, ctx, max_runs=max_runs, flow_only=True)
            for part, emitted in compiled
        ]
    except RemoteError as error:
        if error.everywhere:
            raise
        return row | {"status": "different", "reason": str(error)}
    return row | _describe_replays(replays, bool(empty))


def _describe_refusal(ctx: PassContext, model: Model | None) -> dict[str, Any]:
    errors = [d for d in ctx.diagnostics if d.severity is Severity.ERROR]
    elements = {n.id: n for s in model.scopes() for n in s.nodes} if model is not None else {}
    reasons = (
        f"{d.code} {elements[d.element].construct if d.element in elements else d.name}"
        for d in errors
    )
    return {
        "status": "refused",
        "codes": " ".join(sorted({d.code for d in errors})),
        "refused": "|".join(dict.fromkeys(reasons)) or "no reason was given",
        "reason": errors[0].message if errors else "",
    }


def _describe_replays(replays: Sequence[ReplayReport], empty: bool) -> dict[str, Any]:
    runs = [run for replay in replays for run in replay.runs]
    wrong = next((r for r in runs if r.verdict != "equal"), None)
    columns = {"runs": len(runs), "runs_equal": sum(1 for r in runs if r.verdict == "equal")}
    if wrong is not None:
        reason = f"{wrong.verdict}: {wrong.divergence or ''}".rstrip(": ")
        return columns | {"status": "different", "reason": reason}
    fault = next((fault for replay in replays for fault in replay.faults), None)
    if fault is not None:
        return columns | {"status": "different", "reason": f"{fault.element}: {fault.message}"}
    if not all(replay.runs for replay in replays):
        reason = "; ".join(text for replay in replays for text in replay.unfinished)
        return columns | {"status": "unplayed", "reason": reason}
    return columns | {"status": "open" if empty else "equal"}
