"""The `typeVersion` values of each node type that an n8n version supports, and the emitted one.

n8n silently accepts an unknown typeVersion and then runs something else (N8N.md, "Refused nowhere
and silently wrong"), so a version outside of `NodeType.versions` is never emitted. Read from
`dist/types/nodes.json` of the package n8n-nodes-base that each n8n release depends on: n8n 2.41.1 →
n8n-nodes-base 2.41.1; n8n 1.123.0 → 1.121.0 and n8n 1.123.81 → 1.121.53 (these two list the same
versions for every described type). Other releases were not read: they are an error.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from orgflow.backends.n8n import node_types

from orgflow_ir.model.records import NamedTuple

_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})(?:\.\d{1,4})?")


class N8nVersion(NamedTuple):
    """A minor release of n8n; patch releases are not distinguished."""

    major: int
    minor: int

    @classmethod
    def parse(cls, text: str) -> N8nVersion:
        """`2.41` or `2.41.1`; a ValueError names the known versions."""
        match = _VERSION.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"`{text}` is not an n8n version such as 2.41; {_known_text()}")
        return require_known(cls(int(match[1]), int(match[2])))

    def __str__(self) -> str:
        return f"{self.major}.{self.minor}"


V1_123: Final = N8nVersion(1, 123)
V2_41: Final = N8nVersion(2, 41)
KNOWN_VERSIONS: Final = (V1_123, V2_41)
DEFAULT_VERSION: Final = V2_41


def _known_text() -> str:
    return "known are " + ", ".join(str(version) for version in KNOWN_VERSIONS)


def require_known(version: N8nVersion) -> N8nVersion:
    """The version itself; a ValueError if the table does not contain it."""
    if version not in KNOWN_VERSIONS:
        raise ValueError(f"n8n {version} is not covered by the table of nodes; {_known_text()}")
    return version


@cache
def type_versions(short_type: str, version: N8nVersion = DEFAULT_VERSION) -> tuple[float, ...]:
    """Every typeVersion of a node type that the given n8n supports and orgflow's schemas
    describe."""
    column = KNOWN_VERSIONS.index(require_known(version))
    kind = node_types.of(short_type)
    if kind is None or not kind.described:
        raise ValueError(f"`{short_type}` is not a supported node type")
    return kind.versions[column]


def type_version(short_type: str, version: N8nVersion = DEFAULT_VERSION) -> float:
    """The typeVersion to emit for a node type on the given n8n."""
    return type_versions(short_type, version)[-1]
