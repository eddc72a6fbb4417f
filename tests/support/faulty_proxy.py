"""A small HTTP proxy on 127.0.0.1 that injects faults before a server, real or stand-in."""

from __future__ import annotations

import http.client
import re
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

Deed = Callable[[], None]


@dataclass
class Fault:
    """What happens to calls that match.

    Attributes:
        call: a regular expression for `METHOD /path`.
        status: answer with this instead of passing it on; 0 passes on or breaks.
        text: the answer's body.
        headers: more headers of that answer.
        broken: `before` it is passed on, or `after` it was carried out, the connection is reset.
        slow: seconds to wait before anything.
        deed: done before the call is passed on (or instead, with a status).
        moment: when else that is done: `carried-out`, before the server's answer is passed on;
            `between`, when half of the answer is written; `answered`, after it.
        skip: how many matching calls go through first.
        times: how often it happens; -1 indefinitely.
    """

    call: str
    status: int = 0
    text: str = '{"message":"injected"}'
    headers: dict[str, str] = field(default_factory=dict)
    broken: str = ""
    slow: float = 0.0
    deed: Deed | None = None
    moment: str = "before"
    skip: int = 0
    times: int = 1

    def at(self, moment: str) -> None:
        """Do the deed, if this is its moment."""
        if self.deed is not None and moment == self.moment:
            self.deed()


class FaultyProxy:
    """Passes calls on to `target`, which may be changed, but for the faults."""

    def __init__(self, target: str, *faults: Fault) -> None:
        self.target = target
        self.faults = list(faults)
        self.hit = 0
        self._lock = threading.Lock()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                body = self.rfile.read(length)
                fault = proxy._fault(f"{self.command} {self.path}")
                if fault is not None:
                    time.sleep(fault.slow)
                    fault.at("before")
                    if fault.status:
                        self._say(fault.status, fault.text.encode(), fault.headers)
                        return
                    if fault.broken == "before":
                        self._reset()
                        return
                try:
                    status, headers, text = proxy._forward(
                        self.command, self.path, dict(self.headers), body
                    )
                except OSError:
                    self._reset()
                    return
                if fault is not None and fault.broken == "after":
                    self._reset()
                    return
                self._say(status, text, headers, fault)

            do_GET = do_POST = do_PUT = do_DELETE = do_OPTIONS = handle_any

            def _say(
                self,
                status: int,
                text: bytes,
                headers: dict[str, str],
                fault: Fault | None = None,
            ) -> None:
                fault = fault or Fault("")
                fault.at("carried-out")
                self.send_response(status)
                for name, value in headers.items():
                    if name.lower() not in (
                        "connection",
                        "transfer-encoding",
                        "content-length",
                        "keep-alive",
                        "date",
                        "server",
                        "content-encoding",
                    ):
                        self.send_header(name, value)  # fmt: skip
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text[: len(text) // 2])
                self.wfile.flush()
                fault.at("between")
                self.wfile.write(text[len(text) // 2 :])
                self.wfile.flush()
                fault.at("answered")

            def _reset(self) -> None:
                self.close_connection = True
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.connection.close()

            def log_message(self, *_: object) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, *_: object) -> None:
                pass  # of connections that were reset

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def _fault(self, call: str) -> Fault | None:
        with self._lock:
            for fault in self.faults:
                if fault.times and re.match(fault.call, call):
                    if fault.skip:
                        fault.skip -= 1
                        continue
                    fault.times -= 1
                    self.hit += 1
                    return fault
        return None

    def _forward(
        self, method: str, path: str, headers: dict[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        parts = urlsplit(self.target)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=120)
        try:
            kept = {
                k: v for k, v in headers.items() if k.lower() not in ("host", "accept-encoding")
            }
            connection.request(method, path, body or None, kept)
            answer = connection.getresponse()
            return answer.status, dict(answer.getheaders()), answer.read()
        except http.client.HTTPException as error:
            raise OSError(str(error)) from error
        finally:
            connection.close()
