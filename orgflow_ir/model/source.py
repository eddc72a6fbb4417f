"""Sources of models (bytes, a stream, a folder, a store), and places in them."""

from __future__ import annotations

import io
import os
from collections.abc import Collection, Sequence
from enum import StrEnum
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, BinaryIO, Protocol

from orgflow_ir.model.records import dataclass
from orgflow_ir.model.value import Value

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

HEAD_BYTES = 64 * 1024
"""Number of bytes at the start of a stream that determine its format."""


class SourceKind(StrEnum):
    """Inputs of a frontend; `Frontend.accepts` names one or several."""

    BYTES = "bytes"
    """A file in memory, at most 256 MB: `SourceFile`."""
    STREAM = "stream"
    """A file or standard input of any size, read piece by piece: `SourceStream`."""
    FOLDER = "folder"
    """A folder: `SourceFolder`."""
    STORE = "store"
    """A folder that a store writes and reads itself: `SourceStore`."""


class SourceLocation(Value):
    """A place in a source file; parts that the format lacks are `None`.

    `line` and `column` count from 1, `column` in characters. `span` holds byte offsets `(start,
    end)` into the file on disk, so that an edit can be byte-exact. `element` is the name of the
    place in the format itself (an XML id, a JSON path).
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


class _Named:
    """What the path of a source says."""

    path: str

    @cached_property
    def suffix(self) -> str:
        """Lower-case file suffix with its dot, or the empty string."""
        return PurePath(self.path).suffix.lower()

    @cached_property
    def stem(self) -> str:
        """File name without folder and suffix."""
        return PurePath(self.path).stem


def told_apart(paths: Collection[PurePath]) -> list[str]:
    """The names of files, with as many of their folders as are needed to tell them apart."""
    most = max(len(path.parts) for path in paths)
    for count in range(1, most + 1):
        names = [PurePath(*path.parts[-count:]).as_posix() for path in paths]
        if len(set(names)) == len(names):
            break
    return names


def file_stem(source: str) -> str:
    """The name, without suffix, of a file that a backend emits for a whole model: the name of the
    model's `source`, `stdin` for `<stdin>`, or `model` for a model without a source."""
    return PurePath(source).stem.strip("<>") or "model"


@dataclass(frozen=True)
class SourceFile(_Named):
    """The bytes of one input and the name to show for it (`<stdin>` for `-`)."""

    path: str
    data: bytes

    def stream(self, *, once: bool = False) -> SourceStream:
        """The same bytes as a stream; with `once`, a stream that cannot be read again, like
        standard input."""
        return SourceStream(self.path, io.BytesIO(self.data), once=once)


class SourceStream(_Named, io.BufferedReader):
    """An input of any size as a binary stream; the code that opened it closes it.

    `read(size)` and `readline(size)` with a size keep memory bounded; without one, they read
    everything. A file can be read again after `seek(0)`. Standard input and pipes can be read only
    once: `seekable()` is false, and `seek` raises `io.UnsupportedOperation`.

    Attributes:
        path: the name to show for it.
        head: the first bytes, at most `HEAD_BYTES`; reading the stream returns them too.
    """

    def __init__(
        self, path: str, file: BinaryIO | io.RawIOBase, *, once: bool = False, owned: bool = True
    ) -> None:
        """Take over `file`, which is read from where it stands. `once`: it cannot be read again,
        whatever it is. Not `owned`: it stays open when the stream is closed."""
        self.path = path
        self._pieces = _Pieces(file, once=once, owned=owned)
        super().__init__(self._pieces, HEAD_BYTES)
        self.head: bytes = self.peek(HEAD_BYTES)[:HEAD_BYTES]

    @property
    def fault(self) -> OSError | None:
        """Why reading it failed; None if it did not fail."""
        return self._pieces.fault


class _Pieces(io.RawIOBase):
    """A file whose reads fill the buffer: a pipe gives less, and the head is one buffer."""

    def __init__(self, file: BinaryIO | io.RawIOBase, *, once: bool, owned: bool) -> None:
        super().__init__()
        self._file, self._once, self._owned = file, once, owned
        self.fault: OSError | None = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return not self._once and self._file.seekable()

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        if not self.seekable():
            raise io.UnsupportedOperation("this input can be read only once")
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        try:
            return self._fill_buffer(buffer)
        except OSError as error:
            self.fault = error
            raise

    def _fill_buffer(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        filled = 0
        while filled < len(view):
            count: int | None = self._file.readinto(view[filled:])  # type: ignore[union-attr]
            if not count:
                break
            filled += count
        return filled

    def close(self) -> None:
        if not self.closed and self._owned:
            self._file.close()
        super().close()


class SourceFolder(_Named):
    """A folder that a frontend reads as one input, such as a mailbox of many files."""

    def __init__(self, path: str) -> None:
        self.path = path

    def names(self) -> tuple[str, ...]:
        """The names of its files and folders, sorted. Raises `OSError`."""
        return tuple(sorted(os.listdir(self.path)))


class SourceStore(Protocol):
    """A folder that a store wrote; only the store can interpret its files."""

    @property
    def path(self) -> str:
        """The folder."""

    def names(self) -> Sequence[str]:
        """The collections in it, in a fixed order."""

    def open(self, name: str) -> SourceStream:
        """The records of a collection; the caller closes it. Raises `KeyError`, `OSError`."""


Source = SourceFile | SourceStream | SourceFolder
"""The inputs that a frontend may receive today; no store makes a `SourceStore` yet."""
