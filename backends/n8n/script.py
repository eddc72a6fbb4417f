"""From a run of the model to data that makes the workflow take it: what each setter outputs at
each visit. Expressions are never touched; where no data fits, the run is unplayable and it says so.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orgflow.backends.n8n.branching import reads_body
from orgflow.backends.n8n.conditions import Ast, evaluate, literals, variables
from orgflow.backends.n8n.decisions import Decision
from orgflow.backends.n8n.emit import Emission
from orgflow.backends.n8n.lowerings import ConditionalSplitToGateway

from orgflow_ir.diagnostics import Step

if TYPE_CHECKING:
    from orgflow_ir.runs import Run

OTHERWISE = "(something else)"
"""A value that is no branch's: it takes the default flow."""

MAX_TRIES = 20_000
"""Combinations of values tried for coded conditions."""


class Unplayable(ValueError):
    """No data makes the workflow take the run's choices."""


@dataclass
class Script:
    """Stub data: fields per visit by node name, and the fields of the trigger's item."""

    visits: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    trigger: dict[str, Any] = field(default_factory=dict)
    body: bool = False

    @property
    def item(self) -> dict[str, Any]:
        """The trigger's item, with the fields under `body` where it is a webhook."""
        if not self.body:
            return dict(self.trigger)
        return {"headers": {}, "params": {}, "query": {}, "body": dict(self.trigger)}


Choice = tuple[Decision, tuple[str, ...]]


def script(emission: Emission, run: Run) -> Script:
    """The data for one run. Raises `Unplayable`."""
    result = Script()
    start = run.start
    if start is not None and start in emission.graph.nodes:
        result.body = reads_body(start, emission.graph, emission)
    visits: dict[str, int] = {}
    wanted: dict[tuple[str, int], list[Choice]] = {}
    deciders: dict[str, list[Decision]] = {}
    for decision in emission.decisions.values():
        deciders.setdefault(decided_by(decision), []).append(decision)
    for step in run.steps:
        if step.action in ("fire", "done", "start"):
            visits[step.element] = visits.get(step.element, 0) + 1
            for decision in deciders.get(step.element, ()):
                setter = decision.setter
                visit = visits.get(setter if setter != decision.gateway.id else step.element, 0)
                wanted.setdefault((setter, max(visit, 1)), []).append(
                    (decision, _taken(decision, step))
                )
    for (setter, visit), choices in wanted.items():
        values = _values(choices)
        if setter in emission.sketch.nodes and emission.sketch.nodes[setter].role == "trigger":
            result.trigger.update(values)
            continue
        rows = result.visits.setdefault(emission.name_of(setter), [])
        rows.extend({} for _ in range(visit - len(rows)))
        rows[visit - 1] = values
    return result


def decided_by(decision: Decision) -> str:
    """The element of the source model whose step takes the decision."""
    gateway = decision.gateway
    if gateway.origin == ConditionalSplitToGateway.name:
        return gateway.id.rsplit("__split", 1)[0]
    return gateway.id


def _taken(decision: Decision, step: Step) -> tuple[str, ...]:
    mine = {b.flow.id for b in decision.branches}
    taken = tuple(f for f in step.taken if f in mine)
    if not taken and decision.default is not None:
        return (decision.default.flow.id,)
    return taken


def _values(choices: Sequence[Choice]) -> dict[str, Any]:
    """Fields that one visit of a setter has to output."""
    fields: dict[str, Any] = {}
    demands: list[tuple[Ast, bool]] = []
    for decision, taken in choices:
        chosen = [b for b in decision.branches if b.flow.id in taken and b.kind == "value"]
        if decision.values:
            value: Any = [b.value for b in chosen]
            if not decision.several:
                value = chosen[0].value if chosen else OTHERWISE
            if fields.setdefault(decision.variable, value) != value:
                raise Unplayable(f"`{decision.variable}` would have to be two things at once")
        demands += _demands(decision, taken)
    fields.update(_nested(solve(demands)))
    return fields


def _demands(decision: Decision, taken: tuple[str, ...]) -> list[tuple[Ast, bool]]:
    """Truth of coded conditions that makes the gateway take exactly `taken`."""
    result: list[tuple[Ast, bool]] = []
    for branch in decision.branches:
        hit = branch.flow.id in taken
        if branch.tree is not None:
            result.append((branch.tree, hit))
        if hit and not decision.several and branch.kind != "default":
            break  # a Switch takes the first that holds: later ones do not matter
    return result


def solve(demands: Sequence[tuple[Ast, bool]]) -> dict[tuple[str, ...], Any]:
    """Values of variables under which every tree has the truth wanted. Raises `Unplayable`."""
    names = list(dict.fromkeys(v for tree, _ in demands for v in variables(tree)))
    if not names:
        if all(bool(evaluate(tree, {})) == want for tree, want in demands):
            return {}
        raise Unplayable("a condition without variables never changes")
    candidates = _candidates(demands)
    for count, combination in enumerate(itertools.product(candidates, repeat=len(names))):
        if count >= MAX_TRIES:
            break
        values = dict(zip(names, combination, strict=True))
        if all(bool(evaluate(tree, values)) == want for tree, want in demands):
            return values
    raise Unplayable("no values were found that make the conditions hold as the run needs them")


def _candidates(demands: Sequence[tuple[Ast, bool]]) -> list[Any]:
    found: dict[str, Any] = {}
    for tree, _ in demands:
        for literal in literals(tree):
            if isinstance(literal, bool):
                continue
            more = (
                [literal, literal + 1, literal - 1] if not isinstance(literal, str) else [literal]
            )
            for value in more:
                found.setdefault(repr(value), value)
    found.setdefault("True", True)
    found.setdefault("False", False)
    found.setdefault("text", OTHERWISE)
    return list(found.values())


def _nested(values: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for path, value in values.items():
        inner = result
        for part in path[:-1]:
            inner = inner.setdefault(part, {})
            if not isinstance(inner, dict):
                raise Unplayable(f"`{'.'.join(path)}` and a part of it are both read")
        inner[path[-1]] = value
    return result
