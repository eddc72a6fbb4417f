"""Stubs: unsupported constructs become stops, and the rest compiles (`unsupported=stub`).

A stub (`Opaque.stops`) fails a run that reaches it. How an element is replaced depends on the
effect of ignoring it:

- An activity, event or gateway that tokens reach becomes a stub; so does a sub-process with its
  content. A flow gets a stub in its middle.
- A start event becomes a manual start.
- An event that may occur while something else is active (a boundary event, an event sub-process) is
  omitted: its activity, or its scope, continues as if the event never occurred. Its stub has no
  incoming flows, and what it leads to stays in the output, unconnected, as a part to implement.
- A message flow between processes is omitted: the processes are not connected.
- A stub that is still unsupported in its context loses its flows, and all elements that only they
  lead to.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeGuard

from orgflow_ir.model import (
    CallActivity,
    Element,
    Event,
    Flow,
    MessageFlow,
    Model,
    Node,
    Opaque,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.constructs import CONSTRUCTS, ConstructUse
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.rewriter import Rewriter
from orgflow_ir.model.vendor_triggers import vendor_trigger, without_vendor_trigger
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.spec import STUB

if TYPE_CHECKING:
    from orgflow_ir.model.rewriter import Rewriter

ORIGIN = "unsupported-stub"


class Cut(NamedTuple):
    """A use that a target does not support, with the reason as a message about the element."""

    use: ConstructUse
    reason: str
    help: str = ""


class Stub(NamedTuple):
    """The replaced element and the effect on a run, as the end of a message."""

    cut: Cut
    consequence: str


def cut_out(
    model: Model, cuts: Sequence[Cut], ctx: PassContext
) -> tuple[Model, tuple[Stub, ...]] | None:
    """One round: the model with as many uses as possible replaced at once, or `None` if none can
    be. Derived constructs are computed again after one of them was removed, since one stub may
    suffice for several."""
    plain = [cut for cut in cuts if cut.use.construct in CONSTRUCTS]
    for some in (plain, *([cut] for cut in cuts if cut not in plain)):
        round_ = _Round(model, ctx)
        stubs = tuple(round_.run(some))
        if stubs:
            return round_.done(), stubs
    return None


class _Round:
    def __init__(self, model: Model, ctx: PassContext) -> None:
        self.model, self.ctx = model, ctx
        self.rewriter: Rewriter = Rewriter(model, origin=ORIGIN)
        self.holders: dict[str, Scope] = {n.id: s for s in model.scopes() for n in s.nodes}
        self.messages: set[str] = set()

    def run(self, cuts: Iterable[Cut]) -> Iterator[Stub]:
        # what is attached goes with what it is attached to
        for cut in sorted(cuts, key=lambda c: _is_attached(c.use.element)):
            element = cut.use.element
            if isinstance(element, MessageFlow):
                self.messages.add(element.id)
                yield Stub(cut, "the processes are not connected")
                continue
            scope = self.holders.get(element.id, cut.use.scope)
            if scope is None or self.rewriter.stale(scope, element.id):
                continue  # it has no place in a process, or went with something else
            self.rewriter.about(element)
            consequence = self._cut_element(element, scope, cut)
            if consequence is not None:
                yield Stub(cut, consequence)

    def done(self) -> Model:
        model = self.rewriter.done()
        if self.messages:
            kept = tuple(f for f in model.message_flows if f.id not in self.messages)
            model = model.replace(message_flows=kept)
            if (drawing := model.diagram) is not None:
                edges = tuple(e for e in drawing.edges if e.element not in self.messages)
                model = model.replace(diagram=drawing.replace(edges=edges))
        return model

    def _cut_element(self, element: Element, scope: Scope, cut: Cut) -> str | None:
        """What a run does instead of the element; `None` where it cannot be cut out."""
        match element:
            case Flow():
                return self._interrupt_flow(element, scope, cut)
            case Opaque() if element.stops is not None:
                return self._shorten_flows(element, scope)
            case Event() if element.position == "boundary":
                return self._miss_boundary(element, scope, cut)
            case Event() if element.position == "start" and is_handler(scope):
                return self._miss_handler(scope, self.holders[scope.id], cut)
            case Event() if element.position == "start":
                return self._start_by_hand(element, scope, cut)
            case SubProcess() if is_handler(element):
                return self._miss_handler(element, scope, cut)
            case Task() | CallActivity() | SubProcess() if element.for_compensation:
                self._stub_node(element, scope, cut, cut_off=True)
                return missed_text("compensation", "")
            case _ if element.id in self.holders:
                nodes = {n.id: n for n in scope.nodes}
                self._stub_node(nodes[element.id], scope, cut)
                return "a run that reaches it stops"
            case _:
                return None

    # -- ways of cutting -------------------------------------------------------------------------

    def _stub_node(self, node: Node, scope: Scope, cut: Cut, *, cut_off: bool = False) -> None:
        """A stub under the same id, and so with the same flows. Its boundary events never come."""
        cut_off = cut_off or (
            isinstance(node, Opaque) and not (_flows_in(node, scope) or _flows_out(node, scope))
        )
        self.rewriter.replace(scope.id, node.id, _build_stub(node, cut, cut_off=cut_off))
        for event in scope.nodes:
            attached = isinstance(event, Event) and event.attached_to == node.id
            if attached and not self.rewriter.touched(scope.id, event.id):
                self.rewriter.replace(scope.id, event.id, _build_stub(event, cut, cut_off=True))

    def _interrupt_flow(self, flow: Flow, scope: Scope, cut: Cut) -> str | None:
        if flow.construct == "flow.sequence":
            return None  # it would only become two of the kind
        stub = self._extra_stub(flow, scope, cut)
        self.rewriter.redirect(scope.id, flow.id, target=stub.id)
        plain = flow.replace(target=stub.id, condition=None, default=False)
        self.rewriter.replace(scope.id, flow.id, plain)
        onward = self.rewriter.fresh_id(flow.id, "onward")
        self.rewriter.connect(scope.id, stub.id, flow.target, id=onward)
        return "a run that takes it stops"

    def _miss_boundary(self, event: Event, scope: Scope, cut: Cut) -> str:
        self.rewriter.replace(scope.id, event.id, _build_stub(event, cut, cut_off=True))
        return missed_text(event.trigger or "none", self.ctx.name(str(event.attached_to)))

    def _start_by_hand(self, event: Event, scope: Scope, cut: Cut) -> str | None:
        if event.definitions or vendor_trigger(event):
            plain = without_vendor_trigger(event).replace(definitions=())
            self.rewriter.replace(scope.id, event.id, plain)
            return "the process is started manually"
        known = {node.id for node in scope.nodes if isinstance(node, Opaque) and node.stops}
        if all(f.target in known for f in _flows_out(event, scope)):
            return None
        self._follow_node(event, scope, cut)
        return "a run stops right after it"

    def _follow_node(self, node: Node, scope: Scope, cut: Cut) -> None:
        """A stub that all flows out of a node come from."""
        stub = self._extra_stub(node, scope, cut)
        for flow in _flows_out(node, scope):
            self.rewriter.redirect(scope.id, flow.id, source=stub.id)
        behind = self.rewriter.fresh_id(node.id, "behind")
        self.rewriter.connect(scope.id, node.id, stub.id, id=behind)

    def _miss_handler(self, handler: SubProcess, scope: Scope, cut: Cut) -> str:
        self._stub_node(handler, scope, cut, cut_off=True)
        start = next((n for n in handler.nodes if isinstance(n, Event) and n.trigger), None)
        trigger = start.trigger if start is not None else "none"
        return missed_text(trigger or "none", self.ctx.name(scope))

    def _shorten_flows(self, stub: Opaque, scope: Scope) -> str | None:
        out = _flows_out(stub, scope)
        if not out:
            return None
        for flow in out:
            self.rewriter.remove(scope.id, flow.id)
        kept = _reached_ids(_entry_nodes(scope), scope, without=stub)
        gone = _reached_ids((stub,), scope) - kept - {stub.id}
        for node in scope.nodes:
            if node.id in gone:
                self.rewriter.remove(scope.id, node.id)
        return "elements that only it leads to are omitted"

    # -- parts -----------------------------------------------------------------------------------

    def _extra_stub(self, owner: Node | Flow, scope: Scope, cut: Cut) -> Opaque:
        """A stub beside an element, which stays."""
        id = self.rewriter.fresh_id(owner.id, STUB)
        stub = Opaque(id=id, name=owner.name, tag=STUB, stops=cut.reason)
        self.rewriter.insert(scope.id, stub, of=(owner,))
        return stub


def _flows_in(node: Node, scope: Scope) -> list[Flow]:
    return [flow for flow in scope.flows if flow.target == node.id]


def _flows_out(node: Node, scope: Scope) -> list[Flow]:
    return [flow for flow in scope.flows if flow.source == node.id]


def _entry_nodes(scope: Scope) -> list[Node]:
    """Where a scope begins: its start events, else what nothing leads to."""
    starts: list[Node] = [n for n in scope.nodes if isinstance(n, Event) and n.position == "start"]
    led_to = {flow.target for flow in scope.flows}
    return starts or [
        n
        for n in scope.nodes
        if n.id not in led_to and not _is_attached(n) and not is_handler(n) and not _is_cut_off(n)
    ]


def _reached_ids(
    start: Iterable[Node], scope: Scope, *, without: Node | None = None
) -> frozenset[str]:
    """Ids of the nodes that paths from some nodes reach, but for those through `without`."""
    ahead: dict[str, list[str]] = {}
    for flow in scope.flows:
        ahead.setdefault(flow.source, []).append(flow.target)
    for node in scope.nodes:
        if isinstance(node, Event) and node.attached_to is not None:
            ahead.setdefault(node.attached_to, []).append(node.id)
    seen = {node.id for node in start}
    stack = list(seen)
    while stack:
        here = stack.pop()
        if without is not None and here == without.id:
            continue
        for there in ahead.get(here, ()):
            if there not in seen:
                seen.add(there)
                stack.append(there)
    return frozenset(seen)


def _is_attached(element: Element) -> bool:
    return isinstance(element, Event) and element.attached_to is not None


def is_handler(scope: Element) -> TypeGuard[SubProcess]:
    """Whether a scope is an event sub-process."""
    return isinstance(scope, SubProcess) and scope.flavour == "event"


def _is_cut_off(node: Node) -> bool:
    return isinstance(node, Opaque) and node.harmless


def _build_stub(node: Node, cut: Cut, *, cut_off: bool = False) -> Opaque:
    return Opaque(
        id=node.id,
        name=node.name,
        doc=node.doc,
        loc=node.loc,
        tag=STUB,
        harmless=cut_off,
        stops=cut.reason,
    )


def missed_text(trigger: str, name: str) -> str:
    """The behaviour of a run without an event: the end of a message about the event."""
    if trigger == "error":
        return f"it is omitted, and an error in {name} fails the run"
    if trigger in ("compensation", "cancel"):
        return "it is omitted, since nothing triggers it"
    return f"it is omitted, and {name} continues as if it never occurred"


def is_guard(stub: Opaque) -> bool:
    """Whether a stub is next to its element instead of replacing it."""
    return source_ids(stub) != (stub.id,)
