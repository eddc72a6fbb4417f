"""Exports as programs write them: meeting chats, captions, cards, tables of spreadsheets."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest
from orgflow.frontends.messages.mail import read_mail
from orgflow.frontends.messages.message_paths import UnknownMessages, format_of, read_messages
from orgflow.frontends.messages.quotes import split_quotes
from orgflow.frontends.messages.table import MappingError

from orgflow_ir.model.message import BrokenMessage, Message


def read(path: Path, **mapping: str) -> list[Message]:
    items = list(read_messages(str(path), mapping=mapping))
    assert not any(isinstance(item, BrokenMessage) for item in items), items
    return [item for item in items if isinstance(item, Message)]


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def test_a_zoom_chat_on_one_line_each(tmp_path: Path) -> None:
    text = (
        "10:12:31\t From Ann Lee to Everyone: Has anybody the number?\n"
        "10:12:45\t From  Bob Ray  to  Everyone : It is 4711: book it.\n"
        "10:13:02\t From Ann Lee to Bob Ray (Direct Message) : thanks\n"
        '10:13:10\t From Bob Ray to Everyone : Reacted to "thanks" with 👍\n'
    )
    path = written(tmp_path, "2024-03-05 10.00.00 Weekly/meeting_saved_chat.txt", text)
    assert format_of(str(path)) == "zoom"
    first, second, third = read(path)
    assert (first.date, first.body) == (datetime(2024, 3, 5, 10, 12, 31), "Has anybody the number?")
    assert second.body == "It is 4711: book it."
    assert [p.name for p in third.receivers] == ["Bob Ray"]
    assert {first.thread, second.thread, third.thread} == {first.id}


def test_a_zoom_chat_on_two_lines_each(tmp_path: Path) -> None:
    text = (
        "00:12:31 From Ann Lee to Everyone:\r\n\tHas anybody the number of the order?\r\n"
        "00:12:45 From Bob Ray to Everyone:\r\n"
        '\tReplying to "Has anybody the numb..."\r\n\t\r\n\tIt is 4711.\r\n\tBook it.\r\n'
    )
    first, second = read(written(tmp_path, "2024-03-05 10.00.00 Weekly.txt", text))
    assert first.date == datetime(2024, 3, 5, 10, 12, 31), "counted from the beginning"
    assert second.body == "It is 4711.\nBook it."
    assert second.references == (first.id,)
    assert "Replying to" in second.quoted


def test_a_zoom_chat_in_german_without_a_date(tmp_path: Path) -> None:
    text = "10:12:31\t Von Ann Lee an Alle : Wer hat die Nummer?\n"
    (message,) = read(written(tmp_path, "chat.txt", text))
    assert (message.date, message.body) == (None, "Wer hat die Nummer?")
    with pytest.raises(UnknownMessages):
        format_of(str(written(tmp_path, "log.txt", "10:12:31 server started: ok\n")))


CUES = "1\n00:00:01,000 --> 00:00:04,200\n{}\n\n2\n00:00:05,000 --> 00:00:06,200\n{}\n"


@pytest.mark.parametrize(
    ("first", "second", "body"),
    [
        ("[Ann Lee] Please\nbook it.", "[Bob] Booked.", "Ann Lee: Please book it.\nBob: Booked."),
        ("[Ann] Hello.", "[Applause] Thank you.", "Ann: Hello. [Applause] Thank you."),
        ("{\\an8}ANN: Hello.", "- BOB: Hi.\n- ANN: Go.", "ANN: Hello.\nBOB: Hi.\nANN: Go."),
        (">> ANN: Hello.", "&gt;&gt; BOB: Hi.", "ANN: Hello.\nBOB: Hi."),
        ("Ann: Hello.", "Roe, Jo (Extern): Hi.", "Ann: Hello.\nRoe, Jo (Extern): Hi."),
        ("nothing", "So, Ann: can you?", "nothing So, Ann: can you?"),
    ],
)
def test_who_speaks(tmp_path: Path, first: str, second: str, body: str) -> None:
    (call,) = read(written(tmp_path, "call.srt", CUES.format(first, second)))
    assert call.body == body


def test_sbv(tmp_path: Path) -> None:
    text = "0:00:00.599,0:00:04.160\nAnn: Hello\nto all\n\n0:00:04.160,0:00:06.770\nBob: Hi\n"
    (call,) = read(written(tmp_path, "captions.sbv", text))
    assert call.body == "Ann: Hello to all\nBob: Hi"


def test_a_card_in_teams_is_text(tmp_path: Path) -> None:
    card = {"type": "AdaptiveCard", "body": [{"type": "TextBlock", "text": "Ticket 12 is open"},
            {"type": "FactSet", "facts": [{"title": "Room", "value": "14"}]}]}  # fmt: skip
    entry = {
        "id": "1", "messageType": "message", "createdDateTime": "2024-03-05T10:12:31Z",
        "from": {"application": {"displayName": "Tickets"}},
        "body": {"contentType": "html", "content": '<attachment id="c"></attachment>'},
        "attachments": [{"id": "c", "contentType": "application/vnd.microsoft.card.adaptive",
                         "content": json.dumps(card)}],
    }  # fmt: skip
    (message,) = read(written(tmp_path, "t.json", json.dumps({"value": [entry]})))
    assert message.body == "Ticket 12 is open\nRoom\n14"
    assert message.attachments == ()


def test_the_export_of_a_person_from_teams(tmp_path: Path) -> None:
    def entry(id_: str, kind: str, content: str, **more: object) -> dict[str, object]:
        return {
            "id": id_, "messagetype": kind, "content": content, "from": "8:live:ann",
            "displayName": "Ann Lee", "originalarrivaltime": "2024-03-05T10:12:31.035Z", **more,
        }  # fmt: skip

    listed = [
        entry("1", "RichText/Html", "<p><span>Bob</span> please order&nbsp;paper</p>"),
        entry("2", "Text", "ordered <it>", displayName=None),
        entry("3", "ThreadActivity/AddMember", "<addmember/>"),
    ]
    data = {"userId": "8:live:ann", "conversations": [{"id": "19:x", "MessageList": listed}]}
    first, second = read(written(tmp_path, "messages.json", json.dumps(data)))
    assert (first.body, second.body) == ("Bob please order paper", "ordered <it>")
    assert first.sender is not None
    assert first.sender.name == "Ann Lee"
    listed[0]["properties"] = {"deletetime": "1"}
    path = written(tmp_path, "messages.json", json.dumps(data))
    assert any("deleted" in str(item) for item in read_messages(str(path)))


def test_what_the_app_of_ios_writes_is_no_message(tmp_path: Path) -> None:
    mark = "\u200e"
    text = (
        f"[3/5/24, 10:12:31\u202fPM] Ops: {mark}Messages and calls are end-to-end encrypted.\r\n"
        f"[3/5/24, 10:12:32\u202fPM] Ops: {mark}Ann created this group\r\n"
        "[3/5/24, 10:13:00\u202fPM] Ann: The pump is broken\r\nin house 4.\r\n"
        f"{mark}[3/5/24, 10:14:00\u202fPM] Bob: {mark}image omitted\r\n"
        f"[3/5/24, 10:15:00\u202fPM] Ann: {mark}POLL:\r\nWhen?\r\n"
    )
    first, second, third = read(written(tmp_path, "_chat.txt", text))
    assert first.body == "The pump is broken\nin house 4."
    assert [p.name for p in first.receivers] == ["Bob"], "the group is nobody"
    assert (second.body, len(second.attachments)) == ("", 1)
    assert third.body == "POLL:\nWhen?"


def test_omitted_media_in_portuguese(tmp_path: Path) -> None:
    text = "05/03/2024 22:13 - João: oi\n05/03/2024 22:14 - Luíza: <Mídia oculta>\n"
    assert [m.body for m in read(written(tmp_path, "a.txt", text))] == ["oi", ""]


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        (["45356.4254861", "45357,5"], ["2024-03-05T10:12:42", "2024-03-06T12:00:00"]),
        (["3/5/2024 10:12 PM", "3/5/24"], ["2024-03-05T22:12:00", "2024-03-05T00:00:00"]),
        (["3/5/2024 22:12", "3/15/2024 9:12"], ["2024-03-05T22:12:00", "2024-03-15T09:12:00"]),
        (["5/3/2024 22:12", "15/3/2024 9:12"], ["2024-03-05T22:12:00", "2024-03-15T09:12:00"]),
        (["05.03.2024 22:12", "5.3.24"], ["2024-03-05T22:12:00", "2024-03-05T00:00:00"]),
        (["12/1/2024 12:05 am", "12/1/2024 12:05 pm"],
         ["2024-12-01T00:05:00", "2024-12-01T12:05:00"]),
    ],
)  # fmt: skip
def test_dates_of_spreadsheets(tmp_path: Path, dates: list[str], expected: list[str]) -> None:
    rows = "".join(f"{date};Ann;booked {n}\r\n" for n, date in enumerate(dates))
    messages = read(written(tmp_path, "t.csv", f"\ufeffDatum;Absender;Text\r\n{rows}"))
    assert [m.date.isoformat() for m in messages if m.date] == expected
    assert all(m.sender is not None and m.sender.name == "Ann" for m in messages)
    lines = "".join(json.dumps({"date": d, "text": "booked"}) + "\n" for d in dates)
    messages = read(written(tmp_path, "t.jsonl", lines))
    assert [m.date.isoformat() for m in messages if m.date] == expected


def test_a_mapping_names_fields_inside_others(tmp_path: Path) -> None:
    record = {"msg": {"text": "please book", "user": {"name": "Ann"}}, "a.b": "S"}
    path = written(tmp_path, "t.jsonl", "\ufeff" + json.dumps(record) + "\n")
    (message,) = read(path, body="msg.text", sender="msg.user.name", subject="a.b")
    assert (message.body, message.subject) == ("please book", "S")
    assert message.sender is not None
    assert message.sender.name == "Ann"
    with pytest.raises(MappingError, match=r"no column `text\.msg`"):
        read(path, body="text.msg")


def test_a_table_without_text_does_not_end_a_folder(tmp_path: Path) -> None:
    written(tmp_path, "a.csv", "price,amount\n1,2\n")
    written(tmp_path, "b.csv", "from,text\nAnn,booked\n")
    broken, message = read_messages(str(tmp_path))
    assert isinstance(broken, BrokenMessage)
    assert "no column contains the text" in broken.reason
    assert isinstance(message, Message)
    with pytest.raises(MappingError):
        list(read_messages(str(tmp_path), mapping={"body": "words"}))


def test_flowed_text_whose_spaces_are_no_part_of_it() -> None:
    head = b"From: a@x.example\nContent-Type: text/plain; format=Flowed; delsp=yes\n\n"
    (mail,) = read_mail(head + b"I paid the in \nvoice.\n From here on.\n", "f")
    assert mail.body == "I paid the invoice.\nFrom here on."


def test_a_mail_without_a_date_came_at_some_time() -> None:
    head = b"From: a@x.example\nReceived: from x by y; Tue, 5 Mar 2024 10:12:31 +0100\n\nbooked\n"
    (mail,) = read_mail(head, "f")
    assert mail.date is not None
    assert mail.date.isoformat() == "2024-03-05T10:12:31+01:00"


def test_the_signature_of_outlook_on_the_web() -> None:
    html = b'<div>I approved it.</div><div id="Signature"><div>Ann Lee<br>Acme</div></div>'
    (mail,) = read_mail(b"From: a@x.example\nContent-Type: text/html\n\n" + html, "f")
    assert mail.body == "I approved it."
    assert "Ann Lee\nAcme" in mail.signature


@pytest.mark.parametrize(
    ("text", "signature"),
    [
        ("Booked.\n\nMit freundlichen Grüßen\nÄnne Rau\nTel. +49 30 1234", True),
        ("Booked.\n\nKind regards,\nAnn\nAcme Ltd\nwww.acme.example", True),
        ("Booked.\n\nKind regards,\nAnn", False),
        ("Booked.\n\nBest regards\nAnn\n\nPS: can you call +49 30 123456?", False),
        ("Regards\nto everybody in the house; www.acme.example is online", False),
    ],
)
def test_a_closing_with_ways_to_reach_the_author(text: str, signature: bool) -> None:
    parts = split_quotes(text)
    assert (parts.body == "Booked.") == signature
    assert bool(parts.signature) == signature


def test_the_line_above_an_answered_quote_is_kept() -> None:
    parts = split_quotes("On Tue, 5 Mar 2024, Bob <b@x.example> wrote:\n> Please pay.\n\nPaid.")
    assert parts.body == "Paid."
    assert parts.quoted.startswith("On Tue, 5 Mar 2024, Bob")
