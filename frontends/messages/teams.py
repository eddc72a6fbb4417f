"""Teams: messages as the Graph API and the export tools of Microsoft 365 write them in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from orgflow.frontends.messages.html_text import html_text

from orgflow_ir.model.message import Attachment, BrokenMessage, Message, Person


def is_teams(data: Any) -> bool:
    """Whether parsed JSON is a list of `chatMessage` resources, or an object with one as `value`
    (a page of the API) or `messages`, or what a person exports of a Microsoft account."""
    if _conversations(data):
        return True
    entries = _entries(data)
    return any(
        isinstance(e, dict) and "createdDateTime" in e and ("body" in e or "from" in e)
        for e in entries[:20]
    )


def _entries(data: Any) -> list[Any]:
    if isinstance(data, dict):
        data = data.get("value") or data.get("messages") or []
    return data if isinstance(data, list) else []


def read_teams(data: Any, file: str) -> Iterator[Message | BrokenMessage]:
    """The messages of an export and the replies inside them. Raises nothing."""
    for conversation in _conversations(data):
        for entry in conversation["MessageList"]:
            if isinstance(entry, dict):
                yield from _own(entry, conversation, file)
            else:
                yield BrokenMessage(file, 0, "has no object in a MessageList")
    for number, entry in enumerate(_entries(data), 1):
        if not isinstance(entry, dict):
            yield BrokenMessage(file, 0, f"message {number} is not an object")
            continue
        yield from _message(entry, file, "", "")


def _conversations(data: Any) -> list[dict[str, Any]]:
    """The conversations in what a person exports of a Microsoft account (`messages.json`)."""
    found = data.get("conversations") if isinstance(data, dict) else None
    return [
        entry for entry in (found if isinstance(found, list) else ())
        if isinstance(entry, dict) and isinstance(entry.get("MessageList"), list)
    ]  # fmt: skip


def _own(
    entry: dict[str, Any], conversation: dict[str, Any], file: str
) -> Iterator[Message | BrokenMessage]:
    kind = str(entry.get("messagetype") or "")
    if kind != "Text" and not kind.startswith("RichText"):
        return  # calls, people that join: what Teams writes itself
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
    body = (html_text(content)[0] if kind != "Text" else content).strip()
    if not body:
        yield BrokenMessage(file, 0, f"`{id_}` has no text")
        return
    group = f"teams:{conversation.get('id') or entry.get('conversationid') or ''}"
    account = str(entry.get("from") or "")
    name = str(entry.get("displayName") or account.partition(":")[2] or account)
    yield Message(
        id=f"{group}:{id_}",
        date=date,
        channel="chat",
        sender=Person(name) if name else None,
        receivers=(),
        subject="",
        body=body,
        file=file,
    )


def _card_texts(attachments: Any) -> Iterator[str]:
    """What programs write on cards: the texts of each, in order."""
    for one in attachments if isinstance(attachments, list) else ():
        if isinstance(one, dict) and _is_card(one):
            content = one.get("content")
            try:
                card = json.loads(content) if isinstance(content, str) else content
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


def _message(
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
            yield _one(entry, file, root, f"teams:{group}", id_, date)
    for number, reply in enumerate(entry.get("replies") or (), 1):
        if isinstance(reply, dict):
            yield from _message(reply, file, id_, group)
        else:
            yield BrokenMessage(file, 0, f"reply {number} to `{id_}` is not an object")


def _one(
    entry: dict[str, Any], file: str, root: str, group: str, id_: str, date: datetime
) -> Message:
    body = entry.get("body") or {}
    text = str(body.get("content") or "") if isinstance(body, dict) else str(body or "")
    if isinstance(body, dict) and body.get("contentType") == "html":
        text = html_text(text)[0]
    text = text.strip() or "\n".join(_card_texts(entry.get("attachments")))
    answered = root or str(entry.get("replyToId") or "")
    sender = _person(entry.get("from"))
    mentioned = {
        p.key: p
        for m in entry.get("mentions") or ()
        if isinstance(m, dict) and (p := _person(m.get("mentioned"))) is not None
    }
    if sender is not None:
        mentioned.pop(sender.key, None)
    return Message(
        id=f"{group}:{id_}",
        date=date,
        channel="chat",
        sender=sender,
        receivers=tuple(mentioned.values()),
        subject=str(entry.get("subject") or ""),
        body=text.strip(),
        thread=f"{group}:{answered or id_}" if answered or "channelIdentity" in entry else "",
        references=(f"{group}:{answered}",) if answered else (),
        attachments=tuple(
            Attachment(str(a.get("name") or "file"), str(a.get("contentType") or ""))
            for a in entry.get("attachments") or ()
            if isinstance(a, dict)
            and a.get("contentType") != "messageReference"
            and not _is_card(a)
        ),
        file=file,
    )


def _person(value: Any) -> Person | None:
    if not isinstance(value, dict):
        return None
    for kind in ("user", "application", "device"):
        found = value.get(kind)
        if isinstance(found, dict):
            name = str(found.get("displayName") or found.get("id") or "")
            return Person(name, str(found.get("userPrincipalName") or found.get("email") or ""))
    return None
