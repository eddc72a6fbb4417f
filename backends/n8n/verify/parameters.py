"""Other deciding parts of a workflow that were changed, besides its If and Switch nodes: Merges,
questions after forms, type versions, and steps that set a gateway's variables. Reported, not
judged."""

from __future__ import annotations

import json
from collections.abc import Iterator

from orgflow.backends.n8n.format.json_values import mapping
from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.workflow_document import Node, WorkflowDocument
from orgflow.backends.n8n.node_types import catalogue, set_
from orgflow.backends.n8n.node_types.merge import merge_counts
from orgflow.backends.n8n.node_types.node_type import is_expression
from orgflow.backends.n8n.plan.actions import AskAgain, Placeholder, SetDecision
from orgflow.backends.n8n.plan.graph import NodeKey, PlanNode
from orgflow.backends.n8n.verify.choices import Names
from orgflow.backends.n8n.verify.reference import Reference

from orgflow_ir.targets.verification import Changed
from orgflow_ir.work.gateway_decisions import Decision

_VALUES = ("value", "stringValue", "numberValue", "booleanValue", "arrayValue", "objectValue")
"""Where an entry of a Set has its value, by version."""

_DECIDING = ("if", "switch", "merge", "wait", "filter")


def changed_parameters(
    ref: Reference, matching: Matching[NodeKey], workflow: WorkflowDocument
) -> Iterator[Changed]:
    """All changed parts, in the order of the matched nodes."""
    compiled = Names({n.name: key for key, n in ref.plan.workflow_graph.nodes.items()}, None)
    names = Names(matching.key_of, set(workflow.steps))
    for name, key in matching.key_of.items():
        before, now = ref.nodes[key], workflow.steps[name]
        planned = ref.plan.workflow_graph.nodes[key]
        for was, now_text in (
            _compare_version(now),
            _compare_merge(before, now),
            _compare_guard(planned, before, now, compiled, names),
        ):
            if was != now_text:
                yield Changed(name, planned.element, was, now_text)
        for decision in _list_decisions(planned):
            yield from _changed_setter(decision, name, now)


def _compare_version(now: Node) -> tuple[str, str]:
    """A node that decides, of a version this n8n does not have: it runs by rules nobody knows."""
    if now.short not in _DECIDING:
        return "", ""
    versions = catalogue.known_versions(now.type)
    if not versions or now.version in versions:
        return "", ""
    return f"version {versions[-1]:g}", f"version {now.version}, which n8n does not have"


def _compare_merge(before: Node, now: Node) -> tuple[str, str]:
    """A Merge that goes by the data (by fields, by SQL), so that nobody knows what it hands on."""
    if now.short != "merge" or merge_counts(now.version, now.parameters) is not None:
        return "", ""
    return _parameters_text(before), _parameters_text(now)


def _compare_guard(
    planned: PlanNode, before: Node, now: Node, own: Names, names: Names
) -> tuple[str, str]:
    """What is asked of the answer to a form before the run goes on."""
    if not isinstance(planned.action, AskAgain):
        return "", ""
    first, second = (
        step_names.canonical(mapping(step.parameters.get("conditions")))
        for step, step_names in ((before, own), (now, names))
    )
    if now.short == before.short and first == second:
        return "", ""
    return _parameters_text(before), _parameters_text(now)


def _parameters_text(step: Node) -> str:
    parameters = json.dumps(step.parameters, sort_keys=True, ensure_ascii=False)
    return f"version {step.version}, {parameters}"


def _list_decisions(planned: PlanNode) -> tuple[Decision, ...]:
    """The decisions whose variables a placeholder sets."""
    match planned.action:
        case Placeholder(decisions):
            return decisions
        case SetDecision(decision):
            return (decision,)
        case _:
            return ()


def _changed_setter(decision: Decision, name: str, now: Node) -> Iterator[Changed]:
    """A Set that no longer sets the decision variable, or always to the same."""
    gateway = decision.gateway.id
    values = ", ".join(decision.values)
    wanted = f"{decision.variable} is set to {'some' if decision.several else 'one'} of: {values}"
    if now.short == "noOp":
        yield Changed(name, gateway, wanted, f"{decision.variable} is not set")
    if now.short != "set" or now.parameters.get("mode") == "raw":
        return
    written = set_.written_fields(now.version, now.parameters)
    if written is None:
        return
    if decision.variable not in written:
        yield Changed(name, gateway, wanted, f"{decision.variable} is not set")
        return
    entry = written[decision.variable]
    value = next((entry[key] for key in _VALUES if key in entry), None)
    if value not in ("", "[]", None) and not is_expression(value):
        yield Changed(name, gateway, wanted, f"{decision.variable} is always {value}")
