"""The step of a deployment that installs the support set, if one of its workflows calls it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

from orgflow.backends.n8n.format.support_ids import part_id
from orgflow.backends.n8n.format.versions import N8nVersion
from orgflow.backends.n8n.node_types.workflow_calls import called_workflows
from orgflow.backends.n8n.server.client.data_tables import TableClient
from orgflow.backends.n8n.server.client.errors import Explanation, ServerError
from orgflow.backends.n8n.server.deploy import support_rules
from orgflow.backends.n8n.server.deploy.deployment_plan import Problem, Step, Wanted
from orgflow.backends.n8n.server.support_rows import SupportServer, find_support_server
from orgflow.backends.n8n.waiting.installation import (
    Installation,
    InstallationError,
    SupportState,
    install_support_set,
    needs_support_set,
    read_support_state,
)
from orgflow.backends.n8n.waiting.support_set import (
    DEFAULT_OPTIONS,
    GENERATION,
    PARTS,
    SupportOptions,
    set_digest,
)

from orgflow_ir.model.records import NamedTuple, dataclass

Json = dict[str, Any]

_SECRET_BYTES = 32

NO_SET = SupportState({}, {})
"""A server without any workflow of the set."""


class NoSupportSetError(ServerError):
    """The server cannot hold the support set; the text is the reason."""

    @property
    def explanation(self) -> Explanation:
        return Explanation(support_rules.NoSupportSet, "see the page on processes that wait")


class LostCaller(NamedTuple):
    """A workflow outside of the deployment that calls a deleted workflow of the support set."""

    name: str
    id: str


@dataclass(eq=False)
class SupportStep:
    """The support set of one deployment.

    Attributes:
        options: options by name that the user gives; the others stay.
        installed: the result of the installation; `None` before it and where it is not needed.
        state: the workflows of the set on the server.
    """

    options: dict[str, int] | None = None
    installed: Installation | None = None
    state: SupportState = NO_SET
    _error: ServerError | None = None

    def look(self, client: TableClient, rows: Sequence[Json]) -> None:
        """Read the installed set among the workflows of a server."""
        self._client, self._rows = client, rows
        self.state = read_support_state(rows)

    @cached_property
    def server(self) -> SupportServer | None:
        """The table of the set. Only processes that use it need a key that may read it. Raises
        `ServerError`."""
        if self.installed is not None:
            return SupportServer(self._client, self.installed.table, self.state)
        return find_support_server(self._client, self._rows)

    def server_of(self, step: Step) -> SupportServer | None:
        """The table, if the existing or the wanted workflow of a step uses it. Raises
        `ServerError`."""
        if step.existing is None:
            return None
        calls = {id for id, _ in called_workflows({"nodes": step.existing.get("nodes") or ()})}
        uses = bool(calls & set(self.state.ids.values()))
        return self.server if uses or needs_support_set([step.wanted.workflow]) else None

    @property
    def ids(self) -> dict[str, str]:
        """Ids on the server by the ids that compiled processes call."""
        if self.installed is not None:
            return {part_id(part): id for part, id in self.installed.workflows.items()}
        return self.state.ids

    def check_step(self, step: Step, version: N8nVersion) -> None:
        """A problem where the server cannot run what the workflow calls."""
        if version.major < 2 and needs_support_set([step.wanted.workflow]):
            step.problems = (*step.problems, Problem("old-n8n", str(version)))

    def chosen_options(self) -> SupportOptions | None:
        """The options of the installation; `None` keeps those of the server."""
        if not self.options:
            return None
        return (self.state.options or DEFAULT_OPTIONS)._replace(**self.options)

    def describe(self, steps: Iterable[Step]) -> str:
        """The effect of an installation, as a line for `--dry-run`; empty if nothing."""
        if not needs_support_set([s.wanted.workflow for s in steps if not s.problems]):
            return ""
        state = self.state
        if set(PARTS) - set(state.parts):
            return "create     the support set of processes that wait in several places\n"
        if state.newer:
            return f"leave      the support set, which is newer (generation {state.newer})\n"
        chosen = self.chosen_options() or state.options or DEFAULT_OPTIONS
        digest = set_digest(chosen)
        same = all(f'"{digest}"' in str(row["nodes"]) for row in state.parts.values())
        return "" if same else f"update     the support set (generation {GENERATION})\n"

    def install(
        self, client: TableClient, steps: Sequence[Step], make_secret: Callable[[int], str]
    ) -> None:
        """Install the set if a step without a problem needs it. A failure is kept for the groups
        that need it (`failure_of`)."""
        going = [step.wanted.workflow for step in steps if not step.problems]
        if not needs_support_set(going):
            return
        try:
            self.installed = install_support_set(
                client, make_secret(_SECRET_BYTES), self.chosen_options()
            )
            self.state = read_support_state(client.listed())
            self.__dict__.pop("server", None)
        except InstallationError as error:
            self._error = NoSupportSetError(str(error))
        except ServerError as error:
            self._error = error

    def failure_of(self, steps: Sequence[Step]) -> tuple[Wanted, ServerError] | None:
        """The first workflow of a group that needs the set although its installation failed, and
        why it failed."""
        if self._error is None:
            return None
        for step in steps:
            if needs_support_set([step.wanted.workflow]):
                return step.wanted, self._error
        return None

    def lost_callers(self, deployed: Iterable[str]) -> list[LostCaller]:
        """Other workflows that call the set and a workflow that no longer exists."""
        if self.installed is None:
            return []
        taken = set(deployed) | set(self.installed.workflows.values())
        existing = {str(row["id"]) for row in self._rows if not row.get("isArchived")}
        existing |= set(self.installed.workflows.values())
        before = set(self.installed.workflows.values())
        lost = []
        for row in self._rows:
            calls = {id for id, _ in called_workflows({"nodes": row.get("nodes") or ()})}
            calls -= {str(row["id"])}
            if str(row["id"]) in taken or row.get("isArchived") or not calls & before:
                continue
            if calls - existing:
                lost.append(LostCaller(str(row.get("name")), str(row["id"])))
        return lost
