"""What may run beside what, compared with the states that the token game reaches."""

from __future__ import annotations

import random

import pytest
from game_models import flows, model, node
from model_gen import random_model
from seeds import at_least, seeds

from orgflow_ir.flow.concurrency.parallel_steps import Concurrency
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.token_game.semantics import Game
from orgflow_ir.model import Gateway, Model, SubProcess

MOST_STATES = 2_000


def beside(made: Model, name: str) -> set[str]:
    return set(Concurrency(ControlFlow(made.processes[0])).beside(name))


def met(made: Model) -> tuple[set[tuple[str, str]], bool]:
    """Pairs of nodes of which a reachable state has tokens before both, and whether that is all."""
    game = Game(made)
    process = made.processes[0]
    into: dict[str, int] = {}
    for flow in process.flows:
        into[flow.target] = into.get(flow.target, 0) + 1
    waiting = {
        n.id
        for n in process.nodes
        if isinstance(n, Gateway) and n.gateway_kind in ("parallel", "inclusive") and into[n.id] > 1
    }
    first = game.initial("P")
    seen, stack, found = {first}, [first], set()
    while stack and len(seen) < MOST_STATES:
        state = stack.pop()
        for frame in state.frames:
            at = []
            for place, count in frame.tokens:
                name = game.net.nodes[game.net.consumer[place]].id
                if name in waiting:  # reported by the step that the token comes from
                    name = game.net.nodes[game.net.producer[place]].id
                at += [name] * min(count, 2)
            for i, one in enumerate(at):
                for other in at[i + 1 :]:
                    found |= {(one, other), (other, one)}
        for step in game.enabled(state):
            after = game.fire(state, step)
            if after not in seen:
                seen.add(after)
                stack.append(after)
    return found, not stack


def crossed(made: Model, chance: random.Random) -> Model:
    """The model with the ends of two flows exchanged: mostly unsound."""
    process = made.processes[0]
    arcs = list(process.flows)
    a, b = chance.sample(range(len(arcs)), 2)
    arcs[a], arcs[b] = (
        arcs[a].replace(target=arcs[b].target),
        arcs[b].replace(target=arcs[a].target),
    )
    return made.replace(processes=(process.replace(flows=tuple(arcs)),))


def related(made: Model) -> set[tuple[str, str]]:
    process = made.processes[0]
    graph = ControlFlow(process)
    concurrency = Concurrency(graph)
    found = {(n.id, other) for n in process.nodes for other in concurrency.beside(n.id)}
    return found | {(b, a) for a, b in found}


def test_no_state_has_a_pair_that_is_not_in_the_relation() -> None:
    pairs = 0
    for seed in seeds(300):
        made = random_model(7100 + seed, 8 + seed % 12)
        if seed % 3:
            made = crossed(made, random.Random(seed))
        found, _ = met(made)
        assert found <= related(made), f"seed {seed}: {sorted(found - related(made))}"
        pairs += len(found)
    assert pairs >= at_least(300)


def test_the_relation_of_sound_models_is_exact() -> None:
    pairs = 0
    for seed in seeds(100):
        made = random_model(7500 + seed, 8 + seed % 10, ("task", "xor", "and", "loop"))
        found, whole = met(made)
        if not whole:
            continue
        joins = {
            n.id
            for n in made.processes[0].nodes
            if isinstance(n, Gateway) and n.gateway_kind == "parallel"
        }
        exact = {(a, b) for a, b in related(made) if not {a, b} & joins}
        assert exact <= found, f"seed {seed}: {sorted(exact - found)}"
        pairs += len(exact)
    assert pairs >= at_least(20)


def test_a_loop_back_into_a_branch_and_a_second_token() -> None:
    made = model(
        "start s; and f; task a; xor m; end e",
        "s f, f a, f m, a m, m e",
    )
    assert beside(made, "e") >= {"a", "e"}


def test_an_inclusive_join_waits_for_what_can_come() -> None:
    made = model(
        "start s; or o; task a; task b; or j; task after; end e",
        "s o, o a, o b, a j, b j, j after, after e",
    )
    assert beside(made, "e") == set()
    assert beside(made, "a") == {"b"}


@pytest.mark.parametrize(("interrupting", "wanted"), [(True, set()), (False, {"e", "late", "t"})])
def test_boundary_events(interrupting: bool, wanted: set[str]) -> None:
    made = model(
        "start s; task t; end e; end late",
        "s t, t e, b late",
        node("on t b timer" if interrupting else "on! t b timer"),
    )
    assert beside(made, "late") - {"b"} == wanted


def test_an_event_sub_process_that_does_not_interrupt_runs_beside_everything() -> None:
    handler = SubProcess(
        id="h",
        flavour="event",
        nodes=(node("start hs message", interrupting=False), node("end he")),
        flows=flows("hs he"),
    )
    assert beside(model("start s; task t; end e", "s t, t e", handler), "e") == {"h"}


def test_the_default_flow_is_not_taken_beside_a_choice() -> None:
    made = model("start s; task t; task a; task b; end e; end e2", "s t, t a ?, t b *, a e, b e2")
    assert beside(made, "e") == set()
