"""Wires around nodes that the compiler added, and settings that end runs, are part of the proof."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from orgflow.api import compile, read, verify

from orgflow_ir.model.source import SourceFile

Json = dict[str, Any]
MODEL = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d">
<process id="p" name="Case" isExecutable="true"><startEvent id="s" name="Start"/>
<parallelGateway id="g"/><parallelGateway id="h"/>
<scriptTask id="a" name="Left" scriptFormat="groovy"><script>left = x + 1</script></scriptTask>
<scriptTask id="b" name="Right" scriptFormat="groovy"><script>right = x * 2</script></scriptTask>
<scriptTask id="c" name="Sum" scriptFormat="groovy">
<script>sum = left + right</script></scriptTask>
<endEvent id="e" name="Done"/>
<sequenceFlow id="f0" sourceRef="s" targetRef="g"/>
<sequenceFlow id="f1" sourceRef="g" targetRef="a"/>
<sequenceFlow id="f2" sourceRef="g" targetRef="b"/>
<sequenceFlow id="f3" sourceRef="a" targetRef="h"/>
<sequenceFlow id="f4" sourceRef="b" targetRef="h"/>
<sequenceFlow id="f5" sourceRef="h" targetRef="c"/>
<sequenceFlow id="f6" sourceRef="c" targetRef="e"/></process></definitions>"""


def node_of(workflow: Json, name: str) -> Json:
    found: Json = next(node for node in workflow["nodes"] if node["name"] == name)
    return found


def lead(workflow: Json, source: str, target: str) -> None:
    """Let the only wire of a node lead to another one."""
    workflow["connections"][source] = {"main": [[{"node": target, "type": "main", "index": 0}]]}


def skip_join(workflow: Json) -> None:
    lead(workflow, "Right data", "Sum")


def skip_kept(workflow: Json) -> None:
    lead(workflow, "Join before Sum", "Sum")


def skip_report(workflow: Json) -> None:
    lead(workflow, "A run failed", "Report the failure")


def pass_by(workflow: Json) -> None:
    """A node in the wire, which changes nothing."""
    lead(workflow, "Right data", "Passage")
    workflow["nodes"].append({"id": "x", "name": "Passage", "type": "n8n-nodes-base.noOp",
                              "typeVersion": 1, "position": [0, 0], "parameters": {}})  # fmt: skip
    index = {"node": "Join before Sum", "type": "main", "index": 1}
    workflow["connections"]["Passage"] = {"main": [[index]]}


def disable_join(workflow: Json) -> None:
    node_of(workflow, "Join before Sum")["disabled"] = True


def limit_time(workflow: Json) -> None:
    workflow["settings"]["executionTimeout"] = 7


def lift_limit(workflow: Json) -> None:
    workflow["settings"]["executionTimeout"] = -1


def edit_report(workflow: Json) -> None:
    node = node_of(workflow, "What failed")
    node["parameters"]["jsCode"] = node["parameters"]["jsCode"].replace("Right", "Wrong")


def drop_report(workflow: Json) -> None:
    del workflow["settings"]["errorWorkflow"]


@pytest.mark.parametrize(
    ("edit", "place", "verdict"),
    [
        (skip_join, 0, "changed"),
        (skip_kept, 0, "different"),
        (disable_join, 0, "changed"),
        (limit_time, 0, "changed"),
        (drop_report, 0, "changed"),
        (skip_report, 1, "changed"),
        (edit_report, 1, "changed"),
        (lift_limit, 0, "proved"),
        (pass_by, 0, "proved"),
    ],
)
def test_an_edit_beside_the_steps(
    tmp_path: Path, edit: Callable[[Json], None], place: int, verdict: str
) -> None:
    path = tmp_path / "model.bpmn"
    path.write_text(MODEL, "utf-8")
    files = [
        json.loads(t) for t in compile(read(path), options={"errors": "workflow"}).files.values()
    ]
    files.sort(key=lambda workflow: "what failed" in workflow["name"])
    edit(files[place])
    results = verify(read(path), SourceFile("w.json", json.dumps(files).encode())).verifications
    assert len(results) == 2
    assert results[place].verdict.value == verdict, results[place]
    assert results[1 - place].verdict.value == "proved"
