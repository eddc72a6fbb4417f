"""Records the neighbouring files that were examined while a model was read and checked, for code
that caches results.

Forms, decisions and called processes are in files next to a model. Code that reads such files
records the folder and the suffixes; a cached result is valid as long as these files do not change.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike, fspath
from typing import Any

NOT_MODELS = frozenset({"node_modules", "__pycache__", "build", "dist", "venv"})
"""Folders that tools make, which contain no sources."""


class Neighbours:
    """The files that were examined.

    Attributes:
        folders: each folder with the suffixes, in lower case, of the files that mattered.
        given: whether the result depends on the other files of the command.
    """

    def __init__(self) -> None:
        self.folders: set[tuple[str, tuple[str, ...]]] = set()
        self.given = False


_NOTED: ContextVar[Neighbours | None] = ContextVar("neighbours", default=None)


@contextmanager
def noted_neighbours() -> Iterator[Neighbours]:
    """Records the files that are examined within this context, and in those around it."""
    neighbours = Neighbours()
    token = _NOTED.set(neighbours)
    try:
        yield neighbours
    finally:
        _NOTED.reset(token)
        around = _NOTED.get()
        if around is not None:
            around.folders |= neighbours.folders
            around.given = around.given or neighbours.given


def note_folder(folder: str | PathLike[str], suffixes: tuple[str, ...]) -> None:
    """Record that the result depends on the files of a folder with these suffixes: on their names
    and content. The suffix `/` stands for the names of folders in it."""
    noted = _NOTED.get()
    if noted is not None:
        lower = tuple(sorted(suffix.lower() for suffix in suffixes))
        noted.folders.add((fspath(folder), lower))


def note_given() -> None:
    """Record that the result depends on the files and folders given to the command."""
    noted = _NOTED.get()
    if noted is not None:
        noted.given = True


LISTED: ContextVar[dict[Hashable, Any] | None] = ContextVar("listed", default=None)
"""The folders that the models of a command have looked at, with the files in them."""


@contextmanager
def folders_listed_once() -> Iterator[None]:
    """Within this context each folder is listed once for all models, rather than once for each: a
    command that reads many models does not change them meanwhile."""
    token = LISTED.set({})
    try:
        yield
    finally:
        LISTED.reset(token)
