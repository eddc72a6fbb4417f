"""Rules about deployments, and all rules about servers and deployments together."""

from __future__ import annotations

from orgflow.backends.n8n.server.client.server_rules import (
    FailedServer,
    NotN8n,
    RefusedKey,
    RefusedWorkflow,
    ServerUnreachable,
    TakenPath,
    UnknownServerVersion,
    UnsupportedServer,
    VanishedWorkflow,
)
from orgflow.backends.n8n.server.deploy.origin_rules import ORIGIN_RULES
from orgflow.backends.n8n.server.deploy.support_rules import SUPPORT_RULES

from orgflow_ir.diagnostics import Category, Rule, Severity


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
    *SUPPORT_RULES,
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
