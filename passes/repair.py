"""Repairs of flow faults: changes that the analysis has proved, and decisions for a person.

Each candidate is made on a copy and analysed again, without showing runs of remaining faults: only
the processes that it changes or that call one of these, and in them only the changed scopes. Only a
candidate that removes its fault and causes no other is offered as a fix or named in a help text. If
the target is known, candidates that it supports come first, and the help names the unsupported
constructs of the others; otherwise, candidates whose parts every target supports come first.
"""

from __future__ import annotations

from collections.abc import Sequence

from orgflow.passes.flow_findings import FlowAnalyses, Repair, list_analyses
from orgflow.passes.repair_candidates import Candidates
from orgflow.passes.repair_edits import Candidate
from orgflow.passes.wording import Namer

from orgflow_ir.diagnostics import Fix, Severity, apply
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.soundness import Analysis, Fault, Property, analyse
from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import CallActivity, Event, Gateway, Model
from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.provenance import elements_by_id
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.spec import Illegal, TargetSpec

MOST = 40_000
"""Maximum number of elements and states analysed again for one model: each candidate requires an
analysis."""
Key = tuple[str, str]
"""Kind and element of a fault."""


class _Facts(NamedTuple):
    """What an analysis says against a model."""

    faults: frozenset[Key]
    dead: frozenset[str]
    violated: frozenset[tuple[str, str]]
    unknown: frozenset[tuple[str, str]]
    unjudged: frozenset[tuple[str, str]]
    """Properties that are not judged, since work piles up somewhere."""
    growing: frozenset[str]
    doubts: frozenset[tuple[str, str]]
    masked: bool
    """Whether some fault stands behind others: its properties are not in `violated`."""

    def covers(self, other: _Facts, scope: str) -> bool:
        """Whether nothing is wrong or undecided in `other`, after a change in `scope`, that is not
        here. What was wrong and is not judged any more is no worse where the work that piles up
        did so before, in another scope."""
        unjudged = self.unjudged
        if scope not in other.growing and other.growing <= self.growing:
            unjudged |= self.violated
        return (
            self.faults >= other.faults
            and self.dead >= other.dead
            and self.doubts >= other.doubts
            and (self.masked or self.violated >= other.violated)
            and self.unknown >= other.unknown
            and unjudged >= other.unjudged
        )


class Repairs:
    """The proved changes for the faults of a model, searched on first use."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.size = sum(len(s.nodes) for s in model.scopes())
        self._max_states = 0
        self._flow: FlowAnalyses
        self._table: dict[Key, list[Candidate]] = {}
        self._cures: dict[Key, frozenset[Key]] = {}
        self._faults: list[Fault] = []
        self._made = self._spent = False
        self._refused: frozenset[str] | None = None

    def of(self, fault: Fault, ctx: PassContext, max_states: int, decide: str) -> Repair:
        """The repair of a fault; `decide` is the help if nothing is proved."""
        if not self._made:
            self._made, self._max_states = True, max_states
            self._flow = ctx.analysis(FlowAnalyses, self.model)
            self._find_repairs(list_analyses(self.model, ctx, max_states), ctx)
        if fault.masked:
            return Repair(None, "fix the faults before it first, and check again")
        namer = ctx.analysis(Namer, fault.scope)
        key = _fault_key(fault)
        proved = self._fitting_candidates(key, ctx)
        safe = [c for c in proved if c.safe]
        if safe:
            return Repair(safe[0].fix, safe[0].advice)
        cause = self._find_cause(fault)
        if cause is not None:
            return Repair(
                None, f"fix {namer.name(cause.element)} first, which also clears this fault"
            )
        if not proved:
            untried = " (the model is too large to try fixes for this fault)" if self._spent else ""
            return Repair(None, decide + untried)
        fix = next((c.fix for c in proved if c.fix.applicability == "unsafe"), None)
        advice = [c.advice for c in proved]
        if len(advice) > 1:
            return Repair(fix, f"decide: either {'; or '.join(advice)}")
        choice = advice[0].startswith("make ") and ", if " not in advice[0]
        return Repair(fix, f"{advice[0]}, if that is intended" if choice else advice[0])

    def _fitting_candidates(self, key: Key, ctx: PassContext) -> list[Candidate]:
        """The proved changes for a fault, those that the target supports first."""
        proved = self._table.get(key, [])
        target = ctx.target
        if not isinstance(target, TargetSpec):
            if len(proved) > 1:
                proved = sorted(proved, key=lambda c: not _is_supported(c.fix, ctx))
            return proved
        if not proved:
            return proved
        if self._refused is None:
            self._refused = frozenset(_list_refusals(self.model, target, ctx))
        supported: list[tuple[bool, Candidate]] = []
        for candidate in proved:
            refusals = _list_refusals(apply(self.model, candidate.fix), target, ctx)
            parts = [name for id, name in refusals.items() if id not in self._refused]
            if parts:
                text = f"{candidate.advice} ({target.name} does not support {join_listed(parts)})"
                candidate = candidate._replace(advice=text)
            supported.append((bool(parts), candidate))
        return [candidate for _, candidate in sorted(supported, key=lambda pair: pair[0])]

    def _find_cause(self, fault: Fault) -> Fault | None:
        """Another fault whose cures are all cures of this one, and that none of these repairs."""
        key = _fault_key(fault)
        mine = self._cures.get(key, frozenset())
        for other in self._faults:
            there = _fault_key(other)
            if (
                other.element != fault.element
                and key in self._cures.get(there, ())
                and there not in mine
            ):
                return other if other.scope is fault.scope else None
        return None

    def _find_repairs(self, before: tuple[Analysis, ...], ctx: PassContext) -> None:
        self._faults = [f for analysis in before for f in (*analysis.faults, *analysis.masked)]
        waiting: list[tuple[Fault, list[Candidate]]] = []
        for fault in self._faults:
            if _fault_key(fault) not in self._table and not fault.masked:
                self._table[_fault_key(fault)] = []
                graph = ctx.analysis(ControlFlow, fault.scope)
                namer = ctx.analysis(Namer, fault.scope)
                proposals = Candidates(self.model, fault.scope, namer, graph)
                waiting.append((fault, list(proposals.of(fault))))
        left = MOST
        for safe in (True, False):  # what needs no decision is tried for all faults first
            for fault, candidates in waiting:
                for candidate in candidates:
                    if candidate.safe is not safe or self._has_safe(_fault_key(fault)):
                        continue
                    if left < 0:
                        self._spent = True
                        return
                    left -= self.size + self._try_candidate(fault, candidate, before)

    def _has_safe(self, key: Key) -> bool:
        return any(c.safe for c in self._table[key])

    def _try_candidate(self, fault: Fault, candidate: Candidate, before: Sequence[Analysis]) -> int:
        """Analyse the model with a change made, and keep the change if it is proved. Returns how
        many states were looked at."""
        key, fixed = _fault_key(fault), apply(self.model, candidate.fix)
        same = _unchanged_processes(self.model, fixed)
        there = _list_facts([analysis for analysis in before if analysis.process.id not in same])
        analyses_after = [
            analyse(p, fixed, max_states=self._max_states, show=False, memory=self._flow.memory)
            for p in fixed.processes
            if p.nodes and p.id not in same
        ]
        after, states = _list_facts(analyses_after), sum(a.states for a in analyses_after)
        if key in after.faults or not there.covers(after, fault.scope.id):
            return states
        self._table[key].append(candidate)
        cured = there.faults - after.faults
        self._cures[key] = self._cures.get(key, cured) & cured
        return states


def _unchanged_processes(before: Model, after: Model) -> frozenset[str]:
    """The processes that a change left alone, and whose calls lead to no other."""
    known = {id(p) for p in before.processes}
    changed = {p.id for p in after.processes if id(p) not in known}
    calls = {
        p.id: {
            n.process.rpartition(":")[2]
            for s in p.scopes()
            for n in s.nodes
            if isinstance(n, CallActivity) and n.process
        }
        for p in (after.processes if len(after.processes) > 1 else ())
    }
    while more := {p for p, called in calls.items() if called & changed} - changed:
        changed |= more
    return frozenset(p.id for p in after.processes) - changed


def _list_refusals(model: Model, spec: TargetSpec, ctx: PassContext) -> dict[str, str]:
    """What a target does not support of a model, by id, named for people."""
    quiet = PassContext(registry=ctx.registry, target=spec, options=ctx.options)
    legalise(model, spec, quiet, allow_lossy=True)
    known = elements_by_id(model)
    return {
        d.element: quiet.full_name(known[d.element])
        for d in quiet.diagnostics
        if d.severity is Severity.ERROR and d.element in known
    }


def _is_supported(fix: Fix, ctx: PassContext) -> bool:
    """Whether every target that executes supports the gateways and events that a fix makes, going
    by its table: which shapes of flows it supports takes a whole legalisation to find out."""
    constructs = {e.node.construct for e in fix.edits if isinstance(e.node, Gateway | Event)}
    backends = ctx.registry.backends.values() if ctx.registry is not None else ()
    return not any(
        isinstance(spec.legality(construct), Illegal)
        and not any(pattern.takes(construct) for pattern in spec.lowerings)
        for spec in (backend.target for backend in backends if backend.target.executes)
        for construct in constructs
    )


def repair_fault(
    fault: Fault, model: Model, ctx: PassContext, max_states: int, decide: str
) -> Repair:
    """A proved fix for a flow fault, if there is one, and its help."""
    return ctx.analysis(Repairs, model).of(fault, ctx, max_states, decide)


def _fault_key(fault: Fault) -> Key:
    return fault.kind, fault.element


def _list_facts(analyses: Sequence[Analysis]) -> _Facts:
    def verdicts_with(*outcomes: str) -> frozenset[tuple[str, str]]:
        return frozenset(
            (a.process.id, kind.value)
            for a in analyses
            for kind, verdict in a.verdicts.items()
            if verdict.outcome in outcomes
        )

    return _Facts(
        faults=frozenset(_fault_key(f) for a in analyses for f in (*a.faults, *a.masked)),
        dead=frozenset(f.element for a in analyses for f in a[Property.DEAD].faults),
        violated=verdicts_with("violated"),
        unknown=verdicts_with("unknown"),
        unjudged=verdicts_with("not applicable"),
        growing=frozenset(s for a in analyses for s in a.growing),
        doubts=frozenset((s.id, d.element) for a in analyses for s, d in a.doubts),
        masked=any(a.masked for a in analyses),
    )
