"""A language model that answers badly: wrong types, JSON that is cut off or nested without end,
messages that were never shown, the same process again and again, tools that do not exist."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

from scripted_reader import SHOWN_MESSAGE

from orgflow_ir.pipeline.agent_services import Reply, Tool, ToolCall

TOOLS = (
    "search_messages", "filter_messages", "list_participants", "get_message_detail",
    "list_discovered_processes", "find_uncovered_messages", "find_novel_messages",
    "save_discovered_process", "delete_messages", "",
)  # fmt: skip
TEXTS = (
    "", "x", "Pack lamps", "pack lamps", "\u00b2", "\ud800", "\u202e<script>", "9" * 5_000,
    "a" * 5_000, "NONE", "\0", "m1", "it\nis", "{{ x }}", "=1+1", "\u0663", "Ship parcel",
)  # fmt: skip
NUMBERS = (0, 1, -1, 2, 5, 10**30, 1.5, float("nan"), 1e308, True, False)


class HostileReader:
    """Answers at random; the same seed gives the same answers.

    Attributes:
        calls: how many calls were answered.
    """

    name = "hostile"

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.calls = 0

    def ask(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool] = (),
    ) -> Reply:
        """A reply that nobody can use, or only in part."""
        del schema
        self.calls += 1
        rng = self._random
        texts = (str(message["content"]) for message in messages[1:])
        shown = sorted({id_ for text in texts for id_, _ in SHOWN_MESSAGE.findall(text)})
        if not tools:
            return Reply(self._written(self._whole(shown)), 10, 5)
        chance = rng.random()
        if chance < 0.15:
            return Reply(rng.choice(["NONE", "none.", "", "{", "I am sorry", "\ud800{"]), 10, 5)
        if chance < 0.25:
            return Reply(self._written(self._process(shown)), 10, 5)
        calls = []
        for number in range(rng.choice([1, 1, 1, 2, 30])):
            name, given = "save_discovered_process", self._process(shown)
            if rng.random() < 0.4:
                name = rng.choice(TOOLS)
                key = rng.choice(["query", "id", "sender", "since", "until"])
                given = rng.choice([{key: self._value()}, self._value()])
            calls.append(ToolCall(rng.choice(["", f"call_{number}"]), name, self._written(given)))
        return Reply("", 10, 5, tuple(calls))

    def _whole(self, shown: Sequence[str]) -> Any:
        """What a baseline, or the review of a list, is answered."""
        rng = self._random
        one = self._process(shown)
        pairs = ([[1, 2]], [[1, True]], [[1, 1]], [[2, 1], [3, 2], [1, 3]], [[10**30, 1]], [1, 2])
        return rng.choice(
            [{"processes": [one] * 200}, {"processes": [self._process(shown) for _ in range(3)]},
             {"processes": self._value()}, one, {"same": rng.choice(pairs)},
             {"same": self._value()}]
        )  # fmt: skip

    def _value(self, depth: int = 0) -> Any:
        rng = self._random
        kind = rng.randrange(9 if depth < 3 else 6)
        if kind == 0:
            return None
        if kind < 3:
            return rng.choice(NUMBERS)
        if kind < 6:
            return rng.choice(TEXTS)
        if kind == 6:
            return [self._value(depth + 1) for _ in range(rng.randrange(4))]
        keys = ("name", "steps", "evidence", "id", "query", "same", "processes", rng.choice(TEXTS))
        return {rng.choice(keys): self._value(depth + 1) for _ in range(rng.randrange(4))}

    def _ids(self, shown: Sequence[str]) -> Any:
        """Messages that were shown, and others."""
        rng = self._random
        if rng.random() < 0.15:
            return self._value()
        every = (*shown, *shown, "m999", "m0", "m" + "9" * 5_000, "[M1]", "\u0661")
        return [rng.choice(every) for _ in range(rng.randrange(5))]

    def _process(self, shown: Sequence[str]) -> Any:
        rng = self._random
        sensible = rng.random() < 0.6
        process: dict[str, Any] = {
            "name": rng.choice(["Handle order", "Handle leave", rng.choice(TEXTS)]),
            "description": self._value(),
            "trigger": rng.choice(["a", "b", self._value()]),
            "goal": rng.choice(["c", "d", self._value()]),
            "steps": [self._step(shown, sensible) for _ in range(rng.choice([0, 1, 2, 3, 6, 41]))],
        }
        if rng.random() < 0.5:
            options = [
                {"condition": rng.choice(["yes", "no", rng.choice(TEXTS)]),
                 "steps": rng.choice([[1], [2], [], [1, 2], ["1"], 3, "1", self._value()]),
                 "evidence": self._ids(shown)}
                for _ in range(rng.choice([0, 2, 3, 50]))
            ]  # fmt: skip
            decision = {"question": self._value(), "options": options}
            process["decisions"] = rng.choice([[decision], [decision] * 100, self._value()])
        if rng.random() < 0.4:
            process["excluded"] = self._ids(shown)
        if rng.random() < 0.4:
            numbers = (1, 2, 0, -1, "1", "\u00b2", "9" * 5_000, 10**40, True, None, 1.0, [1])
            process["same_as"] = rng.choice([*numbers, self._value()])
        return process

    def _step(self, shown: Sequence[str], sensible: bool) -> Any:
        rng = self._random
        if sensible:
            name = f"{rng.choice(['Check', 'Ship', 'Pay'])} {rng.choice(['order', 'lamps'])}"
            return {"name": name, "actor": "clerk", "evidence": [rng.choice([*shown, "m1"])]}
        if rng.random() < 0.1:
            return self._value()
        return {"name": rng.choice(TEXTS), "actor": self._value(), "evidence": self._ids(shown)}

    def _written(self, value: Any) -> str:
        rng = self._random
        text = json.dumps(value)
        chance = rng.random()
        if chance < 0.1:
            return text[: rng.randrange(len(text) + 1)]
        if chance < 0.15:
            return f"Sure!\n```json\n{text}\n```"
        return {15: "[" * 100_000, 16: '{"a":' * 50_000}.get(int(chance * 100), text)
