"""Decisions that processes refer to, found by their id in the DMN files next to a model."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol, runtime_checkable

from orgflow_ir.decisions.found import FoundDecision
from orgflow_ir.decisions.model import Decision, Definitions
from orgflow_ir.decisions.process_variables import linked
from orgflow_ir.model.neighbours import note_folder

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
    """The decisions of one folder, read on first use.

    Args:
        folder: the folder of the model.
        reader: reads a file.
        first: the name of the file whose decisions take precedence, which is the model's own.
    """

    def __init__(self, folder: Path, reader: DecisionReader, first: str = "") -> None:
        self.folder, self._reader, self._first = folder, reader, first
        self._files: dict[str, Definitions] | None = None
        self.unreadable: dict[str, str] = {}
        """Why files could not be read, by name."""

    @property
    def files(self) -> Mapping[str, Definitions]:
        """The definitions of the files by name, in order."""
        if self._files is None:
            self._files = dict(self._read())
        return self._files

    def find(self, reference: str) -> FoundDecision | None:
        """The decision with this id, otherwise the one with this name; the first if there are
        several.

        Raises `Unusable` if it exists but cannot be used.
        """
        for wanted in ("id", "name"):
            for file, definitions in self.files.items():
                for decision in definitions.decisions:
                    if getattr(decision, wanted) == reference:
                        return self._found(file, definitions, decision)
        return None

    def _found(self, file: str, definitions: Definitions, decision: Decision) -> FoundDecision:
        namespaces = {one.namespace for one in definitions.imports}
        imported = [d for d in self.files.values() if d.namespace in namespaces]
        return linked(file, definitions, imported, decision)

    def _read(self) -> Iterator[tuple[str, Definitions]]:
        note_folder(self.folder, SUFFIXES)
        try:
            found = [n for n in os.listdir(self.folder) if n.lower().endswith(SUFFIXES)]
        except OSError:
            return
        names = sorted(found, key=lambda name: (name != self._first, name))
        for name in names[:MOST_FILES]:
            try:
                yield name, self._reader.definitions((self.folder / name).read_bytes())
            except (OSError, ValueError) as error:
                self.unreadable[name] = str(error)
