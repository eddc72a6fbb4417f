"""Odd files of real life: what can be read is kept whole, what cannot is counted and named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from orgflow.frontends.messages.message_paths import UnknownMessages, read_messages

from orgflow_ir.model.message import BrokenMessage, Message, Person

HEAD = b"From: Ann <a@x>\nTo: b@x\nSubject: S\nMessage-ID: <1@x>\n"
CALENDAR = (
    b"BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;TZID=X:20260302T100000\nSUMMARY:Review\\, order 4711\n"
    b"DESCRIPTION:Bring\n  papers\\nand pens\nEND:VEVENT\nEND:VCALENDAR\n"
)
MIXED = b"Content-Type: multipart/mixed; boundary=B\n\n"


def read(path: Path, content: str | bytes | None = None) -> tuple[list[Message], list[str]]:
    """The messages of a file, and the reasons why others are broken."""
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    found = list(read_messages(str(path)))
    broken = [f"{b.line}: {b.reason}" for b in found if isinstance(b, BrokenMessage)]
    return [m for m in found if isinstance(m, Message)], broken


@pytest.mark.parametrize(
    ("rest", "body", "attached"),
    [
        (b"Content-Type: text/calendar; method=REQUEST\n\n" + CALENDAR,
         "Review, order 4711\n20260302T100000\nBring papers\nand pens", ["text/calendar"]),
        (MIXED + b"--B\nContent-Type: text/plain\n\nCome\n--B\nContent-Type: text/calendar\n\n"
         + CALENDAR + b"--B\nContent-Type: application/ms-tnef; name=winmail.dat\n\nx\n--B--\n",
         "Come", ["text/calendar", "winmail.dat"]),
        (MIXED + b"no boundary in sight\n", "no boundary in sight", []),
        (b"Content-Type: text/plain; charset=klingon\nContent-Transfer-Encoding: quoted-printable"
         b"\n\nGr=FC=DFe =ZZ\n", "Gr\u00fc\u00dfe =ZZ", []),
        (b"Content-Transfer-Encoding: base64\n\nSGFsbG8*****gV2VsdA\n", "Hallo Welt", []),
        (b"Content-Type: text/html; charset=utf-16\n\n" + "<p>Hi <b>you</b>".encode("utf-16"),
         "Hi you", []),
        (b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (i, i)
                  for i in range(300)) + b"Content-Type: text/plain\n\ndeep\n", "deep", []),
    ],
    ids=["calendar", "winmail", "no-boundary", "charset", "base64", "utf-16", "deep"],
)  # fmt: skip
def test_mails(tmp_path: Path, rest: bytes, body: str, attached: list[str]) -> None:
    (message,), broken = read(tmp_path / "m.eml", HEAD + rest)
    assert (message.body, [a.name for a in message.attachments]) == (body, attached)
    assert not broken


def test_a_mail_signed_with_pgp(tmp_path: Path) -> None:
    armor = "-----BEGIN PGP SIGNATURE-----\n\niQEzBAEBCAAdFiEE\n=abcd\n-----END PGP SIGNATURE-----"
    text = f"Hash: SHA256\n\nShip the order.\n- - by train\n- -- \nAnn\n{armor}\n"
    signed = "Content-Type: text/plain\n\n-----BEGIN PGP SIGNED MESSAGE-----\n" + text
    ((message,), broken) = read(tmp_path / "signed.eml", HEAD + signed.encode())
    assert (message.body, broken) == ("Ship the order.\n- by train", [])
    cut = signed.removesuffix(f"{armor}\n")
    ((message,), _) = read(tmp_path / "cut.eml", HEAD + cut.encode())
    assert "Ship the order." in message.body


def test_an_attached_mail_that_is_encoded(tmp_path: Path) -> None:
    data = (
        b"--B\nContent-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n"
        b"RnJvbTogY0B4ClN1YmplY3Q6IGlubmVyCgpoaQo=\n--B--\n"
    )
    (outer, inner), _ = read(tmp_path / "m.eml", HEAD + MIXED + data)
    assert [a.name for a in outer.attachments] == ["inner.eml"]
    assert (inner.subject, inner.body) == ("inner", "hi")


@pytest.mark.parametrize(
    ("text", "dates", "broken"),
    [
        ("[02.03.26, 10:12:45] Ann: Hallo\nmehr\n[02.03.26, 10:13:00] Ben: \u200eBild weggelassen\n"
         "[02.03.26, 10:14:00] Ben: Diese Nachricht wurde gel\u00f6scht.\n"
         "[99.99.26, 10:14:00] Ben: kaputt\n",
         ["2026-03-02T10:12", "2026-03-02T10:13"],
         ["4: was deleted by its author", "5: has an invalid date"]),
        ("3/2/26, 10:12\u202fPM - Ann: Hello: you\n3/22/26, 10:13 PM - Ben: <Media omitted>\n"
         "3/22/26, 10:15 PM - Ben: You deleted this message\n",
         ["2026-03-02T22:12", "2026-03-22T22:13"], ["3: was deleted by its author"]),
        ("02.03.26, 10:12 nachm. - Ann: Hallo\n02.03.26, 12:13 vorm. - Ben: ja\n",
         ["2026-03-02T22:12", "2026-03-02T00:13"], []),
        ("2/3/26 10:12 p. m. - Ana: Hola\n2/3/26 10:13 a. m. - Rui: si <se edit\u00f3>\n",
         ["2026-03-02T22:12", "2026-03-02T10:13"], []),
    ],
    ids=["de", "us", "de-12", "es"],
)  # fmt: skip
def test_whatsapp(tmp_path: Path, text: str, dates: list[str], broken: list[str]) -> None:
    messages, reasons = read(tmp_path / "chat.txt", text)
    assert [m.date.isoformat()[:16] for m in messages if m.date] == dates
    assert reasons == broken
    assert not any("<" in m.body or "weggelassen" in m.body for m in messages)


def test_transcripts(tmp_path: Path) -> None:
    (call,), broken = read(
        tmp_path / "call.vtt",
        "WEBVTT\n\n1\n00:00:01.000 --> 00:00:02.000\n<v Ann Lee>Hello</v>\n<v Ben>Hi\n\n2\n"
        "00:00:03.000 --> 00:00:04.000\n\n\n3\n00:00:05 --> bad\nlost words\n\n4\n"
        "00:00:06.000 --> 00:00:07.000\nCarl: bye\n",
    )
    assert call.body == "Ann Lee: Hello\nBen: Hi\nCarl: bye"
    assert [reason.partition(": ")[2] for reason in broken] == [
        "is a cue without text", "is a cue whose time cannot be parsed",
    ]  # fmt: skip


def test_records_that_are_not_alike(tmp_path: Path) -> None:
    good = '{"id":"1","date":"2026-03-02","from":"a@x","body":"hi"}\n'
    text = good + 'no json\n{"id":"2"}\n[]\n' + good.replace("1", "3", 1)
    messages, broken = read(tmp_path / "m.jsonl", text)
    assert [m.id for m in messages] == ["1", "3"]
    assert [reason.partition(":")[0] for reason in broken] == ["2", "3", "4"]


def test_a_table_of_many_rows(tmp_path: Path) -> None:
    rows = [f'2026-03-02,a{n % 50}@x,b@x,s{n},"text, ""{n}"""' for n in range(20_000)]
    rows[500], rows[900] = "2026-03-02,too,few", "gestern,a@x,b@x,s,t"
    table = "date,from,to,subject,body\n" + "\n".join(rows) + "\n"
    messages, broken = read(tmp_path / "t.csv", table)
    assert len(messages) == 19_998
    assert [reason.partition(":")[0] for reason in broken] == ["502", "902"]


def test_teams(tmp_path: Path) -> None:
    def one(**more: Any) -> dict[str, Any]:
        base = {"id": "1", "createdDateTime": "2026-03-02T10:00:00Z", "body": {"content": "hi"}}
        return {**base, "from": {"user": {"displayName": "Ann"}}, **more}

    entries = [
        one(), one(id="3", deletedDateTime="2026-03-02T11:00:00Z"), one(id="5", createdDateTime=""),
        one(id="7", replies=["x", one(id="8")]), 7,
    ]  # fmt: skip
    messages, broken = read(tmp_path / "t.json", json.dumps(entries))
    assert [m.id for m in messages] == ["teams::1", "teams::7", "teams::8"]
    assert broken == [
        "0: `3` was deleted by its author", "0: has a message `5` without id or createdDateTime",
        "0: reply 1 to `7` is not an object", "0: message 5 is not an object",
    ]  # fmt: skip


def test_slack(tmp_path: Path) -> None:
    def one(ts: int, **more: Any) -> dict[str, Any]:
        return {"type": "message", "user": "U1", "ts": f"17724456{ts:02}.0", "text": "hi", **more}

    day = tmp_path / "general" / "2026-03-02.json"
    day.parent.mkdir()
    (tmp_path / "users.json").write_text(json.dumps([{"id": "U1", "name": "ann"}]))
    (tmp_path / "channels.json").write_text(json.dumps([{"id": "C1", "name": "general"}]))
    section = {"elements": [{"type": "text", "text": "only "}, {"type": "user", "user_id": "U1"}]}
    entries = [
        one(1), one(2, text="", blocks=[{"type": "rich_text", "elements": [section]}]),
        one(3, text="", subtype="bot_message", attachments=[{"title": "Alert", "text": "down"}]),
        one(4, subtype="message_changed", message={"user": "U1", "text": "changed"}),
        one(5, subtype="tombstone"), one(6, subtype="channel_join"), one(7, text=""), 5,
    ]  # fmt: skip
    day.write_text(json.dumps(entries))
    messages, broken = read(tmp_path)
    assert [m.body for m in messages] == ["hi", "only ann", "Alert\ndown", "changed"]
    assert broken == [
        "0: `1772445605.0` was deleted by its author",
        "0: `1772445607.0` has neither text nor files", "0: entry 8 is not an object",
    ]  # fmt: skip


def test_a_mail_of_apple_mail(tmp_path: Path) -> None:
    """Its length stands before it, and a property list after."""
    mail = HEAD + b"\nHello.\n"
    content = b"%-10d\n%s<?xml version='1.0'?><plist><dict/></plist>" % (len(mail), mail)
    (found,), broken = read(tmp_path / "1.emlx", content)
    assert (found.body, found.subject, broken) == ("Hello.", "S", [])


@pytest.mark.parametrize("head", [b"!BDN", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"])
def test_formats_of_outlook_are_named(tmp_path: Path, head: bytes) -> None:
    with pytest.raises(UnknownMessages, match="save the messages as EML, or export an mbox"):
        read(tmp_path / "outlook.pst", head + bytes(600))


def test_transcripts_of_teams_webex_and_zoom(tmp_path: Path) -> None:
    times = "00:00:01.000 --> 00:00:04.000", "00:00:04.500 --> 00:00:06.000"
    said = "Let us check the order.", "Fine &amp; good."
    vendors = {
        "teams": f"a-1/13-0\n{times[0]}\n<v Ann Miller>{said[0]}</v>\n\n"
                 f"a-1/14-0\n{times[1]}\n<v Ben>{said[1]}</v>\n",
        "webex": f'1 "Ann Miller" (123456)\n{times[0]}\n{said[0]}\n\n'
                 f'2 "Ben" (3456)\n{times[1]}\n{said[1]}\n',
        "zoom": f"1\n{times[0]}\nAnn Miller: {said[0]}\n\n2\n{times[1]}\nBen: {said[1]}\n",
    }  # fmt: skip
    for name, cues in vendors.items():
        (found,), broken = read(tmp_path / f"{name}.vtt", f"WEBVTT\n\n{cues}")
        assert found.body == "Ann Miller: Let us check the order.\nBen: Fine & good.", name
        assert found.sender == Person("Ann Miller")
        assert not broken


def test_whatsapp_marks_of_unknown_contacts_and_spaces_in_dates(tmp_path: Path) -> None:
    """An iPhone writes `~` and a narrow space before the name of who is no contact."""
    chat = "[3/2/26, 9:14:05\u202fAM] ~\u202fBen: Check it?\n[3/2/26, 9:15:10\u202fAM] Ben: done\n"
    first, second = read(tmp_path / "chat.txt", chat)[0]
    assert first.sender == second.sender == Person("Ben")
    hungarian = "2026. 03. 02. 9:14 - Anna: Kész?\n2026. 03. 02. 9:15 - Béla: kész\n"
    found, broken = read(tmp_path / "hu.txt", hungarian)
    assert [(str(m.date), m.body) for m in found] == [
        ("2026-03-02 09:14:00", "Kész?"), ("2026-03-02 09:15:00", "kész"),
    ]  # fmt: skip
    assert not broken
