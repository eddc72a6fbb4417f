"""An HTTP server and an SMTP server of this machine, which tests start and read."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from email.message import EmailMessage
from email.parser import BytesParser
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Received(NamedTuple):
    """A request as it came in."""

    method: str
    path: str
    headers: dict[str, str]
    body: str


class HttpServer:
    """Answers each path with a row of `answers` after the other, the last one for ever."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self.answers: dict[str, list[tuple[int, str, str]]] = {}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                headers = {name.lower(): value for name, value in self.headers.items()}
                body = self.rfile.read(length).decode()
                outer.received.append(Received(self.command, self.path, headers, body))
                rows = outer.answers.get(self.path.partition("?")[0], [(200, "text/plain", "ok")])
                status, kind, text = rows.pop(0) if len(rows) > 1 else rows[0]
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(text.encode())))
                self.end_headers()
                self.wfile.write(text.encode())

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.place = f"127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, path: str, *rows: tuple[int, str, str]) -> None:
        self.answers[path] = list(rows)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class MailServer:
    """Keeps every mail, with the addresses of its envelope."""

    def __init__(self) -> None:
        from aiosmtpd.controller import Controller

        self.mails: list[tuple[list[str], EmailMessage]] = []
        outer = self

        class Keep:
            async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
                message = BytesParser(policy=default).parsebytes(envelope.content)
                assert isinstance(message, EmailMessage)
                outer.mails.append((list(envelope.rcpt_tos), message))
                return "250 OK"

        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        self._controller = Controller(Keep(), hostname="127.0.0.1", port=self.port)
        self._controller.start()
        self.place = f"127.0.0.1:{self.port}"

    @property
    def credential(self) -> dict[str, Any]:
        """The content of n8n's credential `smtp` for it."""
        return {
            "host": "127.0.0.1", "port": self.port, "secure": False, "disableStartTls": True,
            "user": "", "password": "", "hostName": "",
        }  # fmt: skip

    def close(self) -> None:
        self._controller.stop()


@contextlib.contextmanager
def outside() -> Iterator[tuple[HttpServer, MailServer]]:
    """Both servers."""
    http, mail = HttpServer(), MailServer()
    try:
        yield http, mail
    finally:
        http.close()
        mail.close()
