"""Joins that wait for a branch that never arrives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from orgflow.passes.causes import BrokenOff, broken_off, own_loop, unused_starts
from orgflow.passes.flow_findings import MASKED, FlowPass, list_findings, related_split
from orgflow.passes.wording import Branch, Namer

from orgflow_ir.diagnostics import Category, Related, Rule, Severity
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.soundness import Fault
from orgflow_ir.model import Event, Gateway, Model
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext


class DeadlockedJoin(Rule):
    """
    What it finds
        A parallel (or inclusive) gateway that waits for a branch that some run never takes. Every
        such join is reported, with a run that ends before it.
    Why it is wrong
        The run stops there: nothing after the join happens, and no error is reported. On n8n the
        execution ends with the status success.
    Example
        `Stock ok?` (exclusive) leads to `Pack` or to `Reorder`; both lead into a parallel gateway,
        and `Ship` comes after it. A run takes one of the two branches, and the gateway waits for
        the other.
    Instead
        Join the branches with the kind of gateway that split them: exclusive with exclusive,
        parallel with parallel, inclusive with inclusive.
    """

    code = "OF201"
    name = "deadlocked-join"
    severity = Severity.ERROR
    category = Category.FLOW


class MergeDeadlock(FlowPass):
    """Reports joins at which a run stops indefinitely."""

    name: ClassVar[str] = "merge-deadlock"
    rules: ClassVar[tuple[type[Rule], ...]] = (DeadlockedJoin,)

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        for fault in list_findings(model, ctx, self.max_states, "deadlock"):
            namer = ctx.analysis(Namer, fault.scope)
            node = namer.nodes[fault.element]
            if isinstance(node, Event) and any(d.kind == "link" for d in node.definitions):
                continue  # told as a broken link (OF118)
            graph = ctx.analysis(ControlFlow, fault.scope)
            if isinstance(node, Gateway) and not graph.out[node.id]:
                continue  # an event-based gateway without ways out: OF110 reports it
            event = fault.ended_by
            missing = _missing_branches(fault, namer)
            decide = _decision_text(fault, namer, missing)
            repaired = self.repaired(fault, model, ctx, decide)
            place = "the run takes one branch here"
            if (broken := broken_off(fault)) is not None:
                does = "interrupts this" if _is_interrupting(broken, namer) else "may come here"
                place = f"{namer.name(broken.event)} {does}"
            until = f", until {ctx.name(event)} ends it" if event is not None else ""
            ctx.emit(
                DeadlockedJoin,
                _message_text(fault, namer, missing, graph)
                + until
                + (MASKED if fault.masked else ""),
                element=node,
                help=decide,
                advice=repaired,
                related=related_split(fault, namer, place) + _other_joins(fault, namer),
                trace=fault.trace,
                severity=Severity.WARNING if fault.masked or event is not None else None,
            )
        return model


def _other_joins(fault: Fault, namer: Namer) -> tuple[Related, ...]:
    """The joins that wait with this one, and those that wait because it does."""
    why = dict.fromkeys(fault.behind, "waits for this one")
    why |= dict.fromkeys(fault.mutual, "waits for this one, and this one waits for it")
    return tuple(
        Related(message=f"{namer.name(e)}: {text}", element=e, loc=namer.nodes[e].loc)
        for e, text in why.items()
    )


class _Missing(NamedTuple):
    """What a join waits for: words, and of what kind the first and how many they are."""

    text: str
    kind: str
    number: int = 1

    @classmethod
    def of(cls, branches: Iterable[Branch]) -> _Missing:
        """Several at once, each only once."""
        different = list(dict.fromkeys(branches))
        return cls(" and ".join(b.text for b in different), different[0].kind, len(different))


def _missing_branches(fault: Fault, namer: Namer) -> _Missing:
    """What the join waits for."""
    net = fault.net
    assert net is not None
    if dead := net.dead_inputs.get(fault.join):
        sources = tuple(dict.fromkeys(f.source for f in dead))
        return _Missing(namer.names(sources), "element", len(sources))
    named_arcs = [(namer.comes_from(net, a), a) for a in fault.missing_arcs]
    if not fault.split:
        return (
            _Missing.of(t for t, _ in named_arcs) if named_arcs else _Missing("a branch", "label")
        )
    split = namer.name(fault.split)
    what = [t for t, _ in named_arcs if t.text != split]
    if what:
        return _Missing.of(what)
    labels = [f.label for _, a in named_arcs if (f := net.flow[a]) is not None and f.name.strip()]
    if labels:
        return _Missing(f"the branch `{labels[0]}` of {split}", "label")
    return _Missing(f"the other branch of {split}", "other")


def _message_text(fault: Fault, namer: Namer, missing: _Missing, graph: ControlFlow) -> str:
    net = fault.net
    assert net is not None
    join = namer.name(fault.element)
    after = namer.follows(net, fault.join)
    lost = f", so {after} never happens" if after else ""
    if net.dead_inputs.get(fault.join):
        return f"{join} waits for {missing.text}, which no run ever executes{lost}"
    if fault.mutual:
        rest = [namer.name(e) for e in fault.mutual]
        joins = ", ".join([join, *rest[:-1]]) + f" and {rest[-1]}"
        return f"{joins} wait for each other, so {'none' if rest[1:] else 'neither'} ever continues"
    if (cut := broken_off(fault)) is not None:
        host, event = namer.name(cut.host), namer.name(cut.event)
        if any(a in net.by_event for a in fault.taken_arcs):
            what = f"{host} to be done" if missing.kind == "other" else missing.text
            why = f"which never happens once {event} interrupts {host}"
            return f"{join} waits for {what}, {why}{lost}"
        who = "it" if missing.text == event else event
        what = f"{who} interrupts {host}"
        if not _is_interrupting(cut, namer):
            what = f"{who} occurs while {host} is active"
        why = f"which only happens if {what}"
        return f"{join} waits for {missing.text}, {why}{lost}"
    if unused_starts(fault):
        here = namer.names(net.element[net.dst[a]] for a in fault.taken_arcs)
        return (
            f"{join} waits for {missing.text}, but a run begins at only one start event and never "
            f"gets there from {here}{lost}"
        )
    if not fault.split:
        if own_loop(fault, graph):
            why = f"which comes only after {join} itself: no run gets past it"
            return f"{join} waits for {missing.text}, {why}{lost}"
        return f"{join} waits for {missing.text}, which in some run can no longer arrive{lost}"
    taken = namer.name_ways(net, fault.taken_arcs)
    split = namer.name(fault.split)
    does = "does" if missing.kind == "element" else "takes"
    why = f"which a run that takes {taken} at {split} never {does}"
    return f"{join} waits for {missing.text}, {why}{lost}"


def _is_interrupting(cut: BrokenOff, namer: Namer) -> bool:
    event = namer.nodes[cut.event]
    return isinstance(event, Event) and event.interrupting


def _decision_text(fault: Fault, namer: Namer, missing: _Missing) -> str:
    """What a person has to decide where no change is proved to repair it."""
    join = namer.name(fault.element)
    if fault.net is not None and fault.net.dead_inputs.get(fault.join):
        return f"remove the flow from {missing.text} to {join}, or add a flow to {missing.text}"
    if fault.mutual:
        joins = namer.names((fault.element, *fault.mutual))
        return (
            f"decide which of {joins} continues first, and connect the returning flow to "
            "another step"
        )
    come = "do not come" if missing.number > 1 else "does not come"
    return f"decide how the run should continue at {join} when {missing.text} {come}"
