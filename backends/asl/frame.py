"""The data of a machine while its states are written."""

from __future__ import annotations

from typing import Any

from orgflow.backends.asl.format import State
from orgflow.backends.asl.graph import ScopeGraph
from orgflow.backends.asl.plan import Machine
from orgflow.backends.asl.variables import NOWHERE, Kept

from orgflow_ir.model.records import NamedTuple


class Frame(NamedTuple):
    """The data of a machine while its states are written.

    Attributes:
        nested: whether it is a branch of a fork of its scope.
        token: initial fields of the token, outside of all forks.
        forks: number of surrounding forks there.
        kept: the variables that the surrounding branch records.
    """

    machine: Machine
    scope: ScopeGraph
    states: dict[str, State]
    nested: bool
    token: dict[str, Any]
    forks: int = 0
    kept: Kept = NOWHERE
