"""A net of X / A / O nodes with one source and one sink: the form in which a scope is analysed.

An X node passes each token to one outgoing flow, an A node waits for all incoming flows and
takes all outgoing flows, an O node waits by the path rule of BPMN 2.0.2 (13.4.3) and takes a
non-empty selection of outgoing flows. Policies: every choice is free; messages and timers arrive;
each start event is its own scenario; implicit splits fork, implicit joins pass every token; a
non-interrupting boundary event fires at most once per activation; a multi-instance body counts
once."""

from __future__ import annotations

from dataclasses import field
from typing import Literal

from orgflow_ir.model import Flow
from orgflow_ir.model import Node as ModelNode
from orgflow_ir.model.records import NamedTuple, dataclass

Kind = Literal["X", "A", "O"]
SOURCE, SINK, TERM, VOID = range(4)
"""The node of the initial token, the end of tokens, the end of the whole scope, and the target of
events that do not fire. The last three have no outgoing flows."""
FIRST = 4


class Body(NamedTuple):
    """The summary of an activity's content, from its own analysis.

    `completes`: some run of it completes; `fires`: the boundary events that it throws itself and
    that some run reaches, and those with an external trigger (`None` for any); `escapes`: some run
    throws an event that ends the surrounding scope too; `holds`: some run never leaves it.
    """

    completes: bool = True
    fires: frozenset[str] | None = None
    escapes: bool = False
    holds: bool = False


@dataclass(eq=False, repr=False)
class Net:
    """Nodes and arcs by number; the first four nodes are `SOURCE`, `SINK`, `TERM` and `VOID`.

    `element[node]` is the id of the model element that a node is part of (empty for the first
    four); an element that joins and splits is two nodes. `flow[arc]` is the sequence flow that an
    arc stands for (`None`: inside an element, boundary, link, entry, implicit end).
    `dead_inputs[node]` are flows into a waiting join that no run ever uses. `never` are nodes that
    can never fire. `doubtful` are elements that the net does not represent faithfully, with the
    reason. `aside` are nodes that decide whether a non-interrupting boundary event fires.
    `by_event` are the arcs by which a token leaves an activity through a boundary event. `acting`
    are nodes that act each time a token arrives on one of several flows. `ghosts` are arcs that no
    token ever takes; they exist because paths count for inclusive joins. `held` are activities that
    are never left because of a fault inside them (which is reported there). `live` are reachable
    elements. `passing` are arcs inside gateways, where no token is ever observed. After
    construction, `far` caches distances (`witness_search.distances`), and `judged` caches runs with
    their final marks (`witness_search.valid`).
    """

    kind: list[Kind] = field(default_factory=lambda: ["X", "O", "O", "O"])
    element: list[str] = field(default_factory=lambda: ["", "", "", ""])
    ins: list[list[int]] = field(default_factory=lambda: [[], [], [], []])
    outs: list[list[int]] = field(default_factory=lambda: [[], [], [], []])
    src: list[int] = field(default_factory=list)
    dst: list[int] = field(default_factory=list)
    flow: list[Flow | None] = field(default_factory=list)
    dead_inputs: dict[int, tuple[Flow, ...]] = field(default_factory=dict)
    never: set[int] = field(default_factory=set)
    doubtful: list[tuple[ModelNode, str]] = field(default_factory=list)
    aside: set[int] = field(default_factory=set)
    by_event: set[int] = field(default_factory=set)
    acting: set[int] = field(default_factory=set)
    ghosts: set[int] = field(default_factory=set)
    held: set[int] = field(default_factory=set)
    live: set[str] = field(default_factory=set)
    passing: set[int] = field(default_factory=set)
    far: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    judged: list[tuple[object, dict[int, int] | None]] = field(default_factory=list)

    def node(self, kind: Kind, element: str) -> int:
        """Add a node."""
        self.kind.append(kind)
        self.element.append(element)
        self.ins.append([])
        self.outs.append([])
        return len(self.kind) - 1

    def arc(self, src: int, dst: int, flow: Flow | None = None) -> int:
        """Add an arc."""
        number = len(self.src)
        self.src.append(src)
        self.dst.append(dst)
        self.flow.append(flow)
        self.outs[src].append(number)
        self.ins[dst].append(number)
        return number

    @property
    def ends_early(self) -> bool:
        """Whether some path ends the whole scope at once."""
        return bool(self.ins[TERM])

    def straight_to_term(self) -> frozenset[int]:
        """Arcs on which a second token has no effect, because the first one ends the scope in its
        next step; a boundary event or a gateway on the path is not a separate step."""
        arcs = {a for a in self.ins[TERM] if self.src[a] not in self.acting}
        for arc in (*self.passing, *self.by_event) if arcs else ():
            outs = self.outs[self.dst[arc]]
            if outs and len(self.ins[self.dst[arc]]) == 1 and arcs.issuperset(outs):
                arcs.add(arc)
        return frozenset(arcs)
