"""Message flows between processes that a text describes: a message that one sends and another
receives under the same name is one flow."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from orgflow_ir.model.elements import (
    CatalogEntry,
    EventDefinition,
    Expression,
    MessageFlow,
    Pool,
)
from orgflow_ir.model.event_words import Trigger
from orgflow_ir.model.records import NamedTuple


class Endpoint(NamedTuple):
    """A line that sends or receives a message.

    Args:
        node: id of its element.
        owner: the participant that it belongs to; empty without one.
        sends: whether it sends.
        what: the message.
        who: the other participant; empty if the line names none.
        message: id of the message in the catalogue.
    """

    node: str
    owner: str
    sends: bool
    what: str
    who: str
    message: str | None


TakeId = Callable[[str, str], str]
"""Makes an id from a text, or from a default if the text has no letters."""


class CatalogNames:
    """Messages or errors of a text, one per name."""

    def __init__(self, take_id: TakeId, kind: str) -> None:
        self._take_id, self._kind = take_id, kind
        self._entries: dict[str, CatalogEntry] = {}

    def find_id(self, name: str) -> str | None:
        """The id of the entry with a name; `None` without one."""
        if not name:
            return None
        key = name.casefold()
        if key not in self._entries:
            id = self._take_id(f"{self._kind} {name}", self._kind)
            code = name if self._kind == "error" else None
            self._entries[key] = CatalogEntry(id=id, name=name, code=code)
        return self._entries[key].id

    def entries(self) -> tuple[CatalogEntry, ...]:
        """All entries, in the order of their first use."""
        return tuple(self._entries.values())


def define_event(
    trigger: Trigger, messages: CatalogNames, errors: CatalogNames
) -> tuple[EventDefinition, ...]:
    """The definition of an event with a trigger; none for a plain event."""
    match trigger.kind:
        case "none":
            return ()
        case "message":
            return (EventDefinition(kind="message", ref=messages.find_id(trigger.text)),)
        case "error":
            return (EventDefinition(kind="error", ref=errors.find_id(trigger.text)),)
        case "timer":
            text = Expression(text=trigger.text) if trigger.text else None
            timer = trigger.timer or None
            return (EventDefinition(kind="timer", expression=text, timer=timer),)


def connect_messages(
    endpoints: Sequence[Endpoint], pools: Sequence[Pool], take_id: TakeId
) -> tuple[tuple[Pool, ...], tuple[MessageFlow, ...]]:  # fmt: skip
    """Pools without a process for participants that have none here, and the flows. `take_id` makes
    an id from a text, or from a default."""
    known = {pool.name.casefold(): pool.id for pool in pools}
    boxes: dict[str, Pool] = {}
    receivers: dict[tuple[str, str, str], list[Endpoint]] = {}
    for end in endpoints:
        if not end.sends:
            receivers.setdefault(_message_key(end), []).append(end)
    flows: list[MessageFlow] = []
    matched: set[str] = set()

    def add_flow(source: str, target: str, end: Endpoint) -> None:
        id = take_id(f"{end.what or 'message'} flow", "flow")
        flows.append(
            MessageFlow(id=id, source=source, target=target, name=end.what, message=end.message)
        )

    def pool_of(who: str) -> str:
        key = who.casefold()
        if key not in known:
            boxes[key] = Pool(id=take_id(f"{who} pool", "pool"), name=who)
            known[key] = boxes[key].id
        return known[key]

    for end in endpoints:
        if end.sends and end.who:
            ends = receivers.get(_message_key(end), [])
            for other in ends:
                add_flow(end.node, other.node, end)
                matched.add(other.node)
            if not ends:
                add_flow(end.node, pool_of(end.who), end)
    for end in endpoints:
        if not end.sends and end.who and end.node not in matched:
            add_flow(pool_of(end.who), end.node, end)
    return tuple(boxes.values()), tuple(flows)


def _message_key(end: Endpoint) -> tuple[str, str, str]:
    """Sender, receiver and name of a message."""
    ends = (end.owner, end.who) if end.sends else (end.who, end.owner)
    return ends[0].casefold(), ends[1].casefold(), end.what.casefold()
