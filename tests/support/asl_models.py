"""Small models of what the `asl` backend can say beside plain blocks, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from orgflow_ir.model import (
    Catalog,
    CatalogEntry,
    Event,
    EventDefinition,
    Expression,
    Flow,
    Gateway,
    Loop,
    Model,
    Node,
    Process,
    SubProcess,
    Task,
)

CATALOG = Catalog(errors=(CatalogEntry(id="err", name="Out of stock", code="E1"),))


def flows(text: str, prefix: str = "") -> tuple[Flow, ...]:
    """Flows from `a>b c>d:label`; `_` in a label is a blank, a label `*` makes the default."""
    found = []
    for number, part in enumerate(text.split()):
        ends, _, label = part.partition(":")
        source, target = ends.split(">")
        found.append(
            Flow(
                id=f"{prefix}f{number}",
                source=source,
                target=target,
                name=label.replace("_", " ").strip("*"),
                default=label.endswith("*"),
            )
        )
    return tuple(found)


def start(id_: str = "s", **more: Any) -> Event:
    return Event(id=id_, name=f"Start {id_}", position="start", **more)


def end(id_: str = "e", **more: Any) -> Event:
    return Event(id=id_, name=f"End {id_}", position="end", **more)


def task(id_: str, **more: Any) -> Task:
    return Task(id=id_, name=f"Task {id_}", **more)


def gateway(id_: str, kind: str) -> Gateway:
    return Gateway.validate({"id": id_, "name": f"Gate {id_}", "gateway_kind": kind})


def on(kind: str, **more: Any) -> dict[str, Any]:
    """The definitions of an event of one kind."""
    return {"definitions": (EventDefinition.validate({"kind": kind, **more}),)}


def timer(text: str, kind: str = "duration") -> dict[str, Any]:
    return on("timer", timer=kind, expression=Expression(text=text))


def boundary(id_: str, host: str, **more: Any) -> Event:
    return Event(id=id_, name=f"Event {id_}", position="boundary", attached_to=host, **more)


def sub(id_: str, nodes: Sequence[Node], text: str, **more: Any) -> SubProcess:
    inner = flows(text, f"{id_}_")
    return SubProcess(id=id_, name=f"Details {id_}", nodes=tuple(nodes), flows=inner, **more)


def model(nodes: Sequence[Node], text: str) -> Model:
    process = Process(id="P", name="Process", nodes=tuple(nodes), flows=flows(text))
    return Model(id="m", processes=(process,), catalog=CATALOG)


def _par(*ids: str) -> list[Gateway]:
    return [gateway(i, "parallel") for i in ids]


_INNER = [start("is"), *_par("ia"), task("i1"), task("i2")]

CASES: dict[str, Model] = {
    "terminate in a branch": model(
        [start(), *_par("a", "j"), task("t1"), task("t2"), gateway("x", "exclusive"),
         end("over", **on("terminate")), end()],
        "s>a a>t1 a>t2 t1>x x>over:stop x>j:go t2>j j>e",
    ),
    "terminate shared by branches": model(
        [start(), *_par("a"), task("t1"), task("t2"), end(**on("terminate"))],
        "s>a a>t1 a>t2 t1>e t2>e",
    ),
    "terminate alone": model([start(), task("t"), end(**on("terminate"))], "s>t t>e"),
    "error end": model(
        [start(), task("t"), gateway("x", "exclusive"), end("bad", **on("error", ref="err")),
         end()],
        "s>t t>x x>bad:bad x>e:good",
    ),
    "sub-process": model(
        [start(), sub("sub", [*_INNER, gateway("ix", "exclusive"), end("i3"), end("i4"), end("i5")],
                      "is>ia ia>i1 ia>i2 i1>ix ix>i3:yes ix>i4:no i2>i5"), task("t"), end()],
        "s>sub sub>t t>e",
    ),
    "sub-process with an error": model(
        [start(), sub("sub", [start("is"), task("i1"), gateway("ix", "exclusive"), end("i3"),
                              end("i4", **on("error", ref="err"))],
                      "is>i1 i1>ix ix>i3:yes ix>i4:no"),
         boundary("b", "sub", **on("error", ref="err")), task("t"), task("fix"), end()],
        "s>sub sub>t t>e b>fix fix>e",
    ),
    "sub-process with any error": model(
        [start(), sub("sub", [start("is"), task("i1"), gateway("ix", "exclusive"), end("i3"),
                              end("i4", **on("error", ref="err"))],
                      "is>i1 i1>ix ix>i3:yes ix>i4:no"),
         boundary("b", "sub", **on("error")), task("t"), task("fix"), end()],
        "s>sub sub>t t>e b>fix fix>e",
    ),
    "sub-process that terminates": model(
        [start(), sub("sub", [*_INNER, end("i3", **on("terminate")), end("i4")],
                      "is>ia ia>i1 ia>i2 i1>i3 i2>i4"), task("t"), end()],
        "s>sub sub>t t>e",
    ),
    "task with an error": model(
        [start(), task("t"), boundary("b", "t", **on("error")), gateway("x", "exclusive"),
         task("y"), task("fix"), end()],
        "s>t t>x x>y:Yes x>e:No y>e b>fix fix>t",
    ),
    "task with a timer": model(
        [start(), task("t", task_type="user"), boundary("b", "t", **timer("PT1H")), task("fix"),
         end(), end("e2")],
        "s>t t>e b>fix fix>e2",
    ),
    "task for each": model(
        [start(), task("t", loop=Loop(kind="multi-instance", collection="orders")),
         gateway("x", "exclusive"), end(), end("e2")],
        "s>t t>x x>e:A x>e2:B",
    ),
    "sub-process for each, in a loop": model(
        [start(), gateway("h", "exclusive"),
         sub("sub", [*_INNER, *_par("ij"), end("i3")], "is>ia ia>i1 ia>i2 i1>ij i2>ij ij>i3",
             loop=Loop(kind="multi-instance", collection="orders", sequential=True)),
         gateway("x", "exclusive"), end()],
        "s>h h>sub sub>x x>h:again x>e:done",
    ),
    "several starts": model(
        [start("s1"), start("s2", **on("message")), task("t1"), task("t2"), end()],
        "s1>t1 s2>t2 t1>e t2>e",
    ),
    "no start": model([task("t1"), task("t2"), *_par("j"), end()], "t1>j t2>j j>e"),
    "end shared by branches": model(
        [start(), *_par("a"), task("t1"), task("t2"), end()], "s>a a>t1 a>t2 t1>e t2>e"
    ),
    "some branches meet": model(
        [start(), *_par("a", "j"), task("t1"), task("t2"), task("t3"), task("t4"), end(),
         end("e2")],
        "s>a a>t1 a>t2 a>t3 t1>j t2>j j>t4 t4>e t3>e2",
    ),
    "first of several events": model(
        [start(), gateway("r", "event"),
         Event(id="m1", name="Answer", position="catch", **on("message")),
         Event(id="tm", name="Two days", position="catch", **timer("P2D")),
         Event(id="t9", name="Nine days", position="catch", **timer("P9D")),
         task("rc", task_type="receive"), end(), end("e2")],
        "s>r r>m1 r>tm r>t9 r>rc m1>e tm>e2 t9>e2 rc>e",
    ),
    "task that forks": model(
        [start(), task("t0"), task("t1"), task("t2"), end(), end("e2")],
        "s>t0 t0>t1 t0>t2 t1>e t2>e2",
    ),
    "one join for two splits": model(
        [start(), *_par("a", "b", "j"), task("t1"), task("t2"), task("t3"), end()],
        "s>a a>t1 a>b b>t2 b>t3 t1>j t2>j t3>j j>e",
    ),
    "two joins for one split": model(
        [start(), *_par("a", "j1", "j2"), task("t1"), task("t2"), task("t3"), task("t4"), end()],
        "s>a a>t1 a>t2 a>t3 t1>j1 t2>j1 j1>t4 t4>j2 t3>j2 j2>e",
    ),
    "inclusive join of what comes": model(
        [start(), *_par("a"), gateway("j", "inclusive"), gateway("x", "exclusive"), task("t1"),
         task("t2"), end("e0"), end()],
        "s>a a>t1 a>t2 t2>x x>e0:stop x>j:go t1>j j>e",
    ),
    "inclusive with a default": model(
        [start(), task("t0"), gateway("o", "inclusive"), task("t1"), task("t2"), task("t3"),
         gateway("j", "inclusive"), task("t4"), end()],
        "s>t0 t0>o o>t1:One o>t2:Two o>t3:Else* t1>j t2>j t3>j j>t4 t4>e",
    ),
    "decision inside a branch, in a loop": model(
        [start(), gateway("h", "exclusive"), *_par("a", "j"), task("t1"), gateway("x", "exclusive"),
         task("t2"), task("t3"), gateway("y", "exclusive"), task("t4"), end()],
        "s>h h>a a>t1 a>t3 t1>x x>t2:Yes x>y:No t2>y y>j t3>j j>t4 t4>z z>h:Again z>e:Done",
    ),
}  # fmt: skip
_LAST = CASES["decision inside a branch, in a loop"].processes[0]
CASES["decision inside a branch, in a loop"] = Model(
    id="m",
    processes=(_LAST.replace(nodes=(*_LAST.nodes, gateway("z", "exclusive"))),),
    catalog=CATALOG,
)

REFUSED: dict[str, tuple[Model, str]] = {
    "branches that cross": (
        model(
            [start(), *_par("a", "b", "j1", "j2"), task("t1"), task("t2"), task("t3"), task("t4"),
             end()],
            "s>a a>t1 a>t2 t1>b b>t3 b>j1 t2>j1 j1>t4 t3>j2 t4>j2 j2>e",
        ),
        "not in one join",
    ),
    "work done twice": (
        model(
            [start(), *_par("a"), task("t1"), task("t2"), gateway("x", "exclusive"), task("t3"),
             end()],
            "s>a a>t1 a>t2 t1>x t2>x x>t3 t3>e",
        ),
        "which does not join them",
    ),
    "a jump into a branch": (
        model(
            [start(), gateway("x", "exclusive"), *_par("a"), gateway("y", "exclusive"), task("t0"),
             task("t1"), task("t2"), end(), end("e2")],
            "s>x x>a:Yes x>t0:No t0>y a>y a>t2 y>t1 t1>e t2>e2",
        ),
        "leads from outside into its branch",
    ),
    "a branch that leads back": (
        model(
            [start(), gateway("h", "exclusive"), *_par("a"), task("t1"), task("t2"),
             gateway("x", "exclusive"), end(), end("e2")],
            "s>h h>a a>t1 a>t2 t1>x x>h:Again x>e:Done t2>e2",
        ),
        "leads from outside into its branch",
    ),
    "a join that may get nothing": (
        model(
            [start(), *_par("a"), task("t1"), task("t2"), gateway("x", "exclusive"),
             gateway("y", "exclusive"), gateway("j", "inclusive"), end("e1"), end("e2"), end()],
            "s>a a>t1 a>t2 t1>x t2>y x>e1:Stop x>j:Go y>e2:Stop y>j:Go j>e",
        ),
        "may all end before they reach it",
    ),
}  # fmt: skip
"""Models that are legal but for their parallel work, and part of the reason to be given."""
