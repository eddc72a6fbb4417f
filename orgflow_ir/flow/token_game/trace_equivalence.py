"""Compares the runs of two processes, observed through their common elements.

A run is observed as the sequence of *visible* elements that complete in it: tasks, events, calls
and sub-processes that both processes have, and choices that both have with the same labels, each
with the labels taken. Opening steps, other gateways and elements of only one process are hidden.
Both token games are determinised on the fly (a set of markings for everything that may have
happened), so two processes are equal exactly if each produces the sequences of the other, and they
may end, or get stuck, after the same ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.net import Policy
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.flow.token_game.state import State
from orgflow_ir.model import Element, Flow, Gateway, Model, Process
from orgflow_ir.model.records import dataclass
from orgflow_ir.targets.comparison import Behaviour, Row

LIMIT = 20_000
"""Maximum number of steps explored in both games."""

Shown = tuple[str, tuple[str, ...]]
"""The observation of a step: a key shared by both processes, and the labels taken by a choice."""

Markings = frozenset[State]

_ENDS: Mapping[str, str] = {
    "completed": "the run ends",
    "terminated": "the run ends",
    "error": "the run ends in an error",
    "stuck": "the run is stuck",
}


class StepsExceeded(Exception):
    """More steps than were granted."""


@dataclass
class StepBudget:
    """The number of steps that games may still fire."""

    left: int


class ObservedGame:
    """One process as a deterministic machine over what is visible.

    Args:
        model: where the process is.
        process: the process.
        keys: the shared key of each visible element, by id.
        choices: elements among them whose labels are seen.
        silent: ids of elements that the other side cannot have (stops that a compiler adds): runs
            into them are left out.
        budget: steps granted, shared with the other side.
    """

    def __init__(
        self,
        model: Model,
        process: Process,
        keys: Mapping[str, str],
        choices: frozenset[str],
        silent: frozenset[str],
        budget: StepBudget,
    ) -> None:
        self.game = Game(model, Policy(once=True))
        self.process, self.keys, self.choices, self.budget = process, keys, choices, budget
        self.flows = {f.id: f for scope in process.scopes() for f in scope.flows}
        self.nodes = {n.id: n for scope in process.scopes() for n in scope.nodes}
        self.left_out = {f.id for f in self.flows.values() if f.target in silent}
        self.plain = not silent

    def start(self) -> Markings:
        """All markings before anything visible."""
        starts = self.game.starts(self.process.id)
        return self._close_markings(self.game.initial(self.process.id, s) for s in starts)

    def _list_steps(self, state: State) -> Iterator[Step]:
        for step in self.game.enabled(state):
            if not self.left_out.intersection(step.taken):
                yield step

    def _fire_step(self, state: State, step: Step) -> State:
        self.budget.left -= 1
        if self.budget.left < 0:
            raise StepsExceeded
        return self.game.fire(state, step)

    def shows(self, step: Step) -> Shown | None:
        """The visible part of a step."""
        key = self.keys.get(step.element)
        if key is None or step.action == "open":
            return None
        if step.element in self.choices:
            return key, tuple(sorted(_fold_name(self.flows[f]) for f in step.taken))
        return None if isinstance(self.nodes.get(step.element), Gateway) else (key, ())

    def _at_once(self, steps: list[Step]) -> Step | None:
        """A hidden step that nothing else can prevent and that prevents nothing: only what comes
        after it needs to be looked at."""
        for step in steps:
            node = self.nodes.get(step.element)
            if step.action == "open" and node is not None and node.kind == "task":
                return step
            if isinstance(node, Gateway) and self.shows(step) is None:
                inner = self.game.net.nodes[self.game.net.by_id[step.element][0]]
                alone = sum(s.element == step.element for s in steps) == 1
                if alone and node.gateway_kind in ("exclusive", "parallel") and not inner.free:
                    return step
        return None

    def _close_markings(self, states: Iterable[State]) -> Markings:
        """The markings and those that hidden steps lead to."""
        work = list(states)
        seen = set(work)
        markings: set[State] = set()
        while work:
            state = work.pop()
            steps = list(self._list_steps(state))
            first = self._at_once(steps)
            if first is None:
                markings.add(state)
            for step in steps if first is None else [first]:
                if self.shows(step) is None:
                    after = self._fire_step(state, step)
                    if after not in seen:
                        seen.add(after)
                        work.append(after)
        return frozenset(markings)

    def after(self, markings: Markings) -> dict[Shown, Markings]:
        """For each visible step that may be next the markings then."""
        successors: dict[Shown, dict[State, None]] = {}
        for state in markings:
            for step in self._list_steps(state):
                shown = self.shows(step)
                if shown is not None:
                    successors.setdefault(shown, {}).setdefault(self._fire_step(state, step))
        return {shown: self._close_markings(then) for shown, then in sorted(successors.items())}

    def ends(self, markings: Markings) -> frozenset[str]:
        """How the run may be over, in words; with stops left out only whether it may end well."""
        outcomes = {self.game.outcome(state) for state in markings} - {"running"}
        if not self.plain:
            outcomes &= {"completed", "terminated"}
        return frozenset(_ENDS[outcome] for outcome in outcomes)


def compare_processes(
    old: tuple[Model, Process],
    new: tuple[Model, Process],
    pairs: Mapping[str, str],
    *,
    silent: frozenset[str] = frozenset(),
    limit: int = LIMIT,
) -> Behaviour:
    """Whether two processes have the same runs.

    Args:
        old: a process and its model.
        new: another process and its model.
        pairs: ids of nodes of the old process, mapped to those of the new one.
        silent: ids of elements of either process that are not observed.
        limit: maximum number of steps of the token games.
    """
    budget = StepBudget(limit)
    back = {new_id: new_id for new_id in pairs.values()}
    choices = _common_choices(old[1], new[1], pairs, silent)
    ends = silent or frozenset()
    first = ObservedGame(*old, pairs, frozenset(choices), ends, budget)
    second = ObservedGame(*new, back, frozenset(pairs[c] for c in choices), ends, budget)
    second.plain = first.plain = not silent
    try:
        return _walk_product(first, second, {v: k for k, v in pairs.items()}, budget, limit)
    except StepsExceeded:
        return Behaviour("bounded", limit, f"the limit of {limit} steps was reached")


def _walk_product(
    first_side: ObservedGame,
    second_side: ObservedGame,
    olds: Mapping[str, str],
    budget: StepBudget,
    limit: int,
) -> Behaviour:
    first = (first_side.start(), second_side.start())
    came: dict[tuple[Markings, Markings], tuple[Shown, ...]] = {first: ()}
    queue = deque([first])
    while queue:
        a, b = pair = queue.popleft()
        trace = came[pair]
        mine, its = first_side.ends(a), second_side.ends(b)
        steps, others = first_side.after(a), second_side.after(b)
        looked_at = limit - budget.left

        def text_of(side: ObservedGame, shown: Shown) -> str:
            id = olds[shown[0]] if side is first_side else shown[0]
            label = side.nodes[id].label
            return f"{label} → {', '.join(shown[1])}" if shown[1] else label

        rows = [Row(text_of(first_side, shown), text_of(second_side, shown)) for shown in trace]
        for shown in sorted(steps.keys() ^ others.keys()):
            side = first_side if shown in steps else second_side
            which = "old" if side is first_side else "new"
            rest = [
                text_of(second_side if side is first_side else first_side, s)
                for s in (others if side is first_side else steps)
            ]
            instead = " or ".join(rest[:2]) + (" or …" if len(rest) > 2 else "")
            instead = (
                instead or " or ".join(sorted(its if side is first_side else mine)) or "nothing"
            )
            text = text_of(side, shown)
            row = Row(text, instead, False) if side is first_side else Row(instead, text, False)
            reason = f"`{text}` may occur here only in the {which} version"
            return Behaviour("different", looked_at, reason, (*rows, row))
        if mine != its:
            endings = [" or ".join(sorted(s)) or "the run continues" for s in (mine, its)]
            reason = f"the runs end differently: {endings[0]}, now {endings[1]}"
            return Behaviour(
                "different", looked_at, reason, (*rows, Row(endings[0], endings[1], False))
            )
        for shown, then in steps.items():
            after = (then, others[shown])
            if after not in came:
                came[after] = (*trace, shown)
                queue.append(after)
    return Behaviour("same", limit - budget.left)


def _common_choices(
    old: Process, new: Process, pairs: Mapping[str, str], silent: frozenset[str]
) -> list[str]:
    """Ids, in the old process, of choices that both have with the same labels, all different."""
    mine, its = _label_choices(old, silent), _label_choices(new, silent)
    return [id for id, labels in mine.items() if id in pairs and its.get(pairs[id]) == labels]


def _label_choices(process: Process, silent: frozenset[str]) -> dict[str, list[str]]:
    labels: dict[str, list[str]] = {}
    for scope in process.scopes():
        leaving: dict[str, list[Flow]] = {}
        for flow in scope.flows:
            if flow.target not in silent:
                leaving.setdefault(flow.source, []).append(flow)
        for node in scope.nodes:
            choice = isinstance(node, Gateway) and node.gateway_kind in ("exclusive", "inclusive")
            names = sorted(_fold_name(flow) for flow in leaving.get(node.id, ()))
            if choice and len(names) > 1 and all(names) and len(set(names)) == len(names):
                labels[node.id] = names
    return labels


def _fold_name(flow: Element) -> str:
    return " ".join(flow.name.split())
