"""Names made from labels: one line of text, field names, texts that differ."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from orgflow_ir.model.elements import Model, Process

_FOLD = str.maketrans({"ß": "ss", "æ": "ae", "ø": "o", "đ": "d", "ł": "l", "Æ": "AE", "Ø": "O"})


def one_line(text: str) -> str:
    """The text without control characters and lone surrogates, white space folded."""
    if not text.isprintable():  # which all but few labels are
        bad = ("Cc", "Cs", "Zl", "Zp")
        text = "".join(" " if unicodedata.category(c) in bad else c for c in text)
    return " ".join(text.split())


def slug(text: str, *, words: int = 8) -> str:
    """A field name: lower-case ASCII words joined by `_`; the empty string where none is left."""
    ascii_text = unicodedata.normalize("NFKD", text.translate(_FOLD))
    ascii_text = ascii_text.encode("ascii", "ignore").decode().lower()
    parts = re.findall(r"[a-z0-9]+", ascii_text.replace("'", ""))
    return "_".join(parts[:words])


def unique(values: Iterable[str], fallback: str) -> list[str]:
    """The values in order, each made non-empty and different from those before it."""
    result: list[str] = []
    for value in values:
        base = value or fallback
        candidate, number = base, 2
        while candidate in result:
            candidate = f"{base} ({number})"
            number += 1
        result.append(candidate)
    return result


def title(model: Model, process: Process) -> str:
    """The process's name, its pool's, the model's or the file's: what its result is called."""
    pool = next((p.name for p in model.pools if p.process == process.id), "")
    stem = model.source.replace("\\", "/").rsplit("/", 1)[-1].split(".")[0]
    names = (process.name, pool, model.name, stem)
    return next((one_line(n) for n in names if one_line(n)), "Process")
