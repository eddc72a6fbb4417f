"""Open tasks and instances of processes that wait in several places, as rows of a server's table.

See `OpenWork`. Every change is a conditional update, as the support set makes them: a row that an
execution changed in the meantime is left to it.
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import parse_qs, quote, urlsplit

from orgflow.backends.n8n.server.canvas_elements import elements_of
from orgflow.backends.n8n.server.client.errors import RefusedError
from orgflow.backends.n8n.server.session import Server, connect_server
from orgflow.backends.n8n.server.support_rows import (
    SupportServer,
    find_support_server,
    next_element,
)
from orgflow.backends.n8n.waiting.rows import MESSAGE_MARK, NEVER
from orgflow.backends.n8n.waiting.support_set import PARTS

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.engines import ServerAccess
from orgflow_ir.plugins.open_work import (
    OpenInstance,
    OpenPlace,
    OpenTask,
    OpenWork,
    OpenWorkReader,
    WorkProblem,
)

Json = dict[str, Any]

_KINDS: Final[Mapping[str, str]] = {
    "scope": "sub-process", "start": "steps", "task": "task", "timer": "timer",
    "receiver": "message", "gateway": "gateway", "branch": "join", "snapshot": "variables",
}  # fmt: skip
_STATES: Final[Mapping[str, str]] = {
    "open": "waits", "running": "works", "ending": "works", "failed": "failed",
}  # fmt: skip
_ENDED: Final = frozenset({"crashed", "error", "canceled", "success"})
"""States of executions that do not go on."""
_OVERDUE_SECONDS: Final = 180
"""How late the sweep may be before it counts as not running."""
_CANCEL_PASSES: Final = 20
_LARGE_TABLE: Final = 150 * 2**20
"""Bytes of the table from which on a person should know."""


class N8nOpenWorkReader(OpenWorkReader):
    """The rows of n8n servers."""

    @contextlib.contextmanager
    def connect(self, access: ServerAccess, ctx: PassContext) -> Iterator[OpenWork | None]:
        """See `OpenWorkReader`; OF601 to OF605."""
        with connect_server(access, ctx) as server:
            yield N8nOpenWork(server) if server is not None else None


class N8nOpenWork(OpenWork):
    """The rows of one server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._workflows: dict[str, Json] = {}

    def _look(self) -> SupportServer | None:
        """The support set, `None` if the server has none. Notes the workflows. Raises
        `ServerError`."""
        if self._server.version.major < 2:
            return None
        rows = tuple(self._server.client.listed())
        self._workflows = {str(row["id"]): row for row in rows if not row.get("isArchived")}
        return find_support_server(self._server.client, rows)

    def _process_of(self, row: Mapping[str, Any]) -> str:
        return str(self._workflows.get(str(row["workflow"]), {}).get("name") or "")

    def tasks(self) -> tuple[OpenTask, ...]:
        """See `OpenWork`."""
        support = self._look()
        if support is None:
            return ()
        rows = support.live_rows()
        cases = _cases_of(rows)
        return tuple(
            OpenTask(
                self._process_of(row),
                str(row["instance"]),
                cases.get(str(row["instance"]), ""),
                str(row["element"]),
                str(row["title"] or row["element"]),
                str(row["assignee"] or ""),
                _task_link(row, self._server.client.url),
                str(row["changed_at"]),
                str(row["due"] or ""),
            )
            for row in rows
            if row["kind"] == "task" and row["state"] == "open"
        )

    def instances(self) -> tuple[OpenInstance, ...]:
        """See `OpenWork`."""
        support = self._look()
        return self._instances_of(support.live_rows()) if support is not None else ()

    def _instances_of(self, rows: tuple[Json, ...]) -> tuple[OpenInstance, ...]:
        elements = {id: elements_of(row) for id, row in self._workflows.items()}
        by_instance: dict[str, list[Json]] = {}
        for row in rows:
            if row["instance"] and row["state"] != "staged":
                by_instance.setdefault(str(row["instance"]), []).append(row)
        instances = []
        for id, own in by_instance.items():
            root = next((row for row in own if row["key"] == id), own[0])
            places = [
                _place_of(row, elements.get(str(row["workflow"]), {}))
                for row in own
                if row["key"] != id or len(own) == 1 or row["state"] != "open"
            ]
            case = str(root["business_key"] or "")
            process, since = self._process_of(root), str(root["changed_at"])
            instances.append(OpenInstance(id, case, process, since, tuple(places)))
        return tuple(instances)

    def heal(self, *, retry: bool) -> Iterator[WorkProblem]:
        """See `OpenWork`. A dead execution is one that n8n knows as ended or no longer knows,
        although its row is at work; its lease is ended, so the next sweep takes the steps over."""
        support = self._look()
        if support is None:
            return
        yield from self._check_set(support)
        # The sweep decides about staged rows, such as those of a repeated start.
        for row in (row for row in support.live_rows() if row["state"] != "staged"):
            element = next_element(row)
            about = (str(row["instance"]), self._process_of(row), element)
            elements = elements_of(self._workflows.get(str(row["workflow"]), {}))
            if row["workflow"] and str(row["workflow"]) not in self._workflows:
                yield WorkProblem(*about, "its workflow was deleted", "")
            elif _is_lost(row, elements):
                yield WorkProblem(*about, "the deployed process does not have this element", "")
            if row["state"] == "failed":
                again = retry and support.change_row(row, _retried_values())
                action = "is tried again" if again else ""
                yield WorkProblem(*about, "failed as often as the limit allows", action)
            elif row["state"] == "running" and self._is_released(support, row):
                problem = f"its execution {row['execution']} is dead"
                yield WorkProblem(*about, problem, "its steps are repeated")

    def _check_set(self, support: SupportServer) -> Iterator[WorkProblem]:
        """What is wrong with the support set itself."""
        for part in PARTS:
            row = support.state.parts.get(part)
            title = f"orgflow: {PARTS[part].title}"
            if row is None:
                problem = f"the workflow `{title}` is missing"
                yield WorkProblem("", "", "", problem, "")
            elif not row.get("active"):
                yield WorkProblem("", "", "", f"the workflow `{title}` is not published", "")
        size = self._server.client.data_table_size(support.table)
        if size > _LARGE_TABLE:
            problem = (
                f"the table has {size // 2**20} MB; n8n refuses to write when all tables have "
                "N8N_DATA_TABLES_MAX_SIZE_BYTES (by default 200 MB): shorten the retention"
            )
            yield WorkProblem("", "", "", problem, "")
        late = _moment_text(datetime.timedelta(seconds=-_OVERDUE_SECONDS))
        overdue = support.overdue_rows(late)
        if overdue:
            problem = f"{overdue} rows are due since {late}: the sweep does not run, or is too slow"
            yield WorkProblem("", "", "", problem, "")

    def _is_released(self, support: SupportServer, row: Mapping[str, Any]) -> bool:
        """Whether the execution of a row is dead and the next sweep takes its steps over. The row
        of an execution that ended just now has changed."""
        return self._is_dead(row) and support.change_row(row, {"check_at": _now_text()})

    def _is_dead(self, row: Mapping[str, Any]) -> bool:
        """Whether the execution of a row has ended. That of a message or a sweep is none."""
        execution = str(row["execution"])
        if not execution.isdecimal() or row["execution"].startswith(MESSAGE_MARK):
            return False
        try:
            return str(self._server.client.execution_status(execution)) in _ENDED
        except RefusedError as error:
            if error.status != 404:
                raise
            return True

    def cancel(self, instance: str) -> OpenInstance | None:
        """See `OpenWork`. First the row of the instance, then what is inside, until nothing is
        left: a step that ends meanwhile fails at its commit."""
        support = self._look()
        if support is None:
            return None
        rows = [row for row in support.live_rows() if row["instance"]]
        wanted = {str(r["instance"]) for r in rows if instance in (r["key"], r["business_key"])}
        wanted &= {str(r["key"]) for r in rows if r["kind"] == "scope" and not r["scope"]}
        if len(wanted) > 1:
            raise ValueError(
                f"several open instances are `{instance}`: {', '.join(sorted(wanted))}"
            )
        if not wanted:
            return None
        (key,) = wanted
        (open_instance,) = self._instances_of(tuple(r for r in rows if r["instance"] == key))
        values = {"state": "cancelled", "live": "0", "check_at": NEVER, "changed_at": _now_text()}
        client, table = self._server.client, support.table
        client.update_rows(table, [("key", "eq", key), ("live", "eq", "1")], values)
        for _ in range(_CANCEL_PASSES):
            if not client.update_rows(
                table, [("instance", "eq", key), ("live", "eq", "1")], values
            ):
                break
        return open_instance


def _cases_of(rows: tuple[Json, ...]) -> dict[str, str]:
    """The callers' own ids by the keys of instances."""
    return {str(r["instance"]): str(r["business_key"]) for r in rows if r["business_key"]}


def _task_link(row: Mapping[str, Any], url: str) -> str:
    """The address of the page of a task, with its key."""
    link = str(row["link"] or "")
    if not link:
        return ""
    whole = f"{url}{link}" if link.startswith("/") else link
    if "key" in parse_qs(urlsplit(whole).query):
        return whole
    return f"{whole}{'&' if '?' in whole else '?'}key={quote(str(row['key']), safe='')}"


def _place_of(row: Mapping[str, Any], elements: Mapping[str, str]) -> OpenPlace:
    due = str(row["due"] or "") if row["kind"] in ("timer", "task") else ""
    return OpenPlace(
        _KINDS[row["kind"]],
        next_element(row),
        str(row["title"] or next_element(row)),
        _STATES[row["state"]],
        str(row["changed_at"]),
        due,
        _is_lost(row, elements),
    )


def _is_lost(row: Mapping[str, Any], elements: Mapping[str, str]) -> bool:
    """Whether a canvas that names elements lacks that of a row; unknown for scopes and gateways,
    which go on at an event."""
    followed = row["kind"] in ("task", "timer", "receiver", "branch")
    return bool(elements) and followed and next_element(row) not in elements


def _retried_values() -> dict[str, str]:
    return {"state": "running", "attempts": "0", "check_at": _now_text()}


def _now_text() -> str:
    return _moment_text(datetime.timedelta())


def _moment_text(after: datetime.timedelta) -> str:
    """A moment as the rows have it: ISO 8601, UTC, milliseconds."""
    moment = datetime.datetime.now(datetime.UTC) + after
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
