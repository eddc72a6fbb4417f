"""Escalations that leave a called process: it returns those that it threw, and a Switch after the
call leads to the events on it.

A called workflow runs to its end before its caller continues, so an event on the call occurs when
the call returns. In the token game, this is one of the possible orders, since the throwing process
does not wait, and a process that an escalation ends is at its end where it throws.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from orgflow.backends.n8n.emit.emitter import CompiledScope
from orgflow.backends.n8n.emit.graph import (
    GraphNode,
    HelperKey,
    NodeKey,
    Port,
    WorkflowGraph,
    exit_key,
)
from orgflow.backends.n8n.emit.names import plain
from orgflow.backends.n8n.emit.references import quote_node
from orgflow.backends.n8n.node_types import if_, set_, switch
from orgflow.backends.n8n.node_types.conditions import is_true, make_expression

from orgflow_ir.flow.nets.escalations import (
    CaughtEscalation,
    caught_escalations,
    heard_escalations,
    leaving_escalations,
)
from orgflow_ir.model.element_names import join_listed

THROWN = "_escalated"
"""The field of the item that a called workflow returns: ids of the events whose escalation left
it."""


class Escalated(NamedTuple):
    """The node after a call that evaluates the escalations of the called process: the boundary
    event of each output, and the output for a call that completed. `several`: more than one output
    may be taken."""

    call: str
    events: tuple[CaughtEscalation, ...]
    several: bool

    @property
    def completed(self) -> int:
        """The number of the last output."""
        return len(self.events)


def escalated_calls(compiled: CompiledScope) -> dict[str, Escalated]:
    """The calls of a scope on which events catch escalations."""
    found = caught_escalations(compiled.scope.body, compiled.scope.model)
    return {
        call: Escalated(call, events, any(not one.event.interrupting for one in events))
        for call, events in found.items()
    }


def wire_escalations(compiled: CompiledScope) -> None:
    """A node after each call that catches escalations, with an output for each event and one for
    normal completion. Flows are connected afterwards, from the ports that `compiled.exits` then
    contains."""
    graph = compiled.workflow_graph
    for call, found in escalated_calls(compiled).items():
        node = graph.nodes[call]
        key = HelperKey(call, "escalated")
        rules = [
            (
                is_true(_threw(node, [one]), f"{key}/{one.event.id}"),
                plain(graph.nodes[one.event.id].name),
            )
            for one in found.events
        ]
        if found.several:
            ending = [one for one in found.events if one.event.interrupting]
            goes_on = f"!{_threw(node, ending)}" if ending else "true"
            rules.append((is_true(goes_on, f"{key}/completed"), "completed"))
        single = len(rules) == 1
        parameters = (
            if_.test_parameters(rules[0][0])
            if single
            else switch.by_rules(
                rules, fallback=None if found.several else "completed", every=found.several
            )
        )
        made = graph.add(
            key,
            f"Escalation of {node.name}?",
            "if" if single else "switch",
            parameters,
            element=call,
            role="escalated",
        )
        names = join_listed([f"“{graph.nodes[one.event.id].name}”" for one in found.events])
        made.notes.append(
            f"{names}: occurs if the workflow that “{node.name}” called has thrown the escalation. "
            f"The workflow returns its thrown escalations in `{THROWN}`."
        )
        graph.connect(Port(exit_key(call, graph)), Port(key))
        for output, one in enumerate(found.events):
            graph.connect(Port(key, output), Port(one.event.id))
        for flow in compiled.graph.flows_out(call):
            compiled.exits[flow.id] = Port(key, found.completed)


def _threw(call: GraphNode, events: Iterable[CaughtEscalation]) -> str:
    """JavaScript: whether a call returned that something was thrown that one of the events
    catches."""
    ids = list(dict.fromkeys(one.event.id for caught in events for one in caught.leaving))
    returned = f"($({quote_node(call.name)}).first().json.{THROWN} ?? [])"
    return f"{returned}.some((one) => {json.dumps(ids)}.includes(one))"


def return_escalations(compiled: CompiledScope) -> None:
    """Every end of a called workflow returns the escalations thrown before. All flows are wired."""
    model = compiled.scope.model
    heard = heard_escalations(model) if compiled.scope.started_by_call else frozenset[str]()
    if not heard:
        return
    by_first: dict[str, list[str]] = {}
    for one in leaving_escalations(compiled.process, model):
        if one.event.id in heard:
            by_first.setdefault(one.way[0].node.id, []).append(one.event.id)
    if not by_first:
        return
    graph = compiled.workflow_graph
    for key in _ends(compiled):
        node = graph.nodes[key]
        itself = node.type == "noOp" and node.role == "element"
        thrown = make_expression(
            f"[{', '.join(_thrown(by_first, key if itself else None, graph))}]"
        )
        fields = [(THROWN, thrown, "array")]
        if itself:
            node.type, node.parameters = "set", set_.assign_parameters(fields, str(key))
            made = node
        else:
            made = graph.add(
                HelperKey(key, "thrown"),
                f"{node.name} returns",
                "set",
                set_.assign_parameters(fields, f"{key}/thrown"),
                element=node.element,
                role="thrown",
            )
            graph.connect(Port(key), Port(made.key))
        made.notes.append(
            f"Returns in `{THROWN}` which escalations this workflow has thrown: events on the call "
            "read it."
        )


def _thrown(
    by_first: Mapping[str, list[str]], here: NodeKey | None, graph: WorkflowGraph
) -> Iterator[str]:
    """JavaScript for what each event, or call, has thrown by the time that the node of the key
    `here` runs, which does not count itself as executed."""
    for id, thrown in by_first.items():
        node, ids = quote_node(graph.nodes[id].name), json.dumps(thrown)
        if here == id:
            yield f"...{ids}"
            continue
        said = ids
        if thrown != [id]:
            said = f"($({node}).first().json.{THROWN} ?? []).filter((one) => {ids}.includes(one))"
        yield f"...($({node}).isExecuted ? {said} : [])"


def _ends(compiled: CompiledScope) -> list[NodeKey]:
    """Nodes that lead to nothing, but for those that stop the run."""
    graph = compiled.workflow_graph
    leading = {source.node for source, _ in graph.wires}
    return [
        key
        for key, node in graph.nodes.items()
        if key not in leading and node.type != "stopAndError" and node.role != "trigger"
    ]
