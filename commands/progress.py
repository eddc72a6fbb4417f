"""A progress bar on standard error, for a terminal only."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from orgflow.commands.options import is_quiet

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.pipeline.services import Progress, no_progress

if TYPE_CHECKING:
    from rich import console as rich_console
    from rich import progress as rich_progress
else:  # on a terminal: importing rich takes longer than a small compile
    rich_console = LazyModule("rich.console")
    rich_progress = LazyModule("rich.progress")

WIDEST = 28
"""Maximum number of characters shown of the next item: the bar and its numbers have to fit into 80
columns."""


@contextlib.contextmanager
def progress_bar() -> Iterator[Progress]:
    """A bar on a terminal, nothing in a pipe."""
    if sys.stderr is None or not sys.stderr.isatty() or is_quiet():
        yield no_progress
        return

    columns = (
        rich_progress.BarColumn(),
        rich_progress.MofNCompleteColumn(),
        rich_progress.TimeRemainingColumn(),
        rich_progress.TextColumn("{task.description}", markup=False),
    )
    with rich_progress.Progress(
        *columns, console=rich_console.Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task("", total=None)

        def show(done: int, total: int, name: str) -> None:
            short = os.path.basename(name) or name
            if len(short) > WIDEST:
                short = f"{short[: WIDEST - 1]}…"
            bar.update(task, completed=done, total=total, description=short)

        yield show


@contextlib.contextmanager
def report_elapsed(say: Callable[[str], None], every: float = 15.0) -> Iterator[None]:
    """Report the elapsed time of a long operation at this interval."""
    begun, over = time.monotonic(), threading.Event()

    def beat() -> None:
        while not over.wait(every):
            say(f"… {time.monotonic() - begun:.0f} s")

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
