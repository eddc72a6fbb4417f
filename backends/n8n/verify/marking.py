"""The model's side of the product: the permitted moves of the token game, in the words of the
model."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from typing import Final

from orgflow.backends.n8n.verify.points import Differs, Point, Roles, TooMuch

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.semantics import Game, State
from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.targets.verification import SideBySide

_ACTS: Final = ("start", "fire", "done")
_MOST_SILENT = 10_000
_MOST_LOOSE = 2_000
_SHOWN = 3


class Fired(NamedTuple):
    """The model after an element happened: the point, the steps, and their description."""

    point: Point
    steps: tuple[Step, ...]
    text: str


class Loosened(NamedTuple):
    """A state after choices that no node takes, the steps to it, and their description."""

    state: State
    steps: tuple[Step, ...]
    text: str


@dataclass
class Marking:
    """Moves the model along with the workflow; remembers results about states."""

    game: Game
    roles: Roles
    labels: Mapping[str, str]
    loosely: dict[str, dict[tuple[str, ...], None]] = field(default_factory=dict)
    _settled: dict[State, tuple[State, tuple[Step, ...]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.visible = frozenset(self.roles.stands.values())
        self.choosers = frozenset(self.roles.owners.values())

    # -- steps that nothing shows ---------------------------------------------------------------

    def settled(self, state: State) -> tuple[State, tuple[Step, ...]]:
        """The state after all steps without a node: gateways that do not decide. They are
        confluent, so one order represents all. Raises `TooMuch`."""
        known = self._settled.get(state)
        if known is not None:
            return known
        fired: list[Step] = []
        now = state
        while (step := self._silent(now)) is not None:
            if len(fired) >= _MOST_SILENT:
                raise TooMuch("gateways that lead to each other endlessly")
            fired.append(step)
            now = self.game.fire(now, step)
        self._settled[state] = (now, tuple(fired))
        return now, tuple(fired)

    def _silent(self, state: State) -> Step | None:
        for step in self.game.enabled(state):
            if step.element in self.roles.silent and step.action in _ACTS:
                return step
            if step.element in self.roles.dissolved and step.action == "open":
                return step
        return None

    def loosened(self, state: State, wanted: Callable[[State], bool]) -> Loosened | None:
        """The nearest state that is `wanted`, by choices at gateways that no node decides; None if
        there is none."""
        if not self.roles.loose:
            return None
        seen = {state}
        queue: deque[tuple[State, tuple[Step, ...]]] = deque([(state, ())])
        while queue and len(seen) < _MOST_LOOSE:
            now, steps = queue.popleft()
            if steps and wanted(now):
                for step in steps:
                    if step.element in self.roles.loose:
                        self.loosely.setdefault(step.element, {})[step.taken] = None
                text = " ".join(
                    f"{self.label(s.element)} → {self.join_labels(s.taken)}"
                    for s in steps
                    if s.element in self.roles.loose
                )
                return Loosened(now, steps, text)
            for step in self.game.enabled(now):
                if step.element in self.roles.loose and step.action in _ACTS:
                    after, quiet = self.settled(self.game.fire(now, step))
                    if after not in seen:
                        seen.add(after)
                        queue.append((after, (*steps, step, *quiet)))
        return None

    # -- steps that a node shows ----------------------------------------------------------------

    def opens(self, point: Point, element: str, name: str) -> Fired:
        """The element begins to wait in the workflow. Raises `Differs`."""
        point, before, text = self._reached(point, element)
        steps = self.game.steps_of(point.state, element)
        if not steps:
            raise self.not_allowed(point, name)
        opening = next((s for s in steps if s.action == "open"), None)
        if opening is None:
            return Fired(point, before, text)
        state = self.game.fire(point.state, opening)
        return Fired(
            point._replace(state=state),
            (*before, opening),
            f"{text} {self.label(element)}: waits".strip(),
        )

    def fires(self, point: Point, element: str, items: int, name: str) -> Fired:
        """The element happens in the workflow, once for each item. Raises `Differs`.

        An element that takes one of its own flows has to be enabled; the deciding node selects the
        flow later (`begun`).
        """
        point, before, text = self._reached(point, element)
        state, begun, fired = point.state, list(point.begun), list(before)
        for number in range(items):
            state, opened = self._opened(state, element)
            fired += opened
            steps = self._acts(state, element)
            decides_later = element in self.choosers and element not in self.roles.loose
            if not steps or (decides_later and not self._again(state, element, begun)):
                raise self.not_allowed(point._replace(state=state), name, number, tuple(fired))
            if decides_later:
                begun.append(element)
                continue
            state = self.game.fire(state, steps[0])
            fired.append(steps[0])
        label = self.label(element) if items < 2 else f"{self.label(element)} ({items} times)"
        after = point._replace(state=state, begun=tuple(sorted(begun)))
        return Fired(after, tuple(fired), f"{text} {label}".strip())

    def splits(self, point: Point, element: str, items: int, name: str) -> Iterator[Fired]:
        """An activity happens in the workflow, some of whose flows are always taken: their targets
        may run before a node reads the other choices, so each choice is made here in turn and kept
        in the point for the node that reads it. Raises `Differs`."""
        point, before, text = self._reached(point, element)
        gateway = next(g for g, owner in self.roles.owners.items() if owner == element)
        state, opened = self._opened(point.state, element)
        options = self._choices(state, gateway)
        if not options:
            raise self.not_allowed(point, name)
        for taken in options:
            now, fired = state, [*before, *opened]
            for number in range(items):
                now, opened_again = self._opened(now, element)
                step = self._choices(now, gateway).get(taken)
                if step is None:
                    raise self.not_allowed(point._replace(state=now), name, number, tuple(fired))
                now = self.game.fire(now, step)
                fired += (*opened_again, step)
            chosen = (*point.chosen, *[(gateway, taken)] * items)
            text_of_step = f"{text} {self.label(element)} → {self.join_labels(taken)}".strip()
            yield Fired(point._replace(state=now, chosen=chosen), tuple(fired), text_of_step)

    def _opened(self, state: State, element: str) -> tuple[State, tuple[Step, ...]]:
        """The state in which the element is at work, where it has to be begun first."""
        steps = self.game.steps_of(state, element)
        if any(s.action in _ACTS for s in steps):
            return state, ()
        opening = next((s for s in steps if s.action == "open"), None)
        return (self.game.fire(state, opening), (opening,)) if opening else (state, ())

    def _reached(self, point: Point, element: str) -> Fired:
        """The point itself, or after loose choices the nearest where the element can happen."""
        if not self.game.steps_of(point.state, element):
            loosened = self.loosened(point.state, lambda s: bool(self.game.steps_of(s, element)))
            if loosened is not None:
                after = point._replace(state=loosened.state)
                return Fired(after, loosened.steps, f"{loosened.text};")
        return Fired(point, (), "")

    def _acts(self, state: State, element: str) -> list[Step]:
        return [s for s in self.game.steps_of(state, element) if s.action in _ACTS]

    def _again(self, state: State, element: str, begun: list[str]) -> bool:
        """Whether the element can happen once more than it already has without being fired."""
        for _ in range(begun.count(element)):
            steps = self._acts(state, element)
            if not steps:
                return False
            state = self.game.fire(state, steps[0])
        return bool(self._acts(state, element))

    def options(self, point: Point, gateway: str) -> dict[tuple[str, ...], Step]:
        """The model's choices at a decision: branches taken → the step that takes them."""
        owner = self.roles.owners[gateway]
        if owner in self.visible and owner not in point.begun:
            return {}
        return self._choices(point.state, gateway)

    def _choices(self, state: State, gateway: str) -> dict[tuple[str, ...], Step]:
        """The choices of a state, but those that no data can make."""
        flows, default = self.roles.branches[gateway]
        choices: dict[tuple[str, ...], Step] = {}
        for step in self._acts(state, self.roles.owners[gateway]):
            taken = tuple(f for f in flows if f in step.taken)
            if not taken and default is not None:
                taken = (default,)
            if self._possible(gateway, taken):
                choices.setdefault(taken, step)
        return choices

    def _possible(self, gateway: str, taken: tuple[str, ...]) -> bool:
        """Whether branches with the same condition are taken together or, where only one branch is
        taken, the first of them."""
        for group in self.roles.equal.get(gateway, ()):
            several = gateway in self.roles.several
            if several and 0 < len(set(group) & set(taken)) < len(group):
                return False
            if not several and set(group[1:]) & set(taken):
                return False
        return True

    # -- words ----------------------------------------------------------------------------------

    def not_allowed(
        self, point: Point, name: str, times: int = 0, steps: tuple[Step, ...] = ()
    ) -> Differs:
        """The workflow does something that the model does not allow here."""
        if point.unfit:
            return Differs(
                f"if no branch of `{point.unfit}` matches, the workflow continues with `{name}`; "
                "the model has no such run",
                (SideBySide("", name),),
                steps,
                unfit=True,
            )
        goes_on = self.next(point)
        line = SideBySide(" or ".join(goes_on[:_SHOWN]), name)
        if times:
            often = "once" if times == 1 else f"{times} times"
            return Differs(
                f"the workflow does `{name}` {times + 1} times, but the model does it {often}",
                (line,),
                steps,
            )
        instead = (
            f"the model continues with {list_labels(goes_on)}" if goes_on else "the model waits"
        )
        if self.game.finished(point.state):
            instead = "the model has ended"
        return Differs(
            f"the workflow runs `{name}`, but the model does not; {instead}", (line,), steps
        )

    def next(self, point: Point) -> list[str]:
        """Labels of the currently possible steps of the model."""
        return list(dict.fromkeys(map(self.label, self.expected(point))))

    def expected(self, point: Point) -> list[str]:
        """Elements of the currently possible steps of the model."""
        steps = self.game.enabled(point.state)
        return list(dict.fromkeys(s.element for s in steps if s.element not in point.begun))

    def label(self, element: str) -> str:
        """The name of an element."""
        return self.labels.get(element, element)

    def join_labels(self, taken: tuple[str, ...]) -> str:
        """The names of the branches taken."""
        return " + ".join(self.labels.get(f, "otherwise") or f for f in taken) or "none"


def list_labels(labels: list[str]) -> str:
    """Some labels, in backticks."""
    shown = ", ".join(f"`{label}`" for label in labels[:_SHOWN]) or "nothing"
    return shown + (f" and {len(labels) - _SHOWN} more" if len(labels) > _SHOWN else "")
