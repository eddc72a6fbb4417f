"""The tools that the discovery agent offers a language model: search, read, save, and list the
remaining work."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from orgflow.agents.discovery.described import SCHEMA
from orgflow.agents.discovery.traits import Traits
from orgflow.agents.prompting import visible_text

from orgflow_ir.model.message import Message
from orgflow_ir.pipeline.agent_services import Embedder, Tool

SHOWN = 8
"""Maximum number of messages in the result of one call, one per line."""

BODY, LINE = 700, 110
"""Maximum number of characters of a message shown completely, and of one in a list."""

_TEXT = {"type": "string"}


def _make_tool(name: str, description: str, **properties: Any) -> Tool:
    return Tool(name, description, {"type": "object", "properties": properties})


SAVE = "save_discovered_process"
TOOLS = (
    _make_tool("search_messages", "Messages nearest in meaning.", query=_TEXT),
    _make_tool(
        "filter_messages", "Messages by sender, receiver, channel or dates (2026-03-02).",
        sender=_TEXT, receiver=_TEXT, channel=_TEXT, since=_TEXT, until=_TEXT,
    ),
    _make_tool("list_participants", "The people with the most messages."),
    _make_tool("get_message_detail", "One message, whole.", id=_TEXT),
    Tool(SAVE, "Save a process with its evidence.", SCHEMA),
    _make_tool("list_discovered_processes", "The saved processes."),
    _make_tool(
        "find_uncovered_messages", "A sample of the messages that belong to no saved process."
    ),
    _make_tool("find_novel_messages", "The messages least like any saved process."),
)  # fmt: skip


class Toolbox:
    """Shows messages in one conversation, in which each message has a short id (`m1`) from its
    first display on.

    Attributes:
        shown: the place of each message that was shown, by its short id.
    """

    def __init__(
        self, traits: Traits, vectors: Any, embedder: Embedder,
        uncovered: Sequence[int], novel: Sequence[int], inventory: str,
    ) -> None:  # fmt: skip
        self._traits, self._vectors, self._embedder = traits, vectors, embedder
        self._uncovered, self._novel, self._inventory = uncovered, novel, inventory
        self.shown: dict[str, int] = {}
        self._ids: dict[int, str] = {}

    def id(self, place: int) -> str:
        """The short id of a message, which counts as shown from now on."""
        if place not in self._ids:
            self._ids[place] = f"m{len(self._ids) + 1}"
            self.shown[self._ids[place]] = place
        return self._ids[place]

    def call(self, name: str, arguments: str) -> str:
        """The result of a tool other than `SAVE`, as text for the model."""
        try:
            given = json.loads(arguments or "{}")
        except (ValueError, RecursionError):
            return "The arguments are no JSON."
        if not isinstance(given, Mapping):
            return "The arguments are no JSON object."
        match name:
            case "search_messages":
                return self._search_messages(_as_text(given.get("query")))
            case "filter_messages":
                return self._filter_messages({key: _as_text(value) for key, value in given.items()})
            case "list_participants":
                return self._list_people()
            case "get_message_detail":
                place = self.shown.get(_as_text(given.get("id")).strip("[] ").lower())
                return "No message has this id." if place is None else self.whole(place)
            case "list_discovered_processes":
                return self._inventory or "None yet."
            case "find_uncovered_messages":
                return self.lines(pick_evenly(self._uncovered, SHOWN))
            case "find_novel_messages":
                return self.lines(self._novel[:SHOWN])
        return f"There is no tool {name[:40]!r}. There are {', '.join(t.name for t in TOOLS)}."

    def lines(self, places: Sequence[int]) -> str:
        """Messages, one per line."""
        return "\n".join(
            f"{self._message_head(p)}: {_cut_line(self._all_messages[p].body, LINE)}"
            for p in places
        ) or "None."  # fmt: skip

    def whole(self, place: int) -> str:
        """A message with its text."""
        message = self._all_messages[place]
        return f"{self._message_head(place)}\n{_cut_line(message.body, BODY)}"

    @property
    def _all_messages(self) -> tuple[Message, ...]:
        return self._traits.messages

    def _message_head(self, place: int) -> str:
        message = self._all_messages[place]
        date = message.date.strftime("%Y-%m-%d %H:%M") if message.date is not None else "no date"
        sender = message.sender.label if message.sender is not None else "unknown"
        to = ", ".join(p.label for p in message.receivers[:3])
        subject = f' "{_cut_line(message.subject, 80)}"' if message.subject else ""
        return visible_text(
            f"[{self.id(place)}] {date} {message.channel} {sender}{f' to {to}' if to else ''}"
            f"{subject}"
        )

    def _search_messages(self, query: str) -> str:
        if not query.strip():
            return "The query is empty."
        asked: Any = np.array(self._embedder.embed([query])[0], np.float32)
        near = np.argsort(-(self._vectors @ asked), kind="stable")[:SHOWN]
        return self.lines([int(place) for place in near])

    def _filter_messages(self, wanted: Mapping[str, str]) -> str:
        def fits_filter(message: Message) -> bool:
            sender = message.sender.label.lower() if message.sender is not None else ""
            day = message.date.date().isoformat() if message.date is not None else ""
            receivers = ", ".join(p.label.lower() for p in message.receivers)
            return (
                wanted.get("sender", "").lower() in sender
                and wanted.get("receiver", "").lower() in receivers
                and wanted.get("channel", "").lower() in message.channel.lower()
                and wanted.get("since", "") <= day
                and (not wanted.get("until") or day <= wanted["until"])
            )

        fitting = [
            place for place, message in enumerate(self._all_messages) if fits_filter(message)
        ]
        if not fitting:
            return "No message fits."
        return f"{len(fitting)} messages match, such as\n{self.lines(pick_evenly(fitting, SHOWN))}"

    def _list_people(self) -> str:
        counts: dict[str, int] = {}
        for message in self._all_messages:
            for person in message.people:
                counts[person.label] = counts.get(person.label, 0) + 1
        most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[: 3 * SHOWN]
        return "\n".join(f"{visible_text(name)}: {number}" for name, number in most)


def pick_evenly(places: Sequence[int], most: int) -> list[int]:
    """At most this number of places, evenly spaced."""
    if len(places) <= most:
        return list(places)
    return [places[i * len(places) // most] for i in range(most)]


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else str(value) if isinstance(value, int) else ""


def _cut_line(text: str, most: int) -> str:
    line = " ".join(visible_text(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
