"""Every construct for the last n8n 1: what compiles for n8n 2 compiles for it, in its format."""

from __future__ import annotations

import json

import pytest
from engine_fixture import flow, node
from matrix_models import DERIVED
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.engine.runs import RunRequest
from orgflow.backends.n8n.node_types import code
from orgflow.compiler import compile_model
from played_models import ONE_EXECUTION

from orgflow_ir.model.constructs import CONSTRUCTS
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.testing.conformance.minimal_models import minimal_model


def codes(ctx: PassContext) -> list[str]:
    return [f"{d.code} {d.message}" for d in ctx.diagnostics if d.severity == "error"]


@pytest.mark.parametrize("construct", sorted(CONSTRUCTS))
def test_the_last_n8n_1_has_the_same_constructs(registry: Registry, construct: str) -> None:
    backend = registry.backends["n8n"]
    model, new, old = minimal_model(construct), PassContext(), PassContext()
    expected = compile_model(model, backend, new, options=dict(ONE_EXECUTION))
    made = compile_model(model, backend, old, options={"version": "1.123"})
    assert (made is None, codes(old)) == (expected is None, codes(new))
    checked = PassContext(options={"version": "1.123"})
    assert made is None or backend.validate(made.artifacts, checked), checked.diagnostics


def test_without_rows_n8n_1_refuses_them(registry: Registry) -> None:
    """What only n8n 2 has needs rows there."""
    backend = registry.backends["n8n"]
    for construct in ("gateway.event", "event.start.timer.non-interrupting"):
        model = minimal_model(construct)
        made = compile_model(model, backend, PassContext())
        assert made is not None
        assert next(iter(made.compiled.values())).root.plan.segments is not None
        assert compile_model(model, backend, PassContext(), options={"version": "1.123"}) is None


def test_expressions_see_the_output_of_code_nodes(registry: Registry) -> None:
    """n8n 1 without task runners hides objects that code creates from expressions."""
    found = {}
    for version in ("2.41", "1.123"):
        ctx = PassContext(registry=registry)
        options = {"version": version}
        made = compile_model(DERIVED["listener"], registry.backends["n8n"], ctx, options=options)
        assert made is not None, codes(ctx)
        workflow = json.loads(made.artifacts[0].text)
        (row,) = [row for row in workflow["nodes"] if row["type"].endswith(".code")]
        assert code.gives_one_item(row["parameters"])
        found[version] = row["parameters"]
    assert found["1.123"] == code.visible_code(found["2.41"])


def test_the_output_of_code_nodes_is_the_same(engine: LocalEngine) -> None:
    item = {"lines": [{"n": 1, "of": None}, []], "a `b`": '\\n"', "": {"": False}, "n": 1.5}
    written = code.code_parameters(f"return [{{ json: {json.dumps(item)} }}, {{ json: {{}} }}];")
    rows = [
        [node("Start", "manualTrigger", 1), node("Code", "code", 2, parameters)]
        for parameters in (written, code.visible_code(written))
    ]
    runs = engine.run_many(
        [RunRequest(flow(one, "Start>Code"), "Start", data=True) for one in rows]
    )
    for run in runs:
        assert run.order[-1].items == (({**item}, {}),)


def test_the_note_says_that_code_in_place_of_a_placeholder_needs_task_runners(
    registry: Registry,
) -> None:
    for version, said in (("2.41", False), ("1.123", True)):
        made = compile_model(
            minimal_model("task.service"),
            registry.backends["n8n"],
            PassContext(registry=registry),
            options={"version": version},
        )
        assert made is not None
        assert ("N8N_RUNNERS_ENABLED=true" in made.artifacts[0].text) == said


def test_errors_of_code_nodes_keep_their_message(engine: LocalEngine) -> None:
    failing = code.visible_code(code.code_parameters('throw new Error("E1");'))
    rows = [node("Start", "manualTrigger", 1), node("Code", "code", 2, failing)]
    (run,) = engine.run_many([RunRequest(flow(rows, "Start>Code"), "Start")])
    assert run.status == "error"
    assert (run.error or "").split(" ")[0] == "E1"
