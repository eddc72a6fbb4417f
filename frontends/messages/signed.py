"""The content of a signed S/MIME mail whose text is inside the signature (CMS, RFC 5652)."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow_ir.model.records import NamedTuple

_SIGNED = bytes.fromhex("2a864886f70d010702")  # 1.2.840.113549.1.7.2
_SEQUENCE, _SET, _OID, _INTEGER, _OCTETS, _ZERO = 0x30, 0x31, 0x06, 0x02, 0x04, 0xA0
_PARTS = 0x20  # of the tag of a value that is made of others


class _Value(NamedTuple):
    """A value in BER: its tag, where its content begins and ends, and where the next one begins."""

    tag: int
    begin: int
    end: int
    next: int


def signed_content(data: bytes) -> bytes | None:
    """The signed mail; `None` for encrypted, damaged and other data."""
    try:
        kind, explicit = _values_inside(data, _read_value(data, 0), _OID, _ZERO)
        if data[kind.begin : kind.end] != _SIGNED:
            return None
        (signed,) = _values_inside(data, explicit, _SEQUENCE)
        _, _, content = _values_inside(data, signed, _INTEGER, _SET, _SEQUENCE)
        _, held = _values_inside(data, content, _OID, _ZERO)
        return b"".join(_read_octets(data, held))
    except (IndexError, ValueError, RecursionError):  # values may be nested without end
        return None


def _values_inside(data: bytes, outer: _Value, *tags: int) -> list[_Value]:
    """The first values inside another, which have these tags. Raises `ValueError`."""
    values = []
    for tag, value in zip(tags, _list_values(data, outer), strict=False):
        if value.tag != tag:
            raise ValueError("another structure")
        values.append(value)
    if len(values) < len(tags):
        raise ValueError("too few values")
    return values


def _list_values(data: bytes, outer: _Value) -> Iterator[_Value]:
    place = outer.begin
    while place < outer.end:
        value = _read_value(data, place)
        yield value
        place = value.next


def _read_octets(data: bytes, outer: _Value) -> Iterator[bytes]:
    """A text in one piece or in several."""
    for value in _list_values(data, outer):
        if value.tag == _OCTETS:
            yield data[value.begin : value.end]
        elif value.tag == _OCTETS | _PARTS:
            yield from _read_octets(data, value)


def _read_value(data: bytes, place: int) -> _Value:
    """Raises `IndexError`, `ValueError`."""
    tag, length = data[place], data[place + 1]
    begin = place + 2
    if length == 0x80:  # two zero bytes end it
        end = begin
        while data[end : end + 2] != b"\0\0":
            end = _read_value(data, end).next
        return _Value(tag, begin, end, end + 2)
    if length > 0x80:
        size = length - 0x80
        length = int.from_bytes(data[begin : begin + size])
        begin += size
    if begin + length > len(data):
        raise ValueError("truncated")
    return _Value(tag, begin, begin + length, begin + length)
