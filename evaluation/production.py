"""Replay of production: the executions of a deployed workflow, compared with the model.

Each stored execution is followed on the token game with the choices of its nodes. A run that the
model does not allow is a deviation; a failed or unfinished run is reported as such, and is a
deviation only if the model does not allow its executed part.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from orgflow.evaluation.failures import Failure, by_message, unexplained_failure

from orgflow_ir.diagnostics import Step
from orgflow_ir.flow.token_game.replay import FollowResult, follow_execution
from orgflow_ir.flow.token_game.semantics import Game, Policy
from orgflow_ir.model import Model
from orgflow_ir.model.codec import to_data
from orgflow_ir.model.index import ModelIndex
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.plugins.executions import (
    Execution,
    ExecutionObserver,
    Observed,
    UnreadableExecution,
    Visit,
    WorkflowVersion,
)

MOST_GUESSES = 256
"""Maximum number of paths tried if nodes do not record their choice."""

_UNFINISHED = frozenset({"new", "running", "waiting", "unknown"})


class Judged(NamedTuple):
    """One execution and its result on the model.

    Attributes:
        observed: its recorded steps.
        verdict: `equal`, `different`, `failed` or `unfinished`; `partial` for a partial test run,
            which is not judged.
        steps: the steps of the model that match the execution.
        places: elements at which the model waits after them.
        ran: the element that ran where the model does not allow it.
        at: its place among `observed.elements`.
        said: the fault, in words.
        free: choosing elements whose nodes do not record their choice.
        strange: executed nodes without an element in the model.
        edited: whether the executed workflow differs from the current output for the model.
    """

    observed: Observed
    verdict: str
    steps: tuple[Step, ...] = ()
    places: tuple[str, ...] = ()
    ran: str | None = None
    at: int | None = None
    reason: str = ""
    free: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()
    edited: bool = False


class Edited(NamedTuple):
    """The visible differences of a workflow from the compiled one: names of nodes without an
    element, labels of steps without a node, of disabled steps, of redirected connections and of
    changed conditions."""

    workflow: str
    unknown: tuple[str, ...]
    missing: tuple[str, ...]
    disabled: tuple[str, ...]
    rewired: tuple[str, ...]
    changed: tuple[str, ...]


class ProductionReport(NamedTuple):
    """Executions on a model.

    `unread` gives the reason why further ones could not be judged; `edited` describes workflows
    that differ from the compiled ones; `failures` are typed records, one per cause.
    """

    executions: tuple[Judged, ...]
    unread: tuple[str, ...] = ()
    edited: tuple[Edited, ...] = ()
    failures: tuple[Failure, ...] = ()

    def count(self, verdict: str) -> int:
        """The number of executions with this verdict."""
        return sum(j.verdict == verdict for j in self.executions)

    @property
    def ok(self) -> bool:
        """Whether there is at least one, and all finished ones conform to the model."""
        return bool(self.executions) and not (self.count("different") or self.count("failed"))

    @property
    def elements(self) -> Counter[str]:
        """The number of executions of each element."""
        return Counter(e for j in self.executions for e in ran_elements(j.observed))

    @property
    def flows(self) -> Counter[str]:
        """The number of times that each flow was taken."""
        return Counter(f for j in self.executions for s in j.steps for f in s.taken)

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "version": 1,
            "ok": self.ok,
            "verdicts": dict(sorted(Counter(j.verdict for j in self.executions).items())),
            "elements": dict(sorted(self.elements.items())),
            "flows": dict(sorted(self.flows.items())),
            "unread": list(self.unread),
            "edited": [judged._asdict() for judged in self.edited],
            "failures": [to_data(judged) for judged in self.failures],
            "executions": [
                {
                    "id": j.observed.id,
                    "process": j.observed.process,
                    "status": j.observed.status,
                    "mode": j.observed.mode,
                    "started": j.observed.began,
                    "verdict": j.verdict,
                    "deviation": j.reason or None,
                    "element": j.ran,
                    "error": j.observed.error,
                    "executed": [n.node for n in j.observed.nodes],
                    "unknown": list(j.strange),
                    "flows": [f for s in j.steps for f in s.taken],
                }
                for j in self.executions
            ],
        }

    def to_json(self, more: Mapping[str, Any] | None = None) -> str:
        """The report as JSON; `more` are optional fields about the work."""
        return json.dumps({**self.as_dict(), **(more or {})}, indent=2, ensure_ascii=False) + "\n"


def ran_elements(observed: Observed) -> tuple[str, ...]:
    """Elements of an execution, including its start event."""
    return tuple(n.element for n in observed.nodes if n.stands and n.element is not None)


def replay_executions(
    model: Model,
    executions: Iterable[Execution],
    backend: Backend,
    observer: ExecutionObserver,
) -> ProductionReport:
    """Judge stored executions of a target on `model` (not lowered).

    Args:
        model: the source of the executed workflows.
        executions: in the form that the target stores.
        backend: the backend of the target.
        observer: reads them, for this model (`ExecutionReader.observer`).
    """
    model = backend.meaning(model)
    game = Game(model, Policy(once=True))
    index = ModelIndex(model)
    labels = {n.id: n.label for n in index.nodes.values()}
    for flow in index.flows.values():
        labels[flow.id] = " ".join(flow.name.split()) or labels.get(flow.target, flow.id)
    judged: list[Judged] = []
    unread: list[str] = []
    versions: dict[int, WorkflowVersion] = {}
    for execution in executions:
        try:
            observed, version = observer.observe(execution)
        except UnreadableExecution as error:
            unread.append(str(error))
            continue
        versions.setdefault(id(version), version)
        judged.append(judge_execution(game, observed, version, labels))
    edited = tuple(
        e for version in versions.values() if (e := _compare_version(version, labels)) is not None
    )
    return ProductionReport(
        tuple(judged), tuple(unread), edited, _collect_failures(model, judged, backend)
    )


def judge_execution(
    game: Game, observed: Observed, version: WorkflowVersion, labels: Mapping[str, str]
) -> Judged:
    """Follow one execution on the model."""
    strange = tuple(dict.fromkeys(n.node for n in observed.nodes if n.element is None))
    if observed.partial:
        text = "only a part of the workflow was run, as a test"
        return Judged(observed, "partial", reason=text, strange=strange)
    followed, free = _follow_execution(game, observed, version)
    process = next(p for p in game.model.processes if p.id == observed.process)
    targets = {f.id: f.target for scope in process.scopes() for f in scope.flows}
    places = tuple(dict.fromkeys(targets.get(a.element, a.element) for a in followed.left))
    seen = observed.elements

    def judged(verdict: str, text: str = "", at: int | None = None) -> Judged:
        ran = seen[at] if at is not None else None
        return Judged(
            observed,
            verdict,
            followed.steps,
            places,
            ran,
            at,
            text,
            tuple(sorted(free)),
            strange,
            version.edited,
        )

    at = followed.index
    if at is not None and at < len(seen):
        text = _describe_deviation(observed, followed.expected, at, version, labels)
        return judged("different", text, at)
    if observed.status in _UNFINISHED:
        place = labels.get(observed.failed or "", "")
        doing = "waits" if observed.status == "waiting" else "is not over"
        return judged("unfinished", f"{doing} at `{place}`" if place else doing)
    wanted = followed.ok and followed.outcome == "error"
    if observed.status != "success" and not wanted:
        place = labels.get(observed.failed or "", "")
        why = observed.error or f"it ended as {observed.status}"
        return judged("failed", f"failed at `{place}`: {why}" if place else f"failed: {why}")
    text = _describe_end(observed, followed)
    return judged("different", text) if text else judged("equal")


def _describe_deviation(
    observed: Observed,
    expected: Collection[str],
    at: int,
    version: WorkflowVersion,
    labels: Mapping[str, str],
) -> str:
    """How an execution left the model with its element number `at`."""
    seen = observed.elements
    ran = labels[seen[at]]
    allowed = " or ".join(f"`{name}`" for name in expected) or "nothing more"
    text = f"`{ran}` ran, but the model allows {allowed}"
    visits = observed.visits.get(seen[at], ())
    number = seen[:at].count(seen[at])
    visit = visits[number] if number < len(visits) else ()
    if ran in expected and visit:
        next_steps = " and ".join(f"`{labels.get(f, f)}`" for f in visit)
        text = f"`{ran}` continued with {next_steps}, which the model does not allow"
    for elements, state in (
        (version.disabled, "is disabled in the workflow"),
        (version.missing, "no longer has a node in the workflow"),
    ):
        names = [labels[e] for e in elements if labels.get(e) in expected]
        if names:
            text += f"; {_join_names(names)} {state}"
    return text


def _describe_end(observed: Observed, followed: FollowResult) -> str:
    """How the end of an execution differs from that of the model; empty if it does not."""
    if not followed.ok:
        allowed = " or ".join(f"`{name}`" for name in followed.expected)
        if allowed:
            return f"it ended, but the model continues with {allowed}"
        return f"after the last step: {followed.reason or 'the model does not end here'}"
    if followed.outcome == "error" and observed.status == "success":
        return "it ended successfully, but the model ends with an error"
    return ""


def _follow_execution(
    game: Game, observed: Observed, version: WorkflowVersion
) -> tuple[FollowResult, frozenset[str]]:
    """Follow with what the nodes tell; what they do not tell is tried."""
    free: set[str] = set()
    best: tuple[int, FollowResult] | None = None
    todo: list[dict[str, tuple[Visit, ...]]] = [dict(observed.visits)]
    tried = 0
    while todo and tried < MOST_GUESSES:
        visits = todo.pop()
        tried += 1
        script = {e: _known_visits(v) for e, v in visits.items()}
        result = follow_execution(
            game, observed.process, observed.start, observed.elements, script, version.visible
        )
        reached = len(observed.elements) + 1 if result.ok else result.index
        far = len(observed.elements) if reached is None else reached
        if best is None or far > best[0]:
            best = (far, result)
        if result.ok:
            break
        open_ = result.undecided
        if open_ is None:
            continue
        if far >= len(observed.elements) and observed.status != "success":
            break  # it stopped before it chose
        free.add(open_)
        known = visits.get(open_, ())
        place = known.index(None) if None in known else len(known)
        options = game.net.nodes[game.net.by_id[open_][0]].options
        for option in reversed(list(options)):
            todo.append({**visits, open_: (*known[:place], option, *known[place + 1 :])})
    assert best is not None
    return best[1], frozenset(free)


def _known_visits(visits: tuple[Visit, ...]) -> tuple[tuple[str, ...], ...]:
    """The visits up to the first that is not told."""
    records = []
    for visit in visits:
        if visit is None:
            break
        records.append(visit)
    return tuple(records)


def _join_names(names: Iterable[str]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _compare_version(version: WorkflowVersion, labels: Mapping[str, str]) -> Edited | None:
    """How a version differs from what is compiled now; None where it does not."""
    records = Edited(
        version.name,
        version.unknown,
        tuple(labels.get(e, e) for e in version.missing),
        tuple(labels.get(e, e) for e in version.disabled),
        version.rewired,
        tuple(f"`{c.node}` has `{c.now}`, but the model has `{c.was}`" for c in version.changed),
    )
    return records if version.edited else None


def _collect_failures(
    model: Model, judged: Iterable[Judged], backend: Backend
) -> tuple[Failure, ...]:
    """A typed record for each way in which executions failed or left the model."""
    constructs = {n.id: n.construct for n in ModelIndex(model).nodes.values()}
    by_way: dict[tuple[str, str | None, str], tuple[Failure, list[str]]] = {}
    for execution in judged:
        record = _make_record(execution, constructs, backend)
        if record is not None:
            key = (record.rule, record.element, record.root_cause)
            by_way.setdefault(key, (record, []))[1].append(execution.observed.id)
    order = {"blocking": 0, "degraded": 1, "cosmetic": 2}
    records = [
        record.replace(
            evidence=(
                *record.evidence[:2],
                f"execution{'s' if len(ids) > 1 else ''} {_list_some(ids)}",
            )
        )
        for record, ids in by_way.values()
    ]
    return tuple(sorted(records, key=lambda execution: order[execution.severity]))


def _list_some(ids: list[str]) -> str:
    more = f" and {len(ids) - 8} more" if len(ids) > 8 else ""
    return ", ".join(ids[:8]) + more


def _make_failed_record(
    observed: Observed, constructs: Mapping[str, str], backend: Backend
) -> Failure:
    construct = constructs.get(observed.failed or "")
    if observed.status == "canceled" and observed.error is None:
        record = unexplained_failure("execution", ["somebody stopped the execution"], construct)
        record = record.replace(root_cause="somebody stopped the execution", rule="stopped")
    else:
        text = observed.error or f"the execution ended as {observed.status}"
        record = by_message("execution", text, backend, construct)
    known = observed.failed if observed.failed in constructs else None
    return record.replace(element=known)


def _make_record(judged: Judged, constructs: Mapping[str, str], backend: Backend) -> Failure | None:
    observed = judged.observed
    if judged.verdict == "failed":
        return _make_failed_record(observed, constructs, backend)
    if judged.verdict == "unfinished":
        return Failure(
            failure_stage="none", failure_source="unknown", is_fixable=False,
            root_cause=f"the execution {judged.reason}",
            bpmn_construct_responsible=constructs.get(observed.failed or ""),
            suggested_fix="wait, or provide the awaited answer", severity="cosmetic",
            rule="unfinished", element=observed.failed if observed.failed in constructs else None,
            evidence=(f"{backend.name} says: {observed.status}",),
        )  # fmt: skip
    if judged.verdict != "different":
        return None
    at = judged.ran or next(iter(judged.places), None)
    fix = "change the model to match the workflow, or deploy it again"
    if not judged.edited:
        fix = "check whether this model was deployed; otherwise deploy it again"
    return Failure(
        failure_stage="logical", failure_source="unknown", is_fixable=True,
        root_cause="the workflow was edited and does something that the model does not allow"
        if judged.edited else "the execution did something that the model does not allow",
        bpmn_construct_responsible=constructs.get(at or ""), suggested_fix=fix,
        severity="degraded", confidence="medium",
        rule="edited-workflow" if judged.edited else "deviation",
        element=at if at in constructs else None, evidence=(judged.reason,),
    )  # fmt: skip
