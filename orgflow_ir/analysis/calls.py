"""Which processes of a model call which."""

from __future__ import annotations

import re
from collections.abc import Iterator

from orgflow_ir.model import CallActivity, Model, Process, Scope

_VARIABLE = r"(?a)=?\s*([A-Za-z_]\w*)|[$#]\{\s*([A-Za-z_]\w*)\s*\}"


def calls_in(scope: Scope) -> Iterator[CallActivity]:
    """The calls in a process or sub-process, those in sub-processes of it, too."""
    for inner in scope.scopes():
        yield from (node for node in inner.nodes if isinstance(node, CallActivity))


def callee(call: CallActivity, model: Model) -> Process | None:
    """The process of the model that a call names; a prefix of its namespace says nothing."""
    name = (call.called or "").rpartition(":")[2]
    return next((p for p in model.processes if p.id == name and p.nodes), None)


def variable_of(text: str) -> str | None:
    """The variable that a mapping takes as it is; `None` where it is anything else."""
    found = re.fullmatch(_VARIABLE, text.strip())
    return found[1] or found[2] if found is not None else None


def called_from(process: Process, model: Model) -> tuple[Process, ...]:
    """The processes that one calls, and those that these call, the nearest first; itself where it
    comes round to itself."""
    found: dict[str, Process] = {}
    todo = [process]
    for caller in todo:
        for call in calls_in(caller):
            called = callee(call, model)
            if called is not None and called.id not in found:
                found[called.id] = called
                todo.append(called)
    return tuple(found.values())


def is_called(process: Process, model: Model) -> bool:
    """Whether some process of the model calls one."""
    return any(
        callee(call, model) is process for other in model.processes for call in calls_in(other)
    )
