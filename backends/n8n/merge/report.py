"""What a merge says: the workflow, what came from where, and what stands against it."""

from __future__ import annotations

import json
from typing import Any, Literal, NamedTuple

Json = dict[str, Any]

_SHOWN = 60

Origin = Literal["model", "workflow"]


class MergeChange(NamedTuple):
    """Something that one side changed and the merged workflow has.

    Attributes:
        origin: the side that changed it: the model, or the workflow as a person edited it.
        text: what it is.
        notable: whether the person should look at it: it had to be adapted.
    """

    origin: Origin
    text: str
    notable: bool = False


class MergeConflict(NamedTuple):
    """Something that both sides changed, so that nobody but a person can say which one counts.

    Attributes:
        name: the node that it is about, as people call it.
        workflow: what the edited workflow has.
        model: what the model has.
        help: how to settle it.
    """

    name: str
    workflow: str
    model: str
    help: str


class Merged(NamedTuple):
    """The result.

    Attributes:
        workflow: as far as it could be merged; not to be used while there are conflicts.
        changes: what either side changed, those of the model first.
        conflicts: what has to be settled first.
        two_way: without a base: what the person did not touch cannot be told.
    """

    workflow: Json
    changes: tuple[MergeChange, ...] = ()
    conflicts: tuple[MergeConflict, ...] = ()
    two_way: bool = False


def shown(value: Any) -> str:
    """A value in a message."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
