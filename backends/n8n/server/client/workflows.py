"""The calls of n8n's API for deploying: existing workflows, the version, live triggers."""

from __future__ import annotations

import base64
import binascii
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote

import httpx
from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.document import is_trigger, short_type
from orgflow.backends.n8n.format.versions import DEFAULT_VERSION, N8nVersion
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.client.errors import (
    NotN8nError,
    RefusedError,
    ServerError,
    TookTooLongError,
)

Json = dict[str, Any]

LIVE_SECONDS = 20.0
"""Maximum time for triggers to become live; an idle n8n needs 0.1 to 0.3 s."""

_SETTLE_SECONDS = 1.0
_LOOK_SECONDS = 0.01
_AT_ONCE = 4
_PAGE = 100
_DATA_PAGE = 25
_EXECUTIONS = 25  # with their data they are large
_RELEASE = re.compile(r'name="n8n:config:sentry" content="([A-Za-z0-9+/=]+)"')
_N8N = re.compile(r"n8n@(\d+\.\d+\.\d+)")
_CALLED: Final = frozenset({"manual", "called", "error"})
"""Starts of workflows that are not external: a person or another workflow."""
_HOOKS = {"webhook": "webhook", "formTrigger": "form"}


class WorkflowClient(Client):
    """A client for deploying: lists, updates, publishes, and tests whether triggers are live."""

    @property
    def at_once(self) -> int:
        """Maximum number of simultaneous calls. n8n 1 has one connection to SQLite, and
        transactions of several calls interfere: the data of one are undone with another, sometimes
        permanently (measured on 1.123.81: 3 of 6 times 8 workflows, 4 at once)."""
        return _AT_ONCE if self.version.major > 1 else 1

    def check(self) -> None:
        """Test that n8n's API exists and accepts the key. Raises `ServerError`."""
        try:
            page = self._call_api(self._api, "GET", "/api/v1/workflows?limit=1")
        except RefusedError as error:
            if error.status != 404 or isinstance(error, NotN8nError):
                raise
            message = f"{self.shown} does not have n8n's API: {error.detail or 'not found'}"
            raise NotN8nError(message, 404) from None
        if not isinstance(page.get("data"), list):
            raise NotN8nError(f"{self.shown} does not list workflows like n8n", 200)

    def version_text(self) -> str | None:
        """The server's version, such as `2.41.1`; None if it does not state it.

        n8n 1 publishes it in its settings, n8n 2 only in the page of its editor.

        Raises:
            NotN8nError, UnreachableError, TookTooLongError: see there.
        """
        try:
            settings = self._call_api(self._editor, "GET", "/rest/settings").get("data")
        except RefusedError:
            settings = None
        version = settings.get("versionCli") if isinstance(settings, dict) else None
        return str(version) if version else self._version_of_page()

    def _version_of_page(self) -> str | None:
        try:
            page = self.call("/", method="GET")["text"]
        except ServerError:
            return None
        match = _RELEASE.search(page)
        try:
            text = base64.b64decode(match[1]).decode() if match else ""
        except (binascii.Error, UnicodeDecodeError):
            return None
        release = _N8N.search(text)
        return release[1] if release else None

    def listed(self) -> Iterator[Json]:
        """Every workflow visible to the key, including archived ones."""
        rows = self._list_pages(f"/api/v1/workflows?limit={_PAGE}", "workflows")
        return (row for row in rows if "id" in row)

    def stored_executions(
        self, workflow_id: str, status: str | None = None, most: int | None = None
    ) -> Iterator[Json]:
        """Executions of a workflow with their data and the workflow at that time, the latest first;
        page by page, so an early stop requests no more (`most` makes the pages small)."""
        size = min(most or _DATA_PAGE, _DATA_PAGE)
        which = f"workflowId={quote(workflow_id)}&includeData=true&limit={size}"
        which += f"&status={quote(status)}" if status else ""
        return self._list_pages(f"/api/v1/executions?{which}", "executions")

    def _list_pages(self, path: str, what: str) -> Iterator[Json]:
        cursor = ""
        while True:
            tail = f"&cursor={quote(cursor)}" if cursor else ""
            page = self._call_api(self._api, "GET", f"{path}{tail}")
            rows = page.get("data")
            if not isinstance(rows, list):
                raise NotN8nError(f"{self.shown} does not list {what} like n8n", 200)
            yield from (row for row in rows if isinstance(row, dict))
            cursor = str(page.get("nextCursor") or "")
            if not cursor:
                return

    def update(self, workflow_id: str, body: Mapping[str, Any]) -> Json:
        """Replace the content; n8n itself publishes a published workflow again.

        Raises:
            RefusedError: 404 if it is deleted; 409 if a webhook path is in use, although the
                content is then stored, unpublished.
        """
        return self._call_api(self._api, "PUT", f"/api/v1/workflows/{workflow_id}", body)

    def announce(self, workflow_id: str) -> None:
        """Publish without waiting for anything. Raises `RefusedError`."""
        door = "publish" if self.version.major > 1 else "activate"
        self._call_api(self._api, "POST", f"/api/v1/workflows/{workflow_id}/{door}", again=True)

    def stop_execution(self, execution_id: str) -> None:
        """Stop an execution with the key; one that is finished or cannot be stopped is not an
        error."""
        try:
            self._call_api(self._api, "POST", f"/api/v1/executions/{execution_id}/stop")
        except RefusedError:
            return

    def history(
        self, workflow_id: str, status: str | None = None, most: int = 1000
    ) -> Iterator[Json]:
        """Executions of a workflow with their data, newest first, at most `most`.

        Running ones are not included, unless requested by `status` (`success`, `error`, `waiting`,
        `running`, `canceled`). `read_execution` reads one.
        """
        wanted = f"&status={quote(status)}" if status else ""
        tail = f"workflowId={quote(workflow_id)}&includeData=true{wanted}"
        cursor = ""
        while most > 0:
            size = min(most, _EXECUTIONS)
            mark = f"&cursor={quote(cursor)}" if cursor else ""
            path = f"/api/v1/executions?limit={size}&{tail}{mark}"
            page = self._call_api(self._api, "GET", path)
            rows = page.get("data") or []
            yield from rows[:most]
            most -= len(rows)
            cursor = str(page.get("nextCursor") or "")
            if not cursor or not rows:
                return

    def await_live(
        self, workflow: Mapping[str, Any], *, again: bool = False, seconds: float = LIVE_SECONDS
    ) -> None:
        """Wait until the triggers of a published workflow answer.

        Without a login, n8n does not report them. A webhook's methods are requested, like a browser
        does
        before it calls from another page: that starts nothing. n8n itself counts other triggers.

        Args:
            workflow: the server's version.
            again: whether it was live before with other content; the switch is only visible as a
                moment without an answer: this waits for it, or one second.
            seconds: the limit.

        Raises:
            TookTooLongError: they do not answer.
        """
        hooks = tuple(list_webhooks(workflow))
        started = time.monotonic()
        gone = not again
        while True:
            live = all(method in self._webhook_methods(path) for path, method in hooks)
            waited = time.monotonic() - started
            gone = gone or not live or waited > _SETTLE_SECONDS
            if live and gone and (hooks or self._has_triggers(workflow)):
                return
            if waited > _SETTLE_SECONDS and self._has_triggers(workflow):
                return  # n8n counts its triggers, and its webhooks have another address
            if waited > seconds:
                name = workflow.get("name")
                raise TookTooLongError(
                    f"`{name}` is published, but its triggers did not respond within "
                    f"{seconds:.0f} s"
                )
            self.sleep(_LOOK_SECONDS)

    def _webhook_methods(self, path: str) -> tuple[str, ...]:
        """The methods that a webhook's path takes now."""
        asked = {"origin": self.shown}
        try:
            answer = self._outside.request("OPTIONS", f"{self.url}/{path}", headers=asked)
        except httpx.HTTPError:
            return ()
        allowed = answer.headers.get("access-control-allow-methods", "")
        return tuple(word.strip() for word in allowed.split(","))

    def _has_triggers(self, workflow: Mapping[str, Any]) -> bool:
        if _started_by(workflow) <= _CALLED:
            return True  # others call it by its id: there is nothing to come up
        return int(self.workflow(str(workflow["id"])).get("triggerCount") or 0) > 0


def _started_by(workflow: Mapping[str, Any]) -> set[str]:
    """What starts a workflow (see `Start` in node_types); triggers of other packages: `message`."""
    return {
        (kind.start if (kind := node_types.find_type(short_type(row))) is not None else None)
        or "message"
        for row in workflow.get("nodes", ())
        if is_trigger(row) and not row.get("disabled")
    }


def never_published(workflow: Mapping[str, Any], version: N8nVersion = DEFAULT_VERSION) -> str:
    """The reason why n8n has nothing to publish in a workflow: `by hand` if only a person starts
    it, `by call` if other workflows do and n8n 1 lets them unpublished; otherwise empty."""
    kinds = _started_by(workflow)
    if kinds <= {"manual"}:
        return "by hand"
    if version.major < 2 and kinds <= _CALLED:
        return "by call"
    return ""


def list_webhooks(workflow: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Path (from the root of the server) and method of each webhook that starts a workflow; not of
    those whose path is an expression."""
    for row in workflow["nodes"]:
        kind = _HOOKS.get(short_type(row) or "")
        if kind is None or row.get("disabled"):
            continue
        parameters = row.get("parameters") or {}
        options = parameters.get("options") or {}
        path = str(parameters.get("path") or options.get("path") or row.get("webhookId") or "")
        path = path.strip("/")
        methods = parameters.get("httpMethod", "GET") if kind == "webhook" else "POST"
        if not path or path.startswith("="):
            continue
        if ":" in path:  # n8n puts the id before a path with variables
            path = f"{row.get('webhookId')}/{path}"
        for method in methods if isinstance(methods, list) else (methods,):
            if isinstance(method, str) and not method.startswith("="):
                yield f"{kind}/{quote(path)}", method
