"""The result of merging one workflow."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from orgflow_ir.targets.merging import MergeChange, MergeConflict

__all__ = ["MergeChange", "MergeConflict", "Merged", "shown"]

Json = dict[str, Any]

_SHOWN = 60


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
