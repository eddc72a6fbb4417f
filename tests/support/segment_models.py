"""Random models with waits in several places: those of `concurrency_models`, with event-based
gateways in place of some exclusive ones, events that wait in the flow, and ends that stop others.
"""

from __future__ import annotations

import random

from concurrency_models import nested_model

from orgflow_ir.model import Event, EventDefinition, Flow, Gateway, Model, Node, SubProcess

KINDS = (
    ("task", "task"),
    ("task", "inclusive"),
    ("task", "boundary"),
    ("task", "boundary", "inclusive", "sub"),
    ("task", "sub", "handler"),
)


def waiting_model(seed: int) -> Model:
    """A model of one process."""
    rng = random.Random(seed)
    model = nested_model(seed, KINDS[seed % len(KINDS)])
    process = model.processes[0]
    nodes: list[Node] = list(process.nodes)
    flows: list[Flow] = []
    races = {
        node.id
        for node in nodes
        if isinstance(node, Gateway)
        and node.gateway_kind == "exclusive"
        and sum(flow.source == node.id for flow in process.flows) > 1
        and rng.random() < 0.6
    }
    nodes = [
        n.replace(gateway_kind="event") if isinstance(n, Gateway) and n.id in races else n
        for n in nodes
    ]
    for flow in process.flows:
        if flow.source in races or rng.random() < 0.1:
            event = _event(f"c_{flow.id}", rng)
            nodes.append(event)
            flows.append(flow.replace(target=event.id))
            flows.append(Flow(id=f"{flow.id}_2", source=event.id, target=flow.target))
        else:
            flows.append(flow)
    if rng.random() < 0.3:
        nodes = [_terminating(n, rng) for n in nodes]
    process = process.replace(nodes=tuple(nodes), flows=tuple(flows))
    return model.replace(processes=(process,))


def _event(name: str, rng: random.Random) -> Event:
    kind = rng.choice(("timer", "message"))
    definition = EventDefinition.validate({"kind": kind})
    return Event(id=name, position="catch", definitions=(definition,))


def _terminating(node: Node, rng: random.Random) -> Node:
    if isinstance(node, SubProcess):
        return node.replace(nodes=tuple(_terminating(inner, rng) for inner in node.nodes))
    if isinstance(node, Event) and node.position == "end" and rng.random() < 0.6:
        return node.replace(definitions=(EventDefinition(kind="terminate"),))
    return node
