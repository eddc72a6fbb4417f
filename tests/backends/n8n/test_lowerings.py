"""Lowerings are lossless: the token game of the model before allows what the engine does after."""

from __future__ import annotations

from typing import Any

import pytest
from model_gen import random_model
from n8n_compiled import emitted
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.evaluation.replay import replay_model
from seeds import at_least, seeds

from orgflow_ir.flow.token_game.runs import enumerate_runs
from orgflow_ir.legalisation.legalise import constructs, illegal_uses, legalise
from orgflow_ir.lowering.common import LOWERINGS, mixed_gateways
from orgflow_ir.model import Event, Expression, Flow, Gateway, Model, Process, Task
from orgflow_ir.model.constructs import CONSTRUCTS, ConstructUse
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import support_level
from orgflow_ir.targets.lowering import rewrite_all

SEED = 3014
KINDS = ("task", "xor", "and", "or", "loop")


def contracted(model: Model) -> Model:
    """Joins that lead straight into a split of the same kind become one mixed gateway."""
    process = model.processes[0]
    nodes = {n.id: n for n in process.nodes}
    flows = list(process.flows)
    for flow in process.flows:
        a, b = nodes.get(flow.source), nodes.get(flow.target)
        if not (isinstance(a, Gateway) and isinstance(b, Gateway) and a is not b):
            continue
        into = [f for f in flows if f.target == a.id]
        out = [f for f in flows if f.source == a.id]
        way = [f for f in flows if f.target == b.id]
        if a.gateway_kind != b.gateway_kind or len(out) != 1 or len(into) < 2 or len(way) != 1:
            continue
        del nodes[a.id]
        flows = [
            f.replace(target=b.id) if f.target == a.id else f for f in flows if f is not out[0]
        ]
    made = process.replace(nodes=tuple(nodes.values()), flows=tuple(flows))
    return model.replace(processes=(made,))


def test_mixed_gateways_on_the_engine(engine: LocalEngine) -> None:
    runner = LocalRunner(engine)
    mixed = 0
    for seed in seeds(60):
        model = contracted(random_model(3000 + seed, 14 + seed % 20, KINDS))
        count = len(list(mixed_gateways(model, PassContext())))
        if not count:
            continue
        mixed += count
        legal = legalise(model, N8N_TARGET, PassContext(), allow_lossy=False)
        report = replay_model(model, emitted(legal), runner, PassContext(), max_runs=4)
        assert report.ok, f"seed {seed}: {[r.divergence for r in report.runs]}"
    assert mixed >= at_least(10), "the generator gives too few mixed gateways to prove anything"


def conditional(default: bool, always: bool) -> Model:
    flows = [
        Flow(id="f0", source="s", target="t"),
        Flow(id="f1", source="t", target="a", condition=Expression(text="${x > 1}")),
        Flow(id="f2", source="t", target="b", condition=Expression(text="${y > 1}")),
        Flow(id="f3", source="a", target="e"),
        Flow(id="f4", source="b", target="e2"),
    ]
    if default:
        flows.append(Flow(id="f5", source="t", target="c", default=True))
    if always:
        flows.append(Flow(id="f6", source="t", target="c"))
    flows.append(Flow(id="f7", source="c", target="e3"))
    nodes: tuple[Any, ...] = (
        Event(id="s", position="start"),
        *(Task(id=i, name=i.upper()) for i in "tabc"),
        *(Event(id=i, name=i, position="end") for i in ("e", "e2", "e3")),
    )
    return Model(id="m", processes=(Process(id="P", nodes=nodes, flows=tuple(flows)),))


@pytest.mark.parametrize(("default", "always"), [(True, False), (False, True), (False, False)])
def test_conditional_flows_of_a_task(
    engine: LocalEngine,
    default: bool,
    always: bool,
) -> None:
    model = conditional(default, always)
    ctx = PassContext()
    legal = legalise(model, N8N_TARGET, ctx, allow_lossy=False)
    assert [d.code for d in ctx.diagnostics] == ["OF401"]
    report = replay_model(model, emitted(legal), LocalRunner(engine), PassContext())
    assert report.ok, [r.divergence for r in report.runs]
    assert len(report.runs) >= 3


def test_links_become_flows(engine: LocalEngine) -> None:
    def link(id: str, position: str) -> Event:
        return Event.validate(
            {"id": id, "position": position, "definitions": [{"kind": "link", "name": "L"}]}
        )

    nodes = (
        Event(id="s", position="start"), Task(id="a", name="A"), link("throw", "throw"),
        link("catch", "catch"), Task(id="b", name="B"), Event(id="e", position="end"),
    )  # fmt: skip
    ends = [("s", "a"), ("a", "throw"), ("catch", "b"), ("b", "e")]
    flows = tuple(Flow(id=f"f{i}", source=a, target=b) for i, (a, b) in enumerate(ends))
    model = Model(id="m", processes=(Process(id="P", nodes=nodes, flows=flows),))
    legal = legalise(model, N8N_TARGET, PassContext(), allow_lossy=False)
    report = replay_model(model, emitted(legal), LocalRunner(engine), PassContext())
    assert report.ok, [r.divergence for r in report.runs]
    assert [n for n in report.runs[0].executed if n in "AB"] == ["A", "B"]


def test_lowerings_rewrite_all_they_consume_and_are_idempotent() -> None:
    for model in (
        conditional(True, False),
        contracted(random_model(SEED, 40, ("task", "xor", "and", "or"))),
    ):
        for pattern in LOWERINGS:
            uses = [u for u in found(model) if pattern.takes(u.construct)]
            lowered, done = rewrite_all(pattern, uses, model, PassContext())
            assert not [u for u in found(lowered) if pattern.takes(u.construct)]
            assert len(done) == len(uses)
        legal = legalise(model, N8N_TARGET, PassContext(), allow_lossy=False)
        assert not illegal_uses(legal, N8N_TARGET, PassContext())
        assert legalise(legal, N8N_TARGET, PassContext(), allow_lossy=False) is legal


def found(model: Model) -> list[ConstructUse]:
    return constructs(model, N8N_TARGET, PassContext())


def test_runs_are_the_same_before_and_after() -> None:
    model = contracted(random_model(SEED, 40, ("task", "xor", "and", "or")))
    legal = legalise(model, N8N_TARGET, PassContext(), allow_lossy=False)
    tasks = {n.id for n in model.processes[0].nodes if isinstance(n, Task)}

    def shapes(which: Model) -> set[tuple[str, ...]]:
        runs = enumerate_runs(which, "P", max_runs=200).runs
        return {tuple(sorted(s.element for s in r.steps if s.element in tasks)) for r in runs}

    assert shapes(model) == shapes(legal)


def test_every_construct_has_a_verdict_with_a_reason() -> None:
    for construct in CONSTRUCTS:
        verdict = support_level(N8N_TARGET, construct)
        assert verdict in ("supported", "conditional", "lowered", "degraded", "refused")
        if verdict == "refused":
            assert getattr(N8N_TARGET.legality(construct), "reason", "")


def test_derived_constructs_are_found() -> None:
    model = contracted(random_model(SEED, 40, ("task", "xor", "and", "or")))
    found = {u.construct for u in constructs(model, N8N_TARGET, PassContext())}
    assert "gateway.mixed" in found
