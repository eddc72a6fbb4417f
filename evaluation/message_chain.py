"""The whole chain from messages to executed workflows, in one table beside the published figures.

Messages become processes, processes models, models workflows, and workflows run: a loss in one
link is only visible in the next one, so that all are measured on the same discovery.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from orgflow.agents.discovery.discover import Discovery
from orgflow.evaluation.discovery import Scores, Truth
from orgflow.evaluation.pmo import PUBLISHED_F1, PUBLISHED_PASS
from orgflow.evaluation.replay import compute_scores
from orgflow.evaluation.structure_scores import (
    FIGURES,
    MOST_RUNS,
    StructureScores,
    match_processes,
    pair_by_evidence,
    pair_by_name,
)
from orgflow.evaluation.text_metrics import steps_of

from orgflow_ir.flow.token_game.runs import Run, enumerate_runs
from orgflow_ir.model import Model
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.agent_services import Embedder
from orgflow_ir.plugins.runners import Runner
from orgflow_ir.targets.artifact import Emitted

GOOD_TRACE = 0.8
"""A process passes from this mean F1 of its scenarios on (as published)."""

PUBLISHED_HUNGARIAN, PUBLISHED_LENIENT, PUBLISHED_STRICT = 0.754, 0.810, 0.689
"""Published figures of descriptions, the median of three runs."""

PUBLISHED_OVERALL = 0.35
"""Published mean F1 of tasks, gateways and flows of models that were made from descriptions; steps
are paired by name."""


class TraceScores(NamedTuple):
    """F1 of the tasks of executed runs compared with true scenarios: the mean of each true process,
    by its name. A process without a workflow has 0."""

    processes: Mapping[str, float]

    @property
    def mean(self) -> float:
        """The mean over the true processes."""
        return statistics.fmean(self.processes.values()) if self.processes else 0.0

    @property
    def passed(self) -> int:
        """The number of processes with at least `GOOD_TRACE`."""
        return sum(value >= GOOD_TRACE for value in self.processes.values())


class Chain(NamedTuple):
    """The figures of one discovery.

    Attributes:
        label: how it was made.
        scores: of the processes, and of their models if true models are known.
        drawn: number of processes that were compiled.
        compiled: number of these that compile.
        by_evidence, by_name: the traces, with drawn steps paired with true tasks in either way;
            `None` without true models.
        tokens: input and output tokens of a language model.
    """

    label: str
    scores: Scores
    drawn: int
    compiled: int
    by_evidence: TraceScores | None = None
    by_name: TraceScores | None = None
    tokens: tuple[int, int] = (0, 0)


class Workflow(NamedTuple):
    """A compiled process with its model."""

    model: Model
    emitted: Emitted


def score_traces(
    discovery: Discovery,
    truth: Truth,
    models: Mapping[str, Model],
    workflows: Mapping[str, Workflow],
    runner: Runner,
    embedder: Embedder,
    ctx: PassContext,
    progress: Callable[[int, int, str], None] = lambda done, total, name: None,
) -> tuple[TraceScores, TraceScores]:
    """Executed runs compared with the true scenarios, with steps paired by evidence and by name.

    For each scenario, the run of the discovered model with the most similar tasks is executed, and
    the tasks that the target executed count.

    Args:
        workflows: the compiled processes by the ids of discovered processes.
        runner: executes them.

    Raises the exceptions of the runner.
    """
    nearest = match_processes(discovery, truth.process)
    shows: dict[str, dict[str, frozenset[str]]] = {}
    for id_, tasks in truth.shows.items():
        shows.setdefault(truth.process[id_], {})[id_] = tasks
    by_evidence: dict[str, float] = {}
    by_name: dict[str, float] = {}
    known = sorted(name for name in models if name in truth.texts and truth.scenarios.get(name))
    for number, name in enumerate(known):
        progress(number, len(known), name)
        by_evidence[name] = by_name[name] = 0.0
        process = nearest.get(name)
        workflow = workflows.get(process.process.id) if process is not None else None
        if process is None or workflow is None:
            continue
        # what is drawn cites messages; what is executed may be rewritten
        drawn = Model(id="found", processes=(process.process,))
        runner.load(workflow.emitted, process.process.id, ctx)
        played = _Played(workflow.model, process.process.id, runner)
        true = models[name]
        pairs = pair_by_evidence(drawn, true, shows.get(name, {}))
        by_evidence[name] = played.score_scenarios(drawn, true, pairs, truth.scenarios[name])
        pairs = pair_by_name(drawn, true, embedder)
        by_name[name] = played.score_scenarios(drawn, true, pairs, truth.scenarios[name])
    return TraceScores(by_evidence), TraceScores(by_name)


class _Played:
    """The runs of one workflow, each of which is executed when it is first needed."""

    def __init__(self, model: Model, process: str, runner: Runner) -> None:
        self._runner = runner
        meaning = runner.meaning(model)
        self._runs: Sequence[Run] = enumerate_runs(meaning, process, max_runs=MOST_RUNS).runs
        self._executed: dict[int, Counter[str]] = {}

    def score_scenarios(
        self,
        drawn: Model,
        truth: Model,
        pairs: Mapping[str, str],
        scenarios: Sequence[Sequence[str]],
    ) -> float:
        """The mean F1 of scenarios; `pairs` are the true tasks of drawn steps."""
        names = {step.id: " ".join(step.name.split()) for step in steps_of(truth)}
        own = {step.id for step in steps_of(drawn)}

        def count_tasks(elements: Sequence[str]) -> Counter[str]:
            return Counter(
                names[pairs[id_]] if id_ in pairs else f"\n{id_}" for id_ in elements if id_ in own
            )

        planned = [
            count_tasks([s.element for s in run.steps if s.action != "open"]) for run in self._runs
        ]
        values = []
        for scenario in scenarios:
            wanted = Counter(" ".join(name.split()) for name in scenario)
            fits = [compute_scores(tasks, wanted)[2] for tasks in planned]
            if not fits:
                values.append(0.0)
                continue
            best = max(range(len(fits)), key=lambda n: (fits[n], -n))
            done = count_tasks(list(self._execute(best).elements()))
            values.append(compute_scores(done, wanted)[2])
        return statistics.fmean(values) if values else 0.0

    def _execute(self, number: int) -> Counter[str]:
        """The elements that a run executed."""
        if number not in self._executed:
            (result,) = self._runner.play([self._runs[number]])
            self._executed[number] = Counter(
                entry.element for entry in result.executed if entry.element is not None
            )
        return self._executed[number]


def format_chain(chains: Sequence[Chain], messages: int) -> str:
    """The table: a column for each discovery, and the published figures."""
    rows: list[tuple[str, list[str], str]] = [
        ("messages", [f"{messages:,}"] * len(chains), "-"),
        ("input tokens a message", [_per_message(c.tokens[0], messages) for c in chains], "-"),
        (
            "processes, of true ones",
            [f"{c.scores.number} of {c.scores.true_number}" for c in chains],
            "-",
        ),
    ]
    for title, figure, published in (
        ("  V-measure", "v_measure", None),
        ("  right", "right", None),
        ("  Hungarian F1", "hungarian", PUBLISHED_HUNGARIAN),
        ("  lenient F1", "lenient", PUBLISHED_LENIENT),
        ("  strict F1", "strict", PUBLISHED_STRICT),
    ):
        cells = [f"{getattr(c.scores, figure):.3f}" for c in chains]
        rows.append((title, cells, "-" if published is None else f"{published:.3f}"))
    for title, place in (("by evidence", "by_evidence"), ("by name", "by_name")):
        structures: list[StructureScores | None] = [getattr(c.scores, place) for c in chains]
        rows.append((f"models, steps {title}", [""] * len(chains), ""))
        rows.append(
            ("  drawn/true", [_format_cell(s and s.drawn_share, 2) for s in structures], "-")
        )
        for figure in FIGURES[:4]:
            published = PUBLISHED_OVERALL if (figure, place) == ("overall", "by_name") else None
            cells = [_format_cell(s and s.mean(figure)) for s in structures]
            rows.append((f"  {figure}", cells, "-" if published is None else f"{published:.2f}"))
    rows.append(("workflows compiled", [f"{c.compiled} of {c.drawn}" for c in chains], "-"))
    for title, place in (("by evidence", "by_evidence"), ("by name", "by_name")):
        traces: list[TraceScores | None] = [getattr(c, place) for c in chains]
        rows.append((f"executed, steps {title}", [""] * len(chains), ""))
        is_published = place == "by_name"
        rows.append(
            (
                "  trace F1",
                [_format_cell(t and t.mean) for t in traces],
                f"{PUBLISHED_F1:.3f}" if is_published else "-",
            )
        )
        rows.append(
            (
                f"  processes with F1 >= {GOOD_TRACE}",
                [f"{t.passed} of {len(t.processes)}" if t is not None else "-" for t in traces],
                "{} of {}".format(*PUBLISHED_PASS) if is_published else "-",
            )
        )
    heads = "".join(f"{c.label:>18}" for c in chains)
    lines = [f"{'':30}{heads}{'published':>14}"]
    lines += [
        f"{title:30}{''.join(f'{cell:>18}' for cell in cells)}{published:>14}".rstrip()
        for title, cells, published in rows
    ]
    return "\n".join(lines) + "\n"


def _format_cell(value: float | None, digits: int = 3) -> str:
    """A figure; a dash where there is none."""
    return "-" if value is None else f"{value:.{digits}f}"


def _per_message(tokens: int, messages: int) -> str:
    return f"{tokens / messages:.0f}" if tokens and messages else "-"
