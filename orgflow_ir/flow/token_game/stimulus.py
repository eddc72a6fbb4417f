"""Responses of the environment to a process: one list that drives the token game and engines.

Steps that a process makes by itself are not listed: a stimulus is an action or choice from outside.
`replay_stimuli` turns a list into the run that it describes, `stimuli_of` returns the list of a
run, and the two functions are inverses. The runner of a target converts the same list to its own
input: items of a trigger, outputs of stubs, answers of callbacks.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType
from typing import Any, Literal, cast, get_args

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.net import NetNode
from orgflow_ir.flow.token_game.runs import Run
from orgflow_ir.flow.token_game.semantics import Game, Policy, State
from orgflow_ir.model import CallActivity, Event, Model, SubProcess, Task
from orgflow_ir.model.records import dataclass

STIMULI_VERSION = 1
"""Version of the JSON; increased when a field changes its meaning or is removed."""

MOST_STEPS = 20_000
"""Maximum number of steps of one replay; a process that continues by itself for longer is left
`running`."""

Kind = Literal[
    "start", "done", "message", "timer", "signal", "condition", "event", "decide", "open", "turn",
    "data",
]  # fmt: skip
"""What happens at the element.

- `start`: the process begins at it (a start event, an instantiating task or gateway, or the process
  itself if it has no start).
- `done`: an activity is completed.
- `message`, `timer`, `signal`, `condition`: the trigger of an event or receive task occurs.
- `event`: an event with several definitions, or with another trigger, happens.
- `decide`: a gateway or another split takes the flows of the payload.
- `open`, `turn`: no external action; selects which of several elements proceeds (`open`: it begins
  to wait). Engines use their own order and skip it.
- `data`: the output of an element of the target at its next completion; the token game does not
  evaluate data and skips it.
"""

_BY_TRIGGER: dict[str, Kind] = {
    "message": "message", "timer": "timer", "signal": "signal", "conditional": "condition",
}  # fmt: skip


class StimulusError(ValueError):
    """A list that cannot be simulated or read; the message names the stimulus and the reason."""


@dataclass(frozen=True)
class Payload:
    """The payload of a stimulus.

    Attributes:
        taken: ids of the flows that are taken; `None` if there is no choice.
        values: JSON values by field name.
    """

    taken: tuple[str, ...] | None = None
    values: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


NOTHING = Payload()


@dataclass(frozen=True)
class Stimulus:
    """One response of the environment.

    Attributes:
        element: id of the element it applies to.
        kind: what happens.
        payload: its data.
        at: minimum number of steps that the process has made before. It takes effect when its
            element is ready; stimuli apply in list order.
        instance: the instance of a process or sub-process, as in `Step`.
    """

    element: str
    kind: Kind
    payload: Payload = NOTHING
    at: int = 0
    instance: int = 0


# -- playing ---------------------------------------------------------------------------------------


def replay_stimuli(
    model: Model,
    stimuli: Sequence[Stimulus],
    *,
    game: Game | None = None,
    most: int = MOST_STEPS,
) -> Run:
    """The run of one process that a list describes.

    Steps without external input happen by themselves, in the order of `Game.enabled`. At the end of
    the list, the process keeps waiting, and the outcome is `running`.

    Args:
        model: the model before lowering.
        stimuli: the list; it begins with a `start`.
        game: the token game of this model, to share between calls (default: as for
            `enumerate_runs`).
        most: maximum number of steps; a process that continues by itself is then left `running`.

    Raises:
        StimulusError: the list does not begin with a start, or an element is not ready for its
            stimulus.

    Example:
        >>> replay_stimuli(model, [Stimulus("start", "start"), Stimulus("ask", "done", at=2)])
    """
    game = game or Game(model, Policy(once=True))
    wanted = [s for s in stimuli if s.kind != "data"]
    if not wanted or wanted[0].kind != "start":
        raise StimulusError("a list of stimuli begins with a `start`")
    process, start = _find_beginning(game, wanted[0])
    player = _Player(game, game.initial(process, start))
    for stimulus in wanted[1:]:
        player.give(stimulus)
    while len(player.steps) < most and (step := player.automatic()) is not None:
        player.fire(step)
    steps, state = tuple(player.steps), player.state
    choices = tuple(choice for step in steps for choice in game.decisions(step))
    return Run(process, start, steps, choices, game.outcome(state), game.left(state))


def stimuli_of(game: Game, run: Run) -> tuple[Stimulus, ...]:
    """The shortest list for which `replay_stimuli` returns exactly this run.

    Raises:
        StimulusError: this is not a run of the game's model.
    """
    player = _Player(game, game.initial(run.process, run.start))
    stimuli = [Stimulus(run.start or run.process, "start")]
    for index, step in enumerate(run.steps):
        if player.automatic() != step:
            stimuli.append(player.stimulus_for(step, index))
        player.fire(step)
    return tuple(stimuli)


def _find_beginning(game: Game, stimulus: Stimulus) -> tuple[str, str | None]:
    """The process that a `start` begins, and where."""
    for process in game.net.processes:
        starts = game.starts(process) if game.net.scopes[game.net.processes[process]].nodes else ()
        if stimulus.element in starts:
            return process, stimulus.element
        if stimulus.element == process and None in starts:
            return process, None
    raise StimulusError(f"no process starts at `{stimulus.element}`")


class _Player:
    """A state of the game with the steps that led there."""

    def __init__(self, game: Game, state: State) -> None:
        self.game, self.net, self.state = game, game.net, state
        self.steps: list[Step] = []

    def fire(self, step: Step) -> None:
        """Make a step. Raises `NotEnabled`."""
        self.state = self.game.fire(self.state, step)
        self.steps.append(step)

    def automatic(self) -> Step | None:
        """What happens next without an answer from outside."""
        return next((s for s in self.game.enabled(self.state) if self._is_automatic(s)), None)

    def give(self, stimulus: Stimulus) -> None:
        """Let the process go on by itself until the stimulus is due and fits, then make its step.
        Raises `StimulusError`."""
        while len(self.steps) < MOST_STEPS:
            rest = self.automatic()
            if len(self.steps) >= stimulus.at or rest is None:
                step = self._find_step(stimulus)
                if step is not None:
                    self.fire(step)
                    return
            if rest is None:
                break
            self.fire(rest)
        raise StimulusError(
            f"`{stimulus.element}` is not ready for `{stimulus.kind}` after {len(self.steps)} "
            f"steps; it waits at {self._list_waiting() or 'nothing'}"
        )

    def stimulus_for(self, step: Step, at: int) -> Stimulus:
        """The stimulus that makes this step here. Raises `StimulusError`."""
        kind: Kind = self._stimulus_kind(step)
        taken = (
            step.taken if len(self._list_options(step.element, kind, step.instance)) > 1 else None
        )
        stimulus = Stimulus(step.element, kind, Payload(taken), at, step.instance)
        if self._find_step(stimulus) != step:
            raise StimulusError(f"`{step.element}` cannot {step.action} at step {at + 1}")
        return stimulus

    def _list_waiting(self) -> str:
        return ", ".join(f"`{e}`" for e in self.game.open_elements(self.state))

    def _list_options(self, element: str, kind: Kind, instance: int) -> list[Step]:
        opens = kind == "open"
        return [
            step
            for step in self.game.steps_of(self.state, element)
            if step.instance == instance and (step.action == "open") is opens
        ]

    def _find_step(self, stimulus: Stimulus) -> Step | None:
        """The step that a stimulus makes here; `None` where its element is not ready."""
        options = self._list_options(stimulus.element, stimulus.kind, stimulus.instance)
        taken = stimulus.payload.taken
        if taken is None:
            if len(options) > 1:
                raise StimulusError(
                    f"`{stimulus.element}` has {len(options)} outgoing choices, and the stimulus "
                    "does not define which flows are taken"
                )
            return options[0] if options else None
        listed = next((step for step in options if step.taken == taken), None)
        if listed is not None or stimulus.element not in self.net.wide or not options:
            return listed
        # not every combination of a wide split is listed
        return Step(options[0].action, stimulus.element, taken, stimulus.instance)

    # -- what needs no answer ----------------------------------------------------------------------

    def _find_node(self, element: str) -> NetNode:
        return self.net.nodes[self.net.by_id[element][0]]

    def _is_automatic(self, step: Step) -> bool:
        if step.action == "open":
            return True
        node = self._find_node(step.element)
        if len(node.options) > 1:
            return False
        if node.attached >= 0:  # an error or escalation from inside, or a cancel, is no surprise
            return node.thrown_inside or "cancel" in node.kinds()
        if step.action == "start":
            return self._is_begun(node)
        if step.action == "fire":
            return True
        if node.body >= 0:
            return not self.net.scopes[node.body].ad_hoc
        # a throw that waits for the compensation handlers it started
        return isinstance(node.element, Event) and node.element.position in ("throw", "end")

    def _is_begun(self, node: NetNode) -> bool:
        """Whether a start has its token already, and is not one that may yet be triggered."""
        frames = (f for f in self.state.frames if f.scope == node.scope)
        return any(place == node.pending for f in frames for place, _ in f.tokens)

    def _stimulus_kind(self, step: Step) -> Kind:
        if step.action == "open":
            return "open"
        if self._is_automatic(step):
            return "turn"
        element = self._find_node(step.element).element
        if isinstance(element, Event) and element.position in ("start", "catch", "boundary"):
            return _BY_TRIGGER.get(element.trigger, "event")
        if isinstance(element, Task) and element.task_type == "receive":
            return "message"
        if isinstance(element, Task | CallActivity | SubProcess):
            return "done"
        return "decide"


# -- JSON ------------------------------------------------------------------------------------------


def stimuli_to_json(stimuli: Iterable[Stimulus]) -> str:
    """A list as JSON, by `orgflow_ir/schema/stimuli.schema.json`."""
    document = {
        "format": "orgflow-stimuli",
        "version": STIMULI_VERSION,
        "stimuli": [
            {
                "element": s.element,
                "kind": s.kind,
                "payload": {
                    "taken": None if s.payload.taken is None else list(s.payload.taken),
                    "values": dict(s.payload.values),
                },
                "at": s.at,
                "instance": s.instance,
            }
            for s in stimuli
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def stimuli_from_json(text: str | bytes) -> tuple[Stimulus, ...]:
    """Inverse of `stimuli_to_json`. Raises `StimulusError`."""
    try:
        data = json.loads(text)
    except ValueError as error:
        raise StimulusError(f"this is not JSON: {error}") from None
    if not isinstance(data, dict) or data.get("format") != "orgflow-stimuli":
        raise StimulusError("this is not a list of stimuli: its `format` is not `orgflow-stimuli`")
    if data.get("version") != STIMULI_VERSION:
        raise StimulusError(f"the version of the list is not {STIMULI_VERSION}")
    rows = data.get("stimuli")
    if not isinstance(rows, list):
        raise StimulusError("`stimuli` is not a list")
    return tuple(_read_stimulus(row, number) for number, row in enumerate(rows, 1))


def _read_stimulus(row: object, number: int) -> Stimulus:
    def build_error(what: str) -> StimulusError:
        return StimulusError(f"stimulus {number}: {what}")

    if not isinstance(row, dict):
        raise build_error("it is not an object")
    element, kind, at, instance = (
        row.get("element"), row.get("kind"), row.get("at", 0), row.get("instance", 0),
    )  # fmt: skip
    payload = row.get("payload", {})
    if not isinstance(element, str) or not element:
        raise build_error("`element` is not an id")
    if kind not in get_args(Kind):
        raise build_error(f"`kind` is none of {', '.join(get_args(Kind))}")
    for name, value in (("at", at), ("instance", instance)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise build_error(f"`{name}` is not a non-negative number")
    if not isinstance(payload, dict):
        raise build_error("`payload` is not an object")
    taken, values = payload.get("taken"), payload.get("values", {})
    if taken is not None and not (
        isinstance(taken, list) and all(isinstance(flow, str) for flow in taken)
    ):
        raise build_error("`taken` is not a list of ids")
    if not isinstance(values, dict):
        raise build_error("`values` is not an object")
    flows = None if taken is None else tuple(taken)
    return Stimulus(element, cast("Kind", kind), Payload(flows, values), at, instance)
