"""Every failed attempt as a typed record (SEEDS.md, "feedback"), by rules without guesses.

The rules read existing data: diagnostics, answers of a server, messages of executions, and traces
compared with the model. If no rule applies, the source is `unknown` and the evidence is passed
on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from orgflow.evaluation.replay import ReplayReport, RunReport

from orgflow_ir.diagnostics import Category, Diagnostic
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.token_game.stub_data import Choice, Unplayable, setter_values
from orgflow_ir.model import Flow, Gateway, Model, Process, Task
from orgflow_ir.model.index import ModelIndex
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.model.value import Value
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.work.gateway_decisions import (
    Decision,
    DecisionConventions,
    read_decisions,
    with_gateways,
)

Stage = Literal["compile", "deploy", "activation", "execution", "logical", "none"]
Source = str
"""`translation_error`, `bpmn_quality`, `unknown`, or for a target `{target}_limitation`."""
Severity = Literal["blocking", "degraded", "cosmetic"]
Confidence = Literal["high", "medium", "low"]

_Fits = Callable[[Gateway, Sequence[Flow]], bool]

_SOURCES: dict[str, Source] = {
    "model": "bpmn_quality",
    "translation": "translation_error",
    "unknown": "unknown",
}
_EVIDENCE = 3
_LONGEST = 300


class Failure(Value):
    """One failure.

    Attributes:
        failure_stage: the stage at which the attempt ended; `compile` precedes any deployment.
        failure_source: the cause; `unknown` also if it is none of these three, such as a server
            that is down.
        is_fixable: whether a person can apply the suggested fix.
        root_cause: the cause, in a sentence.
        bpmn_construct_responsible: for example `gateway.parallel`, None if no element is the cause.
        suggested_fix: the remedy.
        severity: `degraded` if the run succeeds in a way that differs from the model.
        confidence: how sure the rule is.
        rule: the rule that applied, or the code of a diagnostic; `none` without one.
        element: the id of the element, if there is one.
        evidence: the input of the rule, at most three lines.
    """

    failure_stage: Stage
    failure_source: Source
    is_fixable: bool
    root_cause: str
    bpmn_construct_responsible: str | None
    suggested_fix: str
    severity: Severity = "blocking"
    confidence: Confidence = "high"
    rule: str = "none"
    element: str | None = None
    evidence: tuple[str, ...] = ()


def limitation(target: str) -> Source:
    """The source of a failure for a limit of the target."""
    return f"{target}_limitation"


def by_message(stage: Stage, text: str, backend: Backend, construct: str | None = None) -> Failure:
    """The record for a message of the target's engine or server."""
    engines = backend.engines()
    for one in engines.messages if engines is not None else ():
        if one.pattern.search(text):
            source = limitation(backend.name) if one.fault == "target" else _SOURCES[one.fault]
            return Failure(
                failure_stage=stage, failure_source=source, is_fixable=True,
                root_cause=one.cause, bpmn_construct_responsible=construct, suggested_fix=one.fix,
                confidence=one.confidence, rule=one.rule, evidence=_lines([text]),
            )  # fmt: skip
    return unknown(stage, [text], construct)


def unknown(stage: Stage, evidence: Sequence[str], construct: str | None = None) -> Failure:
    """The record if no rule applies."""
    return Failure(
        failure_stage=stage, failure_source="unknown", is_fixable=False,
        root_cause="no rule explains it", bpmn_construct_responsible=construct,
        suggested_fix="examine the evidence", confidence="low", evidence=_lines(evidence),
    )  # fmt: skip


def by_diagnostics(
    diagnostics: Iterable[Diagnostic], model: Model | None, target: str
) -> tuple[Failure, ...]:
    """Records of errors before any deployment, one per code and element."""
    constructs = _constructs(model)
    found: dict[tuple[str, str | None], Failure] = {}
    for d in diagnostics:
        if d.severity.value != "error":
            continue
        source: Source = "bpmn_quality"
        if d.category is Category.TARGET:
            source = limitation(target)
        elif d.category is Category.INTERNAL:
            source = "translation_error"
        elif d.category is Category.DEPLOY:
            source = "unknown"
        found.setdefault(
            (d.code, d.element),
            Failure(
                failure_stage="compile", failure_source=source, is_fixable=d.help is not None,
                root_cause=d.message, bpmn_construct_responsible=constructs.get(d.element or ""),
                suggested_fix=d.help or "none is known", rule=d.code, element=d.element,
                evidence=_lines([d.message]),
            ),
        )  # fmt: skip
    return tuple(found.values())


def by_replay(model: Model, report: ReplayReport, backend: Backend) -> tuple[Failure, ...]:
    """Records of runs that do not conform to the model, one per cause; worst first."""
    found: dict[tuple[str, str | None, str], Failure] = {}
    for run in report.runs:
        if run.verdict == "equal":
            continue
        one = _of_run(model, run, report.labels, backend)
        found.setdefault((one.rule, one.element, one.root_cause), one)
    for told in report.unfinished:
        one = Failure(
            failure_stage="logical", failure_source="bpmn_quality", is_fixable=True,
            root_cause="the model itself has a run that never ends",
            bpmn_construct_responsible=None, suggested_fix="see `orgflowc check`",
            rule="model-stuck", evidence=_lines([told]),
        )  # fmt: skip
        found.setdefault((one.rule, None, told), one)
    if not report.runs and not report.unfinished:
        one = unknown("logical", ["the model has no run"])
        found[one.rule, None, ""] = one
    order = {"blocking": 0, "degraded": 1, "cosmetic": 2}
    return tuple(sorted(found.values(), key=lambda one: order[one.severity]))


def _closed_branch(process: Process, run: RunReport) -> str | None:
    """The first element of a run whose own conditions no data makes take what the run takes: the
    model's fault, where all others are of how a target is given the data."""
    decisions: dict[str, Decision] = {}
    for scope in process.scopes():
        asking, _ = with_gateways(scope, ControlFlow(scope))
        decisions |= read_decisions(asking, ControlFlow(asking), DecisionConventions())
    by_element = {source_ids(d.gateway)[0]: d for d in decisions.values()}
    for element, taken in run.run.choices:
        if element in by_element:
            try:
                setter_values([Choice(by_element[element], taken)])
            except Unplayable:
                return element
    return None


def _of_run(model: Model, run: RunReport, labels: dict[str, str], backend: Backend) -> Failure:
    process = next(p for p in model.processes if p.id == run.process)
    constructs = _constructs(model)
    evidence = [run.divergence or run.verdict]
    if run.error:
        evidence.insert(0, run.error)
    last = run.elements[-1] if run.elements else None

    def record(
        rule: str, source: Source, cause: str, fix: str, element: str | None, *,
        severity: Severity = "blocking", confidence: Confidence = "medium",
    ) -> Failure:  # fmt: skip
        return Failure(
            failure_stage="logical", failure_source=source, is_fixable=True, root_cause=cause,
            bpmn_construct_responsible=constructs.get(element or ""), suggested_fix=fix,
            severity=severity, confidence=confidence, rule=rule, element=element,
            evidence=_lines(evidence),
        )  # fmt: skip

    def name(element: str) -> str:
        return f"`{labels.get(element, element)}`"

    if run.verdict == "unplayable":
        closed = _closed_branch(process, run)
        if closed is not None:
            return record(
                "unplayable", "bpmn_quality", f"no data takes this branch of {name(closed)}",
                "check its conditions: the other branches cover all values", closed,
                severity="degraded", confidence="high",
            )  # fmt: skip
        return record(
            "unplayable", "translation_error",
            "in the compiled form, one value decides several of these branches, and no value "
            "takes all of them",
            "set the variables of their conditions in a step between the decisions", None,
            severity="degraded",
        )  # fmt: skip
    if run.verdict == "stub":
        named = name(run.stub) if run.stub is not None else "an element"
        return record(
            "stub", limitation(backend.name),
            f"the run reached {named}, which orgflow does not support on {backend.name} yet; a "
            "stub replaces it",
            "replace the stub, or change the model", run.stub, confidence="high",
        ).replace(failure_stage="compile")  # fmt: skip
    wanted = run.run.outcome == "error"
    if run.status == "limit":
        return record(
            "endless", "translation_error",
            f"the run went on around {name(last) if last else 'nothing'} and was stopped by a "
            "limit",
            "check for connections that lead back", last,
        )  # fmt: skip
    if run.status != "success" and not (wanted and run.status == "error"):
        text = run.error or f"the run ended with {run.status}"
        found = by_message("execution", text, backend, constructs.get(last or ""))
        return found.replace(element=last, evidence=_lines(evidence))
    same = not run.missing and not run.surplus
    if run.ran is not None:
        gateway = _choice_before(process, run.ran)
        if same:
            return record(
                "other-order", limitation(backend.name),
                f"{name(run.ran)} ran earlier or later than the model allows",
                f"check the positions of the nodes: {backend.name} runs from top to bottom",
                run.ran,
                severity="degraded",
            )  # fmt: skip
        if gateway is not None and run.missing:
            return record(
                "wrong-branch", "translation_error",
                f"{name(gateway.id)} took the branch to {name(run.ran)}, but the run does not",
                "check the conditions of the gateway's node", gateway.id,
            )  # fmt: skip
        if run.surplus:
            join = _join_before(process, run.ran)
            return record(
                "ran-again", "translation_error",
                f"{name(run.ran)} ran more often than the model allows",
                "check whether the join before it waits for all branches",
                join.id if join is not None else run.ran,
            )  # fmt: skip
        if run.missing and constructs.get(run.ran) in ("gateway.parallel", "gateway.inclusive"):
            return record(
                "starved-join", "translation_error",
                f"the join {name(run.ran)} ran without all its branches, and nothing after it ran",
                "check the inputs of its Merge node: one of them receives nothing", run.ran,
            )  # fmt: skip
        if run.missing:
            return record(
                "skipped", "translation_error",
                f"{name(run.ran)} ran instead of `{run.missing[0]}`",
                "check the connections between the two", run.ran,
            )  # fmt: skip
    if run.missing:
        first = next((n.id for n in _tasks(process) if n.label == run.missing[0]), None)
        join = _join_before(process, first) if first is not None else None
        if join is not None:
            return record(
                "starved-join", "translation_error",
                f"nothing ran after the join {name(join.id)}, and the run ended with status "
                "success",
                "check the inputs of its Merge node: one of them receives nothing", join.id,
            )  # fmt: skip
        return record(
            "ended-early", "translation_error",
            f"the run ended before `{run.missing[0]}`",
            "check the connections after the last executed node", first or last,
        )  # fmt: skip
    if wanted and run.status == "success":
        return record(
            "no-error", "translation_error", "the run should end with an error, but ended with "
                "status success",
            "check the node of the error end event", last,
        )  # fmt: skip
    if run.ran is None and same and run.unended:
        return record(
            "no-end", "translation_error",
            f"every task ran, but nothing after {name(last) if last else 'the start'}",
            "check the connection to the end event", last, severity="degraded",
        )  # fmt: skip
    return unknown("logical", evidence, constructs.get(last or ""))


def _constructs(model: Model | None) -> dict[str, str]:
    if model is None:
        return {}
    return {node.id: node.construct for node in ModelIndex(model).nodes.values()}


def _tasks(process: Process) -> list[Task]:
    return [n for scope in process.scopes() for n in scope.nodes if isinstance(n, Task)]


def _choice_before(process: Process, element: str) -> Gateway | None:
    """The deciding gateway that an element stands right behind."""
    return _gateway(process, element, lambda gateway, flows: gateway.gateway_kind != "parallel"
                    and sum(f.source == gateway.id for f in flows) > 1)  # fmt: skip


def _join_before(process: Process, element: str) -> Gateway | None:
    """The synchronising gateway with several ways in that an element stands right behind."""
    return _gateway(process, element, lambda gateway, flows: gateway.gateway_kind != "exclusive"
                    and sum(f.target == gateway.id for f in flows) > 1)  # fmt: skip


def _gateway(process: Process, element: str, fits: _Fits) -> Gateway | None:
    for scope in process.scopes():
        nodes = {node.id: node for node in scope.nodes}
        seen: set[str] = set()
        todo = [element]
        while todo:
            current = todo.pop(0)
            for flow in scope.flows:
                node = nodes.get(flow.source)
                if flow.target != current or not isinstance(node, Gateway) or node.id in seen:
                    continue
                if fits(node, scope.flows):
                    return node
                seen.add(node.id)
                todo.append(node.id)  # through gateways only: right behind it
    return None


def _lines(texts: Iterable[str]) -> tuple[str, ...]:
    found = [" ".join(text.split())[:_LONGEST] for text in texts if text]
    return tuple(found[:_EVIDENCE])
