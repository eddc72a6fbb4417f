"""The `typeVersion` values of each node type that an n8n version supports, and the emitted one.

n8n silently accepts an unknown typeVersion and then runs something else (N8N.md, "Refused nowhere
and silently wrong"), so a version outside of `NodeType.versions` is never emitted. Read from
`dist/types/nodes.json` of the package n8n-nodes-base that each n8n release depends on: n8n 2.41.1 →
n8n-nodes-base 2.41.1; n8n 1.123.0 → 1.121.0 and n8n 1.123.81 → 1.121.53 (these two list the same
versions for every described type). Other releases were not read: they are an error.
"""

from __future__ import annotations

from functools import cache

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format.versions import (
    DEFAULT_VERSION,
    KNOWN_VERSIONS,
    N8nVersion,
    require_known,
)


@cache
def type_versions(short_type: str, version: N8nVersion = DEFAULT_VERSION) -> tuple[float, ...]:
    """Every typeVersion of a node type that the given n8n supports and orgflow's schemas
    describe."""
    column = KNOWN_VERSIONS.index(require_known(version))
    kind = node_types.find_type(short_type)
    if kind is None or not kind.described:
        raise ValueError(f"`{short_type}` is not a supported node type")
    return kind.versions[column]


def type_version(short_type: str, version: N8nVersion = DEFAULT_VERSION) -> float:
    """The typeVersion to emit for a node type on the given n8n."""
    return type_versions(short_type, version)[-1]
