"""Races and parallel waits, compared with every state that the token game reaches."""

from __future__ import annotations

import pytest
from game_models import model, sub
from random_processes import process
from seeds import at_least, seeds

from orgflow_ir.flow.concurrency.model_concurrency import concurrent_waits
from orgflow_ir.flow.concurrency.waits import OUTSIDE
from orgflow_ir.flow.token_game.net import WAITING_EVENTS
from orgflow_ir.flow.token_game.semantics import Game, State
from orgflow_ir.model import Event, Loop, Model, Task
from orgflow_ir.pipeline import PassContext


def found(one: Model) -> dict[str, str]:
    return {w.element.id: w.kind for w in concurrent_waits(one, PassContext())}


@pytest.mark.parametrize(
    ("nodes", "arcs", "expected"),
    [
        ("start s; user a; user b; end e", "s a, a b, b e", {}),
        (
            "start s; and f; user a; user b; and j; end e",
            "s f, f a, f b, a j, b j, j e",
            {"a": "parallel", "b": "parallel"},
        ),
        ("start s; and f; user a; task b; and j; end e", "s f, f a, f b, a j, b j, j e", {}),
        ("start s; xor f; user a; user b; end e", "s f, f a, f b, a e, b e", {}),
        (
            "start s; race g; catch a timer; catch b message; end e",
            "s g, g a, g b, a e, b e",
            {"g": "race"},
        ),
        ("start s; task t; on t b timer; end e; end f", "s t, t e, b f", {"b": "race"}),
        ("start s; task t; on t b error; end e; end f", "s t, t e, b f", {}),
        (
            "start s; and f; user a; end e; end x terminate",
            "s f, f a, f x, a e",
            {"x": "race"},
        ),
    ],
)
def test_cases(nodes: str, arcs: str, expected: dict[str, str]) -> None:
    assert found(model(nodes, arcs)) == expected


def test_what_waits_inside() -> None:
    inner = sub("p", "start i; user u; end o", "i u, u o")
    one = model("start s; and f; task a; and j; end e", "s f, f a, f p, a j, p j, j e", inner)
    assert found(one) == {}
    one = model("start s; and f; user a; and j; end e", "s f, f a, f p, a j, p j, j e", inner)
    assert found(one) == {"a": "parallel", "p": "parallel"}
    many = inner.replace(loop=Loop(kind="multi-instance"))
    assert found(model("start s; end e", "s p, p e", many)) == {"p": "parallel"}
    turns = inner.replace(loop=Loop(kind="multi-instance", sequential=True))
    assert found(model("start s; end e", "s p, p e", turns)) == {}


def waiting(game: Game, state: State) -> int:
    """Tokens in elements of the model that wait for somebody or something."""
    waits = 0
    for left in game.left(state):
        node = game.net.nodes[game.net.by_id[left.element][0]] if left.kind == "open" else None
        if node is None:
            continue
        one = node.element
        people = isinstance(one, Task) and one.task_type in ("user", "manual", "receive")
        caught = isinstance(one, Event) and bool(node.kinds() & WAITING_EVENTS)
        waits += left.count if people or caught or node.race else 0
    return waits


def with_people(seed: int) -> Model:
    """A random process in which people do every other task."""
    made = process(seed)
    nodes = tuple(
        node.replace(task_type="user") if isinstance(node, Task) and i % 2 else node
        for i, node in enumerate(made.nodes)
    )
    return Model(id="m", processes=(made.replace(nodes=nodes),))


def test_random_models_with_two_waits_are_reported() -> None:
    """No state of a model without findings has two elements that wait."""
    assert OUTSIDE == WAITING_EVENTS
    quiet = loud = 0
    for seed in seeds(600):
        one = with_people(seed)
        game = Game(one)
        first = game.initial(one.processes[0].id)
        known, todo, both = {first}, [first], False
        while todo and len(known) < 800 and not both:
            state = todo.pop()
            both = waiting(game, state) > 1
            for step in game.enabled(state):
                after = game.fire(state, step)
                if after not in known:
                    known.add(after)
                    todo.append(after)
        reported = any(w.kind == "parallel" for w in concurrent_waits(one, PassContext()))
        races = any(w.kind == "race" for w in concurrent_waits(one, PassContext()))
        assert reported or races or not both, seed
        loud += both
        quiet += not reported and not races
    assert loud >= at_least(60)
    assert quiet >= at_least(60)
