"""The ids by which compiled processes call the workflows of the support set (`waiting`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from orgflow.backends.n8n.format.document import node_uuid

SUPPORT_PARTS: Final = (
    "report", "admit", "fold", "claim", "join", "end_scope", "match", "complete", "start",
    "message", "page", "sweep",
)  # fmt: skip
"""The workflows of the set, each after those that it calls."""


def part_id(part: str) -> str:
    """The id of a workflow of the set where n8n keeps ids: 16 letters and digits."""
    return node_uuid(f"orgflow/waiting/{part}").replace("-", "")[:16]


SUPPORT_IDS: Final[Mapping[str, str]] = {part_id(part): part for part in SUPPORT_PARTS}
"""The workflows of the set by these ids; a deployment puts the ids of the server in place."""
