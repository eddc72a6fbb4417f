"""Characters that the texts of a model cannot contain, because outputs cannot represent them.

XML 1.0 (production 2, `Char`) has no control characters but tab and line ends, no surrogates and no
U+FFFE and U+FFFF; databases refuse U+0000, and terminals act on U+001B. A BPMN file cannot contain
them; JSON and the results of plugins can.
"""

from __future__ import annotations

import re
from operator import is_
from typing import Any, TypeVar

from orgflow_ir.model.source import SourceLocation
from orgflow_ir.model.value import Value

V = TypeVar("V", bound=Value)

_UNWRITABLE = "[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]"


def replace_unwritable(text: str) -> str:
    """The text with such characters replaced: white space by a space, so that quotes still match
    word for word, others by U+FFFD."""
    if text.isprintable():  # most are
        return text
    return re.sub(_UNWRITABLE, lambda m: " " if m[0].isspace() else "\ufffd", text)


def with_writable_texts(value: V) -> V:
    """The value with `replace_unwritable` applied to all texts except the file names of places; the
    value itself if there is nothing to replace."""
    writable_value: V = _make_writable(value)
    return writable_value


def _make_writable(part: Any) -> Any:
    if isinstance(part, str):
        text = replace_unwritable(part)
        return part if text == part else text
    if isinstance(part, tuple):
        items = tuple(_make_writable(item) for item in part)
        return part if all(map(is_, items, part)) else items
    if isinstance(part, Value) and not isinstance(part, SourceLocation):
        changes = {
            name: new
            for name, old in part.__dict__.items()
            if (new := _make_writable(old)) is not old
        }
        return part.replace(**changes) if changes else part
    return part
