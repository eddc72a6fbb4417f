"""Failures of a server, as diagnostics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from orgflow.backends.n8n.format.versions import KNOWN_VERSIONS, N8nVersion
from orgflow.backends.n8n.merge.files import report_merge
from orgflow.backends.n8n.server.client.compatibility import ServerVersion, too_new
from orgflow.backends.n8n.server.client.errors import (
    NotN8nError,
    RefusedError,
    ServerError,
    StartingError,
    TookTooLongError,
    UnreachableError,
)
from orgflow.backends.n8n.server.deploy import origin_rules, rules
from orgflow.backends.n8n.server.deploy.apply import (
    AnotherDeployError,
    EditedMeanwhileError,
    NotLiveError,
)
from orgflow.backends.n8n.server.deploy.carry_out import GroupResult
from orgflow.backends.n8n.server.deploy.plan import Problem, Step, Wanted
from orgflow.backends.n8n.server.deploy.succession import Demoted, Orphan, Uncalled
from orgflow.backends.n8n.server.executions.stale_runs import StaleRun

from orgflow_ir.diagnostics import Rule, Severity
from orgflow_ir.model.element_names import listed
from orgflow_ir.pipeline import PassContext

_ITS_OWN = "the process in one of them an `id` or its own name"
_AGAIN = "run the same command again: it completes the rest"


class Explanation(NamedTuple):
    """A rule, and the remedy in this case."""

    rule: type[Rule]
    help: str


def explain(error: ServerError) -> Explanation:
    """The rule for an error of the server."""
    match error:
        case UnreachableError():
            return Explanation(
                rules.ServerUnreachable, f"start n8n or check its address, then {_AGAIN}"
            )
        case StartingError():
            return Explanation(rules.ServerUnreachable, "wait until n8n has started")
        case NotN8nError():
            return Explanation(
                rules.NotN8n, "use the address of n8n's editor, and check that its API is enabled"
            )
        case EditedMeanwhileError():
            return Explanation(rules.EditedSince, "review it with --dry-run, or use --take-over")
        case AnotherDeployError():
            return Explanation(origin_rules.Overtaken, _AGAIN)
        case NotLiveError():
            return Explanation(
                rules.NotLive, "check the server's log, and whether its webhooks respond there"
            )
        case TookTooLongError():
            return Explanation(rules.ServerUnreachable, f"check the server's log, then {_AGAIN}")
        case RefusedError():
            return _refused(error)
        case _:
            return Explanation(rules.FailedServer, "check the server's log")


def _refused(error: RefusedError) -> Explanation:
    said = error.said.lower()
    match error.status:
        case 401 | 403:
            return Explanation(
                rules.RefusedKey, "make a key in n8n (Settings, n8n API); give it by N8N_API_KEY"
            )
        case 404 if said in ("", "not found") or "<html" in said:
            return Explanation(
                rules.NotN8n, "use the address of n8n's editor, and check that its API is enabled"
            )
        case 404:
            return Explanation(rules.VanishedWorkflow, _AGAIN)
        case 400 | 409 if "conflict with one of the webhooks" in said or _taken(said):
            return Explanation(rules.TakenPath, "change the path, or unpublish the other workflow")
        case _ if error.of_database or error.status in (429, 500, 502, 503, 504):
            return Explanation(rules.FailedServer, f"check the server's log, then {_AGAIN}")
        case _:
            return Explanation(rules.RefusedWorkflow, "fix what n8n reports")


def _taken(said: str) -> bool:
    """As n8n 1 says it."""
    return "url path" in said and "already taken" in said


def report_error(error: ServerError, ctx: PassContext, about: str = "") -> None:
    """Emit one error of the server; `about` is the affected workflow."""
    explained = explain(error)
    said = str(error).removesuffix(".")
    said = f"`{about}` was not deployed: {said}" if about else said
    ctx.emit(explained.rule, said, help=explained.help)


def report_version(version: ServerVersion, ctx: PassContext) -> None:
    """OF604 for a server that is too old, OF605 if its version is unknown."""
    if version.known is None:
        ctx.emit(
            rules.UnsupportedServer,
            f"the server runs n8n {version.text}, which is older than the oldest supported version",
            help=f"update n8n to {KNOWN_VERSIONS[0]} or later",
        )
    elif not version.exact:
        what = f"the server is n8n {version.text}" if version.text else "the version is unknown"
        ctx.emit(
            rules.UnknownServerVersion,
            f"{what}: workflows are deployed in the format of n8n {version.known}",
        )


def report_fit(wanted: Wanted, version: N8nVersion, ctx: PassContext) -> bool:
    """Whether the server has every node in its version; OF606 for each missing one."""
    fits = True
    for node in too_new(wanted.workflow, version):
        fits = False
        ctx.emit(
            rules.NodeTooNew,
            f"node `{node.node}` of `{wanted.name}` is `{node.kind}` {node.version:g}; the server "
            f"supports up to version {node.newest:g} and would silently run another version",
            help=f"compile for it: --target 'n8n{{version={version}}}', or deploy the model itself",
        )
    return fits


def report_step(step: Step, ctx: PassContext) -> None:
    """Emit the problems of deploying a workflow, and further information about it."""
    for problem in step.problems:
        _problem(step.wanted, problem, ctx)
    if step.merged is not None:
        report_merge(step.merged, step.wanted.name, None, ctx)
    if step.replaces and not step.problems:
        ctx.emit(
            origin_rules.ReplacedWorkflow,
            f"`{step.wanted.name}` replaces `{step.replaces}`, which had the same callers",
        )
    if step.moved_from and not step.problems:
        ctx.emit(
            origin_rules.MovedSource,
            f"`{step.wanted.name}` was deployed from {step.moved_from}, which no longer exists; "
            f"it is now compiled from {step.wanted.source}",
            help="if this is a copy for another purpose, change the id of its process",
        )


def report_demoted(found: Iterable[Demoted], ctx: PassContext) -> None:
    """N8N014 for each call of a process that became one of a placeholder."""
    for one in found:
        ctx.emit(
            origin_rules.LostCallee,
            f"`{one.caller}` called `{one.before}` and now calls the placeholder in `{one.now}`: "
            "no file of the command, or next to the model, has that process",
            help="deploy the folder that contains both files",
        )


def report_uncalled(found: Iterable[Uncalled], ctx: PassContext) -> None:
    """N8N012 for each workflow that nothing calls any more."""
    for one in found:
        callers = listed(dict.fromkeys(f"`{name}`" for name in one.callers))
        what = ", which somebody implemented," if one.implemented else ""
        ctx.emit(
            origin_rules.UncalledWorkflow,
            f"nothing calls `{one.name}` (id {one.id}){what} any more: {callers} called it "
            "before; it was not deleted",
            severity=None if one.implemented else Severity.INFO,
            help="copy its nodes into the workflow that is called now, then delete it in n8n"
            if one.implemented
            else "delete it in n8n if nobody needs it",
        )


def report_orphans(found: Iterable[Orphan], ctx: PassContext) -> None:
    """N8N015 for each workflow whose model was deleted."""
    for one in found:
        live = bool(one.row.get("active"))
        state = "it is still published" if live else "it was not deleted"
        ctx.emit(
            origin_rules.DeletedModel,
            f"`{one.row.get('name')}` (id {one.row['id']}) was deployed from {one.place}, which no "
            f"longer exists; {state}",
            severity=None if live else Severity.INFO,
            help="`orgflowc undeploy --deleted` with the same folder deletes it",
        )


def _problem(wanted: Wanted, problem: Problem, ctx: PassContext) -> None:
    name = f"`{wanted.name}`"
    match problem.kind:
        case "edited":
            ctx.emit(
                rules.EditedSince,
                f"{name} was changed on the server (id {problem.detail}) after it was deployed; "
                "it was not updated",
                help="review the change with --dry-run, or overwrite it with --take-over",
            )
        case "conflict":
            ctx.emit(
                rules.EditedSince,
                f"{name} was changed on the server (id {problem.detail}) in the same part as the "
                "model; it was not updated",
                help="resolve each conflict, or overwrite it with --take-over",
            )
        case "unverified":
            ctx.emit(
                rules.EditedSince,
                f"{name} was changed on the server and would no longer match the model: "
                f"{problem.detail}",
                help="revert the change in n8n, or make it in the model",
            )
        case "older":
            ctx.emit(
                origin_rules.OlderModel,
                f"the model of {name} was deployed earlier and has since been replaced (revision "
                f"{problem.detail})",
                help="update your checkout; --rollback deploys it anyway",
            )
        case "foreign":
            ctx.emit(
                rules.NotDeployedHere,
                f"a workflow {name} on the server (id {problem.detail}) was not created by a "
                "deployment; it was not updated",
                help="rename one of the two, or overwrite it with --take-over",
            )
        case "copy":
            row, _, original = problem.detail.partition(" ")
            noted = f" (its note names id {original})" if original else ""
            ctx.emit(
                rules.NotDeployedHere,
                f"the workflow {name} on the server (id {row}) is a copy of a deployed one{noted} "
                "that no longer exists; it was not updated",
                help="delete it, or overwrite it with --take-over",
            )
        case "ambiguous":
            ctx.emit(
                rules.AmbiguousWorkflow,
                f"several workflows on the server could be {name}: {problem.detail}",
                help="delete or archive all but one",
            )
        case "circle":
            ctx.emit(
                rules.MutualCalls,
                f"{name} is part of a circle of calls, which n8n cannot publish: {problem.detail}",
                help="replace one of the calls with a webhook",
            )
        case "twice":
            ctx.emit(
                rules.SameIdentity,
                f"{name} in {wanted.source} is the same workflow as one in {problem.detail}",
                help=f"remove one of them, or give {_ITS_OWN}",
            )
        case "another":
            row, _, place = problem.detail.partition(" ")
            made = f", made from {place}" if place else ""
            ctx.emit(
                origin_rules.AnotherProcess,
                f"the workflow {name} on the server (id {row}{made}) is a different process from "
                f"the one in {wanted.source}: they share hardly any step",
                help=f"give {_ITS_OWN}, or deploy it with --as NAME; --take-over overwrites",
            )
        case "other-file":
            row, _, place = problem.detail.partition(" ")
            ctx.emit(
                origin_rules.AnotherProcess,
                f"the workflow {name} on the server (id {row}) was compiled from {place}, which "
                f"still exists: {wanted.source} would overwrite it",
                help=f"give {_ITS_OWN}, or deploy it with --as NAME; --take-over overwrites",
            )
        case "renamed":
            ctx.emit(
                origin_rules.RenamedProcess,
                f"{name} in {wanted.source} would be a second workflow of a process that is "
                f"already on the server: {problem.detail}",
                help="update that one with --take-over, or deploy a second one with --as NAME",
            )
        case _:
            identity, _, where = problem.detail.partition(" in ")
            ctx.emit(
                rules.MissingCallee,
                f"{name} calls a workflow `{identity}` ({where}) that is neither among the files "
                "nor on the server",
                help="pass all files of the model together, or deploy the called workflow first",
            )


def report_stale_runs(left: Iterable[StaleRun], ctx: PassContext) -> None:
    """OF623 for each copy that a run has left."""
    for one in left:
        what = f"`{one.name}` (id {one.id}) is the copy of a run"
        match one.fate:
            case "removed":
                said, help_ = f"{what} that was killed; it was removed", None
            case "over":
                said, help_ = f"{what} that was killed", "run deploy without --dry-run to remove it"
            case "stuck":
                said = f"{what} that was killed, and could not be removed"
                help_ = "delete it in n8n"
            case _:
                said = f"{what} that may still be active elsewhere; it was not removed"
                help_ = (
                    "no action is needed: if the run was killed, a later command removes the copy"
                )
        ctx.emit(origin_rules.LeftRun, said, help=help_)


def report_results(results: Iterable[GroupResult], ctx: PassContext) -> None:
    """Emit the problems of each group, its failure, and changes that could not be undone."""
    for result in results:
        for step in result.group.steps:
            report_step(step, ctx)
        if result.error is not None:
            report_error(result.error, ctx, result.failed.name if result.failed else "")
        if result.left:
            names = ", ".join(f"`{name}`" for name in result.left)
            ctx.emit(
                rules.LeftBehind,
                f"incomplete changes could not be undone: {names}",
                help="run the same command again when the server responds",
            )
        for name in result.overtaken:
            ctx.emit(
                origin_rules.Overtaken,
                f"`{name}` was deployed by somebody else at the same time: the server has their "
                "workflow, not yours",
                help="check it in n8n, or run the same command again",
            )
        before = {
            str(step.existing["id"]): step.existing
            for step in result.group.steps
            if step.existing is not None
        }
        for placed in result.placed:
            if placed.state != "by hand":
                continue
            if before.get(placed.id, {}).get("active"):
                ctx.emit(
                    rules.StartedByHand,
                    f"`{placed.name}` is no longer published: its start has no trigger any more, "
                    "so it can only be started manually",
                    severity=Severity.WARNING,
                    help="add a message or a timer to the start event, or compile with "
                    "`n8n{trigger=webhook}`",
                )
                continue
            ctx.emit(
                rules.StartedByHand,
                f"`{placed.name}` exists but is not published: it can only be started manually",
            )
