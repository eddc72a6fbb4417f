"""The similarity of a process drafted from a text to the true one.

Tasks are matched one to one by words (Dice) or, with an embedder, by meaning; everything else is
compared under this matching. Published figures match by BLEU, which finds a third of the correct
pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Literal

from orgflow.agents.language.stems import content_words

from orgflow_ir.flow.concurrency.parallel_steps import Concurrency
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import CallActivity, Event, Gateway, Model, SubProcess, Task
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline.agent_services import Embedder

DICE, COSINE = 0.5, 0.6
"""Minimum similarity of tasks that may be the same: by words, by meaning."""

Relation = Literal["before", "after", "exclusive", "concurrent", "loop"]
NON_SEQUENCE: tuple[Relation, ...] = ("exclusive", "concurrent", "loop")


class Step(NamedTuple):
    """A task of a model: its id, its name, and its performer."""

    id: str
    name: str
    actor: str = ""


class ElementCounts(NamedTuple):
    """Numbers of elements of one kind: in the true model, in the draft, and in both."""

    true: int = 0
    drawn: int = 0
    both: int = 0

    def __add__(self, other: ElementCounts) -> ElementCounts:  # type: ignore[override]
        """Both together."""
        return ElementCounts(*(own + more for own, more in zip(self, other, strict=True)))

    @property
    def f1(self) -> float | None:
        """F1 over the pooled elements; `None` if there are none."""
        return compute_f1(self.both, self.drawn, self.true) if self.true + self.drawn else None


class TextScores(NamedTuple):
    """Scores of one process from 0 to 1; `None` if there is nothing to compare.

    Attributes:
        task: F1 of matched tasks.
        gateway: F1 of gateways counted by kind, splits and joins.
        split: the same for gateways with several outgoing flows.
        flow: F1 of pairs of matched tasks that follow each other, gateways contracted.
        order: share of pairs of matched tasks with the same order.
        non_sequence: F1 of exclusive, concurrent and loop relations of matched tasks.
        exclusive, concurrent, loop: the same for one relation.
        exact: every task has its match, and nothing else differs.
        relations: the numbers behind `non_sequence`.
        splits: numbers of splits by kind.
        events: numbers of events by kind, as `count_events` names them.
    """

    task: float
    gateway: float
    split: float
    flow: float
    order: float | None
    non_sequence: float | None
    exclusive: float | None
    concurrent: float | None
    loop: float | None
    exact: bool
    relations: ElementCounts = ElementCounts()
    splits: Mapping[str, ElementCounts] = {}
    events: Mapping[str, ElementCounts] = {}

    @property
    def overall(self) -> float:
        """The mean of task, gateway and flow."""
        return (self.task + self.gateway + self.flow) / 3


def steps_of(model: Model) -> tuple[Step, ...]:
    """The tasks, calls and closed sub-processes of all processes, in order."""
    relations = []
    for scope in model.scopes():
        actors = {id: lane.name for lane in scope.lanes for id in lane.members}
        for node in scope.nodes:
            closed = isinstance(node, SubProcess) and not node.nodes
            if isinstance(node, Task | CallActivity) or closed:
                relations.append(Step(node.id, node.name, actors.get(node.id, "")))
    return tuple(relations)


def score_draft(draft: Model, truth: Model, embedder: Embedder | None = None) -> TextScores:
    """Compare a drafted process with the true one."""
    mine, true = steps_of(draft), steps_of(truth)
    matched = match_steps(mine, true, embedder)
    task = compute_f1(len(matched), len(mine), len(true))
    ends = {"start": "start", "end": "end", **matched}
    flows = [(ends.get(a, f"{a} -"), ends.get(b, f"{b} -")) for a, b in list_following(draft)]
    true_flows = set(list_following(truth))
    flow = compute_f1(len(set(flows) & true_flows), len(set(flows)), len(true_flows))
    drafted_kinds, true_kinds = count_gateways(draft), count_gateways(truth)
    both = sum((drafted_kinds & true_kinds).values())
    gateway = compute_f1(both, sum(drafted_kinds.values()), sum(true_kinds.values()))
    splits = _compare_counts(count_splits(draft), count_splits(truth))
    split = sum(splits.values(), ElementCounts()).f1
    here, there = list_relations(draft), list_relations(truth)
    pairs = [
        (here.get((a, b)), there.get((matched[a], matched[b])))
        for a, b in combinations(sorted(matched), 2)
    ]
    known = [(x, y) for x, y in pairs if x is not None and y is not None]
    ordered = [(x, y) for x, y in known if y in ("before", "after")]
    order = sum(x == y for x, y in ordered) / len(ordered) if ordered else None
    same = task == gateway == flow == 1 and all(x == y for x, y in pairs)
    return TextScores(
        task, gateway, 1.0 if split is None else split, flow, order,
        _count_relations(known, NON_SEQUENCE).f1, _count_relations(known, ("exclusive",)).f1,
        _count_relations(known, ("concurrent",)).f1, _count_relations(known, ("loop",)).f1, same,
        _count_relations(known, NON_SEQUENCE), splits,
        _compare_counts(count_events(draft), count_events(truth)),
    )  # fmt: skip


def score_behaviour(draft: Model, truth: Model, embedder: Embedder | None = None) -> float:
    """F1 of behaviour (the behavioural profile of Weidlich, Mendling and Weske 2011): pairs of
    matched tasks that stand in the same relation, of all pairs of tasks of both models. Tasks of
    two scopes are in no relation.

    For models of one task, which have no pairs, the value is whether the tasks match.
    """
    matched = match_steps(steps_of(draft), steps_of(truth), embedder)
    here, there = list_relations(draft), list_relations(truth)
    same = sum(
        a in matched and b in matched and there.get((matched[a], matched[b])) == relation
        for (a, b), relation in here.items()
    )
    if not here and not there:
        return compute_f1(len(matched), len(steps_of(draft)), len(steps_of(truth)))
    return compute_f1(same, len(here), len(there))


def compute_f1(both: int, mine: int, true: int) -> float:
    """The harmonic mean of precision and recall; 1 where both sides are empty."""
    return 2 * both / (mine + true) if mine + true else 1.0


def _count_relations(
    known: Sequence[tuple[Relation, Relation]], wanted: tuple[Relation, ...]
) -> ElementCounts:
    return ElementCounts(
        sum(y in wanted for _, y in known),
        sum(x in wanted for x, _ in known),
        sum(x == y and x in wanted for x, y in known),
    )


def _compare_counts(drawn: Counter[str], true: Counter[str]) -> dict[str, ElementCounts]:
    """By kind, sorted; an element is in both if its kind is, since events and gateways have no
    text to match them by."""
    return {
        kind: ElementCounts(true[kind], drawn[kind], min(true[kind], drawn[kind]))
        for kind in sorted({*drawn, *true})
    }


def count_gateways(model: Model) -> Counter[str]:
    return Counter(
        node.gateway_kind
        for scope in model.scopes() for node in scope.nodes if isinstance(node, Gateway)
    )  # fmt: skip


def count_splits(model: Model) -> Counter[str]:
    """Gateways with several outgoing flows, by kind."""
    counts: Counter[str] = Counter()
    for scope in model.scopes():
        outgoing = Counter(flow.source for flow in scope.flows)
        for node in scope.nodes:
            if isinstance(node, Gateway) and outgoing[node.id] > 1:
                counts[node.gateway_kind] += 1
    return counts


def count_events(model: Model) -> Counter[str]:
    """Events other than plain starts and ends, by kind: `start.timer`, `catch.message`,
    `boundary.timer`, `end.error`. Tasks that send or receive count as such events; the start of an
    event sub-process counts as a boundary event."""
    counts: Counter[str] = Counter()
    for scope in model.scopes():
        inside = isinstance(scope, SubProcess) and scope.flavour == "event"
        for node in scope.nodes:
            if isinstance(node, Task) and node.task_type in _MESSAGE_TASKS:
                counts[_MESSAGE_TASKS[node.task_type]] += 1
            if isinstance(node, Event):
                position = "boundary" if inside and node.position == "start" else node.position
                counts.update(f"{position}.{definition.kind}" for definition in node.definitions)
    return counts


_MESSAGE_TASKS = {"receive": "catch.message", "send": "throw.message"}


# -- matching --------------------------------------------------------------------------------


def match_steps(
    mine: Sequence[Step], true: Sequence[Step], embedder: Embedder | None = None
) -> dict[str, str]:
    """The best matching of tasks, one to one: the id of the true one by the id of mine."""
    if not mine or not true:
        return {}
    texts = [list(dict.fromkeys((s.name, f"{s.actor} {s.name}".strip()))) for s in (*mine, *true)]
    vectors = _embed_texts([text for names in texts for text in names], embedder)
    likeness = [
        [
            max(
                _compare_pair(a, b, vectors)
                for a in texts[i] for b in texts[len(mine) + j]
            )
            for j in range(len(true))
        ]
        for i in range(len(mine))
    ]  # fmt: skip
    return {mine[i].id: true[j].id for i, j in assign_pairs(likeness) if likeness[i][j] > 0}


def compare_texts(
    mine: Sequence[str], true: Sequence[str], embedder: Embedder | None = None
) -> list[list[float]]:
    """The similarity of texts, one row for each of mine: by words, or by meaning with an embedder;
    0 below the limits."""
    vectors = _embed_texts([*mine, *true], embedder)
    return [[_compare_pair(a, b, vectors) for b in true] for a in mine]


class Remembering:
    """An embedder that computes the vector of each text once."""

    def __init__(self, embedder: Embedder) -> None:
        self.name, self.size = embedder.name, embedder.size
        self._embedder = embedder
        self._known: dict[str, Sequence[float]] = {}

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector for each text."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known |= zip(new, self._embedder.embed(new), strict=True)
        return [self._known[text] for text in texts]


def _embed_texts(texts: Sequence[str], embedder: Embedder | None) -> dict[str, Sequence[float]]:
    unique = list(dict.fromkeys(texts))
    return dict(zip(unique, embedder.embed(unique), strict=True)) if embedder is not None else {}


def _compare_pair(first: str, second: str, vectors: Mapping[str, Sequence[float]]) -> float:
    """Dice of the words of two texts or the cosine of their vectors, the larger that reaches its
    limit, else 0."""
    left, right = Counter(content_words(first)), Counter(content_words(second))
    total = sum(left.values()) + sum(right.values())
    dice = 2 * sum((left & right).values()) / total if total else 0.0
    near = 0.0
    if vectors:
        near = float(sum(x * y for x, y in zip(vectors[first], vectors[second], strict=True)))
    return max(dice if dice >= DICE else 0.0, near if near >= COSINE else 0.0)


def assign_pairs(likeness: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """Pairs (row, column) with the largest total similarity, each row and column once (Kuhn-Munkres
    by shortest augmenting paths, cubic)."""
    if not likeness or not likeness[0]:
        return []
    if len(likeness) > len(likeness[0]):
        turned = [list(column) for column in zip(*likeness, strict=True)]
        return sorted((i, j) for j, i in assign_pairs(turned))
    rows, columns = len(likeness), len(likeness[0])
    top = max(map(max, likeness))
    price_row, price_column = [0.0] * (rows + 1), [0.0] * (columns + 1)
    owner = [0] * (columns + 1)  # of each column its row, from 1; 0 is free
    for row in range(1, rows + 1):
        owner[0], at = row, 0
        least = [float("inf")] * (columns + 1)
        came = [0] * (columns + 1)
        used = [False] * (columns + 1)
        while True:  # grow the tree of tight edges until a free column is reached
            used[at] = True
            here, delta, following = owner[at], float("inf"), 0
            for column in range(1, columns + 1):
                if used[column]:
                    continue
                cost = top - likeness[here - 1][column - 1]
                slack = cost - price_row[here] - price_column[column]
                if slack < least[column]:
                    least[column], came[column] = slack, at
                if least[column] < delta:
                    delta, following = least[column], column
            for column in range(columns + 1):
                if used[column]:
                    price_row[owner[column]] += delta
                    price_column[column] -= delta
                else:
                    least[column] -= delta
            at = following
            if owner[at] == 0:
                break
        while at:  # hand the columns on along the path
            owner[at] = owner[came[at]]
            at = came[at]
    return sorted(
        (owner[column] - 1, column - 1) for column in range(1, columns + 1) if owner[column]
    )


# -- relations -------------------------------------------------------------------------------


def list_relations(model: Model) -> dict[tuple[str, str], Relation]:
    """The relation of every two tasks of one scope, in both directions."""
    relations: dict[tuple[str, str], Relation] = {}
    for scope in model.scopes():
        graph = ControlFlow(scope)
        beside = Concurrency(graph)
        steps = [s.id for s in steps_of(model) if s.id in graph.nodes]
        reached = {id: _collect_reachable(graph, id) for id in steps}
        for a, b in combinations(steps, 2):
            forth, back = b in reached[a], a in reached[b]
            if b in beside.beside(a):
                relations[a, b] = relations[b, a] = "concurrent"
            elif forth and back:
                relations[a, b] = relations[b, a] = "loop"
            elif forth or back:
                relations[a, b], relations[b, a] = (
                    ("before", "after") if forth else ("after", "before")
                )
            else:
                relations[a, b] = relations[b, a] = "exclusive"
    return relations


def _collect_reachable(graph: ControlFlow, start: str) -> set[str]:
    relations: set[str] = set()
    todo = list(graph.successors[start])
    while todo:
        node = todo.pop()
        if node not in relations:
            relations.add(node)
            todo.extend(graph.successors[node])
    return relations


def list_following(model: Model) -> Iterable[tuple[str, str]]:
    """Pairs of tasks of which the second follows the first with only gateways and events between;
    `start` and `end` stand for the ends of a scope."""
    for scope in model.scopes():
        graph = ControlFlow(scope)
        steps = {s.id for s in steps_of(model)} & set(graph.nodes)
        first = [n for n in graph.nodes if n not in steps and not graph.flows_in(n)]
        origins = [("start", n) for n in first] + [(s, s) for s in sorted(steps)]
        for name, origin in origins:
            todo, seen = list(graph.successors[origin]), set()
            if not graph.successors[origin]:
                yield name, "end"
            while todo:
                node = todo.pop()
                if node in steps:
                    yield name, node
                elif node not in seen:
                    seen.add(node)
                    element = graph.nodes[node]
                    if isinstance(element, Event) and element.position == "end":
                        yield name, "end"
                    todo.extend(graph.successors[node])
