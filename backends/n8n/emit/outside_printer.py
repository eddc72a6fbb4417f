"""Requests and mails of tasks as n8n nodes, whose parameters read the values that the task
composed."""

from __future__ import annotations

from typing import Any, assert_never

from orgflow.backends.javascript.literals import js_string
from orgflow.backends.javascript.operation_functions import form_text
from orgflow.backends.n8n.emit.operation_printer import print_operation
from orgflow.backends.n8n.emit.printed import Printed
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.node_types.execute_workflow import INSTANCE
from orgflow.backends.n8n.plan.actions import Send, SendMessage
from orgflow.backends.n8n.plan.outside import (
    CREDENTIALS,
    MOST_TRIES,
    MOST_WAIT,
    read_retries,
    written_retries,
)

from orgflow_ir.program.syntax import Constant, Tree
from orgflow_ir.work.messages import Message
from orgflow_ir.work.operations import CatalogueOperation
from orgflow_ir.work.requests import Request
from orgflow_ir.work.tasks import KEY_HEADER, SENT, is_keyed

_BODY = (
    "JSON.stringify(({{ {kind}: {name}, data: Object.fromEntries("
    "Object.entries($json).filter((one) => !{hidden}.includes(one[0]))) }}))"
)
"""The code of the sent data: the name of the message or signal and all process variables."""


def print_send(send: Send) -> Printed:
    """The node of a request, mail or operation."""
    act, switches = send.act, _print_retries(send)
    match act:
        case Message():
            return Printed("emailSend", _print_mail(act, send.sender), switches)
        case CatalogueOperation():
            return print_operation(act, switches)
        case Request():
            return Printed("httpRequest", _print_request(act, send.concluded), switches)
        case _:
            assert_never(act)


def print_send_message(send: SendMessage) -> Printed:
    """The request that sends a message or signal."""
    assert isinstance(send.act, Request)
    parameters = _print_request(send.act, read=False)
    hidden = f"[{js_string(SENT)}, {js_string(INSTANCE)}]"
    body = _BODY.format(kind=send.kind, name=js_string(send.name), hidden=hidden)
    parameters.update(
        sendBody=True,
        contentType="raw",
        rawContentType="application/json",
        body=make_expression(body),
    )
    return Printed("httpRequest", parameters)


def _print_retries(send: Send) -> dict[str, Any]:
    """The settings of the node for the retries of a binding."""
    retries = read_retries(written_retries(send))
    if retries is None:
        return {}
    switches: dict[str, Any] = {"retryOnFail": True, "maxTries": min(retries.tries, MOST_TRIES)}
    if retries.pause:
        switches["waitBetweenTries"] = round(min(retries.pause, MOST_WAIT))
    return switches


def _read_field(path: tuple[str, ...]) -> str:
    """The code that reads what the task composed."""
    code = f"$json.{SENT}.{path[0]}"
    return code if len(path) == 1 else f"{code}[{js_string(path[1])}]"


def _write_literal(text: str) -> str:
    """A parameter that is this text, whatever it looks like."""
    return f"={{{{ {js_string(text)} }}}}" if text.startswith("=") else text


def _write_value(path: tuple[str, ...], tree: Tree, code: str = "{}") -> str:
    """A parameter: the text, or an expression that reads it."""
    if isinstance(tree, Constant) and isinstance(tree.value, str):
        return _write_literal(tree.value)
    return f"={{{{ {code.format(_read_field(path))} }}}}"


# -- requests --------------------------------------------------------------------------------------


def _print_request(act: Request, read: bool) -> dict[str, Any]:
    """The parameters of a request; `read` is whether the next node reads the answer."""
    parameters: dict[str, Any] = {"method": act.method, "url": _write_value(("url",), act.url)}
    headers = [(n, _write_value(("headers", n), t)) for n, t in act.headers]
    if act.credential is not None:
        kind, _ = CREDENTIALS[act.credential.kind]
        parameters |= {"authentication": "genericCredentialType", "genericAuthType": kind}
    key = f"$json.{SENT}.key" if is_keyed(act) else ""
    parameters |= _write_pairs("header", "headers", headers, act.all_headers, act.headers, key)
    query = [(n, _write_value(("query", n), t)) for n, t in act.query]
    parameters |= _write_pairs("query", "query", query, act.all_query, act.query, "")
    if act.body is not None:
        parameters |= {
            "sendBody": True,
            "contentType": "raw",
            "rawContentType": _write_value(("type",), act.media)
            if act.media is not None
            else act.content or "application/json",
            "body": _write_value(("body",), act.body, _write_body(act.content)),
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
    return parameters


def _write_body(media: str) -> str:
    """The code for a body of this type: a text as it is, a value as a form or as JSON."""
    kind = media.partition(";")[0].strip().lower()
    code = form_text() if kind == "application/x-www-form-urlencoded" else "JSON.stringify(v)"
    return f"((v) => typeof v === 'string' ? v : {code})({{}})"


def _write_pairs(
    singular: str,
    many: str,
    pairs: list[tuple[str, str]],
    whole: Tree | None,
    trees: tuple[tuple[str, Tree], ...],
    key: str,
) -> dict[str, Any]:
    """Parameters that send headers or a query. `whole` is an object of all, which `pairs` go
    over."""
    big = singular.capitalize()
    if whole is not None:
        given = [f"{js_string(KEY_HEADER)}: {key}"] if key else []
        given.append(f"...{_read_field((many,))}")
        for name, tree in trees:
            constant = isinstance(tree, Constant) and isinstance(tree.value, str)
            code = js_string(str(tree.value)) if constant else _read_field((f"{many}Given", name))  # type: ignore[union-attr]
            given.append(f"{js_string(name)}: {code}")
        plural = "Headers" if singular == "header" else "Query"
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
    switch = "sendHeaders" if singular == "header" else f"send{big}"
    return {switch: True, f"{singular}Parameters": {"parameters": rows}}


# -- mails -----------------------------------------------------------------------------------------

_ADDRESSES = "[].concat({}).join(', ')"
"""A text with addresses, or a list of them."""


def _write_address(
    field: str, tree: Tree, name_field: str, name: Tree | None, code: str = "{}"
) -> str:
    """The parameter for an address, with the name of whose it is if the model has one."""
    if name is None:
        return _write_value((field,), tree, code)
    if isinstance(tree, Constant) and isinstance(name, Constant):
        quoted = str(name.value).replace("\\", "\\\\").replace('"', '\\"')
        return _write_literal(f'"{quoted}" <{tree.value}>')
    parts = [
        js_string(str(text.value))
        if isinstance(text, Constant)
        else form.format(_read_field(where))
        for text, where, form in ((name, (name_field,), "{}"), (tree, (field,), code))
    ]
    return f"={{{{ JSON.stringify(String({parts[0]})) + ' <' + {parts[1]} + '>' }}}}"


def _print_mail(act: Message, sender: str) -> dict[str, Any]:
    if act.sender is not None:
        sender = _write_address("sender", act.sender, "sender_name", act.sender_name)
    to = act.to or act.cc or act.bcc
    assert to is not None
    main = "to" if act.to is not None else ("cc" if act.cc is not None else "bcc")
    has_text, has_html = act.text is not None, act.html is not None
    parameters: dict[str, Any] = {
        "fromEmail": sender,
        "toEmail": _write_address(
            main, to, "to_name", act.to_name if main == "to" else None, _ADDRESSES
        ),
        "subject": "" if act.subject is None else _write_value(("subject",), act.subject),
        "emailFormat": "both" if has_text and has_html else "html" if has_html else "text",
    }
    if act.text is not None:
        parameters["text"] = _write_value(("text",), act.text)
    if act.html is not None:
        parameters["html"] = _write_value(("html",), act.html)
    options: dict[str, Any] = {"appendAttribution": False}
    for name, tree, field in (
        ("cc", act.cc, "ccEmail"), ("bcc", act.bcc, "bccEmail"),
        ("reply_to", act.reply_to, "replyTo"),
    ):  # fmt: skip
        if tree is not None and name != main:
            options[field] = _write_value((name,), tree, _ADDRESSES)
    parameters["options"] = options
    return parameters
