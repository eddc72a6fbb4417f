"""Where an exception was raised: the file that was processed and the element looked at.

Both are found in the variables of the functions that the exception came through, the innermost
first, so no stage has to keep track of them.
"""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from traceback import walk_tb
from typing import TYPE_CHECKING, Any

from orgflow_ir.diagnostics.core_rules import CrashedPass
from orgflow_ir.model import (
    CallActivity,
    Event,
    Flow,
    Gateway,
    Model,
    Opaque,
    SubProcess,
    Task,
)
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.elements import Element
from orgflow_ir.model.source import SourceFile, SourceFolder, SourceStream
from orgflow_ir.pipeline.run_state import RunState
from orgflow_ir.pipeline.value_texts import exception_text

if TYPE_CHECKING:
    from types import FrameType

_DRAWN = (Task, CallActivity, SubProcess, Event, Gateway, Opaque, Flow)


def is_fault(error: BaseException) -> bool:
    """Whether an exception can only come from an error in the code: one of Python's own, except
    those that a system raises. Exceptions of orgflow are part of contracts."""
    kind = type(error)
    ordinary = kind.__module__ == "builtins" and isinstance(error, Exception)
    pydantic = kind.__module__.partition(".")[0] in ("pydantic", "pydantic_core")
    return pydantic or (ordinary and not isinstance(error, OSError | MemoryError))


def crash_file(error: BaseException) -> str:
    """The file that was processed when an exception was raised; empty if none was."""
    for value in _frame_values(error):
        file = ""
        if isinstance(value, Model):
            file = value.source
        elif isinstance(value, RunState):
            file = value.source.source if value.source is not None else value.file
        elif isinstance(value, SourceFile | SourceFolder | SourceStream):
            file = value.path
        if file:
            return file
    return ""


def crash_element(error: BaseException) -> Element | None:
    """The step, event, gateway or flow that was looked at when an exception was raised."""
    for value in _frame_values(error):
        element = value.element if isinstance(value, ConstructUse) else value
        if isinstance(element, _DRAWN):
            return element
    return None


def report_fault(what: str, error: BaseException, ctx: RunState, help: str) -> None:
    """Report OF901 for a part of orgflow or a pass that raised an exception: `what` is its name."""
    where = traceback.extract_tb(error.__traceback__)[-1]
    element = crash_element(error)
    at = f" at {ctx.name(element)}" if element is not None else ""
    ctx.emit(
        CrashedPass,
        f"{what} failed{at}: {exception_text(error)} ({where.name}, line {where.lineno})",
        element=element,
        help=help,
    )


def report_crash(name: str, error: BaseException, ctx: RunState) -> None:
    """Report OF901 for a pass that raised an exception."""
    help = "report this with the model; the other passes' findings are complete"
    report_fault(f"pass `{name}`", error, ctx, help)


def _frame_values(error: BaseException) -> Iterator[Any]:
    """The variables of the functions that an exception came through, the innermost first, each
    with the attributes of `self`."""
    for frame in reversed([frame for frame, _ in walk_tb(error.__traceback__)]):
        yield from _local_values(frame)


def _local_values(frame: FrameType) -> Iterator[Any]:
    values = [*frame.f_locals.values()]
    yield from values
    owner = frame.f_locals.get("self")
    if owner is not None and not isinstance(owner, Element | RunState):
        yield from getattr(owner, "__dict__", {}).values()
