"""Rules of items, outputs and triggers, and of the limits of the check (OF46x, OF491, OF492)."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class StaleField(Rule):
    """
    What it finds
        A field that one branch sets, that another branch carries with an older value, and that is
        read after their Merge.
    Why it is wrong
        The later input overwrites fields of the same name: the new value is lost and the old one is
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
        `$json.x` after a node that replaced the item in which `x` was set.
    Why it is wrong
        The expression is undefined and raises no error. The severity is info if the node's response
        may have a field of that name.
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
        It counts the runs of a node within one call and begins at 0 in each: it cannot count calls.
    Example
        `{{ $runIndex }}` as a counter after “When executed by another workflow”.
    Instead
        Pass the count as an input of the call. `$runIndex` in a loop inside the called workflow is
        not reported, since it counts the iterations of that call.
    """

    code = "OF462"
    name = "restarted-index"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class UnwiredErrorOutput(Rule):
    """
    What it finds
        `onError` is `continueErrorOutput`, but the error output has no connection.
    Why it is wrong
        Failed items are lost silently, and the run ends with the status success.
    Example
        An HTTP Request with only its first output wired.
    Instead
        Connect the last output, or remove `onError`.
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
        If all items leave by another output, an empty item also leaves by the first
        one, so both branches run.
    Example
        An If with `alwaysOutputData`.
    Instead
        Remove the setting; an If never ends a run by itself.
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
        The node processes only the first item and drops the others.
    Example
        Split Out → a mail with `executeOnce`: one mail for three orders.
    Instead
        Remove `executeOnce`, or aggregate the items first.
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
        It passes the items of its first input to its first output: a disabled If always takes the
        true branch.
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
        Nodes connected to one output that have the same position on the canvas.
    Why it is wrong
        Branches run from top to bottom, then from left to right: the position defines the order.
        Nodes at the same position run in the reverse order of their connections.
    Example
        Two nodes at [0, 0] after a trigger.
    Instead
        Move up the node that should run first.
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
        Each trigger starts a separate run: the Merge never receives both inputs, and continues with
        one of them or not at all.
    Example
        A Webhook on input 0 and a Schedule on input 1.
    Instead
        Store the data of one trigger and read it when the other one starts.
    """

    code = "OF468"
    name = "merged-triggers"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class UnexploredRuns(Rule):
    """
    What it finds
        A workflow that has more states than the analysis explores.
    Why it is wrong
        Faults that occur only in the unexplored states are not reported.
    Example
        Many branches that split, choose and join again.
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
        A node that replaces a step of the model and may output no item, or several, without the
        settings that keep one item per case: Always Output Data on the node, Execute Once on the
        nodes after it.
    Why it is wrong
        If the node outputs no item, n8n runs nothing after it, and the execution ends with status
        success in the middle of the process. If it outputs several items, n8n executes every
        following step once for each of them.
    Example
        A Code node that replaced the placeholder `Check stock` returns `[]`.
    Instead
        Turn on Always Output Data and Execute Once in the settings of the node, as in the
        placeholder.
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
        On an n8n server `$execution.customData` is undefined in expressions, and changes to another
        node's item are lost: code and expressions work on a copy. Both may seem to work when you
        test only the node.
    Example
        `={{ $execution.customData.get("approved") }}`
    Instead
        Pass the value on in the item, or read it from the node that produced it:
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
