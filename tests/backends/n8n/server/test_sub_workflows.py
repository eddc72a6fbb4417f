"""Runs on a server are of one workflow each: `ServerRunner` does not play those of processes that
call others, and only calls of processes become calls of workflows.
"""

from __future__ import annotations

from pathlib import Path

import diff_edits as edits
from orgflow.backends.n8n.format.document import short_type
from orgflow.backends.n8n.format.support_ids import part_id
from orgflow.backends.n8n.node_types.workflow_calls import called_workflows
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.waiting.support_set import PARTS

from orgflow_ir.plugins import Registry
from orgflow_ir.targets import Illegal

_CALLS = {"executeWorkflow", "executeWorkflowTrigger"}
_TWO = "".join(
    f'<process id="p{n}" name="Process {n}"><startEvent id="s{n}"/><task id="t{n}"/>'
    f'<endEvent id="e{n}"/><sequenceFlow id="f{n}" sourceRef="s{n}" targetRef="t{n}"/>'
    f'<sequenceFlow id="g{n}" sourceRef="t{n}" targetRef="e{n}"/></process>'
    for n in (1, 2)
)


def test_what_would_become_calls_is_refused() -> None:
    assert isinstance(N8N_TARGET.constructs["loop"], Illegal)


def test_a_sub_process_that_an_event_ends_is_part_of_its_workflow(
    registry: Registry, tmp_path: Path
) -> None:
    """It is rows of its process, and only the support set is called."""
    path = tmp_path / "part.bpmn"
    path.write_text(
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" '
        'targetNamespace="t"><process id="p" name="P"><startEvent id="s"/>'
        '<subProcess id="t" name="Part"><startEvent id="s1"/><userTask id="t1"/>'
        '<endEvent id="e1"/><sequenceFlow id="g1" sourceRef="s1" targetRef="t1"/>'
        '<sequenceFlow id="g2" sourceRef="t1" targetRef="e1"/></subProcess>'
        '<boundaryEvent id="b" attachedToRef="t"><timerEventDefinition><timeDuration>PT1H'
        '</timeDuration></timerEventDefinition></boundaryEvent><endEvent id="e"/>'
        '<endEvent id="f"/><sequenceFlow id="f1" sourceRef="s" targetRef="t"/>'
        '<sequenceFlow id="f2" sourceRef="t" targetRef="e"/>'
        '<sequenceFlow id="f3" sourceRef="b" targetRef="f"/></process></definitions>',
        encoding="utf-8",
    )
    (workflow,) = edits.compiled(path, registry)
    called = {id for id, _ in called_workflows(workflow)}
    assert called
    assert called <= {part_id(part) for part in PARTS}


def test_no_workflow_calls_another(root: Path, registry: Registry, tmp_path: Path) -> None:
    two = tmp_path / "two.bpmn"
    two.write_text(
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" '
        f'targetNamespace="t">{_TWO}</definitions>',
        encoding="utf-8",
    )
    found = edits.compiled(two, registry)
    assert len(found) == 2, "several artifacts there are, each for itself"
    for path in sorted((root / "examples").glob("*/model.*")):
        found += edits.compiled(path, registry)
    assert len(found) > 5
    for workflow in found:
        assert not list(called_workflows(workflow)), workflow["name"]
        assert not _CALLS & {short_type(node) for node in workflow["nodes"]}
