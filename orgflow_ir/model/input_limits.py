"""Limits of what readers unpack and nest, in one place for all of them.

A file of a few kilobytes can unpack to gigabytes, nest deeper than any program recurses, or hold so
many empty values that they fill the memory. Files come from people nobody knows. Every reader of an
archive, of JSON and of nested parts therefore uses the functions or the constants of this module; a
file beyond a limit is refused with a message that names it.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Final

from orgflow_ir.lazy_modules import LazyModule

if TYPE_CHECKING:
    import zipfile
else:  # with its compressions, for archives alone
    zipfile = LazyModule("zipfile")

MIB: Final = 1024 * 1024

MOST_MEMBER: Final = 256 * MIB
"""Bytes of one member of an archive, unpacked, and of a JSON document that is read as a whole."""

MOST_UNPACKED: Final = 1024 * MIB
"""Bytes of all members of an archive, unpacked, if it is smaller than a hundredth of that."""

MOST_RATIO: Final = 100
"""Bytes of all members for each byte of a larger archive. Exports of chats have 10 to 30."""

MOST_MEMBERS: Final = 500_000
"""Members of an archive."""

MOST_DIRECTORY: Final = 64 * MIB
"""Bytes of the directory of an archive, which is read as a whole."""

MOST_VALUES: Final = 10_000_000
"""Values in a JSON document, where an empty list takes 20 times the memory of its text."""

MOST_PLACED_VALUES: Final = 1_000_000
"""Values in a JSON document of which the place of each value is kept."""

MOST_DEPTH: Final = 256
"""Levels of elements of XML and of values of JSON."""

MOST_PARTS_DEPTH: Final = 32
"""Levels of the parts of a mail, more than any program writes: the time grows with the product of
levels and lines."""

SMALL_MAIL: Final = MIB // 4
"""Bytes of a mail whose parts may be nested deeper, until Python's recursion ends."""

MOST_PARTS: Final = 10_000
"""Parts and attachments of a mail."""

MOST_ATTRIBUTES: Final = 4_000_000
"""Attributes of an XML file."""


class LimitExceeded(ValueError):
    """Input beyond a limit; the text is the end of a sentence about it."""


class BoundedZip:
    """A zip file whose members are read within the limits.

    Attributes:
        names: of all members, sorted; none of those that are folders or whose name leads out of the
            archive.
        unsafe: names that lead out of the archive, which are not read.
    """

    def __init__(self, path: str) -> None:
        """Raises `OSError`, `zipfile.BadZipFile`, `LimitExceeded`."""
        _check_directory(path)
        self._archive = zipfile.ZipFile(path)
        names = sorted(name for name in self._archive.namelist() if not name.endswith("/"))
        self.unsafe = tuple(name for name in names if not is_safe_name(name))
        self.names = tuple(name for name in names if is_safe_name(name))
        self._left = max(MOST_UNPACKED, MOST_RATIO * os.path.getsize(path))
        self._counted: set[str] = set()

    def read(self, name: str) -> bytes:
        """The bytes of a member. Raises `KeyError`, `OSError`, `zipfile.BadZipFile`,
        `LimitExceeded`."""
        try:
            with self._archive.open(name) as member:
                data = member.read(MOST_MEMBER + 1)
        except (RuntimeError, NotImplementedError, EOFError) as error:  # encrypted, unknown, cut
            raise zipfile.BadZipFile(str(error)) from None
        if len(data) > MOST_MEMBER:
            raise LimitExceeded(f"has more than {MOST_MEMBER // MIB} MB")
        if name not in self._counted:
            if len(data) > self._left:
                raise LimitExceeded("is in an archive that unpacks to more than its size explains")
            self._counted.add(name)
            self._left -= len(data)
        return data

    def close(self) -> None:
        """Close the file."""
        self._archive.close()


def is_safe_name(name: str) -> bool:
    """Whether the name of a member stays inside the archive: relative, without `..`, a drive or a
    NUL."""
    plain = name.replace("\\", "/")
    return (
        bool(plain)
        and not plain.startswith("/")
        and ".." not in plain.split("/")
        and not re.match(r"[A-Za-z]:", plain)
        and "\0" not in plain
    )


_END: Final = b"PK\x05\x06"
_END_64: Final = b"PK\x06\x06"
_LONGEST_COMMENT: Final = 65_535


def _check_directory(path: str) -> None:
    """The size of a zip file's directory, which is known before it is read (APPNOTE 4.3.14 and
    4.3.16). Raises `LimitExceeded`, `OSError`."""
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - _LONGEST_COMMENT - 22 - 20 - 56))
        tail = file.read()
    entries = length = 0
    at = tail.rfind(_END)
    if at >= 0:
        entries = int.from_bytes(tail[at + 10 : at + 12], "little")
        length = int.from_bytes(tail[at + 12 : at + 16], "little")
    at = tail.rfind(_END_64)
    if at >= 0:
        entries = max(entries, int.from_bytes(tail[at + 32 : at + 40], "little"))
        length = max(length, int.from_bytes(tail[at + 40 : at + 48], "little"))
    length = min(length, size)
    if entries > MOST_MEMBERS or length > MOST_DIRECTORY:
        raise LimitExceeded(f"is an archive of more than {MOST_MEMBERS:,} files")


def load_json(data: str | bytes) -> Any:
    """The value of a JSON text within the limits of values and depth.

    Raises `LimitExceeded` for a text beyond a limit, and `ValueError` for one that is not JSON.
    """
    check_json(data)
    try:
        return json.loads(data)
    except RecursionError:
        raise LimitExceeded(f"has values nested more than {MOST_DEPTH} levels deep") from None


def check_json(data: str | bytes, most_values: int = MOST_VALUES) -> None:
    """Raises `LimitExceeded` for a JSON text with too many values, or too deep."""
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    opened = raw.count(b"[") + raw.count(b"{")
    if opened <= MOST_DEPTH and len(raw) <= most_values:
        return  # nearly all texts
    if opened + raw.count(b",") > most_values:
        raise LimitExceeded(f"has more than {most_values:,} values")
    if opened > MOST_DEPTH and _json_depth(raw) > MOST_DEPTH:
        raise LimitExceeded(f"has values nested more than {MOST_DEPTH} levels deep")


_NO_BRACKET: Final = bytes(c for c in range(256) if c not in b'[]{}"')


def _json_depth(raw: bytes) -> int:
    """How deep the brackets of a JSON text are nested; any number above the limit if deeper."""
    if raw[:4].count(0):  # UTF-16 and UTF-32: every ASCII character is one byte beside zeros
        raw = raw.replace(b"\0", b"")
    text = raw.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _NO_BRACKET)
    text = re.sub(rb'"[^"]*"', b"", text).translate(bytes.maketrans(b"{}", b"[]"))
    # Each round removes the innermost pairs: as many rounds as there are levels.
    for level in range(MOST_DEPTH + 1):
        inner = text.replace(b"[]", b"")
        if len(inner) == len(text):
            return level + text.count(b"[")  # the remaining ones are not closed
        text = inner
    return MOST_DEPTH + 1
