"""A language model that states the structure of the processes of `small_corpus`, by script."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from orgflow_ir.pipeline.agent_services import Reply, Tool

SHOWN = re.compile(r"^\[([A-Z]{1,2}\d+)\] [^\n]*\n([^\n]*)", re.MULTILINE)

ORDER = """\
name: Handle order
about: Customers order lamps.
begins: a customer orders lamps
ends: the lamps are paid
receive: order from customer | {I order ten}
check lamp stock | stock | {check the lamp stock} {checked the lamp stock}
choose: Are the lamps there?
  if: lamps are there | {lamps are there}
    pack lamps | stock | {Please pack}
  if: lamps are not there
    order more lamps | sales
ship parcel | stock | {shipped the parcel}
wait: 14 days
receive: payment from customer | {pay the invoice}
book payment | sales | {booked the lamp payment}
"""
LEAVE = """\
name: Handle leave
begins: an employee wants leave
request annual leave | employee | {I request annual leave}
review leave request | manager | {I review}
check vacation balance | personnel | {please check the vacation balance} {We checked the vacation}
approve leave | manager | {I approve}
together:
  register vacation | personnel | {registered the vacation}
  print confirmation | employee | {printed the leave}
"""


class OutlineReader:
    """Writes outlines; what follows finds nothing more.

    Args:
        outlines: the outline for messages that contain a word; `{words}` stands for the labels of
            the messages with these words.
        change: changes an answer, by its number from 1.

    Attributes:
        prompts: the last message of each request.
    """

    name = "outlines"

    def __init__(
        self,
        outlines: Mapping[str, str] | None = None,
        change: Callable[[str, int], str] = lambda text, number: text,
    ) -> None:
        self._outlines = {"lamps": ORDER, "leave": LEAVE} if outlines is None else outlines
        self._change = change
        self.prompts: list[str] = []
        self.answers = 0

    def ask(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool] = (),
    ) -> Reply:
        """The outline of the messages that a conversation shows."""
        del schema
        self.prompts.append(str(messages[-1]["content"]))
        if tools:
            return Reply("NONE", 10, 5)
        if "as an outline" not in str(messages[0]["content"]):
            return Reply('{"same": []}', 10, 5)
        shown = dict(SHOWN.findall(str(messages[1]["content"])))
        outline = next(
            (o for word, o in self._outlines.items() if any(word in t for t in shown.values())), ""
        )
        self.answers += 1
        return Reply(self._change(cite_messages(outline, shown), self.answers), 10, 5)


def cite_messages(outline: str, shown: Mapping[str, str]) -> str:
    """An outline with the labels of messages in place of words that they contain."""

    def cite(match: re.Match[str]) -> str:
        return " ".join(label for label, text in shown.items() if match[1] in text)

    cited = re.sub(r"\{([^}]*)\}", cite, outline)
    return re.sub(r"(?m)\s*\|\s*$", "", cited)
