"""Every run of a workflow in the machine, with free choices: configurations, memoised.

One item arrives. A node that succeeds outputs at least one item: an If takes either output, an
unknown node continues. So findings here occur without any error or empty answer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from itertools import islice
from typing import Final

from orgflow.backends.n8n.engine_model.choices import handed_on
from orgflow.backends.n8n.engine_model.config import (
    Config,
    Entries,
    Event,
    Frame,
    Phase,
    Role,
    Waiting,
)
from orgflow.backends.n8n.engine_model.explorer import Explorer
from orgflow.backends.n8n.engine_model.flow import Flow, Node, on_top
from orgflow.backends.n8n.engine_model.model import taken_inputs
from orgflow.backends.n8n.engine_model.outcome import (
    ANSWERED,
    RUNS,
    TIMED_OUT,
    Emits,
    Opens,
    Outcome,
)
from orgflow.backends.n8n.engine_model.step import Work
from orgflow.backends.n8n.engine_model.waiting import deliver_items
from orgflow.backends.n8n.lint.model_input import Kinds
from orgflow.backends.n8n.node_types.behaviour import Counts

from orgflow_ir.model.records import NamedTuple, dataclass

MOST_STATES: Final = 3000
"""Maximum number of explored configurations; a workflow of 30 nodes has some hundred."""

_STEPS: Final = 4
_MOST_ITEMS: Final = 6
_MOST_PENDING: Final = 2
_MOST_CHOICES: Final = 24


class Overwritten(NamedTuple):
    """An item that n8n loses: it waited at `node` on `slot`, and another one replaced it."""

    node: int
    slot: int


class Turn(NamedTuple):
    """A step: the executed node, its input and output, and the resulting configuration.

    Attributes:
        node: its index, and `after` that of the configuration; -1 for the end of the run.
        ran: whether the node did its work now (an opening wait does not).
        inputs: items on each input; outputs: on each output.
        left: the waiting entries at the end of a run, and its status.
    """

    node: int
    after: int
    ran: bool
    inputs: Counts
    outputs: Counts
    left: Waiting = ()
    status: str = ""
    overwritten: tuple[Overwritten, ...] = ()


@dataclass
class Walk:
    """What was seen.

    Attributes:
        configs: the configurations; turns: the possible steps of each.
        starts: the initial configurations.
        cut: configurations that were not followed further, because items or tokens accumulate there
            (`grown` and `piled` name the node), or because the bound was reached (`bounded`).
        doubled: nodes with several pending executions at the same time.
        may: for each configuration, the nodes that ran on some path to it, as bits; must: on each
            path.
    """

    flow: Flow
    kinds: Kinds
    configs: list[Config]
    turns: list[list[Turn]] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    cut: set[int] = field(default_factory=set)
    grown: set[int] = field(default_factory=set)
    piled: set[int] = field(default_factory=set)
    doubled: set[int] = field(default_factory=set)
    bounded: bool = False
    may: list[int] = field(default_factory=list)
    must: list[int] = field(default_factory=list)

    def frame(self, config: int) -> Frame:
        """The execution of a configuration that has not ended."""
        return self.configs[config].frames[0]

    def at(self, config: int) -> int:
        """The node that runs next in it."""
        return self.frame(config).stack[-1][0]

    def all_turns(self) -> Iterator[tuple[int, Turn]]:
        """Each step with the configuration before it."""
        for config, turns in enumerate(self.turns):
            for turn in turns:
                yield config, turn


class _Watched(Work):
    """A step that also tells what it loses and what is left when the run ends."""

    def __init__(self, flow: Flow, config: Config) -> None:
        super().__init__((flow,), {None: 0}, True, config)
        self.left: Waiting = ()
        self.overwritten: list[Overwritten] = []

    def _end_frame(self, status: str) -> None:
        self.left = self.frames[-1].waiting
        super()._end_frame(status)  # type: ignore[arg-type]  # one of the three words

    def _deliver_outputs(
        self, node: Node, outputs: Counts, kept: bool, ends: str = "success"
    ) -> None:
        flow, waiting = self.flows[0], self.frames[-1].waiting
        for output, target, slot in node.wires:
            to = flow.nodes[target]
            if to.inputs < 2 or output >= len(outputs) or not outputs[output]:
                continue
            entries = _node_entries(waiting, target)
            if all(counts[slot] for _, counts in entries):
                lost = next((c for index, c in entries if index == len(entries)), ())
                self.overwritten += [Overwritten(target, s) for s, n in enumerate(lost) if n]
            waiting, _ = deliver_items(flow, waiting, to, slot, outputs[output])
        super()._deliver_outputs(node, outputs, kept, ends)  # type: ignore[arg-type]


def _node_entries(waiting: Waiting, node: int) -> Entries:
    return next((entries for index, entries in waiting if index == node), ())


def explore_runs(flow: Flow, kinds: Kinds, triggers: list[int], most: int = MOST_STATES) -> Walk:
    """Explore every run that begins at one of `triggers`."""
    explorer = Explorer[Config, None](most)
    walk = Walk(flow, kinds, explorer.states)
    for trigger in triggers:
        frame = Frame(0, Role.MAIN, Phase.READY, ((trigger, (1,)),))
        walk.starts.append(explorer.start(Config((frame,))))
    followed = steps = 0
    for config in explorer.pending():
        if steps >= _STEPS * most:
            explorer.bounded = True
            break
        followed = explorer.looked_at
        walk.turns.append([])
        if _piles_up(walk, config):
            walk.cut.add(explorer.current)
            continue
        for outcome in _list_outcomes(flow, kinds, config):
            work = _Watched(flow, config)
            work.apply(outcome)
            walk.turns[-1].append(_make_turn(flow, config, work, explorer))
            steps += 1
    walk.bounded = explorer.bounded
    for config_index in range(followed, len(walk.configs)):
        walk.cut.add(config_index)
        walk.turns.append([])
    _spread_marks(walk)
    return walk


def _make_turn(
    flow: Flow, config: Config, work: _Watched, explorer: Explorer[Config, None]
) -> Turn:
    frame = config.frames[0]
    node, inputs = frame.stack[-1]
    event = work.events[0]
    ended = not work.frames
    after = -1 if ended else explorer.reach(Config(tuple(work.frames)), None)
    return Turn(
        node=node,
        after=after,
        ran=event.action in ("run", "done"),
        inputs=inputs,
        outputs=event.outputs,
        left=work.left,
        status=_run_status(work.events) if ended else "",
        overwritten=tuple(work.overwritten),
    )


def _run_status(events: list[Event]) -> str:
    return next((e.status for e in reversed(events) if e.action == "end"), "")


def _piles_up(walk: Walk, config: Config) -> bool:
    """Whether tokens or items grow without a bound from here; the nodes are noted."""
    frame = config.frames[0]
    pending: dict[int, int] = {}
    for node, counts in frame.stack:
        pending[node] = pending.get(node, 0) + 1
        if max(counts) > _MOST_ITEMS:
            walk.grown.add(node)
            return True
    walk.doubled.update(node for node, times in pending.items() if times > 1)
    for node, entries in frame.waiting:
        pending[node] = len(entries)
        if any(max(counts) > _MOST_ITEMS for _, counts in entries):
            walk.grown.add(node)
            return True
    many = {node for node, count in pending.items() if count > _MOST_PENDING}
    walk.piled |= many
    return bool(many)


# -- choices ---------------------------------------------------------------------------------------


def _list_outcomes(flow: Flow, kinds: Kinds, config: Config) -> tuple[Outcome, ...]:
    frame = config.frames[0]
    node = on_top(flow, frame)
    inputs = taken_inputs(node, frame.stack[-1][1])
    behaviour = node.behaviour
    if frame.phase is Phase.SLEEPING:
        return (TIMED_OUT,)
    if frame.phase is Phase.PARKED:
        answered = (ANSWERED,) if behaviour.answered else ()
        return (*answered, TIMED_OUT) if behaviour.limited else answered
    if node.disabled or behaviour.kind in ("trigger", "stop") or not any(inputs):
        return (RUNS,)
    outcomes: list[Outcome] = [RUNS]
    if behaviour.kind == "wait":
        outcomes = [Opens(bool(behaviour.in_process))]
    elif behaviour.kind == "choice":
        outcomes = [Emits(handed_on(node, raw)) for raw in _output_counts(node, kinds, inputs)]
    if node.on_error == "error" and inputs[0]:
        outcomes.append(Emits(handed_on(node, (0,), inputs[0])))
    return tuple(dict.fromkeys(outcomes))


def _output_counts(node: Node, kinds: Kinds, inputs: Counts) -> list[Counts]:
    """What a node can hand on whose data decide."""
    behaviour, first = node.behaviour, inputs[0]
    outputs = behaviour.outputs or 1
    if node.index in kinds.routers:
        assert behaviour.choices is not None
        return list(islice(behaviour.choices(first, first), _MOST_CHOICES))
    given = max(inputs)
    if node.index in kinds.matching and not all(inputs[:2]):
        given = 0
    if outputs == 1:
        return [(given,)]
    # Which outputs a node that is not known serves together is not guessed: one of them.
    chosen = range(min(outputs, _MOST_CHOICES))
    return [tuple(given * (o == chosen_output) for o in range(outputs)) for chosen_output in chosen]


# -- what ran before -------------------------------------------------------------------------------


def _spread_marks(walk: Walk) -> None:
    """Fill `may` and `must` to their fixed points."""
    everything = (1 << len(walk.flow.nodes)) - 1
    walk.may = [0] * len(walk.configs)
    walk.must = [everything] * len(walk.configs)
    for start in walk.starts:
        walk.must[start] = 0
    todo = list(reversed(walk.starts))
    seen = set(todo)
    while todo:
        config = todo.pop()
        for turn in walk.turns[config]:
            if turn.after < 0:
                continue
            bit = 1 << turn.node if turn.ran else 0
            may = walk.may[turn.after] | walk.may[config] | bit
            must = walk.must[turn.after] & (walk.must[config] | bit)
            changed = may != walk.may[turn.after] or must != walk.must[turn.after]
            if changed or turn.after not in seen:
                walk.may[turn.after], walk.must[turn.after] = may, must
                seen.add(turn.after)
                todo.append(turn.after)
