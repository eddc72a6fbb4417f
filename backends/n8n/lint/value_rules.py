"""Rules about values with which a node fails or decides nothing (N8N119 to N8N121)."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class FailingValue(Rule):
    """
    What it finds
        A fixed value with which the node fails in every run: a text in a field of the type number,
        JSON that is not valid, an address without `http`, a negative wait or one until a text that
        is not a date, a loop with a batch size below 1, a pattern that is not a regular expression,
        or an operation without the fields that it needs.
    Why it is wrong
        n8n publishes the workflow, and the node fails when it runs, or a loop does nothing.
    Example
        An HTTP Request with the JSON body `{ name: "Ann" }`: names need double quotes.
    Instead
        Correct the value at the place that the message names.
    """

    code = "N8N119"
    name = "failing-value"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class ConstantCondition(Rule):
    """
    What it finds
        A condition of an If, Filter or Switch that compares two fixed values, tests one, or that
        nobody has filled in (an info if the node has no conditions at all). “true is true” and “1 =
        1” are not reported, since people write them on purpose to switch a branch on.
    Why it is wrong
        It is the same for every item, so that one of the outputs is never used.
    Example
        The left value is the text `status` instead of `={{ $json.status }}`.
    Instead
        Write the value of the item as an expression.
    """

    code = "N8N120"
    name = "constant-condition"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class ExcludedNode(Rule):
    """
    What it finds
        A node of a type that n8n 2 does not load by default: Execute Command, Local File Trigger.
    Why it is wrong
        On a server with the default settings the type is unknown, and n8n does not publish the
        workflow.
    Example
        An Execute Command node.
    Instead
        Use another node, or remove the type from `NODES_EXCLUDE` on the server.
    """

    code = "N8N121"
    name = "excluded-node"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


VALUE_RULES = (FailingValue, ConstantCondition, ExcludedNode)
