"""The contract for stored executions of deployed workflows, in terms of their model."""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from orgflow_ir.model.records import NamedTuple

if TYPE_CHECKING:
    from orgflow_ir.model import Model
    from orgflow_ir.model.source import SourceFile
    from orgflow_ir.pipeline import PassContext
    from orgflow_ir.plugins.engines import ServerAccess
    from orgflow_ir.targets.artifact import Emitted
    from orgflow_ir.targets.verification import Changed

Execution = Mapping[str, Any]
"""One stored execution in the target's own form."""

Visit = tuple[str, ...] | None
"""Flows of the model that one visit of a choosing element took; None if unknown."""


class UnreadableExecution(ValueError):
    """An execution that cannot be expressed in terms of the model; the message gives the reason."""


class NotDeployed(LookupError):
    """No workflow on the server matches, or several do; the message names them."""


class ExecutionQuery(NamedTuple):
    """Selects executions.

    Attributes:
        most: maximum number of executions, the latest ones; None for all.
        status: only those with this status.
        since: begun at this time or later.
        until: begun before this time.
    """

    most: int | None = None
    status: str | None = None
    since: datetime.datetime | None = None
    until: datetime.datetime | None = None

    def takes(self, status: object, began: object) -> bool:
        """Whether an execution matches by its status and start time."""
        if self.status is not None and status != self.status:
            return False
        time = time_of(began)
        if self.since is not None and (time is None or time < self.since):
            return False
        return self.until is None or (time is not None and time < self.until)


def time_of(text: object) -> datetime.datetime | None:
    """An ISO 8601 time, in UTC if no zone is given; None if it is malformed."""
    if not isinstance(text, str):
        return None
    try:
        time = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None
    return time if time.tzinfo is not None else time.replace(tzinfo=datetime.UTC)


class SeenNode(NamedTuple):
    """One executed node: its name, the element it belongs to (None: unknown), whether it represents
    that element (or is auxiliary), and its status in the target."""

    node: str
    element: str | None
    stands: bool
    status: str


class Observed(NamedTuple):
    """One execution.

    Attributes:
        id: the server's.
        status: the server's term; likewise `mode` (how it was started).
        began: its start as reported by the server; empty if unknown.
        process: the id of its process.
        start: the start event, None if the process has none.
        nodes: its executed nodes, in order.
        elements: the elements in the version's `visible` that ran, in order.
        visits: for each choosing element, the flows that it took, visit by visit.
        error: the target's message.
        failed: the element at which it failed, or at which it waits.
        partial: whether only a part of the workflow was run, as a test.
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
    """The version of a workflow that executions ran, compared with the compiled model."""

    @property
    def name(self) -> str:
        """The name of the workflow."""

    @property
    def visible(self) -> frozenset[str]:
        """Elements whose execution is recorded, including those whose node was removed."""

    @property
    def unknown(self) -> tuple[str, ...]:
        """Nodes without an element in the model."""

    @property
    def missing(self) -> tuple[str, ...]:
        """Tasks and events without a node."""

    @property
    def disabled(self) -> tuple[str, ...]:
        """Elements whose node is disabled."""

    @property
    def rewired(self) -> tuple[str, ...]:
        """Changed connections, one sentence each."""

    @property
    def changed(self) -> tuple[Changed, ...]:
        """Conditions that were changed."""

    @property
    def edited(self) -> bool:
        """Whether it behaves differently from the current output for the model."""


class ExecutionObserver(ABC):
    """Reads executions of the workflows of one model."""

    @abstractmethod
    def observe(self, execution: Execution) -> tuple[Observed, WorkflowVersion]:
        """The history of an execution; executions of the same version share the version object.

        Raises:
            UnreadableExecution: it belongs to another model, or its data was not kept.
        """


class StoredWorkflow(NamedTuple):
    """A deployed workflow: its id on the server and its name."""

    id: str
    name: str


class ExecutionStore(ABC):
    """The executions that a server has stored."""

    @abstractmethod
    def workflows(self, emitted: Emitted, named: str | None) -> Sequence[StoredWorkflow]:
        """The workflows on the server that were deployed from the compiled model; `named` is the
        server's id of the requested one.

        Raises:
            NotDeployed: no workflow matches, or several do.
            RemoteError: the server failed.
        """

    def stated_options(self, model: Model, named: str | None) -> Mapping[str, str]:
        """The options with which the workflows of a model on the server were compiled, or that of
        the id `named`; none by default. Raises `RemoteError`."""
        del model, named
        return {}

    @abstractmethod
    def executions(self, workflow: StoredWorkflow, query: ExecutionQuery) -> Iterator[Execution]:
        """Its executions with their data, the latest first, one after the other. Raises
        `RemoteError`."""


class ExecutionReader(ABC):
    """Access to the executions of a target: their storage and their history.

    Attributes:
        statuses: valid values of `ExecutionQuery.status`.
        saved_help: a description, for people, of the content of a file for `saved`.
    """

    statuses: ClassVar[tuple[str, ...]]
    saved_help: ClassVar[str]

    @abstractmethod
    def observer(
        self, model: Model, emitted: Emitted, *, workflow: Execution | None = None
    ) -> ExecutionObserver:
        """A reader of executions of `model` (not lowered), which `emitted` was compiled from;
        `workflow` is the workflow of executions that do not name theirs."""

    @abstractmethod
    def saved(self, source: SourceFile, query: ExecutionQuery) -> Sequence[Execution]:
        """Executions in a file. Raises `ValueError` if the file contains none."""

    def stated_options(self, model: Model, executions: Sequence[Execution]) -> Mapping[str, str]:
        """The options with which the workflows of a model were compiled that some executions ran;
        none by default."""
        del model, executions
        return {}

    @abstractmethod
    def connect(
        self, access: ServerAccess, ctx: PassContext
    ) -> AbstractContextManager[ExecutionStore | None]:
        """The store of a server, closed with the `with` block; in it, None after an error, which
        is in `ctx`. Raises `AccessError` when the block is entered."""
