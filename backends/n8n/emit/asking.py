"""User tasks whose person is asked by a message: nodes that send a mail, or write in Slack or
Teams, with a link to the form of the task, and wait for the answer."""

from __future__ import annotations

import html
import re
from typing import Any, Literal, NamedTuple, cast

from orgflow.backends.javascript.literals import js_string
from orgflow.backends.n8n.emit import forms
from orgflow.backends.n8n.emit.names import plain
from orgflow.backends.n8n.emit.references import quote_node
from orgflow.backends.n8n.node_types import send_and_wait
from orgflow.backends.n8n.node_types.conditions import make_expression
from orgflow.backends.n8n.plan.target_options import INBOX, SENDER

from orgflow_ir.model import Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.program import java_operators, methods
from orgflow_ir.program.syntax import Call, Constant
from orgflow_ir.work.people import ABOUT, About
from orgflow_ir.work.statements import Compose, Fail, When

Channel = Literal["mail", "slack", "teams"]

CHANNELS: dict[Channel, tuple[str, str, str]] = {
    "mail": ("emailSend", "smtp", "a mail server (SMTP)"),
    "slack": ("slack", "slackApi", "access to Slack"),
    "teams": ("microsoftTeams", "microsoftTeamsOAuth2Api", "access to Microsoft Teams"),
}
"""The type of the node and of its credential, with words for it."""

_SLACK_USER = re.compile(r"[UW][A-Z0-9]{5,}")
_SLACK_PLACE = re.compile(r"[CGD][A-Z0-9]{5,}")


class AskingNode(NamedTuple):
    """The node that asks the person.

    Attributes: type, parameters: its definition. credential: its credential, in words. settings:
        missing settings, with the way to set them.
    """

    type: str
    parameters: dict[str, Any]
    credential: str
    settings: tuple[tuple[str, str], ...]


def asking_node(
    channel: str, task: Task, form: forms.TaskForm, page: forms.Page, ctx: PassContext
) -> AskingNode:
    """The node of a task whose person is asked through a channel."""
    by = cast(Channel, channel)
    type, _, credential = CHANNELS[by]
    inbox = str(ctx.options.get(INBOX, ""))
    title = forms.title(task)
    description = forms.description(task, form, page, sent=True)
    said_once = html.escape(title, quote=False)  # n8n takes one level away
    said_twice = html.escape(said_once, quote=False)
    settings: list[tuple[str, str]] = []
    target: dict[str, Any]
    match by:
        case "mail":
            sender = str(ctx.options.get(SENDER, ""))
            if not sender:
                settings.append(
                    ("the sender of its mail", "set From Email in the node, or compile with "
                     "n8n{sender=ADDRESS}")
                )  # fmt: skip
            to = _address(page.said, page.inputs, inbox)
            if not to or (not inbox and to.startswith("=")):
                settings.append(
                    ("the recipient of its mail", "set To Email in the node, an address as "
                        "assignee in the model, or compile with "
                     "n8n{inbox=ADDRESS}")
                )  # fmt: skip
            target = {"fromEmail": sender, "toEmail": to, "subject": said_once}
        case "slack":
            user = _slack_user(page.said)
            if not (user or inbox):
                settings.append(
                    ("the recipient of its message in Slack",
                     "set the channel or user in the node, or compile with n8n{inbox=CHANNEL}")
                )  # fmt: skip
            target = {"resource": "message", **_slack_target(user or inbox)}
        case "teams":
            if not inbox:
                settings.append(
                    ("the recipient of its message in Teams", "set the chat in the node, or "
                        "compile with n8n{inbox=CHAT}"
                     "")
                )  # fmt: skip
            target = {"resource": "chatMessage", "chatId": _locator("id", inbox)}
    fields = forms.rows_of(form, page)
    options: dict[str, Any] = {"responseFormTitle": title}
    shown = forms.description(task, form, page)
    if shown:
        options["responseFormDescription"] = shown
    options |= {"messageButtonLabel": "Open the form", "appendAttribution": False}
    parameters = {
        "operation": send_and_wait.OPERATION,
        **target,
        "message": description if by == "mail" else _titled(said_twice, description),
        "responseType": "customForm",
        **({"formFields": {"values": fields}} if fields else {}),
        "options": options,
    }
    if not parameters["message"]:
        parameters["message"] = said_twice
    if by == "teams":
        parameters["message"] = _with_breaks(parameters["message"])
    return AskingNode(type, parameters, credential, tuple(settings))


def _titled(title: str, description: str) -> str:
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


_ADDRESSED = ("assignee", "candidate_users")


def _fixed_address(said: About, inbox: str) -> str:
    """The addresses that the model has as they are, else the setting."""
    found = (said.fixed.get(name, "").strip() for name in _ADDRESSED)
    return next((plain(t) for t in found if "@" in t and not t.startswith("=")), inbox)


def _address(said: About | None, inputs: str, inbox: str) -> str:
    """Who gets a mail: the assignee, else the candidates, where they are addresses; else the
    setting."""
    if said is None:
        return inbox
    first = next((n for n in _ADDRESSED if n in said.computed or "@" in said.fixed.get(n, "")), "")
    if first not in said.computed:
        return _fixed_address(said, inbox)
    node = f"$({quote_node(inputs)}).first().json.{ABOUT}"
    return make_expression(
        f'((v) => v.includes("@") ? v : {js_string(_fixed_address(said, inbox))})'
        f'([].concat(({node} ?? {{}}).{first} ?? "").join(", "))'
    )


def reached(said: About, task: Task, ctx: PassContext) -> About:
    """The note on a task whose person is asked by mail, with a stop for runs without an address:
    n8n would accept an empty one and send a mail without a receiver."""
    if _fixed_address(said, str(ctx.options.get(INBOX, ""))):
        return said
    values = dict(v for s in said.work.before if isinstance(s, Compose) for v in s.values)
    value = next((v for (name,), v in values.items() if name in _ADDRESSED), None)
    if value is None:
        return said
    text = Call(java_operators.TEXT, (value,))
    message = Call(
        java_operators.TEXT,
        (
            Constant(f"“{plain(task.caption)}” is for “"),
            text,
            Constant("”, which is not a mail address. Compile with n8n{inbox=ADDRESS} for those."),
        ),
    )
    stop = When(Call(methods.CONTAINS, (text, Constant("@"))), (), (Fail(message),))
    return said._replace(work=said.work._replace(before=(*said.work.before, stop)))


def _slack_user(said: About | None) -> str:
    """The id of the user in Slack who is the assignee, if it is one."""
    fixed = said.fixed.get("assignee", "").strip() if said is not None else ""
    return fixed if _SLACK_USER.fullmatch(fixed) else ""


def _slack_target(inbox: str) -> dict[str, Any]:
    if inbox.startswith("@"):
        return {"select": "user", "user": _locator("username", inbox)}
    if _SLACK_USER.fullmatch(inbox):
        return {"select": "user", "user": _locator("id", inbox)}
    mode = "id" if not inbox or _SLACK_PLACE.fullmatch(inbox) else "name"
    return {"select": "channel", "channelId": _locator(mode, inbox)}


def _locator(mode: str, value: str) -> dict[str, Any]:
    return {"__rl": True, "mode": mode, "value": value}
