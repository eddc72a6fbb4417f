"""Comments on states (what people read in the console) and the gaps they stand for."""

from __future__ import annotations

from orgflow.backends.asl import rules
from orgflow.backends.asl.sketch import Sketch

from orgflow_ir.decisions import Decision, spoken
from orgflow_ir.model import Element, Gateway, Task
from orgflow_ir.naming import one_line
from orgflow_ir.pass_manager import PassContext

_KEPT = 2000
"""Longest documentation text that a comment keeps."""


def comment(node: Element, *lines: str) -> str:
    """What a state stands for: construct and id, what has to be said, then the model's words."""
    words = one_line(node.doc)
    words = words if len(words) <= _KEPT else words[:_KEPT].rstrip() + "…"
    return " ".join(p for p in (f"[{node.construct} {one_line(node.id)}]", *lines, words) if p)


def sets(decisions: list[Decision], whose: str = "its result") -> str:
    """What the result of a state has to hold, in words; nothing where nothing reads it."""
    parts = []
    for d in decisions:
        if d.values:
            kind = "true or false for each of" if d.several else "one of"
            allowed = " | ".join(d.values)
            parts.append(
                f"{whose[0].upper()}{whose[1:]} has {d.variable}: {kind} {allowed}{_or_default(d)}."
            )
        if d.coded:
            names = ", ".join(".".join(path) for path in d.coded)
            parts.append(f"{d.spoken} reads {names} from {whose}.")
    return " ".join(parts)


def _or_default(decision: Decision) -> str:
    default = decision.default
    if default is None:
        return ""
    return f" (anything else: {one_line(default.flow.name) or 'the default branch'})"


def stop_cause(decision: Decision) -> str:
    """Why an execution fails where no branch fits: the variables, their values, who sets them."""
    parts = []
    if decision.values:
        own = decision.setter == decision.gateway.id
        setter = "the state before it" if own else decision.setter_label
        kind = "one or more" if decision.several else "one"
        allowed = ", ".join(decision.values)
        parts.append(f"{setter} has to set {decision.variable} to {kind} of: {allowed}")
    if decision.coded:
        names = ", ".join(".".join(path) for path in decision.coded)
        parts.append(f"its conditions read {names}, set by {decision.read_from}")
    said = f"no branch of {decision.spoken} fits: {'; '.join(parts) or 'it has none'}"
    return said.replace("`", "")


def report_decision(d: Decision, ctx: PassContext) -> None:
    """OF471 for a gateway that reads a variable somebody has to set."""
    if d.values:
        own = d.setter == d.gateway.id
        where = "the state before it" if own else f"`{d.setter_label}`"
        kind = "true or false for each of" if d.several else "one of"
        allowed = ", ".join(f"`{v}`" for v in d.values)
        ctx.emit(
            rules.OpenVariable,
            f"{d.spoken} decides by `{d.variable}`, which {where} has to set to {kind} "
            f"{allowed}{_or_default(d)}",
            element=d.gateway,
            help=f"make the result of that state have the field `{d.variable}`",
        )
    if d.coded:
        names = ", ".join(f"`{'.'.join(path)}`" for path in d.coded)
        ctx.emit(
            rules.OpenVariable,
            f"the conditions of {d.spoken} read {names} from the result of {d.read_from}; what "
            "other steps set is not seen",
            element=d.gateway,
            help=f"let {d.read_from.split(', else ')[0]} give it",
        )


def report_task(node: Task, ctx: PassContext) -> None:
    """OF470 for a task that became a placeholder."""
    kind = "" if node.task_type == "abstract" else f"{node.task_type.replace('-', ' ')} "
    ctx.emit(
        rules.PlaceholderState,
        f"what the {kind}task `{node.label}` does is left open: it became a Pass state",
        element=node,
        help="put the Task state that does the work in its place and keep name and `ResultPath`",
    )


def report_lone_branches(sketch: Sketch, ctx: PassContext) -> None:
    """OF476 for a gateway that asks and has one answer."""
    for scope in sketch.scopes.values():
        for node in scope.scope.nodes:
            if not isinstance(node, Gateway) or node.gateway_kind not in ("exclusive", "inclusive"):
                continue
            out = scope.graph.flows_out(node.id)
            label = one_line(out[0].name) if len(out) == 1 else ""
            if label and node.id not in scope.decisions and node.id in scope.graph.reachable:
                ctx.emit(
                    rules.LoneBranch,
                    f"{spoken(node, scope.graph)} has one branch only, `{label}`: it is always "
                    "taken",
                    element=node,
                    help="draw what happens otherwise, or leave the gateway out",
                )


def report_starts(sketch: Sketch, values: dict[str, str], ctx: PassContext) -> None:
    """OF477 where the input has to say which of several start events began the execution."""
    if not values:
        return
    allowed = ", ".join(f"`{v}`" for v in values.values())
    ctx.emit(
        rules.OutsideStart,
        f"`{sketch.process.label}` has several start events: the input's field `start` says by "
        f"{allowed} which one began the execution",
        element=sketch.process,
        help="give every execution an input with that field",
    )
