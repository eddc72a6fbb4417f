"""Rules about n8n workflow files: OF050 to OF060."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class InvalidWorkflowJson(Rule):
    """
    What it finds
        A file that is not JSON: a missing comma or quote, a truncated end, an empty file.
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
        JSON that contains no n8n workflow: no object with `nodes` or `connections` at the top
        level, in a list, or under `workflow`, `workflows`, `workflowData` or `data`.
    Why it is wrong
        The file has another format.
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
        A value of the wrong type in a workflow: a text for the list of nodes, a number for a name.
    Why it is wrong
        n8n rejects the workflow, or ignores the value. The value is kept, and the rest is read
        without it.
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
        n8n rejects it. A missing name is generated; a node without a type is read as a task without
        implementation.
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
        n8n rejects the workflow with status 400; the step after the connection never runs.
    Example
        "connections": {"Start": {"main": [[{"node": "Chekc", "type": "main", "index": 0}]]}}
    Instead
        Use the exact name of a node of the workflow.
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
        Connections and expressions refer to nodes by name: they are ambiguous, and n8n rejects the
        workflow. Connections resolve to the first node.
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
        Nodes of a package that is not part of n8n.
    Why it is wrong
        This may be intended. The behaviour of these nodes is unknown; each of them is read as a
        service task with its parameters kept. The package must be installed where the workflow
        runs.
    Example
        A node of type `n8n-nodes-acme.invoice`.
    Instead
        No action is needed; check that such a node neither starts nor routes the workflow.
    """

    code = "OF056"
    name = "unknown-node-package"
    severity = Severity.INFO
    category = Category.INPUT


class NoTrigger(Rule):
    """
    What it finds
        A workflow with nodes but without an active trigger.
    Why it is wrong
        n8n cannot publish it, and it never runs. It is read as a process in which every node
        without an incoming connection starts immediately.
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
        A connection that can never carry items: from an output that the node does not have, from
        any but the first output of a disabled node, or to a trigger.
    Why it is wrong
        n8n reports nothing and never runs the nodes after it. The connection is kept as data of the
        process and is not read as a flow.
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
        n8n's API rejects duplicates in one workflow; the editor generates new ids on import. The
        second node is read with an id generated from its name.
    Example
        {"nodes": [{"id": "1", "name": "A", …}, {"id": "1", "name": "B", …}], …}
    Instead
        Use unique ids, or none.
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
        Nodes are then matched with the elements of the model by their notes only.
    Example
        `orgflow-map 1 {"model":"8e6e1b39d389","nodes":{"Check":` with the rest deleted.
    Instead
        Delete the note, or compile the model again and copy the note from the result.
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
