"""Chats, transcripts and tables."""

from __future__ import annotations

import json
import zipfile
from datetime import datetime
from pathlib import Path

import pytest
from orgflow.frontends.messages.message_paths import UnknownMessages, format_of, read_messages
from orgflow.frontends.messages.table import MappingError

from orgflow_ir.model.message import BrokenMessage, Message


def read(path: Path, **mapping: str) -> tuple[list[Message], list[BrokenMessage]]:
    items = list(read_messages(str(path), mapping=mapping))
    return (
        [i for i in items if isinstance(i, Message)],
        [i for i in items if isinstance(i, BrokenMessage)],
    )


def slack(folder: Path) -> Path:
    users = [
        {"id": "U1", "name": "ann", "profile": {"real_name": "Ann A", "email": "ann@x.example"}},
        {"id": "U2", "name": "ben", "profile": {"real_name": "Ben B"}},
    ]
    channels = [{"id": "C1", "name": "orders", "members": ["U1", "U2"]}]
    day = [
        {"type": "message", "user": "U1", "ts": "1772445600.000100", "thread_ts":
         "1772445600.000100", "text": "<@U2> please pack <https://x.example/1|order 1> &amp; go"},
        {"type": "message", "user": "U2", "ts": "1772445700.000200", "thread_ts":
         "1772445600.000100", "text": "Packed", "files": [{"name": "slip.pdf", "size": 3}]},
        {"type": "message", "subtype": "channel_join", "user": "U2", "ts": "1772445500.0",
         "text": "<@U2> has joined the channel"},
        {"type": "message", "user": "U2", "text": "no time"},
    ]  # fmt: skip
    (folder / "orders").mkdir(parents=True)
    (folder / "users.json").write_text(json.dumps(users))
    (folder / "channels.json").write_text(json.dumps(channels))
    (folder / "orders" / "2026-03-02.json").write_text(json.dumps(day))
    (folder / "orders" / "2026-03-03.json").write_text("[{")
    return folder


def test_slack_folder_and_zip(tmp_path: Path) -> None:
    folder = slack(tmp_path / "export")
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in folder.rglob("*.json"):
            file.write(path, f"Acme export/{path.relative_to(folder)}")
    for path in (folder, archive):
        assert format_of(str(path)) == "slack"
        (first, second), broken = read(path)
        assert first.body == "Ben B please pack order 1 & go"
        assert [p.name for p in first.receivers] == ["Ben B"]
        assert first.sender is not None
        assert first.sender.address == "ann@x.example"
        assert first.thread == second.thread != ""
        assert [a.name for a in second.attachments] == ["slip.pdf"]
        assert len(broken) == 2


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[{", "users.json is no JSON"),
        ("{}", "users.json is not a list"),
        ("[" * 2000 + "]" * 2000, "users.json has values nested more than"),
    ],
)
def test_names_of_slack_that_cannot_be_read(text: str, reason: str, tmp_path: Path) -> None:
    folder = slack(tmp_path / "export")
    (folder / "users.json").write_text(text)
    (first, _), broken = read(folder)
    assert first.sender is not None
    assert first.sender.name == "U1"
    (fault,) = [b for b in broken if "users.json" in b.file]
    assert reason in f"users.json {fault.reason}"
    assert fault.reason.endswith("; people and channels keep their ids as names")


def test_slack_messages_that_were_changed_or_deleted(tmp_path: Path) -> None:
    folder = slack(tmp_path / "export")

    def said(ts: str, text: str, **more: object) -> dict[str, object]:
        return {"type": "message", "user": "U1", "ts": ts, "text": text, **more}

    def event(kind: str, ts: str, **more: object) -> dict[str, object]:
        return {"type": "message", "subtype": kind, "ts": ts, **more}

    days = (
        [said("100000001.0", "pack ordr"), said("100000002.0", "wrong"), said("100000003.0", "go"),
         event("message_changed", "100000004.0", message=said("100000001.0", "pack order"))],
        [event("message_changed", "100000005.0", message=said("100000001.0", "pack order 7")),
         event("message_deleted", "100000006.0", deleted_ts="100000002.0",
               previous_message=said("100000002.0", "wrong")),
         event("message_changed", "100000007.0", message=said("99999999.0", "from before"))],
    )  # fmt: skip
    for number, day in enumerate(days, 2):
        (folder / "orders" / f"2026-03-0{number}.json").write_text(json.dumps(day))
    found, broken = read(folder)
    assert [(m.id.rpartition(":")[2], m.body) for m in found] == [
        ("100000001.0", "pack order 7"), ("100000003.0", "go"), ("99999999.0", "from before"),
    ]  # fmt: skip
    assert [b.reason for b in broken] == ["`100000002.0` was deleted by its author"]


def test_teams(tmp_path: Path) -> None:
    path = tmp_path / "teams.json"
    person = {"user": {"displayName": "Ann", "userPrincipalName": "ann@x.example"}}
    reply = {
        "id": "2", "createdDateTime": "2026-03-02T10:05:00Z", "from": {"user": {"displayName":
        "Ben"}}, "body": {"contentType": "text", "content": "Done"}, "attachments": [
        {"name": "slip.pdf", "contentType": "reference"}],
    }  # fmt: skip
    path.write_text(json.dumps({"value": [
        {"id": "1", "createdDateTime": "2026-03-02T10:00:00.12Z", "from": person, "body":
         {"contentType": "html", "content": "<p>Please <b>pack</b> it, <at id=\"0\">Ben</at></p>"},
         "mentions": [{"mentioned": {"user": {"displayName": "Ben"}}}],
         "channelIdentity": {"channelId": "c"}, "replies": [reply]},
        {"id": "3", "messageType": "systemEventMessage", "createdDateTime": "2026-03-02T10:00:00Z"},
        {"id": "4", "body": {"content": "x"}},
    ]}))  # fmt: skip
    (first, second), broken = read(path)
    assert first.body == "Please pack it, Ben"
    assert [p.name for p in first.receivers] == ["Ben"]
    assert first.thread == second.thread
    assert second.references == (first.id,)
    assert len(broken) == 1


@pytest.mark.parametrize(
    ("lines", "dates"),
    [
        (["[03.03.26, 10:12:45] Ann: Hallo", "[13.03.26, 10:13:00] Ben: Ja"],
         ["2026-03-03T10:12:45", "2026-03-13T10:13:00"]),
        (["3/4/26, 10:12 PM - Ann: Hi", "3/4/26, 12:01 AM - Ben: Yes"],
         ["2026-03-04T22:12:00", "2026-03-04T00:01:00"]),
        (["03/04/2026, 22:12 - Ann: Hi", "03/04/2026, 22:13 - Ben: Yes"],
         ["2026-04-03T22:12:00", "2026-04-03T22:13:00"]),
        (["2026-03-04, 10:12 p.m. - Ann: Hi", "2026-03-04, 10:13 p.m. - Ben: Yes"],
         ["2026-03-04T22:12:00", "2026-03-04T22:13:00"]),
        (["04/03/2026 à 10:12 - Ann: Salut", "14/03/2026 à 10:13 - Ben: Oui"],
         ["2026-03-04T10:12:00", "2026-03-14T10:13:00"]),
        (["\u200e[4.3.2026, 10:12:00\u202fPM] Ann: Hi", "[14.3.2026, 10:12:00\u202fPM] Ben: Yes"],
         ["2026-03-04T22:12:00", "2026-03-14T22:12:00"]),
    ],
)  # fmt: skip
def test_whatsapp_in_several_locales(tmp_path: Path, lines: list[str], dates: list[str]) -> None:
    path = tmp_path / "WhatsApp Chat with Shop.txt"
    notice = lines[0].partition("Ann")[0] + "Messages and calls are end-to-end encrypted."
    path.write_text("\n".join([notice, *lines, "second line of the last"]), "utf-8")
    assert format_of(str(path)) == "whatsapp"
    messages, broken = read(path)
    assert [m.date and m.date.isoformat() for m in messages] == dates
    assert [m.sender and m.sender.name for m in messages] == ["Ann", "Ben"]
    assert messages[1].body.endswith("\nsecond line of the last")
    assert broken == []


def test_whatsapp_attachments_and_odd_dates(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text(
        "[13.03.26, 10:12:45] Ann: \u200e<attached: 00001-PHOTO.jpg>\n"
        "[14.03.26, 10:12:45] Ben: IMG-1.jpg (file attached)\nnice\n[99.99.26, 10:12] Ben: x\n",
        "utf-8",
    )
    messages, broken = read(path)
    assert [m.attachments[0].name for m in messages] == ["00001-PHOTO.jpg", "IMG-1.jpg"]
    assert messages[1].body == "nice"
    assert len(broken) == 1


def test_transcripts(tmp_path: Path) -> None:
    vtt = tmp_path / "2026-03-02 10-15 Offer call.vtt"
    vtt.write_text(
        "WEBVTT - x\n\nNOTE made by a machine\n\n1\n00:00:01.000 --> 00:00:02.000\n"
        "<v Ann A>Hello, I send the <b>offer</b>.</v>\n\n2\n00:00:03.000 --> 00:00:04.000 align:x\n"
        "<v Ben B>Thanks.</v>\n\n00:00:05.000 --> 00:00:06.000\n<v Ben B>I sign it.</v>\n"
    )
    (call,), broken = read(vtt)
    assert call.body == "Ann A: Hello, I send the offer.\nBen B: Thanks. I sign it."
    assert (call.date, call.channel) == (datetime(2026, 3, 2, 10, 15), "call")
    assert call.subject == "Offer call"
    assert broken == []
    srt = tmp_path / "call.srt"
    srt.write_text(
        "1\n00:00:01,000 --> 00:00:02,000\nAnn: Hello\n\n2\n00:00:03,000 --> 00:00:04,000\n"
        "Ben: Hi.\nI called about 3: the lamp\n\n3\n00:00:05,000 --> 00:00:06,000\n\n"
    )
    (call,), broken = read(srt)
    assert call.body == "Ann: Hello\nBen: Hi. I called about 3: the lamp"
    assert [b.line for b in broken] == [11]


def test_csv_with_a_mapping(tmp_path: Path) -> None:
    path = tmp_path / "tickets.csv"
    path.write_bytes(
        "when;who;note\n2026-03-02 10:00;Jörg;\"two\nlines\"\n2026-03-02;Ben\nnever;Ben;x\n"
        .encode("cp1252")
    )  # fmt: skip
    (message,), broken = read(path, body="note", sender="who", date="when")
    assert message.body == "two\nlines"
    assert message.sender is not None
    assert message.sender.name == "Jörg"
    assert [b.line for b in broken] == [4, 5]
    with pytest.raises(MappingError, match="no column `x`"):
        read(path, body="x")


def test_json_lines(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    lines = [
        {"from": {"name": "Ann", "email": "a@x.example"}, "to": ["Ben (Sales)", "c@x.example"],
         "timestamp": 1772445600, "text": "Hi\n\nOn Mon, Ben <b@x> wrote:\n> Ho"},
        {"text": ""},
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, lines)) + "\n[1]\n{\n")
    (message,), broken = read(path)
    assert message.body == "Hi"
    assert [p.label for p in message.receivers] == ["Ben (Sales)", "c@x.example"]
    assert message.date is not None
    assert message.date.isoformat() == "2026-03-02T10:00:00+00:00"
    assert [b.line for b in broken] == [2, 3, 4]


def test_a_folder_of_several_formats(tmp_path: Path) -> None:
    slack(tmp_path / "slack")
    (tmp_path / "a.eml").write_bytes(b"From: a@b.c\nSubject: x\n\ny\n")
    (tmp_path / "notes.docx").write_bytes(b"\x00\x01")
    maildir = tmp_path / "box"
    for name in ("cur", "new", "tmp"):
        (maildir / name).mkdir(parents=True)
    (maildir / "cur" / "1:2,S").write_bytes(b"From: a@b.c\nSubject: in cur\n\ny\n")
    (maildir / "tmp" / "2").write_bytes(b"From: a@b.c\nSubject: half\n\ny\n")
    messages, broken = read(tmp_path)
    assert [m.subject for m in messages] == ["x", "in cur", "", ""]
    assert any(b.file.endswith("notes.docx") for b in broken)
    with pytest.raises(UnknownMessages):
        format_of(str(tmp_path / "notes.docx"))
