"""Forms of Camunda 7 and 8 as JSON (`form-js`): embedded in a process, or in a file beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from orgflow.frontends.bpmn.reading import Reading

from orgflow_ir.model.bindings import Field
from orgflow_ir.model.neighbours import note_folder

_EMBEDDED = "camunda-forms:bpmn:"
_DEPLOYED = "camunda-forms:deployment:"
_MOST_BYTES = 1_000_000
_MOST_FILES = 1_000
_MOST_DEPTH = 20
_RULES = ("min", "max", "minLength", "maxLength", "pattern")


def fields_of(r: Reading, key: str) -> tuple[Field, ...]:
    """The fields of the form that a task names by `key`: an id, or a key with the place of the
    form in it. Nothing where there is no such form."""
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
    """The fields of a form, in order; nothing where the text is no such form."""
    try:
        form = json.loads(text)
    except (ValueError, RecursionError):
        return ()
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
    return form.get("id") if isinstance(form, dict) else None


def _fields(part: object, depth: int) -> Iterator[Field]:
    components = part.get("components") if isinstance(part, dict) else None
    if not isinstance(components, list) or depth > _MOST_DEPTH:
        return
    for one in components:
        if not isinstance(one, dict):
            continue
        if one.get("type") in ("group", "columns"):
            yield from _fields(one, depth + 1)
        elif isinstance(one.get("key"), str) and one["key"] and "components" not in one:
            yield _field(one)


def _field(one: dict[str, Any]) -> Field:
    rules = one.get("validate")
    rules = rules if isinstance(rules, dict) else {}
    kind = _word(one.get("type"))
    if kind == "datetime":
        kind = "string" if one.get("subtype") == "time" else "date"
    constraints = [(n, _word(rules[n])) for n in _RULES if n in rules]
    if one.get("readonly") is True or one.get("disabled") is True:
        constraints.append(("readonly", "true"))
    values = one.get("values")
    options = values if isinstance(values, list) else []
    default = one.get("defaultValue")
    return Field(
        name=one["key"],
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
