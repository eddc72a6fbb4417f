"""Complex gateways that do what another kind does run as the token game says."""

from __future__ import annotations

import pytest
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.compiler import compile_model
from played_models import compiled, faults
from sub_process_models import end, process, split, start, task

from orgflow_ir.model import Expression, Gateway, Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry


def joining(opens: str, rule: str | None, ways: int = 3) -> Model:
    """Branches that a complex gateway joins."""
    condition = Expression(text=rule) if rule is not None else None
    join = Gateway(id="j", name="Enough?", gateway_kind="complex", condition=condition)
    steps = [task(f"t{i}") for i in range(ways)]
    wires = [f"g>t{i}:{i}" for i in range(ways)] + [f"t{i}>j" for i in range(ways)]
    nodes = [start("s"), split("g", opens, "Which?"), *steps, join, task("z"), end("e")]
    return process(nodes, "s>g", *wires, "j>z", "z>e")


MODELS = {
    "all branches": joining("parallel", None),
    "some branches": joining("inclusive", None),
    "one branch": joining("exclusive", None),
    "opens branches": joining("complex", None),
    "as many as there are": joining("parallel", "activationCount >= 3"),
    "as many as there are, as code": joining("parallel", "${activationCount == 3}"),
}


@pytest.mark.parametrize("name", MODELS)
def test_it_runs_as_the_token_game_does(engine: LocalEngine, registry: Registry, name: str) -> None:
    made, errors = compiled(MODELS[name], registry)
    assert made is not None, errors
    assert faults(MODELS[name], made, LocalRunner(engine), registry) == []


@pytest.mark.parametrize("rule", ["activationCount >= 2", "${stock > 3}"])
def test_a_rule_of_its_own_is_refused_or_lost(registry: Registry, rule: str) -> None:
    model = joining("parallel", rule)
    made, errors = compiled(model, registry)
    assert made is None
    assert [e.partition(" ")[0] for e in errors] == ["OF402"]
    assert "the rule by which it continues" in errors[0]
    ctx = PassContext(registry=registry)
    assert compile_model(model, registry.backends["n8n"], ctx, allow_lossy=True) is not None
