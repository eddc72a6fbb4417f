"""BPMN's variables as the specification has them: one store an instance, written by the task that
ran last. A referee for compiled workflows: it reads the model and shares no code with lowerings.

Conditions are evaluated by Python after their few signs are rewritten; tokens move depth first,
first branch first, as n8n moves its items.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orgflow_ir.model import Event, Gateway, Process, SubProcess, Task

MOST_STEPS = 5_000


@dataclass
class Outcome:
    """What an instance did: visits by task, and what it stopped for, if it stopped loudly."""

    visits: Counter[str] = field(default_factory=Counter)
    never_set: str | None = None
    stuck: str | None = None


class _Object(dict[str, Any]):
    def __getattr__(self, name: str) -> Any:
        value = self.get(name, _MISSING)
        if value is _MISSING:
            raise NameError(f"name '{name}' is not defined", name=name)
        return _wrapped(value)


_MISSING = object()


def _wrapped(value: Any) -> Any:
    return _Object(value) if isinstance(value, dict) else value


def holds(text: str, store: Mapping[str, Any]) -> bool:
    """The truth of a JUEL condition. Raises `NameError` for a variable that nobody has set."""
    code = text.strip().removeprefix("${").removesuffix("}")
    code = code.replace("&&", " and ").replace("||", " or ")
    code = re.sub(r"!(?!=)", " not ", code)
    code = re.sub(r"\bempty (\w+)", r"_empty('\1')", code)
    for word, value in (("true", "True"), ("false", "False"), ("null", "None")):
        code = re.sub(rf"\b{word}\b", value, code)
    scope = {name: _wrapped(value) for name, value in store.items()}
    for name in re.findall(r"(\w+) (?:==|!=) None", code):  # asks whether it is there
        scope.setdefault(name, None)
    scope["_empty"] = lambda name: store.get(name) in (None, "", [], {})
    return bool(eval(code, {"__builtins__": {}}, scope))


def play(
    process: Process, sets: Mapping[str, Sequence[Mapping[str, Any]]], start: Mapping[str, Any]
) -> Outcome:
    """The instance in which the visits of each task set what `sets` says."""
    return _Instance(process, sets, start).run()


class _Instance:
    def __init__(
        self,
        process: Process,
        sets: Mapping[str, Sequence[Mapping[str, Any]]],
        start: Mapping[str, Any],
    ) -> None:
        self.sets, self.store, self.outcome = sets, dict(start), Outcome()
        self.process = process

    def run(self) -> Outcome:
        try:
            self._scope(self.process)
        except NameError as error:
            self.outcome.never_set = error.name
        except RuntimeError as error:
            self.outcome.stuck = str(error)
        return self.outcome

    def _scope(self, scope: Process | SubProcess) -> None:
        nodes = {n.id: n for n in scope.nodes}
        out: dict[str, list[Any]] = {n: [] for n in nodes}
        into: dict[str, list[Any]] = {n: [] for n in nodes}
        for flow in scope.flows:
            out[flow.source].append(flow)
            into[flow.target].append(flow)
        stack: list[tuple[str, str]] = [(n, "") for n in nodes if not into[n] and n in nodes]
        waiting: dict[str, Counter[str]] = {}
        for _ in range(MOST_STEPS):
            if not stack:
                ready = [j for j, have in waiting.items() if +have]
                if not ready:
                    return
                join = next(
                    (j for j in ready if nodes[j].gateway_kind == "inclusive"),  # type: ignore[union-attr]
                    None,
                )
                if join is None:
                    raise RuntimeError(f"waits indefinitely at {ready[0]}")
                for flow in [f for f, n in waiting[join].items() if n]:
                    waiting[join][flow] -= 1
                stack += self._leave(join, nodes, out)
                continue
            at, by = stack.pop()
            node = nodes[at]
            if isinstance(node, Task):
                visit = self.outcome.visits[at]
                self.outcome.visits[at] += 1
                rows = self.sets.get(at, ())
                self.store.update(rows[visit] if visit < len(rows) else {})
            elif isinstance(node, SubProcess):
                self._scope(node)
            elif isinstance(node, Gateway) and len(into[at]) > 1:
                kind = node.gateway_kind
                if kind in ("parallel", "inclusive"):
                    have = waiting.setdefault(at, Counter())
                    have[by] += 1
                    if kind == "inclusive" or any(not have[f.id] for f in into[at]):
                        continue
                    for flow in into[at]:
                        have[flow.id] -= 1
            elif isinstance(node, Event) and node.position == "end":
                continue
            stack += self._leave(at, nodes, out)
        raise RuntimeError("goes on indefinitely")

    def _leave(
        self, at: str, nodes: Mapping[str, Any], out: Mapping[str, list[Any]]
    ) -> list[tuple[str, str]]:
        node, flows = nodes[at], out[at]
        kind = node.gateway_kind if isinstance(node, Gateway) else "parallel"
        if len(flows) > 1 and kind in ("exclusive", "inclusive"):
            default = [f for f in flows if f.default]
            taken = []
            for flow in flows:
                if flow.condition is not None and holds(flow.condition.text, self.store):
                    taken.append(flow)
                    if kind == "exclusive":
                        break
            flows = taken or default
            if not flows:
                raise RuntimeError(f"no branch fits at {at}")
        return [(f.target, f.id) for f in reversed(flows)]
