"""References to nodes in expressions and code, `$('Name')` and its older forms, under new names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from orgflow.backends.n8n.format.expressions import unescape_text

_CODE = frozenset({"jsCode", "functionCode", "pythonCode"})
_QUOTED = re.compile(
    r"""(?P<before>\$(?:node\s*\[|items\s*\(|\()\s*)
        (?P<quote>['"`])(?P<name>(?:\\.|(?!(?P=quote))[^\\\n])*)(?P=quote)""",
    re.VERBOSE,
)
_OUTPUT = re.compile(r"\s*\)\s*\.\s*(?:first|last|all)\s*\(\s*(?P<number>\d+)")
_DOTTED = re.compile(r"(?P<before>\$node\.)(?P<name>[A-Za-z_$][\w$]*)")
_WORD = re.compile(r"[A-Za-z_$][\w$]*")


def follow_renames(value: Any, renamed: Mapping[str, str], *, code: bool = False) -> Any:
    """`value` (parameters or a part of them) in the form that n8n's editor gives it after renaming
    nodes: references in expressions and code use the new names. `code`: whether it is the text of a
    script."""
    if not renamed:
        return value
    if isinstance(value, str):
        return _renamed_text(value, renamed) if code or value.startswith("=") else value
    if isinstance(value, list):
        return [follow_renames(v, renamed, code=code) for v in value]
    if isinstance(value, Mapping):
        return {k: follow_renames(v, renamed, code=code or k in _CODE) for k, v in value.items()}
    return value


def _renamed_text(text: str, renamed: Mapping[str, str]) -> str:
    if "$" not in text:
        return text

    def rename_quoted(match: re.Match[str]) -> str:
        name = unescape_text(match["name"])
        if name not in renamed:
            return match[0]
        quote = match["quote"]
        new = renamed[name].replace("\\", "\\\\").replace(quote, f"\\{quote}")
        # Two braces would begin or end an expression of n8n.
        new = new.replace("{{", "{\\u007b").replace("}}", "}\\u007d")
        return f"{match['before']}{quote}{new}{quote}"

    def rename_dotted(match: re.Match[str]) -> str:
        new = renamed.get(match["name"])
        if new is None:
            return match[0]
        if _WORD.fullmatch(new):
            return f"{match['before']}{new}"
        return f'{match["before"][:-1]}["{new}"]'

    return _DOTTED.sub(rename_dotted, _QUOTED.sub(rename_quoted, text))


def references_in(value: Any, *, code: bool = False) -> Iterator[str]:
    """The names of the nodes that expressions and code in `value` read."""
    if isinstance(value, str):
        if "$" in value and (code or value.startswith("=")):
            yield from (unescape_text(match["name"]) for match in _QUOTED.finditer(value))
            yield from (match["name"] for match in _DOTTED.finditer(value))
    elif isinstance(value, list):
        for part in value:
            yield from references_in(part, code=code)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from references_in(part, code=code or key in _CODE)


def outputs_in(value: Any, *, code: bool = False) -> Iterator[tuple[str, int]]:
    """The nodes and the numbers of their outputs that expressions and code in `value` read by
    number, as `$('Name').first(1)` does."""
    if isinstance(value, str):
        if "$" in value and (code or value.startswith("=")):
            for match in _QUOTED.finditer(value):
                if output := _OUTPUT.match(value, match.end()):
                    yield unescape_text(match["name"]), int(output["number"])
    elif isinstance(value, list):
        for part in value:
            yield from outputs_in(part, code=code)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from outputs_in(part, code=code or key in _CODE)
