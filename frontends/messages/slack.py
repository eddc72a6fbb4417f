"""Slack's export: a zip file or a folder, with one folder per channel and one JSON file per day."""

from __future__ import annotations

import html
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from orgflow_ir.model.contained_paths import leads_out
from orgflow_ir.model.input_limits import (
    MIB,
    MOST_MEMBER,
    BoundedZip,
    LimitExceeded,
    load_json,
)
from orgflow_ir.model.message import Attachment, BrokenMessage, Message, Person
from orgflow_ir.model.records import NamedTuple

_CHANNEL_FILES = ("channels.json", "groups.json", "dms.json", "mpims.json")
_NO_MESSAGES = frozenset(
    ("channel_join", "channel_leave", "channel_topic", "channel_purpose", "channel_name",
     "channel_archive", "channel_unarchive", "channel_canvas_updated", "channel_convert_to_public",
     "channel_convert_to_private", "channel_posting_permissions", "group_join", "group_leave",
     "group_topic", "group_purpose", "group_name", "group_archive", "group_unarchive", "bot_add",
     "bot_remove", "bot_enable", "bot_disable", "pinned_item", "unpinned_item", "reminder_add",
     "reminder_delete", "huddle_thread", "sh_room_created", "sh_room_shared",
     "joiner_notification", "joiner_notification_for_inviter", "app_conversation_join",
     "app_conversation_leave")
)  # fmt: skip
"""Subtypes that Slack writes itself, about the channel."""


class _Files:
    """The files of an export, in a folder or in a zip, whose entries may lie one folder deeper."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._zip = BoundedZip(path) if os.path.isfile(path) else None
        self.unsafe: tuple[str, ...] = ()
        """Files that are not read: their names, or they as links, lead out of the export."""
        if self._zip is not None:
            self.names: Sequence[str] = self._zip.names
            self.unsafe = self._zip.unsafe
        else:
            walked = sorted(self._walk_files())
            self.unsafe = tuple(n for n in walked if leads_out(os.path.join(path, n), path))
            self.names = [name for name in walked if name not in self.unsafe]
        roots = {n.rpartition("/")[0] for n in self.names if n.rpartition("/")[2] == "users.json"}
        root = min(sorted(roots), key=len, default="")
        self.root = f"{root}/" if root else ""

    def _walk_files(self) -> Iterator[str]:
        for folder, _, files in os.walk(self.path):
            for name in files:
                yield os.path.relpath(os.path.join(folder, name), self.path).replace(os.sep, "/")

    def json(self, name: str) -> Any:
        """A JSON file. Raises `OSError`, `KeyError`, `ValueError`, `zipfile.BadZipFile`."""
        return load_json(self._read(name))

    def mentions(self, name: str, *words: bytes) -> bool:
        """Whether a file has one of some words; not if it is too large. Raises `OSError`,
        `zipfile.BadZipFile`."""
        try:
            data = self._read(name)
        except LimitExceeded:
            return False
        return any(word in data for word in words)

    def _read(self, name: str) -> bytes:
        if self._zip is not None:
            return self._zip.read(name)
        if name in self.unsafe:
            raise KeyError(name)
        with open(os.path.join(self.path, name), "rb") as file:
            data = file.read(MOST_MEMBER + 1)
        if len(data) > MOST_MEMBER:
            raise LimitExceeded(f"has more than {MOST_MEMBER // MIB} MB")
        return data

    def close(self) -> None:
        if self._zip is not None:
            self._zip.close()


def is_slack(path: str) -> bool:
    """Whether a folder or a zip file is an export of Slack."""
    if os.path.isdir(path):
        return os.path.isfile(os.path.join(path, "users.json"))
    if not zipfile.is_zipfile(path):
        return False
    try:
        archive = BoundedZip(path)
    except (LimitExceeded, zipfile.BadZipFile):
        return False
    try:
        return any(name.rpartition("/")[2] == "users.json" for name in archive.names)
    finally:
        archive.close()


def read_slack(
    path: str, advance: Callable[[int], None] | None = None
) -> Iterator[Message | BrokenMessage]:
    """The messages of an export, day by day. Raises `OSError`, `zipfile.BadZipFile`.

    Receivers are the members of the channel if it has at most eight, and everyone whom the message
    mentions. A thread is a Slack thread.
    """
    files = _Files(path)
    try:
        lists = {name: _read_list(files, name) for name in ("users.json", *_CHANNEL_FILES)}
        for name, (_, fault) in lists.items():
            if fault:
                yield BrokenMessage(f"{path}/{files.root}{name}", 0, fault)
        people = _read_users(lists["users.json"][0])
        members: dict[str, list[str]] = {}
        channels: dict[str, str] = {}
        for name in _CHANNEL_FILES:
            for entry in lists[name][0]:
                called = str(entry.get("name") or entry.get("id"))
                members[called] = [str(m) for m in entry.get("members") or ()]
                channels[str(entry.get("id"))] = called
        named = _Names(people, channels)
        edits = _read_edits(files)
        for name in files.unsafe:
            yield BrokenMessage(f"{path}/{name}", 0, "leads out of the export; it is not read")
        for name in files.names:
            folder = _channel_of(name, files)
            if not folder:
                continue
            where = f"{path}/{name}"
            try:
                entries = files.json(name)
            except LimitExceeded as error:
                yield BrokenMessage(where, 0, str(error))
                continue
            except (ValueError, KeyError) as error:
                yield BrokenMessage(where, 0, f"is no JSON: {error}")
                continue
            if not isinstance(entries, list):
                yield BrokenMessage(where, 0, "is not a list of messages")
                continue
            for number, entry in enumerate(entries):
                if isinstance(entry, dict):
                    last = edits.applied(folder, entry)
                    if last is None:
                        continue
                    yield from _read_message(last, folder, named, members.get(folder, []), where)
                else:
                    yield BrokenMessage(where, 0, f"entry {number + 1} is not an object")
            if advance is not None:
                advance(1)
    finally:
        files.close()


def _channel_of(name: str, files: _Files) -> str:
    """The folder of a channel that a file of messages is in, empty for other files."""
    folder, _, day = name.removeprefix(files.root).rpartition("/")
    return folder if "/" not in folder and day.endswith(".json") else ""


class _Edits:
    """What was changed or deleted later: the last text of each message by channel and time."""

    def __init__(self) -> None:
        self.texts: dict[tuple[str, str], tuple[float, dict[str, Any]]] = {}
        self.deleted: set[tuple[str, str]] = set()

    def note(self, channel: str, entry: Mapping[str, Any]) -> None:
        """Remember an entry about an earlier message."""
        changed = entry.get("message")
        if entry.get("subtype") == "message_deleted":
            self.deleted.add((channel, str(entry.get("deleted_ts"))))
        elif entry.get("subtype") == "message_changed" and isinstance(changed, dict):
            key = (channel, str(changed.get("ts") or entry.get("ts")))
            at = _read_number(entry.get("ts"))
            if key not in self.texts or at >= self.texts[key][0]:
                self.texts[key] = (at, changed)

    def applied(self, channel: str, entry: dict[str, Any]) -> dict[str, Any] | None:
        """A message as it was in the end; `None` where it is given elsewhere, or was deleted: the
        entry of its deletion stays. A change whose message is not in the export stands for it."""
        changed = entry.get("message") if entry.get("subtype") == "message_changed" else None
        changes = isinstance(changed, dict)
        ts = (changed.get("ts") if isinstance(changed, dict) else None) or entry.get("ts")
        key = (channel, str(ts))
        if key in self.deleted and entry.get("subtype") != "message_deleted":
            return None
        if not changes and key not in self.texts:
            return entry
        _, last = self.texts.pop(key, (0.0, None))
        return None if last is None else {**({} if changes else entry), **last, "ts": ts}


def _read_edits(files: _Files) -> _Edits:
    """All entries of an export about earlier messages; they may be in the file of a later day."""
    edits = _Edits()
    for name in files.names:
        channel = _channel_of(name, files)
        if channel and files.mentions(name, b"message_changed", b"message_deleted"):
            try:
                entries = files.json(name)
            except (ValueError, KeyError):
                continue  # reported when its messages are read
            for entry in entries if isinstance(entries, list) else ():
                if isinstance(entry, dict):
                    edits.note(channel, entry)
    return edits


def _read_number(ts: object) -> float:
    try:
        return float(str(ts))
    except ValueError:
        return 0.0


def _read_list(files: _Files, name: str) -> tuple[list[dict[str, Any]], str]:
    """The entries of a file with names, none without it, and why it cannot be read."""
    if files.root + name not in files.names:
        return [], ""
    try:
        entries = files.json(files.root + name)
    except LimitExceeded as error:
        return [], f"{error}; {_WITHOUT_NAMES}"
    except ValueError as error:
        return [], f"is no JSON: {error}; {_WITHOUT_NAMES}"
    if not isinstance(entries, list):
        return [], f"is not a list; {_WITHOUT_NAMES}"
    return [entry for entry in entries if isinstance(entry, dict)], ""


_WITHOUT_NAMES = "people and channels keep their ids as names"


def _read_users(entries: list[dict[str, Any]]) -> dict[str, Person]:
    users = {"USLACKBOT": Person("Slackbot")}
    for entry in entries:
        profile = entry.get("profile") or {}
        name = profile.get("real_name") or entry.get("real_name") or entry.get("name") or ""
        users[str(entry.get("id"))] = Person(str(name), str(profile.get("email") or ""))
    return users


_MARKUP = re.compile(r"<([^<>]+)>")


class _Names(NamedTuple):
    """What the ids in messages stand for."""

    users: Mapping[str, Person]
    channels: Mapping[str, str]


def _plain_text(text: str, names: _Names) -> str:
    """Slack's markup as plain text: mentions, channels and links by their names."""

    def replace_markup(match: re.Match[str]) -> str:
        target, _, label = match.group(1).partition("|")
        if target.startswith("@"):
            person = names.users.get(target[1:])
            return person.label if person is not None else label or target
        if target.startswith("#"):
            return "#" + (label or names.channels.get(target[1:], target[1:]))
        if target.startswith("!date"):
            return label
        if target.startswith("!"):  # <!here>, <!subteam^S01|@ops>
            return "@" + (label.removeprefix("@") or target[1:].rpartition("^")[2])
        return label or target

    return html.unescape(_MARKUP.sub(replace_markup, text)).strip()


def _attachment_texts(attachments: object) -> Iterator[str]:
    """What programs write beside an empty text."""
    for attachment in attachments if isinstance(attachments, list) else ():
        if isinstance(attachment, dict):
            parts = [str(attachment.get(key) or "") for key in ("pretext", "title", "text")]
            parts = [part for part in parts if part] or [str(attachment.get("fallback") or "")]
            yield "\n".join([*parts, *_field_texts(attachment.get("fields"))]).strip()


def _field_texts(fields: object) -> Iterator[str]:
    """The fields of an attachment or a block: `Priority: high`."""
    for field in fields if isinstance(fields, list) else ():
        if isinstance(field, dict):
            title, value = (str(field.get(key) or "") for key in ("title", "value"))
            yield str(field.get("text") or "") or ": ".join(part for part in (title, value) if part)


def _repeats_message(attachment: object) -> bool:
    """Whether an attachment shows another message, or a page that the text links to."""
    return isinstance(attachment, dict) and any(
        attachment.get(key) for key in ("is_share", "is_msg_unfurl", "from_url", "original_url")
    )


def _block_texts(blocks: object) -> Iterator[str]:
    """The texts of blocks: a line each, its parts joined."""
    for block in blocks if isinstance(blocks, list) else ():
        if not isinstance(block, dict):
            continue
        text = block.get("text")
        if isinstance(text, dict):
            yield str(text.get("text") or "")
        yield from _field_texts(block.get("fields"))
        for section in block.get("elements") or ():
            if isinstance(section, dict) and isinstance(section.get("elements"), list):
                yield "".join(
                    _part_markup(part) for part in section["elements"] if isinstance(part, dict)
                )
            elif isinstance(section, dict) and isinstance(section.get("text"), str):
                yield section["text"]


def _part_markup(part: Mapping[str, Any]) -> str:
    """A part in Slack's markup."""
    match part.get("type"):
        case "user":
            return f"<@{part.get('user_id')}>"
        case "usergroup":
            return f"<!subteam^{part.get('usergroup_id')}>"
        case "channel":
            return f"<#{part.get('channel_id')}>"
        case "broadcast":
            return f"<!{part.get('range')}>"
        case "emoji":
            return f":{part.get('name')}:"
    inner = part.get("elements")
    if isinstance(inner, list):
        return (
            "".join(
                _part_markup(inner_part) for inner_part in inner if isinstance(inner_part, dict)
            )
            + "\n"
        )
    plain = part.get("text") or part.get("url") or part.get("fallback") or ""
    return html.escape(str(plain), quote=False)


def _message_markup(entry: Mapping[str, Any]) -> tuple[str, list[Any]]:
    """The text of a message in Slack's markup, and the attachments that repeat other messages."""
    attached = entry.get("attachments")
    attached = attached if isinstance(attached, list) else []
    text = str(entry.get("text") or "")
    repeated = [attachment for attachment in attached if text and _repeats_message(attachment)]
    texts = [text] if text else list(_block_texts(entry.get("blocks")))
    more = _attachment_texts([attachment for attachment in attached if attachment not in repeated])
    # An attachment may have the same text as the message.
    own = [attached_text for attached_text in more if attached_text not in text]
    return "\n".join([*texts, *own]), repeated


def _find_sender(entry: Mapping[str, Any], names: _Names) -> Person | None:
    """Who wrote a message: a user of the export, or a name that stands in the message."""
    user = str(entry.get("user") or entry.get("bot_id") or "")
    profile = entry.get("user_profile") or {}
    bot = entry.get("bot_profile") or {}
    name = profile.get("real_name") or entry.get("username") or bot.get("name") or user
    return names.users.get(user) or (Person(str(name)) if name else None)


def _read_message(
    entry: dict[str, Any],
    channel: str,
    names: _Names,
    members: list[str],
    where: str,
) -> Iterator[Message | BrokenMessage]:
    if entry.get("type", "message") != "message" or entry.get("subtype") in _NO_MESSAGES:
        return
    if entry.get("subtype") in ("tombstone", "message_deleted"):
        ts = entry.get("deleted_ts") or entry.get("ts")
        yield BrokenMessage(where, 0, f"`{ts}` was deleted by its author")
        return
    try:
        date = datetime.fromtimestamp(float(entry["ts"]), UTC)
    except (KeyError, TypeError, ValueError, OverflowError, OSError):
        yield BrokenMessage(where, 0, f"contains a message without a time: ts {entry.get('ts')!r}")
        return
    text, repeated = _message_markup(entry)
    sender = _find_sender(entry, names)
    mentioned = re.findall(r"<@(\w+)", text)
    wanted = [*mentioned, *(members if len(members) <= 8 else ())]
    persons = {p.key: p for who in wanted if (p := names.users.get(who)) is not None}
    if sender is not None:
        persons.pop(sender.key, None)
    thread = str(entry.get("thread_ts") or "")
    files = _list_files(entry)
    body = _plain_text(text, names)
    if not body and not files:
        yield BrokenMessage(where, 0, f"`{entry['ts']}` has neither text nor files")
        return
    yield Message(
        id=f"slack:{channel}:{entry['ts']}",
        date=date,
        channel="chat",
        sender=sender,
        receivers=tuple(persons.values()),
        subject="",
        body=body,
        quoted=_plain_text("\n".join(_attachment_texts(repeated)), names),
        thread=f"slack:{channel}:{thread}" if thread else "",
        references=(f"slack:{channel}:{thread}",) if thread and thread != entry["ts"] else (),
        attachments=files,
        file=where,
    )


def _list_files(entry: Mapping[str, Any]) -> tuple[Attachment, ...]:
    """The files of a message that are still there."""
    files = (f for f in entry.get("files") or () if isinstance(f, dict))
    return tuple(
        Attachment(
            str(f.get("name") or "file"), str(f.get("mimetype") or ""), int(f.get("size") or 0)
        )
        for f in files
        if f.get("mode") != "tombstone"
    )
