"""The result of merging one workflow."""

from __future__ import annotations

import json
from typing import Any

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.targets.merging import MergeChange, MergeConflict

__all__ = ["MergeChange", "MergeConflict", "Merged", "shorten_value"]

Json = dict[str, Any]

_SHOWN = 60


class Merged(NamedTuple):
    """The result.

    Attributes:
        workflow: the merged part; unusable while there are conflicts.
        changes: the changes of both sides, those of the model first.
        conflicts: the conflicts to resolve first.
        two_way: whether there is no base, so unedited parts cannot be identified.
    """

    workflow: Json
    changes: tuple[MergeChange, ...] = ()
    conflicts: tuple[MergeConflict, ...] = ()
    two_way: bool = False


def shorten_value(value: Any) -> str:
    """A value in a message."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"
