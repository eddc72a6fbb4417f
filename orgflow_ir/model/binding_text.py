"""Describes bindings in words, for notes, comments and messages of targets that do not execute
them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, assert_never

from orgflow_ir.lazy_patterns import lazy_pattern
from orgflow_ir.model.bindings import (
    AnyBinding,
    Decision,
    Field,
    Form,
    Http,
    Listener,
    Mail,
    Parameter,
    Script,
    SubProcessCall,
    Worker,
)
from orgflow_ir.model.elements import CallActivity, Event, Task
from orgflow_ir.model.records import NamedTuple

_NAMED = 3
"""Maximum number of settings that a description names."""
_COMMON = ("inputs", "outputs", "result", "retries", "parameters", "listeners")
_LABELS = {
    "url": "URL", "candidate_users": "candidate users", "candidate_groups": "candidate groups",
    "due": "due date", "follow_up": "follow-up date", "sender": "from", "html": "HTML",
    "business_key": "business key", "all_variables": "all variables", "all_results": "all results",
    "form": "form",
    "result": "result variable",
}  # fmt: skip
_SECRET = frozenset(("password", "token", "clientsecret", "value", "secret"))
_HIDDEN = "(a secret, which notes do not repeat)"
_IS_NAMED = lazy_pattern(r"\{\{|[$#]\{|^\s*=|secrets\.")
"""A secret that is only named or comes from a variable."""

_ASSIGNMENT = ("assignee", "candidate_users", "candidate_groups")


class Statement(NamedTuple):
    """One part of a task's binding. `what` names it in a message (`the script`); a note shows
    `label` and `text`; `code` marks text whose line breaks matter."""

    what: str
    label: str
    text: str
    code: bool = False


def binding_statements(node: Task | CallActivity | Event) -> tuple[Statement, ...]:
    """All parts of a binding, in order; empty without a binding."""
    return tuple(_binding_parts(node.binding)) if node.binding is not None else ()


def join_names(names: list[str]) -> str:
    """`a, b and c`, each once."""
    once = list(dict.fromkeys(names))
    return once[0] if len(once) == 1 else f"{', '.join(once[:-1])} and {once[-1]}"


def summarise_binding(node: Task | CallActivity | Event) -> str:
    """The binding described by its parts: `the class `org.acme.Ship` and input mappings`; empty if
    it has none."""
    parts = list(binding_statements(node))
    names = list(dict.fromkeys(s.what for s in parts))
    settings = [f"`{s.label}`" for s in parts if s.what == "settings"]
    if settings:
        more = [f"{len(settings) - _NAMED} more"] if len(settings) > _NAMED else []
        word = "setting" if len(settings) == 1 else "settings"
        names[names.index("settings")] = f"{word} {join_names([*settings[:_NAMED], *more])}"
    return f"the {join_names(names)}" if names else ""


def describe_implementation(binding: AnyBinding) -> str:
    """The implementation in words: `script (groovy)`, `class `org.acme.Ship``."""
    match binding:
        case Http():
            return "HTTP request"
        case Mail():
            return "mail"
        case Decision():
            return "decision"
        case SubProcessCall():
            return f"process `{binding.process}`" if binding.process else "call"
        case Form():
            return "form"
        case Script():
            return f"script in `{binding.language}`" if binding.language else "script"
        case Worker():
            name = f"{binding.by or 'settings'}"
            return f"{name} `{binding.target}`" if binding.target else name
        case _:
            assert_never(binding)


def _binding_parts(binding: AnyBinding) -> Iterator[Statement]:
    match binding:
        case Script():
            if binding.code is not None or binding.language is not None:
                label = f"script in {binding.language}" if binding.language else "script"
                yield Statement(
                    describe_implementation(binding), label, binding.code or "", code=True
                )
            if binding.resource:
                yield Statement("script", "script resource", binding.resource)
        case Worker():
            if binding.target is not None and not binding.target.startswith("##"):
                yield Statement(
                    describe_implementation(binding), binding.by or "implementation", binding.target
                )
            if binding.code is not None:
                yield Statement(describe_implementation(binding), "code", binding.code, code=True)
        case Form():
            yield from _form_statements(binding)
        case Http() | Decision() | Mail() | SubProcessCall():
            yield from _field_statements(binding, describe_implementation(binding))
        case _:
            assert_never(binding)
    yield from _common_statements(binding)


def _common_statements(binding: AnyBinding) -> Iterator[Statement]:
    """The parts that every kind of binding may have."""
    what = describe_implementation(binding)
    for parameter in binding.inputs:
        yield Statement("input mappings", f"input {parameter.name}", _parameter_text(parameter))
    for parameter in binding.outputs:
        yield Statement("output mappings", f"output {parameter.name}", _parameter_text(parameter))
    if binding.result:
        yield Statement("result variable", "result variable", binding.result)
    if binding.retries:
        yield Statement("retries", "retries", binding.retries)
    for name, text in binding.parameters:
        yield Statement("settings" if isinstance(binding, Form) else what, name, text)
    for listener in binding.listeners:
        yield Statement("listeners", "listener", _listener_text(listener))


def _form_statements(form: Form) -> Iterator[Statement]:
    for name in _ASSIGNMENT:
        text = getattr(form, name)
        if text is not None:
            yield Statement("assignment", _LABELS.get(name, name), text)
    for name, what in (("due", "due date"), ("follow_up", "follow-up date"),
                       ("priority", "priority")):  # fmt: skip
        text = getattr(form, name)
        if text is not None:
            yield Statement(what, what, text)
    if form.form is not None:
        yield Statement("form", "form", form.form)
    for field in form.fields:
        yield Statement("form", f"form field {field.name}", _field_text(field))


def _field_statements(binding: AnyBinding, what: str) -> Iterator[Statement]:
    """The fields of the class itself, in its order."""
    for name, value in _list_content(binding):
        engine = name == "by" and isinstance(binding, SubProcessCall)
        label = "engine" if engine else _LABELS.get(name, name)
        if value is True:
            yield Statement(what, label, "yes")
        elif isinstance(value, str):
            yield Statement(what, label, value)
        elif isinstance(value, tuple):
            for key, text in value:
                secret = name == "authentication" and key.lower() in _SECRET
                shown = _HIDDEN if secret and not _IS_NAMED.search(text) else text
                yield Statement(what, f"{label} {key}", shown)


def _list_content(binding: AnyBinding) -> Iterator[tuple[str, Any]]:
    for name, value in binding.content().items():
        if name != "kind" and name not in _COMMON:
            yield name, value


def _parameter_text(parameter: Parameter) -> str:
    return f"{parameter.text} ({parameter.language})" if parameter.language else parameter.text


def _listener_text(listener: Listener) -> str:
    by = f"{listener.by} in {listener.language}" if listener.language else listener.by
    description = " ".join(part for part in (listener.event, by, listener.target) if part)
    settings = ", ".join(
        [
            *([listener.engine] if listener.engine else []),
            *(f"{name} = {text}" for name, text in listener.parameters),
        ]
    )
    return f"{description} ({settings})" if settings else description


def _field_text(field: Field) -> str:
    parts = [field.type or "text", *([f"“{field.label}”"] if field.label else [])]
    parts += ["required"] if field.required else []
    parts += [f"default {field.default}"] if field.default is not None else []
    if field.values:
        parts.append("one of " + " | ".join(f"{k} ({v})" if v else k for k, v in field.values))
    parts += [f"{k} {v}".rstrip() for k, v in field.constraints]
    return ", ".join(parts)
