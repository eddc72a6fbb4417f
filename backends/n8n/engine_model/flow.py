"""A workflow compiled for the machine: nodes by index, connections in the order in which n8n
follows them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.engine_model.behaviour import node_behaviour
from orgflow.backends.n8n.engine_model.config import Frame
from orgflow.backends.n8n.format.document import TYPE_PREFIX, short_type
from orgflow.backends.n8n.format.workflow_document import Node as Step
from orgflow.backends.n8n.format.workflow_document import Wire as Connection
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.node_types.behaviour import Behaviour

from orgflow_ir.model.records import NamedTuple, dataclass

OnError = Literal["stop", "regular", "error"]

_ON_ERROR: Mapping[str, OnError] = {
    "continueRegularOutput": "regular",
    "continueErrorOutput": "error",
}
_ARRAY_INDEX = re.compile(r"0|[1-9]\d{0,9}")
_LAST_ARRAY_INDEX = 2**32 - 2
_MOST_PORTS = 1_000
"""More outputs or inputs than any node has: a larger number in a file is ignored."""


class Wire(NamedTuple):
    """A connection: from an output to an input of a node, by index."""

    output: int
    target: int
    slot: int


@dataclass(frozen=True, slots=True)
class Node:
    """A node as the engine treats it.

    Attributes:
        index: its index in `Flow.nodes`.
        behaviour: its behaviour if it is not disabled.
        on_error: n8n's reaction to an exception; body_continues: the setting that the node itself
            reads.
        tries: number of tries.
        wires: its connections in the order in which n8n stacks their targets: the last one runs
            first. Sorted by y from below, then by x from the right, ties in connection order.
        inputs: the number of inputs that have connections or precede one that has.
        ancestors: the nodes from which it can be reached, as a set of bits, without itself.
        never_partial: whether n8n never runs it with incomplete inputs.
        requires_two: whether n8n runs it with incomplete inputs only if the first two are present.
        numeric: its name as a number if JavaScript orders it as one.
    """

    index: int
    name: str
    behaviour: Behaviour
    disabled: bool
    execute_once: bool
    always_output: bool
    on_error: OnError
    body_continues: bool
    tries: int
    wires: tuple[Wire, ...]
    inputs: int
    ancestors: int
    never_partial: bool
    requires_two: bool
    numeric: int | None


@dataclass(frozen=True, slots=True)
class Flow:
    """A workflow.

    Attributes:
        id: the id by which it is called, None for the main workflow.
        entry: index of its trigger for calls, None without one.
        ends: the nodes that may run last, as a set of bits.
        all_runs: whether, when called, it returns the output of its last node in all its runs.
    """

    id: str | None
    nodes: tuple[Node, ...]
    by_name: Mapping[str, int]
    entry: int | None
    ends: int = -1
    all_runs: bool = True


def on_top(flow: Flow, frame: Frame) -> Node:
    """The node that runs next in an execution, in n8n's treatment."""
    node = flow.nodes[frame.stack[-1][0]]
    passes = bool(frame.passing) and frame.passing[-1] == len(frame.stack) - 1
    return replace(node, disabled=True) if passes else node


def compile_flow(
    workflow: Mapping[str, Any], flow_id: str | None, known: frozenset[str] = frozenset()
) -> Flow:
    """Compile one valid workflow.

    Args:
        workflow: nodes, connections, settings.
        flow_id: the id by which it is called, None for the main workflow.
        known: ids of the workflows it may call.

    Raises:
        ValueError: it does not have `executionOrder` v1, or it has duplicate node names, or a
            connection with a missing node.
    """
    what = "the workflow" if flow_id is None else f"workflow `{flow_id}`"
    document = WorkflowDocument(workflow)
    if document.order != "v1":
        raise ValueError(
            f"{what} does not use the execution order v1, the only one that is simulated"
        )
    steps = document.steps
    if any(step.key != step.name for step in steps.values()):
        raise ValueError(f"{what} has two nodes with the same name")
    for fault in document.faults:
        if fault.kind in ("lost-source", "lost-target"):
            raise ValueError(f"{what} connects `{fault.name}`, which is not one of its nodes")
    main = [wire for wire in document.wires if wire.kind == "main"]
    for name in (end for wire in main for end in (wire.source, wire.target)):
        if name not in steps:
            raise ValueError(f"{what} connects `{name}`, which is a note")
    return compile_rows(
        [step.raw for step in steps.values()], _flow_links(steps, main), flow_id, known
    )


def compile_document(document: WorkflowDocument) -> Flow:
    """Compile the part of a workflow that n8n reads: malformed parts are omitted, and the order v1
    is assumed. A call of itself is like any other call."""
    steps = document.steps
    rows = [
        {
            **step.raw,
            "name": step.key,
            "type": step.type,
            "typeVersion": step.version,
            "position": list(step.position or (0, 0)),
            "parameters": step.parameters,
            "maxTries": 3,
        }
        for step in steps.values()
    ]
    main = [
        wire
        for wire in document.wires
        if wire.kind == "main"
        and wire.source in steps
        and wire.target in steps
        and max(wire.output, wire.input) < _MOST_PORTS
    ]
    return compile_rows(rows, _flow_links(steps, main))


def compile_rows(
    rows: Sequence[Mapping[str, Any]],
    links: Iterable[tuple[int, Wire]],
    flow_id: str | None = None,
    known: frozenset[str] = frozenset(),
) -> Flow:
    """Compile nodes, each with a unique name, and their main connections.

    Args:
        rows: nodes in n8n's form, without sticky notes.
        links: connections with the index of their source node.
        flow_id: as for `compile_flow`; `known` likewise.
    """
    leaving: list[list[Wire]] = [[] for _ in rows]
    inputs = [0] * len(rows)
    parents = [0] * len(rows)
    for source, wire in links:
        leaving[source].append(wire)
        inputs[wire.target] = max(inputs[wire.target], wire.slot + 1)
        parents[wire.target] |= 1 << source

    def stack_order(wire: Wire) -> tuple[float, float]:
        x, y = rows[wire.target].get("position") or (0, 0)
        return (-y, -x)

    ancestors = _find_ancestors(parents)
    nodes = tuple(
        _compile_node(
            row,
            index,
            tuple(sorted(leaving[index], key=stack_order)),
            inputs[index],
            ancestors[index],
            known,
        )
        for index, row in enumerate(rows)
    )
    by_name = {row["name"]: index for index, row in enumerate(rows)}
    entry = _called_trigger(rows)
    return Flow(flow_id, nodes, by_name, entry, _possible_ends(nodes), _all_runs(rows, entry))


def _flow_links(steps: Mapping[str, Step], wires: Iterable[Connection]) -> list[tuple[int, Wire]]:
    index = {name: at for at, name in enumerate(steps)}
    return [(index[w.source], Wire(w.output, index[w.target], w.input)) for w in wires]


def _find_ancestors(parents: Sequence[int]) -> list[int]:
    """For each node the nodes it can be reached from, without itself.

    Strongly connected components, sources first (Tarjan's algorithm against the wires): the nodes
    of one have the same ancestors, so each wire is looked at once.
    """
    size = len(parents)
    number, low = [0] * size, [0] * size
    reached = [0] * size
    path: list[int] = []
    count = 0
    for root in range(size):
        if number[root]:
            continue
        count += 1
        number[root] = low[root] = count
        path.append(root)
        work = [(root, parents[root])]
        while work:
            index, rest = work[-1]
            if rest:
                bit = rest & -rest
                work[-1] = (index, rest ^ bit)
                parent = bit.bit_length() - 1
                if not number[parent]:
                    count += 1
                    number[parent] = low[parent] = count
                    path.append(parent)
                    work.append((parent, parents[parent]))
                elif low[parent] <= size:
                    low[index] = min(low[index], number[parent])
                continue
            work.pop()
            if work:
                below = work[-1][0]
                low[below] = min(low[below], low[index])
            if low[index] == number[index]:
                members = [path.pop()]
                while members[-1] != index:
                    members.append(path.pop())
                mask = 0
                for member in members:
                    low[member] = size + 1  # done
                    rest = parents[member]
                    mask |= rest
                    while rest:
                        bit = rest & -rest
                        mask |= reached[bit.bit_length() - 1]
                        rest ^= bit
                for member in members:
                    reached[member] = mask
    return [mask & ~(1 << index) for index, mask in enumerate(reached)]


def _compile_node(
    row: Mapping[str, Any],
    index: int,
    wires: tuple[Wire, ...],
    inputs: int,
    ancestors: int,
    known: frozenset[str],
) -> Node:
    name = str(row["name"])
    chosen = str(row.get("onError", ""))
    legacy = row.get("continueOnFail") is True
    on_error = _ON_ERROR.get(chosen, "regular" if legacy else "stop")
    tries = min(5, max(2, row.get("maxTries") or 3)) if row.get("retryOnFail") is True else 1
    merge = row.get("type") == f"{TYPE_PREFIX}merge"
    choose = merge and (row.get("parameters") or {}).get("mode") == "chooseBranch"
    version = float(row.get("typeVersion", 1))
    outputs = max((wire.output + 1 for wire in wires), default=0) - (on_error == "error")
    return Node(
        index=index,
        name=name,
        behaviour=node_behaviour(row, outputs, known),
        disabled=row.get("disabled") is True,
        execute_once=row.get("executeOnce") is True,
        always_output=row.get("alwaysOutputData") is True,
        on_error=on_error,
        body_continues=chosen in _ON_ERROR if chosen else legacy,
        tries=tries,
        wires=wires,
        inputs=inputs,
        ancestors=ancestors,
        # Version 2 requires as many inputs as it declares; version 3 declares an expression.
        never_partial=choose and 2 <= version < 3,
        requires_two=choose and version >= 3,
        numeric=_numeric_name(name),
    )


def _numeric_name(name: str) -> int | None:
    if _ARRAY_INDEX.fullmatch(name) is None or int(name) > _LAST_ARRAY_INDEX:
        return None
    return int(name)


def _called_trigger(rows: Sequence[Mapping[str, Any]]) -> int | None:
    for index, row in enumerate(rows):
        kind = node_types.find_type(short_type(row))
        if kind is not None and kind.start == "called" and not row.get("disabled"):
            return index
    return None


def _possible_ends(nodes: Sequence[Node]) -> int:
    """Nodes that do not always hand something to a node that runs at once."""
    nodes_found = 0
    for node in nodes:
        direct = {wire.output for wire in node.wires if nodes[wire.target].inputs < 2}
        kind = "pass" if node.disabled else node.behaviour.kind
        always = kind in ("trigger", "pass") and 0 in direct
        if not always or node.on_error != "stop":
            nodes_found |= 1 << node.index
    return nodes_found


def _all_runs(rows: Sequence[Mapping[str, Any]], entry: int | None) -> bool:
    """Before version 1.2 of the trigger one run was returned, unless it says otherwise."""
    if entry is None:
        return True
    parameters = rows[entry].get("parameters") or {}
    version = float(rows[entry].get("typeVersion", 1))
    return version >= 1.2 or parameters.get("returnOutput") == "allRuns"
