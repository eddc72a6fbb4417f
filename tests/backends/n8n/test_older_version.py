"""Every construct for the last n8n 1: what compiles for n8n 2 compiles for it, in its format."""

from __future__ import annotations

import pytest
from orgflow.compiler import compile_model

from orgflow_ir.model.constructs import CONSTRUCTS
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.testing.minimal import minimal_model


def codes(ctx: PassContext) -> list[str]:
    return [f"{d.code} {d.message}" for d in ctx.diagnostics if d.severity == "error"]


@pytest.mark.parametrize("construct", sorted(CONSTRUCTS))
def test_the_last_n8n_1_has_the_same_constructs(registry: Registry, construct: str) -> None:
    backend = registry.backends["n8n"]
    model, new, old = minimal_model(construct), PassContext(), PassContext()
    expected = compile_model(model, backend, new)
    made = compile_model(model, backend, old, options={"version": "1.123"})
    assert (made is None, codes(old)) == (expected is None, codes(new))
    checked = PassContext(options={"version": "1.123"})
    assert made is None or backend.validate(made.artifacts, checked), checked.diagnostics
