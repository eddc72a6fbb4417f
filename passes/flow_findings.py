"""What the passes on flow share: findings by kind, the places they are about, the run told."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from orgflow.passes.flow_faults import MAX_STATES, Fault, Kind, ScopeFaults, analysis
from orgflow.passes.wording import Namer

from orgflow_ir.diagnostics import Related, Step
from orgflow_ir.graph import ControlFlow
from orgflow_ir.model import Event, Model, Scope, SubProcess
from orgflow_ir.pass_manager import Pass, PassContext, Stage
from orgflow_ir.regions import Lowered


@dataclass(frozen=True)
class FlowPass(Pass):
    """Base of the passes on flow: `max_states` is the budget of the analysis they share."""

    stage: ClassVar[Stage] = Stage.ANALYSE
    max_states: int = MAX_STATES


def all_faults(model: Model, ctx: PassContext, max_states: int) -> Iterator[ScopeFaults]:
    """The findings of every scope, computed once for all passes."""
    analyse = analysis(max_states)
    for scope in model.scopes():
        if scope.nodes:
            yield ctx.analysis(analyse, ctx.analysis(Lowered, ctx.analysis(ControlFlow, scope)))


def findings(
    model: Model, ctx: PassContext, max_states: int, kind: Kind
) -> Iterator[tuple[ScopeFaults, Fault]]:
    """Faults of one kind, in model order; of one element only the first, a shown one if any."""
    for found in all_faults(model, ctx, max_states):
        faults = [f for f in found.faults if f.kind == kind]
        if not faults:
            continue
        told: set[str] = set()
        order = {n.id: i for i, n in enumerate(found.scope.nodes)}
        faults.sort(key=lambda f: (f.masked, order[found.net.element[f.join]]))
        for fault in faults:
            element = found.net.element[fault.join]
            if element not in told:
                told.add(element)
                yield found, fault


def enclosing(model: Model, scope: Scope) -> list[Scope]:
    """The scopes from the process down to `scope`."""
    for process in model.processes:
        stack: list[list[Scope]] = [[process]]
        while stack:
            chain = stack.pop()
            if chain[-1] is scope:
                return chain
            stack.extend([*chain, n] for n in chain[-1].nodes if isinstance(n, SubProcess))
    raise ValueError(f"`{scope.id}` is not in the model")


_ENDING = frozenset({"message", "timer", "signal", "conditional", "escalation"})


def ended_by(model: Model, scope: Scope) -> Event | None:
    """An event from outside that takes every token out of `scope`: an interrupting boundary event
    of a sub-process it is in, or the start of an interrupting event sub-process. Events arrive."""
    around = enclosing(model, scope)
    for outer, inner in zip([None, *around], around, strict=False):
        for node in outer.nodes if outer is not None else ():
            if isinstance(node, Event) and node.attached_to == inner.id and _ends(node):
                return node
        for node in inner.nodes:
            if isinstance(node, SubProcess) and node.flavour == "event" and node not in around:
                for start in node.nodes:
                    if isinstance(start, Event) and start.position == "start" and _ends(start):
                        return start
    return None


def _ends(event: Event) -> bool:
    return event.interrupting and any(d.kind in _ENDING for d in event.definitions)


def related(found: ScopeFaults, fault: Fault, namer: Namer, text: str) -> tuple[Related, ...]:
    """The split a fault begins at."""
    if fault.split < 0 or not found.net.element[fault.split]:
        return ()
    node = namer.nodes[found.net.element[fault.split]]
    return (Related(message=f"{namer.name(node.id)}: {text}", element=node.id, loc=node.loc),)


def run_of(model: Model, ctx: PassContext, found: ScopeFaults, fault: Fault) -> tuple[Step, ...]:
    """The run that shows a fault, replayed on the token game."""
    if fault.masked:
        return ()
    from orgflow.passes.told_run import game_of, tell  # brings the token game with it

    game = ctx.analysis(game_of, model)
    return tell(game, found.scope, found.net, fault.log, fault.kind != "unsync")
