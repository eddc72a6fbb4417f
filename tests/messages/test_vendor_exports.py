"""Chats and calls as Slack, Teams, WhatsApp and caption programs export them, written from their
formats: what a person would read there is expected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from orgflow.frontends.messages.message_paths import format_of, read_messages

from orgflow_ir.model.message import BrokenMessage, Message

LRM, NARROW, WIDE = "\u200e", "\u202f", "\xa0"


def read(path: Path, text: str | None = None) -> tuple[list[Message], list[str]]:
    """The messages of a file, and the reasons why others are skipped."""
    if text is not None:
        path.write_bytes(text.encode())
    found = list(read_messages(str(path)))
    broken = [item.reason for item in found if isinstance(item, BrokenMessage)]
    return [item for item in found if isinstance(item, Message)], broken


def written(messages: list[Message]) -> list[tuple[str, str, str]]:
    """Date, sender and text of each message."""
    return [
        (m.date.isoformat() if m.date else "", m.sender.name if m.sender else "", m.body)
        for m in messages
    ]


# -- Slack ----------------------------------------------------------------------------------------


def slack(folder: Path, *entries: dict[str, Any], channel: str = "orders") -> Path:
    users = [
        {"id": "U01ANN", "name": "ann", "deleted": False, "real_name": "Ann Lee",
         "profile": {"real_name": "Ann Lee", "display_name": "ann", "email": "ann@x.example"}},
        {"id": "U02BEN", "name": "ben", "profile": {"real_name": "Ben Ray", "display_name": ""}},
        {"id": "U03OLD", "name": "carla", "deleted": True, "profile": {"real_name": ""}},
    ]  # fmt: skip
    written = {
        "users.json": users,
        "channels.json": [
            {"id": "C0ORDERS", "name": "orders", "members": ["U01ANN", "U02BEN"]},
            {"id": "C0SHIP", "name": "shipping", "members": []},
        ],
        "dms.json": [{"id": "D0AB", "created": 1, "members": ["U01ANN", "U02BEN"]}],
        "integration_logs.json": [{"service_id": "1", "user_name": "ann"}],
        f"{channel}/2026-03-02.json": [
            {"type": "message", "ts": f"17724456{n:02}.000100", "user": "U01ANN", **entry}
            for n, entry in enumerate(entries)
        ],
        f"{channel}/canvas_in_the_conversation.json": [],
    }  # fmt: skip
    for name, content in written.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(content))
    return folder


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("<!here> look at <#C0SHIP|shipping>", "@here look at #shipping"),
        ("<#C0SHIP|>, then <#C0SHIP> and <#C0GONE>", "#shipping, then #shipping and #C0GONE"),
        ("<!channel> and <!everyone>", "@channel and @everyone"),
        ("<!subteam^S0OPS|@ops> please, <!subteam^S0OPS>", "@ops please, @S0OPS"),
        ("due <!date^1772445600^{date_short}|Mar 2, 2026>", "due Mar 2, 2026"),
        ("mail <mailto:a@x.example|a@x.example> or <tel:+49301|+49 30 1>",
         "mail a@x.example or +49 30 1"),
        ("<https://x.example/a?b=1&amp;c=2>", "https://x.example/a?b=1&c=2"),
        ("if a &lt; b &amp;&amp; c &gt; d", "if a < b && c > d"),
        ("<@U02BEN> and <@U03OLD> and <@U09NEW>", "Ben Ray and carla and @U09NEW"),
        ("literally &lt;@U02BEN&gt;", "literally <@U02BEN>"),
    ],
)  # fmt: skip
def test_markup_of_slack(tmp_path: Path, text: str, body: str) -> None:
    (message,), broken = read(slack(tmp_path, {"text": text}))
    assert (message.body, broken) == (body, [])


@pytest.mark.parametrize(
    "subtype",
    ["huddle_thread", "sh_room_created", "channel_canvas_updated", "joiner_notification",
     "channel_posting_permissions", "group_topic", "group_archive", "channel_join", "bot_add",
     "app_conversation_join", "unpinned_item", "bot_remove", "reminder_delete", "group_name"],
)  # fmt: skip
def test_what_slack_writes_itself(tmp_path: Path, subtype: str) -> None:
    own = {"subtype": subtype, "text": "A huddle started", "user": "USLACKBOT"}
    (message,), broken = read(slack(tmp_path, own, {"text": "ordered"}))
    assert (message.body, broken) == ("ordered", [])


@pytest.mark.parametrize(
    "subtype", ["me_message", "thread_broadcast", "bot_message", "file_share", "slackbot_response"]
)
def test_what_people_and_programs_write_in_slack(tmp_path: Path, subtype: str) -> None:
    (message,), broken = read(slack(tmp_path, {"subtype": subtype, "text": "ordered"}))
    assert (message.body, broken) == ("ordered", [])


def test_senders_in_slack(tmp_path: Path) -> None:
    found, broken = read(
        slack(
            tmp_path,
            {"text": "one", "user": "USLACKBOT"},
            {"text": "two", "user": "U0FOREIGN", "user_profile": {"real_name": "Dora (Acme)"}},
            {
                "text": "three",
                "subtype": "bot_message",
                "user": None,
                "bot_id": "B01",
                "username": "Shop alerts",
            },
            {"text": "four", "user": "U07", "bot_id": "B02", "bot_profile": {"name": "Jira Cloud"}},
            {"text": "five", "user": "U03OLD"},
        )
    )
    names = [m.sender.name for m in found if m.sender is not None]
    assert names == ["Slackbot", "Dora (Acme)", "Shop alerts", "Jira Cloud", "carla"]
    assert broken == []


def test_a_direct_message_of_slack(tmp_path: Path) -> None:
    (message,), _ = read(slack(tmp_path, {"text": "please order paper"}, channel="D0AB"))
    assert [p.name for p in message.receivers] == ["Ben Ray"]


def test_blocks_and_files_of_slack(tmp_path: Path) -> None:
    def section(*parts: dict[str, Any]) -> dict[str, Any]:
        return {"type": "rich_text_section", "elements": list(parts)}

    def text(words: str) -> dict[str, Any]:
        return {"type": "text", "text": words}

    items = [section(text("order paper")), section(text("call "), {"type": "user", "user_id":
             "U02BEN"})]  # fmt: skip
    blocks = [{"type": "rich_text", "block_id": "x", "elements": [
        section(text("To do in "), {"type": "channel", "channel_id": "C0SHIP"}, text(" "),
                {"type": "emoji", "name": "wave"}, text(" "),
                {"type": "broadcast", "range": "here"}, text(" "),
                {"type": "link", "url": "https://x.example", "text": "the list"}),
        {"type": "rich_text_list", "style": "bullet", "elements": items}]}]  # fmt: skip
    gone = {"id": "F1", "mode": "tombstone"}
    kept = {"id": "F2", "name": "offer.pdf", "mimetype": "application/pdf", "size": 9}
    found, broken = read(
        slack(tmp_path, {"text": "", "blocks": blocks}, {"text": "", "files": [gone, kept]})
    )
    assert found[0].body == ("To do in #shipping :wave: @here the list\norder paper\ncall Ben Ray")
    assert [a.name for a in found[1].attachments] == ["offer.pdf"]
    assert broken == []


# -- Teams ----------------------------------------------------------------------------------------


def graph(folder: Path, *entries: dict[str, Any]) -> tuple[list[Message], list[str]]:
    """Messages of a chat as the Graph API gives them."""
    listed = [
        {"@odata.type": "#microsoft.graph.chatMessage", "id": f"177244560000{n}", "replyToId": None,
         "etag": "1", "messageType": "message", "createdDateTime": f"2026-03-02T10:0{n}:00.000Z",
         "lastModifiedDateTime": "2026-03-02T10:00:00Z", "lastEditedDateTime": None,
         "deletedDateTime": None, "subject": None, "summary": None, "chatId": "19:x@thread.v2",
         "importance": "normal", "locale": "en-us", "webUrl": None, "channelIdentity": None,
         "from": {"application": None, "device": None, "user": {
             "id": "8ea", "displayName": "Ann Lee", "userIdentityType": "aadUser"}},
         "body": {"contentType": "html", "content": "<p>ordered</p>"}, "attachments": [],
         "mentions": [], "reactions": [], "eventDetail": None, **entry}
        for n, entry in enumerate(entries)
    ]  # fmt: skip
    path = folder / "chat.json"
    text = json.dumps({"@odata.context": "https://graph.microsoft.com/v1.0", "value": listed})
    path.write_text(text)
    assert format_of(str(path)) == "teams"
    return read(path)


def html(content: str) -> dict[str, Any]:
    return {"body": {"contentType": "html", "content": content}}


@pytest.mark.parametrize(
    ("content", "body"),
    [
        ('<div><div itemprop="copy-paste-block">Ship&nbsp;it <emoji id="like" alt="\U0001f44d" '
         'title="Like"></emoji></div></div>', "Ship it \U0001f44d"),
        ('<p>Ask <at id="0">Ben Ray</at>&nbsp;first</p>', "Ask Ben Ray first"),
        ('<p>see <a href="https://x.example/1" rel="noreferrer">order 1</a></p>', "see order 1"),
        ("<p>one</p>\n<ul>\n<li>two</li>\n<li>three</li>\n</ul>", "one\n\n- two\n\n- three"),
        ('<codeblock class="Sql"><code>select 1<br>from x</code></codeblock>',
         "select 1\nfrom x"),
    ],
    ids=["emoji", "mention", "link", "list", "code"],
)  # fmt: skip
def test_html_of_teams(tmp_path: Path, content: str, body: str) -> None:
    (message,), broken = graph(tmp_path, html(content))
    assert (message.body, broken) == (body, [])


def test_an_answer_in_a_chat_of_teams(tmp_path: Path) -> None:
    """An answer in a chat has the message that it quotes as an attachment."""
    quoted = {
        "messageId": "1772445600000", "messagePreview": "Has anybody the number?",
        "messageSender": {"user": {"displayName": "Ann Lee"}},
    }  # fmt: skip
    found, broken = graph(
        tmp_path,
        html("<p>Has anybody the number?</p>"),
        {
            **html('<attachment id="1772445600000"></attachment>\n<p>It is 4711.</p>'),
            "attachments": [{"id": "1772445600000", "contentType": "messageReference",
                             "contentUrl": None, "content": json.dumps(quoted), "name": None}],
        },
    )  # fmt: skip
    question, answer = found
    assert (answer.body, answer.attachments) == ("It is 4711.", ())
    assert answer.references == (question.id,)
    assert answer.quoted == "Has anybody the number?"
    assert broken == []


def test_what_teams_writes_itself(tmp_path: Path) -> None:
    event = {"@odata.type": "#microsoft.graph.membersAddedEventMessageDetail"}
    found, broken = graph(
        tmp_path,
        {"messageType": "unknownFutureValue", "eventDetail": event, "from": None,
         **html("<systemEventMessage/>")},
        {"messageType": "systemEventMessage", "eventDetail": event, "from": None},
        html("<p></p>"),
        {**html('<attachment id="f"></attachment>'), "attachments": [
            {"id": "f", "contentType": "reference", "contentUrl": "https://x", "name":
             "offer.pdf"}]},
        html('<p><img src="https://graph.microsoft.com/hosted/1" alt="image" itemid="1"></p>'),
    )  # fmt: skip
    assert [[a.name for a in m.attachments] for m in found] == [["offer.pdf"], ["image"]]
    assert broken == ["`1772445600002` has no text"]


def account(folder: Path, *entries: dict[str, Any], **conversation: Any) -> tuple[
    list[Message], list[str]
]:  # fmt: skip
    """What a person exports of a Microsoft account."""
    listed = [
        {"id": f"170963355103{n}", "displayName": None, "version": 1, "amsreferences": None,
         "originalarrivaltime": f"2024-03-05T10:12:3{n}.035Z", "messagetype": "RichText/Html",
         "content": "<p>ordered</p>", "conversationid": "19:x@thread.skype", "from": "8:live:ann",
         "properties": None, **entry}
        for n, entry in enumerate(entries)
    ]  # fmt: skip
    data = {"userId": "8:live:ann", "exportDate": "2024-03-06T10:00", "conversations": [
        {"id": "19:x@thread.skype", "displayName": None, "version": 1, "properties": {},
         "threadProperties": None, "MessageList": listed, **conversation}]}  # fmt: skip
    return read(folder / "messages.json", json.dumps(data))


def test_answers_and_files_in_an_account_of_teams(tmp_path: Path) -> None:
    quote = (
        '<quote author="live:ben" authorname="Ben Ray" timestamp="1709633551" '
        'conversation="19:x@thread.skype" messageid="1709633551030" cuid="1">'
        "<legacyquote>[1709633551] Ben Ray: </legacyquote>Has anybody the number?"
        "<legacyquote>\n\n&lt;&lt;&lt; </legacyquote></quote>It is 4711."
    )
    file = (
        '<URIObject type="File.1" uri="https://api.asm.skype.com/v1/objects/0-x">'
        "<Title>Title: offer.pdf</Title><Description>Description: offer.pdf</Description>"
        '<FileSize v="81234"></FileSize><OriginalName v="offer.pdf"></OriginalName></URIObject>'
    )
    found, broken = account(
        tmp_path,
        {"from": "8:live:ben", "displayName": "Ben Ray", "content": "Has anybody the number?",
         "messagetype": "RichText"},
        {"content": quote, "messagetype": "RichText"},
        {"content": file, "messagetype": "RichText/Media_GenericFile"},
        {"content": '<partlist type="ended"></partlist>', "messagetype": "Event/Call"},
        {"content": "edited<e_m a=\"8:live:ann\" ts_ms=\"1\" ts=\"1\" t=\"61\"></e_m> "
         '<ss type="smile">:)</ss>', "messagetype": "RichText"},
    )  # fmt: skip
    question, answer, sent, edited = found
    assert answer.body == "It is 4711."
    assert "Has anybody the number?" in answer.quoted
    assert answer.references == (question.id,)
    assert ([a.name for a in sent.attachments], sent.body) == (["offer.pdf"], "")
    assert edited.body == "edited :)"
    assert {m.sender.name for m in found if m.sender} == {"Ben Ray", "live:ann"}
    assert [p.name for p in question.receivers] == ["live:ann"]
    assert broken == []


# -- WhatsApp -------------------------------------------------------------------------------------

LOCALES = {
    "en-US Android": (
        f"3/5/24, 9:12{NARROW}AM - Messages and calls are end-to-end encrypted. No one outside of "
        "this chat can read them.\n"
        f'3/5/24, 9:12{NARROW}AM - Ann created group "Ops"\n'
        f"3/5/24, 9:13{NARROW}AM - Ann: please order: paper\n"
        f"3/5/24, 12:14{NARROW}PM - Ben: <Media omitted>\n"
        f"3/5/24, 12:15{NARROW}PM - Ben: IMG-20240305-WA0001.jpg (file attached)\nfrom the shop\n"
        f"3/5/24, 12:16{NARROW}PM - Ann: This message was deleted\n"
        f"3/6/24, 1:00{NARROW}PM - Ben: ordered <This message was edited>\n"
    ),
    "de iOS": (
        f"[05.03.24, 09:12:00] Ops: {LRM}Nachrichten und Anrufe sind "
        "Ende-zu-Ende-verschl\xfcsselt.\n"
        f"[05.03.24, 09:12:00] Ops: {LRM}Ann hat diese Gruppe erstellt\n"
        "[05.03.24, 09:13:00] Ann: please order: paper\n"
        f"{LRM}[05.03.24, 12:14:00] Ben: {LRM}Bild weggelassen\n"
        f"{LRM}[05.03.24, 12:15:00] Ben: {LRM}<Anhang: IMG-20240305-WA0001.jpg>\nfrom the shop\n"
        f"[05.03.24, 12:16:00] Ann: {LRM}Diese Nachricht wurde gel\xf6scht.\n"
        f"[06.03.24, 13:00:00] Ben: ordered {LRM}<Diese Nachricht wurde bearbeitet.>\n"
    ),
    "fr iOS": (
        f"[05/03/2024 09:12:00] Ops: {LRM}Les messages et les appels sont chiffr\xe9s de bout en "
        "bout.\n"
        "[05/03/2024 09:13:00] Ann: please order: paper\n"
        f"{LRM}[05/03/2024 12:14:00] Ben: {LRM}image absente\n"
        f"{LRM}[05/03/2024 12:15:00] Ben: {LRM}<pi\xe8ce jointe{WIDE}: IMG-20240305-WA0001.jpg>\n"
        "from the shop\n"
        f"[05/03/2024 12:16:00] Ann: {LRM}Vous avez supprim\xe9 ce message.\n"
        f"[06/03/2024 13:00:00] Ben: ordered {LRM}<Ce message a \xe9t\xe9 modifi\xe9>\n"
    ),
    "es Android": (
        "5/3/24, 9:12 - Los mensajes y las llamadas est\xe1n cifrados de extremo a extremo.\n"
        "5/3/24, 9:13 - Ann: please order: paper\n"
        "5/3/24, 12:14 - Ben: <Multimedia omitido>\n"
        f"5/3/24, 12:15 - Ben: {LRM}IMG-20240305-WA0001.jpg (archivo adjunto)\nfrom the shop\n"
        "5/3/24, 12:16 - Ann: Eliminaste este mensaje.\n"
        "6/3/24, 13:00 - Ben: ordered <Se edit\xf3 este mensaje.>\n"
    ),
    "it iOS": (
        f"[05/03/24, 09:12:00] Ops: {LRM}I messaggi e le chiamate sono crittografati end-to-end.\n"
        "[05/03/24, 09:13:00] Ann: please order: paper\n"
        f"{LRM}[05/03/24, 12:14:00] Ben: {LRM}immagine omessa\n"
        f"{LRM}[05/03/24, 12:15:00] Ben: {LRM}<allegato: IMG-20240305-WA0001.jpg>\nfrom the shop\n"
        f"[05/03/24, 12:16:00] Ann: {LRM}Hai eliminato questo messaggio.\n"
        f"[06/03/24, 13:00:00] Ben: ordered {LRM}<Questo messaggio \xe8 stato modificato>\n"
    ),
    "pt-BR Android": (
        "05/03/2024 09:12 - As mensagens e liga\xe7\xf5es s\xe3o protegidas com a criptografia de "
        "ponta a ponta.\n"
        "05/03/2024 09:13 - Ann: please order: paper\n"
        "05/03/2024 12:14 - Ben: <M\xeddia oculta>\n"
        "05/03/2024 12:15 - Ben: IMG-20240305-WA0001.jpg (arquivo anexado)\nfrom the shop\n"
        "05/03/2024 12:16 - Ann: Mensagem apagada\n"
        "06/03/2024 13:00 - Ben: ordered <Mensagem editada>\n"
    ),
    "nl iOS": (
        f"[05-03-2024, 09:12:00] Ops: {LRM}Berichten en gesprekken worden end-to-end versleuteld.\n"
        "[05-03-2024, 09:13:00] Ann: please order: paper\n"
        f"{LRM}[05-03-2024, 12:14:00] Ben: {LRM}afbeelding weggelaten\n"
        f"{LRM}[05-03-2024, 12:15:00] Ben: {LRM}<bijgevoegd: IMG-20240305-WA0001.jpg>\n"
        "from the shop\n"
        f"[05-03-2024, 12:16:00] Ann: {LRM}Je hebt dit bericht verwijderd.\n"
        f"[06-03-2024, 13:00:00] Ben: ordered {LRM}<Dit bericht is bewerkt>\n"
    ),
}


@pytest.mark.parametrize("locale", LOCALES)
def test_whatsapp(tmp_path: Path, locale: str) -> None:
    path = tmp_path / "chat.txt"
    path.write_text(LOCALES[locale], "utf-8")
    assert format_of(str(path)) == "whatsapp"
    found, broken = read(path)
    assert written(found) == [
        ("2024-03-05T09:13:00", "Ann", "please order: paper"),
        ("2024-03-05T12:14:00", "Ben", ""),
        ("2024-03-05T12:15:00", "Ben", "from the shop"),
        ("2024-03-06T13:00:00", "Ben", "ordered"),
    ]
    assert [len(m.attachments) for m in found] == [0, 1, 1, 0]
    assert found[2].attachments[0].name == "IMG-20240305-WA0001.jpg"
    assert broken == ["was deleted by its author"]
    assert [p.name for p in found[0].receivers] == ["Ben"]


@pytest.mark.parametrize(
    "words",
    ["image omitted", "sticker omitted", "GIF omitted", "Contact card omitted", "audio omitted",
     "video note omitted", "Audio weggelassen", "Sticker weggelassen", "Dokument weggelassen",
     "vid\xe9o absente", "audio absent", "sticker absent", "document absent", "imagen omitida",
     "audio omitido", "sticker omitido", "documento omitido", "audio omesso", "video omesso",
     "sticker non incluso", "documento omesso", "imagem ocultada", "\xe1udio ocultado",
     "v\xeddeo omitido", "figurinha omitida", "afbeelding weggelaten",
     "sticker weggelaten", "document weggelaten", "audio weggelaten"],
)  # fmt: skip
def test_media_that_an_iphone_leaves_out(tmp_path: Path, words: str) -> None:
    text = f"[05/03/24, 09:13:00] Ann: look\n{LRM}[05/03/24, 09:14:00] Ben: {LRM}{words}\n"
    found, broken = read(tmp_path / "chat.txt", text)
    assert [(m.body, len(m.attachments)) for m in found] == [("look", 0), ("", 1)]
    assert broken == []


def test_a_document_without_its_file(tmp_path: Path) -> None:
    text = (
        f"{LRM}[05/03/24, 09:13:00] Ann: offer.pdf • {LRM}2 pages {LRM}document omitted\n"
        f"{LRM}[05/03/24, 09:14:00] Ben: Angebot 7.pdf • {LRM}1 Seite {LRM}Dokument weggelassen\n"
    )
    found, _ = read(tmp_path / "chat.txt", text)
    assert [([a.name for a in m.attachments], m.body) for m in found] == [
        (["offer.pdf"], ""), (["Angebot 7.pdf"], ""),
    ]  # fmt: skip


def test_a_caption_of_media_that_are_left_out(tmp_path: Path) -> None:
    text = "3/5/24, 9:12 AM - Ann: <Media omitted>\nthe broken pump\n3/15/24, 9:13 AM - Ben: ok\n"
    (photo, _), _ = read(tmp_path / "chat.txt", text)
    assert (photo.body, len(photo.attachments)) == ("the broken pump", 1)


def test_what_the_app_of_android_writes(tmp_path: Path) -> None:
    text = (
        '05/03/24, 09:10 - Ann changed the subject from "Ops" to "Ops: nights"\n'
        "05/03/24, 09:11 - Ann changed the group name from “Ops: nights” to “Ops: all”\n"
        "05/03/24, 09:12 - Ann: who is on duty?\n"
        "05/03/24, 09:13 - Ben: null\n"
        "05/03/24, 09:14 - Ben: This message was deleted by admin Ann\n"
        "05/03/24, 09:15 - Ben: me, @\u2068Ann Lee\u2069\n"
        "05/03/24, 09:16 - Missed voice call\n"
    )
    found, broken = read(tmp_path / "chat.txt", text)
    assert written(found) == [
        ("2024-03-05T09:12:00", "Ann", "who is on duty?"),
        ("2024-03-05T09:15:00", "Ben", "me, @Ann Lee"),
    ]
    assert broken == ["has no text", "was deleted by its author"]


@pytest.mark.parametrize(
    ("dates", "expected"),
    [
        (("05/03/24, 9:12 am", "06/03/24, 10:13 pm"), ("2024-03-05T09:12", "2024-03-06T22:13")),
        (("3/5/24, 9:12 AM", "3/6/24, 10:13 PM"), ("2024-03-05T09:12", "2024-03-06T22:13")),
        (("11/2/24, 9:12", "1/3/24, 9:12"), ("2024-02-11T09:12", "2024-03-01T09:12")),
        (("2/11/24, 9:12", "3/1/24, 9:12"), ("2024-02-11T09:12", "2024-03-01T09:12")),
        (("2024/3/5, 9:12", "2024/3/6, 9:12"), ("2024-03-05T09:12", "2024-03-06T09:12")),
        (("5.3.2024 klo 9.12", "6.3.2024 klo 9.12"), ("2024-03-05T09:12", "2024-03-06T09:12")),
        (("5/3/24, 9:12 a.\xa0m.", "6/3/24, 10:13 p.\xa0m."),
         ("2024-03-05T09:12", "2024-03-06T22:13")),
        (("05.03.24, 09:12", "06.03.24, 09:12"), ("2024-03-05T09:12", "2024-03-06T09:12")),
    ],
    ids=["en-IN", "en-US", "day-first", "month-first", "ja", "fi", "es-MX", "de"],
)  # fmt: skip
def test_dates_of_whatsapp(
    tmp_path: Path, dates: tuple[str, str], expected: tuple[str, str]
) -> None:
    """Messages stand in the order of time; `AM` is American, `am` British or Indian."""
    text = "".join(f"{date} - Ann: word {n}\n" for n, date in enumerate(dates))
    found, broken = read(tmp_path / "chat.txt", text)
    assert [date[:16] for date, _, _ in written(found)] == list(expected)
    assert broken == []


# -- captions -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cues", "body"),
    [
        ("00:01.000 --> 00:02.000\n<v Ann &amp; Ben>Hello</v>\n", "Ann & Ben: Hello"),
        ("00:01.000 --> 00:02.000\n<v.loud.first Ann Lee>Hello <b>all</b></v>\n",
         "Ann Lee: Hello all"),
        ("00:01.000 --> 00:02.000 align:start position:10%\n<v Ann>one <00:01.500>two\nthree</v>\n",
         "Ann: one two three"),
        ("00:01.000 --> 00:02.000\n<v Ann>Hi</v> <v Ben>Yes</v>\n", "Ann: Hi\nBen: Yes"),
        ("00:01.000 --> 00:02.000\n<v Ann>Hi\n<v Ben>Yes\n", "Ann: Hi\nBen: Yes"),
        ("00:01.000 --> 00:02.000\n<v Ann>Hi</v>\n\nNOTE\nmade by a\nprogram: x\n\n"
         "00:03.000 --> 00:04.000\n<v Ben>Yes</v>\n", "Ann: Hi\nBen: Yes"),
        ("STYLE\n::cue(v[voice=\"Ann\"]) { color: red }\n\nREGION\nid:fred\nwidth:40%\n\n"
         "1\n00:01.000 --> 00:02.000\n<v Ann>Hi</v>\n\n2 - second\n00:03.000 --> 00:04.000\n"
         "<v Ben>Yes</v>\n", "Ann: Hi\nBen: Yes"),
        ("01:00:01.000 --> 01:00:02.000\n<c.yellow>Ann: Hi</c>\n\n"
         "01:00:03.000 --> 01:00:04.000\n<c.cyan>Ben: <i>Yes</i> 1 &lt; 2</c>\n",
         "Ann: Hi\nBen: Yes 1 < 2"),
        ("00:01.000 --> 00:02.000\n<v Ann>Hi</v>\n\n00:03.000 --> 00:04.000\n<v Ann>again</v>\n",
         "Ann: Hi again"),
        ("00:01.000 --> 00:02.000\nAnn: Hi\n\nNOTE\nBen: no\n\n2\n00:03.000 --> 00:04.000\n"
         "Ben: Yes\n", "Ann: Hi\nBen: Yes"),
        ("00:01.000 --> 00:02.000\n(door) <v Ann>Hi</v>\n", "(door)\nAnn: Hi"),
        ("00:01.000 --> 00:02.000\n<v Ann>In\n2024</v>\n\n2\n00:03.000 --> 00:04.000\n2025\n\n3\n"
         "00:05.000 --> 00:06.000\n<v Ben>Yes</v>\n", "Ann: In 2024 2025\nBen: Yes"),
    ],
    ids=["escaped", "classes", "times", "two", "open", "note", "style", "colours", "again",
         "remark", "before", "numbers"],
)  # fmt: skip
def test_voices_of_webvtt(tmp_path: Path, cues: str, body: str) -> None:
    for start, end in (("WEBVTT\n\n", "\n"), ("\ufeffWEBVTT - call\nKind: captions\n\n", "\r\n")):
        text = (start + cues).replace("\n", end)
        (call,), broken = read(tmp_path / "2024-03-05 call.vtt", text)
        assert (call.body, broken) == (body, [])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_srt(tmp_path: Path, encoding: str) -> None:
    text = (
        "1\r\n00:00:01,000 --> 00:00:04,200  X1:40 X2:600 Y1:20 Y2:50\r\n"
        '<font color="#ffff00">Änne: Wer hat\r\ndie Nummer?</font>\r\n\r\n'
        "2\r\n00:00:05,000 --> 00:00:06,200\r\n- {\\an8}<i>Ben: 4711</i>\r\n- Änne: Danke\r\n\r\n"
        "3\r\n00:00:07,000 --> 00:00:08,000\r\n2024\r\n\r\n"
        "4\r\n00:00:09,000 --> 00:00:10,000\r\nBen: Gern"
    )
    path = tmp_path / "2024-03-05 call.srt"
    path.write_bytes(text.encode(encoding))
    (call,), broken = read(path)
    assert call.body == "Änne: Wer hat die Nummer?\nBen: 4711\nÄnne: Danke 2024\nBen: Gern"
    assert broken == []
