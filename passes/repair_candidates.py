"""Changes that may repair a fault of the flow, described as instructions to a person.

None of them is suggested unchecked: `repair` makes each on a copy and analyses it again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from orgflow.passes.causes import Jump, broken_off, event_beside, find_jump, own_loop, unused_starts
from orgflow.passes.loop_repairs import list_bounds, list_exits, list_joins
from orgflow.passes.repair_edits import KINDS, Candidate, ScopeRepair

from orgflow_ir.diagnostics import Applicability
from orgflow_ir.flow.control_flow.graph import ControlFlow, list_reachable
from orgflow_ir.flow.nets.net import Net
from orgflow_ir.flow.soundness import Fault
from orgflow_ir.model import Event, EventDefinition, Flow, Gateway, Node, Task
from orgflow_ir.model.element_names import join_listed

_SPLITS = {
    "exclusive": ", since {} takes only one of its branches",
    "inclusive": ", since {} takes one or several of its branches",
    "parallel": ", since {} takes all its branches",
}
_JOINS = {
    "exclusive": ", since {} waits for only one of the branches",
    "inclusive": ", since {} waits for the branches that are taken",
    "parallel": ", since {} waits for all branches",
}


class Candidates(ScopeRepair):
    """The changes to try for the faults of one scope."""

    def of(self, fault: Fault) -> Iterator[Candidate]:
        """Safe ones first."""
        if fault.element not in self.graph.nodes:
            return
        if fault.kind == "livelock":
            yield from list_exits(self, fault)
        if fault.kind == "unsync" and fault.unbounded:
            yield from list_joins(self, fault)
            yield from list_bounds(self, fault)
            return
        if fault.kind not in ("deadlock", "unsync"):
            return
        if race := self._racing_flows(fault):
            yield self._race_candidate(fault.split, race)
            return  # joined in parallel, a run would wait for what need not come
        into = self.graph.flows_in(fault.element)
        if len(into) > 1:
            yield from self._agreeing_kinds(fault, into)
        yield from self._end_beside(fault)
        if (jump_there := find_jump(fault, self.graph)) is not None:
            yield from self._led_back(jump_there)
        yield from self._lead_back_circle(fault)
        if fault.kind == "deadlock" and len(into) > 1:
            yield from self._end_everything(fault)
            yield from self._accept_remaining(fault)

    # -- gateways that agree ------------------------------------------------------------------

    def _agreeing_kinds(self, fault: Fault, into: Sequence[Flow]) -> Iterator[Candidate]:
        """A join of the kind of what splits, a split of the kind of what joins."""
        kind, why, applicability = self._closing_kind(fault)
        if kind not in KINDS:
            return
        at, split = self.graph.nodes[fault.element], self.graph.nodes.get(fault.split)
        both = len(self.graph.flows_out(fault.element)) > 1  # it joins and splits
        if isinstance(at, Gateway) and not (both and fault.kind == "unsync"):
            if at.gateway_kind not in KINDS:
                return
            if at.gateway_kind != kind and not both:
                fix = self.of_kind(at, kind, applicability)
                yield Candidate(fix, f"{fix.title}{why}")
            elif at.gateway_kind == "parallel" != kind and both and fault.split:
                # It still starts all that comes behind it.
                fix = self.joined(at.id, kind, into, applicability)
                yield Candidate(fix, f"{fix.title}{why}")
            if isinstance(split, Gateway) and self._is_unasked(split) and not both:
                fix = self.of_kind(split, at.gateway_kind, "unsafe")
                why = _JOINS[at.gateway_kind].format(self.namer.name(at.id))
                yield Candidate(fix, f"{fix.title}{why}")
        elif fault.kind == "unsync" and fault.split:
            fix = self.joined(at.id, kind, into, applicability)
            yield Candidate(fix, f"{fix.title}{why}")
        part = self._branch_flows(fault, into)
        if fault.split and 1 < len(part) < len(into):
            fix = self.joined(at.id, kind, part, applicability)
            yield Candidate(fix, f"{fix.title}{why}")

    # -- events that race ---------------------------------------------------------------------

    def _racing_flows(self, fault: Fault) -> list[Flow]:
        """The flows that start the branches, where each begins with an event that is waited for and
        one of them is a time: the first that comes is meant to decide."""
        net, split = fault.net, self.graph.nodes.get(fault.split)
        if fault.kind != "unsync" or net is None or split is None:
            return []
        flows = [f for a in fault.taken_arcs if (f := net.flow[a]) is not None]
        if len(flows) < max(2, len(fault.taken_arcs)) or any(f.source != split.id for f in flows):
            return []
        events = [self.graph.nodes[f.target] for f in flows]
        waits = all(_is_waiting(n) and len(self.graph.flows_in(n.id)) == 1 for n in events)
        return flows if waits and any(_has_time(n) for n in events) else []

    def _race_candidate(self, split: str, flows: Sequence[Flow]) -> Candidate:
        """An event-based gateway before events that race."""
        node, name = self.graph.nodes[split], self.namer.name
        events = join_listed(name(f.target) for f in flows)
        draft = self.draft()
        if isinstance(node, Gateway) and len(flows) == len(self.graph.flows_out(split)):
            draft.replace(node.replace(gateway_kind="event"))
            title = f"make {name(split)} an event-based gateway"
        else:
            gateway = draft.gateway(f"{split}_race", "event")
            for flow in flows:
                draft.move(flow, source=gateway)
            draft.connect(split, gateway)
            title = f"put an event-based gateway before {events}"
        return Candidate(draft.fix(title, "unsafe"), f"{title}, to continue with the first event")

    def _closing_kind(self, fault: Fault) -> tuple[str, str, Applicability]:
        """The kind of gateway that closes what opens the branches, why, and how sure that is."""
        split = self.graph.nodes.get(fault.split)
        if isinstance(split, Gateway):
            kind = "exclusive" if split.gateway_kind == "event" else split.gateway_kind
            return kind, _SPLITS.get(kind, "").format(self.namer.name(split.id)), "safe"
        if (cut := broken_off(fault)) is not None:
            sources = self.namer.names(cut.branches).replace(", ", " or from ")
            return "exclusive", f", since a run continues from {sources}", "safe"
        if fault.kind == "deadlock" and (later := own_loop(fault, self.graph)):
            name, at = self.namer.names(later), self.namer.name(fault.element)
            return "exclusive", f", since {name} comes only after {at}", "safe"
        if unused_starts(fault):
            return "exclusive", ", if one of the start events is sufficient", "unsafe"
        if split is not None and fault.kind == "unsync":
            return "parallel", f", since {self.namer.name(split.id)} starts all of them", "safe"
        return "", "", "manual"

    def _is_unasked(self, split: Gateway) -> bool:
        """Whether nothing at a split says that one of several ways is chosen."""
        asked = split.name.strip().endswith("?") or any(
            f.condition is not None or f.default or f.name.strip()
            for f in self.graph.flows_out(split.id)
        )
        return not asked and len(self.graph.flows_in(split.id)) <= 1

    def _branch_flows(self, fault: Fault, into: Sequence[Flow]) -> list[Flow]:
        """Those of the flows that come from the split of the fault."""
        behind = list_reachable([fault.split], self.graph.successors, frozenset({fault.element}))
        return [f for f in into if f.source in behind]

    # -- branches that meet where they should not ---------------------------------------------

    def _end_beside(self, fault: Fault) -> Iterator[Candidate]:
        side_event = event_beside(fault, self.graph) if fault.kind == "unsync" else None
        if side_event is None:
            return
        at, name = self.graph.nodes[fault.element], self.namer.name
        branch = self.namer.names(f.source for f in side_event.flows)
        waits = f"wait for {branch} if it has begun"
        if isinstance(at, Gateway) and len(self.graph.flows_out(at.id)) <= 1:
            fix = self.of_kind(at, "inclusive", "unsafe")
        else:  # what it decides stays as it is
            fix = self.joined(at.id, "inclusive", self.graph.flows_in(at.id), "unsafe")
        yield Candidate(fix, f"{fix.title}, to {waits}")
        yield self._by_itself(side_event.flows, f"let {branch} end with its own end event")
        draft = self.draft()
        draft.replace(side_event.event.replace(interrupting=True))
        title = f"let {name(side_event.event.id)} interrupt {name(side_event.host)}"
        yield Candidate(draft.fix(title, "unsafe"), title)

    def _by_itself(self, flows: Iterable[Flow], advice: str) -> Candidate:
        draft = self.draft()
        for flow in flows:
            draft.move(flow, target=draft.end(f"{flow.id}_end"))
        return draft.by_hand(advice)

    def _led_back(self, jump: Jump) -> Iterator[Candidate]:
        """The choice leads back within its own branch, or is asked where the branches have met."""
        name = self.namer.name
        way = self.namer.labelled(jump.way)
        advice = f"lead {way} back to {name(jump.first)}, in its own branch"
        draft = self.draft()
        draft.move(jump.last, target=jump.first)
        yield Candidate(draft.fix(advice, "unsafe"), advice)
        yield from self._asked_later(jump, way)

    def _asked_later(self, jump: Jump, way: str) -> Iterator[Candidate]:
        graph, name = self.graph, self.namer.name
        into = graph.flows_in(jump.choice)
        ahead = [f for f in graph.flows_out(jump.choice) if f is not jump.way]
        if len(into) != 1 or len(ahead) != 1 or len(graph.flows_out(ahead[0].target)) != 1:
            return
        join = graph.nodes[ahead[0].target]
        if not isinstance(join, Gateway) or join.gateway_kind != "parallel":
            return
        (on,) = graph.flows_out(join.id)
        draft = self.draft()
        again = draft.gateway(f"{jump.fork}_again", "exclusive")
        draft.move(into[0], target=join.id)
        draft.move(ahead[0], source=join.id, target=jump.choice)
        draft.move(on, source=jump.choice)
        draft.move(jump.last, target=again)
        for flow in graph.flows_in(jump.fork):
            draft.move(flow, target=again)
        draft.connect(again, jump.fork)
        yield draft.by_hand(
            f"ask {name(jump.choice)} only after {name(join.id)}, and lead {way} back to before "
            f"{name(jump.fork)}"
        )

    def _lead_back_circle(self, fault: Fault) -> Iterator[Candidate]:
        """Ways that come into each other's inclusive joins lead back into their own branches."""
        if not fault.mutual:
            return
        draft, moves = self.draft(), []
        for join in (fault.element, *fault.mutual):
            for flow in self.graph.flows_in(join):
                own_branch = _own_branch(flow, self.graph)
                if own_branch is not None and flow.source in self.graph.cyclic:
                    draft.move(flow, target=own_branch)
                    moves.append(
                        f"{self.namer.labelled(flow)} back to {self.namer.name(own_branch)}"
                    )
        if moves:
            yield draft.by_hand(f"lead {' and '.join(moves)}, each within its own branch")

    # -- branches that do not come ------------------------------------------------------------

    def _end_everything(self, fault: Fault) -> Iterator[Candidate]:
        """The way that was taken ends all there is."""
        net = fault.net
        if net is None:
            return
        apart = frozenset({fault.element})
        taken = list_reachable(
            _target_elements(net, fault.taken_arcs), self.graph.successors, apart
        )
        other = list_reachable(_target_elements(net, fault.missing_arcs), self.graph.successors)
        ends = [
            n for n in self.graph.nodes.values()
            if isinstance(n, Event) and n.position == "end" and not n.definitions
            and n.id in taken - other
        ]  # fmt: skip
        if not 1 <= len(ends) <= 2:
            return
        draft = self.draft()
        for end in ends:
            draft.replace(end.replace(definitions=(EventDefinition(kind="terminate"),)))
        names = self.namer.names(n.id for n in ends)
        terminate = "a terminate end event" if len(ends) == 1 else "terminate end events"
        title = f"make {names} {terminate}"
        advice = f"{title}, if nothing else should happen after that"
        yield Candidate(draft.fix(title, "unsafe"), advice)

    def _accept_remaining(self, fault: Fault) -> Iterator[Candidate]:
        """The join goes on with what still comes."""
        at = self.graph.nodes[fault.element]
        if not isinstance(at, Gateway) or at.gateway_kind != "parallel":
            return
        if len(self.graph.flows_out(at.id)) > 1 or not fault.split:
            return
        fix = self.of_kind(at, "inclusive", "unsafe")
        yield Candidate(fix, f"{fix.title}, to continue with the branches that are taken")


def _is_waiting(node: Node) -> bool:
    """Whether a node waits for what comes from outside, as behind an event-based gateway."""
    if isinstance(node, Task):
        return node.task_type == "receive"
    return isinstance(node, Event) and node.position == "catch" and node.trigger != "link"


def _has_time(node: Node) -> bool:
    return isinstance(node, Event) and any(d.kind == "timer" for d in node.definitions)


def _target_elements(net: Net, arcs: Iterable[int]) -> list[str]:
    """The elements that arcs lead to."""
    targets = (
        f.target if (f := net.flow[a]) is not None else net.element[net.dst[a]] for a in arcs
    )
    return [name for name in targets if name]


def _own_branch(flow: Flow, graph: ControlFlow) -> str | None:
    """The first step behind the nearest join before a choice."""
    first = flow.source
    for _ in graph.nodes:
        into = graph.flows_in(first)
        if len(into) != 1 or len(graph.into[first]) != 1:
            return None
        before = graph.nodes[into[0].source]
        if len(graph.flows_in(before.id)) > 1 or len(graph.flows_out(before.id)) > 1:
            return first if first != flow.source else None
        first = before.id
    return None
