"""The nodes and flows of one process, part or event, from their lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from orgflow.backends.outline.format.line_forms import Line, called_id, read_condition
from orgflow.frontends.outline.ids import Ids

from orgflow_ir.model import (
    CallActivity,
    DataFlow,
    DataObject,
    Event,
    EventDefinition,
    Flow,
    Gateway,
    GatewayKind,
    Lane,
    Loop,
    Node,
    SubProcess,
    Task,
)
from orgflow_ir.model.event_words import (
    Trigger,
    read_end,
    read_event,
    read_receive,
    read_send,
    read_start,
    read_wait,
)
from orgflow_ir.model.evidence import DOUBT, SENTENCES
from orgflow_ir.model.message_ends import CatalogNames, Endpoint, define_event
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import SourceLocation


class Open(NamedTuple):
    """A flow that has a source and no target yet."""

    source: str
    label: str = ""
    condition: str = ""
    default: bool = False
    line: Line | None = None
    place: int = 0
    """Its place among the flows of the scope; 0 for one behind all before it."""


class Shared:
    """What all scopes of a model share."""

    def __init__(self, ids: Ids, file: str) -> None:
        self.ids, self.file = ids, file
        self.messages = CatalogNames(ids.take_id, "message")
        self.errors = CatalogNames(ids.take_id, "error")


class ScopeBuilder:
    """Builds one scope.

    Args:
        shared: ids and catalogues of the model.
        owner: the participant.
        outer: the builder of the process, which holds the data objects.
    """

    def __init__(self, shared: Shared, owner: str, outer: ScopeBuilder | None = None) -> None:
        self._shared, self._owner = shared, owner
        self._process = outer or self
        self._nodes: dict[str, Node] = {}
        self._flows: list[Flow] = []
        self._places: list[int] = []
        self._arriving: dict[str, list[int]] = {}
        self._next_place = 1
        self._members: dict[str, list[str]] = {}
        self._performers: dict[str, str] = {}
        self._objects: dict[str, DataObject] = {}
        self._data_flows: list[DataFlow] = []
        self._joins: dict[str, str] = {}
        self._entries: dict[str, str] = {}
        """The node where the flow enters a line with an id."""
        self._jumps: list[tuple[list[Open], str]] = []
        self._exits: list[list[Open]] = []
        """Flows that leave the repetitions around the current line, innermost last."""
        self.endpoints: list[Endpoint] = []

    def content(self) -> dict[str, Any]:
        """The fields of a process or sub-process; flows are in the order of their lines."""
        order = sorted(range(len(self._flows)), key=self._places.__getitem__)
        flows = tuple(self._flows[number] for number in order)
        lanes = tuple(
            Lane(
                id=self._shared.ids.take_id(f"lane {key}", "lane"), name=self._performers[key],
                members=tuple(members), lane_set="lanes",
            )
            for key, members in self._members.items()
        )  # fmt: skip
        return {
            "nodes": tuple(self._nodes.values()), "flows": flows, "lanes": lanes,
            "data_objects": tuple(self._objects.values()), "data_flows": tuple(self._data_flows),
        }  # fmt: skip

    # -- scopes -------------------------------------------------------------------------------

    def build_process(self, lines: Sequence[Line]) -> None:
        """A process: its starts, its lines, an end, and events of the whole process."""
        starts = [line for line in lines if line.keyword == "start"]
        opens: list[Open] = []
        for line in starts:
            opens += self._build_lines(line.children, [Open(self._add_start(line))])
        if not starts:
            opens = [Open(self._add_node(Event(id=self._take_id("", "start"), position="start")))]
        acts = [line for line in lines if line.keyword not in ("start", "on")]
        self._finish_scope(self._build_lines(acts, opens))
        for line in lines:
            if line.keyword == "on":
                self._add_process_event(line)

    def build_part(self, lines: Sequence[Line], start: Event | None = None) -> None:
        """A part with a plain start, or an event with what happens after it."""
        first = start or Event(id=self._take_id("", "start"), position="start")
        self._finish_scope(self._build_lines(lines, [Open(self._add_node(first))]))

    def _finish_scope(self, opens: list[Open]) -> None:
        """End where nothing follows, and connect the jumps."""
        self._add_end(opens)
        for jump, target in self._jumps:
            node = self._entries.get(target)
            if node is not None:
                self._enter_node(jump, node, again=True)

    def _add_end(self, opens: list[Open]) -> None:
        if opens:
            end = self._add_node(Event(id=self._take_id("", "end"), position="end"))
            self._enter_node(opens, end)

    def _add_inner(self, line: Line, lines: Sequence[Line], **more: Any) -> str:
        """A sub-process with lines of its own."""
        start = more.pop("start", None)
        id = more.pop("id", "") or self._take_id(line.id or _line_label(line), "part")
        inner = ScopeBuilder(self._shared, self._owner, self._process)
        inner.build_part(lines, start)
        self.endpoints += inner.endpoints
        return self._add_node(
            SubProcess(id=id, **self._element_fields(line), **inner.content(), **more), line
        )

    def _add_process_event(self, line: Line) -> None:
        trigger = read_event(line.text) or Trigger("none")
        start = Event(
            id=self._take_id(line.id or _line_label(line, trigger), "start"), position="start",
            definitions=self._event_definitions(trigger), interrupting=line.qualifier != "also",
            **self._element_fields(line, trigger),
        )  # fmt: skip
        self._note_message(start.id, trigger, sends=False)
        plain = Line("part", line=line.line, column=line.column)
        id = self._take_id(f"{start.id} event", "event")
        self._add_inner(plain, line.children, flavour="event", start=start, id=id)

    # -- elements -----------------------------------------------------------------------------

    def _take_id(self, text: str, default: str) -> str:
        return self._shared.ids.take_id(text, default)

    def _element_fields(self, line: Line, trigger: Trigger | None = None) -> dict[str, Any]:
        """Fields that every element has: its label, its place, and what it cites."""
        extra = []
        if line.sentences:
            extra.append((SENTENCES, ",".join(map(str, line.sentences))))
        if line.doubt and line.keyword not in ("if", "again"):
            extra.append((DOUBT, "true"))
        return {
            "name": _line_label(line, trigger),
            "loc": self._locate_line(line),
            "extra": tuple(extra),
        }

    def _locate_line(self, line: Line) -> SourceLocation | None:
        if not line.line:
            return None
        return SourceLocation(file=self._shared.file, line=line.line, column=line.column)

    def _add_node(self, node: Node, line: Line | None = None) -> str:
        """Add a node, with the performer and the data of its line."""
        self._nodes[node.id] = node
        if line is not None:
            self._add_performer(node.id, line)
            self._add_data(node.id, line)
        return node.id

    def _add_performer(self, id: str, line: Line) -> None:
        if line.performer:
            key = line.performer.casefold().removeprefix("the ")
            self._performers.setdefault(key, line.performer)
            self._members.setdefault(key, []).append(id)

    def _add_data(self, id: str, line: Line) -> None:
        objects = self._process._objects
        for name in (*line.reads, *line.writes):
            key = name.casefold()
            if key not in objects:
                object_id = self._take_id(f"data {name}", "data")
                objects[key] = DataObject(id=object_id, name=name, data_kind="object")
        ends = [(objects[n.casefold()].id, id, "reads") for n in line.reads]
        ends += [(id, objects[n.casefold()].id, "writes") for n in line.writes]
        for source, target, verb in ends:
            flow = self._take_id(f"{id} {verb}", verb)
            self._data_flows.append(DataFlow(id=flow, source=source, target=target))

    def _event_definitions(self, trigger: Trigger) -> tuple[EventDefinition, ...]:
        return define_event(trigger, self._shared.messages, self._shared.errors)

    def _note_message(self, node: str, trigger: Trigger, *, sends: bool) -> None:
        """Remember who sends or receives a message."""
        if trigger.kind == "message":
            message = self._shared.messages.find_id(trigger.text)
            self.endpoints.append(
                Endpoint(node, self._owner, sends, trigger.text, trigger.who, message)
            )

    # -- flows --------------------------------------------------------------------------------

    def _add_flow(self, open_: Open, target: str) -> None:
        condition = read_condition(open_.condition) if open_.condition else None
        line = open_.line
        self._places.append(open_.place or self._take_place())
        self._arriving.setdefault(target, []).append(len(self._flows))
        more = self._element_fields(line._replace(text=open_.label, named=None)) if line else {}
        self._flows.append(
            Flow(
                id=self._take_id(f"{open_.source} to {target}", "flow"), source=open_.source,
                target=target, condition=condition,
                default=open_.default, **{"name": open_.label, **more},
            )
        )  # fmt: skip

    def _take_place(self) -> int:
        self._next_place += 1
        return self._next_place

    def _enter_node(self, opens: Sequence[Open], node: str, *, again: bool = False) -> None:
        """Connect flows with a node: several, or further ones, with an exclusive join before it."""
        if node in self._joins:
            node = self._joins[node]
        elif len(opens) > 1 or again:
            node = self._add_entry(node)
        for open_ in opens:
            self._add_flow(open_, node)

    def _add_entry(self, node: str) -> str:
        """An exclusive join before a node, which gets the flows into it."""
        join = self._add_gateway("exclusive")
        self._joins[node] = join
        arriving = self._arriving.pop(node, [])
        for number in arriving:
            self._flows[number] = self._flows[number].replace(target=join)
        self._arriving[join] = arriving
        self._add_flow(Open(join), node)
        return join

    def _add_gateway(self, kind: GatewayKind, line: Line | None = None, role: str = "join") -> str:
        """A gateway; one without a line joins."""
        if line is None:
            return self._add_node(Gateway(id=self._take_id(role, role), gateway_kind=kind))
        id = self._take_id(line.id or f"{role} {_line_label(line)}", role)
        return self._add_node(Gateway(id=id, gateway_kind=kind, **self._element_fields(line)), line)

    def _join_flows(self, opens: Sequence[Open], kind: GatewayKind = "exclusive") -> list[Open]:
        """One flow behind several."""
        if len(opens) < 2:
            return list(opens)
        join = self._add_gateway(kind)
        for open_ in opens:
            self._add_flow(open_, join)
        return [Open(join)]

    # -- lines --------------------------------------------------------------------------------

    def _build_lines(self, lines: Iterable[Line], opens: list[Open]) -> list[Open]:
        """Lines one after the other; gives the flows behind them."""
        for line in lines:
            if line.keyword != "on":
                opens = _BUILDERS[line.keyword](self, line, opens)
        return opens

    def _pass_through(self, node: str, line: Line, opens: list[Open]) -> list[Open]:
        self._enter_node(opens, node)
        if line.id:
            self._entries[line.id] = node
        return [Open(node)]

    def _build_step(self, line: Line, opens: list[Open]) -> list[Open]:
        id = self._take_id(line.id or _line_label(line), "step")
        node = self._add_node(
            Task(id=id, loop=_make_loop(line), **self._element_fields(line)), line
        )
        return self._build_events(line, node, self._pass_through(node, line, opens))

    def _build_call(self, line: Line, opens: list[Open]) -> list[Open]:
        id = self._take_id(line.id or f"call {_line_label(line)}", "call")
        call = CallActivity(
            id=id, called=called_id(line.text) or None, loop=_make_loop(line),
            **self._element_fields(line),
        )  # fmt: skip
        node = self._add_node(call, line)
        return self._build_events(line, node, self._pass_through(node, line, opens))

    def _build_part(self, line: Line, opens: list[Open]) -> list[Open]:
        inner = [child for child in line.children if child.keyword != "on"]
        node = self._add_inner(line, inner, loop=_make_loop(line))
        return self._build_events(line, node, self._pass_through(node, line, opens))

    def _build_message(self, line: Line, opens: list[Open]) -> list[Open]:
        """A message event; a task if it is repeated or events may stop it."""
        sends = line.keyword == "send"
        trigger = read_send(line.text) if sends else read_receive(line.text)
        id = self._take_id(line.id or f"{line.keyword} {_line_label(line, trigger)}", line.keyword)
        shared = self._element_fields(line, trigger)
        if line.children or line.each:
            message = self._shared.messages.find_id(trigger.text)
            element: Node = Task(
                id=id, task_type="send" if sends else "receive", message=message,
                loop=_make_loop(line), **shared,
            )  # fmt: skip
        else:
            position = "throw" if sends else "catch"
            element = Event.validate(
                {"id": id, "position": position, "definitions": self._event_definitions(trigger),
                 **shared}
            )  # fmt: skip
        node = self._add_node(element, line)
        self._note_message(node, trigger, sends=sends)
        return self._build_events(line, node, self._pass_through(node, line, opens))

    def _build_wait(self, line: Line, opens: list[Open]) -> list[Open]:
        return self._pass_through(self._add_catch(line, read_wait(line.text)), line, opens)

    def _add_catch(self, line: Line, trigger: Trigger) -> str:
        id = self._take_id(line.id or f"{line.keyword} {_line_label(line, trigger)}", line.keyword)
        event = Event(
            id=id, position="catch", definitions=self._event_definitions(trigger),
            **self._element_fields(line, trigger),
        )  # fmt: skip
        self._note_message(id, trigger, sends=False)
        return self._add_node(event, line)

    def _add_start(self, line: Line) -> str:
        trigger = read_start(line.text)
        start = Event(
            id=self._take_id(line.id or _line_label(line, trigger), "start"), position="start",
            definitions=self._event_definitions(trigger), **self._element_fields(line, trigger),
        )  # fmt: skip
        self._note_message(start.id, trigger, sends=False)
        return self._add_node(start, line)

    def _build_end(self, line: Line, opens: list[Open]) -> list[Open]:
        trigger = Trigger("none", line.text, label=line.text)
        definitions: tuple[EventDefinition, ...] = (EventDefinition(kind="terminate"),)
        if line.keyword == "end":
            trigger = read_end(line.text)
            definitions = self._event_definitions(trigger)
        id = self._take_id(line.id or _line_label(line, trigger), "end")
        end = Event(
            id=id, position="end", definitions=definitions, **self._element_fields(line, trigger)
        )
        self._pass_through(self._add_node(end, line), line, opens)
        return []

    def _build_leave(self, line: Line, opens: list[Open]) -> list[Open]:
        if self._exits:
            self._exits[-1] += _cite_line(opens, line)
        return []

    def _build_jump(self, line: Line, opens: list[Open]) -> list[Open]:
        self._jumps.append((_cite_line(opens, line), line.text))
        return []

    # -- blocks -------------------------------------------------------------------------------

    def _build_choice(self, line: Line, opens: list[Open]) -> list[Open]:
        """An exclusive or inclusive split and its join. A single `if:` may be skipped."""
        kind: GatewayKind = "exclusive" if line.keyword == "choose" else "inclusive"
        if any(
            child.doubt for child in line.children
        ):  # a doubt about a branch is one of the choice
            line = line._replace(doubt=True)
        split = self._add_gateway(kind, line, line.keyword)
        self._pass_through(split, line, opens)
        ends: list[Open] = []
        for child in line.children:
            default = child.keyword == "else"
            condition = "" if default else child.condition
            branch = Open(split, child.text, condition, default, child, self._take_place())
            ends += self._build_lines(child.children, [branch])
        if len(line.children) == 1:
            ends.append(Open(split, default=line.children[0].keyword == "if"))
        return self._join_flows(ends, kind)

    def _build_first(self, line: Line, opens: list[Open]) -> list[Open]:
        split = self._add_gateway("event", line, "first")
        self._pass_through(split, line, opens)
        ends: list[Open] = []
        for child in line.children:
            event = self._add_catch(child, read_event(child.text) or Trigger("timer"))
            self._enter_node([Open(split)], event)
            ends += self._build_lines(child.children, [Open(event)])
        return self._join_flows(ends)

    def _build_repeat(self, line: Line, opens: list[Open]) -> list[Open]:
        """A join, what is repeated, and a split that leads back or on."""
        entry = self._add_gateway("exclusive", None, "repeat")
        self._joins[entry] = entry
        self._pass_through(entry, line, opens)
        self._exits.append([])
        body = [child for child in line.children if child.keyword != "again"]
        again = next((child for child in line.children if child.keyword == "again"), None)
        behind = self._build_lines(body, [Open(entry)])
        exits: list[Open] = []
        if again is not None and behind and (again.text or again.condition):
            named = line._replace(doubt=line.doubt or again.doubt, id="", performer=line.performer)
            split = self._add_gateway("exclusive", named, "again")
            self._enter_node(behind, split)
            behind = [Open(split, again.text, again.condition, False, again, self._take_place())]
            exits = [Open(split, default=True, place=self._take_place())]
        if again is not None:
            behind = self._build_lines(again.children, behind)
        self._enter_node(behind, entry)
        return self._join_flows([*exits, *self._exits.pop()])

    def _build_together(self, line: Line, opens: list[Open]) -> list[Open]:
        """A parallel split and its join; a branch that others wait for goes to them as well."""
        split = self._add_gateway("parallel", line, "together")
        self._pass_through(split, line, opens)
        exits, self._exits = self._exits, []
        waiting = {id for child in line.children for id in child.after}
        built = _Branches(self, split, waiting)
        for child in line.children:
            built.add_branch(child)
        self._exits = exits
        return self._join_flows(built.connect_orders(), "parallel")

    def build_branch(self, line: Line, opens: list[Open]) -> list[Open]:
        """One branch of `together:`."""
        if line.keyword != "row":
            return self._build_lines([line], opens)
        first = [open_._replace(line=line) for open_ in opens]
        return self._build_lines(line.children, first)

    def open_branch(self, split: str) -> Open:
        """The flow to the next branch of a split."""
        return Open(split, place=self._take_place())

    def add_join(self) -> str:
        """A parallel join that flows are added to later."""
        return self._add_gateway("parallel")

    def add_split(self) -> str:
        """A parallel split that flows are added to later."""
        return self._add_gateway("parallel", None, "fork")

    def link_nodes(self, open_: Open, target: str) -> None:
        """Add one flow."""
        self._add_flow(open_, target)

    # -- events at a line ---------------------------------------------------------------------

    def _build_events(self, line: Line, host: str, opens: list[Open]) -> list[Open]:
        """The events at a line: behind one that stops it, the flow goes on behind the line."""
        ends = list(opens)
        for child in line.children:
            if child.keyword == "on":
                ends += self._build_event(child, host)
        return ends if len(ends) < 2 else self._join_flows(ends)

    def _build_event(self, line: Line, host: str) -> list[Open]:
        trigger = read_event(line.text) or Trigger("timer")
        id = self._take_id(line.id or _line_label(line, trigger), "event")
        stops = line.qualifier != "also"
        event = Event(
            id=id, position="boundary", attached_to=host, interrupting=stops,
            definitions=self._event_definitions(trigger), **self._element_fields(line, trigger),
        )  # fmt: skip
        self._note_message(id, trigger, sends=False)
        self._add_node(event, line)
        exits = self._exits
        if not stops:
            self._exits = []
        opens = self._build_lines(line.children, [Open(id)])
        self._exits = exits
        if stops:
            return opens
        self._add_end(opens)
        return []


class _Branches:
    """The branches of one `together:` and the order between them."""

    def __init__(self, builder: ScopeBuilder, split: str, waiting: set[str]) -> None:
        self._builder, self._split, self._waiting = builder, split, waiting
        self._ends: list[Open] = []
        self._forks: dict[str, str] = {}
        self._orders: list[tuple[str, str]] = []

    def add_branch(self, line: Line) -> None:
        """Build a branch; one with `after` begins at a join that waits for the others."""
        opens = [self._builder.open_branch(self._split)]
        if line.after:
            join = self._builder.add_join()
            self._orders += [(id, join) for id in line.after]
            opens = [Open(join)]
        ends = self._builder.build_branch(line, opens)
        if line.id not in self._waiting or not line.id:
            self._ends += ends
            return
        fork = self._builder.add_split()
        self._forks[line.id] = fork
        for end in ends:
            self._builder.link_nodes(end, fork)

    def connect_orders(self) -> list[Open]:
        """Connect what waits with what it waits for; gives the flows behind all branches."""
        for id, join in self._orders:
            if id in self._forks:
                self._builder.link_nodes(Open(self._forks[id]), join)
        return self._ends


def _line_label(line: Line, trigger: Trigger | None = None) -> str:
    if line.named is not None:
        return line.named
    return trigger.label if trigger is not None else line.text


def _cite_line(opens: list[Open], line: Line) -> list[Open]:
    """Flows that lead away at a line, with the sentences that it cites."""
    cited = line._replace(text="")
    return [
        open_ if open_.line or not line.sentences else open_._replace(line=cited) for open_ in opens
    ]


def _make_loop(line: Line) -> Loop | None:
    if not line.each:
        return None
    return Loop(kind="multi-instance", sequential=not line.at_once, item=line.each)


_BUILDERS = {
    "step": ScopeBuilder._build_step,
    "call": ScopeBuilder._build_call,
    "part": ScopeBuilder._build_part,
    "each": ScopeBuilder._build_part,
    "receive": ScopeBuilder._build_message,
    "send": ScopeBuilder._build_message,
    "wait": ScopeBuilder._build_wait,
    "end": ScopeBuilder._build_end,
    "stop": ScopeBuilder._build_end,
    "leave": ScopeBuilder._build_leave,
    "go to": ScopeBuilder._build_jump,
    "choose": ScopeBuilder._build_choice,
    "some": ScopeBuilder._build_choice,
    "first": ScopeBuilder._build_first,
    "repeat": ScopeBuilder._build_repeat,
    "together": ScopeBuilder._build_together,
    "row": ScopeBuilder.build_branch,
}
"""The builder of each kind of line."""
