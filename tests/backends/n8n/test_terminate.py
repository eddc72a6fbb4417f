"""Terminate end events: an end where nothing else can run, refused by name elsewhere."""

from __future__ import annotations

import pytest
from game_models import model, node, read_bpmn
from n8n_compiled import emitted
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.evaluation.replay import replay_model
from shared_data import shared_data

from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import Model, Task
from orgflow_ir.pipeline import PassContext


def refusals(made: Model) -> list[str]:
    """The refusals for n8n 1, which has no rows for branches."""
    ctx = PassContext(options={"version": "1.123"})
    legalise(made, N8N_TARGET, ctx, allow_lossy=False)
    return [d.message for d in ctx.diagnostics if d.code == "OF403"]


def test_an_end_behind_a_join_runs_on_the_engine(engine: LocalEngine) -> None:
    made = read_bpmn(shared_data("outside-look", "bpmn", "term.bpmn"))
    ctx = PassContext()
    legal = legalise(made, N8N_TARGET, ctx, allow_lossy=False)
    assert not ctx.diagnostics
    report = replay_model(legal, emitted(legal), LocalRunner(engine), PassContext())
    assert report.ok, [r.divergence for r in report.runs]
    assert set(report.runs[0].executed) >= {"A", "B"}


@pytest.mark.parametrize(
    ("nodes", "arcs"),
    [
        ("xor x; task a; task b", "s x, x a, x b *, a e, b e"),
        ("or o; task a; task b; or j", "s o, o a, o b, a j, b j, j e"),
        ("task t; task a; task b", "s t, t a ?, t b *, a e, b e"),
    ],
)
def test_ends_that_have_nothing_beside_them(nodes: str, arcs: str) -> None:
    assert refusals(model(f"start s; {nodes}; end e terminate", arcs)) == []


def test_the_refusal_names_what_may_run() -> None:
    made = model(
        "start s; and f; end e terminate; end e2",
        "s f, f Pick, f Pack, Pick e, Pack e2",
        Task(id="Pick", name="Pick"),
        Task(id="Pack", name="Pack"),
    )
    (message,) = refusals(made)
    assert message.endswith(
        ": `Pack` may still be active, and n8n has no way to end other branches"
    )


def test_a_second_token_is_refused() -> None:
    made = model("start s; and f; xor m; end e terminate", "s f, f m, f m, m e")
    (message,) = refusals(made)
    assert "another branch may still be active" in message


def test_a_boundary_event_that_does_not_interrupt_is_something_beside() -> None:
    made = model(
        "start s; task t; end e terminate; end e2",
        "s t, t e, b Remind, Remind e2",
        node("on! t b timer"),
        Task(id="Remind", name="Remind"),
    )
    assert any("`Remind`" in message for message in refusals(made))


@pytest.mark.parametrize(
    ("event", "arcs", "reason"),
    [
        ("catch c", "s c, c e", "it has no trigger, so it waits for nothing"),
        ("on t c", "s t, t e, c e", "it has no trigger, so it never occurs"),
    ],
)
def test_an_event_without_trigger_is_not_refused_for_what_n8n_lacks(
    event: str, arcs: str, reason: str
) -> None:
    made = model("start s; task t; end e", arcs, node(event))
    (message,) = refusals(made)
    assert message.endswith(reason)
