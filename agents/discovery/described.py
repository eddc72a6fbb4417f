"""A process as a language model describes it: the schema of the saved data, and its reader."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from orgflow.agents.prompting import visible_text

from orgflow_ir.model.records import NamedTuple

MOST_STEPS = 40
FEWEST_STEPS = 2
MOST_DECISIONS, MOST_OPTIONS = 12, 12
"""Maximum number of combinations of options that become branches; with more, the model is
unreadable."""

_LONGEST = {"name": 80, "actor": 60, "text": 300}


class UnusableProcess(ValueError):
    """A description that cannot be saved; the message gives the reason, as a sentence for the
    model."""


class SavedStep(NamedTuple):
    """A step: its name, its actor, and the places of the messages that show it."""

    name: str
    actor: str
    evidence: tuple[int, ...]


class Option(NamedTuple):
    """A branch of a decision: its condition, its steps (from 0), and the messages that state it."""

    condition: str
    steps: tuple[int, ...]
    evidence: tuple[int, ...]


class Decision(NamedTuple):
    """A question on which steps depend."""

    question: str
    options: tuple[Option, ...]


class Saved(NamedTuple):
    """A process that a model wants to save.

    Attributes: trigger, goal: the event that starts it and the state at its end, which distinguish
        variants. excluded: messages that were shown as part of a case but do not belong to it.
        same_as: the number of the saved process of which this is a further case.
    """

    name: str
    description: str
    trigger: str
    goal: str
    steps: tuple[SavedStep, ...]
    decisions: tuple[Decision, ...] = ()
    excluded: tuple[int, ...] = ()
    same_as: int | None = None

    @property
    def text(self) -> str:
        """The text by which two descriptions are compared."""
        return f"{self.name}. {self.description} {'. '.join(step.name for step in self.steps)}"

    @property
    def cited(self) -> tuple[int, ...]:
        """All messages that support it, in order."""
        cited = {p for step in self.steps for p in step.evidence}
        cited |= {p for d in self.decisions for o in d.options for p in o.evidence}
        return tuple(sorted(cited))


_IDS = {"type": "array", "items": {"type": "string"}}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "description": {"type": "string"},
        "trigger": {"type": "string"},
        "goal": {"type": "string"},
        "steps": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"}, "actor": {"type": "string"}, "evidence": _IDS,
                },
                "required": ["name", "evidence"],
            },
        },
        "decisions": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "question": {"type": "string"},
                    "options": {
                        "type": "array",
                        "items": {
                            "type": "object",
                            "properties": {
                                "condition": {"type": "string"},
                                "steps": {"type": "array", "items": {"type": "integer"}},
                                "evidence": _IDS,
                            },
                            "required": ["condition", "steps", "evidence"],
                        },
                    },
                },
                "required": ["options"],
            },
        },
        "excluded": _IDS,
        "same_as": {"type": "integer"},
    },
    "required": ["name", "trigger", "goal", "steps"],
}  # fmt: skip
"""The parameters of `save_discovered_process`; steps are counted from 1."""


def read_saved(value: Any, shown: Mapping[str, int]) -> Saved:
    """The process in a description by the model.

    Args:
        value: JSON of approximately the form of `SCHEMA`.
        shown: the place of each message that the model was shown, by its short id.

    Raises:
        UnusableProcess: a part that cannot be guessed is missing: there are no steps, no message
            supports a step, or a decision refers to missing steps.
    """
    if not isinstance(value, Mapping):
        raise UnusableProcess("It is no JSON object.")
    name = _cut_line(value.get("name"), "name")
    if not name:
        raise UnusableProcess("The process has no name.")
    given = value.get("steps")
    if not isinstance(given, list) or not FEWEST_STEPS <= len(given) <= MOST_STEPS:
        raise UnusableProcess(f"A process needs {FEWEST_STEPS} to {MOST_STEPS} steps.")
    steps = tuple(_read_step(number, step, shown) for number, step in enumerate(given, 1))
    stated = value.get("decisions")
    decisions = stated if isinstance(stated, list) else []
    if len(decisions) > MOST_DECISIONS:
        raise UnusableProcess(f"A process has at most {MOST_DECISIONS} decisions.")
    return Saved(
        name,
        _cut_line(value.get("description"), "text"),
        _cut_line(value.get("trigger"), "text"),
        _cut_line(value.get("goal"), "text"),
        steps,
        tuple(
            _read_decision(number, decision, len(steps), shown)
            for number, decision in enumerate(decisions, 1)
        ),
        read_places(value.get("excluded"), shown),
        _read_number(value.get("same_as")),
    )


def _read_number(value: Any) -> int | None:
    """A number, which may be in quotes; `None` for anything else."""
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,9}\s*", value):
        return int(value)
    return value if type(value) is int else None


def _read_step(number: int, value: Any, shown: Mapping[str, int]) -> SavedStep:
    entry = value if isinstance(value, Mapping) else {"name": value}
    name = re.sub(r"^\s*(?:step\s*)?\d+[.):]\s*", "", _cut_line(entry.get("name"), "name"))
    if not name:
        raise UnusableProcess(f"Step {number} has no name.")
    evidence = read_places(entry.get("evidence"), shown)
    if not evidence:
        raise UnusableProcess(f"Step {number} `{name}` names none of the messages that were shown.")
    return SavedStep(name[:1].upper() + name[1:], _cut_line(entry.get("actor"), "actor"), evidence)


def _read_decision(number: int, value: Any, steps: int, shown: Mapping[str, int]) -> Decision:
    entry = value if isinstance(value, Mapping) else {}
    options = entry.get("options")
    choices = []
    for option in options if isinstance(options, list) else ():
        branch = option if isinstance(option, Mapping) else {}
        condition = _cut_line(branch.get("condition"), "name")
        named = branch.get("steps")
        given = named if isinstance(named, list) else [named]
        numbers = [n for n in map(_read_number, given) if n is not None]
        wrong = next((n for n in numbers if not 1 <= n <= steps), None)
        if wrong is not None:
            raise UnusableProcess(f"Decision {number} names step {wrong} of {steps}.")
        if not condition:
            raise UnusableProcess(f"An option of decision {number} has no condition.")
        evidence = read_places(branch.get("evidence"), shown)
        choices.append(Option(condition, tuple(sorted({n - 1 for n in numbers})), evidence))
    if len(choices) > MOST_OPTIONS:
        raise UnusableProcess(f"Decision {number} has more than {MOST_OPTIONS} options.")
    if len(choices) < 2:
        raise UnusableProcess(f"Decision {number} has fewer than two options.")
    return Decision(_cut_line(entry.get("question"), "name"), tuple(choices))


_NUMBER = re.compile(r"(?<![0-9])[0-9]{1,9}(?![0-9])")


def read_places(value: Any, shown: Mapping[str, int]) -> tuple[int, ...]:
    """The places of the named messages, in order; names that were never shown are omitted. `m3`,
    `[M3]` and 3 are equivalent."""
    given: Iterable[Any] = value if isinstance(value, list | tuple) else [value]
    places = set()
    for item in given:
        for number in _NUMBER.findall(str(item)) if isinstance(item, str | int) else ():
            if f"m{int(number)}" in shown:
                places.add(shown[f"m{int(number)}"])
    return tuple(sorted(places))


def _cut_line(value: Any, kind: str) -> str:
    """A text in one line, cut to a length that pictures can show."""
    text = " ".join(visible_text(value).split()) if isinstance(value, str) else ""
    most = _LONGEST[kind]
    return text if len(text) <= most else text[: most - 1].rsplit(" ", 1)[0] + "…"
