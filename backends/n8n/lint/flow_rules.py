"""Rules of the flow in n8n's engine (OF449 to OF459)."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class StarvedMerge(Rule):
    """
    What it finds
        A Merge in mode `chooseBranch` whose inputs some run never completes. If the Merge is the
        entry of a loop, no run completes them (an error).
    Why it is wrong
        The Merge and everything after it silently do not run, and the run ends with status
        success.
    Example
        An If whose branches meet in a Merge `chooseBranch`.
    Instead
        Alternative branches need no Merge: connect them to the same input. Elsewhere
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
        A Merge that combines its inputs and in some run receives only one of them.
    Why it is wrong
        It outputs no item, so nothing after it runs, and the run ends with status success.
    Example
        An If whose branches meet in a Merge `combineByPosition`.
    Instead
        Connect alternative branches to the same input, or set `includeUnpaired`.
    """

    code = "OF450"
    name = "empty-merge"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class BlockedMerges(Rule):
    """
    What it finds
        Two Merges in one loop that in some run wait with only some of their inputs.
    Why it is wrong
        n8n runs an incomplete Merge only when no node before it is waiting. In the loop, each Merge
        is before the other, so neither runs, and the run ends with status success.
    Example
        A loop over a Merge of `Ask` (only sometimes) and `Log`, followed by a second Merge.
    Instead
        Deliver every input in each iteration: connect the other output of the If directly to the
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
        Parallel branches that lead to the same node without a Merge.
    Why it is wrong
        The node and everything after it run once per branch. In a loop, every iteration adds
        executions, and the run never ends.
    Example
        `Pack` and `Bill` both connect to `Ship`.
    Instead
        Put a Merge (`combineByPosition`) with one input per branch before the node.
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
        The Merge runs once for each delivery, the second time with only some of its inputs.
    Example
        `A` and `B` on input 0 of a Merge, `C` on input 1.
    Instead
        Give each source its own input (`numberInputs`).
    """

    code = "OF453"
    name = "refilled-input"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class OverwrittenItem(Rule):
    """
    What it finds
        Items that wait at a Merge and are overwritten before the other input arrives.
    Why it is wrong
        n8n numbers waiting items by their count: items are lost, and others are paired with items
        of another iteration.
    Example
        A node that runs twice and whose items reach different inputs of a Merge.
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
        A Merge in mode `append` that receives items of several branches in one run (a warning in a
        loop).
    Why it is wrong
        Every node after it runs once for each item; in a loop, their number doubles with each
        iteration.
    Example
        Two branches of one item each, joined by `append`: two mails are sent.
    Instead
        Use `combineByPosition`, which combines one item per branch into one.
    """

    code = "OF455"
    name = "multiplied-items"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class InescapableLoop(Rule):
    """
    What it finds
        A loop without an exit.
    Why it is wrong
        The run never ends: n8n does not limit the number of iterations. The severity is warning if
        the loop waits, or if a node in it may fail or output no item.
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
        A Switch without a fallback output whose rules do not cover all values.
    Why it is wrong
        An item that matches no rule is dropped: the run ends there with status success.
    Example
        A Switch with the rules `a` and `b` and `fallbackOutput` none.
    Instead
        Set `"fallbackOutput": "extra"` and connect this output to the step for other values.
    """

    code = "OF457"
    name = "unmatched-item"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class WaitBesideWork(Rule):
    """
    What it finds
        A wait while other branches have not run yet. The severity is warning if one of them also
        waits for an answer.
    Why it is wrong
        n8n suspends the whole run: the other branches are paused until the wait is over. The
        address of a second wait answers 404 until the first one is answered.
    Example
        Two Waits for a webhook in parallel branches.
    Instead
        Put the waits in sequence, or move each branch to its own workflow.
    """

    code = "OF458"
    name = "wait-beside-work"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class UntoldTimeout(Rule):
    """
    What it finds
        A Wait for an answer with a time limit, and no node after it that distinguishes an answer
        from a timeout.
    Why it is wrong
        After the timeout, the input item is passed on as if it were the answer.
    Example
        `Wait for approval` (limit 5 minutes) → `Pay`.
    Instead
        Set a field before the Wait and test it with an If after the Wait: the field is present only
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
