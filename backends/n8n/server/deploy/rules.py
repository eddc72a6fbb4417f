"""Rules of deploying to and running on a server: OF601 to OF619, and all of them together."""

from __future__ import annotations

from orgflow.backends.n8n.server.deploy.origin_rules import ORIGIN_RULES

from orgflow_ir.diagnostics import Category, Rule, Severity


class ServerUnreachable(Rule):
    """
    What it finds
        No response from the server: nothing listens at the address, the connection broke, or the
        request timed out, even after several attempts.
    Why it is wrong
        Nothing more can be deployed or run. Changes of this deployment were undone while the server
        responded; the next deployment repairs the rest.
    Example
        orgflowc deploy order.json --url http://127.0.0.1:5679
    Instead
        Start the server, check address and port, and run the same command again.
    """

    code = "OF601"
    name = "server-unreachable"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class RefusedKey(Rule):
    """
    What it finds
        A server that rejects the API key, or a key without the required permission.
    Why it is wrong
        n8n's API requires a key.
    Example
        N8N_API_KEY contains the key of another server, or a revoked key.
    Instead
        Create a key in n8n (Settings, n8n API) and pass it with N8N_API_KEY or --key-file.
    """

    code = "OF602"
    name = "refused-api-key"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class NotN8n(Rule):
    """
    What it finds
        An address that responds, but not as n8n's public API.
    Why it is wrong
        There is nothing to deploy to. The API may also be disabled in n8n.
    Example
        --url http://127.0.0.1:8080, where another web server listens.
    Instead
        Use the address of n8n's editor, without /api/v1 and without the path of a workflow.
    """

    code = "OF603"
    name = "not-n8n"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class UnsupportedServer(Rule):
    """
    What it finds
        A server that runs an older n8n than the oldest supported version.
    Why it is wrong
        n8n silently accepts nodes of a version that it does not have, and then runs them
        differently.
    Example
        n8n 1.50.
    Instead
        Update n8n to 1.123 or later.
    """

    code = "OF604"
    name = "unsupported-server"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class UnknownServerVersion(Rule):
    """
    What it finds
        A server whose version is unknown, or newer than the tested versions.
    Why it is wrong
        The workflows target the newest supported n8n. A newer n8n keeps the node versions of older
        ones, so this usually works.
    Example
        n8n 2.60.
    Instead
        No action is needed, or update orgflow.
    """

    code = "OF605"
    name = "unknown-server-version"
    severity = Severity.INFO
    category = Category.DEPLOY
    target = "n8n"


class NodeTooNew(Rule):
    """
    What it finds
        A node of a version that this server's n8n does not have.
    Why it is wrong
        n8n accepts it silently, and then runs another version of the node, or nothing.
    Example
        An `Edit Fields` node of version 3.5 on n8n 1.123, which supports up to 3.4.
    Instead
        Compile for the server's version (`--target n8n{version=1.123}`; `deploy` does this if you
        pass it the model), or update n8n.
    """

    code = "OF606"
    name = "node-too-new"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class EditedSince(Rule):
    """
    What it finds
        A workflow on the server that was edited after it was deployed, if the edit cannot be
        merged: the model changed the same part, the result would no longer match the model, or the
        deployed file was itself edited.
    Why it is wrong
        Deploying would undo the edit, so the workflow was not changed.
    Example
        A placeholder was replaced by a mail node in n8n's editor, and its task was removed.
    Instead
        Review the conflicts with --dry-run and resolve each of them on one side, or use
        --take-over; n8n keeps the previous version in the workflow's history.
    """

    code = "OF607"
    name = "edited-since"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class NotDeployedHere(Rule):
    """
    What it finds
        A workflow on the server that has the same name or the same nodes, but was not created by a
        deployment: it is unrelated, imported, or a copy of a deployed workflow that is gone.
    Why it is wrong
        It may be unrelated, or the same workflow imported manually: a second one would react to the
        same events.
    Example
        The compiled file was imported in the editor. Alternatively, a deployed workflow was deleted
        and restored from a backup under another id.
    Instead
        Rename or delete the existing workflow, or use --take-over to deploy to it.
    """

    code = "OF608"
    name = "not-deployed-here"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class RefusedWorkflow(Rule):
    """
    What it finds
        A workflow that n8n refuses to create or to publish.
    Why it is wrong
        It does not run. Everything created for it was removed again.
    Example
        A node without a parameter or a credential that it requires.
    Instead
        Fix what n8n's message reports; --no-publish leaves the workflow on the server as a draft.
    """

    code = "OF609"
    name = "refused-workflow"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class TakenPath(Rule):
    """
    What it finds
        A webhook path that another published workflow on the server already uses.
    Why it is wrong
        n8n publishes only one of them. The created workflow was removed again.
    Example
        Two workflows with a webhook at `order`.
    Instead
        Change the path, or unpublish the other workflow.
    """

    code = "OF610"
    name = "taken-path"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class MissingCallee(Rule):
    """
    What it finds
        A call to a workflow that is neither among the files nor on the server.
    Why it is wrong
        n8n refuses to publish the caller.
    Example
        Only one of the two files compiled from a model is passed.
    Instead
        Pass all files of the model in one command, or deploy the called workflow first.
    """

    code = "OF611"
    name = "missing-callee"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class MutualCalls(Rule):
    """
    What it finds
        Workflows that call each other in a circle.
    Why it is wrong
        n8n publishes a workflow only after all workflows that it calls, so none can be the first.
    Example
        `Order` calls `Billing`, which calls `Order`.
    Instead
        Replace one of the calls with a webhook; a workflow may call itself.
    """

    code = "OF612"
    name = "mutual-calls"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class SameIdentity(Rule):
    """
    What it finds
        Two workflows of one command that have the same identity.
    Why it is wrong
        The second would overwrite the first.
    Example
        A file and its copy.
    Instead
        Remove one of them, or change its `id`.
    """

    code = "OF613"
    name = "same-identity"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class AmbiguousWorkflow(Rule):
    """
    What it finds
        Several workflows on the server match the deployment.
    Why it is wrong
        The files do not show which of them to update.
    Example
        An archived workflow was restored after it had been deployed again.
    Instead
        Delete or archive all but one.
    """

    code = "OF614"
    name = "ambiguous-workflow"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class LeftBehind(Rule):
    """
    What it finds
        A deployment that failed and could not be undone because the server stopped responding.
    Why it is wrong
        Some workflows are not published, or still have their old version.
    Example
        The server was stopped during the deployment.
    Instead
        Run the same command again when the server responds: it finds and completes them.
    """

    code = "OF615"
    name = "left-behind"
    severity = Severity.WARNING
    category = Category.DEPLOY
    target = "n8n"


class StartedByHand(Rule):
    """
    What it finds
        A workflow that only a person can start. It is a warning if the workflow was published
        before: the model had a start that n8n can publish, such as a page.
    Why it is wrong
        No action is needed: n8n has nothing to publish in it. It is run from the editor. A workflow
        that was published before is unpublished, so its address no longer answers.
    Example
        A process whose start event has no trigger.
    Instead
        No action is needed, or add a message or a timer to the start event.
    """

    code = "OF616"
    name = "started-by-hand"
    severity = Severity.INFO
    category = Category.DEPLOY
    target = "n8n"


class VanishedWorkflow(Rule):
    """
    What it finds
        A workflow that somebody deleted or archived during the deployment.
    Why it is wrong
        The workflow that was just created or updated is missing.
    Example
        Somebody deletes old workflows on the server during a deployment.
    Instead
        Run the same command again to recreate it.
    """

    code = "OF617"
    name = "vanished-workflow"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class FailedServer(Rule):
    """
    What it finds
        A server that responds with internal errors, or rejects further calls for now, even after
        several attempts.
    Why it is wrong
        The deployment or run could not be completed; created workflows were removed again.
    Example
        n8n's database is locked, or a reverse proxy responds with 502.
    Instead
        Check the server's log, and run the same command again.
    """

    code = "OF618"
    name = "failed-server"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class NotLive(Rule):
    """
    What it finds
        A published workflow whose triggers do not respond.
    Why it is wrong
        Its calls are lost: n8n responds with 404.
    Example
        A reverse proxy does not forward /webhook/ to n8n.
    Instead
        Check the server's log, and that webhooks use the same address as the API.
    """

    code = "OF619"
    name = "not-live"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


DEPLOY_RULES: tuple[type[Rule], ...] = (
    ServerUnreachable,
    RefusedKey,
    NotN8n,
    UnsupportedServer,
    UnknownServerVersion,
    NodeTooNew,
    EditedSince,
    NotDeployedHere,
    RefusedWorkflow,
    TakenPath,
    MissingCallee,
    MutualCalls,
    SameIdentity,
    AmbiguousWorkflow,
    LeftBehind,
    StartedByHand,
    VanishedWorkflow,
    FailedServer,
    NotLive,
    *ORIGIN_RULES,
)

SERVER_RULES: tuple[type[Rule], ...] = (
    ServerUnreachable,
    RefusedKey,
    NotN8n,
    UnsupportedServer,
    FailedServer,
    NotLive,
)
"""A server failed, not a workflow."""
