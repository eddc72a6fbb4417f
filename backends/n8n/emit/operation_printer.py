"""Nodes of tasks that were filled with an operation of the catalogue."""

from __future__ import annotations

from typing import Any

from orgflow.backends.javascript.literals import js_string
from orgflow.backends.n8n.emit.printed import Printed
from orgflow.backends.n8n.plan.operations import split_kind

from orgflow_ir.program.syntax import Constant
from orgflow_ir.work.operations import GIVEN, CatalogueOperation
from orgflow_ir.work.tasks import SENT

_ONCE = {"executeOnce": True, "alwaysOutputData": True}
"""A token of a model is one item, regardless of the node's output."""


def print_operation(act: CatalogueOperation, switches: dict[str, Any]) -> Printed:
    """The node of an operation. Raises `Unsupported`: see `split_kind`."""
    short, version = split_kind(act)
    parameters = {name: literal_value(value) for name, value in act.constants}
    for path, tree in act.inputs:
        constant = isinstance(tree, Constant) and isinstance(tree.value, str)
        code = f"={{{{ $json.{SENT}.{GIVEN}[{js_string(path)}] }}}}"
        value = literal_value(tree.value) if constant else code  # type: ignore[union-attr]
        _set_at_path(parameters, path.split("."), value)
    return Printed(short, parameters, {**_ONCE, **switches}, version)


def literal_value(value: Any) -> Any:
    """A value as a constant of n8n, in which no text is evaluated."""
    if isinstance(value, str):
        return f"={{{{ {js_string(value)} }}}}" if value.startswith("=") else value
    if isinstance(value, list):
        return [literal_value(member) for member in value]
    if isinstance(value, dict):
        return {name: literal_value(member) for name, member in value.items()}
    return value


def _set_at_path(parameters: dict[str, Any], path: list[str], value: Any) -> None:
    """Set what is at a path; groups that are not there are made."""
    for name in path[:-1]:
        inner = parameters.get(name)
        if not isinstance(inner, dict):
            inner = parameters[name] = {}
        parameters = inner
    parameters[path[-1]] = value
