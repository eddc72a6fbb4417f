"""Why a file is not a model: every fault with its JSON path and its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from orgflow.frontends.ir.rules import InvalidIr, InvalidIrJson

from orgflow_ir.model.json_source_map import JsonDocument, JsonFault, json_path, parse_json
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import PassContext

if TYPE_CHECKING:
    from pydantic import ValidationError


def explain(source: SourceFile, error: ValueError, ctx: PassContext) -> None:
    """Find the places of what is wrong; the fast reader does not tell them."""
    try:
        document = parse_json(source.path, source.data)
    except JsonFault as fault:
        ctx.emit(
            InvalidIrJson,
            f"not JSON: {fault.message}",
            loc=SourceLocation(file=source.path, line=fault.line, column=fault.column),
            help="correct the file there",
        )
        return
    found = False
    faults = cast("ValidationError", error)
    for item in faults.errors(include_url=False, include_context=False, include_input=False):
        path = _steps(document, item["loc"])
        text = item["msg"][0].lower() + item["msg"][1:]
        if item["type"] == "unexpected_keyword_argument":
            text = "unknown field"
        if item["type"] == "json_invalid":
            continue
        found = True
        ctx.emit(
            InvalidIr,
            f"{json_path(path)}: {text}",
            loc=document.loc(document.root.find(path), json_path(path)),
            help="the schema is orgflow_ir/schema/model.schema.json",
        )
    if not found:  # JSON by the standard, but not to the fast reader
        ctx.emit(
            InvalidIrJson,
            f"not JSON: {faults.errors(include_url=False)[0]['msg']}",
            loc=SourceLocation(file=source.path, line=1, column=1),
            help="write the file as UTF-8 JSON",
        )


def _steps(document: JsonDocument, loc: tuple[Any, ...]) -> tuple[str | int, ...]:
    """A pydantic location without the tags of unions, which are not in the JSON.

    A last step that is not there is kept: it names the field that is missing.
    """
    node, path = document.root, []
    for number, step in enumerate(loc):
        if isinstance(step, int):
            if step >= len(node.items):
                break
            node = node.items[step]
        elif step in node.members:
            node = node.members[step]
        elif number < len(loc) - 1:
            continue  # the tag of a union
        path.append(step)
    return tuple(path)
