"""Rules about the support set of processes that wait in several places, and about open work."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class ChangedSupportSet(Rule):
    """
    What it finds
        The support set of processes that wait in several places was created, upgraded or repaired:
        the table of open work and the workflows that change it, once for each server.
    Why it is wrong
        No action is needed. Callers from outside, who send messages, authenticate with a header
        whose secret is in the credential `orgflow: callers of messages`.
    Example
        The first process with two parallel tasks is deployed to a server.
    Instead
        Set the secret of the credential in n8n to one that the callers know.
    """

    code = "OF624"
    name = "changed-support-set"
    severity = Severity.INFO
    category = Category.DEPLOY
    target = "n8n"


class NoSupportSet(Rule):
    """
    What it finds
        A process that waits in several places, and a server that cannot hold its support set: n8n 1
        has no API for Data Tables, the set exists twice, or a newer one is incomplete.
    Why it is wrong
        The process would have nowhere to keep its open work, so it was not deployed.
    Example
        A process with two parallel tasks, and n8n 1.123.
    Instead
        Update n8n to 2.0 or later; delete the copy that no process calls; or update orgflow.
    """

    code = "OF625"
    name = "no-support-set"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class OpenInstances(Rule):
    """
    What it finds
        Process instances that are open while their workflow is replaced.
    Why it is wrong
        No action is needed: each goes on in the new version, from the element where it waits.
    Example
        A text is changed while three orders wait for an approval.
    Instead
        Nothing. `orgflowc instances` shows where each of them stands.
    """

    code = "OF626"
    name = "open-instances"
    severity = Severity.INFO
    category = Category.DEPLOY
    target = "n8n"


class LostOpenWork(Rule):
    """
    What it finds
        Open work at an element that the new version of its process does not have. It is a warning
        if the deployed version does not have it, either.
    Why it is wrong
        The task, timer or message would be taken, and then nothing would follow. The workflow was
        not replaced.
    Example
        The task `Approve` was renamed to `Release` while two instances wait for it.
    Instead
        Name the element where they go on (`--migrate Approve=Release`, shown first with
        `--dry-run`), complete them, or end their instances with `orgflowc cancel`.
    """

    code = "OF627"
    name = "lost-open-work"
    severity = Severity.ERROR
    category = Category.DEPLOY
    target = "n8n"


class LostSupportCall(Rule):
    """
    What it finds
        A workflow that calls a workflow of the support set which somebody deleted. The support set
        was repaired; the id of the new workflow is another one.
    Why it is wrong
        The process fails at this call.
    Example
        `orgflow: claim open work` was deleted in the editor, and one of two processes was deployed
        again.
    Instead
        Also deploy the other process again.
    """

    code = "OF628"
    name = "lost-support-call"
    severity = Severity.WARNING
    category = Category.DEPLOY
    target = "n8n"


SUPPORT_RULES: tuple[type[Rule], ...] = (
    ChangedSupportSet,
    NoSupportSet,
    OpenInstances,
    LostOpenWork,
    LostSupportCall,
)
