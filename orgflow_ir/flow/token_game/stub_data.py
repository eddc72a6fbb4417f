"""Data that makes a target follow a run of a model: the output of each setter at each visit.
Emitted conditions are never modified; if no data fits, the run is unplayable."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.stimulus import Payload, Stimulus
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.evaluator import evaluate, is_truthy
from orgflow_ir.program.portable_operators import PORTABLE
from orgflow_ir.program.syntax import (
    Empty,
    Exact,
    Path,
    Tree,
    as_javascript,
    constants,
    is_plain,
    nodes,
    variables,
)
from orgflow_ir.work.gateway_decisions import Decision

if TYPE_CHECKING:
    from orgflow_ir.flow.token_game.runs import Run

OTHERWISE = "(something else)"
"""A value that matches no branch: it takes the default flow."""

MAX_TRIES = 20_000
"""Maximum number of value combinations tried for coded conditions."""


_MOST_ITEMS = 10_000
"""The last position of a list in the data of a run."""


class Unplayable(ValueError):
    """No data makes the target follow the run's choices."""


class Choice(NamedTuple):
    """A decision, the flows to take, and the data to set: its decision variable (`labels`), or the
    variables of its conditions (`code`)."""

    decision: Decision
    flows: tuple[str, ...]
    labels: bool = True
    code: bool = True


def data_stimuli(
    decisions: Iterable[Decision],
    run: Run,
    before: Mapping[str, frozenset[str]] | None = None,
    *,
    coded: bool = True,
) -> tuple[Stimulus, ...]:
    """The start of a run, and the output of every setter at each of its visits; an engine needs
    this part of the list of stimuli. Its elements are those of the decisions.

    `before` maps the id of a gateway to the elements from which it is reached. With it, the
    variables of conditions are set by the element that the run visited last, or at its start;
    without it, by the setter of the decision. Without `coded`, conditions are left out.

    Raises:
        Unplayable: no data makes the target follow the run's choices.
    """
    # 1. The choices of the run, by what sets the variables that they read, and its visits.
    deciders: dict[str, list[Decision]] = {}
    for decision in decisions:
        deciders.setdefault(decided_by(decision), []).append(decision)
    visited: dict[str, list[int]] = {}
    wanted: dict[tuple[str, str], dict[int, list[Choice]]] = {}
    for index, step in enumerate(run.steps):
        if step.action not in ("fire", "done", "start"):
            continue
        visited.setdefault(step.element, []).append(index)
        for decision in deciders.get(step.element, ()):
            flows = taken_flows(decision, step)
            # Conditions in code may read what another element than the setter has set.
            apart = before is not None and bool(decision.coded)
            if decision.values or not apart:
                own = decision.setter == decision.gateway.id
                owner = step.element if own else decision.setter
                visit = max(len(visited.get(owner, ())), 1)
                choices = wanted.setdefault((decision.setter, owner), {})
                choices.setdefault(visit, []).append(Choice(decision, flows, code=not apart))
            if before is not None and apart and coded:
                earlier = [e for e in visited if e in before[decision.gateway.id]]
                owner = max(earlier, key=lambda e: visited[e][-1], default=run.start or run.process)
                visit = max(len(visited.get(owner, ())), 1)
                choices = wanted.setdefault((owner, owner), {})
                choices.setdefault(visit, []).append(Choice(decision, flows, labels=False))
    # 2. One output a visit; visits without a choice in between get an empty one.
    stimuli = [Stimulus(run.start or run.process, "start")]
    for (setter, owner), choices in wanted.items():
        for visit in range(1, max(choices) + 1):
            row = setter_values(choices[visit]) if visit in choices else {}
            steps = visited.get(owner, ())
            at = steps[visit - 1] if visit <= len(steps) else 0
            stimuli.append(Stimulus(setter, "data", Payload(values=row), at))
    return tuple(stimuli)


def stub_data(stimuli: Iterable[Stimulus]) -> dict[str, list[dict[str, Any]]]:
    """The output fields of every setter, visit by visit, by its id."""
    rows: dict[str, list[dict[str, Any]]] = {}
    for stimulus in stimuli:
        if stimulus.kind == "data":
            rows.setdefault(stimulus.element, []).append(dict(stimulus.payload.values))
    return rows


def with_data(stimuli: Iterable[Stimulus], data: Iterable[Stimulus]) -> tuple[Stimulus, ...]:
    """Both lists merged in order of occurrence, with data first at equal positions."""
    more = [s for s in data if s.kind == "data"]
    start, *rest = stimuli
    return (start, *sorted([*more, *rest], key=lambda s: s.at))


def decided_by(decision: Decision) -> str:
    """The element of the source model that makes the decision: an activity, if a lowering replaced
    its outgoing flows with the gateway. If all flows of a decision are generated, as in a loop,
    this is the deciding gateway itself."""
    if all(source_ids(branch.flow) != (branch.flow.id,) for branch in decision.branches):
        return decision.gateway.id
    return source_ids(decision.gateway)[0]


def taken_flows(decision: Decision, step: Step) -> tuple[str, ...]:
    """The flows of this decision that a step of the source model took."""
    mine = {b.flow.id for b in decision.branches}
    flows = tuple(f for f in step.taken if f in mine)
    if not flows and decision.default is not None:
        return (decision.default.flow.id,)
    return flows


def setter_values(choices: Sequence[Choice]) -> dict[str, Any]:
    """The output fields for one visit of a setter. Raises `Unplayable`."""
    fields: dict[str, Any] = {}
    demands: list[tuple[Tree, bool]] = []
    for decision, flows, labels, code in choices:
        chosen = [b for b in decision.branches if b.flow.id in flows and b.kind == "value"]
        if decision.values and labels:
            value: Any = [b.value for b in chosen]
            if not decision.several:
                value = chosen[0].value if chosen else OTHERWISE
            if fields.setdefault(decision.variable, value) != value:
                raise Unplayable(f"`{decision.variable}` would need two values at once")
        if code:
            demands += list_demands(decision, flows)
    fields.update(nest_values(solve_demands(demands)))
    return fields


def list_demands(decision: Decision, flows: tuple[str, ...]) -> list[tuple[Tree, bool]]:
    """Truth of coded conditions that makes the gateway take exactly `flows`."""
    result: list[tuple[Tree, bool]] = []
    for branch in decision.branches:
        hit = branch.flow.id in flows
        if branch.tree is not None:
            result.append((branch.tree, hit))
        if hit and not decision.several and branch.kind != "default":
            break  # a Switch takes the first that holds: later ones do not matter
    return result


def solve_demands(demands: Sequence[tuple[Tree, bool]]) -> dict[Path, Any]:
    """Values of variables under which every tree has its required truth value, in every language if
    possible, otherwise in JavaScript. Raises `Unplayable`."""
    names = list(dict.fromkeys(v for tree, _ in demands for v in variables(tree)))
    translated = [(as_javascript(tree), want) for tree, want in demands]
    if not names:
        if _as_javascript_holds(translated, {}):
            return {}
        raise Unplayable("a condition without variables never changes")
    candidates = list_candidates(demands)
    for everywhere in (True, False):
        combinations = itertools.product(candidates, repeat=len(names))
        for combination in itertools.islice(combinations, MAX_TRIES):
            values = dict(zip(names, combination, strict=True))
            if everywhere and not _holds_everywhere(demands, values):
                continue
            if _as_javascript_holds(translated, values):
                return values
    raise Unplayable("no values were found that satisfy the conditions of the run")


def _holds_everywhere(demands: Sequence[tuple[Tree, bool]], values: Mapping[Path, Any]) -> bool:
    """Whether the trees have the truth wanted without any conversion."""
    return all(evaluate(tree, values, operators=PORTABLE) is want for tree, want in demands)


def _as_javascript_holds(demands: Sequence[tuple[Tree, bool]], values: Mapping[Path, Any]) -> bool:
    return all(is_truthy(evaluate(tree, values)) == want for tree, want in demands)


def list_candidates(demands: Sequence[tuple[Tree, bool]]) -> list[Any]:
    candidates: dict[str, Any] = {}
    for tree, _ in demands:
        for literal in constants(tree):
            if isinstance(literal, bool):
                continue
            more = (
                [literal, literal + 1, literal - 1] if not isinstance(literal, str) else [literal]
            )
            for value in more:
                candidates.setdefault(repr(value), value)
    if not all(is_plain(tree) and not _asks_if_empty(tree) for tree, _ in demands):
        _add_collections(demands, candidates)
    candidates.setdefault("True", True)
    candidates.setdefault("False", False)
    candidates.setdefault("text", OTHERWISE)
    return list(candidates.values())


_MOST_MEMBERS = 4
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def _asks_if_empty(tree: Tree) -> bool:
    return any(isinstance(node, Empty) for node in nodes(tree))


def _add_collections(demands: Sequence[tuple[Tree, bool]], candidates: dict[str, Any]) -> None:
    """Lists and objects of the constants, for what asks lists, and looks up entries."""
    names: list[str] = []
    for tree, _ in demands:
        for node in nodes(tree):
            if isinstance(node, Exact):
                from orgflow_ir.program.exact_names import list_members

                names += list_members(node.body)
    single = list(candidates.values())
    several: list[Any] = [[value] for value in single] + [[], [OTHERWISE]]
    for name in list(dict.fromkeys(names))[:_MOST_MEMBERS]:
        several += [{name: value} for value in single] + [[{name: value}] for value in single]
    most = max((v for v in single if isinstance(v, int)), default=0)
    several += [[OTHERWISE] * length for length in range(2, min(most, 5) + 2)]
    if any(_DATE.match(v) for v in single if isinstance(v, str)):
        several += ["1900-01-01", "2999-12-31"]
    for value in (*several, None):
        candidates.setdefault(repr(value), value)


def nest_values(values: Mapping[Path, Any]) -> dict[str, Any]:
    """The data in which each path has its value. Raises `Unplayable`."""
    result: dict[str, Any] = {}
    for path, value in values.items():
        inner = result
        for part in path[:-1]:
            inner = inner.setdefault(part, {})
            if not isinstance(inner, dict):
                raise Unplayable(f"`{'.'.join(path)}` and a part of it are both read")
        inner[path[-1]] = value
    return {name: _with_lists(value) for name, value in result.items()}


def _with_lists(value: Any) -> Any:
    """The value with a list in place of each object that has only positions as names."""
    if not isinstance(value, dict):
        return value
    inside = {name: _with_lists(inner) for name, inner in value.items()}
    if not inside or not all(name.isascii() and name.isdigit() for name in inside):
        return inside
    last = max(map(int, inside))
    if last > _MOST_ITEMS:
        raise Unplayable(f"position {last} of a list is read")
    return [inside.get(str(at)) for at in range(last + 1)]
