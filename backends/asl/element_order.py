"""The order of elements of a run, for runs that an event ends early.

Branches of a Parallel state run at the same time. If a terminate or error end event stops them, the
finished part depends on timing, and a run of the model determines it. Only such
runs must follow their order: any other has to succeed with any interleaving of its branches.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from orgflow_ir.model import Event, Process, SubProcess

if TYPE_CHECKING:
    from orgflow_ir.flow.token_game.runs import Run

IDLE_SECONDS = 0.5
"""Seconds after which an unfollowed schedule is abandoned."""


class Schedule:
    """Makes states that represent elements begin in the order of a run; thread-safe."""

    def __init__(self, order: tuple[str, ...], elements: Mapping[str, str]) -> None:
        self._order, self._elements = order, elements
        self._at = 0
        self._moved = threading.Condition()
        self._last = time.monotonic()
        self._given_up = False

    def wait(self, state: str, running: Callable[[], bool]) -> None:
        """Return on the state's turn, or when its machine has been stopped."""
        element = self._elements.get(state)
        if element is None:
            return
        with self._moved:
            while running() and not self._given_up:
                if self._at < len(self._order) and self._order[self._at] == element:
                    self._at += 1
                    self._last = time.monotonic()
                    self._moved.notify_all()
                    return
                if time.monotonic() - self._last > IDLE_SECONDS:
                    self._given_up = True
                    self._moved.notify_all()
                    return
                self._moved.wait(0.01)


def ends_early(run: Run, process: Process) -> bool:
    """Whether an end event of the run stops other activities."""
    stops = {
        n.id
        for scope in process.scopes()
        for n in scope.nodes
        if isinstance(n, Event) and n.position == "end" and n.trigger in ("terminate", "error")
    }
    return any(step.element in stops for step in run.steps)


def order_of(run: Run, process: Process) -> tuple[str, ...]:
    """Elements of a run in the required starting order of their states.

    A waiting state is one step, whereas the game has two: its completion counts. Only a
    sub-process, and an activity that a boundary event ended, count from their opening.
    """
    nodes = {n.id: n for scope in process.scopes() for n in scope.nodes}
    hosts = {n.attached_to for n in nodes.values() if isinstance(n, Event)}
    steps: list[tuple[str, str]] = []
    for step in run.steps:
        if step.action == "done":
            opened = ("open", step.element)
            if isinstance(nodes.get(step.element), SubProcess):
                continue
            if opened in steps:
                steps.remove(opened)
        steps.append((step.action, step.element))
    return tuple(
        element
        for action, element in steps
        if action != "open" or element in hosts or isinstance(nodes.get(element), SubProcess)
    )
