"""Forms as JSON, embedded in a process or in a neighbouring file: of Camunda 7 and 8 (`form-js`),
and of Flowable."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orgflow.frontends.bpmn.reading import Reading

from orgflow_ir.model.bindings import PART, Field
from orgflow_ir.model.neighbours import note_folder

_EMBEDDED = "camunda-forms:bpmn:"
_DEPLOYED = "camunda-forms:deployment:"
_MOST_BYTES = 1_000_000
_MOST_FILES = 1_000
_MOST_DEPTH = 20
_RULES = ("min", "max", "minLength", "maxLength", "pattern")


def fields_of(r: Reading, key: str) -> tuple[Field, ...]:
    """The fields of the form that a task names by `key`: an id, or a key that contains the place of
    the form. Empty if there is no such form."""
    if key.startswith(_EMBEDDED):
        wanted = key.removeprefix(_EMBEDDED)
        text = next(
            (
                e.text
                for e in r.document.elements
                if e.local == "userTaskForm" and e.attrs.get("id") == wanted
            ),
            None,
        )
    else:
        text = _beside(r, key.removeprefix(_DEPLOYED))
    return read_form(text) if text is not None else ()


def read_form(text: str) -> tuple[Field, ...]:
    """The fields of a form, in order; empty if the text is not such a form."""
    try:
        form = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    if isinstance(form, dict) and isinstance(form.get("fields"), list):
        return tuple(_of_flowable(form))
    return tuple(_fields(form, 0))


def _beside(r: Reading, name: str) -> str | None:
    """The file of a form in the folder of the model: by its name, else by the id in it."""
    folder = Path(r.file).parent
    if not Path(r.file).is_file():  # a text that was given, or standard input
        return None
    note_folder(folder, (".form",))
    base = name.replace("\\", "/").rpartition("/")[2]
    files = sorted(folder.glob("*.form"))[:_MOST_FILES]
    for path in files:
        if path.name in (base, f"{base}.form"):
            return _text(path)
    for path in files:
        text = _text(path)
        if text is not None and _id(text) == name:
            return text
    return None


def _text(path: Path) -> str | None:
    try:
        if path.stat().st_size > _MOST_BYTES:
            return None
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def _id(text: str) -> object:
    try:
        form = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return (form.get("id") or form.get("key")) if isinstance(form, dict) else None


_CHOSEN = ("dropdown", "radio-buttons")
"""Types of Flowable's fields whose value is the name of an option."""

_SHOWN = ("expression", "hyperlink", "link", "headline", "headline-with-line", "spacer",
          "horizontal-line")  # fmt: skip
"""Types of Flowable's fields without an input."""


def _of_flowable(form: dict[str, Any]) -> Iterator[Field]:
    """The fields of a form definition of Flowable, and the variable that its outcome becomes."""
    fields = [one for one in form["fields"] if isinstance(one, dict)]
    for one in fields:
        nested = one.get("fields")
        if isinstance(nested, dict):  # of a container: lists by the number of a column
            columns = (c for c in nested.values() if isinstance(c, list))
            yield from _of_flowable({"fields": [field for c in columns for field in c]})
            continue
        kind, id = _word(one.get("type")), one.get("id")
        if kind in _SHOWN or not isinstance(id, str) or not id:
            continue
        options = one.get("options")
        names = [
            _word(o.get("name"))
            for o in (options if isinstance(options, list) else [])
            if isinstance(o, dict)
        ]
        default = one.get("value")
        yield Field(
            name=id,
            label=_word(one.get("name")),
            type=kind,
            default=_word(default) if isinstance(default, str | int | float | bool) else None,
            required=one.get("required") is True,
            values=tuple((n, n) for n in names if n) if kind in _CHOSEN else (),
            constraints=(("readonly", "true"),) if one.get("readOnly") is True else (),
        )
    outcomes = form.get("outcomes")
    names = [
        _word(o.get("name"))
        for o in (outcomes if isinstance(outcomes, list) else [])
        if isinstance(o, dict)
    ]
    key = form.get("key")
    if any(names) and isinstance(key, str):
        yield Field(
            name=form.get("outcomeVariableName") or f"form_{key}_outcome",
            label="Outcome",
            type="dropdown",
            required=True,
            values=tuple((n, n) for n in names if n),
        )


def _fields(part: object, depth: int, path: str = "") -> Iterator[Field]:
    components = part.get("components") if isinstance(part, dict) else None
    if not isinstance(components, list) or depth > _MOST_DEPTH:
        return
    for one in components:
        if not isinstance(one, dict):
            continue
        if one.get("type") in ("group", "columns"):
            within = one.get("path")
            inner = f"{path}{within}." if isinstance(within, str) and within else path
            yield from _fields(one, depth + 1, inner)
        elif isinstance(one.get("key"), str) and one["key"] and "components" not in one:
            yield _field(one, path)


def _field(one: dict[str, Any], path: str) -> Field:
    rules = one.get("validate")
    rules = rules if isinstance(rules, dict) else {}
    kind = _word(one.get("type"))
    if kind == "datetime":
        kind = "string" if one.get("subtype") == "time" else "date"
    if kind == "number" and one.get("serializeToString") is True:
        kind = "string"
    constraints = [(n, _word(rules[n])) for n in _RULES if n in rules]
    if one.get("readonly") is True or one.get("disabled") is True:
        constraints.append(("readonly", "true"))
    name = f"{path}{one['key']}"
    if all(word.isidentifier() for word in name.split(".")) and "." in name:
        constraints.append((PART, name))
    values = one.get("values")
    options = values if isinstance(values, list) else []
    default = one.get("defaultValue")
    return Field(
        name=name,
        label=_word(one.get("label")),
        type=kind,
        default=_word(default) if isinstance(default, str | int | float | bool) else None,
        required=rules.get("required") is True,
        values=tuple(
            (_word(o["value"]), _word(o.get("label")))
            for o in options
            if isinstance(o, dict) and "value" in o
        ),
        constraints=tuple(constraints),
    )


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""
