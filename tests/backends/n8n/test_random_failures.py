"""Random processes whose steps fail, also after all retries: n8n's engine and its model against the
token game."""

from __future__ import annotations

from collections import Counter

from failing_models import failing_model
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.backends.n8n.replay.model_runner import ModelRunner
from orgflow.backends.n8n.verify.verify import verify_process
from orgflow.compiler import compile_model
from orgflow.evaluation.replay import replay_model
from seeds import at_least, seeds

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry


def test_steps_that_fail(engine: LocalEngine, registry: Registry) -> None:
    counts: Counter[str] = Counter()
    for seed in seeds(300):
        model, events, options = failing_model(seed)
        if not events:
            continue
        ctx = PassContext(registry=registry, options=options)
        made = compile_model(model, registry.backends["n8n"], ctx)
        if made is None:
            counts["refused"] += 1
            reasons = [d.message for d in ctx.diagnostics if d.severity == "error"]
            known = ("may be active", "may still be active", "that is always caught before")
            assert any(one in reason for reason in reasons for one in known), (seed, reasons)
            continue
        for runner in (LocalRunner(engine), ModelRunner()):
            report = replay_model(model, made, runner, PassContext(), max_runs=30)
            wrong = [(r.verdict, r.divergence, r.run.choices) for r in report.runs]
            assert [one for one in wrong if one[0] != "equal"] == [], (seed, options)
            counts["runs"] += len(report.runs)
            took = {s.element for r in report.runs for s in r.run.steps if s.action == "fire"}
            caught = {n.id for s in model.scopes() for n in s.nodes if "_e" in n.id}
            counts["failures"] += len(took & caught)
        for process in model.processes:
            workflow = made.compiled[process.id].root.workflow
            fresh = PassContext(registry=registry, options=options)
            found = verify_process(model, process, workflow, fresh)
            assert found.verdict.value == "proved", (seed, found.difference or found.bound)
        counts["played"] += 1
        counts["tried again"] += "retryOnFail" in made.artifacts[0].text
    print(dict(counts))
    assert counts["played"] >= at_least(150)
    assert counts["failures"] >= at_least(400)
    assert counts["tried again"] >= at_least(40)
