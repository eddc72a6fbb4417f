"""Forms as JSON, embedded in a process or in a file nearby: of Camunda 7 and 8 (`form-js`), and of
Flowable."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from orgflow.frontends.bpmn.bpmn_reading import Reading
from orgflow.frontends.bpmn.reading_rules import AmbiguousForm
from orgflow.frontends.xml.tree import XmlElement

from orgflow_ir.model.bindings import PART, Field
from orgflow_ir.model.contained_paths import is_foreign_link, leads_out
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.neighbours import LISTED, NOT_MODELS, note_folder, note_given
from orgflow_ir.model.source import told_apart
from orgflow_ir.pipeline import PassContext

_EMBEDDED = "camunda-forms:bpmn:"
_PLACES = ("camunda-forms:deployment:", "camunda-forms:app:", "camunda-forms:")
"""Prefixes of keys that name the file of a form."""

_OF_PAGES = ("embedded:", "app:", "external:", "http:", "https:", "=")
"""Beginnings of keys that name no form of these formats: pages, addresses, expressions."""

_MOST_BYTES = 1_000_000
_MOST_FILES = 1_000
_MOST_FOLDERS = 2_000
_MOST_DEPTH = 20
_SUFFIX = ".form"
_MARKS = (".git", "pom.xml", "build.gradle", "build.gradle.kts", "package.json", "orgflow.toml")
"""Files that mark the root of a project."""

_RULES = ("min", "max", "minLength", "maxLength", "pattern")


def fields_of(r: Reading, key: str, node: XmlElement) -> tuple[Field, ...]:
    """The fields of the form that a task (`node`) names by `key`: an id, or a key that contains the
    place of the form. Empty if there is no such form, or if several differ, which is reported."""
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
        text = _in_files(r, key, node)
    return read_form(text) if text is not None else ()


def read_form(text: str) -> tuple[Field, ...]:
    """The fields of a form, in order; empty if the text is not such a form."""
    try:
        form = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    if isinstance(form, dict) and isinstance(form.get("fields"), list):
        return tuple(_of_flowable(form))
    return tuple(_list_fields(form, 0))


def _in_files(r: Reading, key: str, node: XmlElement) -> str | None:
    """The text of the form that a key names: next to the model, otherwise in the places where
    projects keep forms, otherwise in the files and folders of the command."""
    if not Path(r.file).is_file():  # a text that was given, or standard input
        return None
    if key.startswith(_OF_PAGES) or any(sign in key for sign in "${}#"):
        return None
    prefix = next((place_prefix for place_prefix in _PLACES if key.startswith(place_prefix)), "")
    place = key.removeprefix(prefix).replace("\\", "/").lstrip("/")
    by_file = bool(prefix) or place.endswith(_SUFFIX)
    folder = Path(r.file).parent
    for files in (
        _list_files(folder),
        _of_project(folder, r.ctx),
        _of_command(r.ctx),
    ):
        matching = _matching_forms(place, list(dict.fromkeys(files)), by_file=by_file)
        if len({text for _, text in matching}) > 1:
            names = join_listed(f"`{name}`" for name in told_apart([path for path, _ in matching]))
            r.report(
                AmbiguousForm,
                f"the form `{place}` of {r.describe_part(node)} is defined differently in {names}",
                node,
                help="put the form next to the model, or remove the others",
            )
            return None
        if matching:
            return matching[0][1]
    return None


def _matching_forms(place: str, files: Sequence[Path], *, by_file: bool) -> list[tuple[Path, str]]:
    """The forms with this id or name, with their texts; of files with the name, those in the
    folders that `place` names."""
    base = place.rpartition("/")[2]
    named = [path for path in files if path.name in (base, f"{base}{_SUFFIX}")]
    at_place = [path for path in named if path.as_posix().endswith(f"/{place}")]
    with_name = [
        (path, text) for path in at_place or named if (text := _form_text(path)) is not None
    ]
    if by_file and with_name:
        return with_name
    texts = [(path, text) for path in files if (text := _form_text(path)) is not None]
    return [(path, text) for path, text in texts if _form_id(text) == place] or with_name


def _of_project(folder: Path, ctx: PassContext) -> Iterator[Path]:
    """Forms of the project that a folder with models belongs to: those in folders `forms` in it or
    beside it, and in the resources and pages of a Java project."""
    root = _project_root(folder, ctx)
    here = Path(os.path.abspath(folder))
    for at in (here, *here.parents):
        if at.name in ("resources", "webapp") and at.parent.parent.name == "src":
            for main in dict.fromkeys((at.parent, at.parent.parent / "main")):
                yield from _files_below(main / "resources")
                yield from _files_below(main / "webapp")
        yield from _files_below(at / "forms")
        if at == root:
            return


def _project_root(folder: Path, ctx: PassContext) -> Path:
    """The folder of the project: the nearest one with a file that marks it, or around the sources
    of a Java project, otherwise one that was named."""
    here = Path(os.path.abspath(folder))
    above = (here, *here.parents)
    for at in above:
        if any((at / mark).exists() for mark in _MARKS) or (at / "src" / "main").is_dir():
            return at
    named = {Path(os.path.abspath(folder_name)) for folder_name in ctx.folders}
    return next((at for at in above if at in named), here)


def _of_command(ctx: PassContext) -> Iterator[Path]:
    """Forms in the folders of the command, and next to its files."""
    note_given()
    for named in ctx.folders:
        yield from _files_below(Path(os.path.abspath(named)))
    for given in dict.fromkeys(os.path.dirname(os.path.abspath(p)) for p in ctx.given if p != "-"):
        yield from _list_files(Path(given))


def _files_below(folder: Path) -> Sequence[Path]:
    """The files of forms in a folder and in those below it, in order; folders that tools make are
    omitted."""
    kept = LISTED.get()
    key = ("forms", folder)
    if kept is not None and key in kept:
        places, paths = kept[key]
    else:
        places, paths = [], []
        for place, folders, names in os.walk(folder):
            folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in NOT_MODELS)
            places.append(place)
            files = (Path(place, name) for name in sorted(names) if name.endswith(_SUFFIX))
            paths += (path for path in files if not leads_out(path, folder))
            if len(paths) > _MOST_FILES or len(places) > _MOST_FOLDERS:
                break
        if kept is not None:
            kept[key] = places, paths
    for place in places or [folder]:
        note_folder(place, (_SUFFIX, "/"))
    some: list[Path] = paths[:_MOST_FILES]
    return some


def _list_files(folder: Path) -> Sequence[Path]:
    """The files of forms in a folder, in order."""
    note_folder(folder, (_SUFFIX,))
    paths = sorted(folder.glob(f"*{_SUFFIX}"))[:_MOST_FILES]
    return [path for path in paths if not is_foreign_link(path)]


def _form_text(path: Path) -> str | None:
    try:
        state = path.stat()
    except OSError:
        return None
    return _read_form(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=_MOST_FILES)
def _read_form(path: Path, modified: int, size: int) -> str | None:
    """The text of a form, read once until the file changes."""
    del modified
    try:
        return path.read_text(encoding="utf-8") if size <= _MOST_BYTES else None
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=_MOST_FILES)
def _form_id(text: str) -> object:
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


def _option_names(options: object) -> list[str]:
    """The names of options or outcomes."""
    listed = options if isinstance(options, list) else []
    return [_value_word(o.get("name")) for o in listed if isinstance(o, dict)]


def _flowable_field(field: dict[str, Any], id: str, kind: str) -> Field:
    names = _option_names(field.get("options"))
    default = field.get("value")
    return Field(
        name=id,
        label=_value_word(field.get("name")),
        type=kind,
        default=_value_word(default) if isinstance(default, str | int | float | bool) else None,
        required=field.get("required") is True,
        values=tuple((n, n) for n in names if n) if kind in _CHOSEN else (),
        constraints=(("readonly", "true"),) if field.get("readOnly") is True else (),
    )


def _of_flowable(form: dict[str, Any]) -> Iterator[Field]:
    """The fields of a form definition of Flowable, and the variable that its outcome becomes."""
    fields = [field for field in form["fields"] if isinstance(field, dict)]
    for field in fields:
        nested = field.get("fields")
        if isinstance(nested, dict):  # of a container: lists by the number of a column
            columns = (c for c in nested.values() if isinstance(c, list))
            yield from _of_flowable({"fields": [field for c in columns for field in c]})
            continue
        kind, id = _value_word(field.get("type")), field.get("id")
        if kind not in _SHOWN and isinstance(id, str) and id:
            yield _flowable_field(field, id, kind)
    names = _option_names(form.get("outcomes"))
    key = form.get("key")
    if any(names) and isinstance(key, str):
        yield Field(
            name=form.get("outcomeVariableName") or f"form_{key}_outcome",
            label="Outcome",
            type="dropdown",
            required=True,
            values=tuple((n, n) for n in names if n),
        )


def _list_fields(part: object, depth: int, path: str = "") -> Iterator[Field]:
    components = part.get("components") if isinstance(part, dict) else None
    if not isinstance(components, list) or depth > _MOST_DEPTH:
        return
    for component in components:
        if not isinstance(component, dict):
            continue
        if component.get("type") in ("group", "columns"):
            within = component.get("path")
            inner = f"{path}{within}." if isinstance(within, str) and within else path
            yield from _list_fields(component, depth + 1, inner)
        elif (
            isinstance(component.get("key"), str)
            and component["key"]
            and "components" not in component
        ):
            yield _read_field(component, path)


def _read_field(component: dict[str, Any], path: str) -> Field:
    rules = component.get("validate")
    rules = rules if isinstance(rules, dict) else {}
    kind = _value_word(component.get("type"))
    if kind == "datetime":
        kind = "string" if component.get("subtype") == "time" else "date"
    if kind == "number" and component.get("serializeToString") is True:
        kind = "string"
    constraints = [(n, _value_word(rules[n])) for n in _RULES if n in rules]
    if component.get("readonly") is True or component.get("disabled") is True:
        constraints.append(("readonly", "true"))
    name = f"{path}{component['key']}"
    if all(word.isidentifier() for word in name.split(".")) and "." in name:
        constraints.append((PART, name))
    values = component.get("values")
    options = values if isinstance(values, list) else []
    default = component.get("defaultValue")
    return Field(
        name=name,
        label=_value_word(component.get("label")),
        type=kind,
        default=_value_word(default) if isinstance(default, str | int | float | bool) else None,
        required=rules.get("required") is True,
        values=tuple(
            (_value_word(o["value"]), _value_word(o.get("label")))
            for o in options
            if isinstance(o, dict) and "value" in o
        ),
        constraints=tuple(constraints),
    )


def _value_word(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value) if isinstance(value, int | float) else ""
