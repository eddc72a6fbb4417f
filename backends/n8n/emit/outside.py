"""Requests and mails of tasks as n8n nodes, whose parameters read the values that the task
composed."""

from __future__ import annotations

import re
from typing import Any

from orgflow.backends.javascript.literals import js_string
from orgflow.backends.javascript.operation_functions import form_text

from orgflow_ir.model.bindings import AnyBinding
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.timer_values import Cycle, Duration
from orgflow_ir.model.timers import read_time
from orgflow_ir.program.syntax import Constant, Tree
from orgflow_ir.work.messages import Message
from orgflow_ir.work.operations import CatalogueOperation
from orgflow_ir.work.requests import CredentialKind, Request
from orgflow_ir.work.statements import Fail, Statement, When
from orgflow_ir.work.tasks import KEY_HEADER, SENT, Act, is_keyed

MOST_TRIES, MOST_WAIT = 5, 5000
"""Maximum number of tries of a node in n8n, and of milliseconds between two tries."""

_CREDENTIALS: dict[CredentialKind, tuple[str, str]] = {
    "basic": ("httpBasicAuth", "a user name and password"),
    "bearer": ("httpBearerAuth", "a bearer token"),
    "header": ("httpHeaderAuth", "a header"),
    "query": ("httpQueryAuth", "a query parameter"),
    "oauth2": ("oAuth2Api", "OAuth 2"),
}
_LEFT = re.compile(r"\W+")


class OutsideNode(NamedTuple):
    """A node with an external effect.

    Attributes: type, parameters: its definition. more: its switches, such as the number of tries.
        credential: the type of its credential, and a description. settings: required values that
        are missing, with the way to set them. notes: further information about it. lost: parts of
        the model that n8n does not execute. version: the version of its type, if it differs from
        the default.
    """

    type: str
    parameters: dict[str, Any]
    more: dict[str, Any]
    credential: tuple[str, str] | None = None
    notes: tuple[str, ...] = ()
    lost: str = ""
    settings: tuple[tuple[str, str], ...] = ()
    version: float | None = None


def outside_node(
    act: Act, binding: AnyBinding, sender: str, after: tuple[Statement, ...] = ()
) -> OutsideNode:
    """The node of the request, mail or operation of a binding; `sender` is the
    default sender of mails, if any, and `after` contains the statements that follow it."""
    pause = dict(binding.parameters).get("retryBackoff", "")
    retries = f"{binding.retries or ''} {pause}".strip()
    tries = read_retries(retries)
    more, lost = ({}, "") if tries is None else _retrying(tries, retries)
    if isinstance(act, Message):
        return _mail(act, more, lost, sender)
    if isinstance(act, CatalogueOperation):
        from orgflow.backends.n8n.emit.filled import filled_node

        return filled_node(act, more, lost)
    if tries is not None and not act.refuses and _fails(act.after):
        # n8n tries a node again, and what fails is the node after it.
        again = "the retries after a response with an error"
        lost = f"{lost}, and {again}" if lost else again
    return _request(act, more, lost, bool(after))


def _fails(statements: tuple[Statement, ...]) -> bool:
    """Whether a response can be a failure of the job, which is not an error of the process."""
    return any(
        (isinstance(one, Fail) and not one.bpmn)
        or (isinstance(one, When) and _fails((*one.then, *one.otherwise)))
        for one in statements
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
        return Retries(int(number), _pause(pause)) if int(number) > 1 else None
    pauses = [one.strip() for one in text.split(",") if one.strip()]
    if len(pauses) > 1:
        return Retries(len(pauses) + 1, max(_pause(one) for one in pauses))
    time = read_time(text) if text else None
    if isinstance(time, Cycle):
        count = time.repetitions
        if count is None or count < 2:
            return None
        return Retries(count, _pause(text.partition("/")[2]))
    return Retries(2, _pause(text)) if isinstance(time, Duration) else None


def _pause(text: str) -> float:
    time = read_time(text) if text.strip() else None
    seconds = time.exact_seconds if isinstance(time, Duration) else None
    return (seconds or 0.0) * 1000


def _retrying(retries: Retries, text: str) -> tuple[dict[str, Any], str]:
    more: dict[str, Any] = {"retryOnFail": True, "maxTries": min(retries.tries, MOST_TRIES)}
    if retries.pause:
        more["waitBetweenTries"] = round(min(retries.pause, MOST_WAIT))
    if retries.tries > MOST_TRIES or retries.pause > MOST_WAIT:
        return more, f"the retries `{text}` (n8n tries {MOST_TRIES} times, 5 seconds apart)"
    return more, ""


def _field(path: tuple[str, ...]) -> str:
    """The code that reads what the task composed."""
    code = f"$json.{SENT}.{path[0]}"
    return code if len(path) == 1 else f"{code}[{js_string(path[1])}]"


def _literal(text: str) -> str:
    """A parameter that is this text, whatever it looks like."""
    return f"={{{{ {js_string(text)} }}}}" if text.startswith("=") else text


def _value(path: tuple[str, ...], tree: Tree, code: str = "{}") -> str:
    """A parameter: the text, or an expression that reads it."""
    if isinstance(tree, Constant) and isinstance(tree.value, str):
        return _literal(tree.value)
    return f"={{{{ {code.format(_field(path))} }}}}"


def request_key(act: Act | None, element: str) -> str:
    """The code for the key of a request, which is computed before it is sent: n8n keeps it if a
    person retries a failed run, which then has another number. Empty where it needs none."""
    if act is None or not is_keyed(act):
        return ""
    where = _LEFT.sub("-", element)
    return f"`${{$workflow.id}}-${{$execution.id}}-${{{js_string(where)}}}-${{$runIndex}}`"


# -- requests --------------------------------------------------------------------------------------


def _request(act: Request, more: dict[str, Any], lost: str, read: bool) -> OutsideNode:
    """The node of a request; `read` is whether the next node reads the answer."""
    parameters: dict[str, Any] = {"method": act.method, "url": _value(("url",), act.url)}
    headers = [(n, _value(("headers", n), t)) for n, t in act.headers]
    notes = []
    credential = None
    if act.credential is not None:
        kind, words = _CREDENTIALS[act.credential.kind]
        credential = (kind, f"{words} ({act.credential.hint})" if act.credential.hint else words)
        parameters |= {"authentication": "genericCredentialType", "genericAuthType": kind}
    key = ""
    if is_keyed(act):
        key = f"$json.{SENT}.key"
        notes.append(
            f"All attempts of one request have the same {KEY_HEADER}, even if a failed run is "
            "retried."
        )
    parameters |= _pairs("header", "headers", headers, act.all_headers, act.headers, key)
    query = [(n, _value(("query", n), t)) for n, t in act.query]
    parameters |= _pairs("query", "query", query, act.all_query, act.query, "")
    if act.body is not None:
        parameters |= {
            "sendBody": True,
            "contentType": "raw",
            "rawContentType": _value(("type",), act.media)
            if act.media is not None
            else act.content or "application/json",
            "body": _value(("body",), act.body, _written(act.content)),
        }
    # As a file the answer is what the server has sent: n8n parses JSON, replaces an empty or wrong
    # one by an empty object, and has no text of other types.
    response = {
        "fullResponse": True, "neverError": not act.refuses,
        "responseFormat": "file" if read else "autodetect",
    }  # fmt: skip
    options: dict[str, Any] = {"response": {"response": response}}
    if act.seconds is not None:
        options["timeout"] = round(act.seconds * 1000)
    if act.all_query is not None:
        options["queryParameterArrays"] = "repeat"
    if not act.redirects:
        options["redirect"] = {"redirect": {"followRedirects": False}}
    parameters["options"] = options
    return OutsideNode("httpRequest", parameters, more, credential, tuple(notes), lost)


def _written(media: str) -> str:
    """The code for a body of this type: a text as it is, a value as a form or as JSON."""
    kind = media.partition(";")[0].strip().lower()
    code = form_text() if kind == "application/x-www-form-urlencoded" else "JSON.stringify(v)"
    return f"((v) => typeof v === 'string' ? v : {code})({{}})"


def _pairs(
    one: str,
    many: str,
    pairs: list[tuple[str, str]],
    whole: Tree | None,
    trees: tuple[tuple[str, Tree], ...],
    key: str,
) -> dict[str, Any]:
    """Parameters that send headers or a query. `whole` is an object of all, which `pairs` go
    over."""
    big = one.capitalize()
    if whole is not None:
        given = [f"{js_string(KEY_HEADER)}: {key}"] if key else []
        given.append(f"...{_field((many,))}")
        for name, tree in trees:
            constant = isinstance(tree, Constant) and isinstance(tree.value, str)
            code = js_string(str(tree.value)) if constant else _field((f"{many}Given", name))  # type: ignore[union-attr]
            given.append(f"{js_string(name)}: {code}")
        plural = "Headers" if one == "header" else "Query"
        return {
            f"send{plural}": True,
            f"specify{plural}": "json",
            f"json{plural}": f"={{{{ JSON.stringify(({{ {', '.join(given)} }})) }}}}",
        }
    rows = [{"name": name, "value": value} for name, value in pairs]
    if key:
        rows.append({"name": KEY_HEADER, "value": f"={{{{ {key} }}}}"})
    if not rows:
        return {}
    switch = "sendHeaders" if one == "header" else f"send{big}"
    return {switch: True, f"{one}Parameters": {"parameters": rows}}


# -- mails -----------------------------------------------------------------------------------------

_ADDRESSES = "[].concat({}).join(', ')"
"""A text with addresses, or a list of them."""


def _address(field: str, tree: Tree, name_field: str, name: Tree | None, code: str = "{}") -> str:
    """The parameter for an address, with the name of whose it is if the model has one."""
    if name is None:
        return _value((field,), tree, code)
    if isinstance(tree, Constant) and isinstance(name, Constant):
        quoted = str(name.value).replace("\\", "\\\\").replace('"', '\\"')
        return _literal(f'"{quoted}" <{tree.value}>')
    parts = [
        js_string(str(one.value)) if isinstance(one, Constant) else form.format(_field(where))
        for one, where, form in ((name, (name_field,), "{}"), (tree, (field,), code))
    ]
    return f"={{{{ JSON.stringify(String({parts[0]})) + ' <' + {parts[1]} + '>' }}}}"


def _mail(act: Message, more: dict[str, Any], lost: str, sender: str) -> OutsideNode:
    if act.sender is not None:
        sender = _address("sender", act.sender, "sender_name", act.sender_name)
    notes = () if sender else ("The model does not define the sender: set From Email.",)
    settings = () if sender else (("the sender", "set From Email in the node, `from` in the "
                                   "model, or compile with n8n{sender=ADDRESS}"),)  # fmt: skip
    to = act.to or act.cc or act.bcc
    assert to is not None
    main = "to" if act.to is not None else ("cc" if act.cc is not None else "bcc")
    has_text, has_html = act.text is not None, act.html is not None
    parameters: dict[str, Any] = {
        "fromEmail": sender,
        "toEmail": _address(main, to, "to_name", act.to_name if main == "to" else None, _ADDRESSES),
        "subject": "" if act.subject is None else _value(("subject",), act.subject),
        "emailFormat": "both" if has_text and has_html else "html" if has_html else "text",
    }
    if act.text is not None:
        parameters["text"] = _value(("text",), act.text)
    if act.html is not None:
        parameters["html"] = _value(("html",), act.html)
    options: dict[str, Any] = {"appendAttribution": False}
    for name, tree, field in (
        ("cc", act.cc, "ccEmail"), ("bcc", act.bcc, "bccEmail"),
        ("reply_to", act.reply_to, "replyTo"),
    ):  # fmt: skip
        if tree is not None and name != main:
            options[field] = _value((name,), tree, _ADDRESSES)
    parameters["options"] = options
    return OutsideNode(
        "emailSend", parameters, more, ("smtp", "a mail server (SMTP)"), notes, lost, settings
    )
