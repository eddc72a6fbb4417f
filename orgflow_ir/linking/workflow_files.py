"""Files beside a workflow that may contain the workflows that it calls by id.

A workflow of an automation tool calls another one by the id that it has on the server. The files of
a folder are usually exports of one server, so that the other one is in a file beside it, or in
another file of the command.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol, TypeGuard

from orgflow_ir.model.contained_paths import is_foreign_link
from orgflow_ir.model.neighbours import note_folder, note_given
from orgflow_ir.model.records import NamedTuple

MOST_FILES = 1_000
"""Files that are read for the calls of one workflow."""

MOST_BYTES = 16 * 1024 * 1024
"""Larger files are not read for a call."""


class WorkflowReader(Protocol):
    """A frontend whose files contain workflows that call each other by ids."""

    suffixes: tuple[str, ...]

    def __hash__(self) -> int: ...

    def workflow_ids(self, data: bytes) -> frozenset[str] | None:
        """The ids of the workflows in a file; `None` for a file of another kind."""


def reads_workflows(frontend: object) -> TypeGuard[WorkflowReader]:
    """Whether a frontend is one."""
    return callable(getattr(frontend, "workflow_ids", None)) and hasattr(frontend, "suffixes")


def is_installed(frontend: object, called: str) -> bool:
    """Whether a deployment puts the workflow with this id on the server. Frontends for which this
    may be so have a method of this name."""
    test = getattr(frontend, "is_installed", None)
    return callable(test) and bool(test(called))


class FileState(NamedTuple):
    """A file, and what changes when it does: nanoseconds and bytes."""

    path: str
    modified: int
    size: int

    def read(self) -> bytes:
        """Its content; empty if it cannot be read."""
        try:
            return Path(self.path).read_bytes()
        except OSError:
            return b""


def files_beside(file: str, suffix: str, given: Sequence[str]) -> Iterator[FileState]:
    """The other files with a suffix: those of the command, then those in the folder of `file`.

    Args:
        file: the calling file.
        given: the files passed to the command.
    """
    note_given()
    folder = os.path.dirname(file)
    note_folder(folder or os.curdir, (suffix,))
    try:
        names = sorted(os.listdir(folder or os.curdir))
    except OSError:
        names = []
    beside = [os.path.join(folder, name) for name in names]
    own = os.path.abspath(file)
    seen = {own}
    for path in (*given, *beside):
        place = os.path.abspath(path)
        if place in seen or not path.endswith(suffix) or len(seen) > MOST_FILES:
            continue
        seen.add(place)
        state = find_state(path)
        if state is not None and not (path in beside and is_foreign_link(path)):
            yield state


def files_given(file: str, suffix: str, given: Sequence[str]) -> Iterator[FileState]:
    """The other files of the command with a suffix; `file` is the own one, `given` are all."""
    note_given()
    own = os.path.abspath(file)
    for path in given[:MOST_FILES]:
        if path.endswith(suffix) and os.path.abspath(path) != own:
            state = find_state(path)
            if state is not None:
                yield state


def find_state(path: str) -> FileState | None:
    """A file that may be read for a call; `None` if it is too large or missing."""
    try:
        state = os.stat(path)
    except (OSError, ValueError):
        return None
    return (
        FileState(path, state.st_mtime_ns, state.st_size) if state.st_size <= MOST_BYTES else None
    )
