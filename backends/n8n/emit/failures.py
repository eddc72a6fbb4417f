"""Error boundary events of tasks: the error output of a node, and which error leads where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orgflow.backends.n8n.emit.emitter import CompiledScope
from orgflow.backends.n8n.emit.graph import HelperKey, Port, Role
from orgflow.backends.n8n.emit.javascript import js_string
from orgflow.backends.n8n.emit.names import plain
from orgflow.backends.n8n.node_types import if_, set_, stop_and_error, switch
from orgflow.backends.n8n.node_types.conditions import expression, is_true

from orgflow_ir.analysis.failures import caught_errors
from orgflow_ir.model import Event
from orgflow_ir.model.bindings import ERROR_CODE, ERROR_MESSAGE
from orgflow_ir.model.element_names import listed

if TYPE_CHECKING:
    from orgflow_ir.analysis.work.statements import Statement

LAST_ERROR = "lastError"
"""The field that keeps what went wrong. It stands beside `error`, which n8n writes: an item with
nothing but `error` is a failed one for every node that has an error output."""

_MESSAGE = 'String($json.error?.message ?? $json.error ?? "")'


_PARTS = {
    ERROR_CODE: f"({_MESSAGE}).split(/[:\\s]/)[0]",
    ERROR_MESSAGE: f"({_MESSAGE}).replace(/^[^:\\s]+:?\\s*/, '') || null",
}
"""Parts of an error, of which the code comes first in its message."""


def keeping_the_error(event: Event) -> dict[str, Any]:
    """Parameters of the node of a boundary event: what went wrong, and the variables that it has
    for parts of it."""
    fields: list[tuple[str, Any, str]] = [(LAST_ERROR, expression(_MESSAGE), "string")]
    for one in event.binding.outputs if event.binding is not None else ():
        if one.language == "variable" and one.text in _PARTS:
            fields.append((one.name, expression(_PARTS[one.text]), "string"))
    return set_.assigning(fields, event.id)


def wire_failures(compiled: CompiledScope) -> None:
    """Lead the error outputs of tasks to their boundary events, by the codes of errors; an error
    that no event catches stops the run."""
    graph = compiled.workflow_graph
    for host, caught in caught_errors(compiled.scope.body, compiled.scope.model).items():
        node = graph.nodes[host]
        node.fails_over = True
        names = listed([f"“{graph.nodes[one.event].name}”" for one in caught])
        node.notes.append(
            f"On Error is set to “Continue (using error output)”: when this fails, {names} comes. "
            "An error is recognised by its message, which begins with the code of the error. Keep "
            "the setting in the node that you put here."
        )
        # Code of listeners, and what is made of an answer, may throw an error of the task as well.
        ports = [Port(host, 1), *(Port(key, 1) for key in _throwing(host, compiled))]
        coded = [one for one in caught if one.code is not None]
        rest = next((one for one in caught if one.code is None), None)
        if not coded:
            assert rest is not None
            for port in ports:
                graph.connect(port, Port(rest.event))
            continue
        key = HelperKey(host, "caught")
        rules = []
        for one in coded:
            code = js_string(plain(one.code or ""))
            test = (
                f"((said) => said === {code} || [' ', ':'].some((end) => "
                f"said.startsWith({code} + end)))({_MESSAGE})"
            )
            rules.append((is_true(test, f"{key}/{one.event}"), plain(one.code or "")))
        single = len(rules) == 1
        parameters = (
            if_.testing(rules[0][0])
            if single
            else switch.by_rules(rules, fallback="any other error", every=False)
        )
        made = graph.add(
            key,
            f"Error of {node.name}?",
            "if" if single else "switch",
            parameters,
            element=host,
            role="caught",
        )
        made.notes.append(f"Which error of “{node.name}” is caught by which event.")
        for port in ports:
            graph.connect(port, Port(key))
        for output, one in enumerate(coded):
            graph.connect(Port(key, output), Port(one.event))
        if rest is not None:
            graph.connect(Port(key, len(coded)), Port(rest.event))
            continue
        stop = HelperKey(host, "stop")
        graph.add(
            stop,
            f"Stop: error of {node.name}",
            "stopAndError",
            stop_and_error.saying(expression(_MESSAGE)),
            element=host,
            role="stop",
        )
        graph.connect(Port(key, len(coded)), Port(stop))


def _throwing(host: str, compiled: CompiledScope) -> list[HelperKey]:
    """The nodes around that of a task that may throw an error; they get error outputs."""
    work = compiled.work.get(host)
    if work is None:
        return []
    from orgflow_ir.analysis.work.statements import throws

    graph = compiled.workflow_graph
    sides: tuple[tuple[Role, tuple[Statement, ...]], ...] = (
        ("inputs", work.before), ("outputs", work.after),
    )  # fmt: skip
    found = []
    for role, statements in sides:
        node = graph.nodes.get(HelperKey(host, role))
        if node is not None and throws(statements):
            node.fails_over = True
            found.append(HelperKey(host, role))
    return found
