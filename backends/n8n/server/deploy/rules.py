"""Rules of deploying to and running on a server: OF601 to OF619, and all of them together."""

from __future__ import annotations

from orgflow.backends.n8n.server.deploy.origin_rules import ORIGIN_RULES

from orgflow_ir.diagnostics import Category, Rule, Severity


class ServerUnreachable(Rule):
    """
    What it finds
        No answer from the server: nothing listens there, the connection broke, or it took too long,
        also after trying again for a while.
    Why it is wrong
        Nothing more can be deployed or run. What this deploy had created was removed again as far
        as the server answered; the next deploy repairs the rest.
    Example
        orgflowc deploy order.json --url http://127.0.0.1:5679
    Instead
        Start the server, check address and port, and give the same command again.
    """

    code = "OF601"
    name = "server-unreachable"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class RefusedKey(Rule):
    """
    What it finds
        A server that does not take the API key, or a key without the right to do this.
    Why it is wrong
        Without a key n8n's API does nothing.
    Example
        N8N_API_KEY has a key of another server, or one that was revoked meanwhile.
    Instead
        Make a key in n8n (Settings, n8n API) and give it by N8N_API_KEY or --key-file.
    """

    code = "OF602"
    name = "refused-api-key"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class NotN8n(Rule):
    """
    What it finds
        An address at which something answers that is not n8n's public API.
    Why it is wrong
        There is nothing to deploy to. The API may also be switched off in n8n.
    Example
        --url http://127.0.0.1:8080, where another web server listens.
    Instead
        Give the address of n8n's editor, without /api/v1 and without the path of a workflow.
    """

    code = "OF603"
    name = "not-n8n"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class UnsupportedServer(Rule):
    """
    What it finds
        A server older than the oldest n8n whose nodes are known.
    Why it is wrong
        n8n silently accepts nodes of a version that it does not have, and then does something
        else.
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
        A server whose version is unknown, or newer than those whose nodes were examined.
    Why it is wrong
        The workflows are written for the newest n8n that is known. A newer n8n keeps the node
        versions of older ones, so this usually works.
    Example
        n8n 2.60.
    Instead
        Nothing, or update orgflow.
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
        n8n takes it silently, and then runs another version of the node, or nothing.
    Example
        An `Edit Fields` node of version 3.5 on n8n 1.123, which has up to 3.4.
    Instead
        Compile for the server's version (`--target n8n{version=1.123}`; `deploy` does so when it
        is given the model), or update n8n.
    """

    code = "OF606"
    name = "node-too-new"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class EditedSince(Rule):
    """
    What it finds
        A workflow on the server that somebody has changed since it was deployed, where the change
        cannot be kept with the new workflow: the model changed the same thing, the workflow
        would not do any more what the model says, or what is deployed is a file that was edited.
    Why it is wrong
        Deploying would undo that work, so nothing of this workflow was touched.
    Example
        A placeholder was replaced by a mail node in n8n's editor, and its task was removed.
    Instead
        Look at it with --dry-run and settle each conflict on one of the two sides, or give
        --take-over; n8n keeps the version before in the workflow's history.
    """

    code = "OF607"
    name = "edited-since"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class NotDeployedHere(Rule):
    """
    What it finds
        A workflow of the same name on the server that was not made by deploying.
    Why it is wrong
        It may be something else, or the same workflow imported by hand: a second one
        would answer the same events.
    Example
        The compiled file was imported in the editor before.
    Instead
        Rename or delete that one, or give --take-over to make it the deployed one.
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
        It does not run. What was created for it was removed again.
    Example
        A node without a parameter or a credential that it requires.
    Instead
        Correct what n8n's message names; --no-publish leaves the workflow there as a draft.
    """

    code = "OF609"
    name = "refused-workflow"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class TakenPath(Rule):
    """
    What it finds
        A webhook path that another published workflow on the server has.
    Why it is wrong
        n8n publishes only one of them. What was created was removed again.
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
        A call of a workflow that is neither among the files nor on the server.
    Why it is wrong
        n8n refuses to publish the caller.
    Example
        Only one of the two files that a model became is given.
    Instead
        Give all files of the model in one command, or deploy the called workflow first.
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
        n8n publishes a workflow only when all it calls is published, so none can be the first.
    Example
        `Order` calls `Billing`, which calls `Order`.
    Instead
        Call by a webhook in one place; a workflow may call itself.
    """

    code = "OF612"
    name = "mutual-calls"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class SameIdentity(Rule):
    """
    What it finds
        Two workflows of one command that are the same one by their ids.
    Why it is wrong
        The second would overwrite the first.
    Example
        A file and its copy.
    Instead
        Leave one out, or give one another `id`.
    """

    code = "OF613"
    name = "same-identity"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class AmbiguousWorkflow(Rule):
    """
    What it finds
        Several workflows on the server that could be the one to update.
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
        A deploy that failed and could not be undone, since the server did not answer any more.
    Why it is wrong
        Workflows are there that are not published, or not all of them are the new ones.
    Example
        The server was stopped in the middle.
    Instead
        Give the same command again once the server answers: it finds and completes them.
    """

    code = "OF615"
    name = "left-behind"
    severity = Severity.WARNING
    category = Category.DEPLOY
    target = "n8n"


class StartedByHand(Rule):
    """
    What it finds
        A workflow that only a person starts.
    Why it is wrong
        Nothing: n8n has nothing to publish in it. It is run from the editor.
    Example
        A process whose start event says nothing of what starts it.
    Instead
        Nothing, or give the start event a message or a timer.
    """

    code = "OF616"
    name = "started-by-hand"
    severity = Severity.INFO
    category = Category.DEPLOY
    target = "n8n"


class VanishedWorkflow(Rule):
    """
    What it finds
        A workflow that was deleted or archived by somebody while it was deployed.
    Why it is wrong
        What was just created or updated is not there.
    Example
        Two people deploy and tidy up at the same time.
    Instead
        Give the same command again: it is created again.
    """

    code = "OF617"
    name = "vanished-workflow"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class FailedServer(Rule):
    """
    What it finds
        A server that answers with errors of its own, or refuses more calls for now, also after
        trying again for a while.
    Why it is wrong
        The deploy or the run could not be completed; what had been created was removed again.
    Example
        n8n's database is locked, or a gateway before it answers 502.
    Instead
        Look into the server's log, and give the same command again.
    """

    code = "OF618"
    name = "failed-server"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class NotLive(Rule):
    """
    What it finds
        A published workflow whose triggers do not answer.
    Why it is wrong
        Its calls are lost: n8n answers 404.
    Example
        A gateway before n8n does not let /webhook/ through.
    Instead
        Look into the server's log, and check that its webhooks have the same address.
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
"""A server failed, and not a workflow."""
