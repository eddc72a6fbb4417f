"""`check --fix`: fixes written into source files, or shown as a diff."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from orgflow.commands.output import write_files, write_stdout
from orgflow.commands.project.file_fixes import Fixer
from orgflow.compilation.input_sources import read_source
from orgflow.compilation.usage_errors import InputError, TooLargeError

from orgflow_ir.model.source import SourceFile


def fix_files(fixer: Fixer, paths: Sequence[str]) -> None:
    """Make every possible fix in these files. Raises `OutputError`."""
    for path in paths:
        try:
            source = read_source(path)
            fixed = fixer.fixed(source)
        except TooLargeError as error:  # the check itself may read it, as a stream
            fixer.note_unfixed(f"{error}; only smaller files are changed")
            continue
        except InputError:
            continue  # the check itself says so
        if fixed.data == source.data:
            continue
        if fixer.writes:
            write_files([(Path(path), fixed.data)])
        else:
            write_stdout(_unified_diff(source, fixed))


def _unified_diff(old: SourceFile, new: SourceFile) -> str:
    """A unified diff, as far as the bytes are UTF-8."""
    was, now = (s.data.decode("utf-8", "replace").splitlines(keepends=True) for s in (old, new))
    lines = difflib.unified_diff(was, now, old.path, old.path)
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
