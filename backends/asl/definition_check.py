"""orgflow's own offline check of its output: definitions that AWS refuses at creation, and
unreachable states."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from orgflow.backends.asl.format import Definition, State, all_states, inner_machines, next_states
from orgflow.backends.asl.names import MAX_NAME

MAX_BYTES = 1_000_000
"""Maximum length of a definition for Step Functions, in bytes (its quota, 1 MB)."""

_FIELDS = {
    "Pass": {"InputPath", "Parameters", "Result", "ResultPath"},
    "Task": {"Resource", "Parameters", "ResultPath", "TimeoutSeconds", "Catch"},
    "Choice": {"Choices", "Default"},
    "Wait": {"Seconds", "Timestamp", "TimestampPath"},
    "Succeed": set[str](),
    "Fail": {"Error", "ErrorPath", "Cause", "CausePath"},
    "Parallel": {"Branches", "ResultSelector", "ResultPath", "OutputPath", "Catch"},
    "Map": {
        "ItemsPath", "ItemSelector", "ItemProcessor", "MaxConcurrency", "ResultSelector",
        "ResultPath", "OutputPath", "Catch",
    },
}  # fmt: skip
_JSONATA_FIELDS = {
    "Pass": {"QueryLanguage", "Output"},
    "Task": {"QueryLanguage", "Resource", "Arguments", "Output", "TimeoutSeconds"},
}
"""Fields of states of JSONata, of which only these two types are emitted."""

_NEEDED = {
    "Task": {"Resource"}, "Choice": {"Choices", "Default"}, "Parallel": {"Branches"},
    "Map": {"ItemProcessor"},
}  # fmt: skip
_STEP = r"""(?:\.[A-Za-z_][A-Za-z0-9_]*|\[\d+\]|\[\*\]|\['[^'"\\]+'\])"""
_PATH = re.compile(rf"\${_STEP}*|\$\$(?:\.[A-Za-z]+)+")

_TIMES = ("Seconds", "Timestamp", "TimestampPath")
"""The fields of which a Wait state has exactly one."""


def list_problems(definition: Definition) -> Iterator[str]:
    """The faults of a definition, one per line."""
    counts = Counter(name for name, _ in all_states(definition))
    for name, count in counts.items():
        if count > 1:
            yield f"two states have the name `{name}`"
        if len(name) > MAX_NAME or not name:
            yield f"the name `{name}` has {len(name)} characters"
    stack = [definition]
    while stack:
        machine = stack.pop()
        yield from _check_machine(machine)
        for state in machine["States"].values():
            stack.extend(inner_machines(state))


def _check_machine(machine: Definition) -> Iterator[str]:
    states = machine["States"]
    if machine["StartAt"] not in states:
        yield f"it starts at `{machine['StartAt']}`, which does not exist"
        return
    for name, state in states.items():
        yield from (f"`{name}` {p}" for p in _check_state(state))
        for target in next_states(state):
            if target not in states:
                yield f"`{name}` leads to `{target}`, which is not in its machine"
    seen = {machine["StartAt"]}
    stack = [machine["StartAt"]]
    while stack:
        for target in next_states(states[stack.pop()]):
            if target in states and target not in seen:
                seen.add(target)
                stack.append(target)
    yield from (f"nothing leads to `{n}`" for n in states if n not in seen)


def _check_state(state: State) -> Iterator[str]:
    yield from _check_fields(state)
    kind = state["Type"]
    ends = ("Next" in state) + ("End" in state)
    if ends != (0 if kind in ("Choice", "Succeed", "Fail") else 1):
        yield "needs exactly one of `Next` and `End`"
    if kind == "Wait" and sum(f in state for f in _TIMES) != 1:
        yield f"needs exactly one of {', '.join(f'`{f}`' for f in _TIMES)}"
    for path in _list_paths(state):
        if not _PATH.fullmatch(path):
            yield f"has `{path}`, which is not a path"


def _check_fields(state: State) -> Iterator[str]:
    """Fields that a type of states does not support, or that it needs."""
    kind = state["Type"]
    fields = _JSONATA_FIELDS.get(kind, set()) if "QueryLanguage" in state else _FIELDS[kind]
    for key in state:
        if key not in {"Type", "Comment", "Next", "End", *fields}:
            yield f"has the field `{key}`, which a {kind} state does not support"
    for key in ("Error", "Cause") if kind == "Fail" else ():
        if (key in state) + (f"{key}Path" in state) != 1 or state.get(key) == "":
            yield f"needs exactly one of `{key}` and `{key}Path`"
    for key in sorted(_NEEDED.get(kind, ())):
        if not state.get(key):
            yield f"has no `{key}`"


def _list_paths(state: State) -> Iterator[str]:
    for key in ("InputPath", "ItemsPath", "OutputPath", "ResultPath", "ErrorPath", "CausePath"):
        if state.get(key) is not None:
            yield state[key]
    for key in ("Parameters", "ItemSelector", "ResultSelector"):
        yield from _template_paths(state.get(key))
    for rule in state.get("Choices", ()):
        yield from _rule_paths(rule)


def _template_paths(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, part in value.items():
            if key.endswith(".$"):
                yield part
            else:
                yield from _template_paths(part)
    elif isinstance(value, list):
        for part in value:
            yield from _template_paths(part)


def _rule_paths(rule: dict[str, Any]) -> Iterator[str]:
    stack = [rule]
    while stack:
        part = stack.pop()
        yield from (v for k, v in part.items() if k == "Variable" or k.endswith("Path"))
        stack += [*part.get("And", ()), *part.get("Or", ())]
        stack += [part["Not"]] if "Not" in part else []
