"""Rules of `verify` (OF480 to OF489, and OF635 for processes that wait in several places)."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class DifferentWorkflow(Rule):
    """
    What it finds
        A workflow that does something its model does not, or the reverse.
    Why it is wrong
        People rely on the model, but the workflow that runs is a different process.
    Example
        In n8n's editor, the connection from `Order ok?` → `no` was moved from `Send rejection` to
        `Ship`.
    Instead
        Compile the model again, or change the model to match the workflow. The two runs printed
        side by side show the first step at which they differ.
    """

    code = "OF480"
    name = "different-workflow"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class ChangedExpression(Rule):
    """
    What it finds
        A condition, a waiting time, or content that the compiler wrote (code, decision tables,
        mappings, fields and words of forms, requests, recipients, schedules, addresses that others
        call, messages of stops) that differs from that of the model, or a node with such content
        that no longer exists. The same holds for settings of the workflow: its time zone, its time
        limit, its error workflow and its callers. Layout, comments, names of nodes, credentials of
        requests and values that n8n's editor omits make no difference.
    Why it is wrong
        Whether the new one does the same as the old one depends on data and was not determined, so
        that the workflow is not proved; `verify` exits with 1. Everything else was verified under
        the assumption that it does. A condition that is negated,
        or that compares with another value or variable, counts as different (OF480), unless the
        step that sets the decision was filled with a node that names the new value or variable.
    Example
        `amount > 1000` became `amount > 5000` in n8n's editor.
    Instead
        Change the condition in the model, and compile it again.
    """

    code = "OF481"
    name = "changed-expression"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class AddedStep(Rule):
    """
    What it finds
        A node of the workflow that corresponds to no element of the model.
    Why it is wrong
        This may be intended: people add logging, lookups and messages. The verdict assumes that the
        node does not fail; OF489 reports what else has to hold of it. With --strict, it counts as a
        difference.
    Example
        A node `Log to sheet` between two steps of the model.
    Instead
        No action is needed, or add the step to the model.
    """

    code = "OF482"
    name = "added-step"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class UnfinishedVerification(Rule):
    """
    What it finds
        A workflow whose runs were not all explored; the message states where the exploration ended.
    Why it is wrong
        No difference was found, but this is not a proof.
    Example
        A parallel block of fifteen branches, each with a choice, has too many states.
    Instead
        Run the workflow as well (`orgflowc run --all-paths`), or split the block.
    """

    code = "OF483"
    name = "unfinished-verification"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class StandsStill(Rule):
    """
    What it finds
        Work that continues in the model during a wait, but is paused in n8n.
    Why it is wrong
        An n8n execution is suspended as a whole. The steps and their order match the model; only
        the timing differs, and n8n rejects a message for another wait in the meantime.
    Example
        `Pack goods` in parallel with a timer `Two days`.
    Instead
        Put the wait before or after the parallel block. With --strict, it counts as a difference.
    """

    code = "OF484"
    name = "stands-still"
    severity = Severity.INFO
    category = Category.TARGET
    target = "n8n"


class MissingWorkflow(Rule):
    """
    What it finds
        A process of the model that no workflow in the file was compiled from.
    Why it is wrong
        The process has no workflow that runs it.
    Example
        The model has the pools `Customer` and `Supplier`; the file has only the workflow of
        `Supplier`.
    Instead
        Pass the file with all workflows, or select one process with --process.
    """

    code = "OF485"
    name = "missing-workflow"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class UnverifiableFile(Rule):
    """
    What it finds
        A file that is not an n8n workflow, or one that cannot be simulated, for example because it
        uses n8n's legacy execution order or two nodes have the same name.
    Why it is wrong
        Its behaviour cannot be determined.
    Example
        A workflow without `"executionOrder": "v1"` in its settings.
    Instead
        Export the workflow from n8n again, and set the execution order to v1 in its settings.
    """

    code = "OF486"
    name = "unverifiable-file"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class UncomparedWorkflow(Rule):
    """
    What it finds
        An edited workflow of a process that waits in several places, in which the node that finds
        out what happened, or the claim before it, is missing or has another form.
    Why it is wrong
        All parts of the process begin there, so none of them can be compared with the model.
        `verify`, `compile --verify` and `compile --merge` exit with 1.
    Example
        The node `What happened?` was deleted.
    Instead
        Undo the edit, or compile the model again. With `n8n{waits=execution}` each process stays
        one execution without such nodes; a wait beside another one is then a placeholder or
        refused.
    """

    code = "OF629"
    name = "uncompared-workflow"
    severity = Severity.ERROR
    category = Category.TARGET
    target = "n8n"


class UnverifiedWorkflow(Rule):
    """
    What it finds
        A workflow in the file that was not compiled from any process of the model.
    Why it is wrong
        Its behaviour is not checked, so the file as a whole is not verified.
    Example
        An export of all workflows of a server, compared with one model.
    Instead
        Pass only the workflow, or the model that it belongs to.
    """

    code = "OF487"
    name = "unverified-workflow"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class ConditionalProof(Rule):
    """
    What it finds
        A node that a person added or put in the place of a placeholder, and that may return no item
        or several items, or change a process variable that another element sets, or data that a
        later node reads or sends.
    Why it is wrong
        The workflow is proved only if the node does not. Without an item the run ends there with
        status success; with several the following steps run once for each. With --strict, it counts
        as a difference.
    Example
        `Check stock` was filled with an HTTP Request. If the answer is a list of three, n8n makes
        three items of it.
    Instead
        Keep the settings of the placeholder (Always Output Data, and Execute Once in the next
        node), or use a node that makes one item of one: Edit Fields, Code that returns one item, or
        HTTP Request with the option Include Response Headers and Status.
    """

    code = "OF489"
    name = "conditional-proof"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


class UnreadSegment(Rule):
    """
    What it finds
        In a process that waits in several places: a node or a connection of an edited workflow that
        fits none of the forms in which its parts begin and end. Each part begins at the node that
        finds out what happened, and ends with one call of the support set that writes the open work
        into the Data Table.
    Why it is wrong
        The behaviour of this part is unknown, so the workflow is not proved; `verify` exits with 1.
    Example
        A Wait node was added between two steps, or the list of open work in a call was replaced by
        other code.
    Instead
        Undo the edit, or change the model and compile it again. Replace placeholders by the nodes
        that do the work, and leave the calls of `orgflow: …` as they are.
    """

    code = "OF635"
    name = "unread-segment"
    severity = Severity.WARNING
    category = Category.TARGET
    target = "n8n"


VERIFY_RULES: tuple[type[Rule], ...] = (
    DifferentWorkflow,
    ChangedExpression,
    AddedStep,
    UnfinishedVerification,
    StandsStill,
    MissingWorkflow,
    UnverifiableFile,
    UnverifiedWorkflow,
    UncomparedWorkflow,
    ConditionalProof,
    UnreadSegment,
)
