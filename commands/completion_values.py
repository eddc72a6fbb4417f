"""The values that the shell offers when Tab is pressed: names of targets, formats and rules,
otherwise files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import click

from orgflow_ir.lazy_modules import LazyModule

if TYPE_CHECKING:
    from orgflow_ir import plugins
else:  # in a shell that asks for values only
    plugins = LazyModule("orgflow_ir.plugins")

Completion = Callable[[click.Context, click.Parameter, str], list[str]]

FILE = click.Path(readable=False)
"""A path that the shell completes; whether it can be read is checked later and reported with a
code."""


def _filter_beginnings(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def complete_targets(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Names of backends; inside the braces of one, its options with each of their values."""
    backends = plugins.Registry().backends
    name, brace, inside = incomplete.partition("{")
    if not brace:
        return _filter_beginnings(backends, incomplete)
    if name not in backends:
        return []
    done, comma, last = inside.rpartition(",")
    given = {item.partition("=")[0].strip() for item in done.split(",")}
    offered = [
        f"{option}={value}"
        for option, values in backends[name].target.options.items()
        if option not in given
        for value in values or ("",)
    ]
    return [f"{name}{{{done}{comma}{item}" for item in _filter_beginnings(offered, last)]


def complete_frontends(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Names of frontends."""
    return _filter_beginnings(plugins.Registry().frontends, incomplete)


def complete_reporters(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Forms of diagnostics."""
    return _filter_beginnings(plugins.Registry().reporters, incomplete)


def complete_among(*names: str) -> Completion:
    """A completion that offers these values."""

    def complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
        return _filter_beginnings(names, incomplete)

    return complete


def complete_codes(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Codes of rules, or their names."""
    rules = plugins.Registry().rules
    names = (
        rules if "A" <= (incomplete[:1] or "A") <= "Z" else (rule.name for rule in rules.values())
    )
    return _filter_beginnings(names, incomplete)


def complete_passes(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[str]:
    """Names of passes, after those that the list contains already."""
    done, comma, last = incomplete.rpartition(",")
    return [done + comma + name for name in _filter_beginnings(plugins.Registry().passes, last)]
