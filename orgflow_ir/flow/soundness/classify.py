"""Derives the faults of a net, each with runs, from the results of a reduction and an
exploration."""

from __future__ import annotations

from orgflow_ir.flow.control_flow.graph import strong_components
from orgflow_ir.flow.nets.net import FIRST
from orgflow_ir.flow.nets.reducing import reduce_net
from orgflow_ir.flow.nets.reduction import Clash, Reduction, list_elements
from orgflow_ir.flow.soundness.exploring import explore_residue
from orgflow_ir.flow.soundness.findings import NetFault, ScopeVerdict
from orgflow_ir.flow.soundness.net_runs import (
    list_cycle,
    move_outward,
    needed_moves,
    run_grows,
    turning_decision,
)
from orgflow_ir.flow.soundness.space import State, list_bits
from orgflow_ir.flow.soundness.waiting import Knots
from orgflow_ir.flow.soundness.witness_search import Firing, Play, final_marking, of_clash, of_moves

REPAIRED = 1_000
"""Maximum number of states examined after the faults that were found."""


class Classifier:
    """Finds the faults of a net that is unsound or not fully reduced, each with runs."""

    def __init__(self, verdict: ScopeVerdict, fast: Reduction, max_states: int) -> None:
        self.found, self.fast, self.max_states = verdict, fast, max_states
        self.net = verdict.net
        self.straight = verdict.net.straight_to_term()
        self._runs: dict[State, list[Firing]] = {}
        self._last: list[Firing] = []
        self._marks: dict[int, int] | None = None
        self._waiting: list[int] | None = None
        self._kept: dict[tuple[str, int], NetFault] = {}

    def run(self) -> None:
        verdict, net = self.found, self.net
        exact = self.fast
        if exact.repaired or verdict.awaits_itself:
            exact = reduce_net(net, repair=False, collapse_or=not verdict.awaits_itself)
        space, seen = explore_residue(exact, self.max_states)
        if (seen.double or not seen.complete) and exact.merged_or:
            # which branches an inclusive join takes together depends on how often it is come to
            wider = reduce_net(net, repair=False, collapse_or=False)
            wide_space, wide_seen = explore_residue(wider, self.max_states)
            if wide_seen.complete or wide_seen.growing or seen.complete:
                exact, space, seen = wider, wide_space, wide_seen
        self.exact, self.space, self.seen = exact, space, seen
        verdict.states += len(seen.reached)
        verdict.decided = seen.complete
        verdict.growing = seen.growing is not None
        ends = any(map(space.done, seen.reached))
        verdict.hangs = bool(seen.stuck)
        verdict.done = True if ends else False if seen.complete else None
        if not seen.complete:
            self._note_undecided()
        if seen.double:
            verdict.hints.add("unsync")
        if seen.endless:
            verdict.hints.add("livelock")
        if any(not net.held.intersection(space.waiting(s)) for s in seen.stuck):
            verdict.hints.add("deadlock")
        self._classify_clashes()
        self._explored_faults()
        self._once_repaired()
        verdict.livelock = bool(seen.endless)
        self._find_improper()
        if seen.complete:
            verdict.used = self._list_used()
            verdict.masked = [
                f
                for f in verdict.masked
                if f.kind != "livelock" or net.element[f.join] not in verdict.used
            ]

    def _note_undecided(self) -> None:
        verdict, net = self.found, self.net
        if self.seen.growing:
            verdict.reason = "tokens accumulate without limit"
            nodes = {m.node for m in self.seen.moves_to(self.seen.growing[1])}
        elif self.seen.too_wide >= 0:
            verdict.reason = "an inclusive split has too many outgoing flows to try them all"
            nodes = {self.seen.too_wide}
        else:
            nodes = {n for e in self.exact.edges for n in (e.src, e.dst)}
            verdict.reason = f"more than {self.max_states} states"
        named = [net.element[n] for n in sorted(nodes) if FIRST <= n < len(net.element)]
        verdict.named = tuple(dict.fromkeys(named))
        if verdict.reason.startswith("more"):
            verdict.reason += f" between {len(verdict.named)} gateways"

    # -- what the reduction found -------------------------------------------------------------

    def _classify_clashes(self) -> None:
        net = self.net
        for clash in self.fast.clashes:
            fault = self._of_clash(clash)
            log = of_clash(self.fast, clash)
            if log and self._shows_fault(fault, log):
                self._keep_fault(fault, log)
            elif (
                clash.fault != "unsync"
                or clash.join in net.acting
                or not self.straight.issuperset(net.outs[clash.join])
            ):
                self.found.masked.append(fault)

    def _of_clash(self, clash: Clash) -> NetFault:
        net, pair = self.net, clash.pair
        if clash.fault == "livelock":
            return NetFault("livelock", clash.join, around=list_cycle(net, clash.join))
        if pair is None:
            return NetFault("deadlock", clash.join)
        firsts = sorted(pair.branches)
        if clash.fault == "deadlock":
            missing = tuple(last for _, last in firsts[1:])
            return NetFault("deadlock", clash.join, pair.split, (firsts[0][0],), missing)
        return NetFault("unsync", clash.join, pair.split, tuple(first for first, _ in firsts))

    def _final_marks(self, log: list[Firing]) -> dict[int, int] | None:
        """The marks at the end of a run, `None` where it breaks a rule."""
        if log is not self._last:
            self._last, self._marks, self._waiting = log, final_marking(self.net, log), None
        return self._marks

    def _stuck_at(self, log: list[Firing]) -> list[int]:
        """The joins that wait indefinitely at the end of a run that keeps to the rules; kept, since
        many faults are shown by one run."""
        marks = self._final_marks(log) or {}
        if self._waiting is None:
            end = Play(self.net)
            end.marks = marks
            self._waiting = end.stuck()
        return self._waiting

    def _run_to(self, state: State) -> list[Firing]:
        """The run of the net to a state of the exploration; nothing where none could be made."""
        if state not in self._runs:
            self._runs[state] = of_moves(self.exact, self.seen.moves_to(state))
        return self._runs[state]

    def _shows_fault(self, fault: NetFault, log: list[Firing]) -> bool:
        """Whether the run keeps to the rules and ends where the fault is to be seen."""
        net = self.net
        marks = self._final_marks(log)
        if marks is None:
            return False
        if fault.kind == "unsync":
            return any(
                count > 1 and a not in self.straight and net.dst[a] not in net.aside
                for a, count in marks.items()
            )
        if fault.kind == "livelock":
            around = list_cycle(net, fault.join)  # in a step that may hang the run rests, by and by
            return not (net.held.intersection(around) or min(around) < FIRST or net.ends_early)
        return bool(self._stuck_at(log))

    def _keep_fault(self, fault: NetFault, log: list[Firing]) -> NetFault:
        """Place a fault and keep it, or its run with the same one found before."""
        if fault.kind == "unsync":
            self._place_fault(fault, log)
            log = move_outward(self.net, log)
            fault.unbounded = run_grows(self.net, log)
        elif fault.kind == "deadlock":
            self._name_waiting(fault, log)
        same = self._kept.setdefault((fault.kind, fault.join), fault)
        if same is fault:
            fault.logs = [log]
            self.found.faults.append(fault)
            return fault
        same.logs.append(log)
        return same

    def _place_fault(self, fault: NetFault, log: list[Firing]) -> None:
        """Name the node where two tokens are seen, where the run does not come twice to the join
        (one of several that were fused, or left by an event before)."""
        net = self.net
        twice = [
            a for a, n in (self._final_marks(log) or {}).items() if n > 1 and net.dst[a] >= FIRST
        ]
        left = next((a for a in twice if a in net.by_event), -1)
        if left >= 0:  # they meet behind the event
            event = net.dst[left]
            ahead = [net.dst[a] for a in net.outs[event]]
            meets = len(ahead) == 1 and ahead[0] >= FIRST and net.kind[ahead[0]] == "X"
            fault.join, fault.split, fault.taken = ahead[0] if meets else event, -1, ()
            return
        if sum(step.node == fault.join for step in log) > 1:
            return
        if twice and not any(fault.join in (net.src[a], net.dst[a]) for a in twice):
            fault.join, fault.split, fault.taken = net.dst[twice[0]], -1, ()

    def _name_waiting(self, fault: NetFault, log: list[Firing]) -> None:
        """Name the join that waits at the end of the run (one of several that were fused)."""
        net, fast = self.net, self.fast
        marks, waiting = self._final_marks(log) or {}, self._stuck_at(log)
        if waiting and fault.join not in waiting:
            near = [n for n in waiting if fast.root(n) == fast.root(fault.join)]
            fault.join, fault.split = (near or waiting)[0], -1
        if fault.split < 0:
            fault.missing = tuple(a for a in net.ins[fault.join] if a not in marks)
            fault.split, fault.taken = turning_decision(net, log, fault.missing, fault.join)

    # -- what the exploration found -----------------------------------------------------------

    def _explored_faults(self) -> None:
        self._classify_doubles()
        self._classify_stuck()
        for group in self.seen.endless:
            self._classify_endless(group)
        if self.seen.growing is not None:
            self._classify_growing(self.seen.growing[1])
        # of one fault at several joins of one cycle, or told by both, the first is enough
        reported = {(f.kind, self.net.element[f.join]) for f in self.found.faults}
        kinds = {f.kind for f in self.found.faults}
        self.found.masked = [
            f
            for f in self.found.masked
            if (f.kind, self.net.element[f.join]) not in reported and kinds
        ]

    def _once_repaired(self) -> None:
        """Joins that still wait indefinitely once the reduction has repaired the clashes."""
        fast, net, verdict = self.fast, self.net, self.found
        if not (fast.clashes and fast.edges and verdict.faults):
            return
        space, seen = explore_residue(fast, min(self.max_states, REPAIRED))
        knots = Knots(space)
        known = {net.element[f.join] for f in (*verdict.faults, *verdict.masked)}
        for state in seen.stuck if seen.complete else ():
            for knot in knots.of(state):
                join = knot.joins[0]
                if join >= len(net.kind) or net.element[join] in known | {""}:
                    continue
                known.add(net.element[join])
                empty = list_bits(space.ins[join] & ~state.mask)
                missing = tuple(fast.edges[e].last for e in empty)
                verdict.masked.append(NetFault("deadlock", join, missing=missing))

    def _classify_doubles(self) -> None:
        seen, net = self.seen, self.net
        known = {self.fast.root(f.join) for f in self.found.faults if f.kind == "unsync"}
        rounds = {self._find_component(f.join) for f in self.found.faults if f.kind == "unsync"}
        for node, (state, move, edge) in seen.double.items():
            if node >= len(net.kind):
                continue
            if self.fast.root(node) in known or self._find_component(node) in rounds:
                continue  # the same round of a loop: one fault, told where it is first seen
            moves = [*seen.moves_to(state), move]
            for run in (needed_moves(moves, 1 << edge), moves):
                log = of_moves(self.exact, run, edge)
                fault = NetFault("unsync", node)
                if log and self._shows_fault(fault, log):
                    rounds.add(self._find_component(node))
                    self._keep_fault(fault, log)
                    break

    def _find_component(self, node: int) -> int:
        if not hasattr(self, "_components"):
            net = self.net
            number = strong_components(
                {n: [net.dst[a] for a in outs] for n, outs in enumerate(net.outs)}
            )
            sizes: dict[int, int] = {}
            for c in number.values():
                sizes[c] = sizes.get(c, 0) + 1
            self._components = {n: c if sizes[c] > 1 else -1 - n for n, c in number.items()}
        return self._components.get(node, -1)

    def _classify_stuck(self) -> None:
        """Joins that wait indefinitely, each with those that wait only because of it."""
        seen, net, knots = self.seen, self.net, Knots(self.space)
        knots_by_joins: dict[tuple[int, ...], tuple[list[State], dict[int, None]]] = {}
        for state in seen.stuck:
            if net.held.intersection(self.space.waiting(state)):
                continue  # a consequence of what is told inside the activity
            for knot in knots.of(state):
                states, behind = knots_by_joins.setdefault(knot.joins, ([], {}))
                states.append(state)
                behind.update(dict.fromkeys(n for n in knot.behind if n < len(net.kind)))
        reported = {f.join: f for f in self.found.faults if f.kind == "deadlock"}
        for joins in sorted(knots_by_joins, key=len):
            states, behind = knots_by_joins[joins]
            if not all(j in reported for j in joins):
                fault = self._knot_fault(joins, states)
                if fault is not None:
                    reported |= dict.fromkeys((*joins, fault.join), fault)
            if joins[0] in reported:
                first = reported[joins[0]]
                first.behind = tuple(dict.fromkeys((*first.behind, *behind)))

    def _knot_fault(self, joins: tuple[int, ...], states: list[State]) -> NetFault | None:
        """The fault of joins that wait for nothing but each other, shown in one of some states."""
        seen, net = self.seen, self.net
        joins = tuple(j for j in joins if j < len(net.kind))
        join = joins[0] if joins else -1
        for state in states if join >= 0 else ():
            log = self._run_to(state)
            fault = NetFault("deadlock", join, mutual=tuple(j for j in joins if j != join))
            if not log or not self._shows_fault(fault, log):
                continue
            if seen.double and join in {m.node for m in seen.moves_to(state)}:
                fault.kind = "leftover"  # it has gone on, and gets one more after that
            if fault.kind == "leftover":
                marks = self._final_marks(log) or {}
                fault.taken = tuple(a for a in net.ins[join] if a in marks)
            return self._keep_fault(fault, log)
        return None

    def _find_improper(self) -> None:
        """A run that comes to an end and leaves a token at a join indefinitely."""
        net = self.net
        for state in self.seen.stuck:
            if state.mask & self.space.end:
                self.found.improper |= not net.held.intersection(self.space.waiting(state))
                log = self._run_to(state)
                marks = self._final_marks(log) if log else None
                if marks is not None:
                    end = Play(self.net)
                    end.marks = marks
                    waiting = end.stuck()
                    if waiting and not net.held.intersection(waiting):
                        self.found.improper_log, self.found.improper_at = log, waiting[0]
                        return

    def _classify_endless(self, group: list[State]) -> None:
        seen, space, net = self.seen, self.space, self.net
        known = {n for f in self.found.faults if f.kind == "livelock" for n in f.around}
        first = min(group, key=lambda s: len(seen.moves_to(s)))
        active = {m.node for s in group for m in space.moves(s.mask)}
        trapped = list(list_bits(space.trapped & first.mask))
        for e in trapped:
            active.add(net.dst[self.exact.edges[e].last])
        active = {n for n in active if FIRST <= n < len(net.kind)}
        if not active or active & known or {self.fast.root(n) for n in active} & known:
            return
        log = of_moves(self.exact, seen.moves_to(first))
        if log and final_marking(net, log) is not None:
            around = tuple(sorted(active))
            if trapped:
                around = list_cycle(net, min(active))
            self.found.faults.append(NetFault("livelock", min(active), around=around, logs=[log]))

    def _classify_growing(self, state: State) -> None:
        if any(f.unbounded for f in self.found.faults):
            return
        log = of_moves(self.exact, self.seen.moves_to(state))
        if not log or final_marking(self.net, log) is None:
            return
        edge = state.extra[0][0] if state.extra else -1
        node = self.exact.edges[edge].src if edge >= 0 else log[-1].node
        if node >= len(self.net.kind) or node < FIRST:
            node = log[-1].node
        same = next((f for f in self.found.faults if f.kind == "unsync"), None)
        if same is not None:
            same.unbounded = True
            same.logs.insert(0, log)
        else:
            self.found.faults.append(NetFault("unsync", node, logs=[log], unbounded=True))

    def _list_used(self) -> set[str]:
        """Elements that some run comes to: all on the edges that ever hold a token, and the nodes
        that fire."""
        net, exact = self.net, self.exact
        used = {net.element[n] for n in self.seen.fired if n < len(net.element)}
        for node in net.held:  # begun, never done
            if self.space.ins.get(node, 0) & self.seen.used:
                used.add(net.element[node])
        for e in list_bits(self.seen.used):
            used |= list_elements(net, exact.edges[e].content)
        used.discard("")
        return used & net.live
