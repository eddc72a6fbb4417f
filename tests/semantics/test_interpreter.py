"""The token game and what targets get against an interpreter that plays scopes directly."""

from __future__ import annotations

from collections import Counter

from bpmn_interpreter import MOST_BODIES, Interpreter, Trace, Unsupported
from interpreted_models import failing, random_scopes
from orgflow.backends.n8n.plan.target import N8N_TARGET
from seeds import at_least, seeds

from orgflow_ir.flow.token_game.net import Policy
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.flow.token_game.state import State
from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import Model, SubProcess, Task
from orgflow_ir.pipeline import PassContext

LIMIT = 60_000
DONE = ("fire", "done")
"""How a task is done that may fail: it opens first."""


def tasks(model: Model) -> set[str]:
    return {n.id for s in model.scopes() for n in s.nodes if isinstance(n, Task)}


def played(
    model: Model,
    policy: Policy,
    wanted: set[str],
    most: int | None = None,
    actions: tuple[str, ...] = ("fire",),
) -> set[Trace]:
    """The orders in which tasks are done in runs of the token game that end; each at most `most`
    times. `actions` are the steps by which one is done. Raises `Unsupported` where there are too
    many."""
    game = Game(model, policy)
    first = game.initial("P")
    found: set[Trace] = set()
    seen: set[tuple[State, Trace]] = set()
    todo: list[tuple[State, Trace]] = [(first, ())]
    while todo:
        state, done = todo.pop()
        if (state, done) in seen:
            continue
        seen.add((state, done))
        if len(seen) > LIMIT:
            raise Unsupported("too many traces")
        if game.finished(state):
            found.add(done)
        for step in game.enabled(state):
            after = done
            if step.element in wanted and step.action in actions:
                after = (*done, step.element)
                if most is not None and after.count(step.element) > most:
                    continue
            todo.append((game.fire(state, step), after))
    return found


def test_the_token_game_plays_scopes_as_the_interpreter_does() -> None:
    compared = longer = 0
    for seed in seeds(1_500):
        model = random_scopes(seed, loops=seed % 2 == 0)
        try:
            expected = Interpreter(model, most=4_000).traces()
            found = played(model, Policy(instances=MOST_BODIES, once=True), tasks(model))
        except Unsupported:
            continue
        assert found == expected, seed
        compared += 1
        longer += len(expected) > 2
    assert compared >= at_least(600)
    assert longer >= at_least(200)


def test_what_a_target_gets_does_the_same_work() -> None:
    """What lowerings make of a model does its tasks in orders of the model, and all of its work:
    the same tasks as often, however branches and instances are put in order."""
    compared = lowered = 0
    for seed in seeds(1_500):
        model = random_scopes(seed, loops=False)
        ctx = PassContext()
        legal = legalise(model, N8N_TARGET, ctx, allow_lossy=False)
        if ctx.has_errors:
            continue
        try:
            expected = Interpreter(model, most=4_000).traces()
            found = played(legal, Policy(once=True), tasks(model))
        except Unsupported:
            continue
        assert found <= expected, seed
        assert {work(t) for t in found} == {work(t) for t in expected}, seed
        compared += 1
        lowered += legal is not model
    assert compared >= at_least(300)
    assert lowered >= at_least(150)


def test_tasks_that_fail_lead_to_their_error_events() -> None:
    compared = caught = 0
    for seed in seeds(500):
        model = failing(seed)
        try:
            expected = Interpreter(model, most=4_000).traces()
            found = played(model, Policy(once=True), tasks(model), actions=DONE)
        except Unsupported:
            continue
        assert found == expected, seed
        ctx = PassContext()
        legal = legalise(model, N8N_TARGET, ctx, allow_lossy=False)
        compared += 1
        if ctx.has_errors:
            continue
        try:
            lowered = played(legal, Policy(once=True), tasks(model), actions=DONE)
        except Unsupported:
            continue
        assert lowered <= expected, seed
        assert {work(t) for t in lowered} == {work(t) for t in expected}, seed
        caught += any("r-" in step for trace in lowered for step in trace)
    assert compared >= at_least(170)
    assert caught >= at_least(45)


def test_what_a_target_gets_of_loops_does_the_same_work() -> None:
    compared = 0
    for seed in seeds(0, 1_500, 2):
        model = random_scopes(seed, loops=True)
        ctx = PassContext()
        legal = legalise(model, N8N_TARGET, ctx, allow_lossy=False)
        if ctx.has_errors or legal is model:
            continue
        try:
            expected = Interpreter(model, most=4_000).traces()
            found = played(legal, Policy(once=True), tasks(model), most=MOST_BODIES)
        except Unsupported:
            continue
        known = {work(t) for t in expected}
        few = {w for w in known if all(times <= MOST_BODIES for _, times in w)}
        # an error that ends parallel instances may find others half done; in turn it never does
        assert cut_short(model) or few <= {work(t) for t in found}, seed
        assert {t for t in found if work(t) in known} <= expected, seed
        compared += 1
    assert compared >= at_least(60)


def cut_short(model: Model) -> bool:
    """Whether something has parallel instances of several steps."""
    return any(
        isinstance(n, SubProcess) and n.loop is not None and not n.loop.sequential
        for scope in model.scopes()
        for n in scope.nodes
    )


def work(trace: Trace) -> frozenset[tuple[str, int]]:
    return frozenset(Counter(trace).items())
