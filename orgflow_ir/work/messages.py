"""Mails of tasks: every field is a text with embedded expressions.

Sources: Flowable's and Activiti's "Email Task", Camunda's mail connector `mail-send`, Camunda 8's
connectors for SendGrid and SMTP, jBPM's `EmailWorkItemHandler`.
"""

from __future__ import annotations

from orgflow_ir.model.bindings import Mail
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.syntax import ConditionError, Tree
from orgflow_ir.work.mappings import language_of, read_value
from orgflow_ir.work.requests import SECRET, context_entries

FIELDS = (
    "sender", "sender_name", "to", "to_name", "cc", "bcc", "reply_to", "subject", "text", "html",
)  # fmt: skip

_NAMES = {
    "fromAlias": "sender_name", "from.name": "sender_name", "to.name": "to_name",
    "replyTo": "reply_to", "Reply-To": "reply_to",
}  # fmt: skip
"""Settings with the name of who sends or receives a mail, and the address of replies."""
_HEADERS = ("headers", "data.smtpAction.headers")
_FILES = "n8n attaches files of an item, and variables are none"
_AT_RUN_TIME = "the text of the variable may have expressions, which are evaluated in the run"
_NO_ANSWER = "n8n's answer of a mail server is another one"
_OUTSIDE = "its text is not in the model"
_UNSUPPORTED = {
    **dict.fromkeys(
        ("attachments", "Attachments", "fileNames", "files", "attachments.list",
         "data.smtpAction.attachments", "smtpAction.attachments"), _FILES),
    **dict.fromkeys(("textVar", "htmlVar"), _AT_RUN_TIME),
    **dict.fromkeys(("Template", "template.id"), _OUTSIDE),
    **dict.fromkeys(("resultVariable", "resultExpression", "errorExpression"), _NO_ANSWER),
}  # fmt: skip
"""Settings of mails, and why they are not supported."""


class Message(NamedTuple):
    """One mail; a field is `None` if the source does not define it."""

    sender: Tree | None = None
    sender_name: Tree | None = None
    to: Tree | None = None
    to_name: Tree | None = None
    cc: Tree | None = None
    bcc: Tree | None = None
    reply_to: Tree | None = None
    subject: Tree | None = None
    text: Tree | None = None
    html: Tree | None = None


def read_message(mail: Mail) -> Message:
    """The mail of a binding. Raises `ConditionError` for unsupported content."""
    settings = {name: text.strip() for name, text in mail.parameters}
    for name, why in _UNSUPPORTED.items():
        if settings.get(name) and settings[name] not in ("=[]", "=null"):
            raise ConditionError(f"`{name}` is not supported: {why}")
    if settings.get("ignoreException", "").strip('="').lower() not in ("", "false"):
        raise ConditionError("`ignoreException` is not supported")
    settings |= _reply_to(next((settings[n] for n in _HEADERS if settings.get(n)), ""))
    named = {field: settings[name] for name, field in _NAMES.items() if name in settings}
    protocol = settings.get("protocol", "smtp").strip('="').lower()
    if protocol not in ("smtp", ""):
        raise ConditionError(f"the task reads mail by `{protocol}` and sends none")
    for given in mail.inputs:
        if given.language not in (None, "list", "map") and given.name in ("from", *FIELDS):
            raise ConditionError(f"{given.name} is a script, which is not supported here")
    fields: dict[str, Tree] = {}
    for name in FIELDS:
        text = named.get(name) if name in _NAMES.values() else getattr(mail, name)
        if text is None or not text.strip():
            continue
        if SECRET.search(text):
            raise ConditionError(f"{name} contains a secret, which belongs in a credential")
        try:
            text = text if name in ("text", "html") else text.strip()
            fields[name] = read_value(text, language_of(text, mail.by))
        except ConditionError as error:
            raise ConditionError(f"{name}: {error}") from None
    if not fields.keys() & {"to", "cc", "bcc"}:
        raise ConditionError("the model does not define the recipient")
    return Message(**fields)


def _reply_to(headers: str) -> dict[str, str]:
    """The setting for headers, of which n8n only has the address of replies: `Name: value` lines,
    or a context of FEEL."""
    if headers in ("", "=null", "={}"):
        return {}
    pairs = [line.partition(":")[::2] for line in headers.splitlines() if line.strip()]
    if headers.startswith("="):
        pairs = context_entries(headers) or [("", "")]
    if any(name.strip().lower() != "reply-to" for name, _ in pairs) or len(pairs) > 1:
        raise ConditionError("of the headers of a mail, only `Reply-To` is supported")
    return {"Reply-To": pairs[0][1].strip()}
