"""What n8n does with parallel work: one branch after the other, and one wait at a time."""

from __future__ import annotations

from orgflow.backends.n8n import rules
from orgflow.backends.n8n.decisions import spoken

from orgflow_ir.graph import ControlFlow, reach
from orgflow_ir.model import Event, Gateway, Process
from orgflow_ir.pass_manager import PassContext


def report_parallel(process: Process, ctx: PassContext) -> None:
    """OF421 for each split into parallel work, OF422 for each wait inside such work."""
    graph = ctx.analysis(ControlFlow, process)
    succ = {n: [a.target for a in arcs] for n, arcs in graph.out.items()}
    told: set[str] = set()
    for node in process.nodes:
        out = graph.flows_out(node.id)
        if len(out) < 2 or (isinstance(node, Gateway) and node.gateway_kind == "exclusive"):
            continue
        ctx.emit(
            rules.SequentialParallel,
            f"the {len(out)} branches behind {spoken(node, graph)} run one after the other on n8n",
            element=node,
        )
        _report_waits(node.id, graph, succ, told, ctx)


def _report_waits(
    split: str,
    graph: ControlFlow,
    succ: dict[str, list[str]],
    told: set[str],
    ctx: PassContext,
) -> None:
    """Waits that some branches of `split` lead to and others do not: the others can be active."""
    if not any(_waits(n) for n in graph.nodes.values()):
        return
    branches = [reach([f.target], succ, frozenset({split})) for f in graph.flows_out(split)]
    for node in graph.nodes.values():
        held = sum(1 for b in branches if node.id in b)
        if _waits(node) and node.id not in told and 0 < held < len(branches):
            told.add(node.id)
            ctx.emit(
                rules.SequentialWait,
                f"while `{node.label}` waits, the other branches behind "
                f"{spoken(graph.nodes[split], graph)} stand still on n8n",
                element=node,
                help="put the wait before or after the parallel part, or let the branches take "
                "turns",
            )


def _waits(node: object) -> bool:
    return (
        isinstance(node, Event)
        and node.position == "catch"
        and node.trigger in ("timer", "message")
    )
