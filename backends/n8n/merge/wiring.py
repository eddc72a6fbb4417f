"""Three-way merge of connections.

All connections are compared under the keys of trios and the port numbers of the final nodes. Nodes
that a person inserted into a connection are a *segment*: it moves with the end of the connection
that the model still has.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Final

from orgflow.backends.n8n.merge.merge_outcome import MergeChange, MergeConflict

from orgflow_ir.model.records import NamedTuple, dataclass

GONE: Final = 1000
"""Port numbers from here on belong to branches that the final node does not have."""


class Link(NamedTuple):
    """A connection between nodes by their keys, with the port numbers of the final nodes."""

    kind: str
    source: str
    output: int
    target: str
    input: int

    @property
    def start(self) -> tuple[str, str, int]:
        """The output port."""
        return self.kind, self.source, self.output

    @property
    def end(self) -> tuple[str, str, int]:
        """The input port."""
        return self.kind, self.target, self.input


class Segment(NamedTuple):
    """Connected nodes that a person added, and their connections.

    Attributes:
        nodes: in the order of the file.
        inner: connections between them.
        into, out: connections from and to other nodes.
    """

    nodes: tuple[str, ...]
    inner: tuple[Link, ...]
    into: tuple[Link, ...]
    out: tuple[Link, ...]


@dataclass
class WiringMerge:
    """Merges the wires.

    Args: base, theirs, ours: the connections of each version, in the order of the file. alive: keys
        of the nodes that the merged workflow has. added: those that only the person added, in the
        order of the file. deleted: those that the person deleted. name_of: the readable name of a
        node.
    """

    base: list[Link]
    theirs: list[Link]
    ours: list[Link]
    alive: frozenset[str]
    added: tuple[str, ...]
    deleted: frozenset[str]
    name_of: Callable[[str], str]
    changes: list[MergeChange] = field(default_factory=list)
    conflicts: list[MergeConflict] = field(default_factory=list)

    def run(self) -> list[Link]:
        """The connections of the merged workflow: ours in their order, then those that the person
        added."""
        before, mine, its = dict.fromkeys(self.base), dict.fromkeys(self.ours), set(self.theirs)
        self.before = before
        self.gone = [w for w in before if w not in its]
        self.come = [w for w in dict.fromkeys(self.theirs) if w not in before]
        self.result = {w: None for w in mine if self._wire_stands(w)}
        self._into_deleted()
        self.replaced: set[Link] = set()
        for segment in self._list_segments():
            self._put_in(segment)
        self._move_wires()
        self._report_new_order()
        return [w for w in self.result if self._wire_stands(w)]

    def _report_new_order(self) -> None:
        """Steps that both versions of the model have, and that follow other steps now. What only
        leads around removed nodes is a part of their removal."""
        before = {(w.source, w.target) for w in self.base}
        now = {(w.source, w.target) for w in self.ours}
        there = {key for pair in before for key in pair} & {key for pair in now for key in pair}
        removed: dict[str, list[str]] = defaultdict(list)
        for source, target in before:
            removed[source].append(target)
        for wire in dict.fromkeys(self.ours):
            pair = wire.source, wire.target
            if pair in before or not there.issuperset(pair):
                continue
            todo, reached = list(removed[wire.source]), {wire.source}
            while todo:
                key = todo.pop()
                if key not in there and key not in reached:
                    reached.add(key)
                    todo += removed[key]
                elif key == wire.target:
                    break
            else:
                source, target = self.name_of(wire.source), self.name_of(wire.target)
                self.changes.append(MergeChange("model", f"`{target}` follows `{source}` now"))

    def _wire_stands(self, wire: Link) -> bool:
        return wire.target in self.alive and self._has_port(wire)

    def _has_port(self, wire: Link) -> bool:
        """Whether the port that a wire leaves by is there."""
        return wire.source in self.alive and wire.output < GONE

    # -- nodes that the person deleted -------------------------------------------------------------

    def _into_deleted(self) -> None:
        for wire in self.ours:
            for key, other in ((wire.source, wire.target), (wire.target, wire.source)):
                if key in self.deleted and wire not in self.before and other in self.alive:
                    self.conflicts.append(
                        MergeConflict(
                            self.name_of(key),
                            "the node was deleted",
                            f"it is now connected to `{self.name_of(other)}`",
                            "restore the node, or remove the element from the model",
                        )
                    )

    # -- nodes that the person added ---------------------------------------------------------------

    def _list_segments(self) -> list[Segment]:
        added = set(self.added)
        near: dict[str, list[str]] = defaultdict(list)
        for wire in self.theirs:
            if wire.source in added and wire.target in added:
                near[wire.source].append(wire.target)
                near[wire.target].append(wire.source)
        segments: list[Segment] = []
        seen: set[str] = set()
        for first in self.added:
            if first in seen:
                continue
            group, stack = {first}, [first]
            while stack:
                for other in near[stack.pop()]:
                    if other not in group:
                        group.add(other)
                        stack.append(other)
            seen |= group
            touching = [w for w in self.come if w.source in group or w.target in group]
            segments.append(
                Segment(
                    tuple(key for key in self.added if key in group),
                    tuple(w for w in touching if w.source in group and w.target in group),
                    tuple(w for w in touching if w.source not in group),
                    tuple(w for w in touching if w.target not in group),
                )
            )
        return segments

    def _put_in(self, segment: Segment) -> None:
        """Wire a segment; the wires that it stands in are `replaced`."""
        self.result.update(dict.fromkeys(segment.inner))
        into, out = dict.fromkeys(segment.into), dict.fromkeys(segment.out)
        for wire in self.gone:
            entries = [w for w in segment.into if w.start == wire.start]
            exits = [w for w in segment.out if w.end == wire.end]
            if not entries or not exits:
                continue
            self.replaced.add(wire)
            for link in (*entries, *exits):
                (into if link in into else out).pop(link, None)
            if wire in self.result:
                del self.result[wire]
                self._add_wires((*entries, *exits))
            else:
                self._follow_wire(segment, wire, entries, exits)
        for link in (*into, *out):
            other = link.source if link in into else link.target
            if self._wire_stands(link):
                self._add_wires((link,))
            else:
                self._report_lost(segment, f"is connected with `{self.name_of(other)}`", (other,))

    def _add_wires(self, wires: Iterable[Link]) -> None:
        self.result.update({w: None for w in wires if self._wire_stands(w)})

    def _follow_wire(
        self, segment: Segment, wire: Link, entries: list[Link], exits: list[Link]
    ) -> None:
        """The wire that the segment was put into is none of the model any more."""
        after = [w for w in self.result if w.start == wire.start and w not in self.before]
        ahead = [w for w in self.result if w.end == wire.end and w not in self.before]
        # What led to a step that was removed leads to what came behind it, at another input of it.
        led = {w.start for w in self.before if w.target == wire.source}
        past = [
            w for w in self.result
            if w.target == wire.target and w.start in led and w not in self.before
        ]  # fmt: skip
        names = self._segment_names(segment)
        if self._has_port(wire) and after:
            for new in after:
                del self.result[new]
                self._add_wires(w._replace(target=new.target, input=new.input) for w in exits)
            self._add_wires(entries)
            beside, place = wire.source, "after"
        elif wire.target in self.alive and ahead:
            for new in ahead:
                del self.result[new]
                self._add_wires(w._replace(source=new.source, output=new.output) for w in entries)
            self._add_wires(exits)
            beside, place = wire.target, "before"
        elif wire.source not in self.alive and past:
            for new in past:
                del self.result[new]
                self._add_wires(w._replace(source=new.source, output=new.output) for w in entries)
                self._add_wires(w._replace(input=new.input) for w in exits)
            beside, place = wire.target, "before"
        elif self._has_port(wire) and not any(w.start == wire.start for w in self.result):
            self._add_wires(entries)
            beside, place = wire.source, "after"
        else:
            self._report_lost(segment, self._between_text(wire), (wire.source, wire.target))
            return
        text = f"{names} stays {place} `{self.name_of(beside)}`, where the model has changed"
        self.changes.append(MergeChange("workflow", text, notable=True))

    def _between_text(self, wire: Link) -> str:
        return f"is between `{self.name_of(wire.source)}` and `{self.name_of(wire.target)}`"

    def _segment_names(self, segment: Segment) -> str:
        return ", ".join(f"`{self.name_of(key)}`" for key in segment.nodes[:3])

    def _report_lost(self, segment: Segment, where: str, ends: tuple[str, ...]) -> None:
        gone = [f"`{self.name_of(key)}`" for key in ends if key not in self.alive]
        reason = f"{' and '.join(gone)} was removed" if gone else "it no longer has this connection"
        self.conflicts.append(
            MergeConflict(
                self.name_of(segment.nodes[0]),
                f"the added node {where}",
                reason,
                "in the workflow, move the node to its new position, or delete it",
            )
        )

    # -- wires that the person moved -------------------------------------------------------------

    def _move_wires(self) -> None:
        """Wires between nodes of the model that the person took away or drew."""
        added, mine = set(self.added), set(self.ours)
        own = _by_start(w for w in self.come if not {w.source, w.target} & added)
        lost = _by_start(
            w for w in self.gone if w not in self.replaced and w.target not in self.deleted
        )
        for start in dict.fromkeys((*lost, *own)):
            drawn, taken = own.get(start, []), lost.get(start, [])
            reported = any(w.start == start for w in self.replaced)
            new = {w for w in mine if w.start == start and w not in self.before and not reported}
            old = {w for w in self.before if w.start == start and w not in mine} - self.replaced
            if start[1] not in self.alive:
                continue  # the node is gone, or was deleted, with all its wires
            if old >= set(taken) and set(drawn) <= new:
                continue  # the model did the same
            dead = [w.target for w in drawn if w.target not in self.alive]
            if dead or new or old or start[2] >= GONE:
                self._report_rewired(start, drawn, new, dead)
                continue
            for wire in taken:
                self.result.pop(wire, None)
            self._add_wires(drawn)
            text = f"the connections from `{self.name_of(start[1])}`"
            self.changes.append(MergeChange("workflow", text))

    def _report_rewired(
        self,
        start: tuple[str, str, int],
        drawn: list[Link],
        new: set[Link],
        dead: list[str],
    ) -> None:
        def name_some(keys: Iterable[str]) -> str:
            names = sorted({f"`{self.name_of(key)}`" for key in keys})
            return ", ".join(names) or "nothing"

        model = f"it now leads to {name_some(w.target for w in self.ours if w.start == start)}"
        if dead and not new:
            model = f"{name_some(dead)} was removed"
        self.conflicts.append(
            MergeConflict(
                self.name_of(start[1]),
                f"its connection was moved to {name_some(w.target for w in drawn)}",
                model,
                "add the connection of the model to the workflow, then merge again",
            )
        )


def _by_start(wires: Iterable[Link]) -> dict[tuple[str, str, int], list[Link]]:
    links: dict[tuple[str, str, int], list[Link]] = defaultdict(list)
    for wire in wires:
        links[wire.start].append(wire)
    return links
