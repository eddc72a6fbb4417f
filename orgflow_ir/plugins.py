"""Plugins: hook specifications, the built-in leaves, and the registry that finds them by name."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterable
from functools import cached_property
from typing import Any, TypeVar

import pluggy

from orgflow_ir.contracts import Agent, Backend, Frontend, Reporter
from orgflow_ir.diagnostics import Rule
from orgflow_ir.pass_manager import Pass, PassContext
from orgflow_ir.rules import CORE_RULES, BrokenPlugin
from orgflow_ir.target import TARGET_RULES

GROUP = "orgflow.plugins"
"""Entry point group of outside plugins."""

hookspec = pluggy.HookspecMarker("orgflow")
hookimpl = pluggy.HookimplMarker("orgflow")

BUILTINS: tuple[str, ...] = (
    "orgflow_ir.reporters",
    "orgflow.frontends.bpmn",
    "orgflow.frontends.pme",
    "orgflow.frontends.ir",
    "orgflow.frontends.n8n",
    "orgflow.passes",
    "orgflow.backends.n8n",
    "orgflow.backends.ir",
)
"""Modules with hook implementations that ship with orgflow; a new leaf is one line here."""


class Hooks:
    """The hooks a plugin may implement; registration only, behaviour is on the objects."""

    @hookspec
    def orgflow_frontends(self) -> Iterable[Frontend]:  # type: ignore[empty-body]
        """Frontends."""

    @hookspec
    def orgflow_passes(self) -> Iterable[type[Pass]]:  # type: ignore[empty-body]
        """Pass classes."""

    @hookspec
    def orgflow_backends(self) -> Iterable[Backend]:  # type: ignore[empty-body]
        """Backends, each with its lowerings."""

    @hookspec
    def orgflow_agents(self) -> Iterable[Agent]:  # type: ignore[empty-body]
        """Agents."""

    @hookspec
    def orgflow_reporters(self) -> Iterable[Reporter]:  # type: ignore[empty-body]
        """Reporters."""


class RegistryError(RuntimeError):
    """Two owners of one name or code, or no owner at all."""


T = TypeVar("T")


class Registry:
    """All leaves by name. Each table is filled when it is first asked for; results are sorted."""

    def __init__(self, *, outside: bool = True) -> None:
        self.broken: list[tuple[str, str]] = []
        self._outside = outside

    @cached_property
    def _manager(self) -> pluggy.PluginManager:
        manager = pluggy.PluginManager("orgflow")
        manager.add_hookspecs(Hooks)
        for name in BUILTINS:
            manager.register(importlib.import_module(name), name)
        if self._outside:
            self._load_outside(manager)
        return manager

    def _load_outside(self, manager: pluggy.PluginManager) -> None:
        if not _may_have_plugins(sys.path):
            return
        from importlib.metadata import entry_points

        for point in sorted(entry_points(group=GROUP), key=lambda e: (e.name, e.value)):
            try:
                plugin = point.load()
                manager.register(plugin, f"{point.name} ({point.value})")
                manager.check_pending()
            except Exception as error:  # noqa: BLE001  # one broken plugin must not end the program
                self.broken.append((point.name, f"{type(error).__name__}: {error}"))

    def report_broken(self, ctx: PassContext) -> None:
        """OF001 for each plugin that could not be loaded."""
        for name, error in self.broken:
            ctx.emit(
                BrokenPlugin,
                f"plugin `{name}` cannot be used: {error}",
                help="update or uninstall the package that provides it",
            )

    def _table(self, hook: str, kind: Any) -> dict[str, Any]:
        table: dict[str, Any] = {}
        owners: dict[str, str] = {}
        for impl in getattr(self._manager.hook, hook).get_hookimpls():
            owner = impl.plugin_name
            try:
                items = list(impl.function())
                bad = [i for i in items if not _is_kind(i, kind)]
                if bad:
                    raise TypeError(f"{hook} gave {bad[0]!r}")
            except Exception as error:
                if owner in BUILTINS:
                    raise
                self.broken.append((owner, f"{type(error).__name__}: {error}"))
                continue
            for item in items:
                if item.name in table:
                    raise RegistryError(
                        f"`{item.name}` is registered by both {owners[item.name]} and {owner}"
                    )
                table[item.name], owners[item.name] = item, owner
        return dict(sorted(table.items()))

    @cached_property
    def frontends(self) -> dict[str, Frontend]:
        """Frontends by name."""
        return self._table("orgflow_frontends", Frontend)

    @cached_property
    def passes(self) -> dict[str, type[Pass]]:
        """Pass classes by name."""
        return self._table("orgflow_passes", Pass)

    @cached_property
    def backends(self) -> dict[str, Backend]:
        """Backends by name."""
        return self._table("orgflow_backends", Backend)

    @cached_property
    def agents(self) -> dict[str, Agent]:
        """Agents by name."""
        return self._table("orgflow_agents", Agent)

    @cached_property
    def reporters(self) -> dict[str, Reporter]:
        """Reporters by name."""
        return self._table("orgflow_reporters", Reporter)

    @cached_property
    def rules(self) -> dict[str, type[Rule]]:
        """Every rule by code. Raises `RegistryError` for a code with two rules."""
        found: dict[str, type[Rule]] = {}
        owners = [
            CORE_RULES,
            TARGET_RULES,
            *(f.rules for f in self.frontends.values()),
            *(p.rules for p in self.passes.values()),
            *(b.rules for b in self.backends.values()),
        ]
        for rules in owners:
            for rule in rules:
                if found.setdefault(rule.code, rule) is not rule:
                    raise RegistryError(f"{rule.code} is the code of two rules")
        return dict(sorted(found.items()))


def _may_have_plugins(path: Iterable[str]) -> bool:
    """Whether some installed distribution may have an entry point of ours.

    `importlib.metadata` takes 20 ms to import and to look; this takes one. Where it cannot tell
    (a zip file on the path) it says yes.
    """
    for folder in path:
        try:
            names = os.listdir(folder or ".")
        except NotADirectoryError:
            return True
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info", ".egg")):
                if name.endswith(".egg"):
                    return True
                try:
                    with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:
                        if GROUP.encode() in file.read():
                            return True
                except OSError:
                    continue
    return False


def _is_kind(item: Any, kind: Any) -> bool:
    return issubclass(item, kind) if isinstance(item, type) else isinstance(item, kind)
