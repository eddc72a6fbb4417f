"""A decision that a process refers to."""

from __future__ import annotations

from orgflow_ir.decisions.link import DecisionModel
from orgflow_ir.decisions.model import Table
from orgflow_ir.model.records import dataclass


@dataclass(frozen=True)
class FoundDecision:
    """A decision, linked with the variables of a process in scope.

    Attributes:
        file: the name of its file.
        id: its id in that file.
        name: its name in the model.
        model: the linked definitions.
        variables: process variables that it reads, in order.
        tested: variables that may be missing, since the decision tests for them.
        outputs: names of the outputs of a table; the name of the result of another decision.
        hits: number of rules that a table may match: `one` or `several`; `value` for other
            decisions, and for tables that aggregate matches to a number.
        columns: expressions of the inputs of a table, as written.
        table: the table, if it is one.
    """

    file: str
    id: str
    name: str
    model: DecisionModel
    variables: tuple[str, ...]
    tested: frozenset[str]
    outputs: tuple[str, ...]
    hits: str
    columns: tuple[str, ...] = ()
    table: Table | None = None

    def __hash__(self) -> int:
        return hash((self.file, self.id))


class Unusable(ValueError):
    """A decision that exists but cannot be used; the message gives the reason."""
