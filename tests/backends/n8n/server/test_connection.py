"""Servers that cannot be reached, in words: addresses from a browser, https, proxies, prefixes."""

from __future__ import annotations

import http.client
import io
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from cli_cases import LINEAR, Ran
from n8n_stand_in import KEY, StandIn
from orgflow.backends.n8n.server.client.connection import describe_failure
from orgflow.cli import run

_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR")


@pytest.fixture
def server() -> Iterator[StandIn]:
    made = StandIn()
    yield made
    made.close()


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "order.bpmn"
    path.write_text(LINEAR, encoding="utf-8")
    return path


def orgflowc(*args: str | Path, env: dict[str, str] | None = None) -> Ran:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with pytest.MonkeyPatch.context() as patch:
        for name in _PROXIES:
            patch.delenv(name, raising=False)
            patch.delenv(name.lower(), raising=False)
        for name, value in {"N8N_API_KEY": KEY, **(env or {})}.items():
            patch.setenv(name, value)
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        code = run([str(arg) for arg in args])
    out.seek(0)
    err.seek(0)
    done = Ran(code, out.read(), " ".join(err.read().split()))
    assert KEY not in done.out + done.err
    assert "internal error" not in done.err
    return done


def looked(model: Path, url: str, **env: str) -> Ran:
    args = ("deploy", model, "--dry-run", "--wait", "0.1", "--url", url)
    return orgflowc(*args, env=env)


@pytest.mark.parametrize(
    "page",
    ["/", "/home/workflows", "/workflow/a1B2?x=1", "/workflow/a1B2/executions/3",
     "/projects/p/workflows", "/settings/api", "/signin?redirect=%2F", "/webhook/order", "/rest",
     "/api/v1/docs#/Workflow"],
)  # fmt: skip
def test_what_is_pasted_from_a_browser(server: StandIn, model: Path, page: str) -> None:
    done = looked(model, server.url + page)
    assert (done.code, done.out) == (0, "create     `Order`\n"), done.err


class Prefixed:
    """A gateway with n8n below a path, and nothing else."""

    def __init__(self, target: str, prefix: str) -> None:
        host = urlsplit(target).netloc

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
                if not self.path.startswith(f"{prefix}/"):
                    self.send_error(404)
                    return
                door = http.client.HTTPConnection(host)
                door.request(
                    self.command, self.path.removeprefix(prefix), body, dict(self.headers.items())
                )
                answer = door.getresponse()
                text = answer.read()
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                        self.send_header(name, value)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = do_DELETE = do_OPTIONS = handle_any

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}{prefix}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()


@pytest.mark.parametrize("prefix", ["/n8n", "/tools/flows", "/workflows", "/home/n8n"])
@pytest.mark.parametrize("page", ["", "/", "/home/workflows"])
def test_behind_a_path_prefix(server: StandIn, model: Path, prefix: str, page: str) -> None:
    """Also where the prefix is a word of n8n's own pages, as long as no page follows it."""
    gateway = Prefixed(server.url, prefix)
    done = orgflowc("deploy", model, "--url", gateway.url + page)
    gateway.server.shutdown()
    if page == "/home/workflows" and prefix in ("/workflows", "/home/n8n"):
        assert (done.code, "OF603" in done.err) == (3, True)
        return
    assert done.code == 0, done.err
    assert done.out.startswith("created")


def test_the_other_scheme(server: StandIn, model: Path) -> None:
    done = looked(model, server.url.replace("http:", "https:"))
    assert done.code == 3
    assert f"does not use https; try {server.url}" in done.err


def test_nobody_there(model: Path) -> None:
    assert "nothing listens there help" in looked(model, "http://127.0.0.1:9").err
    assert "this host does not exist help" in looked(model, "http://nowhere.invalid").err


@pytest.mark.parametrize("typed", ["localhost:5678", "127.0.0.1:5678"])
def test_no_scheme(model: Path, typed: str) -> None:
    assert f"did you mean http://{typed}?" in looked(model, typed).err
    done = orgflowc("run", model, "--engine", typed)
    assert (done.code, f"did you mean http://{typed}?" in done.err) == (2, True)


def test_a_proxy_that_is_not_there_is_named(server: StandIn, model: Path) -> None:
    proxy = {"HTTP_PROXY": "http://me:geheim@127.0.0.1:9"}
    done = looked(model, "http://n8n.example.com", **proxy)
    assert done.code == 3
    assert "nothing listens there (through the proxy 127.0.0.1:9 from the environment)" in done.err
    assert "geheim" not in done.err
    assert looked(model, server.url, **proxy).code == 0, "a server here is called directly"
    without = looked(model, "http://nowhere.invalid", **proxy, NO_PROXY="nowhere.invalid")
    assert "proxy" not in without.err


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("ALL_PROXY", "nonsense://", "the proxy from the environment is not usable"),
        ("SSL_CERT_FILE", "/nowhere", "the certificates of SSL_CERT_FILE cannot be read"),
        ("SSL_CERT_FILE", __file__, "the certificates of SSL_CERT_FILE cannot be read"),
    ],
)
def test_an_environment_that_cannot_work(model: Path, name: str, value: str, said: str) -> None:
    done = looked(model, "http://n8n.example.com", **{name: value})
    assert (done.code, said in done.err) == (2, True), done.err


@pytest.mark.parametrize(
    ("said", "url", "words"),
    [
        ("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate "
         "(_ssl.c:1)", "https://a", "not trusted (self-signed certificate)"),
        ("Server disconnected without sending a response.", "http://a", "begins with https://"),
        ("Server disconnected without sending a response.", "https://a", "Server disconnected"),
        ("", "http://a", "OSError"),
    ],
)  # fmt: skip
def test_words(said: str, url: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in _PROXIES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    assert words in describe_failure(OSError(said), url)
