"""The derived constructs of waits beside other work: what has them, and that they refuse nothing
that the constructs of their elements do not refuse with the same reason."""

from __future__ import annotations

import pytest
from concurrency_models import STRUCTURED, nested_model
from game_models import model, node, sub
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.plan.wait_constructs import wait_uses
from seeds import at_least, seeds

from orgflow_ir.model import Model
from orgflow_ir.model.constructs import CONSTRUCTS
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import illegal_uses, legalise


def derived(made: Model) -> dict[str, str]:
    """The derived constructs by element."""
    return {use.element.id: use.construct for use in wait_uses(made, PassContext(source=made))}


HANDLER = sub("h", "", "").replace(
    flavour="event",
    nodes=(node("start hs message"), node("end he")),
)


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (model("start s; user a; end e", "s a, a e"), {}),
        (
            model(
                "start s; and f; user a; receive b; and j; end e", "s f, f a, f b, a j, b j, j e"
            ),
            {"a": "wait.parallel", "b": "wait.parallel"},
        ),
        (
            model(
                "start s; and f; catch a timer; task b; and j; end e",
                "s f, f a, f b, a j, b j, j e",
            ),
            {"a": "wait.parallel"},
        ),
        (
            model("start s; and f; user a; task b; and j; end e", "s f, f a, f b, a j, b j, j e"),
            {},
        ),
        (
            model("start s; race g; catch a timer; catch b message; end e", "s g, g a, g b, a e"),
            {"g": "wait.race"},
        ),
        (
            model("start s; task t; end e; end f", "s t, t e, b f", node("on t b timer")),
            {"b": "wait.race"},
        ),
        (
            model("start s; user t; end e; end f", "s t, t e, b f", node("on t b timer")),
            {"b": "wait.interrupted", "t": "wait.parallel"},
        ),
        (
            model("start s; user t; end e; end f", "s t, t e, b f", node("on! t b timer")),
            {"b": "wait.race", "t": "wait.parallel"},
        ),
        (model("start s; user t; end e", "s t, t e", HANDLER), {"h": "wait.interrupted"}),
        (
            model("start s; and f; user a; end e; end x terminate", "s f, f a, f x, a e"),
            {"x": "wait.interrupted"},
        ),
    ],
)
def test_what_has_them(made: Model, wanted: dict[str, str]) -> None:
    assert derived(made) == wanted


def test_they_add_no_refusal() -> None:
    """Each refused derived use has a refused plain one of the same element with the same reason."""
    found = 0
    for seed in seeds(400):
        made = nested_model(40_000 + seed, (*STRUCTURED, "inclusive"))
        ctx = PassContext(source=made, target=N8N_TARGET)
        plain: dict[str, str] = {}
        for illegal in illegal_uses(made, N8N_TARGET, ctx):
            element = illegal.use.element.id
            if illegal.use.construct in CONSTRUCTS:
                plain.setdefault(element, illegal.reason)
            elif illegal.use.construct.startswith("wait."):
                assert plain[element] == illegal.reason
                found += 1
    assert found >= at_least(400)


def test_refusals_name_the_construct_of_the_element() -> None:
    made = model("start s; user t; end e; end f", "s t, t e, b f", node("on t b timer"))
    ctx = PassContext(target=N8N_TARGET, options={"version": "1.123"})
    legalise(made, N8N_TARGET, ctx, allow_lossy=False)
    (refused,) = ctx.diagnostics
    assert (
        "(event.boundary.timer) on n8n yet: a Wait node can wait for this step" in refused.message
    )
