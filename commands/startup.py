"""What makes the command line start quickly; nothing here changes what any command does."""

from __future__ import annotations

import gc
import os


def quick_start() -> None:
    """Collect garbage rarely, and keep pydantic from looking for plugins of its own.

    Start-up makes many objects and no garbage. pydantic's plugins are looked for in every
    installed distribution when the first validator is built; a compile mostly needs none. Set
    PYDANTIC_DISABLE_PLUGINS to anything but `__all__` to have them.
    """
    gc.set_threshold(50_000, 20, 20)
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
