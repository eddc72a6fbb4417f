"""The options of the target: their names, their values, and why a value is not accepted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orgflow.backends.n8n.format.versions import DEFAULT_VERSION, N8nVersion

if TYPE_CHECKING:
    from orgflow_ir.pipeline import PassContext

TIMEOUT, CALLERS, ERRORS, SENDER = "timeout", "callers", "errors", "sender"
"""Options: the time limit of a run, permitted callers of its workflow, the handling of errors, and
the default sender of mails."""

INBOX = "inbox"
"""The option for the default receiver of questions: an address, a channel or user of Slack, a chat
of Teams."""

MESSAGES, REQUEST = "messages", "request"
"""The option for messages to receivers outside of the model, and its value for requests whose
address is set later; an address applies to all of them."""

PEOPLE, PLACEHOLDER = "people", "placeholder"
"""The option that selects the implementation of user tasks, and its value for no form."""

WAITS, EXECUTION = "waits", "execution"
"""The option for processes that wait in several places, and its value for processes that stay one
execution each: what waits beside other work is a placeholder, or refused."""

TRIGGER = "trigger"
"""The option that selects how a process with a none start event starts: by a page in a browser,
manually, or by a call. Without it, by a page if people fill in forms, otherwise manually."""

_MOST_SECONDS = 10 * 365 * 24 * 3600


def version_of(ctx: PassContext) -> N8nVersion:
    """The release of n8n that the workflows are for."""
    return N8nVersion.parse(str(ctx.options.get("version", DEFAULT_VERSION)))


def seconds_of(text: str) -> int | None:
    """The seconds of a time limit, an ISO 8601 duration or a number; `None` for any other text, and
    for a limit of less than a second."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        seconds = float(text[:12])
    else:
        from orgflow_ir.model.timer_values import Duration
        from orgflow_ir.model.timers import read_time

        time = read_time(text)
        exact = time.exact_seconds if isinstance(time, Duration) else None
        seconds = exact if exact is not None else 0.0
    return int(seconds) if 1 <= seconds <= _MOST_SECONDS else None


def why_no_limit(text: str) -> str | None:
    """The reason why a text is not a time limit."""
    if seconds_of(text) is not None:
        return None
    return "it is a duration of a second or more, such as `PT10M`, or a number of seconds"


def why_no_sender(text: str) -> str | None:
    """The reason why a text is not a sender address."""
    name, at, host = text.rpartition("@")
    if name and host and at and not text.startswith("=") and len(text.split()) == 1:
        return None
    return "it is an address such as `shop@acme.example`"


def why_no_inbox(text: str) -> str | None:
    """The reason why a text is not a receiver of messages."""
    if text and not text.startswith("=") and len(text.split()) == 1:
        return None
    return "it is an address, `#channel`, `@user`, or the id of a channel, user or chat"


def why_no_messages(text: str) -> str | None:
    """The reason why a text is not a setting for messages."""
    scheme, separator, rest = text.partition("://")
    if text in ("placeholder", REQUEST):
        return None
    if scheme in ("http", "https") and separator and rest.strip("/") and len(text.split()) == 1:
        return None
    return "it is `placeholder`, `request`, or an address such as `https://bus.example/messages`"
