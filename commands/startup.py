"""A quick start of the command line, without changing the behaviour of commands."""

from __future__ import annotations

import gc
import os


def quick_start() -> None:
    """Collect garbage rarely, and keep pydantic from searching for plugins.

    The start creates many objects and no garbage. pydantic searches every installed distribution
    for plugins when the first validator is built; most compilations need none. Set
    PYDANTIC_DISABLE_PLUGINS to anything but `__all__` to have them.
    """
    gc.set_threshold(50_000, 20, 20)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
