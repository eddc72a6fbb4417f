"""Whether a model defines what does a task, or sends the message of an event."""

from __future__ import annotations

from orgflow_ir.model import Event, Task
from orgflow_ir.model.bindings import Worker


def has_implementation(node: Task | Event) -> bool:
    """Whether the model defines what does a task, or sends the message of an event, whatever a
    target makes of it: settings and mappings alone do no work, and the name of a technology names
    nothing that does."""
    binding = node.binding
    if isinstance(binding, Worker):
        if binding.by == "implementation" and (binding.target or "").lower() in _TECHNOLOGIES:
            return False
        return binding.target is not None or binding.code is not None
    return binding is not None


_TECHNOLOGIES = frozenset(("##unspecified", "##webservice", "webservice", "other"))
"""BPMN's own words for `implementation`, the second its default (BPMN 2.0.2, 10.3.3), and how
exporters of BPMN 1 write them."""
