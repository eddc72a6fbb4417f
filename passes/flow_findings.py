"""The shared part of the passes on flow: the analysis of a model and its faults by kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from orgflow.passes.flow_attachment import loose_ends
from orgflow.passes.wording import Namer

from orgflow_ir.diagnostics import Fix, Related
from orgflow_ir.flow.nets.wiring import Wiring
from orgflow_ir.flow.soundness import Analysis, Fault, analyse
from orgflow_ir.flow.soundness.analysis import Games
from orgflow_ir.flow.soundness.findings import MAX_STATES
from orgflow_ir.flow.soundness.memory import Memory
from orgflow_ir.flow.soundness.verdicts import Kind
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import Event, Model, Scope
from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.pipeline import Pass, PassContext, Stage

if TYPE_CHECKING:
    from orgflow.passes import repair
else:  # faulty models only
    repair = LazyModule("orgflow.passes.repair")

MASKED = " (after the faults before it are fixed)"


class Repair(NamedTuple):
    """The advice on a fault: a fix if there is one, and the help."""

    fix: Fix | None = None
    help: str = ""


@dataclass(frozen=True)
class FlowPass(Pass):
    """Base of the passes on flow: `max_states` is the budget of the shared analysis; `fixes`
    searches a fix of each fault by analysing each candidate."""

    stage: ClassVar[Stage] = Stage.ANALYSE
    max_states: int = MAX_STATES
    fixes: bool = True

    def repaired(
        self, fault: Fault, model: Model, ctx: PassContext, decide: str, *, fix: bool = True
    ) -> Callable[[], Repair]:
        """Finds a proved fix of a fault and its help, or `decide` if there is none. Without `fix`,
        it finds only the help."""

        def find_advice() -> Repair:
            if not self.fixes:
                return Repair(None, decide)

            repair_there = repair.repair_fault(fault, model, ctx, self.max_states, decide)
            return repair_there if fix else Repair(None, repair_there.help)

        return find_advice


class FlowAnalyses:
    """The analyses of the processes of one model, each computed once for all passes and for the
    candidate fixes of `repair`."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.memory = Memory()
        self._made: dict[int, tuple[Analysis, ...]] = {}
        # An object of its own: the analyses keep it, and must not lead to the context.
        self.games = Games(model)

    def of(self, max_states: int, wiring: Callable[[Scope], Wiring]) -> tuple[Analysis, ...]:
        """The analysis of every process that has steps, with a budget. `wiring` gives the analysis
        of a scope."""
        if max_states not in self._made:
            self.memory.make_wiring = wiring
            self._made[max_states] = tuple(
                analyse(
                    process,
                    self.model,
                    max_states=max_states,
                    game=partial(self.games.of, process),
                    memory=self.memory,
                )
                for process in self.model.processes
                if process.nodes
            )
            # `wiring` leads to the context, which keeps this object.
            self.memory.make_wiring = Wiring
        return self._made[max_states]


def list_analyses(model: Model, ctx: PassContext, max_states: int) -> tuple[Analysis, ...]:
    """The analysis of every process that has steps, computed once for all passes."""
    return ctx.analysis(FlowAnalyses, model).of(
        max_states, lambda scope: ctx.analysis(Wiring, scope)
    )


def list_findings(model: Model, ctx: PassContext, max_states: int, kind: Kind) -> Iterator[Fault]:
    """Faults of one kind, in model order; only the first of each element, preferably one with a
    run."""
    for analysis in list_analyses(model, ctx, max_states):
        faults = [
            f
            for f in (*analysis.faults, *analysis.masked)
            if f.kind == kind and not ctx.analysis(is_malformed, f.scope)
        ]
        if not faults:
            continue
        order = {id(s): i for i, s in enumerate(ctx.scopes(analysis.process))}
        reported: set[str] = set()
        faults.sort(key=lambda f: (order[id(f.scope)], f.masked))
        inside: dict[int, frozenset[str]] = {}
        for fault in faults:
            if id(fault.scope) not in inside:
                inside[id(fault.scope)] = frozenset(n.id for n in fault.scope.nodes)
            if fault.element in inside[id(fault.scope)] and fault.element not in reported:
                reported.add(fault.element)
                yield fault


def is_malformed(scope: Scope) -> bool:
    """Whether flows lead where none can (OF105) or nowhere (OF101, OF102): what follows from that
    is not told besides."""
    here = {node.id for node in scope.nodes}
    if any((f.source in here) != (f.target in here) for f in scope.flows):
        return bool(loose_ends(scope, Wiring(scope).live))
    events = {n.id for n in scope.nodes if isinstance(n, Event) and n.position == "boundary"}
    return bool(events) and any(f.target in events for f in scope.flows)


def related_split(fault: Fault, namer: Namer, text: str) -> tuple[Related, ...]:
    """The split at which a fault begins."""
    if not fault.split:
        return ()
    node = namer.nodes[fault.split]
    return (Related(message=f"{namer.name(node.id)}: {text}", element=node.id, loc=node.loc),)
