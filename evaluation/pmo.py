"""The PMo benchmark: compile every model, replay every enumerated run on the real engine.

Columns are those of the published evaluation (SEEDS.md, "report"), followed by orgflow's own.
Published: an LLM's workflows pass the pipeline for 32 of 55 models, mean trace F1 0.837 over 39
that execute.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from orgflow.evaluation.charts import Bar, BarChart, Charts, chart_counts, measure_share
from orgflow.evaluation.failures import (
    Failure,
    by_diagnostics,
    by_message,
    by_replay,
    unexplained_failure,
)
from orgflow.evaluation.replay import ReplayReport, replay_model
from orgflow.evaluation.tables import csv_text

from orgflow_ir.diagnostics import Severity
from orgflow_ir.model import Gateway, Model, Task
from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.services import Progress
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.plugins.engines import RemoteError
from orgflow_ir.plugins.runners import Runner
from orgflow_ir.targets.artifact import Emitted

PUBLISHED_PASS = (32, 55)
"""Models that passed the published full pipeline, of how many."""
PUBLISHED_F1 = 0.837
"""Published mean trace F1, over the 39 models that executed."""

COLUMNS = (
    "model_id", "num_elements", "num_tasks", "num_gateways", "num_seq_flows", "regen_success",
    "regen_pass_at", "regen_attempts", "regen_tokens", "pipeline_status", "f1", "failure_stage",
    "failure_source", "missing_nodes", "format", "runs", "runs_equal", "flows_covered",
    "flows_total", "codes", "reason", "same_as_bpmn", "compile_ms", "replay_ms", "failure_rule",
    "is_fixable", "root_cause", "bpmn_construct_responsible", "suggested_fix", "severity",
    "confidence", "evidence",
)  # fmt: skip

SUFFIXES = {"bpmn": ".bpmn", "pme": ".json"}


class Compiled(NamedTuple):
    """A model and its compiled form."""

    model: Model
    emitted: Emitted


Compiler = Callable[[Path, str, PassContext], tuple[Model | None, Compiled | None]]
"""Reads a file in a format and compiles it; `(model, None)` if it was refused."""


@dataclass
class PmoReport:
    """Rows in the order of models; `complete` is false after an interruption."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    complete: bool = False

    @property
    def ok(self) -> bool:
        """Whether every model was either compiled and replayed correctly, or refused with a
        code."""
        return self.complete and all(
            r["pipeline_status"] == "pass" or (r["pipeline_status"] == "regen_fail" and r["codes"])
            for r in self.rows
        )

    def to_csv(self) -> str:
        """The rows as CSV text."""
        return csv_text(COLUMNS, self.rows)

    def charts(self) -> Charts:
        """The figures as charts."""
        return _build_charts(self.rows)

    def summary(self) -> str:
        """The figures with the published ones, and every model that did not pass with its
        reason."""
        lines = [
            f"{'':34}{'orgflow':>16}{'published':>14}",
        ]
        for name in dict.fromkeys(r["format"] for r in self.rows):
            rows = [r for r in self.rows if r["format"] == name]
            lines += _format_figures(name, rows)
        same = [r for r in self.rows if r["same_as_bpmn"] != ""]
        if same:
            equal = sum(1 for r in same if r["same_as_bpmn"] is True)
            lines.append(f"{'PME gives the same as BPMN':34}{f'{equal} of {len(same)}':>16}")
        refused = [r for r in self.rows if r["pipeline_status"] != "pass"]
        if refused:
            lines += ["", "not passed:"]
            lines += [
                f"  {r['model_id']} ({r['format']}): {r['pipeline_status']} {r['codes']} "
                f"{r['reason']}".rstrip()
                for r in refused
            ]
        if not self.complete:
            lines += ["", f"interrupted after {len(self.rows)} models"]
        return "\n".join(lines) + "\n"


def _build_charts(rows: Sequence[dict[str, Any]]) -> Charts:
    """The shares of each format beside the published ones, and the codes of refusals."""
    passed, f1, runs, flows = [], [], [], []
    for name in dict.fromkeys(r["format"] for r in rows):
        own = [r for r in rows if r["format"] == name]
        played = [r for r in own if r["runs"]]
        passed.append(
            measure_share(name, sum(r["pipeline_status"] == "pass" for r in own), len(own))
        )
        mean = sum(r["f1"] for r in played) / len(played) if played else 0.0
        f1.append(Bar(name, mean, f"{mean:.3f}"))
        equal, all_runs = sum(r["runs_equal"] for r in own), sum(r["runs"] for r in own)
        runs.append(measure_share(name, equal, all_runs))
        covered = sum(r["flows_covered"] for r in played)
        flows.append(measure_share(name, covered, sum(r["flows_total"] for r in played)))
    passed.append(measure_share("published", *PUBLISHED_PASS, published=True))
    f1.append(Bar("published", PUBLISHED_F1, f"{PUBLISHED_F1:.3f}", published=True))
    codes = Counter(
        code for r in rows if r["pipeline_status"] != "pass" for code in r["codes"].split() or ["-"]
    )
    return Charts(
        (
            BarChart("models passed", tuple(passed)),
            BarChart("mean F1 over models that ran", tuple(f1)),
            BarChart("runs equal to the model", tuple(runs)),
            BarChart("flows covered", tuple(flows)),
            *chart_counts("not passed, by code", codes),
        )
    )


def _format_figures(name: str, rows: Sequence[dict[str, Any]]) -> Iterator[str]:
    passed = [r for r in rows if r["pipeline_status"] == "pass"]
    played = [r for r in rows if r["runs"]]
    runs = sum(r["runs"] for r in rows)
    equal = sum(r["runs_equal"] for r in rows)
    f1 = sum(r["f1"] for r in played) / len(played) if played else 0.0
    covered = sum(r["flows_covered"] for r in played)
    total = sum(r["flows_total"] for r in played)
    ms = sum(r["compile_ms"] for r in rows) / len(rows) if rows else 0.0
    replay = sum(r["replay_ms"] for r in rows)
    yield f"{name}: models passed{'':<{max(0, 34 - len(name) - 15)}}" + (
        f"{f'{len(passed)} of {len(rows)}':>16}{'{} of {}'.format(*PUBLISHED_PASS):>14}"
    )
    yield f"{'  mean F1 over models that ran':34}{f'{f1:.3f}':>16}{PUBLISHED_F1:>14.3f}"
    yield f"{'  runs equal to the model':34}{f'{equal} of {runs}':>16}{'1 a model':>14}"
    yield f"{'  flows covered':34}{f'{covered} of {total}':>16}{'-':>14}"
    yield f"{'  attempts per model / tokens':34}{'1 / 0':>16}{'up to 3 / 11k':>14}"
    yield f"{'  compile, ms per model':34}{f'{ms:.1f}':>16}{'-':>14}"
    yield f"{'  replay, s in total':34}{f'{replay / 1000:.1f}':>16}{'-':>14}"


def evaluate_corpus(
    folder: Path,
    compiler: Compiler,
    backend: Backend,
    runner: Runner,
    *,
    formats: Sequence[str] = ("bpmn", "pme"),
    progress: Progress | None = None,
    max_runs: int | Mapping[str, int] = 32,
) -> PmoReport:
    """Compile and replay `folder/bpmn/*.bpmn` and `folder/pme/*.json`, at most `max_runs` runs of
    each model: one number for all formats, or one per model name.

    An interruption (Ctrl-C) ends it with the rows completed so far. Raises `FileNotFoundError` if a
    format's folder is missing or empty, and the exceptions of the runner if its engine is missing.
    """
    jobs: list[tuple[str, Path]] = []
    for name in formats:
        paths = sorted((folder / name).glob(f"*{SUFFIXES[name]}"))
        if not paths:
            raise FileNotFoundError(f"no *{SUFFIXES[name]} in {folder / name}")
        jobs += [(name, path) for path in paths]
    report = PmoReport()
    first: dict[str, tuple[str, ...]] = {}
    try:
        for index, (name, path) in enumerate(jobs):
            if progress is not None:
                progress(index, len(jobs), f"{name} {path.stem}")
            most = max_runs if isinstance(max_runs, int) else max_runs[name]
            report.rows.append(_evaluate_file(name, path, compiler, backend, runner, first, most))
        report.complete = True
    except KeyboardInterrupt:
        return report
    if progress is not None:
        progress(len(jobs), len(jobs), "")
    return report


def _evaluate_file(
    name: str,
    path: Path,
    compiler: Compiler,
    backend: Backend,
    runner: Runner,
    first: dict[str, tuple[str, ...]],
    max_runs: int,
) -> dict[str, Any]:
    ctx = PassContext()
    started = time.perf_counter()
    model, compiled = compiler(path, name, ctx)
    compile_ms = (time.perf_counter() - started) * 1000
    row: dict[str, Any] = dict.fromkeys(COLUMNS, "")
    row |= _count_sizes(model)
    row |= {
        "model_id": f"pmo-{path.stem}",
        "format": name,
        "regen_success": compiled is not None,
        "regen_pass_at": 1 if compiled else "",
        "regen_attempts": 1,
        "regen_tokens": 0,
        "runs": 0,
        "runs_equal": 0,
        "flows_covered": 0,
        "flows_total": 0,
        "f1": 0.0,
        "compile_ms": round(compile_ms, 2),
        "replay_ms": 0.0,
    }
    errors = [d for d in ctx.diagnostics if d.severity is Severity.ERROR]
    if compiled is None:
        failures = by_diagnostics(errors, model, backend.name) or (
            unexplained_failure("compile", ["no reason was given"]),
        )
        return (
            row
            | _failure_columns(failures[0])
            | {
                "pipeline_status": "regen_fail",
                "codes": " ".join(sorted({d.code for d in errors})),
                "reason": errors[0].message if errors else "no reason was given",
            }
        )
    shape = tuple(backend.shape(artifact) for artifact in compiled.emitted.artifacts)
    if name == "bpmn":
        first[path.stem] = shape
    elif path.stem in first:
        row["same_as_bpmn"] = first[path.stem] == shape
    started = time.perf_counter()
    try:
        replay = replay_model(
            compiled.model, compiled.emitted, runner, ctx, max_runs=max_runs, flow_only=True
        )
    except RemoteError as error:
        if error.everywhere:
            raise
        failure = by_message(error.stage, str(error), backend)
        return row | _failure_columns(failure) | {"pipeline_status": "fail", "reason": str(error)}
    took = round((time.perf_counter() - started) * 1000, 1)
    return row | _replay_columns(compiled.model, replay, backend) | {"replay_ms": took}


def _failure_columns(failure: Failure) -> dict[str, Any]:
    """The columns of a typed failure."""
    return {
        "failure_stage": failure.failure_stage,
        "failure_source": failure.failure_source,
        "failure_rule": failure.rule,
        "is_fixable": failure.is_fixable,
        "root_cause": failure.root_cause,
        "bpmn_construct_responsible": failure.bpmn_construct_responsible or "",
        "suggested_fix": failure.suggested_fix,
        "severity": failure.severity,
        "confidence": failure.confidence,
        "evidence": "|".join(failure.evidence),
    }


def _replay_columns(model: Model, replay: ReplayReport, backend: Backend) -> dict[str, Any]:
    wrong = next((r for r in replay.runs if r.verdict != "equal"), None)
    failures = () if replay.ok else by_replay(model, replay, backend)
    return (_failure_columns(failures[0]) if failures else {"failure_stage": "none"}) | {
        "pipeline_status": "pass" if replay.ok else "fail",
        "f1": round(replay.f1, 4),
        "missing_nodes": "|".join(dict.fromkeys(n for r in replay.runs for n in r.missing)),
        "runs": len(replay.runs),
        "runs_equal": sum(1 for r in replay.runs if r.verdict == "equal"),
        "flows_covered": replay.flows[0],
        "flows_total": replay.flows[1],
        "reason": (wrong.divergence or wrong.verdict) if wrong else "",
    }


def _count_sizes(model: Model | None) -> dict[str, int]:
    nodes = [n for s in model.scopes() for n in s.nodes] if model else []
    flows = sum(len(s.flows) for s in model.scopes()) if model else 0
    return {
        "num_elements": len(nodes),
        "num_tasks": sum(1 for n in nodes if isinstance(n, Task)),
        "num_gateways": sum(1 for n in nodes if isinstance(n, Gateway)),
        "num_seq_flows": flows,
    }
