"""`orgflowc undeploy`, and credentials that `deploy` makes from a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from n8n_stand_in import KEY, StandIn
from order_models import order_model
from orgflow.cli import run

MAIL = Path(__file__).parents[3] / "diagnostics/OF424-credential-needed/bad.bpmn"
SECRET = "hidden-word"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    made = StandIn()
    monkeypatch.setenv("N8N_API_KEY", KEY)
    monkeypatch.setenv("N8N_URL", made.url)
    yield made
    made.close()


def test_what_was_deployed_goes_and_nothing_else(
    server: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = order_model(tmp_path / "order.bpmn", "check", "ship")
    other = order_model(tmp_path / "other.bpmn", "pay", name="Bill", start="Bill received")
    assert run(["deploy", str(mine), str(other)]) == 0
    rows = {row["name"]: row["id"] for row in server.workflows.values()}
    capsys.readouterr()
    assert run(["undeploy", str(mine), "--dry-run"]) == 0
    assert capsys.readouterr().out.startswith("would go  ")
    assert len(server.workflows) == len(rows) == 2
    assert run(["undeploy", str(mine)]) == 0
    (gone,) = set(rows.values()) - set(server.workflows)
    assert capsys.readouterr().out.split()[:2] == ["removed", gone]
    assert run(["undeploy", str(mine)]) == 0
    assert capsys.readouterr().err == "none of this is deployed there\n"
    assert run(["undeploy", str(tmp_path)]) == 0
    assert not server.workflows


def test_what_somebody_edited_stays(
    server: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = order_model(tmp_path / "order.bpmn", "check", "ship")
    assert run(["deploy", str(mine)]) == 0
    (row,) = server.workflows.values()
    nodes = json.loads(json.dumps(row["nodes"]))
    next(one for one in nodes if one["name"] == "ship")["parameters"] = {"x": 1}
    server.edit(row["id"], nodes=nodes)
    capsys.readouterr()
    assert run(["undeploy", str(mine)]) == 1
    assert "somebody edited it" in capsys.readouterr().out
    assert server.workflows
    assert run(["undeploy", str(mine), "--take-over"]) == 0
    assert not server.workflows


def test_credentials_from_a_file(
    server: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "credentials.json"
    entry = {"name": "Post office", "type": "smtp", "data": {"password": SECRET}}
    file.write_text(json.dumps([entry, {**entry, "type": "imap"}]), "utf-8")
    deploy = ["deploy", str(MAIL), "--credentials", str(file)]
    assert run(deploy) == 0
    (made,) = server.credentials
    assert made == {"id": "cred1", **entry}
    (row,) = server.workflows.values()
    (node,) = [one for one in row["nodes"] if one["name"] == "Confirm order"]
    assert node["credentials"] == {"smtp": {"id": "cred1", "name": "Post office"}}
    assert run(deploy) == 0
    assert len(server.credentials) == 1  # chosen already
    assert run(["undeploy", str(MAIL)]) == 0
    assert run(deploy) == 0
    assert len(server.credentials) == 1  # of this name and type, on the server
    said = capsys.readouterr()
    assert SECRET not in said.out + said.err


SMTP_SCHEMA = {
    "properties": {"secure": {"type": "boolean"}, "disableStartTls": {"type": "boolean"}},
    "allOf": [
        {
            "if": {"properties": {"secure": {"enum": [False]}}},
            "then": {"allOf": [{"required": ["disableStartTls"]}]},
            "else": {"allOf": [{"not": {"required": ["disableStartTls"]}}]},
        }
    ],
}
"""As n8n 1.123.81 states it, shortened."""


@pytest.mark.parametrize(
    ("version", "given", "added"),
    [
        ("1.123.81", {}, {"disableStartTls": False}),
        ("1.123.81", {"disableStartTls": True}, {}),
        ("1.123.81", {"secure": True}, {}),
        ("2.41.1", {}, {}),
    ],
)
def test_n8n_1_gets_the_hidden_fields_that_it_requires(
    server: StandIn, tmp_path: Path, version: str, given: dict[str, bool], added: dict[str, bool]
) -> None:
    server.version = version
    server.schemas = {"smtp": SMTP_SCHEMA}
    file = tmp_path / "credentials.json"
    file.write_text(json.dumps([{"name": "Post", "type": "smtp", "data": given}]), "utf-8")
    assert run(["deploy", str(MAIL), "--credentials", str(file)]) == 0
    (made,) = server.credentials
    assert made["data"] == given | added


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "it is no JSON"),
        ("{}", "it is not a list of credentials"),
        (f'[{{"name": "a", "data": "{SECRET}"}}]', "entry 1 needs the texts `name` and `type`"),
        (f'[{{"name": "a", "type": "smtp", "data": "{SECRET}"}}]', "needs the object `data`"),
    ],
)
def test_a_file_that_cannot_be_read(
    server: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, why: str
) -> None:
    file = tmp_path / "credentials.json"
    file.write_text(text, "utf-8")
    assert run(["deploy", str(MAIL), "--credentials", str(file)]) == 2
    said = capsys.readouterr().err
    assert why in said
    assert SECRET not in said
    assert not server.workflows
