"""Standard streams whose reader may stop early: `orgflowc check models | head -1` is not an
error."""

from __future__ import annotations

import io
import os
import sys
from typing import TextIO


class _Lenient(io.FileIO):
    """Drops what nobody reads any more, so that a command does its work and exits as it would."""

    def write(self, data: object, /) -> int:
        try:
            return super().write(data)  # type: ignore[arg-type]
        except BrokenPipeError:
            discard_output(self.fileno())
            return len(memoryview(data))  # type: ignore[arg-type]


def discard_output(descriptor: int) -> None:
    """Discard everything that is written to a descriptor from now on."""
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), descriptor)


def survive_closed_pipes() -> None:
    """Replace standard output and standard error of this process by streams that continue without a
    reader."""
    if sys.stdout is not None:
        sys.stdout = _wrap_stream(sys.stdout, 1)
    if sys.stderr is not None:
        sys.stderr = _wrap_stream(sys.stderr, 2)


def _wrap_stream(stream: TextIO, descriptor: int) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper) or stream.isatty():
        return stream
    stream.flush()
    raw = _Lenient(descriptor, "wb", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding=stream.encoding, errors=stream.errors,
        line_buffering=stream.line_buffering,
    )  # fmt: skip
