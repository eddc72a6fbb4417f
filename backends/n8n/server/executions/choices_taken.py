"""The choices of deciding nodes in a stored execution, read from the outputs by which items
left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from orgflow.backends.n8n.server.executions.execution import StoredRun
from orgflow.backends.n8n.server.executions.matched_version import Tie
from orgflow.backends.n8n.verify.choices import Reader

from orgflow_ir.plugins.executions import Visit


def visits_of(
    order: Sequence[StoredRun], tie: Tie
) -> tuple[dict[str, tuple[Visit, ...]], frozenset[int]]:
    """The choices of each element, read from the outputs of its deciding nodes; and the indexes in
    `order` at which one failed or found no branch."""
    visits_by_owner: dict[str, list[Visit]] = {}
    stopped: set[int] = set()
    for owner, gateways in tie.reference.roles.deciders.items():
        taken = []
        for gateway in gateways:
            visits = _taken_flows(gateway, order, tie)
            stopped |= {at for at, visit in visits if visit == ()}
            taken.append([visit for _, visit in visits if visit != ()])
        # A task with two sets of conditions is decided by two gateways: their visits belong
        # together.
        for parts in zip(*taken, strict=False):
            known = [v for v in parts if v is not None]
            whole = tuple(f for v in known for f in v) if len(known) == len(parts) else None
            visits_by_owner.setdefault(owner, []).append(whole)
    return {owner: tuple(visits) for owner, visits in visits_by_owner.items()}, frozenset(stopped)


def _taken_flows(gateway: str, order: Sequence[StoredRun], tie: Tie) -> list[tuple[int, Visit]]:
    """What one gateway of the workflow took, visit by visit, with the place in `order`; an empty
    tuple where it failed or found no branch."""
    decision = tie.reference.decision(gateway)
    default = (decision.default.flow.id,) if decision.default is not None else ()
    key_of, workflow_graph = tie.matching.key_of, tie.reference.plan.workflow_graph.nodes
    tests_branches = any(
        n.role == "branch" and n.element == gateway for n in workflow_graph.values()
    )
    tests: dict[str, list[StoredRun]] = {}
    for run in order:
        planned = workflow_graph.get(key_of.get(run.node, ""))
        if planned is not None and planned.role == "branch" and planned.element == gateway:
            tests.setdefault(run.node, []).append(run)
    visits: list[tuple[int, Visit]] = []
    tested = 0
    for at, run in enumerate(order):
        if key_of.get(run.node) != gateway:
            continue
        reader = tie.readers.get(run.node)
        used = [output for output, items in enumerate(run.outputs) if items]
        visit: Visit = None
        if run.status == "error":
            visit = ()
        elif tests_branches and used == [0]:  # a test for each branch comes behind it
            visit = _tested_flows(tests, tested, gateway, tie)
            tested += 1
        elif reader is not None and reader.main and run.outputs:
            visit = _output_flows(reader, used, default, gateway, tie)
        visits.append((at, visit))
    return visits


def _tested_flows(
    tests: Mapping[str, Sequence[StoredRun]], visit: int, gateway: str, tie: Tie
) -> Visit:
    """The flows whose tests held at a visit; None where a test does not tell."""
    flows: set[str] = set()
    for name, runs in tests.items():
        reader = tie.readers.get(name)
        predicate = reader.predicates[0] if reader is not None and reader.predicates else None
        if visit >= len(runs) or predicate is None:
            return None
        if runs[visit].outputs[:1] > (0,):
            flows |= predicate
    return _order_flows(flows, gateway, tie) or None


def _output_flows(
    reader: Reader, used: Sequence[int], default: tuple[str, ...], gateway: str, tie: Tie
) -> Visit:
    """The flows behind the outputs that items left by."""
    flows: set[str] = set()
    for output in used:
        if output < len(reader.predicates):
            predicate = reader.predicates[output]
            if predicate is None or len(predicate) != 1 or reader.fallback == output:
                return None
            flows |= predicate
        elif output == reader.fallback:
            flows |= set(default)
        else:
            return None
    return _order_flows(flows, gateway, tie)


def _order_flows(flows: set[str], gateway: str, tie: Tie) -> tuple[str, ...]:
    """Flows in the order of the model, as a step of it takes them."""
    return tuple(f.id for f in tie.reference.plan.graph.flows_out(gateway) if f.id in flows)
