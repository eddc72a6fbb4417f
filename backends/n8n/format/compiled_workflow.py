"""Data that a compiled workflow keeps of its compilation: its base, whether it is only called."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from orgflow.backends.n8n.format.identity import WORK_PREFIX
from orgflow.backends.n8n.format.merge_base import (
    base_in_file,
    pack_base,
    packed_base,
    unpack_base,
)
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument

from orgflow_ir.model.element_names import CALLED

Bases = Callable[[str], str | None]
"""Returns the packed base that a file stores under an id."""


def read_base(workflow: WorkflowDocument, bases: Bases) -> dict[str, Any] | None:
    """The compiled base of an edited workflow; None if it no longer contains it."""
    contents = [str(n.parameters.get("content", "")) for n in workflow.nodes if n.sticky]
    packed = packed_base(contents)
    if packed is None:
        packed = base_in_file(contents, bases)
    return unpack_base(packed) if packed is not None else None


def is_compiled_alike(base: Mapping[str, Any], ours: Mapping[str, Any]) -> bool:
    """Whether two compiled workflows are equal except for the map."""
    try:
        return pack_base(base) == pack_base(ours)
    except (KeyError, TypeError, IndexError, AttributeError):
        return False  # no workflow of a compile


def is_implemented(workflow: WorkflowDocument, bases: Bases) -> bool:
    """Whether somebody edited a compiled workflow; true if its base is unknown."""
    base = read_base(workflow, bases)
    return base is None or not is_compiled_alike(base, workflow.raw)


def exists_for_callers(workflow: WorkflowDocument) -> bool:
    """Whether a compiled workflow exists only to be called by others: it does work that a model
    names, or is a process for its callers in other files."""
    return (workflow.map.process or "").startswith(WORK_PREFIX) or CALLED in workflow.title
