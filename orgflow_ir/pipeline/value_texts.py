"""Exceptions and values of plugins as short texts for messages, whatever they contain."""

from __future__ import annotations

import os
import reprlib
import sys
from typing import TYPE_CHECKING

from orgflow_ir.lazy_modules import LazyModule

if TYPE_CHECKING:
    import traceback
else:  # after a crash
    traceback = LazyModule("traceback")

MOST_FAULTS = 3
"""Maximum number of faults of one value in a message."""


def exception_text(error: BaseException) -> str:
    """An exception on one line, even if its text cannot be computed; for an invalid value, the
    place in it and the reason, as in "`name`: Input should be a valid string"."""
    pydantic = sys.modules.get("pydantic")  # whoever raises its errors has imported it
    try:
        if pydantic is not None and isinstance(error, pydantic.ValidationError):
            faults = error.errors(include_url=False, include_input=False, include_context=False)
            message = "; ".join(
                f"`{'.'.join(map(str, f['loc']))}`: {f['msg']}" for f in faults[:MOST_FAULTS]
            )
        else:
            message = " ".join(str(error).split())
    except Exception:  # noqa: BLE001  # the exception is a plugin's own class
        message = ""
    return f"{type(error).__name__}: {message or 'no message'}"


class _Short(reprlib.Repr):
    """Goes into no more of a list or an object than a message can show."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxstring, self.maxother, self.maxlong = 5, 200, 200, 200

    def repr_instance(self, x: object, level: int) -> str:
        """Whatever is no container: as itself, so that a `repr` that fails is noticed."""
        return repr(x)


_SHORT = _Short()


def show_value(value: object) -> str:
    """A value from a plugin as short text for a message."""
    try:
        text = _SHORT.repr(value)
    except Exception as error:  # noqa: BLE001  # the plugin's own
        return f"a `{type(value).__name__}` whose `repr` failed with {exception_text(error)}"
    return text if len(text) <= 60 else f"{text[:60]}…"


def print_traceback(error: BaseException) -> None:
    """Print where an exception comes from, where ORGFLOW_DEBUG asks for it."""
    if os.environ.get("ORGFLOW_DEBUG") == "1":
        traceback.print_exception(error)
