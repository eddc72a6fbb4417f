"""Rules about n8n servers: what they refuse, and whether they answer."""

from __future__ import annotations

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


class LeftRun(Rule):
    """
    What it finds
        A copy of a workflow that `run --engine URL` published for its runs, and whose run is no
        longer active.
    Why it is wrong
        The published workflow serves no purpose. `run` and `deploy` remove it when the run is known
        to be over: immediately on the same machine, after an hour on another one.
    Example
        A run was ended by `kill -9`, or its machine was switched off.
    Instead
        Nothing. If a copy is still reported after an hour, delete it in n8n.
    """

    code = "OF623"
    name = "left-run"
    severity = Severity.WARNING
    category = Category.DEPLOY
    target = "n8n"
