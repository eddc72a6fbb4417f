"""Deploying to n8n servers, by the contract of `orgflow_ir.plugins.deployment`."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from orgflow.backends.n8n.format.merge_base import base_path
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.merge.content import open_placeholders
from orgflow.backends.n8n.node_types.workflow_calls import called_workflows
from orgflow.backends.n8n.server.deploy.carry_out import DeployRun, GroupResult
from orgflow.backends.n8n.server.deploy.credentials import read_credentials
from orgflow.backends.n8n.server.deploy.deployment_plan import Group, Wanted
from orgflow.backends.n8n.server.deploy.deployment_report import (
    report_demoted,
    report_fit,
    report_orphans,
    report_results,
    report_step,
    report_support,
    report_uncalled,
)
from orgflow.backends.n8n.server.deploy.git_history import is_another_repository, read_repository
from orgflow.backends.n8n.server.deploy.preview import preview_step
from orgflow.backends.n8n.server.deploy.process_similarity import NOWHERE, origin_of
from orgflow.backends.n8n.server.deploy.succession import find_orphans
from orgflow.backends.n8n.server.deploy.support_removal import SupportRemoval
from orgflow.backends.n8n.server.deploy.support_step import SupportStep
from orgflow.backends.n8n.server.deploy.workflow_files import read_workflows
from orgflow.backends.n8n.server.deployed_options import read_deployed_options
from orgflow.backends.n8n.server.deployment_marker import is_edited, marker_of, rename_workflow
from orgflow.backends.n8n.server.session import Server, clear_stale, connect_server
from orgflow.backends.n8n.verify.reference import compile_references
from orgflow.backends.n8n.verify.verify import verify_process
from orgflow.backends.n8n.waiting.support_set import SUPPORT_RANGES

from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.deployment import (
    Deployable,
    Deployer,
    DeployOptions,
    DeployPlan,
    DeployResult,
    DeploySession,
    Removed,
)
from orgflow_ir.plugins.engines import ServerAccess
from orgflow_ir.targets.artifact import Emitted

_SHOWN = 6


class N8nDeployer(Deployer):
    """Puts workflows on an n8n server by its public API, and publishes them."""

    settings = SUPPORT_RANGES

    @contextlib.contextmanager
    def connect(self, access: ServerAccess, ctx: PassContext) -> Iterator[DeploySession | None]:
        """See `Deployer`; OF601 to OF605."""
        with connect_server(access, ctx) as server:
            yield N8nDeploySession(server) if server is not None else None


class N8nDeploySession(DeploySession):
    """One n8n server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.options = server.options
        self._listed: list[dict[str, Any]] | None = None

    def read(
        self, source: SourceFile, path: str, ctx: PassContext, *, name: str | None
    ) -> list[Wanted]:
        """See `DeploySession`."""
        rows = read_workflows(source, ctx)
        bases = _read_bases(path)
        # The place of a compiled file does not identify its model; its repository does.
        origin = origin_of(path)._replace(place="", project="")
        workflows = [
            Wanted(rename_workflow(row, name), path, origin, named=name is not None, bases=bases)
            for row in rows
        ]
        return self._report_fit(workflows, ctx)

    def compiled(
        self, emitted: Emitted, model: Model, path: str, ctx: PassContext, *, named: bool
    ) -> list[Wanted]:
        """See `DeploySession`."""
        origin = origin_of(path)
        bases = _read_bases(path)
        # Work that several models name is of no file.
        scopes = [output.root.plan.scope for output in emitted.compiled.values()]
        shared = {scope.workflow_id for scope in scopes if scope.shared}
        workflows = []
        for output in emitted.artifacts:
            workflow = json.loads(output.text)
            check = _Verifier(model, emitted, workflow, ctx)
            place = NOWHERE if workflow["id"] in shared else origin
            own = named and workflow["id"] not in shared
            workflows.append(Wanted(workflow, path, place, own, check, bases))
        return self._report_fit(workflows, ctx)

    def _report_fit(self, workflows: list[Wanted], ctx: PassContext) -> list[Wanted]:
        for wanted in workflows:
            report_fit(wanted, self._server.version, ctx)
        return workflows

    def stated_options(self, model: Model) -> Mapping[str, str]:
        """See `DeploySession`: by the note of the deployment. Workflows are listed once for
        all models of a deployment."""
        if self._listed is None:
            self._listed = list(self._server.client.listed())
        return read_deployed_options(self._listed, model)

    def plan(self, wanted: Sequence[Deployable], options: DeployOptions) -> DeployPlan:
        """See `DeploySession`."""
        self._listed = None
        run = DeployRun(
            self._server.client,
            self._server.undo,
            options.publish,
            options.take_over,
            options.rollback,
            read_credentials(options.credentials) if options.credentials else (),
            options.keys,
            SupportStep({name: int(value) for name, value in options.settings.items()}),
            dict(options.migrations),
        )
        mine = [item for item in wanted if isinstance(item, Wanted)]
        read_repository.cache_clear()  # a session may outlast a commit
        return N8nDeployPlan(self._server, run, run.plan(mine), options.folders)

    def remove(
        self, wanted: Sequence[Deployable], *, edited: bool, dry_run: bool
    ) -> Iterator[Removed]:
        """See `DeploySession`: by the note of the deployment. Workflows that others call stay."""
        rows = [row for row in self._server.client.listed() if not row.get("isArchived")]
        by_identity: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            marker = marker_of(row)
            if marker is not None:
                by_identity.setdefault(marker.identity, []).append(row)
        mine = [item for item in wanted if isinstance(item, Wanted)]
        asked = [row for item in mine for row in by_identity.get(item.identity, ())]
        others = [
            str(row["id"])
            for item in mine
            for row in by_identity.get(item.identity, ())
            if _is_of_another_repository(row, item)
        ]
        return self._remove_rows(asked, rows, others, edited=edited, dry_run=dry_run)

    def remove_deleted(
        self, folders: Sequence[str], *, edited: bool, dry_run: bool
    ) -> Iterator[Removed]:
        """See `DeploySession`: by the note of the deployment."""
        rows = [row for row in self._server.client.listed() if not row.get("isArchived")]
        asked = [orphan.row for orphan in find_orphans(rows, folders)]
        return self._remove_rows(asked, rows, edited=edited, dry_run=dry_run)

    def _remove_rows(
        self,
        asked: Sequence[dict[str, Any]],
        rows: Sequence[dict[str, Any]],
        others: Sequence[str] = (),
        *,
        edited: bool,
        dry_run: bool,
    ) -> Iterator[Removed]:
        kept = dict.fromkeys(others, "it was deployed from another git repository")
        for row in asked:
            if str(row["id"]) not in kept and is_edited(row) and not edited:
                kept[str(row["id"])] = "somebody edited it: --take-over removes it nevertheless"
        going = {str(row["id"]) for row in asked} - kept.keys()
        calls = {str(row["id"]): {id for id, _ in called_workflows(row)} for row in rows}
        while staying := [
            id for id in going for other in calls.keys() - going if id in calls[other]
        ]:
            going -= set(staying)
        support = SupportRemoval(self._server.client, rows)
        for row in asked:
            name, id = str(row.get("name")), str(row["id"])
            if id in going:
                open_work = support.remove_process(row, dry_run=dry_run)
                yield Removed(name, id, open_work)
                continue
            if id in kept:
                yield Removed(name, id, kept[id])
                continue
            callers = sorted(
                f"`{other.get('name')}`" for other in rows
                if str(other["id"]) not in going and id in calls[str(other["id"])]
            )  # fmt: skip
            yield Removed(name, id, f"still called by {', '.join(callers)}")
        yield from support.remove_unused(dry_run=dry_run)


def _is_of_another_repository(row: Mapping[str, Any], wanted: Wanted) -> bool:
    marker = marker_of(row)
    mine = wanted.origin.repository.noted_digests
    return marker is not None and is_another_repository(mine, marker.repository)


def _read_bases(path: str) -> Callable[[str], str | None]:
    """Reads the bases that were too long for a note, beside a source."""

    def read_base(id: str) -> str | None:
        try:
            return (Path(path).parent / base_path(id)).read_text("ascii").strip()
        except (OSError, UnicodeDecodeError):
            return None

    return read_base


class _Verifier:
    """Whether a merged workflow does what the model says that was compiled."""

    def __init__(
        self, model: Model, emitted: Emitted, workflow: Mapping[str, Any], ctx: PassContext
    ) -> None:
        self._model, self._emitted = model, emitted
        self._workflow, self._ctx = workflow, ctx

    def __call__(self, workflow: Mapping[str, Any]) -> str:
        """How it differs, in words; empty where it does not."""
        quiet = PassContext(registry=self._ctx.registry, options=self._ctx.options)
        process = WorkflowDocument(self._workflow).map.process
        against = compile_references(self._model, quiet, self._emitted).get(process or "")
        if against is None:
            return "there is no process to compare it with"
        verification = verify_process(
            self._model, against.process, workflow, quiet, against=against
        )
        return verification.difference.message if verification.difference is not None else ""


class N8nDeployPlan(DeployPlan):
    """The changes of one deployment on a server."""

    def __init__(
        self, server: Server, run: DeployRun, groups: Sequence[Group], folders: Sequence[str] = ()
    ) -> None:
        self._server, self._folders = server, folders
        self._run = run
        self._groups = groups

    def unfinished(self) -> Iterator[str]:
        """See `DeployPlan`."""
        for step in (step for group in self._groups for step in group.steps):
            names = open_placeholders(step.wanted.workflow)
            if names and not step.problems:
                shown = ", ".join(f"`{name}`" for name in names[:_SHOWN])
                more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
                count = f"{len(names)} unfilled placeholder{'s' if len(names) > 1 else ''}"
                yield f"`{step.wanted.name}` has {count}: {shown}{more}"

    def preview(self, ctx: PassContext, width: int) -> Iterator[str]:
        """See `DeployPlan`."""
        clear_stale(self._run.seen, None, ctx)
        line = self._run.support.describe(step for group in self._groups for step in group.steps)
        if line:
            yield line
        for group in self._groups:
            for step in group.steps:
                report_step(step, ctx)
                yield preview_step(self._run, step, width)
        self._report_calls(self._groups, ctx)
        report_orphans(self._run.orphans(self._groups, self._folders), ctx)

    def apply(self, ctx: PassContext) -> None:
        """See `DeployPlan`; also removes copies that killed runs left behind."""
        clear_stale(self._run.seen, self._server.undo, ctx)
        self._run.progress = ctx.services.progress
        self._run.cancellation = ctx.services.cancellation
        self._run.deploy(self._groups)

    @property
    def _done_results(self) -> list[GroupResult]:
        return [self._run.results[at] for at in sorted(self._run.results)]

    @property
    def results(self) -> tuple[DeployResult, ...]:
        """See `DeployPlan`."""
        return tuple(
            DeployResult(
                tuple(step.wanted.name for step in result.group.steps),
                result.placed,
                result.skipped,
            )
            for result in self._done_results
        )

    def report(self, ctx: PassContext) -> None:
        """OF607 to OF622, N8N010 to N8N016."""
        report_results(self._done_results, ctx)
        placed = [deployed.id for result in self._done_results for deployed in result.placed]
        report_support(self._run.support, placed, ctx)
        self._report_calls([result.group for result in self._done_results if result.ok], ctx)
        report_orphans(self._run.orphans(self._groups, self._folders), ctx)

    def _report_calls(self, groups: Sequence[Group], ctx: PassContext) -> None:
        report_demoted(self._run.demoted(groups), ctx)
        report_uncalled(self._run.uncalled(groups), ctx)
