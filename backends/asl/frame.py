"""A machine while its states are written."""

from __future__ import annotations

from typing import Any, NamedTuple

from orgflow.backends.asl.format import State
from orgflow.backends.asl.graph import ScopeGraph
from orgflow.backends.asl.plan import Machine
from orgflow.backends.asl.variables import NOWHERE, Kept


class Frame(NamedTuple):
    """A machine while its states are written.

    Attributes:
        nested: it is a branch of a fork of its scope.
        token: fields that the token begins with, outside of all forks.
        forks: how many forks are around it there.
        kept: what the branch that it is in notes of its variables.
    """

    machine: Machine
    scope: ScopeGraph
    states: dict[str, State]
    nested: bool
    token: dict[str, Any]
    forks: int = 0
    kept: Kept = NOWHERE
