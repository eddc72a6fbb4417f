"""Messages in notations that are rare: read, or reported, and never left out silently."""

from __future__ import annotations

import base64
import io
import json
import os
import struct
from pathlib import Path

import pytest
from orgflow.frontends.messages import message_paths
from orgflow.frontends.messages.mail import MAX_DEPTH, read_mail, read_people
from orgflow.frontends.messages.mailbox import read_mbox
from orgflow.frontends.messages.message_paths import read_messages
from orgflow.frontends.messages.quotes import split_quotes
from orgflow.frontends.messages.signed import signed_content

from orgflow_ir.model.message import BrokenMessage, Message, Person, bare_subject

HEAD = (
    "From: Ann <ann@x.example>\nTo: Ben <ben@x.example>\nDate: Tue, 3 Mar 2026 10:12:00 +0100\n"
    "Subject: S{0}\nMessage-ID: <{0}@x.example>\n"
)


def mail(number: int, rest: str = "\nbody {0}\n") -> str:
    return (HEAD + rest).format(number)


def bodies(found: list[Message | BrokenMessage]) -> list[str]:
    """The texts of messages, and the reasons of what was not read."""
    return [m.body if isinstance(m, Message) else m.reason for m in found]


def read(path: Path) -> list[str]:
    return bodies(list(read_messages(str(path))))


def box(text: str) -> list[str]:
    return bodies(list(read_mbox(io.BytesIO(text.encode()), "box")))


def eml(rest: str) -> list[str]:
    return bodies(read_mail(mail(1, rest).encode(), "file"))


# -- mailboxes ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "between"),
    [
        ("From ann@x.example Tue Mar  3 10:12:00 2026", ""),
        ("From ann@x.example Tue, 03 Mar 2026 10:12:00 +0100", "\n"),
        ("From ann@x.example 2026-03-03T10:12:00Z", "\n"),
        ("From 1790000000000@xxx Tue Mar 03 10:12:00 +0000 2026", "\n\n"),
    ],
    ids=["no-blank-line", "rfc", "iso", "gmail"],
)
def test_first_lines_of_mails(first: str, between: str) -> None:
    assert box(f"{first}\n{mail(1)}{between}{first}\n{mail(2)}") == ["body 1", "body 2"]


def test_lines_with_a_date_in_a_text_begin_no_mail() -> None:
    text = "\nFrom 10:00 on 3 March 2026 we are closed.\nFrom 12:00 on 4 March 2026, too.\n"
    assert box("From a@x Tue Mar  3 10:12:00 2026\n" + mail(1, text)) == [text.strip()]


def test_a_byte_order_mark(tmp_path: Path) -> None:
    text = (
        f"\ufeffFrom a@x Tue Mar  3 10:12:00 2026\n{mail(1)}\nFrom a@x Tue Mar  3 10:12:00 2026\n"
    )
    assert box(text + mail(2)) == ["body 1", "body 2"]
    (tmp_path / "a.eml").write_text("\ufeff" + mail(3), "utf-8")
    assert read(tmp_path / "a.eml") == ["body 3"]


def test_a_mailbox_without_line_ends_is_reported() -> None:
    assert box(f"From a@x Tue Mar  3 10:12:00 2026\n{mail(1)}".replace("\n", "\r")) == ["is empty"]


def test_several_mails_in_a_file_of_one(tmp_path: Path) -> None:
    first = "From a@x Tue Mar  3 10:12:00 2026\n"
    (tmp_path / "a.eml").write_text(f"{first}{mail(1)}\n{first}{mail(2)}")
    assert read(tmp_path / "a.eml") == ["body 1", "body 2"]


def test_parts_of_a_maildir(tmp_path: Path) -> None:
    for folder in ("cur", "new", "tmp"):
        (tmp_path / "a" / ".Sent" / folder).mkdir(parents=True)
    (tmp_path / "a" / ".Sent" / "cur" / "1.x:2,S").write_text(mail(1))
    assert read(tmp_path / "a") == ["body 1"], "the inbox itself is not there"
    (tmp_path / "b" / "cur").mkdir(parents=True)
    (tmp_path / "b" / "cur" / "1.x:2,S").write_text(mail(1))
    (tmp_path / "b" / "cur" / "2.x:2,ST").write_text(mail(2))
    assert read(tmp_path / "b") == ["body 1", "was deleted by its owner"]


@pytest.mark.parametrize("maildir", [True, False])
def test_one_file_that_cannot_be_opened(tmp_path: Path, maildir: bool) -> None:
    place = tmp_path / "cur"
    place.mkdir()
    if maildir:
        (tmp_path / "new").mkdir()
    (place / "1.eml").write_text(mail(1))
    os.symlink("/nowhere", place / "2.eml")
    (place / "3.eml").write_text(mail(3))
    found = read(tmp_path)
    assert found == ["body 1", "is a symbolic link out of the folder; it is not read", "body 3"]


# -- mails ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rest", "body"),
    [
        ("Content-Type: text/html\n\n<html><head><meta><body><p>Approve 17</html>", "Approve 17"),
        ('Content-Type: text/plain; name="a.txt"\n\nApprove 17\n', "Approve 17"),
        ("Content-Type: text/enriched\n\n<bold>Approve</bold> 17\n", "Approve 17"),
        ("Content-Type: text/markdown\n\n*Approve* 17\n", "*Approve* 17"),
        (
            "Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\n"
            "This message is in HTML.\n--b\nContent-Type: text/html\n\n"
            "<p>Approve invoice 17 by Friday, please.</p>\n--b--\n",
            "Approve invoice 17 by Friday, please.",
        ),
        (
            "Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\n"
            "The HTML of the page is broken.\n--b\nContent-Type: text/html\n\n"
            "<p>The HTML of the page is broken.</p>\n--b--\n",
            "The HTML of the page is broken.",
        ),
    ],
    ids=["open-head", "named", "enriched", "markdown", "apology", "about-html"],
)
def test_texts_in_other_places(rest: str, body: str) -> None:
    assert eml(rest) == [body]


def _mixed(*parts: tuple[str, str]) -> str:
    written = [f"--b\nContent-Type: {kind}\n\n{text}\n" for kind, text in parts]
    return f"Content-Type: multipart/mixed; boundary=b\n\n{''.join(written)}--b--\n"


@pytest.mark.parametrize(
    ("html", "body"),
    [
        ("<p>PS: the offer for order 18 is attached as well</p>",
         "Approve 17\n\nPS: the offer for order 18 is attached as well"),
        ("<p>Approve <b>17</b></p>", "Approve 17"),
    ],
    ids=["more", "the-same"],
)  # fmt: skip
def test_html_that_is_no_alternative(html: str, body: str) -> None:
    assert eml(_mixed(("text/plain", "Approve 17\n"), ("text/html", html))) == [body]


def test_html_in_parts_of_an_alternative() -> None:
    inner = _mixed(("text/html", "<p>Approve</p>"), ("text/html", "<p>17 today</p>"))
    rest = (
        "Content-Type: multipart/alternative; boundary=a\n\n--a\nContent-Type: text/plain\n\n"
        f"Approve 17\n--a\n{inner}\n--a--\n"
    )
    assert eml(rest) == ["Approve 17"]
    assert eml(rest.replace("Approve 17", " ")) == ["Approve\n\n17 today"]


def test_a_text_that_is_too_long_is_reported() -> None:
    found, reason = eml("\n" + "word " * 250_000)
    assert len(found) < 1_000_001
    assert reason == "has a text of more than 1,000,000 characters; the rest is left out"


def test_an_attached_text_is_no_text_of_the_mail() -> None:
    rest = (
        "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\nSee file\n"
        '--b\nContent-Type: text/x-log; name="a.log"\n\nERROR\n--b--\n'
    )
    assert eml(rest) == ["See file"]


@pytest.mark.parametrize(
    ("rest", "texts"),
    [
        (
            'Content-Type: application/pkcs7-mime; name="smime.p7m"\n'
            "Content-Transfer-Encoding: base64\n\nMIAGCSqGSIb3DQEHA6CAMIACAQAx\n",
            ["", "has a text that is encrypted"],
        ),
        (
            "Content-Type: multipart/encrypted; boundary=b\n\n--b\n"
            "Content-Type: application/pgp-encrypted\n\nVersion: 1\n--b\n"
            "Content-Type: application/octet-stream\n\nx\n--b--\n",
            ["", "has a text that is encrypted"],
        ),
        (
            "\n-----BEGIN PGP MESSAGE-----\n\nhQ\n-----END PGP MESSAGE-----\n",
            ["-----BEGIN PGP MESSAGE-----\n\nhQ\n-----END PGP MESSAGE-----",
             "has a text that is encrypted"],
        ),
        (
            'Content-Type: application/ms-tnef; name="winmail.dat"\n\nx\n',
            ["", "has a text that only Outlook can read (winmail.dat)"],
        ),
    ],
    ids=["smime", "pgp-mime", "pgp", "winmail"],
)  # fmt: skip
def test_a_text_that_cannot_be_read_is_reported(rest: str, texts: list[str]) -> None:
    assert eml(rest) == texts
    *_, last = read_mail(mail(1, rest).encode(), "file", 7)
    assert isinstance(last, BrokenMessage)
    assert (last.kept, last.file, last.line) == (True, "file", 7)


def test_winmail() -> None:
    def attribute(level: int, name: int, value: bytes) -> bytes:
        return struct.pack("<BII", level, name, len(value)) + value + b"\0\0"

    data = (
        b"\x78\x9f\x3e\x22\x01\x00"
        + attribute(1, 0x00089006, b"\0\0\1\0")
        + attribute(1, 0x0002800C, b"Approve 17\0")
        + attribute(2, 0x00018010, b"offer.pdf\0")
        + attribute(2, 0x00018010, b"plan.xls\0")
    )
    rest = (
        "Content-Type: application/ms-tnef\nContent-Transfer-Encoding: base64\n\n"
        + base64.b64encode(data).decode()
    )
    (found,) = read_mail(mail(1, rest).encode(), "file")
    assert isinstance(found, Message)
    assert found.body == "Approve 17"
    assert [a.name for a in found.attachments][1:] == ["offer.pdf", "plan.xls"]
    for end in range(len(data)):
        rest = (
            "Content-Type: application/ms-tnef\nContent-Transfer-Encoding: base64\n\n"
            + base64.b64encode(data[:end]).decode()
        )
        assert isinstance(read_mail(mail(1, rest).encode(), "file")[0], Message)


SIGNED = (
    "MIHvBgkqhkiG9w0BBwKggeEwgd4CAQExDTALBglghkgBZQMEAgEwNwYJKoZIhvcNAQcBoCoEKENvbnRlbnQtVHlwZTog"
    "dGV4dC9wbGFpbg0KDQpBcHByb3ZlIDE3DQoxgZAwgY0CAQEwJjAOMQwwCgYDVQQDDANBbm4CFA7Lp4HpGAsK2C9r+1K6"
    "IWy9Z5JuMAsGCWCGSAFlAwQCATAKBggqhkjOPQQDAgRHMEUCIEgelB8kQanhw1vxqun+1uxn76ofTC72Mwv15453c864"
    "AiEAnjh06o1WFEU52ZM24+rri2VLZtMQqZDFe/i8+Gul4qQ="
)
"""What `openssl cms -sign -nodetach` writes."""
IN_PIECES = (
    "MIAGCSqGSIb3DQEHAqCAMIACAQExDTALBglghkgBZQMEAgEwgAYJKoZIhvcNAQcBoIAkgAQoQ29udGVudC1UeXBlOiB0"
    "ZXh0L3BsYWluDQoNCkFwcHJvdmUgMTcNCgAAAAAAADGBkTCBjgIBATAmMA4xDDAKBgNVBAMMA0FubgIUDsungekYCwrY"
    "L2v7UrohbL1nkm4wCwYJYIZIAWUDBAIBMAoGCCqGSM49BAMCBEgwRgIhAJoecwdT+BqEFjzrE43TN/RPDlCogjZLw59K"
    "CF3qsBiWAiEAhFD6gyaTzf9i3zjxcRblM/UnBmlOQlnuHEfMw4n5EkQAAAAAAAA="
)
"""The same with `-stream`, without stated lengths."""


@pytest.mark.parametrize("content", [SIGNED, IN_PIECES], ids=["whole", "pieces"])
def test_a_text_inside_a_signature(content: str) -> None:
    head = "Content-Type: application/pkcs7-mime; smime-type=signed-data\n"
    rest = f"{head}Content-Transfer-Encoding: base64\n\n"
    assert eml(rest + content) == ["Approve 17"]
    data = base64.b64decode(content)
    for end in range(len(data)):  # truncated ones are read or reported
        found = eml(rest + base64.b64encode(data[:end]).decode())
        assert found in (["Approve 17"], ["", "has a text that is encrypted"])


@pytest.mark.parametrize(
    "date",
    ["Tue, 31 Feb 2026 10:00:00 +0100", "3/3/2026 10:12", "Di, 3 Mär 2026 10:12:00 +0100",
     "Thu, 01 Jan 1970 00:00:00 +0000"],
)  # fmt: skip
def test_a_date_that_cannot_be_read_is_reported(date: str) -> None:
    data = f"From: a@x.example\nDate: {date}\nSubject: s\n\nx\n".encode()
    found, broken = read_mail(data, "file")
    assert isinstance(found, Message)
    assert found.date is None
    assert isinstance(broken, BrokenMessage)
    assert broken.reason == f"has a date that cannot be read: {date!r}"
    data = b"Received: by x; Tue, 3 Mar 2026 10:12:00 +0100\n" + data
    (found,) = read_mail(data, "file")
    assert isinstance(found, Message)
    assert found.date is not None
    assert found.date.year == 2026


@pytest.mark.parametrize(
    ("header", "subject"),
    [
        ("=?utf-8?Q?=C3=9Cbersicht_der_Rechnung?=", "Übersicht der Rechnung"),
        ("=?iso-8859-1?q?=DCber?= =?utf-8?B?8J+YgA==?=", "Über😀"),
        ("=?utf-8?Q?=C3=9C?==?utf-8?Q?=C3=84?=", "ÜÄ"),
        ("=?utf-8?Q?AW:_=C3=84nderung?=17", "AW: Änderung 17"),
        ("is 1?=2", "is 1?=2"),
    ],
)
def test_encoded_words(header: str, subject: str) -> None:
    data = f"From: {header} <ann@x.example>\nSubject: {header}\n\nx\n".encode()
    (found,) = read_mail(data, "file")
    assert isinstance(found, Message)
    assert found.subject == subject
    assert found.sender is not None
    assert found.sender.name == subject


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("=?utf-8?Q?M=C3=BCller,_Jo?= <m@x.example>", ["Jo Müller"]),
        ("=?utf-8?Q?M=C3=BCller_(Sales)?= <m@x.example>, ben@x.example", ["Müller (Sales)", ""]),
        ('"=?utf-8?B?TcO8bGxlcg==?=" <m@x.example>', ["Müller"]),
        ("Jo =?utf-8?Q?M=C3=BCller?= Lee <m@x.example>", ["Jo Müller Lee"]),
        ("=?utf-8?Q?=22Jo=22_M=C3=BC?= <m@x.example>", ["Jo Mü"]),
        ("=?utf-8?Q?Desk:_M=C3=BC?= <m@x.example>", ["Desk: Mü"]),
        ("=?foo?X?y?= <m@x.example>", ["=?foo?X?y?="]),
    ],
)
def test_encoded_names(header: str, names: list[str]) -> None:
    found = read_people(header)
    assert [p.name for p in found] == names
    assert found[0].address == "m@x.example"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("Ann Lee", ["Ann Lee|"]),
        ("Lee, Ann; Ray, Ben", ["Ann Lee|", "Ben Ray|"]),
        ("Ann Lee, Ben Ray", ["Ann Lee|", "Ben Ray|"]),
        ("ann at x.example (Ann Lee)", ["Ann Lee|ann@x.example"]),
        ("Ann Lee ann@x.example", ["Ann Lee|ann@x.example"]),
        ("ann@x.example ben@x.example", ["|ann@x.example", "|ben@x.example"]),
        ("Ann Lee [mailto:ann@x.example]", ["Ann Lee|ann@x.example"]),
        ('"Ann" <mailto:ann@x.example>', ["Ann|ann@x.example"]),
        ("Undisclosed recipients:;", []),
        ("Team: ann@x.example, ben@x.example;", ["|ann@x.example", "|ben@x.example"]),
        ('"Doe, Jane" </O=ORG/OU=X/CN=JDOE>', ["Jane Doe|"]),
    ],
)
def test_addresses_that_break_the_rules(header: str, expected: list[str]) -> None:
    assert [f"{p.name}|{p.address}" for p in read_people(header)] == expected


@pytest.mark.parametrize("prefix", ["Antwort", "Réf. ", "Réf", "Ref", "AW", "WG"])
def test_prefixes_of_answers(prefix: str) -> None:
    assert bare_subject(f"{prefix}: Order") == ("order", True)


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("Rooms\n____________________________\n1: Ann\n", None),
        ("Yes\n____________________________\n\nFrom: Ben\nSent: today\nSubject: x\n\nold", "Yes"),
        ("Items:\n--\nlamp\n--\nbulb, please", None),
        ("Yes\n--\nAnn Lee", "Yes"),
        ("a\n--\nb\n--\nc\n-- \nAnn Lee", "a\n--\nb\n--\nc"),
    ],
)
def test_lines_that_divide_a_text(text: str, body: str | None) -> None:
    assert split_quotes(text).body == (text.strip() if body is None else body)


def test_a_text_that_is_not_encoded_as_stated() -> None:
    head = "Content-Transfer-Encoding: base64\n\n"
    assert eml(f"{head}Please approve order 17 today\n") == ["Please approve order 17 today"]
    assert eml(f"{head}UGxlYXNlIGFwcHJvdmUgMTc=\n") == ["Please approve 17"]


def test_mails_inside_each_other() -> None:
    inner = mail(0)
    for number in range(1, MAX_DEPTH + 3):
        inner = mail(
            number,
            "Content-Type: multipart/mixed; boundary=b{0}\n\n--b{0}\nContent-Type: text/plain\n\n"
            "below\n--b{0}\nContent-Type: message/rfc822\n\n%s\n--b{0}--\n",
        ).replace("%s", inner)
    found = read_mail(inner.encode(), "file")
    *outer, last = found
    assert len(outer) == MAX_DEPTH + 1
    assert isinstance(last, BrokenMessage)
    assert last.reason == "has mails attached to it, which is inside too many other mails"


# -- chats and calls ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('Bob "Bobby" Smith: 17 is late', ["hello", "17 is late"]),
        ("Bob „Bobby“ Smith: 17 is late", ["hello", "17 is late"]),
        (f"{'Head of Sales ' * 6}North: 17 is late", ["hello", "17 is late"]),
        ("Meeting at the gate\nbring keys", ["hello", "has no author"]),
        ('Ann changed the subject from "Ops" to "Ops: nights"', ["hello"]),
    ],
    ids=["quotes", "german-quotes", "long", "copied", "notice"],
)
def test_names_in_whatsapp(tmp_path: Path, line: str, expected: list[str]) -> None:
    path = tmp_path / "chat.txt"
    path.write_text(f"3/15/26, 10:12 PM - Ann: hello\n3/15/26, 10:13 PM - {line}\n", "utf-8")
    assert read(path) == expected


def test_what_somebody_writes_twice_in_a_minute_of_whatsapp(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    line = "3/15/26, 10:12 PM - Ann: ok\n"
    path.write_text(line * 3 + line.replace("12 PM", "13 PM"))
    first, second = (
        [m.id for m in read_messages(str(path)) if isinstance(m, Message)] for _ in "ab"
    )
    assert len(set(first)) == 4
    assert first == second


def test_who_only_sends_places_and_polls_in_whatsapp(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text(
        "[03.03.26, 10:12:45] Ann: hello\n"
        "[03.03.26, 10:13:45] Bob: \u200ePOLL:\nWhen?\n\u200eOPTION: Monday (0 votes)\n"
        "[03.03.26, 10:14:45] Carl: \u200eLocation: https://maps.google.com/?q=1,2\n"
        "[03.03.26, 10:15:00] Ops: \u200eDora changed this group's icon\n",
        "utf-8",
    )
    assert read(path) == [
        "hello",
        "POLL:\nWhen?\nOPTION: Monday (0 votes)",
        "Location: https://maps.google.com/?q=1,2",
    ]


def test_what_is_attached_to_a_message_in_slack(tmp_path: Path) -> None:
    def entry(number: int, **more: object) -> dict[str, object]:
        return {"type": "message", "user": "U1", "ts": f"17725300{number:02}.000100", **more}

    share = {"is_share": True, "text": "The offer", "author_name": "Carl"}
    alert = {"fallback": "Alert 5", "fields": [{"title": "Priority", "value": "high"}]}
    entries = [
        entry(1, text="see", attachments=[share]),
        entry(2, text="New ticket", attachments=[{"title": "T-5", "text": "Pump broken"}]),
        entry(3, text="", attachments=[alert]),
        entry(4, text="same", attachments=[{"text": "same"}]),
        entry(5, text="", blocks=[
            {"type": "section", "fields": [{"type": "mrkdwn", "text": "*Who* Ann"}]},
            {"type": "context", "elements": [{"type": "mrkdwn", "text": "by the desk"}]},
        ]),
    ]  # fmt: skip
    (tmp_path / "ops").mkdir()
    (tmp_path / "users.json").write_text("[]")
    (tmp_path / "ops" / "2026-03-03.json").write_text(json.dumps(entries))
    (tmp_path / "ops" / "2026-03-04.json").write_text('{"messages": []}')
    found = list(read_messages(str(tmp_path)))
    assert bodies(found) == [
        "see", "New ticket\nT-5\nPump broken", "Alert 5\nPriority: high", "same",
        "*Who* Ann\nby the desk", "is not a list of messages",
    ]  # fmt: skip
    assert isinstance(found[0], Message)
    assert found[0].quoted == "The offer"


TEAMS = [
    {"id": "1", "messageType": "message", "createdDateTime": "2026-03-03T10:12:00Z",
     "chatId": "c", "from": {"user": {"displayName": "Ann"}},
     "body": {"contentType": "html", "content": "<p>17 is late</p>"}},
    {"id": "2", "messageType": "message", "createdDateTime": "2026-03-03T10:13:00Z",
     "chatId": "c", "from": {"emailUser": {"displayName": "Ben"}},
     "body": {"contentType": "text", "content": "sent"}},
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("pages.json", [{"value": TEAMS[:1]}, {"value": TEAMS[1:]}]),
        ("chats.json", {"chats": [{"id": "c", "createdDateTime": "2026-03-01T00:00:00Z",
                                   "messages": TEAMS}]}),
        ("list.json", [{"id": "c", "topic": "Ops", "messages": TEAMS}]),
    ],
)  # fmt: skip
def test_teams_in_other_wrappings(tmp_path: Path, name: str, data: object) -> None:
    (tmp_path / name).write_text(json.dumps(data))
    assert read(tmp_path / name) == ["17 is late", "sent"]


def test_teams_in_lines(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_text("\n".join([*map(json.dumps, TEAMS), '{"id": 3,']) + "\n")
    found = list(read_messages(str(path)))
    assert bodies(found) == ["17 is late", "sent", "message 3 is not an object"]
    assert [m.sender.name for m in found if isinstance(m, Message) and m.sender] == ["Ann", "Ben"]


def test_more_lines_of_teams_than_are_held_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(message_paths, "MAX_JSON", 10)
    path = tmp_path / "chat.jsonl"
    path.write_text("\n".join(map(json.dumps, TEAMS)))
    found = list(read_messages(str(path)))
    assert bodies(found) == ["17 is late", "sent"]
    assert all(isinstance(m, Message) and m.date is not None for m in found)
    assert isinstance(found[0], Message)
    assert found[0].sender == Person("Ann")


def test_text_outside_of_the_cues_of_webvtt(tmp_path: Path) -> None:
    path = tmp_path / "2026-03-03 call.vtt"
    path.write_text(
        "WEBVTT\nKind: captions\n\nNOTE by\nthe tool\n\nSTYLE\n::cue {}\n\nname of a cue\n"
        "00:01.000 --> 00:02.000\nAnn: Hello\n\nand a second paragraph\nof two lines\n\n"
        "2\n00:03.000 --> 00:04.000\nBen: Yes\n\nlast words\n"
    )
    found = list(read_messages(str(path)))
    assert bodies(found) == [
        "is text outside of the cues", "is text outside of the cues", "Ann: Hello\nBen: Yes"
    ]  # fmt: skip
    assert [m.line for m in found[:2]] == [14, 21]


# -- tables ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "date^sender^body\n2026-03-03^Ann^17; is, late\n",
        "sep=;\ndate;sender;body\n2026-03-03;Ann;17\\; is, late\n".replace("\\;", ""),
        "\ufeffsep=;\r\ndate;sender;body\r\n2026-03-03;Ann;17 is, late\r\n",
        "\n\ndate,sender,body\n2026-03-03,Ann,17 is late\n",
        "date,sender,body\r2026-03-03,Ann,17 is late\r",
    ],
)
def test_separators_and_lines(tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.csv"
    path.write_text(text, "utf-8", newline="")
    (found,) = read(path)
    assert found.replace(";", "").replace(",", "") == "17 is late"


def test_two_columns_of_one_name(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("date,body,body\n2026-03-03,one,two\n")
    unused: list[tuple[str, ...]] = []
    found = list(read_messages(str(path), unused=lambda _, columns: unused.append(columns)))
    assert bodies(found) == ["one"]
    assert unused == [("body (2)",)]


def test_rows_after_a_quotation_mark_that_is_not_closed(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('date,body\n2026-03-03,"one\n2026-03-03,two\n2026-03-03,three\n')
    assert read(path) == ["is no row up to line 4: unexpected end of data"]


def test_an_encoding_that_changes_far_inside(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    rows = "2026-03-03,Ann,Grüße\n" * 5000
    path.write_bytes(
        f"date,sender,body\n{rows}".encode() + "2026-03-04,Jürgen,für\n".encode("cp1252")
    )
    found = list(read_messages(str(path)))
    assert len(found) == 5001
    first, last = found[0], found[-1]
    assert isinstance(first, Message)
    assert isinstance(last, Message)
    assert last.sender is not None
    assert (first.body, last.sender.name, last.body) == ("Grüße", "Jürgen", "für")


def test_records_of_microsofts_mail_interface(tmp_path: Path) -> None:
    path = tmp_path / "mail.jsonl"
    record = {
        "id": "1", "sentDateTime": "2026-03-03T10:12:00Z", "subject": "Order",
        "from": {"emailAddress": {"name": "Ann", "address": "ann@x.example"}},
        "toRecipients": [{"emailAddress": {"name": "Ben", "address": "ben@x.example"}}],
        "body": {"contentType": "html", "content": "<p>17 is late</p>"},
    }  # fmt: skip
    path.write_text(json.dumps(record) + "\n")
    (found,) = read_messages(str(path))
    assert isinstance(found, Message)
    assert found.body == "17 is late"
    assert found.date is not None
    assert [p.address for p in found.people] == ["ann@x.example", "ben@x.example"]


def test_a_signature_that_is_nested_very_deep_is_none() -> None:
    assert signed_content(b"\x30\x80" * 5000) is None
