"""JavaScript and column values that several workflows of the support set share."""

from __future__ import annotations

from typing import Final

from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.waiting.rows import COLUMN_NAMES, LEASE_MINUTES, NEVER
from orgflow.backends.n8n.waiting.workflow_builder import NOW, moment_after

KEY_LENGTH: Final = 32
"""Hexadecimal digits of a key: 128 bits."""

EMPTY_ROW_CODE: Final = ",".join(f"{name}:''" for name in COLUMN_NAMES)
"""The fields of an object in JavaScript: a row whose cells are empty."""

LEASE_CODE: Final = moment_after(f"{LEASE_MINUTES * 60_000}*2**Number($json.attempts||0)")
"""The end of a lease of an item with the field `attempts`."""


def closed_values(state: str, **more: str) -> dict[str, str]:
    """Column values of a row that reaches a final state."""
    return {
        "state": state,
        "live": "0",
        "check_at": NEVER,
        "changed_at": make_expression(NOW),
        **more,
    }


def token_code(row: str) -> str:
    """JavaScript for the token of a row: what a segment needs of it."""
    return (
        f"(r=>({{key:r.key,execution:r.execution,instance:r.instance,scope:r.scope,"
        "element:r.element,event:r.event||r.element,kind:r.kind,workflow:r.workflow,"
        "branch:r.branch,attached_to:r.attached_to,local:JSON.parse(r.local_variables||'{}')"
        f"}} ))({row})"
    )


def variables_code(node: str) -> str:
    """JavaScript for the variables of an instance: changes of finished rows, the latest last."""
    return (
        f"Object.assign({{}},...$('{node}').all().map(i=>i.json).filter(r=>r.id)"
        ".sort((a,b)=>a.changed_at<b.changed_at?-1:a.changed_at>b.changed_at?1:a.id-b.id)"
        ".map(r=>JSON.parse(r.variables||'{}')))"
    )
