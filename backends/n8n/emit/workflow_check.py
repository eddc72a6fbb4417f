"""Checks a whole n8n workflow for content that n8n refuses, and for content that it accepts but
executes incorrectly.

N8N.md ("Refused nowhere and silently wrong") lists the faults that no server reports: unknown type
versions and parameter names, missing inputs and outputs, invalid conditions. Every kind of problem
found here has a stable name, listed in `KINDS`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any, Final, Literal

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.format import form_fields
from orgflow.backends.n8n.format.document import api_keys, is_trigger, short_type
from orgflow.backends.n8n.format.expressions import Reading, read_code, read_parameter
from orgflow.backends.n8n.format.json_values import texts
from orgflow.backends.n8n.format.versions import DEFAULT_VERSION, N8nVersion, require_known
from orgflow.backends.n8n.node_types.node_type import NodeType
from orgflow.backends.n8n.node_types.ports import ports_of
from orgflow.backends.n8n.node_types.type_versions import type_versions

from orgflow_ir.model.records import NamedTuple, dataclass

KINDS: Final[Mapping[str, str]] = {
    "schema": "the workflow does not match n8n's format (`schema_check`)",
    "api-key": "the API of this n8n rejects the key with 400",
    "duplicate-name": "two nodes have the same name",
    "duplicate-id": "two nodes have the same id",
    "node-type": "an unsupported node type",
    "type-version": "a typeVersion that is unknown to this n8n or to orgflow's schemas",
    "choose-branch": "a Merge that silently ends everything after a dead branch",
    "parameters": "parameters that n8n ignores, misses or misinterprets (`schema_check`)",
    "connection-source": "a connection from a node that does not exist",
    "connection-target": "a connection to a node that does not exist",
    "connection-output": "a connection from an output that the node does not have",
    "connection-input": "a connection to an input that the node does not have",
    "merge-input": "an input of a Merge without a connection",
    "no-trigger": "no trigger starts the workflow",
    "unreachable": "no trigger leads to the node",
    "expression": "an expression that n8n cannot read, or interprets differently",
    "unknown-reference": "an expression refers to a node that does not exist",
    "webhook-path": "two triggers have the same address",
    "webhook-suffix": "two Waits have the same address, or the address is not fixed",
    "form-field": "a field name that n8n ignores",
    "stale-timer": "a Wait's time limit that can end a later Wait",
}

Form = Literal["file", "api"]


class Problem(NamedTuple):
    """A fault in a workflow and its place: `path` is a JSON pointer, `kind` one of `KINDS`."""

    path: str
    message: str
    kind: str = "schema"


def make_pointer(*keys: str | int) -> str:
    """A JSON pointer of these keys."""
    return "".join("/" + str(key).replace("~", "~0").replace("/", "~1") for key in keys)


_Wire = tuple[str, int, int, str, int]  # source, output, place in the output, target, input


class _Node(NamedTuple):
    number: int
    name: str
    short: str | None
    kind: NodeType | None
    raw: Mapping[str, Any]
    parameters: Mapping[str, Any]

    def problem(self, kind: str, message: str, *keys: str | int) -> Problem:
        return Problem(make_pointer("nodes", self.number, *keys), message, kind)


@dataclass(eq=False, repr=False)
class _Graph:
    """What is well formed of a workflow: the rest is reported by `schema_check`."""

    nodes: list[_Node] = field(default_factory=list)
    by_name: dict[str, _Node] = field(default_factory=dict)
    wires: list[_Wire] = field(default_factory=list)

    def targets(self) -> dict[str, list[str]]:
        targets: dict[str, list[str]] = {}
        for source, _, _, target, _ in self.wires:
            targets.setdefault(source, []).append(target)
        return targets


def check_workflow(
    workflow: object,
    *,
    form: Form = "file",
    version: N8nVersion = DEFAULT_VERSION,
    filled: Collection[str] = (),
) -> tuple[Problem, ...]:
    """Every problem of a workflow for one n8n version, in a fixed order; none for malformed parts.
    `schema_check.check_schemas` checks structure and parameters. `filled` are names of nodes whose
    types are those of the user's n8n."""
    require_known(version)
    problems: list[Problem] = []
    if not isinstance(workflow, Mapping):
        return ()
    graph = _read_graph(workflow)
    if form == "api":
        problems += _check_api_keys(workflow, version)
    problems += _check_names(graph)
    for node in graph.nodes:
        if node.name not in filled:
            problems += _check_node(node, version)
    problems += _check_wires(graph)
    problems += _check_reach(graph)
    for node in graph.nodes:
        problems += _check_expressions(node, graph)
    problems += _check_addresses(graph)
    problems += _check_timers(graph)
    return tuple(problems)


def _read_graph(workflow: Mapping[str, Any]) -> _Graph:
    graph = _Graph()
    nodes = workflow.get("nodes")
    for index, raw in enumerate(nodes if isinstance(nodes, list) else ()):
        if not isinstance(raw, dict) or not isinstance(raw.get("name"), str):
            continue
        parameters = raw.get("parameters")
        shown = parameters if isinstance(parameters, dict) else {}
        short = short_type(raw)
        node = _Node(index, raw["name"], short, node_types.find_type(short), raw, shown)
        graph.nodes.append(node)
        graph.by_name.setdefault(node.name, node)
    connections = workflow.get("connections")
    if isinstance(connections, Mapping):
        graph.wires.extend(_read_wires(connections))
    return graph


def _read_wires(connections: Mapping[str, Any]) -> Iterator[_Wire]:
    for source, by_kind in connections.items():
        outputs = by_kind.get("main") if isinstance(by_kind, dict) else None
        for output, ends in enumerate(outputs if isinstance(outputs, list) else ()):
            for place, end in enumerate(ends if isinstance(ends, list) else ()):
                if not isinstance(end, dict):
                    continue
                target, index = end.get("node"), end.get("index")
                if isinstance(target, str) and isinstance(index, int):
                    yield source, output, place, target, index


def _check_api_keys(workflow: Mapping[str, Any], version: N8nVersion) -> Iterator[Problem]:
    refused = set(api_keys(DEFAULT_VERSION)) - set(api_keys(version))
    for key in sorted(workflow.keys() & refused):
        yield Problem(make_pointer(key), f"n8n {version} refuses `{key}`", "api-key")


def _check_names(graph: _Graph) -> Iterator[Problem]:
    owners: dict[str, _Node] = {}
    for node in graph.nodes:
        if graph.by_name[node.name] is not node:
            yield node.problem("duplicate-name", f"another node has the name `{node.name}`", "name")
        identity = node.raw.get("id")
        if isinstance(identity, str):
            first = owners.setdefault(identity, node)
            if first is not node:
                message = f"`{node.name}` has the id of `{first.name}`"
                yield node.problem("duplicate-id", message, "id")


def _check_node(node: _Node, version: N8nVersion) -> Iterator[Problem]:
    kind = node.kind
    if kind is None or not kind.described:
        message = f"`{node.name}` has the type `{node.raw.get('type')}`, which is not emitted"
        yield node.problem("node-type", message, "type")
        return
    wanted = type_versions(kind.name, version)
    if node.raw.get("typeVersion") not in wanted:
        listed = ", ".join(f"{type_version:g}" for type_version in wanted)
        message = f"n8n {version} does not support version {listed} of `{node.short}`"
        yield node.problem("type-version", f"`{node.name}`: {message}", "typeVersion")
        return
    if node.short == "merge" and node.parameters.get("mode") == "chooseBranch":
        message = (
            f"`{node.name}` never runs if a branch is not taken, and the run ends with status "
            "success"
        )
        yield node.problem("choose-branch", message, "parameters", "mode")
        return
    if node.short == "wait":
        yield from _check_form_names(node)


def _check_form_names(node: _Node) -> Iterator[Problem]:
    # A Wait's typeVersion is below 2.4, where n8n keys an answer by its label.
    fields = _find_inside(node.parameters, "formFields", "values")
    for index, form_field in enumerate(fields if isinstance(fields, list) else ()):
        if not isinstance(form_field, Mapping) or form_field.get("fieldType") == "hiddenField":
            continue
        if "fieldName" in form_field and form_field["fieldName"] != form_field.get("fieldLabel"):
            message = f"`{node.name}`: the answer is stored under the label, not under `fieldName`"
            keys = ("parameters", "formFields", "values", index, "fieldName")
            yield node.problem("form-field", message, *keys)


def _check_wires(graph: _Graph) -> Iterator[Problem]:
    inputs, outputs = {}, {}
    for node in graph.nodes:
        inputs[node.name], outputs[node.name] = ports_of(node.raw, node.kind)
    wired: dict[str, set[int]] = {}
    unknown: set[str] = set()
    for source, output, place, target, index in graph.wires:
        path = ("connections", source, "main", output, place)
        if source not in outputs:
            if source not in unknown:
                message = f"no node has the name `{source}`"
                yield Problem(make_pointer("connections", source), message, "connection-source")
                unknown.add(source)
        else:
            count = outputs[source]
            if count is not None and output >= count:
                message = (
                    f"`{source}` has {_format_count(count, 'output')}, but a connection leaves "
                    f"output {output}"
                )
                yield Problem(make_pointer(*path), message, "connection-output")
        if target not in inputs:
            message = f"`{source}` leads to `{target}`, which does not exist"
            yield Problem(make_pointer(*path, "node"), message, "connection-target")
            continue
        wired.setdefault(target, set()).add(index)
        count = inputs[target]
        if count is not None and not 0 <= index < count:
            has = _format_count(count, "input")
            message = f"`{target}` has {has}, but a connection enters input {index}"
            yield Problem(make_pointer(*path, "index"), message, "connection-input")
    for node in graph.nodes:
        if node.short == "merge":
            missing = set(range(inputs[node.name] or 0)) - wired.get(node.name, set())
            for index in sorted(missing):
                message = f"input {index} of `{node.name}` has no connection"
                yield node.problem("merge-input", message)


def _check_reach(graph: _Graph) -> Iterator[Problem]:
    triggers = [node for node in graph.nodes if is_trigger(node.raw)]
    starts = [node.name for node in triggers if node.raw.get("disabled") is not True]
    if not starts:
        yield Problem("/nodes", "no trigger starts this workflow", "no-trigger")
        return
    reached = {*_find_reached(starts, graph.targets()), *(node.name for node in triggers)}
    for node in graph.nodes:
        if node.name not in reached and node.short != "stickyNote":
            yield node.problem("unreachable", f"no trigger leads to `{node.name}`")


def _check_expressions(node: _Node, graph: _Graph) -> Iterator[Problem]:
    if not node.parameters or node.short == "stickyNote":
        return  # text for people; n8n evaluates none of it
    if node.short != "code" and all(
        _can_be_read(text, graph) for text in _list_expressions(node.parameters)
    ):
        return  # nearly always; only faults need the paths of the texts
    for path, text in texts(node.parameters):
        if text.startswith("="):
            reading = read_parameter(text)
        elif node.short == "code" and path == ("jsCode",):
            reading = Reading((), read_code(text).references)
        else:
            continue
        for fault in reading.faults:
            message = f"`{node.name}`: {fault}"
            yield node.problem("expression", message, "parameters", *path)
        for name in dict.fromkeys(reading.references):
            if name not in graph.by_name:
                message = f"`{node.name}` reads from `{name}`, which does not exist"
                yield node.problem("unknown-reference", message, "parameters", *path)


def _can_be_read(text: str, graph: _Graph) -> bool:
    reading = read_parameter(text)
    return not reading.faults and graph.by_name.keys() >= {*reading.references}


def _list_expressions(parameters: Mapping[str, Any]) -> list[str]:
    """The texts in parameters that n8n evaluates, in any order."""
    expressions: list[str] = []
    waiting: list[Any] = [parameters]
    while waiting:
        values = waiting.pop()
        for item in values.values() if isinstance(values, dict) else values:
            if type(item) is str:
                if item.startswith("="):
                    expressions.append(item)
            elif isinstance(item, _WITH_ITEMS):
                waiting.append(item)
    return expressions


_WITH_ITEMS: Final = (dict, list)


def _check_addresses(graph: _Graph) -> Iterator[Problem]:
    triggers: dict[tuple[str, ...], str] = {}
    waits: dict[tuple[str, ...], str] = {}
    for node in graph.nodes:
        address: tuple[str, ...] | None = None
        keys: tuple[str, ...] = ()
        if node.short == "webhook":
            method = node.parameters.get("httpMethod", "GET")
            address, keys = ("webhook", str(method), str(node.parameters.get("path"))), ("path",)
        elif node.short == "formTrigger":
            path, keys = node.parameters.get("path"), ("path",)
            if path is None:
                path, keys = _find_inside(node.parameters, "options", "path"), ("options", "path")
            if path is not None:
                address = ("form", str(path))
        elif node.short == "wait" and node.parameters.get("resume") in ("webhook", "form"):
            suffix = _find_inside(node.parameters, "options", "webhookSuffix")
            # Pages of forms may have one address where each says of which it is.
            pages = tuple(form_fields.hidden_fields(node.parameters).values())
            yield from _check_suffix(node, "" if suffix is None else str(suffix), waits, pages)
        if address is not None:
            first = triggers.setdefault(address, node.name)
            if first != node.name:
                message = f"`{first}` and `{node.name}` both respond at `{address[-1]}`"
                yield node.problem("webhook-path", message, "parameters", *keys)


def _check_suffix(
    node: _Node, suffix: str, waits: dict[tuple[str, ...], str], pages: tuple[str, ...]
) -> Iterator[Problem]:
    path = ("parameters", "options", "webhookSuffix")
    if suffix.startswith("="):
        # N8N_PATTERNS.md section 0: an expression here never matched, every call got 404.
        message = f"`{node.name}` can never be resumed: its webhookSuffix must be fixed text"
        yield node.problem("webhook-suffix", message, *path)
        return
    first = waits.setdefault((suffix, *pages), node.name)
    if first != node.name:
        how = "have one webhookSuffix" if suffix else "have no webhookSuffix"
        message = f"`{first}` and `{node.name}` {how}: an answer may resume the wrong one"
        yield node.problem("webhook-suffix", message, *(path if suffix else ("parameters",)))


def _check_timers(graph: _Graph) -> Iterator[Problem]:
    """N8N_PATTERNS.md F2: the timer of a limited Wait stays and resumes whatever waits next."""
    limited = [
        node
        for node in graph.nodes
        if node.short in ("wait", "form") and node.parameters.get("limitWaitTime") is True
    ]
    if not limited:
        return
    sources: dict[str, list[str]] = {}
    for source, _, _, target, _ in graph.wires:
        sources.setdefault(target, []).append(source)
    waiting = [node.name for node in graph.nodes if _may_wait(node)]
    before = [source for name in waiting for source in sources.get(name, ())]
    endangered = _find_reached(before, sources)
    for node in limited:
        if node.name in endangered:
            message = f"the time limit of `{node.name}` can end a later wait"
            yield node.problem("stale-timer", message, "parameters", "limitWaitTime")


def _may_wait(node: _Node) -> bool:
    return node.kind is not None and node.kind.waits(node.parameters)


def _find_reached(starts: Iterable[str], edges: Mapping[str, list[str]]) -> set[str]:
    reached = set(starts)
    waiting = list(reached)
    while waiting:
        for name in edges.get(waiting.pop(), ()):
            if name not in reached:
                reached.add(name)
                waiting.append(name)
    return reached


def _find_inside(value: object, *keys: str) -> object:
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _format_count(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"
