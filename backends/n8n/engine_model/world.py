"""Worlds: the executions of several workflows, and the tables, messages and timers they share.

A world is a value. A configuration of one execution (`config.Config`) is the world of that one
execution without tables, messages and timers (`EngineModel.world_of`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orgflow.backends.n8n.engine_model.config import Config, State
from orgflow.backends.n8n.engine_model.tables import Table
from orgflow.backends.n8n.node_types.data_table import Scalar

from orgflow_ir.model.records import NamedTuple

Item = tuple[tuple[str, Scalar], ...]
"""The known fields of an item by their path (`body.key`), sorted. A field that is not listed is
unknown, not missing."""

Items = tuple[Item, ...]
"""The known facts about each item on one output or input."""


class Partial(NamedTuple):
    """A Data Table node that has done the operations of some of its items.

    Attributes:
        done: number of items whose operation is done.
        rows: the items that these operations returned.
    """

    done: int
    rows: Items


class Execution(NamedTuple):
    """One execution. Its number, which n8n calls its id, is its place in the world, from 1.

    Attributes:
        workflow: id of the workflow that it runs, None for the main one of an `EngineModel`.
        config: its configuration.
        state: whether it runs, waits or is over.
        known: for each frame and each entry of its stack, what is known of the items on the first
            input; empty if no items are followed.
        partial: the progress of the Data Table node on top, if it has several items.
    """

    workflow: str | None
    config: Config
    state: State = "running"
    known: tuple[tuple[Items, ...], ...] = ()
    partial: Partial | None = None


class Message(NamedTuple):
    """A call or a submitted form that has arrived and is not consumed.

    A message to a node where no execution waits stays in the inbox, as that of a caller who repeats
    it: n8n answers 404 or 409.

    Attributes:
        workflow: id of the workflow.
        node: name of a trigger, where it starts an execution, or of a Wait.
        items: what is known of its items; at least one item.
        execution: number of the waiting execution; None for a trigger, or for any that waits there.
    """

    workflow: str
    node: str
    items: Items = ((),)
    execution: int | None = None


class Timer(NamedTuple):
    """A pending timer: it ends a wait, or starts executions at a schedule.

    Attributes:
        left: time until it is due; None if it is not fixed, so that it may be due before or after
            any other.
        execution: number of the execution whose wait it ends; None for a schedule.
        workflow: id of the workflow of a schedule, and `node`, the name of its trigger.
        every: time from one start to the next of a schedule; None for a single one.
    """

    left: float | None
    execution: int | None = None
    workflow: str = ""
    node: str = ""
    every: float | None = None


class World(NamedTuple):
    """The state of a server.

    Attributes:
        executions: in the order in which they started; those that are over stay.
        tables: by ascending id.
        inbox: messages that are not consumed, in the order of arrival.
        clock: pending timers in the order of their creation. Only the differences between times
            count, so the clock has no time of its own: a world without timers is at time zero.
    """

    executions: tuple[Execution, ...]
    tables: tuple[Table, ...] = ()
    inbox: tuple[Message, ...] = ()
    clock: tuple[Timer, ...] = ()

    @property
    def config(self) -> Config:
        """The configuration of the only execution. Raises `ValueError` if there are several."""
        (execution,) = self.executions
        return execution.config

    def table(self, table: str) -> Table:
        """A table by its id. Raises `KeyError`."""
        for candidate in self.tables:
            if candidate.id == table:
                return candidate
        raise KeyError(table)


def make_item(fields: Mapping[str, Any]) -> Item:
    """The known fields of an item from its JSON: objects by the paths of their fields, lists not at
    all."""
    values: dict[str, Scalar] = {}
    for name, value in fields.items():
        if isinstance(value, Mapping):
            values.update((f"{name}.{path}", inner) for path, inner in make_item(value))
        elif value is None or isinstance(value, str | int | float | bool):
            values[name] = value
    return tuple(sorted(values.items()))


def common_fields(items: Sequence[Item]) -> Item:
    """The fields that are equal in all of some items; nothing for no item."""
    if not items:
        return ()
    first, *others = items
    return tuple(field for field in first if all(field in other for other in others))
