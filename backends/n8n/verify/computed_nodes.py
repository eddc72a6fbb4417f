"""Nodes whose content the compiler wrote, compared as programs: code, mappings, kept variables,
forms, requests, calls and starts.

Each action of the plan has one way in which its node is compared. Two nodes are equal if n8n
resolves their parameters to the same values, whatever the data is (`format/parameter_values.py`):
layout, comments, the spelling of texts, names of nodes, and values that n8n's editor omits make no
difference. Whether another program happens to compute the same is not examined; the result is a
change, which `verify` reports and does not call proved.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, get_args

from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.workflow_document import Node, WorkflowDocument
from orgflow.backends.n8n.node_types.node_programs import (
    list_program_differences,
    list_setting_differences,
)
from orgflow.backends.n8n.plan import actions
from orgflow.backends.n8n.plan.graph import HelperKey, NodeKey, PlanNode
from orgflow.backends.n8n.verify.choices import Names
from orgflow.backends.n8n.verify.reference import Reference

from orgflow_ir.targets.verification import Changed

MOST_SHOWN, BEFORE = 160, 40
"""Maximum number of characters of a parameter in a message, and of those before a difference."""


class Comparison(Enum):
    """How the node of an action is compared.

    `COMPUTED`: it has to be there, with the same values. `ASKING`: the same, but if the model
    defines nothing of the question, a person may put another node in its place. `FREE`: a person
    decides about its content. `JUDGED`: other parts of `verify` compare it, except for its
    settings on errors. `STOPPING`: the same values, if it is there.
    """

    COMPUTED = "computed"
    ASKING = "asking"
    FREE = "free"
    JUDGED = "judged"
    STOPPING = "stopping"


COMPARISONS: Mapping[type, Comparison] = {
    actions.ManualStart: Comparison.FREE,
    actions.CalledStart: Comparison.COMPUTED,
    actions.FailureStart: Comparison.COMPUTED,
    actions.WebhookStart: Comparison.ASKING,
    actions.PageStart: Comparison.ASKING,
    actions.ScheduleStart: Comparison.COMPUTED,
    actions.PublicationStart: Comparison.COMPUTED,
    actions.PassOn: Comparison.FREE,
    actions.Placeholder: Comparison.FREE,
    actions.Program: Comparison.COMPUTED,
    actions.PrepareWork: Comparison.COMPUTED,
    actions.ConcludeWork: Comparison.COMPUTED,
    actions.HandOver: Comparison.COMPUTED,
    actions.TakeBack: Comparison.COMPUTED,
    actions.Send: Comparison.COMPUTED,
    actions.SendMessage: Comparison.COMPUTED,
    actions.Call: Comparison.COMPUTED,
    actions.WaitForTime: Comparison.COMPUTED,
    actions.WaitForCall: Comparison.COMPUTED,
    actions.AskByPage: Comparison.ASKING,
    actions.AskByMessage: Comparison.ASKING,
    actions.CountRounds: Comparison.COMPUTED,
    actions.AskAgain: Comparison.COMPUTED,
    actions.Join: Comparison.JUDGED,
    actions.SetDecision: Comparison.FREE,
    actions.Decide: Comparison.JUDGED,
    actions.DecideAny: Comparison.JUDGED,
    actions.DecideBranch: Comparison.JUDGED,
    actions.KeepError: Comparison.COMPUTED,
    actions.CatchError: Comparison.COMPUTED,
    actions.ReadEscalations: Comparison.COMPUTED,
    actions.ReturnThrown: Comparison.COMPUTED,
    actions.Stop: Comparison.COMPUTED,
    actions.StopBefore: Comparison.STOPPING,
    actions.StopUnmatched: Comparison.STOPPING,
    actions.StopUncaught: Comparison.STOPPING,
    actions.KeepInput: Comparison.COMPUTED,
    actions.KeepVariables: Comparison.COMPUTED,
    actions.KeepAnswers: Comparison.COMPUTED,
    actions.KeepJoined: Comparison.COMPUTED,
    actions.KeepLatest: Comparison.COMPUTED,
    actions.CheckCall: Comparison.COMPUTED,
    actions.AcceptCall: Comparison.COMPUTED,
    actions.RefuseCall: Comparison.COMPUTED,
    actions.DescribeFailure: Comparison.COMPUTED,
    actions.CompleteSegment: Comparison.COMPUTED,
    actions.BeginInstance: Comparison.COMPUTED,
    actions.OpenPage: Comparison.ASKING,
    actions.ClaimTask: Comparison.COMPUTED,
    actions.AnswerPage: Comparison.COMPUTED,
    actions.ContinueProcess: Comparison.COMPUTED,
    actions.TakeRow: Comparison.COMPUTED,
    actions.PassTaken: Comparison.COMPUTED,
    actions.ReadVariables: Comparison.COMPUTED,
    actions.ChooseSegment: Comparison.COMPUTED,
    actions.CheckAnswers: Comparison.COMPUTED,
    actions.RefuseAnswers: Comparison.COMPUTED,
    actions.BeginsHere: Comparison.COMPUTED,
    actions.SendToProcess: Comparison.COMPUTED,
}
"""The comparison of every action of a plan."""

_WITHOUT = set(get_args(actions.Action)) ^ COMPARISONS.keys()
if _WITHOUT:
    raise KeyError(f"no comparison for {sorted(kind.__name__ for kind in _WITHOUT)}")


def changed_computations(
    ref: Reference, matching: Matching[NodeKey], workflow: WorkflowDocument
) -> Iterator[Changed]:
    """Nodes of a workflow that compute or ask something else than the compiled ones."""
    own = Names({node.name: key for key, node in ref.plan.workflow_graph.nodes.items()}, None)
    here = Names(matching.key_of, set(workflow.steps))
    for name, key in matching.key_of.items():
        planned = ref.plan.workflow_graph.nodes[key]
        comparison = COMPARISONS[type(planned.action)]
        before, now = ref.nodes[key], workflow.steps[name]
        if comparison is Comparison.STOPPING and now.type == before.type:
            for parameter, first, second in list_program_differences(
                before, now, own.key_of_call, here.key_of_call
            ):
                yield Changed(name, planned.element, *_show_difference(parameter, first, second))
        if isinstance(planned.action, actions.Join) and now.disabled:
            yield Changed(name, planned.element, _describe_type(before), "disabled")
        settled = comparison is Comparison.JUDGED or isinstance(planned.action, actions.ManualStart)
        if settled and now.type == before.type:
            for setting, first, second in list_setting_differences(before, now):
                yield Changed(name, planned.element, *_show_difference(setting, first, second))
        if comparison in (Comparison.FREE, Comparison.JUDGED, Comparison.STOPPING):
            continue
        if now.type != before.type and _may_be_replaced(key, planned, ref):
            continue
        yield from _compare_nodes(planned, before, now, own, here)
    if any(how in _EVIDENCE_OF_COMPILATION for how in matching.how.values()):
        yield from _list_missing_nodes(ref, matching, workflow)


def _may_be_replaced(key: NodeKey, planned: PlanNode, ref: Reference) -> bool:
    """Whether a node asks for nothing that the model names, so that a person may ask by other
    means: by another trigger, or another kind of message."""
    match planned.action:
        case actions.WebhookStart():
            return HelperKey(key, "data") not in ref.plan.workflow_graph.nodes
        case actions.PageStart() | actions.AskByPage() | actions.AskByMessage() as ask:
            return not any(field.asked.source == "model" for field in ask.form.fields)
        case _:
            return False


_EVIDENCE_OF_COMPILATION = ("map", "notes", "id")
"""How nodes are matched in a workflow that was compiled; those drawn
manually need none of the nodes that only a compiler adds."""


def _list_missing_nodes(
    ref: Reference, matching: Matching[NodeKey], workflow: WorkflowDocument
) -> Iterator[Changed]:
    """Nodes that the compiler wrote and that are no longer there, without those that stand for an
    element, since their step is missing, which is a difference, and those that serve a node in the
    place of which there is another one."""
    nodes = ref.plan.workflow_graph.nodes
    replaced = {
        nodes[key].element
        for name, key in matching.key_of.items()
        if workflow.steps[name].type != ref.nodes[key].type
        and _may_be_replaced(key, nodes[key], ref)
    }
    for key in matching.missing:
        planned = nodes[key]
        if planned.element in replaced:
            continue
        needed = COMPARISONS[type(planned.action)] in (Comparison.COMPUTED, Comparison.ASKING)
        if key not in ref.roles.steps and (needed or isinstance(planned.action, actions.AskAgain)):
            was = _describe_type(ref.nodes[key])
            yield Changed(planned.name, planned.element, was, "no such node")


def _compare_nodes(
    planned: PlanNode,
    before: Node,
    now: Node,
    own: Names,
    here: Names,
) -> Iterator[Changed]:
    """The changes of one node; `own` and `here` know the keys of nodes in both workflows."""
    name, element = now.name, planned.element
    if now.disabled:
        yield Changed(name, element, _describe_type(before), "disabled")
        return
    if now.type != before.type:
        yield Changed(name, element, _describe_type(before), _describe_type(now))
        return
    differences = list_program_differences(before, now, own.key_of_call, here.key_of_call)
    for parameter, first, second in differences:
        yield Changed(name, element, *_show_difference(parameter, first, second))


def are_same_parameters(before: Node, now: Node, own: Names, here: Names) -> bool:
    """Whether n8n resolves the parameters of two nodes of one type to the same values; `own` and
    `here` have the keys of nodes by name in both workflows."""
    differences = list_program_differences(before, now, own.key_of_call, here.key_of_call)
    return next(differences, None) is None


def _describe_type(step: Node) -> str:
    return f"a node of the type {step.type}"


def _show_difference(parameter: str, first: Any, second: Any) -> tuple[str, str]:
    """Both values as text; of code, the first line that differs, and of a long text the part around
    the difference."""
    lines = [text.splitlines() if isinstance(text, str) else [] for text in (first, second)]
    place = parameter
    if min(map(len, lines)) > 1:
        pairs = enumerate(itertools.zip_longest(*lines, fillvalue=""), 1)
        changed_lines = ((number, *pair) for number, pair in pairs if pair[0] != pair[1])
        if first == second:  # the same text, which reads a node that the workflow does not have
            return f"{parameter}: as compiled", f"{parameter}: reads a missing node"
        # Texts may also differ in the ends of their lines only.
        number, first, second = next(changed_lines, (0, first, second))
        place = f"{parameter}, line {number}" if number else parameter
    was, now = (_value_text(value).strip() for value in (first, second))
    equal = next((i for i, (a, b) in enumerate(zip(was, now, strict=False)) if a != b), 0)
    start = max(equal - BEFORE, 0) if max(len(was), len(now)) > MOST_SHOWN else 0
    return f"{place}: {_cut_text(was, start)}", f"{place}: {_cut_text(now, start)}"


def _value_text(value: Any) -> str:
    if value is None:
        return "not set"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cut_text(text: str, start: int) -> str:
    """At most `MOST_SHOWN` characters of a text from a place on."""
    end = start + MOST_SHOWN
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
