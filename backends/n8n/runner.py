"""Runs of emitted workflows on n8n's own engine, with scripted decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

from orgflow.backends.n8n.emit.emitter import CompiledProcess, CompiledScope
from orgflow.backends.n8n.emit.graph import HelperKey, start_key
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.engine.runs import EngineRun, RunRequest
from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.stub_data import stub_data

from orgflow_ir.flow.control_flow.calls import takes_everything, variable_in
from orgflow_ir.flow.control_flow.graph import reach
from orgflow_ir.flow.nets.failures import CaughtError, steps_called
from orgflow_ir.flow.token_game.stimulus import Stimulus
from orgflow_ir.flow.token_game.stub_data import Unplayable, data_stimuli
from orgflow_ir.lowering.meaning import as_executed
from orgflow_ir.model import CallActivity, Event, Model, Node, Task
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.runners import NodeExecution, Runner, RunResult
from orgflow_ir.targets.artifact import Emitted

if TYPE_CHECKING:
    from orgflow.backends.n8n.emit.forms import TaskForm

    from orgflow_ir.flow.token_game.runs import Run


NODES_PER_STEP = 10
"""Maximum number of node executions per step of the run, beyond which it counts as endless."""

UNNAMED = "something went wrong"
"""The message of an error without a code."""

MOST_MS = 30_000
"""Maximum elapsed time of one run, in milliseconds."""


def _message(caught: CaughtError) -> str:
    """A message of an error that an event catches."""
    from orgflow.backends.n8n.emit.failures import THROWN

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

    def load(self, emitted: Emitted, process: str, ctx: PassContext) -> None:
        """See `Runner`. Raises `KeyError` if the process has no output."""
        del ctx
        compiled = emitted.compiled[process]
        assert isinstance(compiled, CompiledProcess)
        self._compiled = compiled
        self._workflow = compiled.root.workflow

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
    def _scopes(self) -> tuple[CompiledScope, ...]:
        """The scopes of all workflows that a run may come to."""
        return (*self.compiled.scopes, *self.compiled.called)

    @property
    def visible(self) -> frozenset[str]:
        nodes = (n for scope in self._scopes for n in scope.workflow_graph.nodes.values())
        return frozenset(n.element for n in nodes if n.role == "element")

    @property
    def changed(self) -> tuple[str, ...]:
        names = [name for scope in self._scopes for name in _stubbed(scope)]
        computed = {name for scope in self._scopes for name in _computed(scope)}
        outside = {name for scope in self._scopes for name in _outside(scope)}
        calling = {name for scope in self._scopes for name in _calling(scope)}
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
        nodes = (n for scope in self._scopes for n in scope.workflow_graph.nodes.values())
        forms = {t for scope in self._scopes for t in scope.forms}
        for node in nodes:
            if node.role == "element" and node.element in forms and node.type != "wait":
                lines.append(f"`{node.name}` sends nothing: it is answered immediately")
            if node.type == "wait":
                filled = "filled in" if node.element in forms else "resumed"
                lines.append(f"wait `{node.name}` is {filled} immediately")
        return tuple(lines)

    def play(self, runs: Iterable[Run]) -> Iterator[RunResult]:
        """See `Runner`. Raises `EngineError` if the engine is missing or cannot be started."""
        requests: list[RunRequest | str] = []  # texts for those that no data makes it take
        for run in runs:
            try:
                requests.append(self._request(run))
            except Unplayable as error:
                requests.append(str(error))
        played = iter(self.play_requests([r for r in requests if isinstance(r, RunRequest)]))
        for request in requests:
            if isinstance(request, str):
                yield RunResult("unplayable", error=request)
            else:
                yield self._result(next(played))

    def play_requests(self, requests: Sequence[RunRequest]) -> Iterable[EngineRun]:
        """Execute requests, in their order. Raises `EngineError`."""
        return self._engine.run_many(requests)

    def play_stimuli(self, stimuli: Sequence[Stimulus]) -> RunResult:
        """The behaviour of the engine when it is driven by one list, with the data of its stubs
        (`with_data`). Raises `EngineError`."""
        (played,) = self._engine.run_many([self.request(stimuli)])
        return self._result(played)

    def _request(self, run: Run) -> RunRequest:
        return self.request(self.data_of(run), self._errors_of(run))

    def _errors_of(self, run: Run) -> dict[str, list[str | None]]:
        """For each task that fails in a run the messages of its errors, visit by visit; what a call
        runs fails by itself."""
        calls = {
            node.id
            for scope in self._scopes
            for node in scope.scope.body.nodes
            if isinstance(node, CallActivity)
        }
        return {
            host: [None if one is None else _message(one) for one in visits]
            for host, visits in self.failures_of(run).items()
            if host not in calls
        }

    def failures_of(self, run: Run) -> dict[str, list[CaughtError | None]]:
        """For each task and call that fails in a run, the event that catches its errors, visit by
        visit; `None` if it succeeds. If an event on a call catches them, so that the call fails, a
        step of the called process fails as well, unless an event there throws the error."""
        from orgflow.backends.n8n.emit.failures import caught_in  # of few models

        hosts: dict[str, list[tuple[tuple[str, ...], CaughtError]]] = {}
        for scope in self._scopes:
            nodes = {node.id: node for node in scope.scope.body.nodes}
            for host, caught in caught_in(scope).items():
                for one in caught:
                    event = nodes[one.event]
                    found = hosts.setdefault(source_ids(event)[0], [])
                    inside = _failing_in(nodes[host], event, scope)
                    found += [((*steps, host), one) for steps in inside]
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
        return {host: found for host, found in visits.items() if any(found)}

    def data_of(self, run: Run) -> tuple[Stimulus, ...]:
        """The required output of the stubs for a run. Raises `Unplayable`."""
        scopes = self._scopes
        before = {
            gateway: _before(gateway, scope) if decision.coded else frozenset[str]()
            for scope in scopes
            for gateway, decision in scope.decisions.items()
        }
        return data_stimuli((d for s in scopes for d in s.decisions.values()), run, before)

    def request(
        self, stimuli: Sequence[Stimulus], errors: Mapping[str, Sequence[str | None]] | None = None
    ) -> RunRequest:
        """The run of the engine that a list of stimuli drives; stimuli without data need no stub:
        waits are answered immediately, and the engine has its own order. `errors` are messages of
        tasks that fail, visit by visit; a failing task outputs no data."""
        root = self.compiled.root
        start, process = stimuli[0].element, root.process
        trigger = root.workflow_graph.nodes[
            start_key(process) if start == process.id else start
        ].name
        stubs: dict[str, dict[str, Any]] = {}
        answers: dict[str, list[Any]] = {}
        for scope in self._scopes:
            # a node of a workflow that is called is named with that workflow's id
            place = f"{scope.scope.workflow_id}/" if scope is not root else ""
            visits = stub_data(scope, stimuli).visits
            mapped: dict[str, list[dict[str, Any]]] = {}
            for task, form in scope.forms.items():
                name = scope.workflow_graph.nodes[task].name
                if form.by:
                    often = max(s.at for s in stimuli) + 1
                    rows_of = _answers_to_messages(form, visits.get(name, []), often)
                    stubs[f"{place}{name}"] = {"visits": rows_of, "mode": "merge"}
                elif name in visits:
                    answers[f"{place}{name}"] = [_answered(form, row) for row in visits[name]]
                outputs = scope.workflow_graph.nodes.get(HelperKey(task, "outputs"))
                if outputs is not None and name in visits:
                    mapped[outputs.name] = [_mapped(form, row) for row in visits[name]]
            for task in scope.received:
                name = scope.workflow_graph.nodes[task].name
                if name in visits:
                    answers[f"{place}{name}"] = visits[name]
            for name in _stubbed(scope):
                rows_of = mapped.get(name, visits.get(name, []))
                stubs[f"{place}{name}"] = {"visits": rows_of, "mode": "merge"}
            for name in _timed(scope):
                from orgflow_ir.work.waiting import UNTIL

                often = max(s.at for s in stimuli) + 1
                stubs[f"{place}{name}"] = {"visits": [{UNTIL: _OVER}] * often, "mode": "merge"}
            for task, messages in (errors or {}).items():
                if task in scope.workflow_graph.nodes:
                    name = scope.workflow_graph.nodes[task].name
                    rows = iter(visits.get(name, []))
                    given = [{} if said else next(rows, {}) for said in messages]
                    stubs[f"{place}{name}"] = {
                        "visits": [*given, *rows], "errors": list(messages), "mode": "merge",
                    }  # fmt: skip
        for stub in stubs.values():  # n8n also tries again what merely hands on an old error
            stub["tries"] = "one visit"
        called = {
            s.scope.workflow_id: _without_secrets(s.workflow) for s in self._scopes if s is not root
        }
        nodes = sum(len(scope.workflow_graph.nodes) for scope in self._scopes)
        steps = max(s.at for s in stimuli) + nodes
        return RunRequest(
            _without_secrets(self.workflow),
            trigger,
            items=[{"json": stub_data(root, stimuli).item}],
            workflows=called or None,
            stubs=stubs,
            answers=answers or None,
            limits={"nodes": NODES_PER_STEP * (steps + 10), "ms": MOST_MS},
        )

    def _result(self, run: EngineRun) -> RunResult:
        root = self.compiled.root
        elements = {
            (scope.scope.workflow_id if scope is not root else None, n.name): n
            for scope in self._scopes
            for n in scope.workflow_graph.nodes.values()
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

    def meaning(self, model: Model) -> Model:
        """See `Runner`: repeated activities are loops of flows, listeners are tasks."""
        return as_executed(model)

    def close(self) -> None:
        if self._own:
            self._engine.close()


def _failing_in(host: Node, event: Node, scope: CompiledScope) -> Iterator[tuple[str, ...]]:
    """What fails with a step so that an event on it occurs, one alternative after the other: with a
    task nothing else; with a call a step of the called process, or nothing where an event there
    throws the error."""
    assert isinstance(event, Event)
    if isinstance(host, CallActivity):
        for step in steps_called(host, event.definitions[0], scope.scope.model):
            yield (step.id,)
    yield ()


def _before(gateway: str, scope: CompiledScope) -> frozenset[str]:
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
        and gateway in reach(graph.successors[node.id], graph.successors)
        and not scope.variables.concurrent(node.id, gateway)
    )


def _hands_back(call: Task, read: Set[str]) -> bool:
    """Whether variables come back from a call under the names that they have in what it calls."""
    given = call.binding.outputs if call.binding is not None else ()
    return takes_everything(call) or read <= {
        one.name for one in given if variable_in(one) == one.name
    }


def _answered(form: TaskForm, row: Mapping[str, Any]) -> dict[str, Any]:
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
    from orgflow.backends.n8n.emit.forms import PAGE
    from orgflow.backends.n8n.node_types.send_and_wait import ANSWER, ANSWERED_AT

    found: list[dict[str, Any]] = []
    for visit in range(often):
        answer = _answered(form, rows[visit]) if visit < len(rows) else {}
        if form.page:
            answer[PAGE] = f"{form.page} {visit}" if form.again else form.page
        found.append({ANSWER: {**answer, ANSWERED_AT: _OVER}})
    return found


def _mapped(form: TaskForm, row: Mapping[str, Any]) -> dict[str, Any]:
    """What the mappings of a form set of a row."""
    return {k: v for k, v in row.items() if k in form.sets}


def _stubbed(scope: CompiledScope) -> list[str]:
    """Names of the placeholders of a workflow whose output decides something."""
    setters = {d.setter for d in scope.decisions.values() if d.values}
    for gateway, decision in scope.decisions.items():
        if decision.coded:
            setters |= _before(gateway, scope)
    placeholders = [
        n.name
        for n in scope.workflow_graph.nodes.values()
        if n.role == "decide" or (n.role == "element" and n.element in setters)
        if n.type in ("set", "noOp")
    ]
    return placeholders + unexecuted(scope) + _checking(scope)


def unexecuted(scope: CompiledScope) -> list[str]:
    """Names of the nodes that a replay does not execute: they call, send or compute."""
    return _calling(scope) + _outside(scope) + _computed(scope)


def _outside(scope: CompiledScope) -> list[str]:
    """Names of the nodes that send something."""
    return [
        scope.workflow_graph.nodes[element].name
        for element, work in scope.work.items()
        if work.act is not None
    ]


def _checking(scope: CompiledScope) -> list[str]:
    """Names of the nodes that check what a run is started with: a replay gives what decides."""
    return [n.name for n in scope.workflow_graph.nodes.values() if n.role == "check"]


def _calling(scope: CompiledScope) -> list[str]:
    """Names of the nodes that call a workflow in which somebody does the work."""
    return [scope.workflow_graph.nodes[element].name for element in scope.named_work]


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


def _timed(scope: CompiledScope) -> list[str]:
    """Names of the nodes that compute until when an event waits."""
    return [
        n.name
        for n in scope.workflow_graph.nodes.values()
        if n.role == "inputs" and isinstance(scope.graph.nodes.get(n.element), Event)
    ]


def _computed(scope: CompiledScope) -> list[str]:
    """Names of the nodes that compute what the model says, of data that a replay does not have."""
    return [
        n.name
        for n in scope.workflow_graph.nodes.values()
        if n.type == "code" and n.role in ("element", "inputs", "outputs")
    ]
