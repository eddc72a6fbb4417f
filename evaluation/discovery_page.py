"""Discovered processes as an HTML page with forms: steps, pictures, evidence, cases, and messages
without a process."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from orgflow.agents.discovery.discover import FoundProcess
from orgflow.evaluation.page import clean_text, page_templates

from orgflow_ir.model import Event, Flow, Gateway, Task
from orgflow_ir.model.message import Message, bare_subject
from orgflow_ir.model.records import NamedTuple

NOISE = 100
"""Maximum number of listed messages without a process."""

_LISTED = 12
"""Maximum number of listed messages of a case, enough to show its subject."""

_LINE = 160

_ABOUT = 6
"""Maximum number of words that describe a process."""


class Card(NamedTuple):
    """A process in the form for the page: its place, its state (`accepted`, `rejected` or empty),
    its picture as SVG text, and the pairs of cases that may be one."""

    number: int
    process: FoundProcess
    state: str
    picture: str
    joins: tuple[tuple[int, int], ...] = ()


def render_discovery(
    cards: Sequence[Card],
    noise: Sequence[str],
    messages: Sequence[Message],
    rejected: Sequence[str],
    version: int,
    notice: str = "",
) -> tuple[str, str]:
    """The page, and the content of its style sheet; it needs no script.

    Args:
        noise: the ids of the messages in no process.
        messages: all messages.
        rejected: names of processes that were rejected in earlier runs.
        version: the number of changes, so that an outdated page has no effect.
        notice: the result of the latest answers.

    Every text may come from a message or a model; all are escaped.
    """
    environment = page_templates()
    of = {message.id: message for message in messages}
    style = environment.get_template("discovery.css.j2").render()
    html = environment.get_template("discovery.html.j2").render(
        cards=[_card_data(card, of) for card in cards],
        noise=[_message_data(of[id_]) for id_ in noise[:NOISE] if id_ in of],
        total=len(messages),
        covered=len(messages) - len(noise),
        in_none=len(noise),
        rejected=[clean_text(name) for name in rejected],
        version=version,
        notice=clean_text(notice),
        style=style,
    )
    return html, style


def _card_data(card: Card, of: Mapping[str, Message]) -> dict[str, Any]:
    process = card.process
    return {
        "number": card.number,
        "name": clean_text(process.name),
        "state": card.state,
        "actors": clean_text(", ".join(process.actors)),
        "about": clean_text(", ".join(process.matters[:_ABOUT])),
        "messages": sum(map(len, process.cases)),
        "cases": [_case_data(case, of) for case in process.cases],
        "joins": [
            {
                "pair": f"{a}-{b}",
                "cases": [_case_data(process.cases[place], of) for place in (a, b)],
            }
            for a, b in card.joins
        ],
        "misfits": [
            f"Case {case + 1} does not fit: it leaves at "
            + ", ".join(clean_text(m.step) for m in process.misfits if m.case == case)
            for case in dict.fromkeys(m.case for m in process.misfits)
        ],
        "elements": [
            {
                "label": label,
                "quotes": [_quote_data(e.document, e.quote, of) for e in node.evidence],
            }
            for node in (*process.process.nodes, *process.process.flows)
            if (label := _element_label(node))
        ],
        "image": base64.b64encode(card.picture.encode("utf-8", "replace")).decode(),
    }


def _element_label(node: Any) -> str:
    """What an element is called; empty for those that show nothing of their own."""
    match node:
        case Task():
            return clean_text(node.name)
        case Gateway() if node.name:
            return clean_text(f"Decision: {node.name}")
        case Flow() if node.name:
            return clean_text(f"Condition: {node.name}")
        case Event() if node.position == "start":
            return "Start"
    return ""


def _case_data(case: Sequence[str], of: Mapping[str, Message]) -> dict[str, Any]:
    known = [of[id_] for id_ in case if id_ in of]
    days = sorted({m.date.date().isoformat() for m in known if m.date is not None})
    return {
        "title": _cut_text(_choose_title(known)),
        "size": len(case),
        "days": " to ".join(dict.fromkeys((days[0], days[-1]))) if days else "no date",
        "messages": [_message_data(message) for message in known[:_LISTED]],
    }


def _choose_title(messages: Sequence[Message]) -> str:
    """The subject that most of the messages have, as the first of them writes it; of messages
    without one the beginning of the first."""
    bare = [bare_subject(message.subject)[0] for message in messages]
    counts = Counter(subject for subject in bare if subject)
    if not counts:
        return messages[0].body if messages else ""
    (most, _), *_ = counts.most_common(1)
    return messages[bare.index(most)].subject


def _quote_data(document: str, quote: str, of: Mapping[str, Message]) -> dict[str, str]:
    message = of.get(document)
    return {
        "text": clean_text(quote),
        "source": _name_source(message) if message is not None else "",
    }


def _message_data(message: Message) -> dict[str, str]:
    return {"text": _cut_text(f"{message.subject} {message.body}"), "source": _name_source(message)}


def _name_source(message: Message) -> str:
    sender = message.sender.label if message.sender is not None else "unknown"
    date = f", {message.date.date().isoformat()}" if message.date is not None else ""
    subject = f": {message.subject}" if message.subject else ""
    return _cut_text(f"{sender}{date}{subject}")


def _cut_text(text: str) -> str:
    line = " ".join(clean_text(text).split())
    return line if len(line) <= _LINE else f"{line[: _LINE - 1]}…"
