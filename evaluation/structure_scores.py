"""How good the structure of a discovered process is, with its steps paired by name and by evidence.

By name, a perfect structure in other words than those of the truth is a bad one. By evidence, a
drawn step is the true task that the same messages show, whatever both are called.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from orgflow.agents.discovery.discover import Discovery, FoundProcess
from orgflow.evaluation.replay import compute_scores
from orgflow.evaluation.text_metrics import (
    Step,
    assign_pairs,
    compute_f1,
    count_gateways,
    list_following,
    match_steps,
    steps_of,
)

from orgflow_ir.flow.token_game.runs import enumerate_runs
from orgflow_ir.model import Model
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline.agent_services import Embedder

JACCARD = 0.15
"""The share of common messages from which a drawn step and a true task may be the same."""

MOST_RUNS = 64
"""Number of runs of a model of which the best one counts."""


class ProcessStructure(NamedTuple):
    """The structure of one drawn process compared with that of the true one.

    Attributes:
        drawn, true: numbers of tasks; a step that is drawn twice counts twice.
        task: F1 of paired tasks. A step is paired once, however often it is drawn.
        gateway: F1 of gateways, counted by kind.
        flow: F1 of pairs of tasks that follow each other, gateways contracted.
        end_to_end: F1 of the tasks of the best run, the mean over the true scenarios.
    """

    drawn: int
    true: int
    task: float
    gateway: float
    flow: float
    end_to_end: float

    @property
    def overall(self) -> float:
        """The mean of task, gateway and flow."""
        return (self.task + self.gateway + self.flow) / 3


FIGURES = ("task", "gateway", "flow", "overall", "end_to_end")
"""The figures of a structure from 0 to 1."""


class StructureScores(NamedTuple):
    """The structures of a discovery under one pairing: the processes by the name of the true one.
    A true process that was not found has zeros."""

    processes: Mapping[str, ProcessStructure]

    @property
    def drawn_share(self) -> float:
        """The number of drawn tasks for each true one."""
        true = sum(entry.true for entry in self.processes.values())
        return sum(entry.drawn for entry in self.processes.values()) / true if true else 0.0

    def mean(self, figure: str) -> float:
        """The mean of one of `FIGURES` over the true processes."""
        values = [float(getattr(entry, figure)) for entry in self.processes.values()]
        return statistics.fmean(values) if values else 0.0


class TrueProcesses(NamedTuple):
    """The truth that structures are compared with, by process.

    Attributes:
        models: the models.
        scenarios: the names of the tasks of each scenario.
        shows: the ids of the tasks that each message shows, by message.
    """

    models: Mapping[str, Model]
    scenarios: Mapping[str, Sequence[Sequence[str]]]
    shows: Mapping[str, Mapping[str, Collection[str]]]


def score_structures(
    discovery: Discovery, truth: TrueProcesses, process: Mapping[str, str], embedder: Embedder
) -> tuple[StructureScores, StructureScores]:
    """The structures of a discovery, paired by evidence and by name.

    Args:
        discovery: the drawn processes; the one with most messages of a true process is compared
            with it, if most of its own are of it.
        truth: the true processes.
        process: the true process of each message.
        embedder: compares names.
    """
    nearest = match_processes(discovery, process)
    by_evidence: dict[str, ProcessStructure] = {}
    by_name: dict[str, ProcessStructure] = {}
    for name, model in sorted(truth.models.items()):
        scenarios = truth.scenarios.get(name, ())
        if name not in nearest:
            missing = ProcessStructure(0, len(steps_of(model)), 0.0, 0.0, 0.0, 0.0)
            by_evidence[name] = by_name[name] = missing
            continue
        drawn = Model(id="found", processes=(nearest[name].process,))
        pairs = pair_by_evidence(drawn, model, truth.shows.get(name, {}))
        by_evidence[name] = score_structure(drawn, model, pairs, scenarios)
        pairs = pair_by_name(drawn, model, embedder)
        by_name[name] = score_structure(drawn, model, pairs, scenarios)
    return StructureScores(by_evidence), StructureScores(by_name)


def match_processes(discovery: Discovery, process: Mapping[str, str]) -> dict[str, FoundProcess]:
    """For each true process, the found one with most of its messages, of whose own messages most
    are of it; `process` is the true process of each message."""
    nearest: dict[str, tuple[int, FoundProcess]] = {}
    for entry in discovery.processes:
        counts = Counter(process.get(id_, "") for case in entry.cases for id_ in case)
        ((name, number),) = counts.most_common(1)
        if name not in nearest or nearest[name][0] < number:
            nearest[name] = (number, entry)
    return {name: entry for name, (_, entry) in nearest.items()}


def pair_by_name(drawn: Model, truth: Model, embedder: Embedder | None = None) -> dict[str, str]:
    """The id of the true task of each drawn one: half of the words or the meaning of the names is
    the same."""
    groups = _group_drawings(drawn)
    pairs = match_steps([drawings[0] for drawings in groups], steps_of(truth), embedder)
    return _spread_pairs(groups, pairs)


def pair_by_evidence(
    drawn: Model, truth: Model, shows: Mapping[str, Collection[str]]
) -> dict[str, str]:
    """The id of the true task of each drawn one: enough of the messages that show them are the
    same.

    Args:
        drawn: a model with evidence.
        truth: the true model.
        shows: the ids of the tasks that each message shows. They may differ from those of the model
            in form: `User_1` is `UserTask_1`. Ids of no task, such as those of events, count
            nothing.
    """
    true = steps_of(truth)
    messages: dict[str, set[str]] = {step.id: set() for step in true}
    task_of = _match_ids(truth, {id_ for ids in shows.values() for id_ in ids})
    for message, ids in shows.items():
        for task in (task_of[id_] for id_ in ids if id_ in task_of):
            messages[task].add(message)
    cited = {
        node.id: {entry.document for entry in node.evidence}
        for scope in drawn.scopes() for node in scope.nodes
    }  # fmt: skip
    groups = _group_drawings(drawn)
    likeness = []
    for drawings in groups:
        own = set().union(*(cited[step.id] for step in drawings))
        row = [_compute_jaccard(own, messages[step.id]) for step in true]
        likeness.append([value if value >= JACCARD else 0.0 for value in row])
    pairs = {
        groups[row][0].id: true[column].id
        for row, column in assign_pairs(likeness) if likeness[row][column] > 0
    }  # fmt: skip
    return _spread_pairs(groups, pairs)


def match_task_ids(truth: Model, ids: Collection[str]) -> dict[str, str]:
    """The name of the task of each id that is one of a task; it may differ from the id in the model
    in form."""
    names = {step.id: step.name for step in steps_of(truth)}
    return {id_: names[task] for id_, task in _match_ids(truth, ids).items()}


def _match_ids(truth: Model, ids: Collection[str]) -> dict[str, str]:
    known = {step.id: step.id for step in steps_of(truth)}
    plain = {_shorten_id(id_): id_ for id_ in known}
    tasks = {id_: known.get(id_) or plain.get(_shorten_id(id_)) for id_ in ids}
    return {id_: task for id_, task in tasks.items() if task is not None}


def _shorten_id(id_: str) -> str:
    """An id without the word that the ids of all tasks have."""
    return re.sub("task", "", id_, flags=re.IGNORECASE)


def _compute_jaccard(first: set[str], second: set[str]) -> float:
    either = first | second
    return len(first & second) / len(either) if either else 0.0


def _group_drawings(drawn: Model) -> list[list[Step]]:
    """The drawings of each step: tasks of one name are one step."""
    groups: dict[str, list[Step]] = {}
    for step in steps_of(drawn):
        groups.setdefault(step.name or step.id, []).append(step)
    return list(groups.values())


def _spread_pairs(groups: Sequence[Sequence[Step]], pairs: Mapping[str, str]) -> dict[str, str]:
    """The pair of the first drawing of each step, for all of its drawings."""
    return {
        step.id: pairs[drawings[0].id]
        for drawings in groups if drawings[0].id in pairs for step in drawings
    }  # fmt: skip


def score_structure(
    drawn: Model, truth: Model, pairs: Mapping[str, str], scenarios: Sequence[Sequence[str]] = ()
) -> ProcessStructure:
    """The structure of a drawn model compared with that of the true one.

    Args:
        drawn, truth: the models.
        pairs: the id of the true task of each drawn one; others have none.
        scenarios: the names of the tasks of each true scenario.
    """
    mine, true = steps_of(drawn), steps_of(truth)
    ends = {"start": "start", "end": "end", **pairs}
    flows = {(ends.get(a, f"{a} -"), ends.get(b, f"{b} -")) for a, b in list_following(drawn)}
    true_flows = set(list_following(truth))
    drawn_kinds, true_kinds = count_gateways(drawn), count_gateways(truth)
    same_kind = sum((drawn_kinds & true_kinds).values())
    return ProcessStructure(
        len(mine),
        len(true),
        compute_f1(len(set(pairs.values())), len(mine), len(true)),
        compute_f1(same_kind, sum(drawn_kinds.values()), sum(true_kinds.values())),
        compute_f1(len(flows & true_flows), len(flows), len(true_flows)),
        _score_scenarios(drawn, truth, pairs, scenarios),
    )


def _score_scenarios(
    drawn: Model, truth: Model, pairs: Mapping[str, str], scenarios: Sequence[Sequence[str]]
) -> float:
    """F1 of the tasks of the best run, as multisets, the mean over the scenarios."""
    names = {step.id: " ".join(step.name.split()) for step in steps_of(truth)}
    own = {step.id for step in steps_of(drawn)}
    runs = []
    for process in drawn.processes:
        for run in enumerate_runs(drawn, process.id, max_runs=MOST_RUNS).runs:
            done = [s.element for s in run.steps if s.action != "open" and s.element in own]
            runs.append(Counter(names[pairs[id_]] if id_ in pairs else f"\n{id_}" for id_ in done))
    wanted = [Counter(" ".join(name.split()) for name in scenario) for scenario in scenarios]
    best = [max((compute_scores(run, should)[2] for run in runs), default=0.0) for should in wanted]
    return statistics.fmean(best) if best else 0.0


def format_structures(
    rows: Sequence[tuple[str, StructureScores, StructureScores]],
) -> str:
    """Both tables of methods, by evidence and by name: drawn/true, `FIGURES`."""
    lines = []
    for title, place in (("by evidence", 1), ("by name", 2)):
        heads = "".join(f"{figure.replace('_', ' '):>12}" for figure in FIGURES)
        lines.append(f"{'steps ' + title:22}{'drawn/true':>12}{heads}")
        for row in rows:
            scores = row[place]
            assert isinstance(scores, StructureScores)
            cells = "".join(f"{scores.mean(figure):>12.3f}" for figure in FIGURES)
            lines.append(f"{row[0]:22}{scores.drawn_share:>12.2f}{cells}")
    return "\n".join(lines) + "\n"
