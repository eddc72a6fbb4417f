"""Comments on states (shown in the console), and placeholders for gaps."""

from __future__ import annotations

from orgflow.backends.asl.graph import ProcessGraph

from orgflow_ir.facts.notes import HEADING
from orgflow_ir.gaps import Defaults, has_implementation
from orgflow_ir.gaps.gap_rules import (
    OpenDecision,
    OpenStart,
    OpenTask,
    UnlabelledBranch,
    UnreadCondition,
)
from orgflow_ir.model import Element, Expression, Task
from orgflow_ir.model.binding_text import summarise_binding
from orgflow_ir.model.element_names import join_listed, one_line
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.target_rules import UnsupportedBinding, UnsupportedCondition
from orgflow_ir.work.gateway_decisions import Decision, DecisionMemory

_KEPT = 2000
"""Maximum length of documentation in a comment."""


def head(node: Element) -> str:
    """The beginning of the comment of the state of an element."""
    return f"[{node.construct} {one_line(node.id)}]"


def comment(node: Element, *lines: str) -> str:
    """The source of a state: construct and id, mandatory notes, then the words of the model."""
    return " ".join(p for p in (head(node), *lines, documented(node.doc)) if p)


def documented(doc: str) -> str:
    """Documentation in one line, with the facts at its end unchanged, since code has lines."""
    before, heading, facts = doc.rpartition(HEADING)
    words = one_line(before if heading else facts)
    words = words if len(words) <= _KEPT else words[:_KEPT].rstrip() + "…"
    if not heading:
        return words
    kept = "".join(c if c.isprintable() or c in "\n\t" else " " for c in facts).strip()
    return f"{words}\n{heading}\n{kept}".strip()


def branch_names(decision: Decision) -> str:
    """The names of branches that no rule tests, in the order of the model; empty without any."""
    named = [b for b in decision.branches if one_line(b.flow.name)]
    if all(b.kind == "value" for b in named):
        return ""
    names = [
        f"“{one_line(b.flow.name)}”{' (default)' if b.kind == 'default' else ''}" for b in named
    ]
    return f"Branches: {', '.join(names)}."


def sets(decisions: list[Decision], whose: str = "its result") -> str:
    """The required content of a state's result, in words; empty if nothing reads it."""
    parts = []
    for d in decisions:
        if d.values:
            kind = "true or false for each of" if d.several else "one of"
            allowed = " | ".join(d.values)
            parts.append(
                f"{whose[0].upper()}{whose[1:]} has {d.variable}: {kind} {allowed}{_or_default(d)}."
            )
    return " ".join(parts)


def _or_default(decision: Decision) -> str:
    default = decision.default
    if default is None:
        return ""
    return f" (anything else: {one_line(default.flow.name) or 'the default branch'})"


def stop_cause(decision: Decision) -> str:
    """The reason why an execution fails if no branch matches: the variables, their values, their
    setters."""
    parts = []
    if decision.values:
        own = decision.setter == decision.gateway.id
        setter = "the state before it" if own else decision.setter_label
        kind = "one or more" if decision.several else "one"
        allowed = ", ".join(decision.values)
        parts.append(f"{setter} has to set {decision.variable} to {kind} of: {allowed}")
    if decision.coded:
        names = ", ".join(".".join(path) for path in decision.coded)
        parts.append(f"its conditions read {names}")
    said = f"no branch of {decision.description} matches: {'; '.join(parts) or 'it has none'}"
    return said.replace("`", "")


def complete_decision(d: Decision, defaults: Defaults, ctx: PassContext) -> None:
    """Name the variables that a gateway reads and their sources; OF406 for those that no choice
    tests."""
    own = d.setter == d.gateway.id
    setter = "the state before it" if own else f"`{d.setter_label}`"
    reads, helps = [], []
    if d.values:
        kind = "true or false for each of" if d.several else "one of"
        allowed = ", ".join(f"`{v}`" for v in d.values)
        reads.append(f"`{d.variable}` from the result of {setter}")
        helps.append(
            f"include `{d.variable}` in the result of {setter}: {kind} {allowed}{_or_default(d)}"
        )
    if d.coded:
        names = join_listed(f"`{'.'.join(path)}`" for path in d.coded)
        reads.append(f"{names} as last set by an earlier state")
        helps.append(f"make the result of an earlier state contain {names}")
    if not reads:  # its conditions are constants
        return
    words, help = f"the state machine reads {', and '.join(reads)}", "; ".join(helps)
    known = d.labelled or d.coded
    asked = source_ids(d.gateway)[0]
    defaults.add((OpenDecision,) if known else (UnlabelledBranch,), asked, words, help)
    for flow, reason in d.unread:
        words = f"the value of `{d.variable}` in the result of {setter} selects the branch"
        text = one_line(flow.condition.text) if flow.condition is not None else ""
        if _is_read(flow.condition, ctx):
            ctx.emit(
                UnsupportedCondition,
                f"the condition `{text}` of {d.description} is not supported ({reason}); {words}",
                element=flow,
                help="compute the value in a task and compare it",
            )
        defaults.add((UnreadCondition,), flow.id, words)


def _is_read(condition: Expression | None, ctx: PassContext) -> bool:
    """Whether a condition can be read at all, so that the language of states is what lacks it."""
    if condition is None:
        return False
    try:
        return ctx.shared(DecisionMemory).tree(condition) is not None
    except ValueError:
        return False


def complete_task(node: Task, defaults: Defaults, ctx: PassContext) -> None:
    """The replacement of a task; OF404 if the model has an implementation that no state runs."""
    if has_implementation(node):
        ctx.emit(
            UnsupportedBinding,
            f"orgflow does not support {summarise_binding(node)} of `{node.label}` on asl "
            "yet; emitted a "
            "Pass state that keeps it in its `Comment`",
            element=node,
            help="replace it with a Task state that does the work (such as a Lambda function), "
            "and keep its name and `ResultPath`",
        )
        return
    defaults.add(
        (OpenTask,),
        node.id,
        "emitted a Pass state",
        "replace it with the Task state that does the work, and keep its name and `ResultPath`",
    )


def complete_starts(graph: ProcessGraph, values: dict[str, str], defaults: Defaults) -> None:
    """How the input selects one of several start events."""
    if not values:
        return
    allowed = ", ".join(f"`{v}`" for v in values.values())
    defaults.add(
        (OpenStart,),
        graph.process.id,
        f"the input field `start` selects it with {allowed}",
        "pass this field in the input of every execution",
    )
