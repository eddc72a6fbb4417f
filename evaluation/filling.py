"""The filling benchmark: operations, variables and parameters of tasks compared with the truth.

A folder contains models and, for each, `NAME.filled.json` with the truth about its open tasks:

    {"Send_invoice": {"operation": "mail-nodes.send:email",
                      "parameters": {"subject": "Invoice"},
                      "inputs": {"toEmail": "customer.email"}, "outputs": {}}}

The version of a node type is left out. The measures are those of WorkTeam: exact match of whole
models, arrangement (every task of a model has the right operation), and parameters; and pass@k over
several samples.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from orgflow.evaluation.charts import Charts, TableRows, columns_as_charts
from orgflow.evaluation.pass_at_k import by_name, pass_lines
from orgflow.evaluation.tables import csv_text, table_lines

from orgflow_ir.model import Model, Task
from orgflow_ir.model.bindings import ACCOUNTS, CATALOGUE, Worker
from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.pipeline.services import Cancelled, Progress, no_progress

TRUTH = ".filled.json"
COLUMNS = (
    "model", "sample", "tasks", "filled", "operations", "parameters", "right", "arranged", "exact",
    "tokens", "seconds",
)  # fmt: skip
MEASURES = ("exact match", "arrangement", "parameters", "operations")
PUBLISHED = (
    ("WorkTeam (other data)", (0.527, 0.889, 0.732, None)),
    ("GPT-4o alone (other data)", (0.181, 0.714, 0.563, None)),
)
"""Published figures in the order of `MEASURES`, from other instructions and components: for
orientation only."""


class Filling(NamedTuple):
    """The implementation of a task: an operation without its version, and every parameter by its
    path; inputs and outputs as (`in` or `out`, FEEL)."""

    operation: str
    parameters: Mapping[str, Any]


class FilledModel(NamedTuple):
    """A filled model, and its usage."""

    model: Model
    tokens: int = 0
    seconds: float = 0.0


Filler = Callable[[Path], FilledModel | None]


class TruthError(ValueError):
    """A file without a valid truth; the message gives the reason."""


def read_truth(text: str) -> dict[str, Filling]:
    """The truth by the id of a task. Raises `TruthError`."""
    try:
        data = json.loads(text)
        return {
            str(task): Filling(
                str(filling["operation"]),
                {
                    **_flatten_parameters(filling.get("parameters", {})),
                    **{f"in:{n}": _normalise_text(t) for n, t in filling.get("inputs", {}).items()},
                    **{
                        f"out:{n}": _normalise_text(t)
                        for n, t in filling.get("outputs", {}).items()
                    },
                },
            )
            for task, filling in data.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TruthError(f"it has an unexpected form: {error!r}") from None


def filling_of(task: Task, ignored: Sequence[str] = ("resource", "operation")) -> Filling | None:
    """The filling of a task; `None` without one."""
    worker = task.binding
    if not isinstance(worker, Worker) or worker.by != CATALOGUE or worker.target is None:
        return None
    values = {name: json.loads(text) for name, text in worker.parameters if name != ACCOUNTS}
    kind = worker.target.partition(":")[2].rpartition("@")[0]
    chosen = [str(values[name]) for name in ignored if name in values]
    blank = {i.name for i in worker.inputs if not i.text.strip()}
    given = {name: value for name, value in values.items() if name not in (*ignored, *blank)}
    # A place that is found by an id counts by the id.
    inputs = {i.name.removesuffix(".value"): i.text for i in worker.inputs if i.text.strip()}
    constants = {n: v for n, v in _flatten_parameters(given).items() if n not in inputs}
    return Filling(
        ":".join((kind, *chosen)),
        {
            **constants,
            **{f"in:{n}": _normalise_text(t) for n, t in inputs.items()},
            **{f"out:{o.name}": _normalise_text(o.text) for o in worker.outputs},
        },
    )


def _flatten_parameters(values: Any, before: str = "") -> dict[str, Any]:
    """Nested parameters by their paths; what is found by an id counts as the id."""
    paths: dict[str, Any] = {}
    for name, value in values.items():
        path = f"{before}{name}"
        if isinstance(value, dict) and value.get("__rl"):
            paths[path] = value.get("value")
        elif isinstance(value, dict):
            paths |= _flatten_parameters(value, f"{path}.")
        else:
            paths[path] = value
    return paths


def _normalise_text(text: str) -> str:
    return " ".join(text.removeprefix("=").split())


class FillingScores(NamedTuple):
    """The comparison of a filled model with the truth: numbers of tasks and of parameters. A given
    but incorrect value counts as a wrong parameter."""

    tasks: int
    filled: int
    operations: int
    parameters: int
    right: int

    @property
    def arranged(self) -> bool:
        """Whether every task has the right operation."""
        return self.operations == self.tasks

    @property
    def exact(self) -> bool:
        """Whether everything is correct and nothing else was given."""
        return self.arranged and self.right == self.parameters


def _tasks_by_id(model: Model) -> dict[str, Task]:
    return {n.id: n for s in model.scopes() for n in s.nodes if isinstance(n, Task)}


def check_tasks(model: Model, truth: Mapping[str, Filling]) -> None:
    """Raises `TruthError` for a task that the model does not have."""
    tasks = _tasks_by_id(model)
    unknown = [id for id in truth if id not in tasks]
    if unknown:
        known = ", ".join(f"`{id}`" for id in list(tasks)[:12]) or "none"
        raise TruthError(f"the model has no task `{unknown[0]}`; the ids of its tasks: {known}")


def score_filling(model: Model, truth: Mapping[str, Filling]) -> FillingScores:
    """Compare a filled model with the truth about its tasks. Raises `TruthError` for a task that
    the model does not have."""
    check_tasks(model, truth)
    tasks = _tasks_by_id(model)
    filled = operations = parameters = right = 0
    for id, wanted in truth.items():
        paths = filling_of(tasks[id])
        filled += paths is not None
        fits = paths is not None and paths.operation == wanted.operation
        operations += fits
        given = paths.parameters if paths is not None and fits else {}
        names = {*wanted.parameters, *given}
        parameters += len(names)
        both = wanted.parameters.keys() & given.keys()
        right += sum(wanted.parameters[name] == given[name] for name in both)
    return FillingScores(len(truth), filled, operations, parameters, right)


@dataclass
class FillingReport:
    """One row per model and sample; `complete` is false after an interruption."""

    agent: str
    samples: int = 1
    rows: list[dict[str, Any]] = field(default_factory=list)
    complete: bool = False

    @property
    def ok(self) -> bool:
        """Whether every model was readable and compared."""
        return self.complete and bool(self.rows)

    def to_csv(self) -> str:
        """The rows as CSV text."""
        return csv_text(COLUMNS, self.rows)

    def measures(self) -> tuple[float | None, ...]:
        """The values in the order of `MEASURES`; `None` without anything to compare."""
        rows = self.rows
        return (
            _compute_share(sum(r["exact"] for r in rows), len(rows)),
            _compute_share(sum(r["arranged"] for r in rows), len(rows)),
            _compute_share(sum(r["right"] for r in rows), sum(r["parameters"] for r in rows)),
            _compute_share(sum(r["operations"] for r in rows), sum(r["tasks"] for r in rows)),
        )

    def summary(self) -> str:
        """A table with the published figures."""
        lines = table_lines(("models", *MEASURES), self._table())
        lines += pass_lines(self.outcomes())
        if not self.complete:
            lines.append(f"interrupted after {len(self.rows)} rows")
        return "\n".join(lines) + "\n"

    def charts(self) -> Charts:
        """The table as charts."""
        published = [name for name, _ in PUBLISHED]
        return Charts(columns_as_charts(("models", *MEASURES), self._table(), published))

    def _table(self) -> TableRows:
        models = len({r["model"] for r in self.rows})
        rows: list[tuple[str, Sequence[int | float | None]]]
        rows = [(self.agent, (models, *self.measures()))]
        return rows + [(name, (None, *values)) for name, values in PUBLISHED]

    def outcomes(self) -> dict[str, list[bool]]:
        """By model, whether each sample is an exact match."""
        return by_name((row["model"], bool(row["exact"])) for row in self.rows)


def _compute_share(count: int, of: int) -> float | None:
    return count / of if of else None


def list_cases(folder: Path) -> Iterator[tuple[Path, dict[str, Filling]]]:
    """Models with the truth about them. Raises `FileNotFoundError` if there is none, and
    `TruthError` with the name of a file."""
    paths = sorted(folder.rglob(f"*{TRUTH}"))
    if not paths:
        raise FileNotFoundError(f"{folder} has no file *{TRUTH}")
    for path in paths:
        stem = path.name.removesuffix(TRUTH)
        beside = sorted(p for p in path.parent.glob(f"{stem}.*") if p != path and p.is_file())
        if not beside:
            raise TruthError(f"{path}: there is no model `{stem}` next to it")
        try:
            yield beside[0], read_truth(path.read_text("utf-8"))
        except (TruthError, UnicodeDecodeError) as error:
            raise TruthError(f"{path}: {error}") from None


def evaluate_filling(
    folder: Path,
    agent: str,
    fill: Filler,
    *,
    samples: int = 1,
    progress: Progress = no_progress,
) -> FillingReport:
    """Fill every model of a folder `samples` times and compare.

    Args:
        fill: fills the model of a file; `None` if it cannot be read.

    Raises `FileNotFoundError` and `TruthError` as `cases`.
    """
    report = FillingReport(agent, samples)
    todo = [(path, truth, n) for path, truth in list_cases(folder) for n in range(samples)]
    try:
        for number, (path, truth, sample) in enumerate(todo):
            progress(number, len(todo), path.name)
            filled = fill(path)
            nothing = sum(len(filling.parameters) for filling in truth.values())
            scores = FillingScores(len(truth), 0, 0, nothing, 0)
            if filled is not None:
                try:
                    scores = score_filling(filled.model, truth)
                except TruthError as error:
                    raise TruthError(f"{path}: {error}") from None
            report.rows.append(
                {
                    "model": path.name,
                    "sample": sample + 1,
                    **scores._asdict(),
                    "arranged": int(scores.arranged),
                    "exact": int(scores.exact),
                    "tokens": filled.tokens if filled is not None else 0,
                    "seconds": round(filled.seconds, 3) if filled is not None else 0,
                }
            )
    except Cancelled:
        return report
    report.complete = True
    return report
