"""Duplicate execution after parallel branches without a synchronising join."""

from __future__ import annotations

from typing import ClassVar

from orgflow.passes.causes import arriving_flows, event_beside, find_jump
from orgflow.passes.duplicate_flows import branch_key
from orgflow.passes.flow_findings import (
    MASKED,
    FlowAnalyses,
    FlowPass,
    list_findings,
    related_split,
)
from orgflow.passes.forking_loops import endless_forks, round_trip
from orgflow.passes.wording import Namer

from orgflow_ir.diagnostics import Category, Related, Rule, Severity, Step
from orgflow_ir.flow.control_flow.graph import ControlFlow, list_reachable
from orgflow_ir.flow.soundness import Fault
from orgflow_ir.model import Event, Gateway, Model, Process, Scope
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.pipeline import PassContext


class WorkDoneTwice(Rule):
    """
    What it finds
        Parallel branches that meet without a join that waits for all of them: at an
        exclusive gateway, or at an activity with several incoming flows.
    Why it is wrong
        Everything after that point happens once for each branch: two parcels, two invoices. The
        workflow does the same, since it behaves like the model. It is a warning if only a plain end
        event follows the gateway, so no work is duplicated.
    Example
        A parallel gateway starts `Pack` and `Bill`; both flow into `Ship`. `Ship` is done twice.
    Instead
        Join the branches with a parallel gateway (after an inclusive split, an inclusive one).
    """

    code = "OF203"
    name = "work-done-twice"
    severity = Severity.ERROR
    category = Category.FLOW


class UnboundedWork(Rule):
    """
    What it finds
        A loop that starts parallel work in every iteration and never waits for it.
    Why it is wrong
        Every iteration adds active work, without a limit. On n8n, the iterations run one after the
        other, and the server eventually stops the execution.
    Example
        A parallel gateway leads to `Remind` and back to itself: endless reminders.
    Instead
        Join the parallel work before the loop returns, or put an exclusive gateway in the loop.
    """

    code = "OF206"
    name = "unbounded-work"
    severity = Severity.ERROR
    category = Category.FLOW


class LackOfSynchronisation(FlowPass):
    """Reports places that several tokens pass one after the other."""

    name: ClassVar[str] = "lack-of-synchronisation"
    rules: ClassVar[tuple[type[Rule], ...]] = (WorkDoneTwice, UnboundedWork)

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        faults = list(list_findings(model, ctx, self.max_states, "unsync"))
        endless: set[str] = set()
        for scope in ctx.scopes(model):
            for fork, cycle in ctx.analysis(endless_forks, ctx.analysis(ControlFlow, scope)):
                endless |= cycle
                shown = next((f for f in faults if f.element in cycle), None)
                self._report_endless(fork, scope, shown, model, ctx)
        for fault in faults:
            if fault.element in endless:
                continue  # the same fault, seen where it shows
            graph = ctx.analysis(ControlFlow, fault.scope)
            if not fault.unbounded and _drawn_twice(fault, graph):
                continue  # OF131 reports the second arrow
            namer = ctx.analysis(Namer, fault.scope)
            quiet = fault.masked
            if fault.unbounded:
                name = namer.name(fault.element)
                rule: type[Rule] = UnboundedWork
                message = (
                    f"a loop leads back to {name} while work that it started is still active: "
                    "every iteration adds more, without a limit"
                )
                decide = f"decide which work has to complete before the loop returns to {name}"
                places: tuple[Related, ...] = ()
            else:
                rule, (message, decide) = WorkDoneTwice, _describe_double(fault, namer, graph)
                places = related_split(fault, namer, "several branches start here")
                quiet = fault.masked or _only_ends(fault, graph)
            repaired = self.repaired(fault, model, ctx, decide)
            ctx.emit(
                rule,
                message + (MASKED if fault.masked else ""),
                element=namer.nodes[fault.element],
                help=decide,
                advice=repaired,
                related=places,
                trace=fault.trace,
                severity=Severity.WARNING if quiet else None,
            )
        return model

    def _report_endless(
        self, fork: str, scope: Scope, shown: Fault | None, model: Model, ctx: PassContext
    ) -> None:
        namer = ctx.analysis(Namer, scope)
        name = namer.name(fork)
        decide = f"decide when a run continues from {name} and when it returns"
        repaired = None if shown is None else self.repaired(shown, model, ctx, decide)
        trace: tuple[Step, ...] = ()
        if isinstance(scope, Process):
            game = ctx.analysis(FlowAnalyses, model).games.of(scope)
            trace = round_trip(ctx.analysis(ControlFlow, scope), game, fork)
        ctx.emit(
            UnboundedWork,
            f"the loop through {name} never ends: every iteration both continues and returns, and "
            "no condition leaves the loop",
            element=namer.nodes[fork],
            help=decide,
            advice=repaired,
            trace=trace,
        )


def _drawn_twice(fault: Fault, graph: ControlFlow) -> bool:
    """Whether what comes together are flows that are drawn twice."""
    flows = arriving_flows(fault, graph)
    return len(flows) > 1 and len({(f.source, *branch_key(f)) for f in flows}) == 1


def _only_ends(fault: Fault, graph: ControlFlow) -> bool:
    """Whether nothing but an end event without a definition comes after a gateway: no work is done
    twice there."""
    if not isinstance(graph.nodes[fault.element], Gateway) or not graph.out[fault.element]:
        return False
    behind = [graph.nodes[n] for n in list_reachable([fault.element], graph.successors)]
    ends = [n for n in behind if not isinstance(n, Gateway)]
    return all(isinstance(n, Event) and n.position == "end" and not n.definitions for n in ends)


def _describe_double(fault: Fault, namer: Namer, graph: ControlFlow) -> tuple[str, str]:
    """What is done twice and why, and what to decide where nothing is proved to repair it."""
    net = fault.net
    assert net is not None
    name = namer.name(fault.element)
    node = namer.nodes[fault.element]
    gate = isinstance(node, Gateway)
    what = (namer.follows(net, fault.join) if gate else name) or f"what comes after {name}"
    come = [namer.source(f) for f in arriving_flows(fault, graph)]
    some = join_listed(dict.fromkeys(come)) if come else "what leads there"
    waits = "does not wait for the other"
    if isinstance(node, Gateway):
        through = node.gateway_kind == "exclusive"
        waits = "passes each of them on" if through else "starts again for each of them"
    decide = f"decide whether {what} should wait for {some}, or which of them should start it"
    if (by := event_beside(fault, graph)) is not None:
        event, host = namer.name(by.event.id), namer.name(by.host)
        branch = namer.names(f.source for f in by.flows)
        why = (
            f"{event} does not interrupt {host}, so in one run both {host} and {branch} lead to "
            f"{name}, which {waits}"
        )
    elif (jumps := find_jump(fault, graph)) is not None:
        way = namer.labelled(jumps.way)
        why = f"{way} leads to {name} from a branch that runs in parallel"
        decide = (
            f"decide where {way} should lead: {name} may run in another branch at the same time"
        )
    elif fault.split:
        several = len(fault.taken_arcs) > 2
        waits = "the others" if several else "the other"
        why = (
            f"{namer.name_ways(net, fault.taken_arcs)} at {namer.name(fault.split)} can "
            f"{'all' if several else 'both'} be taken in one run, but {name} does not wait for "
            f"{waits}"
        )
    elif len(set(come)) > 1:
        into = {f.id for f in graph.flows_in(fault.element)}
        shown = any(into.intersection(s.taken) for s in fault.trace)
        why = f"{'in one run ' if shown else ''}{some} all lead to {name}, which {waits}"
        if len(set(come)) == 2:
            why = why.replace(" all lead ", " both lead ", 1)
    else:
        why = f"a run can reach {name} again before the first pass is complete"
        decide = f"decide which steps have to complete before a run may reach {name} again"
    return f"{what} can happen more than once: {why}", decide
