"""A sub-process with a start event and nothing behind it ends at once, and the flow goes on."""

from __future__ import annotations

from pathlib import Path

import pytest
from orgflow.api import compile, read, verify

from orgflow_ir.model.source import SourceFile

HEAD = '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d">'
TIMER = "<timerEventDefinition><timeCycle>PT5M</timeCycle></timerEventDefinition>"
UNREACHED = (
    '<task id="u" name="Unreached"/><endEvent id="x"/>'
    '<sequenceFlow id="g" sourceRef="u" targetRef="x"/>'
)
EACH = (
    "<multiInstanceLoopCharacteristics><loopCardinality>2</loopCardinality>"
    "</multiInstanceLoopCharacteristics>"
)


@pytest.mark.parametrize(
    "part",
    [
        '<subProcess id="t" name="Book"><startEvent id="a"/></subProcess>',
        '<subProcess id="t" name="Book"><startEvent id="a" name="Begin"/></subProcess>',
        '<subProcess id="t"><startEvent id="a"/></subProcess>',
        '<transaction id="t" name="Book"><startEvent id="a"/></transaction>',
        f'<subProcess id="t" name="Book"><startEvent id="a">{TIMER}</startEvent></subProcess>',
        f'<subProcess id="t" name="Book"><startEvent id="a"/>{UNREACHED}</subProcess>',
        f'<subProcess id="t" name="Book">{EACH}<startEvent id="a"/></subProcess>',
        '<subProcess id="t" name="Book"><subProcess id="n"><startEvent id="a"/></subProcess>'
        "</subProcess>",
    ],
    ids=["plain", "named", "nameless", "transaction", "timer", "unreached", "each", "nested"],
)  # fmt: skip
def test_the_flow_goes_on_behind_it(part: str, tmp_path: Path) -> None:
    text = (
        f'{HEAD}<process id="p" isExecutable="true"><startEvent id="s" name="Start"/>{part}'
        '<task id="z" name="After"/><endEvent id="e" name="Done"/>'
        '<sequenceFlow id="f1" sourceRef="s" targetRef="t"/>'
        '<sequenceFlow id="f2" sourceRef="t" targetRef="z"/>'
        '<sequenceFlow id="f3" sourceRef="z" targetRef="e"/></process></definitions>'
    )
    path = tmp_path / "model.bpmn"
    path.write_text(text, "utf-8")
    model = read(path)
    ((name, written),) = compile(model, target="n8n").files.items()
    (result,) = verify(model, SourceFile(name, written.encode()), "n8n").verifications
    assert result.verdict.value == "proved", result
