"""Hook specifications: the objects that a plugin may register."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.pipeline import Pass
from orgflow_ir.plugins.contracts import Backend, Frontend, Reporter
from orgflow_ir.targets import AddedLowering

if TYPE_CHECKING:
    import pluggy

    from orgflow_ir.plugins.agents import Agent
    from orgflow_ir.plugins.message_stores import StoreProvider
else:  # plugins of others only
    pluggy = LazyModule("pluggy")


GROUP = "orgflow.plugins"
"""Entry point group of external plugins."""

if TYPE_CHECKING:
    hookspec = pluggy.HookspecMarker("orgflow")
    hookimpl = pluggy.HookimplMarker("orgflow")
else:
    # A function without options is marked here as pluggy does it, for our modules are marked at
    # every start, which needs pluggy for nothing else.

    def hookspec(function=None, **options):
        """Marks the specification of a hook: pluggy's marker of this project."""
        if function is None or options:
            return pluggy.HookspecMarker("orgflow")(function, **options)
        function.orgflow_spec = {
            "firstresult": False,
            "historic": False,
            "warn_on_impl": None,
            "warn_on_impl_args": None,
        }
        return function

    def hookimpl(function=None, **options):
        """Marks what a plugin gives to a hook: pluggy's marker of this project."""
        if function is None or options:
            return pluggy.HookimplMarker("orgflow")(function, **options)
        function.orgflow_impl = {
            "hookwrapper": False,
            "wrapper": False,
            "optionalhook": False,
            "tryfirst": False,
            "trylast": False,
            "specname": None,
        }
        return function


class Hooks:
    """The hooks that a plugin may implement. They only register objects, which define the
    behaviour."""

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
    def orgflow_lowerings(self) -> Iterable[AddedLowering]:  # type: ignore[empty-body]
        """Lowerings for existing targets; your own backend includes its own."""

    @hookspec
    def orgflow_agents(self) -> Iterable[Agent]:  # type: ignore[empty-body]
        """Agents: instances of `GapAgent` or `ModelAgent`."""

    @hookspec
    def orgflow_reporters(self) -> Iterable[Reporter]:  # type: ignore[empty-body]
        """Reporters."""

    @hookspec
    def orgflow_stores(self) -> Iterable[StoreProvider]:  # type: ignore[empty-body]
        """Providers of message stores; `--store NAME://…` selects one by name."""
