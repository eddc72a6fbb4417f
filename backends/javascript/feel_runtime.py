"""The part of the runtime that a translation needs, extracted from `js/feel_runtime.cjs`.

The file has one definition per block, `const name = …;`. A translation gets the definitions that it
mentions and those that these mention, in the order of the file. If no date, time, duration or range
can occur, the code for them is omitted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

_DEFINITION = re.compile(r"^const (\w+) = ", re.MULTILINE)
_WORD = re.compile(r"(?<![\w.])\w+")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_TEMPORAL = frozenset(
    {
        "calcTemporal", "negTemporal", "propertyTemporal", "cmpTemporal", "textTemporal",
        "absTemporal",
    }
)  # fmt: skip
"""Definitions that are null if there are neither dates, times nor durations."""

_TEXTUAL = frozenset({"outputText"})
"""Definitions that are also null if there are no ranges."""


@lru_cache(maxsize=1)
def _read_blocks() -> dict[str, tuple[str, frozenset[str]]]:
    """Definitions by name: the text, and the other names it mentions."""
    text = (Path(__file__).parent / "js" / "feel_runtime.cjs").read_text("utf-8")
    texts: dict[str, str] = {}
    for block in text.split("\n\n"):
        match = _DEFINITION.search(block)
        if match is None:
            continue  # the comment at the top
        lines = (line.strip() for line in block.splitlines())
        texts[match[1]] = "\n".join(line for line in lines if not line.startswith("//"))
    return {
        name: (body, frozenset(_WORD.findall(_STRING.sub("", body))) & texts.keys() - {name})
        for name, body in texts.items()
    }


def list_definitions() -> frozenset[str]:
    """Names that the runtime defines."""
    return frozenset(_read_blocks())


def assemble_runtime(code: Iterable[str], *, temporal: bool, ranges: bool) -> str:
    """The definitions that pieces of code need, in the order of the file.

    Args:
        code: JavaScript that mentions names of the runtime.
        temporal: whether dates, times or durations may occur.
        ranges: whether ranges may occur.
    """
    blocks = _read_blocks()
    left_out: frozenset[str] = frozenset()
    if not temporal:
        left_out = _TEMPORAL if ranges else _TEMPORAL | _TEXTUAL
    pending = {word for text in code for word in _WORD.findall(_STRING.sub("", text))}
    needed: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in blocks or name in needed:
            continue
        needed.add(name)
        if name not in left_out:
            pending |= blocks[name][1]
    return "\n".join(
        f"const {name} = () => null;" if name in left_out else body
        for name, (body, _) in blocks.items()
        if name in needed
    )
