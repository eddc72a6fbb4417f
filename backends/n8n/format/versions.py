"""The releases of n8n for which workflows are emitted."""

from __future__ import annotations

from typing import Final

from orgflow_ir.lazy_patterns import lazy_pattern
from orgflow_ir.model.records import NamedTuple

_VERSION = lazy_pattern(r"(\d{1,4})\.(\d{1,4})(?:\.\d{1,4})?")


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
