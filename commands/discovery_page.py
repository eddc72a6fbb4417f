"""The page on which people decide about discovered processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from orgflow.agents.discovery.decisions import Decided, State, find_decision
from orgflow.agents.discovery.discover import Discovery, FoundProcess, Stages, describe_processes
from orgflow.commands.page_server import Page, PageText, Refused, Saved
from orgflow.evaluation.discovery_page import Card, render_discovery

from orgflow_ir.model import Model
from orgflow_ir.pipeline.agent_services import Embedder

_NAME = 80


class DiscoveryPage(Page):
    """Discovered processes, each of which a person accepts, renames, merges, splits or rejects.

    Args:
        stages: the stages of the discovery, which describe merged or split processes.
        decided: the earlier decisions.
        draw: the picture of a model, as SVG text.
        keep: called with all decisions after each one.
    """

    name: ClassVar[str] = "processes"

    def __init__(
        self,
        stages: Stages,
        discovery: Discovery,
        decided: Sequence[Decided],
        embedder: Embedder,
        draw: Callable[[Model], str],
        keep: Callable[[tuple[Decided, ...]], None],
    ) -> None:
        self._stages, self._embedder, self._draw, self._keep = stages, embedder, draw, keep
        self._place = {m.id: place for place, m in enumerate(stages.traits.messages)}
        self._found: list[FoundProcess] = list(discovery.processes)
        self._state: list[State | None] = []
        about = [find_decision([i for c in f.cases for i in c], decided) for f in self._found]
        self._state = [None if n is None else decided[n].state for n in about]
        # decisions about what is not shown stay: rejected processes, deleted messages
        self._others = [decision for n, decision in enumerate(decided) if n not in about]
        self._pictures: dict[str, str] = {}
        self._version = 0
        # a person who decided about a process decided which of its messages are a case
        ids = [message.id for message in stages.traits.messages]
        decided_ids = {id_ for decision in decided for case in decision.cases for id_ in case}
        self._open_joins = [
            (ids[join.first[0]], ids[join.second[0]])
            for join in stages.undecided
            if not decided_ids & {ids[join.first[0]], ids[join.second[0]]}
        ]

    @property
    def discovery(self) -> Discovery:
        """The processes that are not rejected; messages of rejected ones belong to none."""
        kept = tuple(
            f for f, s in zip(self._found, self._state, strict=True) if s != "rejected"
        )  # fmt: skip
        inside = {i for process in kept for case in process.cases for i in case}
        noise = (m.id for m in self._stages.traits.messages if m.id not in inside)
        return Discovery(kept, tuple(noise))

    def text(self, notice: str) -> PageText:
        """All processes with their evidence, and the messages that belong to none."""
        cards = [
            Card(number, process, state or "", self._picture(process), self._list_joins(process))
            for number, (process, state) in enumerate(zip(self._found, self._state, strict=True))
        ]
        rejected = [process.name for process in self._others if process.state == "rejected"]
        html, style = render_discovery(
            cards, self.discovery.noise, self._stages.traits.messages, rejected, self._version,
            notice,
        )  # fmt: skip
        return PageText(html, styles=(style,))

    def save(self, answers: Any) -> Saved:
        """Keep a decision: the fields of the form of one process."""
        if not isinstance(answers, Mapping):
            raise Refused("The answers have an unexpected form.")
        given = {
            key: [str(v) for v in value] if isinstance(value, list) else [str(value)]
            for key, value in answers.items()
        }
        act = given.get("then", [""])[-1]
        if act == "finish":
            return Saved(finished=True)
        if given.get("version") != [str(self._version)]:
            raise Refused("The page was out of date. It was reloaded; nothing was changed.")
        if act == "restore":
            notice = self._restore(given.get("rejected", []))
        else:
            notice = self._decide(act, self._number(given.get("process")), given)
        self._version += 1
        self._keep(self._decided())
        return Saved(notice)

    # -- decisions ----------------------------------------------------------------------------

    def _decide(self, act: str, number: int, given: Mapping[str, list[str]]) -> str:
        process = self._found[number]
        match act:
            case "accept":
                self._state[number] = "accepted"
                return f"“{process.name}” is accepted."
            case "reject":
                self._state[number] = "rejected"
                return f"“{process.name}” is rejected: its messages belong to no process."
            case "rename":
                name = " ".join(given.get("name", [""])[-1].split())[:_NAME]
                if not name:
                    raise Refused("A process needs a name.")
                self._found[number] = process.renamed(name)
                self._state[number] = "accepted"
                return f"“{process.name}” is called “{name}” now."
            case "merge":
                return self._merge(number, self._number(given.get("other")))
            case "split":
                return self._split(number, given.get("case", []))
        kind, _, pair = act.partition(":")
        if kind in ("join", "apart"):
            return self._answer_join(number, pair, joins=kind == "join")
        raise Refused("Nothing was chosen.")

    def _merge(self, number: int, other: int) -> str:
        if other == number:
            raise Refused("Choose another process to merge this one into.")
        into, process = self._found[other], self._found[number]
        cases = sorted(
            (*into.cases, *process.cases), key=lambda case: [self._place[i] for i in case]
        )
        (merged,) = self._described([cases])
        self._found[other] = merged.renamed(into.name)
        self._state[other] = "accepted"
        del self._found[number], self._state[number]
        return f"“{process.name}” is now part of “{into.name}”."

    def _split(self, number: int, chosen: Sequence[str]) -> str:
        process = self._found[number]
        places = {int(c) for c in chosen if c.isdigit() and int(c) < len(process.cases)}
        if not places or len(places) == len(process.cases):
            raise Refused("Choose some of the cases, not all; they become a separate process.")
        rest = tuple(case for place, case in enumerate(process.cases) if place not in places)
        own = tuple(case for place, case in enumerate(process.cases) if place in places)
        first, second = self._described([rest, own])
        name = second.name if second.name != process.name else f"{second.name} (2)"
        self._found[number] = first.renamed(process.name)
        self._found.insert(number + 1, second.renamed(name))
        self._state[number] = "accepted"
        self._state.insert(number + 1, "accepted")
        return f"“{name}” is now a separate process."

    def _list_joins(self, process: FoundProcess) -> tuple[tuple[int, int], ...]:
        """The pairs of cases of a process of which nobody knows whether they are one."""
        case_of = {id_: place for place, case in enumerate(process.cases) for id_ in case}
        pairs = [
            tuple(sorted((case_of[first], case_of[second])))
            for first, second in self._open_joins
            if first in case_of and second in case_of
        ]
        return tuple((a, b) for a, b in dict.fromkeys(pairs) if a != b)

    def _answer_join(self, number: int, pair: str, *, joins: bool) -> str:
        """Make two cases one, or remember that they are two."""
        process = self._found[number]
        chosen = next((p for p in self._list_joins(process) if f"{p[0]}-{p[1]}" == pair), None)
        if chosen is None:
            raise Refused("This question is not on the page.")
        first, second = (process.cases[place] for place in chosen)
        if joins:
            whole = tuple(sorted((*first, *second), key=self._place.__getitem__))
            rest = [case for place, case in enumerate(process.cases) if place not in chosen]
            cases = sorted((*rest, whole), key=lambda case: [self._place[i] for i in case])
            (joined,) = self._described([cases])
            self._found[number] = joined.renamed(process.name)
        own = {*first, *second}
        self._open_joins = [
            join for join in self._open_joins if not (join[0] in own and join[1] in own)
        ]
        self._state[number] = "accepted"
        return "They are one case now." if joins else "They stay two cases."

    def _restore(self, names: Sequence[str]) -> str:
        kept = [o for o in self._others if o.state != "rejected" or o.name not in names]
        if len(kept) == len(self._others):
            raise Refused("Nothing was chosen.")
        self._others = kept
        return "The next run finds it again."

    def _described(self, groups: Sequence[Sequence[Sequence[str]]]) -> list[FoundProcess]:
        """Steps and models of processes of these cases, beside all others, whose words count for
        what is a process's own. Raises `Refused`."""
        every = [*groups, *(process.cases for process in self._found)]
        cases = [[self._place[i] for i in case] for group in every for case in group]
        numbers = iter(range(len(cases)))
        processes = [[next(numbers) for _ in group] for group in every]
        stages = self._stages
        described = describe_processes(
            stages.traits, cases, processes, stages.phrases, self._embedder
        ).processes
        ids = {process.process.id for process in self._found}
        in_order = []
        for group in groups:
            wanted = tuple(tuple(case) for case in group)
            process = next((f for f in described if f.cases == wanted), None)
            if process is None:
                raise Refused("These cases mention no work, so no steps remain.")
            fresh = next(n for n in range(1, 10_000) if f"process_{n}" not in ids)
            ids.add(f"process_{fresh}")
            in_order.append(process.with_id(f"process_{fresh}"))
        return in_order

    def _decided(self) -> tuple[Decided, ...]:
        shown = [
            Decided(process.name, state, process.cases)
            for process, state in zip(self._found, self._state, strict=True) if state is not None
        ]  # fmt: skip
        return (*shown, *self._others)

    def _number(self, values: Sequence[str] | None) -> int:
        value = values[-1] if values else ""
        if not value.isdigit() or int(value) >= len(self._found):
            raise Refused("This process is not on the page.")
        return int(value)

    def _picture(self, process: FoundProcess) -> str:
        key = f"{process.process.id} {process.name} {len(process.cases)}"
        if key not in self._pictures:
            self._pictures[key] = self._draw(Model(id="discovered", processes=(process.process,)))
        return self._pictures[key]
