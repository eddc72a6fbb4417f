"""The meaning of messages from n8n and from this project's client for it."""

from __future__ import annotations

import re
from typing import Literal

from orgflow_ir.plugins.engines import EngineMessage


def _make_message(
    rule: str,
    pattern: str,
    fault: Literal["model", "target", "translation", "unknown"],
    cause: str,
    fix: str,
    confidence: Literal["high", "medium", "low"] = "high",
) -> EngineMessage:
    return EngineMessage(rule, re.compile(pattern, re.IGNORECASE), fault, cause, fix, confidence)


_SERVER = "check the server's log and try again"

MESSAGES: tuple[EngineMessage, ...] = (
    # First: it quotes labels, which may be any text.
    _make_message("no-branch", r"^no branch of “", "model",
           "no branch of a gateway matches the data",
           "add a default flow or a branch for the value", "medium"),
    _make_message("no-trigger", r"has no trigger node", "model",
           "the model does not define the trigger of the process",
           "add a message or a timer to the start event"),
    _make_message("taken-path", r"conflict with one of the webhooks|url path .* already taken",
           "target", "another published workflow has the webhook path",
           "unpublish the other workflow or rename the start event"),
    _make_message("unpublished-callee", r"references workflow .* not published", "translation",
           "a called workflow is not published",
           "deploy the called workflow before its caller"),
    _make_message("missing-credential",
           r"(missing|required) credential|credentials? (is|are) not set",
           "model", "a node needs a credential that the model does not name",
           "select the credential in n8n"),
    _make_message("missing-parameter",
           r"missing or invalid required parameter|parameter .* is required",
           "model", "a node needs a setting that the model does not contain",
           "add the setting to the model or in n8n"),
    _make_message("unknown-node", r"unrecognized node type|unknown node type", "target",
           "the server does not have a node of this type",
           "install the node's package on the server, or compile for its version"),
    _make_message("refused-shape",
           r"must not have additional properties|must have required property|"
           r"request/body", "translation", "n8n's API rejects the workflow",
           "report it as a bug in the compiler"),
    _make_message("archived", r"archived workflow", "unknown",
           "somebody archived the workflow", "restore or delete it, then deploy again"),
    _make_message("refused-key", r"rejected the api key|unauthorized|forbidden", "unknown",
           "the server rejects the API key", "create a key and set N8N_API_KEY"),
    _make_message("unreachable", r"cannot reach|n8n at .* interrupted|did not respond .* in time|"
           r"starting",
           "unknown", "the server did not respond", "start the server and try again"),
    _make_message("failed-server", r"with (429|5\d\d):", "unknown", "the server failed", _SERVER),
    _make_message("missing-node-reference", r"referenced node (doesn't|does not|is) |"
           r"no node .* (exists|found)", "translation",
           "an expression refers to a node that does not exist",
           "report it as a bug in the compiler"),
    _make_message("unexecuted-reference", r"(hasn't|has not) been executed|node .* unexecuted",
           "translation", "an expression reads a node that did not run on this path",
           "guard the reference with isExecuted"),
    _make_message("broken-expression",
           r"invalid syntax|syntaxerror|unexpected token|is not defined|"
           r"is not a function|cannot read propert", "translation",
           "an expression cannot be evaluated", "report it as a bug in the compiler"),
    _make_message("wrong-type",
           r"wrong type:|is a (string|number|boolean|object) but was expecting",
           "model", "a condition compares values of different types",
           "change the step that sets the value to output the type in the condition",
           "medium"),
    _make_message("too-long", r"not finished after|timed out|timeout|canceled", "unknown",
           "the run did not end in time", "check for an endless loop, or allow more time",
           "low"),
    _make_message("out-of-memory", r"out of memory|heap limit|maximum call stack", "target",
           "n8n ran out of memory", "split the work into sub-workflows", "medium"),
    _make_message("no-connection", r"econnrefused|enotfound|etimedout|socket hang up", "unknown",
           "a service that the workflow calls did not respond", "start the service and try again"),
)  # fmt: skip
"""Messages of n8n 2.41 and of this project's client, most specific first."""
