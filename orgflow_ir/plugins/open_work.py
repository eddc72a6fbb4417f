"""The contract for open work on a server: user tasks, and process instances that wait."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from orgflow_ir.model.records import NamedTuple

if TYPE_CHECKING:
    from orgflow_ir.pipeline import PassContext
    from orgflow_ir.plugins.engines import ServerAccess


class OpenTask(NamedTuple):
    """A task that a person can complete.

    Attributes:
        process: the name of the process.
        instance: the id of the process instance.
        case: the caller's own id of the instance; empty if it gave none.
        element: the element of the model.
        title: its title for people.
        assignee: who completes it; empty if anybody may.
        link: the page of the task; empty if it has none.
        since: when it became open, in ISO 8601.
        due: when it is due, in ISO 8601; empty for any time.
    """

    process: str
    instance: str
    case: str
    element: str
    title: str
    assignee: str
    link: str
    since: str
    due: str


class OpenPlace(NamedTuple):
    """One place at which a process instance waits or works.

    Attributes:
        kind: what is there: `task`, `timer`, `message`, `join`, `sub-process`, or `steps`.
        element: the element of the model.
        name: its name for people; the element itself if the server does not have one.
        state: `waits`, `works`, or `failed`.
        since: the last change, in ISO 8601.
        due: when it goes on by itself, in ISO 8601; empty for never.
        lost: whether the deployed process does not have the element.
    """

    kind: str
    element: str
    name: str
    state: str
    since: str
    due: str = ""
    lost: bool = False


class OpenInstance(NamedTuple):
    """A process instance that is not over.

    Attributes:
        id: by which `cancel` names it.
        case: the caller's own id of the instance; empty if it gave none.
        process: the name of the process; empty if it was deleted.
        since: its last change, in ISO 8601.
        places: where it waits or works.
    """

    id: str
    case: str
    process: str
    since: str
    places: tuple[OpenPlace, ...]


class WorkProblem(NamedTuple):
    """Work that does not go on by itself, or did not until now.

    Attributes:
        instance: the id of the process instance; empty for a message or the whole server.
        process: the name of the process.
        element: the element of the model.
        problem: what is wrong, in words.
        action: what was done, in words; empty if a person has to act.
    """

    instance: str
    process: str
    element: str
    problem: str
    action: str


class OpenWork(ABC):
    """A server that responds. All methods raise `RemoteError`."""

    @abstractmethod
    def tasks(self) -> tuple[OpenTask, ...]:
        """The open tasks of all people, the oldest first."""

    @abstractmethod
    def instances(self) -> tuple[OpenInstance, ...]:
        """The process instances that are not over, the oldest first."""

    @abstractmethod
    def heal(self, *, retry: bool) -> Iterator[WorkProblem]:
        """Let steps of dead executions be repeated at once, and report what does not go on; with
        `retry`, steps that failed too often are tried again."""

    @abstractmethod
    def cancel(self, instance: str) -> OpenInstance | None:
        """End a process instance, by its id or the caller's own; what was open, or None if no
        instance of this id is open. Raises `ValueError` if several are."""


class OpenWorkReader(ABC):
    """Finds the open work of a server."""

    @abstractmethod
    def connect(
        self, access: ServerAccess, ctx: PassContext
    ) -> AbstractContextManager[OpenWork | None]:
        """The open work of a server, ended with the `with` block; in it, None after an error, which
        is in `ctx`.

        Raises:
            AccessError: when the block is entered.
        """
