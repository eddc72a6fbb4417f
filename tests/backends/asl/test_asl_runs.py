"""State machines do what their models mean: on moto's interpreter, beside the token game."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asl_models import CASES, REFUSED, end, model, start, task
from asl_play import Compiled, Validator, moto_runner, validator
from model_gen import implicit, random_model
from orgflow.backends.asl.format import all_states
from orgflow.backends.asl.runner import MotoRunner
from orgflow.compilation.reading import load_model
from random_processes import process as random_process
from seeds import EVERY, at_least, seeds

from orgflow_ir.diagnostics import Severity
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.nets.regions import ScopeReduction
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.runners import RunnerError

PMO_REFUSED = {
    "04": "parallel.unstructured",
    "19": "parallel.unstructured",
    "21": "parallel.unstructured",
    "23": "flow.message",
    "24": "flow.message",
    "37": "gateway.complex",
}
"""PMo models that the target cannot say; everything else is a bug."""


@pytest.fixture(scope="module")
def referee() -> Iterator[Validator]:
    with validator() as found:
        yield found


@pytest.fixture(scope="module")
def runner() -> Iterator[MotoRunner]:
    with moto_runner() as found:
        yield found


def assert_right(
    made: Compiled, referee: Validator, runner: MotoRunner | None, max_runs: int = 8
) -> None:
    """It compiled, asl-validator takes it, and its runs are the model's."""
    assert made.definitions, [d.message for d in made.ctx.diagnostics]
    for definition in made.definitions:
        assert referee.problems(definition) == []
    if runner is not None:
        report = made.replay(runner, max_runs)
        wrong = [(r.verdict, r.divergence, r.executed) for r in report.runs if r.verdict != "equal"]
        assert wrong == []
        assert report.runs


@pytest.mark.parametrize("name", CASES)
def test_a_construct(name: str, registry: Registry, referee: Validator, runner: MotoRunner) -> None:
    made = Compiled(CASES[name], registry)
    assert_right(made, referee, runner)
    assert made.replay(runner).uncovered == ()


@pytest.mark.parametrize("name", REFUSED)
def test_unstructured_parallel_work_is_refused_with_the_reason(
    name: str, registry: Registry
) -> None:
    refused, reason = REFUSED[name]
    made = Compiled(refused, registry)
    assert made.legal is None
    errors = [d for d in made.ctx.diagnostics if d.severity is Severity.ERROR]
    illegal = [d for d in errors if d.code == "OF403"]
    assert {d.code for d in errors} <= {"OF403", "OF206"}  # one of them forks without end, too
    assert all("(parallel.unstructured) " in d.message for d in illegal)
    assert any(reason in d.message for d in illegal), [d.message for d in errors]


@pytest.mark.slow
def test_pmo(shared: Path, registry: Registry, referee: Validator, runner: MotoRunner) -> None:
    """Every model that the target can say; `benchmarks/asl_pmo.py` plays all of their runs."""
    refused = {}
    for path in sorted((shared / "data" / "pmo" / "bpmn").glob("*.bpmn")):
        found = load_model(str(path), registry, PassContext(registry=registry), from_="bpmn")
        assert found is not None
        made = Compiled(found, registry)
        if made.legal is None:
            errors = [d for d in made.ctx.diagnostics if d.severity is Severity.ERROR]
            assert {d.code for d in errors} == {"OF403"}, path.stem
            refused[path.stem] = errors[0].message
            continue
        assert_right(made, referee, runner, max_runs=1)
    assert set(refused) == set(PMO_REFUSED)
    assert all(f"({PMO_REFUSED[n]})" in message for n, message in refused.items()), refused


@pytest.mark.parametrize("seed", seeds(16))
def test_random_sound_models(
    seed: int, registry: Registry, referee: Validator, runner: MotoRunner
) -> None:
    drawn = random_model(seed, 8 + seed % 20)
    for found in (drawn, implicit(drawn)):
        assert_right(Compiled(found, registry), referee, None)
    if not EVERY or seed % 4 == 0:
        assert_right(Compiled(drawn, registry), referee, runner, max_runs=3)


def test_random_processes_compile_where_they_are_blocks(
    registry: Registry, referee: Validator, runner: MotoRunner
) -> None:
    """What is sound and blocks inside each other is refused for its constructs alone; what
    compiles is valid, and a sample of it runs right, however odd its shape."""
    compiled = 0
    for seed in seeds(120):
        process = random_process(seed)
        found = Model(id="m", processes=(process,))
        made = Compiled(found, registry)
        codes = {d.code for d in made.ctx.diagnostics if d.severity is Severity.ERROR}
        if made.definitions:
            compiled += 1
            assert_right(made, referee, runner if compiled % 8 == 0 else None, max_runs=2)
        elif codes == {"OF403"}:
            shape = ScopeReduction(ControlFlow(process)).reduction
            odd = made.told("OF203") or made.told("OF204") or shape.clashes or not shape.structured
            errors = [d.message for d in made.told("OF403")]
            ends_first = any("may all end before they reach it" in e for e in errors)
            assert odd or ends_first or any("parallel.unstructured" not in e for e in errors), seed
    assert compiled >= at_least(20)


def mutants(definition: Any) -> Iterator[Any]:
    """Copies in which a choice goes elsewhere, a state is jumped over, or branches are one."""
    for index, (_, state) in enumerate(all_states(definition)):
        made = copy.deepcopy(definition)
        copied = list(all_states(made))[index][1]
        if state["Type"] == "Choice" and len(state["Choices"]) > 1:
            one, two = copied["Choices"][:2]
            one["Next"], two["Next"] = two["Next"], one["Next"]
            yield made
        elif state["Type"] == "Pass" and state["Comment"].startswith("[task") and "Next" in state:
            for _, other in all_states(made):
                if other.get("Next") == list(all_states(made))[index][0]:
                    other["Next"] = copied["Next"]
                    yield made
                    break
        elif state["Type"] == "Parallel" and len(state["Branches"]) > 1:
            copied["Branches"].pop()
            copied.pop("ResultSelector", None)
            copied["ResultPath"] = None
            yield made


def test_a_replay_sees_what_is_wrong(registry: Registry, runner: MotoRunner) -> None:
    """Negative control: machines with an edit that changes what they do are distinguished."""
    seen = tried = 0
    for name in ("decision inside a branch, in a loop", "inclusive with a default"):
        made = Compiled(CASES[name], registry)
        runs = [r.run for r in made.replay(runner).runs]
        whole = runner.definition
        for mutant in list(mutants(copy.deepcopy(whole))):
            whole.clear()
            whole.update(mutant)
            tried += 1
            runner.reload()
            played = list(runner.play(runs))
            expected = [[s.element for s in r.steps if s.element.startswith("t")] for r in runs]
            done = [[e.element for e in p.executed if (e.element or "").startswith("t")]
                    for p in played]  # fmt: skip
            seen += any(
                sorted(map(str, d)) != sorted(e) or p.status != "success"
                for d, e, p in zip(done, expected, played, strict=True)
            )
    assert tried >= 5
    assert seen == tried


def test_without_decisions_an_execution_fails_and_says_who_has_to_decide(
    registry: Registry, runner: MotoRunner
) -> None:
    made = Compiled(CASES["decision inside a branch, in a loop"], registry)
    made.replay(runner, 1)
    from orgflow.backends.asl.stub_data import StubData

    result = runner.play_stubs(StubData())
    assert result.status == "error"
    assert result.error is not None
    assert result.error.startswith("NoBranchFits: no branch of Gate x matches: Task t1 has to set")


def test_results_of_branches_are_kept(registry: Registry, runner: MotoRunner) -> None:
    """What a step puts out stays in its own place, past joins and in the next round of a loop."""
    made = Compiled(CASES["decision inside a branch, in a loop"], registry)
    runs = [r.run for r in made.replay(runner).runs]
    (longest,) = sorted(runs, key=lambda r: len(r.steps))[-1:]
    for name, state in all_states(runner.definition):
        if name == "Task t3":
            state["Result"] = {"kept": True}
    runner.reload()
    assert [p.status for p in runner.play([longest])] == ["success"]
    output = runner.last_output
    assert set(output) == {"input", "results"}
    (parallel,) = (v for k, v in output["results"].items() if "branch_1" in v)
    assert parallel["branch_2"]["task_t3"] == {"kept": True}
    assert parallel["branch_1"]["task_t1"]["gate_x"] in ("Yes", "No")


def test_moto_missing_is_said(monkeypatch: pytest.MonkeyPatch, registry: Registry) -> None:
    import importlib

    def broken(name: str, package: str | None = None) -> Any:
        raise ImportError(f"no module {name}")

    made = Compiled(model([start(), task("t"), end()], "s>t t>e"), registry)
    monkeypatch.setattr(importlib, "import_module", broken)
    with pytest.raises(RunnerError, match="pip install 'moto"):
        made.replay(MotoRunner())
