"""Whether a model defines the implementation of a task, or of an event that sends a message."""

from __future__ import annotations

from orgflow_ir.model import Event, Task
from orgflow_ir.model.bindings import Worker


def has_implementation(node: Task | Event) -> bool:
    """Whether the model defines the implementation of a task, or of an event that sends a message,
    independent of its support by targets. Settings and mappings alone are not an implementation,
    and neither is the name of a technology."""
    binding = node.binding
    if isinstance(binding, Worker):
        if binding.by == "implementation" and (binding.target or "").lower() in _TECHNOLOGIES:
            return False
        return binding.target is not None or binding.code is not None
    return binding is not None


_TECHNOLOGIES = frozenset(("##unspecified", "##webservice", "webservice", "other"))
"""BPMN's own values of `implementation`, of which the second is the default (BPMN 2.0.2, 10.3.3),
and their spellings by exporters of BPMN 1."""
