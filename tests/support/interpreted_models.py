"""Small random processes with nested scopes, repetition, errors, escalations and compensation."""

from __future__ import annotations

import random

from game_models import flows, node

from orgflow_ir.model import Artifact, Flow, Loop, Model, Node, Process, SubProcess

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


def random_scopes(seed: int, *, loops: bool) -> Model:
    """A process of few steps; with `loops` some are repeated."""
    nodes, wires, artifacts = _Builder(random.Random(seed)).scope(2, loops=loops)
    process = Process(id="P", nodes=nodes, flows=wires, artifacts=artifacts)
    return Model(id="m", processes=(process,))
