"""Teams: messages in the JSON of the Graph API and of the export tools of Microsoft 365."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from orgflow.frontends.messages.html_text import html_text
from orgflow.frontends.messages.whatsapp import small_group

from orgflow_ir.model.input_limits import load_json
from orgflow_ir.model.message import Attachment, BrokenMessage, Message, Person
from orgflow_ir.model.records import NamedTuple


def is_teams(data: Any) -> bool:
    """Whether parsed JSON is a list of `chatMessage` resources, an object with one as `value` (a
    page of the API) or `messages`, or the export of a Microsoft account."""
    if _list_conversations(data):
        return True
    entries = _list_entries(data)
    return any(
        "createdDateTime" in e and ("body" in e or "from" in e)
        for e in entries[:20]
        if isinstance(e, dict)
    )


def _list_entries(data: Any) -> list[Any]:
    """The messages in a list, in pages of the API, or in the chats or channels that hold them."""
    if isinstance(data, dict):
        parts = [data[key] for key in _HOLDERS if isinstance(data.get(key), list)]
        return [entry for part in parts for entry in _list_entries(part)]
    if not isinstance(data, list):
        return []
    entries: list[Any] = []
    for entry in data:
        holds = isinstance(entry, dict) and any(isinstance(entry.get(k), list) for k in _HOLDERS)
        entries += _list_entries(entry) if holds else [entry]
    return entries


_HOLDERS = ("value", "messages", "chats", "channels", "teams")


def read_teams(data: Any, file: str) -> Iterator[Message | BrokenMessage]:
    """The messages of an export and the replies inside them. Raises nothing."""
    for conversation in _list_conversations(data):
        authors = _map_accounts(conversation["MessageList"])
        for entry in conversation["MessageList"]:
            if isinstance(entry, dict):
                yield from _read_own(entry, conversation, authors, file)
            else:
                yield BrokenMessage(file, 0, "has no object in a MessageList")
    entries = _list_entries(data)
    chats = _map_chats(entries)
    for number, entry in enumerate(entries, 1):
        if not isinstance(entry, dict):
            yield BrokenMessage(file, 0, f"message {number} is not an object")
            continue
        for message in _read_message(entry, file, "", ""):
            if (
                isinstance(message, Message)
                and not message.receivers
                and message.sender is not None
            ):
                others = chats.get(str(entry.get("chatId") or ""), {})
                message = replace(message, receivers=small_group(others, message.sender.key))
            yield message


def _map_chats(entries: list[Any]) -> dict[str, dict[str, Person]]:
    """Who writes in each chat, by the keys of people; not in channels, which many read."""
    chats: dict[str, dict[str, Person]] = {}
    for entry in entries:
        if isinstance(entry, dict) and entry.get("chatId"):
            sender = _read_person(entry.get("from"))
            if sender is not None and entry.get("messageType", "message") == "message":
                chats.setdefault(str(entry["chatId"]), {})[sender.key] = sender
    return chats


def _map_accounts(entries: list[Any]) -> dict[str, Person]:
    """Who writes in a conversation, by account: only some of the messages have the name."""
    people: dict[str, Person] = {}
    for entry in entries:
        if not isinstance(entry, dict) or not _is_text(entry):
            continue
        account = str(entry.get("from") or "")
        name = str(entry.get("displayName") or "")
        if name or account not in people:
            people[account] = Person(name or account.partition(":")[2] or account)
    people.pop("", None)
    return people


def _is_text(entry: dict[str, Any]) -> bool:
    """Whether an entry is no call and no event such as people that join."""
    kind = str(entry.get("messagetype") or "")
    return kind == "Text" or kind.startswith("RichText")


def _list_conversations(data: Any) -> list[dict[str, Any]]:
    """The conversations in what a person exports of a Microsoft account (`messages.json`)."""
    conversations = data.get("conversations") if isinstance(data, dict) else None
    return [
        entry for entry in (conversations if isinstance(conversations, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("MessageList"), list)
    ]  # fmt: skip


def _read_own(
    entry: dict[str, Any], conversation: dict[str, Any], authors: dict[str, Person], file: str
) -> Iterator[Message | BrokenMessage]:
    if not _is_text(entry):
        return
    id_ = str(entry.get("id") or "")
    content = str(entry.get("content") or "")
    properties = entry.get("properties")
    if isinstance(properties, dict) and properties.get("deletetime"):
        yield BrokenMessage(file, 0, f"`{id_}` was deleted by its author")
        return
    try:
        date = datetime.fromisoformat(str(entry["originalarrivaltime"]))
    except (KeyError, ValueError):
        yield BrokenMessage(file, 0, f"has a message `{id_}` without originalarrivaltime")
        return
    plain = entry.get("messagetype") == "Text"
    rich = _Rich(content.strip()) if plain else _read_rich(content)
    if not rich.body and not rich.files:
        yield BrokenMessage(file, 0, f"`{id_}` has no text")
        return
    group = f"teams:{conversation.get('id') or entry.get('conversationid') or ''}"
    account = str(entry.get("from") or "")
    yield Message(
        id=f"{group}:{id_}",
        date=date,
        channel="chat",
        sender=authors.get(account),
        receivers=small_group(authors, account),
        subject="",
        body=rich.body,
        quoted=rich.quoted,
        references=tuple(f"{group}:{answered}" for answered in rich.answers),
        attachments=tuple(map(Attachment, rich.files)),
        file=file,
    )


class _Rich(NamedTuple):
    """The HTML of a message: its text, what it quotes, the ids of the messages that it answers,
    and the names of files and pictures in it."""

    body: str
    quoted: str = ""
    answers: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


_ANSWERED = re.compile(
    r'''itemtype="[^"]*/Reply"\s+itemid="([^"]+)"|<quote[^>]*\smessageid="([^"]+)"'''
)
_LEGACY = re.compile(r"<legacyquote>.*?</legacyquote>", re.DOTALL)
_OBJECT = re.compile(r"<URIObject\b.*?</URIObject>", re.DOTALL | re.IGNORECASE)
_OBJECT_NAME = re.compile(r'<OriginalName\s+v="([^"]+)"|<Title>(?:Title: )?([^<]+)', re.IGNORECASE)
_PICTURE = re.compile(r"<(?:emoji|img)\b[^>]*>", re.IGNORECASE)
_ALT = re.compile(r'\salt="([^"]*)"')


def _read_rich(content: str) -> _Rich:
    files: list[str] = []

    def note_object(match: re.Match[str]) -> str:
        name_match = _OBJECT_NAME.search(match.group())
        files.append(
            html.unescape(name_match[1] or name_match[2]).strip() if name_match else "file"
        )
        return ""

    def note_picture(match: re.Match[str]) -> str:
        text_match = _ALT.search(match.group())
        if "Emoji" in match.group() or match.group().startswith("<emoji"):
            return text_match[1] if text_match else ""
        files.append(html.unescape(text_match[1]) if text_match and text_match[1] else "image")
        return ""

    content = _PICTURE.sub(note_picture, _OBJECT.sub(note_object, content))
    answers = tuple(first_id or second_id for first_id, second_id in _ANSWERED.findall(content))
    content = _LEGACY.sub("", content).replace("<quote ", '<blockquote type="cite" ')
    body, quoted = html_text(content.replace("</quote>", "</blockquote>"))
    return _Rich(body.strip(), quoted, answers, tuple(files))


def _answered_messages(attachments: list[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """The ids of the messages that an answer in a chat quotes, and how these begin."""
    for attachment in attachments:
        if attachment.get("contentType") == "messageReference":
            try:
                quoted = load_json(str(attachment.get("content")))
            except ValueError:
                quoted = {}
            preview = quoted.get("messagePreview") if isinstance(quoted, dict) else None
            if attachment.get("id"):
                yield str(attachment["id"]), str(preview or "")


def _card_texts(attachments: list[dict[str, Any]]) -> Iterator[str]:
    """What programs write on cards: the texts of each, in order."""
    for attachment in attachments:
        if _is_card(attachment):
            content = attachment.get("content")
            try:
                card = load_json(content) if isinstance(content, str) else content
            except ValueError:
                continue  # no card that anybody sees
            yield from _strings_of(card)


def _is_card(attachment: dict[str, Any]) -> bool:
    return ".card." in str(attachment.get("contentType") or "")


def _strings_of(card: Any) -> Iterator[str]:
    stack = [card]
    while stack:
        part = stack.pop()
        if isinstance(part, list):
            stack.extend(reversed(part))
        elif isinstance(part, dict):
            texts = [part.get(key) for key in ("title", "subtitle", "text", "value")]
            yield from (html_text(t)[0] for t in texts if isinstance(t, str) and t.strip())
            stack.extend(v for v in reversed(part.values()) if isinstance(v, list | dict))


def _read_message(
    entry: dict[str, Any], file: str, root: str, group: str
) -> Iterator[Message | BrokenMessage]:
    id_ = str(entry.get("id") or "")
    channel = entry.get("channelIdentity") or {}
    group = str(entry.get("chatId") or channel.get("channelId") or "") or group
    if entry.get("deletedDateTime"):
        yield BrokenMessage(file, 0, f"`{id_}` was deleted by its author")
    elif entry.get("messageType", "message") == "message":
        try:
            date = datetime.fromisoformat(str(entry["createdDateTime"]))
        except (KeyError, ValueError):
            date = None
        if date is None or not id_:
            yield BrokenMessage(file, 0, f"has a message `{id_}` without id or createdDateTime")
        else:
            message = _build_message(entry, file, root, f"teams:{group}", id_, date)
            if message.body or message.attachments:
                yield message
            else:
                yield BrokenMessage(file, 0, f"`{id_}` has no text")
    for number, reply in enumerate(entry.get("replies") or (), 1):
        if isinstance(reply, dict):
            yield from _read_message(reply, file, id_, group)
        else:
            yield BrokenMessage(file, 0, f"reply {number} to `{id_}` is not an object")


def _build_message(
    entry: dict[str, Any], file: str, root: str, group: str, id_: str, date: datetime
) -> Message:
    rich = _read_body(entry.get("body") or {})
    attached = [a for a in entry.get("attachments") or () if isinstance(a, dict)]
    text = rich.body or "\n".join(_card_texts(attached))
    quoted = dict(_answered_messages(attached))
    answered = root or str(entry.get("replyToId") or "")
    answers = dict.fromkeys(answer for answer in (answered, *rich.answers, *quoted) if answer)
    sender = _read_person(entry.get("from"))
    return Message(
        id=f"{group}:{id_}",
        date=date,
        channel="chat",
        sender=sender,
        receivers=_mentioned_people(entry, sender),
        subject=str(entry.get("subject") or ""),
        body=text.strip(),
        thread=f"{group}:{answered or id_}" if answered or "channelIdentity" in entry else "",
        quoted="\n".join(part for part in (rich.quoted, *quoted.values()) if part),
        references=tuple(f"{group}:{answer}" for answer in answers),
        attachments=(*map(Attachment, rich.files), *_attached_files(attached)),
        file=file,
    )


def _read_body(body: object) -> _Rich:
    """The body of a message: a text, or an object with a text and its kind."""
    if not isinstance(body, dict):
        return _Rich(str(body).strip())
    text = str(body.get("content") or "")
    return _read_rich(text) if body.get("contentType") == "html" else _Rich(text.strip())


def _mentioned_people(entry: Mapping[str, Any], sender: Person | None) -> tuple[Person, ...]:
    """The people that a message names with `@`, without its sender."""
    mentioned = {
        p.key: p
        for m in entry.get("mentions") or ()
        if isinstance(m, dict) and (p := _read_person(m.get("mentioned"))) is not None
    }
    if sender is not None:
        mentioned.pop(sender.key, None)
    return tuple(mentioned.values())


def _attached_files(attached: Iterable[dict[str, Any]]) -> Iterator[Attachment]:
    """Attachments that are files: neither quoted messages nor cards."""
    for attachment in attached:
        kind = attachment.get("contentType")
        if kind != "messageReference" and not _is_card(attachment):
            yield Attachment(str(attachment.get("name") or "file"), str(kind or ""))


def _read_person(value: Any) -> Person | None:
    if not isinstance(value, dict):
        return None
    for account in value.values():  # user, application, emailUser, phone …
        if isinstance(account, dict):
            name = str(account.get("displayName") or account.get("id") or "")
            return Person(name, str(account.get("userPrincipalName") or account.get("email") or ""))
    return None
