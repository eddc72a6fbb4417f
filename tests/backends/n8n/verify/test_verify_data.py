"""A condition that cannot see what some task sets is a difference, which names both."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from orgflow.backends.n8n.verify.verify import verify_process
from played_models import ONE_EXECUTION
from variable_runs import FILLINGS, compiled, request
from variable_scenarios import FOLDER, Scenario, scenarios

from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.verification import Verdict, Verification

SCENARIOS = {s.name: s for s in scenarios()}
"""Those with calls are refused for n8n, as `tests/backends/n8n/test_variables.py` tests."""


def verified(scenario: Scenario, workflow: Any) -> Verification:
    ctx = PassContext(options=dict(ONE_EXECUTION))
    return verify_process(scenario.model, scenario.model.processes[0], workflow, ctx)


def filled(name: str, filling: str = "replace") -> dict[str, Any]:
    scenario = SCENARIOS[name]
    return copy.deepcopy(dict(request(scenario, compiled(scenario), filling).workflow))


def node(workflow: dict[str, Any], name: str) -> dict[str, Any]:
    return next(n for n in workflow["nodes"] if n["name"] == name)


@pytest.mark.parametrize(
    ("file", "model", "says"),
    [
        ("c1_fill", "c1", "`ok?` reads `ok`, but cannot see the value that `Check` sets"),
        (
            "c3_fill",
            "c3",
            "`approved?` reads `approved`, but cannot see the value that `Auto check` sets",
        ),
        (
            "c4_fill",
            "c4",
            "`ok?` reads `creditOk`, but cannot see the value that `Check credit` sets",
        ),
        ("c6_fill", "c6", "`ok?` reads `approved`, but cannot see the value that `Review` sets"),
        ("c5_http", "c5", "`ok?` reads `approved`, but cannot see the value that `Approve` sets"),
    ],
)
def test_what_read_the_nearest_tasks_is_different(file: str, model: str, says: str) -> None:
    """Workflows that were compiled before variables travelled on the item, filled as people do."""
    workflow = json.loads((FOLDER / f"{file}.json").read_text(encoding="utf-8"))
    result = verified(SCENARIOS[model], workflow)
    assert result.verdict is Verdict.DIFFERENT
    assert result.difference is not None
    assert result.difference.message.startswith(says)


@pytest.mark.parametrize("name", [n for n in SCENARIOS if not n.startswith("call, ")])
def test_what_is_compiled_is_proved_however_it_is_filled(name: str) -> None:
    scenario = SCENARIOS[name]
    assert verified(scenario, compiled(scenario).root.workflow).verdict is Verdict.PROVED
    for filling in FILLINGS:
        # Only new nodes lack the settings of placeholders, with which one item goes on.
        wanted = Verdict.CONDITIONAL if filling == "many new" else Verdict.PROVED
        result = verified(scenario, filled(name, filling))
        assert result.verdict is wanted, (filling, result.conditions)
        assert {c.kind for c in result.conditions} <= {"one-item"}


def _without(workflow: dict[str, Any], name: str) -> None:
    after = workflow["connections"].pop(name)["main"][0]
    workflow["nodes"].remove(node(workflow, name))
    for kinds in workflow["connections"].values():
        for ends in kinds["main"]:
            for end in list(ends):
                if end["node"] == name:
                    ends.remove(end)
                    ends += after


@pytest.mark.parametrize(
    ("name", "gone", "setter"),
    [
        ("c5", "Mail data", "Approve"),
        ("c6", "Join before Mail data", "Enter"),
        ("message", "Start data", "Start"),
        ("visible", "For Right?", "A"),
    ],
)
def test_a_node_that_kept_variables_is_gone(name: str, gone: str, setter: str) -> None:
    workflow = filled(name)
    _without(workflow, gone)
    result = verified(SCENARIOS[name], workflow)
    assert result.verdict is Verdict.DIFFERENT
    assert result.difference is not None
    assert f"cannot see the value that `{setter}` sets" in result.difference.message


def test_a_node_that_drops_variables_before_a_gateway() -> None:
    workflow = filled("c2")
    call = {
        "id": "x", "name": "Call", "type": "n8n-nodes-base.httpRequest", "typeVersion": 4.2,
        "position": [0, 0], "parameters": {"url": "https://example.org", "options": {}},
    }  # fmt: skip
    workflow["nodes"].append(call)
    workflow["connections"]["Call"] = workflow["connections"]["Amend amount data"]
    wire = {"node": "Call", "type": "main", "index": 0}
    workflow["connections"]["Amend amount data"] = {"main": [[wire]]}
    result = verified(SCENARIOS["c2"], workflow)
    assert result.difference is not None
    assert "cannot see the value that `Enter amount` sets" in result.difference.message


def test_a_line_that_takes_a_variable_from_elsewhere_is_a_change() -> None:
    workflow = filled("c5")
    parameters = node(workflow, "Approve data")["parameters"]
    parameters["jsonOutput"] = parameters["jsonOutput"].replace("[$json,", "[$json.data,")
    result = verified(SCENARIOS["c5"], workflow)
    assert result.verdict is Verdict.CHANGED
    assert [c.node for c in result.changed] == ["Approve data"]


def test_a_line_that_forgets_what_was_before() -> None:
    workflow = filled("c5")
    node(workflow, "Mail data")["parameters"]["jsonOutput"] = (
        "={{ ({ approved: $json.approved }) }}"
    )
    result = verified(SCENARIOS["c5"], workflow)
    assert result.difference is not None
    assert "cannot see the value that `Approve` sets" in result.difference.message


def test_a_condition_of_another_limit_is_a_change() -> None:
    workflow = filled("c2")
    text = json.dumps(workflow).replace("$json.amount > 1000", "$json.amount > 5000")
    result = verified(SCENARIOS["c2"], json.loads(text))
    assert result.verdict is Verdict.CHANGED


def test_the_output_for_what_was_never_set_has_to_stop() -> None:
    workflow = filled("c5")
    rest = workflow["connections"]["ok?"]["main"]
    rest[0] = rest[1]
    assert verified(SCENARIOS["c5"], workflow).verdict is Verdict.DIFFERENT
