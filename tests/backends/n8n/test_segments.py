"""Processes that wait in several places: random models play on the model of rows like the token
game, and their canvases keep the rules of segments."""

from __future__ import annotations

import random
from typing import Any

import pytest
import segment_player
from concurrency_models import nested_model
from game_models import flows, model, node, process, sub
from orgflow.backends.n8n.plan import actions
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.segment_cuts import END
from orgflow.backends.n8n.plan.segment_ends import list_rows
from orgflow.backends.n8n.replay import segment_runs as segment_runs_of_models
from orgflow.backends.n8n.replay.model_runner import ModelRunner
from orgflow.compiler import compile_model
from orgflow.evaluation.replay import replay_model
from seeds import at_least, seeds
from segment_models import waiting_model
from segment_player import PlayError, SegmentPlay, plan_segments
from segment_runs import REGISTRY, compile_segments

from orgflow_ir.model import (
    Event,
    EventDefinition,
    Expression,
    MessageFlow,
    Model,
    SubProcess,
    Task,
)
from orgflow_ir.pipeline import PassContext

KINDS = (
    ("task", "task"),
    ("task", "inclusive"),
    ("task", "boundary"),
    ("task", "sub", "boundary"),
    ("task", "sub", "handler"),
    ("task", "sub", "handler", "boundary", "inclusive"),
)
PARALLEL = model(
    "start s; and f; user a; task t; user b; and j; task p; end e",
    "s f, f a, f t, t b, a j, b j, j p, p e",
)


def timed(host: str, name: str, text: str, *, interrupting: bool = True) -> Event:
    """A timer on the boundary of a step."""
    definition = EventDefinition(kind="timer", expression=Expression(text=text))
    return Event(
        id=name,
        position="boundary",
        attached_to=host,
        interrupting=interrupting,
        definitions=(definition,),
    )


def findings(made: Model, **options: str) -> list[str]:
    """The codes of what a compile finds."""
    ctx = PassContext(registry=REGISTRY)
    compile_model(made, REGISTRY.backends["n8n"], ctx, options=options)
    return [diagnostic.code for diagnostic in ctx.diagnostics]


# -- the token game --------------------------------------------------------------------------------


@pytest.mark.parametrize("kinds", KINDS, ids=" ".join)
def test_random_models_play_like_the_token_game(kinds: tuple[str, ...]) -> None:
    cut = 0
    for seed in seeds(200):
        made = nested_model(seed, kinds)
        plan = plan_segments(made)
        if plan is None:
            continue
        cut += 1
        for number in range(3):
            SegmentPlay(made, plan, random.Random(f"{seed}/{number}")).play()
    assert cut >= at_least(6)


def test_random_races_play_like_the_token_game() -> None:
    kinds: set[str] = set()
    for seed in seeds(60):
        made = waiting_model(seed)
        plan = plan_segments(made)
        if plan is None:
            continue
        for number in range(3):
            played = SegmentPlay(made, plan, random.Random(f"{seed}/{number}"))
            played.play()
            kinds |= {line.split()[0] for line in played.log}
    assert kinds == {"task", "timer", "receiver"}


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("no host", {"host": ""}),
        ("one branch is enough", {"needed": 1}),
        ("outside of its scope", {"inside": ""}),
    ],
)
def test_the_player_finds_wrong_rows(
    name: str, change: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    del name
    right = segment_player.complete_steps

    def wrong(world: Any, token: Any, rows: Any, *more: Any, **options: Any) -> Any:
        rows = [{**r, **{k: v for k, v in change.items() if k in r}} for r in rows]
        return right(world, token, rows, *more, **options)

    monkeypatch.setattr(segment_player, "complete_steps", wrong)
    with pytest.raises((PlayError, AssertionError)):
        play_many()


def play_many() -> None:
    """Play models of all kinds until one fails."""
    for seed in range(60):
        made = nested_model(seed, KINDS[-1])
        plan = plan_segments(made)
        if plan is not None:
            for number in range(3):
                SegmentPlay(made, plan, random.Random(f"{seed}/{number}")).play()


def replay(made: Model) -> list[str]:
    """The verdicts on all runs that `run` plays of a model of segments; none of another."""
    if plan_segments(made) is None:
        return []
    ctx = PassContext(registry=REGISTRY)
    emitted = compile_model(made, REGISTRY.backends["n8n"], ctx)
    if emitted is None:
        return []  # an unsound model
    report = replay_model(made, emitted, ModelRunner(), ctx, max_runs=16)
    return [run.verdict for run in report.runs]


def test_run_plays_scopes_as_the_token_game_does() -> None:
    verdicts: list[str] = []
    for seed in seeds(0, 400):
        verdicts += replay(waiting_model(seed)) + replay(nested_model(seed, KINDS[-1]))
    assert set(verdicts) <= {"equal", "unplayable"}
    assert verdicts.count("equal") > verdicts.count("unplayable")


@pytest.mark.parametrize("seed", [86, 178, 238])
def test_an_inclusive_block_goes_on_behind_a_scope_in_it(seed: int) -> None:
    """The split and the join around a sub-process with an event sub-process belong together."""
    assert set(replay(nested_model(seed, KINDS[-1]))) <= {"equal", "unplayable"}
    assert "equal" in replay(nested_model(seed, KINDS[-1]))


def test_run_finds_a_host_that_does_not_decide(monkeypatch: pytest.MonkeyPatch) -> None:
    right = segment_runs_of_models.complete_steps

    def wrong(world: Any, token: Any, rows: Any, *more: Any, **options: Any) -> Any:
        return right(world, token, [{**r, "host": ""} for r in rows], *more, **options)

    monkeypatch.setattr(segment_runs_of_models, "complete_steps", wrong)
    verdicts = [verdict for seed in range(60) for verdict in replay(waiting_model(seed))]
    assert "different" in verdicts


# -- the canvas ------------------------------------------------------------------------------------


def planned(made: Model) -> ScopePlan:
    plan = plan_segments(made)
    assert plan is not None
    return plan


@pytest.mark.parametrize("seed", range(0, 40))
def test_every_row_has_a_case_in_the_switch(seed: int) -> None:
    plan = plan_segments(waiting_model(seed))
    if plan is None:
        return
    nodes = plan.workflow_graph.nodes.values()
    (switch,) = [n.action for n in nodes if isinstance(n.action, actions.ChooseSegment)]
    known = {event for event, _ in switch.events}
    for planned_node in nodes:
        assert not isinstance(planned_node.action, actions.WAITS)
        if isinstance(planned_node.action, actions.CompleteSegment):
            for row in list_rows(planned_node.action.rows):
                if row.kind == "scope":
                    assert f"{END}{row.element}" in known
                elif row.kind != "gateway":
                    assert row.element in known


def test_people_in_parallel_are_one_canvas() -> None:
    (workflow,) = compile_segments(PARALLEL)
    types = [n["type"].rsplit(".", 1)[-1] for n in workflow["nodes"]]
    assert types.count("formTrigger") == 3  # the start, and a page for each task
    assert "wait" not in types
    assert "merge" not in types
    assert findings(PARALLEL).count("OF423") == 0


def test_a_page_has_an_address_and_asks_for_the_key() -> None:
    (workflow,) = compile_segments(PARALLEL)
    pages = [n for n in workflow["nodes"] if n["parameters"].get("responseMode") == "responseNode"]
    assert [n["name"] for n in pages] == ["a", "b"]
    assert len({n["parameters"]["path"] for n in pages}) == 2
    for page in pages:
        assert page["typeVersion"] == 2.1
        names = [f.get("fieldName") for f in page["parameters"]["formFields"]["values"]]
        assert names[-1] == "key"


def test_what_one_execution_can_do_stays_one_execution() -> None:
    made = model("start s; user a; user b; end e", "s a, a b, b e")
    (workflow,) = compile_segments(made)
    assert any(n["type"].endswith(".wait") for n in workflow["nodes"])


@pytest.mark.parametrize(
    "options", [{"version": "1.123"}, {"people": "mail", "sender": "a@b.example", "inbox": "c@d.e"}]
)
def test_without_an_encoding_people_stay_placeholders(options: dict[str, str]) -> None:
    assert "OF423" in findings(PARALLEL, **options)


def test_a_race_without_an_encoding_is_refused_with_the_same_reason() -> None:
    job = Task(id="t", name="t", task_type="service")
    made = model("start s; end e; end f", "s t, t e, b f", job, node("on t b timer"))
    ctx = PassContext(registry=REGISTRY)
    compile_model(made, REGISTRY.backends["n8n"], ctx)
    (refused,) = [d for d in ctx.diagnostics if d.code == "OF403"]
    assert "an n8n execution does one thing at a time" in refused.message


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("PT90S", "$now.plus({ seconds: 90 }).toUTC().toISO()"),
        ("P1M", "$now.plus({ months: 1 }).toUTC().toISO()"),
        ("2030-01-31T10:00:00Z", "DateTime.fromISO('2030-01-31T10:00:00Z').toUTC().toISO()"),
    ],
)
def test_the_moment_of_a_timer_is_in_its_row(text: str, code: str) -> None:
    made = model("start s; user a; end e; end f", "s a, a e, x f", timed("a", "x", text))
    (workflow,) = compile_segments(made)
    written = [n["parameters"].get("workflowInputs", {}) for n in workflow["nodes"]]
    assert any(code in str(v) for inputs in written for v in inputs.get("value", {}).values())


def test_a_repeated_reminder_is_opened_again() -> None:
    reminder = timed("a", "r", "R3/PT1H", interrupting=False)
    made = model("start s; user a; task t; end e; end f", "s a, a e, r t, t f", reminder)
    action = planned(made).workflow_graph.nodes[next(
        key for key, n in planned(made).workflow_graph.nodes.items() if n.name == "Repeat Timer"
    )].action  # fmt: skip
    assert isinstance(action, actions.CompleteSegment)
    rows = list(list_rows(action.rows))
    assert [(row.kind, row.element, row.again, row.repeats) for row in rows] == [
        ("timer", "r", 3, True),
        ("timer", "t", 1, False),
    ]


def test_a_sub_process_that_an_event_ends_is_a_scope() -> None:
    inner = sub("S", "start is; user a; end ie", "is a, a ie")
    made = model(
        "start s; user z; end e; end f", "s S, S z, z e, x f", inner, timed("S", "x", "PT1H")
    )
    action = planned(made).workflow_graph.nodes["S"].action
    assert isinstance(action, actions.CompleteSegment)
    rows = list(list_rows(action.rows))
    assert [(row.kind, row.element, row.host, row.inside) for row in rows] == [
        ("scope", "S", "", ""),
        ("timer", "x", "S", ""),
        ("task", "a", "", "S"),
    ]


def test_an_event_sub_process_ends_what_it_may_interrupt() -> None:
    handler = SubProcess(
        id="h",
        flavour="event",
        nodes=(node("start hs message"), node("user ht"), node("end he")),
        flows=flows("hs ht, ht he"),
    )
    made = model("start s; user a; end e", "s a, a e", handler)
    for number in range(5):
        SegmentPlay(made, planned(made), random.Random(number)).play()


def test_pools_exchange_messages() -> None:
    buyer = process(
        "start bs; send order; receive answer; end be",
        "bs order, order answer, answer be",
        name="B",
    )
    seller = process(
        "start ss message; user check; send reply; end se",
        "ss check, check reply, reply se",
        name="S",
    )
    made = Model(
        id="M",
        processes=(buyer, seller),
        message_flows=(
            MessageFlow(id="m1", source="order", target="ss"),
            MessageFlow(id="m2", source="reply", target="answer"),
        ),
    )
    workflows = compile_segments(made, trigger="webhook")
    assert len(workflows) == 2
    inputs = [str(n["parameters"].get("workflowInputs")) for w in workflows for n in w["nodes"]]
    assert any("begin" in text and '"ss"' in text for text in inputs)
    assert any("'answer'" in text or '"answer"' in text for text in inputs)
