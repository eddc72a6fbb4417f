"""Detects and refuses writes to disk while a backend emits."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_EVENTS = frozenset(
    ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.truncate", "os.symlink", "os.link")
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_guards: list[list[str]] = []
_state = {"installed": False}


@contextmanager
def no_writing() -> Iterator[list[str]]:
    """Makes every write to disk fail with `PermissionError`; yields the attempts, in order, even if
    the backend swallowed the error."""
    if not _state["installed"]:
        sys.addaudithook(
            _audit_hook
        )  # it cannot be taken away again; without a guard it does nothing
        _state["installed"] = True
    tried: list[str] = []
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = True  # what `emit` imports is not its output
    _guards.append(tried)
    try:
        yield tried
    finally:
        _guards.remove(tried)
        sys.dont_write_bytecode = before


def _audit_hook(event: str, args: tuple[Any, ...]) -> None:
    if not _guards:
        return
    writes = event in _EVENTS
    if event == "open" and len(args) == 3 and isinstance(args[2], int):
        writes = bool(args[2] & _WRITING) and args[0] != os.devnull
    if writes:
        _guards[-1].append(str(args[0]))
        raise PermissionError(f"a backend writes no files itself: {args[0]}")
