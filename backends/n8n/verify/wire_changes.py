"""What holds a workflow together besides its steps: the wires of nodes that the compiler adds, the
workflows that it calls, and its settings."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TypeVar

from orgflow.backends.n8n.format.matching import Matching
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.plan import actions
from orgflow.backends.n8n.plan.graph import NodeKey
from orgflow.backends.n8n.verify.reference import Reference

from orgflow_ir.model.element_names import join_listed
from orgflow_ir.targets.verification import Changed

_FREE = (actions.PassOn, actions.Placeholder, actions.SetDecision)
"""Actions of nodes that compute nothing, so that a run may go around them."""

SETTINGS = "the workflow's settings"
"""Used if `Changed` has no node."""

_STOPS = (actions.StopBefore, actions.StopUnmatched, actions.StopUncaught, actions.Stop)

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
        if key in ref.roles.steps or isinstance(planned.action, (*_FREE, *_STOPS)):
            continue
        before = _kept_sources(key, compiled, lambda other: other if other in keys else None)
        now = _kept_sources(name, current, here.get)
        if before != now:
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


def _kept_sources(
    node: Name, sources: Mapping[Name, list[Name]], key_of: Callable[[Name], NodeKey | None]
) -> frozenset[NodeKey]:
    """The nodes with a key from which a wire leads to a node, through others if need be."""
    kept: set[NodeKey] = set()
    seen: set[Name] = set()
    todo = list(sources.get(node, ()))
    while todo:
        other = todo.pop()
        if other in seen:
            continue
        seen.add(other)
        key = key_of(other)
        if key is None:
            todo += sources.get(other, ())
        else:
            kept.add(key)
    return frozenset(kept)


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
        is_known = called not in (was, ids.get(was)) and called in known
        is_same = now_of.setdefault(was, called) == called and was_of.setdefault(called, was) == was
        if is_known or not is_same:
            yield Changed(name, planned.element, f"calls {was}", f"calls {called}")


def changed_settings(ref: Reference, workflow: WorkflowDocument) -> Iterator[Changed]:
    """Another time limit of runs, no report of runs that fail where the model has one, and other
    permissions of callers. Which workflow reports failures is known to the server only."""
    before, now = ref.settings, workflow.settings
    was, limit = (_describe_limit(settings.get("executionTimeout")) for settings in (before, now))
    if was != limit:
        yield Changed(SETTINGS, "", was, limit)
    if before.get("errorWorkflow") and not now.get("errorWorkflow"):
        yield Changed(SETTINGS, "", "an error workflow", "no error workflow")
    was_closed, is_closed = (settings.get("callerPolicy") == "none" for settings in (before, now))
    scope = ref.plan.scope
    is_called = scope.started_by_call or scope.begun_by_message or scope.on_error
    if was_closed and not is_closed:
        yield Changed(SETTINGS, "", "no workflow may call it", "other workflows may call it")
    elif is_closed and not was_closed and is_called:
        yield Changed(SETTINGS, "", "other workflows may call it", "no workflow may call it")


def _describe_limit(limit: object) -> str:
    unlimited = limit is None or limit == -1
    return "no time limit" if unlimited else f"a time limit of {limit} seconds"
