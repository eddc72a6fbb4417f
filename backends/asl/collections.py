"""The list that a multi-instance activity iterates over, if a path can read it."""

from __future__ import annotations

import re

from orgflow.backends.asl.names import is_dotted

from orgflow_ir.model import Loop, Node, SubProcess, Task

_BRACED = re.compile(r"[$#]\{\s*([^{}]*?)\s*\}")


def named_collection(loop: Loop) -> str | None:
    """The list in the model: BPMN's own collection, otherwise an engine's `collection` attribute
    (Camunda, Flowable, Activiti keep it outside of BPMN)."""
    if loop.collection is not None:
        return loop.collection
    return next((v for k, v in loop.extra if k.startswith("@") and k.endswith("}collection")), None)


def collection_of(loop: Loop) -> str | None:
    """The name of the list (`items`, also written `${items}`), or `None` if no path with a leading
    dot reads it."""
    named = (named_collection(loop) or "").strip()
    match = _BRACED.fullmatch(named)
    name = match.group(1) if match else named
    return name if is_dotted(name) else None


def is_multi_instance(node: Node) -> bool:
    """Whether it is executed once for each item of a list."""
    return (
        isinstance(node, Task | SubProcess)
        and node.loop is not None
        and node.loop.kind == "multi-instance"
    )
