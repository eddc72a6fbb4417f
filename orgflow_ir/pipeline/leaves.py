"""The leaves by name, as far as passes, lowerings and agents reach them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from orgflow_ir.pipeline.passes import Pass
    from orgflow_ir.targets.lowering import RewritePattern


class Leaves(Protocol):
    """What `ctx.registry` gives; `orgflow_ir.plugins.Registry` is one.

    The values of `frontends`, `backends` and `agents` are those of `orgflow_ir.plugins.contracts`,
    which a pipeline does not import.
    """

    @property
    def frontends(self) -> Mapping[str, Any]:
        """Frontends by name."""

    @property
    def passes(self) -> Mapping[str, type[Pass]]:
        """Pass classes by name."""

    @property
    def outside_passes(self) -> Mapping[str, type[Pass]]:
        """Pass classes of plugins by name; ours need not be loaded for them."""

    @property
    def backends(self) -> Mapping[str, Any]:
        """Backends by name."""

    @property
    def agents(self) -> Mapping[str, Any]:
        """Agents by name."""

    @property
    def lowerings(self) -> Mapping[str, tuple[RewritePattern, ...]]:
        """Lowerings that plugins add to targets, by target."""

    def backend(self, name: str) -> Any | None:
        """The backend of a name, None where there is none; cheaper than `backends`."""

    def plugin_of(self, leaf: object) -> str | None:
        """The name of the outside plugin that a leaf came with."""
