"""Rules of the flow in n8n's engine (OF449 to OF459)."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class StarvedMerge(Rule):
    """
    What it finds
        A Merge that some run never completes, in a mode that then does not go on
        (`chooseBranch`); as the entry of a loop always (an error).
    Why it is wrong
        The Merge and everything after it silently do not run, and the run ends with status
        success.
    Example
        An If whose branches meet in a Merge `chooseBranch`.
    Instead
        Branches of a choice need no Merge: wire them into the same input. Elsewhere
        `combineByPosition` with `includeUnpaired`.
    """

    code = "OF449"
    name = "starved-merge"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class EmptyMerge(Rule):
    """
    What it finds
        A Merge that combines its inputs and in some run gets one of them only.
    Why it is wrong
        It gives no item, so nothing after it runs, and the run ends with status success.
    Example
        An If whose branches meet in a Merge `combineByPosition`.
    Instead
        Wire the branches of a choice into the same input, or set `includeUnpaired`.
    """

    code = "OF450"
    name = "empty-merge"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class BlockedMerges(Rule):
    """
    What it finds
        Two Merges on one cycle that in some run wait with a part of their inputs.
    Why it is wrong
        n8n runs an incomplete Merge only when nothing before it still waits; each is before
        the other, so neither runs, and the run ends with status success.
    Example
        A loop over a Merge of `Ask` (only sometimes) and `Log`, and a second Merge behind
        it.
    Instead
        Deliver every input in each pass: wire the other output of the If straight into the
        Merge.
    """

    code = "OF451"
    name = "blocked-merges"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class RepeatedWork(Rule):
    """
    What it finds
        Branches that run in the same run and lead into one node without a Merge.
    Why it is wrong
        The node and everything after it run once per branch; in a loop every pass adds
        work, and it never ends.
    Example
        `Pack` and `Bill` both wired into `Ship`.
    Instead
        Put a Merge in front (`combineByPosition`), one input per branch.
    """

    code = "OF452"
    name = "repeated-work"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class RefilledInput(Rule):
    """
    What it finds
        Two sources on the same input of a Merge that both deliver in one run.
    Why it is wrong
        Each delivery is a token of its own: the Merge runs twice, the second time with a
        part of its inputs.
    Example
        `A` and `B` on input 0 of a Merge, `C` on input 1.
    Instead
        One input for each source (`numberInputs`).
    """

    code = "OF453"
    name = "refilled-input"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class OverwrittenItem(Rule):
    """
    What it finds
        Items that wait at a Merge and are overwritten before the other input comes.
    Why it is wrong
        n8n numbers what waits by its count: items are lost, and others pair with those of
        another pass.
    Example
        A node behind which two tokens, one after the other, reach a Merge on different
        inputs.
    Instead
        Join the branches before the node that runs several times.
    """

    code = "OF454"
    name = "overwritten-item"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class MultipliedItems(Rule):
    """
    What it finds
        A Merge in mode `append` that gets items of several branches in one run; in a loop a
        warning.
    Why it is wrong
        Every node after it works once for each of them; in a loop their number doubles with
        each pass.
    Example
        Two branches of one item each, joined by `append`: two mails are sent.
    Instead
        `combineByPosition`, which makes one item of one item per branch.
    """

    code = "OF455"
    name = "multiplied-items"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class InescapableLoop(Rule):
    """
    What it finds
        A loop that no choice leaves.
    Why it is wrong
        The run never ends: n8n has no limit on passes. Where the loop waits, or a node in
        it may fail or give nothing, this is a warning.
    Example
        `Check` → `Correct` → `Check`, without an If.
    Instead
        An If in the loop with one output that leads out.
    """

    code = "OF456"
    name = "inescapable-loop"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class UnmatchedItem(Rule):
    """
    What it finds
        A Switch without a fallback output whose rules leave out values.
    Why it is wrong
        An item that no rule takes is gone: the run just ends there, with status success.
    Example
        A Switch with the rules `a` and `b` and `fallbackOutput` none.
    Instead
        `"fallbackOutput": "extra"`, wired to what should then happen.
    """

    code = "OF457"
    name = "unmatched-item"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class WaitBesideWork(Rule):
    """
    What it finds
        A wait while other branches have not run yet; a warning where one of those waits for
        an answer, too.
    Why it is wrong
        n8n stops the whole run: the other branches stand still until the wait is over. The
        address of a second wait answers 404 until the first one is answered.
    Example
        Two Waits for a webhook, side by side.
    Instead
        Put the waits one after the other, or each branch into a workflow of its own.
    """

    code = "OF458"
    name = "wait-beside-work"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class UntoldTimeout(Rule):
    """
    What it finds
        A Wait for an answer with a time limit, and nothing after it that tells the one from
        the other.
    Why it is wrong
        When the time is over the item that came in goes on as if it were the answer.
    Example
        `Wait for approval` (limit 5 minutes) → `Pay`.
    Instead
        Set a field before the Wait and test with an If behind it: it is still there only
        after a timeout.
    """

    code = "OF459"
    name = "untold-timeout"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


FLOW_RULES: tuple[type[Rule], ...] = (
    StarvedMerge,
    EmptyMerge,
    BlockedMerges,
    RepeatedWork,
    RefilledInput,
    OverwrittenItem,
    MultipliedItems,
    InescapableLoop,
    UnmatchedItem,
    WaitBesideWork,
    UntoldTimeout,
)
