"""What the types of n8n's nodes are: triggers, sub-nodes, and the kinds of tasks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from orgflow.backends.n8n.format.document import is_trigger

from orgflow_ir.model import TaskType

BASE = "n8n-nodes-base"
LANGCHAIN = "@n8n/n8n-nodes-langchain"
KNOWN_PACKAGES = frozenset({BASE, LANGCHAIN})

NONE_STARTS = frozenset(
    {"manualTrigger", "executeWorkflowTrigger", "start", "manualChatTrigger", "evaluationTrigger"}
)
"""Triggers that a person or a calling workflow pulls: nothing comes in from outside."""

SCHEDULES = frozenset({"scheduleTrigger", "cron", "interval"})

_OTHER_TRIGGERS = frozenset({"cron", "interval", "start", "emailReadImap"})
"""Triggers of n8n's own packages whose names do not say so."""

_SUB_NODE = re.compile(
    r"(lm[A-Z]|embeddings|memory(?!Manager)|tool[A-Z]|outputParser|textSplitter|document[A-Z]"
    r"|retriever|reranker|vectorStore|modelSelector).*|.+(?<!\.)Tool"
)
"""Types of langchain's sub-nodes, and of tools made of other nodes (`slackTool`)."""

_SCRIPTS = {
    "code": ("jsCode", "pythonCode"),
    "function": ("functionCode",),
    "functionItem": ("functionCode",),
    "aiTransform": ("jsCode",),
}
_SENDERS = frozenset(
    {
        "awsSes", "awsSns", "chat", "discord", "emailSend", "gmail", "gotify", "googleChat", "line",
        "mailgun", "mailjet", "mandrill", "matrix", "mattermost", "messageBird", "microsoftOutlook",
        "microsoftTeams", "mocean", "msg91", "mqtt", "plivo", "pushbullet", "pushcut", "pushover",
        "rabbitmq", "respondToWebhook", "rocketchat", "sendGrid", "sendInBlue", "signl4", "sms77",
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


def starts(node: Mapping[str, Any]) -> bool:
    """Whether a run can start at this node."""
    full = node.get("type")
    if not isinstance(full, str):
        return False
    package, short = split_type(full)
    return is_trigger(node) or (package == BASE and short in _OTHER_TRIGGERS)


def looks_like_sub_node(full: str) -> bool:
    """Whether nodes of this type serve others (a model, a tool, a memory), by its name."""
    _, short = split_type(full)
    return _SUB_NODE.fullmatch(short) is not None


def script_of(short: str, parameters: Mapping[str, Any]) -> str | None:
    """The code of a node that runs code."""
    for name in _SCRIPTS.get(short, ()):
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
    operation = parameters.get("operation")
    if operation == "sendAndWait" or short in ("form", "wait"):
        return "user"
    if short in _SCRIPTS:
        return "script"
    sends = not isinstance(operation, str) or _SENDING.match(operation) is not None
    return "send" if short in _SENDERS and sends else "service"


_TASK_TYPES: dict[str, TaskType] = {
    "abstract": "abstract", "user": "user", "manual": "manual", "service": "service",
    "script": "script", "send": "send", "receive": "receive", "business rule": "business-rule",
}  # fmt: skip
