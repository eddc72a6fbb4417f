"""The functions of the files `js/*.cjs` as texts that translations contain.

A file has one definition per block, `const name = …;` or `function name(…) {…}`. Its lines are
joined by a blank, except in a block whose comment states that they are kept.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

# Patterns are compiled when they are needed first, not at every start.
_CONSTANT = r"(?s)const (\w+) = (.*);"
_FUNCTION = r"(?s)function (\w+)\(.*"
_BODY = r"(?s)(\([^()]*\) => \{ )(.*)"


@lru_cache(maxsize=8)
def read_functions(file: str) -> Mapping[str, str]:
    """Texts of the functions of `js/FILE.cjs` by name, in the order of the file."""
    text = (Path(__file__).parent / "js" / f"{file}.cjs").read_text("utf-8")
    definitions: dict[str, str] = {}
    for block in text.rstrip("\n").split("\n\n"):
        lines = [line for line in block.splitlines() if not line.startswith("//")]
        kept = "(Its lines are kept.)" in block
        code = "\n".join(lines) if kept else " ".join(line.strip() for line in lines)
        if constant := re.fullmatch(_CONSTANT, code):
            definitions[constant[1]] = constant[2]
        elif function := re.fullmatch(_FUNCTION, code):
            definitions[function[1]] = code
    return definitions


def fill_numbers(code: str, numbers: Mapping[str, int]) -> str:
    """Code with numbers for names."""
    return re.sub(r"\b[A-Z_]+\b", lambda name: str(numbers.get(name[0], name[0])), code)


def form_text() -> str:
    """The code that makes the object `v` the body of a form; of a name without a value, the name is
    sent. It is a part of the function `asMedia`."""
    rest = read_functions("ops")["asMedia"].partition('"application/x-www-form-urlencoded" ? ')[2]
    return rest.partition(" : JSON.stringify(v)")[0]


@lru_cache(maxsize=64)
def function_text(name: str) -> str:
    """The text of a function, which contains those of others that it calls at its start. Raises
    `KeyError` for a function that the file does not define."""
    definitions = read_functions("ops")
    text = definitions[name]
    called = [
        other
        for other in definitions
        if other != name and re.search(rf"\b{other}\(", text) and f"const {other} =" not in text
    ]
    body = re.fullmatch(_BODY, text)
    if not called or body is None:
        return text
    inner = "".join(f"const {other} = {definitions[other]}; " for other in called)
    return f"{body[1]}{inner}{body[2]}"


@lru_cache(maxsize=128)
def list_function_text(name: str) -> str:
    """The text of a function of `js/functions.cjs`, which contains those that it calls, also
    indirectly, at its start. Raises `KeyError` for a function that the file does not define."""
    definitions = read_functions("functions")
    called: set[str] = set()
    todo = [name]
    while todo:
        text = definitions[todo.pop()]
        words = set(re.findall(r"(?<![.\w$])[A-Za-z]\w*", text))
        inner_names = (words & definitions.keys()) - called - {name}
        called |= inner_names
        todo += sorted(inner_names)
    text = definitions[name]
    body = re.fullmatch(_BODY, text)
    if not called or body is None:
        return text
    inner = "".join(f"const {o} = {d}; " for o, d in definitions.items() if o in called)
    return f"{body[1]}{inner}{body[2]}"
