"""Decisions that processes refer to, found by their id in the DMN files next to a model, otherwise
in those passed to the command."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol, runtime_checkable

from orgflow_ir.decisions.found import FoundDecision, Unusable
from orgflow_ir.decisions.model import Decision, Definitions
from orgflow_ir.decisions.process_variables import link_process_decision
from orgflow_ir.model.contained_paths import is_foreign_link
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.neighbours import note_folder, note_given

SUFFIXES = (".dmn", ".dmn11.xml", ".dmn.xml")
"""Names of files that contain decisions."""

MOST_FILES = 500
"""Maximum number of files read per folder."""


@runtime_checkable
class DecisionReader(Protocol):
    """A frontend whose files contain decisions."""

    def definitions(self, data: bytes) -> Definitions:
        """The definitions in a file. Raises `ValueError` if the file cannot be read."""


class DecisionLibrary:
    """The decisions of one folder, then those of files passed to the command; read on first use.

    Args:
        folder: the folder of the model.
        reader: reads a file.
        first: the name of the file whose decisions take precedence, which is the model's own.
        given: the files passed to the command, of any kind.
    """

    def __init__(
        self, folder: Path, reader: DecisionReader, first: str = "", given: Sequence[str] = ()
    ) -> None:
        self.folder, self._reader, self._first, self._given = folder, reader, first, given
        self._files: dict[str, Definitions] | None = None
        self._elsewhere: dict[str, Definitions] | None = None
        self._near: dict[Path, DecisionLibrary] = {folder: self}
        self.unreadable: dict[str, str] = {}
        """Why files could not be read, by name."""

    def near(self, file: str) -> DecisionLibrary:
        """The library for a process in another file: that of its folder."""
        folder = Path(file).parent
        if folder not in self._near:
            library = DecisionLibrary(folder, self._reader, Path(file).name, self._given)
            self._near[folder] = library
        return self._near[folder]

    @property
    def files(self) -> Mapping[str, Definitions]:
        """The definitions of the files in the folder by name, in order."""
        if self._files is None:
            note_folder(self.folder, SUFFIXES)
            names: list[str] = []
            with contextlib.suppress(OSError):
                names = [n for n in os.listdir(self.folder) if n.lower().endswith(SUFFIXES)]
            names.sort(key=lambda name: (name != self._first, name))
            paths = ((name, self.folder / name) for name in names[:MOST_FILES])
            self._files = dict(self._read((n, p) for n, p in paths if not is_foreign_link(p)))
        return self._files

    @property
    def elsewhere(self) -> Mapping[str, Definitions]:
        """The definitions of files passed to the command that are in other folders, by path."""
        if self._elsewhere is None:
            here = os.path.abspath(self.folder)
            paths = []
            for given in self._given:
                path = Path(given)
                if given.lower().endswith(SUFFIXES) and os.path.abspath(path.parent) != here:
                    note_folder(path.parent, SUFFIXES)
                    paths.append((given, path))
            note_given()
            self._elsewhere = dict(self._read(paths))
        return self._elsewhere

    def find(self, reference: str) -> FoundDecision | None:
        """The decision with this id, otherwise the one with this name; of several in the folder the
        first.

        Raises `Unusable` if it exists but cannot be used, or if several files of other folders
        have it.
        """
        for wanted in ("id", "name"):
            for file, definitions in self.files.items():
                for decision in definitions.decisions:
                    if getattr(decision, wanted) == reference:
                        return self._found(file, definitions, decision, self.files)
        for wanted in ("id", "name"):
            candidates = [
                (file, definitions, decision)
                for file, definitions in self.elsewhere.items()
                for decision in definitions.decisions
                if getattr(decision, wanted) == reference
            ]
            if len({file for file, _, _ in candidates}) > 1:
                names = join_listed(file for file, _, _ in candidates)
                raise Unusable(f"{names} have it; put one of them next to the model")
            if candidates:
                return self._found(*candidates[0], self.elsewhere)
        return None

    def _found(
        self,
        file: str,
        definitions: Definitions,
        decision: Decision,
        files: Mapping[str, Definitions],
    ) -> FoundDecision:
        namespaces = {import_.namespace for import_ in definitions.imports}
        imported = [d for d in files.values() if d.namespace in namespaces]
        return link_process_decision(file, definitions, imported, decision)

    def _read(self, paths: Iterable[tuple[str, Path]]) -> Iterator[tuple[str, Definitions]]:
        for name, path in paths:
            try:
                yield name, self._reader.definitions(path.read_bytes())
            except (OSError, ValueError) as error:
                self.unreadable[name] = str(error)
