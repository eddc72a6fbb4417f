"""Files checked in several processes; the results come in any order.

A process that fails, or a result that cannot be transferred, gives no result; the first process
then checks the file and reports faults as for a single file.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing import connection, get_context, parent_process
from typing import Any

from orgflow.commands.checking import Checked, Checker

from orgflow_ir.model.neighbours import LISTED

START = "fork" if sys.platform == "linux" else "spawn"
"""How processes start; on other systems a fork is unsafe or unavailable."""

_CHUNK = 4
"""Files that a process takes at a time."""


def check_in_processes(
    make: Callable[[], Checker], paths: Sequence[str], processes: int, *, start: str = START
) -> Iterator[tuple[str, Checked | None]]:
    """The findings of each file as they arrive; `None` if the file has to be checked in this
    process.

    Args:
        make: creates the checker of a process. It is pickled if processes are not forked.
        paths: the files.
        processes: number of processes, at least 1.
        start: how processes start: `fork` or `spawn`.
    """
    context: Any = get_context(start)
    rest = list(reversed([[*paths[at : at + _CHUNK]] for at in range(0, len(paths), _CHUNK)]))
    busy: dict[connection.Connection, list[str]] = {}
    running = []
    try:
        for _ in range(min(processes, len(rest))):
            ours, theirs = context.Pipe()
            process = context.Process(target=_check_from_pipe, args=(theirs, make), daemon=True)
            process.start()
            theirs.close()
            running.append(process)
            busy[ours] = rest.pop()
            ours.send(busy[ours])
        while busy:
            for ready in connection.wait([*busy]):
                assert isinstance(ready, connection.Connection)
                yield from _receive_results(ready, busy.pop(ready), rest, busy)
        for chunk in rest:  # every process died
            yield from ((path, None) for path in chunk)
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.join()


def _receive_results(
    ready: connection.Connection,
    chunk: list[str],
    rest: list[list[str]],
    busy: dict[connection.Connection, list[str]],
) -> Iterator[tuple[str, Checked | None]]:
    """The results of one process, which gets the next files."""
    try:
        results: list[Checked | None] = ready.recv()
        if rest:
            ready.send(rest[-1])
            busy[ready] = rest.pop()
    except (EOFError, OSError):
        results = [None] * len(chunk)
    yield from zip(chunk, results, strict=True)


def _check_from_pipe(pipe: connection.Connection, make: Callable[[], Checker]) -> None:
    """Check what comes through the pipe until there is nobody to send it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process ends the others
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    LISTED.set({})  # for all files of this process
    checker = make()
    parent = os.getppid()
    alive = parent_process()
    with suppress(EOFError, OSError):
        while alive is not None and alive.is_alive() and os.getppid() == parent:
            if pipe.poll(1):
                pipe.send([_check_file(checker, path) for path in pipe.recv()])


def _check_file(checker: Checker, path: str) -> Checked | None:
    session = checker.session
    try:
        checked = checker.check(path)
    except Exception:  # noqa: BLE001  # checked again where it is reported
        return None
    finally:
        session.sources.clear()
        session.models.clear()
    return checked if checked.plain else None
