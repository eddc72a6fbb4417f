"""`orgflowc watch` without a browser: what the page gets, and when."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from cli_cases import DEADLOCK, LINEAR, orgflowc
from orgflow.commands.options import resolve_target
from orgflow.commands.page_server import PageServer
from orgflow.commands.session import Session
from orgflow.commands.watch import Watched, WatchPage


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "order.bpmn"
    path.write_text(LINEAR)
    return path


def watched(model: Path, target: str = "n8n") -> Watched:
    session = Session()
    backend, options = resolve_target(target, session.registry)
    return Watched(session, str(model), None, backend, options)


def facts(seen: Any) -> list[tuple[str, str, str]]:
    return [tuple(fact) for fact in seen.facts]


def test_a_model_that_compiles(model: Path) -> None:
    seen = watched(model).look()
    assert facts(seen) == [
        ("Compiles", "to n8n: order.json", "ok"),
        ("Verified", "Order: proved", "ok"),
        ("Unfinished", "one thing is left to do", "warning"),
    ]
    assert (seen.title, seen.findings) == ("Order", [])
    assert "Ship order" in seen.unfinished[0]
    assert "of-error" not in seen.picture.partition("</style>")[2]


def test_a_target_without_a_proof(model: Path) -> None:
    assert facts(watched(model, "svg").look())[0] == ("Compiles", "to svg: order.svg", "ok")


def test_a_model_with_errors(model: Path) -> None:
    model.write_text(DEADLOCK)
    seen = watched(model).look()
    assert facts(seen) == [("Compiles", "not to n8n: one error", "error")]
    (found,) = seen.findings
    assert (found.severity, found.code, found.place) == ("error", "OF201", "line 9")
    assert 'of-error" data-element="both"' in seen.picture
    assert not seen.compiled


def test_suppressed_findings_are_not_shown(model: Path) -> None:
    model.write_text(LINEAR)
    (model.parent / "orgflow.toml").write_text(
        '[[suppress]]\ncode = "OF500"\nreason = "later"\n[[suppress]]\ncode = "OF501"\n'
        'reason = "later"\n'
    )
    assert watched(model).look().unfinished == []


def test_a_file_that_cannot_be_read_keeps_the_picture(model: Path) -> None:
    looking = watched(model)
    page = WatchPage(looking.look())
    first = page.data({})
    assert not looking.is_saved()
    model.write_text("<definitions")
    assert looking.is_saved()
    assert not looking.is_saved()
    page.show(looking.look())
    second = page.data({})
    assert (second["picture"], second["stale"]) == (first["picture"], True)
    assert (second["version"], second["findings"][0]["code"]) == (first["version"] + 1, "OF010")
    model.unlink()
    assert looking.is_saved()
    page.show(looking.look())
    assert page.data({})["findings"][0]["severity"] == "error"
    model.write_text(DEADLOCK)
    page.show(looking.look())
    assert not page.data({})["stale"]
    assert page.data({})["picture"] != first["picture"]


def test_the_script_waits_for_news(model: Path) -> None:
    import urllib.request

    looking = watched(model)
    page = WatchPage(looking.look())
    with PageServer() as server:
        address = server.add(page)

        def data(version: int) -> Any:
            with urllib.request.urlopen(f"{address}/data?version={version}", timeout=120) as answer:
                return json.loads(answer.read())

        assert data(-1)["version"] == 0
        got: list[Any] = []
        waiting = threading.Thread(target=lambda: got.append(data(0)))
        waiting.start()
        time.sleep(0.2)
        assert got == []
        assert data(-1)["version"] == 0  # another browser need not wait for it
        page.show(looking.look())
        waiting.join(120)
        assert got[0]["version"] == 1
        later = threading.Thread(target=lambda: got.append(data(1)))
        later.start()
        time.sleep(0.1)
        page.close()
        later.join(120)
        assert not later.is_alive()


def test_what_cannot_be_watched(tmp_path: Path) -> None:
    assert "cannot be watched" in orgflowc("watch", "-").err
    assert orgflowc("watch", "x", "--target", "nothing").code == 2


@pytest.mark.parametrize("command", ["serve", "watch"])
def test_help_does_not_offer_standard_input(command: str, model: Path) -> None:
    assert "`-`" not in orgflowc(command, "--help").out
    done = orgflowc(command, "-", "--from", "bpmn", stdin=model.read_bytes())
    assert (done.code, "standard input cannot be watched" in done.err) == (2, True)
