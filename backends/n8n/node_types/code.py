"""Code: JavaScript or Python with any effect on the items."""

from __future__ import annotations

from typing import Any

from orgflow.backends.n8n.node_types.behaviour import Behaviour, unknown
from orgflow.backends.n8n.node_types.node_type import NodeType, Parameters, Use


def running(code: str) -> dict[str, Any]:
    """Parameters that run JavaScript once with all items."""
    return {"jsCode": code}


def gives_one_item(parameters: Parameters) -> bool:
    """Whether the last line of the code shows that it outputs exactly one item."""
    text = parameters.get("jsCode")
    if not isinstance(text, str) or "mode" in parameters:
        return False
    return text.rstrip().rpartition("\n")[2].startswith("return [{ json: {")


def _behaviour(use: Use) -> Behaviour:
    return unknown(1)


NODE = NodeType(
    name="code",
    label="Code",
    emitted=True,
    versions=((2,), (2,)),
    behaviour=_behaviour,
    scripts=("jsCode", "pythonCode"),
    task="script",
)
