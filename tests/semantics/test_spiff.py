"""SpiffWorkflow as a referee: what it executes must be a run of the token game, task for task."""

from __future__ import annotations

import random
from collections import Counter
from xml.sax.saxutils import quoteattr

import pytest
from seeds import at_least, seeds
from SpiffWorkflow.bpmn import BpmnWorkflow
from SpiffWorkflow.bpmn.parser import BpmnParser
from SpiffWorkflow.bpmn.script_engine import PythonScriptEngine, TaskDataEnvironment
from SpiffWorkflow.util.task import TaskState

from orgflow_ir.flow.token_game.replay import follow_execution
from orgflow_ir.flow.token_game.runs import Run, enumerate_runs
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.model import Event, Flow, Gateway, Model, Node, Process, Scope, SubProcess, Task

TAGS = {
    "exclusive": "exclusiveGateway",
    "parallel": "parallelGateway",
    "inclusive": "inclusiveGateway",
}


class Blocks:
    """A random block-structured process: sequences of tasks, choices, forks, loops, scopes.

    Inclusive gateways and loops are not mixed: SpiffWorkflow's inclusive join does not wait for a
    branch that holds a loop, or in a loop (it fires twice where 13.4.3 lets it fire once).
    """

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.kinds = ("task", "seq", "xor", "and", "sub", "loop" if seed % 2 else "or")
        self.count = 0

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def scope(self, depth: int) -> tuple[tuple[Node, ...], tuple[Flow, ...]]:
        nodes: list[Node] = []
        flows: list[Flow] = []

        def wire(a: str, b: str, default: bool = False) -> None:
            flows.append(Flow(id=self.name("f"), source=a, target=b, default=default))

        def add(node: Node) -> str:
            nodes.append(node)
            return node.id

        def gateway(kind: str) -> str:
            return add(Gateway.validate({"id": self.name("g"), "gateway_kind": kind}))

        def block(level: int) -> tuple[str, str]:
            what = self.rng.choice(self.kinds)
            if level <= 0 or what == "task":
                task = add(Task(id=self.name("t")))
                return task, task
            if what == "sub":
                if depth <= 0:
                    return block(0)
                inner, arcs = self.scope(depth - 1)
                sub = add(SubProcess(id=self.name("sp"), nodes=inner, flows=arcs))
                return sub, sub
            if what == "seq":
                first, second = block(level - 1), block(level - 1)
                wire(first[1], second[0])
                return first[0], second[1]
            if what == "loop":
                join, split = gateway("exclusive"), gateway("exclusive")
                body = block(level - 1)
                wire(join, body[0])
                wire(body[1], split)
                wire(split, join)
                after = add(Task(id=self.name("t")))
                wire(split, after, True)
                return join, after
            kind = {"xor": "exclusive", "and": "parallel", "or": "inclusive"}[what]
            split, join = gateway(kind), gateway(kind)
            for _ in range(self.rng.choice((2, 2, 3))):
                body = block(level - 1)
                wire(split, body[0])
                wire(body[1], join)
            return split, join

        start = add(Event(id=self.name("s"), position="start"))
        body = block(3)
        end = add(Event(id=self.name("e"), position="end"))
        wire(start, body[0])
        wire(body[1], end)
        return tuple(nodes), tuple(flows)

    def model(self) -> Model:
        nodes, flows = self.scope(1)
        return Model(id="M", processes=(Process(id="P", nodes=nodes, flows=flows),))


def bpmn(model: Model) -> bytes:
    """The model as BPMN; conditions ask `pick(gateway, flow)`, the last flow of an exclusive split
    is its default."""
    body = "".join(_scope(model.processes[0]))
    return (
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="x">'
        f'<process id="P" isExecutable="true">{body}</process></definitions>'
    ).encode()


def _scope(scope: Scope) -> list[str]:
    parts: list[str] = []
    splits: dict[str, list[Flow]] = {}
    for flow in scope.flows:
        splits.setdefault(flow.source, []).append(flow)
    conditional: dict[str, str] = {}
    for node in scope.nodes:
        name = quoteattr(node.id)
        outs = splits.get(node.id, [])
        match node:
            case Task():
                parts.append(f"<userTask id={name}/>")
            case Event():
                tag = "startEvent" if node.position == "start" else "endEvent"
                parts.append(f"<{tag} id={name}/>")
            case SubProcess():
                parts.append(f"<subProcess id={name}>{''.join(_scope(node))}</subProcess>")
            case Gateway():
                default = ""
                if node.gateway_kind != "parallel" and len(outs) > 1:
                    asked = outs
                    if node.gateway_kind == "exclusive":
                        default = f" default={quoteattr(outs[-1].id)}"
                        asked = outs[:-1]
                    conditional |= {f.id: node.id for f in asked}
                parts.append(f"<{TAGS[node.gateway_kind]} id={name}{default}/>")
    for flow in scope.flows:
        inner = ""
        if flow.id in conditional:
            ask = f"pick('{conditional[flow.id]}', '{flow.id}')"
            inner = f"<conditionExpression>{ask}</conditionExpression>"
        parts.append(
            f"<sequenceFlow id={quoteattr(flow.id)} sourceRef={quoteattr(flow.source)} "
            f"targetRef={quoteattr(flow.target)}>{inner}</sequenceFlow>"
        )
    return parts


class Decider:
    """Answers conditions from a script; the first flow of a gateway opens its next visit."""

    def __init__(self, model: Model, script: dict[str, tuple[tuple[str, ...], ...]]) -> None:
        self.script, self.visits = script, Counter[str]()
        self.first: dict[str, str] = {}
        for scope in model.scopes():
            for flow in scope.flows:
                self.first.setdefault(flow.source, flow.id)

    def pick(self, gateway: str, flow: str) -> bool:
        if self.first[gateway] == flow:
            self.visits[gateway] += 1
        return flow in self.script[gateway][self.visits[gateway] - 1]


def execute(model: Model, run: Run) -> tuple[list[str], bool]:
    """Tasks in the order in which SpiffWorkflow does them, and whether it comes to the end."""
    parser = BpmnParser()
    parser.add_bpmn_str(bpmn(model))
    decider = Decider(model, run.script)
    engine = PythonScriptEngine(environment=TaskDataEnvironment({"pick": decider.pick}))
    spec = parser.get_spec("P")
    workflow = BpmnWorkflow(spec, parser.get_subprocess_specs("P"), script_engine=engine)
    tasks = {n.id for s in model.scopes() for n in s.nodes if isinstance(n, Task)}
    done: list[str] = []
    for _ in range(500):
        workflow.do_engine_steps()
        ready = [t for t in workflow.get_tasks(state=TaskState.READY) if t.task_spec.manual]
        if not ready:
            break
        name = ready[0].task_spec.bpmn_id
        ready[0].run()
        if name in tasks:
            done.append(name)
    return done, workflow.completed


@pytest.mark.parametrize("block", range(6))
def test_runs_are_executed_alike(block: int):
    played = 0
    for seed in seeds(block * 10, block * 10 + 10):
        model = Blocks(seed).model()
        tasks = {n.id for s in model.scopes() for n in s.nodes if isinstance(n, Task)}
        game = Game(model)
        found = enumerate_runs(model, "P", game=game)
        assert found.uncovered == ()
        for run in found.runs[:4]:
            observed, completed = execute(model, run)
            mine = [s.element for s in run.steps if s.element in tasks and s.action != "open"]
            assert Counter(observed) == Counter(mine), seed
            assert completed
            result = follow_execution(game, "P", run.start, observed, run.script, tasks)
            assert result.ok, (seed, result.reason)
            assert result.outcome == "completed"
            played += 1
    assert played >= at_least(15)
