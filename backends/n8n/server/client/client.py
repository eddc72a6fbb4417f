"""n8n's REST API: synchronous, with a limit on every wait.

Two interfaces: the public API with a key, and the editor's own routes with a login cookie, which
are required for starting a manual run. Errors are in `answers.py`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Self

import httpx
from orgflow.backends.n8n.format.document import to_api
from orgflow.backends.n8n.format.versions import DEFAULT_VERSION, N8nVersion
from orgflow.backends.n8n.server.client.backoff import Backoff
from orgflow.backends.n8n.server.client.connection import (
    describe_failure,
    load_certificates,
    open_client,
)
from orgflow.backends.n8n.server.client.errors import RefusedError as RefusedError
from orgflow.backends.n8n.server.client.errors import ServerError as ServerError
from orgflow.backends.n8n.server.client.errors import TookTooLongError as TookTooLongError
from orgflow.backends.n8n.server.client.errors import UnreachableError as UnreachableError
from orgflow.backends.n8n.server.client.errors import body_of, place_of, shorten_value

Json = dict[str, Any]

FINISHED = frozenset({"success", "error", "crashed", "canceled"})
"""Final states of an execution."""

_POLL_SECONDS = 0.02
_CALL_SECONDS = 30.0
_NAME_LENGTH = 128
_NO_BACKOFF = Backoff(0.0)
_EMPTY: Mapping[object, object] = {"boolean": False, "number": 0}


class Client:
    """A connection to one n8n server; a context manager.

    Args:
        url: its address, such as `http://127.0.0.1:5678`.
        key: a key of the public API; `set_up_owner` creates one on a new server.
        seconds: the maximum duration of one call.
        backoff: the retry time of temporarily failing calls; by default none.
        version: the target release of workflows; `deploy` determines it.
    """

    def __init__(
        self,
        url: str,
        key: str | None = None,
        *,
        seconds: float = _CALL_SECONDS,
        backoff: Backoff = _NO_BACKOFF,
        version: N8nVersion = DEFAULT_VERSION,
    ) -> None:
        self.url = url.rstrip("/")
        self.shown = place_of(self.url)
        self.version = version
        self._key = key or ""
        self._backoff = backoff
        self._seconds = seconds
        headers = {"X-N8N-API-KEY": key} if key else {}
        trust = load_certificates()
        self._api = open_client(self.url, headers, seconds, trust)
        self._editor = open_client(self.url, {}, seconds, trust)
        # Webhooks are the outside: what they get is stored with the execution; no key goes there.
        self._outside = open_client(self.url, {}, seconds, trust)
        self._logged_in = False
        self.sleep: Callable[[float], None] = time.sleep
        """How it waits; whoever wants to interrupt that puts something else here."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Client({self.shown!r})"

    @property
    def key(self) -> str:
        """The key in use; never to be printed."""
        return self._key

    def close(self) -> None:
        """Close the connections; may be called repeatedly."""
        for client in (self._api, self._editor, self._outside):
            client.close()

    # -- accounts ------------------------------------------------------------------------------

    def set_up_owner(self, email: str, password: str) -> str:
        """Create the owner of a new server, log in, and return a new key, which is used from then
        on.

        Raises:
            RefusedError: the server already has an owner.
        """
        owner = {"email": email, "firstName": "Owner", "lastName": "Local", "password": password}
        self._call_api(self._editor, "POST", "/rest/owner/setup", owner)
        self._logged_in = True
        scopes = self._call_api(self._editor, "GET", "/rest/api-keys/scopes")["data"]
        wanted = {"label": "orgflow", "expiresAt": None, "scopes": scopes}
        key = str(
            self._call_api(self._editor, "POST", "/rest/api-keys", wanted)["data"]["rawApiKey"]
        )
        self._api.headers["X-N8N-API-KEY"] = key
        self._key = key
        return key

    def login(self, email: str, password: str) -> None:
        """Log in like the editor; n8n permits few logins per minute."""
        who = {"emailOrLdapLoginId": email, "password": password}
        self._call_api(self._editor, "POST", "/rest/login", who)
        self._logged_in = True

    def node_types(self) -> list[Json]:
        """The descriptions of all node types, which n8n sends to its editor. Needs a login."""
        types = self._call_api(self._editor, "GET", "/types/nodes.json").get("data")
        if not isinstance(types, list):
            raise RefusedError(f"n8n at {self.shown} returns no list of node types", 0)
        return types

    # -- workflows -----------------------------------------------------------------------------

    def create(self, workflow: Mapping[str, Any]) -> str:
        """Create a workflow from its file form; returns its id.

        Raises:
            RefusedError: n8n refuses it.
        """
        return str(self.create_body(self.body_of(workflow))["id"])

    def body_of(self, workflow: Mapping[str, Any]) -> Json:
        """The part of a workflow in file form (or of an answer) that the API of this n8n
        accepts."""
        body = to_api(workflow, self.version)
        body["name"] = str(body.get("name") or "workflow")[:_NAME_LENGTH]
        return body

    def create_body(self, body: Json) -> Json:
        """Create a workflow; returns the server's complete data of it. Never retried
        automatically."""
        return self._call_api(self._api, "POST", "/api/v1/workflows", body)

    def workflow(self, workflow_id: str) -> Json:
        """The current workflow on the server."""
        return self._call_api(self._api, "GET", f"/api/v1/workflows/{workflow_id}")

    def workflows(self) -> tuple[str, ...]:
        """Ids of the workflows on the server, at most 250."""
        page = self._call_api(self._api, "GET", "/api/v1/workflows?limit=250")
        return tuple(str(row["id"]) for row in page["data"])

    def publish(self, workflow_id: str, seconds: float = 20.0) -> None:
        """Publish a workflow; after a `login`, also wait until its triggers are live.

        Raises:
            RefusedError: n8n refuses it: no trigger, a missing parameter, a path in use …
            TookTooLongError: its triggers did not become live.
        """
        door = "publish" if self.version.major > 1 else "activate"
        self._call_api(self._api, "POST", f"/api/v1/workflows/{workflow_id}/{door}", again=True)
        deadline = time.monotonic() + seconds
        path = f"/rest/workflows/{workflow_id}/publication-status"
        while self._logged_in and self.version.major > 1:  # n8n 1 has no such route
            data = self._call_api(self._editor, "GET", path)["data"]
            state = data.get("status")
            if state == "published":
                return
            if state != "in_progress":
                raise RefusedError(
                    f"publishing {workflow_id} ended as {state}: {shorten_value(data)}", 0
                )
            self._pause_poll(deadline, f"the triggers of {workflow_id} to be live", seconds)

    def unpublish(self, workflow_id: str) -> None:
        """Unpublish a workflow; an unpublished or deleted one is not an error."""
        door = "unpublish" if self.version.major > 1 else "deactivate"
        try:
            self._call_api(self._api, "POST", f"/api/v1/workflows/{workflow_id}/{door}", again=True)
        except RefusedError as error:
            if error.status not in (400, 404, 409):
                raise

    def delete(self, workflow_id: str, seconds: float = 20.0) -> None:
        """Unpublish and delete a workflow; a deleted one is not an error.

        Raises:
            RefusedError, TookTooLongError: it is still there.
        """
        deadline = time.monotonic() + seconds
        while True:
            try:
                self._call_api(self._api, "DELETE", f"/api/v1/workflows/{workflow_id}")
                return
            except RefusedError as error:
                if error.status == 404:
                    return
                if error.status != 409:
                    raise
            self.unpublish(workflow_id)  # it is, or was a moment ago
            self._pause_poll(deadline, f"{workflow_id} to be deleted", seconds)

    def create_credential(self, name: str, kind: str, data: Mapping[str, Any]) -> str:
        """Create a credential of one of n8n's types; returns its id. Raises `ServerError`."""
        if self.version.major < 2:
            data = {**self._hidden_fields(kind, data), **data}
        body = {"name": name, "type": kind, "data": dict(data)}
        return str(self._call_api(self._api, "POST", "/api/v1/credentials", body)["id"])

    def _hidden_fields(self, kind: str, data: Mapping[str, Any]) -> Json:
        """Empty values for fields that the schema of n8n 1 requires although its editor does not
        show them: a condition on a field that the data lack counts as fulfilled there."""
        try:
            schema = self._call_api(self._api, "GET", f"/api/v1/credentials/schema/{kind}")
        except RefusedError:
            return {}  # the creation says what is wrong
        kinds = {name: row.get("type") for name, row in schema.get("properties", {}).items()}
        fields: Json = {}
        for rule in schema.get("allOf") or ():
            asked = rule.get("if", {}).get("properties", {})
            if all(name not in data for name in asked):
                for condition in rule.get("then", {}).get("allOf") or ():
                    fields |= {
                        name: _EMPTY.get(kinds.get(name), "") for name in condition["required"]
                    }
        return fields

    def credentials(self) -> tuple[Json, ...]:
        """Id, name and type of the existing credentials; empty if the server does not list them.
        Raises `ServerError`."""
        try:
            page = self._call_api(self._api, "GET", "/api/v1/credentials?limit=250")
        except RefusedError as error:
            if error.status in (403, 404, 405):
                return ()
            raise
        return tuple(page.get("data") or ())

    # -- runs ----------------------------------------------------------------------------------

    def run(self, workflow_id: str, trigger: str) -> str:
        """Start a manual run at the node `trigger`; returns the id of the execution. Needs a login.

        Items of the trigger are those in the workflow's `pinData`.
        """
        start = {"triggerToStartFrom": {"name": trigger}}
        path = f"/rest/workflows/{workflow_id}/run"
        data = self._call_api(self._editor, "POST", path, start).get("data") or {}
        if "executionId" not in data:
            raise RefusedError(f"the run of {workflow_id} did not start: {shorten_value(data)}", 0)
        return str(data["executionId"])

    def call(
        self, url: str, body: Any = None, *, method: str = "POST", seconds: float | None = None
    ) -> Json:
        """Call a webhook externally, without key or cookie; returns `status` and `text` of the
        answer.

        Args:
            url: a whole URL, or a path of the server such as `/webhook/order`.
            body: sent as JSON.
            method: the HTTP method.
            seconds: the maximum duration; the default is the client's.
        """
        whole = url if "://" in url else self.url + url
        limit: Any = seconds if seconds is not None else httpx.USE_CLIENT_DEFAULT
        try:
            answer = self._outside.request(method, whole, json=body, timeout=limit)
        except httpx.TimeoutException as error:
            message = f"{method} {place_of(whole)} received no answer in time"
            raise TookTooLongError(message) from error
        except httpx.HTTPError as error:
            raise UnreachableError(
                f"{method} {place_of(whole)} failed: {describe_failure(error, whole)}"
            ) from error
        return {"status": answer.status_code, "text": answer.text}

    def executions(self, workflow_id: str) -> tuple[str, ...]:
        """Ids of a workflow's executions that are finished, waiting or running, oldest first."""
        known: set[str] = set()
        for state in ("", "&status=running"):
            path = f"/api/v1/executions?workflowId={workflow_id}&limit=250{state}"
            while True:
                page = self._call_api(self._api, "GET", path)
                known |= {str(row["id"]) for row in page["data"]}
                cursor = page.get("nextCursor")
                if not cursor:
                    break
                path = f"/api/v1/executions?limit=250&cursor={cursor}"
        return tuple(sorted(known, key=int))

    def latest_executions(self, most: int) -> tuple[Json, ...]:
        """The latest executions of all workflows without their data, and the running ones."""
        paths = (f"/api/v1/executions?limit={most}", "/api/v1/executions?status=running")
        return tuple(
            row
            for path in paths
            for row in self._call_api(self._api, "GET", path).get("data") or ()
        )

    def execution(self, execution_id: str) -> Json:
        """An execution with its data."""
        return self._call_api(
            self._api, "GET", f"/api/v1/executions/{execution_id}?includeData=true"
        )

    def wait_for(
        self, execution_id: str, seconds: float, states: Sequence[str] | frozenset[str] = FINISHED
    ) -> Json:
        """Wait until an execution is in one of `states`; returns the execution with its data.

        Raises:
            TookTooLongError: it did not reach one within `seconds`.
        """
        deadline = time.monotonic() + seconds
        path = f"/api/v1/executions/{execution_id}"
        while True:
            try:
                state = str(self._call_api(self._api, "GET", path)["status"])
            except RefusedError as error:
                if error.status != 404:  # not written yet
                    raise
                state = "not written"
            if state in states:
                return self.execution(execution_id)
            what = f"execution {execution_id} ({state}) to be {_any_of(states)}"
            self._pause_poll(deadline, what, seconds)

    def stop(self, execution_id: str) -> None:
        """Stop a running or waiting execution; a finished one is not an error. Needs a login."""
        try:
            self._call_api(self._editor, "POST", f"/rest/executions/{execution_id}/stop")
        except RefusedError as error:
            if error.status not in (404, 409, 500):
                raise

    def resume(
        self, execution: Mapping[str, Any], body: Any, *, suffix: str = "", method: str = "POST"
    ) -> Json:
        """Answer the webhook wait of a waiting execution (with data); like `call`."""
        token = execution["data"].get("resumeToken", "")
        tail = f"/{suffix}" if suffix else ""
        path = f"/webhook-waiting/{execution['id']}{tail}?signature={token}"
        return self.call(path, body, method=method)

    # -- the calls themselves ------------------------------------------------------------------

    def _call_api(
        self,
        client: httpx.Client,
        method: str,
        path: str,
        body: Any = None,
        *,
        again: bool | None = None,
    ) -> Json:
        """One call, made again as `Backoff` says where that does no harm (`again`)."""
        again = method != "POST" if again is None else again
        pauses = self._backoff.pauses()
        while True:
            try:
                return self._call_once(client, method, path, body)
            except ServerError as error:
                pause = next(pauses, None) if error.passing(again) else None
                if pause is None:
                    raise
                self.sleep(max(pause, min(error.retry_after, self._backoff.most)))

    def _call_once(self, client: httpx.Client, method: str, path: str, body: Any) -> Json:
        what = f"{method} {path.partition('?')[0]}"
        # Escaped: half a surrogate pair has no UTF-8.
        sent = None if body is None else json.dumps(body).encode()
        kind = {} if body is None else {"content-type": "application/json"}
        try:
            answer = client.request(method, self.url + path, content=sent, headers=kind)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            reason = self._hide_key(describe_failure(error, self.url))
            message = f"cannot reach n8n at {self.shown}: {reason}"
            raise UnreachableError(message, sent=False) from None
        except httpx.TimeoutException:
            raise TookTooLongError(
                f"n8n at {self.shown} did not respond to {what} in time"
            ) from None
        except httpx.HTTPError as error:
            reason = self._hide_key(describe_failure(error, self.url))
            message = f"n8n at {self.shown} interrupted {what}: {reason}"
            raise UnreachableError(message) from None
        return body_of(answer, what, self.shown, self._hide_key)

    def _hide_key(self, text: str) -> str:
        """Text without the key, whoever put it there."""
        return text.replace(self._key, "…") if self._key else text

    def _pause_poll(self, deadline: float, what: str, seconds: float) -> None:
        if time.monotonic() > deadline:
            raise TookTooLongError(f"waited over {seconds:.0f} s for {what}")
        self.sleep(_POLL_SECONDS)


def _any_of(states: Sequence[str] | frozenset[str]) -> str:
    return " or ".join(sorted(states))
