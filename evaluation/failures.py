"""Every failed attempt as a typed record (SEEDS.md, "feedback"), by rules without guesses.

The rules read existing data: diagnostics, answers of a server, messages of executions, and traces
compared with the model. If no rule applies, the source is `unknown` and the evidence is passed
on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from orgflow.evaluation.replay import FaultyBranch, ReplayReport, RunReport

from orgflow_ir.diagnostics import Category, Diagnostic
from orgflow_ir.flow.control_flow.graph import ControlFlow
from orgflow_ir.flow.token_game.stub_data import Choice, Unplayable, setter_values
from orgflow_ir.model import Flow, Gateway, Model, Process, Task
from orgflow_ir.model.index import ModelIndex
from orgflow_ir.model.provenance import source_ids
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.value import Value
from orgflow_ir.pipeline import PassContext
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


def limitation_source(target: str) -> Source:
    """The source of a failure for a limit of the target."""
    return f"{target}_limitation"


def by_message(stage: Stage, text: str, backend: Backend, construct: str | None = None) -> Failure:
    """The record for a message of the target's engine or server."""
    engines = backend.engines()
    for pattern in engines.messages if engines is not None else ():
        if pattern.pattern.search(text):
            source = (
                limitation_source(backend.name)
                if pattern.fault == "target"
                else _SOURCES[pattern.fault]
            )
            return Failure(
                failure_stage=stage, failure_source=source, is_fixable=True,
                root_cause=pattern.cause, bpmn_construct_responsible=construct,
                suggested_fix=pattern.fix, confidence=pattern.confidence, rule=pattern.rule,
                evidence=_shorten_texts([text]),
            )  # fmt: skip
    return unexplained_failure(stage, [text], construct)


def unexplained_failure(
    stage: Stage, evidence: Sequence[str], construct: str | None = None
) -> Failure:
    """The record if no rule applies."""
    return Failure(
        failure_stage=stage, failure_source="unknown", is_fixable=False,
        root_cause="no rule explains it", bpmn_construct_responsible=construct,
        suggested_fix="examine the evidence", confidence="low", evidence=_shorten_texts(evidence),
    )  # fmt: skip


def by_diagnostics(
    diagnostics: Iterable[Diagnostic], model: Model | None, target: str
) -> tuple[Failure, ...]:
    """Records of errors before any deployment, one per code and element."""
    constructs = _collect_constructs(model)
    records: dict[tuple[str, str | None], Failure] = {}
    for d in diagnostics:
        if d.severity.value != "error":
            continue
        source: Source = "bpmn_quality"
        if d.category is Category.TARGET:
            source = limitation_source(target)
        elif d.category is Category.INTERNAL:
            source = "translation_error"
        elif d.category is Category.DEPLOY:
            source = "unknown"
        records.setdefault(
            (d.code, d.element),
            Failure(
                failure_stage="compile", failure_source=source, is_fixable=d.help is not None,
                root_cause=d.message, bpmn_construct_responsible=constructs.get(d.element or ""),
                suggested_fix=d.help or "none is known", rule=d.code, element=d.element,
                evidence=_shorten_texts([d.message]),
            ),
        )  # fmt: skip
    return tuple(records.values())


def by_replay(model: Model, report: ReplayReport, backend: Backend) -> tuple[Failure, ...]:
    """Records of runs that do not conform to the model, one per cause; worst first."""
    records: dict[tuple[str, str | None, str], Failure] = {}
    for run in report.runs:
        if run.verdict in ("equal", "fails"):
            continue  # a failing run is that of a fault of the model
        failure = _RunExplainer(model, run, report.labels, backend).explain()
        records.setdefault((failure.rule, failure.element, failure.root_cause), failure)
    for fault in report.faults:
        failure = _explain_fault(fault, report.labels, model)
        records.setdefault((failure.rule, failure.element, failure.root_cause), failure)
    for unfinished in report.unfinished:
        failure = Failure(
            failure_stage="logical", failure_source="bpmn_quality", is_fixable=True,
            root_cause="the model itself has a run that never ends",
            bpmn_construct_responsible=None, suggested_fix="see `orgflowc check`",
            rule="model-stuck", evidence=_shorten_texts([unfinished]),
        )  # fmt: skip
        records.setdefault((failure.rule, None, unfinished), failure)
    if not report.runs and not report.unfinished and not report.faults:
        failure = unexplained_failure("logical", ["the model has no run"])
        records[failure.rule, None, ""] = failure
    order = {"blocking": 0, "degraded": 1, "cosmetic": 2}
    return tuple(sorted(records.values(), key=lambda failure: order[failure.severity]))


class FaultText(NamedTuple):
    """The name of a fault in computed values of a model.

    Attributes:
        rule: the code of the rule that explains it.
        cause: the cause, with the element and the reason to fill in.
        fix: the remedy.
        confidence: how sure the search is.
    """

    rule: str
    cause: str
    fix: str
    confidence: Confidence = "high"


FAULT_TEXTS: dict[str, FaultText] = {
    "endless": FaultText(
        "OF562", "the run goes round through {element} and never ends",
        "change what the loop computes, or the condition that leaves it",
    ),
    "stuck": FaultText(
        "OF562", "the run waits at {element} and never ends", "see `orgflowc check`"
    ),
    "thrown": FaultText(
        "OF563", "every run that reaches {element} fails there: {reason}",
        "catch the error with a boundary event, or do not throw it",
    ),
    "failed": FaultText(
        "OF563", "every run that reaches {element} fails there: {reason}",
        "change what the element computes",
    ),
    "unset": FaultText(
        "OF563", "every run that reaches {element} fails there: {reason}",
        "set the variable in an earlier step",
    ),
    "no-branch": FaultText(
        "OF563", "{element} stops every run that reaches it: {reason}",
        "add a default flow, or a branch for the other values", "medium",
    ),
    "invalid-time": FaultText(
        "OF564", "every run that reaches {element} fails there: {reason}",
        "compute a date or a duration of ISO 8601, such as PT1H",
    ),
    "unreached": FaultText(
        "OF561",
        "a search found no input that leads to {element}; it tried the values that the conditions "
        "tell apart",
        "check the condition of the branch, and what sets its variables", "medium",
    ),
    "excluded": FaultText(
        "OF561", "no input leads to {element}: no values meet the conditions before it",
        "correct the conditions of the branches, or remove the branch",
    ),
}  # fmt: skip
"""The sentence about each kind of fault."""


def report_faults(report: ReplayReport, model: Model, ctx: PassContext) -> None:
    """Report the faults in what a model computes as findings, by the rules that the records of
    `by_replay` name."""
    index = ModelIndex(model)
    rules = getattr(ctx.registry, "rules", {})
    for fault in report.faults:
        rule = rules.get(FAULT_TEXTS[fault.kind].rule)
        if rule is None:
            continue  # the target has no rules for runs
        record = _explain_fault(fault, report.labels, model)
        element = index.nodes.get(fault.element) or index.flows.get(fault.element)
        ctx.emit(
            rule, record.root_cause, element=element or fault.element, help=record.suggested_fix
        )


def _explain_fault(fault: FaultyBranch, labels: Mapping[str, str], model: Model | None) -> Failure:
    """The record of a fault in what a model computes."""
    text = FAULT_TEXTS["excluded" if fault.is_proved else fault.kind]
    element = fault.element
    named = _name_end(labels.get(element, element))
    if fault.kind == "unreached" and model is not None:
        flow = ModelIndex(model).flows.get(element)
        if flow is not None:
            source, target = (labels.get(end, end) for end in (flow.source, flow.target))
            named = f"the branch from {_name_end(source)} to {_name_end(target)}"
    return Failure(
        failure_stage="logical", failure_source="bpmn_quality", is_fixable=True,
        root_cause=text.cause.format(element=named, reason=fault.message),
        bpmn_construct_responsible=_collect_constructs(model).get(element),
        suggested_fix=text.fix,
        severity="degraded" if fault.kind == "unreached" else "blocking",
        confidence=text.confidence, rule=text.rule, element=element,
        evidence=_shorten_texts([fault.message]),
    )  # fmt: skip


def _name_end(label: str) -> str:
    """A label, or the description of an element without one, in a message."""
    return label if label.startswith("the ") else f"`{label}`"


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


class _RunExplainer:
    """Explains a run that does not conform: one rule a method, in the order of `_RULES`."""

    def __init__(
        self, model: Model, run: RunReport, labels: dict[str, str], backend: Backend
    ) -> None:
        self.run, self.labels, self.backend = run, labels, backend
        self.process = next(p for p in model.processes if p.id == run.process)
        self.constructs = _collect_constructs(model)
        self.evidence = [text for text in (run.error, run.divergence or run.verdict) if text]
        self.last = run.elements[-1] if run.elements else None
        self.ends_with_error = run.run.outcome == "error"

    def explain(self) -> Failure:
        """The record of the first rule that applies."""
        for rule in self._RULES:
            failure = rule(self)
            if failure is not None:
                return failure
        return unexplained_failure("logical", self.evidence, self.constructs.get(self.last or ""))

    def _record(
        self, rule: str, source: Source, cause: str, fix: str, element: str | None, *,
        severity: Severity = "blocking", confidence: Confidence = "medium",
    ) -> Failure:  # fmt: skip
        return Failure(
            failure_stage="logical", failure_source=source, is_fixable=True, root_cause=cause,
            bpmn_construct_responsible=self.constructs.get(element or ""), suggested_fix=fix,
            severity=severity, confidence=confidence, rule=rule, element=element,
            evidence=_shorten_texts(self.evidence),
        )  # fmt: skip

    def _name(self, element: str) -> str:
        return f"`{self.labels.get(element, element)}`"

    def _explain_unplayable(self) -> Failure | None:
        if self.run.verdict != "unplayable":
            return None
        closed = _closed_branch(self.process, self.run)
        if closed is not None:
            return self._record(
                "unplayable", "bpmn_quality", f"no data takes this branch of {self._name(closed)}",
                "check its conditions: the other branches cover all values", closed,
                severity="degraded", confidence="high",
            )  # fmt: skip
        return self._record(
            "unplayable", "translation_error",
            "in the compiled form, one value decides several of these branches, and no value "
            "takes all of them",
            "set the variables of their conditions in a step between the decisions", None,
            severity="degraded",
        )  # fmt: skip

    def _explain_stub(self) -> Failure | None:
        run, target = self.run, self.backend.name
        if run.verdict != "stub":
            return None
        named = self._name(run.stub) if run.stub is not None else "an element"
        return self._record(
            "stub", limitation_source(target),
            f"the run reached {named}, which orgflow does not support on {target} yet; a "
            "stub replaces it",
            "replace the stub, or change the model", run.stub, confidence="high",
        ).replace(failure_stage="compile")  # fmt: skip

    def _explain_slowness(self) -> Failure | None:
        if self.run.verdict != "slow":
            return None
        return self._record(
            "slow-machine", "unknown",
            "the machine was too slow: the run did not end in time, also when it was repeated",
            "run again when the machine is less busy", None, confidence="low",
        ).replace(failure_stage="execution")  # fmt: skip

    def _explain_wrong_value(self) -> Failure | None:
        run = self.run
        if not run.wrong or run.ran is not None or run.missing or run.surplus:
            return None
        first = run.wrong[0]
        return self._record(
            "wrong-value", "translation_error",
            f"`{first.node}` sets the variable `{first.variable}` to {first.actual}, but in the "
            f"model it is {first.expected}",
            "compile again if somebody changed the node; otherwise report it as a bug",
            first.element, confidence="high",
        )  # fmt: skip

    def _explain_limit(self) -> Failure | None:
        if self.run.status != "limit":
            return None
        return self._record(
            "endless", "translation_error",
            f"the run went on around {self._name(self.last) if self.last else 'nothing'} and was "
            "stopped by a limit",
            "check for connections that lead back", self.last,
        )  # fmt: skip

    def _explain_status(self) -> Failure | None:
        status = self.run.status
        if status in ("success", "timeout") or (self.ends_with_error and status == "error"):
            return None
        text = self.run.error or f"the run ended with {status}"
        failure = by_message("execution", text, self.backend, self.constructs.get(self.last or ""))
        return failure.replace(element=self.last, evidence=_shorten_texts(self.evidence))

    def _explain_order(self) -> Failure | None:
        run, target = self.run, self.backend.name
        if run.ran is None or run.missing or run.surplus:
            return None
        return self._record(
            "other-order", limitation_source(target),
            f"{self._name(run.ran)} ran earlier or later than the model allows",
            f"check the positions of the nodes: {target} runs from top to bottom", run.ran,
            severity="degraded",
        )  # fmt: skip

    def _explain_branch(self) -> Failure | None:
        run = self.run
        if run.ran is None or not run.missing:
            return None
        gateway = _choice_before(self.process, run.ran)
        if gateway is None:
            return None
        return self._record(
            "wrong-branch", "translation_error",
            f"{self._name(gateway.id)} took the branch to {self._name(run.ran)}, but the run "
            "does not",
            "check the conditions of the gateway's node", gateway.id,
        )  # fmt: skip

    def _explain_surplus(self) -> Failure | None:
        run = self.run
        if run.ran is None or not run.surplus:
            return None
        join = _join_before(self.process, run.ran)
        return self._record(
            "ran-again", "translation_error",
            f"{self._name(run.ran)} ran more often than the model allows",
            "check whether the join before it waits for all branches",
            join.id if join is not None else run.ran,
        )  # fmt: skip

    def _explain_other_step(self) -> Failure | None:
        run = self.run
        if run.ran is None or not run.missing:
            return None
        if self.constructs.get(run.ran) in ("gateway.parallel", "gateway.inclusive"):
            return self._record(
                "starved-join", "translation_error",
                f"the join {self._name(run.ran)} ran without all its branches, and nothing after "
                "it ran",
                "check the inputs of its Merge node: one of them receives nothing", run.ran,
            )  # fmt: skip
        return self._record(
            "skipped", "translation_error",
            f"{self._name(run.ran)} ran instead of `{run.missing[0]}`",
            "check the connections between the two", run.ran,
        )  # fmt: skip

    def _explain_missing(self) -> Failure | None:
        run = self.run
        if not run.missing:
            return None
        first = next((n.id for n in _list_tasks(self.process) if n.label == run.missing[0]), None)
        join = _join_before(self.process, first) if first is not None else None
        if join is not None:
            return self._record(
                "starved-join", "translation_error",
                f"nothing ran after the join {self._name(join.id)}, and the run ended with status "
                "success",
                "check the inputs of its Merge node: one of them receives nothing", join.id,
            )  # fmt: skip
        return self._record(
            "ended-early", "translation_error",
            f"the run ended before `{run.missing[0]}`",
            "check the connections after the last executed node", first or self.last,
        )  # fmt: skip

    def _explain_success(self) -> Failure | None:
        if not self.ends_with_error or self.run.status != "success":
            return None
        return self._record(
            "no-error", "translation_error",
            "the run should end with an error, but ended with status success",
            "check the node of the error end event", self.last,
        )  # fmt: skip

    def _explain_end(self) -> Failure | None:
        run = self.run
        if run.ran is not None or run.surplus or not run.unended:
            return None
        return self._record(
            "no-end", "translation_error",
            "every task ran, but nothing after "
            f"{self._name(self.last) if self.last else 'the start'}",
            "check the connection to the end event", self.last, severity="degraded",
        )  # fmt: skip

    _RULES = (
        _explain_unplayable, _explain_slowness, _explain_stub, _explain_limit, _explain_status,
        _explain_order, _explain_branch, _explain_surplus, _explain_other_step, _explain_missing,
        _explain_success, _explain_end, _explain_wrong_value,
    )  # fmt: skip


def _collect_constructs(model: Model | None) -> dict[str, str]:
    if model is None:
        return {}
    return {node.id: node.construct for node in ModelIndex(model).nodes.values()}


def _list_tasks(process: Process) -> list[Task]:
    return [n for scope in process.scopes() for n in scope.nodes if isinstance(n, Task)]


def _choice_before(process: Process, element: str) -> Gateway | None:
    """The deciding gateway that an element stands right behind."""
    return _find_gateway(process, element, lambda gateway, flows: gateway.gateway_kind != "parallel"
                    and sum(f.source == gateway.id for f in flows) > 1)  # fmt: skip


def _join_before(process: Process, element: str) -> Gateway | None:
    """The synchronising gateway with several ways in that an element stands right behind."""
    return _find_gateway(
        process,
        element,
        lambda gateway, flows: (
            gateway.gateway_kind != "exclusive" and sum(f.target == gateway.id for f in flows) > 1
        ),
    )


def _find_gateway(process: Process, element: str, fits: _Fits) -> Gateway | None:
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


def _shorten_texts(texts: Iterable[str]) -> tuple[str, ...]:
    lines = [" ".join(text.split())[:_LONGEST] for text in texts if text]
    return tuple(lines[:_EVIDENCE])
