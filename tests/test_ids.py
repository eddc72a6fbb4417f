"""Nobody reads anything out of an id: what an element was made from is in `derived_from`, and what
a key of a graph stands for is in the graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = ("orgflow_ir", "frontends", "backends", "passes", "agents", "compilation", "evaluation",
         "commands")  # fmt: skip
FILES = sorted(f for room in ROOMS for f in (ROOT / room).rglob("*.py")) + sorted(ROOT.glob("*.py"))
PARTS = ("__", "\x00")
"""What ids and keys of made things are put together with."""
READING = {
    "count", "endswith", "find", "index", "partition", "removeprefix", "removesuffix", "replace",
    "rfind", "rindex", "rpartition", "rsplit", "split", "startswith",
}  # fmt: skip
PATTERNS = {"compile", "findall", "finditer", "fullmatch", "match", "search", "sub"}


def readings(tree: ast.AST) -> Iterator[int]:
    """Lines at which a text is taken apart at, or searched for, one of the parts."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            parts = PARTS if node.func.attr in READING else ("__",)
            if node.func.attr in READING | PATTERNS and any(_has(a, parts) for a in node.args):
                yield node.lineno
        elif isinstance(node, ast.Compare):
            searched = isinstance(node.ops[0], ast.In | ast.NotIn)
            if searched and isinstance(node.left, ast.Constant) and _has(node.left, ("__",)):
                yield node.lineno


def _has(node: ast.AST, parts: tuple[str, ...]) -> bool:
    texts = (n.value for n in ast.walk(node) if isinstance(n, ast.Constant))
    return any(part in text for text in texts if isinstance(text, str) for part in parts)


def test_no_module_takes_ids_apart() -> None:
    assert len(FILES) > 400
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in FILES
        for line in readings(ast.parse(path.read_text("utf-8")))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('id.rsplit("__split", 1)[0]', True),
        ('"__stop" in id', True),
        ('while "__" in id: id = id.rpartition("__")[0]', True),
        ('key.partition("\\x00")[0]', True),
        ('id.startswith((f"{owner}__input", f"{owner}__join"))', True),
        ('re.match(r"(.*)__join", id)', True),
        ('f"{owner}__join" in taken', False),
        ('data.replace(b"\\x00", b"")', False),
        ('hasattr(value, "__html__")', False),
        ('text.split("_")', False),
    ],
)
def test_the_scan_can_fail(line: str, found: bool) -> None:
    assert bool(list(readings(ast.parse(line)))) is found
