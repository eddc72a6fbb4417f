"""The output of a backend: files, the map from their parts to elements, and the backend's own
data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from orgflow_ir.model import Model
from orgflow_ir.model.provenance import all_elements, source_ids
from orgflow_ir.model.records import NamedTuple, dataclass

STANDING_ROLES = frozenset({"element", "trigger"})
"""Roles of parts whose execution is the execution of their element."""

STUB_ROLE = "stub"
"""The role of parts that stop a run in place of an unsupported element."""

PASSIVE_ROLES = frozenset({"file", "flow", "lane", "note", "shape"})
"""Roles of parts that no engine executes: a whole file, a connection, a frame, a text, a shape."""


class Artifact(NamedTuple):
    """A file to write: its path relative to the output folder, and its text."""

    path: str
    text: str


class Part(NamedTuple):
    """A part of an emitted file and its source elements.

    Attributes:
        artifact: path of the file.
        place: the place in it, in the target's notation: a JSON Pointer, an XML id, a node's name;
            empty for the whole file.
        role: one of `STANDING_ROLES` or `PASSIVE_ROLES`, `STUB_ROLE`, or the target's own word for
            an auxiliary part: `join`, `stop`, `decide` …
        elements: ids of the source elements.
        name: its visible name in the target; empty if it has no name.
        kind: its kind in the target, in words.
        process: id of the process it belongs to; empty if the file covers several.
        placeholder: whether it does none of the work of its elements until it is filled in.
    """

    artifact: str
    place: str
    role: str
    elements: tuple[str, ...]
    name: str = ""
    kind: str = ""
    process: str = ""
    placeholder: bool = False

    @property
    def stands(self) -> bool:
        """Whether its execution is the execution of its elements."""
        return self.role in STANDING_ROLES

    @property
    def executes(self) -> bool:
        """Whether an engine executes it."""
        return self.role not in PASSIVE_ROLES


def json_pointer(*keys: str | int) -> str:
    """A place in a JSON file, as a JSON Pointer (RFC 6901)."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys)


class SourceMap:
    """The map between emitted parts and source elements, built on first use.

    Every element of the emitted model belongs to a part, or is `silent`, that is, nothing was
    emitted for it.

    Args:
        model: the model that was emitted.
        parts: returns the parts, in the order of the files.

    Example:
        >>> made = SourceMap(model, lambda: [Part("a.json", "/steps/0", "element", ("check",))])
        >>> made.of_element("check")[0].place
        '/steps/0'
    """

    def __init__(self, model: Model, parts: Callable[[], Iterable[Part]]) -> None:
        self._model = model
        self._make = parts

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles hold the parts, not what makes them."""
        return _source_map, (self._model, self.parts)

    def moved(self, paths: Mapping[str, str]) -> SourceMap:
        """The same map for files with other paths, given by their old ones."""
        return SourceMap(
            self._model,
            lambda: [p._replace(artifact=paths.get(p.artifact, p.artifact)) for p in self.parts],
        )

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Every emitted part, in the order of the files."""
        return tuple(self._make())

    @cached_property
    def silent(self) -> tuple[str, ...]:
        """Source elements without any part, in model order."""
        return tuple(id for id in _list_sources(self._model) if id not in self._by_element)

    def of_element(self, element: str) -> tuple[Part, ...]:
        """The parts of a source element, those that stand for it first."""
        return self._by_element.get(element, ())

    def at(self, artifact: str, place: str) -> Part | None:
        """The part at a place of a file."""
        return self._by_place.get((artifact, place))

    @cached_property
    def _by_element(self) -> Mapping[str, tuple[Part, ...]]:
        parts: dict[str, list[Part]] = {}
        for part in self.parts:
            for element in part.elements:
                parts.setdefault(element, []).append(part)
        return {e: tuple(sorted(p, key=lambda part: not part.stands)) for e, p in parts.items()}

    @cached_property
    def _by_place(self) -> Mapping[tuple[str, str], Part]:
        return {(part.artifact, part.place): part for part in self.parts}


def _list_sources(model: Model) -> tuple[str, ...]:
    return tuple(dict.fromkeys(id for e in all_elements(model) for id in source_ids(e)))


def _source_map(model: Model, parts: tuple[Part, ...]) -> SourceMap:
    return SourceMap(model, lambda: parts)


@dataclass(frozen=True, eq=False, repr=False)
class Emitted:
    """What `Backend.emit` returns.

    Attributes:
        artifacts: the files; empty after an error.
        source_map: the map from their parts to source elements.
        compiled: the backend's own data for each process, by id. Only the backend's own
            runner, `verify` and deployer use it, in the process that compiled; copies and pickles
            omit it.
        beside: files that later commands need, written next to the artifacts or the model.
    """

    artifacts: tuple[Artifact, ...]
    source_map: SourceMap
    compiled: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    beside: tuple[Artifact, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return Emitted, (self.artifacts, self.source_map, {}, self.beside)

    def apart(self, taken: set[str]) -> Emitted:
        """The same, with files whose paths are not taken; from now on they are."""
        paths: dict[str, str] = {}
        for artifact in self.artifacts:
            base, dot, suffix = artifact.path.partition(".")
            path, number = artifact.path, 2
            while path in taken:
                path, number = f"{base}-{number}{dot}{suffix}", number + 1
            taken.add(path)
            paths[artifact.path] = path
        if all(old == new for old, new in paths.items()):
            return self
        return replace(
            self,
            artifacts=tuple(a._replace(path=paths[a.path]) for a in self.artifacts),
            source_map=self.source_map.moved(paths),
        )

    @classmethod
    def whole(cls, model: Model, *artifacts: Artifact) -> Emitted:
        """Emitted files whose parts are not distinguished, so that each file as a whole stands for
        everything."""

        def list_parts() -> list[Part]:
            return [Part(artifact.path, "", "file", _list_sources(model)) for artifact in artifacts]

        return cls(artifacts, SourceMap(model, list_parts))
