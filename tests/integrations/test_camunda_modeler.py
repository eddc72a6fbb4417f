"""The plugin of Camunda Modeler outside a browser: its package, and what its menu starts."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from modeler_page import PLUGIN, menu

ROOT = Path(__file__).resolve().parents[2]
FAULTY = ROOT / "tests/diagnostics/OF201-deadlocked-join/bad.bpmn"


def asked(address: str, name: str, xml: str) -> Any:
    """What the page gets for a diagram."""
    data = json.dumps({"name": name, "xml": xml}).encode()
    with urllib.request.urlopen(address, data, timeout=120) as answer:
        return json.loads(answer.read())


def test_the_menu_starts_what_answers_the_page(tmp_path: Path) -> None:
    text = FAULTY.read_text("utf-8")
    with menu(tmp_path) as sent:
        assert sent["action"] == "orgflowCheck"
        address = sent["options"]["address"]
        (found,) = asked(address, "a.bpmn", text)["findings"]
        assert (found["code"], found["element"], found["severity"]) == ("OF201", "join", "error")
        (fix,) = found["fixes"]
        assert fix["safe"]
        assert fix["xml"] == text.replace(
            '<parallelGateway id="join"/>', '<exclusiveGateway id="join"/>'
        )
        assert "OF201" not in {f["code"] for f in asked(address, "a.bpmn", fix["xml"])["findings"]}
        (broken,) = asked(address, "../b.bpmn", text[:-9])["findings"]
        assert broken["code"] == "OF010"
        with pytest.raises(urllib.error.HTTPError):  # nobody answers who does not know the token
            asked(address.rpartition("/")[0] + "/", "a.bpmn", text)


def test_what_cannot_be_started_is_reported(tmp_path: Path) -> None:
    with menu(tmp_path, command=[str(tmp_path / "no-orgflowc"), "lsp"]) as sent:
        assert sent["action"] == "orgflowFailed"
        assert "not installed" in sent["options"]["message"]


def test_the_package_has_no_dependencies_and_all_its_files() -> None:
    described = json.loads((PLUGIN / "package.json").read_text("utf-8"))
    assert described["license"] == "MIT"
    assert not {"dependencies", "bundledDependencies"} & described.keys()
    files = {p.name for p in PLUGIN.iterdir()} - {"package.json"}
    assert files == set(described["files"])
    wanted = {
        name
        for path in PLUGIN.glob("*.js")
        for name in re.findall(r"require\('([^']+)'\)", path.read_text("utf-8"))
    }
    assert wanted == {"child_process", "crypto", "fs", "http", "os", "path", "url", "./bridge"}
