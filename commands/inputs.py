"""The files of a command line: those named, and the models in folders."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from orgflow.compilation.input_sources import open_source, source_name
from orgflow.compilation.reading import FILE_KINDS, recognising_frontends
from orgflow.compilation.usage_errors import InputError

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Task
from orgflow_ir.model.bindings import Decision
from orgflow_ir.model.contained_paths import leads_out
from orgflow_ir.model.neighbours import NOT_MODELS
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.model.source import SourceKind
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Frontend
from orgflow_ir.reporting.text_reporter import make_printable

if TYPE_CHECKING:
    from orgflow.commands.session import Session

    from orgflow_ir.decisions import library
    from orgflow_ir.model import Model
else:  # decision tables only
    library = LazyModule("orgflow_ir.decisions.library")

_SHARED = (".json", ".xml", ".py", ".md", ".txt")
"""Suffixes that many other files share; the content of such a file decides."""


def expand_folders(paths: tuple[str, ...], session: Session) -> tuple[list[str], list[str]]:
    """The files, with folders replaced by the models in them, sorted; and the folders without
    any. Contexts of the session have the folders."""
    session.folders = tuple(dict.fromkeys(p for p in paths if p != "-" and os.path.isdir(p)))
    files: dict[str, None] = {}
    empty: list[str] = []
    for path in paths:
        if path == "-" or not os.path.isdir(path):
            files[path] = None
            continue
        models: list[str] = []
        for file in _walk_files(path):
            fitting = _frontends_for(file, session.registry.frontends)
            if fitting and leads_out(file, path):
                shown = make_printable(source_name(file))
                session.note(f"{shown} is a symbolic link out of {path}; it is not read")
            elif _is_model(file, fitting):
                models.append(file)
        if not models:
            empty.append(path)
        files.update(dict.fromkeys(models))
    return list(files), empty


def models_in(inputs: tuple[str, ...], session: Session) -> tuple[list[str], list[str]]:
    """The models that are meant, folders replaced by what is in them, and folders without any; a
    folder that a frontend reads as a whole stays."""
    if not any(path != "-" and os.path.isdir(path) for path in inputs):
        return list(dict.fromkeys(inputs)), []
    frontends = session.registry.frontends
    takers = [f for f in frontends.values() if SourceKind.FOLDER in f.accepts]
    if takers and len(inputs) == 1:
        return list(inputs), []
    return expand_folders(inputs, session)


def without_output(paths: list[str], inputs: Sequence[str], output: str | None) -> list[str]:
    """The models without those in the output folder, which an earlier compilation wrote; a file
    that was named stays."""
    if output in (None, "-") or not os.path.isdir(output or ""):
        return paths
    folder = os.path.join(os.path.realpath(output or ""), "")
    named = set(inputs)
    return [p for p in paths if p in named or not os.path.realpath(p).startswith(folder)]


def used_decisions(
    models: Sequence[Model], inputs: Sequence[str], session: Session
) -> frozenset[str]:
    """The files with decisions, in folders of the command, to which tasks of other models refer:
    the workflows of these models contain the decisions, so that they need none of their own. They
    are noted."""
    named = {source_name(path) for path in inputs}
    files = [
        model
        for model in models
        if model.source not in named and model.source.lower().endswith(library.SUFFIXES)
    ]
    if not files:
        return frozenset()
    sources = {model.source for model in files}
    wanted = {
        element.binding.decision
        for model in models
        if model.source not in sources
        for element in all_elements(model)
        if isinstance(element, Task) and isinstance(element.binding, Decision)
    }
    used = frozenset(m.source for m in files if any(p.id in wanted for p in m.processes))
    for source in sorted(used):
        session.note(f"{source} is part of the workflows that use it; name the file for its own")
    return used


def _walk_files(folder: str) -> Iterator[str]:
    """Files below a folder, without hidden ones and what tools make; links are not followed."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f not in NOT_MODELS)
        for name in sorted(names):
            path = os.path.join(place, name)
            if not name.startswith(".") and os.path.isfile(path):
                yield path


def _frontends_for(path: str, frontends: Mapping[str, Frontend]) -> list[Frontend]:
    """The frontends that read files with the suffix of a path."""
    name = os.path.basename(path).lower()
    return [
        f
        for f in frontends.values()
        if f.accepts & FILE_KINDS and any(name.endswith(s) for s in f.suffixes)
    ]


def _is_model(path: str, fitting: list[Frontend]) -> bool:
    """Whether one of the frontends for a path takes it: by a suffix of its own, or by a shared one
    and content."""
    name = os.path.basename(path).lower()
    if not fitting:
        return False
    if any(s not in _SHARED for f in fitting for s in f.suffixes if name.endswith(s)):
        return True
    try:
        with open_source(path) as source:
            return bool(recognising_frontends(source, fitting, PassContext()))
    except InputError:
        return False
