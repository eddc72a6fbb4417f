"""n8n's REST API, as far as tests and recordings need it: synchronous, with a limit on every wait.

Two doors: the public API with a key, and the editor's own routes with a login cookie, which alone
can start a manual run and tell when a trigger is live.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from orgflow.backends.n8n.format import to_api

if TYPE_CHECKING:
    import httpx

Json = dict[str, Any]

FINISHED = frozenset({"success", "error", "crashed", "canceled"})
"""States of an execution that will not change any more."""

_POLL_SECONDS = 0.05
_CALL_SECONDS = 30.0
_SAID = 400
_NAME_LENGTH = 128


class ServerError(RuntimeError):
    """A call of n8n's REST API failed; the text says which and how, and never holds a key."""


class UnreachableError(ServerError):
    """Nothing answers at that address, or it stopped in the middle."""


class RefusedError(ServerError):
    """n8n answered with an error.

    Attributes:
        status: the HTTP status.
    """

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


class TookTooLongError(ServerError):
    """Something that was waited for did not happen in time."""


class Client:
    """A connection to one n8n server; a context manager.

    Args:
        url: where it answers, such as `http://127.0.0.1:5678`.
        key: a key of the public API; `set_up_owner` gets one on a fresh server.
        seconds: the most one call may take.

    Raises:
        ServerError: httpx, an extra of this package, is not installed.
    """

    def __init__(self, url: str, key: str | None = None, *, seconds: float = _CALL_SECONDS) -> None:
        try:
            import httpx
        except ImportError as error:
            raise ServerError("httpx is missing: pip install 'orgflow[server]'") from error

        self.url = url.rstrip("/")
        headers = {"X-N8N-API-KEY": key} if key else {}
        # No proxies from the environment: servers driven here are this machine's own.
        self._api = httpx.Client(timeout=seconds, headers=headers, trust_env=False)
        self._editor = httpx.Client(timeout=seconds, trust_env=False)
        # Webhooks are the outside: what they get is stored with the execution; no key goes there.
        self._outside = httpx.Client(timeout=seconds, trust_env=False)
        self._logged_in = False

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
        return f"Client({self.url!r})"

    def close(self) -> None:
        """Close the connections; may be called again."""
        for client in (self._api, self._editor, self._outside):
            client.close()

    # -- accounts ------------------------------------------------------------------------------

    def set_up_owner(self, email: str, password: str) -> str:
        """Make the owner of a fresh server, log in, and return a new key, which is used from now.

        Raises:
            RefusedError: the server has an owner already.
        """
        owner = {"email": email, "firstName": "Owner", "lastName": "Local", "password": password}
        self._call(self._editor, "POST", "/rest/owner/setup", owner)
        self._logged_in = True
        scopes = self._call(self._editor, "GET", "/rest/api-keys/scopes")["data"]
        wanted = {"label": "orgflow", "expiresAt": None, "scopes": scopes}
        key = str(self._call(self._editor, "POST", "/rest/api-keys", wanted)["data"]["rawApiKey"])
        self._api.headers["X-N8N-API-KEY"] = key
        return key

    def login(self, email: str, password: str) -> None:
        """Log in as the editor does; n8n allows few logins a minute."""
        who = {"emailOrLdapLoginId": email, "password": password}
        self._call(self._editor, "POST", "/rest/login", who)
        self._logged_in = True

    # -- workflows -----------------------------------------------------------------------------

    def create(self, workflow: Mapping[str, Any]) -> str:
        """Create a workflow from its file form; its id.

        Raises:
            RefusedError: n8n does not take it.
        """
        body = to_api(workflow)
        body["name"] = str(body.get("name") or "workflow")[:_NAME_LENGTH]
        return str(self._call(self._api, "POST", "/api/v1/workflows", body)["id"])

    def workflow(self, workflow_id: str) -> Json:
        """A workflow as the server has it now."""
        return self._call(self._api, "GET", f"/api/v1/workflows/{workflow_id}")

    def workflows(self) -> tuple[str, ...]:
        """Ids of the workflows the server has, at most 250."""
        page = self._call(self._api, "GET", "/api/v1/workflows?limit=250")
        return tuple(str(row["id"]) for row in page["data"])

    def publish(self, workflow_id: str, seconds: float = 20.0) -> None:
        """Publish a workflow; after a `login` also wait until its triggers are live.

        Raises:
            RefusedError: n8n does not take it: no trigger, a missing parameter, a path taken …
            TookTooLongError: its triggers did not come up.
        """
        self._call(self._api, "POST", f"/api/v1/workflows/{workflow_id}/publish")
        deadline = time.monotonic() + seconds
        path = f"/rest/workflows/{workflow_id}/publication-status"
        while self._logged_in:
            data = self._call(self._editor, "GET", path)["data"]
            state = data.get("status")
            if state == "published":
                return
            if state != "in_progress":
                raise RefusedError(f"publishing {workflow_id} ended as {state}: {_short(data)}", 0)
            _pause(deadline, f"the triggers of {workflow_id} to be live", seconds)

    def delete(self, workflow_id: str, seconds: float = 20.0) -> None:
        """Unpublish and delete a workflow; one that is gone already is fine.

        Raises:
            RefusedError, TookTooLongError: it is still there.
        """
        deadline = time.monotonic() + seconds
        while True:
            try:
                self._call(self._api, "DELETE", f"/api/v1/workflows/{workflow_id}")
                return
            except RefusedError as error:
                if error.status == 404:
                    return
                if error.status != 409:
                    raise
            # Published, or unpublished a moment ago.
            try:
                self._call(self._api, "POST", f"/api/v1/workflows/{workflow_id}/unpublish")
            except RefusedError as error:
                if error.status not in (400, 404, 409):
                    raise
            _pause(deadline, f"{workflow_id} to be deleted", seconds)

    # -- runs ----------------------------------------------------------------------------------

    def run(self, workflow_id: str, trigger: str) -> str:
        """Start a manual run at the node `trigger`; the id of the execution. Needs a login.

        Items of the trigger are given by the workflow's `pinData`.
        """
        start = {"triggerToStartFrom": {"name": trigger}}
        path = f"/rest/workflows/{workflow_id}/run"
        data = self._call(self._editor, "POST", path, start).get("data") or {}
        if "executionId" not in data:
            raise RefusedError(f"the run of {workflow_id} did not start: {_short(data)}", 0)
        return str(data["executionId"])

    def call(
        self, url: str, body: Any = None, *, method: str = "POST", seconds: float | None = None
    ) -> Json:
        """Call a webhook from outside, without key or cookie: `status` and `text` of the answer.

        Args:
            url: a whole URL, or a path of the server such as `/webhook/order`.
            body: sent as JSON.
            method: the HTTP method.
            seconds: the most it may take; the default is the client's.
        """
        import httpx

        whole = url if "://" in url else self.url + url
        limit: Any = seconds if seconds is not None else httpx.USE_CLIENT_DEFAULT
        try:
            answer = self._outside.request(method, whole, json=body, timeout=limit)
        except httpx.TimeoutException as error:
            raise TookTooLongError(f"{method} {_place(whole)} was not answered in time") from error
        except httpx.HTTPError as error:
            raise UnreachableError(f"{method} {_place(whole)} failed: {error}") from error
        return {"status": answer.status_code, "text": answer.text}

    def executions(self, workflow_id: str) -> tuple[str, ...]:
        """Ids of a workflow's executions that are finished, waiting or running, oldest first."""
        found: set[str] = set()
        for state in ("", "&status=running"):
            path = f"/api/v1/executions?workflowId={workflow_id}&limit=250{state}"
            while True:
                page = self._call(self._api, "GET", path)
                found |= {str(row["id"]) for row in page["data"]}
                cursor = page.get("nextCursor")
                if not cursor:
                    break
                path = f"/api/v1/executions?limit=250&cursor={cursor}"
        return tuple(sorted(found, key=int))

    def execution(self, execution_id: str) -> Json:
        """An execution with its data."""
        return self._call(self._api, "GET", f"/api/v1/executions/{execution_id}?includeData=true")

    def wait_for(
        self, execution_id: str, seconds: float, states: Sequence[str] | frozenset[str] = FINISHED
    ) -> Json:
        """Wait until an execution is in one of `states`; the execution with its data.

        Raises:
            TookTooLongError: it was not within `seconds`.
        """
        deadline = time.monotonic() + seconds
        path = f"/api/v1/executions/{execution_id}"
        while True:
            try:
                state = str(self._call(self._api, "GET", path)["status"])
            except RefusedError as error:
                if error.status != 404:  # not written yet
                    raise
                state = "not written"
            if state in states:
                return self.execution(execution_id)
            _pause(deadline, f"execution {execution_id} ({state}) to be {_any(states)}", seconds)

    def stop(self, execution_id: str) -> None:
        """Stop an execution that runs or waits; one that is over is fine. Needs a login."""
        try:
            self._call(self._editor, "POST", f"/rest/executions/{execution_id}/stop")
        except RefusedError as error:
            if error.status not in (404, 409, 500):
                raise

    def resume(
        self, execution: Mapping[str, Any], body: Any, *, suffix: str = "", method: str = "POST"
    ) -> Json:
        """Answer the webhook wait that an execution (with data) is parked at; as `call`."""
        token = execution["data"].get("resumeToken", "")
        tail = f"/{suffix}" if suffix else ""
        path = f"/webhook-waiting/{execution['id']}{tail}?signature={token}"
        return self.call(path, body, method=method)

    def _call(self, client: httpx.Client, method: str, path: str, body: Any = None) -> Json:
        import httpx

        what = f"{method} {path.partition('?')[0]}"
        try:
            answer = client.request(method, self.url + path, json=body)
        except httpx.TimeoutException as error:
            raise TookTooLongError(f"n8n at {self.url} did not answer {what} in time") from error
        except httpx.HTTPError as error:
            raise UnreachableError(f"n8n at {self.url} cannot be reached: {error}") from error
        if answer.is_success:
            try:
                parsed = answer.json() if answer.content else {}
            except ValueError as error:
                raise RefusedError(
                    f"{self.url} does not answer {what} as n8n does", answer.status_code
                ) from error
            return parsed if isinstance(parsed, dict) else {"data": parsed}
        if answer.status_code == 401:
            door = "API key" if path.startswith("/api/") else "login"
            raise RefusedError(f"n8n at {self.url} refused the {door} ({what})", 401)
        raise RefusedError(
            f"n8n refused {what} with {answer.status_code}: {_message(answer.text)}",
            answer.status_code,
        )


def _message(text: str) -> str:
    import json

    try:
        parsed = json.loads(text)
    except ValueError:
        return text.strip()[:_SAID]
    message = parsed.get("message") if isinstance(parsed, dict) else None
    return str(message or text)[:_SAID]


def _short(value: object) -> str:
    return str(value)[:_SAID]


def _place(url: str) -> str:
    """A URL without its query, where signatures are."""
    return url.partition("?")[0]


def _any(states: Sequence[str] | frozenset[str]) -> str:
    return " or ".join(sorted(states))


def _pause(deadline: float, what: str, seconds: float) -> None:
    if time.monotonic() > deadline:
        raise TookTooLongError(f"waited over {seconds:.0f} s for {what}")
    time.sleep(_POLL_SECONDS)
