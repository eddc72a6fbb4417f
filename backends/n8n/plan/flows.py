"""Connections for the flows of a scope, through gateways without a node."""

from __future__ import annotations

from collections.abc import Iterator

from orgflow.backends.n8n.plan.graph import Port
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.model import Flow


def connect_flows(plan: ScopePlan) -> None:
    """Connect the output port of the source of each flow with every input port of its target."""
    graph = plan.workflow_graph
    targets = _Targets(plan)
    absorbed = plan.segments.absorbed if plan.segments is not None else ()
    for flow in plan.implicit_flows:
        if flow.id in absorbed:
            continue
        for port in targets.of(flow):
            graph.connect(plan.exits.get(flow.id) or Port(flow.source), port)
    for node in plan.scope.body.nodes:
        if node.id in plan.silent:
            continue
        outlet: Port | None = None  # of all flows that have no output of their own
        for flow in plan.graph.flows_out(node.id):
            if flow.id in absorbed:
                continue  # it is a row
            out = plan.exits.get(flow.id)
            if out is None:
                out = outlet = outlet or Port(plan.outlet(node.id))
            if out.node not in graph.nodes:
                continue  # a stub beside an element: nothing comes out of it
            for target in targets.of(flow):
                graph.connect(out, target, flow.id)


class _Targets:
    """Where tokens arrive; `sinks` has what each silent gateway leads to."""

    def __init__(self, plan: ScopePlan) -> None:
        self.plan = plan
        self.sinks: dict[str, tuple[Port, ...]] = {}

    def of(self, flow: Flow) -> tuple[Port, ...]:
        """Where a token on `flow` arrives, through silent gateways."""
        plan, sinks = self.plan, self.sinks
        if flow.target not in plan.silent:
            return (self._entry(flow),)
        if flow.target in sinks:
            return sinks[flow.target]
        for node in self._silent_postorder(flow.target):
            ports: list[Port] = []
            for out in plan.graph.flows_out(node):
                if out.target in plan.silent:
                    ports.extend(sinks.get(out.target, ()))
                else:
                    ports.append(self._entry(out))
            sinks[node] = tuple(ports)
        return sinks[flow.target]

    def _entry(self, flow: Flow) -> Port:
        return self.plan.entry.get((flow.target, flow.id)) or Port(flow.target)

    def _silent_postorder(self, root: str) -> list[str]:
        """Silent gateways from `root` on, each after those it leads to (a ring of silent gateways
        alone never does anything; the checks refuse it, here it ends somewhere)."""
        plan = self.plan

        def ahead(node: str) -> Iterator[str]:
            return (f.target for f in plan.graph.flows_out(node) if f.target in plan.silent)

        order: list[str] = []
        seen = {root}
        work = [(root, ahead(root))]
        while work:
            for target in work[-1][1]:
                if target not in seen and target not in self.sinks:
                    seen.add(target)
                    work.append((target, ahead(target)))
                    break
            else:
                order.append(work.pop()[0])
        return order
