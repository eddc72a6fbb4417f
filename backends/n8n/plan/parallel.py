"""Parallel work on n8n: one branch after the other, and one wait at a time."""

from __future__ import annotations

from collections.abc import Sequence

from orgflow.backends.n8n.plan import emission_rules
from orgflow.backends.n8n.plan.wait_constructs import parallel_waits, waits_for_event

from orgflow_ir.flow.concurrency.model_concurrency import concurrency_of, splits_tokens
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.model import Model, Node
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.elements import Scope
from orgflow_ir.pipeline import PassContext


def report_parallel(scope: Scope, model: Model, ctx: PassContext) -> None:
    """OF421 for each split into parallel work, OF422 for each wait for an event inside such
    work."""
    graph = ctx.analysis(ControlFlow, scope)
    for node in scope.nodes:
        if splits_tokens(node, graph):
            ctx.emit(
                emission_rules.SequentialParallel,
                f"the {len(graph.flows_out(node.id))} branches after {ctx.name(node)} run one "
                "after the other on n8n",
                element=node,
            )
    waits = [node for node in scope.nodes if waits_for_event(node)]
    if not waits:
        return
    parallel = parallel_waits(model, ctx)
    for wait in waits:
        if wait.id not in parallel:
            continue
        split = concurrency_of(model, ctx).split_around(wait.id)
        assert split is not None  # otherwise the wait is not in a branch
        ctx.emit(
            emission_rules.SequentialWait,
            f"while {ctx.name(wait)} waits, the other branches after {ctx.name(split)} are paused "
            "on n8n",
            element=wait,
            help="put the wait before or after the parallel part, or accept that the branches "
            "run in turn",
        )


def waiting_alone(tasks: Sequence[Node], model: Model, ctx: PassContext) -> frozenset[str]:
    """Those of the tasks of a scope that are never active in parallel with another wait.

    OF423 for the others: an n8n execution waits in one place at a time, so they stay placeholders.
    """
    parallel = parallel_waits(model, ctx)
    beside = [task for task in tasks if task.id in parallel]
    if beside:
        names = [ctx.name(task) for task in beside]
        them = "it remains a placeholder" if len(beside) == 1 else "they stay placeholders"
        ctx.emit(
            emission_rules.WaitsBeside,
            f"{join_listed(names)} may be open while other work waits, and an n8n execution "
            "waits at "
            f"one place at a time: {them}",
            element=beside[0],
            help="put the waiting steps in sequence, or replace them in n8n with a node that "
            "distributes the work and waits until it is done",
        )
    return frozenset(task.id for task in tasks if task.id not in parallel)
