"""What holds a workflow together besides its steps: the wires of nodes that the compiler adds, and
the settings that end a run."""

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


def changed_settings(ref: Reference, workflow: WorkflowDocument) -> Iterator[Changed]:
    """Another time limit of runs, and no report of runs that fail where the model has one. Which
    workflow reports them is known to the server only."""
    before, now = ref.settings, workflow.settings
    was, limit = (_describe_limit(settings.get("executionTimeout")) for settings in (before, now))
    if was != limit:
        yield Changed(SETTINGS, "", was, limit)
    if before.get("errorWorkflow") and not now.get("errorWorkflow"):
        yield Changed(SETTINGS, "", "an error workflow", "no error workflow")


def _describe_limit(limit: object) -> str:
    unlimited = limit is None or limit == -1
    return "no time limit" if unlimited else f"a time limit of {limit} seconds"
