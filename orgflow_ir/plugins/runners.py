"""The contract of runners, which execute the output of a backend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from orgflow_ir.model.records import NamedTuple

if TYPE_CHECKING:
    from orgflow_ir.flow.token_game.runs import Run
    from orgflow_ir.model import Model
    from orgflow_ir.pipeline.context import PassContext
    from orgflow_ir.targets.artifact import Emitted


class NodeExecution(NamedTuple):
    """One executed node of a run on a target, by name, and the element that it represents, if
    any."""

    node: str
    element: str | None
    status: str = "success"


class RunResult(NamedTuple):
    """The result of a run: executed nodes in order, its status, and the reason.

    `status` is `success`, `error`, `limit`, or `unplayable` if no data makes the workflow follow
    the run's choices (`error` gives the reason).
    """

    status: str
    executed: tuple[NodeExecution, ...] = ()
    error: str | None = None
    milliseconds: float = 0.0


class RunnerError(RuntimeError):
    """The engine of a runner is missing, does not start, or refuses its input."""


class Runner(ABC):
    """Executes the output of a backend with the decisions of given runs of the model.

    It never edits an emitted expression; only bodies of placeholders and external effects are
    replaced. `changed` lists the differences from the delivered artifacts.
    """

    @abstractmethod
    def load(self, emitted: Emitted, process: str, ctx: PassContext) -> None:
        """Prepare for runs of a process in the output of the backend; nothing is compiled again.
        Raises `RunnerError` if the engine is missing or refuses the artifact."""

    @property
    @abstractmethod
    def visible(self) -> frozenset[str]:
        """Elements that have a node, so that their execution can be observed."""

    @property
    @abstractmethod
    def changed(self) -> tuple[str, ...]:
        """The differences from the delivered artifacts, one per line."""

    @abstractmethod
    def play(self, runs: Iterable[Run]) -> Iterator[RunResult]:
        """Execute each run's choices and return the results, in order."""

    @abstractmethod
    def close(self) -> None:
        """Stop everything that was started."""

    def meaning(self, model: Model) -> Model:
        """The model whose token game the runs of the target follow: the model itself, or one in
        which elements that the target executes as several steps are these steps."""
        return model
