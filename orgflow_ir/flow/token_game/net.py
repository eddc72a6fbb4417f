"""The net behind the token game: a model compiled once into numbered places and nodes."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from orgflow_ir.model import (
    EventDefinition,
    Flow,
    Model,
    Scope,
)
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.model.records import dataclass

WAITING_EVENTS = frozenset({"message", "timer", "signal", "conditional"})
"""Event definitions that are triggered from outside the process."""

SLOTS = 3
FIRED, COMPLETED, ARRIVED = range(SLOTS)
"""Slots of a node in a frame's memo: the key is `index * SLOTS + slot`."""


@dataclass(frozen=True)
class Policy:
    """Options of the game's semantics.

    messages: `free`: any awaited message can arrive at any time; `flows`: an element with an
        incoming message flow needs a message, one that catches a signal thrown in the model needs
        that signal.
    instances: maximum number of bodies of a loop or multi-instance activity. With 1, a body counts
        once and the activity behaves like any other; with more, the number of bodies is a free
        choice.
    once: non-interrupting events fire at most once while their activity or scope is active, and
        each activity of an ad-hoc sub-process starts at most once; BPMN itself sets no limit.
    manual_waits: whether a manual task stays open until someone has completed it (BPMN 2.0.2,
        13.3.3).
    subsets: maximum number of combinations of flows listed for one inclusive split.
    calls: with `inside`, the process that a call runs is simulated; with `steps`, a call is one
        step, during which the errors and escalations of the process occur.
    """

    messages: Literal["free", "flows"] = "free"
    instances: int = 1
    once: bool = False
    manual_waits: bool = True
    subsets: int = 1023
    calls: Literal["inside", "steps"] = "inside"


_NO_KINDS: frozenset[str] = frozenset()


@dataclass(slots=True, eq=False)
class NetNode:
    """A node of the net. Places are numbers; `pending` holds tokens that did not arrive on a flow,
    `open` those inside. The split takes all of `always` and one (`single`) or some of `free`, or
    the `default` (-1: none) in place of them; `options` lists its choices. `near` are the nodes
    whose tokens its steps may take, `guard` the scope whose state decides on them (for a loop
    body). `failing` are the steps whose error or escalation an event of their scope catches (if
    empty, it may occur at any step); `caught_by` is the inverse."""

    index: int
    id: str
    element: ModelNode
    scope: int
    pending: int
    open: int
    ins: tuple[int, ...] = ()
    outs: tuple[int, ...] = ()
    join: Literal["each", "all", "path"] = "each"
    always: tuple[int, ...] = ()
    free: tuple[int, ...] = ()
    default: int = -1
    single: bool = False
    action: Literal["start", "fire"] = "fire"
    opens: bool = False
    waits: bool = False
    race: bool = False
    body: int = -1
    boundaries: tuple[int, ...] = ()
    attached: int = -1
    handler: int = -1
    handles: bool = False
    links: tuple[int, ...] = ()
    definitions: tuple[EventDefinition, ...] = ()
    thrown_inside: bool = False
    failing: frozenset[int] = frozenset()
    caught_by: tuple[int, ...] = ()
    sends: tuple[int, ...] = ()
    needs: tuple[int, ...] = ()
    asks: bool = False
    signals: frozenset[str] = frozenset()
    near: tuple[int, ...] = ()
    guard: int = -1
    options: dict[tuple[str, ...], tuple[int, ...]] = field(default_factory=dict)
    _kinds: frozenset[str] | None = None

    def kinds(self) -> frozenset[str]:
        """Kinds of its event definitions."""
        if not self.definitions:
            return _NO_KINDS
        if self._kinds is None:  # they are known once the net is made, and asked for at every step
            self._kinds = frozenset([d.kind for d in self.definitions])
        return self._kinds


@dataclass(slots=True, eq=False)
class NetScope:
    """A scope of the net; `loop` is (least, most, parallel) for the frame around loop bodies."""

    index: int
    id: str
    model: Scope | None
    process: int
    nodes: list[int] = field(default_factory=list)
    starts: tuple[int, ...] = ()
    sources: tuple[int, ...] = ()
    events: tuple[int, ...] = ()
    loop: tuple[int, int, bool] | None = None
    ad_hoc: bool = False
    sequential: bool = False
    guards: bool = False


class Net:
    """Nodes, scopes and places of a model, numbered; see `game_compile.compile_net`.

    `consumer` maps every place to the node that consumes its tokens, `producer` every flow to the
    node that produces them. `holder` maps a scope to the (first) node that runs it. `wide` are
    splits with more choices than the policy lists.
    """

    def __init__(self, model: Model, policy: Policy) -> None:
        self.model = model
        self.policy = policy
        self.nodes: list[NetNode] = []
        self.scopes: list[NetScope] = []
        self.flows: list[Flow] = []
        self.flow_scope: list[int] = []
        self.by_id: dict[str, tuple[int, ...]] = {}
        self.flow_index: dict[str, int] = {}
        self.processes: dict[str, int] = {}
        self.consumer: list[int] = []
        self.producer: list[int] = []
        self.wide: set[str] = set()
        self.holder: dict[int, int] = {}
        self._masks: dict[int, tuple[dict[int, int], dict[int, int]]] = {}

    def taken(self, node: NetNode, ids: tuple[str, ...]) -> tuple[int, ...] | None:
        """The places of the flows `ids`, if the node may take exactly this combination."""
        known = node.options.get(ids)
        if known is not None or node.id not in self.wide:
            return known
        places = tuple(sorted(self.flow_index.get(i, -1) for i in ids))
        chosen = set(places) - set(node.always)
        fits = chosen and chosen <= set(node.free) and set(node.always) <= set(places)
        return places if fits and len(set(ids)) == len(places) else None

    def masks(self, node: NetNode) -> tuple[dict[int, int], dict[int, int]]:
        """For a join by the path rule: node → bits of the incoming flows that a path from it
        reaches without visiting the gateway; with and without paths through boundary events.
        Links continue a path."""
        known = self._masks.get(node.index)
        if known is None:
            known = (self._reaching_places(node, True), self._reaching_places(node, False))
            self._masks[node.index] = known
        return known

    def _reaching_places(self, node: NetNode, events: bool) -> dict[int, int]:
        before: dict[int, int] = {}
        jumps: dict[int, list[int]] = {}
        for i in self.scopes[node.scope].nodes:
            for target in self.nodes[i].links:
                jumps.setdefault(target, []).append(i)
        for bit, place in enumerate(node.ins):
            mark = 1 << bit
            stack = [self.producer[place]]
            while stack:
                i = stack.pop()
                if i == node.index or before.get(i, 0) & mark:
                    continue
                before[i] = before.get(i, 0) | mark
                stack.extend(self.producer[p] for p in self.nodes[i].ins)
                stack.extend(jumps.get(i, ()))
                if events and self.nodes[i].attached >= 0:
                    stack.append(self.nodes[i].attached)
        return before

    def matches(self, catch: EventDefinition, thrown: EventDefinition) -> bool:
        """Whether `catch` catches a thrown error or escalation: the same catalogue entry, the same
        code, or any if `catch` names none."""
        if catch.kind != thrown.kind or catch.kind not in ("error", "escalation"):
            return False
        if self.model.catches_any(catch) or catch.ref == thrown.ref:
            return True
        entries = (
            self.model.catalog.errors if catch.kind == "error" else self.model.catalog.escalations
        )
        codes = {e.id: e.code for e in entries}
        code = codes.get(catch.ref or "")
        return code is not None and thrown.ref is not None and codes.get(thrown.ref) == code
