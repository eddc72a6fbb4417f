"""Link events: pairs of throwing and catching links."""

from __future__ import annotations

from collections.abc import Iterable

from orgflow_ir.lazy_patterns import lazy_pattern
from orgflow_ir.model.elements import Event, EventDefinition, Node

_TAGS = lazy_pattern(r"<[^>]*>")


class Links:
    """The link events of one scope, paired (BPMN 2.0.2, 10.5.5 and table 10.98).

    A throw event leads to the catch event that its `<target>` names, or that names the throw event
    as a `<source>`; otherwise to the catch events with the same name. Each sequence of white space
    in a name counts as one space, because editors insert line breaks to make names fit. A link
    without a name has the name of its event.
    """

    def __init__(self, nodes: Iterable[Node]) -> None:
        events = [
            n
            for n in nodes
            if isinstance(n, Event) and n.position != "start" and _link_definitions(n)
        ]
        self.throws = tuple(e for e in events if e.position != "catch")
        self.catches = tuple(e for e in events if e.position == "catch")
        self._by_id = {d.id: e for e in self.catches for d in _link_definitions(e) if d.id}
        self._by_source: dict[str, list[Event]] = {}
        self._by_name: dict[str, list[Event]] = {}
        for event in self.catches:
            for definition in _link_definitions(event):
                for source in _named_ids(definition, "source"):
                    self._by_source.setdefault(source, []).append(event)
                self._by_name.setdefault(_link_name(definition, event), []).append(event)

    def caught(self, event: Event) -> list[list[Event]]:
        """For each link that an event throws, the possible catch events, in model order; a correct
        model has one. Empty for events that throw no link."""
        if event.position in ("start", "catch"):
            return []
        return [
            self._matching_catches(definition, event) for definition in _link_definitions(event)
        ]

    def lone(self) -> list[Event]:
        """Throw events without a catch event, then catch events without a throw event."""
        throws = [e for e in self.throws if not all(self.caught(e))]
        reached = {c.id for e in self.throws for targets in self.caught(e) for c in targets}
        return [*throws, *(e for e in self.catches if e.id not in reached)]

    def _matching_catches(self, definition: EventDefinition, throw: Event) -> list[Event]:
        targets = [self._by_id[t] for t in _named_ids(definition, "target") if t in self._by_id]
        return (
            targets
            or self._by_source.get(definition.id or "")
            or self._by_name.get(_link_name(definition, throw), [])
        )


def link_names(event: Event) -> list[str]:
    """Names of the links that an event throws or catches, white space folded."""
    return [_link_name(d, event) for d in _link_definitions(event)]


def _link_definitions(event: Event) -> list[EventDefinition]:
    return [d for d in event.definitions if d.kind == "link"]


def _link_name(definition: EventDefinition, event: Event) -> str:
    return " ".join(definition.name.split()) or " ".join(event.label.split())


def _named_ids(definition: EventDefinition, tag: str) -> list[str]:
    """Local ids in `<source>` or `<target>` elements, which the definition keeps as text."""
    return [
        _TAGS.sub("", value).strip().rpartition(":")[2]
        for key, value in definition.extra
        if key.endswith("}" + tag)
    ]
