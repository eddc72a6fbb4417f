"""Processes in which finished work is undone, by name; and random ones."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TypeVar

from game_models import model, node, sub

from orgflow_ir.model import Artifact, Expression, Loop, Model, Node, Process, SubProcess

S = TypeVar("S", Process, SubProcess)

TIMES_3 = Loop(kind="multi-instance", sequential=True, cardinality=Expression(text="3"))
UNTIL = TIMES_3.replace(until=Expression(text="${enough}"))


def undone(*names: str) -> tuple[tuple[Node, ...], tuple[Artifact, ...]]:
    """For each activity a boundary event and a handler `undo-NAME`, and their associations."""
    nodes: list[Node] = []
    for name in names:
        nodes.append(node(f"on {name} c-{name} compensation"))
        nodes.append(node(f"service undo-{name}").replace(for_compensation=True))
    artifacts = tuple(
        Artifact(
            id=f"as-{name}", artifact_kind="association", source=f"c-{name}", target=f"undo-{name}"
        )
        for name in names
    )
    return tuple(nodes), artifacts


def process(nodes: str, arcs: str, *names: str, more: tuple[Node, ...] = ()) -> Model:
    """A process in which handlers undo the named activities."""
    extra, artifacts = undone(*names)
    made = model(nodes, arcs, *more, *extra, artifacts=artifacts)
    return made.replace(processes=tuple(map(_named, made.processes)))


def _named(scope: S) -> S:
    """The scope with the id of each node for its name."""
    return scope.replace(
        nodes=tuple(
            _named(n) if isinstance(n, SubProcess) else n.replace(name=n.id) for n in scope.nodes
        ),
        name=scope.id,
    )


def within(name: str, nodes: str, arcs: str, *names: str, **more: object) -> SubProcess:
    """A sub-process in which handlers undo the named activities."""
    extra, artifacts = undone(*names)
    return sub(name, nodes, arcs, *extra, artifacts=artifacts, **more)


def repeated(one: Model, name: str, loop: Loop) -> Model:
    """The model with a marker on an activity of its process."""

    def marked(node: Node) -> Node:
        return node.replace(loop=loop) if node.id == name else node  # type: ignore[call-arg]

    (only,) = one.processes
    return one.replace(processes=(only.replace(nodes=tuple(map(marked, only.nodes))),))


_LINE = "service a; service b; throw t compensation; task d; end e; start s"
_LINE_ARCS = "s a, a b, b t, t d, d e"
_TX = "start i; service a; service b; xor x; end f; end k cancel"
_TX_ARCS = "i a, a b, b x, x f, x k"

MODELS: Mapping[str, Model] = {
    "line": process(_LINE, _LINE_ARCS, "a", "b"),
    "one of two": process(_LINE, _LINE_ARCS, "b"),
    "by name": process(_LINE.replace("compensation", "compensation=a"), _LINE_ARCS, "a", "b"),
    "nothing yet": process(_LINE, "s t, t a, a b, b d, d e", "a", "b"),
    "an end event": process(
        "start s; and f; service a; service b; and j; end e compensation",
        "s f, f a, f b, a j, b j, j e", "a", "b",
    ),
    "one of several ends": process(
        "start s; service a; xor x; end e compensation; task d; end g",
        "s a, a x, x e, x d, d g", "a",
    ),
    "marks without an event": process(
        "start s; service a; end e", "s undo-b, undo-b a, a e",
        more=(
            node("service undo-b").replace(for_compensation=True),
            node("service undo-c").replace(for_compensation=True),
        ),
    ),
    "people": process("start s; user a; end e compensation", "s a, a e", "a"),
    "inside a sub-process": process(
        "start s; throw t compensation; task d; end e", "s p, p t, t d, d e",
        more=(within("p", "start i; service a; service b; end o", "i a, a b, b o", "a", "b"),),
    ),
    "a whole sub-process": process(
        "start s; throw t compensation; task d; end e", "s p, p t, t d, d e", "p",
        more=(within("p", "start i; service a; end o", "i a, a o", "a"),),
    ),
    "of its own scope": process(
        "start s; service b; task d; end e", "s b, b p, p d, d e", "b",
        more=(
            within("p", "start i; service a; throw t compensation; end o", "i a, a t, t o", "a"),
        ),
    ),
    "a transaction": process(
        "start s; on p q cancel; task d; task g; end e; end h", "s p, p d, d e, q g, g h",
        more=(within("p", _TX, _TX_ARCS, "a", "b", flavour="transaction"),),
    ),
    "a transaction in which nothing is undone": process(
        "start s; on p q cancel; task d; task g; end e; end h", "s p, p d, d e, q g, g h",
        more=(within("p", _TX, _TX_ARCS, flavour="transaction"),),
    ),
    "three times": repeated(process(_LINE, _LINE_ARCS, "a", "b"), "a", TIMES_3),
    "a sub-process three times": process(
        "start s; throw t compensation; task d; end e", "s p, p t, t d, d e",
        more=(within("p", "start i; service a; end o", "i a, a o", "a", loop=TIMES_3),),
    ),
    "after an error": process(
        "start s; service a; end e error", "s a, a e", "a",
        more=(
            sub("h", "start i error; throw t compensation=a; task d; end o", "i t, t d, d o",
                flavour="event"),
        ),
    ),
}  # fmt: skip

REFUSED: Mapping[str, tuple[Model, str]] = {
    "perhaps done": (
        process("start s; xor x; service a; xor j; throw t compensation; end e",
                "s x, x a, x j, a j, j t, t e", "a"),
        "whether `a` is compensated at `t` depends on the run",
    ),
    "done again": (
        process("start s; xor j; service a; xor x; throw t compensation; end e",
                "s j, j a, a x, x j, x t, t e", "a"),
        "whether `a` is compensated at `t` depends on the run",
    ),
    "two ways to undo": (
        process("start s; service a; xor x; end e compensation; end g compensation",
                "s a, a x, x e, x g", "a"),
        "`e` and `g` start `undo-a`, each in a different way",
    ),
    "beside it": (
        process("start s; and f; service a; throw t compensation; and j; end e",
                "s f, f a, f t, a j, t j, j e", "a"),
        "whether `a` is compensated at `t` depends on the run",
    ),
    "until": (
        repeated(process(_LINE, _LINE_ARCS, "a", "b"), "a", UNTIL),
        "the number of times that `a` was done is unknown when it is compensated",
    ),
    "cancelled beside work": (
        process(
            "start s; on p q cancel; task d; task g; end e; end h", "s p, p d, d e, q g, g h",
            more=(within("p", "start i; and f; service a; service z; end o; end k cancel",
                         "i f, f a, f z, a k, z o", "a", flavour="transaction"),),
        ),
        "may be active",
    ),
    "by an event sub-process": (
        process(
            "start s; throw t compensation; end e", "s p, p t, t e",
            more=(
                within("p", "start i; service a; end o", "i a, a o", "a").replace(
                    nodes=(
                        *within("p", "start i; service a; end o", "i a, a o", "a").nodes,
                        sub("h", "start hs compensation; task ht; end he", "hs ht, ht he",
                            flavour="event"),
                    )
                ),
            ),
        ),
        "as a whole is compensated",
    ),
    "what another scope did": (
        process("start s; throw t compensation=a; task d; end e", "s p, p t, t d, d e",
                more=(within("q", "start i; service a; end o", "i a, a o", "a"),
                      within("p", "start k; throw u compensation=a; end m", "k u, u m"))),
        "is not in its own scope",
    ),
}  # fmt: skip


def random_undoing(seed: int) -> Model:
    """Blocks in a row, steps in each behind a choice or beside each other, some undone at the
    end or at the end of a branch."""
    rnd = random.Random(seed)
    nodes, arcs, names, last = ["start s"], list[str](), list[str](), "s"
    for i in range(rnd.randint(1, 4)):
        kind = rnd.choice(("line", "and", "xor"))
        steps = [f"a{i}", f"b{i}"][: 1 if kind == "line" else 2]
        nodes += [f"service {name}" for name in steps]
        if kind == "line":
            arcs.append(f"{last} {steps[0]}")
            last = steps[0]
        else:
            nodes += [f"{kind} f{i}", f"{kind} j{i}"]
            arcs += [f"{last} f{i}", *(f"f{i} {n}" for n in steps), *(f"{n} j{i}" for n in steps)]
            last = f"j{i}"
        names += [n for n in steps if rnd.random() < (0.15 if kind == "xor" else 0.7)]
        if rnd.random() < 0.2:
            nodes += [f"xor x{i}", f"end e{i} compensation"]
            arcs += [f"{last} x{i}", f"x{i} e{i}"]
            last = f"x{i}"
    nodes += ["throw t compensation", "task z", "end e"]
    arcs += [f"{last} t", "t z", "z e"]
    return process("; ".join(nodes), ", ".join(arcs), *names)
