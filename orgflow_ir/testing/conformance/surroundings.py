"""Detects side effects of `emit`: printing, and reading the time, random numbers, or
machine-specific state."""

from __future__ import annotations

import io
import os
import random
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from datetime import date, datetime
from types import FrameType
from typing import Any

_BUILTINS: dict[tuple[object, str], str] = {
    (time, "time"): "the clock",
    (time, "time_ns"): "the clock",
    (time, "localtime"): "the clock or the time zone",
    (time, "strftime"): "the clock or the locale",
    (time, "ctime"): "the clock or the time zone",
    (datetime, "now"): "the clock",
    (datetime, "utcnow"): "the clock",
    (date, "today"): "the clock",
    (datetime, "today"): "the clock",
}
_FUNCTIONS = {os.urandom: "chance", os.getpid: "the id of its process", os.getcwd: "its folder"}
_ENVIRONMENT = type(os.environ).__getitem__.__code__


@contextmanager
def watch_reads() -> Iterator[list[str]]:
    """Yields a description of each kind of state that the code within it reads; reads of the clock
    are detected only for functions of the standard library."""
    reads: dict[str, None] = {}

    def note_read(frame: FrameType, event: str, called: Any) -> None:
        what = None
        if event == "c_call":
            what = _called_source(called)
        elif event == "call" and frame.f_code is _ENVIRONMENT:
            what = f"the environment variable {frame.f_locals.get('key')}"
        if what is not None:
            reads[what] = None

    asked: list[str] = []
    before = sys.getprofile()
    sys.setprofile(note_read)
    try:
        yield asked
    finally:
        sys.setprofile(before)
        asked += reads


def _called_source(function: Any) -> str | None:
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    try:
        if owner is random._inst:  # seeded ones are all right
            return "chance"
        return _BUILTINS.get((owner, name)) or _FUNCTIONS.get(function)
    except TypeError:  # a method of something without a hash
        return None


@contextmanager
def silence_output() -> Iterator[io.StringIO]:
    """Yields the text printed within it."""
    out = io.StringIO()
    with redirect_stdout(out):
        yield out
