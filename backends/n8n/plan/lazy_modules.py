"""Functions of modules that few models need.

A compile of a small model takes a third of a millisecond for each module that it imports. So the
tables of passes, of planners and of printers name functions as `module.function`, and a module is
imported when a model needs the first of its functions. Everything else imports at its top.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any


@cache
def load_function(function: str, package: str = __package__) -> Any:
    """The function `module.function` of a package, of this one by default. Raises
    `ModuleNotFoundError` or `AttributeError` if there is none."""
    module, _, name = function.rpartition(".")
    return getattr(import_module(f"{package}.{module}"), name)
