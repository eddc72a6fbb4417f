"""`check --target`: what the rules of the target find in the result, which is not written."""

from __future__ import annotations

from pathlib import Path

import pytest
from orgflow import cli

CALLED = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d">
<message id="m" name="Go"/><process id="p" name="Order" isExecutable="true">
<startEvent id="s" name="Ordered"><messageEventDefinition messageRef="m"/></startEvent>
<userTask id="t" name="Check"/><endEvent id="e"/>
<sequenceFlow id="a" sourceRef="s" targetRef="t"/>
<sequenceFlow id="b" sourceRef="t" targetRef="e"/></process></definitions>"""


@pytest.mark.parametrize(
    ("more", "codes"),
    [
        ([], {"OF501", "OF505"}),
        (["--target", "n8n"], {"OF501", "OF505", "OF425"}),
        (["--target", "n8n{auth=header}"], {"OF501", "OF505", "OF424"}),
        (["--target", "asl"], {"OF501", "OF505"}),
        (["--target", "mermaid"], {"OF501", "OF505"}),
    ],
)
def test_open_addresses_are_found_before_anything_is_compiled(
    more: list[str], codes: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "order.bpmn"
    model.write_text(CALLED, "utf-8")
    assert cli.run(["check", str(model), "-v", *more]) == 0
    said = capsys.readouterr().out
    found = {word for word in said.split() if word.startswith("OF") and word[2:].isdigit()}
    assert found == codes
    assert list(tmp_path.iterdir()) == [model]


def test_a_faulty_model_has_no_result_to_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "order.bpmn"
    model.write_text(CALLED.replace('targetRef="e"', 'targetRef="gone"'), "utf-8")
    assert cli.run(["check", str(model), "-v", "--target", "n8n"]) == 1
    assert "OF425" not in capsys.readouterr().out
