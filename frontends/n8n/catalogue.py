"""What the types of n8n's nodes are: triggers, sub-nodes, and the kinds of tasks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from orgflow.backends.n8n import node_types
from orgflow.backends.n8n.node_types.node_type import Start

from orgflow_ir.model import TaskType

BASE = "n8n-nodes-base"
LANGCHAIN = "@n8n/n8n-nodes-langchain"
KNOWN_PACKAGES = frozenset({BASE, LANGCHAIN})

_STARTS: Mapping[str, Start] = {
    "start": "manual", "manualChatTrigger": "manual", "evaluationTrigger": "manual",
    "cron": "schedule", "interval": "schedule",
}  # fmt: skip
"""Triggers that are not in `node_types` and start other than by a message."""

_SUB_NODE = re.compile(
    r"(lm[A-Z]|embeddings|memory(?!Manager)|tool[A-Z]|outputParser|textSplitter|document[A-Z]"
    r"|retriever|reranker|vectorStore|modelSelector).*|.+(?<!\.)Tool"
)
"""Types of langchain's sub-nodes, and of tools made of other nodes (`slackTool`)."""

_SCRIPTS = {
    "function": ("functionCode",),
    "functionItem": ("functionCode",),
    "aiTransform": ("jsCode",),
}
"""Types that are not in `node_types` and run code, with its parameters."""

_SENDERS = frozenset(
    {
        "awsSes", "awsSns", "chat", "discord", "gmail", "gotify", "googleChat", "line",
        "mailgun", "mailjet", "mandrill", "matrix", "mattermost", "messageBird", "microsoftOutlook",
        "microsoftTeams", "mocean", "msg91", "mqtt", "plivo", "pushbullet", "pushcut", "pushover",
        "rabbitmq", "rocketchat", "sendGrid", "sendInBlue", "signl4", "sms77",
        "slack", "telegram", "twilio", "vonage", "webex", "whatsApp", "zulip",
    }
)  # fmt: skip
_SENDING = re.compile(r"(send|post|reply|push|publish|create$)", re.IGNORECASE)
_PLACEHOLDER = re.compile(
    r"^Placeholder for a (?:(user|manual|service|script|send|receive|business rule) )?task:",
    re.MULTILINE,
)
"""What our own backend writes into the notes of a placeholder."""


def split_type(full: str) -> tuple[str, str]:
    """Package and type: `("n8n-nodes-base", "if")`; without a dot there is no package."""
    package, _, short = full.rpartition(".")
    return package, short


def known_short(full: str) -> str:
    """`if` for `n8n-nodes-base.if`; empty for nodes of packages that do not come with n8n."""
    package, short = split_type(full)
    return short if package in KNOWN_PACKAGES else ""


def start_of(short: str) -> Start:
    """What starts a run at a trigger of this type."""
    kind = node_types.of(short)
    return (kind.start if kind is not None else None) or _STARTS.get(short, "message")


def looks_like_sub_node(full: str) -> bool:
    """Whether nodes of this type serve others (a model, a tool, a memory), by its name."""
    _, short = split_type(full)
    return _SUB_NODE.fullmatch(short) is not None


def script_of(short: str, parameters: Mapping[str, Any]) -> str | None:
    """The code of a node that runs code."""
    kind = node_types.of(short)
    for name in kind.scripts if kind is not None else _SCRIPTS.get(short, ()):
        if isinstance(parameters.get(name), str):
            return str(parameters[name])
    return None


def task_type(short: str, parameters: Mapping[str, Any], notes: str) -> TaskType:
    """What kind of task a node is. A placeholder of ours is of the kind that its note says."""
    if short in ("noOp", "set"):
        said = _PLACEHOLDER.search(notes)
        if said is not None:
            return _TASK_TYPES[said[1] or "abstract"]
        return "abstract" if short == "noOp" else "service"
    kind = node_types.of(short)
    usual = (kind.task if kind is not None else _usual_task(short)) or "service"
    operation = parameters.get("operation")
    if operation == "sendAndWait":
        return "user"
    if usual == "send" and isinstance(operation, str) and _SENDING.match(operation) is None:
        return "service"
    return usual


def _usual_task(short: str) -> TaskType:
    """What kind of task a type is that is not in `node_types`."""
    return "script" if short in _SCRIPTS else "send" if short in _SENDERS else "service"


_TASK_TYPES: dict[str, TaskType] = {
    "abstract": "abstract", "user": "user", "manual": "manual", "service": "service",
    "script": "script", "send": "send", "receive": "receive", "business rule": "business-rule",
}  # fmt: skip
