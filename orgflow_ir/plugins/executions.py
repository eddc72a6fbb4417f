"""The contract for stored executions: what deployed workflows did, in terms of their model."""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

if TYPE_CHECKING:
    from orgflow_ir.model import Model
    from orgflow_ir.model.source import SourceFile
    from orgflow_ir.pipeline import PassContext
    from orgflow_ir.plugins.engines import ServerAccess
    from orgflow_ir.targets.artifact import Emitted
    from orgflow_ir.targets.verification import Changed

Execution = Mapping[str, Any]
"""One stored execution as the target keeps it."""

Visit = tuple[str, ...] | None
"""Flows of the model that one visit of a choosing element took; None where that is not known."""


class UnreadableExecution(ValueError):
    """An execution that cannot be read in terms of the model; the message gives the reason."""


class NotDeployed(LookupError):
    """No workflow on the server matches, or several do; the message states which."""


class ExecutionQuery(NamedTuple):
    """Which executions are wanted.

    Attributes:
        most: how many at most, the latest ones; None for all.
        status: only those with this status.
        since: begun at this time or later.
        until: begun before this time.
    """

    most: int | None = None
    status: str | None = None
    since: datetime.datetime | None = None
    until: datetime.datetime | None = None

    def takes(self, status: object, began: object) -> bool:
        """Whether an execution is one of those, by its status and the time it began."""
        if self.status is not None and status != self.status:
            return False
        time = time_of(began)
        if self.since is not None and (time is None or time < self.since):
            return False
        return self.until is None or (time is not None and time < self.until)


def time_of(text: object) -> datetime.datetime | None:
    """A time of ISO 8601, UTC where no zone is given; None where it is none."""
    if not isinstance(text, str):
        return None
    try:
        found = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=datetime.UTC)


class SeenNode(NamedTuple):
    """One executed node: its name, the element it belongs to (None: unknown), whether it stands
    for that element (or only helps), and the status the target gave it."""

    node: str
    element: str | None
    stands: bool
    status: str


class Observed(NamedTuple):
    """One execution.

    Attributes:
        id: the server's.
        status: as the server names it; `mode` likewise (how it was started).
        began: when, as the server says; empty where it does not.
        process: the id of the process it is of.
        start: the start event, None where the process has none.
        nodes: its executed nodes, in order.
        elements: those elements of the version's `visible` that ran, in order.
        visits: for each element that chooses, what it took, visit by visit.
        error: the target's message.
        failed: the element at which it failed, or at which it waits.
        partial: somebody ran only a part of the workflow, for a test.
    """

    id: str
    status: str
    mode: str
    began: str
    process: str
    start: str | None
    nodes: tuple[SeenNode, ...]
    elements: tuple[str, ...]
    visits: Mapping[str, tuple[Visit, ...]]
    error: str | None = None
    failed: str | None = None
    partial: bool = False


class WorkflowVersion(Protocol):
    """The version of a workflow that executions ran, compared with what the model compiles to."""

    @property
    def name(self) -> str:
        """The name of the workflow."""

    @property
    def visible(self) -> frozenset[str]:
        """Elements whose execution is seen; also those whose node was taken out."""

    @property
    def unknown(self) -> tuple[str, ...]:
        """Nodes that stand for nothing in the model."""

    @property
    def missing(self) -> tuple[str, ...]:
        """Tasks and events without a node."""

    @property
    def disabled(self) -> tuple[str, ...]:
        """Elements whose node is switched off."""

    @property
    def rewired(self) -> tuple[str, ...]:
        """Connections that were changed, a sentence each."""

    @property
    def changed(self) -> tuple[Changed, ...]:
        """Conditions that were changed."""

    @property
    def edited(self) -> bool:
        """Whether it behaves differently from what the model compiles to now."""


class ExecutionObserver(ABC):
    """Reads executions of the workflows of one model."""

    @abstractmethod
    def observe(self, execution: Execution) -> tuple[Observed, WorkflowVersion]:
        """What an execution did; the same version object for executions of the same version.

        Raises:
            UnreadableExecution: it is of another model, or its data was not kept.
        """


class StoredWorkflow(NamedTuple):
    """A deployed workflow: the server's id of it, and its name."""

    id: str
    name: str


class ExecutionStore(ABC):
    """The executions that a server has kept."""

    @abstractmethod
    def workflows(self, emitted: Emitted, named: str | None) -> Sequence[StoredWorkflow]:
        """The workflows on the server that were deployed from what the model is compiled to;
        `named` is the server's id of the one that is meant.

        Raises:
            NotDeployed: there is none, or several could be meant.
            RemoteError: the server failed.
        """

    @abstractmethod
    def executions(self, workflow: StoredWorkflow, query: ExecutionQuery) -> Iterator[Execution]:
        """Its executions with their data, the latest first, one after the other. Raises
        `RemoteError`."""


class ExecutionReader(ABC):
    """Executions of a target: where they are kept, and what they did.

    Attributes:
        statuses: what `ExecutionQuery.status` may be.
        saved_help: what a file for `saved` should hold, for people.
    """

    statuses: ClassVar[tuple[str, ...]]
    saved_help: ClassVar[str]

    @abstractmethod
    def observer(
        self, model: Model, emitted: Emitted, *, workflow: Execution | None = None
    ) -> ExecutionObserver:
        """What reads executions of `model` (not lowered), which `emitted` was compiled from;
        `workflow` is what an execution ran that does not say it."""

    @abstractmethod
    def saved(self, source: SourceFile, query: ExecutionQuery) -> Sequence[Execution]:
        """Executions in a file. Raises `ValueError` where there are none; the message says so."""

    @abstractmethod
    def connect(
        self, access: ServerAccess, ctx: PassContext
    ) -> AbstractContextManager[ExecutionStore | None]:
        """The store of a server, closed with the `with` block; in it, None after an error, which
        is in `ctx`. Raises `AccessError` when the block is entered."""
