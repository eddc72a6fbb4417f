"""The soundness analysis beside its oracle on one process: disagreements, and what it was like."""

from __future__ import annotations

from collections import Counter

from soundness_oracle import Oracle, Verdict

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.control_flow.graph import ENTRY, ControlFlow
from orgflow_ir.flow.soundness import Analysis, Fault, Property, analyse
from orgflow_ir.flow.token_game.semantics import Game, NotEnabled, Policy
from orgflow_ir.model import Event, Gateway, Model, Process

DECIDED = {"proved": False, "violated": True}


def compare(process: Process, limit: int) -> tuple[list[str], Counter[str]]:
    """Disagreements, and what the process was like."""
    found = analyse(process)
    oracle = Oracle(process).verdict(limit)
    like = feature_counts(process)
    wrong = replays(process, found)
    if not oracle.complete:
        return wrong, like + Counter(["oracle gave up"])
    like["judged"] = 1
    like["unsound"] = int(not oracle.sound)
    outcomes = {p: v.outcome for p, v in found.verdicts.items()}
    if "unknown" in outcomes.values():
        like["unknown"] = 1
        for doubt in dict.fromkeys(d.reason.split(" states")[0] for _, d in found.doubts):
            like[f"unknown: {doubt}"] += 1
    for wanted, theirs in _theirs(oracle).items():
        ours = DECIDED.get(outcomes[wanted])
        if ours is not None and theirs is not None and ours != theirs:
            wrong.append(f"{wanted}: {outcomes[wanted]}, oracle {theirs}; {found.faults}")
    if not oracle.piled:
        wrong += _places(found, oracle, outcomes)
    if outcomes[Property.UNBOUNDED] == "violated" and not oracle.piled:
        wrong.append("unbounded work, and the oracle sees an end of it")
    for p in Property:
        if outcomes[p] == "not applicable":
            like[f"not applicable: {p}"] += 1
    return wrong, like


def _theirs(oracle: Verdict) -> dict[Property, bool | None]:
    """What the oracle says of each property; `None`: not known, for work piles up."""
    stuck, livelock = bool(oracle.stuck), oracle.livelock
    if oracle.piled:
        return {Property.DOUBLE: True}
    return {
        Property.DOUBLE: bool(oracle.double),
        Property.DEADLOCK: stuck,
        Property.LIVELOCK: livelock,
        Property.STUCK: stuck or livelock,
        Property.DEAD: bool(oracle.dead),
        Property.IMPROPER: oracle.improper,
    }


def _places(found: Analysis, oracle: Verdict, outcomes: dict[Property, str]) -> list[str]:
    wrong = []
    joins = {
        f.element for f in found.faults if f.kind in ("deadlock", "leftover") and not f.ended_by
    }
    if not joins <= oracle.stuck:
        wrong.append(f"deadlocks {sorted(joins)}, oracle {sorted(oracle.stuck)}")
    doubled = {f.element for f in found.faults if f.kind == "unsync" and not _twice(f)}
    if not doubled <= oracle.double:
        wrong.append(f"doubled {sorted(doubled)}, oracle {sorted(oracle.double)}")
    dead = {f.element for f in found[Property.DEAD].faults}
    if outcomes[Property.DEAD] in DECIDED and dead != _top(dead, oracle.dead, found.process):
        wrong.append(f"dead {sorted(dead)}, oracle {sorted(oracle.dead)}")
    return wrong


def _twice(fault: Fault) -> bool:
    """Whether the run itself does the element twice."""
    return sum(s.element == fault.element and s.action != "open" for s in fault.trace) > 1


def _top(ours: set[str], dead: set[str], process: Process) -> set[str]:
    """Dead elements without those inside of dead ones."""
    inside = {n.id for s in process.scopes() if s.id in dead for t in s.scopes() for n in t.nodes}
    return dead - inside


def replays(process: Process, found: Analysis) -> list[str]:
    """Faults whose run the token game does not play, or that carry none."""
    wrong = []
    game: Game | None = None
    for fault in found.faults:
        game = game or Game(Model(id="m", processes=(process,)), Policy(once=True))
        if not fault.trace or not plays(game, process, fault.trace):
            wrong.append(f"the run of {fault} does not replay")
    hides = found.faults or found.doubts or found[Property.DEAD].faults
    if found.masked and not hides:
        wrong.append("a masked fault stands alone")
    return wrong


def plays(game: Game, process: Process, trace: tuple[Step, ...]) -> bool:
    """Whether the token game allows a run."""
    starts = game.starts(process.id)
    begin = trace[0].element if trace[0].element in starts else starts[0]
    state = game.initial(process.id, begin)
    try:
        for step in trace:
            state = game.fire(state, step)
    except NotEnabled:
        return False
    return True


def feature_counts(process: Process) -> Counter[str]:
    """What the distribution is told by."""
    scopes = list(process.scopes())
    nodes = [n for s in scopes for n in s.nodes]
    like: Counter[str] = Counter(processes=1, nodes=len(nodes))
    like[f"size {len(nodes) // 10 * 10:02}s"] = 1
    like["irreducible cycle"] = int(any(irreducible(ControlFlow(s)) for s in scopes))
    like["inclusive join"] = int(
        any(
            isinstance(n, Gateway)
            and n.gateway_kind == "inclusive"
            and sum(f.target == n.id for s in scopes for f in s.flows) > 1
            for n in nodes
        )
    )
    like["boundary event"] = int(any(n.kind == "event" and n.position == "boundary" for n in nodes))
    like["sub-process"] = int(len(scopes) > 1)
    like["boundary event or sub-process"] = int(like["boundary event"] or like["sub-process"])
    like["terminate or error end"] = int(
        any(isinstance(n, Event) and n.trigger in ("terminate", "error") for n in nodes)
    )
    return like


def irreducible(graph: ControlFlow) -> bool:
    """Whether some cycle is come into at more than one place: a way back to a node that does not
    dominate where it comes from (Hecht and Ullman 1974)."""
    dominators = graph.dominator
    order: dict[str, int] = {}
    state: dict[str, int] = {}
    for entry in graph.entries:
        if entry in state:
            continue
        state[entry] = 1
        work = [(entry, iter(graph.successors[entry]))]
        while work:
            node, ways = work[-1]
            for after in ways:
                if after not in state:
                    state[after] = 1
                    work.append((after, iter(graph.successors[after])))
                    break
                if state[after] == 1 and after != node:
                    at = node
                    while at not in (after, ENTRY):
                        at = dominators.get(at, ENTRY)
                    if at != after:
                        return True
            else:
                state[node] = 2
                order[node] = len(order)
                work.pop()
    return False
