"""Known data about all of n8n's node types, including those without a module here.

Types, versions and parameters of the core nodes are from n8n 2.41's descriptions; triggers, code
nodes, nodes that send messages and sub-nodes are recognised by type name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.node_types import send_and_wait
from orgflow.backends.n8n.node_types.node_type import Start

from orgflow_ir.model import TaskType
from orgflow_ir.model.records import NamedTuple

_FILE = Path(__file__).parent / "schema" / "known-nodes.json"


@cache
def _known_nodes() -> Mapping[str, Any]:
    table = json.loads(_FILE.read_text(encoding="utf-8"))
    assert isinstance(table, dict)
    return table


def table_release() -> str:
    """The n8n version of the table."""
    return str(_known_nodes()["n8n"])


BASE: Final = "n8n-nodes-base"
LANGCHAIN: Final = "@n8n/n8n-nodes-langchain"


def split_type(full: str) -> tuple[str, str]:
    """Package and name: `("n8n-nodes-base", "if")`; without a dot there is no package."""
    package, _, short = full.rpartition(".")
    return package, short


def comes_with_n8n(full: str) -> bool:
    """Whether a type is in a package that is part of n8n."""
    return split_type(full)[0] in _known_nodes()["types"]


_ONE_OF_ONE: Final[Mapping[str, frozenset[str]]] = {
    "crypto": frozenset(),
    "dateTime": frozenset(),
    "renameKeys": frozenset(),
    "markdown": frozenset(),
    "xml": frozenset(),
    "html": frozenset({"generateHtmlTemplate", "extractHtmlContent"}),
}
"""Types without a module that make one item of one, with those of their operations that do, where
not all do. From `execute` of the nodes in n8n-nodes-base 2.41.1; the tests run each."""


def makes_one_of_one(full: str, parameters: Mapping[str, Any]) -> bool:
    """Whether a node of a type without a module makes one item of one, unless it fails."""
    package, short = split_type(full)
    operations = _ONE_OF_ONE.get(short) if package == BASE else None
    return operations is not None and (
        not operations or parameters.get("operation", min(operations)) in operations
    )


def known_versions(full: str) -> tuple[float, ...]:
    """The versions of a type in this n8n; empty for an unknown type.

    n8n offers every suitable node as a tool, under its name with the suffix `Tool`.
    """
    package, short = split_type(full)
    known: Mapping[str, list[float]] = _known_nodes()["types"].get(package, {})
    for name in (short, short.removesuffix("HitlTool"), short.removesuffix("Tool")):
        if name in known:
            return tuple(known[name])
    return ()


def is_versioned(full: str) -> bool:
    """Whether each version of a type is a separate implementation, so other versions do not
    exist."""
    package, short = split_type(full)
    return short in _known_nodes()["versioned"].get(package, ())


def newest_version(full: str) -> float:
    """The newest version of a type; 1 for an unknown one."""
    return max(known_versions(full), default=1.0)


def package_types(full: str) -> tuple[str, ...]:
    """The names of the types in the package of a type."""
    return tuple(_known_nodes()["types"].get(split_type(full)[0], {}))


def reads_parameter(short: str, version: float, parameter: str) -> bool:
    """Whether a node reads a parameter in its version; assumed for unknown nodes."""
    table = core_parameters(short)
    return table is None or version in table.get(parameter, ())


def core_parameters(short: str) -> Mapping[str, list[float]] | None:
    """The parameters of a core node and the versions that have them; `None` for other nodes."""
    versions_by_name: Mapping[str, list[float]] | None = _known_nodes()["parameters"].get(short)
    return versions_by_name


def offered_values(short: str) -> Mapping[str, Mapping[str, list[float]]] | None:
    """The values of parameters of a core node that offer fixed ones, each with the versions that
    offer it; `None` for other nodes."""
    offered: Mapping[str, Mapping[str, list[float]]] | None = _known_nodes()["options"].get(short)
    return offered


class KnownOperations(NamedTuple):
    """The resources of a node, and the operations of each; the resource is empty where the node has
    none."""

    resources: tuple[str, ...]
    operations: Mapping[str, tuple[str, ...]]

    def of_resource(self, resource: str | None) -> tuple[str, ...]:
        """The operations of a resource; `None` stands for the default one, which may be any."""
        names = (*self.resources, "") if resource is None else (resource, "")
        return tuple(sorted({o for name in names for o in self.operations.get(name, ())}))


def known_operations(short: str, version: float) -> KnownOperations | None:
    """The resources and operations of a node of n8n's base package, or of the tool that n8n makes
    of one; `None` for nodes without fixed ones."""
    rows = _operations_by_type().get(short) or _operations_by_type().get(short.removesuffix("Tool"))
    for row in rows or ():
        if version in row["versions"]:
            pairs = row["operation"].items()
            return KnownOperations(tuple(row["resource"]), {k: tuple(v) for k, v in pairs})
    return None


@cache
def _operations_by_type() -> Mapping[str, Any]:
    text = _FILE.with_name("known-operations.json").read_text(encoding="utf-8")
    types: Mapping[str, Any] = json.loads(text)["types"]
    return types


def default_values(short: str) -> Mapping[str, Any]:
    """The default of each parameter of a type that orgflow emits, by its path (`options.reset`);
    empty for other types."""
    defaults: Mapping[str, Any] = _known_nodes()["defaults"].get(short, {})
    return defaults


# -- by name -------------------------------------------------------------------------------------

_STARTS: Final[Mapping[str, Start]] = {
    "start": "manual", "manualChatTrigger": "manual", "evaluationTrigger": "manual",
    "cron": "schedule", "interval": "schedule",
}  # fmt: skip
"""Triggers without a module that start by something other than a message."""

_SUB_NODE: Final = re.compile(
    r"(lm[A-Z]|embeddings|memory(?!Manager)|tool[A-Z]|outputParser|textSplitter|document[A-Z]"
    r"|retriever|reranker|vectorStore|modelSelector).*|.+(?<!\.)Tool"
)
"""Types of langchain's sub-nodes, and of tools made of other nodes (`slackTool`)."""

_SCRIPTS: Final = {
    "function": ("functionCode",),
    "functionItem": ("functionCode",),
    "aiTransform": ("jsCode",),
}
"""Types without a module that run code, with its parameters."""

_SENDERS: Final = frozenset(
    {
        "awsSes", "awsSns", "chat", "discord", "gmail", "gotify", "googleChat", "line",
        "mailgun", "mailjet", "mandrill", "matrix", "mattermost", "messageBird", "microsoftOutlook",
        "microsoftTeams", "mocean", "msg91", "mqtt", "plivo", "pushbullet", "pushcut", "pushover",
        "rabbitmq", "rocketchat", "sendGrid", "sendInBlue", "signl4", "sms77",
        "slack", "telegram", "twilio", "vonage", "webex", "whatsApp", "zulip",
    }
)  # fmt: skip
_SENDING: Final = re.compile(r"(send|post|reply|push|publish|create$)", re.IGNORECASE)


def known_short(full: str) -> str:
    """`if` for `n8n-nodes-base.if`; empty for nodes of packages that are not part of n8n."""
    package, short = split_type(full)
    return short if package in (BASE, LANGCHAIN) else ""


def start_of(short: str) -> Start:
    """The start event of a trigger of this type."""
    kind = node_types.find_type(short)
    return (kind.start if kind is not None else None) or _STARTS.get(short, "message")


def looks_like_sub_node(full: str) -> bool:
    """Whether nodes of this type serve others (a model, a tool, a memory), by its name."""
    return _SUB_NODE.fullmatch(split_type(full)[1]) is not None


def script_parameters(short: str) -> tuple[str, ...]:
    """The parameters of a type that hold program code."""
    kind = node_types.find_type(short)
    return kind.scripts if kind is not None else _SCRIPTS.get(short, ())


def task_type(short: str, parameters: Mapping[str, Any]) -> TaskType:
    """The kind of task of a node in a model."""
    kind = node_types.find_type(short)
    usual = (kind.task if kind is not None else _usual_task(short)) or "service"
    operation = parameters.get("operation")
    if send_and_wait.asks_people(parameters):
        return "user"
    if usual == "send" and isinstance(operation, str) and _SENDING.match(operation) is None:
        return "service"
    return usual


def _usual_task(short: str) -> TaskType:
    return "script" if short in _SCRIPTS else "send" if short in _SENDERS else "service"
