"""JavaScript in parameters that reads the output of other nodes."""

from __future__ import annotations

from collections.abc import Sequence

from orgflow.backends.javascript.literals import without_refused


def read_field(node: str, path: Sequence[str], *, body: bool = False) -> str:
    """JavaScript that reads a field of the last output of the node called `node`, or undefined.

    Guarded by `isExecuted`, since n8n refuses a reference to a node that was not executed. Output 0
    is
    named: without it, n8n reads the first output connected to the reader, which may be an error
        output.
    """
    first, *rest = path
    access = ("body?." if body else "") + first + "".join(f"?.{p}" for p in rest)
    quoted = quote_node(node)
    return f"($({quoted}).isExecuted ? $({quoted}).first(0).json.{access} : undefined)"


def quote_node(name: str) -> str:
    """A node name as a string literal for `$(…)`, safe in `={{ }}`.

    Single quotes: n8n's editor renames references in this form together with the node.
    """
    escaped = name.replace("\\", "\\\\").replace("'", "\\'")
    escaped = escaped.replace("{{", "{\\u007b").replace("}}", "}\\u007d")
    return f"'{without_refused(escaped)}'"
