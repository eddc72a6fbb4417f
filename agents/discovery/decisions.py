"""Decisions of people about discovered processes, kept for the next run: which cases are one
process, its name, and which are not a process."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

from orgflow.agents.discovery.discover import Stages, find_message_phrases

from orgflow_ir.model.records import NamedTuple

FILE = "discovery-decisions.json"
"""The name of the file of decisions in the folder of a store."""

VERSION = 1

KNOWN_SHARE = 1 / 3
"""Minimum share of its messages by which a case counts as one that was decided on."""

State = Literal["accepted", "rejected"]


class DecisionsError(ValueError):
    """A file that does not contain decisions; the text describes the fault, as the end of a
    sentence."""


class Decided(NamedTuple):
    """A decision about cases.

    Attributes:
        name: the name of the process.
        state: whether it is a process.
        cases: the ids of the messages of each case.
    """

    name: str
    state: State
    cases: tuple[tuple[str, ...], ...]


def read_decisions(path: Path) -> tuple[Decided, ...]:
    """The decisions in a file; empty if the file does not exist. Raises `DecisionsError`."""
    try:
        data = json.loads(path.read_text("utf-8"))
        if data["version"] != VERSION:
            raise DecisionsError(f"has version {data['version']!r}, not {VERSION}")
        return tuple(
            Decided(
                str(entry["name"]),
                "rejected" if entry["state"] == "rejected" else "accepted",
                tuple(tuple(str(id_) for id_ in case) for case in entry["cases"]),
            )
            for entry in data["processes"]
        )
    except FileNotFoundError:
        return ()
    except DecisionsError:
        raise
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DecisionsError(f"cannot be read: {type(error).__name__}: {error}") from None


def write_decisions(path: Path, decided: Sequence[Decided]) -> None:
    """Write the decisions, completely or not at all. Raises `OSError`."""
    data = {"version": VERSION, "processes": [decision._asdict() for decision in decided]}
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(json.dumps(data, ensure_ascii=False, indent=1) + "\n")
    os.replace(beside, path)


def forget_decisions(
    path: Path, known: Callable[[str], bool], clean: Callable[[str], str] = str
) -> None:
    """Remove data that a store has forgotten from the decisions in a file. Raises `DecisionsError`,
    `OSError`.

    Args:
        path: the file; it may be missing.
        known: whether the store has a message with an id.
        clean: removes names of people from the name of a process.
    """
    decided = read_decisions(path)
    if not decided:
        return
    kept = []
    for decision in decided:
        cases = (tuple(filter(known, case)) for case in decision.cases)
        cleaned = Decided(
            clean(decision.name), decision.state, tuple(case for case in cases if case)
        )
        if cleaned.cases:
            kept.append(cleaned)
    write_decisions(path, kept)


def find_decision(case: Sequence[str], decided: Sequence[Decided]) -> int | None:
    """The decision about a case: the one that contains most of its messages."""
    of = {
        id_: number for number, decision in enumerate(decided) for c in decision.cases for id_ in c
    }
    counts = Counter(of[id_] for id_ in case if id_ in of)
    if not counts or counts.total() < KNOWN_SHARE * len(case):
        return None
    return min(counts, key=lambda number: (-counts[number], number))


def apply_decisions(stages: Stages, decided: Sequence[Decided]) -> Stages:
    """The processes after the decisions of people.

    Cases with a decision are combined as before, with the same messages, even if they are found
    with others now, or not at all. A new case follows the decision about the cases of its process,
    even if they are rejected.
    """
    if not decided:
        return stages
    stages = _restore_decided_cases(stages, decided)
    messages = stages.traits.messages
    about = {
        case: find_decision([messages[p].id for p in stages.cases[case]], decided)
        for group in stages.processes for case in group
    }  # fmt: skip
    of_decision: dict[int, list[int]] = {}
    undecided: list[list[int]] = []
    for group in stages.processes:
        known = Counter(number for case in group if (number := about[case]) is not None)
        most = min(known, key=lambda n: (-known[n], n)) if known else None
        rest = []
        for case in group:
            number = about[case] if about[case] is not None else most
            if number is None:
                rest.append(case)
            else:
                of_decision.setdefault(number, []).append(case)
        if rest:
            undecided.append(rest)
    kept = [
        (sorted(cases, key=stages.cases.__getitem__), decided[number].name)
        for number, cases in sorted(of_decision.items()) if decided[number].state == "accepted"
    ]  # fmt: skip
    processes = sorted(
        [*kept, *((group, "") for group in undecided)], key=lambda item: (-len(item[0]), item[0])
    )
    return stages._replace(
        processes=[group for group, _ in processes],
        names={number: name for number, (_, name) in enumerate(processes) if name},
    )


def _restore_decided_cases(stages: Stages, decided: Sequence[Decided]) -> Stages:
    """The cases with their messages after the decisions of people: a message with a decision leaves
    cases without a decision or with another one. It is added to the rest of its own case; messages
    of rejected cases are in no case."""
    messages = stages.traits.messages
    place_of = {message.id: place for place, message in enumerate(messages)}
    of = {
        place_of[id_]: (number, case)
        for number, decision in enumerate(decided) for case, ids in enumerate(decision.cases)
        for id_ in ids if id_ in place_of
    }  # fmt: skip
    cases: list[list[int]] = []
    homes: dict[tuple[int, int], tuple[int, int]] = {}  # of a decided case: how many, and where
    left = dict(of)
    mostly: dict[tuple[int, int], list[int]] = {}  # the cases that are mostly of a decided one
    for number, case in enumerate(stages.cases):
        owner = find_decision([messages[p].id for p in case], decided)
        cases.append([p for p in case if p not in of or of[p][0] == owner])
        inside = Counter(of[p] for p in cases[-1] if p in of)
        for key, many in inside.items():
            homes[key] = max(homes.get(key, (0, 0)), (many, -number))
        if inside:
            mostly.setdefault(min(inside, key=lambda key: (-inside[key], key)), []).append(number)
        for place in cases[-1]:
            left.pop(place, None)
    for key, parts in mostly.items():  # what a person joined stays one
        home = -homes[key][1]
        for part in parts:
            if part != home and decided[key[0]].state == "accepted":
                cases[home] += cases[part]
                cases[part] = []
    processes = [[case for case in group if cases[case]] for group in stages.processes]
    moved: list[int] = []
    for place, key in sorted(left.items()):
        if decided[key[0]].state != "accepted":
            continue
        if key not in homes:
            homes[key] = (0, -len(cases))
            processes.append([len(cases)])
            cases.append([])
        cases[-homes[key][1]].append(place)
        moved.append(place)
    phrases = stages.phrases
    unread = [place for place in moved if not phrases[place]]
    if unread:
        more = find_message_phrases(stages.traits, [unread])
        phrases = [before or new for before, new in zip(phrases, more, strict=True)]
    return stages._replace(
        cases=[sorted(case) for case in cases],
        processes=[g for g in processes if g],
        phrases=phrases,
    )
