"""The findings of a deployment, as diagnostics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from orgflow.backends.n8n.format.versions import N8nVersion
from orgflow.backends.n8n.merge.file_merge import report_merge
from orgflow.backends.n8n.server.client.compatibility import too_new
from orgflow.backends.n8n.server.deploy import deployment_rules, origin_rules, support_rules
from orgflow.backends.n8n.server.deploy.carry_out import GroupResult
from orgflow.backends.n8n.server.deploy.deployment_plan import Problem, Step, Wanted
from orgflow.backends.n8n.server.deploy.open_rows import OpenRows
from orgflow.backends.n8n.server.deploy.succession import Demoted, Orphan, Uncalled
from orgflow.backends.n8n.server.deploy.support_step import SupportStep
from orgflow.backends.n8n.waiting.installation import needs_support_set

from orgflow_ir.diagnostics import Severity
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.pipeline import PassContext

_MOST_ALIKE = 3
"""Most changes of one kind that are named one by one."""

_SHORT = 10
"""Number of shown digits of a commit."""

_ITS_OWN = "the process in one of them an `id` or its own name"


def report_fit(wanted: Wanted, version: N8nVersion, ctx: PassContext) -> bool:
    """Whether the server has every node in its version; OF606 for each missing one, OF625 for a
    process that waits in several places on n8n 1."""
    if version.major < 2 and needs_support_set([wanted.workflow]):
        ctx.emit(
            support_rules.NoSupportSet,
            f"`{wanted.name}` waits in several places, which needs Data Tables and their API; the "
            f"server is n8n {version}",
            help="update n8n to 2.0 or later",
        )
        return False
    fits = True
    for node in too_new(wanted.workflow, version):
        fits = False
        ctx.emit(
            deployment_rules.NodeTooNew,
            f"node `{node.node}` of `{wanted.name}` is `{node.kind}` {node.version:g}; the server "
            f"supports up to version {node.newest:g} and would silently run another version",
            help=f"compile for it: --target 'n8n{{version={version}}}', or deploy the model itself",
        )
    return fits


def report_step(step: Step, ctx: PassContext) -> None:
    """Emit the problems of deploying a workflow, and further information about it."""
    for problem in step.problems:
        _report_problem(step.wanted, problem, ctx)
    if step.open_rows is not None:
        _report_open_rows(step, step.open_rows, ctx)
    if step.merged is not None:
        report_merge(step.merged, step.wanted.name, None, ctx)
    if step.replaces and not step.problems:
        ctx.emit(
            origin_rules.ReplacedWorkflow,
            f"`{step.wanted.name}` replaces `{step.replaces}`, which had the same callers",
        )
    if step.adopted is not None and not step.problems:
        id = step.existing["id"] if step.existing is not None else ""
        ctx.emit(
            origin_rules.AdoptedWorkflow,
            f"`{step.wanted.name}` (id {id}) was deployed elsewhere (there with the id "
            f"{step.adopted.server}) and copied to this server: it is updated from now on",
        )
    if step.reverted and not step.problems:
        ctx.emit(
            origin_rules.OlderModel,
            f"`{step.wanted.name}` goes back to an earlier model: the checkout contains the commit "
            f"{step.reverted[:_SHORT]} of the replaced one",
            severity=Severity.INFO,
        )
    if step.moved_from and not step.problems:
        ctx.emit(
            origin_rules.MovedSource,
            f"`{step.wanted.name}` was deployed from {step.moved_from}, which no longer exists; "
            f"it is now compiled from {step.wanted.source}",
            help="if this is a copy for another purpose, change the id of its process",
        )


def _report_open_rows(step: Step, plan: OpenRows, ctx: PassContext) -> None:
    """Emit which process instances are open, and what becomes of their rows."""
    name = f"`{step.wanted.name}`"
    count = f"{plan.instances} open instance{'s' if plan.instances != 1 else ''}"
    moved = ", ".join(
        f"`{move.before}` becomes `{move.after}`"
        for move in plan.moves
        if move.before != move.after
    )
    going = f"{plan.going_on} open row{'s' if plan.going_on != 1 else ''} go on"
    ctx.emit(
        support_rules.OpenInstances,
        f"{name} has {count}; {going}{f' ({moved})' if moved else ''}",
    )
    for lost, severity in ((plan.lost, Severity.ERROR), (plan.lost_before, Severity.WARNING)):
        for element, number in lost.items():
            title = plan.titles.get(element, "")
            shown = f" ({title})" if title and title != element else ""
            rows = "rows" if number != 1 else "row"
            new = ", ".join(f"`{candidate}`" for candidate in plan.candidates)
            ctx.emit(
                support_rules.LostOpenWork,
                f"{number} open {rows} of {name} at `{element}`{shown} would have no counterpart"
                if severity is Severity.ERROR
                else f"{number} open {rows} of {name} at `{element}`{shown} have no counterpart",
                severity=severity,
                help=f"name where they go on: --migrate '{element}=ELEMENT'"
                + (f"; new elements are {new}" if new else "")
                + "; or end the instances with `orgflowc cancel`",
            )


def _shorten_changes(changes: Sequence[str]) -> str:
    """Changes of the support set; many of one kind are counted."""
    kinds = Counter(change.partition(" the workflow ")[0] for change in changes)
    texts = (
        f"{kind} {kinds[kind]} workflows" if kinds[kind] > _MOST_ALIKE else change
        for change in changes
        for kind in (change.partition(" the workflow ")[0],)
    )
    return "; ".join(dict.fromkeys(texts))


def report_support(step: SupportStep, deployed: Iterable[str], ctx: PassContext) -> None:
    """Emit what was done to the support set, and which workflows it leaves without a callee."""
    if step.installed is None:
        return
    if step.installed.changes:
        ctx.emit(
            support_rules.ChangedSupportSet,
            f"the support set of processes that wait: {_shorten_changes(step.installed.changes)}",
        )
    for lost in step.lost_callers(deployed):
        ctx.emit(
            support_rules.LostSupportCall,
            f"`{lost.name}` (id {lost.id}) calls a workflow of the support set that was deleted",
            help="deploy it again",
        )


def report_demoted(calls: Iterable[Demoted], ctx: PassContext) -> None:
    """N8N014 for each call of a process that became one of a placeholder."""
    for call in calls:
        ctx.emit(
            origin_rules.LostCallee,
            f"`{call.caller}` called `{call.before}` and now calls the placeholder in "
            f"`{call.now}`: no file of the command, or next to the model, has that process",
            help="deploy the folder that contains both files",
        )


def report_uncalled(workflows: Iterable[Uncalled], ctx: PassContext) -> None:
    """N8N012 for each workflow that nothing calls any more."""
    for workflow in workflows:
        callers = join_listed(dict.fromkeys(f"`{name}`" for name in workflow.callers))
        what = ", which somebody implemented," if workflow.implemented else ""
        ctx.emit(
            origin_rules.UncalledWorkflow,
            f"nothing calls `{workflow.name}` (id {workflow.id}){what} any more: {callers} called "
            "it before; it was not deleted",
            severity=None if workflow.implemented else Severity.INFO,
            help="copy its nodes into the workflow that is called now, then delete it in n8n"
            if workflow.implemented
            else "delete it in n8n if nobody needs it",
        )


def report_orphans(orphans: Iterable[Orphan], ctx: PassContext) -> None:
    """N8N015 for each workflow whose model was deleted."""
    for orphan in orphans:
        live = bool(orphan.row.get("active"))
        state = "it is still published" if live else "it was not deleted"
        ctx.emit(
            origin_rules.DeletedModel,
            f"`{orphan.row.get('name')}` (id {orphan.row['id']}) was deployed from "
            f"{orphan.place}, which no longer exists; {state}",
            severity=None if live else Severity.INFO,
            help="`orgflowc undeploy --deleted` with the same folder deletes it",
        )


def _report_problem(wanted: Wanted, problem: Problem, ctx: PassContext) -> None:
    name = f"`{wanted.name}`"
    match problem.kind:
        case "edited":
            ctx.emit(
                deployment_rules.EditedSince,
                f"{name} was changed on the server (id {problem.detail}) after it was deployed; "
                "it was not updated",
                help="review the change with --dry-run, or overwrite it with --take-over",
            )
        case "conflict":
            ctx.emit(
                deployment_rules.EditedSince,
                f"{name} was changed on the server (id {problem.detail}) in the same part as the "
                "model; it was not updated",
                help="resolve each conflict, or overwrite it with --take-over",
            )
        case "unverified":
            ctx.emit(
                deployment_rules.EditedSince,
                f"{name} was changed on the server and would no longer match the model: "
                f"{problem.detail}",
                help="revert the change in n8n, or make it in the model",
            )
        case "older":
            cause = (
                "this checkout does not contain the commit of the newer model"
                if problem.newer
                else "either this checkout is out of date, or the change was reverted"
            )
            ctx.emit(
                origin_rules.OlderModel,
                f"the model of {name} was deployed earlier and has since been replaced (revision "
                f"{problem.detail}): {cause}",
                help="update your checkout; --rollback deploys it anyway",
            )
        case "foreign":
            ctx.emit(
                deployment_rules.NotDeployedHere,
                f"a workflow {name} on the server (id {problem.detail}) was not created by a "
                "deployment; it was not updated",
                help="rename one of the two, or overwrite it with --take-over",
            )
        case "copy":
            row, _, original = problem.detail.partition(" ")
            noted = f" (its note names id {original})" if original else ""
            ctx.emit(
                deployment_rules.NotDeployedHere,
                f"the workflow {name} on the server (id {row}) is a copy of a deployed one{noted} "
                "that no longer exists; it was not updated",
                help="delete it, or overwrite it with --take-over",
            )
        case "ambiguous":
            ctx.emit(
                deployment_rules.AmbiguousWorkflow,
                f"several workflows on the server could be {name}: {problem.detail}",
                help="delete or archive all but one",
            )
        case "circle":
            ctx.emit(
                deployment_rules.MutualCalls,
                f"{name} is part of a circle of calls, which n8n cannot publish: {problem.detail}",
                help="replace one of the calls with a webhook",
            )
        case "twice":
            ctx.emit(
                deployment_rules.SameIdentity,
                f"{name} in {wanted.source} is the same workflow as one in {problem.detail}",
                help=f"remove one of them, or give {_ITS_OWN}",
            )
        case "open-rows" | "old-n8n":
            pass  # reported by `_report_open_rows` and `report_fit`
        case "another":
            row, _, place = problem.detail.partition(" ")
            origin = f", made from {place}" if place else ""
            ctx.emit(
                origin_rules.AnotherProcess,
                f"the workflow {name} on the server (id {row}{origin}) is a different process from "
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
        case "other-repository":
            row, _, place = problem.detail.partition(" ")
            origin = f" ({place})" if place else ""
            ctx.emit(
                origin_rules.AnotherProcess,
                f"the workflow {name} on the server (id {row}) was deployed from another git "
                f"repository{origin}: {wanted.source} would update it",
                help=f"give {_ITS_OWN}, or deploy it with --as NAME; if the repository was moved, "
                "--take-over keeps the edits that can be merged",
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
                deployment_rules.MissingCallee,
                f"{name} calls a workflow `{identity}` ({where}) that is neither among the files "
                "nor on the server",
                help="pass all files of the model together, or deploy the called workflow first",
            )


def report_results(results: Iterable[GroupResult], ctx: PassContext) -> None:
    """Emit the problems of each group, its failure, and changes that could not be undone."""
    for result in results:
        for step in result.group.steps:
            report_step(step, ctx)
        if result.error is not None:
            result.error.report(ctx, result.failed.name if result.failed else "")
        if result.left:
            names = ", ".join(f"`{name}`" for name in result.left)
            ctx.emit(
                deployment_rules.LeftBehind,
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
                    deployment_rules.StartedByHand,
                    f"`{placed.name}` is no longer published: its start has no trigger any more, "
                    "so it can only be started manually",
                    severity=Severity.WARNING,
                    help="add a message or a timer to the start event, or compile with "
                    "`n8n{trigger=webhook}`",
                )
                continue
            ctx.emit(
                deployment_rules.StartedByHand,
                f"`{placed.name}` exists but is not published: it can only be started manually",
            )
