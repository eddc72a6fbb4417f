"""Tasks that were filled with an operation of the catalogue."""

from __future__ import annotations

from orgflow.backends.n8n.format.document import TYPE_PREFIX
from orgflow.backends.n8n.plan.needs import Needs

from orgflow_ir.program.feel.values import Unsupported
from orgflow_ir.work.operations import CatalogueOperation

BACKEND = "n8n"

_HOW = "set it in n8n, or in the binding of the model"


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


def is_operation(act: object) -> bool:
    """Whether a task is filled with an operation."""
    return isinstance(act, CatalogueOperation)


def is_code_operation(act: object) -> bool:
    """Whether an operation is a Code node."""
    return isinstance(act, CatalogueOperation) and split_kind(act)[0] == "code"


def describe_operation_needs(act: CatalogueOperation, lost: str) -> Needs:
    """Needs of the node of an operation; `lost` is what n8n does not do of the model."""
    words = " or ".join(f"`{kind}`" for kind in act.accounts)
    return Needs(
        f"a credential of the type {words}" if words else "",
        tuple((f"what `{path}` is", _HOW) for path in act.blanks),
        (f"Fill in: {', '.join(act.blanks)}.",) if act.blanks else (),
        lost,
        filled=True,
    )
