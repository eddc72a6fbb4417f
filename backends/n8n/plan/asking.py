"""User tasks whose person is asked by a message: what such a node needs, and who gets it."""

from __future__ import annotations

import re
from typing import Literal, cast

from orgflow.backends.n8n.plan.actions import AskByMessage
from orgflow.backends.n8n.plan.names import plain
from orgflow.backends.n8n.plan.needs import Needs
from orgflow.backends.n8n.plan.target_options import INBOX, SENDER

from orgflow_ir.model import Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.program import java_operators, methods
from orgflow_ir.program.syntax import Call, Constant
from orgflow_ir.work.people import About
from orgflow_ir.work.statements import Compose, Fail, When

Channel = Literal["mail", "slack", "teams"]

_CREDENTIALS: dict[Channel, str] = {
    "mail": "a mail server (SMTP)",
    "slack": "access to Slack",
    "teams": "access to Microsoft Teams",
}

_SLACK_USER = re.compile(r"[UW][A-Z0-9]{5,}")


def describe_message_needs(asks: AskByMessage, ctx: PassContext) -> Needs:
    """Needs of the node that asks a person by a message."""
    by = cast(Channel, asks.form.by)
    inbox = str(ctx.options.get(INBOX, ""))
    about = asks.page.about
    settings: list[tuple[str, str]] = []
    match by:
        case "mail":
            if not str(ctx.options.get(SENDER, "")):
                settings.append(
                    ("the sender of its mail", "set From Email in the node, or compile with "
                     "n8n{sender=ADDRESS}")
                )  # fmt: skip
            if not inbox and not (_has_fixed_address(about)):
                settings.append(
                    ("the recipient of its mail", "set To Email in the node, an address as "
                     "assignee in the model, or compile with n8n{inbox=ADDRESS}")
                )  # fmt: skip
        case "slack":
            if not (find_slack_user(about) or inbox):
                settings.append(
                    ("the recipient of its message in Slack",
                     "set the channel or user in the node, or compile with n8n{inbox=CHANNEL}")
                )  # fmt: skip
        case "teams":
            if not inbox:
                settings.append(
                    ("the recipient of its message in Teams",
                     "set the chat in the node, or compile with n8n{inbox=CHAT}")
                )  # fmt: skip
    return Needs(_CREDENTIALS[by], tuple(settings))


ADDRESSED = ("assignee", "candidate_users")


def find_fixed_address(about: About, inbox: str) -> str:
    """The addresses that the model has as they are, else the setting."""
    addresses = (about.fixed.get(name, "").strip() for name in ADDRESSED)
    return next((plain(t) for t in addresses if "@" in t and not t.startswith("=")), inbox)


def find_computed_address(about: About | None) -> str:
    """The first field of a task with its addressees, if what it says depends on the run."""
    if about is None:
        return ""
    names = (n for n in ADDRESSED if n in about.computed or "@" in about.fixed.get(n, ""))
    first = next(names, "")
    return first if first in about.computed else ""


def _has_fixed_address(about: About | None) -> bool:
    """Whether a mail has a receiver whatever the run."""
    if about is None or find_computed_address(about):
        return False
    return bool(find_fixed_address(about, ""))


def add_reach_check(about: About, task: Task, ctx: PassContext) -> About:
    """The note on a task whose person is asked by mail, with a stop for runs without an address:
    n8n would accept an empty one and send a mail without a receiver."""
    if find_fixed_address(about, str(ctx.options.get(INBOX, ""))):
        return about
    values = dict(v for s in about.work.before if isinstance(s, Compose) for v in s.values)
    value = next((v for (name,), v in values.items() if name in ADDRESSED), None)
    if value is None:
        return about
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
    return about._replace(work=about.work._replace(before=(*about.work.before, stop)))


def find_slack_user(about: About | None) -> str:
    """The id of the user in Slack who is the assignee, if it is one."""
    fixed = about.fixed.get("assignee", "").strip() if about is not None else ""
    return fixed if is_slack_user(fixed) else ""


def is_slack_user(text: str) -> bool:
    """Whether a text is the id of a user in Slack."""
    return _SLACK_USER.fullmatch(text) is not None
