"""Decisions that people stated: the runs that they add to those of cases, and the labels of
choices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from orgflow.agents.language.stems import content_words

from orgflow_ir.mining.drawn_tree import WayLabel
from orgflow_ir.mining.event_rows import Trace
from orgflow_ir.mining.process_tree import Choice, Tree, list_choices, list_leaves
from orgflow_ir.model.evidence import Evidence
from orgflow_ir.model.records import NamedTuple

HALF = 0.5
"""Two decisions of different cases are one if this share of their steps or of the words of their
questions is the same."""


class StatedOption(NamedTuple):
    """An option of a decision.

    Attributes:
        condition: when it is taken.
        steps: its steps.
        stated_only: whether only the statement of the decision shows its steps, so that nobody
            did them.
        evidence: the passages that state it.
    """

    condition: str
    steps: frozenset[int]
    stated_only: bool
    evidence: tuple[Evidence, ...]


class StatedDecision(NamedTuple):
    """A decision that somebody stated in a case."""

    case: int
    question: str
    options: tuple[StatedOption, ...]

    @property
    def bound(self) -> frozenset[int]:
        """The steps of all options."""
        return frozenset[int]().union(*(option.steps for option in self.options))


# -- runs --------------------------------------------------------------------------------------


def add_stated_runs(
    traces: Sequence[Trace], decisions: Sequence[StatedDecision]
) -> tuple[Trace, ...]:
    """The traces of cases without what was only stated in them, and the runs that decisions add.

    A run is added for an option that no case took, or for none of the options where every case
    took one. It is the case in which the decision was stated, changed in one stretch: decisions
    are never combined.
    """
    # 1. what was only stated did not happen, unless all options were only stated
    stated: dict[int, set[int]] = {}
    for decision in decisions:
        only = [o for o in decision.options if o.stated_only and o.steps]
        done = [o for o in decision.options if o.steps and not o.stated_only]
        for option in only if done else only[1:]:
            own = option.steps.difference(*(other.steps for other in done))
            stated.setdefault(decision.case, set()).update(own)
    taken = tuple(
        trace._replace(
            steps=tuple(s for s in trace.steps if s not in stated.get(trace.case, ()))
        )
        for trace in traces
    )  # fmt: skip
    # 2. the runs of options that nobody took
    of_case = {trace.case: trace for trace in taken}
    following = max(of_case, default=-1) + 1
    added: list[Trace] = []
    for decision in decisions:
        for steps in _list_other_runs(decision, of_case[decision.case], taken):
            if steps and all(steps != trace.steps for trace in (*taken, *added)):
                added.append(Trace(following, steps))
                following += 1
    # 3. a step that would be in no run happened after all
    kept = {step for trace in (*taken, *added) for step in trace.steps}
    whole = [
        after if kept.issuperset(before.steps) else before
        for before, after in zip(traces, taken, strict=True)
    ]
    return (*whole, *added)


def _list_other_runs(
    decision: StatedDecision, own: Trace, traces: Sequence[Trace]
) -> Iterator[tuple[int, ...]]:
    """The steps of the case of a decision with another option in place of the one it took."""
    branch = _find_branch(decision, own)
    if branch is None:
        return
    places = [n for n, step in enumerate(own.steps) if step in branch.steps]
    begin = own.steps[: places[0]]
    rest = tuple(step for step in own.steps[places[0] :] if step not in branch.steps)
    others = [o for o in decision.options if o.steps and o.steps.isdisjoint(own.steps)]
    for option in others:
        if not any(option.steps & set(trace.steps) for trace in traces):
            yield (*begin, *sorted(option.steps), *rest)
    at_end = places[-1] == len(own.steps) - 1  # nobody knows what ends the process instead
    if not (others or at_end) and all(branch.steps & set(trace.steps) for trace in traces):
        yield (*begin, *rest)


def _find_branch(decision: StatedDecision, own: Trace) -> StatedOption | None:
    """The option that the case of a decision took: the first one. What comes after it in the same
    case is no other option but follows."""
    taken = [option for option in decision.options if option.steps & set(own.steps)]
    first = {step: place for place, step in reversed(list(enumerate(own.steps)))}
    return min(
        taken, key=lambda o: min(first[step] for step in o.steps if step in first), default=None
    )  # fmt: skip


# -- labels ------------------------------------------------------------------------------------


def label_choices(
    tree: Tree, decisions: Sequence[StatedDecision]
) -> Mapping[Choice, Sequence[WayLabel | None]]:
    """The stated reasons of the ways of each choice in a tree that a decision is about.

    A choice has the labels of the decision with which it shares most steps, and a decision labels
    one choice. A label that two ways of a choice would have is left out.
    """
    groups = group_decisions(decisions)
    choices = list(list_choices(tree))
    pairs = sorted(
        (-len(_bind_steps(group) & frozenset(list_leaves(choice))), place, number)
        for place, choice in enumerate(choices)
        for number, group in enumerate(groups)
    )
    labels: dict[Choice, Sequence[WayLabel | None]] = {}
    used: set[int] = set()
    for shared, place, number in pairs:
        if shared and choices[place] not in labels and number not in used:
            labels[choices[place]] = _label_ways(choices[place], groups[number])
            used.add(number)
    return labels


def group_decisions(decisions: Sequence[StatedDecision]) -> list[list[StatedDecision]]:
    """Decisions that are one, stated in several cases: half of the steps or half of the words of
    the questions are the same. Two decisions of one case are never one."""
    groups: list[list[StatedDecision]] = []
    for decision in decisions:
        for group in groups:
            apart = all(other.case != decision.case for other in group)
            if apart and any(_are_one(other, decision) for other in group):
                group.append(decision)
                break
        else:
            groups.append([decision])
    return groups


def _are_one(first: StatedDecision, second: StatedDecision) -> bool:
    """Whether two decisions share half of their steps or of the words of their questions."""
    sides = [
        (first.bound, second.bound),
        (set(content_words(first.question)), set(content_words(second.question))),
    ]
    return any(len(a & b) >= HALF * max(len(a), len(b)) > 0 for a, b in sides)


def _bind_steps(group: Sequence[StatedDecision]) -> frozenset[int]:
    return frozenset[int]().union(*(decision.bound for decision in group))


def _label_ways(choice: Choice, group: Sequence[StatedDecision]) -> list[WayLabel | None]:
    """For each way, the option that shares most steps with it; for a way without steps, the only
    option that has no step in the choice."""
    branches = [frozenset(list_leaves(way)) for way in choice.options]
    here = frozenset[int]().union(*branches)
    options = [(d.question, option) for d in group for option in d.options]
    absent = {o.condition.casefold(): (q, o) for q, o in options if not o.steps & here}
    chosen: list[tuple[str, StatedOption] | None] = []
    for way in branches:
        sharing = [entry for entry in options if entry[1].steps & way]
        if sharing:
            chosen.append(max(sharing, key=lambda entry: len(entry[1].steps & way)))
        else:
            chosen.append(next(iter(absent.values())) if not way and len(absent) == 1 else None)
    used = Counter(option.condition.casefold() for _, option in filter(None, chosen))
    return [
        WayLabel(entry[0], entry[1].condition, entry[1].evidence)
        if entry is not None and used[entry[1].condition.casefold()] == 1 else None
        for entry in chosen
    ]  # fmt: skip
