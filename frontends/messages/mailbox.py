"""Mailboxes: mbox files read mail by mail, Maildir folders, folders and files of single mails."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from orgflow.frontends.messages.mail import NoMail, read_mail

from orgflow_ir.model.message import BrokenMessage, Message

MAX_MAIL = 64 * 1024 * 1024
"""Bytes of one mail: the largest that servers accept; more is a file that is no mailbox."""

# "From jane@example.com Mon Mar  3 10:12:00 2026", with whatever some program wrote as the sender
_FROM_LINE = re.compile(
    rb"From (?:.*\s)?(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\s.*\d{1,2}:\d\d.*\d{4}|From [^\s:]+@?\S*\s*$"
)


def read_mbox(
    file: BinaryIO, name: str, advance: Callable[[int], None] | None = None
) -> Iterator[Message | BrokenMessage]:
    """The mails of an mbox file, one at a time in memory: mboxo and mboxrd (`>From` is unescaped),
    with LF or CRLF lines.

    Args:
        file: the open mailbox.
        name: what to call it in messages.
        advance: called with the number of bytes read, mail by mail.
    """
    lines: list[bytes] = []
    size = begin = number = 0
    blank = True
    skipped = False  # a mail too large, or what stands before the first
    for line in iter(lambda: file.readline(1 << 20), b""):
        number += line.endswith(b"\n")
        if blank and line.startswith(b"From ") and _FROM_LINE.match(line):
            if begin and not skipped:
                yield from _parsed(b"".join(lines), name, begin)
            if advance is not None:
                advance(size)
            lines, size, begin, skipped = [], len(line), number, False
        else:
            size += len(line)
            if not begin and line.strip():
                yield BrokenMessage(name, number, "is text before the first `From ` line")
                begin, skipped = number, True
            elif size > MAX_MAIL and not skipped:
                yield BrokenMessage(name, begin, f"has more than {MAX_MAIL >> 20} MB")
                lines, skipped = [], True
            elif begin and not skipped:
                lines.append(line[1:] if line[:1] == b">" and _ESCAPED.match(line) else line)
        blank = line.isspace()
    if begin and not skipped:
        yield from _parsed(b"".join(lines), name, begin)
    if advance is not None:
        advance(size)


_ESCAPED = re.compile(rb">+From ")


def _parsed(data: bytes, name: str, line: int) -> Iterator[Message | BrokenMessage]:
    try:
        yield from read_mail(data, name, line)
    except NoMail as error:
        yield BrokenMessage(name, line, str(error))
    except (ValueError, LookupError, TypeError, RecursionError, AttributeError) as error:
        # the standard library's parser fails in these ways on mails that break its rules
        yield BrokenMessage(name, line, f"cannot be parsed: {type(error).__name__}: {error}")


def read_eml(path: str) -> Iterator[Message | BrokenMessage]:
    """The mail in a file. Raises `OSError`."""
    if os.path.getsize(path) > MAX_MAIL:
        yield BrokenMessage(path, 1, f"has more than {MAX_MAIL >> 20} MB")
        return
    with open(path, "rb") as file:
        data = file.read()
    line = 1
    if path.lower().endswith(".emlx"):  # Apple Mail: the length before, a property list after
        length, _, rest = data.partition(b"\n")
        if length.strip().isdigit():
            data, line = rest[: int(length)], 2
    yield from _parsed(data, path, line)


def maildir_files(path: str) -> Iterator[str]:
    """The mails of a Maildir and of its sub-folders (`.Sent`), sorted; none of `tmp`."""
    for folder, names, files in os.walk(path):
        names.sort()
        if os.path.basename(folder) in ("new", "cur"):
            yield from (os.path.join(folder, name) for name in sorted(files))


def is_maildir(path: str) -> bool:
    """Whether a folder is a Maildir."""
    return all(os.path.isdir(os.path.join(path, part)) for part in ("cur", "new"))
