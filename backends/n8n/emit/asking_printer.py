"""Nodes that send a mail, or write in Slack or Teams, with a link to the form of a task, and wait
for the answer."""

from __future__ import annotations

import html
import re
from typing import Any, cast

from orgflow.backends.javascript.literals import js_string
from orgflow.backends.n8n.emit.form_code import describe_task, form_rows, form_title
from orgflow.backends.n8n.emit.printed import Printed
from orgflow.backends.n8n.node_types import send_and_wait
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.plan.actions import AskByMessage
from orgflow.backends.n8n.plan.asking import (
    Channel,
    find_computed_address,
    find_fixed_address,
    find_slack_user,
    is_slack_user,
)
from orgflow.backends.n8n.plan.references import quote_node
from orgflow.backends.n8n.plan.target_options import INBOX, SENDER

from orgflow_ir.pipeline import PassContext
from orgflow_ir.work.people import ABOUT, About

_TYPES: dict[Channel, str] = {
    "mail": "emailSend", "slack": "slack", "teams": "microsoftTeams",
}  # fmt: skip

_SLACK_PLACE = re.compile(r"[CGD][A-Z0-9]{5,}")


def print_question(asks: AskByMessage, ctx: PassContext) -> Printed:
    """The node that asks a person."""
    task, form, page = asks.task, asks.form, asks.page
    by = cast(Channel, form.by)
    inbox = str(ctx.options.get(INBOX, ""))
    title = form_title(task)
    description = describe_task(task, form, page, sent=True)
    escaped_once = html.escape(title, quote=False)  # n8n takes one level away
    escaped_twice = html.escape(escaped_once, quote=False)
    target: dict[str, Any]
    match by:
        case "mail":
            to = _write_address(page.about, page.inputs, inbox)
            sender = str(ctx.options.get(SENDER, ""))
            target = {"fromEmail": sender, "toEmail": to, "subject": escaped_once}
        case "slack":
            user = find_slack_user(page.about)
            target = {"resource": "message", **_slack_target(user or inbox)}
        case "teams":
            target = {"resource": "chatMessage", "chatId": _make_locator("id", inbox)}
    fields = form_rows(form, page)
    options: dict[str, Any] = {"responseFormTitle": title}
    shown = describe_task(task, form, page)
    if shown:
        options["responseFormDescription"] = shown
    options |= {"messageButtonLabel": "Open the form", "appendAttribution": False}
    parameters = {
        "operation": send_and_wait.OPERATION,
        **target,
        "message": description
        if by == "mail"
        else _write_titled_message(escaped_twice, description),
        "responseType": "customForm",
        **({"formFields": {"values": fields}} if fields else {}),
        "options": options,
    }
    if not parameters["message"]:
        parameters["message"] = escaped_twice
    if by == "teams":
        parameters["message"] = _with_breaks(parameters["message"])
    return Printed(_TYPES[by], parameters)


def _write_titled_message(title: str, description: str) -> str:
    """A message that has no subject of its own."""
    if not description.startswith("="):
        return f"{title}\n\n{description}" if description else title
    code = description.removeprefix("={{").removesuffix("}}").strip()
    return make_expression(f'[{js_string(title)}, {code}].filter((o) => o !== "").join("\\n\\n")')


def _with_breaks(message: str) -> str:
    """A message in HTML, where the end of a line is a space; n8n turns `<br>` into one."""
    if not message.startswith("="):
        return message.replace("\n", "<br/>")
    code = message.removeprefix("={{").removesuffix("}}").strip()
    return make_expression(f'({code}).replace(/\\n/g, "<br/>")')


def _write_address(about: About | None, inputs: str, inbox: str) -> str:
    """Who gets a mail: the assignee, else the candidates, where they are addresses; else the
    setting."""
    if about is None:
        return inbox
    first = find_computed_address(about)
    if not first:
        return find_fixed_address(about, inbox)
    node = f"$({quote_node(inputs)}).first().json.{ABOUT}"
    return make_expression(
        f'((v) => v.includes("@") ? v : {js_string(find_fixed_address(about, inbox))})'
        f'([].concat(({node} ?? {{}}).{first} ?? "").join(", "))'
    )


def _slack_target(inbox: str) -> dict[str, Any]:
    if inbox.startswith("@"):
        return {"select": "user", "user": _make_locator("username", inbox)}
    if is_slack_user(inbox):
        return {"select": "user", "user": _make_locator("id", inbox)}
    mode = "id" if not inbox or _SLACK_PLACE.fullmatch(inbox) else "name"
    return {"select": "channel", "channelId": _make_locator(mode, inbox)}


def _make_locator(mode: str, value: str) -> dict[str, Any]:
    return {"__rl": True, "mode": mode, "value": value}
