"""Small models for tests of the token game, from two lines of text, and what explores them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.flow.token_game.state import State
from orgflow_ir.model import (
    CallActivity,
    Event,
    EventDefinition,
    Expression,
    Flow,
    Gateway,
    Model,
    Node,
    Process,
    SubProcess,
    Task,
)
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

GATEWAYS = {
    "xor": "exclusive",
    "and": "parallel",
    "or": "inclusive",
    "cpx": "complex",
    "race": "event",
}
EVENTS = ("start", "end", "catch", "throw")


def node(text: str, **more: Any) -> Node:
    """`user a`, `xor g`, `end e terminate`, `catch c timer`, `call c P`, `on t b timer` (a boundary
    event b of t; `on!` does not interrupt). A third word is the event's kind, with `kind=ref`."""
    kind, name, *rest = text.split()
    if kind in GATEWAYS:
        return Gateway.validate(
            {"id": name, "gateway_kind": GATEWAYS[kind], "kind": "gateway", **more}
        )
    if kind in ("on", "on!"):
        return Event(
            id=rest[0],
            position="boundary",
            attached_to=name,
            interrupting=kind == "on",
            definitions=_definitions(rest[1:]),
        )
    if kind in EVENTS:
        return Event.validate(
            {"id": name, "position": kind, "definitions": _definitions(rest), **more}
        )
    if kind == "call":
        return CallActivity(id=name, called=rest[0] if rest else None, **more)
    return Task.validate({"id": name, "task_type": {"task": "abstract"}.get(kind, kind), **more})


def _definitions(words: list[str]) -> tuple[EventDefinition, ...]:
    found = []
    for word in words:
        kind, _, ref = word.partition("=")
        named = {"name": ref} if kind == "link" else {"ref": ref or None}
        found.append(EventDefinition.validate({"kind": kind, **named}))
    return tuple(found)


def flows(text: str) -> tuple[Flow, ...]:
    """`s a` is a flow from s to a with id `s-a`; `s a ?` has a condition, `s a *` is a default,
    several of one pair get `/2` and so on. Separated by commas."""
    found: list[Flow] = []
    seen: dict[str, int] = {}
    for item in filter(None, (part.split() for part in text.split(","))):
        name = f"{item[0]}-{item[1]}"
        seen[name] = seen.get(name, 0) + 1
        number = f"/{seen[name]}" if seen[name] > 1 else ""
        found.append(
            Flow(
                id=name + number,
                source=item[0],
                target=item[1],
                condition=Expression(text="c") if "?" in item else None,
                default="*" in item,
            )
        )
    return tuple(found)


def process(nodes: str, arcs: str, *more: Node, name: str = "P", **kwargs: Any) -> Process:
    """A process of `nodes` (see `node`, separated by `;`), further nodes and `arcs`."""
    made = tuple(node(text) for text in nodes.split(";") if text.strip())
    return Process(id=name, nodes=(*made, *more), flows=flows(arcs), **kwargs)


def sub(name: str, nodes: str, arcs: str, *more: Node, **kwargs: Any) -> SubProcess:
    """A sub-process, like `process`."""
    made = tuple(node(text) for text in nodes.split(";") if text.strip())
    return SubProcess(id=name, nodes=(*made, *more), flows=flows(arcs), **kwargs)


def model(nodes: str, arcs: str, *more: Node, **kwargs: Any) -> Model:
    """A model of one process `P`."""
    return Model(id="M", processes=(process(nodes, arcs, *more, **kwargs),))


def tell(step: Step) -> str:
    """A step in words: `open a`, `fire x: x-b`, `done a (1)`."""
    taken = f": {' '.join(step.taken)}" if step.taken else ""
    instance = f" ({step.instance})" if step.instance else ""
    return f"{step.action} {step.element}{taken}{instance}"


def can(game: Game, state: State) -> list[str]:
    """What a state allows, in words."""
    return [tell(s) for s in game.enabled(state)]


def play(game: Game, state: State, *words: str) -> State:
    """The state after steps told by their beginning (`done a` is enough where it is unique)."""
    for word in words:
        steps = game.enabled(state)
        exact = [s for s in steps if tell(s) == word]
        fits = exact or [
            s for s in steps if (tell(s) + " ").replace(":", " :").startswith(f"{word} ")
        ]
        assert len(fits) == 1, f"{word!r}: {[tell(s) for s in steps]}"
        state = game.fire(state, fits[0])
    return state


def explore(game: Game, first: State, limit: int = 20_000) -> tuple[int, set[str]]:
    """How many states can be reached and the outcomes of those where nothing is enabled."""
    seen, stack, ends = {first}, [first], set()
    while stack:
        state = stack.pop()
        steps = game.enabled(state)
        if not steps:
            ends.add(game.outcome(state))
        for step in steps:
            after = game.fire(state, step)
            if after not in seen:
                assert len(seen) < limit, "too many states"
                seen.add(after)
                stack.append(after)
    return len(seen), ends


def traces(game: Game, first: State, only: set[str], limit: int = 20_000) -> set[tuple[str, ...]]:
    """Every order in which the elements `only` can be completed in runs that end well; the model
    must have no cycle."""
    found: set[tuple[str, ...]] = set()
    seen: set[tuple[State, tuple[str, ...]]] = {(first, ())}
    stack = [(first, ())] if first.frames else []
    typed: list[tuple[State, tuple[str, ...]]] = list(stack)
    while typed:
        state, done = typed.pop()
        steps = game.enabled(state)
        if not steps and game.finished(state):
            found.add(done)
        for step in steps:
            counts = step.element in only and step.action != "open"
            after = (game.fire(state, step), (*done, step.element) if counts else done)
            if after not in seen:
                assert len(seen) < limit, "too many traces"
                seen.add(after)
                typed.append(after)
    return found


def read_bpmn(path: Path) -> Model:
    """A model from a BPMN file."""
    frontend = Registry(outside=False).frontends["bpmn"]
    found = frontend.parse(SourceFile(path.name, path.read_bytes()), PassContext())
    assert found is not None, path.name
    return found
