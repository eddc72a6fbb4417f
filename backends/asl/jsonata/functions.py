"""The functions of `functions.jsonata` as texts that translations contain.

The file has one definition per block, `$name := function(…) { … };`, with a comment before some.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files

_DEFINITION = re.compile(r"(\$\w+) := function.*?\n?\};?", re.DOTALL)
_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_NAME = re.compile(r"\$[A-Za-z]\w*")


@lru_cache(maxsize=1)
def read_definitions() -> dict[str, str]:
    """The definitions by the names of their functions, in the order of the file, each in one
    line."""
    text = (files(__package__) / "functions.jsonata").read_text("utf-8")
    definitions: dict[str, str] = {}
    for block in text.split("\n\n"):
        code = " ".join(line.strip() for line in _COMMENT.sub("", block).split("\n")).strip()
        match = _DEFINITION.fullmatch(code)
        if match is not None:
            definitions[match[1]] = code.removesuffix(";")
    return definitions


def with_functions(code: str) -> str:
    """An expression with the definitions of the functions that it calls, and of those that they
    call, in the order of the file. An expression that calls none stays as it is."""
    definitions = read_definitions()
    needed: set[str] = set()
    pending = [code]
    while pending:
        names = set(_NAME.findall(pending.pop())) & definitions.keys()
        pending += [definitions[name] for name in names - needed]
        needed |= names
    if not needed:
        return code
    parts = [text for name, text in definitions.items() if name in needed]
    return f"({'; '.join((*parts, code))})"
