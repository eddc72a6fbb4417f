"""Error boundary events as n8n nodes: the code that recognises an error, and what keeps it."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow.backends.javascript.literals import js_string, property_name
from orgflow.backends.n8n.emit.printed import Printed
from orgflow.backends.n8n.node_types import if_, set_, stop_and_error, switch
from orgflow.backends.n8n.node_types.conditions import is_true, make_expression
from orgflow.backends.n8n.plan.actions import CatchError, KeepError
from orgflow.backends.n8n.plan.errors import NO_CODE
from orgflow.backends.n8n.plan.failures import THROWN
from orgflow.backends.n8n.plan.graph import NodeKey
from orgflow.backends.n8n.plan.names import plain
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.task_work import work_in

from orgflow_ir.flow.control_flow.calls import called_from, find_callee
from orgflow_ir.flow.nets.failures import CaughtError
from orgflow_ir.model import CallActivity, Event, Task
from orgflow_ir.model.bindings import ERROR_CODE, ERROR_MESSAGE
from orgflow_ir.work.statements import handles, thrown_codes

LAST_ERROR = "lastError"
"""The field that stores the failure. It is a sibling of n8n's `error`: every node with an error
output treats an item with only `error` as failed."""

_MESSAGE = 'String($json.error?.message ?? $json.error ?? "").replace(/ \\[line \\d+\\]$/, "")'
"""The message of an error; n8n adds the line of the Code node that threw it."""


_PARTS = {
    ERROR_CODE: f"({_MESSAGE}).split(/[:\\s]/)[0]",
    ERROR_MESSAGE: f"({_MESSAGE}).replace(/^[^:\\s]+:?\\s*/, '') || null",
}
"""Parts of an error, whose message begins with the code."""


def print_keep_error(action: KeepError) -> Printed:
    """The node of a boundary event: it keeps the failure, and variables that the failed item may
    have under `message`."""
    event = action.event
    if action.given:  # what a call was given are no variables of the process
        written = ", ".join(f"{property_name(name)}: {code}" for name, code in _fields_of(event))
        return Printed(
            "set", set_.write_parameters(make_expression(f"({{ {written} }})"), keep=False)
        )
    if not action.variables:
        fields = [(name, make_expression(code), "string") for name, code in _fields_of(event)]
        return Printed("set", set_.assign_parameters(fields, event.id))
    written = ", ".join(f"{property_name(name)}: {code}" for name, code in _fields_of(event))
    item = '(typeof $json.message === "object" ? $json.message : $json)'
    return Printed(
        "set", set_.write_parameters(make_expression(f"({{ ...{item}, {written} }})"), keep=False)
    )


def print_catch_error(action: CatchError, key: NodeKey, plan: ScopePlan) -> Printed:
    """The node that leads an error to the event that catches it."""
    rules = [
        (is_true(_catching_code(error, action, plan), f"{key}/{error.event}"), _rule_name(error))
        for error in action.caught
    ]
    if len(rules) == 1:
        return Printed("if", if_.test_parameters(rules[0][0]))
    return Printed("switch", switch.by_rules(rules, fallback="any other error", every=False))


def print_stop_uncaught() -> Printed:
    """The node that stops a run with the error of a task."""
    return Printed("stopAndError", stop_and_error.stop_parameters(make_expression(_MESSAGE)))


def _rule_name(error: CaughtError) -> str:
    return "an error of the process" if error.code is None else plain(error.code or "")


def _catching_code(error: CaughtError, action: CatchError, plan: ScopePlan) -> str:
    """JavaScript: whether an event catches an error."""
    if error.code is not None:
        code = js_string(_message_start(error.code or "", plan))
        return (
            f"((said) => said === {code} || [' ', ':'].some((end) => "
            f"said.startsWith({code} + end)))({_MESSAGE})"
        )
    codes = ", ".join(js_string(plain(code)) for code in _known_codes(action.host, plan))
    return (
        f"((said) => [{codes}].some((code) => said === code || said.startsWith(code + ' ')"
        f" || said.startsWith(code + ':')){_test_statuses(action.host, plan)})({_MESSAGE})"
    )


def _fields_of(event: Event) -> Iterator[tuple[str, str]]:
    """The fields of the node of a boundary event, and code for them: the failure, and the variables
    for its parts."""
    yield LAST_ERROR, _MESSAGE
    for parameter in event.binding.outputs if event.binding is not None else ():
        if parameter.language == "variable" and parameter.text in _PARTS:
            yield parameter.name, _PARTS[parameter.text]


def _known_codes(host: str, plan: ScopePlan) -> list[str]:
    """Codes of the errors of the process that a task may throw: those of the model, those that its
    work throws, and the word that stands for any."""

    work = plan.work.get(host)
    codes = [entry.code for entry in plan.scope.model.catalog.errors if entry.code]
    call = plan.graph.nodes[host]
    if isinstance(call, CallActivity):
        codes += _codes_called(call, plan)
        # Stop nodes of the called process write these of errors without a code.
        entries = plan.scope.model.catalog.errors
        codes += [_message_start(entry.id, plan) for entry in entries if not entry.code]
        codes.append(NO_CODE)
    codes += thrown_codes(work.statements) if work is not None else ()
    return list(dict.fromkeys((*codes, THROWN)))


def _codes_called(call: CallActivity, plan: ScopePlan) -> Iterator[str]:
    """Codes that tasks throw in the process that a call runs, and in those that it calls."""

    called = find_callee(call, plan.scope.model)
    if called is None:
        return
    for process in dict.fromkeys((called, *called_from(called, plan.scope.model))):
        for node in (node for scope in process.scopes() for node in scope.nodes):
            if isinstance(node, Task):
                yield from thrown_codes(work_in(node, plan.ctx).statements)


def _message_start(code: str, plan: ScopePlan) -> str:
    """How the message of an error begins: with its code; that of one without a code with the name
    of its entry, by whose id the event knows it."""
    entries = plan.scope.model.catalog.errors
    named = next((e for e in entries if e.id == code and not e.code), None)
    return plain(named.name if named is not None and named.name else code)


def _test_statuses(host: str, plan: ScopePlan) -> str:
    """What is asked beside the codes: whether it is a status that a request makes an error."""

    work = plan.work.get(host)
    return r" || /^HTTP\d{3}\b/.test(said)" if work is not None and handles(work.after) else ""
