"""Expression languages of DMN files other than FEEL."""

from __future__ import annotations

import re

_FEEL = ("feel", "/dmn/")
"""What the URIs of FEEL contain, in all versions."""

_NAME = r"[A-Za-z_]\w*"
_SIMPLE = re.compile(
    rf"{_NAME}(?:\.{_NAME})*|-?(?:0|[1-9]\d{{0,14}})(?:\.\d+)?|\"[^\"\\]*\"|true|false|null"
)
_KEYWORDS = frozenset(
    """and between break case catch class continue def default do else empty eq external every
    finally for function ge gt if in instance instanceof item le let lt mod ne new not of or
    partial return satisfies some switch then this throw try typeof var while""".split()  # noqa: SIM905
)
_EL = re.compile(r"[$#]\{\s*(.*?)\s*\}", re.DOTALL)


def is_feel(language: str) -> bool:
    """Whether the URI or name of a language is that of FEEL."""
    return any(part in language.lower() for part in _FEEL)


def simple_language(text: str) -> str | None:
    """A path or a constant of JUEL, Groovy, JavaScript or Python in FEEL, which writes it the same
    way except for the `${…}` of JUEL; `None` for other expressions."""
    text = text.strip()
    within = _EL.fullmatch(text)
    bare = within[1] if within is not None else text
    if not _SIMPLE.fullmatch(bare) or not _KEYWORDS.isdisjoint(bare.split(".")):
        return None
    return bare
