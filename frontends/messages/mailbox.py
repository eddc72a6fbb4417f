"""Mailboxes: mbox files read mail by mail, Maildir folders, folders and files of single mails."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from typing import BinaryIO

from orgflow.frontends.messages.mail import NoMail, read_mail

from orgflow_ir.model.contained_paths import leads_out
from orgflow_ir.model.input_limits import LimitExceeded
from orgflow_ir.model.message import BrokenMessage, Message

MAX_MAIL = 64 * 1024 * 1024
"""Maximum number of bytes of one mail: the largest that servers accept; a larger one means that the
file is not a mailbox."""

# "From jane@example.com Mon Mar  3 10:12:00 2026", with whatever some program wrote as the sender
_FROM_LINE = re.compile(
    rb"From (?:.*\s)?(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\s.*\d{1,2}:\d\d.*\d{4}"
    rb"|From (?:\S+@\S+|-|MAILER-DAEMON)\s*$"
)
_DOUBTFUL = re.compile(rb"From (?=.*\b\d{1,2}:\d\d)(?=.*\b(?:19|20)\d\d)")
"""Perhaps the first line of a mail: with a date in another notation, or no blank line before it."""
_FIRST_HEADER = re.compile(
    rb">From |(?:Received|Return-Path|Delivered-To|Envelope-To|Message-ID|Date|From|To|Cc|Subject|"
    rb"Sender|Reply-To|MIME-Version|DKIM-Signature|Authentication-Results|Status|Content-[\w-]+|"
    rb"X-[\w-]+)[ \t]*:",
    re.IGNORECASE,
)


def read_mbox(
    file: BinaryIO, name: str, advance: Callable[[int], None] | None = None
) -> Iterator[Message | BrokenMessage]:
    """The mails of an mbox file, one at a time in memory: mboxo and mboxrd (`>From` is unescaped),
    mboxcl2 (the text of a mail ends after its `Content-Length`, if the next mail begins there, and
    is unchanged), with LF or CRLF lines.

    Args:
        file: the open mailbox; without seeking, `Content-Length` is ignored.
        name: its name in messages.
        advance: called with the number of bytes read, mail by mail.
    """
    end = _file_end(file)
    lines: list[bytes] = []
    size = begin = number = length = 0
    heading = False  # inside the headers of a mail
    skipped = False  # a mail too large, or what stands before the first
    for line, first in _read_lines(file):
        number += line.endswith(b"\n")
        if first:
            if begin and not skipped:
                yield from _parse_mail(b"".join(lines), name, begin)
            if advance is not None:
                advance(size)
            lines, size, begin, skipped = [], len(line), max(number, 1), False
            heading, length = True, 0
            continue
        size += len(line)
        blank = line.isspace()
        if not begin and not blank:
            yield BrokenMessage(name, number, "is text before the first `From ` line")
            begin, skipped = number, True
        elif size > MAX_MAIL and not skipped:
            yield BrokenMessage(name, begin, f"has more than {MAX_MAIL >> 20} MB")
            lines, skipped = [], True
        elif begin and not skipped:
            lines.append(line[1:] if line[:1] == b">" and _ESCAPED.match(line) else line)
        if heading and not blank and line[:15].lower() == b"content-length:":
            length = int(line[15:]) if _LENGTH.fullmatch(line[15:]) else 0
        elif heading and blank:
            heading = False
            if not _ends_after(file, length, end):
                continue
            size += length
            if size > MAX_MAIL and not skipped:
                yield BrokenMessage(name, begin, f"has more than {MAX_MAIL >> 20} MB")
                lines, skipped = [], True
            while length:
                piece = file.read(min(length, _PIECE))
                length -= len(piece) or length  # it was shortened meanwhile
                number += piece.count(b"\n")
                if not skipped:
                    lines.append(piece)
    if begin and not skipped:
        yield from _parse_mail(b"".join(lines), name, begin)
    if advance is not None:
        advance(size)


def _read_lines(file: BinaryIO) -> Iterator[tuple[bytes, bool]]:
    """The lines of an mbox, and whether each is the first of a mail. Some programs write other
    dates, or no blank line between mails: then headers have to follow."""
    blank = True
    line = file.readline(_PIECE).removeprefix(b"\xef\xbb\xbf")
    while line:
        first, following = False, b""
        if line.startswith(b"From "):
            first = blank and _FROM_LINE.match(line) is not None
            if not first and _DOUBTFUL.match(line):
                following = file.readline(_PIECE)
                first = _FIRST_HEADER.match(following) is not None
        yield line, first
        blank = line.isspace()
        line = following or file.readline(_PIECE)


_ESCAPED = re.compile(rb">+From ")
_LENGTH = re.compile(rb"\s*\d{1,15}\s*")
_PIECE = 1 << 20


def _file_end(file: BinaryIO) -> int:
    """Where a file ends; 0 where it cannot be sought."""
    if not file.seekable():
        return 0
    here = file.tell()
    end = file.seek(0, os.SEEK_END)
    file.seek(here)
    return end


def _ends_after(file: BinaryIO, length: int, end: int) -> bool:
    """Whether a mail whose text begins here has a length in bytes: the next mail begins after
    them, or nothing follows."""
    if not 0 < length <= end:
        return False
    here = file.tell()
    if here + length > end:
        return False
    file.seek(here + length - 1)
    whole = file.read(1) == b"\n"  # else the end of the last line is not counted
    line = file.readline(_PIECE)
    if not whole and line.strip(b"\r\n"):
        line = b"the length ends inside a line"
    for _ in range(2):
        if line.isspace():
            line = file.readline(_PIECE)
    file.seek(here)
    return not line or _FROM_LINE.match(line) is not None


_BLANK_LINE = re.compile(rb"\n\r?\n")
_DELETED = re.compile(rb"(?im)^(?:X-Mozilla-Status:[ \t]*[0-9a-f]{3}[89a-f]|X-Status:[^\n]*D)")
"""The marks of deleted mails by Thunderbird (until it compacts the folder), mutt and Alpine."""


def _end_of_headers(data: bytes) -> int:
    match = _BLANK_LINE.search(data)
    return match.start() if match else len(data)


def _parse_mail(data: bytes, name: str, line: int) -> Iterator[Message | BrokenMessage]:
    if _DELETED.search(data, 0, _end_of_headers(data)):
        yield BrokenMessage(name, line, "was deleted by its owner")
        return
    try:
        yield from read_mail(data, name, line)
    except (NoMail, LimitExceeded) as error:
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
    yield from _parse_mail(data, path, line)


def read_maildir(
    path: str, advance: Callable[[int], None] | None = None, root: str = ""
) -> Iterator[Message | BrokenMessage]:
    """The mails of a Maildir and of its sub-folders (`.Sent`), sorted; none of `tmp`, and none with
    the flags deleted (T) or draft (D)."""
    unread: list[OSError] = []
    for folder, names, files in os.walk(path, onerror=unread.append):
        names.sort()
        if os.path.basename(folder) not in ("new", "cur"):
            continue
        for name in sorted(files):
            mail = os.path.join(folder, name)
            unwanted = skip_reason(name)
            if leads_out(mail, root or path):
                unwanted = "is a symbolic link out of the folder; it is not read"
            if unwanted:
                yield BrokenMessage(mail, 0, unwanted)
            else:
                try:
                    yield from read_eml(mail)
                except OSError as error:
                    yield report_unreadable(mail, error)
            if advance is not None:
                advance(1)
    yield from (report_unreadable(str(error.filename), error) for error in unread)


def report_unreadable(path: str, error: OSError) -> BrokenMessage:
    """The report on one of several files or folders that the system cannot read."""
    return BrokenMessage(path, 0, f"cannot be read: {(error.strerror or str(error)).lower()}")


def skip_reason(name: str) -> str:
    """Why a mail of a Maildir is skipped, by the flags in its file name; otherwise empty."""
    flags = match.group(1) if (match := _FLAGS.search(name)) else ""
    if "T" in flags:
        return "was deleted by its owner"
    return "is a draft" if "D" in flags else ""


_FLAGS = re.compile(r"[:;!]2,([A-Za-z]*)$")
"""The flags at the end of a name; `;` and `!` if file names cannot contain a colon."""


def is_maildir(path: str) -> bool:
    """Whether a folder is a Maildir."""
    return all(os.path.isdir(os.path.join(path, part)) for part in ("cur", "new"))
