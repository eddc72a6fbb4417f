"""Rules about n8n workflow files: OF050 to OF060."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class InvalidWorkflowJson(Rule):
    """
    What it finds
        A file that is not JSON: a missing comma or quote, a cut-off end, an empty file.
    Why it is wrong
        Nothing in it can be read.
    Example
        {"nodes": [], "connections": {}
    Instead
        {"nodes": [], "connections": {}}
    """

    code = "OF050"
    name = "invalid-workflow-json"
    severity = Severity.ERROR
    category = Category.INPUT


class NotWorkflow(Rule):
    """
    What it finds
        JSON without an n8n workflow in it: no object with `nodes` or `connections`, at the top, in
        a list, or under `workflow`, `workflows`, `workflowData` or `data`.
    Why it is wrong
        It is another kind of file.
    Example
        {"tasks": [], "sequenceFlows": []} is a PME model
    Instead
        Name the right frontend with --from.
    """

    code = "OF051"
    name = "not-a-workflow"
    severity = Severity.ERROR
    category = Category.INPUT


class WrongWorkflowValue(Rule):
    """
    What it finds
        A value of the wrong kind in a workflow: a text for the list of nodes, a number for a name.
    Why it is wrong
        n8n does not take the workflow, or behaves as if the value were not there. It is kept, and
        the rest is read without it.
    Example
        {"name": "Check", "type": "n8n-nodes-base.noOp", "parameters": "none"}
    Instead
        {"name": "Check", "type": "n8n-nodes-base.noOp", "parameters": {}}
    """

    code = "OF052"
    name = "wrong-workflow-value"
    severity = Severity.ERROR
    category = Category.INPUT


class MissingWorkflowKey(Rule):
    """
    What it finds
        A workflow without `nodes`, or a node without `name` or `type`.
    Why it is wrong
        n8n refuses it. A name is made up; a node without a type is read as a task that says
        nothing of what it does.
    Example
        {"type": "n8n-nodes-base.noOp", "parameters": {}}
    Instead
        {"name": "Check", "type": "n8n-nodes-base.noOp", "parameters": {}}
    """

    code = "OF053"
    name = "missing-workflow-key"
    severity = Severity.ERROR
    category = Category.INPUT


class LostConnection(Rule):
    """
    What it finds
        A connection from or to a node that the workflow does not have.
    Why it is wrong
        n8n refuses the workflow with the answer 400; what should follow never runs.
    Example
        "connections": {"Start": {"main": [[{"node": "Chekc", "type": "main", "index": 0}]]}}
    Instead
        Name a node of the workflow, exactly as it is written there.
    """

    code = "OF054"
    name = "lost-connection"
    severity = Severity.ERROR
    category = Category.INPUT


class RepeatedNodeName(Rule):
    """
    What it finds
        Two nodes of a workflow with the same name.
    Why it is wrong
        Connections and expressions name nodes: either could be meant, and n8n refuses the
        workflow. Connections are taken to mean the first.
    Example
        {"nodes": [{"name": "Check", …}, {"name": "Check", …}], …}
    Instead
        Names that differ.
    """

    code = "OF055"
    name = "repeated-node-name"
    severity = Severity.ERROR
    category = Category.INPUT


class UnknownNodePackage(Rule):
    """
    What it finds
        Nodes of a package that does not come with n8n.
    Why it is wrong
        Nothing need be wrong; what these nodes do is not known, and each is read as a service task
        with its parameters kept. The package has to be installed where the workflow runs.
    Example
        A node of type `n8n-nodes-acme.invoice`.
    Instead
        Nothing to do; check that such a node neither starts nor routes the workflow.
    """

    code = "OF056"
    name = "unknown-node-package"
    severity = Severity.INFO
    category = Category.INPUT


class NoTrigger(Rule):
    """
    What it finds
        A workflow with nodes, none of which starts it (or only disabled ones).
    Why it is wrong
        n8n cannot publish it, and nothing ever runs it. It is read as a process in which all that
        nothing leads to starts at once.
    Example
        {"nodes": [{"name": "Check", "type": "n8n-nodes-base.noOp", …}], "connections": {}}
    Instead
        Add a trigger: manual, schedule, webhook, or “when executed by another workflow”.
    """

    code = "OF057"
    name = "no-trigger"
    severity = Severity.WARNING
    category = Category.INPUT


class DeadConnection(Rule):
    """
    What it finds
        A connection that can never carry anything: from an output the node does not have, from
        any but the first output of a disabled node, or into a trigger.
    Why it is wrong
        n8n says nothing and never runs what hangs on it. The connection is kept as data of the
        process and is no flow of it.
    Example
        The third output of an If: "connections": {"Ok?": {"main": [[], [], [{"node": "Log", …}]]}}
    Instead
        Connect an output that exists.
    """

    code = "OF058"
    name = "dead-connection"
    severity = Severity.WARNING
    category = Category.INPUT


class RepeatedNodeId(Rule):
    """
    What it finds
        Two nodes of a file with the same `id`.
    Why it is wrong
        n8n's API refuses two in one workflow; the editor gives new ids on import. The second is
        read under an id made from its name.
    Example
        {"nodes": [{"id": "1", "name": "A", …}, {"id": "1", "name": "B", …}], …}
    Instead
        Ids that differ, or none.
    """

    code = "OF059"
    name = "repeated-node-id"
    severity = Severity.WARNING
    category = Category.INPUT


class UnreadableMap(Rule):
    """
    What it finds
        A sticky note with orgflow's map from nodes to elements that can no longer be read.
    Why it is wrong
        Nodes are then matched with the elements of the model by their notes alone.
    Example
        `orgflow-map 1 {"model":"8e6e1b39d389","nodes":{"Check":` with the rest deleted.
    Instead
        Delete the note, or compile the model again and take the note from there.
    """

    code = "OF060"
    name = "unreadable-map"
    severity = Severity.WARNING
    category = Category.INPUT


N8N_RULES: tuple[type[Rule], ...] = (
    InvalidWorkflowJson,
    NotWorkflow,
    WrongWorkflowValue,
    MissingWorkflowKey,
    LostConnection,
    RepeatedNodeName,
    UnknownNodePackage,
    NoTrigger,
    DeadConnection,
    RepeatedNodeId,
    UnreadableMap,
)
