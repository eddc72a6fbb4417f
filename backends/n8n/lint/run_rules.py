"""Rules of faults that only appear at run time (OF441 to OF448, OF493)."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class BrokenExpression(Rule):
    """
    What it finds
        An incomplete expression: an unclosed quote or bracket, or nothing between `{{` and `}}`.
    Why it is wrong
        n8n evaluates it only when the node runs, and then the node fails.
    Example
        `={{ ($json.total }}`
    Instead
        Close the quote or bracket. Inside an expression, write `} }` for two closing braces.
    """

    code = "OF441"
    name = "broken-expression"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class MissingNodeReference(Rule):
    """
    What it finds
        An expression that reads from a node that does not exist in the workflow.
    Why it is wrong
        n8n evaluates it only when the node runs, and then the node fails; `.isExecuted` does not
        help.
    Example
        `={{ $('Chekc stock').first().json.ok }}`
    Instead
        Use the exact name of a node of the workflow.
    """

    code = "OF442"
    name = "missing-node-reference"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class EarlyReference(Rule):
    """
    What it finds
        An expression that reads from a node that has not run yet on some path, or on every path (an
        error).
    Why it is wrong
        The reading node fails with “hasn't been executed”; `?.` and `$ifEmpty` do not help.
    Example
        After an If: `={{ $('Ask again').first().json.answer }}`, where `Ask again` is on one
        branch.
    Instead
        `$('Ask again').isExecuted ? $('Ask again').first().json.answer : …`
    """

    code = "OF443"
    name = "early-reference"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class MisplacedBraces(Rule):
    """
    What it finds
        A text with `{{ }}` that is not an expression because it does not begin with `=`; a text
        that begins with `=` and has no `{{ }}` (an info); or white space beside the only `{{ }}` of
        a condition, field or object that needs another value than a text (an error).
    Why it is wrong
        Without `=`, n8n passes the braces on as plain text. With `=` alone, n8n drops the `=`. With
        white space beside `{{ }}`, n8n makes a text of the value: a condition is never true, or the
        node fails.
    Example
        `"subject": "Order {{ $json.id }}"`
    Instead
        `"subject": "=Order {{ $json.id }}"`
    """

    code = "OF444"
    name = "misplaced-braces"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class StaleTimer(Rule):
    """
    What it finds
        A Wait with a time limit, followed by another wait or a synchronous call in the same run.
    Why it is wrong
        n8n does not remove the timer when the answer arrives. It can end a later wait of the run,
        which then looks like a timeout.
    Example
        `Ask the boss` (limit 2 hours), then `Ask the customer`.
    Instead
        Move the limited wait to its own workflow and call that workflow.
    """

    code = "OF445"
    name = "stale-timer"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class LegacyOrder(Rule):
    """
    What it finds
        A workflow with parallel or joining branches whose settings lack `"executionOrder": "v1"`.
    Why it is wrong
        n8n uses its legacy execution order: it alternates between branches node by node, and
        handles a Merge with a dead branch differently. Faults that depend on this order are not
        reported.
    Example
        `"settings": {}` and two nodes connected to one output.
    Instead
        Review the branches and set `"settings": {"executionOrder": "v1"}`.
    """

    code = "OF446"
    name = "legacy-order"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class DeadSchedule(Rule):
    """
    What it finds
        A cron expression that n8n cannot read: Quartz's `?`, `L`, `W`, `#`, a year, a
        number out of range.
    Why it is wrong
        n8n publishes the workflow without an error, and the workflow never starts.
    Example
        `0 0 12 ? * MON`
    Instead
        Use five fields, such as `0 12 * * 1`, or six with the seconds first.
    """

    code = "OF447"
    name = "dead-schedule"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class SharedAddress(Rule):
    """
    What it finds
        Two triggers that answer the same call, in one workflow or in two workflows of the command
        (a warning), or a wait whose address can never be called.
    Why it is wrong
        n8n does not publish two triggers with the same path. A `webhookSuffix` that is an
        expression never matches, so every call gets 404.
    Example
        Two Webhooks with method POST and path `order`.
    Instead
        Give each trigger its own path; use a fixed text as the suffix.
    """

    code = "OF448"
    name = "shared-address"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class HiddenCodeOutput(Rule):
    """
    What it finds
        In a workflow for n8n 1: a Code node in JavaScript whose items an expression reads by
        `$('NAME').first()`, `.last()`, `.all()`, `.item` or `$items('NAME')`, directly or after
        nodes that pass them on, or by `$input.first()` in the next node. A workflow is for n8n 1 if
        it was compiled for it, or with `check --target 'n8n{version=1.123}'`.
    Why it is wrong
        Without task runners, which are off by default in n8n 1, expressions do not see objects that
        code has created: the whole expression is undefined, without an error. An If then takes its
        second output, a Switch its fallback. `$json` and Code nodes read the item correctly, and
        the output of Python code is visible.
    Example
        `={{ $('Compute').first().json.total > 100 }}`, where `Compute` is a Code node.
    Instead
        Set `N8N_RUNNERS_ENABLED=true` on the server, write `$node["Compute"].json.total`, or put a
        Set node with the values after the code and read that.
    """

    code = "OF493"
    name = "hidden-code-output"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


RUN_RULES: tuple[type[Rule], ...] = (
    BrokenExpression,
    MissingNodeReference,
    EarlyReference,
    MisplacedBraces,
    StaleTimer,
    LegacyOrder,
    DeadSchedule,
    SharedAddress,
    HiddenCodeOutput,
)
