"""Mailboxes as mail programs leave them: lengths of texts, deleted mails, drafts."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from orgflow.frontends.messages import mailbox
from orgflow.frontends.messages.mailbox import read_mbox
from orgflow.frontends.messages.message_paths import read_messages

from orgflow_ir.model.message import BrokenMessage, Message

FROM = b"From ann@x.example Mon Mar  2 09:15:03 2026\n"
HEAD = b"From: Ann <ann@x.example>\nTo: ben@x.example\nSubject: %s\nMessage-ID: <%s@x>\n"
FORWARDED = (
    b"Look at what came in:\n\n" + FROM + b"Subject: inside\n\nFrom here on\n>From there on\n"
)
"""A text that mboxcl2 keeps as it is: with a line like the first of a mail, and an escaped one."""


def mail(name: bytes, text: bytes, length: int | None = None, end: bytes = b"\n") -> bytes:
    """A mail of mboxcl2; `length` instead of that of the text."""
    stated = b"Content-Length: %d\n\n" % (len(text) if length is None else length)
    return FROM + HEAD % (name, name) + stated + text + end


def read(data: bytes) -> list[tuple[str, str] | str]:
    return [
        (item.subject, f"{item.body}\n{item.quoted}".strip()) if isinstance(item, Message)
        else f"{item.line}: {item.reason}"
        for item in read_mbox(io.BytesIO(data), "box")
    ]  # fmt: skip


@pytest.mark.parametrize("end", [b"\n", b"", b"\n\n"], ids=["blank", "none", "two"])
def test_a_text_as_long_as_stated_is_kept_as_it_is(end: bytes) -> None:
    box = mail(b"first", FORWARDED, end=end) + mail(b"last", b"From 9 to 5\n", end=end)
    first, last = read(box)
    text = "Look at what came in:\n\n" + FROM.decode() + "Subject: inside\n\nFrom here on\n"
    assert first == ("first", text + ">From there on")
    assert last == ("last", "From 9 to 5")


def test_lines_are_counted_across_texts() -> None:
    box = mail(b"first", FORWARDED) + FROM + b"no header\n\n" + mail(b"last", b"Yes\n")
    first, broken, last = read_mbox(io.BytesIO(box), "box")
    lines = box.split(b"\n")
    for item in (first, broken, last):
        assert lines[item.line - 1] + b"\n" == FROM
    assert [type(item) for item in (first, broken, last)] == [Message, BrokenMessage, Message]


@pytest.mark.parametrize("wrong", [0, 1, 3, 5, 70, 10**9, 10**15], ids=str)
def test_a_wrong_length_is_ignored(wrong: int) -> None:
    box = mail(b"first", b">From here on\nwe pack.\n", wrong) + mail(b"last", b"Yes\n", wrong)
    assert read(box) == [("first", "From here on\nwe pack."), ("last", "Yes")]


@pytest.mark.parametrize("stated", [b"-3", b"many", b"", b"\xb2", b"9" * 5_000], ids=range(5))
def test_a_length_that_is_none_is_ignored(stated: bytes) -> None:
    box = mail(b"first", b"Yes\n").replace(b"Length: 4", b"Length: " + stated)
    assert read(box) == [("first", "Yes")]


def test_a_length_in_windows_line_ends() -> None:
    text = FORWARDED.replace(b"\n", b"\r\n")
    box = mail(b"first", b"").replace(b"\n", b"\r\n").replace(b": 0", b": %d" % len(text)) + text
    box = box.replace(b"\r\n\r\n\r\n", b"\r\n\r\n") + b"\r\n" + mail(b"last", b"Yes\n")
    first, last = read(box)
    assert first[1].endswith(">From there on")
    assert last == ("last", "Yes")


def test_a_mailbox_that_cannot_be_sought() -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def seek(self, *_: object) -> int:
            raise io.UnsupportedOperation("seek")

    found = read_mbox(Pipe(mail(b"first", b"Yes\n")), "box")
    assert [item.body for item in found if isinstance(item, Message)] == ["Yes"]


def test_a_text_that_is_too_long_is_skipped_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailbox, "MAX_MAIL", 1 << 20)
    long = FORWARDED + b"word\n" * 300_000
    done: list[int] = []
    box = mail(b"first", long) + mail(b"last", b"Yes\n")
    found = list(read_mbox(io.BytesIO(box), "box", done.append))
    assert [i.reason if isinstance(i, BrokenMessage) else i.body for i in found] == [
        "has more than 1 MB", "Yes",
    ]  # fmt: skip
    assert sum(done) == len(box)


def test_a_line_like_the_first_of_a_mail() -> None:
    """A place name after an empty line begins no mail."""
    box = FROM + HEAD % (b"first", b"1") + b"\nWe ship\n\nFrom Paris\n\nFrom Rome\n"
    assert read(box) == [("first", "We ship\n\nFrom Paris\n\nFrom Rome")]


@pytest.mark.parametrize(
    ("header", "deleted"),
    [
        (b"X-Mozilla-Status: 0009", True),  # read and expunged, the folder not yet compacted
        (b"X-Mozilla-Status: 0008", True),
        (b"X-Mozilla-Status: 1008", True),
        (b"x-mozilla-status: 000D", True),
        (b"X-Mozilla-Status: 0001", False),
        (b"X-Mozilla-Status: 0017", False),
        (b"X-Mozilla-Status2: 00000008", False),
        (b"X-Status: D", True),  # mutt and Alpine
        (b"X-Status: AD", True),
        (b"X-Status: A", False),
        (b"Status: RO", False),
    ],
    ids=lambda value: value.decode() if isinstance(value, bytes) else "",
)
def test_deleted_mails_in_an_mbox(header: bytes, deleted: bool) -> None:
    box = mail(b"first", b"Yes\n").replace(b"Subject", header + b"\nSubject") + mail(
        b"last", b"X-Status: D\nX-Mozilla-Status: 0008\n"
    )
    first, last = read(box)
    assert first == ("1: was deleted by its owner" if deleted else ("first", "Yes"))
    assert last == ("last", "X-Status: D\nX-Mozilla-Status: 0008")


def test_deleted_mails_and_drafts_in_a_maildir(tmp_path: Path) -> None:
    for name in ("cur", "new", "tmp", ".Sent/cur", ".Sent/new"):
        (tmp_path / name).mkdir(parents=True)
    names = {
        "cur/1.x:2,S": "", "cur/2.x:2,ST": "was deleted by its owner", "cur/3.x:2,DS": "is a draft",
        "cur/4.x;2,T": "was deleted by its owner", "cur/5.x!2,FT": "was deleted by its owner",
        "cur/6.x:2,": "", "cur/7.T:2,S": "", "cur/8.x:2,Sabc": "", "cur/9.T": "",
        "new/T": "", ".Sent/cur/1.x:2,RS": "", ".Sent/cur/2.x:2,T": "was deleted by its owner",
        "tmp/1.x": "is read",
    }  # fmt: skip
    for name in names:
        key = name.encode()
        (tmp_path / name).write_bytes(HEAD % (key, key.replace(b",", b"")) + b"\n%s\n" % key)
    done: list[int] = []
    found = list(read_messages(str(tmp_path), advance=done.append))
    given = {
        str(Path(item.file).relative_to(tmp_path)):
        item.reason if isinstance(item, BrokenMessage) else "" for item in found
    }  # fmt: skip
    assert given == {name: reason for name, reason in names.items() if reason != "is read"}
    assert sum(done) == len(given)
