"""Where things stand in the files people wrote: `SourceFile` (bytes) and `SourceLocation`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath

from orgflow_ir.model.value import Value


class SourceLocation(Value):
    """A place in a source file; a format that lacks one of the parts leaves it `None`.

    `line` and `column` count from 1, `column` in characters. `span` holds byte offsets
    `(start, end)` into the file as it lies on disk, so that an edit can be made byte-exactly.
    `element` is how the format itself names the place (an XML id, a JSON path).
    """

    file: str
    line: int | None = None
    column: int | None = None
    element: str | None = None
    span: tuple[int, int] | None = None
    quote: str | None = None

    def __str__(self) -> str:
        parts = [self.file]
        if self.line is not None:
            parts.append(str(self.line))
            if self.column is not None:
                parts.append(str(self.column))
        return ":".join(parts)


@dataclass(frozen=True)
class SourceFile:
    """The bytes of one input and the name to show for it (`<stdin>` for `-`)."""

    path: str
    data: bytes

    @cached_property
    def suffix(self) -> str:
        """Lower-case file suffix with its dot, or the empty string."""
        return PurePath(self.path).suffix.lower()

    @cached_property
    def stem(self) -> str:
        """File name without folder and suffix."""
        return PurePath(self.path).stem
