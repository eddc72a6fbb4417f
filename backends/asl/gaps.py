"""Comments on states (what people read in the console) and the gaps they stand for."""

from __future__ import annotations

from orgflow.backends.asl import rules
from orgflow.backends.asl.graph import ProcessGraph

from orgflow_ir.analysis.decisions import Decision, spoken
from orgflow_ir.model import Element, Gateway, Model, Task
from orgflow_ir.model.binding_text import statements, summary
from orgflow_ir.model.element_names import one_line
from orgflow_ir.pipeline import PassContext

_KEPT = 2000
"""Longest documentation text that a comment keeps."""


def comment(node: Element, *lines: str) -> str:
    """What a state stands for: construct and id, what has to be said, then the model's words."""
    words = one_line(node.doc)
    words = words if len(words) <= _KEPT else words[:_KEPT].rstrip() + "…"
    return " ".join(p for p in (f"[{node.construct} {one_line(node.id)}]", *lines, words) if p)


def notes_on(model: Model) -> dict[str, tuple[str, ...]]:
    """Texts of the annotations that hang on elements, by element, in the model's order."""
    found: dict[str, tuple[str, ...]] = {}
    artifacts = [*model.artifacts, *(a for s in model.scopes() for a in s.artifacts)]
    texts = {a.id: one_line(a.text) for a in artifacts if a.artifact_kind == "annotation"}
    for line in artifacts:
        for note, element in ((line.source, line.target), (line.target, line.source)):
            if note is not None and element is not None and texts.get(note):
                found[element] = (*found.get(element, ()), texts[note])
    return found


def own_words(node: Task, notes: tuple[str, ...]) -> tuple[str, ...]:
    """What the model says of a task beside its documentation, for its comment: what does it, and
    the annotations that hang on it."""
    found = statements(node)
    lines = [f"The model has the {s.label}:\n{_code(s.text)}\n" for s in found if s.code]
    details = "; ".join(f"{s.label}: {_cut(s.text)}" for s in found if not s.code)
    if details:
        lines.append(f"The model has {details}.")
    return (*lines, *(f"Note: {_cut(n)}" for n in notes))


def _cut(text: str) -> str:
    words = one_line(text)
    return words if len(words) <= _KEPT else words[:_KEPT].rstrip() + "…"


def _code(text: str) -> str:
    """Code with its lines, as JSON and every console take it."""
    kept = "".join(c if c.isprintable() or c in "\n\t" else " " for c in text).strip()
    return kept if len(kept) <= _KEPT else kept[:_KEPT].rstrip() + "…"


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
    said = summary(node)
    if said:
        ctx.emit(
            rules.PlaceholderState,
            f"the {kind}task `{node.label}` became a Pass state that does nothing: no state runs "
            f"{said} that the model gives it, kept in the state's `Comment`",
            element=node,
            help="put a Task state that does it (such as a Lambda function) in its place and keep "
            "name and `ResultPath`",
        )
        return
    ctx.emit(
        rules.PlaceholderState,
        f"what the {kind}task `{node.label}` does is left open: it became a Pass state",
        element=node,
        help="put the Task state that does the work in its place and keep name and `ResultPath`",
    )


def report_lone_branches(graph: ProcessGraph, ctx: PassContext) -> None:
    """OF476 for a gateway that asks and has one answer."""
    for scope in graph.scopes.values():
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


def report_starts(graph: ProcessGraph, values: dict[str, str], ctx: PassContext) -> None:
    """OF477 where the input has to say which of several start events began the execution."""
    if not values:
        return
    allowed = ", ".join(f"`{v}`" for v in values.values())
    ctx.emit(
        rules.OutsideStart,
        f"`{graph.process.label}` has several start events: the input's field `start` says by "
        f"{allowed} which one began the execution",
        element=graph.process,
        help="give every execution an input with that field",
    )
