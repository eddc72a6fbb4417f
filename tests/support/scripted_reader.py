"""A language model that reads the messages of `small_corpus`, by script, with mistakes that real
ones make."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from orgflow_ir.pipeline.agent_services import Reply, Tool, ToolCall

STEPS = {
    "order": (
        ("Order lamps", "I order ten"), ("Check lamp stock", "check the lamp stock"),
        ("Pack lamps", "Please pack"), ("Ship parcel", "shipped the parcel"),
        ("Pay invoice", "pay the invoice"), ("Book payment", "booked the lamp payment"),
    ),
    "leave": (
        ("Request annual leave", "I request annual leave"), ("Review leave request", "I review"),
        ("Check vacation balance", "please check the vacation balance"),
        ("Approve leave", "I approve"), ("Register vacation", "registered the vacation"),
    ),
    "badge": (
        ("Report lost badge", "lost my badge"), ("Block badge", "blocked the badge"),
        ("Print new badge", "printed a new badge"),
    ),
}  # fmt: skip
ENDS = {
    "order": ("a customer orders lamps", "the lamps are paid"),
    "leave": ("an employee wants leave", "the vacation is registered"),
    "badge": ("somebody lost a badge", "a new badge is printed"),
}
SHOWN_MESSAGE = re.compile(r"^\[(m\d+)\] [^\n]*?(?:: |\n)([^\n]*)", re.MULTILINE)


class Killed(Exception):
    """The process was killed in the middle of a call."""


class ScriptedReader:
    """Describes the case that a prompt shows.

    Args:
        mistakes: any of `invented` (cites messages that were not shown, once), `twin` (saves every
            case as a new process first), `prose` (writes JSON in words instead of calling a tool),
            `no such tool`, `broken json`, `endless` (searches and never saves), `all none`.
        killed_at: the call that never returns, counted from 1.

    Attributes:
        calls: how many calls were answered.
    """

    name = "scripted"

    def __init__(self, *mistakes: str, killed_at: int = 0) -> None:
        self._mistakes, self._killed_at = frozenset(mistakes), killed_at
        self.calls = 0
        self.prompts: list[str] = []

    def ask(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool] = (),
    ) -> Reply:
        """The reply of the script; it depends on the conversation alone."""
        del schema
        if self.calls + 1 == self._killed_at:
            raise Killed
        self.calls += 1
        self.prompts.append("\n".join(str(m.get("content", "")) for m in messages))
        if not tools:
            return Reply('{"same": []}', 10, 5)
        kind, arguments = self._said(messages)
        if kind == "NONE":
            return Reply("NONE", 10, 5)
        if kind == "text":
            return Reply(f"This is a process:\n```json\n{arguments}\n```\nShall I save it?", 10, 5)
        return Reply("", 10, 5, (ToolCall(f"call_{len(messages)}", kind, arguments),))

    def _said(self, messages: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
        first = len(messages) == 2
        prompt = str(messages[1]["content"])
        result = str(messages[-1]["content"])
        if "all none" in self._mistakes:
            return "NONE", ""
        if "endless" in self._mistakes:
            return "search_messages", json.dumps({"query": "one more"})
        if "no such tool" in self._mistakes and first:
            return "read_everything", "{}"
        if "broken json" in self._mistakes and first:
            return "save_discovered_process", '{"name": "Handle'
        shown = {id_: text for m in messages[1:] for id_, text in
                 SHOWN_MESSAGE.findall(str(m["content"]))}  # fmt: skip
        kinds = [k for k in STEPS if k == "badge" or "The messages of one case" in prompt]
        kind = next((k for k in kinds if len(self._steps(k, shown)) > 1), None)
        if kind is None:
            return "NONE", ""
        if kind == "badge" and first:
            return "search_messages", json.dumps({"query": "blocked badge, new badge"})
        steps = self._steps(kind, shown)
        if "invented" in self._mistakes and first:
            steps[0]["evidence"] = ["m999"]
        twin = re.search(r"It is process (\d+)", result) or re.search(
            r"looks like one of process (\d+)", prompt
        )
        saved: dict[str, Any] = {
            "name": f"Handle {kind}", "description": f"How a {kind} is handled.",
            "trigger": ENDS[kind][0], "goal": ENDS[kind][1], "steps": steps,
        }  # fmt: skip
        names = [step["name"] for step in steps]
        if kind == "order" and "Pack lamps" in names:
            at = names.index("Pack lamps") + 1
            saved["decisions"] = [{
                "question": "Are the lamps there?",
                "options": [
                    {"condition": "lamps are there", "steps": [at], "evidence": ["m3"]},
                    {"condition": "lamps are not there", "steps": [], "evidence": ["m3"]},
                ],
            }]  # fmt: skip
        if twin is not None and ("twin" not in self._mistakes or not first):
            saved["same_as"] = int(twin[1])
        if "prose" in self._mistakes:
            return "text", json.dumps(saved)
        return "save_discovered_process", json.dumps(saved)

    @staticmethod
    def _steps(kind: str, shown: Mapping[str, str]) -> list[dict[str, Any]]:
        found = []
        for name, words in STEPS[kind]:
            evidence = [id_ for id_, text in shown.items() if words in text]
            if evidence:
                found.append({"name": name, "actor": "clerk", "evidence": evidence})
        return found
