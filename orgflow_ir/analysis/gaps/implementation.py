"""Whether a model defines what does a task."""

from __future__ import annotations

from orgflow_ir.model import Task
from orgflow_ir.model.bindings import Worker


def has_implementation(task: Task) -> bool:
    """Whether the model defines what does a task, whatever a target makes of it: settings and
    mappings alone do no work."""
    binding = task.binding
    if isinstance(binding, Worker):
        return binding.target is not None or binding.code is not None
    return binding is not None
