"""Processes that a model calls but does not contain, found by their id in files nearby.

Engines identify processes by key alone, whichever file deployed them, so a call names a process and
no file. Candidates are the files passed to the command, then the files in the folder of the calling
file. If several files define it differently, the one in the folder of the calling file counts.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Protocol, TypeGuard, TypeVar

from orgflow_ir.diagnostics import Severity
from orgflow_ir.flow.control_flow.calls import calls_in, find_callee
from orgflow_ir.model import CallActivity, Catalog, CatalogEntry, Model, Process
from orgflow_ir.model.contained_paths import is_foreign_link
from orgflow_ir.model.element_names import join_listed, title
from orgflow_ir.model.neighbours import LISTED, note_folder, note_given, noted_neighbours
from orgflow_ir.model.provenance import all_elements
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import SourceFile, told_apart
from orgflow_ir.model.value import Value
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Frontend
from orgflow_ir.plugins.guards import parse_guarded, sniff_guarded

MOST_FILES = 500
"""The maximum number of files examined per folder."""

MOST_BYTES = 32 * 1024 * 1024
"""Larger files are omitted."""

MOST_KEPT = 32
"""The maximum number of models of other files kept at a time."""

MOST_KNOWN = 2000
"""If a folder has more files, no models are kept."""

KEPT_BYTES = 256 * 1024
"""Larger files are read again for each call."""

_OF_MODELS = (".form", ".dmn", ".xml")
"""Suffixes of files that may belong to a model in the same folder: forms and decisions."""


class ProcessReader(Protocol):
    """A frontend whose files contain processes that other files call by id."""

    suffixes: tuple[str, ...]

    def may_hold(self, data: bytes, process: str) -> bool:
        """Whether a file may contain a process with this id, determined without parsing it."""


def with_called_processes(model: Model, ctx: PassContext) -> Model:
    """The model with the processes that it calls, directly and indirectly.

    Processes of the model take precedence, then those of files passed to the command, then those of
    files next to the calling file. Found processes become part of the model: ids that are taken get
    a suffix, and errors and escalations with the same code, and messages and signals with the same
    name, are merged. A call remains unchanged if its process is not found.
    """
    missing = [call for process in model.processes for call in _unresolved_calls(process, model)]
    if not missing:
        return model
    files = Neighbours(model, ctx)
    merged = _Merged(model)
    for call in missing:  # grows by the calls of what is found
        if find_callee(call, merged.model) is None:
            outcome = files.find(call)
            if isinstance(outcome, FoundProcess):
                missing += _unresolved_calls(merged.add(*outcome), merged.model)
    return merged.model


def named_process(call: CallActivity) -> str | None:
    """The id of the called process; `None` if the call has no id or computes it with an expression.
    A namespace prefix is ignored."""
    text = call.process
    if any(sign in text for sign in "${}#=") or not text.split():
        return None
    return text.rpartition(":")[2]


def _unresolved_calls(process: Process, model: Model) -> Iterator[CallActivity]:
    return (call for call in calls_in(process) if find_callee(call, model) is None)


class FoundProcess(NamedTuple):
    """A process of another file, with the model that contains it."""

    process: Process
    model: Model


class NotFound(NamedTuple):
    """Why the process of a call was not found, as a clause; `several`: whether several different
    processes match."""

    reason: str
    several: bool = False


def _reads_processes(frontend: object) -> TypeGuard[ProcessReader]:
    """Whether it is one; `isinstance` takes much longer to ask a protocol."""
    return callable(getattr(frontend, "may_hold", None)) and hasattr(frontend, "suffixes")


class Neighbours:
    """The files searched for called processes; each is parsed once."""

    def __init__(self, model: Model, ctx: PassContext) -> None:
        self.model, self.ctx = model, ctx
        registry = ctx.registry
        every: Iterable[object] = registry.frontends.values() if registry is not None else ()
        self.readers = [frontend for frontend in every if _reads_processes(frontend)]
        self.suffixes = tuple(suffix for reader in self.readers for suffix in reader.suffixes)
        self.models: dict[Path, Model | str] = {}
        self._folders: dict[str, _Folder] = {}
        note_given()

    def find(self, call: CallActivity) -> FoundProcess | NotFound:
        """The process that a call names."""
        name = named_process(call)
        if name is None:
            return NotFound("which is only known at run time")
        named = (call.loc.file if call.loc is not None else "") or self.model.source
        file = Path(named) if named.endswith(self.suffixes) else None
        given = self._given_files(file, name)
        beside = self._files_beside(file, name) if file is not None else ()
        # One process of a file may be looked at by itself: the others are still in the file.
        own = self._own_file(file, name) if file is not None else ()
        broken: list[str] = []
        for files in (own, given, beside):
            processes = self._read_candidates(name, files, broken)
            if processes:
                return _choose_process(processes, file)
        where = "this model" if file is None else "this model nor in a file next to it"
        place_text = f"which is {'neither' if file is not None else 'not'} in {where}"
        return NotFound("; ".join((place_text, *broken)))

    def _read_candidates(
        self, name: str, files: Iterable[tuple[_Folder, str]], broken: list[str]
    ) -> dict[Path, FoundProcess]:
        """The processes of an id in some files; why a file cannot be read is added to `broken`."""
        processes: dict[Path, FoundProcess] = {}
        for folder, candidate in files:
            model = self._read_holding(folder, candidate, name)
            if model is None:
                continue
            path = Path(folder.path, candidate)
            if isinstance(model, str):
                broken.append(f"`{path.name}` may contain it but cannot be read: {model}")
                continue
            process = next((p for p in model.processes if p.id == name and p.nodes), None)
            if process is not None:
                processes[path] = FoundProcess(process, model)
        return processes

    def _given_files(self, file: Path | None, process: str) -> Iterator[tuple[_Folder, str]]:
        """The files passed to the command that may have a process, but for the one that calls it,
        in their order."""
        own = None if file is None else os.path.abspath(file)
        not_there: dict[str, frozenset[str]] = {}
        for parent, name, absolute in _list_places(tuple(self.ctx.given), os.getcwd()):
            if absolute == own:
                continue
            folder = self._read_folder(parent)
            if parent not in not_there:
                holders = self._holding_files(folder, process)
                not_there[parent] = frozenset(folder.readable).difference(holders)
            if name not in not_there[parent]:
                yield folder, name

    def _files_beside(self, file: Path, process: str) -> Iterator[tuple[_Folder, str]]:
        """The files beside one that may have a process, in the order of their names."""
        folder = self._read_folder(str(file.parent))
        return (
            (folder, name) for name in self._holding_files(folder, process) if name != file.name
        )

    def _holding_files(self, folder: _Folder, process: str) -> tuple[str, ...]:
        """The files of a folder that may have a process. The result is cached until a file of the
        folder changes; it is not cached if a file cannot be read."""
        # Asking each of many files for every call takes longer than all passes together.
        readers = tuple(reader.may_hold for reader in self.readers)
        key = (readers, process, folder.path, folder.state)
        if folder.state is not None and key in _HOLDERS:
            return _HOLDERS[key]
        names, faulty = [], folder.state is None
        for name in folder.readable:
            try:
                if self._may_hold(folder, name, process) is not None:
                    names.append(name)
            except OSError:
                faulty = True
        holders = tuple(names)
        if not faulty:
            while len(_HOLDERS) >= MOST_FILES:
                del _HOLDERS[next(iter(_HOLDERS))]
            _HOLDERS[key] = holders
        return holders

    def _may_hold(self, folder: _Folder, file: str, name: str) -> ProcessReader | None:
        """The reader of a file that may have the process; `None` for other files. Raises
        `OSError`."""
        state = folder.files.get(file)
        if state is None or state.size > MOST_BYTES:
            return None
        for reader in self.readers:
            if file.endswith(reader.suffixes) and _may_hold(
                reader.may_hold, name, folder.path, file, state
            ):
                return reader
        return None

    def _own_file(self, file: Path, process: str) -> Iterator[tuple[_Folder, str]]:
        """The file itself, where an element of it has the id of the process: more than a call names
        it."""
        folder = self._read_folder(str(file.parent))
        state = folder.files.get(file.name)
        if state is None or state.size > MOST_BYTES:
            return
        pattern = rf"""\bid\s*=\s*["']{re.escape(process)}["']"""
        with contextlib.suppress(OSError):
            if _may_hold(_matches_pattern, pattern, folder.path, file.name, state):
                yield folder, file.name

    def _read_folder(self, path: str) -> _Folder:
        """The files of a folder, looked at once."""
        if path not in self._folders:
            note_folder(path, (*self.suffixes, *_OF_MODELS))
            listed = LISTED.get()
            key = (path, self.suffixes)
            if listed is None or key not in listed:
                listed = {} if listed is None else listed
                listed[key] = _list_files(path, self.suffixes)
            self._folders[path] = listed[key]
        return self._folders[path]

    def _read_holding(self, folder: _Folder, file: str, name: str) -> Model | str | None:
        """The model of a file that may have the process, or why the file cannot be read."""
        try:
            reader = self._may_hold(folder, file, name)
            if reader is None:
                return None
            path = Path(folder.path, file)
            if path not in self.models:
                changed = self.ctx.changed.get(os.path.abspath(path))
                self.models[path] = changed or self._read_model(reader, path, folder.state)
            return self.models[path]
        except OSError:
            return None

    def _read_model(self, reader: ProcessReader, path: Path, state: Hashable) -> Model | str:
        """See `_read_holding`. A model is kept until a file of its folder changes: forms and
        decisions beside it belong to it. Raises `OSError`."""
        key = (reader.may_hold, os.path.abspath(path), state)
        if state is not None and key in _READ:
            return _READ[key]
        with noted_neighbours() as noted:
            model = self._parse_model(reader, SourceFile(str(path), path.read_bytes()))
        # The state is that of the folder alone.
        if state is not None and all(folder == str(path.parent) for folder, _ in noted.folders):
            while len(_READ) >= MOST_KEPT:
                del _READ[next(iter(_READ))]
            _READ[key] = model
        return model

    def _parse_model(self, reader: ProcessReader, source: SourceFile) -> Model | str:
        quiet = PassContext(
            registry=self.ctx.registry, services=self.ctx.services, given=self.ctx.given,
            folders=self.ctx.folders,
        )  # fmt: skip
        assert isinstance(reader, Frontend)
        if not sniff_guarded(reader, source, quiet):
            return "it is in another format"
        model = parse_guarded(reader, source, quiet)
        errors = (d.message for d in quiet.diagnostics if d.severity is Severity.ERROR)
        error = next(errors, None)
        if error is not None or model is None:
            return error or "it has no model"
        return model


def _choose_process(
    processes: dict[Path, FoundProcess], file: Path | None
) -> FoundProcess | NotFound:
    """The one process that several files define alike; of different ones that beside the calling
    `file`, as where that is compiled alone."""
    if not _are_same(processes.values()) and file is not None:
        here = os.path.abspath(file.parent)
        near = {p: there for p, there in processes.items() if os.path.abspath(p.parent) == here}
        processes = near or processes
    if _are_same(processes.values()):
        return next(iter(processes.values()))
    names = join_listed(f"`{name}`" for name in told_apart(processes))
    return NotFound(f"which is defined differently in {names}", several=True)


def _are_same(processes: Collection[FoundProcess]) -> bool:
    first, *others = processes
    return all(candidate.process == first.process for candidate in others)


class _File(NamedTuple):
    """What changes when a file does: nanoseconds and bytes."""

    modified: int
    size: int


class _Folder(NamedTuple):
    """The files of a folder by name, and the names of those that readers read, in order; `state`
    changes when one of them does, `None` where there are too many to tell."""

    path: str
    files: Mapping[str, _File]
    readable: tuple[str, ...]
    state: Hashable


_READ: dict[Hashable, Model | str] = {}
"""Models of files that contain called processes, and the errors of unreadable ones."""


_HOLDERS: dict[Hashable, tuple[str, ...]] = {}
"""Names of the files in a folder that may contain a process."""


def _list_files(folder: str, suffixes: tuple[str, ...]) -> _Folder:
    states: dict[str, _File] = {}
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            state = _file_state(entry)
            if state is not None:
                states[entry.name] = state
    readable = sorted([name for name in states if name.endswith(suffixes)])[:MOST_FILES]
    known = _one_of_equal(frozenset(states.items())) if len(states) <= MOST_KNOWN else None
    return _Folder(folder, states, tuple(readable), known)


def _file_state(entry: os.DirEntry[str]) -> _File | None:
    """The state of a file; `None` for a folder, and for what cannot be looked at."""
    try:
        if not entry.is_file() or (entry.is_symlink() and is_foreign_link(entry.path)):
            return None
        state = entry.stat()
    except OSError:
        return None
    return _File(state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=MOST_KEPT)
def _one_of_equal(states: frozenset[tuple[str, _File]]) -> frozenset[tuple[str, _File]]:
    """The first of equal arguments: keys with it are compared without comparing each file."""
    return states


@lru_cache(maxsize=8 * MOST_FILES)
def _may_hold(
    may_hold: Callable[[bytes, str], bool], name: str, folder: str, file: str, state: _File
) -> bool:
    """Whether a file may hold a process. Remembered until the file changes: the calls of a model,
    and of the models of a folder, look into the same files. Raises `OSError`."""
    path = os.path.join(folder, file)
    if state.size > KEPT_BYTES:
        return may_hold(Path(path).read_bytes(), name)
    return may_hold(_small_file(path, state), name)


@lru_cache(maxsize=MOST_FILES)
def _small_file(path: str, state: _File) -> bytes:
    """The content of a file, read once until it changes."""
    del state
    return Path(path).read_bytes()


def _matches_pattern(data: bytes, pattern: str) -> bool:
    return re.search(pattern.encode(), data) is not None


@lru_cache(maxsize=2)
def _list_places(given: tuple[str, ...], here: str) -> tuple[tuple[str, str, str], ...]:
    """The files passed to a command that runs in a folder: the folder, the name and the absolute
    path of each."""
    paths = [Path(path) for path in given if path != "-"]
    return tuple((str(p.parent), p.name, os.path.join(here, os.path.abspath(p))) for p in paths)


class _Merged:
    """A model that takes over processes of others."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.taken = {model.id, *(element.id for element in all_elements(model))}

    def add(self, process: Process, source: Model) -> Process:
        """Take over a process, and what it refers to; what it became."""
        ids: dict[str, str] = {}
        catalog = self._merge_catalog(source.catalog, ids)
        renamed_source = source.replace(
            processes=(process,), pools=(), message_flows=(), catalog=Catalog(), artifacts=(),
            correlation_keys=(), opaque=(), diagram=None,
        )  # fmt: skip
        for element in all_elements(renamed_source):
            if element is not renamed_source:
                ids[element.id] = self._free_id(element.id, process.id)
        named = process.replace(name=title(source, process))
        renamed: Process = rename_ids(named, ids)
        before = self.model
        self.model = before.replace(processes=(*before.processes, renamed), catalog=catalog)
        if renamed.id != process.id:  # an element of the caller has the id of the process

            def redirect_call(call: CallActivity) -> CallActivity:
                wanted = named_process(call) == process.id
                return call.replace(called=renamed.id) if wanted else call

            self.model = _with_calls(self.model, redirect_call)
        return next(p for p in self.model.processes if p.id == renamed.id)

    def _free_id(self, wanted: str, process: str) -> str:
        free_id, number = wanted, 1
        while free_id in self.taken:
            number += 1
            free_id = f"{wanted}_{process}" if number == 2 else f"{wanted}_{process}_{number - 1}"
        self.taken.add(free_id)
        return free_id

    def _merge_catalog(self, other: Catalog, ids: dict[str, str]) -> Catalog:
        """The catalogue with the entries of another: one of the same code or name is the same."""
        own = self.model.catalog
        entries_by_kind: dict[str, tuple[CatalogEntry, ...]] = {}
        for kind in ("messages", "signals", "errors", "escalations"):
            entries: list[CatalogEntry] = list(getattr(own, kind))
            for entry in getattr(other, kind):
                key = _entry_meaning(kind, entry)
                same = next((e for e in entries if key and _entry_meaning(kind, e) == key), None)
                if same is None:
                    same = entry.replace(id=self._free_id(entry.id, kind))
                    entries.append(same)
                ids[entry.id] = same.id
            entries_by_kind[kind] = tuple(entries)
        return Catalog(**entries_by_kind)


def _entry_meaning(kind: str, entry: CatalogEntry) -> str:
    """What makes two entries the same for an engine."""
    return (entry.code if kind in ("errors", "escalations") else entry.name.strip()) or ""


_REFERENCES = frozenset(
    {"id", "source", "target", "attached_to", "parent", "ref", "message", "lane_set", "members"}
)
"""Fields of elements that contain ids."""

_TEXTS = frozenset({"binding", "extra", "loc", "mapping", "evidence"})
"""Fields that never contain an id."""

V = TypeVar("V", bound=Value)


def rename_ids(value: V, ids: Mapping[str, str]) -> V:
    """A value with other ids, and references to them, in all of its parts."""
    changes: dict[str, object] = {}
    for name, part in value.__dict__.items():
        if name in _TEXTS or part is None:
            continue
        if isinstance(part, str):
            if name in _REFERENCES and part in ids:
                changes[name] = ids[part]
        elif isinstance(part, Value):
            changes[name] = rename_ids(part, ids)
        elif isinstance(part, tuple):
            changes[name] = tuple(
                rename_ids(item, ids) if isinstance(item, Value)
                else ids.get(item, item) if isinstance(item, str) and name in _REFERENCES
                else item
                for item in part
            )  # fmt: skip
    return value.replace(**changes) if changes else value


def _with_calls(model: Model, change: Callable[[CallActivity], CallActivity]) -> Model:
    """The model with other calls."""

    def change_inside(value: V) -> V:
        if isinstance(value, CallActivity):
            return change(value)  # type: ignore[return-value]  # a call stays one
        parts = {
            name: tuple(change_inside(item) for item in part)
            for name, part in value.__dict__.items()
            if name in ("processes", "nodes")
        }
        return value.replace(**parts) if parts else value

    return change_inside(model)
