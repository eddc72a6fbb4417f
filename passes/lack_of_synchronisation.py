"""Work that is done twice because parallel branches are not waited for."""

from __future__ import annotations

from typing import ClassVar

from orgflow.passes.flow_findings import MASKED, FlowPass, findings, related
from orgflow.passes.forking_loops import endless_forks, round_trip
from orgflow.passes.mending import fix_of
from orgflow.passes.wording import Namer

from orgflow_ir.diagnostics import Rule, Severity
from orgflow_ir.model import Gateway, Model, Process, Scope
from orgflow_ir.pass_manager import PassContext
from orgflow_ir.soundness import Fault


class WorkDoneTwice(Rule):
    """
    What it finds
        Parallel branches that come together where nothing waits for all of them: at an exclusive
        gateway, or at an activity with several incoming flows.
    Why it is wrong
        Everything after that place happens once for each branch: two parcels, two invoices. The
        workflow does exactly that, since it is what is drawn.
    Example
        A parallel gateway starts `Pack` and `Bill`; both flow into `Ship`. `Ship` is done twice.
    Instead
        Join the branches with a parallel gateway (after an inclusive split: an inclusive one).
    """

    code = "OF203"
    name = "work-done-twice"
    severity = Severity.ERROR


class UnboundedWork(Rule):
    """
    What it finds
        A loop that starts parallel work each time round and never waits for it.
    Why it is wrong
        Every round adds to what is under way, without a limit. On n8n it is done one after the
        other, and an execution that goes round often enough is stopped by the server.
    Example
        A parallel gateway leads to `Remind` and back to itself: reminders without end.
    Instead
        Join the parallel work before the loop goes back, or leave the loop to an exclusive gateway.
    """

    code = "OF206"
    name = "unbounded-work"
    severity = Severity.ERROR


class LackOfSynchronisation(FlowPass):
    """Reports places that several tokens pass one after the other."""

    name: ClassVar[str] = "lack-of-synchronisation"
    rules: ClassVar[tuple[type[Rule], ...]] = (WorkDoneTwice, UnboundedWork)

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report; the model is given back as it is."""
        endless: set[str] = set()
        for scope in model.scopes():
            for fork, cycle in ctx.analysis(endless_forks, scope):
                endless |= cycle
                _report_endless(fork, scope, model, ctx)
        for fault in findings(model, ctx, self.max_states, "unsync"):
            if fault.element in endless:
                continue  # the same fault, seen where it shows
            namer = Namer(fault.scope)
            if fault.unbounded:
                ctx.emit(
                    UnboundedWork,
                    f"a loop leads back to {namer.name(fault.element)} while work it started is "
                    "still under way: every time round adds more, without a limit"
                    + (MASKED if fault.masked else ""),
                    element=namer.nodes[fault.element],
                    help="join the parallel work before the loop goes back",
                    trace=fault.trace,
                    severity=Severity.WARNING if fault.masked else None,
                )
                continue
            ctx.emit(
                WorkDoneTwice,
                _message(fault, namer),
                element=namer.nodes[fault.element],
                help="let the branches wait for each other: join them with a parallel gateway "
                "(after an inclusive split with an inclusive one)",
                related=related(fault, namer, "several branches start here"),
                trace=fault.trace,
                fix=fix_of(fault, model, namer, self.max_states) if self.fixes else None,
                severity=Severity.WARNING if fault.masked else None,
            )
        return model


def _report_endless(fork: str, scope: Scope, model: Model, ctx: PassContext) -> None:
    namer = Namer(scope)
    ctx.emit(
        UnboundedWork,
        f"the loop through {namer.name(fork)} never ends: each time round it goes on and back at "
        "once, and no choice leads out",
        element=namer.nodes[fork],
        help="let an exclusive gateway choose between going on and going back",
        trace=round_trip(model, scope, fork) if isinstance(scope, Process) else (),
    )


def _message(fault: Fault, namer: Namer) -> str:
    net = fault.net
    assert net is not None
    name = namer.name(fault.element)
    node = namer.nodes[fault.element]
    what, why = name, "a second token comes to it before the first has gone on"
    if isinstance(node, Gateway):
        what = namer.follows(net, fault.join) or f"what comes after {name}"
        if node.gateway_kind == "exclusive":
            why = f"{name} lets each of several parallel branches through"
        else:
            why = f"{name} can be come to again before the first time is over"
    if fault.split:
        why = (
            f"{namer.ways(net, fault.taken_arcs)} at {namer.name(fault.split)} can all be taken in "
            f"one run, and {name} does not wait for the others"
        )
    return f"{what} can happen more than once: {why}{MASKED if fault.masked else ''}"
