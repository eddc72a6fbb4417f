"""Runs of a workflow that nobody compiled, as it is: its own nodes on n8n's engine.

There is no model that such a run could differ from. Nodes that decide or compute run as they are;
those that reach something outside, or that the engine does not have, are replaced, and nothing is
claimed about them or about errors behind them.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from orgflow.backends.n8n.engine.local import EngineError, LocalEngine
from orgflow.backends.n8n.engine.runs import EngineRun, RunRequest
from orgflow.backends.n8n.format.document import is_trigger
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument, workflows_of

from orgflow_ir.plugins.runners import WorkflowReport, WorkflowRun

EXECUTED = frozenset({
    "if", "switch", "set", "code", "filter", "merge", "noOp", "stopAndError", "splitInBatches",
    "aggregate", "sort", "limit", "splitOut", "removeDuplicates", "summarize", "dateTime", "wait",
    "itemLists", "renameKeys", "compareDatasets", "function", "functionItem",
})  # fmt: skip
"""Types whose nodes run as they are: they decide, compute, or wait, and reach nothing outside."""

_PREFIX = "n8n-nodes-base."
_KNOWN_DATA = frozenset({"manualTrigger", "scheduleTrigger", "cron", "interval", "start"})
"""Triggers whose data the workflow does not wait for from outside."""

_WEBHOOK: dict[str, Any] = {"headers": {}, "params": {}, "query": {}, "body": {}}

_FIELD = re.compile(r"\$json(?:\.body)?(?:\.(\w+)|\[\s*[\"'](\w+)[\"']\s*\])")
_READS = re.compile(r"\$json|\$input|\$\(|\$node|\$item|\bitems?\b")
"""What reads data in parameters."""

_MOST_RUNS = 24
_MOST_NAMES = 4
_LIMITS = {"nodes": 2_000, "ms": 30_000}


def run_foreign_workflow(text: str, engine: LocalEngine) -> WorkflowReport | None:
    """Run every workflow of a file that orgflow did not compile; `None` if the file has none, or
    one that orgflow compiled. Raises `EngineError`."""
    try:
        documents = workflows_of(json.loads(text))
    except (ValueError, RecursionError):
        return None
    if not documents or any(document.map.process for document in documents):
        return None
    replaced: list[str] = []
    runs: list[WorkflowRun] = []
    for document in documents:
        foreign = _ForeignWorkflow(document)
        replaced += foreign.replaced
        runs += foreign.run(engine)
    return WorkflowReport(tuple(dict.fromkeys(replaced)), tuple(runs))


class _ForeignWorkflow:
    """One workflow of a file."""

    def __init__(self, document: WorkflowDocument) -> None:
        raw = document.raw
        self.nodes = [
            dict(node)
            for node in raw.get("nodes") or ()
            if isinstance(node, Mapping) and isinstance(node.get("name"), str)
            and str(node.get("type", "")).rpartition(".")[2] != "stickyNote"
        ]  # fmt: skip
        self.serving = _serving_nodes(raw.get("connections"))
        names = {node["name"] for node in self.nodes} - self.serving
        self.workflow: dict[str, Any] = {
            "name": str(raw.get("name") or ""),
            "nodes": [_executable_node(node) for node in self.nodes],
            "connections": _known_connections(raw.get("connections"), names),
            "settings": {"executionOrder": "v1"},
        }
        self.triggers = [n for n in self.nodes if _is_start(n) and not n.get("disabled")]
        self.stubbed = [
            node["name"]
            for node in self.nodes
            if not _is_start(node) and _short_type(node) not in EXECUTED
        ]
        self.stubbed = [name for name in self.stubbed if name not in self.serving]

    @property
    def replaced(self) -> list[str]:
        """The nodes that do not run as they are, in words."""
        types = {node["name"]: _short_type(node) for node in self.nodes}
        lines = [
            f"`{name}` ({types[name]}) does nothing: it passes on what it gets"
            for name in self.stubbed
        ]
        for node in self.triggers:
            if _short_type(node) not in _KNOWN_DATA:
                lines.append(f"`{node['name']}` ({_short_type(node)}) starts with invented data")
        return lines

    def run(self, engine: LocalEngine) -> Iterator[WorkflowRun]:
        """Run from each trigger, with several inputs."""
        requests = [
            RunRequest(
                self._without_serving(), trigger["name"], items=[{"json": item}],
                stubs={name: {"visits": [], "mode": "merge"} for name in self.stubbed},
                limits=_LIMITS,
            )
            for trigger in self.triggers
            for item in self._inputs(trigger)
        ]  # fmt: skip
        shown: set[tuple[Any, ...]] = set()
        try:
            for request, run in zip(requests, engine.run_many(requests), strict=True):
                result = self._read_run(request, run)
                key = (result.executed, result.status, result.error)
                if key not in shown:
                    shown.add(key)
                    yield result
        except EngineError as error:
            if engine.pid is None:
                raise  # the engine itself does not start
            start = self.triggers[0]["name"]
            yield WorkflowRun(start, (), "error", str(error), None, False, 0.0)

    def _without_serving(self) -> dict[str, Any]:
        nodes = [node for node in self.workflow["nodes"] if node["name"] not in self.serving]
        return {**self.workflow, "nodes": nodes}

    def _read_run(self, request: RunRequest, run: EngineRun) -> WorkflowRun:
        executed = tuple(node.node for node in run.order)
        failed = next((n.node for n in reversed(run.order) if n.status == "error"), run.error_node)
        is_known = True
        if run.status != "success" and failed is not None:
            before = self._before(failed)
            is_known = not before & set(self.stubbed) and failed not in self.stubbed
            trigger = next(n for n in self.triggers if n["name"] == request.trigger)
            reads = _READS.search(json.dumps(self._parameters(failed))) is not None
            invented = _short_type(trigger) not in _KNOWN_DATA
            is_known = is_known and not (invented and reads)
            is_known = is_known and "on proxy" not in (run.error or "")  # of this engine's sandbox
        return WorkflowRun(
            request.trigger, executed, run.status, run.error, failed, is_known, float(run.ms)
        )

    def _parameters(self, name: str) -> Any:
        return next((n.get("parameters") for n in self.nodes if n["name"] == name), None)

    def _before(self, name: str) -> set[str]:
        """The nodes from which a node is reached."""
        into: dict[str, set[str]] = {}
        for source, outputs in self.workflow["connections"].items():
            for target in _list_targets(outputs):
                into.setdefault(target, set()).add(source)
        before: set[str] = set()
        todo = [name]
        while todo:
            for source in into.get(todo.pop(), ()):
                if source not in before:
                    before.add(source)
                    todo.append(source)
        return before

    def _inputs(self, trigger: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Items of a trigger: for fields that conditions read, the values that they compare."""
        if _short_type(trigger) in _KNOWN_DATA:
            return [{}]
        values: dict[str, list[Any]] = {}
        for node in self.nodes:
            if _short_type(node) in ("if", "switch", "filter"):
                constants = _list_constants(node.get("parameters"))
                text = json.dumps(node.get("parameters"))
                for match in _FIELD.finditer(text.replace('\\"', '"')):
                    values.setdefault(match[1] or match[2], []).extend(constants)
        names = list(values)[:_MOST_NAMES]
        choices = [
            list({repr(v): v for v in (*values[name], "text", 1)}.values()) for name in names
        ]
        rows = itertools.islice(itertools.product(*choices), _MOST_RUNS)
        is_webhook = _short_type(trigger) == "webhook"
        items = [dict(zip(names, row, strict=True)) for row in rows]
        if not is_webhook:
            return items or [{}]
        sent = [item for item in items if not item.keys() & _WEBHOOK.keys()] or [{}]
        return [{**item, **_WEBHOOK, "query": dict(item), "body": dict(item)} for item in sent]


def _executable_node(node: Mapping[str, Any]) -> dict[str, Any]:
    """A node in the form that the engine runs: a trigger only hands on the data of the run."""
    if _is_start(node):
        kind = {"type": f"{_PREFIX}manualTrigger", "typeVersion": 1, "parameters": {}}
        return {"position": [0, 0], **node, **kind}
    return {"parameters": {}, "position": [0, 0], **node}


def _short_type(node: Mapping[str, Any]) -> str:
    kind = str(node.get("type", ""))
    return kind.removeprefix(_PREFIX) if kind.startswith(_PREFIX) else kind


def _is_start(node: Mapping[str, Any]) -> bool:
    return is_trigger(node) or _short_type(node) == "start"


def _known_connections(connections: Any, names: set[str]) -> dict[str, Any]:
    """The main connections between nodes of the file."""
    known: dict[str, Any] = {}
    for source, outputs in (connections or {}).items() if isinstance(connections, Mapping) else ():
        if source not in names or not isinstance(outputs, Mapping):
            continue
        rows = [
            [wire for wire in row or () if isinstance(wire, Mapping) and wire.get("node") in names]
            for row in outputs.get("main") or ()
        ]
        known[source] = {"main": rows}
    return known


def _serving_nodes(connections: Any) -> set[str]:
    """Nodes that serve another one, such as the model of an agent."""
    if not isinstance(connections, Mapping):
        return set()
    return {
        source
        for source, outputs in connections.items()
        if isinstance(outputs, Mapping) and outputs and "main" not in outputs
    }


def _list_targets(outputs: Mapping[str, Any]) -> Iterator[str]:
    for row in outputs.get("main") or ():
        for wire in row or ():
            yield str(wire.get("node"))


def _list_constants(parameters: Any) -> list[Any]:
    """Constants that conditions compare with."""
    constants: list[Any] = []
    for name, value in _walk_fields(parameters):
        if name in ("rightValue", "value2") and not str(value).startswith("="):
            constants.append(value)
            if isinstance(value, int | float) and not isinstance(value, bool):
                constants += [value + 1, value - 1]
        if name in ("operation", "type") and value in ("true", "false", "boolean"):
            constants += [True, False]
    return constants


def _walk_fields(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    inner: Iterable[tuple[str, Any]] = ()
    if isinstance(value, Mapping):
        inner = value.items()
    elif isinstance(value, Sequence) and not isinstance(value, str):
        inner = ((name, item) for item in value)
    else:
        yield name, value
    for key, item in inner:
        yield from _walk_fields(item, str(key))
