"""`orgflowc deploy` of a model that calls a process of another file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_cases import orgflowc
from n8n_stand_in import KEY, StandIn

_HEAD = '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">'


def process(id: str, step: str) -> str:
    return (
        f'{_HEAD}<process id="{id}" name="{id.title()}"><startEvent id="s"/>{step}'
        '<endEvent id="e"/><sequenceFlow id="f" sourceRef="s" targetRef="t"/>'
        '<sequenceFlow id="g" sourceRef="t" targetRef="e"/></process></definitions>'
    )


@pytest.fixture
def server() -> Iterator[StandIn]:
    made = StandIn()
    try:
        yield made
    finally:
        made.close()


def test_the_called_process_goes_with_its_caller(server: StandIn, tmp_path: Path) -> None:
    """Beside the workflow that its own file becomes; a second deploy changes nothing."""
    files = tmp_path / "models"
    files.mkdir()
    called = '<callActivity id="t" name="Check" calledElement="part"/>'
    (files / "main.bpmn").write_text(process("main", called), "utf-8")
    (files / "part.bpmn").write_text(process("part", '<task id="t" name="Look"/>'), "utf-8")

    def deploy() -> dict[str, str]:
        done = orgflowc("deploy", "--url", server.url, files, "--json", env={"N8N_API_KEY": KEY})
        assert done.code == 0, done.err
        return {row["name"]: row["action"] for row in json.loads(done.out)["workflows"]}

    names = ("Main", "Part (called by other files)", "Part")
    assert deploy() == dict.fromkeys(names, "created")
    assert set(deploy().values()) == {"unchanged"}
