"""The leaves by name, in the form that passes, lowerings and agents use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from orgflow_ir.pipeline.passes import Pass


class Leaves(Protocol):
    """The interface of `ctx.registry`, which `orgflow_ir.plugins.Registry` implements.

    The values of `frontends`, `backends` and `agents` are those of `orgflow_ir.plugins.contracts`,
    those of `lowerings` are `orgflow_ir.targets.RewritePattern`; a pipeline imports neither.
    """

    @property
    def frontends(self) -> Mapping[str, Any]:
        """Frontends by name."""

    @property
    def passes(self) -> Mapping[str, type[Pass]]:
        """Pass classes by name."""

    @property
    def outside_passes(self) -> Mapping[str, type[Pass]]:
        """Pass classes of plugins by name; the built-in ones need not be loaded for them."""

    @property
    def backends(self) -> Mapping[str, Any]:
        """Backends by name."""

    @property
    def agents(self) -> Mapping[str, Any]:
        """Agents by name."""

    @property
    def lowerings(self) -> Mapping[str, tuple[Any, ...]]:
        """Lowerings that plugins add to targets, by target."""

    def frontends_for(self, suffix: str) -> Mapping[str, Any]:
        """At least the frontends that read files with a suffix; cheaper than `frontends`."""

    def backend(self, name: str) -> Any | None:
        """The backend with a name, None if there is none; cheaper than `backends`."""

    def plugin_of(self, leaf: object) -> str | None:
        """The name of the external plugin that provides a leaf."""
