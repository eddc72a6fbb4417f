"""The reasons why a file is not a model: every fault with its JSON path and its place."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import TYPE_CHECKING, Any, cast

from orgflow.frontends.ir.ir_rules import InvalidIr, InvalidIrJson, RepeatedIrId

from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.json_source_map import (
    JsonDocument,
    JsonFault,
    JsonNode,
    json_path,
    parse_json,
)
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import PassContext

if TYPE_CHECKING:
    from pydantic import ValidationError


def explain_faults(source: SourceFile, error: ValueError, ctx: PassContext) -> None:
    """Find the places of the faults, which the fast reader does not report."""
    try:
        document = parse_json(source.path, source.data)
    except JsonFault as fault:
        ctx.emit(
            InvalidIrJson,
            f"not JSON: {fault.message}",
            loc=SourceLocation(file=source.path, line=fault.line, column=fault.column),
            help="correct the file at this position",
        )
        return
    has_fault = False
    faults = cast("ValidationError", error)
    for item in faults.errors(include_url=False, include_input=False):
        path = _path_steps(document, item["loc"])
        text = item["msg"][0].lower() + item["msg"][1:]
        if item["type"] == "unexpected_keyword_argument":
            text = "unknown field"
        if item["type"] == "union_tag_invalid":
            tags = join_listed(
                item["ctx"]["expected_tags"].replace("'", "`").split(", "), last="or"
            )
            key = item["ctx"]["discriminator"].strip("'")
            text = f"`{key}` is `{item['ctx']['tag']}`, not {tags}"
        if item["type"] == "json_invalid":
            continue
        has_fault = True
        ctx.emit(
            InvalidIr,
            f"{json_path(path)}: {text}",
            loc=document.loc(document.root.find(path), json_path(path)),
            help="the schema is orgflow_ir/schema/model.schema.json",
        )
    if not has_fault:  # JSON by the standard, but not to the fast reader
        ctx.emit(
            InvalidIrJson,
            f"not JSON: {faults.errors(include_url=False)[0]['msg']}",
            loc=SourceLocation(file=source.path, line=1, column=1),
            help="write the file as UTF-8 JSON",
        )


def explain_repeated(source: SourceFile, ids: Set[str], ctx: PassContext) -> None:
    """Report each further element with one of these ids."""
    document = parse_json(source.path, source.data)
    seen: set[str] = set()
    for path, node in _list_elements(document.root, ()):
        id = node.members["id"].value
        if id not in ids:
            continue
        if id in seen:
            ctx.emit(
                RepeatedIrId,
                f"{json_path(path)} has the id `{id}` of another element",
                element=id,
                loc=document.loc(node, json_path(path)),
                help="give one of them another id; ids are unique in a model",
            )
        seen.add(id)


def _list_elements(
    node: JsonNode, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], JsonNode]]:
    """The objects that are elements, in the order of the file: those with an id, but for the
    definitions of events."""
    if "id" in node.members and path[-2:-1] != ("definitions",):
        yield path, node
    for key, member in node.members.items():
        yield from _list_elements(member, (*path, key))
    for index, item in enumerate(node.items):
        yield from _list_elements(item, (*path, index))


def _path_steps(document: JsonDocument, loc: tuple[Any, ...]) -> tuple[str | int, ...]:
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
