"""Triggers of events that only the tool of one vendor has, kept as extension data: the event
registry and the variable listeners of Flowable."""

from __future__ import annotations

from orgflow_ir.lazy_patterns import lazy_pattern
from orgflow_ir.model.elements import Event

_TRIGGERS = ("eventType", "eventKey", "channelKey")
"""Names of extension elements that define the event of a registry."""

_CONTENT = lazy_pattern(r"<([\w.-]+:[\w.-]+|[\w.-]+)[^>]*?(?:/>|>\s*([^<]*?)\s*<)")


def vendor_trigger(event: Event) -> str:
    """The trigger of an event without a trigger of BPMN, as its vendor writes it, such as
    `flowable:eventType` with its value; empty if there is none."""
    if event.definitions:
        return ""
    for key, text in event.extra:
        if _is_trigger(key):
            match = _CONTENT.match(text)
            name, value = (match[1], match[2]) if match is not None else (_local_name(key), "")
            return f"`{name}` `{value}`" if value else f"`{name}`"
    return ""


def without_vendor_trigger(event: Event) -> Event:
    """The event without its triggers of a vendor."""
    return event.replace(extra=tuple(pair for pair in event.extra if not _is_trigger(pair[0])))


def _is_trigger(key: str) -> bool:
    return key.startswith("{") and (
        _local_name(key) in _TRIGGERS or _local_name(key).endswith("EventDefinition")
    )


def _local_name(key: str) -> str:
    return key.rpartition("}")[2]
