"""A small local server for pages that people answer in a browser.

Any command can add pages to it (`Page`): it shows their HTML, provides JSON for their scripts, and
passes saved answers to them. Without the address, which has a secret part, nobody can read or
change anything; the same holds for other sites in the same browser.

Example:
    with PageServer() as server:
        click.echo(f"answer at {server.add(QuestionsPage(model))}", err=True)
        server.wait(session.services.cancellation)
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import html
import json
import os
import re
import secrets
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, ClassVar, Self
from urllib.parse import parse_qs, urlsplit

import click

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline.services import Cancellation

HOST = "127.0.0.1"
MAX_BODY = 4 * 1024 * 1024
"""Maximum size of an answer."""

_SECONDS = 20
"""Seconds after which a browser that sends nothing is disconnected."""
_FORM, _JSON = "application/x-www-form-urlencoded", "application/json"
_CLOSING = "Saved. You can close this page."


class Refused(ValueError):
    """Answers that cannot be saved; the message is a sentence for the person who entered them."""


class PageText(NamedTuple):
    """The HTML of a page.

    Attributes:
        html: the whole document; all texts of a source or model in it are escaped.
        styles, scripts: the content of its `<style>` and `<script>` elements. Nothing else is
            applied or executed, regardless of the document's content.
    """

    html: str
    styles: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()


class Saved(NamedTuple):
    """The result of saving answers.

    Attributes:
        message: a sentence for the person.
        finished: the page needs no further answers; when all pages are finished, `wait` returns.
        value: JSON for the page's script.
    """

    message: str = "Saved."
    finished: bool = False
    value: Any = None


class Page(ABC):
    """A page of the server. Its methods are called one at a time, from threads of the server.

    Attributes:
        name: its part of the address: lower-case letters, digits and hyphens.
    """

    name: ClassVar[str]

    @abstractmethod
    def text(self, notice: str) -> PageText:
        """The current page; `notice` is the result of the latest answers, or empty."""

    def data(self, query: Mapping[str, str]) -> Any:
        """JSON for the page's script (`GET …/NAME/data?…`). Raises `Refused`."""
        raise Refused("This page has no data.")

    def until_ready(self, query: Mapping[str, str]) -> None:
        """Called before `data`, while other methods may run: a page whose script waits for news
        returns when there are some, or after some seconds."""
        del query

    def save(self, answers: Any) -> Saved:
        """Save answers (`POST …/NAME`): the JSON of a script, or the fields of a form, each with
        the list of its values. Raises `Refused`."""
        raise Refused("Nothing can be saved on this page.")


class PageServer:
    """The server; a context manager, since it listens until it is closed.

    Attributes:
        address: the list of pages; its owner can read and answer all of them.
    """

    def __init__(self, *, port: int = 0) -> None:
        """`port` 0 takes a free one. Raises `OSError` where it cannot listen."""
        self._token = secrets.token_urlsafe(24)
        self._pages: dict[str, Page] = {}
        self._open: set[str] = set()
        self._lock = threading.Lock()
        self._finished = threading.Event()
        self._failure: BaseException | None = None
        self._server = _Listener((HOST, port), _Handler)
        self._server.pages = self
        self._port = self._server.server_address[1]
        self.address = f"http://{HOST}:{self._port}/{self._token}/"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True, name="orgflow-pages"
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def add(self, page: Page) -> str:
        """Serve a page and return its address. Raises `ValueError` for a name that is taken or
        invalid."""
        if not re.fullmatch(r"[a-z][a-z0-9-]*", page.name) or page.name in self._pages:
            raise ValueError(f"{page.name!r} is not a valid name for a page")
        with self._lock:
            self._pages[page.name] = page
            self._open.add(page.name)
            self._finished.clear()
        return f"{self.address}{page.name}"

    def wait(self, cancellation: Cancellation) -> None:
        """Wait until every page is finished.

        Raises `Cancelled`, and any exception of a page other than `Refused`, which is an internal
        error.
        """
        while not self._finished.is_set():
            cancellation.wait(0.05)
        self.check()

    def check(self) -> None:
        """Raises any exception of a page other than `Refused`."""
        if self._failure is not None:
            raise self._failure

    # -- what the handlers ask ----------------------------------------------------------------

    def refusal(
        self, path: str, host: str, origin: str | None, *, writes: bool
    ) -> HTTPStatus | None:
        """The reason why a request is rejected: a wrong secret, a host name that is not this
        machine's, or a page of another site that writes."""
        here = {f"{name}:{self._port}" for name in (HOST, "localhost")}
        if host.lower() not in here:
            return HTTPStatus.MISDIRECTED_REQUEST
        given = path.split("/")[1] if path.count("/") else ""
        if not hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode()):
            return HTTPStatus.NOT_FOUND
        if writes and origin is not None and origin.lower() not in {f"http://{h}" for h in here}:
            return HTTPStatus.FORBIDDEN
        return None

    def page(self, path: str) -> tuple[Page | None, bool]:
        """The page of a path, and whether the path requests its data."""
        parts = path.split("/")[2:]
        served = self._pages.get(parts[0]) if parts else None
        if served is None or parts[1:] not in ([], [""], ["data"]):
            return None, False
        return served, parts[1:] == ["data"]

    def names(self) -> tuple[str, ...]:
        """The names of all pages."""
        return tuple(self._pages)

    def shown(self, page: Page, notice: str = "") -> PageText:
        """The page's HTML, created while none of its other methods runs."""
        with self._lock:
            shown: PageText = self._guarded(page.text, notice)
            return shown

    def data(self, page: Page, query: Mapping[str, str]) -> Any:
        """The page's data. Raises `Refused`."""
        page.until_ready(query)
        with self._lock:
            return self._guarded(page.data, query)

    def save(self, page: Page, answers: Any) -> Saved:
        """Save answers. Raises `Refused`."""
        with self._lock:
            saved: Saved = self._guarded(page.save, answers)
            if saved.finished:
                self._open.discard(page.name)
            else:
                self._open.add(page.name)
            return saved

    def close_if_finished(self) -> None:
        """Let `wait` return if nothing is open; called after the answer is sent."""
        with self._lock:
            if not self._open:
                self._finished.set()

    def _guarded(self, call: Any, value: Any) -> Any:
        """What a method of a page gives; what it raises but `Refused` also ends `wait`."""
        try:
            return call(value)
        except Refused:
            raise
        except BaseException as error:
            self._failure = error
            self._finished.set()
            raise


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    pages: PageServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that went away, or a fault that `wait` raises: nothing is printed here."""


class _Handler(BaseHTTPRequestHandler):
    server: _Listener
    timeout = _SECONDS
    server_version, sys_version = "orgflow", ""

    def log_message(self, format: str, *args: Any) -> None:
        """Addresses have the secret: nothing is logged."""

    def do_GET(self) -> None:
        """The list of pages, a page, or its data."""
        at = urlsplit(self.path)
        pages = self.server.pages
        refusal = pages.refusal(at.path, self._host(), self.headers.get("Origin"), writes=False)
        if refusal is not None:
            return self._plain(refusal)
        if at.path.split("/")[2:] in ([], [""]):
            return self._html(HTTPStatus.OK, _index_page(pages))
        page, data = pages.page(at.path)
        if page is None:
            return self._plain(HTTPStatus.NOT_FOUND)
        if not data:
            return self._html(HTTPStatus.OK, pages.shown(page))
        query = {key: values[-1] for key, values in parse_qs(at.query).items()}
        try:
            value = pages.data(page, query)
        except Refused as error:
            return self._json(HTTPStatus.BAD_REQUEST, {"error": str(error)})
        return self._json(HTTPStatus.OK, value)

    def do_POST(self) -> None:
        """Save answers; a form gets a page, a script JSON."""
        at = urlsplit(self.path)
        pages = self.server.pages
        refusal = pages.refusal(at.path, self._host(), self.headers.get("Origin"), writes=True)
        if refusal is not None:
            return self._plain(refusal)
        page, data = pages.page(at.path)
        if page is None or data:
            return self._plain(HTTPStatus.NOT_FOUND)
        kind = self.headers.get_content_type()
        body = self._body()
        if isinstance(body, HTTPStatus):
            return self._plain(body)
        if kind not in (_FORM, _JSON):
            return self._plain(HTTPStatus.UNSUPPORTED_MEDIA_TYPE)
        try:
            saved = pages.save(page, _read_answers(kind, body))
        except Refused as error:
            if kind == _JSON:
                return self._json(HTTPStatus.BAD_REQUEST, {"error": str(error)})
            return self._html(HTTPStatus.BAD_REQUEST, pages.shown(page, str(error)))
        if kind == _JSON:
            value = {"message": saved.message, "finished": saved.finished, "value": saved.value}
            self._json(HTTPStatus.OK, value)
        elif saved.finished:
            self._html(HTTPStatus.OK, _message_page(_CLOSING))
        else:
            self._html(HTTPStatus.OK, pages.shown(page, saved.message))
        return pages.close_if_finished()

    # -- parts --------------------------------------------------------------------------------

    def _host(self) -> str:
        return self.headers.get("Host") or ""

    def _body(self) -> bytes | HTTPStatus:
        length = self.headers.get("Content-Length") or ""
        if not re.fullmatch(r"[0-9]{1,10}", length):
            return HTTPStatus.LENGTH_REQUIRED
        if int(length) > MAX_BODY:
            self.close_connection = True
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        return self.rfile.read(int(length))

    def _plain(self, status: HTTPStatus) -> None:
        self._send(
            status, "text/plain; charset=utf-8", status.phrase.encode(), "default-src 'none'"
        )

    def _json(self, status: HTTPStatus, value: Any) -> None:
        text = json.dumps(value, ensure_ascii=False)
        body = text.encode("utf-8", "replace")
        self._send(status, f"{_JSON}; charset=utf-8", body, "default-src 'none'")

    def _html(self, status: HTTPStatus, page: PageText) -> None:
        body = page.html.encode("utf-8", "replace")
        self._send(status, "text/html; charset=utf-8", body, content_policy(page))

    def _send(self, status: HTTPStatus, kind: str, body: bytes, rules: str) -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", kind), ("Content-Length", str(len(body))),
            ("Content-Security-Policy", rules), ("Cache-Control", "no-store"),
            # Stricter ones make browsers send `Origin: null` with forms.
            ("Referrer-Policy", "same-origin"), ("X-Content-Type-Options", "nosniff"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
        ):  # fmt: skip
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


def content_policy(page: PageText) -> str:
    """The content security policy of a page: its own styles and scripts by hash, embedded pictures,
    requests and forms to this server, and nothing else."""
    parts = ["default-src 'none'", "img-src data:", "connect-src 'self'", "form-action 'self'",
             "base-uri 'none'", "frame-ancestors 'none'"]  # fmt: skip
    for name, texts in (("style-src", page.styles), ("script-src", page.scripts)):
        if texts:
            parts.append(" ".join([name, *(f"'{_hash_source(text)}'" for text in texts)]))
    return "; ".join(parts)


def _hash_source(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8", "replace")).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _read_answers(kind: str, body: bytes) -> Any:
    """What a request sends. Raises `Refused`."""
    try:
        text = body.decode("utf-8")
        if kind == _JSON:
            return json.loads(text)
        return parse_qs(text, keep_blank_values=True, strict_parsing=bool(text))
    except (ValueError, RecursionError):
        raise Refused("The browser sent something that cannot be read.") from None


def _index_page(pages: PageServer) -> PageText:
    rows = "".join(f'<li><a href="{name}">{name}</a></li>' for name in pages.names())
    return PageText(_document_page(f"<ul>{rows}</ul>"))


def _message_page(text: str) -> PageText:
    return PageText(_document_page(f"<p>{text}</p>"))


def _document_page(body: str) -> str:
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>orgflow</title></head>'
        f"<body><main>{body}</main></body></html>\n"
    )


def serve_page(page: Page, what: str, cancellation: Cancellation) -> None:
    """Serve a page until its reader is done: print `what` it is and its address, and open a browser
    if the command runs in a terminal. Raises the exceptions of `PageServer` and its `wait`."""
    with PageServer() as server:
        address = server.add(page)
        click.echo(f"{what} at {address}", err=True)
        with browser_at(address, wanted=sys.stderr is not None and sys.stderr.isatty()):
            server.wait(cancellation)


@contextmanager
def browser_at(address: str, *, wanted: bool) -> Iterator[None]:
    """Open a browser at an address, if that is wanted, by a file that only this user can read and
    that leads there; it is removed at the end.

    The command line of a process is visible to every user of a machine, and that of a browser would
    contain the secret part of the address.
    """
    if not wanted:
        yield
        return
    with TemporaryDirectory(prefix="orgflow-page-") as folder:  # for this user only
        path = os.path.join(folder, "open.html")
        shown = html.escape(address)
        text = (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>orgflow</title>'
            f'<meta http-equiv="refresh" content="0; url={shown}"></head>'
            f'<body><a href="{shown}">Open the page</a></body></html>\n'
        )
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        click.launch(path)
        yield
