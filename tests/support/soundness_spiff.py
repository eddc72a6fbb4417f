"""SpiffWorkflow's runs of a process as a verdict on it: is some run stuck, is some place come to
twice at once.

Two tokens can first meet where several flows come together: what leads on from a gateway there gets
a step of its own that a person does, so that it is seen. What waits for a message or a timer
becomes such a step, for they always arrive. The decisions are scripted: every sequence of them in
turn, up to a bound. Where a step is done more than once in a run, the run is made again with that
step left for last, so that two tokens that can meet there do.

`python tests/support/soundness_spiff.py` is the child: a job as JSON on stdin, what was seen as
JSON on stdout.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

RUNS, STEPS, SECONDS, MEMORY = 60, 120, 3, 2_000_000_000
"""Most runs of a process, most steps of a run, most seconds of processor time, most bytes of the
child."""

PATIENCE = 120
"""Seconds until a child that hangs is ended."""
LARGEST = 120
"""Most elements of a process: its runs take SpiffWorkflow longer with every step done."""


Split = tuple[str, list[str], str]
"""The kind of a gateway, the flows that are asked for, and the one taken where none of them is."""
Script = dict[str, list[list[str]]]
"""The flows that a gateway takes, visit by visit."""


class Seen(NamedTuple):
    """`runs` that were made, whether those are `all` there are, the places that hold a token when
    a run is stuck, the places where two were seen at once."""

    runs: int
    all: bool
    stuck: tuple[str, ...]
    double: tuple[str, ...]


# -- the parent -------------------------------------------------------------------------------


def unreadable(scope: Any) -> str:
    """Why SpiffWorkflow cannot play a scope as the analysis means it; empty: it can."""
    into = Counter(f.target for f in scope.flows)
    outs = Counter(f.source for f in scope.flows)
    starts = [n for n in scope.nodes if n.kind == "event" and n.position == "start"]
    if sum(len(s.nodes) for s in scope.scopes()) > LARGEST:
        return f"more than {LARGEST} elements"
    if len(starts) != 1:
        return "not one start event"
    for node in scope.nodes:
        if node.kind == "event":
            if node.position == "boundary":
                return "boundary events"
            if any(d.kind == "link" for d in node.definitions):
                return "link events"
            if node.position in ("throw", "end") and node.trigger in ("error", "cancel"):
                return "error and cancel ends"
            if node.position == "end" and outs[node.id]:
                return "flows out of end events"
            if node.position == "start" and into[node.id]:
                return "flows into start events"
        elif node.kind == "gateway":
            if node.gateway_kind == "complex":
                return "complex gateways"
            if not outs[node.id]:
                return "gateways without a way out"
        elif node.kind == "sub-process":
            if node.flavour != "plain":
                return "event sub-processes, transactions, ad-hoc ones"
            if why := unreadable(node):
                return why
        elif node.kind not in ("task", "call-activity") or node.for_compensation:
            return "elements of no known kind, compensation"
        if node.kind != "gateway" and any(
            f.condition is not None or f.default for f in scope.flows if f.source == node.id
        ):
            return "conditions on flows out of activities"
        if not into[node.id] and node not in starts:
            return "elements that no flow leads to"
    return ""


def watched(scope: Any, splits: dict[str, Split]) -> Any:
    """The scope with a step behind every gateway that several flows lead into, and with scripted
    decisions; `splits` gets its gateways."""
    from orgflow_ir.model import Event, Expression, Flow, Gateway, Task

    outs: dict[str, list[str]] = {}
    for flow in scope.flows:
        outs.setdefault(flow.source, []).append(flow.id)
    default = {f.source: f.id for f in scope.flows if f.default}
    asked: dict[str, str] = {}
    last: set[str] = set()
    nodes: list[Any] = []
    for node in scope.nodes:
        ways = outs.get(node.id, [])
        if isinstance(node, Gateway):
            kind = "exclusive" if node.gateway_kind == "event" else node.gateway_kind
            node = node.replace(gateway_kind=kind)
            if len(ways) > 1 and kind != "parallel":
                other = ways[-1] if kind == "exclusive" else default.get(node.id, "")
                splits[node.id] = kind, [w for w in ways if w != other], other
                asked |= dict.fromkeys(ways, node.id)
                last.add(other)
        elif isinstance(node, Event):
            if node.position in ("catch", "throw"):
                node = Task(id=node.id, task_type="user")
            elif node.trigger != "terminate":
                node = node.replace(definitions=())
        elif node.kind == "sub-process":
            node = watched(node.replace(loop=None), splits)
        else:
            node = Task(id=node.id, name=node.name, task_type="user")
        nodes.append(node)
    flows = []
    for node in scope.nodes:  # an implicit end, which SpiffWorkflow does not know
        if not outs.get(node.id) and not (node.kind == "event" and node.position == "end"):
            nodes.append(Event(id=f"end_{node.id}", position="end"))
            flows.append(Flow(id=f"to_end_{node.id}", source=node.id, target=f"end_{node.id}"))
    into = Counter(f.target for f in scope.flows)
    joins = {n.id for n in scope.nodes if n.kind == "gateway" and into[n.id] > 1}
    for flow in scope.flows:
        place = f"at_{flow.id}" if flow.source in joins else flow.target
        when = None
        if flow.id in asked and flow.id not in last:
            when = Expression(text=f"pick('{asked[flow.id]}', '{flow.id}')")
        flows.append(
            Flow(
                id=flow.id, source=flow.source, target=place,
                condition=when, default=flow.id in last,
            )
        )  # fmt: skip
        if place != flow.target:
            nodes.append(Task(id=place, task_type="user"))
            flows.append(Flow(id=f"from_{flow.id}", source=place, target=flow.target))
    return scope.replace(nodes=tuple(nodes), flows=tuple(flows))


def verdict(process: Any, traces: tuple[Any, ...] = (), seconds: float = SECONDS) -> Seen | str:
    """What its runs show, or why there are none; runs as in `traces` are tried first."""
    if why := unreadable(process):
        return why
    from orgflow.backends.bpmn.document import write_document

    from orgflow_ir.model import Model

    splits: dict[str, Split] = {}
    alone = Model(id="m", processes=(watched(process, splits).replace(executable=True),))
    scripts = []
    for trace in traces:
        script: Script = {}
        order: list[str] = []
        for step in trace:
            if step.action != "open":
                order += [step.element, *(f"at_{f}" for f in step.taken)]
            if step.element in splits and step.taken:
                script.setdefault(step.element, []).append(list(step.taken))
        scripts.append((script, order))
    job = {
        "xml": write_document(alone, None), "process": process.id, "splits": splits,
        "scripts": scripts,
        "seconds": seconds,
    }  # fmt: skip
    try:
        done = subprocess.run(
            [sys.executable, __file__], input=json.dumps(job), capture_output=True, text=True,
            check=False, timeout=PATIENCE,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"no answer within {PATIENCE} s"
    if done.returncode != 0:
        error, _, text = (done.stderr.strip().splitlines() or ["?"])[-1].partition(": ")
        return f"its {error.rpartition('.')[2]}: {text[:60]}"
    found = json.loads(done.stdout)
    return Seen(found["runs"], found["all"], tuple(found["stuck"]), tuple(found["double"]))


# -- the child --------------------------------------------------------------------------------


class _Played(NamedTuple):
    completed: bool
    cut: bool
    asked: list[tuple[str, int]]
    done: Counter[str]
    double: set[str]
    left: list[str]


class _Child:
    def __init__(self, job: dict[str, Any]) -> None:
        from SpiffWorkflow.bpmn.parser import BpmnParser

        parser = BpmnParser()
        parser.add_bpmn_str(job["xml"].encode())
        self.spec = parser.get_spec(job["process"])
        self.inner = parser.get_subprocess_specs(job["process"])
        self.splits: dict[str, list[Any]] = job["splits"]
        self.until = time.process_time() + job["seconds"]

    def options(self, gateway: str, number: int) -> list[list[str]]:
        """What may be chosen at a visit, another first at each, so that loops are left."""
        kind, flows, other = self.splits[gateway]
        sizes = range(1, len(flows) + 1) if len(flows) < 5 else (1, len(flows))
        if kind == "exclusive":
            sizes = (1,)
        found = [list(c) for n in sizes for c in combinations(flows, n)]
        found += [[other]] if other else []
        number %= len(found)
        return found[number:] + found[:number]

    def play(
        self, script: Script, hold: str = "", oldest: bool = True, order: Sequence[str] = ()
    ) -> _Played:
        """One run: steps as `order` has them, then the oldest first or the newest, `hold` last;
        what the script does not say is the first option."""
        from SpiffWorkflow.bpmn import BpmnWorkflow
        from SpiffWorkflow.bpmn.script_engine import PythonScriptEngine, TaskDataEnvironment
        from SpiffWorkflow.util.task import TaskState

        visits: Counter[str] = Counter()
        round_: dict[str, set[str]] = {}
        asked: list[tuple[str, int]] = []

        def pick(gateway: str, flow: str) -> bool:
            if gateway not in round_ or flow in round_[gateway]:  # asked again: the next visit
                asked.append((gateway, visits[gateway]))
                visits[gateway] += 1
                round_[gateway] = set()
            round_[gateway].add(flow)
            taken = script.get(gateway, [])
            number = visits[gateway] - 1
            chosen = taken[number] if number < len(taken) else self.options(gateway, number)[0]
            return flow in chosen

        engine = PythonScriptEngine(environment=TaskDataEnvironment({"pick": pick}))
        workflow = BpmnWorkflow(self.spec, self.inner, script_engine=engine)
        done: Counter[str] = Counter()
        double: set[str] = set()
        for _ in range(STEPS if time.process_time() < self.until else 0):
            workflow.do_engine_steps()
            ready = [t for t in workflow.get_tasks(state=TaskState.READY) if t.task_spec.manual]
            names = Counter(t.task_spec.bpmn_id for t in ready)
            double |= {n for n, count in names.items() if count > 1}
            if not ready:
                break
            ready = ready if oldest else ready[::-1]
            order = order[next((i for i, n in enumerate(order) if n in names), len(order)) :]
            if order:
                task = next(t for t in ready if t.task_spec.bpmn_id == order[0])
                order = order[1:]
            else:
                task = next((t for t in ready if t.task_spec.bpmn_id != hold), ready[0])
            done[task.task_spec.bpmn_id] += 1
            task.run()
        else:
            return _Played(False, True, asked, done, double, [])
        left = [] if workflow.completed else [
            t.task_spec.bpmn_id or "?" for t in workflow.get_tasks(state=TaskState.WAITING)
        ]  # fmt: skip
        return _Played(workflow.completed, False, asked, done, double, left)

    def scripts(self) -> Iterator[tuple[Script, list[_Played]]]:
        """Scripts to play; the caller puts the run behind each, from which the next follows."""
        script: Script = {}
        while True:
            played: list[_Played] = []
            yield script, played
            taken: list[tuple[str, list[str]]] = []
            for gateway, number in played[0].asked:
                known = script.get(gateway, [])
                options = self.options(gateway, number)
                taken.append((gateway, known[number] if number < len(known) else options[0]))
            numbers = [number for _, number in played[0].asked]
            while taken:
                gateway, chosen = taken.pop()
                options = self.options(gateway, numbers[len(taken)])
                if chosen != options[-1]:
                    taken.append((gateway, options[options.index(chosen) + 1]))
                    break
            else:
                return
            script = {}
            for gateway, chosen in taken:
                script.setdefault(gateway, []).append(chosen)

    def run(self, first: list[tuple[Script, list[str]]]) -> dict[str, Any]:
        """What the runs show; `first` are runs to play before all others."""
        stuck: set[str] = set()
        double: set[str] = set()
        for known, order in first:
            one = self.play(known, order=order)
            double |= one.double
            if not one.completed and not one.cut:
                stuck |= set(one.left) or {"?"}
        runs, everything = len(first), True
        for script, played in self.scripts():
            one, other = self.play(script), self.play(script, oldest=False)
            played.append(one)
            runs += 1
            everything &= not one.cut
            several = {n for p in (one, other) for n, count in p.done.items() if count > 1}
            held = [self.play(script, n) for n in sorted(several - one.double - other.double)[:6]]
            for again in (one, other, *held):
                double |= again.double
                if not again.completed and not again.cut:
                    stuck |= set(again.left) or {"?"}
            if runs >= RUNS or time.process_time() > self.until:
                everything = False
                break
        return {"runs": runs, "all": everything, "stuck": sorted(stuck), "double": sorted(double)}


def _main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    job = json.load(sys.stdin)
    print(json.dumps(_Child(job).run(job["scripts"])))


if __name__ == "__main__":
    _main()
