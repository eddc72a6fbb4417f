"""Implementations of the built-in functions of FEEL, by the name used in signatures."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orgflow_ir.languages.feel.functions import (
    contexts,
    conversions,
    lists,
    numeric,
    ranges,
    strings,
)
from orgflow_ir.languages.feel.values import Value

IMPLEMENTATIONS: Mapping[str, Callable[..., Value]] = {
    name: found
    for module in (contexts, conversions, lists, numeric, ranges, strings)
    for name, found in vars(module).items()
    if callable(found) and getattr(found, "__module__", None) == module.__name__
}
