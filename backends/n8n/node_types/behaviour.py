"""The effect of a node on the numbers of items: the vocabulary of the engine model."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

from orgflow_ir.model.value import Value

if TYPE_CHECKING:
    from orgflow.backends.n8n.node_types.data_table import TableRequest

Counts = tuple[int, ...]
"""Items per input or output."""

Kind = Literal[
    "trigger",  # hands on what it got, on every output what came on that input
    "pass",  # hands on what came on its first input, item by item
    "merge",  # a count function of all inputs
    "choice",  # the data decide
    "batches",  # Loop Over Items
    "wait",  # opens and is done
    "call",  # runs another workflow
    "stop",  # throws
]


Resumption = Literal["time", "webhook", "form"]
"""The event that ends a wait."""


class Behaviour(Value):
    """The behaviour of a node.

    Attributes:
        kind: see `Kind`.
        outputs: number of outputs that its type declares, without the error output; None if
            unknown.
        count: items per input to items per output, None if it throws; for "merge".
        choices: the possible outputs for this number of items on the first input; for "choice".
        batch: items per batch; for "batches".
        in_process: whether a wait sleeps in process; None if this is unknown in advance.
        answered: whether a wait is for an answer; limited: whether it also ends without one.
        resumption: the event that a wait is for; None if an expression computes it.
        seconds: the duration of a wait for a time or of its limit; None if it is not fixed.
        known: whether `choices` is complete, and not a guess about an unknown type.
        calls: id of the called workflow; waited: whether the caller waits; each: once per item.
        passes: whether a call passes its items on unchanged, without further fields.
        request: the request that a node makes of a Data Table, or the reason why it is unknown;
            None for a node that makes none.
    """

    kind: Kind
    outputs: int | None = 1
    count: Callable[[Counts], Counts | None] | None = None
    choices: Callable[[int, int], Iterator[Counts]] | None = None
    batch: int = 1
    in_process: bool | None = None
    answered: bool = False
    limited: bool = True
    resumption: Resumption | None = None
    seconds: float | None = None
    known: bool = True
    calls: str = ""
    waited: bool = True
    each: bool = False
    passes: bool = False
    request: TableRequest | str | None = None


def unknown_behaviour(outputs: int) -> Behaviour:
    """A node that may output any number of items on each of its outputs."""
    declared = max(1, outputs)

    def list_choices(items: int, most: int) -> Iterator[Counts]:
        return itertools.product(range(max(items, most) + 1), repeat=declared)

    return Behaviour(kind="choice", outputs=declared, choices=list_choices, known=False)


def split_items(items: int, most: int) -> Iterator[Counts]:
    """Each item leaves by one of two outputs."""
    del most
    return ((first, items - first) for first in range(items, -1, -1))


def trigger_behaviour(use: object) -> Behaviour:
    """A trigger."""
    del use
    return Behaviour(kind="trigger")


def hands_on(use: object) -> Behaviour:
    """A node that passes on each item."""
    del use
    return Behaviour(kind="pass")
