"""The structure of an n8n workflow, its text form, and properties of a single node."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from json.encoder import encode_basestring
from math import isfinite
from typing import Any, Final, NotRequired, TypedDict

from orgflow.backends.n8n.format.versions import DEFAULT_VERSION, V1_123, N8nVersion, require_known

TYPE_PREFIX: Final = "n8n-nodes-base."

_WEBHOOK: Final = f"{TYPE_PREFIX}webhook"
"""The trigger whose name does not end with `Trigger`, of those in `node_types`."""

# Must never change: node ids are derived from it, and `verify` finds nodes by id among other ways.
_UUID_NAMESPACE: Final = bytes.fromhex("7d3e3c0e53c55a0f9a530c4e1b2f6d17")
_UUID_VARIANT: Final = {f"{digit:x}": f"{digit & 3 | 8:x}" for digit in range(16)}
"""The digit of a UUID that contains its variant (RFC 9562, 4.1), by the digit of the hash."""

# N8N.md "API": what POST /workflows takes; any other key is answered with 400.
_API_KEYS: Final = ("name", "nodes", "connections", "settings", "staticData")
_API_KEYS_SINCE_2: Final = ("pinData", "nodeGroups")
_API_NODE_KEYS: Final = (
    "id",
    "name",
    "type",
    "typeVersion",
    "position",
    "parameters",
    "webhookId",
    "disabled",
    "notes",
    "notesInFlow",
    "executeOnce",
    "alwaysOutputData",
    "retryOnFail",
    "maxTries",
    "waitBetweenTries",
    "onError",
    "credentials",
)
# The settings that the API of every n8n in the versions table takes.
API_SETTINGS: Final = (
    "executionOrder",
    "timezone",
    "saveExecutionProgress",
    "saveManualExecutions",
    "saveDataErrorExecution",
    "saveDataSuccessExecution",
    "executionTimeout",
    "errorWorkflow",
    "callerPolicy",
    "callerIds",
    "timeSavedPerExecution",
    "availableInMCP",
)


class Connection(TypedDict):
    """The end of a connection: the input `index` of the node called `node`."""

    node: str
    type: str
    index: int


class NodeConnections(TypedDict):
    """Connections of one node: `main[output]` lists the ends of that output's connections."""

    main: list[list[Connection]]


class Node(TypedDict):
    """One node, as in a file."""

    id: str
    name: str
    type: str
    typeVersion: float
    position: list[float]
    parameters: dict[str, Any]
    webhookId: NotRequired[str]
    disabled: NotRequired[bool]
    notes: NotRequired[str]
    notesInFlow: NotRequired[bool]
    executeOnce: NotRequired[bool]
    alwaysOutputData: NotRequired[bool]
    retryOnFail: NotRequired[bool]
    maxTries: NotRequired[int]
    waitBetweenTries: NotRequired[int]
    onError: NotRequired[str]
    credentials: NotRequired[dict[str, dict[str, str]]]


class Settings(TypedDict):
    """Workflow settings; without `executionOrder` n8n runs the legacy order (N8N.md)."""

    executionOrder: str
    timezone: NotRequired[str]
    saveExecutionProgress: NotRequired[bool | str]
    saveManualExecutions: NotRequired[bool | str]
    saveDataErrorExecution: NotRequired[str]
    saveDataSuccessExecution: NotRequired[str]
    executionTimeout: NotRequired[int]
    errorWorkflow: NotRequired[str]
    callerPolicy: NotRequired[str]
    callerIds: NotRequired[str]


class Workflow(TypedDict):
    """A workflow, as in a file that the editor imports."""

    name: str
    nodes: list[Node]
    connections: dict[str, NodeConnections]
    settings: Settings
    id: NotRequired[str]
    description: NotRequired[str | None]
    active: NotRequired[bool]
    meta: NotRequired[dict[str, Any] | None]
    pinData: NotRequired[dict[str, list[dict[str, Any]]] | None]
    staticData: NotRequired[dict[str, Any] | None]
    versionId: NotRequired[str]
    tags: NotRequired[list[Any]]


def dump_json(value: object) -> str:
    """Formatted JSON, the same bytes for the same value; keys keep the order of creation."""
    text = _indented_text(value) + "\n"
    # Half a surrogate pair is legal in a JSON escape but cannot be encoded as UTF-8. UTF-16 cannot
    # represent it either, and takes half the time to encode.
    try:
        text.encode("utf-16")
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", lambda match: f"\\u{ord(match[0]):04x}", text)
    return text


_Writers = dict[type, Callable[[Any], str]]
"""Functions that write values as JSON, by type."""

_constant: Final = {True: "true", False: "false", None: "null"}.__getitem__


def _finite_number(value: float) -> str:
    return repr(value) if isfinite(value) else _standard_text(value, "\n")


class _WrittenKeys(dict[str, str]):
    """Keys of objects as they are written, colon included; most occur in every node."""

    def __missing__(self, key: str) -> str:
        written = f"{encode_basestring(key)}: "
        if len(self) < _MOST_KEYS:  # names of nodes are keys too
            self[key] = written
        return written


_MOST_KEYS: Final = 2_000
_KEYS: Final = _WrittenKeys()


def _make_writers(newline: str) -> _Writers:
    """Functions that write values like `json.dumps(value, indent=2, ensure_ascii=False,
    allow_nan=False)` at one level of indentation; `newline` is a line feed and the indentation.

    They replace the encoder of `json`, which is implemented in Python for indented output and
    slower. A table by type is faster than a chain of tests.
    """
    deeper = newline + "  "
    join = f",{deeper}".join
    inner: _Writers | None = None
    """The functions of the next level, created on first use."""

    def write_object(value: dict[str, Any]) -> str:
        nonlocal inner
        if not value:
            return "{}"
        if inner is None:
            inner = _make_writers(deeper)
        try:
            rows = [_KEYS[k] + inner[type(v)](v) for k, v in value.items()]
        except (KeyError, TypeError):  # a value or key of a type that compiled workflows lack
            return _standard_text(value, newline)
        return f"{{{deeper}{join(rows)}{newline}}}"

    def write_list(value: list[Any]) -> str:
        nonlocal inner
        if not value:
            return "[]"
        if inner is None:
            inner = _make_writers(deeper)
        try:
            rows = [inner[type(item)](item) for item in value]
        except KeyError:
            return _standard_text(value, newline)
        return f"[{deeper}{join(rows)}{newline}]"

    return {
        str: encode_basestring,
        int: repr,
        float: _finite_number,
        bool: _constant,
        type(None): _constant,
        dict: write_object,
        list: write_list,
    }


_OUTERMOST: Final = _make_writers("\n")


def _indented_text(value: object) -> str:
    write = _OUTERMOST.get(type(value))
    return write(value) if write is not None else _standard_text(value, "\n")


def _standard_text(value: object, newline: str) -> str:
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    return text.replace("\n", newline)


def node_uuid(text: str) -> str:
    """A UUID that depends on the text alone: `uuid.uuid5`, in a third of its time."""
    digits = hashlib.sha1(_UUID_NAMESPACE + text.encode(), usedforsecurity=False).hexdigest()
    variant = _UUID_VARIANT[digits[16]]
    return f"{digits[:8]}-{digits[8:12]}-5{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


def node_type(short: str) -> str:
    """`if` → `n8n-nodes-base.if`."""
    return TYPE_PREFIX + short


def short_type(node: Mapping[str, object]) -> str | None:
    """`if` for a node of type `n8n-nodes-base.if`; None for another package's node."""
    full = node.get("type")
    if isinstance(full, str) and full.startswith(TYPE_PREFIX):
        return full[len(TYPE_PREFIX) :]
    return None


def is_trigger(node: Mapping[str, object]) -> bool:
    """Whether a run can start at this node; most triggers are recognised by name."""
    full = node.get("type")
    return isinstance(full, str) and (full.endswith("Trigger") or full == _WEBHOOK)


def api_keys(version: N8nVersion = DEFAULT_VERSION) -> tuple[str, ...]:
    """Keys that the public API of this n8n accepts; n8n 1.123 refuses pinned data."""
    older = require_known(version) <= V1_123
    return _API_KEYS if older else _API_KEYS + _API_KEYS_SINCE_2


def to_api(workflow: Mapping[str, object], version: N8nVersion = DEFAULT_VERSION) -> dict[str, Any]:
    """The body of `POST /api/v1/workflows`: a copy without the keys that the API refuses with
    400."""
    body: dict[str, Any] = {}
    for key in api_keys(version):
        value = workflow.get(key)
        if value is not None:
            body[key] = value
    body["nodes"] = [
        {key: node[key] for key in _API_NODE_KEYS if key in node} for node in body.get("nodes", ())
    ]
    body["connections"] = {
        # n8n writes null for an output without wires; the empty list says the same.
        source: {kind: [wires or [] for wires in outputs] for kind, outputs in by_kind.items()}
        for source, by_kind in body.get("connections", {}).items()
    }
    settings = body.get("settings", {})
    body["settings"] = {
        key: settings[key]
        for key in API_SETTINGS
        # The editor's "DEFAULT" is not a value of the API, where it is said by absence.
        if key in settings and settings[key] != "DEFAULT"
    }
    return body
