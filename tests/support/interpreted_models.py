"""Small random processes with nested scopes, repetition, errors, escalations and compensation."""

from __future__ import annotations

import random
from typing import TypeVar

from game_models import flows, node

from orgflow_ir.model import Artifact, Flow, Gateway, Loop, Model, Node, Process, SubProcess, Task

ScopeType = TypeVar("ScopeType", Process, SubProcess)

_LOOPS = (
    Loop(kind="standard"),
    Loop(kind="standard", test_before=True),
    Loop(kind="multi-instance", sequential=True, collection="items"),
    Loop(kind="multi-instance", collection="items"),
)


class _Builder:
    def __init__(self, rnd: random.Random) -> None:
        self.rnd = rnd
        self.number = 0

    def fresh(self, prefix: str) -> str:
        self.number += 1
        return f"{prefix}{self.number}"

    def scope(
        self, depth: int, *, loops: bool
    ) -> tuple[tuple[Node, ...], tuple[Flow, ...], tuple[Artifact, ...]]:
        """Blocks in a row between a start and an end event."""
        rnd = self.rnd
        start, end = self.fresh("s"), self.fresh("e")
        nodes: list[Node] = [node(f"start {start}")]
        arcs: list[str] = []
        artifacts: list[Artifact] = []
        last = start
        undone = False
        for _ in range(rnd.randint(1, 2)):
            kind = rnd.choice(("task", "xor", "and", "sub") if depth else ("task", "task", "xor"))
            if kind == "task":
                name = self.fresh("t")
                made = node(f"task {name}")
                if loops and rnd.random() < 0.3:
                    made = made.replace(loop=rnd.choice(_LOOPS))  # type: ignore[call-arg]
                elif rnd.random() < 0.4:
                    undone = True
                    nodes.append(node(f"on {name} c-{name} compensation"))
                    nodes.append(node(f"task u-{name}").replace(for_compensation=True))  # type: ignore[call-arg]
                    artifacts.append(
                        Artifact(
                            id=f"a-{name}",
                            artifact_kind="association",
                            source=f"c-{name}",
                            target=f"u-{name}",
                        )
                    )
                nodes.append(made)
                arcs.append(f"{last} {name}")
                last = name
            elif kind == "sub":
                last = self.sub(depth, nodes, arcs, last, loops=loops)
            else:
                split, join = self.fresh("f"), self.fresh("j")
                steps = [self.fresh("t"), self.fresh("t")]
                nodes += [node(f"{kind} {split}"), node(f"{kind} {join}")]
                nodes += [node(f"task {step}") for step in steps]
                arcs.append(f"{last} {split}")
                arcs += [f"{split} {step}" for step in steps] + [f"{s} {join}" for s in steps]
                last = join
        if undone and rnd.random() < 0.7:
            throw = self.fresh("k")
            nodes.append(node(f"throw {throw} compensation"))
            arcs.append(f"{last} {throw}")
            last = throw
        nodes.append(node(f"end {end}"))
        arcs.append(f"{last} {end}")
        return tuple(nodes), flows(", ".join(arcs)), tuple(artifacts)

    def sub(self, depth: int, nodes: list[Node], arcs: list[str], last: str, *, loops: bool) -> str:
        """A sub-process, which something thrown in it may leave; where it leads."""
        rnd = self.rnd
        name = self.fresh("p")
        inner, wires, artifacts = self.scope(depth - 1, loops=loops)
        loop = rnd.choice(_LOOPS) if loops and rnd.random() < 0.25 else None
        arcs.append(f"{last} {name}")
        leads = name
        thrown = rnd.choice((None, "error", "escalation", "terminate"))
        if thrown is not None:
            choice, way = self.fresh("x"), self.fresh("w")
            # the choice goes before the last flow: to the end, or to what is thrown
            end = wires[-1]
            inner = (*inner, node(f"xor {choice}"), node(f"end {way} {thrown}"))
            more = (
                end.replace(target=choice),
                *flows(f"{choice} {end.target}, {choice} {way}"),
            )
            wires = (*wires[:-1], *more)
        if thrown in ("error", "escalation"):
            event, task, end_id = self.fresh("b"), self.fresh("t"), self.fresh("e")
            interrupts = thrown == "error" or rnd.random() < 0.6
            nodes.append(node(f"{'on' if interrupts else 'on!'} {name} {event} {thrown}"))
            nodes += [node(f"task {task}"), node(f"end {end_id}")]
            arcs += [f"{event} {task}", f"{task} {end_id}"]
        nodes.append(SubProcess(id=name, nodes=inner, flows=wires, artifacts=artifacts, loop=loop))
        return leads


def failing(seed: int) -> Model:
    """As `random_scopes` without repetition, where tasks may fail: an error event on some of them
    leads to a task and an end of its own, or back to what comes behind them."""
    rnd = random.Random(seed)
    model = random_scopes(seed, loops=False)
    (process,) = model.processes
    return model.replace(processes=(_with_failures(process, rnd),))


def _with_failures(scope: ScopeType, rnd: random.Random) -> ScopeType:
    nodes: list[Node] = []
    wires = list(scope.flows)
    joins = {n.id for n in scope.nodes if isinstance(n, Gateway) and n.gateway_kind == "exclusive"}
    for one in scope.nodes:
        if isinstance(one, SubProcess):
            nodes.append(_with_failures(one, rnd))
            continue
        nodes.append(one)
        ahead = [f.target for f in scope.flows if f.source == one.id]
        if not isinstance(one, Task) or one.for_compensation or rnd.random() > 0.4:
            continue
        nodes += [node(f"on {one.id} b-{one.id} error"), node(f"task r-{one.id}")]
        wires += flows(f"b-{one.id} r-{one.id}")
        if len(ahead) == 1 and ahead[0] in joins:
            wires += flows(f"r-{one.id} {ahead[0]}")
        else:
            nodes.append(node(f"end e-{one.id}"))
            wires += flows(f"r-{one.id} e-{one.id}")
    return scope.replace(nodes=tuple(nodes), flows=tuple(wires))


def random_scopes(seed: int, *, loops: bool) -> Model:
    """A process of few steps; with `loops` some are repeated."""
    nodes, wires, artifacts = _Builder(random.Random(seed)).scope(2, loops=loops)
    process = Process(id="P", nodes=nodes, flows=wires, artifacts=artifacts)
    return Model(id="m", processes=(process,))
