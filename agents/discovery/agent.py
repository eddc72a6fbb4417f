"""Discovery with a language model that reads the cases of a process and states its structure.

The program, not the model, decides on the reading and its end: first every process that discovery
without a model finds, then samples of the messages in no process, then those least similar to any
process, then the list of processes as a whole.

One request shows all messages of a process, and the answer is an outline whose lines cite messages.
The program replays the cases on the model of the outline; faults and events out of place go back
once. A model that writes no outlines reads one case at a time instead, and names steps and
conditions; then the structure is mined from the dates of messages. Statements without a supporting
message are dropped or shown as doubts.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from orgflow.agents.discovery.case_replay import CaseFit, replay_cases, share_in_place
from orgflow.agents.discovery.described import Saved, UnusableProcess, read_saved
from orgflow.agents.discovery.discover import Discovery, FoundProcess, Stages, describe_processes
from orgflow.agents.discovery.growing import Known, add_stated_process, build_process
from orgflow.agents.discovery.stated_model import list_case_events
from orgflow.agents.discovery.stated_outline import (
    MOST_FAULTS,
    MOST_PARTS,
    MessageLabels,
    StatedProcess,
    UnreadableOutline,
    list_steps,
    name_step,
    read_stated_process,
    says_none,
)
from orgflow.agents.discovery.toolbox import SAVE, TOOLS, Toolbox, pick_evenly
from orgflow.agents.model_client.answer_reading import UnreadableAnswer, read_json
from orgflow.agents.model_client.usage import Expected, estimate_tokens, message_texts
from orgflow.agents.prompting import fence_text, render_prompt

from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.pipeline.agent_services import Embedder, ModelClient, Reply
from orgflow_ir.pipeline.services import NotRecorded, OverBudget
from orgflow_ir.plugins import Registry

TWIN = 0.85
"""Descriptions with at least this similarity are of one process (as published), unless it starts or
ends differently."""

SAME_EVENT = 0.7
"""Starts and goals with at least this similarity are the same."""

TOKENS_A_MESSAGE = 500
"""Maximum number of input tokens of a run, per message of the store."""

MOST_STEPS = 6
"""Maximum number of replies in one conversation; a refused save counts as one."""

MOST_ROUNDS = 10
"""Maximum number of conversations about messages in no case, of each kind."""

NOVEL_ROUNDS = 3
"""Minimum number of conversations about novel messages, while there are such messages."""

NEAR = 0.6
"""Messages with at least this similarity to a saved process are not novel."""

CASE_MESSAGES, SAMPLE, NEAREST = 40, 12, 8
"""Messages of a case and of a sample, and saved processes, at the beginning of a conversation."""

_ANSWER = 300
"""Tokens of a saved process, for estimates: ten steps with their messages."""

PAGE_TOKENS = 12_000
"""Maximum number of tokens of the messages in one request; further ones are on further pages."""

CORRECTED_SHARE = 0.05
"""With a larger share of events out of place, the outline goes back to the model."""

LEAST_IN_PLACE = 0.6
"""With a smaller share of events in place, the structure is mined from the stated steps instead."""

SAME_CASE_STEPS = 0.6
"""Two parts that share more than this share of the steps of the shorter one are two cases."""

LEAST = 3
"""Messages of a process that is in none of the program's cases."""


class AgentReport(NamedTuple):
    """The result of a run.

    Attributes:
        asked: replies of the model.
        tokens_in: input tokens of all requests, by the estimate that limits them.
        read, cases: cases that the model described or rejected, of all cases.
        refused: refused saves, with the reason of each.
        structures: processes whose structure the model stated.
        mined: of these, processes whose structure was mined instead, since their cases did not fit.
        apart: pairs of parts that the model called one case and that do the same steps.
        unrecorded: processes whose structure nobody stated since no answer is recorded.
        stopped: the reason for an early end; empty without one.
        over_budget: whether the reason is a limit of the client, which its user may raise.
    """

    asked: int
    tokens_in: int
    read: int
    cases: int
    refused: tuple[str, ...]
    stopped: str
    over_budget: bool = False
    structures: int = 0
    mined: int = 0
    apart: int = 0
    unrecorded: int = 0


class _Enough(Exception):
    """The run may take no more tokens; the message says which limit is reached."""


@dataclass
class _Outcome:
    """How a conversation ended: a process was saved, or the model said that there is none."""

    known: Known | None = None
    none: bool = False


class _Run:
    """One run over one store."""

    def __init__(
        self,
        stages: Stages,
        embedder: Embedder,
        client: ModelClient,
        progress: Callable[[int, int, str], None],
        tokens_a_message: int,
        registry: Registry | None = None,
    ) -> None:
        self.stages, self.embedder, self.client = stages, embedder, client
        self._registry = registry or Registry()
        self._writes_outlines = True
        self.structures = self.mined = self.apart = self.unrecorded = 0
        self._progress = progress
        self._limit = tokens_a_message * len(stages.traits.messages)
        self._messages = stages.traits.messages
        self._vectors: Any = np.array(embedder.embed([m.text for m in self._messages]), np.float32)
        self._cased = {p for group in stages.processes for c in group for p in stages.cases[c]}
        self.known: list[Known] = []
        self.of: dict[int, Known] = {}  # the process of each case that was read
        self.none: set[int] = set()  # the cases that are none
        self.fixed: set[Known] = set()  # the processes that a person decided about
        self._decided = False  # whether a person decided about the case that is read
        self._forced: Known | None = None  # the process that this case then is of, if it is known
        self.merged: dict[Known, Known] = {}
        self.taken: set[int] = set()
        cased = {case for group in stages.processes for case in group}
        self.excluded = {  # cases that a person rejected
            p for number, case in enumerate(stages.cases) if number not in cased for p in case
        }
        self.asked = self.tokens = 0
        self.refused: list[str] = []

    # -- what is read, in this order ----------------------------------------------------------

    def processes(self) -> None:
        """Read every process that was found without a model as a whole, while the model writes
        outlines."""
        todo = [
            (list(group), number in self.stages.names, self.stages.names.get(number, ""))
            for number, group in enumerate(self.stages.processes)
        ]
        total = sum(map(len, self.stages.processes))
        while todo and self._writes_outlines:
            group, fixed, name = todo.pop(0)
            self._progress(len(self.of) + len(self.none), total, "processes")
            for begin in range(0, len(group), MOST_PARTS):
                others = self._state_process(group[begin : begin + MOST_PARTS], fixed, name)
                # cases of another process are read by themselves, once
                if others and len(others) < len(group):
                    todo.append((others, False, ""))

    def _state_process(self, group: list[int], fixed: bool, name: str) -> list[int]:
        """Ask for the structure of a process. Returns the cases that are of another one."""
        labels = MessageLabels(tuple(tuple(self.stages.cases[case]) for case in group))
        try:
            stated = self._ask_structure(labels)
        except NotRecorded:
            self.unrecorded += 1
            return []
        if isinstance(stated, str):  # no process
            if not fixed:
                self.none.update(group)
                for case in group:
                    self.excluded.update(self.stages.cases[case])
            return []
        if stated is None:
            return []
        gone = () if fixed else stated.none
        other = () if fixed else stated.other
        for part in gone:
            self.none.add(group[part])
            self.excluded.update(labels.parts[part])
        joined = part_cases(stated, labels)
        self.apart += len(joined) - len(stated.joined)
        unused = set(stated.unused)
        cases = [
            [place for part in case for place in labels.parts[part] if place not in unused]
            for case in joined
        ]
        cases = [case for case in cases if case]
        fits = self._replay_stated(stated, cases)
        known = Known(name or self._free_name(stated), stated.about, stated.begins, stated.ends)
        add_stated_process(known, stated, cases, fits)
        self.structures += 1
        if share_in_place(fits) < LEAST_IN_PLACE:
            known.stated = None  # it is mined from the steps
            self.mined += 1
        self.known.append(known)
        if fixed:
            self.fixed.add(known)
        for parts in joined:
            self.of.update((group[part], known) for part in parts)
        self.taken.update(place for case in cases for place in case)
        self.excluded |= unused - self.taken
        return [group[part] for part in other]

    def _ask_structure(self, labels: MessageLabels) -> StatedProcess | str | None:
        """The structure that the model states, `NONE` if it says that there is no process, `None`
        if nothing can be read. One round of corrections follows the last page."""
        pages = page_messages(
            [
                (label, self._stated_text(label, place))
                for label, place in labels.list_labels().items()
            ],
            PAGE_TOKENS,
        )
        rules = {"role": "system", "content": render_prompt("discover_outline_rules")}
        outline = ""
        messages: list[dict[str, Any]] = []
        for number, page in enumerate(pages, 1):
            prompt = render_prompt(
                "discover_outline", outline=outline, page=number, pages=len(pages), messages=page
            )
            messages = [rules, {"role": "user", "content": prompt}]
            answer = self._ask_model(messages, tools=False).text
            outline = outline if says_none(answer) else answer  # nothing new on this page
        if not outline:
            return "NONE"
        best, faults = self._judge_structure(outline, labels)
        if faults:
            prompt = render_prompt("discover_outline_fix", faults=faults)
            messages += [
                {"role": "assistant", "content": outline}, {"role": "user", "content": prompt},
            ]  # fmt: skip
            self.refused += faults
            try:
                corrected = self._ask_model(messages, tools=False).text
            except NotRecorded:
                self.unrecorded += 1
                return best
            again, left = self._judge_structure(corrected, labels)
            if again is not None and (best is None or len(left) <= len(faults)):
                best = again
        return best

    def _judge_structure(
        self, text: str, labels: MessageLabels
    ) -> tuple[StatedProcess | None, list[str]]:
        """The process in an answer, and what is wrong with it."""
        try:
            stated = read_stated_process(text, labels, self._registry)
        except UnreadableOutline as error:
            self._writes_outlines = error.is_outline
            return None, list(error.faults) if error.is_outline else []
        faults = list(stated.faults)
        joined = part_cases(stated, labels)
        cases = [[place for part in case for place in labels.parts[part]] for case in joined]
        fits = self._replay_stated(stated, cases)
        if 1 - share_in_place(fits) > CORRECTED_SHARE:
            names = {step.id: name_step(step) for step in list_steps(stated.model)}
            label_of = {place: label for label, place in labels.list_labels().items()}
            faults += [
                f"{label_of[event.place]} shows `{names[event.element]}`, which the outline does "
                "not have at this point of the case."
                for fit in fits.values() for event in fit.out_of_place
            ]  # fmt: skip
        return stated, faults[:MOST_FAULTS]

    def _replay_stated(
        self, stated: StatedProcess, cases: Sequence[Sequence[int]]
    ) -> dict[int, CaseFit]:
        """How the cases fit the model of an outline."""
        events = list_case_events(stated.model, stated.cited, cases)
        return replay_cases(stated.model, stated.model.processes[0].id, events)

    def _stated_text(self, label: str, place: int) -> str:
        """A whole message for the model."""
        message = self._messages[place]
        date = message.date.strftime("%Y-%m-%d %H:%M") if message.date is not None else "no date"
        sender = message.sender.label if message.sender is not None else "unknown"
        to = ", ".join(person.label for person in message.receivers[:3])
        subject = f' "{message.subject}"' if message.subject else ""
        receivers = f" to {to}" if to else ""
        body = "\n".join(line for line in message.body.splitlines() if line.strip())
        return f"[{label}] {date} {sender}{receivers}{subject}\n{body}"

    def cases(self) -> None:
        """Read every case that was found without a model, and not as a part of its process."""
        total = sum(map(len, self.stages.processes))
        for number, group in enumerate(self.stages.processes):
            fixed = number in self.stages.names  # a person decided that these are one process
            for case in group:
                if case in self.of or case in self.none:
                    continue
                self._progress(len(self.of) + len(self.none), total, "cases")
                twins = [self.of[c] for c in group if c in self.of]
                self._decided = fixed
                self._forced = twins[-1] if fixed and twins else None
                outcome = self._read_case(case, twins)
                if fixed and outcome.known is not None and not twins:
                    outcome.known.name = self.stages.names[number]
                    self.fixed.add(outcome.known)
                if outcome.known is not None:
                    self.of[case] = outcome.known
                elif outcome.none and not fixed:
                    self.none.add(case)
                    self.excluded.update(self.stages.cases[case])

    def rest(self) -> None:
        """Look for processes among the messages that are in none, a sample at a time: evenly spaced
        ones while these bring something, then those that are least like any process."""
        for turn in range(MOST_ROUNDS):
            places = pick_evenly(self._uncovered_messages(), SAMPLE)
            self._progress(turn, MOST_ROUNDS, "messages in no process")
            if (
                not places
                or self._look_further("Messages outside all saved processes", places) is None
            ):
                break
        seen: set[int] = set()
        for turn in range(MOST_ROUNDS):
            places = [p for p in self._novel_messages() if p not in seen][:SAMPLE]
            self._progress(turn, MOST_ROUNDS, "novel messages")
            if not places or (turn >= NOVEL_ROUNDS and self._are_near(places)):
                break
            seen.update(places)
            saved = self._look_further("Messages least like any saved process", places)
            if saved is None and turn + 1 >= NOVEL_ROUNDS:
                break

    def review(self) -> None:
        """Show the list as a whole; processes that the model calls the same become one where they
        start or end alike."""
        if len(self.known) < 2:
            return
        prompt = render_prompt(
            "discover_review", inventory=self._inventory_text(range(len(self.known)))
        )
        reply = self._ask_model(
            [_system_message(), {"role": "user", "content": prompt}], tools=False
        )
        gone: dict[int, int] = {}
        for numbers in _read_same(reply.text, len(self.known)):
            for other in numbers[1:]:
                first = numbers[0]
                while first in gone:
                    first = gone[first]
                if other not in gone and other != first and self._merge_saved(first, other):
                    gone[other] = first
        self.merged = {self.known[a]: self.known[b] for a, b in gone.items()}
        self.known = [known for number, known in enumerate(self.known) if number not in gone]

    def _merge_saved(self, first: int, other: int) -> bool:
        """Whether two saved processes became one; a decision of a person keeps its name, and two
        of them stay apart."""
        kept, absorbed = self.known[first], self.known[other]
        if {kept, absorbed} <= self.fixed or not self._same_ends(kept, absorbed):
            return False
        kept.absorb(absorbed, self.embedder)
        if absorbed in self.fixed:
            kept.name = absorbed.name
            self.fixed.add(kept)
        return True

    def owner(self, case: int) -> Known:
        """The process of a case that was read."""
        known = self.of[case]
        while known in self.merged:
            known = self.merged[known]
        return known

    # -- conversations ------------------------------------------------------------------------

    def _read_case(self, case: int, twins: Sequence[Known]) -> _Outcome:
        places = self.stages.cases[case]
        shown = pick_evenly(places, CASE_MESSAGES)
        tools = self._build_toolbox(places)
        twin = twins[-1] if twins else None
        near = self._nearest_processes(places)
        if twin is not None and (number := self.known.index(twin)) not in near:
            near = [number, *near[:-1]]
        prompt = render_prompt(
            "discover_case",
            inventory=self._inventory_text(near),
            omitted=len(self.known) - len(near),
            twin=self.known.index(twin) + 1 if twin is not None else 0,
            steps=", ".join(s.name for s in twin.steps) if twin is not None else "",
            left_out=len(places) - len(shown),
            case="\n".join(tools.whole(place) for place in shown),
        )
        return self._hold_conversation(prompt, tools, places)

    def _look_further(self, title: str, places: Sequence[int]) -> Known | None:
        tools = self._build_toolbox(places)
        near = self._nearest_processes(places)
        prompt = render_prompt(
            "discover_rest",
            inventory=self._inventory_text(near),
            omitted=len(self.known) - len(near),
            title=title,
            messages=tools.lines(places),
            least=LEAST,
        )
        return self._hold_conversation(prompt, tools, None).known

    def _hold_conversation(
        self, prompt: str, tools: Toolbox, case: Sequence[int] | None
    ) -> _Outcome:
        """A conversation until something is saved, nothing is there to save, or it is too long."""
        messages: list[dict[str, Any]] = [_system_message(), {"role": "user", "content": prompt}]
        for _ in range(MOST_STEPS):
            reply = self._ask_model(messages)
            if not reply.calls:
                return self._without_call(reply, tools, case)
            messages.append(_assistant_message(reply))
            for call in reply.calls:
                if call.name == SAVE:
                    saved = self._save_process(call.arguments, tools, case)
                    if isinstance(saved, Known):
                        return _Outcome(saved)
                    result = saved
                else:
                    result = fence_text(tools.call(call.name, call.arguments), "result")
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        return _Outcome()

    def _without_call(self, reply: Reply, tools: Toolbox, case: Sequence[int] | None) -> _Outcome:
        """An answer in words: a model that knows no tools may still write the JSON of one."""
        if reply.text.strip().strip(".*`\"'").upper().startswith("NONE"):
            return _Outcome(none=True)
        saved = self._save_process(reply.text, tools, case) if "{" in reply.text else ""
        return _Outcome(saved) if isinstance(saved, Known) else _Outcome()

    def _save_process(self, text: str, tools: Toolbox, case: Sequence[int] | None) -> Known | str:
        """The process that was saved, else why it was not, for the model."""
        try:
            value = read_json(text).value
            saved = read_saved(value, tools.shown)
            return self._accept_saved(saved, case)
        except UnreadableAnswer as error:
            reason = f"The process {error}."
        except UnusableProcess as error:
            reason = str(error)
        self.refused.append(reason)
        return f"Not saved. {reason}"

    def _accept_saved(self, saved: Saved, case: Sequence[int] | None) -> Known:
        """The process after a save. Raises `UnusableProcess`."""
        free = set(saved.cited) - self.taken - self._cased - set(saved.excluded)
        if case is None:
            members = free
            if len(members) < LEAST:
                raise UnusableProcess(
                    f"It is based on fewer than {LEAST} messages that belong to no process."
                )
        else:
            inside = set(case) - set(saved.excluded)
            members = inside | free
            if not members & set(saved.cited):
                raise UnusableProcess("None of its steps is based on a message of the case.")
        if self._forced is not None and case is not None:
            known = self._forced
        elif saved.same_as is not None and not (self._decided and case is not None):
            if not 1 <= saved.same_as <= len(self.known):
                raise UnusableProcess(
                    f"There is no process {saved.same_as}; {len(self.known)} processes are saved."
                )
            known = self.known[saved.same_as - 1]
        else:
            if not self._decided or case is None:
                self._refuse_twin(saved)
            known = Known(self._free_name(saved), saved.description, saved.trigger, saved.goal)
            self.known.append(known)
        known.add(saved, sorted(members), self.embedder)
        self.taken |= members
        self.excluded |= set(saved.excluded) - self.taken
        return known

    def _refuse_twin(self, saved: Saved) -> None:
        """Raises `UnusableProcess` for a process that is saved already, naming it."""
        for number, known in enumerate(self.known, 1):
            if self._text_likeness(saved.text, known.text) < TWIN:
                continue
            if self._same_ends(saved, known):
                raise UnusableProcess(
                    f"It is process {number} `{known.name}`: it starts with `{known.trigger}` and "
                    f"ends with `{known.goal}`. Save it with same_as {number}; if it is a variant, "
                    "state the trigger or goal that distinguishes it."
                )

    def _same_ends(self, process: Saved | Known, other: Known) -> bool:
        """Whether two processes start and end alike; what is not stated does not differ."""
        pairs = ((process.trigger, other.trigger), (process.goal, other.goal))
        return all(
            not a or not b or self._text_likeness(a, b) >= SAME_EVENT for a, b in pairs
        )  # fmt: skip

    def _free_name(self, saved: Saved | StatedProcess) -> str:
        """Its name, with what starts it where another has the name."""
        name = saved.name or f"Process {len(self.known) + 1}"
        if all(name.casefold() != known.name.casefold() for known in self.known):
            return name
        begins, ends = (
            (saved.trigger, saved.goal) if isinstance(saved, Saved) else (saved.begins, saved.ends)
        )
        return f"{name} ({begins or ends or len(self.known) + 1})"

    # -- what the model is shown --------------------------------------------------------------

    def _ask_model(self, messages: Sequence[dict[str, Any]], *, tools: bool = True) -> Reply:
        """A reply. Raises `_Enough` before a request that the run may not make."""
        size = estimate_tokens(message_texts(messages)) + (TOOL_TOKENS if tools else 0)
        size += sum(estimate_tokens([json.dumps(m.get("tool_calls"))]) for m in messages
                    if m.get("tool_calls"))  # fmt: skip
        if self.tokens + size > self._limit:
            raise _Enough(f"{self._limit:,} input tokens are the limit for these messages")
        try:
            reply = self.client.ask(messages, tools=TOOLS if tools else ())
        except OverBudget as error:
            raise _Enough(str(error)) from error
        self.asked += 1
        self.tokens += size
        return reply

    def _build_toolbox(self, places: Sequence[int]) -> Toolbox:
        own = set(places)
        uncovered = [p for p in self._uncovered_messages() if p not in own]
        novel = [p for p in self._novel_messages() if p not in own]
        everything = self._inventory_text(range(len(self.known)))
        return Toolbox(
            self.stages.traits, self._vectors, self.embedder, uncovered, novel, everything
        )

    def _inventory_text(self, numbers: Sequence[int] | range) -> str:
        return "\n".join(
            f"{n + 1} {known.name} (starts with: {known.trigger or '?'}; goal: {known.goal or '?'})"
            for n in sorted(numbers)
            for known in (self.known[n],)
        )

    def _uncovered_messages(self) -> list[int]:
        """Messages outside all saved processes that nobody set aside."""
        gone = self.taken | self.excluded
        return [p for p in range(len(self._messages)) if p not in gone]

    def _similarity_rows(self, places: Sequence[int]) -> Any:
        """A row for each message: its likeness to each saved process."""
        texts: Any = np.array(self.embedder.embed([known.text for known in self.known]), np.float32)
        return self._vectors[list(places)] @ texts.T

    def _novel_messages(self) -> list[int]:
        """The messages of no process, the least like any process first."""
        places = self._uncovered_messages()
        if not self.known or not places:
            return places
        most = self._similarity_rows(places).max(1)
        return [places[i] for i in np.argsort(most, kind="stable")]

    def _are_near(self, places: Sequence[int]) -> bool:
        return bool(self.known) and bool((self._similarity_rows(places).max(1) >= NEAR).all())

    def _nearest_processes(self, places: Sequence[int]) -> list[int]:
        """The saved processes that are nearest to messages."""
        if not self.known:
            return []
        mean = self._similarity_rows(places).mean(0)
        return [int(n) for n in np.argsort(-mean, kind="stable")[:NEAREST]]

    def _text_likeness(self, text: str, other: str) -> float:
        vectors: Any = np.array(self.embedder.embed([text, other]))
        return float(vectors[0] @ vectors[1])


def page_messages(texts: Sequence[tuple[str, str]], most: int) -> list[str]:
    """Messages on pages, none of which has more than a number of tokens. A message that is longer
    than a page goes on on the next one.

    Args:
        texts: label and text of each message.
        most: maximum number of tokens of a page.
    """
    pages: list[list[str]] = [[]]
    used = 0
    for label, text in texts:
        rest = text
        while rest:
            size = estimate_tokens([rest])
            if used and used + size > most:
                pages.append([])
                used = 0
                continue
            # a token has four characters at most in this estimate, whatever the language
            cut = len(rest) if size <= most else max(1, len(rest) * most // size)
            pages[-1].append(rest[:cut])
            used += min(size, most)
            rest = f"[{label}, continued]\n{rest[cut:]}" if cut < len(rest) else ""
    return ["\n".join(page) for page in pages]


def part_cases(stated: StatedProcess, labels: MessageLabels) -> list[tuple[int, ...]]:
    """The parts of each case. Parts that do the same steps stay apart, whatever was stated."""
    events = list_case_events(stated.model, stated.cited, labels.parts)
    steps = {part: {event.element for event in own} for part, own in events.items()}
    cases: list[tuple[int, ...]] = []
    for case in stated.joined:
        kept: list[list[int]] = []
        for part in case:
            home = next(
                (own for own in kept if not any(_do_same(steps[part], steps[p]) for p in own)),
                None,
            )
            if home is None:
                kept.append([part])
            else:
                home.append(part)
        cases += [tuple(own) for own in kept]
    return sorted(cases)


def _do_same(first: set[str], other: set[str]) -> bool:
    """Whether two parts do so much of the same that they are two cases."""
    shorter = min(len(first), len(other))
    return shorter > 1 and len(first & other) > SAME_CASE_STEPS * shorter


TOOL_TOKENS = estimate_tokens(
    json.dumps([t.name, t.description, t.parameters]) for t in TOOLS
)  # fmt: skip
"""Tokens of the tools in every request."""


def _read_same(text: str, count: int) -> list[list[int]]:
    """The groups of equal processes in an answer to the review, by their places; none in an answer
    that cannot be read.

    Args:
        text: the answer, with numbers from 1.
        count: the number of processes.
    """
    try:
        value = read_json(text).value
    except UnreadableAnswer:
        return []
    pairs = value.get("same") if isinstance(value, dict) else None
    groups = []
    for pair in pairs if isinstance(pairs, list) else ():
        if isinstance(pair, list) and all(isinstance(n, int) for n in pair):
            groups.append(sorted({n - 1 for n in pair if 1 <= n <= count}))
    return groups


def _system_message() -> dict[str, Any]:
    return {"role": "system", "content": render_prompt("discover_rules")}


def _assistant_message(reply: Reply) -> dict[str, Any]:
    calls = [
        {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
        for c in reply.calls
    ]
    return {"role": "assistant", "content": reply.text, "tool_calls": calls}


def discover_with_model(
    stages: Stages,
    embedder: Embedder,
    client: ModelClient,
    progress: Callable[[int, int, str], None] = lambda done, total, name: None,
    *,
    tokens_a_message: int = TOKENS_A_MESSAGE,
    registry: Registry | None = None,
) -> tuple[Discovery, AgentReport]:
    """Describe the processes in messages with a language model.

    `stages` is the result without a model, and `registry` has the frontend that reads outlines.
    Cases that a person combined stay combined. Cases that the model did not read because of the
    token limit, or about which it gave no usable answer, are described as without a model.

    Raises:
        ServiceError: the endpoint or the embedder fails.
        Cancelled: the user stopped the run.
    """
    run = _Run(stages, embedder, client, progress, tokens_a_message, registry)
    stopped, over_budget = "", False
    try:
        run.processes()
        if not run.unrecorded:
            run.cases()
            run.rest()
            run.review()
    except NotRecorded:
        run.unrecorded += 1
    except _Enough as error:
        stopped, over_budget = str(error), isinstance(error.__cause__, OverBudget)
    read, cases = len(run.of) + len(run.none), sum(map(len, stages.processes))
    report = AgentReport(
        run.asked, run.tokens, read, cases, tuple(run.refused), stopped, over_budget,
        run.structures, run.mined, run.apart, run.unrecorded,
    )  # fmt: skip
    return _build_discovery(run), report


def expected_discovery(stages: Stages) -> Expected:
    """The approximate usage of `discover_with_model` if each process takes one reply, and a sample
    of the other messages and the review take one each. The maximum is that of a model that writes
    no outlines: `MOST_STEPS` replies for each case, within the token limit."""
    texts = [message.text for message in stages.traits.messages]
    chosen = [case for group in stages.processes for case in group]
    read = [place for case in chosen for place in stages.cases[case]]
    cased = set(read)
    others = [place for place in range(len(texts)) if place not in cased]
    sample = pick_evenly(others, SAMPLE)
    outline_rules = estimate_tokens([render_prompt("discover_outline_rules")])
    rules = estimate_tokens([render_prompt("discover_rules")]) + TOOL_TOKENS
    pages = sum(
        -(-estimate_tokens(texts[p] for case in group for p in stages.cases[case]) // PAGE_TOKENS)
        for group in stages.processes
    )
    calls = pages + 2
    tokens = outline_rules * pages + rules * 2 + estimate_tokens(texts[p] for p in (*read, *sample))
    # each sample of the first kind but the last ends with messages saved, each of the second is new
    samples = min(MOST_ROUNDS, len(texts) // LEAST + 1) + min(MOST_ROUNDS, -(-len(texts) // SAMPLE))
    limit = TOKENS_A_MESSAGE * len(texts)
    most = min(2 * pages + MOST_STEPS * (len(chosen) + samples) + 1, limit // rules + 1)
    return Expected(min(calls, most), min(tokens, limit), min(calls, most) * _ANSWER, most)


def _build_discovery(run: _Run) -> Discovery:
    """What the model saved, and what is described without it."""
    stages = run.stages
    plain: list[list[int]] = []
    names: dict[int, str] = {}
    for place, group in enumerate(stages.processes):
        unread = [c for c in group if c not in run.of and c not in run.none]
        owners = Counter(run.owner(c) for c in group if c in run.of)
        if unread and owners:  # one of the process that most cases of its group are of
            owner, _ = owners.most_common(1)[0]
            rests = ([p for p in stages.cases[c] if p not in run.taken] for c in unread)
            owner.cases += [rest for rest in rests if rest]
        elif unread:
            if place in stages.names:
                names[len(plain)] = stages.names[place]
            plain.append(unread)
    described = describe_processes(
        stages.traits, stages.cases, plain, stages.phrases, run.embedder, names
    ).processes
    named = [
        build_process(process, f"process_{number}", stages.traits)
        for number, process in enumerate(run.known, len(plain) + 1)
    ]
    every: list[FoundProcess] = sorted(
        (*named, *described), key=lambda process: -len(process.cases)
    )
    kept = {id_ for process in every for case in process.cases for id_ in case}
    noise = tuple(m.id for m in stages.traits.messages if m.id not in kept)
    return Discovery(tuple(every), noise)
