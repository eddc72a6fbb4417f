"""Which element of a run goes first, for runs that something ends early.

Branches of a Parallel state run at the same time. Where a terminate or error end event stops them,
what has been done by then depends on who was faster, and a run of the model says who was. Only such
runs are held to their order: any other must come out right however its branches interleave.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from orgflow_ir.model import Event, Process, SubProcess

if TYPE_CHECKING:
    from orgflow_ir.analysis.token_game.runs import Run

IDLE_SECONDS = 0.5
"""Seconds after which a schedule that nobody follows is given up."""


class Schedule:
    """Lets states that stand for elements begin in the order of a run; thread-safe."""

    def __init__(self, order: tuple[str, ...], elements: Mapping[str, str]) -> None:
        self._order, self._elements = order, elements
        self._at = 0
        self._moved = threading.Condition()
        self._last = time.monotonic()
        self._given_up = False

    def wait(self, state: str, running: Callable[[], bool]) -> None:
        """Return when it is the state's turn, or when its machine has been stopped."""
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
    """Whether an end event of the run stops what else is going on."""
    stops = {
        n.id
        for scope in process.scopes()
        for n in scope.nodes
        if isinstance(n, Event) and n.position == "end" and n.trigger in ("terminate", "error")
    }
    return any(step.element in stops for step in run.steps)


def order_of(run: Run, process: Process) -> tuple[str, ...]:
    """Elements of a run in the order in which their states have to begin.

    A state that waits is one step where the game has two: what counts is when it was done. Only a
    sub-process, and what a boundary event ended, counts from its opening.
    """
    nodes = {n.id: n for scope in process.scopes() for n in scope.nodes}
    hosts = {n.attached_to for n in nodes.values() if isinstance(n, Event)}
    found: list[tuple[str, str]] = []
    for step in run.steps:
        if step.action == "done":
            opened = ("open", step.element)
            if isinstance(nodes.get(step.element), SubProcess):
                continue
            if opened in found:
                found.remove(opened)
        found.append((step.action, step.element))
    return tuple(
        element
        for action, element in found
        if action != "open" or element in hosts or isinstance(nodes.get(element), SubProcess)
    )
