"""Random sound processes some of whose steps fail: tasks, steps of sub-processes and of called
processes, with error events on them or around them, and tasks that are tried again."""

from __future__ import annotations

import random
from typing import NamedTuple

from model_gen import random_model
from n8n_scopes import flows
from sub_process_models import ANY_ERROR, CATALOG, ERROR, definition, end, split, task

from orgflow_ir.flow.concurrency.parallel_steps import Concurrency
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import (
    CallActivity,
    Event,
    EventDefinition,
    Flow,
    Model,
    Node,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.bindings import Http
from orgflow_ir.model.dialect import Dialect, Engine

KINDS = ("task", "xor", "and", "or", "loop")
ALONE = ("task", "xor", "loop")
"""Blocks in which nothing is beside a step, so that it may fail for something around it."""

OTHER = definition("error", "other")
CAUGHT: tuple[tuple[tuple[EventDefinition, ...], ...], ...] = (
    (ANY_ERROR,),
    (ERROR,),
    (ERROR, ANY_ERROR),
    (ANY_ERROR, OTHER, ERROR),
)
"""What the events on one step catch, in the order in which the model lists them."""

ENGINES: tuple[Engine | None, ...] = (None, "camunda7", "camunda8", "jbpm", "flowable")


class Failing(NamedTuple):
    """A model with failing steps, how many there are, and options of the target."""

    model: Model
    events: int
    options: dict[str, str]


def failing_model(seed: int) -> Failing:
    """A random process with failing steps; every third has a sub-process whose steps fail, every
    third calls a process that fails."""
    rng = random.Random(seed)
    model = random_model(seed, 7 + seed % 9, KINDS)
    (whole,) = model.processes
    parts: tuple[Process, ...] = ()
    hosts = [n.id for n in whole.nodes if isinstance(n, Task)]
    if not hosts:
        return Failing(model, 0, {})
    around = rng.choice(hosts)
    if seed % 3:
        inner = random_model(20_000 + seed, 5 + seed % 5, ALONE).processes[0]
        called = seed % 3 == 2
        inner = _prefixed(_ending(inner, rng), "i_", process="inner" if called else "i")
        host: Node = (
            CallActivity(id=around, name="Do part", called=inner.id)
            if called
            else SubProcess(id=around, name="Part", nodes=inner.nodes, flows=inner.flows)
        )
        parts = (inner,) if called else ()
        nodes = tuple(host if n.id == around else n for n in whole.nodes)
        whole = whole.replace(nodes=nodes)
    chosen = [around, *rng.sample(hosts, min(len(hosts), rng.randint(0, 2)))]
    events = 0
    for one in dict.fromkeys(chosen):
        caught = rng.choice(CAUGHT)
        whole = _with_events(whole, one, caught, rng)
        events += len(caught)
    engine = rng.choice(ENGINES)
    whole = whole.replace(dialect=Dialect(engine=engine) if engine else None)
    option = rng.choice(("stop", "boundary"))
    model = model.replace(processes=(whole, *parts), catalog=CATALOG)
    return Failing(model, events, {"retries": option})


def _ending(process: Process, rng: random.Random) -> Process:
    """The process, perhaps with an error at a second end."""
    if rng.random() < 0.5:
        return process
    last = next(f for f in process.flows if f.target == "end")
    thrown = end("bad", "Bad", rng.choice((ERROR, OTHER)))
    more = flows("z", "ok>end:yes", "ok>bad:no")
    kept = (f for f in process.flows if f is not last)
    return process.replace(
        nodes=(*process.nodes, split("ok", "exclusive", "OK?"), thrown),
        flows=(*kept, last.replace(target="ok"), *more),
    )


def _with_events(
    process: Process,
    host: str,
    caught: tuple[tuple[EventDefinition, ...], ...],
    rng: random.Random,
) -> Process:
    """Error events on a step, each with a task behind it. Then the flow goes on behind the step,
    back to it, or, where nothing can be beside, to an end or an error of its own."""
    graph = ControlFlow(process)
    alone = not Concurrency(graph).beside(host)
    nodes: list[Node] = list(process.nodes)
    step = next(n for n in nodes if n.id == host)
    if isinstance(step, Task):
        work = Http(
            url="http://127.0.0.1:9/", method="GET", retries=rng.choice((None, "R2/PT0.01S"))
        )
        nodes[nodes.index(step)] = step.replace(task_type="service", binding=work)
    before, after = f"{host}_before", f"{host}_after"
    wires: list[Flow] = [
        f.replace(
            source=after if f.source == host else f.source,
            target=before if f.target == host else f.target,
        )
        for f in process.flows
    ]
    nodes += [split(before, "exclusive"), split(after, "exclusive")]
    wires += flows(f"{host}w", f"{before}>{host}", f"{host}>{after}")
    for number, definitions in enumerate(caught):
        id = f"{host}_e{number}"
        nodes.append(
            Event(id=id, name=f"Failed {id}", position="boundary", attached_to=host,
                  definitions=definitions)
        )  # fmt: skip
        nodes.append(task(f"{id}_mend"))
        where = rng.choice((after, after, before, "end", "error") if alone else (after, before))
        if where == "end":
            nodes.append(end(f"{id}_end", f"Given up {id}"))
            where = f"{id}_end"
        elif where == "error":
            nodes.append(end(f"{id}_end", f"Broken {id}", OTHER))
            where = f"{id}_end"
        wires += flows(f"{id}w", f"{id}>{id}_mend", f"{id}_mend>{where}")
    return process.replace(nodes=tuple(nodes), flows=tuple(wires))


def _prefixed(inner: Process, prefix: str, process: str) -> Process:
    nodes = tuple(n.replace(id=f"{prefix}{n.id}") for n in inner.nodes)
    wires = tuple(
        f.replace(id=f"{prefix}{f.id}", source=f"{prefix}{f.source}", target=f"{prefix}{f.target}")
        for f in inner.flows
    )
    return Process(id=process, name="Inner", nodes=nodes, flows=wires)
