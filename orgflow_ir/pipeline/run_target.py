"""The part of a target that every run uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class RunTarget(Protocol):
    """A target as a run sees it; `orgflow_ir.targets.TargetSpec` is all of it."""

    @property
    def name(self) -> str:
        """The name of the target."""

    @property
    def executes(self) -> bool:
        """Whether the target runs processes."""

    @property
    def consequences(self) -> Mapping[str, str]:
        """The effect of findings on this target, by their codes."""
