"""A quick start of the command line, without changing the behaviour of commands."""

from __future__ import annotations

import gc
import os
from importlib import import_module
from typing import Any


def quick_start() -> None:
    """Collect garbage rarely, and keep pydantic from searching for plugins.

    The start creates many objects and no garbage. pydantic searches every installed distribution
    for plugins when the first validator is built; most compilations need none. Set
    PYDANTIC_DISABLE_PLUGINS to anything but `__all__` to have them.
    """
    gc.set_threshold(50_000, 20, 20)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


class LazyModule:
    """A module that is imported when one of its attributes is first used.

    A command names its modules at the top. Those that only some of its options need would cost the
    others their import, about a third of a millisecond each and seconds for a language model or
    numpy; they stand under `TYPE_CHECKING`, for types, and are lazy modules otherwise:

        if TYPE_CHECKING:
            from orgflow.commands import report
        else:
            report = LazyModule("orgflow.commands.report")
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        return getattr(import_module(self._name), attribute)
