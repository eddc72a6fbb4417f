"""Teams: messages as the Graph API and the export tools of Microsoft 365 write them in JSON."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from orgflow.frontends.messages.html_text import html_text

from orgflow_ir.model.message import Attachment, BrokenMessage, Message, Person


def is_teams(data: Any) -> bool:
    """Whether parsed JSON is a list of `chatMessage` resources, or an object with one as `value`
    (a page of the API) or `messages`."""
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
    for number, entry in enumerate(_entries(data), 1):
        if not isinstance(entry, dict):
            yield BrokenMessage(file, 0, f"message {number} is not an object")
            continue
        yield from _message(entry, file, "", "")


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
            if isinstance(a, dict) and a.get("contentType") != "messageReference"
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
