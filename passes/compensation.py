"""Compensation: how a boundary event leads to the handler of the activity."""

from __future__ import annotations

from typing import ClassVar

from orgflow_ir.diagnostics import Category, Rule, Severity
from orgflow_ir.model import CallActivity, Event, Model, SubProcess, Task
from orgflow_ir.model.index import ModelIndex
from orgflow_ir.pipeline import Pass, PassContext, Stage


class CompensationFlow(Rule):
    """
    What it finds
        A sequence flow out of a compensation event on the border of an activity, or into an
        activity that is marked for compensation.
    Why it is wrong
        Compensation is not part of the normal flow (BPMN 2.0.2, 10.5.4 and 10.7): an association
        leads to the activity that undoes the work. The flow out of the event is never taken; the
        activity is a step like others, whatever its mark.
    Example
        A sequence flow from the compensation event on `Book hotel` to `Cancel hotel`.
    Instead
        Use an association to `Cancel hotel`, which is marked for compensation.
    """

    code = "OF140"
    name = "compensation-flow"
    severity = Severity.WARNING
    category = Category.MALFORMED


class MissingCompensation(Rule):
    """
    What it finds
        A compensation event on the border of an activity without an association to an activity that
        is marked for compensation.
    Why it is wrong
        The compensation of the activity is undefined (BPMN 2.0.2, 10.7.1), so compensating it has
        no effect.
    Example
        A compensation event on `Book hotel`, and an association to the plain task `Cancel hotel`.
    Instead
        <task id="cancel" name="Cancel hotel" isForCompensation="true"/>
    """

    code = "OF141"
    name = "missing-compensation"
    severity = Severity.WARNING
    category = Category.MALFORMED


class Compensation(Pass):
    """Reports compensation events that do not lead to the handler of their activity, and handlers
    that are in the flow."""

    name: ClassVar[str] = "compensation"
    stage: ClassVar[Stage] = Stage.VERIFY
    rules: ClassVar[tuple[type[Rule], ...]] = (CompensationFlow, MissingCompensation)

    def run(self, model: Model, ctx: PassContext) -> Model:
        """Report the findings and return the model unchanged."""
        events = [
            node
            for scope in ctx.scopes(model)
            for node in scope.nodes
            if isinstance(node, Event)
            and node.position == "boundary"
            and any(d.kind == "compensation" for d in node.definitions)
        ]
        marked = [
            node
            for scope in ctx.scopes(model)
            for node in scope.nodes
            if isinstance(node, (Task, CallActivity, SubProcess)) and node.for_compensation
        ]
        if not events and not marked:
            return model
        index = ctx.analysis(ModelIndex, model)
        for node in marked:
            for flow in index.flows_in(node.id)[:1]:
                ctx.emit(
                    CompensationFlow,
                    f"a sequence flow leads to {ctx.name(node)}, which is marked for compensation",
                    element=flow,
                    help=f"remove the mark of {ctx.name(node)}, or its flows",
                )
        artifacts = [*model.artifacts, *(a for s in ctx.scopes(model) for a in s.artifacts)]
        for event in events:
            ends = [
                a.target if a.source == event.id else a.source
                for a in artifacts
                if a.artifact_kind == "association" and event.id in (a.source, a.target)
            ]
            _check_event(event, [end for end in ends if end is not None], index, ctx)
        return model


def _check_event(event: Event, ends: list[str], index: ModelIndex, ctx: PassContext) -> None:
    named = ctx.full_name(event)
    for flow in index.flows_out(event.id):
        ctx.emit(
            CompensationFlow,
            f"a sequence flow leads from {named} to {ctx.name(flow.target)}, but is never taken",
            element=flow,
            help=f"use an association instead, and mark {ctx.name(flow.target)} for compensation",
        )
    if index.flows_out(event.id):
        return
    kinds = Task | CallActivity | SubProcess
    targets = [n for n in (index.nodes.get(end) for end in ends) if isinstance(n, kinds)]
    if any(n.for_compensation for n in targets):
        return
    if targets:
        message = f"{named} leads to {ctx.name(targets[0])}, which is not marked for compensation"
        help_text = f"mark {ctx.name(targets[0])} for compensation"
    else:
        message = f"no association links {named} to a compensation activity"
        help_text = "add an association from it to an activity that is marked for compensation"
    ctx.emit(MissingCompensation, message, element=event, help=help_text)
