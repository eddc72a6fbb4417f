"""Rules about nodes that depend on others: loops, answers, pages, models (N8N101 to N8N105)."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class LeftLoop(Rule):
    """
    What it finds
        A path through the body of a Loop Over Items that does not lead back to it.
    Why it is wrong
        The node outputs the next items when the current ones come back. If they do not, the other
        items are never processed, and nothing behind `done` runs; the run ends with status success.
    Example
        In the body, an If sends some items to its output `false`, which is not connected.
    Instead
        Connect the output with the Loop Over Items as well.
    """

    code = "N8N101"
    name = "left-loop"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class UsedUpLoop(Rule):
    """
    What it finds
        A Loop Over Items that a run reaches again after it is done, without the option `reset`.
    Why it is wrong
        The node keeps its items and its place for the whole run. When it is reached again, it takes
        the new items for the result of the last ones: it is done at once, and the new items are not
        processed.
    Example
        A Loop Over Items inside the body of another one.
    Instead
        Set `reset` to an expression that is true when new items come, such as
        `={{ $prevNode.name === "Get rows" }}`, or move the inner loop into its own
        workflow.
    """

    code = "N8N102"
    name = "used-up-loop"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class AnswerMode(Rule):
    """
    What it finds
        A trigger whose `Respond` does not match the Respond to Webhook nodes behind it, or a
        Respond to Webhook to which no Webhook, form or wait leads.
    Why it is wrong
        n8n refuses every call with an error: “Unused Respond to Webhook node found in the
        workflow”, or “No Respond to Webhook node found in the workflow”. Without a call, the node
        fails: “No Webhook node found in the workflow”.
    Example
        A Webhook with `"responseMode": "onReceived"` before a Respond to Webhook.
    Instead
        Set `responseMode` to `responseNode` where a Respond to Webhook answers, and to another
        value where none does. A Form Trigger of version 2.2 or later is answered by a Form page.
    """

    code = "N8N103"
    name = "answer-mode"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class PageWithoutForm(Rule):
    """
    What it finds
        A Form page (`form`) that no Form Trigger leads to.
    Why it is wrong
        The node fails in every run: “Form Trigger node must be set before this node”.
    Example
        A Webhook, then a Form page.
    Instead
        Start with a Form Trigger, or ask with a Wait that is resumed by a form.
    """

    code = "N8N104"
    name = "page-without-form"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class MissingModel(Rule):
    """
    What it finds
        A node of a language model, such as an AI Agent, to which no model is connected.
    Why it is wrong
        The node fails in every run: “A Chat Model sub-node must be connected and enabled”.
    Example
        An AI Agent without a connection of the kind `ai_languageModel`.
    Instead
        Connect a chat model with it.
    """

    code = "N8N105"
    name = "missing-model"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


PROTOCOL_RULES: tuple[type[Rule], ...] = (
    LeftLoop,
    UsedUpLoop,
    AnswerMode,
    PageWithoutForm,
    MissingModel,
)
