"""The part of `winmail.dat` (TNEF, MS-OXTNEF) that is plain: the text of the mail and the names of
the attached files."""

from __future__ import annotations

import struct

_SIGNATURE = b"\x78\x9f\x3e\x22"
_BODY, _TITLE = 0x0002800C, 0x00018010


def read_tnef(data: bytes) -> tuple[bytes, list[bytes]] | None:
    """The text and the names of files that a `winmail.dat` contains; `None` for data that is not
    in its format. The text is empty where it has another form (RTF)."""
    if not data.startswith(_SIGNATURE):
        return None
    text = b""
    names = []
    place = 6  # behind the signature and the key
    while place + 9 <= len(data):
        name, length = struct.unpack_from("<II", data, place + 1)
        value = data[place + 9 : place + 9 + length].rstrip(b"\0")
        if name == _BODY:
            text = value
        elif name == _TITLE:
            names.append(value)
        place += 9 + length + 2  # a check sum follows
    return text, names
