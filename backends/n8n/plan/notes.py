"""Notes on nodes (shown in n8n's editor), and placeholders for gaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from orgflow.backends.n8n.plan.emission_rules import CredentialNeeded, SettingNeeded
from orgflow.backends.n8n.plan.names import plain

from orgflow_ir.gaps import Defaults, has_implementation
from orgflow_ir.gaps.gap_rules import (
    OpenDecision,
    OpenMessage,
    OpenStart,
    OpenTask,
    OpenTime,
    UnlabelledBranch,
    UnreadCondition,
)
from orgflow_ir.lowering.listeners import is_listener_step
from orgflow_ir.model import CallActivity, Event, Gateway, Node, Opaque, Scope, SubProcess, Task
from orgflow_ir.model.binding_text import summarise_binding
from orgflow_ir.model.bindings import Decision as DecisionTask
from orgflow_ir.model.bindings import Form, SubProcessCall, Worker
from orgflow_ir.model.element_names import join_listed, one_line
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.target_rules import UnsupportedBinding
from orgflow_ir.work.gateway_decisions import Decision

if TYPE_CHECKING:
    from orgflow.backends.n8n.plan.needs import Needs

    from orgflow_ir.decisions.found import FoundDecision
    from orgflow_ir.decisions.model import Table
    from orgflow_ir.work.people import About
    from orgflow_ir.work.tasks import Unread, Work

_REPLACE = "in n8n, replace the placeholder with the node that does the work, and keep its name"
_ONCE = (
    "Keep Always Output Data and Execute Once turned on in its settings (they are off in a new "
    "node). Without them, the run ends if the node outputs no item, and executes the rest once "
    "for each of several items."
)
_TIMES = "use an ISO 8601 duration or date"
_CYCLES = "use a cycle such as R/P1D, or use a Schedule Trigger in n8n"


def _list_documentation(text: str) -> list[str]:
    return [text.strip()] if text.strip() else []


def _describe_set_values(decisions: list[Decision]) -> list[str]:
    lines = []
    for d in decisions:
        if d.values:
            lines.append(f"Sets {d.variable}: {' | '.join(d.values)}{_or_default(d)}.")
    return lines


def _or_default(decision: Decision) -> str:
    default = decision.default
    if default is None:
        return ""
    words = plain(default.flow.name) or "the default branch"
    return f" (anything else: {words})"


def note_computed_task(node: Task, work: Work) -> list[str]:
    """Note of a task that the workflow performs itself, with the rules of a decision table."""
    lines = [f"Computes {summarise_binding(node)}, as defined in the model."]
    if isinstance(node.binding, DecisionTask):
        from orgflow_ir.work.statements import Decide

        decisions = [step.decision for step in work.steps or () if isinstance(step, Decide)]
        lines += [
            _format_rules(decision, decision.table)
            for decision in decisions
            if decision.table is not None
        ]
    return [*lines, *_list_documentation(node.doc)]


_MOST_RULES = 20


def _format_rules(decision: FoundDecision, table: Table) -> str:
    """The rules of a decision table, a line each."""
    policy = " ".join(filter(None, (table.hit_policy, table.aggregation)))
    lines = [f"Rules of {plain(decision.name)} ({plain(decision.file)}, {policy}):"]
    for rule in table.rules[:_MOST_RULES]:
        tests = [
            f"{one_line(column)}: {one_line(test)}"
            for column, test in zip(decision.columns, rule.tests, strict=False)
            if test.strip() not in ("", "-")
        ]
        lines.append(f"- {', '.join(tests) or 'any input'} → {one_line(', '.join(rule.entries))}")
    if len(table.rules) > _MOST_RULES:
        lines.append(f"- … and {len(table.rules) - _MOST_RULES} more")
    return "\n".join(lines)


def note_mapping(*, before: bool) -> list[str]:
    """Note of a node with the mappings of a task."""
    if before:
        return ["Computes the input of the next step, as defined in the model."]
    return ["Sets process variables from the output of the previous step, as defined in the model."]


def note_computed_facts(*, mapped: bool) -> list[str]:
    """Note of the node that computes the performer, the due date or the input of a task."""
    if mapped:
        return ["Computes the values that the page of the task shows, as defined in the model."]
    return ["Computes the assignees and the due date of the task, as defined in the model."]


def note_computed_moment() -> list[str]:
    """Note of the node that computes the end of an event's wait."""
    return [
        "Computes when the wait of the next step ends. Dates without a time zone use that of "
        "the workflow."
    ]


def note_placeholder_task(
    node: Task,
    decisions: list[Decision],
    defaults: Defaults,
    ctx: PassContext,
    work: Work | None = None,
) -> list[str]:
    """Note of a placeholder task; OF404 if the model has an implementation that is not executed."""
    if not _left_out(node, "placeholder", ctx, work):
        defaults.add((OpenTask, OpenMessage), node.id, "emitted a placeholder", _REPLACE)
    kind = "" if node.task_type == "abstract" else f"{node.task_type.replace('-', ' ')} "
    placeholder = (
        f"Placeholder for a {kind}task: replace it with the node that does the work, and keep the "
        "name."
    )
    return [placeholder, *_describe_set_values(decisions), *_list_documentation(node.doc), _ONCE]


def _left_out(node: Task, emitted: str, ctx: PassContext, work: Work | None) -> bool:
    """Whether the model has an implementation that is not run: OF404."""
    summarised = node
    if node.binding is not None:
        binding = node.binding.replace(listeners=())  # reported one by one
        if work is not None and (work.before or work.after):
            binding = binding.replace(inputs=(), outputs=())
        summarised = node.replace(binding=binding)
    unread = work is not None and bool(work.unread)
    if not (has_implementation(summarised) or unread) or not summarise_binding(
        node if unread else summarised
    ):
        return False
    ctx.emit(
        UnsupportedBinding,
        f"orgflow does not support {summarise_binding(summarised) or summarise_binding(node)} of "
        f"`{node.label}` on n8n yet; "
        f"emitted a {emitted} that keeps it in its note"
        f"{_join_reasons(work.unread if work else ())}",
        element=node,
        help=_REPLACE,
    )
    return True


def note_receive_task(
    node: Task,
    suffix: str,
    decisions: list[Decision],
    defaults: Defaults,
    ctx: PassContext,
    work: Work | None = None,
) -> list[str]:
    """Note of a receive task that waits for a call; OF404 if the model has an implementation that
    is not executed."""
    if not _left_out(node, "Wait for a call", ctx, work):
        _called_back(node, defaults)
    return [_address_of(suffix), *_describe_set_values(decisions), *_list_documentation(node.doc)]


def note_awaited_message(
    node: Task | Event, name: str, decisions: list[Decision], defaults: Defaults
) -> list[str]:
    """Note of an element that awaits a message which is matched by its name and a correlation
    key."""
    defaults.add(
        (OpenMessage,),
        node.id,
        f"it waits for the message `{name}`, sent to the address of messages",
        "send it with the business key of the instance as its correlation key",
    )
    return [
        f"Waits for the message “{plain(name)}”: POST /webhook/orgflow-message with this `name`, "
        "the `businessKey` of the instance as `key`, and its fields in `data`.",
        *_describe_set_values(decisions),
        *_list_documentation(node.doc),
    ]


def note_matched_message(node: Task | Event, name: str, defaults: Defaults) -> list[str]:
    """Note of a node that sends a message to another process of the model."""
    defaults.fill((OpenTask, OpenMessage), node.id)
    return [
        f"Sends the message “{plain(name)}” with all variables to the instance of the other "
        "process that has the same business key.",
        *_list_documentation(node.doc),
    ]


def note_continuation() -> list[str]:
    """Note of the trigger by which the support set continues a process."""
    return [
        "The workflows “orgflow: …” call it when a timer fires, a message arrives, a branch "
        "begins, or a crash interrupted the steps after an event."
    ]


def note_taken() -> list[str]:
    """Note of the node behind all claims."""
    return [
        "Only the execution that claimed the open work goes on: an answer that comes too late, or "
        "is sent twice, ends here."
    ]


def note_segment_choice() -> list[str]:
    """Note of the node at which all segments begin."""
    return [
        "Continues behind the event that happened. Each part of the process runs in a separate "
        "execution and ends by writing the work that is open next into the Data Table, so "
        "nothing here waits."
    ]


def _called_back(node: Task | Event, defaults: Defaults) -> None:
    defaults.add(
        (OpenMessage,),
        node.id,
        "the Wait node waits until its address is called",
        "pass the address in the node's note to the sender in an earlier node",
    )


def _address_of(suffix: str) -> str:
    """How a sender finds the run that waits."""
    return (
        "Waits until JSON is posted to its address; its fields become process variables. "
        "In an earlier node, pass the sender "
        f"$execution.resumeUrl.replace(/\\?|$/, '/{suffix}$&')."
    )


def named_work(
    node: Task, decisions: list[Decision], called: str, ctx: PassContext, work: Work | None = None
) -> list[str]:
    """Note of a call of a workflow for named work; OF404, since it is not implemented yet."""
    why = _join_reasons(work.unread if work else ()) or _name_chosen_variables(decisions)
    if isinstance(node.binding, Worker | SubProcessCall | DecisionTask) or not summarise_binding(
        node
    ):
        of = "the listener of " if node.derived_from and is_listener_step(node, ctx) else ""
        message = (
            f"{of}`{node.label}` has no implementation in the model: emitted a call to a workflow "
            f"for the {called}, which has to implement it{why}"
        )
    else:
        message = (
            f"orgflow does not support {summarise_binding(node)} of `{node.label}` on n8n "
            "yet; emitted a "
            f"call to a workflow, which has to implement it{why}"
        )
    ctx.emit(
        UnsupportedBinding,
        message,
        element=node,
        help="in n8n, implement that workflow as its note describes; all callers share it",
    )
    sentence = f"Calls the workflow that does the work of the {plain(called)}."
    return [sentence, *_describe_set_values(decisions), *_list_documentation(node.doc)]


def _report_credential(node: Node, words: str, ctx: PassContext) -> str:
    """Report the credential that a node needs (OF424); the line of its note."""
    ctx.emit(
        CredentialNeeded,
        f"`{node.label}` needs {words}",
        element=node,
        help="create the credential in n8n and select it in the node",
    )
    return f"Connect {words} before you publish the workflow."


def _report_settings(node: Node, settings: Sequence[tuple[str, str]], ctx: PassContext) -> None:
    """Report values that a node needs and that the model does not define (OF426)."""
    for what, how in settings:
        ctx.emit(
            SettingNeeded,
            f"the model does not define {what} for `{node.label}`",
            element=node,
            help=how,
        )


def note_outside_task(node: Task, needs: Needs, ctx: PassContext) -> list[str]:
    """Note of a node that sends a request or mail, or performs the operation that fills the task;
    OF424 for a credential to connect, OF426 for a value to set, OF404 for unsupported parts."""
    lines = [
        "Does the work defined in the model."
        if not needs.filled
        else "Filled in automatically: check it."
    ]
    if needs.credential:
        lines.append(_report_credential(node, needs.credential, ctx))
    _report_settings(node, needs.settings, ctx)
    if needs.lost:
        ctx.emit(
            UnsupportedBinding,
            f"n8n does not do {needs.lost} of `{node.label}` as defined in the model",
            element=node,
            help="if that is not sufficient, let another workflow retry later",
        )
    return [*lines, *needs.notes, *_list_documentation(node.doc)]


def note_sent_message(
    node: Task | Event, kind: str, name: str, needs: Needs, defaults: Defaults
) -> list[str]:
    """Note of a node that sends a message or a signal (`kind`)."""
    defaults.add(
        (OpenTask, OpenMessage),
        node.id,
        f"emitted a request with the {kind} `{name}`",
        "configure the receiver at its address to pass the message on",
    )
    return [
        f"Sends the {kind} “{name}” with all process variables.",
        *needs.notes,
        *_list_documentation(node.doc),
    ]


def _join_reasons(unread: Sequence[Unread]) -> str:
    """Why what the model says is not computed."""
    reasons = dict.fromkeys(statement.reason for statement in unread)
    return f" ({'; '.join(reasons)})" if reasons else ""


def _name_chosen_variables(decisions: Sequence[Decision]) -> str:
    """The variable that a step has to set beside what the model says, since a condition after it is
    not computed."""
    names = [f"`{d.variable}`" for d in decisions if d.values]
    if not names:
        return ""
    return f" (it also has to set {join_listed(names)}, which selects a branch)"


def note_form(
    node: Task,
    variables: tuple[str, ...],
    about: About | None,
    defaults: Defaults,
    ctx: PassContext,
) -> list[str]:
    """Note of the form of a task, whose page includes `about`; OF404 if the model contains more
    than a form supports."""
    binding = node.binding
    if isinstance(binding, Form):
        shown = (*about.fixed, *about.computed) if about is not None else ()
        shown = tuple(name for name in shown if hasattr(binding, name))
        kept = binding.replace(fields=(), **dict.fromkeys(shown))
        if about is None or about.mapped:
            kept = kept.replace(listeners=())  # reported one by one
        if about is not None and about.mapped:
            kept = kept.replace(inputs=(), outputs=())
        if binding.fields:
            own = ("formRefBinding", "latest"), ("formRefBinding", "deployment")
            settings = tuple(parameter for parameter in kept.parameters if parameter not in own)
            kept = kept.replace(form=None, parameters=settings)  # the page has its fields
        rest = summarise_binding(node.replace(binding=kept))
        if rest:
            ctx.emit(
                UnsupportedBinding,
                f"orgflow does not support {rest} of `{node.label}` on n8n yet; emitted a form, "
                "with it in the note"
                f"{_join_reasons(about.work.unread if about is not None else ())}",
                element=node,
                help="in n8n, add the content of the original page to the form",
            )
    defaults.add(
        (OpenTask,),
        node.id,
        "emitted a form that a person fills in",
        "to ask for more, add form fields to the task in the model",
    )
    lines = ["A person fills in this form; the run continues after it is submitted."]
    if variables:
        lines.append(f"Asks for {join_listed(variables)}.")
    return [*lines, *_list_documentation(node.doc)]


def note_asked_person(node: Task, needs: Needs, ctx: PassContext) -> list[str]:
    """Note of a node that asks a person by a message: OF424 for its credential, OF426 for missing
    settings."""
    connect = _report_credential(node, needs.credential, ctx)
    _report_settings(node, needs.settings, ctx)
    return [
        connect,
        *(f"Open: {what}; {how}." for what, how in needs.settings),
    ]


def note_deciding_gateway(d: Decision, defaults: Defaults, *, asked: bool = False) -> list[str]:
    """Note of a deciding gateway; names the variables that it reads, and their sources. `asked`:
    whether a form asks for its decision variable."""
    own = d.setter == d.gateway.id
    setter = "the decision node before it" if own else f"`{d.setter_label}`"
    if not d.values and not d.coded:  # its conditions are constants
        return _list_documentation(d.gateway.doc)
    reads, helps = [], []
    if d.values:
        kind = "a list of" if d.several else "one of"
        values = ", ".join(f"`{v}`" for v in d.values)
        if asked:
            reads.append(f"`{d.variable}` from the form of {setter}")
            helps.append(f"answer it with {kind} {values}{_or_default(d)}")
        else:
            reads.append(f"`{d.variable}` from the output of {setter}")
            helps.append(
                f"make {setter} output the field `{d.variable}` with {kind} {values}"
                f"{_or_default(d)}"
            )
    if d.coded:
        names = join_listed(f"`{'.'.join(path)}`" for path in d.coded)
        reads.append(f"{names} as last set by an earlier step")
        helps.append(f"make an earlier step pass on {names}")
    words = f"the workflow reads {', and '.join(reads)}"
    help = "; ".join(helps)
    known = d.labelled or d.coded
    gap = source_ids(d.gateway)[0]
    defaults.add((OpenDecision,) if known else (UnlabelledBranch,), gap, words, help)
    for flow, _ in d.unread:
        words = f"the value of `{d.variable}` in the output of {setter} selects the branch"
        defaults.add((UnreadCondition,), flow.id, words)
    return _list_documentation(d.gateway.doc)


def _choose_pronoun(d: Decision) -> str:
    return "it" if len(d.coded) == 1 else "them"


def note_setter(d: Decision) -> list[str]:
    """Note of a decision node."""
    return [
        *_describe_set_values([d]),
        f"Replace it with the node that decides, and keep the name. {_ONCE}",
    ]


def note_call(node: SubProcess | CallActivity, title: str) -> list[str]:
    """Note of the call of a workflow that results from the same model."""
    return [
        f"Runs the workflow “{title}”, and continues when it has ended.",
        *_list_documentation(node.doc),
    ]


def note_delivery(node: Task | Event, title: str) -> list[str]:
    """Note of the call of a workflow by a message of the same model."""
    return [
        f"Sends its message: begins the workflow “{title}”, and does not wait for its end.",
        *_list_documentation(node.doc),
    ]


def note_join(node: Gateway) -> list[str]:
    """Note of a join."""
    return _list_documentation(node.doc)


def note_stub(node: Opaque, reason: str) -> list[str]:
    """Note of the placeholder of an unsupported element."""
    lead = "connect the predecessors of the stop to the new nodes, and remove the stop"
    return [
        f"{plain(reason)}. Put the node that does the work here, {lead}.",
        *_list_documentation(node.doc),
    ]


def note_event(
    node: Event, open_time: bool, text: str, suffix: str, defaults: Defaults
) -> list[str]:
    """Note of an event, with the behaviour of the workflow until its gap is filled."""
    lines: list[str] = []
    if open_time:
        words = "the Wait node waits 0 seconds until the time is set"
        defaults.add((OpenTime,), node.id, words, f"{_TIMES}, or set it in n8n's Wait node")
        lines.append("The duration of the wait is undefined: 0 seconds until you set it.")
    elif node.position == "catch" and node.trigger in ("message", "signal"):
        _called_back(node, defaults)
        lines.append(_address_of(suffix))
    elif node.trigger in ("message", "signal"):
        defaults.add((OpenMessage,), node.id, "emitted a placeholder", _REPLACE)
        lines.append(
            f"Placeholder: replace it with the node that sends the {node.trigger}, and keep the "
            f"name. {_ONCE}"
        )
    elif node.trigger == "conditional":
        defaults.add(
            (OpenMessage,),
            node.id,
            "emitted a placeholder that continues immediately",
            "in n8n, replace the placeholder with a Wait or a polling loop, and keep its name",
        )
        description = f": {plain(text)}" if text.strip() else ""
        lines.append(
            f"Placeholder for waiting until a condition holds{description}. Passes on immediately."
        )
    return [*lines, *_list_documentation(node.doc)]


def unread_mapping(node: Event, unread: Sequence[Unread], ctx: PassContext) -> list[str]:
    """Note of an event whose mappings are not executed: OF404."""
    ctx.emit(
        UnsupportedBinding,
        f"orgflow does not support {summarise_binding(node)} of `{node.label}` on n8n "
        f"yet{_join_reasons(unread)}",
        element=node,
        help="in n8n, add a node after it that sets the variables",
    )
    return [f"{statement.what}: {statement.text}." for statement in unread]


def report_unmapped(node: Event, ctx: PassContext) -> None:
    """Report mappings of an event that did not become a step: OF404."""
    from orgflow_ir.lowering.mappings import why_unmapped

    reason = why_unmapped(node)
    if reason:
        ctx.emit(
            UnsupportedBinding,
            f"orgflow does not support the output mappings of {ctx.name(node)} on n8n: {reason}",
            element=node,
            help="in n8n, add a node that sets the variables",
        )


def note_condition(node: Event, defaults: Defaults) -> list[str]:
    """Note of an event that waits for a condition which cannot change during the wait."""
    defaults.add(
        (OpenMessage,),
        node.id,
        "the run stops there if the condition does not hold",
        "make the condition hold in the steps before it",
    )
    (definition,) = node.definitions
    text = plain(definition.expression.text) if definition.expression is not None else ""
    return [
        f"Continues if this holds: {text}. Otherwise it stops the run: nothing else is active "
        "that could change the condition.",
        *_list_documentation(node.doc),
    ]


def note_trigger(
    node: Event,
    called: bool,
    unread: bool,
    decisions: list[Decision],
    process: Scope,
    defaults: Defaults,
) -> list[str]:
    """Note of a trigger, with the start of the workflow until its gap is filled."""
    lines: list[str] = []
    if node.trigger == "timer" and unread:
        defaults.add((OpenTime,), node.id, "the workflow is started manually", _CYCLES)
        lines.append("The start time is undefined: replace this node with a Schedule Trigger.")
    if called:
        words = "emitted a webhook"
        help = "pass the webhook's URL to the sender, or use the trigger of the channel in n8n"
        defaults.add((OpenMessage,), node.id, words, help)
        defaults.add((OpenStart,), process.id, f"emitted a webhook for `{node.label}`", help)
        lines.append("Starts when its URL is called; the fields are under body.")
    return [*lines, *_describe_set_values(decisions), *_list_documentation(node.doc)]
