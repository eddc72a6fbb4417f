"""Nodes of tasks that were filled with an operation of the catalogue."""

from __future__ import annotations

from typing import Any

from orgflow.backends.javascript.literals import js_string
from orgflow.backends.n8n.emit.outside import OutsideNode
from orgflow.backends.n8n.format.document import TYPE_PREFIX

from orgflow_ir.program.feel.values import Unsupported
from orgflow_ir.program.syntax import Constant
from orgflow_ir.work.operations import GIVEN, CatalogueOperation
from orgflow_ir.work.tasks import SENT

BACKEND = "n8n"

_HOW = "set it in n8n, or in the binding of the model"
_ONCE = {"executeOnce": True, "alwaysOutputData": True}
"""A token of a model is one item, regardless of the node's output."""


def split_kind(act: CatalogueOperation) -> tuple[str, float]:
    """Short type and version of the node. Raises `Unsupported` for a type outside n8n-nodes-base,
    or without a version."""
    kind, _, version = act.kind.rpartition("@")
    short = kind.removeprefix(TYPE_PREFIX)
    if act.backend != BACKEND or short == kind or not short.isidentifier():
        raise Unsupported(f"the operation `{act.backend}:{act.kind}`")
    try:
        number = float(version)
    except ValueError:
        raise Unsupported(f"the operation `{act.kind}` without a version") from None
    return short, int(number) if number.is_integer() else number


def filled_node(act: CatalogueOperation, more: dict[str, Any], lost: str) -> OutsideNode:
    """The node of an operation. Raises `Unsupported`: see `split_kind`."""
    short, version = split_kind(act)
    parameters = {name: literal(value) for name, value in act.constants}
    for path, tree in act.inputs:
        constant = isinstance(tree, Constant) and isinstance(tree.value, str)
        code = f"={{{{ $json.{SENT}.{GIVEN}[{js_string(path)}] }}}}"
        _put(parameters, path.split("."), literal(tree.value) if constant else code)  # type: ignore[union-attr]
    settings = tuple((f"what `{path}` is", _HOW) for path in act.blanks)
    return OutsideNode(
        short, parameters, {**_ONCE, **more}, _credential(act), _notes(act), lost, settings, version
    )


def _credential(act: CatalogueOperation) -> tuple[str, str] | None:
    if not act.accounts:
        return None
    words = " or ".join(f"`{kind}`" for kind in act.accounts)
    return act.accounts[0], f"a credential of the type {words}"


def _notes(act: CatalogueOperation) -> tuple[str, ...]:
    if not act.blanks:
        return ()
    return (f"Fill in: {', '.join(act.blanks)}.",)


def literal(value: Any) -> Any:
    """A value as a constant of n8n, in which no text is evaluated."""
    if isinstance(value, str):
        return f"={{{{ {js_string(value)} }}}}" if value.startswith("=") else value
    if isinstance(value, list):
        return [literal(one) for one in value]
    if isinstance(value, dict):
        return {name: literal(one) for name, one in value.items()}
    return value


def _put(parameters: dict[str, Any], path: list[str], value: Any) -> None:
    """Set what is at a path; groups that are not there are made."""
    for name in path[:-1]:
        inner = parameters.get(name)
        if not isinstance(inner, dict):
            inner = parameters[name] = {}
        parameters = inner
    parameters[path[-1]] = value
