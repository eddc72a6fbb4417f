"""bpmn-engine as a referee: what it executes must be a run of the token game, node for node.

bpmn-engine (npm, MIT) shares no code with this project. Where it departs from BPMN it is no
referee: `test_differences` shows each of these places, and the random models keep clear of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from bpmn_engine_models import (
    bpmn,
    comparable,
    elements,
    left_scopes,
    observed,
    played,
    request,
    visible,
)
from bpmn_engine_random import Draft, random_run
from game_models import model, process, sub
from node_tools import NodeChild, tool
from seeds import at_least, seeds

from orgflow_ir.flow.token_game.replay import follow_execution
from orgflow_ir.flow.token_game.runs import Run, enumerate_runs
from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.model import Model, Scope

# 17.3.0 is the newest of the elements that this engine takes: its gateways are what is refereed by.
PACKAGES = {"bpmn-engine": "25.0.1", "bpmn-elements": "17.3.0"}
SCRIPT = Path(__file__).with_name("bpmn_engine_referee.cjs")


@dataclass(frozen=True)
class Execution:
    """What bpmn-engine did; see bpmn_engine_referee.cjs."""

    trace: list[tuple[str, str]]
    ended: bool
    waiting: list[str]
    error: str | None

    @property
    def done(self) -> Counter[str]:
        """How often each node was completed and each flow taken."""
        return Counter(element for what, element in self.trace if what != "start")

    @property
    def order(self) -> list[str]:
        """Nodes in the order in which they were completed."""
        return [element for what, element in self.trace if what == "end"]


class Referee:
    def __init__(self, child: NodeChild) -> None:
        self.child = child

    def execute(self, asked: dict[str, Any]) -> Execution:
        answer = self.child.ask(asked)
        trace = [(what, element) for what, element in answer["trace"]]
        return Execution(trace, answer["ended"], answer["waiting"], answer["error"])


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    with NodeChild(SCRIPT, str(tool("bpmn-engine", PACKAGES))) as child:
        yield Referee(child)


def judge(game: Game, run: Run, execution: Execution) -> list[str]:
    """In what an execution is not this run."""
    found = []
    if execution.error is not None or not execution.ended:
        found.append(f"did not end: {execution.error}, waits for {execution.waiting}")
    same = comparable(game.model, run)
    mine, theirs = played(run), execution.done
    for element in sorted(same):
        if mine[element] != theirs[element]:
            found.append(f"{element}: {mine[element]} by the game, {theirs[element]} by the engine")
    seen = observed(game.model, execution.trace)
    result = follow_execution(game, run.process, run.start, seen, run.script, visible(game.model))
    if not result.ok or result.outcome != run.outcome:
        found.append(f"order {seen} at {result.index}: {result.reason or result.outcome}")
    return found


def agree(referee: Referee, made: Model, *, max_runs: int, loops: int = 1) -> tuple[Run, ...]:
    """Execute all the runs of a model: in their order, and the first one in another too."""
    game = Game(made, Policy(once=True))
    found = enumerate_runs(made, "P", max_runs=max_runs, loops=loops, game=game)
    assert found.runs
    for number, run in enumerate(found.runs):
        assert judge(game, run, referee.execute(request(made, run))) == [], made.id
        # what a sub-process has done when its boundary event fires is the run's order alone
        if number == 0 and not left_scopes(made, run):
            asked = request(made, run, len(elements(made)))
            assert judge(game, run, referee.execute(asked)) == [], made.id
    return found.runs


MODELS = {
    "sequence": model(
        "start s; user a; task b; manual c; receive d; end e", "s a, a b, b c, c d, d e"
    ),
    "loop": model(
        "start s; xor j; user a; xor g; user b; end e", "s j, j a, a g, g b, b j, g e *"
    ),
    "nested-loops": model(
        "start s; xor i; xor j; user a; xor g; user b; xor h; end e",
        "s i, i j, j a, a g, g j, g b *, b h, h i, h e *",
    ),
    "no-matching-join": model(
        "start s; xor g; user a; user b; end e; end f", "s g, g a, g b *, a e, b f"
    ),
    "several-ends": model(
        "start s; and g; user a; or h; user b; user c; end e; end f; end i",
        "s g, g a, g h, h b, h c, a e, b f, c i",
    ),
    "fork-in-fork": model(
        "start s; and g; or h; or i; and j; user a; user b; user c; end e",
        "s g, g h, g c, h a, h b, a i, b i, i j, c j, j e",
    ),
    "empty-inclusive-branch": model(
        "start s; or g; or j; user a; user b; end e", "s g, g a, g b, g j *, a j, b j, j e"
    ),
    "activity-with-conditions": model(
        "start s; user a; user b; user c; xor j; end e", "s a, a b ?, a c *, b j, c j, j e"
    ),
    "race": model(
        "start s; race g; catch m message; catch t timer; user a; xor j; end e",
        "s g, g m, g t, m a, a j, t j, j e",
    ),
    "race-in-loop": model(
        "start s; xor i; race g; catch m message; catch t timer; catch n signal; end e; end f",
        "s i, i g, g m, g t, g n, m i, t e, n f",
    ),
    "interrupting": model(
        "start s; user a; on a b timer; user c; xor j; end e", "s a, a j, b c, c j, j e"
    ),
    "interrupting-in-loop": model(
        "start s; xor i; user a; on a b message; user c; end e", "s i, i a, b c, c i, a e"
    ),
    "not-interrupting": model(
        "start s; user a; on! a b timer; user c; end e; end f", "s a, a e, b c, c f"
    ),
    "both-kinds": model(
        "start s; user a; on! a b timer; on a d message; user c; end e; end f; end h",
        "s a, a e, b c, c f, d h",
    ),
    "sub-process": model(
        "start s; user a; end e", "s S, S a, a e",
        sub("S", "start t; and g; user b; user c; and j; end f", "t g, g b, g c, b j, c j, j f"),
    ),
    "sub-process-with-two-ends": model(
        "start s; user a; end e", "s S, S a, a e",
        sub("S", "start t; and g; user b; user c; end f; end h", "t g, g b, g c, b f, c h"),
    ),
    "sub-process-in-loop": model(
        "start s; xor i; xor g; end e", "s i, i S, S g, g i, g e *",
        sub(
            "S", "start t; or h; user b; user c; or j; end f", "t h, h b, h c, b j, c j, j f"
        ),
    ),
    "interrupted-sub-process": model(
        "start s; on S b timer; user c; xor j; end e", "s S, S j, b c, c j, j e",
        sub("S", "start t; user a; user d; end f", "t a, a d, d f"),
    ),
    "error-caught": model(
        "start s; on S b error; user c; end e; end h", "s S, S e, b c, c h",
        sub("S", "start t; xor g; user a; end f; end x error", "t g, g a, a f, g x *"),
    ),
    "terminate-in-sub-process": model(
        "start s; user d; end e", "s S, S d, d e",
        sub(
            "S", "start t; and g; user b; user a; end f terminate; end h",
            "t g, g b, g a, a f, b h",
        ),
    ),
    "call": Model(
        id="M",
        processes=(
            process("start s; user a; call k Q; end e", "s a, a k, k e"),
            process("start t; user b; end f", "t b, b f", name="Q"),
        ),
    ),
    "terminate": model(
        "start s; xor g; user a; user b; end e terminate; end f", "s g, g a, g b *, a e, b f"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_small_models(referee: Referee, name: str):
    runs = agree(referee, MODELS[name], max_runs=8, loops=2)
    assert not {f.id for s in MODELS[name].scopes() for f in s.flows} - {
        f for run in runs for f in run.flows
    }


# -- where bpmn-engine is no referee --------------------------------------------------------------

INCLUSIVE = model(
    "start s; or g; user a; user b; or j; user c; end e", "s g, g a, g b, a j, b j, j c, c e"
)
MERGE_BEFORE_JOIN = model(
    "start s; and g; user a; xor h; user b; user c; xor i; and j; user d; end e",
    "s g, g a, g h, h b, h c, b i, c i, a j, i j, j d, d e",
)
DEADLOCK = model(
    "start s; xor g; user a; user b; and j; user c; end e", "s g, g a, g b, a j, b j, j c, c e"
)
TWO_FLOWS = model("start s; and g; xor j; user a; end e", "s g, g j, g j, j a, a e")


def only_run(made: Model, *, taken: tuple[str, ...] = ()) -> tuple[Game, Run]:
    """The first run, or the first in which these flows are taken."""
    game = Game(made, Policy(once=True))
    found = enumerate_runs(made, "P", game=game)
    return game, next(r for r in (*found.runs, *found.stuck) if set(taken) <= r.flows)


def test_difference_inclusive_join_does_not_wait(referee: Referee):
    """Its inclusive gateway passes each token on; 13.4.3 has it wait for all that can come. What is
    refereed instead is written as a parallel join, at which branches not taken count as arrived."""
    game, run = only_run(INCLUSIVE, taken=("g-a", "g-b"))
    assert judge(game, run, referee.execute(request(INCLUSIVE, run))) == []
    own = request(INCLUSIVE, run, 0) | {"source": bpmn(INCLUSIVE, own_inclusive_joins=True)}
    execution = referee.execute(own)
    assert (execution.done["j"], execution.done["c"]) == (2, 2)
    assert (played(run)["j"], played(run)["c"]) == (1, 1)


def test_difference_join_counts_the_branch_not_taken(referee: Referee):
    """A parallel join takes the "discarded" that a merge before it passes on for an arrival: `d`
    runs before `b` is done, and the token that then comes waits there indefinitely."""
    game, run = only_run(MERGE_BEFORE_JOIN, taken=("h-b",))
    execution = referee.execute(request(MERGE_BEFORE_JOIN, run) | {"order": ["a", "d", "b"]})
    assert [e for e in execution.order if e in "abd"] == ["a", "d", "b"]
    found = judge(game, run, execution)
    assert len(found) == 2, found
    assert "did not end" in found[0]
    assert "`d` ran although the model does not allow it here" in found[1]


def test_difference_deadlock_completes(referee: Referee):
    """For the same reason a parallel join behind an exclusive split never gets stuck there."""
    _, run = only_run(DEADLOCK, taken=("g-a",))
    assert run.outcome == "stuck"
    execution = referee.execute(request(DEADLOCK, run, 0))
    assert execution.ended
    assert execution.done["c"] == 1


def test_difference_two_flows_between_a_pair(referee: Referee):
    """Of several flows to one target it takes one; in BPMN each carries a token."""
    _, run = only_run(TWO_FLOWS)
    assert played(run)["a"] == 2
    execution = referee.execute(request(TWO_FLOWS, run, 0))
    assert execution.ended
    assert execution.done["a"] == 1


# -- random models --------------------------------------------------------------------------------

SEEDS = 64
BLOCKS = 8


@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_models(referee: Referee, block: int):
    played_runs = 0
    for seed in seeds(block, SEEDS, BLOCKS):
        played_runs += len(agree(referee, Draft(seed).model(), max_runs=3))
    assert played_runs >= at_least(2 * SEEDS // BLOCKS)


@pytest.mark.parametrize("block", range(BLOCKS))
def test_random_runs(referee: Referee, block: int):
    """Runs in any order, where events interrupt at any time."""
    kept = 0
    for seed in seeds(block, SEEDS, BLOCKS):
        made = Draft(seed).model()
        game = Game(made, Policy(once=True))
        run = random_run(game, seed)
        if run is not None:
            assert judge(game, run, referee.execute(request(made, run))) == [], seed
            kept += 1
    assert kept >= at_least(SEEDS // BLOCKS - 2)


def test_what_the_random_models_hold():
    """Each construct is in enough of them for the referee to mean something."""
    seen: Counter[str] = Counter()
    for seed in range(SEEDS):
        made = Draft(seed).model()
        assert Draft(seed).model() == made
        seen.update({node.construct.removesuffix(".message") for node in elements(made).values()})
        seen["loop"] += any(has_loop(scope) for scope in made.scopes())
        seen["nested"] += len(list(made.scopes())) > 2
    few = {name: seen[name] for name in HELD if seen[name] < 8}
    assert few == {}, seen


HELD = (
    "task.user", "task.abstract", "task.manual", "gateway.exclusive", "gateway.parallel",
    "gateway.inclusive", "gateway.event", "event.catch", "event.catch.timer", "event.boundary",
    "event.boundary.timer", "event.boundary.timer.non-interrupting", "sub-process.plain", "loop",
    "nested",
)  # fmt: skip


def has_loop(scope: Scope) -> bool:
    """Whether some node can be reached from itself."""
    after: dict[str, set[str]] = {}
    for flow in scope.flows:
        after.setdefault(flow.source, set()).add(flow.target)
    for node in after:
        reached: set[str] = set()
        front = [node]
        while front:
            for target in after.get(front.pop(), set()) - reached:
                reached.add(target)
                front.append(target)
        if node in reached:
            return True
    return False


@pytest.mark.parametrize("change", ["more", "less", "order"])
def test_a_wrong_execution_is_found(referee: Referee, change: str):
    """The comparison can fail: a task twice, a task left out, two tasks swapped."""
    made = MODELS["sequence"]
    game, run = only_run(made)
    execution = referee.execute(request(made, run))
    trace = list(execution.trace)
    at, other = trace.index(("end", "a")), trace.index(("end", "b"))
    if change == "more":
        trace.insert(at, ("end", "a"))
    elif change == "less":
        del trace[at]
    else:
        trace[at], trace[other] = trace[other], trace[at]
    assert judge(game, run, Execution(trace, True, [], None)) != []


def test_a_wrong_model_is_found(referee: Referee):
    """An engine that reads another model does not make this model's runs."""
    wrong = model("start s; and g; user a; user b; xor j; end e", "s g, g a, g b, a j, b j, j e")
    made = model("start s; and g; user a; user b; and j; end e", "s g, g a, g b, a j, b j, j e")
    game, run = only_run(made)
    execution = referee.execute(request(made, run) | {"source": bpmn(wrong)})
    assert judge(game, run, execution) == [
        "e: 1 by the game, 2 by the engine",
        "j: 1 by the game, 2 by the engine",
        "j-e: 1 by the game, 2 by the engine",
    ]
