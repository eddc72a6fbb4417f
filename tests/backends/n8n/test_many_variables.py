"""Steps that keep many variables do so in a loop over their names: with the same result on n8n's
engine as a line for each of them."""

from __future__ import annotations

import pytest
from bpmn_text import model_of, process
from n8n_compiled import emitted
from orgflow.backends.n8n.backend import N8nBackend
from orgflow.backends.n8n.emit.compiled import CompiledProcess
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.format.expressions import read_parameter
from orgflow.backends.n8n.plan import variables
from seeds import seeds
from variable_random import random_scenario
from variable_runs import FILLINGS, compiled, verdicts
from variable_scenarios import Scenario, scenarios

from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.verification import Verdict

SCENARIOS = {s.name: s for s in scenarios()}


@pytest.fixture
def looped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any number of variables is many."""
    monkeypatch.setattr(variables, "MOST_LISTED", 0)


@pytest.mark.usefixtures("looped")
@pytest.mark.parametrize("name", SCENARIOS)
def test_a_condition_sees_what_was_set_last(engine: LocalEngine, name: str) -> None:
    found = list(verdicts(engine, [SCENARIOS[name]]))
    assert len(found) == len(FILLINGS)
    assert [f"{v.filling}: {v.fault}" for v in found if v.fault] == []


@pytest.mark.usefixtures("looped")
def test_the_scenarios_have_loops() -> None:
    texts = [str(compiled(scenario).root.workflow) for scenario in SCENARIOS.values()]
    assert sum("[name, " in text for text in texts) > len(texts) / 2


@pytest.mark.usefixtures("looped")
def test_random_models(engine: LocalEngine) -> None:
    made = [random_scenario(seed) for seed in seeds(60)]
    found = verdicts(engine, made, ("replace", "alternating"))
    assert [f"{v.scenario}, {v.filling}: {v.fault}" for v in found if v.fault] == []


def many(number: int) -> Model:
    """A process in which two parallel tasks may set any of some variables, which a decision behind
    them reads."""
    read = " &amp;&amp; ".join(f"v{i} == {i}" for i in range(number))
    return model_of(
        process(
            '<startEvent id="s"/><task id="first" name="First"/><parallelGateway id="split"/>'
            '<task id="a" name="A"/><task id="b" name="B"/><parallelGateway id="join"/>'
            '<exclusiveGateway id="g" name="All?" default="no"/>'
            '<task id="yes" name="Yes"/><task id="not" name="Not"/>'
            '<sequenceFlow id="f1" sourceRef="s" targetRef="first"/>'
            '<sequenceFlow id="f2" sourceRef="first" targetRef="split"/>'
            '<sequenceFlow id="f3" sourceRef="split" targetRef="a"/>'
            '<sequenceFlow id="f4" sourceRef="split" targetRef="b"/>'
            '<sequenceFlow id="f5" sourceRef="a" targetRef="join"/>'
            '<sequenceFlow id="f6" sourceRef="b" targetRef="join"/>'
            '<sequenceFlow id="f7" sourceRef="join" targetRef="g"/>'
            '<sequenceFlow id="all" sourceRef="g" targetRef="yes"><conditionExpression>'
            f"${{{read}}}</conditionExpression></sequenceFlow>"
            '<sequenceFlow id="no" sourceRef="g" targetRef="not"/>'
        )
    )


@pytest.mark.parametrize("number", [variables.MOST_LISTED, variables.MOST_LISTED + 5])
def test_parallel_branches_set_many_variables(engine: LocalEngine, number: int) -> None:
    half = number // 2
    scenario = Scenario(
        "many",
        many(number),
        {
            "first": [{f"v{i}": -1 for i in range(number)}],
            "a": [{f"v{i}": i for i in range(half)}],
            "b": [{f"v{i}": i for i in range(half, number)}],
        },
        last="yes",
    )
    found = list(verdicts(engine, [scenario]))
    assert [f"{v.filling}: {v.fault}" for v in found if v.fault] == []


def test_what_is_compiled_is_verified_and_short() -> None:
    sizes = []
    for number in (40, 80):
        made = emitted(many(number), PassContext())
        (found,) = made.compiled.values()
        assert isinstance(found, CompiledProcess)
        (data,) = (n for n in found.root.workflow["nodes"] if n["name"] == "First data")
        assert read_parameter(data["parameters"]["jsonOutput"]).faults == ()
        assert data["notes"].startswith(f"Keeps v0, v1, v2 and {number - 3} others: ")
        sizes.append(len(data["parameters"]["jsonOutput"]))
        (artifact,) = made.artifacts
        source = SourceFile(str(artifact.path), artifact.text.encode())
        verdicts_ = N8nBackend().verify(many(number), source, PassContext())
        assert [v.verdict for v in verdicts_] == [Verdict.PROVED]
    assert sizes[1] - sizes[0] == len(",v40") * 40, "a name and a comma for each variable"
