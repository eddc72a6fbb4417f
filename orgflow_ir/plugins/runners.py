"""The contract of runners, which execute the output of a backend."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from orgflow_ir.model.records import NamedTuple

if TYPE_CHECKING:
    from orgflow_ir.flow.token_game.runs import Run, RunSet
    from orgflow_ir.flow.token_game.semantics import Game
    from orgflow_ir.model import Model
    from orgflow_ir.pipeline.context import PassContext
    from orgflow_ir.targets.artifact import Emitted


class NodeExecution(NamedTuple):
    """One executed node of a run on a target, by name, and the element that it represents, if
    any."""

    node: str
    element: str | None
    status: str = "success"


class WrongValue(NamedTuple):
    """A variable that a node set to another value than the model does; values as JSON."""

    element: str
    node: str
    variable: str
    expected: str
    actual: str


class RunResult(NamedTuple):
    """The result of a run: executed nodes in order, its status, and the reason.

    `status` is `success`, `error`, `limit` (too many steps), `timeout` (the run was too slow, also
    when it was repeated), or `unplayable` if no data makes the workflow follow the run's choices
    (`error` gives the reason). `wrong` are the variables with other values than in the model.
    """

    status: str
    executed: tuple[NodeExecution, ...] = ()
    error: str | None = None
    milliseconds: float = 0.0
    wrong: tuple[WrongValue, ...] = ()


class ComputedFault(NamedTuple):
    """A fault of a model that every run which is tried comes to, in what the model computes.

    Attributes:
        kind: `endless`, `stuck`, `no-branch` (no branch of a gateway fits the data), `thrown`,
            `failed`, `invalid-time`, or `unset` (a variable has no value).
        element: the id of the element.
        message: the reason.
        run: the steps of a run that comes to it.
    """

    kind: str
    element: str
    message: str
    run: Run | None = None


class RunSelection(NamedTuple):
    """The runs of a process that data leads along.

    Attributes:
        runs: those to execute.
        faults: what ends other runs before their end.
        unreached: ids of flows that no data leads to which a search tried; it tries every kind of
            value that the conditions before them tell apart.
        excluded_flows: those of them before which a condition is that no values meet.
        undecided: ids of flows for which no data was found that leads to them, though there may be
            some.
        left_out: the number of runs that are not executed.
        excluded: runs of the flow that no data leads along; `play` executes their flow alone, with
            scripted values in place of computed ones.
    """

    runs: tuple[Run, ...]
    faults: tuple[ComputedFault, ...] = ()
    unreached: tuple[str, ...] = ()
    left_out: int = 0
    undecided: tuple[str, ...] = ()
    excluded: tuple[Run, ...] = ()
    excluded_flows: frozenset[str] = frozenset()


class WorkflowRun(NamedTuple):
    """A run of a workflow that no model describes, as it is.

    Attributes:
        trigger: the node that it starts at.
        executed: names of the nodes, in order.
        status: of the engine.
        error: its message.
        failed: the node with the error.
        is_known: whether the error is the workflow's own: nothing before it was replaced, and it
            depends on no invented data.
        milliseconds: the elapsed time.
    """

    trigger: str
    executed: tuple[str, ...]
    status: str
    error: str | None
    failed: str | None
    is_known: bool
    milliseconds: float


class WorkflowReport(NamedTuple):
    """The runs of a file that no compiler wrote. `replaced` are the nodes that did not run as they
    are, one per line."""

    replaced: tuple[str, ...]
    runs: tuple[WorkflowRun, ...]

    @property
    def ok(self) -> bool:
        """Whether there are runs, and none of them ends with an error of the workflow."""
        return bool(self.runs) and not any(run.error and run.is_known for run in self.runs)


class RunnerError(RuntimeError):
    """The engine of a runner is missing, does not start, or refuses its input."""


class UnplayableProcessError(RunnerError):
    """A runner cannot play the output for a process, whatever the run; the text is the reason."""


class Runner(ABC):
    """Executes the output of a backend with the decisions of given runs of the model.

    It never edits an emitted expression; only bodies of placeholders and external effects are
    replaced. `changed` lists the differences from the delivered artifacts.
    """

    @abstractmethod
    def load(self, emitted: Emitted, process: str, ctx: PassContext) -> None:
        """Prepare for runs of a process in the output of the backend; nothing is compiled again.
        Raises `RunnerError` if the engine is missing or refuses the artifact, and
        `UnplayableProcessError` if the runner cannot play it."""

    @property
    @abstractmethod
    def visible(self) -> frozenset[str]:
        """Elements that have a node, so that their execution can be observed."""

    @property
    @abstractmethod
    def changed(self) -> tuple[str, ...]:
        """The differences from the delivered artifacts, one per line."""

    def select(self, game: Game, runs: RunSet, *, all_paths: bool, max_runs: int) -> RunSelection:
        """The runs to execute, after `load`; a runner of a target that computes chooses their
        inputs."""
        del game, max_runs
        chosen = runs.runs if all_paths else runs.runs[:1]
        return RunSelection(chosen, left_out=len(runs.runs) - len(chosen))

    @abstractmethod
    def play(self, runs: Iterable[Run]) -> Iterator[RunResult]:
        """Execute each run's choices and return the results, in order."""

    def run_workflow(self, text: str) -> WorkflowReport | None:
        """Run the workflow in a file of the target as it is, if no model describes it; `None` if
        the text is no such workflow, or this runner cannot do that. Raises `RunnerError`."""
        del text
        return None

    @abstractmethod
    def close(self) -> None:
        """Stop everything that was started."""

    def meaning(self, model: Model) -> Model:
        """The model whose token game the runs of the target follow: the model itself, or one in
        which elements that the target executes as several steps are these steps."""
        return model
