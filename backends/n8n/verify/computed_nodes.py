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
import re
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any, get_args

from orgflow.backends.n8n.format.canonical_parameters import canonical_value, without_defaults
from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.parameter_values import code_form, parameter_form
from orgflow.backends.n8n.format.workflow_document import Node, WorkflowDocument
from orgflow.backends.n8n.node_types import catalogue
from orgflow.backends.n8n.plan import actions
from orgflow.backends.n8n.plan.graph import NodeKey, PlanNode
from orgflow.backends.n8n.verify.reference import Reference

from orgflow_ir.targets.verification import Changed

_NAMING = ("$", "$items")
"""Functions that name a node by a text."""

_LAST_OF_ONE = re.compile(r"""(\$\((?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\))\.last\(0\)""")

MOST_SHOWN, BEFORE = 160, 40
"""Maximum number of characters of a parameter in a message, and of those before a difference."""


class Comparison(Enum):
    """How the node of an action is compared.

    `COMPUTED`: it has to be there, with the same values. `ACTING`: the same, but a person may put
    another node in its place, which is filled work. `FREE`: a person decides about its content.
    `JUDGED`: other parts of `verify` compare it. `STOPPING`: its message is presentation.
    """

    COMPUTED = "computed"
    ACTING = "acting"
    FREE = "free"
    JUDGED = "judged"
    STOPPING = "stopping"


COMPARISONS: Mapping[type, Comparison] = {
    actions.ManualStart: Comparison.FREE,
    actions.CalledStart: Comparison.COMPUTED,
    actions.FailureStart: Comparison.COMPUTED,
    actions.WebhookStart: Comparison.ACTING,
    actions.PageStart: Comparison.ACTING,
    actions.ScheduleStart: Comparison.COMPUTED,
    actions.PublicationStart: Comparison.COMPUTED,
    actions.PassOn: Comparison.FREE,
    actions.Placeholder: Comparison.FREE,
    actions.Program: Comparison.ACTING,
    actions.PrepareWork: Comparison.COMPUTED,
    actions.ConcludeWork: Comparison.COMPUTED,
    actions.HandOver: Comparison.COMPUTED,
    actions.TakeBack: Comparison.COMPUTED,
    actions.Send: Comparison.ACTING,
    actions.SendMessage: Comparison.ACTING,
    actions.Call: Comparison.ACTING,
    actions.WaitForTime: Comparison.JUDGED,
    actions.WaitForCall: Comparison.JUDGED,
    actions.AskByPage: Comparison.ACTING,
    actions.AskByMessage: Comparison.ACTING,
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
    actions.DescribeFailure: Comparison.FREE,
}
"""The comparison of every action of a plan."""

_WITHOUT = set(get_args(actions.Action)) ^ COMPARISONS.keys()
if _WITHOUT:
    raise KeyError(f"no comparison for {sorted(kind.__name__ for kind in _WITHOUT)}")

_OF_SERVER = frozenset(
    {
        "authentication", "nodeCredentialType", "genericAuthType", "path", "webhookId",
        "workflowId", "webhookSuffix",
    }
)  # fmt: skip
"""Parameters about a server: addresses, credentials, and the id by which it knows a workflow."""

_PRESENTATION = frozenset(
    {"formTitle", "formDescription", "appendAttribution", "buttonLabel", "customCss", "notice"}
)
"""Parameters that only a person reads."""


def changed_computations(
    ref: Reference, matching: Matching[NodeKey], workflow: WorkflowDocument
) -> Iterator[Changed]:
    """Nodes of a workflow that compute or ask something else than the compiled ones."""
    own = {node.name: str(key) for key, node in ref.plan.workflow_graph.nodes.items()}
    here = {name: str(key) for name, key in matching.key_of.items()}
    for name, key in matching.key_of.items():
        planned = ref.plan.workflow_graph.nodes[key]
        comparison = COMPARISONS[type(planned.action)]
        before, now = ref.nodes[key], workflow.steps[name]
        if comparison is Comparison.STOPPING:
            yield from _compare_stops(planned, now)
        if comparison in (Comparison.FREE, Comparison.JUDGED, Comparison.STOPPING):
            continue
        yield from _compare_nodes(planned, comparison, before, now, own, here)


def _compare_nodes(
    planned: PlanNode,
    comparison: Comparison,
    before: Node,
    now: Node,
    own: Mapping[str, str],
    here: Mapping[str, str],
) -> Iterator[Changed]:
    """The changes of one node; `own` and `here` are the keys of nodes by name in both workflows."""
    name, element = now.name, planned.element
    if now.disabled:
        if comparison is Comparison.COMPUTED:
            yield Changed(name, element, _describe_type(before), "disabled")
        return
    if now.type != before.type:
        if comparison is Comparison.COMPUTED:
            yield Changed(name, element, _describe_type(before), _describe_type(now))
        return
    was = _compared_parameters(before)
    current = _compared_parameters(now)
    for parameter in dict.fromkeys((*was, *current)):
        first, second = was.get(parameter), current.get(parameter)
        script = parameter in catalogue.script_parameters(before.short)
        if not _are_same(script, first, second, own, here):
            yield Changed(name, element, *_show_difference(parameter, first, second))


def _compare_stops(planned: PlanNode, now: Node) -> Iterator[Changed]:
    """A stop whose message was removed: n8n does not run a workflow with such a node."""
    if now.short == "stopAndError" and not now.parameters.get("errorMessage"):
        yield Changed(now.name, planned.element, "errorMessage: a text", "errorMessage: not set")


def _compared_parameters(step: Node) -> Mapping[str, Any]:
    """The parameters that an outcome can depend on, without those that the editor omits."""
    defaults = catalogue.default_values(step.short)
    kept = _without_presentation(without_defaults(step.parameters, defaults))
    canonical: Mapping[str, Any] = canonical_value(kept)
    return canonical


def _without_presentation(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {
            name: _without_presentation(part)
            for name, part in value.items()
            if name not in _PRESENTATION and name not in _OF_SERVER
        }
    return [_without_presentation(part) for part in value] if isinstance(value, list) else value


def _are_same(
    script: bool, first: Any, second: Any, own: Mapping[str, str], here: Mapping[str, str]
) -> bool:
    """Whether n8n resolves two parameters to the same values, or runs two scripts alike; references
    to nodes are compared by the nodes."""
    if first == second and all(here.get(name) == key for name, key in own.items()):
        return True
    if script and isinstance(first, str) and isinstance(second, str):
        return code_form(_as_compiled_now(first), _name_nodes(own)) == code_form(
            _as_compiled_now(second), _name_nodes(here)
        )
    return parameter_form(_as_compiled_now(first), _name_nodes(own)) == parameter_form(
        _as_compiled_now(second), _name_nodes(here)
    )


def _name_nodes(keys: Mapping[str, str]) -> Callable[[str, str], str | None]:
    """The key of the node that a call such as `$("Check")` names."""
    return lambda function, text: keys.get(text, f"?{text}") if function in _NAMING else None


def _as_compiled_now(value: Any) -> Any:
    """A parameter of an older version, which read the last of one item where the first is read."""
    if isinstance(value, str):
        return _LAST_OF_ONE.sub(r"\1.first(0)", value)
    if isinstance(value, Mapping):
        return {name: _as_compiled_now(part) for name, part in value.items()}
    return [_as_compiled_now(part) for part in value] if isinstance(value, list) else value


def _describe_type(step: Node) -> str:
    return f"a node of the type {step.type}"


def _show_difference(parameter: str, first: Any, second: Any) -> tuple[str, str]:
    """Both values as text; of code, the first line that differs, and of a long text the part around
    the difference."""
    lines = [text.splitlines() if isinstance(text, str) else [] for text in (first, second)]
    place = parameter
    if min(map(len, lines)) > 1:
        pairs = enumerate(itertools.zip_longest(*lines, fillvalue=""), 1)
        unequal = next(((n, pair) for n, pair in pairs if pair[0] != pair[1]), None)
        if unequal is None:  # the same text, which reads a node that the workflow does not have
            return f"{parameter}: as compiled", f"{parameter}: reads a missing node"
        number, (first, second) = unequal
        place = f"{parameter}, line {number}"
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
