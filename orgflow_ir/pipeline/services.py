"""Services that agents and frontends may use: a language model, a store, an embedder, a budget,
progress, cancellation.

They are part of the compilation context (`ctx.services`). The caller of a compilation provides
them; a service that is not provided is None or does nothing. `required` is for code that
cannot work without a service.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orgflow_ir.pipeline.agent_services import Embedder, ModelClient, Store
    from orgflow_ir.pipeline.operation_catalogue import Catalogue

S = TypeVar("S")


current_agent: ContextVar[str] = ContextVar("current_agent", default="")
"""The name of the active agent, so that services attribute their cost to it."""


class MissingService(LookupError):
    """A required service was not provided; the message names it."""


class ServiceError(RuntimeError):
    """A service failed: an endpoint does not answer, or a store cannot be read."""


class NotRecorded(ServiceError):
    """A request has no recorded answer, and nothing may be sent.

    Attributes:
        request: the request, as a record has it.
    """

    def __init__(self, text: str, request: Mapping[str, Any]) -> None:
        super().__init__(text)
        self.request = request


def required(service: S | None, name: str) -> S:
    """A service that is provided. Raises `MissingService`.

    Example:
        required(ctx.services.model, "language model").ask(messages)
    """
    if service is None:
        raise MissingService(f"no {name} is configured")
    return service


class Progress(Protocol):
    """Shows the progress of long work; calls are cheap and come from one thread."""

    def __call__(self, done: int, total: int, name: str, /) -> None:
        """`done` of `total` steps are over, and `name` is next; a `total` of 0 is unknown."""


def no_progress(done: int, total: int, name: str, /) -> None:
    """Progress that is shown nowhere."""


class Cancelled(KeyboardInterrupt):
    """The user asked to stop: incomplete work is undone, and no more work is started. Like
    `KeyboardInterrupt`, it is not an `Exception`, so code that continues after failures does not
    continue after it."""


class Cancellation(Protocol):
    """Whether the user has asked to stop. Every thread may call it."""

    @property
    def cancelled(self) -> bool:
        """Whether to stop."""

    def check(self) -> None:
        """Raises `Cancelled` if the work should stop."""

    def wait(self, seconds: float, /) -> None:
        """Wait so long. Raises `Cancelled` as soon as the work should stop."""


class CancelFlag:
    """A `Cancellation` that `cancel` sets, from any thread or from a signal handler."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask the work to stop permanently."""
        self._event.set()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._event.is_set()

    def check(self) -> None:
        """Raises `Cancelled` after `cancel`."""
        if self._event.is_set():
            raise Cancelled

    def wait(self, seconds: float, /) -> None:
        """Wait so long. Raises `Cancelled` at once after `cancel`."""
        if self._event.wait(seconds):
            raise Cancelled


class OverBudget(Exception):
    """The budget is exhausted."""


class Budget(Protocol):
    """The budget of agents."""

    def spend(
        self, *, requests: int = 0, tokens: int = 0, cost: float = 0.0, agent: str = ""
    ) -> None:
        """Record an expense and its agent. Raises `OverBudget` if the total exceeds the limit."""

    @property
    def left(self) -> bool:
        """Whether the budget is not exhausted."""


class Services:
    """The services of one compilation.

    Attributes:
        model: the language model, None if none is configured.
        store: the documents, None if there are none.
        embedder: the service that compares meanings, None if there is none.
        catalogue: the operations for filling tasks, None if not requested.
        budget: the budget of agents, None if unlimited.
        progress: the progress shown to the user.
        cancellation: set when the user asks to stop.
    """

    def __init__(
        self,
        model: ModelClient | None = None,
        budget: Budget | None = None,
        progress: Progress = no_progress,
        cancellation: Cancellation | None = None,
        *,
        store: Store | None = None,
        embedder: Embedder | None = None,
        catalogue: Catalogue | None = None,
    ) -> None:
        self.model = model
        self.store = store
        self.embedder = embedder
        self.catalogue = catalogue
        self.budget = budget
        self.progress = progress
        self.cancellation = cancellation or CancelFlag()

    def showing(self, progress: Progress) -> Services:
        """The same services, with another display of progress."""
        return Services(
            self.model, self.budget, progress, self.cancellation,
            store=self.store, embedder=self.embedder, catalogue=self.catalogue,
        )  # fmt: skip
