"""Workflows with forms, edited: what is answered has to reach the decision."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from bpmn_text import parse
from orgflow.backends.n8n.verify.verify import verify_process
from orgflow.compiler import compile_model
from verify_edits import node

from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets.verification import Verdict

Json = dict[str, Any]
Edit = Callable[[Json], None]

TEXT = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t" '
    'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
    '<process id="p" isExecutable="true"><startEvent id="s"/><userTask id="look" name="Look"/>'
    '<exclusiveGateway id="ok" name="Ok?"/><userTask id="a" name="Pack"/>'
    '<task id="b" name="Reject"/>'
    '<endEvent id="e"/><endEvent id="no"/>'
    '<sequenceFlow id="f1" sourceRef="s" targetRef="look"/>'
    '<sequenceFlow id="f2" sourceRef="look" targetRef="ok"/>'
    '<sequenceFlow id="f3" name="Yes" sourceRef="ok" targetRef="a"/>'
    '<sequenceFlow id="f4" name="No" sourceRef="ok" targetRef="b"/>'
    '<sequenceFlow id="f5" sourceRef="a" targetRef="e"/>'
    '<sequenceFlow id="f6" sourceRef="b" targetRef="no"/></process></definitions>'
)


CODED = TEXT.replace("<exclusiveGateway ", '<exclusiveGateway default="f4" ').replace(
    'sourceRef="ok" targetRef="a"/>',
    'sourceRef="ok" targetRef="a"><conditionExpression xsi:type="tFormalExpression">'
    "${ok == true}</conditionExpression></sequenceFlow>",
)


@pytest.fixture(scope="module", params=[TEXT, CODED], ids=["labels", "conditions"])
def model(request: pytest.FixtureRequest) -> Model:
    found, _ = parse(request.param)
    assert found is not None
    return found


def compiled(model: Model, registry: Registry, trigger: str) -> Json:
    ctx = PassContext(registry=registry)
    made = compile_model(model, registry.backends["n8n"], ctx, options={"trigger": trigger})
    assert made is not None
    found: Json = json.loads(made.artifacts[0].text)
    assert found["connections"]["Look answered?"]["main"][1][0]["node"] == "Look"
    return found


def verdict(model: Model, registry: Registry, workflow: Json) -> Verdict:
    ctx = PassContext(registry=registry, target=registry.backends["n8n"].target)
    return verify_process(model, model.processes[0], workflow, ctx).verdict


def switched_off(name: str) -> Edit:
    def edit(workflow: Json) -> None:
        node(workflow, name)["disabled"] = True

    return edit


def replaced(workflow: Json) -> None:
    node(workflow, "Look data").update(type="n8n-nodes-base.noOp", typeVersion=1, parameters={})


def other_variable(workflow: Json) -> None:
    parameters = node(workflow, "Look data")["parameters"]
    parameters["jsonOutput"] = parameters["jsonOutput"].replace("ok", "other")


def logged(workflow: Json) -> None:
    """A step of a person's own where the form is asked again."""
    workflow["nodes"].append(
        {"id": "n", "name": "Log", "type": "n8n-nodes-base.noOp", "typeVersion": 1,
         "position": [0, 0], "parameters": {}}
    )  # fmt: skip
    wires = workflow["connections"]
    wires["Log"] = {"main": [wires["Look answered?"]["main"][1]]}
    wires["Look answered?"]["main"][1] = [{"node": "Log", "type": "main", "index": 0}]


def logged_and_off(workflow: Json) -> None:
    logged(workflow)
    node(workflow, "Log")["disabled"] = True


def asked_again_perhaps(workflow: Json) -> None:
    """What is added where the form is asked again lets some items through only."""
    logged(workflow)
    node(workflow, "Log").update(type="n8n-nodes-base.filter", typeVersion=2)


def before_the_form(workflow: Json) -> None:
    """The node that reads the answers comes before the form."""
    form, data = node(workflow, "Look"), node(workflow, "Look data")
    form["name"], data["name"] = data["name"], form["name"]
    data["parameters"]["jsonOutput"] = data["parameters"]["jsonOutput"].replace(
        "$('Look')", "$('Look data')"
    )


def back_to_nothing(workflow: Json) -> None:
    """What was logged leads to another step than the form."""
    logged(workflow)
    workflow["connections"]["Log"]["main"] = [[{"node": "Pack", "type": "main", "index": 0}]]


@pytest.mark.parametrize("trigger", ["manual", "form"])
@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (lambda workflow: None, Verdict.PROVED),
        (logged, Verdict.PROVED),
        (logged_and_off, Verdict.PROVED),
        (switched_off("Look data"), Verdict.DIFFERENT),
        (switched_off("Look"), Verdict.DIFFERENT),
        (replaced, Verdict.DIFFERENT),
        (other_variable, Verdict.DIFFERENT),
        (back_to_nothing, Verdict.DIFFERENT),
        (asked_again_perhaps, Verdict.DIFFERENT),
        (before_the_form, Verdict.DIFFERENT),
    ],
    ids=[
        "as compiled",
        "logged",
        "logged and off",
        "data off",
        "form off",
        "replaced",
        "renamed",
        "led on",
        "filtered",
        "before",
    ],
)
def test_what_is_answered_reaches_the_decision(
    model: Model, registry: Registry, trigger: str, edit: Edit, expected: Verdict
) -> None:
    workflow = copy.deepcopy(compiled(model, registry, trigger))
    edit(workflow)
    assert verdict(model, registry, workflow) is expected
