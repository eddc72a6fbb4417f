"""The element for a node: event, task, call, gateway."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.node_types import catalogue, wait
from orgflow.frontends.n8n.keeping import kept_node, read_binding
from orgflow.frontends.n8n.ports import Join
from orgflow.frontends.n8n.source import SourceNode
from orgflow.frontends.n8n.times import limit_timer, schedule_timers, wait_timer

from orgflow_ir.model import (
    CallActivity,
    CatalogEntry,
    Event,
    EventDefinition,
    Gateway,
    Loop,
    Task,
    TaskType,
)
from orgflow_ir.model.records import dataclass

Body = Task | CallActivity | Event | Gateway
MESSAGE = EventDefinition(kind="message")


@dataclass
class Bodies:
    """Creates elements for nodes; `workflows` maps n8n's ids of the workflows in this file to the
    ids of their processes, `errors` collects the errors that Stop and Error throws."""

    process: str
    workflows: Mapping[str, str]
    errors: list[CatalogEntry] = field(default_factory=list)

    def element(self, node: SourceNode, gateway: Join | None) -> Body:
        """The element of a node; `gateway`: it is only a gateway of this kind."""
        if gateway is not None:
            kind, condition = gateway
            return Gateway(gateway_kind=kind, condition=condition, **_common_fields(node))
        if node.disabled:
            return Event(position="throw", **_common_fields(node))
        if node.trigger:
            return Event(
                position="start", definitions=_start_definitions(node), **_common_fields(node)
            )
        if node.short == node_types.calling_type().name:
            return self._read_call(node)
        match node.short:
            case "stopAndError":
                return self._read_stop(node)
            case "wait":
                return _read_wait(node)
        return _read_task(node)

    def _read_stop(self, node: SourceNode) -> Event:
        p = node.parameters
        content = p.get("errorObject") if p.get("errorType") == "errorObject" else None
        content = content if content is not None else p.get("errorMessage", "")
        message = content if isinstance(content, str) else ""
        ref = f"{node.id}__message"
        self.errors.append(CatalogEntry(id=ref, name=message, loc=node.loc))
        thrown = EventDefinition(kind="error", ref=ref)
        element, role = node.tag or ("", "")
        return Event(
            position="end",
            definitions=(thrown,),
            derived_from=(element,) if role else (),  # with a role it was added by a compiler
            **_common_fields(node),
        )

    def _read_call(self, node: SourceNode) -> CallActivity | Task:
        """A call; one that is not waited for is a message to the other workflow."""
        if not node_types.calling_type().waits(node.parameters):
            return _read_task(node).replace(task_type="send")
        each = node.parameters.get("mode") == "each"
        loop = Loop(kind="multi-instance", sequential=True) if each else None
        return CallActivity(
            called=self._called_process(node.parameters), loop=loop, **_common_fields(node)
        )

    def _called_process(self, parameters: Mapping[str, Any]) -> str | None:
        source = parameters.get("source", "database")
        if source != "database":
            return None
        identity = parameters.get("workflowId")
        if isinstance(identity, Mapping):
            identity = identity.get("value")
        if isinstance(identity, int) and not isinstance(identity, bool):
            identity = str(identity)
        if not isinstance(identity, str) or not identity:
            return None
        if "".join(identity.split()) == "={{$workflow.id}}":
            return self.process
        return self.workflows.get(identity, identity)


def _common_fields(node: SourceNode, *, bound: bool = False) -> dict[str, Any]:
    return {
        "id": node.id,
        "name": node.name,
        "doc": node.doc,
        "loc": node.loc,
        "extra": kept_node(node.raw, bound=bound),
    }


def _read_task(node: SourceNode) -> Task:
    codes = (node.parameters.get(name) for name in catalogue.script_parameters(node.short))
    script = next((code for code in codes if isinstance(code, str)), None)
    return Task(
        task_type=_task_type(node),
        binding=read_binding(node.raw, script),
        **_common_fields(node, bound=True),
    )


_PLACEHOLDER = re.compile(
    r"^Placeholder for a (?:(user|manual|service|script|send|receive|business rule) )?task:",
    re.MULTILINE,
)
"""Text that orgflow's backend writes into the notes of a placeholder."""

_TASK_TYPES: dict[str, TaskType] = {
    "abstract": "abstract", "user": "user", "manual": "manual", "service": "service",
    "script": "script", "send": "send", "receive": "receive", "business rule": "business-rule",
}  # fmt: skip


def _task_type(node: SourceNode) -> TaskType:
    """What kind of task a node is. A placeholder of ours is of the kind that its note says."""
    if node.short not in ("noOp", "set"):
        return catalogue.task_type(node.short, node.parameters)
    notes = node.raw.get("notes")
    match = _PLACEHOLDER.search(notes) if isinstance(notes, str) else None
    if match is not None:
        return _TASK_TYPES[match[1] or "abstract"]
    return "abstract" if node.short == "noOp" else "service"


def _start_definitions(node: SourceNode) -> tuple[EventDefinition, ...]:
    match catalogue.start_of(node.short):
        case "manual" | "called":
            return ()
        case "schedule":
            return schedule_timers(node.short, node.parameters)
        case "error":
            return (EventDefinition(kind="error"),)
        case "message":
            return (MESSAGE,)


def _read_wait(node: SourceNode) -> Task | Event:
    """A form is work of a person; a call a message; either may have a limit in time."""
    p = node.parameters
    resume = wait.resume_event(p)
    if resume == "form":
        return _read_task(node)
    if resume != "webhook":
        timer = wait_timer(p, node.version)
        return Event(position="catch", definitions=(timer,), **_common_fields(node))
    waited = (MESSAGE, limit_timer(p)) if p.get("limitWaitTime") is True else (MESSAGE,)
    return Event(position="catch", definitions=waited, **_common_fields(node))


def form_limit(node: SourceNode) -> EventDefinition | None:
    """The time limit of a Wait for a form, after which its input continues."""
    p = node.parameters
    limited = node.short == "wait" and not node.disabled and p.get("limitWaitTime") is True
    return limit_timer(p) if limited and wait.resume_event(p) == "form" else None
