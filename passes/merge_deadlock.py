"""Joins that wait for a branch that cannot come."""

from __future__ import annotations

from typing import ClassVar

from orgflow.passes.flow_faults import Fault, ScopeFaults
from orgflow.passes.flow_findings import FlowPass, ended_by, findings, related, run_of
from orgflow.passes.wording import Namer

from orgflow_ir.diagnostics import Rule, Severity
from orgflow_ir.model import Gateway, Model
from orgflow_ir.pass_manager import PassContext


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
        for found, fault in findings(model, ctx, self.max_states, "deadlock"):
            namer = Namer(found.scope)
            join = found.net.element[fault.join]
            event = ended_by(model, found.scope)
            until = f", until `{event.label}` ends it" if event is not None else ""
            ctx.emit(
                DeadlockedJoin,
                _message(found, fault, namer) + until + (_MASKED if fault.masked else ""),
                element=namer.nodes[join],
                help=_help(found, fault, namer),
                related=related(found, fault, namer, "the run takes one way here"),
                trace=run_of(model, ctx, found, fault),
                severity=Severity.WARNING if fault.masked or event is not None else None,
            )
        return model


_MASKED = " (once the faults before it are mended)"


def _message(found: ScopeFaults, fault: Fault, namer: Namer) -> str:
    net = found.net
    join = namer.name(net.element[fault.join])
    after = namer.follows(net, fault.join)
    lost = f", so {after} never happens" if after else ""
    if net.dead_inputs.get(fault.join):
        sources = [f.source for f in net.dead_inputs[fault.join]]
        return f"{join} waits for {namer.named(sources)}, which no run ever does{lost}"
    if fault.split < 0:
        missing = [namer.comes_from(net, a) for a in fault.missing]
        what = " and ".join(dict.fromkeys(missing)) or "a branch"
        return f"{join} waits for {what} in a run in which that can no longer come{lost}"
    missing = [namer.comes_from(net, a) for a in fault.missing]
    split = net.element[fault.split]
    taken = namer.ways(net, fault.taken)
    what = " and ".join(m for m in dict.fromkeys(missing) if m != namer.name(split))
    what = what or f"the other way from {namer.name(split)}"
    return (
        f"{join} waits for {what}, which a run that takes {taken} at {namer.name(split)} "
        f"never does{lost}"
    )


def _help(found: ScopeFaults, fault: Fault, namer: Namer) -> str:
    if found.net.dead_inputs.get(fault.join):
        return "remove the flow from what never runs, or make it run"
    split = found.net.element[fault.split] if fault.split >= 0 else ""
    node = namer.nodes.get(split)
    if isinstance(node, Gateway):
        kind = "an inclusive" if node.gateway_kind == "inclusive" else "an exclusive"
        return f"join these branches with {kind} gateway, as {namer.name(split)} splits them"
    return "join branches with the kind of gateway that split them"
