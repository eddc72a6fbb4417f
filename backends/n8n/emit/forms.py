"""User tasks as forms: a Wait that a person answers, followed by a node that converts the answers
to process variables.

n8n keys the answers of a Wait by the labels of the fields, outputs texts, and does not check
answers itself: the checks are here. Any other value and a blank one set nothing, so a decision
that reads the variable stops and names it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from orgflow.backends.javascript.literals import js_string
from orgflow.backends.n8n.emit.names import field_name, is_refused, plain
from orgflow.backends.n8n.emit.references import quote_node
from orgflow.backends.n8n.format import form_fields
from orgflow.backends.n8n.node_types import send_and_wait
from orgflow.backends.n8n.node_types.conditions import make_expression

from orgflow_ir.facts.notes import own_text
from orgflow_ir.model import Event, Lane, Node, Task
from orgflow_ir.model.bindings import Form
from orgflow_ir.model.element_names import join_listed, slug
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.work.asked_fields import AskedField, Option
from orgflow_ir.work.form_fields import (
    asked_at_start,
    asked_fields,
    known_before,
    read_at_start,
    shown_fields,
)

if TYPE_CHECKING:
    from orgflow.backends.n8n.emit.emitter import CompiledScope
    from orgflow.backends.n8n.format.versions import N8nVersion

    from orgflow_ir.pipeline import PassContext
    from orgflow_ir.work.people import About

YES, NO = "Yes", "No"
OTHER = "Something else"
PAGE, ROUND = "orgflowPage", "orgflowRound"
"""The hidden field that identifies the form of a page: all forms of an execution have one address,
so the page of a form that is sent twice would answer the next one. If a form is reached again, it
includes the field of the item that counts it."""
_BLANK = 'v == null || v === ""'
"""JavaScript that is true for a blank answer `v`."""

_OWN = frozenset({"submittedAt", "formMode", "headers", "user", "formQueryParameters", PAGE})
"""Keys next to the answers."""
_MAX_LABEL = 200
_MOST_PATTERN = 500
_UNLIKE = re.compile(r"\(\?|\\[^dDwWsSbB.*+?^$|()\[\]{}/\\nrt-]|[*+?}]\+|\{,|\[\]|\[\^\]|\}\}")
"""Syntax that Python and JavaScript read differently, or only one of them supports."""


class FormField(NamedTuple):
    """A field in n8n's form.

    Attributes:
        asked: the requested data.
        label: its label there, unique in the form, since n8n keys the answer by it.
        options: the choices, by the value that each represents.
    """

    asked: AskedField
    label: str
    options: tuple[Option, ...]

    @property
    def ticked(self) -> bool:
        """Whether it is a checkbox of the model that may stay unticked, which is also an answer:
        false, or an empty list."""
        asked = self.asked
        boxes = asked.type in ("boolean", "choices")
        return boxes and asked.source == "model" and not asked.required

    @property
    def parameters(self) -> dict[str, Any]:
        """Its row in the node."""
        asked = self.asked
        texts = [option.label for option in self.options]
        required, default = asked.required, _default(asked, self.options)
        if default is None and asked.type == "boolean" and self.ticked:
            default = NO
        match asked.type:
            case "choice" | "boolean":
                return form_fields.form_field(
                    self.label, "dropdown", options=texts, required=required, default=default
                )
            case "choices":
                return form_fields.form_field(
                    self.label, "checkbox", options=texts, required=required
                )
            case "date":
                return form_fields.form_field(
                    self.label, "date", required=required, default=default
                )
            case "number" | "whole" if required:
                return form_fields.form_field(self.label, "number", required=True, default=default)
            case "number" | "whole":
                hint = "a whole number" if asked.type == "whole" else "a number, such as 12.5"
                return form_fields.form_field(self.label, "text", default=default, placeholder=hint)
            case _:
                entry: form_fields.Entry = "textarea" if asked.type == "lines" else "text"
                return form_fields.form_field(self.label, entry, required=required, default=default)

    @property
    def code(self) -> str:
        """JavaScript for the value of an answer in `form`, otherwise undefined."""
        return f"((v) => {self._value()})(form[{js_string(self.label)}])"

    def shown(self, item: str) -> str | None:
        """JavaScript for the initial content of a field, whose value is in an `item`; `None` for a
        field without an initial choice."""
        blank = NO if self.ticked and self.asked.type == "boolean" else ""
        initial = js_string(self.parameters.get("defaultValue", blank))
        match self.asked.type:
            case "choices":
                return None
            case "boolean":
                found = f'v === true ? "{YES}" : v === false ? "{NO}" : {initial}'
            case "choice":
                found = f"{self._labels} : {initial}"
            case "date":
                found = f'typeof v === "string" ? v.slice(0, 10) : {initial}'
            case _:
                of = 'typeof v === "object" ? JSON.stringify(v) : String(v)'
                found = f"v == null ? {initial} : {of}"
        return f"((v) => {found})({_part_of(item, self.asked)})"

    @property
    def read(self) -> str:
        """JavaScript for the text of a value `v` of a field that only shows it."""
        match self.asked.type:
            case "boolean":
                return f'v === true ? "{YES}" : v === false ? "{NO}" : v'
            case "choice":
                return f"{self._labels} : v"
            case "date":
                return 'typeof v === "string" ? v.slice(0, 10) : v'
            case _:
                return (
                    'v !== null && typeof v === "object" && !Array.isArray(v) '
                    "? JSON.stringify(v) : v"
                )

    @property
    def _labels(self) -> str:
        ways = (f"v === {js_string(o.value)} ? {js_string(o.label)}" for o in self.options)
        return " : ".join(ways)

    def _value(self) -> str:
        asked = self.asked
        texts = ", ".join(js_string(option.label) for option in self.options)
        match asked.type:
            case "boolean" if self.ticked:
                return f'v === "{YES}" ? true : v === "{NO}" || {_BLANK} ? false : undefined'
            case "boolean":
                return f'v === "{YES}" ? true : v === "{NO}" ? false : undefined'
            case "choice" if all(o.value == o.label for o in self.options):
                return f"[{texts}].includes(v) ? v : undefined"
            case "choice":
                ways = (
                    f"v === {js_string(o.label)} ? {js_string(o.value)} : " for o in self.options
                )
                return "".join(ways) + "undefined"
            case "choices":
                none = f"{_BLANK} ? [] : undefined" if self.ticked else "undefined"
                values = ", ".join(f"[{js_string(o.label)}, {js_string(o.value)}]"
                                   for o in self.options)  # fmt: skip
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
                    f'((n) => {kept} ? n : undefined)(String(v ?? "").trim() === "" '
                    "? NaN : Number(v))"
                )
            case _:
                kept = " && ".join(('typeof v === "string"', 'v !== ""', *_text_rules(asked)))
                return f"{kept} ? v : undefined"

    @property
    def test(self) -> str | None:
        """JavaScript that is true if an answer in `form` is blank or has a value; `None` if n8n's
        page permits nothing else."""
        asked = self.asked
        rules = _number_rules(asked) if asked.type in ("number", "whole") else _text_rules(asked)
        text = asked.type in ("text", "lines")
        if (text and rules) or (
            asked.type in ("number", "whole")
            and (rules or asked.type == "whole" or not asked.required)
        ):
            return (
                f'((v) => String(v ?? "").trim() === "" || ({self._value()}) !== undefined)'
                f"(form[{js_string(self.label)}])"
            )
        return None

    def answer(self, value: object) -> object:
        """The input of a person for a value. Raises `ValueError` if it cannot be entered."""
        asked = self.asked
        if asked.type == "boolean" and isinstance(value, bool):
            return YES if value else NO
        if asked.type == "choices" and isinstance(value, list):
            return [self._chosen(one) for one in value]
        if asked.type == "choice":
            return self._chosen(value)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if asked.type == "number" and number:
            return str(value)
        if asked.type == "whole" and isinstance(value, int) and number:
            return str(value)
        if asked.type in ("text", "lines", "date") and isinstance(value, str) and value:
            return value
        raise ValueError(f"the form has no answer for {value!r} in “{self.label}”")

    def _chosen(self, value: object) -> str:
        for option in self.options:
            if option.value == value:
                return option.label
        if self.asked.open:
            return self.options[-1].label
        raise ValueError(f"“{self.label}” cannot be answered with {value!r}")


class TaskForm(NamedTuple):
    """The form of a task.

    Attributes:
        fields: the requested fields.
        page: identifies its page among those of other forms; empty if there is no other.
        again: whether a run may reach it several times.
        inside: variables of the answers that are local to the task.
        sets: variables that its output mappings set.
        by: the channel of the message that asks a person to fill it in; empty if it is only listed.
        dated: whether n8n adds the time of the answer to a message.
        shown: values that its page shows, as fields.
        begins: variables with whose values their fields begin.
    """

    fields: tuple[FormField, ...]
    page: str = ""
    again: bool = False
    inside: frozenset[str] = frozenset()
    sets: tuple[str, ...] = ()
    by: str = ""
    dated: bool = True
    shown: tuple[FormField, ...] = ()
    begins: frozenset[str] = frozenset()

    def guard(self, node: str, counter: str = "") -> str | None:
        """JavaScript that is true if an item is a valid answer to this form, which a node asks, or
        the output of another node in its place; `None` if no test is needed. `counter` is the node
        that counts its rounds, if it is reached again."""
        tests = [test for field in self.fields if (test := field.test) is not None]
        if self.page:
            tests.insert(0, f"form.{PAGE} === {self._page(counter)}")
        if not tests:
            return None
        kept = " && ".join(tests)
        if self.by:
            other = f'$({quote_node(node)}).params.operation !== "{send_and_wait.OPERATION}"'
            return f"((form) => {other} || ({kept}))($json.{send_and_wait.ANSWER} ?? {{}})"
        other = f'$({quote_node(node)}).params.resume !== "form"'
        return f"((form) => {other} || ({kept}))($json)"

    @property
    def unsent(self) -> str:
        """JavaScript that is true for an item, called `form`, that is the output of another node in
        place of the form instead of an answer."""
        if self.by:
            mark = send_and_wait.ANSWERED_AT if self.dated else PAGE
            return f"form.{send_and_wait.ANSWER}?.{mark} === undefined"
        return "form.formMode === undefined"

    def _page(self, counter: str) -> str:
        """JavaScript for what the page that belongs to the present round says of itself."""
        if not self.again:
            return js_string(self.page)
        return f"{js_string(self.page + ' ')} + {round_of(counter)}"

    def hidden(self, counter: str) -> str:
        """The identification of its page: static, or an expression if it is reached again."""
        return make_expression(self._page(counter)) if self.again else self.page

    @property
    def variables(self) -> tuple[str, ...]:
        """The process variables for its answers."""
        return tuple(name for name in self.asks if name not in self.inside)

    @property
    def known(self) -> frozenset[str]:
        """The process variables that it sets, by its answers or its mappings."""
        return frozenset((*self.variables, *self.sets))

    @property
    def asks(self) -> tuple[str, ...]:
        """The variables of its fields."""
        return tuple(dict.fromkeys(field.asked.variable for field in self.fields))

    def made(self, was: str, *, inside: bool) -> str:
        """JavaScript for an object of the variables of the answers in `form`; `inside`: including
        those local to the task. `was` is code for the previous variables, whose other parts are
        kept if an answer is part of one."""
        fields = [f for f in self.fields if inside or f.asked.variable not in self.inside]
        return _object([(f.asked.path, f.code) for f in fields], was)

    def answers(self, row: Mapping[str, object]) -> dict[str, object]:
        """The input by label that gives the variables the values of a row; other fields stay blank.
        Raises `ValueError` if no input gives a value."""
        missing = [name for name in row if name not in self.asks]
        if missing:
            raise ValueError(f"the form does not ask for {join_listed(missing)}")
        found = {}
        for field in self.fields:
            value: object = row
            for name in field.asked.path:
                value = value.get(name, _NOTHING) if isinstance(value, Mapping) else _NOTHING
            if value is not _NOTHING:
                found[field.label] = field.answer(value)
        return found


_NOTHING = object()


def _object(values: list[tuple[tuple[str, ...], str]], was: str) -> str:
    """JavaScript for an object of values, each with the path to it; `was` is code for the object
    before, of which an object within keeps what has no value here."""
    from orgflow.backends.javascript.literals import property_name, property_of

    within: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for path, code in values:
        within.setdefault(path[0], []).append((path[1:], code))
    entries = []
    for name, parts in within.items():
        if not parts[0][0]:
            entries.append(f"{property_name(name)}: {parts[0][1]}")
            continue
        before = property_of(f"({was} ?? {{}})", name)
        made = _object([one for one in parts if one[0]], before)
        entries.append(
            f"{property_name(name)}: ((made, was) => made.length === 0 ? undefined : "
            "({ ...was, ...Object.fromEntries(made) }))"
            f"(Object.entries({made}).filter((one) => one[1] !== undefined), {before})"
        )
    return "{ " + ",\n ".join(entries) + " }"


def round_of(counter: str) -> str:
    """JavaScript for the number of the current round."""
    return f"$({quote_node(counter)}).first().json.{ROUND}"


def plan_forms(
    compiled: CompiledScope, people: Iterable[str], by: str, version: N8nVersion, ctx: PassContext
) -> dict[str, TaskForm]:
    """The forms of these tasks of a scope, by task; `by` is the channel through which people are
    asked."""
    alone = list(people)
    if not alone:
        return {}
    asked = asked_fields(compiled.read_fields, alone)
    variables = {field.variable for fields in asked.values() for field in fields}
    variables |= {path[0] for decision in compiled.decisions.values() for path in decision.coded}
    known = ctx.analysis(known_before, compiled.graph)
    forms = {
        task: _showing(
            _within(made(fields, variables), compiled.graph.nodes[task]),
            compiled.graph.nodes[task],
            known.get(task, frozenset()),
        )._replace(by=by, dated=version.major > 1)
        for task, fields in asked.items()
    }
    again = {task for task in forms if task in compiled.graph.cyclic}
    marked = bool(by) and version.major < 2
    if len(forms) < 2 and not again and not marked:
        return forms
    pages: set[str] = set()
    return {  # forms that people are asked for by messages have addresses of their own
        task: form._replace(page=_page(compiled.graph.nodes[task], pages), again=task in again)
        if not by or task in again or (marked and form.fields)
        else form
        for task, form in forms.items()
    }


def plan_start(compiled: CompiledScope, start: str, ctx: PassContext) -> TaskForm | None:
    """The page by which a person starts a scope at one of its start events, with fields for what
    gateways read, and for what work reads if the model defines none; `None` if gateways read a
    variable without a field."""
    graph, decisions = compiled.graph, compiled.decisions
    read = {path[0] for decision in decisions.values() for path in decision.coded}
    if start not in graph.nodes:  # no start event: all that nothing leads to starts
        known = {name for form in compiled.forms.values() for name in form.variables}
        return TaskForm(()) if read <= known else None
    tasks = [t for t, node in graph.nodes.items() if t in compiled.forms and node.kind == "task"]
    fields = compiled.read_fields
    asked = asked_at_start(fields, tasks, start)
    names = {field.variable for field in asked}
    if not read_at_start(fields, tasks, start) <= names:
        return None
    event = graph.nodes[start]
    defined = isinstance(event, Event) and isinstance(event.binding, Form) and event.binding.fields
    works = any(
        isinstance(node, Task) and not (node.binding is None or isinstance(node.binding, Form))
        for node in graph.nodes.values()
    )
    # Engines set the variable for who starts a process; on a page a person has to state it.
    starter = {text for key, text in event.extra if key.endswith("}initiator")} if defined else ()
    if works and (starter or not defined):
        from orgflow.backends.n8n.emit.payload import read_by_work

        by_work = (f for f in read_by_work(compiled, start, ctx) if f.variable not in names)
        asked = (*(f for f in by_work if not defined or f.variable in starter), *asked)
    return made(asked, read | {field.variable for field in asked})


def _showing(form: TaskForm, task: Node, known: frozenset[str]) -> TaskForm:
    """The form with the values that its page shows: those of the fields that only show one, and
    those of `known` variables that a person may enter again, which a blank answer keeps. An input
    mapping gives fields another value."""
    if isinstance(task, Task) and task.binding is not None:
        known -= {one.name for one in task.binding.inputs}
    again = [
        one for one in form.fields if one.asked.source == "model" and one.asked.variable in known
    ]
    written = (
        one.asked._replace(label=f"{one.asked.label} so far")
        for one in again
        if not _begins(one) and one.asked.type != "choices"
    )
    only = shown_fields(task) if isinstance(task, Task) else ()
    return form._replace(
        shown=made((*only, *written)).fields,
        begins=frozenset(one.asked.variable for one in again if _begins(one)),
    )


def _begins(field: FormField) -> bool:
    """Whether a field begins with the value of its variable: one that is never blank at first."""
    return field.asked.type in ("boolean", "choice") or "defaultValue" in field.parameters


def _within(form: TaskForm, task: Node) -> TaskForm:
    """The form, with what the mappings of its task keep inside of it and what they set."""
    binding = task.binding if isinstance(task, Task) else None
    if not isinstance(binding, Form) or not (
        binding.inputs or binding.outputs or binding.listeners
    ):
        return form
    from orgflow_ir.work.people import about
    from orgflow_ir.work.statements import assigned

    said = about(binding)
    inside = frozenset(
        field.asked.variable
        for field in form.fields
        if field.asked.source in ("model", "mapping") and said.is_inside(field.asked.variable)
    )
    return form._replace(inside=inside, sets=tuple(dict.fromkeys(assigned(said.work.after))))


def _page(task: Node, taken: set[str]) -> str:
    """A word for the page of a task that no other has."""
    return _free(slug(task.name, words=5).replace("_", "-") or "page", taken)


def made(fields: Iterable[AskedField], variables: Iterable[str] = ()) -> TaskForm:
    """The fields in n8n's form, with unique labels and choices. No label is the name of one of
    `variables`, so an unconverted answer is never read as one."""
    names = frozenset(variables)
    taken = {*_OWN, *names}
    result = []
    for asked in fields:
        label = plain(asked.label) or plain(asked.variable) or "Answer"
        label = label[:1].upper() + label[1:]
        if label in names and label[-1].isalnum():
            label += ":"
        label = _free(label, taken)
        if is_refused(asked.variable) and not asked.part:
            asked = asked._replace(variable=field_name(asked.variable, "field"))
        result.append(FormField(asked, label, _options(asked)))
    return TaskForm(tuple(result))


def _options(asked: AskedField) -> tuple[Option, ...]:
    if asked.type == "boolean":
        return (Option(YES, YES), Option(NO, NO))
    taken: set[str] = set()
    found = [
        Option(o.value, _free(plain(o.label) or plain(o.value) or "(blank)", taken))
        for o in asked.options
    ]
    if asked.open and asked.source == "condition":
        found.append(Option(OTHER, _free(OTHER, taken)))
    return tuple(found)


def _free(text: str, taken: set[str]) -> str:
    """The text, with a number behind it where it is taken, and added to what is."""
    base = text if len(text) <= _MAX_LABEL else text[: _MAX_LABEL - 1].rstrip() + "…"
    if base == "__proto__":
        base = f"Field {base}"  # as a key of an object it is none
    name, number = base, 2
    while name in taken:
        name, number = f"{base} ({number})", number + 1
    taken.add(name)
    return name


def _default(asked: AskedField, options: tuple[Option, ...]) -> str | None:
    if asked.default is None:
        return None
    if asked.type == "boolean":
        return {"true": YES, "false": NO}.get(asked.default.strip().lower())
    if asked.type == "choice":
        return next((o.label for o in options if o.value == asked.default), None)
    return plain(asked.default) or None


def _number_rules(asked: AskedField) -> list[str]:
    found = []
    for name, sign in (("min", ">="), ("max", "<=")):
        text = dict(asked.constraints).get(name)
        if text is not None and (bound := _number(text)) is not None:
            found.append(f"n {sign} {bound!r}")
    return found


def _text_rules(asked: AskedField) -> list[str]:
    found = []
    for name, sign in (("minlength", ">="), ("maxlength", "<=")):
        text = dict(asked.constraints).get(name)
        if text is not None and (bound := _number(text)) is not None:
            found.append(f"v.length {sign} {bound!r}")
    pattern = dict(asked.constraints).get("pattern")
    if pattern is not None and _is_pattern(pattern):
        found.append(f"v.match({js_string(pattern)}) !== null")
    return found


def _is_pattern(text: str) -> bool:
    """Whether a text is a regular expression that JavaScript reads as Python does."""
    if len(text) > _MOST_PATTERN or not text.isascii() or _UNLIKE.search(text):
        return False
    try:
        re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return False
    return True


def _number(text: str) -> int | float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    if found != found or found in (float("inf"), float("-inf")):
        return None
    return int(found) if found.is_integer() else found


def _part_of(item: str, asked: AskedField) -> str:
    """JavaScript for the value that a field is for, in an item."""
    from orgflow.backends.javascript.literals import property_of

    for name in asked.path[:-1]:
        item = f"({property_of(item, name)} ?? {{}})"
    return property_of(item, asked.path[-1])


def fields_of(
    form: TaskForm,
    counter: str = "",
    inputs: str = "",
    given: Iterable[str] = (),
) -> list[dict[str, Any]]:
    """The rows of the node for a form; the fields of variables that are `given` are prefilled with
    the output of the node `inputs`."""
    rows = [field.parameters for field in form.fields]
    for field, row in zip(form.fields, rows, strict=True):
        if inputs and field.asked.variable in given:
            code = field.shown(f"$({quote_node(inputs)}).first().json")
        elif field.asked.variable in form.begins:
            code = field.shown("$json") if _begins(field) else None
        else:
            continue
        if code:
            row["defaultValue"] = make_expression(code)
    if form.page:
        rows.append(form_fields.hidden_field(PAGE, form.hidden(counter)))
    return rows


class Page(NamedTuple):
    """The further content of a task's page.

    Attributes:
        lanes: the lanes of its process.
        counter: the node that counts its rounds, if it is reached again.
        said: its performer and due date.
        inputs: the node that computes the parts of them that depend on the run.
    """

    lanes: tuple[Lane, ...]
    counter: str = ""
    said: About | None = None
    inputs: str = ""


def parameters(task: Task, form: TaskForm, page: Page) -> dict[str, Any]:
    """The Wait of a task."""
    return form_fields.wait_for_form(
        title(task), description(task, form, page), rows_of(form, page)
    )


def title(task: Task) -> str:
    """The title of a task's form."""
    return plain(task.name) or plain(task.id) or "Task"


def rows_of(form: TaskForm, page: Page) -> list[dict[str, Any]]:
    """The rows of its fields."""
    given = page.said.inputs if page.said is not None else ()
    return fields_of(form, page.counter, page.inputs, given)


_STARTER = "who started the process"
"""The person that Flowable's modeller writes as `$INITIATOR`."""

_SAID = (
    ("For", "assignee"),
    ("For", "candidate_users"),
    ("Group", "candidate_groups"),
    ("Due", "due"),
    ("Priority", "priority"),
)


def description(task: Task, form: TaskForm, page: Page, *, sent: bool = False) -> str:
    """The text above the fields: HTML in which neither the model nor a run contributes markup;
    escaped twice if it is `sent`, since n8n removes one level before it writes a message."""
    said = own_text(task.doc)
    lines = [said] if said and not (page.said is not None and page.said.fills_in_text) else []
    facts = []
    if page.said is not None:
        fixed = page.said.fixed
        facts = [
            f"{what}: {_STARTER if fixed[name] == '$INITIATOR' else plain(fixed[name])}"
            for what, name in _SAID
            if name in fixed
        ]
        for name in _only_shown(form, page.said):
            if (constant := page.said.inputs[name]) is not None and constant.strip():
                facts.append(f"{plain(name)}: {plain(constant)}")
    lane = next((lane for lane in reversed(page.lanes) if task.id in lane.members), None)
    if lane is not None and plain(lane.caption):
        facts.append(f"Lane: {plain(lane.caption)}")
    for field in form.fields:
        if field.asked.constraints:
            rules = ", ".join(f"{k} {v}".rstrip() for k, v in field.asked.constraints)
            facts.append(f"{field.label}: {plain(rules)}")
    if facts:
        lines.append("\n".join(facts))
    text = "\n\n".join(lines)
    text = html.escape(text, quote=False).lstrip("= ")
    if sent:
        text = html.escape(text, quote=False)
    text = text.replace("\\n", "\\\u200bn")  # n8n takes a backslash with an n for a new line
    inputs = [] if page.said is None else _only_shown(form, page.said)
    given = [name for name in inputs if page.said is not None and page.said.inputs[name] is None]
    if not form.shown and not given and not (page.said is not None and page.said.computed):
        return text
    return make_expression(_with_computed(text, form, page, given, sent))


def _only_shown(form: TaskForm, said: About) -> list[str]:
    """What input mappings give that no field of the form is about."""
    return [name for name in said.inputs if name not in form.asks]


def _with_computed(text: str, form: TaskForm, page: Page, given: Iterable[str], sent: bool) -> str:
    """JavaScript for a description: a text, and behind it what the node before the form has
    computed, with the inputs that are `given` to the task and the values of fields that only show
    one; the documentation of the task before it if that is computed."""
    from orgflow.backends.javascript.literals import property_of

    from orgflow_ir.work.people import ABOUT, DUE, TEXT

    computed = page.said.computed if page.said is not None else ()
    found = []
    for what, name in _SAID:
        if name in computed:
            value = f"item.{DUE}" if name == "due" else f"(item.{ABOUT} ?? {{}}).{name}"
            found.append(f"[{js_string(what)}, {value}]")
    for name in given:
        value = property_of("item", name)
        value = f"((v) => v !== null && typeof v === 'object' ? JSON.stringify(v) : v)({value})"
        found.append(f"[{js_string(plain(name))}, {value}]")
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
    if found:
        lines.append(f"...((item) => [{', '.join(found)}])({item}){as_lines}")
    if form.shown:
        values = (
            f"[{js_string(one.label)}, ((v) => {one.read})({_part_of('$json', one.asked)})]"
            for one in form.shown
        )
        lines.append(f"...[{', '.join(values)}]{as_lines}")
    return f"[{', '.join(lines)}]" + '.filter((o) => o !== "").join("\\n")'
