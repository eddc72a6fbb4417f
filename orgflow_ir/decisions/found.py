"""A decision that a process refers to."""

from __future__ import annotations

from dataclasses import dataclass

from orgflow_ir.decisions.link import DecisionModel


@dataclass(frozen=True)
class FoundDecision:
    """A decision, linked so that the variables of a process are known in it.

    Attributes:
        file: the name of the file that it is in.
        id: of the decision there.
        name: under which the model knows it.
        model: the linked definitions.
        variables: process variables that it reads, in order.
        tested: those that may be missing, since the decision asks.
        outputs: names of the outputs, where it is a table.
        hits: how many rules a table may hit: `one` or `several`; `value` for what is no table, or
            gathers hits into a number.
        columns: expressions of the inputs of a table, as written.
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

    def __hash__(self) -> int:
        return hash((self.file, self.id))


class Unusable(ValueError):
    """A decision that is there and cannot be used; the text says why."""
