"""Fixes of flow faults: the gateway that should be of another kind, the join that is missing.

Each candidate is made on a copy and analysed again; only one that cures its fault and brings no
other is offered.
"""

from __future__ import annotations

from collections.abc import Iterator

from orgflow.passes.flow_findings import analysis
from orgflow.passes.wording import Namer

from orgflow_ir.diagnostics import Edit, Fix, apply
from orgflow_ir.model import Flow, Gateway, Model, Scope
from orgflow_ir.soundness import Fault

_KINDS = {"exclusive": "an exclusive", "parallel": "a parallel", "inclusive": "an inclusive"}
SMALL = 2_000
"""Elements up to which fixes are looked for: each candidate is a whole analysis."""


def fix_of(fault: Fault, model: Model, namer: Namer, max_states: int) -> Fix | None:
    """A fix for a fault of the flow, or `None` where no candidate is proved."""
    if sum(len(s.nodes) for s in model.scopes()) > SMALL or fault.masked:
        return None
    before = _faults(model, max_states)
    for candidate in _candidates(fault, namer):
        after = _faults(apply(model, candidate), max_states)
        if len(after) < len(before) and after <= before:
            return candidate
    return None


def _faults(model: Model, max_states: int) -> set[tuple[str, str]]:
    return {
        (fault.kind, fault.element)
        for found in analysis(max_states)(model)
        for fault in (*found.faults, *found.masked)
    }


def _candidates(fault: Fault, namer: Namer) -> Iterator[Fix]:
    scope = fault.scope
    nodes = {n.id: n for n in scope.nodes}
    at, split = nodes.get(fault.element), nodes.get(fault.split)
    into = [f for f in scope.flows if f.target == fault.element]
    kind = split.gateway_kind if isinstance(split, Gateway) else "parallel"
    if kind == "event":
        kind = "exclusive"
    if kind not in _KINDS or fault.kind not in ("deadlock", "unsync") or len(into) < 2:
        return
    if isinstance(at, Gateway):
        if at.gateway_kind != kind and at.gateway_kind in _KINDS and _joins_only(at, scope):
            yield _of_kind(at, kind, scope, namer)
        if isinstance(split, Gateway) and at.gateway_kind in _KINDS and _unasked(split, scope):
            yield _of_kind(split, at.gateway_kind, scope, namer)
    elif at is not None and fault.kind == "unsync":
        yield _joined(at.id, kind, into, scope, namer)


def _joins_only(gateway: Gateway, scope: Scope) -> bool:
    return sum(1 for f in scope.flows if f.source == gateway.id) <= 1


def _unasked(split: Gateway, scope: Scope) -> bool:
    """Whether nothing at a split says that one of several ways is chosen."""
    out = [f for f in scope.flows if f.source == split.id]
    asked = split.name.strip().endswith("?") or any(
        f.condition is not None or f.default or f.name.strip() for f in out
    )
    return not asked and sum(1 for f in scope.flows if f.target == split.id) <= 1


def _of_kind(gateway: Gateway, kind: str, scope: Scope, namer: Namer) -> Fix:
    changed = Gateway.model_validate({**gateway.__dict__, "gateway_kind": kind})
    edits = [Edit(action="replace", scope=scope.id, id=gateway.id, node=changed)]
    if kind == "parallel":
        edits += [
            Edit(action="replace", scope=scope.id, id=f.id, flow=f.replace(default=False))
            for f in scope.flows
            if f.source == gateway.id and f.default
        ]
    return Fix(
        title=f"make {namer.name(gateway.id)} {_KINDS[kind]} gateway",
        applicability="safe",
        edits=tuple(edits),
    )


def _joined(node: str, kind: str, into: list[Flow], scope: Scope, namer: Namer) -> Fix:
    taken = {n.id for n in scope.nodes} | {f.id for f in scope.flows}
    name = _free(f"{node}_join", taken)
    join = Gateway.model_validate({"id": name, "gateway_kind": kind})
    return Fix(
        title=f"join the branches with {_KINDS[kind]} gateway before {namer.name(node)}",
        applicability="safe",
        edits=(
            Edit(action="add", scope=scope.id, node=join),
            *(
                Edit(action="replace", scope=scope.id, id=f.id, flow=f.replace(target=name))
                for f in into
            ),
            Edit(
                action="add",
                scope=scope.id,
                flow=Flow(id=_free(f"{name}_flow", taken), source=name, target=node),
            ),
        ),
    )


def _free(wanted: str, taken: set[str]) -> str:
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name
