"""What the referee bpmn-engine is given, BPMN files and a run's decisions, and how to read it."""

from __future__ import annotations

from collections import Counter
from typing import Any
from xml.sax.saxutils import quoteattr

from orgflow_ir.flow.token_game.runs import Run
from orgflow_ir.model import (
    CallActivity,
    Event,
    EventDefinition,
    Gateway,
    Model,
    Node,
    Scope,
    SubProcess,
    Task,
)

TASKS = {"abstract": "task", "user": "userTask", "manual": "manualTask", "receive": "receiveTask"}
EVENTS = {
    "start": "startEvent",
    "end": "endEvent",
    "catch": "intermediateCatchEvent",
    "throw": "intermediateThrowEvent",
    "boundary": "boundaryEvent",
}
GATEWAYS = {
    "exclusive": "exclusiveGateway",
    "parallel": "parallelGateway",
    "inclusive": "inclusiveGateway",
    "event": "eventBasedGateway",
}
DEFINITIONS = {"timer": "<timeDuration>P1D</timeDuration>"}


def bpmn(model: Model, *, own_inclusive_joins: bool = False) -> str:
    """The model as BPMN, to execute its first process. Every flow of an exclusive or inclusive
    split that is not the default has a condition, as has every flow that has one in the model.

    A converging inclusive gateway is written as a parallel one: that is the gateway at which
    bpmn-engine counts a branch not taken as arrived; its inclusive one (`own_inclusive_joins`)
    passes every token on.
    """
    parts = [
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
        'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" id="D" targetNamespace="x">'
    ]
    for process in model.processes:
        executable = str(process is model.processes[0]).lower()
        parts.append(f'<process id={quoteattr(process.id)} isExecutable="{executable}">')
        parts += [*_scope(process, own_inclusive_joins), "</process>"]
    return "".join((*parts, "</definitions>"))


def _scope(scope: Scope, own_inclusive_joins: bool) -> list[str]:
    parts = []
    fan_in = Counter(flow.target for flow in scope.flows)
    fan_out = Counter(flow.source for flow in scope.flows)
    defaults = {flow.source: flow.id for flow in scope.flows if flow.default}
    choosing = set()
    for node in scope.nodes:
        attributes = f"id={quoteattr(node.id)}"
        if node.id in defaults:
            attributes += f" default={quoteattr(defaults[node.id])}"
        inner = ""
        match node:
            case Task():
                tag = TASKS[node.task_type]
            case Event():
                tag = EVENTS[node.position]
                inner = "".join(_definition(d) for d in node.definitions)
                if node.position == "boundary":
                    attributes += f' attachedToRef="{node.attached_to}"'
                    attributes += f' cancelActivity="{str(node.interrupting).lower()}"'
            case CallActivity():
                tag = "callActivity"
                attributes += f' calledElement="{node.called}"'
            case SubProcess():
                tag, inner = "subProcess", "".join(_scope(node, own_inclusive_joins))
            case Gateway():
                tag = GATEWAYS[node.gateway_kind]
                if node.gateway_kind in ("exclusive", "inclusive") and fan_out[node.id] > 1:
                    choosing.add(node.id)
                if node.gateway_kind == "inclusive" and fan_in[node.id] > 1:
                    assert fan_out[node.id] == 1, "an inclusive gateway that joins and splits"
                    tag = tag if own_inclusive_joins else "parallelGateway"
            case _:
                raise AssertionError(f"{node.construct} is not for bpmn-engine")
        parts.append(f"<{tag} {attributes}>{inner}</{tag}>")
    for flow in scope.flows:
        asked = (flow.source in choosing or flow.condition is not None) and not flow.default
        condition = (
            '<conditionExpression xsi:type="tFormalExpression" language="script">x'
            "</conditionExpression>"
        )
        parts.append(
            f"<sequenceFlow id={quoteattr(flow.id)} sourceRef={quoteattr(flow.source)} "
            f"targetRef={quoteattr(flow.target)}>{condition if asked else ''}</sequenceFlow>"
        )
    return parts


def _definition(definition: EventDefinition) -> str:
    tag = f"{definition.kind}EventDefinition"
    return f"<{tag}>{DEFINITIONS.get(definition.kind, '')}</{tag}>"


# -- the decisions of a run -----------------------------------------------------------------------


def elements(model: Model) -> dict[str, Node]:
    """All nodes of the model, those in sub-processes too."""
    return {node.id: node for scope in model.scopes() for node in scope.nodes}


def hosts(model: Model) -> dict[str, str]:
    """Boundary event → its activity."""
    return {
        node.id: node.attached_to
        for node in elements(model).values()
        if isinstance(node, Event) and node.attached_to is not None
    }


def request(model: Model, run: Run, seed: int | None = None) -> dict[str, Any]:
    """What the referee needs to make this run; see bpmn_engine_referee.cjs. With a seed, what
    waits comes in any order; without one in the run's."""
    nodes, boundary = elements(model), hosts(model)
    endings: dict[str, list[list[str]]] = {host: [] for host in boundary.values()}
    order = []
    for step in run.steps:
        node = nodes[step.element]
        if step.action == "open" and node.id in endings:
            endings[node.id].append([])
        elif node.id in boundary:
            if not _thrown_inside(node):
                endings[boundary[node.id]][-1].append(node.id)
                order.append(node.id)
        elif step.action == "done":
            if node.id in endings:
                endings[node.id][-1].append(node.id)
            if not isinstance(node, SubProcess):
                order.append(node.id)
    found = {
        "source": bpmn(model),
        "flows": {element: list(visits) for element, visits in run.script.items()},
        "endings": endings,
        "hosts": boundary,
        "races": _races(model, run),
    }
    return found | ({"order": order} if seed is None else {"seed": seed})


def _thrown_inside(node: Node) -> bool:
    return isinstance(node, Event) and any(d.kind == "error" for d in node.definitions)


def _races(model: Model, run: Run) -> dict[str, tuple[str, list[bool]]]:
    nodes = elements(model)
    return {
        flow.target: (flow.source, [taken[0] == flow.id for taken in run.script[flow.source]])
        for scope in model.scopes()
        for flow in scope.flows
        if flow.source in run.script and _is_race(nodes[flow.source])
    }


def _is_race(node: Node) -> bool:
    return isinstance(node, Gateway) and node.gateway_kind == "event"


def left_scopes(model: Model, run: Run, *, interrupted: bool = False) -> list[SubProcess]:
    """The sub-processes at which a boundary event fires in the run, or one that interrupts."""
    nodes, boundary = elements(model), hosts(model)
    found = []
    for event in (nodes[step.element] for step in run.steps if step.element in boundary):
        host = nodes[boundary[event.id]]
        assert isinstance(event, Event)
        if isinstance(host, SubProcess) and (event.interrupting or not interrupted):
            found.append(host)
    return found


def comparable(model: Model, run: Run) -> set[str]:
    """The nodes and flows that the run and an execution of it must agree on.

    Not event-based gateways and the flows from them (bpmn-engine takes them all and completes the
    gateway; the game gives the token to what comes), and of a sub-process that is interrupted only
    what waits: the game may interrupt before its start event is over, bpmn-engine cannot.
    """
    nodes = elements(model)
    races = {node.id for node in nodes.values() if _is_race(node)}
    flows = {f.id for s in model.scopes() for f in s.flows if f.source not in races}
    silent: set[str] = set()
    for host in left_scopes(model, run, interrupted=True):
        silent |= {element.id for element in (*host.nodes, *host.flows)} - visible(model)
    return (set(nodes) - races | flows) - silent


def played(run: Run) -> Counter[str]:
    """How often the run completes each node and takes each flow."""
    done = Counter(s.element for s in run.steps if s.action != "open")
    done.update(f for s in run.steps for f in s.taken)
    return done


def visible(model: Model) -> set[str]:
    """What is observed: tasks, and events that wait."""
    return {
        node.id
        for node in elements(model).values()
        if isinstance(node, Task)
        or (isinstance(node, Event) and node.position in ("catch", "boundary"))
    }


def observed(model: Model, trace: list[tuple[str, str]]) -> list[str]:
    """The visible elements in the order of an execution: each where it ends, but an activity at
    which a boundary event fires where it begins (see `replay.follow`)."""
    seen, boundary = visible(model), hosts(model)
    guarded = set(boundary.values()) & seen
    found: list[str | None] = []
    begun: dict[str, int] = {}
    for what, element in trace:
        if what == "start" and element in guarded:
            begun[element] = len(found)
            found.append(None)
        elif what == "end" and element in seen:
            host = boundary.get(element)
            if host in begun:
                found[begun[host]] = host
            if element not in begun or found[begun[element]] is None:
                found.append(element)
    return [element for element in found if element is not None]
