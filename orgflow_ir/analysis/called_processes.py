"""Processes that a model calls and does not have, found by their id in the files beside it.

Engines know processes by their key alone, whichever file deployed them, so that a call names a
process and no file. Here they are looked for in the files that a command was given, then in the
folder of the file that holds the call.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar, runtime_checkable

from orgflow_ir.analysis.calls import callee, calls_in
from orgflow_ir.diagnostics import Severity
from orgflow_ir.model import CallActivity, Catalog, CatalogEntry, Model, Process
from orgflow_ir.model.element_names import listed, title
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.model.source import SourceFile
from orgflow_ir.model.value import Value
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.guards import parsed, sniffed

MOST_FILES = 500
"""So many files of one folder are looked at."""

MOST_BYTES = 32 * 1024 * 1024
"""Larger files are left out."""

KEPT_BYTES = 256 * 1024
"""Larger files are read again for each call."""


@runtime_checkable
class ProcessReader(Protocol):
    """A frontend whose files hold processes that others call by their id."""

    suffixes: tuple[str, ...]

    def may_hold(self, data: bytes, process: str) -> bool:
        """Whether a file may hold a process with this id: found without parsing it."""


def with_called_processes(model: Model, ctx: PassContext) -> Model:
    """The model with the processes that it calls, and those that these call.

    A process of the model goes before all others, then come the files that the command was given,
    then those beside the file of the call. What is found becomes part of the model: ids that are
    taken get a suffix, errors and escalations of one code, and messages and signals of one name,
    become one. A call whose process is not found stays as it is.
    """
    missing = [call for process in model.processes for call in _unresolved(process, model)]
    if not missing:
        return model
    files = Neighbours(model, ctx)
    merged = _Merged(model)
    for call in missing:  # grows by the calls of what is found
        if callee(call, merged.model) is None:
            found = files.find(call)
            if isinstance(found, FoundProcess):
                missing += _unresolved(merged.add(*found), merged.model)
    return merged.model


def named_process(call: CallActivity) -> str | None:
    """The id of the process that a call names; `None` where it names none, or an expression does:
    a prefix of its namespace says nothing."""
    text = call.process
    if any(sign in text for sign in "${}#=") or not text.split():
        return None
    return text.rpartition(":")[2]


def _unresolved(process: Process, model: Model) -> Iterator[CallActivity]:
    return (call for call in calls_in(process) if callee(call, model) is None)


class FoundProcess(NamedTuple):
    """A process of another file, with the model that has it."""

    process: Process
    model: Model


class NotFound(NamedTuple):
    """Why the process of a call is not found, as a clause; `several`: there are different ones."""

    reason: str
    several: bool = False


class Neighbours:
    """The files in which the processes are looked for that a model calls; each is parsed once."""

    def __init__(self, model: Model, ctx: PassContext) -> None:
        self.model, self.ctx = model, ctx
        self.given = [Path(path) for path in ctx.given if path != "-"]
        registry = ctx.registry
        every: Iterable[object] = registry.frontends.values() if registry is not None else ()
        self.readers = [one for one in every if isinstance(one, ProcessReader)]
        self.suffixes = tuple(suffix for reader in self.readers for suffix in reader.suffixes)
        self.models: dict[Path, Model | str] = {}

    def find(self, call: CallActivity) -> FoundProcess | NotFound:
        """The process that a call names."""
        name = named_process(call)
        if name is None:
            return NotFound("which shows in a run only")
        named = (call.loc.file if call.loc is not None else "") or self.model.source
        file = Path(named) if named.endswith(self.suffixes) else None
        given = [p for p in self.given if file is None or not _same(p, file)]
        beside = self._beside(file) if file is not None else []
        broken: list[str] = []
        for paths in (map(str, given), beside):
            found: dict[Path, FoundProcess] = {}
            for text in paths:
                held = self._holding(text, name)
                if held is None:
                    continue
                path, model = held
                if isinstance(model, str):
                    broken.append(f"`{path.name}` may have it and cannot be read: {model}")
                else:
                    process = next((p for p in model.processes if p.id == name and p.nodes), None)
                    if process is not None:
                        found[path] = FoundProcess(process, model)
            if found:
                first, *others = found.values()
                if all(one.process == first.process for one in others):
                    return first
                names = listed(f"`{path.name}`" for path in found)
                return NotFound(f"which is another one in each of {names}", several=True)
        where = "this model" if file is None else "this model nor in a file beside it"
        said = f"which is {'neither' if file is not None else 'not'} in {where}"
        return NotFound("; ".join((said, *broken)))

    def _beside(self, file: Path) -> list[str]:
        """The files beside one that readers read, in the order of their names."""
        try:
            names = sorted(n for n in os.listdir(file.parent) if n.endswith(self.suffixes))
        except OSError:
            return []
        folder = os.path.join(file.parent, "")
        return [folder + name for name in names[:MOST_FILES] if name != file.name]

    def _holding(self, text: str, name: str) -> tuple[Path, Model | str] | None:
        """A file that may have the process and its model, or why it cannot be read."""
        try:
            found = os.stat(text)
            if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
                return None
            for reader in self.readers:
                if not text.endswith(reader.suffixes):
                    continue
                if _may_hold(reader.may_hold, name, text, found.st_mtime_ns, found.st_size):
                    path = Path(text)
                    if path not in self.models:
                        source = SourceFile(str(path), path.read_bytes())
                        self.models[path] = self._parsed(reader, source)
                    return path, self.models[path]
        except OSError:
            return None
        return None

    def _parsed(self, reader: ProcessReader, source: SourceFile) -> Model | str:
        from orgflow_ir.plugins.contracts import Frontend

        quiet = PassContext(registry=self.ctx.registry, services=self.ctx.services)
        assert isinstance(reader, Frontend)
        if not sniffed(reader, source, quiet):
            return "it is in another format"
        model = parsed(reader, source, quiet)
        errors = (d.message for d in quiet.diagnostics if d.severity is Severity.ERROR)
        error = next(errors, None)
        if error is not None or model is None:
            return error or "it has no model"
        return model


@lru_cache(maxsize=8 * MOST_FILES)
def _may_hold(
    may_hold: Callable[[bytes, str], bool], name: str, path: str, modified: int, size: int
) -> bool:
    """Whether a file may hold a process. Remembered until the file changes: the calls of a model,
    and of the models of a folder, look into the same files. Raises `OSError`."""
    if size > KEPT_BYTES:
        return may_hold(Path(path).read_bytes(), name)
    return may_hold(_small_file(path, modified, size), name)


@lru_cache(maxsize=MOST_FILES)
def _small_file(path: str, modified: int, size: int) -> bytes:
    """The content of a file, read once until it changes."""
    del modified, size
    return Path(path).read_bytes()


def _same(one: Path, other: Path) -> bool:
    return os.path.abspath(one) == os.path.abspath(other)


class _Merged:
    """A model that takes over processes of others."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.taken = {model.id, *(element.id for element in all_elements(model))}

    def add(self, process: Process, source: Model) -> Process:
        """Take over a process, and what it refers to; what it became."""
        ids: dict[str, str] = {}
        catalog = self._catalog(source.catalog, ids)
        one = source.replace(
            processes=(process,), pools=(), message_flows=(), catalog=Catalog(), artifacts=(),
            correlation_keys=(), opaque=(), diagram=None,
        )  # fmt: skip
        for element in all_elements(one):
            if element is not one:
                ids[element.id] = self._free(element.id, process.id)
        named = process.replace(name=title(source, process))
        renamed: Process = _renamed(named, ids)
        before = self.model
        self.model = before.replace(processes=(*before.processes, renamed), catalog=catalog)
        if renamed.id != process.id:  # an element of the caller has the id of the process

            def called(call: CallActivity) -> CallActivity:
                wanted = named_process(call) == process.id
                return call.replace(called=renamed.id) if wanted else call

            self.model = _with_calls(self.model, called)
        return next(p for p in self.model.processes if p.id == renamed.id)

    def _free(self, wanted: str, process: str) -> str:
        found, number = wanted, 1
        while found in self.taken:
            number += 1
            found = f"{wanted}_{process}" if number == 2 else f"{wanted}_{process}_{number - 1}"
        self.taken.add(found)
        return found

    def _catalog(self, other: Catalog, ids: dict[str, str]) -> Catalog:
        """The catalogue with the entries of another: one of the same code or name is the same."""
        own = self.model.catalog
        made: dict[str, tuple[CatalogEntry, ...]] = {}
        for kind in ("messages", "signals", "errors", "escalations"):
            entries: list[CatalogEntry] = list(getattr(own, kind))
            for entry in getattr(other, kind):
                key = _meaning(kind, entry)
                same = next((e for e in entries if key and _meaning(kind, e) == key), None)
                if same is None:
                    same = entry.replace(id=self._free(entry.id, kind))
                    entries.append(same)
                ids[entry.id] = same.id
            made[kind] = tuple(entries)
        return Catalog(**made)


def _meaning(kind: str, entry: CatalogEntry) -> str:
    """What makes two entries the same for an engine."""
    return (entry.code if kind in ("errors", "escalations") else entry.name.strip()) or ""


_REFERENCES = frozenset(
    {"id", "source", "target", "attached_to", "parent", "ref", "message", "lane_set", "members"}
)
"""Fields of elements that hold ids."""

_TEXTS = frozenset({"binding", "extra", "loc", "mapping", "evidence"})
"""Fields in which nothing is an id."""

V = TypeVar("V", bound=Value)


def _renamed(value: V, ids: Mapping[str, str]) -> V:
    """A value with other ids, and references to them, in all of its parts."""
    changes: dict[str, object] = {}
    for name, part in value.__dict__.items():
        if name in _TEXTS or part is None:
            continue
        if isinstance(part, str):
            if name in _REFERENCES and part in ids:
                changes[name] = ids[part]
        elif isinstance(part, Value):
            changes[name] = _renamed(part, ids)
        elif isinstance(part, tuple):
            changes[name] = tuple(
                _renamed(one, ids) if isinstance(one, Value)
                else ids.get(one, one) if isinstance(one, str) and name in _REFERENCES
                else one
                for one in part
            )  # fmt: skip
    return value.replace(**changes) if changes else value


def _with_calls(model: Model, change: Callable[[CallActivity], CallActivity]) -> Model:
    """The model with other calls."""

    def inside(value: V) -> V:
        if isinstance(value, CallActivity):
            return change(value)  # type: ignore[return-value]  # a call stays one
        parts = {
            name: tuple(inside(one) for one in part)
            for name, part in value.__dict__.items()
            if name in ("processes", "nodes")
        }
        return value.replace(**parts) if parts else value

    return inside(model)
