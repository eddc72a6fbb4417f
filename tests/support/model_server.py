"""An OpenAI-compatible server on this machine whose answers are written down, with the faults that
real ones have."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Scripted:
    """One answer.

    Attributes:
        text: of the message; a callable is given the request.
        status: of HTTP; above 399 `text` is the message of the error.
        calls: tool calls, as (name, arguments) each.
        finish: why the answer ends; `length` is cut off.
        usage: tokens in and out; `None` where the server does not count.
        retry_after: seconds that the server asks to wait, or a date.
        delay: seconds before it answers.
        body: the whole body in the place of all that.
    """

    text: str | Callable[[dict[str, Any]], str] = ""
    status: int = 200
    calls: Sequence[tuple[str, str]] = ()
    finish: str = "stop"
    usage: tuple[int, int] | None = (10, 5)
    retry_after: float | str | None = None
    delay: float = 0.0
    body: bytes | None = None


Script = Sequence[Scripted | str] | Callable[[dict[str, Any]], Scripted | str]


@dataclass
class ModelServer:
    """A running server: `url` is its base address, `requests` what it was asked."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    def prompt(self, number: int = -1) -> str:
        """All texts of a request."""
        return "\n".join(str(m.get("content", "")) for m in self.requests[number]["messages"])


@contextlib.contextmanager
def model_server(script: Script, *, refuses: Sequence[str] = ()) -> Iterator[ModelServer]:
    """A server that answers by the script, the last answer again and again.

    Args:
        refuses: parts of a request that it does not know, as many servers do: `json_schema`,
            `json_object`, `temperature`, `max_tokens`.
    """
    running = ModelServer("")
    lock = threading.Lock()
    turn = 0

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            nonlocal turn
            length = int(self.headers["Content-Length"])
            request = json.loads(self.rfile.read(length))
            with lock:
                running.keys.append(self.headers.get("Authorization", ""))
                refused = next((k for k in refuses if _uses(request, k)), None)
                if refused is None:
                    running.requests.append(request)
                    given = (
                        script(request) if callable(script) else script[min(turn, len(script) - 1)]
                    )
                    turn += 1
                else:
                    given = Scripted(f"unknown parameter: {refused}", status=400)
            answer = Scripted(given) if isinstance(given, str) else given
            time.sleep(answer.delay)
            self._send(answer, request)

        def _send(self, answer: Scripted, request: dict[str, Any]) -> None:
            body = answer.body if answer.body is not None else _body(answer, request)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.send_response(answer.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                if answer.retry_after is not None:
                    self.send_header("Retry-After", str(answer.retry_after))
                self.end_headers()
                self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing on standard error."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    running.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield running
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _uses(request: dict[str, Any], part: str) -> bool:
    kind = (request.get("response_format") or {}).get("type")
    return part in request or kind == part


def _body(answer: Scripted, request: dict[str, Any]) -> bytes:
    text = answer.text(request) if callable(answer.text) else answer.text
    if answer.status >= 400:
        return json.dumps({"error": {"message": text, "type": "error"}}).encode()
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if answer.calls:
        message["tool_calls"] = [
            {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": given}}
            for n, (name, given) in enumerate(answer.calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": answer.finish}
    reply: dict[str, Any] = {
        "id": "c", "object": "chat.completion", "created": 0, "model": request["model"],
        "choices": [choice],
    }  # fmt: skip
    if answer.usage is not None:
        total = sum(n for n in answer.usage if isinstance(n, int))
        reply["usage"] = {
            "prompt_tokens": answer.usage[0], "completion_tokens": answer.usage[1],
            "total_tokens": total,
        }  # fmt: skip
    return json.dumps(reply).encode()
