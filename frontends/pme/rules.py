"""Rules about PME files: OF030 to OF037."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class InvalidJson(Rule):
    """
    What it finds
        A file that is not JSON: a missing comma or quote, a cut-off end, an empty file.
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
        JSON that is not a PME model: no object, or none of the lists `tasks`, `events`,
        `gateways`, `pools`, `sequenceFlows` and `messageFlows` in it.
    Why it is wrong
        It is another kind of file.
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
        A value of the wrong kind: a number for a text, an object for a list.
    Why it is wrong
        What was meant is not known; the value is left out and the rest is read.
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
        A node without a type cannot be run, a flow without an end leads nowhere. An id is made up,
        a missing type makes an abstract task of a task and an opaque node of anything else.
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
        A key that PME does not have, or a key twice in one object; it is kept and has no effect.
    Why it is wrong
        It may be a misspelt one.
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
        A `type` that PME does not have; the element is kept with its flows but cannot be run.
    Why it is wrong
        What it does is not known.
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
        A flow that names the id could mean either. References are taken to mean the first; the
        second gets the id with `__2` behind it.
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
        Which process the node belongs to is not clear. A node in two pools stays in the first, one
        in none gets a process of its own.
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
