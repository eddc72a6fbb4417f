"""The structure of a state machine in Amazon States Language, and its text form."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

State = dict[str, Any]
"""One state: `Type` and its fields."""

Definition = dict[str, Any]
"""A machine: `StartAt` and `States` by name; the outermost one with `Comment`."""


def dump_definition(definition: Definition) -> str:
    """The text of a definition, with a line feed at its end."""
    return json.dumps(definition, indent=2, ensure_ascii=False) + "\n"


def inner_machines(state: State) -> list[Definition]:
    """The nested machines of a state, in order."""
    machines = list(state.get("Branches", ()))
    return [*machines, state["ItemProcessor"]] if "ItemProcessor" in state else machines


def all_states(definition: Definition) -> Iterator[tuple[str, State]]:
    """Every state with its name, outermost first."""
    stack = [definition]
    while stack:
        machine = stack.pop()
        for name, state in machine["States"].items():
            yield name, state
            stack.extend(reversed(inner_machines(state)))


def next_states(state: State) -> Iterator[str]:
    """Names of the successors of a state."""
    for place in (state, *state.get("Choices", ()), *state.get("Catch", ())):
        if "Next" in place:
            yield place["Next"]
    if "Default" in state:
        yield state["Default"]
