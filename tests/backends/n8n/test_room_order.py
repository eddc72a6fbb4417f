"""The left rooms of the n8n backend import to the left only, also in functions and for types."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

BACKEND = Path(__file__).resolve().parents[3] / "backends" / "n8n"
PREFIX = "orgflow.backends.n8n."
LEFT = {
    "format": set[str](),
    "node_types": {"format"},
    "catalogue": {"format", "node_types"},
    "engine_model": {"format", "node_types", "catalogue"},
    "engine": {"format", "node_types", "catalogue", "engine_model"},
    "lint": {"format", "node_types", "catalogue", "engine_model", "engine", "rules"},
}
"""The rooms that each room may import. `rules` is one file, which imports none of them."""


def imported_rooms(text: str) -> Iterator[str]:
    """The rooms that a module of the backend imports, wherever the import stands."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith(PREFIX):
                yield name.removeprefix(PREFIX).split(".")[0]


@pytest.mark.parametrize("room", LEFT)
def test_a_room_imports_rooms_to_its_left(room: str) -> None:
    wrong = {
        f"{path.name}: {other}"
        for path in (BACKEND / room).glob("*.py")
        for other in imported_rooms(path.read_text("utf-8"))
        if other not in LEFT[room] | {room}
    }
    assert not wrong


def test_rules_import_no_room() -> None:
    assert not set(imported_rooms((BACKEND / "rules.py").read_text("utf-8")))


def test_every_kind_of_import_counts() -> None:
    text = (
        "from orgflow.backends.n8n import emit\nimport orgflow.backends.n8n.diff.paired_walk\n"
        "def late():\n    from orgflow.backends.n8n.verify.product_walk import Walk\n"
        "if TYPE_CHECKING:\n    from orgflow.backends.n8n.merge import ports\n"
    )
    assert sorted(imported_rooms(text)) == ["diff", "emit", "merge", "verify"]
