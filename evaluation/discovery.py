"""The agreement of discovered processes with the truth about a corpus of messages."""

from __future__ import annotations

import json
import math
import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from orgflow.agents.discovery.discover import (
    Discovery,
    describe_processes,
    discover_processes,
    find_message_phrases,
)
from orgflow.agents.discovery.process_structure import build_process_model
from orgflow.agents.discovery.steps import Step
from orgflow.agents.discovery.traits import traits_of
from orgflow.evaluation.charts import Bar, BarChart, Charts, LineChart
from orgflow.evaluation.structure_scores import (
    StructureScores,
    TrueProcesses,
    format_structures,
    match_processes,
    match_task_ids,
    score_structures,
)
from orgflow.evaluation.text_metrics import score_behaviour
from orgflow.evaluation.text_metrics import score_draft as score_model

from orgflow_ir.model import Model, Task
from orgflow_ir.model.evidence import Evidence
from orgflow_ir.model.message import Message
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline.agent_services import Embedder

THRESHOLD = 0.5
"""Minimum cosine at which a description matches that of a true process (as published)."""

SWEEP = (0.35, 0.4, 0.45, 0.5, 0.55, 0.6)

DICE, COSINE = 0.5, 0.6
"""The match of a step with a true task: common words, or meaning. Compared with manually labelled
pairs, this matching had precision 0.89 and recall 0.86, and matched 0.025 with a wrong process."""


class TruthError(ValueError):
    """A file that does not have the form of a truth; the text describes the fault."""


class Truth(NamedTuple):
    """The truth about a corpus.

    Attributes:
        texts: name, description and tasks of each process.
        tasks: the tasks of each process, in the order of its first scenario that has them.
        process: the process of each message that is not noise.
        case: the case of each message that is not noise.
        shows: the ids of the tasks of a message, if the truth contains them.
        scenarios: the names of the tasks of each scenario, by process.
    """

    texts: Mapping[str, str]
    tasks: Mapping[str, tuple[str, ...]]
    process: Mapping[str, str]
    case: Mapping[str, str]
    shows: Mapping[str, frozenset[str]] = MappingProxyType({})
    scenarios: Mapping[str, tuple[tuple[str, ...], ...]] = MappingProxyType({})


def read_truth(text: str) -> Truth:
    """The truth in JSON, as `synth` writes it: `processes` with `description` and `scenarios`
    (`scenario`, `tasks`), `messages` with `process`, `scenario` and `tasks`. Raises
    `TruthError`."""
    try:
        data = json.loads(text)
        texts: dict[str, str] = {}
        tasks: dict[str, tuple[str, ...]] = {}
        for key, entry in data["processes"].items():
            names = [t for scenario in entry["scenarios"] for t in scenario["tasks"]]
            tasks[key] = tuple(dict.fromkeys(names))
            parts = (entry.get("name", ""), entry.get("description", ""), ". ".join(tasks[key]))
            texts[key] = ". ".join(part for part in parts if part)
        real = {k: m for k, m in data["messages"].items() if m.get("process") is not None}
        return Truth(
            texts, tasks, {k: str(m["process"]) for k, m in real.items()},
            {k: str(m["scenario"]) for k, m in real.items()},
            {k: frozenset(map(str, m.get("tasks", ()))) for k, m in real.items()},
            {
                key: tuple(tuple(scenario["tasks"]) for scenario in entry["scenarios"])
                for key, entry in data["processes"].items()
            },
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise TruthError(
            f"is not a truth file about messages: {type(error).__name__}: {error}"
        ) from None


class Scores(NamedTuple):
    """The figures of one discovery; each is between 0 and 1, except the two counts."""

    number: int
    true_number: int
    v_measure: float
    process_f1: float
    case_f1: float
    noise_f1: float
    lenient: float
    strict: float
    hungarian: float
    right: float
    evidence_f1: float
    step_recall: float
    order: float
    step_messages: float
    task_f1: float | None = None
    gateway_f1: float | None = None
    flow_f1: float | None = None
    behaviour: float | None = None
    by_evidence: StructureScores | None = None
    by_name: StructureScores | None = None


HIGHER = Scores._fields[2:-2]
"""The figures for which higher is better; `None` without true models."""

AGAINST_MODELS = ("task_f1", "gateway_f1", "flow_f1", "behaviour")
"""The figures that need the true models."""


def score_discovery(
    discovery: Discovery,
    truth: Truth,
    ids: Sequence[str],
    embedder: Embedder,
    models: Mapping[str, Model] | None = None,
) -> Scores:
    """Compare a discovery with the truth.

    Args:
        found: the discovery.
        truth: the truth.
        ids: all messages; those that the truth does not contain are noise.
        embedder: compares descriptions, and steps with tasks.
        models: the known true models by process.
    """
    process, case = _list_memberships(discovery)
    names = sorted(truth.texts)
    texts = [f"{cluster.name}. {cluster.description}" for cluster in discovery.processes]
    vectors: Any = np.array(embedder.embed([*texts, *(truth.texts[n] for n in names)]))
    cosines = vectors[: len(texts)] @ vectors[len(texts) :].T
    pairs = assign_pairs(cosines)
    majority = [
        Counter(truth.process.get(i, "") for c in cluster.cases for i in c).most_common(1)[0][0]
        for cluster in discovery.processes
    ]
    good = [(a, b) for a, b in pairs if cosines[a, b] >= THRESHOLD]
    right = [(a, b) for a, b in good if majority[a] == names[b]]
    recall, order = _score_steps(discovery, truth, majority, embedder)
    return Scores(
        len(texts),
        len(names),
        v_measure([truth.process.get(i) for i in ids], [process.get(i) for i in ids]),
        pairwise_f1([truth.process.get(i) for i in ids], [process.get(i) for i in ids]),
        pairwise_f1([truth.case.get(i) for i in ids], [case.get(i) for i in ids]),
        _compute_f1(
            sum(i not in process and i not in truth.process for i in ids),
            sum(i not in process for i in ids),
            sum(i not in truth.process for i in ids),
        ),
        *_lenient_strict(cosines, THRESHOLD),
        _compute_f1(len(good), len(texts), len(names)),
        _compute_f1(len(right), len(texts), len(names)),
        _evidence_f1(discovery, truth, majority),
        recall,
        order,
        _step_messages(discovery, truth, majority),
        *_against_models(discovery, truth, models or {}, embedder),
        *_compare_structures(discovery, truth, models or {}, embedder),
    )


def _compare_structures(
    discovery: Discovery, truth: Truth, models: Mapping[str, Model], embedder: Embedder
) -> tuple[StructureScores | None, StructureScores | None]:
    """The structures of the processes, paired by evidence and by name; `None` without models."""
    known = {name: model for name, model in models.items() if name in truth.texts}
    if not known:
        return None, None
    shows: dict[str, dict[str, frozenset[str]]] = {}
    for id_, tasks in truth.shows.items():
        shows.setdefault(truth.process[id_], {})[id_] = tasks
    true = TrueProcesses(known, truth.scenarios, shows)
    return score_structures(discovery, true, truth.process, embedder)


def _against_models(
    discovery: Discovery, truth: Truth, models: Mapping[str, Model], embedder: Embedder
) -> tuple[float | None, float | None, float | None, float | None]:
    """F1 of tasks, gateways and flows, and of behaviour, as means over the true processes.

    A true process is compared with the found one that has most of its messages and of whose own
    messages most are of it; one that nobody found counts 0.
    """
    if not models:
        return None, None, None, None
    nearest = match_processes(discovery, truth.process)
    rows: list[tuple[float, float, float, float]] = []
    for name, model in sorted(models.items()):
        if name not in truth.texts:
            continue
        if name not in nearest:
            rows.append((0.0, 0.0, 0.0, 0.0))
            continue
        drafted = Model(id="found", processes=(nearest[name].process,))
        near = score_model(drafted, model, embedder)
        rows.append((near.task, near.gateway, near.flow, score_behaviour(drafted, model, embedder)))
    if not rows:
        return None, None, None, None
    task, gateway, flow, acts = (statistics.fmean(column) for column in zip(*rows, strict=True))
    return task, gateway, flow, acts


def sweep_thresholds(discovery: Discovery, truth: Truth, embedder: Embedder) -> list[float]:
    """The Hungarian F1 at each threshold of `SWEEP`."""
    names = sorted(truth.texts)
    texts = [f"{process.name}. {process.description}" for process in discovery.processes]
    vectors: Any = np.array(embedder.embed([*texts, *(truth.texts[n] for n in names)]))
    cosines = vectors[: len(texts)] @ vectors[len(texts) :].T
    pairs = assign_pairs(cosines)
    return [
        _compute_f1(sum(cosines[a, b] >= t for a, b in pairs), len(texts), len(names))
        for t in SWEEP
    ]


def _list_memberships(discovery: Discovery) -> tuple[dict[str, int], dict[str, tuple[int, int]]]:
    process: dict[str, int] = {}
    case: dict[str, tuple[int, int]] = {}
    for number, cluster in enumerate(discovery.processes):
        for place, members in enumerate(cluster.cases):
            for id_ in members:
                process[id_], case[id_] = number, (number, place)
    return process, case


def _compute_f1(both: float, predicted: float, true: float) -> float:
    return 2 * both / (predicted + true) if predicted + true else 1.0


def v_measure(true: Sequence[Hashable], predicted: Sequence[Hashable]) -> float:
    """The harmonic mean of homogeneity and completeness (Rosenberg and Hirschberg 2007); `None` is
    a class like any other, that of noise."""
    count = len(true)
    joint = Counter(zip(true, predicted, strict=True))
    of_true, of_found = Counter(true), Counter(predicted)

    def entropy(counts: Counter[Any]) -> float:
        return -sum(n / count * math.log(n / count) for n in counts.values())

    given_found = -sum(n / count * math.log(n / of_found[f]) for (_, f), n in joint.items())
    given_true = -sum(n / count * math.log(n / of_true[t]) for (t, _), n in joint.items())
    homogeneity = 1 - given_found / entropy(of_true) if entropy(of_true) else 1.0
    completeness = 1 - given_true / entropy(of_found) if entropy(of_found) else 1.0
    together = homogeneity + completeness
    return 2 * homogeneity * completeness / together if together else 0.0


def pairwise_f1(true: Sequence[Hashable], predicted: Sequence[Hashable]) -> float:
    """F1 of pairs of messages in one group; `None` is in no pair."""

    def pairs(items: Sequence[Any]) -> int:
        return sum(n * (n - 1) // 2 for n in Counter(items).values())

    both = [
        (t, f) for t, f in zip(true, predicted, strict=True) if t is not None and f is not None
    ]  # fmt: skip
    return _compute_f1(
        pairs(both),
        pairs([f for f in predicted if f is not None]),
        pairs([t for t in true if t is not None]),
    )


def _lenient_strict(cosines: Any, threshold: float) -> tuple[float, float]:
    """Published F1s: *lenient* counts every side that has a partner, *strict* each truth once, for
    the description that is nearest to it."""
    if not cosines.size:
        return 0.0, 0.0
    precision = float((cosines.max(1) >= threshold).mean())
    recall = float((cosines.max(0) >= threshold).mean())
    lenient = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    taken = {int(row.argmax()) for row in cosines if row.max() >= threshold}
    return lenient, _compute_f1(len(taken), *cosines.shape)


def _evidence_f1(discovery: Discovery, truth: Truth, majority: Sequence[str]) -> float:
    """Messages that elements cite, compared with those of the process that most are of."""
    both = cited_count = 0
    for process, name in zip(discovery.processes, majority, strict=True):
        cited = {
            e.document
            for node in (*process.process.nodes, *process.process.flows)
            for e in node.evidence
        }
        cited_count += len(cited)
        both += sum(truth.process.get(id_) == name for id_ in cited)
    return _compute_f1(both, cited_count, len(truth.process))


def _score_steps(
    discovery: Discovery, truth: Truth, majority: Sequence[str], embedder: Embedder
) -> tuple[float, float]:
    """The share of true tasks that are found as steps, one to one, in the process that most
    messages are of; and the share of pairs of these that stand in the true order."""
    hits = pairs = agreed = 0
    for name, tasks in truth.tasks.items():
        steps = [
            s
            for o, m in zip(discovery.processes, majority, strict=True)
            if m == name
            for s in o.steps
        ]
        if not steps or not tasks:
            continue
        vectors: Any = np.array(embedder.embed([*steps, *tasks]))
        cosines = vectors[: len(steps)] @ vectors[len(steps) :].T
        for a, step in enumerate(steps):
            for b, task in enumerate(tasks):
                if compare_words(step, task) < DICE and cosines[a, b] < COSINE:
                    cosines[a, b] = -1
        matched = sorted((a, b) for a, b in assign_pairs(cosines) if cosines[a, b] > -1)
        hits += len(matched)
        for i, (_, b) in enumerate(matched):
            for _, later in matched[i + 1 :]:
                pairs += 1
                agreed += b < later
    total = sum(len(tasks) for tasks in truth.tasks.values())
    return hits / total if total else 1.0, agreed / pairs if pairs else 0.0


def _step_messages(discovery: Discovery, truth: Truth, majority: Sequence[str]) -> float:
    """The share of true tasks that are found as steps by their messages, whatever they are called:
    at least half of the messages that a step cites are about the task; one to one, in the process
    that most messages are of."""
    tasks: dict[str, set[str]] = {}
    for id_, shown in truth.shows.items():
        tasks.setdefault(truth.process[id_], set()).update(shown)
    hits = 0
    for name, wanted in tasks.items():
        steps: dict[tuple[int, str], set[str]] = {}
        for number, (process, most) in enumerate(zip(discovery.processes, majority, strict=True)):
            for node in process.process.nodes if most == name else ():
                if isinstance(node, Task):  # a step on several ways is drawn on each
                    cited = steps.setdefault((number, node.name or ""), set())
                    cited.update(e.document for e in node.evidence)
        shares = [
            [sum(t in truth.shows.get(id_, ()) for id_ in cited) / max(1, len(cited))
             for t in sorted(wanted)]
            for cited in steps.values()
        ]  # fmt: skip
        good = np.where(np.array(shares) >= 0.5, np.array(shares), 0.0)
        hits += sum(good[a, b] > 0 for a, b in assign_pairs(good)) if shares and wanted else 0
    total = sum(map(len, tasks.values()))
    return hits / total if total else 1.0


_WORD = re.compile(r"[^\W\d_]{2,}")
_ENDING = re.compile(r"(?:ies|es|s|ed|ing|e|y)$")
_LITTLE = frozenset(("the", "of", "to", "for", "an", "and", "or", "in", "on", "with", "by", "is"))


def compare_words(first: str, second: str) -> float:
    """Common words without inflectional endings, by Dice's coefficient."""
    these, other = collect_stems(first), collect_stems(second)
    return 2 * len(these & other) / (len(these) + len(other)) if these or other else 0.0


def collect_stems(text: str) -> set[str]:
    """The words of a text without inflectional endings and function words."""
    return {_ENDING.sub("", word) for word in set(_WORD.findall(text.lower())) - _LITTLE}


def assign_pairs(values: Any) -> list[tuple[int, int]]:
    """The one-to-one pairs of rows and columns with the largest sum (Kuhn 1955, with the potentials
    of Jonker and Volgenant)."""
    matrix = np.asarray(values, float)
    if not matrix.size:
        return []
    if matrix.shape[0] > matrix.shape[1]:
        return sorted((a, b) for b, a in assign_pairs(matrix.T))
    rows, columns = matrix.shape
    cost = -matrix
    of_row, of_column = np.zeros(rows + 1), np.zeros(columns + 1)
    taken = np.zeros(columns + 1, int)  # the row of each column, from 1
    for row in range(1, rows + 1):
        taken[0] = row
        column = 0
        least = np.full(columns + 1, np.inf)
        way = np.zeros(columns + 1, int)
        used = np.zeros(columns + 1, bool)
        while taken[column]:
            used[column] = True
            here = taken[column]
            reduced = cost[here - 1] - of_row[here] - of_column[1:]
            nearer = ~used[1:] & (reduced < least[1:])
            least[1:][nearer] = reduced[nearer]
            way[1:][nearer] = column
            free = np.where(used, np.inf, least)
            free[0] = np.inf
            following = int(free.argmin())
            step = free[following]
            of_row[taken[used]] += step
            of_column[used] -= step
            least[~used] -= step
            column = following
        while column:
            taken[column] = taken[way[column]]
            column = way[column]
    return sorted((int(taken[c]) - 1, c - 1) for c in range(1, columns + 1) if taken[c])


COMPARISONS = ("true clusters", "true steps", "true names", "null")
"""The rows that are ceilings or the null model, and not a discovery."""

WITHOUT_STRUCTURE = ("of nine tenths", "true names", "null")
"""The rows whose structure is not compared: a part of the messages, or steps without evidence."""

Discover = Callable[[Sequence[Message], Embedder], tuple[Discovery, tuple[int, int], float]]
"""Another method of discovery: its result, tokens in and out, and their cost."""


class Row(NamedTuple):
    """A row of the table.

    Attributes:
        label: the scored method.
        scores: the scores of every seed.
        seconds: time of discovery without scoring; the median of seeds.
        tokens: in and out, of a language model, for one run.
        cost: of these tokens.
    """

    label: str
    scores: tuple[Scores, ...]
    seconds: float = 0.0
    tokens: tuple[int, int] = (0, 0)
    cost: float = 0.0


def evaluate_corpus(
    messages: Sequence[Message],
    truth: Truth,
    embedder: Embedder,
    *,
    seeds: Sequence[int],
    models: Mapping[str, Model] | None = None,
    others: Mapping[str, Discover] | None = None,
    samples: int = 1,
) -> tuple[list[Row], list[tuple[str, list[float]]]]:
    """Discovery, its ceilings and the null model on one corpus, and the sweep of thresholds for
    each.

    *True clusters* receives the true cases and processes and describes them; *true steps* also has
    the tasks that each message shows as its steps, so that only their structure is discovered: with
    `models`, which name them; *true names* keeps the
    discovered processes and uses the true tasks, one after the other, as steps; *null* keeps the
    number of processes and gives each of them steps, words and actors drawn from all discovered
    ones. Discovery itself is deterministic; a seed draws nine tenths of the messages, so the range
    shows the influence of single ones. `others` are further methods, one column each, and each is
    run `samples` times.
    """
    ids = [m.id for m in messages]
    begin = time.perf_counter()
    whole = discover_processes(messages, embedder)
    took = time.perf_counter() - begin

    def scored(discovery: Discovery) -> Scores:
        return score_discovery(discovery, truth, ids, embedder, models)

    rows = [Row("discovered", (scored(whole),), took)]
    parts, times = [], []
    for seed in seeds:
        drawn = [m for m in messages if random.Random(f"{seed} {m.id}").random() < 0.9]
        begin = time.perf_counter()
        part = discover_processes(drawn, embedder)
        times.append(time.perf_counter() - begin)
        parts.append(score_discovery(part, truth, [m.id for m in drawn], embedder, models))
    rows.append(Row("of nine tenths", tuple(parts), statistics.median(times) if times else 0.0))
    clusters, names = _true_clusters(messages, truth, embedder), _true_names(whole, truth)
    nulls = [_make_null_model(whole, seed) for seed in seeds]
    asked: list[tuple[str, list[float]]] = []
    for label, other in (others or {}).items():
        runs = []
        for _ in range(samples):
            begin = time.perf_counter()
            discovery, tokens, cost = other(messages, embedder)
            runs.append((discovery, time.perf_counter() - begin, tokens, cost))
        rows.append(
            Row(
                label,
                tuple(scored(discovery) for discovery, _, _, _ in runs),
                statistics.median(took for _, took, _, _ in runs),
                (
                    statistics.median_low(tokens[0] for _, _, tokens, _ in runs),
                    statistics.median_low(tokens[1] for _, _, tokens, _ in runs),
                ),
                statistics.median(cost for _, _, _, cost in runs),
            )
        )
        columns = zip(
            *(sweep_thresholds(discovery, truth, embedder) for discovery, _, _, _ in runs),
            strict=True,
        )
        asked.append((label, [statistics.median(column) for column in columns]))
    rows.append(Row("true clusters", (scored(clusters),)))
    if models:
        steps = _true_steps(clusters, messages, truth, models)
        rows.append(Row("true steps", (scored(steps),)))
    rows.append(Row("true names", (scored(names),)))
    rows.append(Row("null", tuple(scored(null) for null in nulls)))
    sweeps = [
        ("discovered", sweep_thresholds(whole, truth, embedder)),
        *asked,
        ("true clusters", sweep_thresholds(clusters, truth, embedder)),
        ("true names", sweep_thresholds(names, truth, embedder)),
    ]
    if nulls:
        columns = zip(*(sweep_thresholds(null, truth, embedder) for null in nulls), strict=True)
        sweeps.append(("null", [statistics.median(column) for column in columns]))
    return rows, sweeps


def _true_clusters(messages: Sequence[Message], truth: Truth, embedder: Embedder) -> Discovery:
    traits = traits_of(messages, embedder)
    cases: dict[str, list[int]] = {}
    of: dict[str, str] = {}
    for place, message in enumerate(traits.messages):
        if message.id in truth.case:
            cases.setdefault(truth.case[message.id], []).append(place)
            of[truth.case[message.id]] = truth.process[message.id]
    names = sorted(cases)
    processes = [[i for i, c in enumerate(names) if of[c] == p] for p in sorted(set(of.values()))]
    chosen = [cases[c] for c in names]
    return describe_processes(
        traits, chosen, processes, find_message_phrases(traits, chosen), embedder
    )


def _true_steps(
    clusters: Discovery, messages: Sequence[Message], truth: Truth, models: Mapping[str, Model]
) -> Discovery:
    """The true cases and processes with the true tasks as steps, in the order of the messages that
    show them."""
    dated = sorted(messages, key=lambda m: (m.date is not None and m.date.timestamp(), m.id))
    place = {message.id: number for number, message in enumerate(dated)}
    built = []
    for cluster in clusters.processes:
        name = truth.process[cluster.cases[0][0]]
        shown: dict[str, Step] = {}
        for number, case in enumerate(cluster.cases):
            for id_ in sorted(case, key=place.__getitem__):
                for task in sorted(truth.shows.get(id_, ())):
                    step = shown.setdefault(task, Step(name=task))
                    step.members.setdefault(number, []).append(place[id_])
        tasks = match_task_ids(models[name], shown) if name in models else {}
        for task, step in shown.items():
            step.name = tasks.get(task, task)
        if not shown:
            continue
        process = build_process_model(
            cluster.process.id, "", list(shown.values()),
            lambda step: tuple(
                Evidence(document=dated[at].id, quote=dated[at].text, agent="truth")
                for members in step.members.values() for at in members
            ),
        )  # fmt: skip
        built.append(cluster._replace(process=process, steps=tuple(s.name for s in shown.values())))
    return clusters._replace(processes=tuple(built))


def _true_names(discovery: Discovery, truth: Truth) -> Discovery:
    named = []
    for cluster in discovery.processes:
        near = Counter(truth.process.get(i, "") for c in cluster.cases for i in c).most_common(1)[
            0
        ][0]
        tasks = truth.tasks.get(near, cluster.steps)
        row = [Step({0: [0]}, task) for task in tasks]
        process = build_process_model(cluster.process.id, "", row, lambda step: ())
        named.append(cluster._replace(process=process, name="", matters=(), actors=(), steps=tasks))
    return discovery._replace(processes=tuple(named))


def _make_null_model(discovery: Discovery, seed: int) -> Discovery:
    rng = random.Random(seed)
    steps = [step for process in discovery.processes for step in process.steps]
    matters = [word for process in discovery.processes for word in process.matters] or [""]
    actors = [actor for process in discovery.processes for actor in process.actors] or [""]
    all_people = frozenset(person for process in discovery.processes for person in process.people)
    drawn = []
    for process in discovery.processes:
        name, own = rng.choice(steps), tuple(rng.choices(steps, k=len(process.steps)))
        words = tuple(rng.choices(matters, k=len(process.matters)))
        people = tuple(rng.choices(actors, k=len(process.actors)))
        other = dict(zip(process.steps, own, strict=True))
        nodes = tuple(
            n.replace(name=other.get(n.name, n.name)) if isinstance(n, Task) else n
            for n in process.process.nodes
        )
        drawn.append(
            process._replace(process=process.process.replace(nodes=nodes), name=name, steps=own,
                         matters=words, actors=people, people=all_people)
        )  # fmt: skip
    return discovery._replace(processes=tuple(drawn))


def format_table(rows: Sequence[Row], sweeps: Sequence[tuple[str, Sequence[float]]]) -> str:
    """The figures as a table: the median of seeds, with the range if there are several; below it
    the Hungarian F1 at each threshold of `SWEEP`, then the structures of the processes."""
    lines = [f"{'':14}" + "".join(f"{row.label:>20}" for row in rows)]
    for name in ("number", *HIGHER):
        cells = []
        for row in rows:
            given = [getattr(s, name) for s in row.scores]
            values = [float(value) for value in given if value is not None]
            form = "{:.0f}" if name == "number" else "{:.3f}"
            cell = form.format(statistics.median(values)) if values else "-"
            if len(values) > 1:
                cell += f" ({form.format(min(values))}-{form.format(max(values))})"
            cells.append(f"{cell:>20}")
        lines.append(f"{name.replace('_', ' '):14}" + "".join(cells))
    for name, shown in (
        ("seconds", [f"{row.seconds:.1f}" if row.seconds else "-" for row in rows]),
        ("tokens in", [f"{row.tokens[0]:,}" for row in rows]),
        ("tokens out", [f"{row.tokens[1]:,}" for row in rows]),
        ("cost", [f"{row.cost:.4f}" for row in rows]),
    ):
        lines.append(f"{name:14}" + "".join(f"{cell:>20}" for cell in shown))
    lines.append(f"true number of processes: {rows[0].scores[0].true_number}")
    lines.append("hungarian by threshold")
    lines.append(f"{'':14}" + "".join(f"{t:>8.2f}" for t in SWEEP))
    lines += [f"{label:14}" + "".join(f"{f:>8.3f}" for f in values) for label, values in sweeps]
    structures = _choose_structures(rows)
    lines += ["", *format_structures(structures).splitlines()] if structures else []
    return "\n".join(lines) + "\n"


def _choose_structures(
    rows: Sequence[Row],
) -> list[tuple[str, StructureScores, StructureScores]]:
    """The structures of each row with true models; of several runs those of the middle one."""
    chosen = []
    for row in rows:
        pairs = [(s.by_evidence, s.by_name) for s in row.scores if s.by_evidence is not None]
        if row.label in WITHOUT_STRUCTURE or not pairs:
            continue
        pairs.sort(key=lambda pair: pair[0].mean("overall"))
        by_evidence, by_name = pairs[(len(pairs) - 1) // 2]
        assert by_name is not None
        chosen.append((row.label, by_evidence, by_name))
    return chosen


def build_charts(rows: Sequence[Row], sweeps: Sequence[tuple[str, Sequence[float]]]) -> Charts:
    """The table as charts: the median of seeds with the range, and the curves over thresholds."""
    bars = []
    for name in HIGHER:
        charts = []
        for row in rows:
            values = [float(v) for s in row.scores if (v := getattr(s, name)) is not None]
            if not values:
                continue
            shown = f"{statistics.median(values):.3f}"
            if len(values) > 1:
                shown += f" ({min(values):.3f}-{max(values):.3f})"
            measured = row.label not in COMPARISONS
            charts.append(Bar(row.label, statistics.median(values), shown, not measured))
        if charts:
            bars.append(BarChart(name.replace("_f1", " F1").replace("_", " "), tuple(charts)))
    lines = tuple((label, tuple(values)) for label, values in sweeps)
    return Charts(tuple(bars), (LineChart("Hungarian F1 by threshold", "threshold", SWEEP, lines),))
