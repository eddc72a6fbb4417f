"""Scores in the manner of PAGED (Du et al., ACL 2024) as reported by text2flow: elements and flows
of a procedural graph, compared by the similarity of their words.

As published: actions, actors and constraints count if a true one is similar (soft F1); a gateway
counts if its kind is correct and a neighbouring step is matched (hard F1); a flow counts if its
kind, both ends and any condition are correct.

Differences: every element is matched with at most one other, by the best total, whereas the
    published measure takes the nearest true one for each; the neighbours of a gateway are the
    nearest steps, also beyond other gateways; starts and ends have no words and match as such; BLEU
    is smoothed, since a step has three words and no sequence of four.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain

from orgflow.agents.text.bleu import bleu_score
from orgflow.evaluation.text_metrics import assign_pairs, compute_f1, steps_of

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import Event, Gateway, Model, Scope
from orgflow_ir.model.records import NamedTuple

PARTS = (
    "actor", "action", "data", "note", "XOR", "OR", "AND", "sequence", "condition", "constraint",
)  # fmt: skip
"""The scored parts: elements (`data` and `note` are the data and action constraints), gateways by
kind, and flows by kind."""
LIKE = 0.5
"""Minimum similarity at which two texts match."""

Likeness = Callable[[Sequence[str], Sequence[str]], Sequence[Sequence[float]]]
"""The similarities of the texts of two lists, one row for each of the first list."""

_KINDS = {"exclusive": "XOR", "inclusive": "OR", "parallel": "AND"}


class _Edge(NamedTuple):
    source: str
    target: str
    condition: str = ""


class _Graph:
    """A model as PAGED sees one: texts of elements by id, and edges between the elements."""

    def __init__(self, model: Model) -> None:
        steps = steps_of(model)
        self.texts: dict[str, dict[str, str]] = {part: {} for part in PARTS[:4]}
        self.texts["action"] = {step.id: step.name for step in steps}
        self.texts["actor"] = {s.actor: s.actor for s in steps if s.actor}
        self.gateways: dict[str, str] = {}
        self.ends: dict[str, str] = {}
        self.beside: dict[str, set[str]] = {}
        self.flows: list[_Edge] = []
        self.constraints: list[_Edge] = []
        for scope in model.scopes():
            self._add_scope(scope)

    def _add_scope(self, scope: Scope) -> None:
        graph = ControlFlow(scope)
        actions = self.texts["action"]
        for node in scope.nodes:
            if isinstance(node, Gateway) and node.gateway_kind in _KINDS:
                self.gateways[node.id] = _KINDS[node.gateway_kind]
            elif isinstance(node, Event) and node.position in ("start", "end"):
                self.ends[node.id] = node.position
        before = {n: [a.source for a in arcs] for n, arcs in graph.into.items()}
        kept = {*actions, *self.gateways, *self.ends} & set(graph.nodes)
        for id in graph.nodes:
            if id in kept:
                self.flows += _list_edges(graph, id, kept)
            if id in self.gateways:
                near = (_find_nearest(arcs, id, actions) for arcs in (graph.successors, before))
                self.beside[id] = set(chain.from_iterable(near))
        self._add_constraints(scope)

    def _add_constraints(self, scope: Scope) -> None:
        """Data and notes of actions."""
        actions = self.texts["action"]
        names = {d.id: d.name for d in scope.data_objects if d.name}
        notes = {a.id: a.text for a in scope.artifacts if a.text}
        links = [(f.source, f.target) for f in scope.data_flows]
        links += [(a.source or "", a.target or "") for a in scope.artifacts]
        for ends in links:
            for constraint, action in (ends, ends[::-1]):
                for part, texts in (("data", names), ("note", notes)):
                    if constraint in texts and action in actions:
                        self.texts[part][constraint] = texts[constraint]
                        self.constraints.append(_Edge(constraint, action))


def _list_edges(graph: ControlFlow, source: str, kept: set[str]) -> Iterable[_Edge]:
    """What follows an element with only events between, each with the first words on the way."""
    todo = [(a.target, a.flow.name if a.flow is not None else "") for a in graph.out[source]]
    seen: set[str] = set()
    while todo:
        node, words = todo.pop()
        if node in kept:
            yield _Edge(source, node, words)
        elif node not in seen:
            seen.add(node)
            for arc in graph.out[node]:
                todo.append((arc.target, words or (arc.flow.name if arc.flow is not None else "")))


def _find_nearest(arcs: Mapping[str, Iterable[str]], start: str, wanted: Iterable[str]) -> set[str]:
    """The nearest wanted nodes on each way from a node."""
    reached: set[str] = set()
    seen = {start}
    todo = list(arcs[start])
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in wanted:
            reached.add(node)
        else:
            todo.extend(arcs[node])
    return reached


def paged_scores(draft: Model, truth: Model, alike: Likeness) -> dict[str, float | None]:
    """F1 from 0 to 1 by part (`PARTS`), `None` if it is undefined: neither model has a gateway or
    flow of this kind, or the truth contains no such text at all (actors, constraints, conditions),
    so the draft's cannot be judged."""
    mine, true = _Graph(draft), _Graph(truth)
    scores: dict[str, float | None] = {}
    matched: dict[str, str] = {}
    for part in PARTS[:4]:
        pairs = _match_texts(mine.texts[part], true.texts[part], alike)
        scores[part] = _compute_f1(len(pairs), len(mine.texts[part]), len(true.texts[part]))
        matched |= pairs if part != "actor" else {}
    reached = _match_gateways(mine, true, matched)
    for name in _KINDS.values():
        right = sum(mine.gateways[id] == name for id in reached)
        scores[name] = _compute_f1(
            right, *(_count_equal(g.gateways.values(), name) for g in (mine, true))
        )
    matched |= reached
    conditions = any(edge.condition for edge in true.flows)
    here, there = mine.flows, true.flows
    if not conditions:
        here = [edge._replace(condition="") for edge in here]
    for name, wanted in (("sequence", False), ("condition", True)):
        drafted = [edge for edge in here if bool(edge.condition) is wanted]
        expected = [edge for edge in there if bool(edge.condition) is wanted]
        right = _count_right_edges(drafted, expected, matched, mine.ends, true.ends, alike)
        scores[name] = _compute_f1(right, len(drafted), len(expected))
    right = _count_right_edges(mine.constraints, true.constraints, matched, {}, {}, alike)
    scores["constraint"] = _compute_f1(right, len(mine.constraints), len(true.constraints))
    for part in ("actor", "data", "note"):
        if not true.texts[part]:
            scores[part] = None
    if not true.constraints:
        scores["constraint"] = None
    return {part: scores[part] for part in PARTS}


def _compute_f1(both: int, mine: int, true: int) -> float | None:
    return compute_f1(both, mine, true) if mine + true else None


def _count_equal(values: Iterable[str], wanted: str) -> int:
    return sum(value == wanted for value in values)


def _match_texts(
    mine: Mapping[str, str], true: Mapping[str, str], alike: Likeness
) -> dict[str, str]:
    """The best matching of texts, one to one: the id of the true one by the id of mine."""
    if not mine or not true:
        return {}
    rows = alike(list(mine.values()), list(true.values()))
    known = [[value if value >= LIKE else 0.0 for value in row] for row in rows]
    ids, wanted = list(mine), list(true)
    return {ids[i]: wanted[j] for i, j in assign_pairs(known) if known[i][j] > 0}


def _match_gateways(mine: _Graph, true: _Graph, matched: Mapping[str, str]) -> dict[str, str]:
    """Gateways of one kind beside steps that are matched; those with most of them go together."""
    if not mine.gateways or not true.gateways:
        return {}
    rows = [
        [
            float(len({matched.get(s) for s in mine.beside[a]} & true.beside[b]))
            if mine.gateways[a] == true.gateways[b] else 0.0
            for b in true.gateways
        ]
        for a in mine.gateways
    ]  # fmt: skip
    ids, wanted = list(mine.gateways), list(true.gateways)
    return {ids[i]: wanted[j] for i, j in assign_pairs(rows) if rows[i][j] > 0}


def _count_right_edges(
    mine: Sequence[_Edge], true: Sequence[_Edge], matched: Mapping[str, str],
    my_ends: Mapping[str, str], true_ends: Mapping[str, str], alike: Likeness,
) -> int:  # fmt: skip
    """How many edges have a true one with the same ends and, where it has one, a condition that is
    alike; each true one is taken once."""
    left: dict[tuple[str, str], list[str]] = {}
    for edge in true:
        ends = (true_ends.get(edge.source, edge.source), true_ends.get(edge.target, edge.target))
        left.setdefault(ends, []).append(edge.condition)
    right = 0
    for edge in mine:
        source, target = (my_ends.get(id) or matched.get(id) for id in edge[:2])
        conditions = left.get((source, target), []) if source and target else []
        for condition in conditions:
            if not condition or alike([edge.condition], [condition])[0][0] >= LIKE:
                conditions.remove(condition)
                right += 1
                break
    return right


# -- likeness --------------------------------------------------------------------------------


def by_bleu(mine: Sequence[str], true: Sequence[str]) -> list[list[float]]:
    """Likeness by `bleu_score`."""
    return [[bleu_score(a, b) for b in true] for a in mine]
