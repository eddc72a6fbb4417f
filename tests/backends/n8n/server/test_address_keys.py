"""`deploy --keys`: addresses that nobody guesses, which stay when a model is deployed again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_cases import LINEAR
from n8n_stand_in import KEY, StandIn
from orgflow.backends.n8n.server.address_keys import without_keys
from orgflow.backends.n8n.server.deployment_marker import digest_of
from orgflow.cli import run

MODEL = LINEAR.replace(
    '<startEvent id="start" name="Order received" />',
    '<startEvent id="start" name="Order received"><messageEventDefinition/></startEvent>',
)
KEYED = re.compile(r"order-order-received-key[0-9a-f]{24}")


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    made = StandIn()
    monkeypatch.setenv("N8N_API_KEY", KEY)
    monkeypatch.setenv("N8N_URL", made.url)
    yield made
    made.close()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "order.bpmn"
    path.write_text(MODEL, encoding="utf-8")
    return path


def paths(server: StandIn) -> list[str]:
    return [
        node["parameters"]["path"]
        for row in server.workflows.values()
        for node in row["nodes"]
        if node["type"].endswith(".webhook")
    ]


def test_a_key_stays(server: StandIn, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["deploy", str(model), "--keys"]) == 0
    (path,) = paths(server)
    assert KEYED.fullmatch(path)
    assert f"{server.url}/webhook/{path}" in capsys.readouterr().out
    for more in ([], ["--keys"], ["--take-over"]):
        assert run(["deploy", str(model), *more]) == 0
        assert capsys.readouterr().out.startswith("unchanged")
    model.write_text(MODEL.replace("Ship order", "Send order"), "utf-8")
    assert run(["deploy", str(model), "--dry-run"]) == 0
    assert "key" not in capsys.readouterr().out.replace("--keys", "")
    assert run(["deploy", str(model)]) == 0
    assert capsys.readouterr().out.startswith("updated")
    assert paths(server) == [path]


def test_a_key_stays_beside_what_a_person_edits(server: StandIn, model: Path) -> None:
    assert run(["deploy", str(model), "--keys"]) == 0
    (path,) = paths(server)
    ((id, row),) = server.workflows.items()
    nodes = json.loads(json.dumps(row["nodes"]))
    hook = next(n for n in nodes if n["type"].endswith(".webhook"))
    hook["parameters"]["options"] = {"rawBody": True}
    server.edit(id, nodes=nodes)
    model.write_text(MODEL.replace("Ship order", "Send order"), "utf-8")
    assert run(["deploy", str(model)]) == 0
    assert paths(server) == [path]
    (row,) = server.workflows.values()
    hook = next(n for n in row["nodes"] if n["type"].endswith(".webhook"))
    assert hook["parameters"]["options"] == {"rawBody": True}
    assert any(n["name"] == "Send order" for n in row["nodes"])


def test_two_workflows_have_two_keys(server: StandIn, model: Path) -> None:
    assert run(["deploy", str(model), "--keys"]) == 0
    assert run(["deploy", str(model), "--keys", "--as", "Second"]) == 0
    one, other = paths(server)
    assert KEYED.fullmatch(one)
    assert re.fullmatch(r"second-order-received-key[0-9a-f]{24}", other)
    assert one[-24:] != other[-24:]


def test_what_has_no_key_gets_none_later(server: StandIn, model: Path) -> None:
    """Callers know the address."""
    assert run(["deploy", str(model)]) == 0
    before = paths(server)
    model.write_text(MODEL.replace("Ship order", "Send order"), "utf-8")
    assert run(["deploy", str(model), "--keys"]) == 0
    assert paths(server) == before == ["order-order-received"]


def test_pages_have_keys_too(server: StandIn, tmp_path: Path) -> None:
    model = tmp_path / "order.bpmn"
    model.write_text(LINEAR, encoding="utf-8")
    target = ["--target", "n8n{trigger=form}"]
    assert run(["deploy", str(model), "--keys", "--no-publish", *target]) == 0
    (row,) = server.workflows.values()
    page = next(n for n in row["nodes"] if n["type"].endswith(".formTrigger"))
    path = page["parameters"]["options"]["path"]
    assert re.fullmatch(r"order-key[0-9a-f]{24}", path)
    bare = without_keys(row)
    assert digest_of(bare) == digest_of(row)
    page = next(n for n in bare["nodes"] if n["type"].endswith(".formTrigger"))
    assert page["parameters"]["options"]["path"] == "order"
