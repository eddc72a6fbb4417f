"""Joins that wait for a branch that cannot come."""

from __future__ import annotations

from typing import ClassVar

from orgflow.passes.flow_findings import MASKED, FlowPass, findings, related
from orgflow.passes.mending import fix_of
from orgflow.passes.wording import Namer

from orgflow_ir.diagnostics import Rule, Severity
from orgflow_ir.model import Event, Gateway, Model
from orgflow_ir.pass_manager import PassContext
from orgflow_ir.soundness import Fault


class DeadlockedJoin(Rule):
    """
    What it finds
        A parallel (or inclusive) gateway that waits for a branch which some run never takes. Every
        such join is named, with a run that ends before it.
    Why it is wrong
        The run stops there for ever: nothing after the join happens, and nobody is told. On n8n the
        execution ends green all the same.
    Example
        `Stock ok?` (exclusive) leads to `Pack` or to `Reorder`; both lead into a parallel gateway,
        and `Ship` comes after it. A run takes one of the two, the gateway waits for the other.
    Instead
        Join the branches with the kind of gateway that split them: exclusive with exclusive,
        parallel with parallel, inclusive with inclusive.
    """

    code = "OF201"
    name = "deadlocked-join"
    severity = Severity.ERROR


class MergeDeadlock(FlowPass):
    """Reports joins in which a run stops for ever."""

    name: ClassVar[str] = "merge-deadlock"
    rules: ClassVar[tuple[type[Rule], ...]] = (DeadlockedJoin,)

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report; the model is given back as it is."""
        for fault in findings(model, ctx, self.max_states, "deadlock"):
            namer = Namer(fault.scope)
            node = namer.nodes[fault.element]
            if isinstance(node, Event) and any(d.kind == "link" for d in node.definitions):
                continue  # told as a broken link (OF118)
            event = fault.ended_by
            until = f", until `{event.label}` ends it" if event is not None else ""
            ctx.emit(
                DeadlockedJoin,
                _message(fault, namer) + until + (MASKED if fault.masked else ""),
                element=node,
                help=_help(fault, namer),
                related=related(fault, namer, "the run takes one way here"),
                trace=fault.trace,
                fix=fix_of(fault, model, namer, self.max_states) if self.fixes else None,
                severity=Severity.WARNING if fault.masked or event is not None else None,
            )
        return model


def _message(fault: Fault, namer: Namer) -> str:
    net = fault.net
    assert net is not None
    join = namer.name(fault.element)
    after = namer.follows(net, fault.join)
    lost = f", so {after} never happens" if after else ""
    if dead := net.dead_inputs.get(fault.join):
        return (
            f"{join} waits for {namer.named(f.source for f in dead)}, which no run ever does{lost}"
        )
    missing = [namer.comes_from(net, a) for a in fault.missing_arcs]
    if not fault.split:
        what = " and ".join(dict.fromkeys(missing)) or "a branch"
        return f"{join} waits for {what} in a run in which that can no longer come{lost}"
    taken = namer.ways(net, fault.taken_arcs)
    split = namer.name(fault.split)
    what = " and ".join(m for m in dict.fromkeys(missing) if m != split)
    what = what or f"the other way from {split}"
    return f"{join} waits for {what}, which a run that takes {taken} at {split} never does{lost}"


def _help(fault: Fault, namer: Namer) -> str:
    if fault.net is not None and fault.net.dead_inputs.get(fault.join):
        return "remove the flow from what never runs, or make it run"
    node = namer.nodes.get(fault.split)
    if isinstance(node, Gateway):
        kind = "an inclusive" if node.gateway_kind == "inclusive" else "an exclusive"
        return f"join these branches with {kind} gateway, as {namer.name(node.id)} splits them"
    return "join branches with the kind of gateway that split them"
