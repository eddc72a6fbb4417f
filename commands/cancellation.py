"""Ctrl-C and signals that end the program, as the cancellation service of a compilation."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from orgflow_ir.pipeline.services import CancelFlag

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


class Signals:
    """The signals of a command; `held` delays what they raise.

    Args:
        flag: set immediately when a signal arrives.
    """

    def __init__(self, flag: CancelFlag) -> None:
        self._flag = flag
        self._before: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._holding = False
        self._pending: int | None = None

    @contextlib.contextmanager
    def caught(self) -> Iterator[None]:
        """Inside this context, signals set the flag before they raise; only the main thread can
        catch them. Signals that raise nothing are left unchanged."""
        if threading.current_thread() is threading.main_thread():
            for name in _SIGNALS:
                number = getattr(signal, name, None)
                handler = signal.getsignal(number) if number is not None else None
                if number is not None and callable(handler):
                    self._before[int(number)] = handler
                    signal.signal(number, self._handle)
        try:
            yield
        finally:
            for restored, handler in self._before.items():
                signal.signal(restored, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self._flag.cancel()
        if self._holding and self._pending is None:
            self._pending = number
            return
        self._before[number](number, frame)

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """A signal only sets the flag, and raises its exception at the end of the context; the work
        inside sees the flag, undoes incomplete changes and reports the rest. A second signal raises
        immediately: a user who presses Ctrl-C twice does not want to wait."""
        self._holding = True
        try:
            yield
        finally:
            self._holding = False
            number, self._pending = self._pending, None
            if number is not None:
                self._before[number](number, None)
