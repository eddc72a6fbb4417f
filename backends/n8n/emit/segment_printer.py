"""The nodes between the segments of a process that waits in several places: calls of the support
set, pages of tasks, and the switch at which all segments begin.

The claim of the present segment is always the last output of the node that passes on claims: an
execution has one token at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from orgflow.backends.javascript.literals import js_string, property_name, property_of
from orgflow.backends.n8n.emit.decision_code import write_test
from orgflow.backends.n8n.emit.form_code import (
    answered_code,
    describe_task,
    field_rows,
    field_test,
    form_title,
)
from orgflow.backends.n8n.emit.printed import Printed
from orgflow.backends.n8n.format.form_fields import hidden_field
from orgflow.backends.n8n.format.support_ids import part_id
from orgflow.backends.n8n.node_types import execute_workflow, form_trigger, respond_to_webhook, set_
from orgflow.backends.n8n.node_types import execute_workflow_trigger as called_trigger
from orgflow.backends.n8n.node_types.conditions import is_true, make_expression
from orgflow.backends.n8n.node_types.if_ import test_parameters
from orgflow.backends.n8n.node_types.switch import by_rules
from orgflow.backends.n8n.node_types.wait import due_code
from orgflow.backends.n8n.plan.actions import (
    AnyRow,
    BeginInstance,
    Call,
    CalledStart,
    CheckAnswers,
    ChooseSegment,
    ChosenRows,
    ClaimTask,
    CompleteSegment,
    OpenedRow,
    OpenPage,
    RefuseAnswers,
    SendToProcess,
    WebhookStart,
)
from orgflow.backends.n8n.plan.graph import HelperKey, NodeKey
from orgflow.backends.n8n.plan.names import plain
from orgflow.backends.n8n.plan.references import quote_node
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.segment_cuts import END
from orgflow.backends.n8n.waiting import calls

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model.bindings import Form

if TYPE_CHECKING:
    from orgflow_ir.work import people
    from orgflow_ir.work import waiting as computed_waits
else:  # for tasks that are described, and computed times
    people = LazyModule("orgflow_ir.work.people")
    computed_waits = LazyModule("orgflow_ir.work.waiting")

KEY: Final = "key"
"""The hidden field of a page with the key of the task's row."""

_ANSWERS: Final = (
    "JSON.stringify({formSubmittedText:$json.won?'Thank you. Your answer was accepted.':"
    "['done','running','ending'].includes($json.state)?'This task has already been answered.':"
    "'This task is no longer open.'})"
)


def taken_code(plan: ScopePlan) -> str:
    """JavaScript for the claim of the present segment: its token, the data that came with it, and
    the variables of the instance."""
    name = plan.workflow_graph.nodes[HelperKey(plan.scope.body.id, "taken")].name
    return f"$({quote_node(name)}).first().json"


# -- starts, claims, and the switch ----------------------------------------------------------------


def print_begin(action: BeginInstance, node_key: NodeKey, plan: ScopePlan) -> Printed:
    """The start of an instance. A caller repeats a call with the same header `Idempotency-Key`."""
    start = plan.workflow_graph.nodes[action.start]
    instance = "''"
    if start.role != "trigger":  # another process of the model begins it
        parameters = calls.start_call(
            part_id("start"), start.element, "$json.variables", "$json.instance"
        )
        return _print_call(parameters)
    if HelperKey(action.start, "data") in plan.workflow_graph.nodes:
        variables = "$json"
    elif isinstance(start.action, WebhookStart):
        variables = "$json.body??{}"
    else:
        variables = "$json" if isinstance(start.action, CalledStart) else "({})"
    if isinstance(start.action, WebhookStart):
        instance = f"$({quote_node(start.name)}).first().json.headers?.['idempotency-key']??''"
    parameters = calls.start_call(part_id("start"), start.element, variables, instance)
    return _print_call(parameters)


def print_begins_here(node_key: NodeKey) -> Printed:
    """The test for calls that begin an instance."""
    return Printed("if", test_parameters(is_true("!!$json.begin", str(node_key))))


def print_begin_call(action: Call, node_key: NodeKey, plan: ScopePlan) -> Printed:
    """A call that begins a process of segments, once for each segment that is repeated."""
    if plan.segments is None:
        variables, instance = "$json", "''"
    else:
        variables = _sent_code(plan)
        instance = f"{taken_code(plan)}.token.key+{js_string(' ' + str(node_key))}"
    values = {
        "begin": js_string(action.begins),
        "key": "''",
        "variables": variables,
        "instance": instance,
    }
    return _print_call(
        execute_workflow.call_with_parameters(
            action.workflow,
            {name: make_expression(code) for name, code in values.items()},
            waits=False,
        )
    )


def print_message(action: SendToProcess, node_key: NodeKey, plan: ScopePlan) -> Printed:
    """A message to another process, sent once for each segment that is repeated."""
    taken = taken_code(plan)
    key = f"{taken}.variables.businessKey??{taken}.token.instance"
    body = (
        f"({{name:{js_string(action.name)},key:{key},data:{_sent_code(plan)},"
        f"id:{taken}.token.key+{js_string(' ' + action.flow)} }})"
    )
    parameters = execute_workflow.call_with_parameters(
        part_id("message"), {"body": make_expression(body)}, waits=False
    )
    return _print_call(parameters)


def _sent_code(plan: ScopePlan) -> str:
    """JavaScript for the variables that a message hands over, with the business key by which both
    instances are matched."""
    taken = taken_code(plan)
    key = f"{taken}.variables.businessKey??{taken}.token.instance"
    return f"({{...{taken}.variables,...{_changes_code(plan)},businessKey:{key} }})"


def print_continue() -> Printed:
    """The trigger by which the support set continues a process."""
    return Printed(called_trigger.NODE.name, called_trigger.taking_all())


def print_take() -> Printed:
    """The claim of the row with which the support set calls."""
    return _print_call(calls.take_call(part_id("claim")))


def print_taken(node_key: NodeKey) -> Printed:
    """The filter behind all claims."""
    return Printed("filter", test_parameters(is_true("$json.won===true", str(node_key))))


def print_variables(plan: ScopePlan) -> Printed:
    """The variables of the instance as the item."""
    return Printed("set", set_.write_parameters(make_expression("$json.variables"), keep=False))


def print_choice(action: ChooseSegment, node_key: NodeKey, plan: ScopePlan) -> Printed:
    """The switch at which all segments begin."""
    rules = [
        (is_true(_event_test(of, plan), f"{node_key}/{of}"), label) for of, label in action.events
    ]
    return Printed("switch", by_rules(rules, fallback="something else", every=False))


def _event_test(event: str, plan: ScopePlan) -> str:
    """JavaScript for whether a row was claimed by an event."""
    token = f"{taken_code(plan)}.token"
    if event == "end":  # an element with this id
        return f"{token}.event==='end'&&{token}.kind!=='scope'"
    if not event.startswith(END):
        return f"{token}.event==={js_string(event)}"
    scope = js_string(event.removeprefix(END))
    return f"{token}.event==='end'&&{token}.kind==='scope'&&{token}.element==={scope}"


# -- pages of tasks --------------------------------------------------------------------------------


def print_page(action: OpenPage) -> Printed:
    """The page of a task. Only this version of its type answers by another node, so that the page
    states whether the answer was accepted (WAITING.md, section 2)."""
    rows = [*field_rows(action.form), hidden_field(KEY, "")]
    parameters = form_trigger.answered_at(
        action.address,
        form_title(action.task),
        describe_task(action.task, action.form, action.page),
        rows,
    )
    if action.protected:
        parameters["authentication"] = "basicAuth"
    return Printed("formTrigger", parameters, version=form_trigger.ANSWERED_VERSION)


def print_check(action: CheckAnswers, node_key: NodeKey) -> Printed:
    """The test of the answers of a page."""
    tests = [test for field in action.form.fields if (test := field_test(field)) is not None]
    code = f"((form)=>{' && '.join(tests)})($json)"
    return Printed("if", test_parameters(is_true(code, str(node_key))))


def print_refusal(action: RefuseAnswers) -> Printed:
    """The text of the page behind an answer that is not valid."""
    names = [field.label for field in action.form.fields if field.is_tested]
    text = f"This answer is not valid. Go back and check: {', '.join(names)}."
    body = make_expression(f"JSON.stringify({{formSubmittedText:{js_string(text)}}} )")
    return Printed("respondToWebhook", respond_to_webhook.answer_parameters(200, body))


def print_claim(action: ClaimTask) -> Printed:
    """The claim of a task with the answers of its page."""
    answers = answered_code(action.form, "{}", inside=False)
    return _print_call(calls.claim_call(part_id("claim"), f"((form)=>({answers} ))($json)"))


def print_answer_page() -> Printed:
    """The text that the page shows behind the answer."""
    parameters = respond_to_webhook.answer_parameters(200, make_expression(_ANSWERS))
    return Printed("respondToWebhook", parameters)


# -- ends of segments ------------------------------------------------------------------------------


def print_complete(action: CompleteSegment, plan: ScopePlan) -> Printed:
    """The end of a segment, with the rows that are open next."""
    parameters = calls.complete_call(
        part_id("complete"),
        _rows_code(action.rows, plan),
        token=f"{taken_code(plan)}.token",
        variables=_changes_code(plan),
        end=action.ends,
        leave=action.leaves,
        levels=action.levels,
    )
    switches = {"alwaysOutputData": True} if action.stops else {}
    return _print_call(parameters)._replace(switches=switches)


def _changes_code(plan: ScopePlan) -> str:
    """JavaScript for the variables that a segment changed: the data that came with its claim, and
    those that differ from what they were."""
    assert plan.carried is not None
    names = json.dumps(plan.carried.names, separators=(",", ":"))
    return (
        "((now,taken)=>({...taken.data,...Object.fromEntries("
        f"{names}.filter(n=>now[n]!==undefined"
        "&&JSON.stringify(now[n])!==JSON.stringify(taken.variables[n])).map(n=>[n,now[n]]))} ))"
        f"($json,{taken_code(plan)})"
    )


def _rows_code(rows: Iterable[AnyRow], plan: ScopePlan) -> str:
    """JavaScript for the list of rows."""
    return "[" + ",".join(_row_code(row, plan) for row in rows) + "]"


def _row_code(row: AnyRow, plan: ScopePlan) -> str:
    if isinstance(row, ChosenRows):
        test = _chosen_code(row, plan)
        return f"...({test}?{_rows_code(row.rows, plan)}:{_rows_code(row.otherwise, plan)})"
    fields = {"kind": js_string(row.kind), "element": js_string(row.element)}
    fields |= {
        name: js_string(text)
        for name in ("ref", "host", "attached_to", "inside", "branch")
        if (text := getattr(row, name))
    }
    if row.hosts_events:
        fields["hosts_events"] = "'yes'"
    if row.needed:
        fields["needed"] = str(row.needed)
    if row.kind == "task":
        fields |= _task_fields(row, plan)
    if row.kind == "timer":
        fields["due"] = due_code(row.due, computed_waits.UNTIL if row.computed else "")
    if row.kind == "receiver":
        fields["message_key"] = _message_code(row.message, plan)
    if row.repeats:
        return _repeated_code(row, fields, plan)
    return _object_code(fields)


def _object_code(fields: Mapping[str, str]) -> str:
    return "{" + ",".join(f"{property_name(name)}:{text}" for name, text in fields.items()) + " }"


def _chosen_code(row: ChosenRows, plan: ScopePlan) -> str:
    """JavaScript for whether a branch of an inclusive gateway is taken."""
    if row.branch.kind != "default":
        return f"({write_test(row.decision, row.branch, plan)})"
    others = [b for b in row.decision.branches if b.kind != "default"]
    tests = " || ".join(f"({write_test(row.decision, b, plan)})" for b in others)
    return f"!({tests})"


def _repeated_code(row: OpenedRow, fields: Mapping[str, str], plan: ScopePlan) -> str:
    """JavaScript for an event that may happen again, with a count of how often it has."""
    count = f"({property_of(f'{taken_code(plan)}.token.local', row.element)}??0)"
    again = _object_code(
        {
            **fields,
            "attached_to": f"{taken_code(plan)}.token.attached_to",
            "local": f"{{{property_name(row.element)}:{count}+1}}",
        }
    )
    return again if row.again is None else f"...({count}+1<{row.again}?[{again}]:[])"


def _task_fields(row: OpenedRow, plan: ScopePlan) -> dict[str, str]:
    """What the row of a task says of it: its title, its page, who does it, and when it is due."""
    task = row.task
    assert task is not None
    fields = {
        "title": js_string(plain(task.name) or plain(task.id)),
        "link": js_string(f"/form/{row.address}"),
    }
    page = plan.workflow_graph.nodes[task.id].action
    about = page.about if isinstance(page, OpenPage) else None
    if about is not None:
        names = ("assignee", "candidate_users", "candidate_groups")
        name = next((n for n in names if n in about.fixed or n in about.computed), "")
        if name in about.fixed:
            fields["assignee"] = js_string(plain(about.fixed[name]))
        elif name:
            fields["assignee"] = f"String($json.{people.ABOUT}?.{name}??'')"
        if "due" in about.computed:
            fields["due"] = f"String($json.{people.DUE}??'')"
    if "assignee" not in fields:
        lanes = [lane for lane in plan.scope.lanes if task.id in lane.members]
        if lanes and not isinstance(task.binding, Form):
            fields["assignee"] = js_string(plain(lanes[-1].caption))
    return fields


def _message_code(name: str, plan: ScopePlan) -> str:
    """JavaScript for the key by which a message is matched: its name, and the business key of the
    instance, or the key of its row."""
    escaped = "replace(/[\\\\|]/g,'\\\\$&')"
    taken = taken_code(plan)
    key = f"{taken}.variables.businessKey??{taken}.token.instance"
    return f"{js_string(name)}.{escaped}+'|'+String({key})"


def _print_call(parameters: dict[str, object]) -> Printed:
    return Printed(execute_workflow.NODE.name, parameters)
