"""Everything the compiler makes is proved to do what its model says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from model_gen import implicit, random_model
from orgflow import compiler
from orgflow.backends.n8n.verify.verify import verify_process
from orgflow.compilation.reading import load_model
from played_models import ONE_EXECUTION
from random_processes import process as random_process
from seeds import EVERY, at_least, seeds
from text_model import model as text_model

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets import executable_processes
from orgflow_ir.targets.verification import Verdict, Verification

ROOT = Path(__file__).resolve().parents[4]
EXAMPLES = sorted((ROOT / "examples").glob("*/model.*"))
ROWS_ALONE = {"parallel-approval"}
"""Examples that one execution does not have."""


def verified(
    model: Model, registry: Registry, options: dict[str, str] | None = None, force: bool = False
) -> tuple[list[Verification], list[Diagnostic]]:
    """The verdict on each workflow that a model is compiled to, and what compiling it said; no
    verdicts where it is refused."""
    ctx = PassContext(registry=registry)
    backend = registry.backends["n8n"]
    made = compiler.compile_model(model, backend, ctx, options=options, force=force)
    if made is None:
        return [], ctx.diagnostics
    workflows: list[dict[str, Any]] = [json.loads(a.text) for a in made.artifacts]
    found = []
    for process, workflow in zip(executable_processes(model), workflows, strict=True):
        fresh = PassContext(registry=registry, options=options or {})
        found.append(verify_process(model, process, workflow, fresh))
    return found, ctx.diagnostics


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.parent.name)
@pytest.mark.parametrize("version", ["2.41", "1.123"])
def test_examples_are_proved(path: Path, version: str, registry: Registry) -> None:
    model = load_model(str(path), registry, PassContext(registry=registry))
    assert model is not None
    found, _ = verified(model, registry, {"version": version, **ONE_EXECUTION})
    if path.parent.name in ROWS_ALONE:
        assert found == []
        return
    assert [v.verdict for v in found] == [Verdict.PROVED]
    assert found[0].missing == found[0].added == found[0].changed == ()
    others = {m.node for m in found[0].matched if m.how not in ("map", "notes")}
    assert others <= {"Post to accounting inputs"}  # by its id: the map has the request only


def test_pmo_is_proved(shared: Path, registry: Registry) -> None:
    verdicts = []
    for path in sorted((shared / "data" / "pmo" / "bpmn").glob("*.bpmn")):
        model = load_model(str(path), registry, PassContext(registry=registry))
        assert model is not None
        found, _ = verified(model, registry, dict(ONE_EXECUTION))
        verdicts += [(path.stem, v.verdict) for v in found]
    assert len(verdicts) == 52  # the other three are refused (tests/test_pmo.py)
    assert [v for v in verdicts if v[1] is not Verdict.PROVED] == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda p: p.parent.name)
def test_examples_are_proved_as_compiled_by_default(path: Path, registry: Registry) -> None:
    model = load_model(str(path), registry, PassContext(registry=registry))
    assert model is not None
    found, said = verified(model, registry)
    assert {v.verdict for v in found} == {Verdict.PROVED}, said


@pytest.mark.parametrize("seed", seeds(60))
def test_random_sound_models_are_proved(seed: int, registry: Registry) -> None:
    made = random_model(seed, 8 + seed)
    for model in (made, implicit(made)):
        found, said = verified(model, registry)
        assert [v.verdict for v in found] == [Verdict.PROVED], said


def test_random_processes(registry: Registry) -> None:
    """Tangles with faults: what is sound is proved; where work is done twice, n8n's Merge can lose
    a token that the model keeps, and then `verify` says so."""
    sound = doubled = lost = 0
    for seed in seeds(300):
        model = Model(id="m", processes=(random_process(seed),))
        found, said = verified(model, registry)
        faulty = any(d.code in ("OF203", "OF204") for d in said)
        for one in found:
            assert one.verdict is not Verdict.CHANGED
            if not faulty:
                assert one.verdict is Verdict.PROVED, seed
                sound += 1
                continue
            doubled += 1
            lost += one.verdict is Verdict.DIFFERENT
    assert sound >= at_least(55)
    assert doubled >= at_least(25)
    assert lost < doubled
    assert not EVERY or 0 < lost < doubled / 3


def test_deadlocked_models_stop_where_the_model_does(registry: Registry) -> None:
    """With --force: n8n ends where the model is stuck, and neither goes on."""
    model = text_model(
        "start -> which\nwhich -> a: one\nwhich -> b: other\na -> both\nb -> both\nboth -> end",
        {"which": "exclusive Which?", "both": "parallel Both"},
    )
    found, said = verified(model, registry, force=True)
    assert "OF201" in [d.code for d in said]
    assert [v.verdict for v in found] == [Verdict.PROVED]


def test_tokens_of_one_setter_decide_apart(registry: Registry) -> None:
    """Work done twice: both tokens come from one task, and each has a choice of its own."""
    model = text_model(
        "start -> ask\nask -> fork\nfork -> meet\nfork -> meet\nmeet -> which\n"
        "which -> a: one\nwhich -> b: other\na -> end\nb -> end",
        {"fork": "parallel Fork", "meet": "exclusive", "which": "exclusive Which?"},
    )
    found, said = verified(model, registry)
    assert "OF131" in [d.code for d in said]
    assert [v.verdict for v in found] == [Verdict.PROVED]


def test_a_wide_block_is_bounded_and_quick(registry: Registry) -> None:
    """Twelve parallel choices have too many states to look at all of them."""
    lines = ["start -> fork"]
    gateways = {"fork": "parallel", "meet": "parallel"}
    for i in range(12):
        gateways |= {f"g{i}": f"exclusive G{i}?", f"j{i}": "exclusive"}
        lines += [f"fork -> t{i}", f"t{i} -> g{i}", f"g{i} -> x{i}: yes", f"g{i} -> y{i}: no"]
        lines += [f"x{i} -> j{i}", f"y{i} -> j{i}", f"j{i} -> meet"]
    model = text_model("\n".join([*lines, "meet -> end"]), gateways)
    process = model.processes[0]
    ctx = PassContext(registry=registry)
    made = compiler.compile_model(model, registry.backends["n8n"], ctx)
    assert made is not None
    workflow = json.loads(made.artifacts[0].text)
    whole = verify_process(model, process, workflow, PassContext(registry=registry))
    assert whole.verdict is Verdict.PROVED  # each branch is over before the next begins
    few = verify_process(model, process, workflow, PassContext(registry=registry), most=20)
    assert few.verdict is Verdict.BOUNDED
    assert few.bound == "more than 20 states"
