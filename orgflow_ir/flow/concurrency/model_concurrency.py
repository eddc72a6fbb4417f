"""Elements of a model that may be active at the same time: pairs of steps at any depth, parallel
waits, races between events, and waits that an event may end.

The one analysis of "at the same time": `concurrency_of(model, ctx)`. In each scope it is the
relation of `parallel_steps`, which is computed once; this module carries it through sub-processes,
their event sub-processes, repetitions and calls. It is independent of any target.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Literal

from orgflow_ir.flow.concurrency.parallel_steps import Concurrency, may_have_several_tokens
from orgflow_ir.flow.concurrency.waits import (
    WaitingElements,
    comes_from_outside,
    may_wait,
    stops_others,
    takes_over,
    waits_outside,
)
from orgflow_ir.flow.control_flow.calls import calls_in, find_callee
from orgflow_ir.flow.control_flow.graph import ControlFlow, list_reachable
from orgflow_ir.model import (
    CallActivity,
    Event,
    Gateway,
    Model,
    Node,
    Opaque,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext

WaitKind = Literal["race", "parallel"]

SMALL = 2_000
"""Maximum number of nodes of a scope for which the split of a wait is also searched if only some
branches join."""


class ConcurrentWait(NamedTuple):
    """An element that waits while something else is active.

    Attributes:
        element: the element, which is in `scope`.
        kind: `parallel`, a wait that may be open at the same time as another, or `race`, an event
            that may come while other steps are active, or an end that stops them.
        reason: an explanation, as the end of a message.
        ends: the waits of the model that a race may end.
    """

    element: Node
    kind: WaitKind
    reason: str
    scope: Scope
    ends: tuple[Node, ...] = ()


def concurrency_of(model: Model, ctx: PassContext) -> ModelConcurrency:
    """The analysis of a model; what it finds is kept in the context."""
    return ModelConcurrency(ctx.shared(_SameFlow).representative(model), ctx)


def share_concurrency(model: Model, other: Model, ctx: PassContext) -> None:
    """Declare that a model has the elements and flows of another one, under the same ids: both have
    the analysis of the other."""
    ctx.shared(_SameFlow).add(model, other)


def concurrent_waits(model: Model, ctx: PassContext) -> tuple[ConcurrentWait, ...]:
    """Every race and every parallel wait of a model, scope by scope, at most one per element."""
    return concurrency_of(model, ctx).waits


class _SameFlow:
    """Models that have the flow of another one."""

    def __init__(self) -> None:
        self._others: dict[int, tuple[Model, Model]] = {}

    def add(self, model: Model, other: Model) -> None:
        self._others[id(model)] = model, self.representative(other)

    def representative(self, model: Model) -> Model:
        return self._others.get(id(model), (model, model))[1]


class _Found:
    """What is known of a model, for `ctx.analysis(_Found, model)`. It does not refer to the
    context, in which it is kept."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.waiting = WaitingElements(model)
        self.together: dict[str, frozenset[str]] = {}
        self.splitting: dict[int, bool] = {}
        self.relations: dict[int, Concurrency] = {}
        """By the identity of a scope, which the model keeps."""
        self.waits: tuple[ConcurrentWait, ...] | None = None

    @cached_property
    def nodes(self) -> Mapping[str, Node]:
        return {node.id: node for scope in self.model.scopes() for node in scope.nodes}

    @cached_property
    def scope_of(self) -> Mapping[str, Scope]:
        return {node.id: scope for scope in self.model.scopes() for node in scope.nodes}

    @cached_property
    def holders_of(self) -> Mapping[int, tuple[str, ...]]:
        """The activities in which each scope runs: the sub-process, or the calls of a process."""
        held_by: dict[int, list[str]] = {id(scope): [] for scope in self.model.scopes()}
        for scope in self.model.scopes():
            if isinstance(scope, SubProcess):
                held_by[id(scope)].append(scope.id)
        for process in self.model.processes:
            for call in calls_in(process):
                called = find_callee(call, self.model)
                if called is not None:
                    held_by[id(called)].append(call.id)
        return {scope: tuple(dict.fromkeys(holders)) for scope, holders in held_by.items()}

    @cached_property
    def attached(self) -> Mapping[str, list[Event]]:
        """The boundary events of each activity."""
        attached_events: dict[str, list[Event]] = {}
        for node in self.nodes.values():
            if isinstance(node, Event) and node.attached_to is not None:
                attached_events.setdefault(node.attached_to, []).append(node)
        return attached_events

    @cached_property
    def begun_at_once(self) -> frozenset[str]:
        begun_nodes: set[str] = set()
        for node in self.nodes.values():
            if is_repeated_at_once(node):
                begun_nodes.add(node.id)
                if isinstance(node, SubProcess):
                    begun_nodes |= {inner.id for scope in node.scopes() for inner in scope.nodes}
        return frozenset(begun_nodes)


class ModelConcurrency:
    """Elements that may be active at the same time in one instance of each process of a model.

    No pair is missed, whatever the net; a pair that faults or mutually exclusive data rule out may
    be included. Handlers of compensation are not considered.

    Args:
        model: the model.
        ctx: keeps what is found, and names elements.
    """

    def __init__(self, model: Model, ctx: PassContext) -> None:
        self.model = model
        self._ctx = ctx
        self._found = ctx.analysis(_Found, model)

    # -- steps ---------------------------------------------------------------------------------

    def relation(self, scope: Scope) -> Concurrency:
        """The relation between the steps of one scope."""
        relation = self._found.relations.get(id(scope))
        if relation is None:
            graph = self._ctx.analysis(ControlFlow, scope)
            relation = self._found.relations[id(scope)] = self._ctx.analysis(Concurrency, graph)
        return relation

    def beside(self, element: str) -> tuple[Node, ...]:
        """Nodes of the same scope that may be active, or about to be, while an element is; includes
        the element if a second token may reach it."""
        scope = self._found.scope_of[element]
        if not self._may_split(scope):
            return ()
        nodes = self._found.nodes
        return tuple([nodes[other] for other in self.relation(scope).beside(element)])

    def active_with(self, element: str) -> frozenset[str]:
        """All elements, at any depth, that may be active while an element is: those beside it, and
        beside each sub-process and call around it, with what is in them; what is in the element;
        and what it is in. Includes the element if it may be active twice."""
        if element not in self._found.together:
            self._found.together[element] = frozenset(self._find_active(element))
        return self._found.together[element]

    def _find_active(self, element: str) -> Iterator[str]:
        yield from self._elements_inside(element)
        seen, around = {element}, [element]
        while around:
            inner = around.pop()
            again = is_repeated_at_once(self._found.nodes[inner])
            for other in self.beside(inner):
                yield other.id
                yield from self._elements_inside(other.id)
                again = again or other.id == inner
            if inner != element:
                yield inner
            if again:  # another instance of it
                yield inner
                yield from self._elements_inside(inner)
            for holder in self._found.holders_of[id(self._found.scope_of[inner])]:
                if holder not in seen:
                    seen.add(holder)
                    around.append(holder)

    def _may_split(self, scope: Scope) -> bool:
        """Whether more than one token may be in a scope."""
        if id(scope) not in self._found.splitting:
            self._found.splitting[id(scope)] = may_have_several_tokens(
                self._ctx.analysis(ControlFlow, scope)
            )
        return self._found.splitting[id(scope)]

    @property
    def begun_at_once(self) -> frozenset[str]:
        """Activities of which several instances may be active at once because of a parallel marker
        of their own, or of a sub-process around them."""
        return self._found.begun_at_once

    def _elements_inside(self, element: str) -> frozenset[str]:
        """Elements in a sub-process or a called process, at any depth."""
        node = self._found.nodes[element]
        elements: set[str] = set()
        todo: list[Scope] = [node] if isinstance(node, SubProcess) else []
        if isinstance(node, CallActivity) and (called := find_callee(node, self.model)) is not None:
            todo.append(called)
        seen = set(map(id, todo))
        while todo:
            for inner in todo.pop().nodes:
                elements.add(inner.id)
                scopes: list[Scope] = [inner] if isinstance(inner, SubProcess) else []
                if (
                    isinstance(inner, CallActivity)
                    and (p := find_callee(inner, self.model)) is not None
                ):
                    scopes.append(p)
                for scope in scopes:
                    if id(scope) not in seen:
                        seen.add(id(scope))
                        todo.append(scope)
        return frozenset(elements)

    # -- waits ---------------------------------------------------------------------------------

    def open_with(self, element: str) -> tuple[Node, ...]:
        """External waits that may be open while an element of a process is: beside it and beside
        each sub-process around it, boundary events included; includes the element if a second token
        may reach it."""
        open_nodes: dict[str, Node] = {}
        inside: str | None = element
        while inside is not None:
            scope = self._found.scope_of[inside]
            open_nodes.update((node.id, node) for node in self._open_beside(inside))
            inside = scope.id if isinstance(scope, SubProcess) else None
        return tuple(open_nodes.values())

    def _open_beside(self, element: str) -> Iterator[Node]:
        yield from (
            event for event in self._found.attached.get(element, ()) if waits_outside(event)
        )
        yield from (node for node in self.beside(element) if waits_outside(node))

    @property
    def waits(self) -> tuple[ConcurrentWait, ...]:
        """Every race and every parallel wait, scope by scope, at most one per element.

        Races are event-based gateways, boundary events and event sub-processes with an external
        trigger, and ends that stop a scope in which an element may be waiting. Parallel waits are
        elements that may wait at the same time as another: in parallel branches, or as instances of
        a parallel multi-instance activity.
        """
        if self._found.waits is None:
            self._found.waits = tuple(self._find_waits())
        return self._found.waits

    def _find_waits(self) -> Iterator[ConcurrentWait]:
        for scope in self.model.scopes():
            for node in filter(may_wait, scope.nodes):
                wait = self._racing_wait(node, scope) or self._repeated_wait(node, scope)
                if wait is None and (stops_others(node) or self._found.waiting.waits(node)):
                    wait = self._beside_waits(node, scope)
                if wait is not None:
                    yield wait

    def _racing_wait(self, node: Node, scope: Scope) -> ConcurrentWait | None:
        if isinstance(node, Gateway) and node.gateway_kind == "event":
            return ConcurrentWait(node, "race", "it continues with the first event", scope)
        if not comes_from_outside(node):
            return None
        reason = "it may begin while other steps are active"
        if isinstance(node, Event):
            reason = "it may occur while its activity is active"
        return ConcurrentWait(node, "race", reason, scope, self._ended_by(node, scope))

    def _ended_by(self, node: Node, scope: Scope) -> tuple[Node, ...]:
        """The waits that a boundary event or an event sub-process ends."""
        ended: Iterable[Node] = ()
        if isinstance(node, Event) and node.interrupting:
            ended = [n for n in (self._found.nodes.get(node.attached_to or ""),) if n is not None]
        elif isinstance(node, SubProcess) and takes_over(node):
            ended = (other for other in scope.nodes if other is not node)
        return tuple(other for other in ended if self._holds_wait(other))

    def _holds_wait(self, node: Node) -> bool:
        """Whether an element or anything in it waits, what event sub-processes do included."""
        inside = (self._found.nodes[inner] for inner in self._elements_inside(node.id))
        return self._found.waiting.waits(node) or any(map(self._found.waiting.waits, inside))

    def _repeated_wait(self, node: Node, scope: Scope) -> ConcurrentWait | None:
        """A parallel multi-instance activity whose instances wait."""
        if not is_repeated_at_once(node) or not self._found.waiting.waits(node):
            return None
        return ConcurrentWait(node, "parallel", "its instances wait at the same time", scope)

    def _beside_waits(self, node: Node, scope: Scope) -> ConcurrentWait | None:
        """A wait, or an end that stops others, beside which another element may be waiting."""
        others = [other for other in self.beside(node.id) if self._found.waiting.waits(other)]
        if not others:
            return None
        other = "itself" if others[0] is node else self._ctx.name(others[0])
        reason = f"{other} may be waiting at the same time"
        if stops_others(node):
            return ConcurrentWait(node, "race", reason, scope, tuple(others))
        return ConcurrentWait(node, "parallel", reason, scope)

    # -- branches ------------------------------------------------------------------------------

    def split_around(self, wait: str) -> Node | None:
        """For an element that may be active beside others of its scope the split whose branches
        these are: the nearest one that a branch of it leads to alone, otherwise one of which only
        some branches lead to it. `None` where nothing is beside it, or no split is found."""
        if not self.beside(wait):
            return None
        scope = self._found.scope_of[wait]
        graph = self._ctx.analysis(ControlFlow, scope)
        splits = [node.id for node in scope.nodes if splits_tokens(node, graph)]
        around = _split_of_branch(wait, frozenset(splits), graph)
        if around is None and len(scope.nodes) <= SMALL:
            around = next((s for s in splits if _leads_partly(s, wait, graph)), None)
        return graph.nodes[around] if around is not None else None


def is_repeated_at_once(node: Node) -> bool:
    """Whether an activity has instances that may be active together."""
    if not isinstance(node, (Task, CallActivity, SubProcess)) or node.loop is None:
        return False
    return node.loop.kind == "multi-instance" and not node.loop.sequential


def splits_tokens(node: Node, graph: ControlFlow) -> bool:
    """Whether a node may continue on several flows at once; at a stub, every run stops."""
    if len(graph.flows_out(node.id)) < 2:
        return False
    if isinstance(node, Opaque):
        return node.stops is None
    return not (isinstance(node, Gateway) and node.gateway_kind == "exclusive")


def _split_of_branch(wait: str, splits: frozenset[str], graph: ControlFlow) -> str | None:
    """The nearest split that dominates an element together with the first node of one of its
    branches."""
    chain = [wait, *graph.dominators_of(wait)]
    for inner, outer in itertools.pairwise(chain):
        if outer in splits and any(arc.target == inner for arc in graph.out[outer]):
            return outer
    return None


def _leads_partly(split: str, wait: str, graph: ControlFlow) -> bool:
    """Whether some branches of a split lead to an element and others do not."""
    past = frozenset({split})
    branches = [list_reachable([f.target], graph.successors, past) for f in graph.flows_out(split)]
    return 0 < sum(wait in branch for branch in branches) < len(branches)
