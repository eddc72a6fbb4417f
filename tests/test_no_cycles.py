"""What a compile leaves behind is freed at once: nothing large waits for the garbage collector."""

import gc
from collections import Counter
from pathlib import Path

import pytest
from orgflow.compilation.input_sources import read_source
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

EXAMPLES = Path(__file__).parents[1] / "examples"


def _compile(path: Path, registry: Registry) -> None:
    ctx = PassContext(registry=registry)
    model = load_model(read_source(str(path)), registry, ctx, diagram=True)
    assert model is not None
    assert compile_model(model, registry.backends["n8n"], ctx)


@pytest.mark.parametrize("name", ["leave-request", "order-to-cash", "incident"])
def test_no_model_is_in_a_cycle(name: str) -> None:
    """Models in cycles fill the caches of the processor until they are collected: 15 % of a
    warm compile."""
    registry = Registry(outside=False)
    path = EXAMPLES / name / "model.bpmn"
    _compile(path, registry)
    gc.collect()
    gc.disable()
    try:
        _compile(path, registry)
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        left = Counter(type(item).__qualname__ for item in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    ours = {n for n in left if n in {"Model", "Process", "Task", "Gateway", "Event", "PassContext"}}
    assert not ours, left.most_common(10)
    assert left.total() < 150, left.most_common(10)
