"""Runs of emitted state machines on moto's interpreter, with scripted decisions."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from orgflow.backends.asl.compiled_process import CompiledProcess
from orgflow.backends.asl.element_order import Schedule, ends_early, order_of
from orgflow.backends.asl.element_states import CALLBACK
from orgflow.backends.asl.engine import FUNCTION, Answer, MotoEngine, Played
from orgflow.backends.asl.format import Definition, State, all_states
from orgflow.backends.asl.stub_data import StubData, stub_data_of

from orgflow_ir.flow.token_game.stub_data import Unplayable
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.runners import NodeExecution, Runner, RunResult
from orgflow_ir.targets.artifact import Emitted

if TYPE_CHECKING:
    from orgflow_ir.flow.token_game.runs import Run

MOST_SECONDS = 30.0
"""Maximum elapsed time of one run."""


class MotoRunner(Runner):
    """Executes runs on moto; stubs replace placeholders that decide or fail, waits take no time,
    callbacks are answered immediately. Choices, forks, joins and catches are the delivered ones.
    """

    def __init__(self) -> None:
        self._engine: MotoEngine | None = None
        self._compiled: CompiledProcess | None = None
        self._definition: Definition = {}
        self._stubs: dict[str, str] = {}
        self.last_output: Any = None
        """What the last execution put out; nothing where it failed."""

    @property
    def compiled(self) -> CompiledProcess:
        """The compiled form of the loaded process."""
        assert self._compiled is not None
        return self._compiled

    @property
    def definition(self) -> Definition:
        """The executed machine: the delivered one with its stubs; a test may edit it and
        `reload`."""
        return self._definition

    def load(self, emitted: Emitted, process: str, ctx: PassContext) -> None:
        """See `Runner`. Raises `KeyError` if the process has no output."""
        del ctx
        compiled = emitted.compiled[process]
        assert isinstance(compiled, CompiledProcess)
        self._compiled = compiled
        self._definition = copy.deepcopy(compiled.definition)
        self._stubs = _put_stubs(self._definition, compiled)
        self.reload()

    def reload(self) -> None:
        """Load `definition` into the interpreter. Raises `RunnerError`."""
        if self._engine is None:
            self._engine = MotoEngine()
        self._engine.load(self._definition)

    @property
    def visible(self) -> frozenset[str]:
        return frozenset(
            s.element for s in self.compiled.graph.states.values() if s.role == "element"
        )

    @property
    def changed(self) -> tuple[str, ...]:
        lines = [f"placeholder `{n}` returns scripted results" for n in self._stubs.values()]
        for name, state in all_states(self.compiled.definition):
            if state["Type"] == "Wait":
                lines.append(f"wait `{name}` takes no time")
            elif state.get("Resource") == CALLBACK:
                lines.append(f"callback `{name}` is answered immediately")
        return tuple(lines)

    def play(self, runs: Iterable[Run]) -> Iterator[RunResult]:
        """See `Runner`."""
        for run in runs:
            try:
                data = stub_data_of(self.compiled, run)
            except Unplayable as error:
                yield RunResult("unplayable", error=str(error))
            else:
                yield self.play_stubs(data, self._schedule(run))

    def play_stubs(self, data: StubData, schedule: Schedule | None = None) -> RunResult:
        """Execute with given results of every step."""
        assert self._engine is not None
        effects = _Effects(data)
        played = self._engine.run(data.input, effects.answer, MOST_SECONDS, schedule)
        self.last_output = played.output
        return self._result(played)

    def _schedule(self, run: Run) -> Schedule | None:
        process = self.compiled.graph.process
        if not ends_early(run, process):
            return None
        infos = self.compiled.graph.states
        elements = {name: i.element for name, i in infos.items() if i.role == "element"}
        seen = set(elements.values())
        order = order_of(run, process)
        return Schedule(tuple(e for e in order if e in seen), elements)

    def _result(self, played: Played) -> RunResult:
        infos = self.compiled.graph.states
        executed = []
        for name in played.entered:
            info = infos.get(name)
            element = info.element if info is not None and info.role == "element" else None
            executed.append(NodeExecution(name, element))
        status = {"SUCCEEDED": "success", "TIMED_OUT": "limit"}.get(played.status, "error")
        error = f"{played.error}: {played.cause}" if played.error else None
        return RunResult(status, tuple(executed), error, played.milliseconds)

    def close(self) -> None:
        if self._engine is not None:
            self._engine.close()
            self._engine = None


class _Effects:
    """Answers of stubs and callbacks, one a visit, counted over the whole run."""

    def __init__(self, data: StubData) -> None:
        self.data = data
        self.visits: dict[str, int] = {}

    def answer(self, element: str) -> Answer:
        visit = self.visits[element] = self.visits.get(element, 0) + 1
        rows = self.data.results.get(element, [])
        return rows[visit - 1] if visit <= len(rows) else Answer({})


def _put_stubs(definition: Definition, compiled: CompiledProcess) -> dict[str, str]:
    """Replace what decides or may fail by functions that a run answers; waits take no time."""
    wanted = {name: element for element, name in compiled.deciders.items()}
    wanted |= {name: element for element, name in compiled.attempts.items()}
    stubs: dict[str, str] = {}
    for name, state in all_states(definition):
        if state["Type"] == "Wait":
            state.pop("Timestamp", None)
            state.pop("TimestampPath", None)
            state["Seconds"] = 0
        elif "QueryLanguage" in state:  # moto evaluates no JSONata
            element = compiled.graph.states[name].element
            stubs[element] = name
            _put_stub(state, element)
            place = compiled.graph.places.get(element)
            state["ResultPath"] = compiled.graph.path(element) if place else None
        elif name in wanted and state["Type"] == "Pass":
            stubs[wanted[name]] = name
            _put_stub(state, wanted[name])
    return stubs


def _put_stub(state: State, element: str) -> None:
    state["Type"] = "Task"
    for field in ("Result", "QueryLanguage", "Arguments", "Output", "TimeoutSeconds"):
        state.pop(field, None)
    state["Resource"] = FUNCTION + element.encode().hex()
