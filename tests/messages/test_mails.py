"""Mails of real clients: who, when, what is new, what is quoted, what is attached."""

from __future__ import annotations

import email.message
import io
from datetime import timedelta

import client_mails as mails
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from orgflow.frontends.messages import mail
from orgflow.frontends.messages.mail import NoMail, read_mail, read_people
from orgflow.frontends.messages.mailbox import read_mbox
from orgflow.frontends.messages.quotes import split_quotes

from orgflow_ir.model.message import BrokenMessage, Message, Person

LINES = st.sampled_from(
    ["From: Ann <a@x>", "Subject: a\n b", "Subject:", "SUBJECT: =?utf-8?q?=C3=BC?=", " folded",
     "\t", "no header", "Content-Type: text/plain; charset=utf-8",
     "Content-Type: text/html; name=a.html", "Content-Type: multipart/mixed; boundary=b",
     'content-type: multipart/related; boundary="c"', "Content-Type: multipart/mixed",
     "Content-Type: message/rfc822", "Content-Disposition: inline",
     "Content-Transfer-Encoding: base64", "Content-Transfer-Encoding: quoted-printable", "From x",
     ":", "", "", "--b", "--b--", "--b ", "--c", "--c--", "--bc", "SGFsbG8=",
     "Gr\udcfc\udcdfe =C3", "a\rb"]
)  # fmt: skip


def content(part: email.message.Message) -> object:
    """What of a mail decides what is read of it."""
    payload = part.get_payload()
    head = [(name.lower(), " ".join(str(value).split())) for name, value in part.raw_items()]
    inner = [content(p) for p in payload] if isinstance(payload, list) else payload
    return head, part.get_content_type(), inner


@given(st.lists(LINES, max_size=25), st.sampled_from(["\n", "\r\n"]))
@example(["Content-Type: multipart/mixed; boundary=b", "", "--b", "", "x", "--b--"], "\n")
@example(["Content-Type: multipart/mixed; boundary=b", "", "--b", "A: b", "", "x", "--b--"], "\r\n")
def test_the_short_way_reads_what_the_long_one_reads(lines: list[str], end: str) -> None:
    text = end.join(lines)
    short = mail._well_formed(text)
    if short is not None:
        data = text.encode("ascii", "surrogateescape")
        assert content(short) == content(mail._parse_bytes(data))


@pytest.mark.parametrize("data", mails.ALL)
def test_most_clients_write_what_the_short_way_reads(data: bytes) -> None:
    text = data.decode("ascii", "surrogateescape")
    assert (mail._well_formed(text) is None) == (b"message/rfc822" in data)


def one(data: bytes) -> Message:
    (message,) = read_mail(data, "file")
    return message


def test_outlook() -> None:
    message = one(mails.OUTLOOK)
    assert message.sender == Person("Jane Doe", "jane.doe@contoso.example")
    assert [p.name for p in message.receivers] == ["Jörg Müller", "Bob Smith"]
    assert (
        message.body == "Hi Jörg,\n\nI have approved the invoice, the price of 5 € is fine.\n\nJane"
    )
    assert "Please approve the invoice." in message.quoted
    assert message.references == ("first@contoso.example",)
    assert [(a.name, a.size) for a in message.attachments] == [
        ("Invoice 4711.pdf", 4), ("winmail.dat", 4),
    ]  # fmt: skip


def test_gmail() -> None:
    message = one(mails.GMAIL)
    assert message.sender == Person("Jürgen Weiß", "juergen@gmail.com")
    assert message.subject == "Re: Angebot für die Küche"
    assert message.body == "Das Angebot ist angenommen, bitte bestellt die Küche."
    assert "Hier ist das Angebot" in message.quoted
    assert message.references == ("root@mail.gmail.com", "second@mail.gmail.com")
    assert [p.address for p in message.receivers] == ["ann@example.com", "ben@example.com"]
    assert message.date is not None
    assert message.date.utcoffset() == timedelta(hours=1)


def test_apple_mail() -> None:
    message = one(mails.APPLE)
    assert message.body == "I will hand over the keys on Friday."
    assert "When do I get the keys?" in message.quoted
    assert message.signature == "Sent from my iPhone"


def test_html_alone() -> None:
    message = one(mails.GMAIL_HTML)
    assert message.body == "The room is booked – see you\nthere.\n\n- Bring cups"
    assert "Can you book a room?" in message.quoted


def test_iso_2022_jp() -> None:
    message = one(mails.JAPANESE)
    assert (message.sender, message.subject) == (Person("山田", "yamada@example.jp"), "注文")
    assert message.body == "注文を確認しました。"
    assert message.date is not None
    assert message.date.utcoffset() == timedelta(hours=9)


def test_a_mail_in_a_mail() -> None:
    outer, inner = read_mail(mails.FORWARDED, "file")
    assert outer.body == "Please answer this complaint."
    assert outer.signature == "-- \nAnn Example\nCustomer service"
    assert [a.name for a in outer.attachments] == ["Complaint.eml"]
    assert (inner.id, inner.body) == ("complaint@example.net", "The lamp is broken.")


def test_bytes_that_state_no_encoding() -> None:
    message = one(mails.RAW_LATIN)
    assert message.sender == Person("Jörg", "joerg@example.com")
    assert (message.subject, message.body) == ("Grüße", "Schöne Grüße")
    assert message.receivers == ()
    assert message.date is not None
    assert message.date.tzinfo is None, "it states no zone"
    assert one(mails.RAW_LATIN).id == message.id, "without Message-ID equal content has equal ids"


def test_answers_between_quoted_lines_are_kept() -> None:
    message = one(mails.BETWEEN)
    assert message.body == "I do.\nCarl checks it."
    assert "Who writes the plan?" in message.quoted


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("Ja.\n\n-----Ursprüngliche Nachricht-----\nVon: A\nBetreff: B\n\nWer?", "Ja."),
        ("Oui.\n\nLe lun. 2 mars 2026 à 10:00, Ann <a@b.fr> a écrit :\n> Qui ?", "Oui."),
        ("Sí.\n\nEl lun, 2 mar 2026 a las 10:00, Ann (<a@b.es>) escribió:\n> ¿Quién?", "Sí."),
        ("Yes.\n\nOn Mon, Mar 2, 2026 at 10:00 AM Ann Example-Longname\n<a@b.c> wrote:\n\n> Who?",
         "Yes."),
        ("Gut.\n\nVon: Ann <a@b.de>\nGesendet: Montag, 2. März 2026 10:00\nAn: Ben\n"
         "Betreff: Küche\n\nWie ist sie?", "Gut."),
        ("We wrote: nothing.\nFrom: here on it is ours.", "We wrote: nothing.\nFrom: here on it is "
         "ours."),
        ("See below\n\n---------- Forwarded message ---------\nFrom: A <a@b.c>", "See below"),
        ("a > b\nand so on", "a > b\nand so on"),
    ],
)  # fmt: skip
def test_quotes(text: str, body: str) -> None:
    assert split_quotes(text).body == body


def test_nothing_of_a_text_is_lost() -> None:
    for text in ("one\n> two\nthree\n-- \nfour", "x\n\nOn Mon, Ann <a@b.c> wrote:\n> y"):
        parts = split_quotes(text)
        for word in text.replace(">", " ").split():
            assert word in f"{parts.body} {parts.quoted} {parts.signature}"


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("a@b.c", [Person("", "a@b.c")]),
        ("Ann <a@b.c>, Ben <b@b.c>", [Person("Ann", "a@b.c"), Person("Ben", "b@b.c")]),
        ('"Ann, Dr." <a@b.c>', [Person("Dr. Ann", "a@b.c")]),
        ('"Acme, Inc." <a@b.c>', [Person("Acme, Inc.", "a@b.c")]),
        ("a@b.c <a@b.c>", [Person("", "a@b.c")]),
        ("", []),
    ],
)
def test_addresses(header: str, expected: list[Person]) -> None:
    assert list(read_people(header)) == expected


def test_an_mbox_with_junk_before_and_broken_mails() -> None:
    data = b"junk\n\n" + mails.mbox(mails.APPLE, b"", b"no header here\n", mails.BETWEEN)
    found = list(read_mbox(io.BytesIO(data), "box"))
    assert [type(item) for item in found] == [
        BrokenMessage, Message, BrokenMessage, BrokenMessage, Message,
    ]  # fmt: skip
    lines = data.split(b"\n")
    for item in found[1:]:
        assert isinstance(item, Message | BrokenMessage)
        assert lines[item.line - 1].startswith(b"From ")


def test_from_lines_inside_a_mail_begin_no_mail() -> None:
    body = b"From: a@b.c\nSubject: x\n\nHello\n\nFrom now on we pack twice a day.\n"
    escaped = list(read_mbox(io.BytesIO(mails.mbox(body)), "box"))
    raw = b"From a@b.c Mon Mar  2 09:15:03 2026\n" + body
    unescaped = list(read_mbox(io.BytesIO(raw), "box"))
    for found in (escaped, unescaped):
        (message,) = found
        assert isinstance(message, Message)
        assert message.body == "Hello\n\nFrom now on we pack twice a day."


def test_windows_line_ends() -> None:
    data = mails.mbox(*mails.ALL).replace(b"\n", b"\r\n")
    unix = mails.mbox(*mails.ALL)
    texts = [
        [(m.id, m.body) for m in read_mbox(io.BytesIO(d), "box") if isinstance(m, Message)]
        for d in (data, unix)
    ]
    assert texts[0] == texts[1]


def test_no_mail() -> None:
    with pytest.raises(NoMail, match="has none of the headers"):
        read_mail(b"\x00\x01\x02", "file")


@pytest.mark.parametrize("seed", range(200))
def test_damaged_mails_are_read_or_reported(seed: int) -> None:
    import random

    rng = random.Random(seed)
    data = bytearray(mails.mbox(*mails.ALL))
    for _ in range(rng.randint(1, 60)):
        place = rng.randrange(len(data))
        match rng.randrange(3):
            case 0:
                data[place] = rng.randrange(256)
            case 1:
                del data[place : place + rng.randrange(1, 40)]
            case _:
                data[place:place] = rng.choice((b"=?", b"\n\n", b"--", b"\x1b$B", b"<", b"\x00"))
    read = list(read_mbox(io.BytesIO(bytes(data)), "box"))
    assert read
    assert all(isinstance(item, Message | BrokenMessage) for item in read)
