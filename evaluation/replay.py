"""Replay: every enumerated run of a model, executed on a target, compared with the token game.

Precision, recall and F1 compare the multisets of executed tasks and of tasks of the run, as in the
published figures; in addition, the token game has to allow the order of all visible elements with
the run's choices, and the run has to end as it does there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import field
from types import MappingProxyType
from typing import Any, Literal

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.control_flow.calls import called_from
from orgflow_ir.flow.token_game.replay import FollowResult, follow_execution
from orgflow_ir.flow.token_game.runs import Run, enumerate_runs
from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.model import Event, Model, Node, Process, SubProcess, Task
from orgflow_ir.model.element_names import ElementNames
from orgflow_ir.model.index import ModelIndex
from orgflow_ir.model.records import NamedTuple, dataclass
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.runners import (
    ComputedFault,
    Runner,
    RunResult,
    RunSelection,
    WrongValue,
)
from orgflow_ir.targets import executable_processes
from orgflow_ir.targets.artifact import STUB_ROLE, Emitted

REPLAY_VERSION = 1
"""Version of the JSON; it is raised when a field is removed or changes its meaning."""

ReplayVerdict = Literal["equal", "different", "not run", "not compared"]


class RunReport(NamedTuple):
    """One run: the steps of the model, the behaviour of the target, and the point where they
    differ.

    `verdict`: `equal`, `different`, `fails` (the model itself ends in an error or never, and so
    does the run), `slow` (the machine did not execute it in time), `stub` (the run conforms to the
    model up to a stub, which stopped it), or `unplayable` (no data make the workflow take these
    choices); all but the first are never counted as a success. `wrong` are variables that the run
    set to other values than the model. `status` and `error` come from the engine, `elements` are
    the ids of the executed elements, in order, `surplus` those of tasks that are not in the run,
    and `ran` the element that the model did not allow. `steps` are the steps of the model that
    match the target, `places` the elements at which it waits where the two differ. `stub` is the
    unsupported element of the stub. `unended`: the model allows every step, but continues where the
    run ended.
    """

    process: str
    run: Run
    verdict: str
    executed: tuple[str, ...]
    precision: float
    recall: float
    f1: float
    divergence: str | None = None
    missing: tuple[str, ...] = ()
    milliseconds: float = 0.0
    status: str = "success"
    error: str | None = None
    elements: tuple[str, ...] = ()
    surplus: tuple[str, ...] = ()
    ran: str | None = None
    steps: tuple[Step, ...] = ()
    places: tuple[str, ...] = ()
    stub: str | None = None
    unended: bool = False
    wrong: tuple[WrongValue, ...] = ()


class FaultyBranch(NamedTuple):
    """A fault of the model in what it computes: why runs fail, or a flow that no data leads to.

    Attributes:
        process: the id of its process.
        kind: as in `ComputedFault`, or `unreached`.
        element: the id of the element; of the flow, if it is `unreached`.
        message: the reason.
    """

    process: str
    kind: str
    element: str
    message: str
    is_proved: bool = False


@dataclass(frozen=True)
class ReplayReport:
    """The runs of a model that were executed on one target.

    `flows` counts the flows that conforming runs took, and all flows; `uncovered` contains those
    that no run of the model takes, `unfinished` counts runs of the model that never complete and so
    cannot be compared, `left_out` counts runs that were not executed.
    """

    runs: tuple[RunReport, ...]
    flows: tuple[int, int]
    uncovered: tuple[tuple[str, str], ...] = ()
    changed: tuple[str, ...] = ()
    labels: dict[str, str] = field(default_factory=dict)
    unfinished: tuple[str, ...] = ()
    left_out: int = 0
    faults: tuple[FaultyBranch, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether at least one run was executed, every one conforms to the model, and data leads to
        every branch that the flow reaches."""
        return bool(self.runs) and all(r.verdict == "equal" for r in self.runs) and not self.faults

    @property
    def verdict(self) -> ReplayVerdict:
        """The verdict on all runs: `equal`, `different`, or `not run` without any; a command may
        report runs that are `not compared` with a model."""
        if not self.runs:
            return "not run"
        return "equal" if self.ok else "different"

    @property
    def f1(self) -> float:
        """Mean F1 over all runs, 0 without runs."""
        return sum(r.f1 for r in self.runs) / len(self.runs) if self.runs else 0.0

    def to_json(self) -> str:
        """The report as JSON."""
        return json.dumps(self.as_dict(), indent=2, ensure_ascii=False) + "\n"

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "format": "orgflow-replay",
            "version": REPLAY_VERSION,
            "ok": self.ok,
            "verdict": self.verdict,
            "f1": self.f1,
            "flows": {"covered": self.flows[0], "total": self.flows[1]},
            "uncovered": [{"flow": f, "reason": r} for f, r in self.uncovered],
            "changed": list(self.changed),
            "unfinished": list(self.unfinished),
            "faults": [
                {
                    "process": f.process,
                    "kind": f.kind,
                    "element": f.element,
                    "label": self.labels.get(f.element, f.element),
                    "reason": f.message,
                }
                for f in self.faults
            ],
            "left_out": self.left_out,
            "runs": [
                {
                    "process": r.process,
                    "verdict": r.verdict,
                    "choices": [
                        {"element": e, "label": self.labels.get(e, e), "taken": list(taken)}
                        for e, taken in r.run.choices
                    ],
                    "outcome": r.run.outcome,
                    "executed": list(r.executed),
                    "precision": r.precision,
                    "recall": r.recall,
                    "f1": r.f1,
                    "missing": list(r.missing),
                    "status": r.status,
                    "error": r.error,
                    "stub": r.stub,
                    "divergence": r.divergence,
                    "wrong": [wrong._asdict() for wrong in r.wrong],
                    "milliseconds": round(r.milliseconds, 2),
                }
                for r in self.runs
            ],
        }


def replay_model(
    model: Model,
    emitted: Emitted,
    runner: Runner,
    ctx: PassContext,
    *,
    max_runs: int = 32,
    all_paths: bool = True,
    flow_only: bool = False,
) -> ReplayReport:
    """Execute runs of every process of `model` on the target that it was compiled for.

    Without `all_paths` only the first run of each process. With `flow_only` also runs that no data
    leads along: their computed values are scripted, so that they compare the flow alone. Raises the
    exceptions of the runner if its engine is missing.
    """
    reports: list[RunReport] = []
    covered = total = left_out = 0
    uncovered: list[tuple[str, str]] = []
    unfinished: list[str] = []
    changed: list[str] = []
    faults: list[FaultyBranch] = []
    drawn = {flow.id for scope in model.scopes() for flow in scope.flows}
    model = runner.meaning(model)
    game = Game(model, Policy(once=True))
    for process in executable_processes(model):
        runs = enumerate_runs(model, process.id, max_runs=max_runs, game=game)
        total += runs.flows_total
        uncovered += runs.uncovered
        unfinished += [_describe_stuck(run, process) for run in runs.stuck]
        runner.load(emitted, process.id, ctx)
        changed += runner.changed
        stubs = _stubs_by_name(model, emitted, process)
        chosen = runner.select(game, runs, all_paths=all_paths, max_runs=max_runs)
        if flow_only:
            chosen = chosen._replace(runs=(*chosen.runs, *chosen.excluded))
        played = _play_runs(game, process, chosen, runner, stubs)
        covered += len(_flows_taken(played, process))
        left_out += chosen.left_out
        faults += _list_faults(process, chosen, drawn)
        uncovered += [(flow, UNDECIDED) for flow in chosen.undecided if flow in drawn]
        reports += played
    index = ctx.analysis(ModelIndex, model)
    names = ctx.analysis(ElementNames, model)
    labels = {n.id: n.name.strip() or _quotable_name(names.name(n)) for n in index.nodes.values()}
    labels |= {f.id: f.name.strip() or labels.get(f.target, f.target) for f in index.flows.values()}
    return ReplayReport(
        tuple(reports),
        (covered, total),
        tuple(uncovered),
        tuple(changed),
        labels,
        tuple(unfinished),
        left_out,
        tuple(faults),
    )


def _quotable_name(name: str) -> str:
    """A name that messages use, where the whole of it may be quoted."""
    return name.replace("`", "")


def _flows_taken(played: Iterable[RunReport], process: Process) -> set[str]:
    """The flows of a process that conforming runs took."""
    own = {flow.id for scope in process.scopes() for flow in scope.flows}
    return {f for report in played if report.verdict == "equal" for f in report.run.flows} & own


def _describe_stuck(run: Run, process: Process) -> str:
    """A run of the model that does not complete, in words; it is not played."""
    names = {n.id: n.label for scope in process.scopes() for n in scope.nodes}
    targets = {f.id: f.target for scope in process.scopes() for f in scope.flows}
    places = [targets.get(left.element, left.element) for left in run.left]
    where = ", ".join(dict.fromkeys(f"`{names.get(p, p)}`" for p in places)) or "nothing"
    return f"a run of the model does not end ({run.outcome}), with tokens left at {where}"


class StubPart(NamedTuple):
    """A part of the output that stops a run, and its element."""

    element: str
    name: str


def _stubs_by_name(model: Model, emitted: Emitted, process: Process) -> dict[str, StubPart]:
    """The stubs of a process, by the names of their parts."""
    stub_parts = [
        p for p in emitted.source_map.parts if p.role == STUB_ROLE and p.process == process.id
    ]
    if not stub_parts:
        return {}
    names = ElementNames(model)
    return {
        part.name: StubPart(element, names.name(element))
        for part in stub_parts
        for element in part.elements
    }


UNDECIDED = "no input was found that leads to it"
"""The reason why no run takes a flow before which a condition is that the search does not cover."""

_FAULT_WORDS = {
    "endless": "the run never ends",
    "stuck": "the run never ends",
    "no-branch": "no branch of the gateway fits the data",
    "thrown": "it throws an error that no event catches",
    "failed": "it fails",
    "invalid-time": "its time is invalid",
    "unset": "it reads a variable that nothing sets",
}


def _list_faults(process: Process, chosen: RunSelection, drawn: Set[str]) -> Iterator[FaultyBranch]:
    """What no data leads to in a process, and why; of flows only those that the source has."""
    for fault in chosen.faults:
        text = f"{_FAULT_WORDS[fault.kind]}: {fault.message}"
        yield FaultyBranch(process.id, fault.kind, fault.element, text)
    for flow in chosen.unreached:
        if flow not in drawn:
            continue
        if flow in chosen.excluded_flows:
            reason = "no values meet the conditions before it"
            yield FaultyBranch(process.id, "unreached", flow, reason, is_proved=True)
        else:
            yield FaultyBranch(process.id, "unreached", flow, "a search found no input for it")


def _play_runs(
    game: Game,
    process: Process,
    chosen: RunSelection,
    runner: Runner,
    stubs: Mapping[str, StubPart],
) -> list[RunReport]:
    failing = tuple(fault.run for fault in chosen.faults if fault.run is not None)
    wanted = (*chosen.runs, *failing)
    inside = (process, *called_from(process, game.model))
    ids = {n.id for called in inside for scope in called.scopes() for n in scope.nodes}
    visible = (runner.visible | {stub.element for stub in stubs.values()}) & ids
    results = list(runner.play(wanted))
    reports = [
        judge_run(game, process, run, result, visible, stubs)
        for run, result in zip(chosen.runs, results, strict=False)
    ]
    faults = (fault for fault in chosen.faults if fault.run is not None)
    for fault, result in zip(faults, results[len(chosen.runs) :], strict=True):
        reports.append(_judge_failing(process, fault, result))
    return reports


def _judge_failing(process: Process, fault: ComputedFault, result: RunResult) -> RunReport:
    """Whether a run fails as the model does."""
    assert fault.run is not None
    reason = f"{_FAULT_WORDS[fault.kind]}: {fault.message}"
    failed = result.status in ("error", "limit", "timeout", "waiting")
    if result.status == "unplayable":
        verdict, divergence = "unplayable", result.error
    elif failed:
        verdict, divergence = "fails", reason
    else:
        verdict = "different"
        divergence = f"the run ended with {result.status}, but in the model {reason}"
    return RunReport(
        process.id, fault.run, verdict, tuple(e.node for e in result.executed), 0.0, 0.0, 0.0,
        divergence, (), result.milliseconds, result.status, result.error,
        tuple(e.element for e in result.executed if e.element is not None),
    )  # fmt: skip


def judge_run(
    game: Game,
    process: Process,
    run: Run,
    result: RunResult,
    visible: frozenset[str],
    stubs: Mapping[str, StubPart] = MappingProxyType({}),
) -> RunReport:
    """Compare one executed run with the model's; `stubs` by the names of their parts."""
    inside = (process, *called_from(process, game.model))
    nodes = [n for called in inside for scope in called.scopes() for n in scope.nodes]
    tasks = {n.id for n in nodes if isinstance(n, Task)}
    names = {n.id: n.label for n in nodes}
    executed = [e.element for e in result.executed if e.element is not None]
    did = Counter(e for e in executed if e in tasks)
    begun = _count_begun(game, run, nodes)
    should = Counter({e: n for e, n in begun.items() if e in tasks})
    precision, recall, f1 = compute_scores(did, should)
    missing = tuple(names[e] for e in (should - did).elements())
    shown = tuple(e.node for e in result.executed)

    surplus = tuple((did - should).elements())
    targets = {
        f.id: f.target for called in inside for scope in called.scopes() for f in scope.flows
    }
    followed: FollowResult | None = None

    def report(
        verdict: str,
        divergence: str | None,
        ran: str | None = None,
        stub: str | None = None,
        *,
        unended: bool = False,
    ) -> RunReport:
        steps = followed.steps if followed is not None else ()
        left = followed.left if followed is not None else ()
        places = dict.fromkeys(targets.get(at.element, at.element) for at in left)
        return RunReport(
            process.id, run, verdict, shown, precision, recall, f1, divergence, missing,
            result.milliseconds, result.status, result.error, tuple(executed), surplus, ran,
            steps, tuple(places), stub, unended, result.wrong,
        )  # fmt: skip

    if result.status == "unplayable":
        return report("unplayable", result.error)
    if result.status == "timeout":
        return report("slow", f"the machine did not execute the run in time: {result.error}")
    seen = [e for e in executed if e in visible]
    followed = follow_execution(game, process.id, run.start, seen, run.script, visible)
    if not followed.ok:
        at = followed.index
        if at is not None and at < len(seen):
            allowed = ", ".join(f"`{name}`" for name in followed.expected) or "nothing"
            return report(
                "different",
                f"step {at + 1}: the target ran `{names[seen[at]]}`, but the model allows "
                f"{allowed} "
                f"({followed.reason})",
                seen[at],
            )
    stopped_at = next((name for name in shown if name in stubs), None)
    if result.status == "error" and stopped_at is not None:
        element, unsupported = stubs[stopped_at]
        places = {targets.get(left.element, left.element) for left in followed.left}
        if element in executed or _leads_to(places, element, process, visible):
            text = f"stopped at the stub `{stopped_at}`: {unsupported} is not supported"
            return report("stub", text, stub=element)
    text = _describe_end(run, result, followed)
    if text:
        return report("different", text, unended=not followed.ok)
    if did != should:
        return report("different", "the executed tasks differ from those of the run")
    if result.wrong:
        first = result.wrong[0]
        return report(
            "different",
            f"`{first.node}` sets `{first.variable}` to {first.actual}, but the model to "
            f"{first.expected}",
        )
    return report("equal", None)


def _count_begun(game: Game, run: Run, nodes: Sequence[Node]) -> Counter[str]:
    """How often the model begins each element in a run."""
    begun = Counter(s.element for s in run.steps if s.action in ("fire", "done"))
    hosts = {n.attached_to for n in nodes if isinstance(n, Event) and n.interrupting}
    for host in hosts & run.script.keys():  # what a boundary event ended was begun, too
        begun[str(host)] = len(run.script[str(host)])
    opened = Counter(s.element for s in run.steps if s.action == "open")
    for node in game.net.nodes:  # and what failed where something further out catches it
        if node.caught_by and opened[node.id]:
            begun[node.id] = opened[node.id]
    return begun


def _describe_end(run: Run, result: RunResult, followed: FollowResult) -> str:
    """How the end of an executed run differs from that of the model; empty if it does not."""
    if not followed.ok:
        allowed = " or ".join(f"`{name}`" for name in followed.expected)
        reason = followed.reason or f"the model continues with {allowed or 'the remaining steps'}"
        return f"after the last step: {reason}"
    if result.status != ("error" if run.outcome == "error" else "success"):
        return f"the run ended with {result.status}: {result.error}"
    if run.outcome != followed.outcome:
        return f"the run ends {followed.outcome}, but that of the model ends {run.outcome}"
    return ""


def _leads_to(
    places: Iterable[str], element: str, process: Process, visible: frozenset[str]
) -> bool:
    """Whether tokens at these places may be the ones that a stub for `element` stopped: nothing
    that is seen lies between."""
    ahead: dict[str, list[str]] = {}
    for scope in process.scopes():
        for flow in scope.flows:
            ahead.setdefault(flow.source, []).append(flow.target)
            if flow.id == element:
                element = flow.target
        led_to = {flow.target for flow in scope.flows}
        for node in scope.nodes:
            if isinstance(node, Event) and node.attached_to is not None:
                ahead.setdefault(node.attached_to, []).append(node.id)
            elif isinstance(scope, SubProcess) and node.id not in led_to:
                ahead.setdefault(scope.id, []).append(node.id)
    seen: set[str] = set()
    todo = list(places)
    while todo:
        here = todo.pop()
        if here == element:
            return True
        if here not in seen and here not in visible:
            todo += ahead.get(here, ())
        seen.add(here)
    return False


def compute_scores(did: Counter[str], should: Counter[str]) -> tuple[float, float, float]:
    """Precision, recall and F1 of two multisets; 1 if both are empty."""
    common = sum((did & should).values())
    done, wanted = sum(did.values()), sum(should.values())
    if not done and not wanted:
        return 1.0, 1.0, 1.0
    precision = common / done if done else 0.0
    recall = common / wanted if wanted else 0.0
    f1 = 2 * precision * recall / (precision + recall) if common else 0.0
    return precision, recall, f1
