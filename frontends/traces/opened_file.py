"""The bytes of a log, unpacked if it is gzip, within limits."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from typing import BinaryIO, Final

from orgflow_ir.mining.event_log import UnreadableLog
from orgflow_ir.model.input_limits import MOST_RATIO, MOST_UNPACKED

GZIP: Final = b"\x1f\x8b"
HEAD_BYTES: Final = 64 * 1024
LONGEST_LINE: Final = 64 * 1024 * 1024
"""Bytes of one line."""


class BoundedGzip(io.RawIOBase):
    """The unpacked bytes of a gzip file.

    Reading raises `UnreadableLog` for a damaged file, and for one that unpacks to more than
    `MOST_UNPACKED` bytes and to more than `MOST_RATIO` times its size.
    """

    def __init__(self, path: str) -> None:
        self._file = gzip.open(path, "rb")  # noqa: SIM115  # closed with this one
        self._left = max(MOST_UNPACKED, MOST_RATIO * os.path.getsize(path))

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            data = self._file.read(len(buffer))
        except (OSError, EOFError, zlib.error) as error:
            raise UnreadableLog(f"the gzip file is damaged: {error}") from None
        self._left -= len(data)
        if self._left < 0:
            raise UnreadableLog("the gzip file unpacks to more than its size explains")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def open_log(path: str) -> BinaryIO:
    """A file to read from its start. Raises `OSError`; reading may raise `UnreadableLog`."""
    with open(path, "rb") as file:
        packed = file.read(2) == GZIP
    if packed:
        return io.BufferedReader(BoundedGzip(path), 1 << 20)
    return open(path, "rb", buffering=1 << 20)


def read_head(path: str) -> bytes:
    """The first bytes of a file, unpacked. Raises `OSError`, `UnreadableLog`."""
    with open_log(path) as file:
        return file.read(HEAD_BYTES)


def detect_encoding(head: bytes) -> str:
    """The encoding of a text that begins with these bytes."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start < len(head) - 4:
            return "cp1252"
    return "utf-8-sig"
