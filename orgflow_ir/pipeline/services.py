"""Services that agents and frontends may use: a language model, a store, an embedder, a budget,
progress, cancellation.

They hang on the compilation context (`ctx.services`). Whoever starts a compilation provides them;
a service that is not provided is None, or does nothing. `required` is for what cannot work without
one.
"""

from __future__ import annotations

import threading
from contextvars import ContextVar
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from orgflow_ir.pipeline.agent_services import Embedder, ModelClient, Store
    from orgflow_ir.targets.catalogue import Catalogue

S = TypeVar("S")


current_agent: ContextVar[str] = ContextVar("current_agent", default="")
"""The name of the agent at work, so services attribute what they cost to it."""


class MissingService(LookupError):
    """A service that is needed and not provided; the message names it."""


class ServiceError(RuntimeError):
    """A service failed: an endpoint does not answer, or a store cannot be read."""


def required(service: S | None, name: str) -> S:
    """A service that is provided. Raises `MissingService`.

    Example:
        required(ctx.services.model, "language model").ask(messages)
    """
    if service is None:
        raise MissingService(f"no {name} is configured")
    return service


class Progress(Protocol):
    """Shows how far something long is; calls are cheap and come from one thread."""

    def __call__(self, done: int, total: int, name: str, /) -> None:
        """`done` of `total` steps are over, and `name` is next; a `total` of 0 is unknown."""


def no_progress(done: int, total: int, name: str, /) -> None:
    """Progress that is shown nowhere."""


class Cancelled(KeyboardInterrupt):
    """The user asked to stop: what is half done is undone, and nothing else is begun. As Ctrl-C it
    is no `Exception`, so code which continues after failures does not go on after this."""


class Cancellation(Protocol):
    """Whether the user has asked to stop. Every thread may ask."""

    @property
    def cancelled(self) -> bool:
        """Whether to stop."""

    def check(self) -> None:
        """Raises `Cancelled` where the work is to stop."""

    def wait(self, seconds: float, /) -> None:
        """Wait so long. Raises `Cancelled` as soon as the work is to stop."""


class CancelFlag:
    """A `Cancellation` that `cancel` sets, from any thread or from a signal handler."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def cancel(self) -> None:
        """Ask the work to stop; for good."""
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
    """What was to be spent is spent."""


class Budget(Protocol):
    """What agents may spend."""

    def spend(
        self, *, requests: int = 0, tokens: int = 0, cost: float = 0.0, agent: str = ""
    ) -> None:
        """Note what was spent, and by which agent. Raises `OverBudget` where that is more than
        allowed."""

    @property
    def left(self) -> bool:
        """Whether anything may be spent."""


class Services:
    """The services of one compilation.

    Attributes:
        model: the language model, None where none is configured.
        store: the documents, None where there are none.
        embedder: what compares meanings, None where there is none.
        catalogue: the operations that tasks may be filled with, None if not requested.
        budget: what agents may spend, None where they may spend anything.
        progress: shown to the user.
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
        """The same services, with progress shown in another place."""
        return Services(
            self.model, self.budget, progress, self.cancellation,
            store=self.store, embedder=self.embedder, catalogue=self.catalogue,
        )  # fmt: skip
