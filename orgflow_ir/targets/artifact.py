"""What a backend emits: files, which part of them stands for which element, and its own value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

from orgflow_ir.model import Model
from orgflow_ir.model.provenance import all_elements, source_ids

STANDING_ROLES = frozenset({"element", "trigger"})
"""Roles of parts whose execution is the execution of their element."""

STUB_ROLE = "stub"
"""The role of parts that stop a run in the place of what the target does not support."""

PASSIVE_ROLES = frozenset({"file", "flow", "lane", "note", "shape"})
"""Roles of parts that no engine executes: a whole file, a wire, a frame, a text, a drawn shape."""


class Artifact(NamedTuple):
    """A file to be written: path relative to the output folder, and its text."""

    path: str
    text: str


class Part(NamedTuple):
    """A part of an emitted file and the source elements after it.

    Attributes:
        artifact: path of the file.
        place: where in it, as the target names places: a JSON Pointer, an XML id, a node's name;
            empty for the whole file.
        role: one of `STANDING_ROLES`, of `PASSIVE_ROLES`, `STUB_ROLE`, or a word of the target's
            for what only helps: `join`, `stop`, `decide` …
        elements: ids of the source elements.
        name: what people see it called in the target; empty where it has no name.
        kind: what it is in the target, in words.
        process: id of the process it belongs to; empty where a file is of several.
        placeholder: whether it does nothing of what its elements say until somebody fills it.
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
        """Whether its execution is that of its elements."""
        return self.role in STANDING_ROLES

    @property
    def executes(self) -> bool:
        """Whether an engine executes it."""
        return self.role not in PASSIVE_ROLES


def pointer(*keys: str | int) -> str:
    """A place in a JSON file, as a JSON Pointer (RFC 6901)."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys)


class SourceMap:
    """Emitted parts and source elements, either way; built when first read.

    Every element of the emitted model is after a part or `silent`: nothing was emitted for it.

    Args:
        model: the model that was emitted.
        parts: gives the parts, in the order of the files.

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
        """The same for files under other paths, given by their old ones."""
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
        """Source elements that no part stands for or helps with, in model order."""
        return tuple(id for id in _sources(self._model) if id not in self._by_element)

    def of_element(self, element: str) -> tuple[Part, ...]:
        """The parts after a source element, those that stand for it first."""
        return self._by_element.get(element, ())

    def at(self, artifact: str, place: str) -> Part | None:
        """The part at a place of a file."""
        return self._by_place.get((artifact, place))

    @cached_property
    def _by_element(self) -> Mapping[str, tuple[Part, ...]]:
        found: dict[str, list[Part]] = {}
        for part in self.parts:
            for element in part.elements:
                found.setdefault(element, []).append(part)
        return {e: tuple(sorted(p, key=lambda part: not part.stands)) for e, p in found.items()}

    @cached_property
    def _by_place(self) -> Mapping[tuple[str, str], Part]:
        return {(part.artifact, part.place): part for part in self.parts}


def _sources(model: Model) -> tuple[str, ...]:
    return tuple(dict.fromkeys(id for e in all_elements(model) for id in source_ids(e)))


def _source_map(model: Model, parts: tuple[Part, ...]) -> SourceMap:
    return SourceMap(model, lambda: parts)


@dataclass(frozen=True, eq=False, repr=False)
class Emitted:
    """What `Backend.emit` returns.

    Attributes:
        artifacts: the files; empty after an error.
        source_map: which part of them stands for which source elements.
        compiled: what the backend itself keeps of each process, by id. Only its own runner,
            `verify` and deployer look at it, in the process that compiled: copies and pickles
            are without it.
        beside: files that later commands need, written beside the artifacts or the model.
    """

    artifacts: tuple[Artifact, ...]
    source_map: SourceMap
    compiled: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    beside: tuple[Artifact, ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return Emitted, (self.artifacts, self.source_map, {}, self.beside)

    @classmethod
    def whole(cls, model: Model, *artifacts: Artifact) -> Emitted:
        """Files whose parts are not distinguished: each as a whole stands for everything."""

        def parts() -> list[Part]:
            return [Part(artifact.path, "", "file", _sources(model)) for artifact in artifacts]

        return cls(artifacts, SourceMap(model, parts))
