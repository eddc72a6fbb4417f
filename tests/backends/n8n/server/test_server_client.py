"""The REST client against a server that misbehaves on purpose."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from orgflow.backends.n8n.server.client.client import (
    Client,
    RefusedError,
    ServerError,
    TookTooLongError,
    UnreachableError,
)

KEY = "n8n_api_very_secret"
Answer = tuple[int, Any]
WORKFLOW = {
    "name": "w" * 200,
    "nodes": [],
    "connections": {},
    "settings": {},
    "id": "no",
    "tags": [],
}


class Fake:
    """Answers each `METHOD path` with the next of its answers, the last one indefinitely."""

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer]] = {}
        self.seen: list[tuple[str, dict[str, str], Any]] = []
        self.delay = 0.0
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                length = int(self.headers.get("content-length") or 0)
                body = self.rfile.read(length)
                what = f"{self.command} {self.path.partition('?')[0]}"
                fake.seen.append((what, dict(self.headers), json.loads(body or b"null")))
                time.sleep(fake.delay)
                listed = fake.answers.get(what, [(404, {"message": "not found"})])
                status, said = listed.pop(0) if len(listed) > 1 else listed[0]
                text = said if isinstance(said, str) else json.dumps(said)
                self.send_response(status)
                self.end_headers()
                self.wfile.write(text.encode())

            do_GET = do_POST = do_DELETE = answer

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def fake() -> Iterator[Fake]:
    made = Fake()
    yield made
    made.server.shutdown()
    made.server.server_close()


@pytest.fixture
def client(fake: Fake) -> Iterator[Client]:
    with Client(fake.url, KEY) as made:
        yield made


def test_a_workflow_is_sent_as_the_api_takes_it(fake: Fake, client: Client) -> None:
    fake.answers["POST /api/v1/workflows"] = [(200, {"id": 7})]
    assert client.create(WORKFLOW) == "7"
    _, headers, body = fake.seen[0]
    assert headers["X-N8N-API-KEY"] == KEY
    assert set(body) <= {"name", "nodes", "connections", "settings"}
    assert len(body["name"]) == 128


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((401, {"message": "unauthorized"}), "rejected the API key"),
        ((400, {"message": "must have required property 'x'"}), "with 400: must have required"),
        ((500, "<html>oops</html>"), "with 500: <html>oops"),
        ((200, "<html>a proxy</html>"), "does not respond to .* like n8n"),
    ],
)
def test_a_refusal_says_why_and_hides_the_key(
    fake: Fake, client: Client, answer: Answer, said: str
) -> None:
    fake.answers["POST /api/v1/workflows"] = [answer]
    with pytest.raises(RefusedError, match=said) as caught:
        client.create(WORKFLOW)
    assert caught.value.status == answer[0]
    assert KEY not in str(caught.value) + repr(caught.value) + repr(client)


def test_nobody_there_and_too_slow_are_told_apart(fake: Fake) -> None:
    with Client("http://127.0.0.1:9", KEY) as nobody, pytest.raises(UnreachableError):
        nobody.workflow("x")
    fake.delay = 1.0
    with Client(fake.url, KEY, seconds=0.2) as slow:
        with pytest.raises(TookTooLongError):
            slow.workflow("x")
        with pytest.raises(TookTooLongError, match="/webhook/p received no answer"):
            slow.call("/webhook/p?signature=hidden", {}, seconds=0.2)


def test_a_webhook_gets_neither_key_nor_cookie(fake: Fake, client: Client) -> None:
    """n8n stores what a webhook gets: a key sent there would lie in the execution."""
    fake.answers["POST /webhook/p"] = [(200, {"ok": 1})]
    assert client.call("/webhook/p", {"x": 1}) == {"status": 200, "text": '{"ok": 1}'}
    headers = {name.lower(): value for name, value in fake.seen[0][1].items()}
    assert "x-n8n-api-key" not in headers
    assert "cookie" not in headers
    token = {"id": 5, "data": {"resumeToken": "abc"}}
    fake.answers["POST /webhook-waiting/5/a"] = [(409, {"message": "done"})]
    assert client.resume(token, {}, suffix="a")["status"] == 409


def test_deleting_waits_until_n8n_lets_go(fake: Fake, client: Client) -> None:
    conflict = (409, {"message": "Cannot delete a published workflow"})
    fake.answers["DELETE /api/v1/workflows/a"] = [conflict, conflict, (200, {})]
    fake.answers["POST /api/v1/workflows/a/unpublish"] = [(200, {})]
    client.delete("a")
    assert [what for what, *_ in fake.seen].count("DELETE /api/v1/workflows/a") == 3
    client.delete("gone")  # 404: as wanted
    fake.answers["DELETE /api/v1/workflows/b"] = [conflict]
    with pytest.raises(TookTooLongError, match="to be deleted"):
        client.delete("b", seconds=0.2)
    fake.answers["DELETE /api/v1/workflows/c"] = [(500, {"message": "database is locked"})]
    with pytest.raises(RefusedError, match="database is locked"):
        client.delete("c")


def test_publishing_waits_for_the_triggers(fake: Fake, client: Client) -> None:
    fake.answers["POST /rest/login"] = [(200, {})]
    client.login("a@example.com", "p")
    fake.answers["POST /api/v1/workflows/a/publish"] = [(200, {})]
    state = "GET /rest/workflows/a/publication-status"
    fake.answers[state] = [(200, {"data": {"status": s}}) for s in ("in_progress", "published")]
    client.publish("a")
    assert [what for what, *_ in fake.seen].count(state) == 2
    fake.answers[state] = [(200, {"data": {"status": "failed", "triggers": []}})]
    with pytest.raises(RefusedError, match="ended as failed"):
        client.publish("a")
    fake.answers[state] = [(200, {"data": {"status": "in_progress"}})]
    with pytest.raises(TookTooLongError, match="triggers of a to be live"):
        client.publish("a", seconds=0.2)


def test_an_execution_is_waited_for(fake: Fake, client: Client) -> None:
    path = "GET /api/v1/executions/3"
    states = [(404, {}), *((200, {"status": s}) for s in ("running", "success"))]
    fake.answers[path] = list(states)
    assert client.wait_for("3", 120)["status"] == "success"
    fake.answers[path] = [(200, {"status": "running"})]
    with pytest.raises(TookTooLongError, match=r"execution 3 \(running\) to be waiting"):
        client.wait_for("3", 0.2, ("waiting",))


def test_a_run_that_does_not_start_is_an_error(fake: Fake, client: Client) -> None:
    fake.answers["POST /rest/workflows/a/run"] = [(200, {"data": {"waitingForWebhook": True}})]
    with pytest.raises(RefusedError, match=r"did not start: .*waitingForWebhook"):
        client.run("a", "T")


def test_a_page_of_executions_is_not_all(fake: Fake, client: Client) -> None:
    first = (200, {"data": [{"id": 12}], "nextCursor": "x"})
    fake.answers["GET /api/v1/executions"] = [first, (200, {"data": [{"id": 9}]})]
    assert client.executions("w") == ("9", "12")


def test_every_error_is_one_of_the_clients() -> None:
    calls: list[Callable[[], object]] = [
        lambda: UnreachableError("x"), lambda: RefusedError("x", 1), lambda: TookTooLongError("x"),
    ]  # fmt: skip
    assert all(isinstance(make(), ServerError) for make in calls)
