"""Sticky Note: text on the canvas, which is not executed."""

from __future__ import annotations

from typing import Any

from orgflow.backends.n8n.node_types.node_type import NodeType, no_port


def note_parameters(content: str, width: int, height: int, colour: int) -> dict[str, Any]:
    """Parameters of a note."""
    return {"content": content, "height": height, "width": width, "color": colour}


NODE = NodeType(
    name="stickyNote",
    label="Sticky Note",
    emitted=True,
    versions=((1,), (1,)),
    inputs=no_port,
    outputs=no_port,
    task=None,
)
