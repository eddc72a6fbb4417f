"""Workflows of processes that wait in several places, read as n8n files."""

from __future__ import annotations

from pathlib import Path

from cli_cases import orgflowc

PARALLEL = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="x">
<process id="p" name="Two approvals"><startEvent id="s"/><parallelGateway id="g"/>
<userTask id="a" name="Approve budget"/><userTask id="b" name="Approve content"/>
<parallelGateway id="j"/><endEvent id="e"/>
<sequenceFlow id="f1" sourceRef="s" targetRef="g"/>
<sequenceFlow id="f2" sourceRef="g" targetRef="a"/>
<sequenceFlow id="f3" sourceRef="g" targetRef="b"/>
<sequenceFlow id="f4" sourceRef="a" targetRef="j"/>
<sequenceFlow id="f5" sourceRef="b" targetRef="j"/>
<sequenceFlow id="f6" sourceRef="j" targetRef="e"/>
</process></definitions>"""


def test_calls_of_the_support_set_are_known(tmp_path: Path) -> None:
    model, workflow = tmp_path / "two.bpmn", tmp_path / "two.json"
    model.write_text(PARALLEL)
    assert orgflowc("compile", model, "--target", "n8n", "-o", workflow).code == 0
    text = workflow.read_text("utf-8")
    assert text.count('"n8n-nodes-base.executeWorkflow"') >= 5
    checked = orgflowc("check", workflow)
    assert checked.code == 0
    assert "OF120" not in checked.out
    called = text.index('"value": "', text.index('"workflowId"')) + len('"value": "')
    workflow.write_text(text[:called] + "another" + text[called:])
    assert "OF120" in orgflowc("check", workflow).out
