"""The analysis of one process: every scope separately, from the inside out, and the verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property, partial
from typing import TYPE_CHECKING

from orgflow_ir.flow.nets.activity_summaries import (
    Nesting,
    Thrown,
    event_interrupts,
    in_flow,
    starts_of,
)
from orgflow_ir.flow.nets.build_net import lower_scope
from orgflow_ir.flow.nets.net import Body, Net
from orgflow_ir.flow.nets.wiring import is_handler
from orgflow_ir.flow.soundness.features import (
    early_end,
    has_inclusive_join,
    has_shut_flow,
    is_entangled,
    stands_apart,
)
from orgflow_ir.flow.soundness.findings import MAX_STATES, NetFault, ScopeVerdict
from orgflow_ir.flow.soundness.memory import CalledResult, Memory
from orgflow_ir.flow.soundness.scope import may_hang
from orgflow_ir.flow.soundness.verdicts import (
    Analysis,
    Doubt,
    Fault,
    Outcome,
    Property,
    Verdict,
    Verdicts,
    Way,
)
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model import CallActivity, Event, Model, Process, Scope, SubProcess

if TYPE_CHECKING:
    from orgflow_ir.flow.nets.call_order import CallOrder
    from orgflow_ir.flow.soundness import counterexamples
    from orgflow_ir.flow.soundness.counterexamples import Shower
    from orgflow_ir.flow.token_game import semantics
    from orgflow_ir.flow.token_game.semantics import Game
else:  # faulty models, and those that have to be explored
    counterexamples = LazyModule("orgflow_ir.flow.soundness.counterexamples")
    semantics = LazyModule("orgflow_ir.flow.token_game.semantics")

_KIND = {
    "deadlock": Property.DEADLOCK, "unsync": Property.DOUBLE, "livelock": Property.LIVELOCK,
    "leftover": Property.DEADLOCK,
}  # fmt: skip


def analyse(
    process: Process,
    model: Model | None = None,
    *,
    max_states: int = MAX_STATES,
    game: Callable[[], Game] | None = None,
    show: bool = True,
    memory: Memory | None = None,
) -> Analysis:
    """Verdicts for a process, with all its sub-processes.

    `model` contains everything that the process refers to (called processes, the catalogue).
    `max_states` bounds the exploration of each scope. `game` returns the token game of the model
    (`Policy(once=True)`), created only to show a fault. Without `show`, faults have no trace, and
    faults that no run reaches are included; this suffices to establish that there is no fault.
    `memory` contains results of earlier analyses of the same model.
    """
    model, memory = model or _build_model(process), memory or Memory()
    analyser = _Analyser(process, model, max_states, game, frozenset(), memory, show)
    return analyser.run()


class Games:
    """The token games in which runs of the processes of a model are shown, with the policies of the
    analysis, each compiled once. A game contains one process alone if only messages connect the
    processes; messages arrive when they are awaited."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self._made: dict[int, tuple[Process | None, Game]] = {}

    def of(self, process: Process) -> semantics.Game:
        """The game that contains a process."""
        alone = process if self._is_separate else None
        if id(alone) not in self._made:
            model = self.model
            if alone is not None:
                model = model.replace(processes=(alone,), pools=(), message_flows=())
            self._made[id(alone)] = alone, semantics.Game(model, semantics.Policy(once=True))
        return self._made[id(alone)][1]

    @cached_property
    def _is_separate(self) -> bool:
        """Whether there are several processes that only messages connect."""
        processes = self.model.processes
        return len(processes) > 1 and not any(map(_reaches_out, processes))


def _reaches_out(process: Process) -> bool:
    """Whether a process calls another one, or has signals."""
    return any(
        node.kind == "call-activity"
        or (node.kind == "event" and "signal" in [d.kind for d in node.definitions])
        for scope in process.scopes()
        for node in scope.nodes
    )


def _build_model(process: Process) -> Model:
    return Model(id=process.id, processes=(process,))


class _Analyser:
    def __init__(
        self,
        process: Process,
        model: Model,
        max_states: int,
        game: Callable[[], Game] | None,
        calling: frozenset[str],
        memory: Memory,
        show: bool = True,
    ) -> None:
        self.process, self.model, self.max_states = process, model, max_states
        self.show, self.memory = show, memory
        self.calling = calling | {process.id}
        self.make_game = game or partial(Games(model).of, process)
        self.nesting = Nesting(process, model)
        self.thrown = Thrown(self.nesting)
        self.nets: dict[int, Net] = {}
        self.verdicts: dict[int, ScopeVerdict] = {}
        self.completed: dict[str, bool] = {}
        self.lowered: dict[int, tuple[dict[str, Body], frozenset[str]]] = {}
        self.doubts: list[tuple[Scope, Doubt]] = []
        self.faults: list[Fault] = []
        self.masked: list[Fault] = []
        self.improper: list[Fault] = []
        self.shower: Shower | None = None

    def run(self) -> Analysis:
        self.judge()
        order = {id(s): i for i, s in enumerate(self.nesting.scopes)}
        for scope in self.nesting.scopes:
            self._show_faults(scope)
        self.faults.sort(key=lambda f: order[id(f.scope)])
        states = sum(v.states for v in self.verdicts.values())
        return Analysis(
            self.process,
            Verdicts(self._decide_property),
            tuple(self.faults),
            tuple(self.masked),
            tuple(self.doubts),
            states,
            frozenset(s.id for s in self.nesting.scopes if self.verdicts[id(s)].growing),
        )

    # -- scopes, from the inside out ----------------------------------------------------------

    def judge(self) -> bool:
        """Judge every scope; whether some run of the process is done without an error."""
        done = True
        for scope in reversed(self.nesting.scopes):
            done = self._judge_scope(scope)
        return done

    def _judge_scope(self, scope: Scope) -> bool:
        thrown = self.thrown
        bodies = self._summarise_bodies(scope)
        events = len(self.nesting.scopes) > 1 or bodies
        ending = thrown.ending(scope) if events or self.nesting.around else frozenset()
        ghosts = bool(bodies) and has_shut_flow(scope, bodies) and has_inclusive_join(scope)
        verdict = self.memory.verdict(scope, bodies, ending, ghosts, self.max_states)
        net = verdict.net
        self.nets[id(scope)], self.verdicts[id(scope)] = net, verdict
        self.lowered[id(scope)] = (bodies, ending)
        thrown.note(scope, verdict.used)
        self._note_doubts(scope, net, verdict)
        if scope is self.process and len(self.calling) == 1:
            done = True  # nobody asks
        elif not net.ends_early and (verdict.clean or verdict.done is not None):
            done = verdict.clean or bool(verdict.done)
        else:
            done = self.memory.completes(scope, bodies, ending, ghosts, self.max_states)
        done = done or self._is_ended_by_handler(scope)
        self.completed[scope.id] = done
        return done

    def _is_ended_by_handler(self, scope: Scope) -> bool:
        """Whether an event sub-process that interrupts a scope completes in its place."""
        for node in scope.nodes:
            if not isinstance(node, SubProcess) or node.flavour != "event":
                continue
            fired = node.id in self.thrown.fired
            interrupts = any(
                event_interrupts(start) and (fired or not self.nesting.throws_itself(start, scope))
                for start in starts_of(node)
            )
            if interrupts and self.completed.get(node.id, True):
                return True
        return False

    def _summarise_bodies(self, scope: Scope) -> dict[str, Body]:
        """What the sub-processes and called processes of a scope do, by their node."""
        bodies: dict[str, Body] = {}
        for node in scope.nodes:
            if node.kind == "sub-process" or node.kind == "call-activity":
                body = self._summarise_body(scope, node)
                if body is not None:
                    bodies[node.id] = body
        return bodies

    def _summarise_body(self, scope: Scope, node: SubProcess | CallActivity) -> Body | None:
        if isinstance(node, SubProcess):
            if not in_flow(node):
                return None
            body = self.thrown.body(node.id, node, self.completed[node.id])
            if self.verdicts[id(node)].hangs and self.nesting.ended_by(node) is None:
                return (body or Body())._replace(holds=True)
            return body
        called = self.nesting.process_called(node)
        if called is None or called.id in self.calling:
            return None
        result = self._judge_called(called)
        self.thrown.through_call(scope, node, result.leaving)
        return self.thrown.body(node.id, called, result.done)

    def _judge_called(self, called: Process) -> CalledResult:
        """The result of a called process, after the processes that it calls itself."""
        order = self.memory.call_order(self.model)
        known = self.memory.called
        key = self._key_of_call(called, order)
        if key not in known:
            for process in (*order.list_inner(called.id), called):
                own = self._key_of_call(process, order)
                if own in known:
                    continue
                inner = _Analyser(
                    process, self.model, self.max_states, self.make_game, self.calling, self.memory
                )
                done = inner.judge()
                known[own] = CalledResult(done, inner.thrown.leaving)
        return known[key]

    def _key_of_call(
        self, called: Process, order: CallOrder
    ) -> tuple[int, str, frozenset[str], int]:
        """What the result of a called process depends on: calls back to a calling process are not
        followed."""
        back = order.reached(called.id) & self.calling
        return id(self.model), called.id, back, self.max_states

    def _note_doubts(self, scope: Scope, net: Net, verdict: ScopeVerdict) -> None:
        doubts = [Doubt(node.id, reason) for node, reason in net.doubtful]
        if isinstance(scope, SubProcess) and scope.flavour == "ad-hoc" and is_entangled(scope):
            doubts.append(Doubt(scope.id, "its activities run in any order and number"))
        if not verdict.decided and not verdict.growing:
            element = verdict.named[0] if verdict.named else scope.id
            doubts.append(Doubt(element, verdict.reason))
        self.doubts += [(scope, d) for d in doubts]

    # -- faults -------------------------------------------------------------------------------

    def _show_faults(self, scope: Scope) -> None:
        verdict = self.verdicts[id(scope)]
        if not verdict.faults and not verdict.masked:
            return
        shower = self.shower = self.shower or self._make_shower()
        kinds = {f.kind for f in (*verdict.faults, *verdict.masked)} | {"leftover"}
        ended = {kind: self.nesting.ended_by(scope, kind == "livelock") for kind in kinds}
        doubtful = {n.id for v in self.verdicts.values() for n, _ in v.net.doubtful}
        order = {n.id: i for i, n in enumerate(scope.nodes)}
        reported: set[tuple[str, str]] = set()
        net = verdict.net
        outer = self.nesting.chain(scope)[:-1]
        before = any(any(f.scope is s for s in outer) for f in self.faults)
        undecided = before and not all(self.verdicts[id(s)].decided for s in outer)
        faults, masked = verdict.faults, verdict.masked
        if not self._is_entered(scope):
            faults, masked = [], [*masked, *faults]
        # 1. Faults of runs, each shown on the token game; the first of each kind and element.
        for item in sorted(faults, key=lambda f: order.get(net.element[f.join], -1)):
            fault = _place_fault(scope, net, item, ended[item.kind])
            if (fault.kind, fault.element) in reported:
                continue
            reported.add((fault.kind, fault.element))
            if fault.ended_by is None and fault.kind != "unsync":
                fault.ended_by = self._find_ender(scope)
            shown = not self.show or shower.show(fault, item.logs)
            self._sort_fault(fault, shown, doubtful, behind_undecided=undecided)
        # 2. Faults that others mask.
        for item in masked:
            fault = _place_fault(scope, net, item, ended[item.kind])
            fault.masked = True
            if (fault.kind, fault.element) not in reported:
                reported.add((fault.kind, fault.element))
                self.masked.append(fault)
        # 3. A join behind a deadlock is not named with it where it is reported itself.
        for fault in self.faults if reported else ():
            if fault.scope is scope and fault.behind:
                fault.behind = tuple(e for e in fault.behind if ("deadlock", e) not in reported)
        # 4. Tokens that stay behind at the end.
        if verdict.improper_log and self._is_entered(scope):
            ender = ended["leftover"] or self._find_ender(scope)
            fault = Fault("leftover", scope, net.element[verdict.improper_at], ended_by=ender)
            shown = not self.show or shower.show(fault, [verdict.improper_log])
            self._sort_leftover(fault, shown)

    def _sort_leftover(self, fault: Fault, shown: bool) -> None:
        """Tokens that stay behind are proved, in doubt, or follow from another fault."""
        scope = fault.scope
        if shown:
            self.improper.append(fault)
        elif not any(f.scope is scope and f.ended_by for f in self.faults):
            self.doubts.append((scope, Doubt(fault.element, "no run to its end was found")))

    def _make_shower(self) -> counterexamples.Shower:
        return counterexamples.Shower(self.nesting, self.nets, self.make_game)

    def _sort_fault(
        self, fault: Fault, shown: bool, doubtful: set[str], *, behind_undecided: bool
    ) -> None:
        """A fault is proved, masked or in doubt.

        Args:
            fault: one of the net of its scope.
            shown: whether the game plays its run.
            doubtful: the ids of elements with unknown effect.
            behind_undecided: whether a scope around it has faults and is not decided.
        """
        scope = fault.scope
        if shown and doubtful & ({fault.element} | {s.element for s in fault.trace}):
            self.doubts.append(
                (scope, Doubt(fault.element, "an element with unknown effect comes first"))
            )
        elif shown:
            self.faults.append(fault)
        elif (
            behind_undecided
            or any(v.growing for v in self.verdicts.values())
            or not all(self.completed.get(e, True) for e in fault.cycle)
        ):  # it stands behind what is not followed to its end
            fault.masked = True
            self.masked.append(fault)
        else:
            self.doubts.append((scope, Doubt(fault.element, f"no run reaches its {fault.kind}")))

    def _find_ender(self, scope: Scope) -> Event | None:
        """An end event that ends a scope from around it in every run in which it hangs."""
        nesting = self.nesting
        outer = nesting.parent.get(id(scope))
        while outer is not None:
            if self.nets[id(outer)].ends_early and in_flow(scope):
                bodies, ending = self.lowered[id(outer)]
                body = bodies.get(scope.id, Body())._replace(holds=True)
                bodies = {**bodies, scope.id: body}
                ghosts = has_shut_flow(outer, bodies) and has_inclusive_join(outer)
                net = lower_scope(
                    outer, bodies, ending, ghosts=ghosts, wiring=self.memory.wiring(outer)
                )
                if may_hang(net, self.max_states) is False:
                    return early_end(nesting.scopes)
            scope, outer = outer, nesting.parent.get(id(outer))
        return None

    # -- verdicts -----------------------------------------------------------------------------

    def _decide_property(self, wanted: Property) -> Verdict:
        if not any(s.nodes for s in self.nesting.scopes):
            return Verdict("not applicable", "it has no steps")
        if wanted is Property.DEAD:
            return self._find_dead()
        faults = tuple(self._list_faults(wanted))
        strong = tuple(f for f in faults if f.ended_by is None or f.kind == "unsync")
        if strong:
            return Verdict("violated", faults=faults)
        outcome, reason, named = self._decide_unfaulted(wanted)
        if outcome == "proved" and faults:
            event = faults[0].ended_by
            assert event is not None
            reason = f"only until `{event.label}` ends it"
        return Verdict(outcome, reason, named, faults)

    def _list_faults(self, wanted: Property) -> Iterator[Fault]:
        if wanted is Property.IMPROPER:
            yield from self.improper
            return
        for fault in self.faults:
            match wanted:
                case Property.UNBOUNDED:
                    if fault.unbounded:
                        yield fault
                case Property.STUCK:
                    if fault.kind in ("deadlock", "livelock", "leftover"):
                        yield fault
                case _:
                    if _KIND[fault.kind] is wanted:
                        yield fault

    def _decide_unfaulted(self, wanted: Property) -> tuple[Outcome, str, tuple[str, ...]]:
        doubts = [d for s, d in self.doubts if self._is_entered(s)]
        if doubts:
            return "unknown", doubts[0].reason, tuple(dict.fromkeys(d.element for d in doubts))
        for scope in self.nesting.scopes:
            verdict = self.verdicts[id(scope)]
            if not self._is_entered(scope):
                continue
            if verdict.growing and wanted not in (Property.DOUBLE, Property.UNBOUNDED):
                reason = "determined only where tokens do not accumulate without limit"
                return "not applicable", reason, verdict.named
            if verdict.growing and wanted is Property.UNBOUNDED:
                return "unknown", "no run demonstrates the fault", verdict.named
        for scope in self.nesting.scopes:
            if self._is_entered(scope) and self._is_hinted_at(wanted, scope):
                return "unknown", "no run demonstrates the fault", (scope.id,)
        return "proved", "", ()

    def _is_hinted_at(self, wanted: Property, scope: Scope) -> bool:
        """Whether the net of a scope has a fault of a kind that no run of the game shows."""
        verdict = self.verdicts[id(scope)]
        if wanted is Property.IMPROPER and verdict.improper and not self.improper:
            return True
        shown = {_KIND[f.kind] for f in self.faults if f.scope is scope}
        hints = {_KIND[k] for k in verdict.hints if wanted is not Property.STUCK or k != "unsync"}
        return bool(hints - shown if wanted is Property.STUCK else (hints - shown) & {wanted})

    def _find_dead(self) -> Verdict:
        faults = []
        for scope in self.nesting.scopes:
            verdict = self.verdicts[id(scope)]
            if not self._is_entered(scope):
                continue
            wiring = self.memory.wiring(scope)
            for node in scope.nodes:
                if node.id not in verdict.used and not stands_apart(node, wiring):
                    if node.id in verdict.net.live and not verdict.decided:
                        continue
                    faults.append(Fault("dead", scope, node.id))
        if faults:
            trace = next((f.trace for f in self.faults if f.kind == "deadlock"), ())
            for fault in faults:
                fault.trace = trace
            return Verdict("violated", faults=tuple(faults))
        outcome, reason, named = self._decide_unfaulted(Property.DEAD)
        return Verdict(outcome, reason, named)

    def _is_entered(self, scope: Scope) -> bool:
        outer = self.nesting.parent.get(id(scope))
        while outer is not None:
            if not is_handler(scope) and scope.id not in self.verdicts[id(outer)].used:  # type: ignore[arg-type]
                return False
            scope, outer = outer, self.nesting.parent.get(id(outer))
        return True


def _place_fault(scope: Scope, net: Net, item: NetFault, ended: Event | None) -> Fault:
    def name_way(arc: int) -> Way:
        return Way(net.element[net.src[arc]], net.element[net.dst[arc]], net.flow[arc])

    split = net.element[item.split] if item.split >= 0 else ""
    cycle = dict.fromkeys(net.element[n] for n in item.around if net.element[n])
    return Fault(
        item.kind, scope, net.element[item.join], split,
        tuple(map(name_way, item.taken)), tuple(map(name_way, item.missing)), tuple(cycle),
        unbounded=item.unbounded, ended_by=ended, net=net, join=item.join,
        mutual=tuple(dict.fromkeys(net.element[n] for n in item.mutual)),
        behind=tuple(dict.fromkeys(net.element[n] for n in item.behind)),
        taken_arcs=item.taken, missing_arcs=item.missing,
    )  # fmt: skip
