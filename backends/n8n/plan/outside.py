"""Requests, mails and operations of tasks: their retries, and what they need of a person."""

from __future__ import annotations

from typing import assert_never

from orgflow.backends.n8n.plan.actions import Send
from orgflow.backends.n8n.plan.needs import Needs
from orgflow.backends.n8n.plan.operations import describe_operation_needs

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.timer_values import Cycle, Duration
from orgflow_ir.model.timers import read_time
from orgflow_ir.work.messages import Message
from orgflow_ir.work.operations import CatalogueOperation
from orgflow_ir.work.requests import CredentialKind, Request
from orgflow_ir.work.statements import Fail, Statement, When
from orgflow_ir.work.tasks import KEY_HEADER, is_keyed

MOST_TRIES, MOST_WAIT = 5, 5000
"""Maximum number of tries of a node in n8n, and of milliseconds between two tries."""

CREDENTIALS: dict[CredentialKind, tuple[str, str]] = {
    "basic": ("httpBasicAuth", "a user name and password"),
    "bearer": ("httpBearerAuth", "a bearer token"),
    "header": ("httpHeaderAuth", "a header"),
    "query": ("httpQueryAuth", "a query parameter"),
    "oauth2": ("oAuth2Api", "OAuth 2"),
}
"""The type of a credential, and words for it."""


def describe_needs(send: Send) -> Needs:
    """Needs of the node of a request, a mail or an operation."""
    act = send.act
    match act:
        case Message():
            missing = () if act.sender is not None or send.sender else (
                ("the sender", "set From Email in the node, `from` in the model, or compile with "
                 "n8n{sender=ADDRESS}"),
            )  # fmt: skip
            notes = ("The model does not define the sender: set From Email.",) if missing else ()
            return Needs("a mail server (SMTP)", missing, notes, lost_retries(send))
        case CatalogueOperation():
            return describe_operation_needs(act, lost_retries(send))
        case Request():
            return _describe_request_needs(act, send)
        case _:
            assert_never(act)


def _describe_request_needs(act: Request, send: Send) -> Needs:
    lost = lost_retries(send)
    if read_retries(written_retries(send)) is not None and not act.refuses and _can_fail(act.after):
        # n8n tries a node again, and what fails is the node after it.
        again = "the retries after a response with an error"
        lost = f"{lost}, and {again}" if lost else again
    notes = (describe_key(),) if is_keyed(act) else ()
    credential = ""
    if act.credential is not None:
        _, words = CREDENTIALS[act.credential.kind]
        credential = f"{words} ({act.credential.hint})" if act.credential.hint else words
    return Needs(credential, notes=notes, lost=lost)


def describe_key() -> str:
    """Note of a request with a key."""
    return (
        f"All attempts of one request have the same {KEY_HEADER}, even if a failed run is retried."
    )


def written_retries(send: Send) -> str:
    """The retries of a binding, with the pause between them, as text."""
    pause = dict(send.binding.parameters).get("retryBackoff", "")
    return f"{send.binding.retries or ''} {pause}".strip()


def lost_retries(send: Send) -> str:
    """Retries that n8n does not execute as the model states them, in words; empty without any."""
    text = written_retries(send)
    retries = read_retries(text)
    if retries is None or (retries.tries <= MOST_TRIES and retries.pause <= MOST_WAIT):
        return ""
    return f"the retries `{text}` (n8n tries {MOST_TRIES} times, 5 seconds apart)"


def _can_fail(statements: tuple[Statement, ...]) -> bool:
    """Whether a response can be a failure of the job, which is not an error of the process."""
    return any(
        (isinstance(statement, Fail) and not statement.bpmn)
        or (isinstance(statement, When) and _can_fail((*statement.then, *statement.otherwise)))
        for statement in statements
    )


class Retries(NamedTuple):
    """The number of tries, and the milliseconds between them."""

    tries: int
    pause: float


def read_retries(text: str | None) -> Retries | None:
    """`R5/PT10S`, `PT5M,PT10M`, `3`, `3 PT10S`; `None` without retries."""
    text = (text or "").strip().strip('="')
    number, _, pause = text.partition(" ")
    if number.isdigit():
        return Retries(int(number), _read_pause(pause)) if int(number) > 1 else None
    pauses = [pause_text.strip() for pause_text in text.split(",") if pause_text.strip()]
    if len(pauses) > 1:
        return Retries(len(pauses) + 1, max(_read_pause(pause_text) for pause_text in pauses))
    time = read_time(text) if text else None
    if isinstance(time, Cycle):
        count = time.repetitions
        if count is None or count < 2:
            return None
        return Retries(count, _read_pause(text.partition("/")[2]))
    return Retries(2, _read_pause(text)) if isinstance(time, Duration) else None


def _read_pause(text: str) -> float:
    time = read_time(text) if text.strip() else None
    seconds = time.exact_seconds if isinstance(time, Duration) else None
    return (seconds or 0.0) * 1000
