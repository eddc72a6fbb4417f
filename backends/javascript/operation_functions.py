"""The functions of `js/ops.cjs` as texts that translations contain.

The file has one definition per block, `const name = …;`. Its lines are joined by a blank, except in
a block whose comment states that they are kept.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

_DEFINITION = re.compile(r"const (\w+) = (.*);", re.DOTALL)
_BODY = re.compile(r"(\([^()]*\) => \{ )(.*)", re.DOTALL)


@lru_cache(maxsize=1)
def _read_definitions() -> dict[str, str]:
    """Texts of the functions by name, as the file defines them."""
    text = (files(__package__) / "js" / "ops.cjs").read_text("utf-8")
    definitions: dict[str, str] = {}
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("//")]
        kept = "(Its lines are kept.)" in block
        code = "\n".join(lines) if kept else " ".join(line.strip() for line in lines)
        match = _DEFINITION.fullmatch(code)
        if match is not None:
            definitions[match[1]] = match[2]
    return definitions


def form_text() -> str:
    """The code that makes the object `v` the body of a form; of a name without a value, the name is
    sent. It is a part of the function `asMedia`."""
    rest = _read_definitions()["asMedia"].partition('"application/x-www-form-urlencoded" ? ')[2]
    return rest.partition(" : JSON.stringify(v)")[0]


@lru_cache(maxsize=64)
def function_text(name: str) -> str:
    """The text of a function, which contains those of others that it calls at its start. Raises
    `KeyError` for a function that the file does not define."""
    definitions = _read_definitions()
    text = definitions[name]
    called = [
        other
        for other in definitions
        if other != name and re.search(rf"\b{other}\(", text) and f"const {other} =" not in text
    ]
    body = _BODY.fullmatch(text)
    if not called or body is None:
        return text
    inner = "".join(f"const {other} = {definitions[other]}; " for other in called)
    return f"{body[1]}{inner}{body[2]}"
