"""What holds a workflow together besides its steps: the wires of nodes that the compiler adds, the
workflows that it calls, and its settings."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Final, TypeVar

from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.references import outputs_in
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.plan import actions
from orgflow.backends.n8n.plan.graph import NodeKey, most_ports
from orgflow.backends.n8n.verify.reference import Reference

from orgflow_ir.model.element_names import join_listed
from orgflow_ir.targets.verification import Changed

_FREE = (actions.PassOn, actions.Placeholder, actions.SetDecision)
"""Actions of nodes that compute nothing, so that a run may go around them."""

_SORTING = (
    actions.CatchError, actions.AskAgain, actions.CheckCall, actions.ReadEscalations,
    actions.ChooseSegment,
)  # fmt: skip
"""Actions of nodes that sort items into outputs and that no gateway of the model stands for."""

SETTINGS = "the workflow's settings"
"""Used if `Changed` has no node."""

_FOLLOWED_STOPS = (actions.StopUnmatched, actions.Stop)
"""Stops at which the exploration finds that the model continues."""

_ENDING_STOPS = (actions.StopBefore, actions.StopUncaught)
"""Stops at which nothing is compared any more, so that only certain nodes may lead there."""

Name = TypeVar("Name", bound=Hashable)


def rewired_helpers(
    ref: Reference, matching: Matching[NodeKey], workflow: WorkflowDocument
) -> Iterator[Changed]:
    """Nodes that compute, keep or join something and no longer follow the same nodes.

    Added nodes count as part of a wire, and so do nodes of the compiled workflow that are gone,
    which are reported by themselves.
    """
    graph = ref.plan.workflow_graph
    keys = set(matching.key_of.values())
    compiled = _sources_by_target((a.node, b.node) for a, b in graph.wires)
    current = _sources_by_target((wire.source, wire.target) for wire in workflow.wires)
    here = matching.key_of
    for name, key in here.items():
        planned = graph.nodes[key]
        if key in ref.roles.steps or isinstance(planned.action, (*_FREE, *_FOLLOWED_STOPS)):
            continue
        before = _kept_nodes(compiled.get(key, ()), compiled, lambda k: k if k in keys else None)
        now = _kept_nodes(current.get(name, ()), current, here.get)
        # A node that leads to a stop may be gone; one that should not lead there is a change.
        differs = now - before if isinstance(planned.action, _ENDING_STOPS) else before != now
        if differs:
            labels = {other: graph.nodes[other].name for other in (*before, *now)}
            yield Changed(
                name,
                planned.element,
                _describe_sources(before, labels),
                _describe_sources(now, labels),
            )


def _sources_by_target(wires: Iterable[tuple[Name, Name]]) -> Mapping[Name, list[Name]]:
    """The nodes before each node."""
    sources: dict[Name, list[Name]] = {}
    for source, target in wires:
        sources.setdefault(target, []).append(source)
    return sources


def redirected_outputs(
    ref: Reference, matching: Matching[NodeKey], workflow: WorkflowDocument
) -> Iterator[Changed]:
    """Nodes with several outputs that the compiler added, such as the one that catches an error,
    of which an output leads elsewhere. Those that decide for a gateway are followed instead; of
    them only the outputs count that a program reads by number, since a rule that is removed or
    added gives the others behind it another number."""
    graph = ref.plan.workflow_graph
    keys = set(matching.key_of.values())
    compiled: dict[tuple[NodeKey, int], list[NodeKey]] = {}
    for source, target in graph.wires:
        compiled.setdefault((source.node, source.number), []).append(target.node)
    ahead: dict[NodeKey, list[NodeKey]] = {}
    for (node, _), targets in compiled.items():
        ahead.setdefault(node, []).extend(targets)
    behind: dict[str, list[str]] = {
        name: [end for ends in outputs.values() for end in ends]
        for name, outputs in workflow.targets.items()
    }
    read_by_number = _outputs_by_node(ref)
    for name, key in matching.key_of.items():
        planned, step = graph.nodes[key], workflow.steps[name]
        if step.type != ref.nodes[key].type or step.disabled:
            continue
        outputs = workflow.targets.get(name, {})
        if key in ref.roles.steps or not isinstance(planned.action, _SORTING):
            numbers = sorted(read_by_number.get(planned.name, ()))
        else:
            numbers = list(range(max((*outputs, 0, most_ports(planned) - 1)) + 1))
        for number in numbers:
            firsts = compiled.get((key, number), [])
            before = _kept_nodes(firsts, ahead, lambda k: k if k in keys else None)
            ends = list(outputs.get(number, ()))
            now = _kept_nodes(ends, behind, matching.key_of.get)
            if before != now:
                labels = {other: graph.nodes[other].name for other in (*before, *now)}
                words = (f"output {number} {_describe_targets(k, labels)}" for k in (before, now))
                yield Changed(name, planned.element, *words)


def _outputs_by_node(ref: Reference) -> Mapping[str, set[int]]:
    """The numbers of outputs that programs of the compiled workflow read, of the nodes that have
    several, by the name of the node."""
    several = {node.name for node in ref.plan.workflow_graph.nodes.values() if most_ports(node) > 1}
    read: dict[str, set[int]] = {}
    for node in ref.nodes.values():
        for name, number in outputs_in(node.parameters):
            if name in several:
                read.setdefault(name, set()).add(number)
    return read


def _kept_nodes(
    firsts: Iterable[Name],
    further: Mapping[Name, list[Name]],
    key_of: Callable[[Name], NodeKey | None],
) -> frozenset[NodeKey]:
    """The nodes with a key that wires in one direction lead to, through others if need be."""
    kept: set[NodeKey] = set()
    seen: set[Name] = set()
    todo = list(firsts)
    while todo:
        other = todo.pop()
        if other in seen:
            continue
        seen.add(other)
        key = key_of(other)
        if key is None:
            todo += further.get(other, ())
        else:
            kept.add(key)
    return frozenset(kept)


def _describe_targets(keys: frozenset[NodeKey], labels: Mapping[NodeKey, str]) -> str:
    if not keys:
        return "to no node"
    return f"to {join_listed(f'“{name}”' for name in sorted(labels[key] for key in keys))}"


def _describe_sources(keys: frozenset[NodeKey], labels: Mapping[NodeKey, str]) -> str:
    if not keys:
        return "after no node"
    return f"after {join_listed(f'`{name}`' for name in sorted(labels[key] for key in keys))}"


def misdirected_calls(
    ref: Reference,
    matching: Matching[NodeKey],
    workflow: WorkflowDocument,
    ids: Mapping[str, str],
) -> Iterator[Changed]:
    """Calls of another workflow than that of the model.

    A server may give workflows other ids, so an unknown id is none; two calls of one workflow have
    one id, and those of two workflows have two.

    Args:
        ref: the compiled form of the process.
        matching: its nodes in the workflow.
        workflow: the edited workflow.
        ids: the id of each known workflow by its compiled id.
    """
    known = {*ids, *ids.values()}
    now_of: dict[str, str] = {}
    was_of: dict[str, str] = {}
    for name, key in matching.key_of.items():
        planned = ref.plan.workflow_graph.nodes[key]
        before, now = ref.nodes[key], workflow.steps[name]
        if not isinstance(planned.action, actions.Call) or now.type != before.type:
            continue
        was, called = (str(step.inside("workflowId", "value") or "") for step in (before, now))
        if not called:
            continue  # reported as a changed parameter
        # If the called workflow is among the files, every other id is that of another one.
        is_known = called not in (was, ids.get(was)) and (called in known or was in ids)
        is_same = now_of.setdefault(was, called) == called and was_of.setdefault(called, was) == was
        if is_known or not is_same:
            yield Changed(name, planned.element, f"calls {was}", f"calls {called}")


def changed_settings(
    ref: Reference, workflow: WorkflowDocument, ids: Mapping[str, str]
) -> Iterator[Changed]:
    """Another time limit of runs, another time zone where times depend on it, no report of runs
    that fail where the model has one, and other permissions of callers. The id of the workflow that
    reports failures is known if it is one of `ids`, by their compiled ids; otherwise only the
    server knows it."""
    before, now = ref.settings, workflow.settings
    described: list[tuple[Callable[[object], str], str]]
    described = [(_describe_limit, "executionTimeout")]
    if _depends_on_zone(workflow):
        described.append((_describe_time_zone, "timezone"))
    for describe, key in described:
        was, current = (describe(settings.get(key)) for settings in (before, now))
        if was != current:
            yield Changed(SETTINGS, "", was, current)
    reporting, reports = (str(s.get("errorWorkflow") or "") for s in (before, now))
    if reporting and not reports:
        yield Changed(SETTINGS, "", "an error workflow", "no error workflow")
    elif reporting in ids and reports not in (reporting, ids[reporting]):
        words = (f"the error workflow {id}" for id in (reporting, reports))
        yield Changed(SETTINGS, "", *words)
    was_closed, is_closed = (settings.get("callerPolicy") == "none" for settings in (before, now))
    scope = ref.plan.scope
    is_called = scope.started_by_call or scope.begun_by_message or scope.on_error
    if was_closed and not is_closed:
        yield Changed(SETTINGS, "", "no workflow may call it", "other workflows may call it")
    elif is_closed and not was_closed and is_called:
        yield Changed(SETTINGS, "", "other workflows may call it", "no workflow may call it")


def _depends_on_zone(workflow: WorkflowDocument) -> bool:
    """Whether a node starts or waits by the clock, or code in it may read dates."""
    content = [(node.raw.get("type"), node.raw.get("parameters")) for node in workflow.nodes]
    return _OF_CLOCK.search(json.dumps(content)) is not None


_OF_CLOCK: Final = re.compile(
    r"scheduleTrigger|\.cron\b|\.interval\b|dateTime|specificTime|\bDate|\$now|\$today|\bIntl\b|"
    r"toLocale|luxon"
)


def _describe_time_zone(zone: object) -> str:
    is_default = zone in (None, "", "DEFAULT")
    return "the time zone of the server" if is_default else f"the time zone {zone}"


def _describe_limit(limit: object) -> str:
    unlimited = limit is None or limit == -1
    return "no time limit" if unlimited else f"a time limit of {limit} seconds"
