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
    _make_message("failed-server", r"with (429|5\d\d):", "unknown", "the server failed", _SERVER),
    # What a service answers to a node, by n8n's texts (`STATUS_CODE_MESSAGES`, `COMMON_ERRORS` of
    # n8n-workflow) or by the status that the record of the execution has.
    _make_message("too-many-requests",
           r"receiving too many requests|too many requests|rate limit|"
           r"status code 429|\(http 429\)",
           "unknown",
           "a service refuses requests because there are too many of them (429); the step did not "
           "happen",
           "let the node retry with a pause (Retry On Fail, Wait Between Tries), send fewer "
           "requests at the same time, and retry the failed executions in n8n"),
    _make_message("failed-service",
           r"not able to process your request|failed to process your request|bad gateway|"
           r"service unavailable|gateway timed out|status code 5\d\d|\(http 5\d\d\)",
           "unknown",
           "a service that the workflow calls failed (5xx); the step may have happened there or "
           "not",
           "let the node retry (Retry On Fail), and when the service works again, retry the failed "
           "executions in n8n"),
    _make_message("refused-credential",
           r"authorization failed - |forbidden - perhaps check|status code 40[13]\b|"
           r"\(http 40[13]\)",
           "unknown", "a service rejects the credential of a node (401 or 403)",
           "renew the credential in n8n, or give it the missing permission"),
    _make_message("missing-resource",
           r"resource you are requesting could not be found|status code 404|\(http 404\)",
           "model", "a service does not have what a node asks for (404)",
           "check the address and the ids that the step sends", "medium"),
    _make_message("rejected-request",
           r"bad request - please check|request is invalid or could not be processed|"
           r"method not allowed - |status code 4\d\d|\(http 4\d\d\)",
           "model", "a service rejects the data of a request (4xx)",
           "compare what the step sends with what the service expects", "medium"),
    _make_message("crashed",
           r"possible out-of-memory issue|ended as crashed|execution crashed|"
           r"node ran out of memory|"
           r"node execution failed$|runner became unresponsive",
           "target",
           "n8n itself ended during the run: its process crashed, was killed, or ran out of "
           "memory; the last step may have happened or not",
           "check n8n's log and memory, process fewer or smaller items at a time, and retry the "
           "execution in n8n after a check of its last step", "medium"),
    _make_message("shut-down", r"is shutting down|cancelled because .* shut",
           "unknown", "n8n was stopped or restarted during the run",
           "retry the execution in n8n after a check of its last step"),
    _make_message("busy-runner", r"task request timed out|not matched to a runner",
           "unknown", "n8n had no task runner free for a Code node",
           "start the task runner again, or give it more capacity, and retry the execution"),
    _make_message("run-timeout",
           r"cancelled because it timed out|task execution timed out|workflow timed out|"
           r"execution timed out",
           "unknown",
           "n8n ended the run or a Code node because it exceeded the time limit of n8n",
           "raise the timeout in the settings of the workflow (or N8N_RUNNERS_TASK_TIMEOUT for "
           "Code nodes), or check for a loop without end"),
    _make_message("service-timeout",
           r"connection timed out|timeout of \d+ ?ms exceeded|esockettimedout|etimedout|"
           r"connection was aborted",
           "unknown",
           "a service did not answer in time; the step may have happened there or not",
           "raise the timeout of the node, let it retry (Retry On Fail), and retry the failed "
           "executions in n8n"),
    _make_message("unknown-host", r"connection cannot be established|enotfound|eai_again|"
           r"dns server returned",
           "model", "the host of an address does not exist",
           "correct the address that the step calls, or the network of n8n's server"),
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
    _make_message("no-connection",
           r"econnrefused|econnreset|socket hang up|refused the connection|"
           r"closed (the connection )?unexpectedly|host is unreachable", "unknown",
           "a service that the workflow calls did not respond", "start the service and try again"),
)  # fmt: skip
"""Messages of n8n 2.41 and of this project's client, most specific first."""
