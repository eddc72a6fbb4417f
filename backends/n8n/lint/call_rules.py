"""Rules about workflows that call each other (N8N117, N8N118, N8N124)."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class CallInputs(Rule):
    """
    What it finds
        A call of another workflow whose inputs do not match those of its trigger. The other
        workflow is in the same file, beside it, or in another file of the command. Inputs that the
        call does not set are an info.
    Why it is wrong
        n8n drops an input that the other workflow does not declare, without an error. An input that
        the call does not set has the value of the item's field with this name, otherwise null.
    Example
        The call sets `ordr`, and the called workflow declares `order`.
    Instead
        Use the names that the called workflow declares.
    """

    code = "N8N117"
    name = "call-inputs"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class RefusedCall(Rule):
    """
    What it finds
        A call of another workflow that n8n refuses: the workflow has no enabled trigger “When
        Executed by Another Workflow”, or its settings exclude the caller.
    Why it is wrong
        The node fails in every run.
    Example
        The called workflow has only a Webhook.
    Instead
        Add the trigger to the called workflow, or name the caller in its settings.
    """

    code = "N8N118"
    name = "refused-call"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class EndlessCall(Rule):
    """
    What it finds
        A workflow that calls itself, in which nothing decides whether to call again.
    Why it is wrong
        Every run starts another one, until the server has no memory left.
    Example
        The trigger “When Executed by Another Workflow” leads to the call of the same workflow.
    Instead
        Decide with an If before the call whether another one is needed.
    """

    code = "N8N124"
    name = "endless-call"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


CALL_RULES = (CallInputs, RefusedCall, EndlessCall)
