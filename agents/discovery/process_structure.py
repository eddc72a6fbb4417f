"""From aligned steps to a sound process: a row of steps and exclusive choices."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from orgflow.agents.discovery.steps import Step

from orgflow_ir.model import (
    Event,
    Flow,
    Gateway,
    Lane,
    Process,
    Task,
)
from orgflow_ir.model.evidence import Evidence
from orgflow_ir.model.records import NamedTuple

AGENT = "discover"

Cite = Callable[[Step, Sequence[int] | None], tuple[Evidence, ...]]
"""The evidence of a step, of the cases named or of all."""


class Choice(NamedTuple):
    """A point where cases differ: the steps of each branch, and the cases that took it."""

    branches: tuple[tuple[tuple[Step, ...], frozenset[int]], ...]


class Condition(NamedTuple):
    """The reason why a branch is taken, with the question and the messages that state it."""

    question: str
    text: str
    evidence: tuple[Evidence, ...]


Conditions = Callable[[Choice], Sequence[Condition | None]]
"""For each branch of a choice, the stated reason, or `None`."""


def _no_conditions(choice: Choice) -> list[Condition | None]:
    return [None] * len(choice.branches)


Part = Step | Choice


def split_into_parts(steps: Sequence[Step], cases: frozenset[int]) -> list[Part]:
    """Steps that every case has, and a choice between them where cases differ.

    The cases between two common steps are grouped by their steps there; a group is a branch of the
    choice, which may be empty.
    """
    parts: list[Part] = []
    stretch: list[Step] = []
    for step in (*steps, None):
        if step is not None and frozenset(step.members) != cases:
            stretch.append(step)
            continue
        if stretch:
            branches: dict[tuple[int, ...], set[int]] = {}
            for case in sorted(cases):
                taken = tuple(i for i, s in enumerate(stretch) if case in s.members)
                branches.setdefault(taken, set()).add(case)
            ordered = sorted(
                branches.items(), key=lambda item: (-len(item[1]), not item[0], item[0])
            )
            parts.append(
                Choice(
                    tuple((tuple(stretch[i] for i in taken), frozenset(which))
                          for taken, which in ordered)
                )
            )  # fmt: skip
            stretch = []
        if step is not None:
            parts.append(step)
    return parts


class _Builder:
    """Collects nodes and flows of one process."""

    def __init__(self, prefix: str, cite: Cite, conditions: Conditions) -> None:
        self.prefix, self.cite, self.conditions = prefix, cite, conditions
        self.nodes: list[Task | Event | Gateway] = []
        self.flows: list[Flow] = []
        self.actors: dict[str, list[str]] = {}
        self._count = 0

    def id(self, kind: str) -> str:
        self._count += 1
        return f"{self.prefix}_{kind}_{self._count}"

    def flow(
        self, source: str, target: str, evidence: tuple[Evidence, ...], label: str = ""
    ) -> None:
        self.flows.append(
            Flow(
                id=self.id("flow"), name=label, source=source, target=target, evidence=evidence,
                origin=AGENT,
            )
        )  # fmt: skip

    def task(self, step: Step, cases: frozenset[int] | None) -> str:
        id_ = self.id("task")
        chosen = None if cases is None else sorted(cases)
        self.nodes.append(
            Task(
                id=id_, name=step.name, task_type="user",
                evidence=self.cite(step, chosen), origin=AGENT,
            )
        )  # fmt: skip
        if step.actor:
            self.actors.setdefault(step.actor, []).append(id_)
        return id_


def build_process_model(
    prefix: str,
    name: str,
    steps: Sequence[Step],
    cases: frozenset[int],
    cite: Cite,
    conditions: Conditions = _no_conditions,
) -> Process:
    """A process of aligned steps, sound by construction: every choice is joined again. Without a
    stated reason, the flows of a choice have no condition.
    """
    build = _Builder(prefix, cite, conditions)
    everything = tuple(steps)
    start = build.id("start")
    build.nodes.append(
        Event(id=start, position="start", evidence=_cite_steps(cite, everything[:1]), origin=AGENT)
    )
    last, arriving = start, _cite_steps(cite, everything[:1])
    for part in split_into_parts(everything, cases):
        if isinstance(part, Step):
            evidence = cite(part, None)
            task = build.task(part, None)
            build.flow(last, task, evidence)
            last, arriving = task, evidence
        else:
            last = _build_choice(build, part, last)
    end = build.id("end")
    final = _cite_steps(cite, everything[-1:])
    build.nodes.append(Event(id=end, position="end", evidence=final, origin=AGENT))
    build.flow(last, end, final or arriving)
    lanes = tuple(
        Lane(
            id=build.id("lane"), name=actor, members=tuple(members),
            evidence=_cite_members(build, members), origin=AGENT,
        )
        for actor, members in build.actors.items()
    )  # fmt: skip
    rest = {node.id for node in build.nodes} - {m for lane in lanes for m in lane.members}
    if lanes and rest:  # a lane set holds every node
        first = lanes[0]
        members = tuple(n.id for n in build.nodes if n.id in rest or n.id in first.members)
        lanes = (
            Lane(id=first.id, name=first.name, members=members, evidence=first.evidence,
                 origin=AGENT),
            *lanes[1:],
        )  # fmt: skip
    return Process(
        id=prefix, name=name, executable=True, nodes=tuple(build.nodes), flows=tuple(build.flows),
        lanes=lanes, evidence=_cite_steps(cite, everything[:1]), origin=AGENT,
    )  # fmt: skip


def _build_choice(build: _Builder, choice: Choice, last: str) -> str:
    """A choice and its join; returns the join. A step on several ways is drawn on each."""
    steps = tuple(dict.fromkeys(step for way, _ in choice.branches for step in way))
    evidence = _cite_steps(build.cite, steps)
    split, join = build.id("split"), build.id("join")
    conditions = build.conditions(choice)
    questions = dict.fromkeys(
        condition.question
        for condition in conditions
        if condition is not None and condition.question
    )
    build.nodes.append(
        Gateway(
            id=split, name="; ".join(questions), gateway_kind="exclusive", evidence=evidence,
            origin=AGENT,
        )
    )  # fmt: skip
    build.flow(last, split, evidence)
    into: list[tuple[str, tuple[Evidence, ...], str]] = []
    for (way, cases), condition in zip(choice.branches, conditions, strict=True):
        before, label = split, condition.text if condition is not None else ""
        reasons = condition.evidence if condition is not None else ()
        cited: tuple[Evidence, ...] = reasons or evidence
        for step in way:
            cited = build.cite(step, sorted(cases))
            task = build.task(step, cases)
            build.flow(before, task, tuple(dict.fromkeys((*reasons, *cited))), label)
            before, label, reasons = task, "", ()
        into.append((before, cited, label))
    build.nodes.append(Gateway(id=join, gateway_kind="exclusive", evidence=evidence, origin=AGENT))
    for before, cited, label in into:
        build.flow(before, join, cited, label)
    return join


def _cite_steps(cite: Cite, steps: Sequence[Step]) -> tuple[Evidence, ...]:
    return tuple(dict.fromkeys(e for step in steps for e in cite(step, None)[:2]))


def _cite_members(build: _Builder, members: Sequence[str]) -> tuple[Evidence, ...]:
    wanted = set(members)
    evidence = (e for node in build.nodes if node.id in wanted for e in node.evidence[:1])
    return tuple(dict.fromkeys(evidence))
