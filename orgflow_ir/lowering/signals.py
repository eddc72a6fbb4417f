"""Signals between an event in a sub-process or process and what catches them around it.

A signal reaches everything that waits for it, in every instance of every process (BPMN 2.0.2,
10.5.1). Where only one event catches it, which is on the border of what throws it or begins an
event sub-process there, an instance's own throw always reaches that event, as an escalation would.
What other instances throw reaches it as well while the scope is active. That makes no difference
where everything in the scope is done at once, since the other throw may as well come before or
after it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from orgflow_ir.flow.control_flow.graph import ControlFlow, list_reachable
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Event, Gateway, Model, Node, Scope, SubProcess, Task
from orgflow_ir.model.bindings import Script
from orgflow_ir.model.constructs import ConstructUse
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.program.syntax import ConditionError
from orgflow_ir.targets.lowering import RewritePattern

if TYPE_CHECKING:
    from orgflow_ir.model import rewriter as model_rewriter
    from orgflow_ir.model.rewriter import Rewriter
    from orgflow_ir.work import scripts
else:  # models with signals only
    model_rewriter = LazyModule("orgflow_ir.model.rewriter")
    scripts = LazyModule("orgflow_ir.work.scripts")

AROUND, LASTING = "signal.around", "signal.lasting"
"""Derived constructs: a signal that only an event around its throws catches, where all that is in
between is done at once, and where it takes time."""

_PRODUCES = (
    "event.throw.escalation", "event.end.escalation", "event.boundary.escalation",
    "event.start.escalation",
)  # fmt: skip


class Around(NamedTuple):
    """A signal that one event around its throws catches.

    Attributes:
        events: that event and the throws, each with the scope that it is in.
        scope: what is active while the event can catch: a sub-process or the process.
    """

    events: tuple[tuple[Event, Scope], ...]
    scope: Scope


def _holding_scope(caught: Event, at: Scope, model: Model) -> Scope | None:
    """The scope from which an event catches: the sub-process that it is attached to, or the one
    around its event sub-process `at`; `None` for every other event."""
    if caught.position == "boundary":
        host = next((n for n in at.nodes if n.id == caught.attached_to), None)
        return host if isinstance(host, SubProcess) and host.loop is None else None
    if caught.position == "start" and isinstance(at, SubProcess) and at.flavour == "event":
        return next((s for s in model.scopes() if any(n is at for n in s.nodes)), None)
    return None


def signal_around(model: Model) -> Around | None:
    """The one signal of a model, where all its throws are within the scope of the only event that
    catches it; `None` where there is another signal, or an escalation, which the event would catch,
    too."""
    catching: list[tuple[Event, Scope]] = []
    throwing: list[tuple[Event, Scope]] = []
    for scope in model.scopes():
        for node in scope.nodes:
            if not isinstance(node, Event):
                continue
            kinds = {d.kind for d in node.definitions}
            if "escalation" in kinds or ("signal" in kinds and len(node.definitions) > 1):
                return None
            if "signal" in kinds:
                throws = node.position in ("throw", "end")
                (throwing if throws else catching).append((node, scope))
    names = {d.ref or d.name for e, _ in (*catching, *throwing) for d in e.definitions}
    if len(catching) != 1 or not throwing or len(names) != 1:
        return None
    at = catching[0][1]
    holder = _holding_scope(*catching[0], model)
    if holder is None:
        return None
    inside = [s for s in _list_scopes(holder) if s is not at]
    if any(not any(scope is s for s in inside) for _, scope in throwing):
        return None
    return Around((*catching, *throwing), holder)


def signal_uses(model: Model, ctx: PassContext) -> Iterator[ConstructUse]:
    """`signal.around` or `signal.lasting`: the event that catches a signal thrown inside its
    scope."""
    if not _has_signals(model):
        return
    around = ctx.analysis(signal_around, model)
    if around is not None:
        caught, scope = around.events[0]
        yield ConstructUse(AROUND if is_done_at_once(around) else LASTING, caught, scope)


def _list_scopes(scope: Scope) -> Iterator[Scope]:
    yield scope
    for node in scope.nodes:
        if isinstance(node, SubProcess):
            yield from _list_scopes(node)


def is_done_at_once(around: Around) -> bool:
    """Whether nothing in the scope of a signal takes time before it ends."""
    caught, _ = around.events[0]
    nodes = around.scope.nodes
    if caught.interrupting:  # nothing behind a throw is done
        graph = ControlFlow(around.scope)
        thrown = frozenset(event.id for event, _ in around.events)
        reached = {*graph.entries, *list_reachable(graph.entries, graph.successors, thrown)}
        nodes = tuple(node for node in nodes if node.id in reached)
    return all(map(_at_once, nodes))


def _at_once(node: Node) -> bool:
    """Whether a node takes no time: gateways, events that wait for nothing, and scripts that are
    understood."""
    match node:
        case Gateway():
            return node.gateway_kind != "event"
        case Event():
            return node.position != "catch" and node.trigger in ("none", "signal", "error")
        case SubProcess():
            return node.flavour == "event" or (node.loop is None and all(map(_at_once, node.nodes)))
        case Task(binding=Script(code=str() as code) as script) if node.loop is None:
            try:
                scripts.read_script(code, script.language, sets=script.stores, engine=script.by)
            except ConditionError:
                return False
            return True
        case _:
            return False


class SignalAround(RewritePattern):
    """A signal that reaches only the event around its throws becomes an escalation, where
    everything in the scope of the event is done at once."""

    name = "signal-around"
    consumes = (AROUND,)
    produces = _PRODUCES

    def meaning(self, model: Model) -> Model:
        """See `RewritePattern`: only what the instance throws itself is caught."""
        return signals_as_escalations(model)

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        del use
        return _rewrite_signal(rewriter, ctx)


class SignalOfOneInstance(RewritePattern):
    """The same where the scope of the event may be active for long."""

    name = "signal-of-one-instance"
    consumes = (LASTING,)
    produces = _PRODUCES
    loses = "signals that other instances throw"

    def rewrite(self, use: ConstructUse, rewriter: Rewriter, ctx: PassContext) -> str | None:
        del use
        return _rewrite_signal(rewriter, ctx)


def signals_as_escalations(model: Model) -> Model:
    """The model where the signal that an event around its throws catches is an escalation; itself
    where it has none."""
    around = signal_around(model) if _has_signals(model) else None
    if around is None:
        return model

    rewriter = model_rewriter.Rewriter(model, origin=SignalAround.name)
    _replace_signal(around, rewriter)
    return rewriter.done()


def _has_signals(model: Model) -> bool:
    return any(
        any(d.kind == "signal" for d in node.definitions)
        for scope in model.scopes()
        for node in [n for n in scope.nodes if isinstance(n, Event)]
    )


def _rewrite_signal(rewriter: Rewriter, ctx: PassContext) -> str | None:
    """All events of the signal are rewritten with the one that catches it."""
    around = ctx.analysis(signal_around, rewriter.model)
    if around is None:
        return None
    _replace_signal(around, rewriter)
    caught, _ = around.events[0]
    return f"the signal of {ctx.name(caught)}, which is thrown inside its scope, is an escalation"


def _replace_signal(around: Around, rewriter: Rewriter) -> None:
    for event, scope in around.events:
        definition = event.definitions[0].replace(kind="escalation", ref=None)
        rewriter.replace(scope.id, event.id, event.replace(definitions=(definition,)))


SIGNALS: tuple[RewritePattern, ...] = (SignalAround(), SignalOfOneInstance())
"""Lowerings that any target may use."""
