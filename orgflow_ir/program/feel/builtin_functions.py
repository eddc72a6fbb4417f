"""Implementations of the built-in functions of FEEL, by the name used in signatures."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from orgflow_ir.program.feel import (
    context_functions,
    conversion_functions,
    list_functions,
    number_functions,
    range_functions,
    text_functions,
)
from orgflow_ir.program.feel.values import Value

IMPLEMENTATIONS: Mapping[str, Callable[..., Value]] = {
    name: function
    for module in (
        context_functions,
        conversion_functions,
        list_functions,
        number_functions,
        range_functions,
        text_functions,
    )
    for name, function in vars(module).items()
    if callable(function) and getattr(function, "__module__", None) == module.__name__
}
