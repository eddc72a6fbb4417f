"""JavaScript and column values that several workflows of the support set share."""

from __future__ import annotations

from typing import Final

from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.waiting.rows import COLUMN_NAMES, NEVER
from orgflow.backends.n8n.waiting.workflow_builder import NOW, moment_after

KEY_LENGTH: Final = 32
"""Hexadecimal digits of a key: 128 bits."""

EMPTY_ROW_CODE: Final = ",".join(f"{name}:''" for name in COLUMN_NAMES)
"""The fields of an object in JavaScript: a row whose cells are empty."""


def lease_code(minutes: int) -> str:
    """JavaScript for the end of a lease of an item with the field `attempts`."""
    return moment_after(f"{minutes * 60_000}*2**Number($json.attempts||0)")


def message_key_code(name: str, key: str) -> str:
    """JavaScript for the message key of a name and a correlation key, both JavaScript. The first
    bar without a backslash before it ends the name, so no two pairs have one message key."""
    escaped = r"replace(/[\\|]/g,'\\$&')"
    return f"(String({name}).{escaped}+'|'+String({key}??''))"


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
