"""Notes on nodes (what people read in n8n's editor) and the gaps they stand for."""

from __future__ import annotations

from orgflow.backends.n8n import rules
from orgflow.backends.n8n.emit.names import plain

from orgflow_ir.analysis.decisions import Decision
from orgflow_ir.model import Event, Gateway, Task
from orgflow_ir.model.binding_text import statements, summary
from orgflow_ir.pipeline import PassContext


def _doc(text: str) -> list[str]:
    return [text.strip()] if text.strip() else []


def _sets(decisions: list[Decision]) -> list[str]:
    lines = []
    for d in decisions:
        if d.values:
            lines.append(f"Sets {d.variable}: {' | '.join(d.values)}{_or_default(d)}.")
        if d.coded:
            names = ", ".join(".".join(path) for path in d.coded)
            lines.append(f"{d.spoken} reads {names} from here.")
    return lines


def _or_default(decision: Decision) -> str:
    default = decision.default
    if default is None:
        return ""
    words = plain(default.flow.name) or "the default branch"
    return f" (anything else: {words})"


def task(node: Task, decisions: list[Decision], ctx: PassContext) -> list[str]:
    """Note of a placeholder task; OF501."""
    kind = "" if node.task_type == "abstract" else f"{node.task_type.replace('-', ' ')} "
    said = summary(node)
    ctx.emit(
        rules.OpenTask,
        f"{said} of the {kind}task `{node.label}` cannot be translated to n8n: kept in the note of "
        "its placeholder"
        if said
        else f"what the {kind}task `{node.label}` does is left open: it became a placeholder",
        element=node,
        help="in n8n, put the node that does the work in its place and keep the name",
    )
    placeholder = (
        f"Placeholder for a {kind}task: put the node that does the work here, keep the name."
    )
    return [*_sets(decisions), *_doc(node.doc), *_kept(node), placeholder]


def _kept(node: Task) -> list[str]:
    """What the model says of a task and no node runs."""
    found = statements(node)
    if not found:
        return []
    lines = []
    for one in found:
        text = one.text.strip()
        multiline = one.code or "\n" in text
        lines.append(f"- {one.label}:\n{text}" if multiline else f"- {one.label}: {text}")
    return ["The model says:\n" + "\n".join(lines)]


def decision(d: Decision, ctx: PassContext) -> list[str]:
    """Note of a deciding gateway; OF502 where a variable has to be set."""
    if d.values:
        where = "the decision node before it" if d.setter == d.gateway.id else f"`{d.setter_label}`"
        kind = "a list of" if d.several else "one of"
        values = ", ".join(f"`{v}`" for v in d.values)
        ctx.emit(
            rules.OpenDecision,
            f"{d.spoken} decides by `{d.variable}`, which {where} has to set to {kind} "
            f"{values}{_or_default(d)}",
            element=d.gateway,
            help=f"make that node output the field `{d.variable}`",
        )
    if d.coded:
        names = ", ".join(f"`{'.'.join(path)}`" for path in d.coded)
        ctx.emit(
            rules.OpenDecision,
            f"the conditions of {d.spoken} read {names} from the output of {d.read_from}; what "
            "other steps set is not seen",
            element=d.gateway,
            help=f"let {d.read_from.split(', else ')[0]} output it",
        )
    return _doc(d.gateway.doc)


def decide(d: Decision) -> list[str]:
    """Note of a decision node."""
    return [*_sets([d]), "Put the node that decides in its place, keep the name."]


def gateway(node: Gateway) -> list[str]:
    """Note of a join."""
    return _doc(node.doc)


def event(node: Event, open_time: bool, text: str, ctx: PassContext) -> list[str]:
    """Note of an event; OF504 and OF505 for what the model leaves open."""
    lines = _doc(node.doc)
    if open_time:
        said = f" (`{plain(text)}` cannot be read)" if text.strip() else ""
        ctx.emit(
            rules.OpenTime,
            f"how long `{node.label}` waits is left open{said}: 0 seconds until it is set",
            element=node,
            help="give the event an ISO 8601 duration or date, or set the time in n8n's Wait node",
        )
        said = f" The model says: {plain(text)}" if text.strip() else ""
        lines.append(f"How long to wait is left open: 0 seconds until it is set.{said}")
    elif node.position == "catch" and node.trigger == "message":
        ctx.emit(
            rules.OpenMessage,
            f"`{node.label}` waits for a message, and the model does not say how it arrives",
            element=node,
            help="hand the resume URL of the wait to the sender in an earlier node",
        )
        lines.append(
            "Waits until its resume URL is called: hand $execution.resumeUrl to the sender."
        )
    elif node.trigger == "message":
        ctx.emit(
            rules.OpenMessage,
            f"`{node.label}` sends a message, and the model does not say how it travels",
            element=node,
            help="in n8n, put the node of the channel used in its place and keep the name",
        )
        lines.append(
            "Placeholder: put the node that sends the message in its place, keep the name."
        )
    elif node.trigger == "conditional":
        ctx.emit(
            rules.OpenMessage,
            f"`{node.label}` waits for a condition, and the model does not say who watches it",
            element=node,
            help="in n8n, put a Wait or a polling loop in its place and keep the name",
        )
        said = f": {plain(text)}" if text.strip() else ""
        lines.append(f"Placeholder for waiting until a condition holds{said}. Passes on at once.")
    return lines


def start(
    node: Event, kind: str, unread: bool, decisions: list[Decision], ctx: PassContext
) -> list[str]:
    """Note of a trigger; OF504 for a timer start that cannot be read, OF505 for other starts."""
    lines = [*_sets(decisions), *_doc(node.doc)]
    if node.trigger == "timer" and unread:
        ctx.emit(
            rules.OpenTime,
            f"when `{node.label}` starts the process is left open: by hand until it is set",
            element=node,
            help="give the event a cycle such as R/P1D, or use a Schedule Trigger in n8n",
        )
        lines.append("When this starts is left open: put a Schedule Trigger in its place.")
    if kind == "webhook":
        ctx.emit(
            rules.OpenMessage,
            f"`{node.label}` starts the process when its webhook is called; the model does not say "
            "who calls it",
            element=node,
            help="give the webhook's URL to the sender, or use the trigger of the channel in n8n",
        )
        lines.append("Starts when its URL is called; the fields are under body.")
    return lines
