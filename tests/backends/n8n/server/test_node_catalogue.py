"""The catalogue of a server, from a stand-in that asks for a login as n8n does; `tests/live` reads
it from real ones."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cli_cases import orgflowc
from orgflow.backends.n8n.catalogue.node_catalogue import read_catalogue
from orgflow.backends.n8n.server.server_catalogue import server_catalogue
from small_catalogue import CHAT, STORE

from orgflow_ir.pipeline.operation_catalogue import CatalogueError

ME = {"N8N_EMAIL": "me@example.com", "N8N_PASSWORD": "hunter-2-hunter"}
TYPES = [
    {**CHAT, "name": "n8n-nodes-base.chat"},
    {**STORE, "name": "n8n-nodes-acme.store"},
]


class Editor:
    """What n8n's editor reads at login and after it."""

    def __init__(self) -> None:
        self.types: Any = TYPES
        self.logins = 0
        editor = self

        class Handler(BaseHTTPRequestHandler):
            def reply(self, status: int, body: Any, **headers: str) -> None:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(json.dumps(body).encode())

            def do_GET(self) -> None:
                if "n8n-auth=yes" not in self.headers.get("cookie", ""):
                    self.reply(401, {"status": "error", "message": "Unauthorized"})
                elif self.path == "/types/nodes.json":
                    self.reply(200, editor.types)
                else:
                    self.reply(200, {"data": {"versionCli": "2.41.1"}})

            def do_POST(self) -> None:
                sent = json.loads(self.rfile.read(int(self.headers["content-length"])))
                editor.logins += 1
                if sent == {
                    "emailOrLdapLoginId": ME["N8N_EMAIL"], "password": ME["N8N_PASSWORD"],
                }:  # fmt: skip
                    self.reply(200, {}, Set_Cookie="n8n-auth=yes; Path=/; HttpOnly")
                else:
                    self.reply(401, {"code": 401, "message": "Wrong username or password."})

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture
def editor() -> Iterator[Editor]:
    made = Editor()
    thread = threading.Thread(target=made.server.serve_forever, args=(0.01,))
    thread.start()
    yield made
    made.server.shutdown()
    thread.join()
    made.server.server_close()


def test_with_a_login_and_later_without(editor: Editor, tmp_path: Path) -> None:
    found = server_catalogue(editor.url, ME, tmp_path)
    assert found.name == f"n8n 2.41.1 at {editor.url}"
    assert {o.id for o in found.operations} == {
        "n8n-nodes-base.chat@1:post", "n8n-nodes-base.chat@1:archive",
    }  # fmt: skip
    (kept,) = tmp_path.iterdir()
    assert kept.stat().st_mode & 0o077 == 0
    later = server_catalogue(f"{editor.url}/home/workflows", {}, tmp_path)
    assert later.operations == found.operations
    assert later.content == found.content
    assert f"n8n at {editor.url}, as read on 20" in later.name
    assert editor.logins == 1
    assert read_catalogue(kept).operations == found.operations  # as saved from a browser


def test_what_is_missing_is_said(editor: Editor, tmp_path: Path) -> None:
    with pytest.raises(CatalogueError, match="set N8N_EMAIL and N8N_PASSWORD, or log in with a br"):
        server_catalogue(editor.url, {}, tmp_path)
    wrong = {**ME, "N8N_PASSWORD": "guess-guess"}
    with pytest.raises(CatalogueError, match=r"Wrong username.*check N8N_EMAIL") as caught:
        server_catalogue(editor.url, wrong, tmp_path)
    assert "guess" not in str(caught.value)
    for types in ({"a": 1}, [], [{"name": 3}]):
        editor.types = types
        with pytest.raises(CatalogueError):
            server_catalogue(editor.url, ME, tmp_path)
    with pytest.raises(CatalogueError, match="cannot reach"):
        server_catalogue("http://127.0.0.1:9", ME, tmp_path)
    with pytest.raises(CatalogueError, match="not the address of a server"):
        server_catalogue("ftp://example.com", ME, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_fill_with_the_operations_of_a_server(editor: Editor, tmp_path: Path) -> None:
    path = tmp_path / "order.triples"
    path.write_text("T1 Send a message\nStart -> T1 -> End\n")
    args = ("fill", path, "--no-model", "--accept", "--catalogue", editor.url)
    cache = {"XDG_CACHE_HOME": str(tmp_path)}
    ran = orgflowc(*args, env={**cache, **ME})
    assert ran.code == 0, ran.err
    assert f"2 operations of n8n 2.41.1 at {editor.url}" in ran.err
    assert "n8n-nodes-base.chat@1" in ran.out
    refused = orgflowc(*args, env={"XDG_CACHE_HOME": str(tmp_path / "empty"), "N8N_EMAIL": ""})
    assert refused.code == 2
    assert "n8n returns its node types only after a login" in refused.err
