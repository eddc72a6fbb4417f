"""Rules about IR files: OF040 to OF042."""

from __future__ import annotations

from orgflow_ir.diagnostics import Category, Rule, Severity


class InvalidIrJson(Rule):
    """
    What it finds
        A file that is not JSON: a missing comma or quote, a truncated end, an empty file.
    Why it is wrong
        Nothing in it can be read.
    Example
        {"id": "m", "processes": [}
    Instead
        {"id": "m", "processes": []}
    """

    code = "OF040"
    name = "invalid-ir-json"
    severity = Severity.ERROR
    category = Category.INPUT


class InvalidIr(Rule):
    """
    What it finds
        JSON that is not a model of the IR: an unknown or missing field, a value of the wrong type.
    Why it is wrong
        The IR schema is closed: unknown data would be lost silently.
    Example
        {"id": "m", "proceses": []}
    Instead
        {"id": "m", "processes": []}; the schema is orgflow_ir/schema/model.schema.json.
    """

    code = "OF041"
    name = "invalid-ir"
    severity = Severity.ERROR
    category = Category.INPUT


class RepeatedIrId(Rule):
    """
    What it finds
        Two elements of the model with the same id.
    Why it is wrong
        A flow that references the id is ambiguous; every pass relies on unique ids.
    Example
        {"nodes": [{"kind": "task", "id": "a"}, {"kind": "gateway", "id": "a", …}]}
    Instead
        Ids that differ.
    """

    code = "OF042"
    name = "repeated-ir-id"
    severity = Severity.ERROR
    category = Category.INPUT


IR_RULES: tuple[type[Rule], ...] = (InvalidIrJson, InvalidIr, RepeatedIrId)
