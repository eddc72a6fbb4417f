"""Describes bindings in words, for notes, comments and messages of targets that do not execute
them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, assert_never

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
_IS_NAMED = re.compile(r"\{\{|[$#]\{|^\s*=|secrets\.")
"""A secret that is only named or comes from a variable."""

_ASSIGNMENT = ("assignee", "candidate_users", "candidate_groups")


class Statement(NamedTuple):
    """One part of a task's binding. `what` names it in a message (`the script`); a note shows
    `label` and `text`; `code` marks text whose line breaks matter."""

    what: str
    label: str
    text: str
    code: bool = False


def statements(node: Task | CallActivity | Event) -> tuple[Statement, ...]:
    """All parts of a binding, in order; empty without a binding."""
    return tuple(_binding(node.binding)) if node.binding is not None else ()


def listed(names: list[str]) -> str:
    """`a, b and c`, each once."""
    once = list(dict.fromkeys(names))
    return once[0] if len(once) == 1 else f"{', '.join(once[:-1])} and {once[-1]}"


def summary(node: Task | CallActivity | Event) -> str:
    """The binding described by its parts: `the class `org.acme.Ship` and input mappings`; empty if
    it has none."""
    found = list(statements(node))
    names = list(dict.fromkeys(s.what for s in found))
    settings = [f"`{s.label}`" for s in found if s.what == "settings"]
    if settings:
        more = [f"{len(settings) - _NAMED} more"] if len(settings) > _NAMED else []
        word = "setting" if len(settings) == 1 else "settings"
        names[names.index("settings")] = f"{word} {listed([*settings[:_NAMED], *more])}"
    return f"the {listed(names)}" if names else ""


def doer(binding: AnyBinding) -> str:
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


def _binding(binding: AnyBinding) -> Iterator[Statement]:
    match binding:
        case Script():
            if binding.code is not None or binding.language is not None:
                label = f"script in {binding.language}" if binding.language else "script"
                yield Statement(doer(binding), label, binding.code or "", code=True)
            if binding.resource:
                yield Statement("script", "script resource", binding.resource)
        case Worker():
            if binding.target is not None and not binding.target.startswith("##"):
                yield Statement(doer(binding), binding.by or "implementation", binding.target)
            if binding.code is not None:
                yield Statement(doer(binding), "code", binding.code, code=True)
        case Form():
            yield from _form(binding)
        case Http() | Decision() | Mail() | SubProcessCall():
            yield from _fields(binding, doer(binding))
        case _:
            assert_never(binding)
    what = doer(binding)
    for parameter in binding.inputs:
        yield Statement("input mappings", f"input {parameter.name}", _parameter(parameter))
    for parameter in binding.outputs:
        yield Statement("output mappings", f"output {parameter.name}", _parameter(parameter))
    if binding.result:
        yield Statement("result variable", "result variable", binding.result)
    if binding.retries:
        yield Statement("retries", "retries", binding.retries)
    for name, text in binding.parameters:
        yield Statement("settings" if isinstance(binding, Form) else what, name, text)
    for one in binding.listeners:
        yield Statement("listeners", "listener", _listener(one))


def _form(form: Form) -> Iterator[Statement]:
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
    for one in form.fields:
        yield Statement("form", f"form field {one.name}", _field(one))


def _fields(binding: AnyBinding, what: str) -> Iterator[Statement]:
    """The fields of the class itself, in its order."""
    for name, value in _content(binding):
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


def _content(binding: AnyBinding) -> Iterator[tuple[str, Any]]:
    for name, value in binding.content().items():
        if name != "kind" and name not in _COMMON:
            yield name, value


def _parameter(parameter: Parameter) -> str:
    return f"{parameter.text} ({parameter.language})" if parameter.language else parameter.text


def _listener(one: Listener) -> str:
    by = f"{one.by} in {one.language}" if one.language else one.by
    said = " ".join(part for part in (one.event, by, one.target) if part)
    settings = ", ".join(
        [
            *([one.engine] if one.engine else []),
            *(f"{name} = {text}" for name, text in one.parameters),
        ]
    )
    return f"{said} ({settings})" if settings else said


def _field(one: Field) -> str:
    parts = [one.type or "text", *([f"“{one.label}”"] if one.label else [])]
    parts += ["required"] if one.required else []
    parts += [f"default {one.default}"] if one.default is not None else []
    if one.values:
        parts.append("one of " + " | ".join(f"{k} ({v})" if v else k for k, v in one.values))
    parts += [f"{k} {v}".rstrip() for k, v in one.constraints]
    return ", ".join(parts)
