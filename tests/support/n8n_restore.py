"""From a model back to what the workflow file said: shows that the n8n frontend keeps everything.

Restored from the model alone: every node with all its keys, every connection (for main ones from
the flows, so that a wire without a flow is missed), and what else stands in the workflow.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from orgflow.frontends.n8n.keeping import N8N

from orgflow_ir.model import Artifact, Element, Model, Process, Task
from orgflow_ir.model.bindings import Worker

_OWN = frozenset({"wire", "dead-wire", "lost-wire", "odd-node", "absent"})


def kept(element: Element, name: str) -> list[Any]:
    """Values kept under a key of n8n's namespace."""
    return [json.loads(v) for k, v in element.extra if k == f"{{{N8N}}}{name}"]


def others(element: Element) -> dict[str, Any]:
    """All kept values but those of the frontend's own keys."""
    found = {}
    for key, value in element.extra:
        name = key.removeprefix(f"{{{N8N}}}")
        if name not in _OWN:
            found[name] = json.loads(value)
    return found


def node_of(element: Element) -> dict[str, Any] | None:
    """The node that an element was read from; `None` for what the frontend added."""
    raw = others(element)
    absent = [key for keys in kept(element, "absent") for key in keys]
    if isinstance(element, Task) and isinstance(element.binding, Worker):
        target = element.binding.target
        if target is not None:
            type_, _, version = target.rpartition("@") if "@" in target[1:] else (target, "", "")
            raw["type"] = type_
            if version:
                raw["typeVersion"] = json.loads(version)
        if "parameters" not in absent:
            parameters = {k: json.loads(v) for k, v in element.binding.parameters}
            raw.setdefault("parameters", parameters)
    if not raw and not absent:
        return None
    if "name" not in absent:
        raw.setdefault("name", element.name)
    return raw


def elements(process: Process) -> Iterator[Element]:
    """Everything that nodes are read as."""
    yield from process.nodes
    yield from process.data_objects
    for artifact in process.artifacts:
        if artifact.artifact_kind == "annotation":
            yield artifact


def restore(process: Process) -> tuple[list[Any], list[list[Any]], dict[str, Any]]:
    """Nodes, wires (source, kind, output, end) and the other keys of a workflow."""
    nodes = [n for e in elements(process) if (n := node_of(e)) is not None]
    nodes += kept(process, "odd-node")
    wires: list[list[Any]] = []
    holders: list[Element] = [*process.flows, *process.data_flows]
    holders += [a for a in process.artifacts if isinstance(a, Artifact)]
    for holder in holders:
        wires += kept(holder, "wire")
    wires += kept(process, "dead-wire") + kept(process, "lost-wire")
    raw = others(process)
    raw.setdefault("name", process.name)
    return nodes, wires, raw


def wires_of(workflow: dict[str, Any]) -> Iterator[list[Any]]:
    """Every connection of a workflow file, and whatever stands in the place of some."""
    connections = workflow.get("connections")
    if not isinstance(connections, dict):
        if connections is not None:
            yield [None, None, None, connections]
        return
    for source, kinds in connections.items():
        if not isinstance(kinds, dict):
            yield [source, None, None, kinds]
            continue
        for kind, outputs in kinds.items():
            if not isinstance(outputs, list):
                if outputs is not None:
                    yield [source, kind, None, outputs]
                continue
            for output, ends in enumerate(outputs):
                for end in ends if isinstance(ends, list) else [] if ends is None else [ends]:
                    yield [source, kind, output, end]


def bag(values: Any) -> Counter[str]:
    """Values as a multiset of JSON texts."""
    return Counter(json.dumps(v, sort_keys=True, ensure_ascii=False) for v in values)


def leaves(value: Any) -> int:
    """How many single values a JSON value has."""
    if isinstance(value, dict):
        return sum(leaves(v) for v in value.values())
    if isinstance(value, list):
        return sum(leaves(v) for v in value)
    return 1


def missing(workflow: dict[str, Any], model: Model, process: Process) -> list[str]:
    """What of a workflow is not found again, and what is found that was not there."""
    nodes, wires, raw = restore(process)
    listed = workflow.get("nodes")
    there = listed if isinstance(listed, list) else []
    rest = {
        k: v
        for k, v in workflow.items()
        if k != "connections" and not (k == "nodes" and isinstance(v, list))
    }
    rest.setdefault("name", "")
    problems = []
    for what, before, after in (
        ("node", bag(there), bag(nodes)),
        ("wire", bag(wires_of(workflow)), bag(wires)),
        ("key", bag(rest.items()), bag(raw.items())),
    ):
        problems += [f"{what} lost: {v[:300]}" for v in (before - after)]
        problems += [f"{what} made up: {v[:300]}" for v in (after - before)]
    return problems
