"""Random models for outlines, from a seed: blocks with events, parts, pools, data, and jumps; built
of IR values alone, so that nothing of a reader or a printer of outlines is in them.

A block of parallel branches has no end inside, so every model is sound; jumps are between exclusive
gateways only.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from orgflow_ir.model import CallActivity as Call
from orgflow_ir.model import (
    Catalog,
    CatalogEntry,
    DataFlow,
    DataObject,
    Event,
    Expression,
    Flow,
    Gateway,
    Lane,
    Loop,
    MessageFlow,
    Model,
    Node,
    Pool,
    Process,
    SubProcess,
    Task,
)

ODD_LABELS = (
    "if: x", "send", "end", "again if late", "each day", "reads mail", "s1", "#5", "- dash",
    "1. first", "call: me", "repeat", "a [b]", "wait: 3", "x: y", "named", "by hand", "until done",
    "row", "receive goods from X", "after lunch", "together?", "Ümläut ß", "(paren)", "go to: #x",
)  # fmt: skip
TIMES = (
    ("duration", "P3D"), ("duration", "3 days"), ("duration", "PT2H"), ("date", "2026-05-01"),
    ("date", "1 May"), ("cycle", "R3/PT10M"), ("cycle", "every Monday"), ("cycle", "0 8 * * 1"),
    ("duration", "${limit}"), ("cycle", "noon"),
)  # fmt: skip


@dataclass
class Scope:
    """The nodes and flows of one process or part."""

    nodes: list[Node] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)


class RandomModel:
    """One random model.

    Args:
        seed: what decides on it.
        size: the number of blocks of each process, about.
    """

    def __init__(self, seed: int, size: int = 9) -> None:
        self.rng = random.Random(seed)
        self._size = size
        self._count = 0
        self._messages: dict[str, CatalogEntry] = {}
        self._errors: dict[str, CatalogEntry] = {}
        self._links: list[DataFlow] = []
        self._members: dict[str, list[str]] = {}
        self._sends: list[str] = []
        self._receives: list[str] = []
        self._in_part = False

    # -- values -------------------------------------------------------------------------------

    def _id(self, letter: str) -> str:
        self._count += 1
        return f"{letter}{self._count}"

    def _label(self, verb: str) -> str:
        if self.rng.random() < 0.12:
            return f"{self.rng.choice(ODD_LABELS)}"
        return f"{verb} {self._count}"

    def _put(self, scope: Scope, node: Node) -> str:
        scope.nodes.append(node)
        return node.id

    def _flow(self, scope: Scope, source: str, target: str, **more: Any) -> None:
        scope.flows.append(Flow(id=self._id("f"), source=source, target=target, **more))

    def _loop(self) -> Loop | None:
        if self.rng.random() < 0.9:
            return None
        return Loop(kind="multi-instance", sequential=self.rng.random() < 0.5,
                    item=self.rng.choice(("part", "damaged part", "bidder, any")))  # fmt: skip

    def _definition(self, kinds: tuple[str, ...]) -> dict[str, Any]:
        kind = self.rng.choice(kinds)
        if kind == "timer":
            timer, text = self.rng.choice(TIMES)
            return {"kind": "timer", "timer": timer, "expression": {"text": text}}
        name = self.rng.choice(("order", "claim from hell", "notice to all", "error log", "mail"))
        entries = self._messages if kind == "message" else self._errors
        entry = entries.setdefault(name, CatalogEntry(id=f"{kind}_{len(entries)}", name=name))
        if kind == "message" and self.rng.random() < 0.3:
            return {"kind": "message"}
        return {"kind": kind, "ref": entry.id}

    def _event(self, scope: Scope, position: str, kinds: tuple[str, ...], **more: Any) -> str:
        name = "" if self.rng.random() < 0.3 else self._label(position)
        definitions = [self._definition(kinds)] if kinds else []
        if not kinds and position not in ("start", "end"):
            name = ""
        if definitions and definitions[0]["kind"] == "message" and "ref" not in definitions[0]:
            name = name or f"message {self._count}"
        event = Event.validate(
            {"id": self._id("e"), "name": name, "position": position,
             "definitions": definitions, **more}
        )  # fmt: skip
        return self._put(scope, event)

    def _gateway(self, scope: Scope, kind: str, *, named: bool = False) -> str:
        name = self._label("question") if named and self.rng.random() < 0.5 else ""
        made = Gateway.validate({"id": self._id("g"), "gateway_kind": kind, "name": name})
        return self._put(scope, made)

    # -- blocks: each has one node that it begins with, and one that it ends with --------------

    def block(self, scope: Scope, size: int, *, ends: bool, depth: int = 0) -> tuple[str, str]:
        """A block of about `size` nodes. `ends`: whether a branch in it may end the scope."""
        if size <= 1 or depth > 4:
            return self._single(scope)
        kinds = ["sequence", "sequence", "choose", "together", "some", "repeat", "part", "first",
                 "host", "jumble", "while"]  # fmt: skip
        kind = self.rng.choice(kinds)
        return getattr(self, f"_{kind}")(scope, size, ends, depth)

    def _single(self, scope: Scope) -> tuple[str, str]:
        dice = self.rng.random()
        if dice < 0.55:
            id = self._put(scope, Task(id=self._id("t"), name=self._label("do"), loop=self._loop()))
            self._add_context(id)
        elif dice < 0.62:
            id = self._put(scope, Call(id=self._id("c"), name=self._label("call"), called="sub",
                                       loop=self._loop()))  # fmt: skip
        elif dice < 0.75:
            id = self._event(scope, "catch", ("timer",))
        elif dice < 0.87:
            id = self._event(scope, "catch", ("message",))
            if not self._in_part:
                self._receives.append(id)
        else:
            id = self._event(scope, "throw", ("message",))
            if not self._in_part:
                self._sends.append(id)
        return id, id

    def _add_context(self, id: str) -> None:
        if self.rng.random() < 0.4 and not self._in_part:
            self._members.setdefault(self.rng.choice(("clerk", "each boss", "s3")), []).append(id)
        if self.rng.random() < 0.2:
            data = self.rng.choice(("d0", "d1"))
            ends = (data, id) if self.rng.random() < 0.5 else (id, data)
            self._links.append(DataFlow(id=self._id("l"), source=ends[0], target=ends[1]))

    def _sequence(self, scope: Scope, size: int, ends: bool, depth: int) -> tuple[str, str]:
        first, last = self.block(scope, size // 2, ends=ends, depth=depth)
        then, end = self.block(scope, size - size // 2, ends=ends, depth=depth)
        self._flow(scope, last, then)
        return first, end

    def _branches(self, scope: Scope, kind: str, size: int, ends: bool, depth: int,
                  join: str) -> tuple[str, str]:  # fmt: skip
        split, back = self._gateway(scope, kind, named=True), self._gateway(scope, join)
        count = self.rng.randint(2, 3)
        default = self.rng.randrange(count * 2) if kind != "parallel" else -1
        for number in range(count):
            more: dict[str, Any] = {}
            if kind != "parallel":
                more["name"] = self.rng.choice((f"way {number}", f"way {number} [odd", ""))
                more["default"] = number == default
                if not more["default"] and self.rng.random() < 0.3:
                    text = self.rng.choice(("amount > 10", 'name = "a]b"', "${x || y}"))
                    more["condition"] = Expression(text=text, language=None if "$" in text
                                                   else "feel")  # fmt: skip
            if ends and number and self.rng.random() < 0.25:
                self._ending(scope, split, size // count, depth, more)
            elif kind != "parallel" and self.rng.random() < 0.25:
                self._flow(scope, split, back, **more)
            else:
                first, last = self.block(scope, size // count, ends=ends, depth=depth + 1)
                self._flow(scope, split, first, **more)
                self._flow(scope, last, back)
        return split, back

    def _ending(
        self, scope: Scope, split: str, size: int, depth: int, more: dict[str, Any]
    ) -> None:
        kinds: tuple[str, ...] = ("error",) if self.rng.random() < 0.1 else ()
        end = self._event(scope, "end", kinds)
        if size > 1:
            first, last = self.block(scope, size - 1, ends=True, depth=depth + 1)
            self._flow(scope, split, first, **more)
            self._flow(scope, last, end)
        else:
            self._flow(scope, split, end, **more)

    def _choose(self, scope: Scope, size: int, ends: bool, depth: int) -> tuple[str, str]:
        return self._branches(scope, "exclusive", size, ends, depth, "exclusive")

    def _together(self, scope: Scope, size: int, ends: bool, depth: int) -> tuple[str, str]:
        del ends
        return self._branches(scope, "parallel", min(size, 6), False, depth + 1, "parallel")

    def _some(self, scope: Scope, size: int, ends: bool, depth: int) -> tuple[str, str]:
        del ends
        return self._branches(scope, "inclusive", min(size, 4), False, depth + 2, "inclusive")

    def _first(self, scope: Scope, size: int, ends: bool, depth: int) -> tuple[str, str]:
        split, back = self._gateway(scope, "event"), self._gateway(scope, "exclusive")
        for _ in range(2):
            event = self._event(scope, "catch", ("timer", "message"))
            self._flow(scope, split, event)
            if self.rng.random() < 0.5:
                first, last = self.block(scope, size // 2, ends=ends, depth=depth + 1)
                self._flow(scope, event, first)
                event = last
            self._flow(scope, event, back)
        return split, back

    def _repeat(self, scope: Scope, size: int, ends: bool, depth: int) -> tuple[str, str]:
        entry, leave = (
            self._gateway(scope, "exclusive"),
            self._gateway(scope, "exclusive", named=True),
        )
        first, last = self.block(scope, size - 2, ends=ends, depth=depth + 1)
        self._flow(scope, entry, first)
        self._flow(scope, last, leave)
        again = {"name": self.rng.choice(("again", ""))}
        if self.rng.random() < 0.5:
            redo, end = self.block(scope, 1, ends=False, depth=depth + 1)
            self._flow(scope, leave, redo, **again)
            self._flow(scope, end, entry)
        else:
            self._flow(scope, leave, entry, **again)
        behind = self._gateway(scope, "exclusive")
        exit_ = self.rng.choice(
            ({"default": True}, {"name": "done"}, {"name": "ok", "default": True})
        )
        self._flow(scope, leave, behind, **exit_)
        return entry, behind

    def _while(self, scope: Scope, size: int, ends: bool, depth: int) -> tuple[str, str]:
        test = self._gateway(scope, "exclusive", named=True)
        first, last = self.block(scope, size - 1, ends=ends, depth=depth + 1)
        self._flow(scope, test, first, name="more")
        self._flow(scope, last, test)
        behind = self._gateway(scope, "exclusive")
        self._flow(scope, test, behind, default=True)
        return test, behind

    def _part(self, scope: Scope, size: int, ends: bool, depth: int) -> tuple[str, str]:
        del ends
        inner = Scope()
        around, self._in_part = self._in_part, True
        start = self._event(inner, "start", ())
        first, last = self.block(inner, size, ends=True, depth=depth + 1)
        end = self._event(inner, "end", ())
        self._flow(inner, start, first)
        self._flow(inner, last, end)
        self._in_part = around
        part = SubProcess(
            id=self._id("p"), name=self.rng.choice((f"part {self._count}", "")),
            nodes=tuple(inner.nodes), flows=tuple(inner.flows), loop=self._loop(),
        )  # fmt: skip
        self._put(scope, part)
        if self.rng.random() < 0.5:
            return self._add_events(scope, part.id, size // 2, depth)
        return part.id, part.id

    def _host(self, scope: Scope, size: int, ends: bool, depth: int) -> tuple[str, str]:
        del ends
        kind = self.rng.choice(("abstract", "abstract", "send", "receive"))
        task = Task.validate({"id": self._id("t"), "name": self._label("do"), "task_type": kind})
        self._put(scope, task)
        return self._add_events(scope, task.id, size - 1, depth)

    def _add_events(self, scope: Scope, host: str, size: int, depth: int) -> tuple[str, str]:
        """Events at a step: what they lead to joins behind it, or ends."""
        behind = self._gateway(scope, "exclusive")
        self._flow(scope, host, behind)
        parallel = depth > 2  # an event beside a step in a loop would pile up
        for _ in range(self.rng.randint(1, 2)):
            stops = parallel or self.rng.random() < 0.6
            kinds = ("timer", "message", "error") if stops else ("timer", "message")
            event = self._event(scope, "boundary", kinds, attached_to=host, interrupting=stops)
            last = event
            if size > 1 or self.rng.random() < 0.7:
                first, last = self.block(scope, max(1, size // 2), ends=False, depth=depth + 2)
                self._flow(scope, event, first)
            if stops:
                self._flow(scope, last, behind)
            else:
                self._flow(scope, last, self._event(scope, "end", ()))
        return host, behind

    def _jumble(self, scope: Scope, size: int, ends: bool, depth: int) -> tuple[str, str]:
        """Exclusive gateways with any flows between them; the last one can always be reached."""
        del ends
        entry = self._gateway(scope, "exclusive")
        places = [entry]
        for number in range(min(size, 4)):
            first, last = self._single(scope)
            place = self._gateway(scope, "exclusive")
            self._flow(scope, places[-1], first, name=f"on {number}")
            self._flow(scope, last, place)
            places.append(place)
        for number in range(self.rng.randint(1, 3)):
            source, target = self.rng.choice(places[:-1]), self.rng.choice(places[1:])
            self._flow(scope, source, target, name=f"jump {number}")
        if self.rng.random() < 0.5 and len(places) > 2:
            self._flow(scope, places[-2], self.rng.choice(places[1:-1]), name="back")
        exit_ = self._gateway(scope, "exclusive")
        self._flow(scope, places[-1], exit_)
        del depth
        return entry, exit_

    # -- the model ----------------------------------------------------------------------------

    def _process(self, number: int, count: int) -> Process:
        scope = Scope()
        self._links, self._members, self._sends, self._receives = [], {}, [], []
        first, last = self.block(scope, self._size, ends=True)
        kinds: tuple[str, ...] = self.rng.choice(((), (), ("timer",), ("message",)))
        self._flow(scope, self._event(scope, "start", kinds), first)
        if self.rng.random() < 0.15:
            together = self._gateway(scope, "exclusive")
            scope.flows[-1] = scope.flows[-1].replace(target=together)
            self._flow(scope, together, first)
            first = together
            self._flow(scope, self._event(scope, "start", ("timer", "message")), first)
        end = Event.validate(
            {
                "id": self._id("e"),
                "name": self._label("end"),
                "position": "end",
                "definitions": self.rng.choice(([], [], [{"kind": "terminate"}])),
            }
        )
        self._flow(scope, last, self._put(scope, end))
        if self.rng.random() < 0.2:
            self._handler(scope)
        lanes = tuple(
            Lane(id=self._id("lane"), name=name, members=tuple(members), lane_set="lanes")
            for name, members in self._members.items()
        )  # fmt: skip
        objects = tuple(
            DataObject(id=f"{data}_{number}", name=name, data_kind="object")
            for data, name in (("d0", "claim file"), ("d1", "report, final"))
        )  # fmt: skip
        mapped = {"d0": f"d0_{number}", "d1": f"d1_{number}"}
        return Process(
            id=f"process_{number}", name=f"team {number}" if count > 1 else "",
            nodes=tuple(scope.nodes), flows=tuple(scope.flows), lanes=lanes,
            data_objects=objects,
        ).replace(**_place_links(scope, self._links, mapped))  # fmt: skip

    def _handler(self, scope: Scope) -> None:
        """An event of the whole process that stops it."""
        inner = Scope()
        around, self._in_part = self._in_part, True
        start = self._event(inner, "start", ("message", "error"))
        first, last = self.block(inner, 2, ends=False, depth=3)
        self._flow(inner, start, first)
        self._flow(inner, last, self._event(inner, "end", ()))
        self._in_part = around
        self._put(scope, SubProcess(id=self._id("h"), flavour="event", nodes=tuple(inner.nodes),
                                    flows=tuple(inner.flows)))  # fmt: skip

    def model(self) -> Model:
        """The model: one process, or two that exchange messages, and an outside participant."""
        count = 2 if self.rng.random() < 0.3 else 1
        processes, ends = [], []
        for number in range(count):
            processes.append(self._process(number, count))
            ends.append((self._sends, self._receives))
        pools = [Pool(id=f"pool_{n}", name=f"team {n}", process=f"process_{n}")
                 for n in range(count) if count > 1]  # fmt: skip
        flows: list[MessageFlow] = []
        if count > 1:
            for source, target in zip(ends[0][0], ends[1][1], strict=False):
                flows.append(
                    MessageFlow(
                        id=self._id("m"),
                        source=source,
                        target=target,
                        name=self.rng.choice(("", "mail", "goods to sell")),
                    )
                )
        box = Pool(id="box", name=self.rng.choice(("customer", "friend from school")))
        for sends, receives in ends:
            done = {end for flow in flows for end in (flow.source, flow.target)}
            for send in [s for s in sends if s not in done][:1]:
                flows.append(MessageFlow(id=self._id("m"), source=send, target="box"))
            for receive in [r for r in receives if r not in done][:1]:
                flows.append(MessageFlow(id=self._id("m"), source="box", target=receive))
        boxes = [box] if any("box" in (f.source, f.target) for f in flows) else []
        return Model(
            id="model", source="random.bpmn", processes=tuple(processes),
            pools=(*pools, *boxes), message_flows=tuple(flows),
            catalog=Catalog(messages=tuple(self._messages.values()),
                            errors=tuple(self._errors.values())),
        )  # fmt: skip


def _place_links(scope: Scope, links: list[DataFlow], mapped: dict[str, str]) -> dict[str, Any]:
    """The data associations of a process, each in the scope of its node."""

    def placed(nodes: tuple[Node, ...]) -> tuple[tuple[Node, ...], tuple[DataFlow, ...]]:
        done = []
        for node in nodes:
            if isinstance(node, SubProcess):
                inner, flows = placed(node.nodes)
                node = node.replace(nodes=inner, data_flows=flows)
            done.append(node)
        ids = {node.id for node in nodes}
        here = tuple(
            link.replace(
                source=mapped.get(link.source, link.source),
                target=mapped.get(link.target, link.target),
            )
            for link in links if {link.source, link.target} & ids
        )  # fmt: skip
        return tuple(done), here

    nodes, flows = placed(tuple(scope.nodes))
    return {"nodes": nodes, "data_flows": flows}
