"""Comments on states (shown in the console), and placeholders for gaps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from orgflow.backends.asl.graph import ProcessGraph

from orgflow_ir.facts.notes import HEADING
from orgflow_ir.gaps import Defaults, has_implementation
from orgflow_ir.gaps.gap_rules import (
    OpenDecision,
    OpenMessage,
    OpenStart,
    OpenTask,
    UnlabelledBranch,
    UnreadCondition,
)
from orgflow_ir.model import Element, Event, Expression, Model, Scope, SubProcess, Task
from orgflow_ir.model.binding_text import summarise_binding
from orgflow_ir.model.element_names import join_listed, one_line
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.target_rules import UnsupportedBinding, UnsupportedCondition
from orgflow_ir.work.gateway_decisions import Decision, DecisionMemory

if TYPE_CHECKING:
    from orgflow.backends.asl.task_work import TaskWork

    from orgflow_ir.work.tasks import Unread

_KEPT = 2000
"""Maximum length of documentation in a comment."""


def comment_head(node: Element) -> str:
    """The beginning of the comment of the state of an element."""
    return f"[{node.construct} {one_line(node.id)}]"


def state_comment(node: Element, *lines: str) -> str:
    """The source of a state: construct and id, mandatory notes, then the words of the model."""
    return " ".join(p for p in (comment_head(node), *lines, keep_documentation(node.doc)) if p)


def keep_documentation(doc: str) -> str:
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


def describe_result(decisions: list[Decision], whose: str = "its result") -> str:
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
    cause = f"no branch of {decision.description} matches: {'; '.join(parts) or 'it has none'}"
    return cause.replace("`", "")


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


def complete_function(
    node: Task | Event, work: TaskWork, defaults: Defaults, ctx: PassContext
) -> None:
    """The function that has to do the work of a task or event; OF404 if the model has an
    implementation."""
    help = "set `FunctionName` to a function that fulfils the contract in the `Comment`"
    if not has_implementation(node):
        words = "emitted a Task state that calls a function, whose name is a placeholder"
        defaults.add((OpenTask, OpenMessage), node.id, words, help)
        return
    ctx.emit(
        UnsupportedBinding,
        f"orgflow does not support {_left_out(node, work)} of `{node.label}` on asl yet"
        f"{_list_reasons(work.unread)}; emitted a Task state that calls a function, with its "
        "contract in its `Comment`",
        element=node,
        help=help,
    )


def complete_answer(node: Task | Event, work: TaskWork, ctx: PassContext) -> None:
    """OF404 for the form of a person, and for mappings of an answer that no state computes."""
    what = _left_out(node, work)
    if not what or not (work.unread or has_implementation(node)):
        return
    ctx.emit(
        UnsupportedBinding,
        f"orgflow does not support {what} of `{node.label}` on asl yet"
        f"{_list_reasons(work.unread)}; emitted a Task state that waits for SendTaskSuccess, with "
        "its contract in its event and its `Comment`",
        element=node,
        help="show the event to whoever does it, and answer it with the fields of the contract",
    )


def _left_out(node: Task | Event, work: TaskWork) -> str:
    """The parts of a binding that no state computes, in words."""
    binding = node.binding
    if binding is None or not work.maps:
        return summarise_binding(node)
    rest = binding.replace(inputs=(), outputs=(), listeners=())
    return summarise_binding(node.replace(binding=rest))


def complete_event(event: Event, ctx: PassContext) -> None:
    """OF404 for what an event states and no state does."""
    from orgflow_ir.lowering.mappings import why_unmapped  # of models with such events

    unmapped = why_unmapped(event)
    if not unmapped and (event.binding is None or not summarise_binding(event)):
        return
    what = summarise_binding(event) or "the output mappings"
    ctx.emit(
        UnsupportedBinding,
        f"orgflow does not support {what} of `{event.label}` on asl yet"
        f"{f' ({one_line(unmapped)})' if unmapped else ''}; it stays in the `Comment` of its state",
        element=event,
        help="set its variables in a task behind it, or in the input of the execution",
    )


def complete_scope(node: SubProcess, scope: Scope, model: Model, ctx: PassContext) -> None:
    """OF404 for mappings of a sub-process that have not become steps."""
    from orgflow_ir.lowering.mappings import list_obstacles  # of models with such mappings
    from orgflow_ir.model.scope_mappings import has_mappings

    if not has_mappings(node):
        return
    repeated = "each of its iterations has its own variables"
    reason = next(list_obstacles(node, scope, model, ctx), "") if node.loop is None else repeated
    ctx.emit(
        UnsupportedBinding,
        f"orgflow does not support the mappings of {ctx.name(node)} on asl yet"
        f"{f' ({one_line(reason)})' if reason else ''}; they stay in the `Comment` of its state",
        element=node,
        help="set its variables in tasks before it and behind it",
    )


def complete_loop(node: Task | SubProcess, scope: Scope, ctx: PassContext) -> None:
    """OF404 for the results of a multi-instance activity that the model collects in a variable."""
    from orgflow_ir.work.repetition import NotRepeatable, read_repetition  # of repeated work

    assert node.loop is not None
    try:
        results = read_repetition(node.loop, scope).results
        reason = f"`{results}` is not set" if results else ""
    except NotRepeatable as error:
        reason = str(error)
    if not reason:
        return
    ctx.emit(
        UnsupportedBinding,
        f"orgflow does not support the collected results of {ctx.name(node)} on asl yet "
        f"({one_line(reason)}); the result of its Map state has all results of its iterations",
        element=node,
        help="set the variable in a task behind it",
    )


def _list_reasons(unread: Iterable[Unread]) -> str:
    reasons = list(dict.fromkeys(one_line(part.reason) for part in unread))
    return f" ({'; '.join(reasons)})" if reasons else ""


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
