"""Rules about PME files: OF030 to OF037."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class InvalidJson(Rule):
    """
    What it finds
        A file that is not JSON: a missing comma or quote, a truncated end, an empty file.
    Why it is wrong
        Nothing in it can be read.
    Example
        {"tasks": [{"id": "Task_1" "name": "Check order"}]}
    Instead
        {"tasks": [{"id": "Task_1", "name": "Check order"}]}
    """

    code = "OF030"
    name = "invalid-json"
    severity = Severity.ERROR
    category = Category.INPUT


class NotPme(Rule):
    """
    What it finds
        JSON that is not a PME model: not an object, or without any of the lists `tasks`, `events`,
        `gateways`, `pools`, `sequenceFlows` and `messageFlows`.
    Why it is wrong
        The file has another format.
    Example
        {"nodes": [], "connections": {}} is an n8n workflow
    Instead
        Name the right frontend with --from.
    """

    code = "OF031"
    name = "not-pme"
    severity = Severity.ERROR
    category = Category.INPUT


class WrongType(Rule):
    """
    What it finds
        A value of the wrong type: a number for a text, an object for a list.
    Why it is wrong
        The intended value is unknown; the value is ignored and the rest is read.
    Example
        {"id": "Task_1", "name": 7, "type": "Task"}
    Instead
        {"id": "Task_1", "name": "7", "type": "Task"}
    """

    code = "OF032"
    name = "wrong-type"
    severity = Severity.ERROR
    category = Category.INPUT


class MissingKey(Rule):
    """
    What it finds
        An element without its `id`, `type`, `sourceRef` or `targetRef`.
    Why it is wrong
        A node without a type cannot run, and a flow without an end leads nowhere. A missing id is
        generated. A task without a type is read as an abstract task, any other node as an opaque
        node.
    Example
        {"id": "SequenceFlow_1", "sourceRef": "Task_1"}
    Instead
        {"id": "SequenceFlow_1", "sourceRef": "Task_1", "targetRef": "EndNoneEvent_1"}
    """

    code = "OF033"
    name = "missing-key"
    severity = Severity.ERROR
    category = Category.INPUT


class UnknownKey(Rule):
    """
    What it finds
        A key that PME does not define, or a duplicate key in an object; it is kept without effect.
    Why it is wrong
        It may be misspelt.
    Example
        {"id": "SequenceFlow_1", "sourceRef": "A", "targetRef": "B", "label": "yes"}
    Instead
        {"id": "SequenceFlow_1", "sourceRef": "A", "targetRef": "B", "condition": "yes"}
    """

    code = "OF034"
    name = "unknown-key"
    severity = Severity.WARNING
    category = Category.INPUT


class UnknownElementType(Rule):
    """
    What it finds
        A `type` that PME does not define; the element is kept with its flows but cannot run.
    Why it is wrong
        Its meaning is unknown.
    Example
        {"id": "Task_1", "name": "Check order", "type": "Robot"}
    Instead
        {"id": "Task_1", "name": "Check order", "type": "Service"}
    """

    code = "OF035"
    name = "unknown-element-type"
    severity = Severity.ERROR
    category = Category.INPUT


class RepeatedId(Rule):
    """
    What it finds
        Two elements with the same id.
    Why it is wrong
        A flow that references the id is ambiguous. References resolve to the first element; the
        second one is read with the suffix `__2`.
    Example
        {"tasks": [{"id": "Task_1", …}, {"id": "Task_1", …}], …}
    Instead
        Ids that differ.
    """

    code = "OF036"
    name = "repeated-id"
    severity = Severity.ERROR
    category = Category.INPUT


class LostReference(Rule):
    """
    What it finds
        In a pool, lane or message flow: an id that no element has; a node in two pools, or in none
        although the model has pools. (Ends of sequence flows are OF101.)
    Why it is wrong
        It is unclear to which process the node belongs. A node in two pools stays in the first one;
        a node in no pool gets its own process.
    Example
        {"id": "Pool_1", "name": "Shop", "lanes": [], "elemRefs": ["Task_99"]}
    Instead
        List every node in exactly one pool, or in one of its lanes.
    """

    code = "OF037"
    name = "lost-reference"
    severity = Severity.WARNING
    category = Category.INPUT


PME_RULES: tuple[type[Rule], ...] = (
    InvalidJson,
    NotPme,
    WrongType,
    MissingKey,
    UnknownKey,
    UnknownElementType,
    RepeatedId,
    LostReference,
)
