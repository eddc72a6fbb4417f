"""What mutants do on n8n's real engine, compared with the model: the ground truth for `verify`.

Every mutant plays the scripts that the original plays: the runs that `enumerate_runs` finds, random
walks of the token game (loops taken twice, other orders), and one *odd* run for each decision that
has no default, in which its variable has a value that no branch is taken by. A mutant differs where
a run is not one of the model's (tasks, order, branches, end, status: `judge`), where a node that
stands for an element gives another number of items, or where an odd run does not stop with an
error. A disabled node does not do what its element says, but for an event at which nothing is done;
a copy does it once more.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from mutants import Mutant
from orgflow.backends.n8n.engine.local import EngineRun, LocalEngine, RunRequest
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model
from orgflow.evaluation.replay import judge_run
from random_walks import complete, random_walks

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.replay import follow_execution
from orgflow_ir.flow.token_game.runs import Run, enumerate_runs
from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.flow.token_game.stub_data import OTHERWISE, Unplayable, decided_by, solve_demands
from orgflow_ir.model import Event, Gateway, Model, Process
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.plugins.runners import NodeExecution, RunResult
from orgflow_ir.targets import executable_processes
from orgflow_ir.targets.artifact import Emitted

Json = dict[str, Any]


@dataclass(frozen=True)
class Script:
    """One run to be played. `odd` is the gateway whose variable gets a value of no branch."""

    run: Run
    request: RunRequest
    odd: str | None = None
    items: Mapping[str, tuple[int, ...]] = dataclasses.field(default_factory=dict)


class Truth(NamedTuple):
    """What the engine says of a mutant.

    `kind` is how it differs: "run" from the model's run, "items", "odd" (only where no branch
    fits); empty where it does not. `why` says it in words, `choices` are those of the run.
    """

    kind: str = ""
    why: str = ""
    choices: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def differs(self) -> bool:
        """Whether some run showed a difference."""
        return bool(self.kind)


class _Player(LocalRunner):
    """The runner of the project, with its requests laid open."""

    def request_of(self, run: Run) -> RunRequest:
        """What plays `run`. Raises `Unplayable`."""
        return self._run_request(run)


class Subject:
    """A process with its workflow and the scripts that its mutants are to play.

    `scripts` are those that the original passes, of which the first `covering` take every flow
    that any takes and are odd at every decision; `dropped` says how many it does not pass.
    """

    def __init__(
        self, name: str, model: Model, emitted: Emitted, process: Process, ctx: PassContext
    ) -> None:
        self.name, self.model, self.process = name, model, process
        self.ctx = ctx
        self.game = Game(model, Policy(once=True))
        self._player = _Player(LocalEngine())
        self._player.load(emitted, process.id, ctx)
        self.workflow: Json = dict(self._player.workflow)
        self.planned = {
            n.name: n for n in self._player.compiled.root.plan.workflow_graph.nodes.values()
        }
        decides = self._player.compiled.root.plan.decisions
        steps = {n.id for n in process.nodes if not isinstance(n, Gateway) or n.id in decides}
        self.visible = self._player.visible & steps
        self._idle = {
            n.id
            for n in process.nodes
            if isinstance(n, Event)
            and n.position in ("throw", "end")
            and n.trigger in ("none", "terminate")
        }
        """Events at which nothing is done: passing on is all there is to do."""
        self.scripts: tuple[Script, ...] = ()
        self.covering = 0
        self.dropped = 0

    def prepare(self, engine: LocalEngine, *, most: int, walks: int, seed: int) -> None:
        """Find the scripts and play them with the original."""
        runs = list(enumerate_runs(self.model, self.process.id, max_runs=most, game=self.game).runs)
        known = {(r.start, r.choices) for r in runs}
        for walk in random_walks(self.game, self.process.id, f"{seed}/{self.name}", 10 * walks):
            if walks and (walk.start, walk.choices) not in known:
                known.add((walk.start, walk.choices))
                runs.append(walk)
                walks -= 1
        self.scripts = tuple(self.scripts_for(runs))
        played = engine.run_many(s.request for s in self.scripts)
        kept = []
        for script, run in zip(self.scripts, played, strict=True):
            if self.difference(script, run, {}, frozenset()).differs:
                self.dropped += 1
            else:
                kept.append(dataclasses.replace(script, items=self.items(run, {}, frozenset())))
        self.scripts, self.covering = _by_coverage(kept)

    @property
    def key(self) -> str:
        """The name of the model and the process in it."""
        return f"{self.name} {self.process.id}"

    # -- scripts ------------------------------------------------------------------------------

    def scripts_for(self, runs: Iterable[Run], again: bool = False) -> Iterator[Script]:
        """The runs that data can be found for, and an odd one for each decision in them; with
        `again` for each time it is taken."""
        odd: set[str] = set()
        for run in runs:
            try:
                request = self._player.request_of(run)
            except Unplayable:
                self.dropped += 1
                continue
            yield Script(run, request)
            for gateway, changed in self._odd_requests(run, request, odd, again):
                odd.add(gateway)
                yield Script(run, changed, gateway)

    def _odd_requests(
        self, run: Run, request: RunRequest, known: set[str], again: bool
    ) -> Iterator[tuple[str, RunRequest]]:
        """`request` with a value of no branch at the first visit of each decision not `known`, with
        `again` at every visit of every one."""
        emission = self._player.compiled.root.plan
        visits: Counter[str] = Counter()
        done = set(known)
        for step in run.steps:
            if step.action not in ("fire", "done", "start"):
                continue
            visits[step.element] += 1
            for decision in emission.decisions.values():
                gateway = decision.gateway.id
                if decided_by(decision) != step.element or (gateway in done and not again):
                    continue
                done.add(gateway)
                if decision.default is not None:
                    continue
                fields: Json = {}
                if decision.values:
                    fields[decision.variable] = [] if decision.several else OTHERWISE
                trees = [(b.tree, False) for b in decision.branches if b.tree is not None]
                try:
                    values = solve_demands(trees) if trees else {}
                except Unplayable:
                    continue
                if any(len(path) > 1 for path in values):
                    continue
                fields |= {path[0]: value for path, value in values.items()}
                own = decision.setter == gateway
                visit = max(visits[step.element if own else decision.setter], 1)
                changed = self._with_fields(request, decision.setter, visit, fields)
                if changed is not None:
                    yield gateway, changed

    def _with_fields(
        self, request: RunRequest, setter: str, visit: int, fields: Json
    ) -> RunRequest | None:
        """`request` with what the setter outputs at a visit overwritten."""
        emission = self._player.compiled.root.plan
        if (
            setter in emission.workflow_graph.nodes
            and emission.workflow_graph.nodes[setter].role == "trigger"
        ):
            item = dict((request.items or [{"json": {}}])[0]["json"])
            if "body" in item:
                item["body"] = {**item["body"], **fields}
            else:
                item |= fields
            return request._replace(items=[{"json": item}])
        name = emission.name_of(setter)
        stub = (request.stubs or {}).get(name)
        answers = (request.answers or {}).get(name)  # to a task that waits for a call
        if stub is None and (answers is None or self._asks(name)):
            return None
        rows = list(stub["visits"] if stub is not None else answers or ())
        rows.extend({} for _ in range(visit - len(rows)))
        rows[visit - 1] = {**rows[visit - 1], **fields}
        if stub is None:
            return request._replace(answers={**(request.answers or {}), name: rows})
        stubs = {**(request.stubs or {}), name: {**stub, "visits": rows}}
        return request._replace(stubs=stubs)

    def _asks(self, name: str) -> bool:
        """Whether a node is a form: its page sends its own fields, with values it offers."""
        rows = (n for n in self.workflow["nodes"] if n["name"] == name)
        return any(row["parameters"].get("resume") == "form" for row in rows)

    # -- judging ------------------------------------------------------------------------------

    def request(self, script: Script, mutant: Mutant) -> RunRequest:
        """The script's request for a mutant: its nodes are stubbed and answered as those they
        stand for."""
        request = script.request
        present = [n["name"] for n in mutant.workflow["nodes"]]
        names = {name: mutant.stands.get(name, name) for name in present}
        given, told = request.stubs or {}, request.answers or {}
        trigger = next((n for n, o in names.items() if o == request.trigger), request.trigger)
        return request._replace(
            workflow=mutant.workflow,
            trigger=trigger,
            stubs={n: given[o] for n, o in names.items() if o in given},
            answers={n: told[o] for n, o in names.items() if o in told} or None,
        )

    def _element(self, node: str, stands: Mapping[str, str], off: frozenset[str]) -> str | None:
        planned = self.planned.get(stands.get(node, node))
        if planned is None or planned.role not in ("element", "trigger"):
            return None
        return None if node in off and planned.element not in self._idle else planned.element

    def items(
        self, run: EngineRun, stands: Mapping[str, str], off: frozenset[str]
    ) -> dict[str, tuple[int, ...]]:
        """How many items each visit of each visible element put out."""
        found: dict[str, list[int]] = {}
        for node in run.order:
            element = self._element(node.node, stands, off)
            if element in self.visible and element is not None and not node.unfed:
                found.setdefault(element, []).append(sum(node.outputs))
        return {element: tuple(counts) for element, counts in found.items()}

    def difference(
        self, script: Script, run: EngineRun, stands: Mapping[str, str], off: frozenset[str]
    ) -> Truth:
        """How a played script differs from what the model, and the original, do."""
        executed = tuple(
            NodeExecution(n.node, self._element(n.node, stands, off), n.status)
            for n in run.order
            if not n.unfed
        )
        choices = script.run.choices
        if script.odd is not None:
            why = self._odd_difference(script, run, executed)
            return Truth("odd", why, choices) if why else Truth()
        result = RunResult(run.status, executed, run.error, run.ms)
        report = judge_run(self.game, self.process, script.run, result, self.visible)
        if report.verdict != "equal":
            return Truth("run", report.divergence or report.verdict, choices)
        if script.items:
            counts = self.items(run, stands, off)
            for element, wanted in script.items.items():
                if counts.get(element) != wanted:
                    why = f"`{element}` puts out {counts.get(element)} items, not {wanted}"
                    return Truth("items", why, choices)
        return Truth()

    def _odd_difference(
        self, script: Script, run: EngineRun, executed: Sequence[NodeExecution]
    ) -> str:
        """Where no branch fits the run has to stop with an error, after what the model allows."""
        if run.status != "error":
            return f"no branch of `{script.odd}` fits: {run.status} instead of error"
        seen = [e.element for e in executed if e.element in self.visible and e.element]
        found = follow_execution(
            self.game, self.process.id, script.run.start, seen, script.run.script, self.visible
        )
        if found.index is not None and found.index < len(seen):
            return f"no branch of `{script.odd}` fits: {found.reason}"
        return ""

    # -- runs from elsewhere ------------------------------------------------------------------

    def complete(self, steps: Sequence[Step], count: int = 6) -> list[Run]:
        """Whole runs that begin with `steps`, as different as random ends make them."""
        return complete(self.game, self.process.id, steps, count)


def _by_coverage(scripts: Iterable[Script]) -> tuple[tuple[Script, ...], int]:
    """Scripts, those first that together take every flow, and the odd ones; how many these are."""
    rest = list(scripts)
    first: list[Script] = []
    seen: set[str] = set()
    plain = [s for s in rest if s.odd is None]
    while plain:
        best = max(plain, key=lambda s: len(s.run.flows - seen))
        if first and not best.run.flows - seen:
            break
        seen |= best.run.flows
        first.append(best)
        plain.remove(best)
    first += [s for s in rest if s.odd is not None]
    return (*first, *(s for s in plain)), len(first)


Job = tuple[Subject, Mutant, Sequence[Script]]
"""A mutant of a subject and what it is to play."""


def truths(engine: LocalEngine, jobs: Sequence[Job]) -> list[Truth]:
    """What the engine says of each mutant; no more of it is played once a run differs.

    One script of every mutant is played before the next of any, since the engine is sent requests
    ahead and would play many in vain.
    """
    found = [Truth() for _ in jobs]
    waiting: deque[tuple[int, Script]] = deque()

    def requests() -> Iterator[RunRequest]:
        for number in range(max((len(scripts) for _, _, scripts in jobs), default=0)):
            for index, (subject, mutant, scripts) in enumerate(jobs):
                if number < len(scripts) and not found[index].differs:
                    waiting.append((index, scripts[number]))
                    yield subject.request(scripts[number], mutant)

    for run in engine.run_many(requests()):
        index, script = waiting.popleft()
        if not found[index].differs:
            subject, mutant, _ = jobs[index]
            found[index] = subject.difference(script, run, mutant.stands, mutant.off)
    return found


def subjects(
    models: Iterable[tuple[str, Model]], registry: Registry, people: str = "placeholder"
) -> Iterator[Subject]:
    """Every process of the models that compiles for n8n in one execution. `people` is the target
    option for the tasks of people; only placeholders can be played."""
    for name, model in models:
        ctx = PassContext(registry=registry)
        emitted = compile_model(
            model, registry.backends["n8n"], ctx, options={"people": people, "waits": "execution"}
        )
        if emitted is None:
            continue
        for process in executable_processes(model):
            yield Subject(name, model, emitted, process, ctx)


def read_models(root: Path, pmo: Path, registry: Registry) -> Iterator[tuple[str, Model]]:
    """The models of PMo and the examples, by name."""
    found = [(f"pmo/{p.stem}", p) for p in sorted((pmo / "bpmn").glob("*.bpmn"))]
    examples = sorted((root / "examples").glob("*/model.*"))
    found += [(f"examples/{p.parent.name}", p) for p in examples]
    for name, path in found:
        model = load_model(str(path), registry, PassContext(registry=registry), diagram=True)
        if model is not None:
            yield name, model
