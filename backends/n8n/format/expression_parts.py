"""The parts of a parameter, as n8n splits it: texts, and codes that it evaluates.

n8n's rule (`ExpressionSplitter` and `ExpressionBuilder` of `@n8n/tournament`): a text that begins
with `=` is an expression. Behind the sign, `{{` begins a code and the next `}}` ends it, wherever
they stand; an odd number of backslashes before the brackets hides them. If nothing but one code
stands there, the parameter has the value of the code. With anything beside it, a blank included,
it is a text that the parts are joined to.
"""

from __future__ import annotations

from functools import lru_cache

from orgflow_ir.lazy_patterns import lazy_pattern
from orgflow_ir.model.records import NamedTuple

_DOUBLED = lazy_pattern(r"\\\\")


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


def value_code(value: object) -> str | None:
    """The code whose value a parameter has, of whatever type; `None` for a constant or a text."""
    if not isinstance(value, str) or not value.startswith("="):
        return None
    parts = split_parameter(value)
    return parts[1].text if is_value(parts) else None


def surrounded_code(value: object) -> tuple[str, str, str] | None:
    """The only code of a parameter with the white space around it, which makes a text of its value:
    the text before, the code, and the text behind it."""
    if not isinstance(value, str) or not value.startswith("="):
        return None
    parts = split_parameter(value)
    codes = [part.text for part in parts if part.is_code]
    if len(codes) != 1 or is_value(parts):
        return None
    before, behind = ("" if part.is_code else part.text for part in (parts[0], parts[-1]))
    return None if (before + behind).strip() else (before, codes[0], behind)
