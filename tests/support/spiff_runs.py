"""Runs of the token game on SpiffWorkflow: a written model whose decisions are scripted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from SpiffWorkflow.bpmn import BpmnWorkflow
from SpiffWorkflow.bpmn.parser import BpmnParser
from SpiffWorkflow.bpmn.script_engine import PythonScriptEngine, TaskDataEnvironment
from SpiffWorkflow.util.task import TaskState

from orgflow_ir.flow.token_game.runs import Run
from orgflow_ir.model import Event, Expression, Flow, Gateway, Model, Scope, SubProcess, Task

MOST_STEPS = 500


def scripted(model: Model) -> Model:
    """The model with a condition on every flow of an exclusive or inclusive split that asks the
    script, all but the last (the default) of an exclusive one; tasks wait for people."""
    return model.replace(processes=tuple(_scope(p) for p in model.processes))


def _scope(scope: Scope) -> Scope:
    outs: dict[str, list[Flow]] = {}
    for flow in scope.flows:
        outs.setdefault(flow.source, []).append(flow)
    asked: dict[str, Expression] = {}
    defaults: set[str] = set()
    for node in scope.nodes:
        flows = outs.get(node.id, [])
        if not isinstance(node, Gateway) or len(flows) < 2 or node.gateway_kind == "parallel":
            continue
        if node.gateway_kind == "exclusive":
            defaults.add(flows[-1].id)
        for flow in flows:
            if flow.id not in defaults:
                asked[flow.id] = Expression(text=f"pick('{node.id}', '{flow.id}')")
    nodes = tuple(
        n.replace(task_type="user") if isinstance(n, Task)
        else _scope(n) if isinstance(n, SubProcess) else n
        for n in scope.nodes
    )  # fmt: skip
    flows = tuple(
        f.replace(condition=asked.get(f.id), default=f.id in defaults) for f in scope.flows
    )
    changed: Scope = scope.replace(nodes=nodes, flows=flows)
    return changed


def plain(model: Model) -> bool:
    """Whether SpiffWorkflow and the token game mean the same by all of it: one process of tasks,
    plain events, exclusive and parallel gateways."""
    if len(model.processes) != 1 or model.message_flows:
        return False
    for scope in model.scopes():
        for node in scope.nodes:
            if isinstance(node, Event) and (node.definitions or node.position == "boundary"):
                return False
            if isinstance(node, Gateway) and node.gateway_kind not in ("exclusive", "parallel"):
                return False
            if not isinstance(node, Event | Gateway | Task):
                return False
    return (
        sum(isinstance(n, Event) and n.position == "start" for n in model.processes[0].nodes) == 1
    )


def execute(xml: str, process: str, run: Run, model: Model) -> tuple[list[str], bool]:
    """Tasks in the order in which SpiffWorkflow does them, and whether it comes to the end."""
    visits: Counter[str] = Counter()
    script: Mapping[str, tuple[tuple[str, ...], ...]] = run.script

    asked: dict[str, set[str]] = {}

    def pick(gateway: str, flow: str) -> bool:
        round_ = asked.setdefault(gateway, {flow} if not visits[gateway] else set())
        if not visits[gateway] or flow in round_:  # asked again: the next visit
            visits[gateway] += 1
            round_.clear()
        round_.add(flow)
        return flow in script[gateway][visits[gateway] - 1]

    parser = BpmnParser()
    parser.add_bpmn_str(xml.encode())
    engine = PythonScriptEngine(environment=TaskDataEnvironment({"pick": pick}))
    workflow = BpmnWorkflow(
        parser.get_spec(process), parser.get_subprocess_specs(process), script_engine=engine
    )
    tasks = {n.id for s in model.scopes() for n in s.nodes if isinstance(n, Task)}
    done: list[str] = []
    for _ in range(MOST_STEPS):
        workflow.do_engine_steps()
        ready = [t for t in workflow.get_tasks(state=TaskState.READY) if t.task_spec.manual]
        if not ready:
            break
        ready[0].run()
        if ready[0].task_spec.bpmn_id in tasks:
            done.append(ready[0].task_spec.bpmn_id)
    return done, workflow.completed
