"""Copies that `run` published for the duration of its runs, and those that are obsolete.

A killed process cannot remove its copy. The note on the copy names the process that created it, so
the next command on the same machine knows whether that process has ended; another machine only
knows after an hour.
"""

from __future__ import annotations

import datetime
import functools
import hashlib
import os
import socket
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from orgflow.backends.n8n.server.client.errors import ServerError
from orgflow.backends.n8n.server.client.server_rules import LeftRun
from orgflow.backends.n8n.server.client.workflows import WorkflowClient
from orgflow.backends.n8n.server.deployment_marker import RUN_MARK, marker_of

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext

Json = dict[str, Any]

STALE_SECONDS: Final = 3600.0
"""Age after which a copy counts as abandoned if its process is unknown: no run takes that long,
since n8n itself ends each of its executions after two minutes."""

_SEPARATOR = "."


class StaleRun(NamedTuple):
    """A copy that a run created.

    Attributes:
        id: the server's id.
        name: its name.
        fate: `removed`; `over` if it was only searched; `kept` if its run may still be active;
            `stuck` if it could not be removed.
    """

    id: str
    name: str
    fate: str


def process_identity() -> str:
    """The identity of this process for the note on a copy, which reveals nothing about the
    machine."""
    return _SEPARATOR.join((_machine_digest(), str(os.getpid()), _start_ticks(os.getpid())))


def is_over(process: str) -> bool | None:
    """Whether the process in a note has ended; None if this is unknown here."""
    machine, _, rest = process.partition(_SEPARATOR)
    number, _, begun = rest.partition(_SEPARATOR)
    # Windows has no harmless signal.
    if machine != _machine_digest() or not number.isdecimal() or sys.platform == "win32":
        return None
    try:
        os.kill(int(number), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        pass
    now = _start_ticks(int(number))
    return bool(begun and now and begun != now)  # the number may be another one's by now


def clear_stale_runs(
    rows: Iterable[Mapping[str, Any]], undo: WorkflowClient | None, now: datetime.datetime
) -> tuple[StaleRun, ...]:
    """Remove copies whose run is over.

    Args:
        rows: the workflows of a server.
        undo: the server; None only searches.
        now: the time.
    """
    stale: list[StaleRun] = []
    for row in rows:
        marker = marker_of(row)
        if marker is None or not marker.identity.startswith(RUN_MARK):
            continue
        over = is_over(marker.origin)
        if over is None:
            updated = _parse_time(row.get("updatedAt"))
            over = updated is not None and (now - updated).total_seconds() > STALE_SECONDS
        elif not over:
            continue  # at work on this machine: nothing is wrong
        fate = "over" if over else "kept"
        if over and undo is not None:
            try:
                undo.delete(str(row["id"]))
                fate = "removed"
            except ServerError:
                fate = "stuck"
        stale.append(StaleRun(str(row["id"]), str(row.get("name")), fate))
    return tuple(stale)


def report_stale_runs(left: Iterable[StaleRun], ctx: PassContext) -> None:
    """OF623 for each copy that a run has left."""
    for run in left:
        what = f"`{run.name}` (id {run.id}) is the copy of a run"
        match run.fate:
            case "removed":
                message, help_ = f"{what} that was killed; it was removed", None
            case "over":
                message, help_ = (
                    f"{what} that was killed",
                    "run deploy without --dry-run to remove it",
                )
            case "stuck":
                message = f"{what} that was killed, and could not be removed"
                help_ = "delete it in n8n"
            case _:
                message = f"{what} that may still be active elsewhere; it was not removed"
                help_ = (
                    "no action is needed: if the run was killed, a later command removes the copy"
                )
        ctx.emit(LeftRun, message, help=help_)


@functools.cache
def _machine_digest() -> str:
    """12 hex digits for this machine since it was started, as far as processes see each other."""
    parts = [socket.gethostname()]
    for place in ("/proc/sys/kernel/random/boot_id", "/proc/self/ns/pid"):
        try:
            path = Path(place)
            parts.append(os.readlink(path) if path.is_symlink() else path.read_text("ascii"))
        except OSError:
            continue
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _start_ticks(process: int) -> str:
    """When a process began, in ticks since the machine did; empty where that is not told."""
    try:
        text = Path(f"/proc/{process}/stat").read_text("utf-8", "replace")
    except OSError:
        return ""
    fields = text.rpartition(")")[2].split()  # the name before may hold anything
    return fields[19] if len(fields) > 19 else ""


def _parse_time(text: object) -> datetime.datetime | None:
    try:
        time = datetime.datetime.fromisoformat(str(text).replace("Z", "+00:00"))
    except ValueError:
        return None
    return time if time.tzinfo is not None else None
