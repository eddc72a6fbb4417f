"""The server of pages that save answers: who may read and write, and how it ends."""

from __future__ import annotations

import http.client
import json
import threading
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import urlencode, urlsplit

import pytest
from orgflow.commands.page_server import MAX_BODY, Page, PageServer, PageText, Refused, Saved

from orgflow_ir.pipeline.services import CancelFlag, Cancelled

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
JSON = {"Content-Type": "application/json"}


class Notes(Page):
    """A page that keeps what it is sent."""

    name: ClassVar[str] = "notes"

    def __init__(self) -> None:
        self.kept: list[Any] = []

    def text(self, notice: str) -> PageText:
        return PageText(f"<p>{notice}|{len(self.kept)}</p><style>p{{}}</style>", styles=("p{}",))

    def data(self, query: Mapping[str, str]) -> Any:
        if "broken" in query:
            raise RuntimeError("a fault of the page")
        return {"kept": self.kept, "asked": dict(query)}

    def save(self, answers: Any) -> Saved:
        if answers == {"bad": ["1"]} or answers == "bad":
            raise Refused("That is bad.")
        self.kept.append(answers)
        return Saved(finished="end" in answers, value=len(self.kept))


class Asked:
    """Requests to one server."""

    def __init__(self, server: PageServer, page: Notes) -> None:
        self.server, self.page = server, page
        self.at = urlsplit(server.address)

    def __call__(
        self, method: str, path: str, body: str | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, str, dict[str, str]]:
        connection = http.client.HTTPConnection(self.at.hostname or "", self.at.port, timeout=120)
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        read = answer.status, answer.read().decode(), dict(answer.getheaders())
        connection.close()
        return read


@pytest.fixture
def ask() -> Iterator[Asked]:
    page = Notes()
    with PageServer() as server:
        assert server.add(page) == f"{server.address}notes"
        yield Asked(server, page)


def test_a_page_is_shown_and_saved_by_a_form(ask: Asked) -> None:
    status, text, headers = ask("GET", f"{ask.at.path}notes")
    assert (status, text) == (200, "<p>|0</p><style>p{}</style>")
    assert "script-src" not in headers["Content-Security-Policy"]
    assert "style-src 'sha256-" in headers["Content-Security-Policy"]
    assert headers["Cache-Control"] == "no-store"
    status, text, _ = ask("POST", f"{ask.at.path}notes", urlencode({"a": "ä", "b": ""}), FORM)
    assert (status, text.startswith("<p>Saved.|1</p>")) == (200, True)
    assert ask.page.kept == [{"a": ["ä"], "b": [""]}]
    status, text, _ = ask("POST", f"{ask.at.path}notes", "bad=1", FORM)
    assert (status, text.startswith("<p>That is bad.|1</p>")) == (400, True)
    assert 'href="notes"' in ask("GET", ask.at.path)[1]


def test_scripts_read_and_save_json(ask: Asked) -> None:
    status, text, _ = ask("POST", f"{ask.at.path}notes", '["x"]', JSON)
    assert (status, json.loads(text)) == (
        200, {"message": "Saved.", "finished": False, "value": 1},
    )  # fmt: skip
    status, text, _ = ask("GET", f"{ask.at.path}notes/data?q=1")
    assert (status, json.loads(text)) == (200, {"kept": [["x"]], "asked": {"q": "1"}})
    status, text, _ = ask("POST", f"{ask.at.path}notes", '"bad"', JSON)
    assert (status, json.loads(text)) == (400, {"error": "That is bad."})
    assert ask("POST", f"{ask.at.path}notes", "{", JSON)[0] == 400
    assert ask("POST", f"{ask.at.path}notes", "[" * 100_000, JSON)[0] == 400


def test_who_does_not_know_the_address_reads_and_writes_nothing(ask: Asked) -> None:
    here = f"{ask.at.hostname}:{ask.at.port}"
    own = f"{ask.at.path}notes"
    for path in ("/", "/notes", "/x/notes", f"/{ask.at.path.strip('/')[:-1]}/notes", "//", "/é"):
        assert ask("GET", path.encode("ascii", "ignore").decode())[0] == 404
        assert ask("POST", path.encode("ascii", "ignore").decode(), "a=1", FORM)[0] == 404
    for path in (f"{own}/other", f"{own}/data/x", f"{ask.at.path}none", f"{ask.at.path}../notes"):
        assert ask("GET", path)[0] == 404
    # Another site whose name points here, and a page of another site that posts a form.
    assert ask("GET", own, None, {"Host": f"evil.example:{ask.at.port}"})[0] == 421
    for origin in ("https://evil.example", "null", f"https://{here}"):
        assert ask("POST", own, "a=1", {**FORM, "Origin": origin})[0] == 403
    assert ask("POST", own, "a=1", {"Content-Type": "text/plain"})[0] == 415
    assert ask("POST", own, None, {**FORM, "Content-Length": str(MAX_BODY + 1)})[0] == 413
    assert ask("PUT", own, "a=1", FORM)[0] == 501
    assert ask.page.kept == []
    assert ask("POST", own, "a=1", {**FORM, "Origin": f"http://{here}"})[0] == 200


def test_it_waits_until_every_page_is_finished(ask: Asked) -> None:
    other = type("Other", (Notes,), {"name": "other"})()
    ask.server.add(other)
    done = threading.Thread(target=ask.server.wait, args=(CancelFlag(),), daemon=True)
    done.start()
    assert "You can close this page" in ask("POST", f"{ask.at.path}notes", "end=1", FORM)[1]
    done.join(0.2)
    assert done.is_alive()
    ask("POST", f"{ask.at.path}other", '{"end": 1}', JSON)
    done.join(120)
    assert not done.is_alive()


def test_it_can_be_cancelled_and_faults_end_it(ask: Asked) -> None:
    flag = CancelFlag()
    flag.cancel()
    with pytest.raises(Cancelled):
        ask.server.wait(flag)
    with pytest.raises(http.client.RemoteDisconnected):
        ask("GET", f"{ask.at.path}notes/data?broken=1")
    with pytest.raises(RuntimeError, match="a fault of the page"):
        ask.server.wait(CancelFlag())


@pytest.mark.parametrize("name", ["notes", "", "Notes", "a/b", "../x"])
def test_names_of_pages(ask: Asked, name: str) -> None:
    with pytest.raises(ValueError, match="is not a valid name for a page"):
        ask.server.add(type("Named", (Notes,), {"name": name})())
