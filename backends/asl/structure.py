"""From a scope's graph to its plan: the branches of each fork, and unstructured parts.

A fork's branches are found by reachability. If all branches join, they do so at one gateway, the
join; if only some do, those are grouped in a separate branch. Every branch is then checked: its
only entry is the fork, its only exit the join, and it delivers exactly the tokens that the join
waits for.
"""

from __future__ import annotations

from typing import assert_never

from orgflow.backends.asl.arrivals import join_arrivals, of_branch, of_machine
from orgflow.backends.asl.plan import (
    END,
    START,
    Arrival,
    Branch,
    Fault,
    Fork,
    Jump,
    Machine,
    Plan,
    Step,
    Way,
)
from orgflow.backends.asl.regions import JOINING, Group, Regions

from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.nets.regions import ScopeReduction
from orgflow_ir.model import CallActivity, Event, Flow, Gateway, Opaque, SubProcess, Task

MAX_DEPTH = 60
"""Maximum nesting of forks, since JSON readers have limits."""

MAX_FORKS = 2_000
"""Maximum ratio of forks to nodes; only repeated forks exceed it."""

_TOO_DEEP = f"more than {MAX_DEPTH} forks are nested"


def plan_scope(graph: ControlFlow) -> Plan:
    """The plan of a scope, in which no gateway both joins and splits. Linear except for nesting."""
    return _Planner(graph).run()


class _Planner:
    def __init__(self, graph: ControlFlow) -> None:
        self.graph = graph
        self.regions = Regions(graph)
        self._named = self.regions.named
        self.faults: dict[Fault, None] = {}
        self.forks = 0
        self.joins = self._matched_joins()

    def _matched_joins(self) -> dict[str, str]:
        """Split → join where the reduction matched all branches of the one to the other: there no
        search is needed."""
        graph = self.graph
        splits = any(len(graph.flows_out(n)) > 1 for n in graph.nodes)
        if not splits:
            return {}
        pairs = ScopeReduction(graph).reduction.pairs
        return {
            p.split: p.join
            for p in pairs
            if p.exact and p.join is not None and p.kind != "clash" and self.regions.joins(p.join)
        }

    def run(self) -> Plan:
        graph, scope = self.graph, self.graph.scope
        starts = [n.id for n in scope.nodes if isinstance(n, Event) and n.position == "start"]
        if len(starts) == 1:
            machine = self._machine(Jump("step", starts[0]), None, 0)
        elif starts:
            exits = tuple(Way(self._to(n), Jump("step", n)) for n in starts)
            machine = self._machine(Step(START, None, exits), None, 0)
        else:
            flows = tuple(self._to(n) for n in graph.entries)
            if len(flows) == 1:
                machine = self._machine(self._resolve(flows[0], None), None, 0)
            elif not flows:  # every node is in a cycle
                self._fault("", "it contains no element that it can begin with")
                machine = self._machine(END, None, 0)
            else:
                machine = self._machine(self._fork("", flows, None, 0), None, 0)
        deep = [f for f in self.faults if f.reason == _TOO_DEEP]
        return Plan(machine, tuple(deep[:1] or self.faults))

    def _to(self, node: str) -> Flow:
        """A flow from the beginning of the scope, which the model does not draw."""
        return Flow(id=f"{self.graph.scope.id}__start_{node}", source="", target=node)

    def _fault(self, node: str, reason: str) -> None:
        self.faults.setdefault(Fault(node, reason))

    # -- machines ------------------------------------------------------------------------------

    def _machine(self, entry: Jump | Step, exit_: str | None, depth: int) -> Machine:
        """All that one token can reach from `entry` before it comes to the join `exit_`."""
        steps: dict[str, Step] = {}
        if isinstance(entry, Step):
            steps[entry.key] = entry
            queue = [entry]
            entry = Jump("step", entry.key)
        else:
            queue = []
            if entry.kind == "step":
                self._add(entry.step, exit_, depth, steps, queue)
        for step in queue:  # grows while it is walked
            for jump in (*(w.to for w in step.exits), *([step.fork.after] if step.fork else [])):
                if jump.kind == "step":
                    self._add(jump.step, exit_, depth, steps, queue)
            for event in step.caught:
                self._add(event, exit_, depth, steps, queue)
        return Machine(entry, steps, of_machine(entry, steps.values(), self.graph))

    def _add(
        self, key: str, exit_: str | None, depth: int, steps: dict[str, Step], queue: list[Step]
    ) -> None:
        if key in steps:
            return
        for step in self._steps(key, exit_, depth):
            steps[step.key] = step
            queue.append(step)

    def _steps(self, node: str, exit_: str | None, depth: int) -> list[Step]:
        """The step of a node, and that of the fork behind it where it has several ways out."""
        graph = self.graph
        element, out = graph.nodes[node], graph.flows_out(node)
        caught = tuple(a.target for a in graph.out[node] if a.flow is None)
        match element:
            case Gateway(gateway_kind="event"):
                if not out:
                    self._fault(node, "no event follows it")
                return self._race(node, out, exit_, depth)
            case Gateway():
                if element.gateway_kind == "exclusive" or len(out) < 2:
                    return [self._single(node, out, exit_, ())]
                if any(f.default for f in out):
                    return self._or_default(node, out, exit_, depth)
                fork = self._fork(node, tuple(out), exit_, depth)
                return [Step(node, node, fork=fork.fork)]
            case Task() | CallActivity() | SubProcess() | Event() | Opaque():
                if len(out) < 2:
                    return [self._single(node, out, exit_, caught)]
                fork = self._fork(node, tuple(out), exit_, depth)
                to_fork = Way(out[0], Jump("step", fork.key))
                return [Step(node, node, (to_fork,), caught=caught), fork]
            case _:
                assert_never(element)

    def _single(
        self, node: str, out: list[Flow], exit_: str | None, caught: tuple[str, ...]
    ) -> Step:
        """The step of a node whose token leaves by one of its flows."""
        exits = tuple(Way(f, self._resolve(f, exit_)) for f in out)
        return Step(node, node, exits, caught=caught)

    def _or_default(self, node: str, out: list[Flow], exit_: str | None, depth: int) -> list[Step]:
        """An inclusive split takes its default alone: a choice between it and the other flows."""
        default = next(f for f in out if f.default)
        others = tuple(f for f in out if f is not default)
        last = Way(default, self._resolve(default, exit_))
        if len(others) == 1:
            return [Step(node, node, (Way(others[0], self._resolve(others[0], exit_)), last))]
        fork = self._fork(node, others, exit_, depth)
        return [Step(node, node, (Way(others[0], Jump("step", fork.key)), last)), fork]

    def _race(self, node: str, out: list[Flow], exit_: str | None, depth: int) -> list[Step]:
        """An event-based gateway: each way leads to what follows the event that came."""
        graph, more, exits = self.graph, [], []
        for flow in out:
            after = graph.flows_out(flow.target)
            if any(a.flow is None for a in graph.out[flow.target]):
                self._fault(node, f"{self._named(flow.target)} after it has a boundary event")
            if len(after) > 1:
                fork = self._fork(flow.target, tuple(after), exit_, depth)
                more.append(fork)
                exits.append(Way(flow, Jump("step", fork.key)))
            else:
                exits.append(Way(flow, self._resolve(after[0], exit_) if after else END))
        return [Step(node, node, tuple(exits)), *more]

    def _resolve(self, flow: Flow, exit_: str | None) -> Jump:
        """Where a token on `flow` goes, past gateways at which nothing happens to it."""
        passed: set[str] = set()
        while True:
            target = flow.target
            if target == exit_:
                return Jump("leave", flow=flow.id)
            element, out = self.graph.nodes[target], self.graph.flows_out(target)
            if not isinstance(element, Gateway) or element.gateway_kind not in (
                *JOINING,
                "exclusive",
            ):
                return Jump("step", target)
            if element.gateway_kind == "parallel" and len(self.graph.flows_in(target)) > 1:
                self._fault(
                    target,
                    "it waits for all of its flows, but only one token reaches it through "
                    f"{self._named(flow.source)}",
                )
                return END
            deciding = any(f.condition is not None and not f.default for f in out)
            if len(out) != 1 or deciding or target in passed:
                return Jump("step", target)
            passed.add(target)
            flow = out[0]

    # -- forks ---------------------------------------------------------------------------------

    def _fork(self, node: str, flows: tuple[Flow, ...], exit_: str | None, depth: int) -> Step:
        """The fork of `flows` out of `node`, whose branches may lead to the join `exit_`."""
        gateway = isinstance(self.graph.nodes.get(node), Gateway)
        whole = len(flows) == len(self.graph.flows_out(node)) if node else exit_ is None
        self.forks += 1
        key = node if gateway and whole else f"{node}\x00fork{self.forks}"
        if depth > MAX_DEPTH or self.forks > MAX_FORKS + len(self.graph.nodes):
            self._fault(node, _TOO_DEEP)
            return Step(key, None, fork=Fork(node, (), None, END, None))
        join = self._join(node, flows, exit_)
        if join is None:
            fork = self._open(node, flows, exit_, depth)
        elif join == "":
            fork = Fork(node, (), None, END, None)
        else:
            fork = self._closed(node, flows, join, exit_, depth)
        return Step(key, None, fork=fork)

    def _join(self, node: str, flows: tuple[Flow, ...], exit_: str | None) -> str | None:
        """The gateway where all branches meet; `None` where not all do, empty after a fault."""
        hint = self.joins.get(node)
        if hint is not None and self._is_join(hint, node, flows, exit_):
            return hint
        avoid = {node, exit_}
        if len(self.regions.groups(flows, avoid)) > 1:
            return None
        regions = [self.regions.reach(f, avoid) for f in flows]
        common = frozenset.intersection(*regions)
        inside = frozenset.union(*regions) - common
        heads = dict.fromkeys(
            [f.target for f in flows if f.target in common]
            + [a.target for n in self.graph.nodes if n in inside
               for a in self.graph.out[n] if a.target in common]
        )  # fmt: skip
        if len(heads) == 1 and self.regions.joins(next(iter(heads))):
            return next(iter(heads))
        self._no_join(node, list(heads), regions)
        return ""

    def _is_join(self, hint: str, node: str, flows: tuple[Flow, ...], exit_: str | None) -> bool:
        """Whether all branches of a node lead only to its known join."""
        if hint == exit_ or len(flows) != len(self.graph.flows_out(node)):
            return False
        groups = self.regions.groups(flows, {node, hint, exit_})
        return len(groups) == len(flows) and all(self.regions.only_to(g, hint) for g in groups)

    def _no_join(self, node: str, heads: list[str], regions: list[frozenset[str]]) -> None:
        """The fault of branches that meet, but not in one join: `heads` are the elements where they
        meet, `regions` the elements that each of them reaches."""
        if len(heads) == 1:
            self._fault(
                node or heads[0],
                f"its branches meet at {self._named(heads[0])}, which does not join them: every "
                "later step would run once for each branch",
            )
        elif heads:
            places = " and at ".join(map(self._named, heads[:3]))
            self._fault(node or heads[0], f"its branches meet at {places}, not in one join")
        else:
            shared = next(n for n in self.graph.nodes if sum(n in r for r in regions) > 1)
            self._fault(
                node or shared,
                f"some of its branches meet at {self._named(shared)} and others do not, and they "
                "do not form blocks",
            )

    def _branches(
        self, node: str, groups: list[Group], exit_: str | None, depth: int
    ) -> tuple[Branch, ...]:
        branches = []
        for group in groups:
            if (reason := self.regions.breach(node, group, exit_)) is not None:
                self._fault(node or group.flows[0].target, reason)
                branches.append(Branch(group.flows, None))  # what is open has no end
                continue
            first = group.flows[0]
            entry: Jump | Step
            if len(group.flows) > 1:
                entry = self._fork(node, group.flows, exit_, depth + 1)
            else:
                entry = self._resolve(first, exit_)
            straight = isinstance(entry, Jump) and entry.kind == "leave" and not group.region
            machine = None if straight else self._machine(entry, exit_, depth + 1)
            branches.append(Branch(group.flows, machine))
        return tuple(branches)

    def _open(self, node: str, flows: tuple[Flow, ...], exit_: str | None, depth: int) -> Fork:
        """A fork whose branches do not meet, or only in the join around it."""
        if any(f.target == node for f in flows):
            self._fault(node, "it leads directly back to itself")
            return Fork(node, (), None, END, None)
        branches = self._branches(node, self.regions.groups(flows, (node, exit_)), exit_, depth)
        arrival = join_arrivals(branches, inclusive=self._inclusive(node))
        leaves = arrival is not None and bool(arrival.flows)
        after = Jump("leave", flow=min(arrival.flows)) if arrival and leaves else END
        return Fork(node, branches, None, after, arrival)

    def _closed(
        self, node: str, flows: tuple[Flow, ...], join: str, exit_: str | None, depth: int
    ) -> Fork:
        """A fork whose branches all meet in `join`."""
        groups = self.regions.groups(flows, (node, join, exit_))
        for group in groups:
            out = next(
                (
                    n
                    for n in group.region
                    if exit_ is not None and exit_ in self.graph.successors[n]
                ),
                None,
            )
            if out is not None:
                self._fault(
                    node or join,
                    f"{self._named(out)} leads out of its branch to {self._named(exit_ or '')}, "
                    f"past its join {self._named(join)}",
                )
        branches = self._branches(node, groups, join, depth)
        self._check_join(node, join, branches)
        out_flows = self.graph.flows_out(join)
        if len(out_flows) > 1:
            self._fault(join, "it joins and splits")
        after = self._resolve(out_flows[0], exit_) if out_flows else END
        arrival = None
        if after.kind != "step":
            gone = frozenset([after.flow]) if after.kind == "leave" else frozenset[str]()
            arrival = Arrival(gone, True, after.kind == "leave")
        return Fork(node, branches, join, after, arrival)

    def _check_join(self, node: str, join: str, branches: tuple[Branch, ...]) -> None:
        gateway = self.graph.nodes[join]
        assert isinstance(gateway, Gateway)
        arrivals = [of_branch(b) for b in branches]
        inclusive = self._inclusive(node)
        if gateway.gateway_kind == "inclusive":
            sure = [a is not None and a.always for a in arrivals]
            if not (all(sure) if inclusive else any(sure)):
                self._fault(
                    join,
                    f"the branches after {self._named(node)} may all end before they reach it, "
                    "and the flow must not continue then",
                )
            return
        if inclusive:
            self._fault(join, f"it waits for branches that {self._named(node)} may not take")
            return
        came: list[str] = []
        for branch, arrival in zip(branches, arrivals, strict=True):
            if arrival is not None and not arrival.exact:
                self._fault(
                    join,
                    "it waits for a token on each of its flows, but the branch to "
                    f"{self._named(branch.flows[0].target)} does not always provide them",
                )
                return
            came += arrival.flows if arrival is not None else ()
        missing = [f for f in self.graph.flows_in(join) if f.id not in came]
        if missing:
            self._fault(
                join,
                f"it also waits for {self._named(missing[0].source)}, which is not in a branch "
                "after "
                f"{self._named(node)}",
            )

    def _inclusive(self, node: str) -> bool:
        gateway = self.graph.nodes.get(node)
        return isinstance(gateway, Gateway) and gateway.gateway_kind == "inclusive"
