"""Checks of the data that a call starts a process with: an incomplete call is answered with 400 and
the missing fields."""

from __future__ import annotations

from orgflow.backends.javascript.literals import js_string, property_of
from orgflow.backends.n8n.emit.printed import Printed
from orgflow.backends.n8n.node_types import if_, respond_to_webhook
from orgflow.backends.n8n.node_types.conditions import is_true, make_expression
from orgflow.backends.n8n.plan.actions import CheckCall, FieldType, PayloadField, RefuseCall
from orgflow.backends.n8n.plan.graph import NodeKey
from orgflow.backends.n8n.plan.names import plain
from orgflow.backends.n8n.plan.payload import FIELD_WORDS

_TESTS: dict[FieldType, str] = {
    "number": 'typeof {} === "number"',
    "boolean": 'typeof {} === "boolean"',
    "object": 'typeof {0} === "object" && !Array.isArray({0})',
    "list": "Array.isArray({})",
    "any": "true",
}


def print_check_call(action: CheckCall, key: NodeKey) -> Printed:
    """The node that checks a call."""
    test = f"({_problems_code(action.fields)}).length === 0"
    return Printed(if_.NODE.name, if_.test_parameters(is_true(test, str(key))))


def print_accept_call() -> Printed:
    """The node that answers a complete call."""
    started = '({ message: "Workflow was started", run: $execution.id })'
    return Printed(
        respond_to_webhook.NODE.name,
        respond_to_webhook.answer_parameters(200, make_expression(started)),
    )


def print_refuse_call(action: RefuseCall) -> Printed:
    """The node that answers an incomplete call."""
    problems = _problems_code(action.fields)
    refused = f'({{ message: "The call is not complete", problems: {problems} }})'
    return Printed(
        respond_to_webhook.NODE.name,
        respond_to_webhook.answer_parameters(400, make_expression(refused)),
    )


def _problems_code(fields: tuple[PayloadField, ...]) -> str:
    """Code for a list of what a call lacks, in words."""
    return (
        f"((body) => [{', '.join(map(_problem_code, fields))}].filter((one) => one))"
        "((($json.body ?? $json) || {}))"
    )


def _problem_code(field: PayloadField) -> str:
    value, name = property_of("body", field.name), plain(field.name)
    absent = js_string(f"“{name}” is missing") if field.required else '""'
    if field.values:
        listed = ", ".join(map(js_string, field.values))
        test, words = f"[{listed}].includes({value})", f"one of {', '.join(field.values)}"
    else:
        words = FIELD_WORDS[field.type]
        test = _TESTS[field.type].format(value)
    wrong = js_string(f"“{name}” has to be {words}")
    return f'{value} === undefined || {value} === null ? {absent} : {test} ? "" : {wrong}'
