"""The analysis of concurrency compared with every state that the token game reaches, on random
models with sub-processes, boundary events, event sub-processes, calls, loops and instances."""

from __future__ import annotations

from collections import Counter

import pytest
from concurrency_models import (
    JOINING,
    STRUCTURED,
    cross_flows,
    explore_pairs,
    lost_waits,
    nested_model,
)
from game_models import model, node, process, sub
from seeds import at_least, seeds

from orgflow_ir.flow.concurrency.model_concurrency import (
    ModelConcurrency,
    concurrency_of,
    share_concurrency,
)
from orgflow_ir.model import Event, Gateway, Loop, Model, Node, SubProcess, Task
from orgflow_ir.pipeline import PassContext

UNSURE = (*STRUCTURED, "inclusive")
"""Kinds of models whose joins depend on data."""


def analysed(made: Model) -> ModelConcurrency:
    return concurrency_of(made, PassContext())


def nodes_of(made: Model) -> dict[str, Node]:
    return {node.id: node for scope in made.scopes() for node in scope.nodes}


def related(made: Model) -> frozenset[tuple[str, str]]:
    """The pairs of the analysis, both ways round."""
    analysis = analysed(made)
    pairs = {(one, other) for one in nodes_of(made) for other in analysis.active_with(one)}
    return frozenset(pairs | {(other, one) for one, other in pairs})


@pytest.mark.parametrize(
    ("first", "kinds", "crossed", "least"),
    [(0, STRUCTURED, False, 400), (5_000, UNSURE, False, 300), (9_000, UNSURE, True, 400)],
)
def test_no_state_has_a_pair_that_the_analysis_lacks(
    first: int, kinds: tuple[str, ...], crossed: bool, least: int
) -> None:
    pairs = 0
    for seed in seeds(least):
        made = nested_model(first + seed, kinds)
        if crossed:
            made = cross_flows(made, seed)
        shown = explore_pairs(made, 1_200).pairs
        missing = shown - related(made)
        assert not missing, f"seed {first + seed}: {sorted(missing)}"
        pairs += len(shown)
    assert pairs >= at_least(20 * least)


def is_coarser_for(pair: tuple[str, str], made: dict[str, Node]) -> str:
    """Why the analysis has a pair that no state shows; empty if it should not.

    `join`: a parallel join and what is in one of its branches; `passing`: an event sub-process
    itself, and events that pass their token on in the step in which they occur; `instances`:
    parallel instances of a task that does not wait, which the game does one after the other.
    """
    one, other = (made[name] for name in pair)
    for element in (one, other):
        if isinstance(element, Gateway) and element.gateway_kind in JOINING:
            return "join"
        if isinstance(element, SubProcess) and element.flavour == "event":
            return "passing"
        if isinstance(element, Event) and (element.position == "boundary" or element.definitions):
            return "passing"
    if one is other and isinstance(one, Task) and one.loop and one.task_type == "abstract":
        return "instances"
    return ""


def test_the_analysis_of_structured_models_is_exact() -> None:
    exact = 0
    coarser: Counter[str] = Counter()
    for seed in seeds(600):
        made = nested_model(20_000 + seed)
        shown = explore_pairs(made, 1_500)
        if not shown.complete:
            continue
        nodes = nodes_of(made)
        pairs = related(made)
        calls = any(n.kind == "call-activity" for s in made.processes[0].scopes() for n in s.nodes)
        if not calls:
            pairs = frozenset(p for p in pairs if not any(name.startswith("q_") for name in p))
        for pair in pairs - shown.pairs:
            why = is_coarser_for(pair, nodes)
            assert why, f"seed {20_000 + seed}: {pair}"
            coarser[why] += 1
        exact += len(shown.pairs)
    assert exact >= at_least(4_000)
    assert set(coarser) == {"join", "passing", "instances"}


def test_what_an_event_ends_is_among_the_waits_that_it_may_end() -> None:
    ended = 0
    for seed in seeds(400):
        made = nested_model(30_000 + seed, UNSURE)
        analysis = analysed(made)
        races = {wait.element.id: wait for wait in analysis.waits if wait.kind == "race"}
        for event, lost in lost_waits(made, 800):
            race = races[event]
            inside = {name for wait in race.ends for name in analysis._elements_inside(wait.id)}
            ends = {wait.id for wait in race.ends} | inside
            assert lost <= ends, f"seed {30_000 + seed}: {event} ends {sorted(lost - ends)}"
            ended += len(lost)
    assert ended >= at_least(400)


def test_nested_scopes_and_calls() -> None:
    inner = sub("p", "start i; user u; end o", "i u, u o")
    made = model("start s; and f; user a; and j; end e", "s f, f a, f p, a j, p j, j e", inner)
    analysis = analysed(made)
    assert analysis.active_with("u") == {"p", "a"}
    assert analysis.active_with("a") == {"p", "i", "u", "o"}
    assert [n.id for n in analysis.open_with("u")] == ["a"]
    called = process("start qs; user qu; end qe", "qs qu, qu qe", name="Q")
    made = model("start s; and f; user a; call c Q; and j; end e", "s f, f a, f c, a j, c j, j e")
    made = made.replace(processes=(*made.processes, called))
    assert analysed(made).active_with("qu") == {"a", "c"}


def test_parallel_instances_of_a_sub_process() -> None:
    inner = sub("p", "start i; user u; user v; end o", "i u, u v, v o")
    many = inner.replace(loop=Loop(kind="multi-instance"))
    analysis = analysed(model("start s; end e", "s p, p e", many))
    assert analysis.active_with("u") == {"p", "i", "u", "v", "o"}
    assert analysis.begun_at_once == {"p", "i", "u", "v", "o"}


@pytest.mark.parametrize("interrupting", [True, False])
def test_which_waits_a_boundary_event_ends(interrupting: bool) -> None:
    kind = "on" if interrupting else "on!"
    made = model("start s; user t; end e; end f", "s t, t e, b f", node(f"{kind} t b timer"))
    (race,) = analysed(made).waits
    assert race.element.id == "b"
    assert [wait.id for wait in race.ends] == (["t"] if interrupting else [])


def test_the_split_around_a_wait() -> None:
    made = model(
        "start s; and f; catch a timer; task b; and j; catch c timer; end e",
        "s f, f a, f b, a j, b j, j c, c e",
    )
    analysis = analysed(made)
    split = analysis.split_around("a")
    assert split is not None
    assert split.id == "f"
    assert analysis.split_around("c") is None
    made = model(
        "start s; and f; task b; and j; catch c timer; end e", "s f, f j, f b, b j, j c, c e"
    )
    assert analysed(made).split_around("c") is None, "nothing is beside a wait behind the join"


def test_it_is_computed_once_a_model() -> None:
    ctx = PassContext()
    made = model("start s; user t; end e; end f", "s t, t e, b f", node("on t b timer"))
    one, other = concurrency_of(made, ctx), concurrency_of(made, ctx)
    assert one.active_with("t") is other.active_with("t")
    assert one.waits is other.waits
    copy = made.replace(name="Other")
    assert concurrency_of(copy, ctx).waits is not one.waits
    share_concurrency(copy, made, ctx)
    assert concurrency_of(copy, ctx).waits is one.waits
