"""The registry: the built-in leaves and those of plugins, by name."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from orgflow_ir.diagnostics import RetiredRule, Rule
from orgflow_ir.diagnostics.core_rules import CORE_RULES, BrokenPlugin
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.pipeline import Pass, PassContext
from orgflow_ir.pipeline.value_texts import exception_text
from orgflow_ir.plugins.contracts import Backend, Frontend, Reporter
from orgflow_ir.targets import TARGET_RULES, AddedLowering, RewritePattern

if TYPE_CHECKING:
    import traceback
    from importlib import metadata
    from importlib.metadata import EntryPoint

    import pluggy

    from orgflow_ir.diagnostics import agent_rules, log_rules, message_rules
    from orgflow_ir.plugins import agents as agent_contracts
    from orgflow_ir.plugins import guards, message_stores
else:  # plugins of others, agents, stores, and lists of all rules
    metadata = LazyModule("importlib.metadata")
    agent_rules = LazyModule("orgflow_ir.diagnostics.agent_rules")
    log_rules = LazyModule("orgflow_ir.diagnostics.log_rules")
    message_rules = LazyModule("orgflow_ir.diagnostics.message_rules")
    agent_contracts = LazyModule("orgflow_ir.plugins.agents")
    guards = LazyModule("orgflow_ir.plugins.guards")
    message_stores = LazyModule("orgflow_ir.plugins.message_stores")
    pluggy = LazyModule("pluggy")
    traceback = LazyModule("traceback")
from orgflow_ir.plugins.hooks import GROUP, Hooks

SUFFIXES: dict[str, tuple[str, ...]] = {
    "orgflow.frontends.bpmn": (".bpmn", ".bpmn20.xml", ".bpmn2", ".xml"),
    "orgflow.frontends.dmn": (".dmn",),
    "orgflow.frontends.ir": (".ir.json", ".json"),
    "orgflow.frontends.n8n": (".n8n.json", ".json"),
    "orgflow.frontends.outline": (".outline", ".txt"),
    "orgflow.frontends.pme": (".pme.json", ".json"),
    "orgflow.frontends.powl": (".powl", ".powl.json", ".powl.py", ".json", ".py"),
    "orgflow.frontends.triples": (".triples", ".graph", ".txt", ".mmd", ".mermaid"),
}
"""Modules of the frontends that ship with orgflow, and the suffixes of what those read: a file is
read without importing the others."""

BUILTINS_OF: dict[str, tuple[str, ...]] = {
    "orgflow_frontends": tuple(SUFFIXES),
    "orgflow_passes": ("orgflow.passes",),
    "orgflow_backends": (
        "orgflow.backends.n8n",
        "orgflow.backends.ir",
        "orgflow.backends.asl",
        "orgflow.backends.bpmn",
        "orgflow.backends.mermaid",
        "orgflow.backends.outline",
        "orgflow.backends.powl",
        "orgflow.backends.svg",
        "orgflow.backends.triples",
    ),
    "orgflow_agents": ("orgflow.agents.text", "orgflow.agents.filling"),
    "orgflow_reporters": ("orgflow_ir.reporting.reporters",),
    "orgflow_stores": ("orgflow.store",),
}
"""Modules that ship with orgflow, by the hook that each implements; adding a leaf takes one line
here. They are imported when the hook is first called."""

BUILTINS: tuple[str, ...] = tuple(name for names in BUILTINS_OF.values() for name in names)


class RegistryError(RuntimeError):
    """A name or code has two owners, or none."""


class Registry:
    """All leaves by name. Each table is built on first use; results are sorted."""

    def __init__(self, *, outside: bool = True) -> None:
        self.broken: list[tuple[str, str]] = []
        self._outside = outside
        self._owners: dict[tuple[str, str], str] = {}

    @cached_property
    def _plugin_manager(self) -> pluggy.PluginManager | None:
        """What holds the outside plugins, `None` where nothing may be one: ours are reached without
        it, and a start of the command line is quicker without pluggy."""
        if not self._outside or not _may_have_plugins(sys.path):
            return None

        manager = pluggy.PluginManager("orgflow")
        manager.add_hookspecs(Hooks)
        self._load_outside(manager)
        return manager

    @property
    def _has_plugins(self) -> bool:
        return self._plugin_manager is not None and bool(self._plugin_manager.list_name_plugin())

    def _load_outside(self, manager: pluggy.PluginManager) -> None:
        for point in sorted(metadata.entry_points(group=GROUP), key=lambda e: (e.name, e.value)):
            try:
                self._register_plugin(manager, point)
            except (Exception, SystemExit) as error:  # noqa: BLE001  # it must not end the program
                self.broken.append((point.name, f"cannot be used: {exception_text(error)}"))

    def _register_plugin(self, manager: pluggy.PluginManager, point: EntryPoint) -> None:
        """Load one plugin and register it whole. Raises whatever it raises, and `TypeError` and
        pluggy's errors where it is no plugin."""
        with contextlib.redirect_stdout(sys.stderr):  # ours is for the artifact
            plugin = point.load()
        if point.name in BUILTINS or manager.has_plugin(point.name):
            raise ValueError(f"another plugin has the name `{point.name}`")
        try:
            manager.register(plugin, point.name)
            manager.check_pending()
            if not manager.get_hookcallers(plugin):
                raise TypeError(f"`{point.value}` has no function marked with `hookimpl`")
        except (pluggy.PluginValidationError, TypeError):
            manager.unregister(name=point.name)  # a hook half registered would be called
            raise

    def report_broken(self, ctx: PassContext) -> None:
        """OF001 for each plugin that could not be loaded completely."""
        plugins: dict[str, list[str]] = {}
        for name, error in self.broken:
            plugins.setdefault(name, []).append(error)
        for name, errors in sorted(plugins.items()):
            ctx.emit(
                BrokenPlugin,
                f"plugin `{name}` {'; it '.join(dict.fromkeys(errors))}",
                help="update or uninstall the package that provides it",
            )

    def plugin_of(self, leaf: object) -> str | None:
        """The name of the external plugin that provides a frontend, a backend, an agent or a
        lowering."""
        if isinstance(leaf, RewritePattern):
            return self._owners.get(("orgflow_lowerings", leaf.name))

        hooks = {Frontend: "frontends", Backend: "backends", agent_contracts.Agent: "agents"}
        hook = next((hook for kind, hook in hooks.items() if isinstance(leaf, kind)), None)
        owner = self._owners.get((f"orgflow_{hook}", getattr(leaf, "name", "")))
        return None if _is_builtin(owner) else owner

    def _list_items(self, hook: str, kind: Any) -> Iterator[tuple[str, Any]]:
        """What every plugin gives to a hook, each item with its owner: ours first. A plugin whose
        hook fails is left out, an item of it that cannot be used as well."""
        for module in sorted(BUILTINS_OF.get(hook, ())):
            yield from ((module, item) for item in _items_of(module, hook))
        if self._plugin_manager is None:
            return
        impls = getattr(self._plugin_manager.hook, hook).get_hookimpls()
        for impl in sorted(impls, key=lambda i: i.plugin_name):
            owner = impl.plugin_name

            try:
                with contextlib.redirect_stdout(sys.stderr):
                    items = list(impl.function())
                    faults = [guards.registration_fault(item, kind) for item in items]
            except (Exception, SystemExit) as error:  # noqa: BLE001  # it must not end the program
                self.broken.append(
                    (owner, f"cannot be used: {hook} failed with {exception_text(error)}")
                )
                continue
            for item, wrong in zip(items, faults, strict=True):
                if wrong is None:
                    yield owner, item
                else:
                    self.broken.append((owner, f"cannot be used: {hook} returned {wrong}"))

    def _build_table(self, hook: str, kind: Any) -> dict[str, Any]:
        table: dict[str, Any] = {}
        for owner, item in self._list_items(hook, kind):
            first = self._owners.setdefault((hook, item.name), owner)
            if item.name not in table:
                table[item.name] = item
            elif owner in BUILTINS:
                raise RegistryError(f"`{item.name}` is registered by both {first} and {owner}")
            else:
                conflict = f"`{item.name}`, which {first} has already registered"
                self.broken.append((owner, f"cannot be used: {hook} returned {conflict}"))
        return dict(sorted(table.items()))

    @cached_property
    def frontends(self) -> dict[str, Frontend]:
        """Frontends by name."""
        return self._build_table("orgflow_frontends", Frontend)

    def frontends_for(self, suffix: str) -> Mapping[str, Frontend]:
        """Frontends by name: at least those that read files with a suffix. If there are no external
        plugins, only their modules are imported, for a fast start.
        """
        if "frontends" in self.__dict__ or self._has_plugins:
            return self.frontends
        modules = [module for module, suffixes in SUFFIXES.items() if suffix in suffixes]
        frontends = [f for module in modules for f in _items_of(module, "orgflow_frontends")]
        return {f.name: f for f in sorted(frontends, key=lambda f: f.name)}

    @cached_property
    def passes(self) -> dict[str, type[Pass]]:
        """Pass classes by name."""
        return self._build_table("orgflow_passes", Pass)

    @property
    def outside_passes(self) -> dict[str, type[Pass]]:
        """Pass classes of plugins by name. If there are no plugins, the built-in passes are not
        imported, because a compile needs few of them."""
        if not self._has_plugins:
            return {}
        return {n: p for n, p in self.passes.items() if not p.__module__.startswith("orgflow.")}

    @cached_property
    def backends(self) -> dict[str, Backend]:
        """Backends by name."""
        return self._build_table("orgflow_backends", Backend)

    def backend(self, name: str) -> Backend | None:
        """The backend with a name. If there are no external plugins, only its own module is
        imported, for a fast start."""
        module = f"orgflow.backends.{name}"
        if "backends" in self.__dict__ or module not in BUILTINS or self._has_plugins:
            return self.backends.get(name)
        own: Iterable[Backend] = _items_of(module, "orgflow_backends")
        return next((b for b in own if b.name == name), None)

    @cached_property
    def lowerings(self) -> dict[str, tuple[RewritePattern, ...]]:
        """Lowerings that plugins add to targets, by target, in the order of their names."""
        lowerings: dict[str, dict[str, RewritePattern]] = {}
        for owner, (target, lowering) in self._list_items("orgflow_lowerings", AddedLowering):
            own = self.backends[target].target.lowerings if target in self.backends else ()
            same = lowerings.setdefault(target, {})
            wrong = None
            if target not in self.backends:
                wrong = f"a lowering for `{target}`, which is not a target"
            elif lowering.name in (*same, *(low.name for low in own)):
                wrong = f"`{lowering.name}`, a lowering that `{target}` already has"
            if wrong is None:
                same[lowering.name] = lowering
                self._owners["orgflow_lowerings", lowering.name] = owner
            else:
                self.broken.append((owner, f"cannot be used: orgflow_lowerings returned {wrong}"))
        return {t: tuple(low for _, low in sorted(ls.items())) for t, ls in lowerings.items() if ls}

    @cached_property
    def agents(self) -> dict[str, agent_contracts.Agent]:
        """Agents by name."""
        return self._build_table("orgflow_agents", agent_contracts.Agent)

    @cached_property
    def reporters(self) -> dict[str, Reporter]:
        """Reporters by name."""
        return self._build_table("orgflow_reporters", Reporter)

    @cached_property
    def stores(self) -> dict[str, message_stores.StoreProvider]:
        """Providers of message stores by name."""
        return self._build_table("orgflow_stores", message_stores.StoreProvider)

    @cached_property
    def rules(self) -> dict[str, type[Rule]]:
        """Every rule by code. A plugin's rule with a code that is already taken is omitted; raises
        `RegistryError` if two built-in rules have the same code."""
        rules_by_code: dict[str, type[Rule]] = {
            r.code: r
            for r in (
                *CORE_RULES,
                *agent_rules.AGENT_RULES,
                *message_rules.MESSAGE_RULES,
                *log_rules.LOG_RULES,
                *TARGET_RULES,
            )
        }
        leaves = [
            (self._owners.get((hook, name)), leaf.rules)
            for hook, table in (
                ("orgflow_frontends", self.frontends),
                ("orgflow_passes", self.passes),
                ("orgflow_backends", self.backends),
                ("orgflow_agents", self.agents),
            )
            for name, leaf in table.items()
        ]
        for owner, rules in sorted(leaves, key=lambda leaf: not _is_builtin(leaf[0])):
            for rule in rules:
                first = rules_by_code.setdefault(rule.code, rule)
                if first is rule:
                    continue
                conflict = f"{rule.code} is the code of two rules, {first.name} and {rule.name}"
                if _is_builtin(owner):
                    raise RegistryError(conflict)
                self.broken.append((str(owner), f"cannot explain {rule.name}: {conflict}"))
        return dict(sorted(rules_by_code.items()))

    @cached_property
    def retired(self) -> dict[str, RetiredRule]:
        """Retired rules, which nothing reports, by code."""
        leaves: list[Any] = [
            *self.frontends.values(), *self.passes.values(), *self.backends.values(),
            *self.agents.values(),
        ]  # fmt: skip
        retired_rules = {r.code: r for leaf in leaves for r in leaf.retired}
        return {c: r for c, r in sorted(retired_rules.items()) if c not in self.rules}

    @cached_property
    def named_rules(self) -> dict[str, type[Rule]]:
        """Every rule by its code and by its name, including retired ones, which map to their
        successor."""
        rules_by_name = dict(self.rules)
        rules_by_name.update((rule.name, rule) for rule in self.rules.values())
        for old in self.retired.values():
            if old.successor in self.rules:
                rules_by_name.setdefault(old.code, self.rules[old.successor])
                rules_by_name.setdefault(old.name, self.rules[old.successor])
        return rules_by_name


def _items_of(module: str, hook: str) -> Iterable[Any]:
    """What a module of ours gives to a hook; it is imported when it is first asked."""
    items: Iterable[Any] = getattr(importlib.import_module(module), hook)()
    return items


def outside_culprit(error: BaseException) -> str | None:
    """The plugin whose code raised an exception or called the code that raised it, or whose result
    caused it."""
    if not _may_have_plugins(sys.path):
        return None

    owners = {p.module.partition(".")[0]: p.name for p in metadata.entry_points(group=GROUP)}
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]

    modules = [str(frame.f_globals.get("__name__")) for frame in frames]
    if isinstance(error, guards.FaultyResult):
        modules.append(type(error.leaf).__module__)
    roots = (module.partition(".")[0] for module in reversed(modules))
    return next((owners[root] for root in roots if root in owners), None)


def _is_builtin(owner: str | None) -> bool:
    return owner is None or owner in BUILTINS


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
