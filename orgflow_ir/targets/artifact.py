"""What a backend emits."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    pass


class Artifact(NamedTuple):
    """A file to be written: path relative to the output folder, and its text."""

    path: str
    text: str
