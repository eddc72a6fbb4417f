"""Work that people implemented in files of an earlier compilation: kept when these are replaced."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from orgflow.commands.output import OutputError, place_artifacts
from orgflow.commands.session import Session
from orgflow.compilation.input_sources import read_source
from orgflow.compilation.usage_errors import InputError

from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets.artifact import Emitted

_MOST_BASE = 64 * 1024 * 1024
"""Maximum number of characters that are read of a file beside another one."""


def read_beside(folder: Path, path: str) -> str | None:
    """A file that an earlier command wrote next to another file; None if it does not exist."""
    try:
        with open(folder / path, encoding="ascii") as file:
            return file.read(_MOST_BASE).strip()
    except (OSError, UnicodeDecodeError):
        return None


_MOST_OTHERS = 1000
"""Maximum number of files in the output folder that are searched for work."""


def report_uncalled_work(
    emitted: Sequence[Emitted], output: str, backend: Backend, session: Session
) -> None:
    """Report work that an earlier compilation wrote to the folder and that nothing in it uses any
    more."""
    if type(backend).report_uncalled is Backend.report_uncalled or not os.path.isdir(output):
        return
    artifacts = [artifact for files in emitted for artifact in files.artifacts]
    new = {os.path.abspath(place) for place, _ in place_artifacts(output, artifacts)}
    names = sorted(name for name in os.listdir(output) if name.endswith(".json"))
    if len(names) > _MOST_OTHERS:
        return  # what is not read may be the caller
    paths = [os.path.join(output, name) for name in names]
    others = []
    for path in (path for path in paths if os.path.abspath(path) not in new):
        with contextlib.suppress(InputError):  # nobody asked for it
            others.append(read_source(path))
    ctx = session.context()
    backend.report_uncalled(emitted, others, ctx, lambda path: read_beside(Path(output), path))
    session.collect(ctx)


def keep_filled_work(
    emitted: Sequence[Emitted], output: str | None, backend: Backend, session: Session
) -> Sequence[Emitted] | None:
    """The output, with the work that people implemented in the files that it replaces; `None` after
    an error."""
    artifacts = [artifact for files in emitted for artifact in files.artifacts]
    if output in (None, "-") or type(backend).keep_filled is Backend.keep_filled:
        return emitted
    assert output is not None
    existing = []
    for place in dict.fromkeys(place for place, _ in place_artifacts(output, artifacts)):
        if os.path.isfile(place):  # `Path.is_file` raises for names that are too long
            try:
                existing.append(read_source(str(place)))
            except InputError as error:
                raise OutputError(
                    f"cannot replace {place}, which may contain implemented work: {error}; move it"
                ) from None
    if not existing:
        return emitted
    ctx = session.context()
    folder = Path(existing[0].path).parent
    kept = backend.keep_filled(emitted, existing, ctx, lambda path: read_beside(folder, path))
    session.collect(ctx)
    if ctx.has_errors:
        return None
    texts = {artifact.path: artifact.text for artifact in artifacts}
    for artifact in (artifact for files in kept for artifact in files.artifacts):
        if artifact.text != texts[artifact.path]:
            session.note(f"kept the edits of {artifact.path}")
    return kept
