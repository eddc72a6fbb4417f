"""The JavaScript of forms: the rows of their fields, the text above them, and what is made of the
answers."""

from __future__ import annotations

import html
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from orgflow.backends.javascript.literals import js_string, property_name, property_of
from orgflow.backends.n8n.format import form_fields
from orgflow.backends.n8n.node_types import send_and_wait, set_
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.plan.lazy_modules import load_function
from orgflow.backends.n8n.plan.names import plain
from orgflow.backends.n8n.plan.references import quote_node
from orgflow.backends.n8n.plan.task_form import (
    NO,
    YES,
    FormField,
    Page,
    TaskForm,
    list_bounds,
    list_lengths,
    valid_pattern,
)

from orgflow_ir.facts.notes import own_text
from orgflow_ir.model import Task
from orgflow_ir.work.asked_fields import AskedField

if TYPE_CHECKING:
    from orgflow_ir.work.people import About

PAGE, ROUND = "orgflowPage", "orgflowRound"
"""The hidden field that identifies the form of a page: all forms of an execution have one address,
so the page of a form that is sent twice would answer the next one. If a form is reached again, it
includes the field of the item that counts it."""
_BLANK = 'v == null || v === ""'
"""JavaScript that is true for a blank answer `v`."""


def field_row(field: FormField) -> dict[str, Any]:
    """Its row in the node."""
    asked = field.asked
    texts = [option.label for option in field.options]
    required, default = asked.required, field.default
    match asked.type:
        case "choice" | "boolean":
            return form_fields.form_field(
                field.label, "dropdown", options=texts, required=required, default=default
            )
        case "choices":
            return form_fields.form_field(field.label, "checkbox", options=texts, required=required)
        case "date":
            return form_fields.form_field(field.label, "date", required=required, default=default)
        case "number" | "whole" if required:
            return form_fields.form_field(field.label, "number", required=True, default=default)
        case "number" | "whole":
            hint = "a whole number" if asked.type == "whole" else "a number, such as 12.5"
            return form_fields.form_field(field.label, "text", default=default, placeholder=hint)
        case _:
            entry: form_fields.Entry = "textarea" if asked.type == "lines" else "text"
            return form_fields.form_field(field.label, entry, required=required, default=default)


def field_code(field: FormField) -> str:
    """JavaScript for the value of an answer in `form`, otherwise undefined."""
    return f"((v) => {_value_code(field)})(form[{js_string(field.label)}])"


def shown_code(field: FormField, item: str) -> str | None:
    """JavaScript for the initial content of a field, whose value is in an `item`; `None` for a
    field without an initial choice."""
    blank = NO if field.ticked and field.asked.type == "boolean" else ""
    initial = js_string(field_row(field).get("defaultValue", blank))
    match field.asked.type:
        case "choices":
            return None
        case "boolean":
            text = f'v === true ? "{YES}" : v === false ? "{NO}" : {initial}'
        case "choice":
            text = f"{_labels_code(field)} : {initial}"
        case "date":
            text = f'typeof v === "string" ? v.slice(0, 10) : {initial}'
        case _:
            of = 'typeof v === "object" ? JSON.stringify(v) : String(v)'
            text = f"v == null ? {initial} : {of}"
    return f"((v) => {text})({part_code(item, field.asked)})"


def shown_text_code(field: FormField) -> str:
    """JavaScript for the text of a value `v` of a field that only shows it."""
    match field.asked.type:
        case "boolean":
            return f'v === true ? "{YES}" : v === false ? "{NO}" : v'
        case "choice":
            return f"{_labels_code(field)} : v"
        case "date":
            return 'typeof v === "string" ? v.slice(0, 10) : v'
        case _:
            return (
                'v !== null && typeof v === "object" && !Array.isArray(v) ? JSON.stringify(v) : v'
            )


def _labels_code(field: FormField) -> str:
    choices = (f"v === {js_string(o.value)} ? {js_string(o.label)}" for o in field.options)
    return " : ".join(choices)


def _value_code(field: FormField) -> str:
    asked = field.asked
    texts = ", ".join(js_string(option.label) for option in field.options)
    match asked.type:
        case "boolean" if field.ticked:
            return f'v === "{YES}" ? true : v === "{NO}" || {_BLANK} ? false : undefined'
        case "boolean":
            return f'v === "{YES}" ? true : v === "{NO}" ? false : undefined'
        case "choice" if all(o.value == o.label for o in field.options):
            return f"[{texts}].includes(v) ? v : undefined"
        case "choice":
            choices = (
                f"v === {js_string(o.label)} ? {js_string(o.value)} : " for o in field.options
            )
            return "".join(choices) + "undefined"
        case "choices":
            none = f"{_BLANK} ? [] : undefined" if field.ticked else "undefined"
            values = ", ".join(f"[{js_string(o.label)}, {js_string(o.value)}]"
                               for o in field.options)  # fmt: skip
            return (
                f"Array.isArray(v) ? [{values}].filter((o) => v.includes(o[0]))"
                f".map((o) => o[1]) : {none}"
            )
        case "date":
            return r"/^\d\d\d\d-\d\d-\d\d$/.test(v) ? v : undefined"
        case "number" | "whole":
            test = "Number.isSafeInteger" if asked.type == "whole" else "Number.isFinite"
            kept = " && ".join(
                (f"{test}(n)", *_number_rules(asked)),
            )
            return (
                f'((n) => {kept} ? n : undefined)(String(v ?? "").trim() === "" ? NaN : Number(v))'
            )
        case _:
            kept = " && ".join(('typeof v === "string"', 'v !== ""', *_text_rules(asked)))
            return f"{kept} ? v : undefined"


def field_test(field: FormField) -> str | None:
    """JavaScript that is true if an answer in `form` is blank or has a value; `None` if n8n's
    page permits nothing else."""
    asked = field.asked
    rules = _number_rules(asked) if asked.type in ("number", "whole") else _text_rules(asked)
    text = asked.type in ("text", "lines")
    if (text and rules) or (
        asked.type in ("number", "whole") and (rules or asked.type == "whole" or not asked.required)
    ):
        return (
            f'((v) => String(v ?? "").trim() === "" || ({_value_code(field)}) !== undefined)'
            f"(form[{js_string(field.label)}])"
        )
    return None


def guard_code(form: TaskForm, node: str, counter: str = "") -> str | None:
    """JavaScript that is true if an item is a valid answer to this form, which a node asks, or
    the output of another node in its place; `None` if no test is needed. `counter` is the node
    that counts its rounds, if it is reached again."""
    tests = [test for field in form.fields if (test := field_test(field)) is not None]
    if form.page:
        tests.insert(0, f"form.{PAGE} === {_page_code(form, counter)}")
    if not tests:
        return None
    kept = " && ".join(tests)
    if form.by:
        other = f'$({quote_node(node)}).params.operation !== "{send_and_wait.OPERATION}"'
        return f"((form) => {other} || ({kept}))($json.{send_and_wait.ANSWER} ?? {{}})"
    other = f'$({quote_node(node)}).params.resume !== "form"'
    return f"((form) => {other} || ({kept}))($json)"


def unsent_code(form: TaskForm) -> str:
    """JavaScript that is true for an item, called `form`, that is the output of another node in
    place of the form instead of an answer."""
    if form.by:
        mark = send_and_wait.ANSWERED_AT if form.dated else PAGE
        return f"form.{send_and_wait.ANSWER}?.{mark} === undefined"
    return "form.formMode === undefined"


def _page_code(form: TaskForm, counter: str) -> str:
    """JavaScript for what the page that belongs to the present round says of itform."""
    if not form.again:
        return js_string(form.page)
    return f"{js_string(form.page + ' ')} + {round_of(counter)}"


def _hidden_value(form: TaskForm, counter: str) -> str:
    """The identification of its page: static, or an expression if it is reached again."""
    return make_expression(_page_code(form, counter)) if form.again else form.page


def answered_code(form: TaskForm, was: str, *, inside: bool) -> str:
    """JavaScript for an object of the variables of the answers in `form`; `inside`: including
    those local to the task. `was` is code for the previous variables, whose other parts are
    kept if an answer is part of one."""
    fields = [f for f in form.fields if inside or f.asked.variable not in form.inside]
    return _write_object([(f.asked.path, field_code(f)) for f in fields], was)


def _write_object(values: list[tuple[tuple[str, ...], str]], was: str) -> str:
    """JavaScript for an object of values, each with the path to it; `was` is code for the object
    before, of which an object within keeps what has no value here."""
    within: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for path, code in values:
        within.setdefault(path[0], []).append((path[1:], code))
    entries = []
    for name, parts in within.items():
        if not parts[0][0]:
            entries.append(f"{property_name(name)}: {parts[0][1]}")
            continue
        before = property_of(f"({was} ?? {{}})", name)
        inner = _write_object([part for part in parts if part[0]], before)
        entries.append(
            f"{property_name(name)}: ((made, was) => made.length === 0 ? undefined : "
            "({ ...was, ...Object.fromEntries(made) }))"
            f"(Object.entries({inner}).filter((one) => one[1] !== undefined), {before})"
        )
    return "{ " + ",\n ".join(entries) + " }"


def round_of(counter: str) -> str:
    """JavaScript for the number of the current round."""
    return f"$({quote_node(counter)}).first().json.{ROUND}"


def _number_rules(asked: AskedField) -> list[str]:
    return [f"n {sign} {bound!r}" for sign, bound in list_bounds(asked)]


def _text_rules(asked: AskedField) -> list[str]:
    rules = [f"v.length {sign} {bound!r}" for sign, bound in list_lengths(asked)]
    pattern = valid_pattern(asked)
    if pattern is not None:
        rules.append(f"v.match({js_string(pattern)}) !== null")
    return rules


def part_code(item: str, asked: AskedField) -> str:
    """JavaScript for the value that a field is for, in an item."""
    for name in asked.path[:-1]:
        item = f"({property_of(item, name)} ?? {{}})"
    return property_of(item, asked.path[-1])


def count_rounds(seed: str) -> dict[str, Any]:
    """The node that counts the visits of a form."""
    return set_.assign_parameters([(ROUND, make_expression("$runIndex"), "number")], seed)


def field_rows(
    form: TaskForm,
    counter: str = "",
    inputs: str = "",
    given: Iterable[str] = (),
) -> list[dict[str, Any]]:
    """The rows of the node for a form; the fields of variables that are `given` are prefilled with
    the output of the node `inputs`."""
    rows = [field_row(field) for field in form.fields]
    for field, row in zip(form.fields, rows, strict=True):
        if inputs and field.asked.variable in given:
            code = shown_code(field, f"$({quote_node(inputs)}).first().json")
        elif field.asked.variable in form.begins:
            code = shown_code(field, "$json") if field.is_filled else None
        else:
            continue
        if code:
            row["defaultValue"] = make_expression(code)
    if form.page:
        rows.append(form_fields.hidden_field(PAGE, _hidden_value(form, counter)))
    return rows


def page_parameters(task: Task, form: TaskForm, page: Page) -> dict[str, Any]:
    """The Wait of a task."""
    return form_fields.wait_for_form(
        form_title(task), describe_task(task, form, page), form_rows(form, page)
    )


def form_title(task: Task) -> str:
    """The title of a task's form."""
    return plain(task.name) or plain(task.id) or "Task"


def form_rows(form: TaskForm, page: Page) -> list[dict[str, Any]]:
    """The rows of its fields."""
    given = page.about.inputs if page.about is not None else ()
    return field_rows(form, page.counter, page.inputs, given)


_STARTER = "who started the process"
"""The person that Flowable's modeller writes as `$INITIATOR`."""

FACTS = (
    ("For", "assignee"),
    ("For", "candidate_users"),
    ("Group", "candidate_groups"),
    ("Due", "due"),
    ("Priority", "priority"),
)


def describe_task(task: Task, form: TaskForm, page: Page, *, sent: bool = False) -> str:
    """The text above the fields: HTML in which neither the model nor a run contributes markup;
    escaped twice if it is `sent`, since n8n removes one level before it writes a message."""
    about = page.about
    doc = own_text(task.doc)
    lines = [doc] if doc and not (about is not None and about.fills_in_text) else []
    facts = [*_list_facts(task, form, page)]
    if facts:
        lines.append("\n".join(facts))
    text = "\n\n".join(lines)
    text = html.escape(text, quote=False).lstrip("= ")
    if sent:
        text = html.escape(text, quote=False)
    text = text.replace("\\n", "\\\u200bn")  # n8n takes a backslash with an n for a new line
    inputs = [] if about is None else _only_shown(form, about)
    given = [name for name in inputs if about is not None and about.inputs[name] is None]
    if not form.shown and not given and not (about is not None and about.computed):
        return text
    code = load_function("computed_descriptions.describe_run", __package__)
    return make_expression(code(text, form, page, given, sent))


def _list_facts(task: Task, form: TaskForm, page: Page) -> Iterator[str]:
    """What the model states about a task, a line each."""
    if page.about is not None:
        fixed, inputs = page.about.fixed, page.about.inputs
        for what, name in FACTS:
            if name in fixed:
                starter = fixed[name] == "$INITIATOR"
                yield f"{what}: {_STARTER if starter else plain(fixed[name])}"
        for name in _only_shown(form, page.about):
            if (constant := inputs[name]) is not None and constant.strip():
                yield f"{plain(name)}: {plain(constant)}"
    lane = next((lane for lane in reversed(page.lanes) if task.id in lane.members), None)
    if lane is not None and plain(lane.caption):
        yield f"Lane: {plain(lane.caption)}"
    for field in form.fields:
        if field.asked.constraints:
            rules = ", ".join(f"{k} {v}".rstrip() for k, v in field.asked.constraints)
            yield f"{field.label}: {plain(rules)}"


def _only_shown(form: TaskForm, about: About) -> list[str]:
    """What input mappings give that no field of the form is about."""
    return [name for name in about.inputs if name not in form.asks]
