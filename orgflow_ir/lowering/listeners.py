"""Listeners as steps: what an engine calls when it enters or leaves an element, or takes a flow,
becomes a task at that place. Code of listeners that a task has is part of the work of that task.

`listeners_as_steps` returns the same steps for a whole model, under the same ids, so runs of a
target that rewrites listeners are runs of that model's token game.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import (
    CallActivity,
    Element,
    Event,
    Flow,
    Gateway,
    Model,
    Process,
    Scope,
    Task,
)
from orgflow_ir.model.bindings import Listener, Script, is_listener
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.index import ModelIndex
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.lowering import RewritePattern, rewrite_all

if TYPE_CHECKING:
    from orgflow_ir.model import listener_data
    from orgflow_ir.model.rewriter import Rewriter
    from orgflow_ir.work import listeners as work_listeners
    from orgflow_ir.work.listeners import Placement
else:  # models with listeners only
    listener_data = LazyModule("orgflow_ir.model.listener_data")
    work_listeners = LazyModule("orgflow_ir.work.listeners")

LISTENER = "listener"
"""The derived construct: an element with listeners that can become steps."""


def listener_uses(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`listener`: elements with listeners that can become steps."""
    for scope in model.scopes():
        # What is put beside a node later stands nearer to it: a flow is taken after its source has
        # ended, and a process begins before its start event.
        elements: list[Element] = [*scope.flows, *scope.nodes]
        if isinstance(scope, Process):
            elements.append(scope)
        for element in elements:
            if not (_has_work(element) if isinstance(element, Task) else element.extra):
                continue
            placement = _find_placement(element, scope, ctx)
            if placement is not None and (placement.before or placement.after):
                yield ConstructUse(LISTENER, element, scope)


def _find_placement(element: Element, scope: Scope, ctx: PassContext) -> Placement | None:
    """Where steps do what the listeners of an element do; `None` where they do it already, or it
    has none.

    What the source has no place for gets none later either: rewriting removes loops and events, but
    the engine still calls the listener as the source states.
    """
    if not isinstance(element, Task) and not any(is_listener(key) for key, _ in element.extra):
        return None
    if isinstance(element, Process) and any(
        element.id in node.derived_from for node in element.nodes
    ):
        return None

    placement = work_listeners.place_listeners(element, scope, ctx.analysis(ControlFlow, scope))
    original, holder = _at_source(element, ctx)
    if original is None or holder is None or not (placement.before or placement.after):
        return placement
    placed = work_listeners.place_listeners(
        work_listeners.without_loop(original), holder, ctx.analysis(ControlFlow, holder)
    )
    return placement.within((*placed.before, *placed.after))


def _at_source(element: Element, ctx: PassContext) -> tuple[Element | None, Scope | None]:
    """The element of the source that an element stands for, and its scope."""
    if ctx.source is None:
        return None, None
    index = ctx.analysis(ModelIndex, ctx.source)
    for id in source_ids(element):
        original = index.nodes.get(id) or index.flows.get(id) or index.scopes.get(id)
        if original is not None:
            holder = index.parent(id) or index.scopes.get(id)
            return original, holder
    return None, None


def _has_work(element: Element) -> bool:
    return (
        isinstance(element, Task)
        and element.binding is not None
        and bool(element.binding.listeners)
    )


class ListenerToTask(RewritePattern):
    """A listener becomes a task at the point where the engine calls it: a script, or the class, the
    delegate expression or the job that it names. A listener at
    a point without room for a step is unchanged."""

    name = "listener-to-task"
    consumes = (LISTENER,)
    produces = ("task.script", "task.service", "flow.sequence")

    def meaning(self, model: Model) -> Model:
        """See `RewritePattern`: each listener is its own step."""
        return listeners_as_steps(model)

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        scope = use.scope
        assert scope is not None
        placement = _find_placement(use.element, scope, ctx)
        assert placement is not None
        steps = _Steps(use.element, scope, rewriter, ctx.analysis(ControlFlow, scope))
        if steps.stale():
            return None  # in the next round, with what is there then
        done = (*placement.before, *placement.after)
        steps.make(placement)
        number = "listener" if len(done) == 1 else f"{len(done)} listeners"
        of = "the process" if isinstance(use.element, Process) else ctx.name(use.element)
        note = f"the {number} of {of} became {'a task' if len(done) == 1 else 'tasks'}"
        ends = ("completing", "complete", "end")
        if any(listener.by == "type" and listener.event not in ends for listener in done):
            note += "; variables that a job sets at the start are known after the element as well"
        return note


class _Steps:
    """Puts the tasks at their places."""

    def __init__(
        self, element: Element, scope: Scope, rewriter: Rewriter, graph: ControlFlow
    ) -> None:
        self.element, self.scope, self.rewriter, self.graph = element, scope, rewriter, graph

    def stale(self) -> bool:
        """Whether an earlier rewrite of this round has changed what is around the element."""
        return any(self.rewriter.touched(self.scope.id, id) for id in self._holding_elements())

    def _holding_elements(self) -> Iterator[str]:
        if isinstance(self.element, Flow):
            yield self.element.id
            return
        nodes = [self.element.id]
        if isinstance(self.element, Process):
            nodes = [n.id for n in self._start_events(self.element)] + [
                n.id for n in self._end_events(self.element)
            ]
        for node in nodes:
            yield node
            yield from (f.id for f in self.graph.flows_in(node))
            yield from (f.id for f in self.graph.flows_out(node))

    def make(self, placement: Placement) -> None:
        """All of them: on a flow; behind the starts and before the ends of a process; before and
        after a node."""
        element = self.element
        match element:
            case Flow():
                target = self.graph.nodes[element.target].label
                self._put_on_flow(
                    element.id, (*placement.before, *placement.after), f"Listener before {target}"
                )
            case Process():
                for start in self._start_events(element):
                    self._put_behind(start.id, placement.after, f"Listener of {element.label}")
                for end in self._end_events(element):
                    self._in_front(end.id, placement.before, f"Listener of {element.label}")
                return
            case _:
                before, after = (
                    f"Listener before {element.label}",
                    f"Listener after {element.label}",
                )
                # Before what may join tokens a task stands on each flow, and runs for each token.
                each = isinstance(element, Gateway) and element.gateway_kind != "exclusive"
                if each:
                    for flow in self.graph.flows_in(element.id):
                        self._put_on_flow(flow.id, placement.before, before)
                else:
                    self._in_front(element.id, placement.before, before)
                # An exclusive gateway decides first: tasks stand on each of its flows.
                if isinstance(element, Gateway) and element.gateway_kind == "exclusive":
                    for flow in self.graph.flows_out(element.id):
                        self._put_on_flow(flow.id, placement.after, after)
                else:
                    self._put_behind(element.id, placement.after, after)
        self._forget_listeners(placement)

    @staticmethod
    def _start_events(process: Process) -> list[Event]:
        return [n for n in process.nodes if isinstance(n, Event) and n.position == "start"]

    @staticmethod
    def _end_events(process: Process) -> list[Event]:
        return [n for n in process.nodes if isinstance(n, Event) and n.position == "end"]

    def _forget_listeners(self, placement: Placement) -> None:
        """The element keeps the listeners that no step stands for."""
        # 1. Those of the binding: all but the ones that are steps now.
        left = [unexecuted.listener for unexecuted in placement.left]
        bound: list[Listener] = []
        element = self.element
        if isinstance(element, Task | Event) and element.binding is not None:
            bound = list(element.binding.listeners)  # with the code that its work has
            for listener in (*placement.before, *placement.after):
                if listener in bound:  # the form of a start event has none of those of the event
                    bound.remove(listener)
            left = [*bound, *(listener for listener in left if listener not in bound)]
        # 2. Those in extension data.
        kept = tuple(
            (key, text)
            for key, text in element.extra
            if not is_listener(key)
            or any(listener in left for listener in listener_data.listeners_in(((key, text),)))
        )
        # 3. The element as it stands by now; a flow may lead to a step of these already.
        changed = element.replace(extra=kept)
        if isinstance(changed, CallActivity | Event | Task) and changed.binding is not None:
            bound = bound if isinstance(element, Task | Event) else left
            binding = changed.binding.replace(listeners=tuple(bound))
            changed = changed.replace(binding=binding)
        if isinstance(changed, Flow):
            changed = self.rewriter.flow(self.scope.id, element.id).replace(extra=kept)
        self.rewriter.replace(self.scope.id, element.id, changed)  # type: ignore[arg-type]

    def _chain_tasks(self, listeners: Sequence[Listener], name: str) -> list[str]:
        """Tasks one after the other; their ids."""
        ids: list[str] = []
        for listener in listeners:
            id = self.rewriter.fresh_id(self.element.id, LISTENER)
            binding = work_listeners.binding_of(listener)
            assert binding is not None
            script = isinstance(binding, Script)
            task = Task(
                id=id, name=name, task_type="script" if script else "service", binding=binding
            )
            self.rewriter.insert(self.scope.id, task)
            if ids:
                self._connect_nodes(ids[-1], id)
            ids.append(id)
        return ids

    def _connect_nodes(self, source: str, target: str) -> None:
        id = self.rewriter.fresh_id(self.element.id, "to_listener")
        self.rewriter.connect(self.scope.id, source, target, id=id)

    def _put_on_flow(self, flow: str, listeners: Sequence[Listener], name: str) -> None:
        """Tasks on a flow, behind its condition."""
        if not listeners:
            return
        target = self.rewriter.flow(self.scope.id, flow).target
        ids = self._chain_tasks(listeners, name)
        self.rewriter.redirect(self.scope.id, flow, target=ids[0])
        self._connect_nodes(ids[-1], target)

    def _in_front(self, node: str, listeners: Sequence[Listener], name: str) -> None:
        """Tasks that all flows into a node come by."""
        if not listeners:
            return
        ids = self._chain_tasks(listeners, name)
        for flow in self.graph.flows_in(node):
            self.rewriter.redirect(self.scope.id, flow.id, target=ids[0])
        self._connect_nodes(ids[-1], node)

    def _put_behind(self, node: str, listeners: Sequence[Listener], name: str) -> None:
        """Tasks that all flows out of a node come from."""
        if not listeners:
            return
        ids = self._chain_tasks(listeners, name)
        for flow in self.graph.flows_out(node):
            self.rewriter.redirect(self.scope.id, flow.id, source=ids[-1])
        self._connect_nodes(node, ids[0])


def is_listener_step(step: Task | CallActivity, ctx: PassContext) -> bool:
    """Whether a task does the work of a listener of the source element that it was made from."""
    original, _ = _at_source(step, ctx)
    if original is None or original.id == step.id or step.binding is None:
        return False

    return step.binding in [
        work_listeners.binding_of(listener) for listener in work_listeners.all_listeners(original)
    ]


LISTENERS: tuple[RewritePattern, ...] = (ListenerToTask(),)


def listeners_as_steps(model: Model, source: Model | None = None) -> Model:
    """The model with its listeners as tasks; the model itself if it has none. `source` is the model
    that it was made from."""
    ctx = PassContext(source=source or model)
    while True:
        uses = list(listener_uses(model, ctx))
        if not uses:
            return model
        model, _ = rewrite_all(ListenerToTask(), uses, model, ctx)
