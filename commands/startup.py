"""What makes the command line start quickly; nothing here changes what any command does."""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from types import ModuleType
from typing import Any

_LOADER = "pydantic.plugin._loader"


def quick_start() -> None:
    """Collect garbage rarely, and keep pydantic from looking for plugins of its own.

    Start-up makes many objects and no garbage. pydantic's plugins are looked for in every
    installed distribution, with `importlib.metadata`, which alone takes longer to import than a
    small model to compile. Set PYDANTIC_DISABLE_PLUGINS to anything but `__all__` to have them.
    """
    gc.set_threshold(50_000, 20, 20)
    if os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__") == "__all__":
        sys.modules.setdefault(_LOADER, _NoPlugins(_LOADER))


class _NoPlugins(ModuleType):
    """Stands in for pydantic's loader; asked for anything else it makes way for the real one."""

    @staticmethod
    def get_plugins() -> tuple[()]:
        """No plugins."""
        return ()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what the import machinery looks for
            raise AttributeError(name)
        if sys.modules.get(_LOADER) is self:
            del sys.modules[_LOADER]
        return getattr(import_module(_LOADER), name)
