"""The result of a call of n8n's REST API: an answer, or an error of a certain kind."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
from orgflow.backends.n8n.server.client import server_rules

from orgflow_ir.diagnostics import Rule
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.engines import RemoteError

Json = dict[str, Any]

RUN_AGAIN = "run the same command again: it completes the rest"
"""The remedy where a part of a deployment was done."""

_CHECK_ADDRESS = "use the address of n8n's editor, and check that its API is enabled"

_SAID = 400
_STARTING = "starting up"
_PASSING = frozenset({429, 500, 502, 503, 504})
"""Answers that may be temporary."""

_DATABASE = ("SQLITE_", "database is locked", "deadlock detected")

_PAGES = frozenset({401, 403, 404, 405})
"""Answers that n8n's API never sends as a page."""


class Explanation(NamedTuple):
    """A rule, and the remedy in this case."""

    rule: type[Rule]
    help: str


class ServerError(RemoteError):
    """A call of n8n's REST API failed; the text names the call and the reason, and never contains a
    key.

    Attributes:
        retry_after: the waiting time in seconds that the server requests, 0 without a request.
    """

    retry_after: float = 0.0

    @property
    def explanation(self) -> Explanation:
        """The rule for this kind of error."""
        return Explanation(server_rules.FailedServer, "check the server's log")

    def report(self, ctx: PassContext, about: str = "") -> None:
        """OF601 to OF622, by the kind of the error; `about` is the affected workflow."""
        explained = self.explanation
        text = str(self).removesuffix(".")
        text = f"`{about}` was not deployed: {text}" if about else text
        ctx.emit(explained.rule, text, help=explained.help)

    def passing(self, again: bool) -> bool:
        """Whether the call may be retried; `again`: even if it may have been executed."""
        del again
        return False


class UnreachableError(ServerError):
    """Nothing answers at that address, or the connection was interrupted.

    Attributes:
        sent: whether the server may have received the call.
    """

    def __init__(self, text: str, sent: bool = True) -> None:
        super().__init__(text)
        self.sent = sent

    @property
    def explanation(self) -> Explanation:
        return Explanation(
            server_rules.ServerUnreachable, f"start n8n or check its address, then {RUN_AGAIN}"
        )

    def passing(self, again: bool) -> bool:
        return again or not self.sent

    @property
    def everywhere(self) -> bool:
        return True


class StartingError(ServerError):
    """n8n answers, but is not ready yet."""

    @property
    def explanation(self) -> Explanation:
        return Explanation(server_rules.ServerUnreachable, "wait until n8n has started")

    def passing(self, again: bool) -> bool:
        return True

    @property
    def everywhere(self) -> bool:
        return True


class RefusedError(ServerError):
    """n8n answered with an error.

    Attributes:
        status: the HTTP status, 0 if the answer itself was invalid.
        said: n8n's own words.
    """

    def __init__(self, text: str, status: int, detail: str = "", retry_after: float = 0.0) -> None:
        super().__init__(text)
        self.status = status
        self.detail = detail
        self.retry_after = retry_after

    @property
    def explanation(self) -> Explanation:
        words = self.detail.lower()
        match self.status:
            case 401 | 403:
                return Explanation(
                    server_rules.RefusedKey,
                    "make a key in n8n (Settings, n8n API); give it by N8N_API_KEY",
                )
            case 404 if words in ("", "not found") or "<html" in words:
                return Explanation(server_rules.NotN8n, _CHECK_ADDRESS)
            case 404:
                return Explanation(server_rules.VanishedWorkflow, RUN_AGAIN)
            case 400 | 409 if _is_taken_path(words):
                return Explanation(
                    server_rules.TakenPath, "change the path, or unpublish the other workflow"
                )
            case _ if self.of_database or self.status in _PASSING:
                return Explanation(
                    server_rules.FailedServer, f"check the server's log, then {RUN_AGAIN}"
                )
            case _:
                return Explanation(server_rules.RefusedWorkflow, "fix what n8n reports")

    def passing(self, again: bool) -> bool:
        # 429 and 503 are said before anything was done.
        failed = self.status in _PASSING or self.of_database
        return self.status in (429, 503) or (again and failed)

    @property
    def of_database(self) -> bool:
        """Whether n8n's database failed: n8n 1 on SQLite confuses simultaneous calls and then
        answers 400 (measured on 1.123.81)."""
        return any(words in self.detail for words in _DATABASE)

    @property
    def everywhere(self) -> bool:
        return self.status in (401, 403)


class NotN8nError(RefusedError):
    """Something other than n8n's API answers at that address."""

    @property
    def explanation(self) -> Explanation:
        return Explanation(server_rules.NotN8n, _CHECK_ADDRESS)

    @property
    def everywhere(self) -> bool:
        return True


class TookTooLongError(ServerError):
    """An awaited event did not occur in time."""

    @property
    def explanation(self) -> Explanation:
        return Explanation(
            server_rules.ServerUnreachable, f"check the server's log, then {RUN_AGAIN}"
        )

    def passing(self, again: bool) -> bool:
        return again


def _is_taken_path(words: str) -> bool:
    """Whether n8n rejects a webhook's path; n8n 1 has other words for it than n8n 2."""
    return "conflict with one of the webhooks" in words or (
        "url path" in words and "already taken" in words
    )


def body_of(answer: httpx.Response, what: str, where: str, hide: Callable[[str], str]) -> Json:
    """The JSON of an answer.

    Args:
        answer: what came.
        what: the call, in words.
        where: the server, in words.
        hide: removes the key from a text.

    Raises:
        RefusedError, NotN8nError, StartingError: see there.
    """
    status = answer.status_code
    if answer.is_success:
        try:
            parsed = answer.json() if answer.content else {}
        except ValueError:
            if _STARTING in answer.text[:_SAID]:
                raise StartingError(f"n8n at {where} is still starting") from None
            raise NotN8nError(f"{where} does not respond to {what} like n8n", status) from None
        return parsed if isinstance(parsed, dict) else {"data": parsed}
    if status in _PAGES and "/api/" in what and answer.text.lstrip()[:1] == "<":
        message = f"{where} responds to {what} with {status} and a page, unlike n8n"
        raise NotN8nError(message, status)
    if status == 400 and "HTTPS port" in answer.text:
        raise NotN8nError(f"{where} uses https: the address begins with https://", status)
    message = hide(_answer_message(answer.text))
    if answer.is_redirect:
        to = place_of(hide(answer.headers.get("location", "")))
        raise NotN8nError(f"{where} redirects {what} to {to}", status)
    if status == 401:
        door = "API key" if "/api/v1/" in what else "login"
        raise RefusedError(f"n8n at {where} rejected the {door} ({what})", 401, message)
    raise RefusedError(
        f"n8n rejected {what} with {status}: {message}", status, message, _retry_after(answer)
    )


def _retry_after(answer: httpx.Response) -> float:
    try:
        return max(0.0, float(answer.headers.get("retry-after", "0")))
    except ValueError:  # a date
        return 1.0


def _answer_message(text: str) -> str:
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError):
        return " ".join(text.split())[:_SAID]
    message = parsed.get("message") if isinstance(parsed, dict) else None
    return " ".join(str(message or text).split())[:_SAID]


def shorten_value(value: object) -> str:
    """A value, shortened for a message."""
    return str(value)[:_SAID]


def place_of(url: str) -> str:
    """A URL without its secret parts: its query, which may contain signatures, and a password."""
    scheme, sep, rest = url.partition("?")[0].partition("://")
    if not sep:
        return scheme
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}"
