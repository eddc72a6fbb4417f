"""Rules of what shows only when a workflow runs (OF441 to OF448)."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class BrokenExpression(Rule):
    """
    What it finds
        An expression that is not whole: a quote or a bracket that is not closed, nothing
        between `{{` and `}}`.
    Why it is wrong
        n8n looks at it only when the node runs, and then the node fails.
    Example
        `={{ ($json.total }}`
    Instead
        Close what is open; `} }` where `}}` is meant inside an expression.
    """

    code = "OF441"
    name = "broken-expression"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class MissingNodeReference(Rule):
    """
    What it finds
        An expression that reads from a node the workflow does not have.
    Why it is wrong
        n8n looks at it only when the node runs, and then the node fails; `.isExecuted` does
        not help.
    Example
        `={{ $('Chekc stock').first().json.ok }}`
    Instead
        The name of a node, exactly as it is written there.
    """

    code = "OF442"
    name = "missing-node-reference"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class EarlyReference(Rule):
    """
    What it finds
        An expression that reads from a node which has not run yet on some way, or on any
        (an error).
    Why it is wrong
        The node that reads fails with “hasn't been executed”; `?.` and `$ifEmpty` do not
        help.
    Example
        Behind an If: `={{ $('Ask again').first().json.answer }}`, where `Ask again` is on
        one branch.
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
        A text with `{{ }}` that is no expression because it does not begin with `=`; or one
        that begins with `=` and has no `{{ }}` (an info).
    Why it is wrong
        Without `=` the braces are passed on as they are and nothing is filled in. With `=`
        alone n8n drops the `=` of the text.
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
        A Wait with a time limit that another wait or a waited-for call can follow in the
        same run.
    Why it is wrong
        n8n does not remove the timer when the answer comes: it can end whatever the run
        waits for then, which looks like a timeout there.
    Example
        `Ask the boss` (limit 2 hours), then `Ask the customer`.
    Instead
        Put the limited wait alone into a workflow of its own and call that.
    """

    code = "OF445"
    name = "stale-timer"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class LegacyOrder(Rule):
    """
    What it finds
        A workflow with branches that run side by side or meet, whose settings do not say
        `"executionOrder": "v1"`.
    Why it is wrong
        n8n runs it in the order of its first years: branches step by step in turn, and a
        Merge with a dead branch differently. What follows from the order is not looked at
        here.
    Example
        `"settings": {}` with two nodes behind one output.
    Instead
        `"settings": {"executionOrder": "v1"}`, after a look at the branches.
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
        The workflow is published silently, and never starts.
    Example
        `0 0 12 ? * MON`
    Instead
        `0 12 * * 1`: five fields, or six with seconds first.
    """

    code = "OF447"
    name = "dead-schedule"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class SharedAddress(Rule):
    """
    What it finds
        Two triggers that answer the same call, or a wait whose address can never be called.
    Why it is wrong
        n8n does not publish two triggers of one path; a `webhookSuffix` that is an
        expression never matches, so every call gets 404.
    Example
        Two Webhooks with method POST and path `order`.
    Instead
        A path of its own for each; a fixed text as suffix.
    """

    code = "OF448"
    name = "shared-address"
    severity = Severity.ERROR
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
)
