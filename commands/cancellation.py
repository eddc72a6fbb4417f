"""Ctrl-C, and signals that end the program, as the cancellation service of a compilation."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from orgflow_ir.pipeline.services import CancelFlag

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")


@contextlib.contextmanager
def cancelled_by_signals(flag: CancelFlag) -> Iterator[None]:
    """Set the flag before a signal raises what it raises (Ctrl-C: `KeyboardInterrupt`), so that
    other threads stop, too. Signals that raise nothing are left as they are."""
    before: dict[int, Callable[[int, FrameType | None], Any]] = {}

    def handle(number: int, frame: FrameType | None) -> None:
        flag.cancel()
        before[number](number, frame)

    if threading.current_thread() is threading.main_thread():
        for name in _SIGNALS:
            number = getattr(signal, name, None)
            handler = signal.getsignal(number) if number is not None else None
            if number is not None and callable(handler):
                before[int(number)] = handler
                signal.signal(number, handle)
    try:
        yield
    finally:
        for restored, handler in before.items():
            signal.signal(restored, handler)
