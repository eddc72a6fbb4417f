"""What `fuzz_readers.py` starts from: small files of every kind, each with its header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

LARGEST = 8_192
"""Bytes of the largest file that is taken, and of the largest input."""


def seeds(folders: Sequence[Path]) -> Iterator[bytes]:
    """Small files of all kinds, headers before them; IR files are made of the BPMN ones."""
    from orgflow_ir.model.source import SourceFile
    from orgflow_ir.pipeline import PassContext
    from orgflow_ir.plugins import Registry

    frontend = Registry(outside=False).frontends["bpmn"]
    paths = sorted(p for f in folders for p in (f.rglob("*") if f.is_dir() else (f,)))
    for path in paths:
        if not path.is_file() or path.stat().st_size > LARGEST:
            continue
        data = path.read_bytes()
        if path.suffix in (".bpmn", ".xml"):
            yield bytes((0, 0x1F)) + data
            model = frontend.parse(SourceFile("m.bpmn", data), PassContext())
            if model is not None and len(text := model.to_json().encode()) < LARGEST:
                yield bytes((2, 0x1E)) + text
        elif path.suffix == ".json":
            kind = 1 if b'"sequenceFlows"' in data else 2 if b'"processes"' in data else 3
            yield bytes((kind, 0x1E)) + data


def models(folders: Sequence[Path]) -> list[bytes]:
    """The BPMN files among the seeds, smallest first."""
    found = [s[2:] for s in seeds(folders) if s[0] == 0]
    return sorted(found, key=lambda s: (len(s), s))
