"""Which files beside a model were looked at while it was read and checked, for who keeps results.

Forms, decisions and called processes are in files beside a model. Whoever reads such files notes
the folder and the suffixes; a result is still good while these files are what they were.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from os import PathLike, fspath


class Neighbours:
    """What was looked at.

    Attributes:
        folders: each folder with the suffixes, in lower case, of the files that mattered.
        given: whether it mattered which other files the command was given.
    """

    def __init__(self) -> None:
        self.folders: set[tuple[str, tuple[str, ...]]] = set()
        self.given = False


_NOTED: ContextVar[Neighbours | None] = ContextVar("neighbours", default=None)


@contextmanager
def noted_neighbours() -> Iterator[Neighbours]:
    """What is looked at while this lasts."""
    found = Neighbours()
    token = _NOTED.set(found)
    try:
        yield found
    finally:
        _NOTED.reset(token)


def note_folder(folder: str | PathLike[str], suffixes: tuple[str, ...]) -> None:
    """The files of a folder with these suffixes matter: which there are, and their content."""
    noted = _NOTED.get()
    if noted is not None:
        lower = tuple(sorted(suffix.lower() for suffix in suffixes))
        noted.folders.add((fspath(folder), lower))


def note_given() -> None:
    """It matters which files the command was given."""
    noted = _NOTED.get()
    if noted is not None:
        noted.given = True
