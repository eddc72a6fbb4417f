"""What n8n makes of a parameter: a constant, the value of an expression, or a text of parts.

n8n's rule (`ExpressionSplitter` and `ExpressionBuilder` of `@n8n/tournament`): a text that begins
with `=` is an expression. Behind the sign, `{{` begins a code and the next `}}` ends it, wherever
they stand; an odd number of backslashes before the brackets hides them. If nothing but one code
stands there, the parameter has the value of the code. With anything beside it, a blank included,
it is a text that the parts are joined to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from orgflow.backends.javascript.source_programs import (
    ProgramForm,
    UnreadableProgram,
    read_program,
)

from orgflow_ir.model.records import NamedTuple

ParameterForm = tuple[object, ...] | str | int | float | None
"""A form that two parameters share exactly if n8n gives them the same value: a constant as it is,
`("value", form)` for one code, `("text", part …)` for a text, `("object", …)` and `("list", …)`."""

_DOUBLED = re.compile(r"\\\\")


class ParameterPart(NamedTuple):
    """A part of an expression.

    Attributes:
        text: a text as n8n passes it on, or the code between the brackets.
        is_code: which of the two.
        is_closed: whether `}}` ended the code; n8n runs one that nothing ended.
    """

    text: str
    is_code: bool
    is_closed: bool = True


@lru_cache(maxsize=20_000)
def split_parameter(text: str) -> tuple[ParameterPart, ...]:
    """The parts of a parameter that begins with `=`, with n8n's empty text in front of a code.

    n8n loses what stands behind the last code if it ends with hidden brackets, so that there may be
    no part at all.
    """
    parts: list[ParameterPart] = []
    position, start = 1, 1
    in_code = False
    while True:
        bracket = text.find("}}" if in_code else "{{", position)
        if bracket < 0:
            break
        backslashes = bracket - len(text[start:bracket].rstrip("\\")) - start
        position = bracket + 2
        if backslashes % 2:
            continue
        part = text[start:bracket]
        parts.append(
            ParameterPart(part.replace("\\}}", "}}", 1), is_code=True)
            if in_code
            else ParameterPart(_DOUBLED.sub(r"\\", part), is_code=False)
        )
        in_code, start = not in_code, position
    rest = text[start:] if position < len(text) else ""
    if in_code and rest:
        parts.append(ParameterPart(rest.replace("\\}}", "}}", 1), is_code=True, is_closed=False))
    elif rest or len(text) == 1:
        parts.append(ParameterPart(rest, is_code=False))
    return tuple(parts)


def is_value(parts: tuple[ParameterPart, ...]) -> bool:
    """Whether a parameter has the value of its one code, of whatever type it is."""
    return len(parts) == 2 and not parts[0].text and parts[1].is_code


def parameter_form(
    value: object, name_of: Callable[[str, str], str | None] = lambda function, text: None
) -> ParameterForm:
    """The form of a parameter, or of a tree of parameters.

    Args:
        value: a value of a workflow file.
        name_of: what stands for a call that names something, as for `read_program`.
    """
    if isinstance(value, str):
        return _text_form(value, name_of)
    if isinstance(value, Mapping):
        entries = sorted((str(key), parameter_form(part, name_of)) for key, part in value.items())
        return ("object", *entries)
    if isinstance(value, list | tuple):
        return ("list", *(parameter_form(part, name_of) for part in value))
    if isinstance(value, bool):
        return ("truth", value)  # Python takes True for 1
    assert value is None or isinstance(value, int | float)
    return value


def _text_form(text: str, name_of: Callable[[str, str], str | None]) -> ParameterForm:
    if not text.startswith("="):
        return text
    parts = split_parameter(text)
    if is_value(parts):
        return ("value", code_form(parts[1].text, name_of))
    return ("text", *(code_form(p.text, name_of) if p.is_code else p.text for p in parts if p.text))


def code_form(
    code: str, name_of: Callable[[str, str], str | None] = lambda function, text: None
) -> ProgramForm:
    """The form of a code of an expression; the text itself where it is not JavaScript, so that only
    the same text is equal to it."""
    bare = code.lstrip()
    try:
        # n8n takes a code that begins with `{` for an object.
        return read_program(f"({code})" if bare.startswith("{") else code, name_of)
    except UnreadableProgram:
        return ("unreadable", code)


def same_parameters(
    before: Any, now: Any, name_of: Callable[[str, str], str | None] = lambda function, text: None
) -> bool:
    """Whether two trees of parameters give the same values, whatever the data is."""
    return parameter_form(before, name_of) == parameter_form(now, name_of)
