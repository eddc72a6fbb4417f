"""Texts above the fields of a form whose parts depend on the run."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow.backends.javascript.literals import js_string, property_of
from orgflow.backends.n8n.emit.form_code import FACTS, part_code, shown_text_code
from orgflow.backends.n8n.plan.names import plain
from orgflow.backends.n8n.plan.references import quote_node
from orgflow.backends.n8n.plan.task_form import Page, TaskForm

from orgflow_ir.work.people import ABOUT, DUE, TEXT


def describe_run(text: str, form: TaskForm, page: Page, given: Iterable[str], sent: bool) -> str:
    """JavaScript for a description: a text, and behind it what the node before the form has
    computed, with the inputs that are `given` to the task and the values of fields that only show
    one; the documentation of the task before it if that is computed."""
    computed = page.about.computed if page.about is not None else ()
    rows = []
    for what, name in FACTS:
        if name in computed:
            value = f"item.{DUE}" if name == "due" else f"(item.{ABOUT} ?? {{}}).{name}"
            rows.append(f"[{js_string(what)}, {value}]")
    for name in given:
        value = property_of("item", name)
        value = f"((v) => v !== null && typeof v === 'object' ? JSON.stringify(v) : v)({value})"
        rows.append(f"[{js_string(plain(name))}, {value}]")
    item = f"$({quote_node(page.inputs)}).first().json"
    twice = '{ "&": "&amp;amp;", "<": "&amp;lt;", ">": "&amp;gt;" }'
    escaped = (
        f".replace(/[&<>]/g, (c) => ({twice})[c])"
        if sent
        else '.replace(/[&<>\\\\]/g, (c) => "&#" + c.charCodeAt(0) + ";")'
    )
    as_lines = (
        '.filter((o) => o[1] != null).map((o) => (o[0] + ": " + [].concat(o[1]).join(", "))'
        f"{escaped})"
    )
    lines = [js_string(text)]
    if TEXT in computed:
        lines = [f'String(({item}.{ABOUT} ?? {{}}).{TEXT} ?? ""){escaped}']
        lines += [js_string(f"\n{text}")] if text else []
    if rows:
        lines.append(f"...((item) => [{', '.join(rows)}])({item}){as_lines}")
    if form.shown:
        values = (
            f"[{js_string(shown.label)}, "
            f"((v) => {shown_text_code(shown)})({part_code('$json', shown.asked)})]"
            for shown in form.shown
        )
        lines.append(f"...[{', '.join(values)}]{as_lines}")
    return f"[{', '.join(lines)}]" + '.filter((o) => o !== "").join("\\n")'
