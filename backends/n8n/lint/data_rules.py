"""Rules of items, outputs and triggers, and of the limits of the check (OF46x, OF491, OF492)."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class StaleField(Rule):
    """
    What it finds
        A field that one branch sets, that another carries on from before, and that is read
        behind their Merge.
    Why it is wrong
        The later input overwrites equal fields: the fresh value is lost and the old one is
        read.
    Example
        `ok` set on the branch into input 0, an item with the old `ok` on input 1.
    Instead
        Swap the inputs, set `clashHandling`, or read `$('Set ok').first().json.ok`.
    """

    code = "OF460"
    name = "stale-field"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class DroppedField(Rule):
    """
    What it finds
        `$json.x` behind a node that replaced the item in which `x` was set.
    Why it is wrong
        It reads nothing, without an error (an info where the answer of the node may have
        such a field, too).
    Example
        Set `order` → Wait for a webhook → `{{ $json.order }}`.
    Instead
        `$('Set order').first().json.order`.
    """

    code = "OF461"
    name = "dropped-field"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class RestartedIndex(Rule):
    """
    What it finds
        `$runIndex` in a workflow that others call.
    Why it is wrong
        It counts the runs of a node within one call and begins at 0 in each: across calls
        it tells nothing.
    Example
        `{{ $runIndex }}` as a counter behind “When executed by another workflow”.
    Instead
        Hand the count over as an input of the call. In a loop inside the workflow that is called,
        where it counts the passes of this call, `$runIndex` is not reported.
    """

    code = "OF462"
    name = "restarted-index"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class UnwiredErrorOutput(Rule):
    """
    What it finds
        `onError` is `continueErrorOutput` and nothing is wired to the error output.
    Why it is wrong
        What fails is lost silently, and the run ends with the status success.
    Example
        An HTTP Request with only its first output wired.
    Instead
        Wire the last output, or leave `onError` away.
    """

    code = "OF463"
    name = "unwired-error-output"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class AddedItem(Rule):
    """
    What it finds
        `alwaysOutputData` at a node with several outputs.
    Why it is wrong
        Where all items leave by another output, an empty item leaves by the first one
        besides: both branches run.
    Example
        An If with `alwaysOutputData`.
    Instead
        Take it away; an If never ends a run by itself.
    """

    code = "OF464"
    name = "added-item"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class FirstItemOnly(Rule):
    """
    What it finds
        `executeOnce` at a node that may get several items.
    Why it is wrong
        It works for the first one only; the others are gone.
    Example
        Split Out → a mail with `executeOnce`: one mail for three orders.
    Instead
        Take `executeOnce` away, or aggregate the items first.
    """

    code = "OF465"
    name = "first-item-only"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class DisabledStep(Rule):
    """
    What it finds
        A disabled node in the middle of the flow.
    Why it is wrong
        It passes on what comes in on its first input, by its first output: a disabled If
        takes the true branch always.
    Example
        A disabled `Check limit` between two nodes.
    Instead
        Remove the node, or enable it.
    """

    code = "OF466"
    name = "disabled-step"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class SamePosition(Rule):
    """
    What it finds
        Nodes after one output that lie at the same place on the canvas.
    Why it is wrong
        Branches run from top to bottom, then left to right: the position is the order. At
        the same place it is the reverse of the wiring.
    Example
        Two nodes at [0, 0] behind a trigger.
    Instead
        Move the one that should run first up.
    """

    code = "OF467"
    name = "same-position"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class MergedTriggers(Rule):
    """
    What it finds
        A Merge whose inputs come from different triggers.
    Why it is wrong
        Each start is a run of its own: the Merge never gets both, and goes on with a part
        or not at all.
    Example
        A Webhook on input 0 and a Schedule on input 1.
    Instead
        Store what one brings and read it when the other starts.
    """

    code = "OF468"
    name = "merged-triggers"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class UnexploredRuns(Rule):
    """
    What it finds
        A workflow with more situations than are looked at.
    Why it is wrong
        What goes wrong only in the rest was not found.
    Example
        Many branches that fork, choose and meet again.
    Instead
        Split the workflow, or check its parts.
    """

    code = "OF469"
    name = "unexplored-runs"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class LostItemSettings(Rule):
    """
    What it finds
        A node in the place of a step of the model that may hand on no item, or several, without
        the settings that keep one case one item: Always Output Data on it, Execute Once on the
        nodes behind it.
    Why it is wrong
        Without an item n8n runs nothing behind the node and the execution ends with status
        success, in the middle of the process; with several all that follows is done for each.
    Example
        A Code node that was put in the place of the placeholder `Check stock` returns `[]`.
    Instead
        In the settings of the node switch on Always Output Data and Execute Once, as the
        placeholder had them.
    """

    code = "OF491"
    name = "lost-item-settings"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class VanishingData(Rule):
    """
    What it finds
        An expression that reads `$execution.customData` or writes into an item, or code that writes
        into the item of another node.
    Why it is wrong
        On an n8n server `$execution.customData` is undefined in expressions, and what is written
        into another node's item is gone: code and expressions there work on a copy. In a test of
        the node alone both may seem to work.
    Example
        `={{ $execution.customData.get("approved") }}`
    Instead
        Hand the value on in the item, or read it from the node that put it out:
        `$('Check').first().json.approved`.
    """

    code = "OF492"
    name = "vanishing-data"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


DATA_RULES: tuple[type[Rule], ...] = (
    StaleField,
    DroppedField,
    RestartedIndex,
    UnwiredErrorOutput,
    AddedItem,
    FirstItemOnly,
    DisabledStep,
    SamePosition,
    MergedTriggers,
    UnexploredRuns,
    LostItemSettings,
    VanishingData,
)
