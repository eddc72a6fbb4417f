"""Messages and signals to receivers outside of the model: one request each, to an address that one
option sets for all of them."""

from __future__ import annotations

from typing import NamedTuple

from orgflow.backends.javascript.literals import js_string
from orgflow.backends.n8n.emit.emission_rules import SettingNeeded
from orgflow.backends.n8n.emit.names import plain
from orgflow.backends.n8n.emit.outside import OutsideNode, outside_node
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.plan.target_options import REQUEST

from orgflow_ir.gaps import has_implementation
from orgflow_ir.model import Event, Model, Task
from orgflow_ir.model.bindings import Http
from orgflow_ir.model.element_names import slug
from orgflow_ir.pipeline import PassContext
from orgflow_ir.work.tasks import SENT, Work, work_of

_NOWHERE = "https://address-to-set.invalid"
"""An address without a server (RFC 2606): a request to it fails."""

_BODY = (
    "JSON.stringify(({{ {kind}: {name}, data: Object.fromEntries("
    "Object.entries($json).filter((one) => one[0] !== {sent})) }}))"
)
"""The code of the sent data: the name of the message or signal and all process variables."""


class SentMessage(NamedTuple):
    """A message or signal (`kind`) as a request: the preceding computation, and its node."""

    kind: str
    name: str
    work: Work
    node: OutsideNode


def sends_message(element: Task | Event) -> bool:
    """Whether an element sends a message or a signal without a defined implementation."""
    if isinstance(element, Event):
        return element.trigger in ("message", "signal") and element.position in ("throw", "end")
    return element.task_type == "send" and not has_implementation(element)


def message_name(element: Task | Event, model: Model) -> str:
    """The name of the message or signal that an element sends, otherwise its own."""
    ref = element.message if isinstance(element, Task) else element.definitions[0].ref
    entries = (*model.catalog.messages, *model.catalog.signals)
    entry = next((one for one in entries if one.id == ref), None)
    return plain(entry.name if entry is not None else "") or plain(element.caption)


def request_of(element: Task | Event, model: Model, ctx: PassContext, base: str) -> SentMessage:
    """The request that sends the message or signal of an element; OF426, once per message, if no
    address is set."""
    kind = element.trigger if isinstance(element, Event) else "message"
    name = message_name(element, model)
    known = base != REQUEST
    path = slug(name).replace("_", "-") or "message"
    url = f"{base.rstrip('/') if known else _NOWHERE}/{path}"
    binding = Http(url=url, method="POST")
    task = Task(id=element.id, name=element.name, task_type="send", binding=binding)
    work = work_of(task, None)
    assert work.act is not None
    made = outside_node(work.act, binding, "")
    made.parameters.update(
        sendBody=True,
        contentType="raw",
        rawContentType="application/json",
        body=make_expression(_BODY.format(kind=kind, name=js_string(name), sent=js_string(SENT))),
    )
    said = f"the model does not define the address for the {kind} `{name}`"
    if not known and not any(d.message == said for d in ctx.diagnostics):
        ctx.emit(
            SettingNeeded,
            said,
            element=element,
            help=f"compile with n8n{{messages=URL}} to send it to URL/{path}, or set URL in the "
            "nodes that send it",
        )
    return SentMessage(kind, name, work, made)
