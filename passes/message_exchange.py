"""Faults between pools, found in the states of the whole collaboration (`check --messages`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from orgflow_ir.diagnostics import Category, Related, Rule, Severity
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Element, Model
from orgflow_ir.model.records import dataclass
from orgflow_ir.pipeline import Pass, PassContext, Stage

if TYPE_CHECKING:
    from orgflow_ir.flow.soundness import collaboration
    from orgflow_ir.flow.soundness.collaboration import CollaborationFault
else:  # models whose processes exchange messages
    collaboration = LazyModule("orgflow_ir.flow.soundness.collaboration")


class UnsentMessage(Rule):
    """
    What it finds
        An element that waits for a message that is never sent in some run of all pools.
    Why it is wrong
        The process never continues, although each pool on its own is correct.
    Example
        The shop sends the invoice only for large orders; the customer always waits for one.
    Instead
        Send a message on every path (also for a refusal), or wait for the first of several events:
        the message or a timeout.
    """

    code = "OF320"
    name = "unsent-message"
    severity = Severity.ERROR
    category = Category.DATA


class CircularWait(Rule):
    """
    What it finds
        Pools that wait for each other: each of them sends only after it has received.
    Why it is wrong
        None of them ever continues.
    Example
        The customer pays when the goods have arrived; the shop sends them when it has been paid.
    Instead
        Let one of them send before it waits.
    """

    code = "OF321"
    name = "circular-wait"
    severity = Severity.ERROR
    category = Category.DATA


class UnreceivedMessage(Rule):
    """
    What it finds
        A message that is still undelivered when all pools have ended, in some run.
    Why it is wrong
        The message is lost: the receiver has ended, or took another branch.
    Example
        The customer cancels and ends; the shop's invoice comes later.
    Instead
        Let the receiver wait for it on every path, or let the sender ask first.
    """

    code = "OF322"
    name = "unreceived-message"
    severity = Severity.WARNING
    category = Category.DATA


class UndecidedExchange(Rule):
    """
    What it finds
        Pools that together have more states than the analysis explores.
    Why it is wrong
        No fault was found, but this is not a proof.
    Example
        Pools that start each other repeatedly.
    Instead
        Check two pools at a time, or raise the limit: `opt --passes
        'message-exchange{max-states=200000}'`.
    """

    code = "OF323"
    name = "undecided-exchange"
    severity = Severity.INFO
    category = Category.DATA


@dataclass(frozen=True)
class MessageExchange(Pass):
    """Reports messages that are never sent, never received, and circular waiting between pools."""

    name: ClassVar[str] = "message-exchange"
    stage: ClassVar[Stage] = Stage.ANALYSE
    rules: ClassVar[tuple[type[Rule], ...]] = (
        UnsentMessage,
        CircularWait,
        UnreceivedMessage,
        UndecidedExchange,
    )

    max_states: int = 20_000

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        analysis = collaboration.analyse_collaboration(model, budget=self.max_states)
        diagnostics = _Diagnostics(model, ctx)
        for fault in analysis.faults:
            diagnostics.report(fault)
        if analysis.verdict == "unknown":
            more = (
                "look further with `orgflowc opt --passes 'message-exchange{max-states=200000}'`"
                if "states" in analysis.reason
                else "let the sender wait for an answer before it sends again"
            )
            ctx.emit(
                UndecidedExchange,
                f"cannot determine whether all messages are sent and received: {analysis.reason}",
                element=model,
                help=more,
            )
        return model


class _Diagnostics:
    def __init__(self, model: Model, ctx: PassContext) -> None:
        self.ctx = ctx
        self.elements: dict[str, Element] = {}
        self.pools: dict[str, str] = {}
        names = {p.process: p.label for p in model.pools if p.process is not None}
        for process in model.processes:
            for scope in process.scopes():
                for node in scope.nodes:
                    self.elements[node.id] = node
                    self.pools[node.id] = names.get(process.id, process.label)
        self.flows = {f.id: f for f in model.message_flows}

    def report(self, fault: CollaborationFault) -> None:
        """One diagnostic."""
        if fault.kind == "unreceived":
            self._report_unreceived(fault)
        elif fault.kind == "circular":
            self._report_circular(fault)
        else:
            self._report_unsent(fault)

    def _name_node(self, name: str) -> str:
        element = self.elements.get(name)
        pool = self.pools.get(name, "")
        label = element.label if element is not None else name
        return f"`{label}` in `{pool}`" if pool else f"`{label}`"

    def _name_message(self, flow: str) -> str:
        name = " ".join(self.flows[flow].name.split())
        return f"the message `{name}`" if name else "a message"

    def _report_unsent(self, fault: CollaborationFault) -> None:
        (waits,) = fault.elements
        parts = [
            f"{self._name_message(f)} from {self._name_node(self.flows[f].source)}"
            for f in fault.flows
        ]
        self.ctx.emit(
            UnsentMessage,
            f"{self._name_node(waits)} can wait indefinitely: in some run, {' or '.join(parts)} is "
            "never sent",
            element=self.elements[waits],
            related=self._related_ends(fault, source=True),
            trace=fault.trace,
            help=f"send a message to {self._name_node(waits)} on every path, or add a timeout to "
            "the wait",
        )

    def _report_circular(self, fault: CollaborationFault) -> None:
        first = self.elements[fault.elements[0]]
        waits = " and ".join(
            f"{self._name_node(self.flows[f].target)} waits for {self._name_message(f)} from "
            f"{self._name_node(self.flows[f].source)}"
            for f in fault.flows
        )
        self.ctx.emit(
            CircularWait,
            f"pools wait for each other: {waits}; each sends only after it has received",
            element=first,
            related=self._related_ends(fault, source=False),
            trace=fault.trace,
            help="decide which of them sends first, and let it send before it waits",
        )

    def _report_unreceived(self, fault: CollaborationFault) -> None:
        (flow,) = fault.flows
        element = self.flows[flow]
        self.ctx.emit(
            UnreceivedMessage,
            f"in some run, nothing receives {self._name_message(flow)} from "
            f"{self._name_node(element.source)}: when all pools have ended, "
            f"{self._name_node(element.target)} has not received it",
            element=element,
            related=self._related_ends(fault, source=True),
            trace=fault.trace,
            help=f"connect every path to {self._name_node(element.target)}, or send the message "
            "only if the receiver still waits",
        )

    def _related_ends(self, fault: CollaborationFault, *, source: bool) -> tuple[Related, ...]:
        ends = dict.fromkeys(
            self.flows[f].source if source else self.flows[f].target for f in fault.flows
        )
        words = "the message is sent here" if source else "this element also waits"
        return tuple(
            Related(message=f"{self._name_node(e)}: {words}", element=e, loc=self.elements[e].loc)
            for e in ends
            if e in self.elements and e not in fault.elements[:1]
        )
