"""Runs of emitted workflows on n8n's own engine, with scripted decisions."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field
from typing import TYPE_CHECKING, Any

from orgflow.backends.n8n.emit.compiled import CompiledProcess, CompiledScope
from orgflow.backends.n8n.emit.form_code import PAGE
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.engine.runs import EngineRun, RunRequest
from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.node_types.send_and_wait import ANSWER, ANSWERED_AT
from orgflow.backends.n8n.plan.actions import (
    COMPUTES,
    REPLACED,
    WAITS,
    AskByMessage,
    AskByPage,
    Call,
    ConcludeWork,
    DescribeFailure,
)
from orgflow.backends.n8n.plan.failures import THROWN, caught_in
from orgflow.backends.n8n.plan.graph import HelperKey, start_key
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.task_form import TaskForm
from orgflow.backends.n8n.replay.data_walk import ComputedProcess, DataWalk, Predicted, rows_of
from orgflow.backends.n8n.replay.input_search import InputSearch, PlannedRun
from orgflow.backends.n8n.replay.scripted_data import script_nodes
from orgflow.backends.n8n.replay.segment_runs import (
    NOT_EVALUATED,
    play_segments,
    visible_elements,
)

from orgflow_ir.flow.control_flow.calls import takes_everything, variable_in
from orgflow_ir.flow.control_flow.graph import list_reachable
from orgflow_ir.flow.nets.failures import CaughtError, steps_called
from orgflow_ir.flow.token_game.stimulus import Payload, Stimulus
from orgflow_ir.flow.token_game.stub_data import Unplayable, data_stimuli
from orgflow_ir.lowering.meaning import as_executed
from orgflow_ir.model import CallActivity, Event, Model, Node, Task
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.model.records import dataclass
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.runners import (
    NodeExecution,
    Runner,
    RunResult,
    RunSelection,
    UnplayableProcessError,
    WorkflowReport,
    WrongValue,
)
from orgflow_ir.targets.artifact import Emitted
from orgflow_ir.work.waiting import UNTIL

if TYPE_CHECKING:
    from orgflow_ir.flow.token_game.runs import Run, RunSet
    from orgflow_ir.flow.token_game.semantics import Game


NODES_PER_STEP = 10
"""Maximum number of node executions per step of the run, beyond which it counts as endless."""

NODES_OF_ENDLESS = 400
"""Maximum number of node executions of a run that the model does not end."""

UNNAMED = "something went wrong"
"""The message of an error without a code."""

MOST_MS = 30_000
"""Maximum elapsed time of one run, in milliseconds."""

PATIENCE = 3
"""The factor by which the elapsed time of a run may be longer when it is repeated: a busy machine
is no fault of a workflow."""

_TOO_LONG = "ran longer than"
"""The start of the message of a run that the elapsed time ended."""


def _error_message(caught: CaughtError) -> str:
    """A message of an error that an event catches."""
    return caught.code or (THROWN if caught.thrown else UNNAMED)


class LocalRunner(Runner):
    """Executes runs on the local engine; one Node process serves all models loaded one after
    another.

    Stubs replace placeholder bodies (tasks and decision nodes): expressions, gateways, joins and
    waits are the delivered ones, executed by n8n's own code.
    """

    def __init__(self, engine: LocalEngine | None = None) -> None:
        self._engine = engine or LocalEngine()
        self._own = engine is None
        self._compiled: CompiledProcess | None = None
        self._workflow: Workflow | None = None
        self._computed = ComputedProcess(())
        self._walks: dict[int, tuple[Run, DataWalk | None]] = {}

    def load(self, emitted: Emitted, process: str, ctx: PassContext) -> None:
        """See `Runner`. Raises `KeyError` if the process has no output."""
        del ctx
        compiled = emitted.compiled[process]
        assert isinstance(compiled, CompiledProcess)
        self._compiled = compiled
        self._workflow = compiled.root.workflow
        self._walks = {}
        plans = tuple(scope.plan for scope in self._all_scopes)
        self._computed = ComputedProcess(plans)
        self._computed.scripted |= {
            (number, name) for number, plan in enumerate(plans) for name in scripted_nodes(plan)
        }

    @property
    def workflow(self) -> Workflow:
        """The loaded workflow; a test may replace it to make a replay fail."""
        assert self._workflow is not None
        return self._workflow

    @workflow.setter
    def workflow(self, value: Workflow) -> None:
        self._workflow = value

    @property
    def compiled(self) -> CompiledProcess:
        """The compiled form of the loaded process."""
        assert self._compiled is not None
        return self._compiled

    @property
    def _all_scopes(self) -> tuple[CompiledScope, ...]:
        """The scopes of all workflows that a run may come to."""
        return (*self.compiled.scopes, *self.compiled.called)

    @property
    def visible(self) -> frozenset[str]:
        if self.is_cut:
            return frozenset(visible_elements(self.compiled.root.plan))
        nodes = (n for scope in self._all_scopes for n in scope.plan.workflow_graph.nodes.values())
        return frozenset(n.element for n in nodes if n.role == "element")

    @property
    def is_cut(self) -> bool:
        """Whether the process waits in several places, and is played on the model of rows."""
        return self.compiled.root.plan.segments is not None

    @property
    def changed(self) -> tuple[str, ...]:
        if self.is_cut:
            return (NOT_EVALUATED,)
        names = [name for scope in self._all_scopes for name in _stubbed_nodes(scope.plan)]
        computed = {name for scope in self._all_scopes for name in scripted_nodes(scope.plan)}
        outside = {name for scope in self._all_scopes for name in _sending_nodes(scope.plan)}
        calling = {name for scope in self._all_scopes for name in _calling_nodes(scope.plan)}
        lines = [
            f"scripted values replace the result of `{n}`"
            if n in computed
            else f"`{n}` sends nothing, and its answer is scripted"
            if n in outside
            else f"scripted values replace the workflow that `{n}` calls"
            if n in calling
            else f"placeholder `{n}` outputs scripted decisions"
            for n in names
        ]
        nodes = (n for scope in self._all_scopes for n in scope.plan.workflow_graph.nodes.values())
        for node in nodes:
            if isinstance(node.action, AskByMessage):
                lines.append(f"`{node.name}` sends nothing: it is answered immediately")
            if isinstance(node.action, WAITS):
                filled = "filled in" if isinstance(node.action, AskByPage) else "resumed"
                lines.append(f"wait `{node.name}` is {filled} immediately")
        return tuple(lines)

    def select(self, game: Game, runs: RunSet, *, all_paths: bool, max_runs: int) -> RunSelection:
        """See `Runner`: where the workflow computes, the runs that inputs lead along."""
        if self.is_cut or not self._computed.searches:
            return super().select(game, runs, all_paths=all_paths, max_runs=max_runs)
        search = InputSearch(self._computed, game, runs.process, self._is_accepted)
        selection, planned = search.select(runs, all_paths=all_paths, most=max_runs)
        faulty = [p for p in search.faulty if any(f.run is p.run for f in selection.faults)]
        self._walks = {id(p.run): (p.run, p.walk) for p in (*planned, *faulty)}
        self._walks |= {id(run): (run, None) for run in selection.excluded}
        return selection

    def _is_accepted(self, candidate: PlannedRun) -> bool:
        """Whether the workflow does not stop a run because of the types of its inputs. Raises
        `EngineError`."""
        self._walks[id(candidate.run)] = (candidate.run, candidate.walk)
        (result,) = self.play([candidate.run])
        return result.status != "error" or candidate.run.outcome == "error"

    def play(self, runs: Iterable[Run]) -> Iterator[RunResult]:
        """See `Runner`. Raises `EngineError` if the engine is missing or cannot be started."""
        if self.is_cut:
            yield from (play_segments(self.compiled.root.plan, self.workflow, run) for run in runs)
            return
        requests: list[tuple[RunRequest | str, Run]] = []  # texts: no data makes it take the run
        for run in runs:
            try:
                requests.append((self._run_request(run), run))
            except Unplayable as error:
                requests.append((str(error), run))
        asked = [r for r, _ in requests if isinstance(r, RunRequest)]
        played = iter(list(self.play_requests(asked)))
        slow: list[tuple[int, RunRequest]] = []
        results: list[RunResult] = []
        for request, run in requests:
            if isinstance(request, str):
                results.append(RunResult("unplayable", error=request))
                continue
            engine_run = next(played)
            if _is_too_long(engine_run):
                slow.append((len(results), request))
            results.append(self._judged_result(engine_run, run))
        again = self.play_requests([_with_patience(r) for _, r in slow]) if slow else ()
        for (number, _), engine_run in zip(slow, again, strict=True):
            results[number] = self._judged_result(engine_run, requests[number][1])
        yield from results

    def _judged_result(self, engine_run: EngineRun, run: Run) -> RunResult:
        """The result of a run, with the values that its programs should not have set."""
        result = self._read_result(engine_run)
        if _is_too_long(engine_run):
            return result._replace(status="timeout")
        walk = self._walks.get(id(run), (run, None))[1]
        if walk is None:
            return result
        return result._replace(wrong=self._wrong_values(engine_run, walk.predicted))

    def _wrong_values(
        self, engine_run: EngineRun, predicted: Sequence[Predicted]
    ) -> tuple[WrongValue, ...]:
        """The variables that nodes set to other values than the model does."""
        outputs: dict[tuple[str | None, str], list[Mapping[str, Any] | None]] = {}
        for node in engine_run.order:
            items = [item for output in node.items or () for item in output]
            outputs.setdefault((node.workflow, node.node), []).append(items[0] if items else None)
        ids = [
            scope.plan.scope.workflow_id if number else None
            for number, scope in enumerate(self._all_scopes)
        ]
        wrong = []
        for expected in predicted:
            visits = outputs.get((ids[expected.scope], expected.node), [])
            item = visits[expected.visit] if expected.visit < len(visits) else None
            for name, value in expected.values if item is not None else ():
                assert item is not None
                if not _same_values(item.get(name), value):
                    wrong.append(
                        WrongValue(
                            expected.element, expected.node, name,
                            _show_value(value), _show_value(item.get(name)),
                        )
                    )  # fmt: skip
        return tuple(wrong)

    def play_requests(self, requests: Sequence[RunRequest]) -> Iterable[EngineRun]:
        """Execute requests, in their order. Raises `EngineError`."""
        return self._engine.run_many(requests)

    def play_stimuli(self, stimuli: Sequence[Stimulus]) -> RunResult:
        """The behaviour of the engine when it is driven by one list, with the data of its stubs
        (`with_data`). Raises `EngineError`."""
        (played,) = self._engine.run_many([self.request(stimuli)])
        return self._read_result(played)

    def _run_request(self, run: Run) -> RunRequest:
        data = self.data_of(run)
        scripted = self._scripts_values(run)
        request = self.request(data, self._errors_of(run, scripted=scripted), scripted=scripted)
        if run.outcome != "running":
            return request
        # The model does not end: it suffices that the workflow goes on for some rounds.
        limits = {**(request.limits or {}), "nodes": NODES_OF_ENDLESS}
        return request._replace(limits=limits, data=False)

    def _errors_of(self, run: Run, *, scripted: bool = False) -> dict[str, list[str | None]]:
        """For each task that fails in a run the messages of its errors, visit by visit; what a call
        runs, and what computes its error, fails by itself, unless its results are scripted."""
        calls = {
            node.id
            for scope in self._all_scopes
            for node in scope.plan.scope.body.nodes
            if isinstance(node, CallActivity)
        }
        return {
            host: [None if error is None else _error_message(error) for error in visits]
            for host, visits in self.failures_of(run).items()
            if host not in calls and (scripted or not self._computed.does_itself(host))
        }

    def failures_of(self, run: Run) -> dict[str, list[CaughtError | None]]:
        """For each task and call that fails in a run, the event that catches its errors, visit by
        visit; `None` if it succeeds. If an event on a call catches them, so that the call fails, a
        step of the called process fails as well, unless an event there throws the error."""
        hosts: dict[str, list[tuple[tuple[str, ...], CaughtError]]] = {}
        for scope in self._all_scopes:
            nodes = {node.id: node for node in scope.plan.scope.body.nodes}
            for host, caught in caught_in(scope.plan).items():
                for error in caught:
                    event = nodes[error.event]
                    inside = _failing_in(nodes[host], event, scope.plan)
                    hosts.setdefault(source_ids(event)[0], []).extend(
                        ((*steps, host), error) for steps in inside
                    )
        visits: dict[str, list[CaughtError | None]] = {}
        opened = Counter[str]()
        for step in run.steps if hosts else ():
            if step.action == "open":
                visits.setdefault(step.element, []).append(None)
                opened[step.element] += 1
                continue
            known = hosts.get(step.element, [])
            failed = next((way for way in known if all(opened[i] for i in way[0])), None)
            for ended in failed[0] if failed is not None else (step.element,):
                if failed is not None:
                    visits[ended][-1] = failed[1]
                opened[ended] = max(0, opened[ended] - 1)
        return {host: errors for host, errors in visits.items() if any(errors)}

    def data_of(self, run: Run) -> tuple[Stimulus, ...]:
        """The required output of the stubs for a run; where no inputs lead along it, also of the
        nodes that compute. Raises `Unplayable`."""
        walk = self._walk_of(run) if self._computed.searches else None
        if walk is not None:
            return self._searched_data(run, walk)
        scopes = self._all_scopes
        before = {
            gateway: _setters_before(gateway, scope.plan) if decision.coded else frozenset[str]()
            for scope in scopes
            for gateway, decision in scope.plan.decisions.items()
        }
        return data_stimuli((d for s in scopes for d in s.plan.decisions.values()), run, before)

    def _scripts_values(self, run: Run) -> bool:
        """Whether the results of computing nodes are scripted in a run: no inputs of the workflow
        lead along it, so that only its flow can be executed."""
        return self._computed.searches and self._walk_of(run) is None

    def _walk_of(self, run: Run) -> DataWalk | None:
        """The walk along a run with inputs that lead along it; `None` if the search has none."""
        planned = self._walks.get(id(run))
        if planned is None:
            attempt = InputSearch(self._computed, None, run.process).solve(run)
            walk = attempt.walk if attempt.conflict is None else None
            planned = self._walks[id(run)] = (run, walk)
        return planned[1]

    def _searched_data(self, run: Run, walk: DataWalk) -> tuple[Stimulus, ...]:
        """The inputs that a search chose, with the decision variables of labels. Raises
        `Unplayable`."""
        decisions = (d for s in self._all_scopes for d in s.plan.decisions.values())
        labels = data_stimuli(decisions, run, {}, coded=False)
        rows = rows_of(walk.slots)
        places: dict[tuple[str, int], int] = {}
        visits = Counter[str]()
        start, *others = labels
        for stimulus in others:
            visits[stimulus.element] += 1
            visit = visits[stimulus.element]
            row = rows.setdefault(stimulus.element, {})
            row[visit] = {**row.get(visit, {}), **stimulus.payload.values}
            places[stimulus.element, visit] = stimulus.at
        stimuli = [start]
        for setter, by_visit in rows.items():
            for visit in range(1, max(by_visit) + 1):
                values = Payload(values=by_visit.get(visit, {}))
                at = places.get((setter, visit), min(visit, len(run.steps)))
                stimuli.append(Stimulus(setter, "data", values, at))
        longest = Stimulus(start.element, "data", Payload(values={}), len(run.steps))
        return (*stimuli, longest)

    def request(
        self,
        stimuli: Sequence[Stimulus],
        errors: Mapping[str, Sequence[str | None]] | None = None,
        *,
        scripted: bool = False,
    ) -> RunRequest:
        """The run of the engine that a list of stimuli drives; stimuli without data need no stub:
        waits are answered immediately, and the engine has its own order. `errors` are messages of
        tasks that fail, visit by visit; a failing task outputs no data. With `scripted`, the
        results of computing nodes are scripted as well. Raises `UnplayableProcessError` for a
        process that waits in several places."""
        if self.is_cut:
            raise UnplayableProcessError(
                "a process that waits in several places is not played with data"
            )
        root = self.compiled.root
        start, process = stimuli[0].element, root.plan.process
        trigger = root.plan.workflow_graph.nodes[
            start_key(process) if start == process.id else start
        ].name
        often = max(s.at for s in stimuli) + 1
        stubs: dict[str, dict[str, Any]] = {}
        answers: dict[str, list[Any]] = {}
        for scope in self._all_scopes:
            # a node of a workflow that is called is named with that workflow's id
            place = f"{scope.plan.scope.workflow_id}/" if scope is not root else ""
            visits = script_nodes(scope.plan, stimuli).visits
            script = _Script(scope.plan, visits, often, scripted)
            script.answer_forms()
            script.answer_calls()
            script.set_stubs()
            script.fail_tasks(errors or {})
            stubs.update((f"{place}{name}", stub) for name, stub in script.stubs.items())
            answers.update((f"{place}{name}", rows) for name, rows in script.answers.items())
        for stub in stubs.values():  # n8n also tries again what merely hands on an old error
            stub["tries"] = "one visit"
        called = {
            s.plan.scope.workflow_id: _without_secrets(s.workflow)
            for s in self._all_scopes
            if s is not root
        }
        nodes = sum(len(scope.plan.workflow_graph.nodes) for scope in self._all_scopes)
        steps = max(s.at for s in stimuli) + nodes
        return RunRequest(
            _without_secrets(self.workflow),
            trigger,
            items=[{"json": script_nodes(root.plan, stimuli).item}],
            workflows=called or None,
            stubs=stubs,
            answers=answers or None,
            limits={"nodes": NODES_PER_STEP * (steps + 10), "ms": MOST_MS},
            data=self._computed.computes and not scripted,
        )

    def _read_result(self, run: EngineRun) -> RunResult:
        root = self.compiled.root
        elements = {
            (scope.plan.scope.workflow_id if scope is not root else None, n.name): n
            for scope in self._all_scopes
            for n in scope.plan.workflow_graph.nodes.values()
        }
        executed = []
        for node in run.order:
            planned = elements.get((node.workflow, node.node))
            if planned is not None and planned.role in ("guard", "check", "round"):
                continue  # they only ask again, answer the call that starts the run, or count
            mine = planned is not None and planned.role in ("element", "trigger")
            executed.append(
                NodeExecution(node.node, planned.element if planned and mine else None, node.status)
            )
        return RunResult(run.status, tuple(executed), run.error, run.ms)

    def run_workflow(self, text: str) -> WorkflowReport | None:
        """See `Runner`. Raises `EngineError`."""
        from orgflow.backends.n8n.replay.foreign_run import run_foreign_workflow  # of few files

        return run_foreign_workflow(text, self._engine)

    def meaning(self, model: Model) -> Model:
        """See `Runner`: repeated activities are loops of flows, listeners are tasks."""
        return as_executed(model)

    def close(self) -> None:
        if self._own:
            self._engine.close()


@dataclass
class _Script:
    """What the nodes of one workflow output in a replay, by their names.

    Attributes:
        scope: the compiled form of the workflow.
        visits: the fields that its nodes output, visit by visit.
        often: the maximum number of visits of a node.
        scripted: whether the results of all computing nodes are scripted.
        stubs: nodes whose output is replaced or extended.
        answers: what resumes waiting nodes.
    """

    scope: ScopePlan
    visits: Mapping[str, list[dict[str, Any]]]
    often: int
    scripted: bool = False
    stubs: dict[str, dict[str, Any]] = field(default_factory=dict)
    answers: dict[str, list[Any]] = field(default_factory=dict)

    def answer_forms(self) -> None:
        """What people answer, on a page or to a message, and what its mappings make of that."""
        nodes = self.scope.workflow_graph.nodes
        for task, form in self.scope.forms.items():
            name = nodes[task].name
            if form.by:
                self._merge_rows(
                    name, _answers_to_messages(form, self.visits.get(name, []), self.often)
                )
            elif name in self.visits:
                self.answers[name] = [_answer_form(form, row) for row in self.visits[name]]

    def answer_calls(self) -> None:
        """What calls from outside resume receive tasks with."""
        for task in self.scope.received:
            name = self.scope.workflow_graph.nodes[task].name
            if name in self.visits:
                self.answers[name] = self.visits[name]

    def set_stubs(self) -> None:
        """The output of placeholders, and of everything else that a run does not execute."""
        for name in _stubbed_nodes(self.scope, self.visits):
            self._merge_rows(name, self.visits.get(name, []))
        if self.scripted:
            self._script_values()

    def _script_values(self) -> None:
        """The results of nodes that compute: what the mappings of forms set, times in the past for
        events that wait until one, and what decides afterwards."""
        nodes = self.scope.workflow_graph.nodes
        mapped = {
            nodes[HelperKey(task, "outputs")].name: (form, nodes[task].name)
            for task, form in self.scope.forms.items()
            if HelperKey(task, "outputs") in nodes
        }
        timed = set(_timed_nodes(self.scope))
        for name in computing_nodes(self.scope):
            rows = self.visits.get(name, [])
            if name in mapped and mapped[name][1] in self.visits:
                form, task = mapped[name]
                rows = [_mapped_fields(form, row) for row in self.visits[task]]
            self._merge_rows(name, [{UNTIL: _OVER}] * self.often if name in timed else rows)

    def fail_tasks(self, errors: Mapping[str, Sequence[str | None]]) -> None:
        """Messages of errors, visit by visit; a failing task outputs no data."""
        for task, messages in errors.items():
            if task not in self.scope.workflow_graph.nodes:
                continue
            name = self.scope.workflow_graph.nodes[task].name
            rows = iter(self.visits.get(name, []))
            given = [{} if message else next(rows, {}) for message in messages]
            self._merge_rows(name, [*given, *rows])
            self.stubs[name]["errors"] = list(messages)

    def _merge_rows(self, name: str, rows: list[dict[str, Any]]) -> None:
        self.stubs[name] = {"visits": rows, "mode": "merge"}


def _failing_in(host: Node, event: Node, scope: ScopePlan) -> Iterator[tuple[str, ...]]:
    """What fails with a step so that an event on it occurs, one alternative after the other: with a
    task nothing else; with a call a step of the called process, or nothing where an event there
    throws the error."""
    assert isinstance(event, Event)
    if isinstance(host, CallActivity):
        for step in steps_called(host, event.definitions[0], scope.scope.model):
            yield (step.id,)
    yield ()


def _setters_before(gateway: str, scope: ScopePlan) -> frozenset[str]:
    """Tasks that can set what a gateway reads: those from which it is reached, not beside it; of
    the forms those that ask for all of it, of calls those from which it comes back."""
    graph = scope.graph
    read = {path[0] for path in scope.decisions[gateway].coded}
    return frozenset(
        node.id
        for node in scope.scope.body.nodes
        if isinstance(node, Task)
        and (node.id not in scope.forms or read <= scope.forms[node.id].known)
        and (node.id not in scope.stubs_called or _hands_back(node, read))
        and gateway in list_reachable(graph.successors[node.id], graph.successors)
        and not scope.variables.concurrent(node.id, gateway)
    )


def _hands_back(call: Task, read: Set[str]) -> bool:
    """Whether variables come back from a call under the names that they have in what it calls."""
    given = call.binding.outputs if call.binding is not None else ()
    return takes_everything(call) or read <= {
        mapping.name for mapping in given if variable_in(mapping) == mapping.name
    }


def _answer_form(form: TaskForm, row: Mapping[str, Any]) -> dict[str, Any]:
    """What a person enters so that a step sets a row, but for what its mappings set. Raises
    `Unplayable`."""
    try:
        return form.answers({k: v for k, v in row.items() if k not in form.sets})
    except ValueError as error:
        raise Unplayable(str(error)) from None


def _answers_to_messages(
    form: TaskForm, rows: Sequence[Mapping[str, Any]], often: int
) -> list[dict[str, Any]]:
    """What a node that asks by a message hands on, visit by visit. Raises `Unplayable`."""
    answers: list[dict[str, Any]] = []
    for visit in range(often):
        answer = _answer_form(form, rows[visit]) if visit < len(rows) else {}
        if form.page:
            answer[PAGE] = f"{form.page} {visit}" if form.again else form.page
        answers.append({ANSWER: {**answer, ANSWERED_AT: _OVER}})
    return answers


def _mapped_fields(form: TaskForm, row: Mapping[str, Any]) -> dict[str, Any]:
    """What the mappings of a form set of a row."""
    return {k: v for k, v in row.items() if k in form.sets}


def _stubbed_nodes(
    scope: ScopePlan, visits: Set[str] | Mapping[str, Any] = frozenset()
) -> list[str]:
    """Names of the placeholders of a workflow whose output decides something, or has one of
    `visits`."""
    setters = {d.setter for d in scope.decisions.values() if d.values}
    for gateway, decision in scope.decisions.items():
        if decision.coded:
            setters |= _setters_before(gateway, scope)
    placeholders = [
        n.name
        for n in scope.workflow_graph.nodes.values()
        if n.role == "decide"
        or (n.role == "element" and (n.element in setters or n.name in visits))
        if isinstance(n.action, REPLACED)
    ]
    return placeholders + unexecuted_nodes(scope) + _checking_nodes(scope)


def unexecuted_nodes(scope: ScopePlan) -> list[str]:
    """Names of the nodes that a replay does not execute: they call or send, or compute with what
    these return."""
    return _calling_nodes(scope) + _sending_nodes(scope) + scripted_nodes(scope)


def _sending_nodes(scope: ScopePlan) -> list[str]:
    """Names of the nodes that send something."""
    return [
        scope.workflow_graph.nodes[element].name
        for element, work in scope.work.items()
        if work.act is not None
    ]


def _checking_nodes(scope: ScopePlan) -> list[str]:
    """Names of the nodes that check what a run is started with: a replay gives what decides."""
    return [n.name for n in scope.workflow_graph.nodes.values() if n.role == "check"]


def _calling_nodes(scope: ScopePlan) -> list[str]:
    """Names of the nodes that call a workflow in which somebody does the work, or that begin
    another process by a message."""
    nodes = scope.workflow_graph.nodes
    begin = [n.name for n in nodes.values() if isinstance(n.action, Call) and not n.action.waits]
    return [*(nodes[element].name for element in scope.named_work), *begin]


def _without_secrets(workflow: Workflow) -> Workflow:
    """The workflow with waits that nobody has to identify themselves at: a run has no secrets."""
    secret = "incomingAuthentication"
    if not any(secret in node["parameters"] for node in workflow["nodes"]):
        return workflow
    nodes = [
        {**node, "parameters": {k: v for k, v in node["parameters"].items() if k != secret}}
        for node in workflow["nodes"]
    ]
    return {**workflow, "nodes": nodes}  # type: ignore[typeddict-item]  # nodes as they were


_OVER = "2000-01-01T00:00:00.000Z"
"""A time in the past of every run."""


def scripted_nodes(scope: ScopePlan) -> list[str]:
    """Names of the nodes that compute with what something outside returns, and of those that
    describe failures: a replay has neither."""
    outside = {element for element, work in scope.work.items() if work.act is not None}
    outside |= set(scope.named_work)
    return [
        n.name
        for n in scope.workflow_graph.nodes.values()
        if isinstance(n.action, DescribeFailure)
        or (isinstance(n.action, COMPUTES) and n.element in scope.stubs_called)
        or (isinstance(n.action, ConcludeWork) and n.element in outside)
    ]


def _timed_nodes(scope: ScopePlan) -> list[str]:
    """Names of the nodes that compute until when an event waits."""
    return [
        n.name
        for n in scope.workflow_graph.nodes.values()
        if n.role == "inputs" and isinstance(scope.graph.nodes.get(n.element), Event)
    ]


def computing_nodes(scope: ScopePlan) -> list[str]:
    """Names of all nodes that compute."""
    return [n.name for n in scope.workflow_graph.nodes.values() if isinstance(n.action, COMPUTES)]


def _is_too_long(run: EngineRun) -> bool:
    """Whether the elapsed time ended a run."""
    return run.status == "limit" and (run.error or "").startswith(_TOO_LONG)


def _with_patience(request: RunRequest) -> RunRequest:
    """The same run with more time."""
    limits = dict(request.limits or {})
    return request._replace(limits={**limits, "ms": limits.get("ms", MOST_MS) * PATIENCE})


def _same_values(value: Any, expected: Any) -> bool:
    """Whether values of JSON are equal; fractions may differ in their last digits."""
    if isinstance(value, bool) or isinstance(expected, bool):
        return value is expected
    if isinstance(value, int | float) and isinstance(expected, int | float):
        return value == expected or abs(value - expected) <= 1e-12 * max(abs(value), abs(expected))
    if isinstance(value, list) and isinstance(expected, list):
        return len(value) == len(expected) and all(map(_same_values, value, expected))
    if isinstance(value, dict) and isinstance(expected, dict):
        return value.keys() == expected.keys() and all(
            _same_values(value[name], expected[name]) for name in value
        )
    return bool(value == expected)


def _show_value(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]} …"


_LONGEST_VALUE = 80
