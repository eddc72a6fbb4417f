"""Error boundary events of tasks and calls: error outputs of nodes, and the target of each
error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from orgflow.backends.javascript.literals import js_string, property_name
from orgflow.backends.n8n.emit.emitter import CompiledScope
from orgflow.backends.n8n.emit.graph import HelperKey, Port, Role
from orgflow.backends.n8n.emit.names import plain
from orgflow.backends.n8n.node_types import if_, set_, stop_and_error, switch
from orgflow.backends.n8n.node_types.conditions import is_true, make_expression

from orgflow_ir.flow.nets.failures import CaughtError, caught_errors
from orgflow_ir.model import CallActivity, Event, Task
from orgflow_ir.model.bindings import ERROR_CODE, ERROR_MESSAGE
from orgflow_ir.model.element_names import join_listed

if TYPE_CHECKING:
    from orgflow_ir.work.statements import Statement

LAST_ERROR = "lastError"
"""The field that stores the failure. It is a sibling of n8n's `error`: every node with an error
output treats an item with only `error` as failed."""

THROWN = "BpmnError"
"""The possible prefix of an error message whose code is not in the model."""

NO_CODE = "Error"
"""The message of an error of the process that has no entry in the catalogue."""

RETRIES, BOUNDARY = "retries", "boundary"
"""The option for failures that remain after all retries, and its value for routing them to the
error event without a code; otherwise they stop the run for engines that raise an incident."""

_MESSAGE = 'String($json.error?.message ?? $json.error ?? "").replace(/ \\[line \\d+\\]$/, "")'
"""The message of an error; n8n adds the line of the Code node that threw it."""


_PARTS = {
    ERROR_CODE: f"({_MESSAGE}).split(/[:\\s]/)[0]",
    ERROR_MESSAGE: f"({_MESSAGE}).replace(/^[^:\\s]+:?\\s*/, '') || null",
}
"""Parts of an error, whose message begins with the code."""


def caught_in(compiled: CompiledScope) -> dict[str, tuple[CaughtError, ...]]:
    """The error boundary events of each task of a scope according to the options of the target."""
    found = caught_errors(compiled.scope.body, compiled.scope.model)
    if compiled.ctx.options.get(RETRIES) != BOUNDARY:
        return found
    return {
        host: tuple(one._replace(thrown=False) for one in caught) for host, caught in found.items()
    }


def _fields_of(event: Event) -> Iterator[tuple[str, str]]:
    """The fields of the node of a boundary event, and code for them: the failure, and the variables
    for its parts."""
    yield LAST_ERROR, _MESSAGE
    for one in event.binding.outputs if event.binding is not None else ():
        if one.language == "variable" and one.text in _PARTS:
            yield one.name, _PARTS[one.text]


def keeping_the_error(event: Event) -> dict[str, Any]:
    """Parameters of the node of a boundary event."""
    fields = [(name, make_expression(code), "string") for name, code in _fields_of(event)]
    return set_.assign_parameters(fields, event.id)


def _with_the_variables(event: Event) -> dict[str, Any]:
    """As `keeping_the_error`, where the failed item may have the variables under `message`."""
    fields = ", ".join(f"{property_name(name)}: {code}" for name, code in _fields_of(event))
    item = '(typeof $json.message === "object" ? $json.message : $json)'
    return set_.write_parameters(make_expression(f"({{ ...{item}, {fields} }})"), keep=False)


def hands_variables(host: str, compiled: CompiledScope) -> bool:
    """Whether the code of a task outputs variables with the errors that events on it catch: those
    that the code has set before it throws."""
    work = compiled.work.get(host)
    if work is None or host not in caught_in(compiled):
        return False
    from orgflow_ir.work.statements import assigned, ends_with_error

    return ends_with_error(work.statements) and any(True for _ in assigned(work.statements))


def wire_failures(compiled: CompiledScope) -> None:
    """Route the error outputs of tasks to their boundary events, by the codes of errors; an
    uncaught error stops the run."""
    graph = compiled.workflow_graph
    for host, caught in caught_in(compiled).items():
        node = graph.nodes[host]
        node.fails_over = True
        if hands_variables(host, compiled):
            for one in caught:
                event = compiled.graph.nodes[one.event]
                assert isinstance(event, Event)
                graph.nodes[one.event].parameters = _with_the_variables(event)
        names = join_listed([f"“{graph.nodes[one.event].name}”" for one in caught])
        rest = next((one for one in caught if one.code is None), None)
        thrown = rest is not None and rest.thrown
        node.notes.append(
            f"On Error is set to “Continue (using error output)”: if this node fails, {names} "
            "occurs. An error is recognised by its message, which begins with the code of the "
            "error"
            + (
                f", or with “{THROWN}”: any other failure stops the run, even when its retries "
                "are exhausted "
                f"(the option {RETRIES}={BOUNDARY} leads it to the event). "
                if thrown
                else ". "
            )
            + "Keep this setting if you replace the node."
        )
        # Code of listeners, and what is made of an answer, may throw an error of the task as well.
        ports = [Port(host, 1), *(Port(key, 1) for key in _throwing(host, compiled))]
        coded = [one for one in caught if one.code is not None]
        if not coded and not thrown:
            assert rest is not None
            for port in ports:
                graph.connect(port, Port(rest.event))
            continue
        key = HelperKey(host, "caught")
        rules = []
        for one in coded:
            code = js_string(_as_said(one.code or "", compiled))
            test = (
                f"((said) => said === {code} || [' ', ':'].some((end) => "
                f"said.startsWith({code} + end)))({_MESSAGE})"
            )
            rules.append((is_true(test, f"{key}/{one.event}"), plain(one.code or "")))
        if rest is not None and thrown:
            codes = ", ".join(js_string(plain(code)) for code in _known_codes(host, compiled))
            test = (
                f"((said) => [{codes}].some((code) => said === code || said.startsWith(code + ' ')"
                f" || said.startsWith(code + ':')){_statuses(host, compiled)})({_MESSAGE})"
            )
            rules.append((is_true(test, f"{key}/{rest.event}"), "an error of the process"))
            coded, rest = [*coded, rest], None
        single = len(rules) == 1
        parameters = (
            if_.test_parameters(rules[0][0])
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
        made.notes.append(f"Selects the event that catches the error of “{node.name}”.")
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
            stop_and_error.stop_parameters(make_expression(_MESSAGE)),
            element=host,
            role="stop",
        )
        graph.connect(Port(key, len(coded)), Port(stop))


def _known_codes(host: str, compiled: CompiledScope) -> list[str]:
    """Codes of the errors of the process that a task may throw: those of the model, those that its
    work throws, and the word that stands for any."""
    from orgflow_ir.work.statements import thrown_codes

    work = compiled.work.get(host)
    found = [entry.code for entry in compiled.scope.model.catalog.errors if entry.code]
    call = compiled.graph.nodes[host]
    if isinstance(call, CallActivity):
        found += _codes_called(call, compiled)
        # Stop nodes of the called process write these of errors without a code.
        entries = compiled.scope.model.catalog.errors
        found += [_as_said(entry.id, compiled) for entry in entries if not entry.code]
        found.append(NO_CODE)
    found += thrown_codes(work.statements) if work is not None else ()
    return list(dict.fromkeys((*found, THROWN)))


def _codes_called(call: CallActivity, compiled: CompiledScope) -> Iterator[str]:
    """Codes that tasks throw in the process that a call runs, and in those that it calls."""
    from orgflow.backends.n8n.emit.computed import work_in

    from orgflow_ir.flow.control_flow.calls import called_from, find_callee
    from orgflow_ir.work.statements import thrown_codes

    called = find_callee(call, compiled.scope.model)
    if called is None:
        return
    for process in dict.fromkeys((called, *called_from(called, compiled.scope.model))):
        for node in (node for scope in process.scopes() for node in scope.nodes):
            if isinstance(node, Task):
                yield from thrown_codes(work_in(node, compiled.ctx).statements)


def _as_said(code: str, compiled: CompiledScope) -> str:
    """How the message of an error begins: with its code; that of one without a code with the name
    of its entry, by whose id the event knows it."""
    entries = compiled.scope.model.catalog.errors
    named = next((e for e in entries if e.id == code and not e.code), None)
    return plain(named.name if named is not None and named.name else code)


def _statuses(host: str, compiled: CompiledScope) -> str:
    """What is asked beside the codes: whether it is a status that a request makes an error."""
    from orgflow_ir.work.statements import handles

    work = compiled.work.get(host)
    return r" || /^HTTP\d{3}\b/.test(said)" if work is not None and handles(work.after) else ""


def _throwing(host: str, compiled: CompiledScope) -> list[HelperKey]:
    """The nodes around that of a task that may throw an error; they get error outputs."""
    work = compiled.work.get(host)
    if work is None:
        return []
    from orgflow_ir.work.statements import throws

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
