"""Answers of a language model, stored as they arrive: an interrupted run continues from the last
answer and repeats no question."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from orgflow.agents.model_client.client import StoppedAfterAnswer
from orgflow.agents.model_client.recordings import call_hash

from orgflow_ir.pipeline.agent_services import ModelClient, Reply, Tool, ToolCall
from orgflow_ir.pipeline.services import ServiceError

FILE = "discovery-answers.jsonl"
"""The journal's name in the folder of a store."""


class Journal:
    """A language model whose answers are stored in a file, one per line, by the hash of the
    question.

    The agent decides by messages and answers alone, so with the answers of an interrupted run it
    reaches the same state again. The questions are not stored, since they contain messages.

    Attributes:
        replayed: number of answers that came from the file.
    """

    def __init__(self, client: ModelClient, path: str | os.PathLike[str]) -> None:
        self._client, self._path = client, Path(path)
        self._answers = _read_answers(self._path)
        self._asked: dict[str, int] = {}
        self.replayed = 0

    @property
    def name(self) -> str:
        """Of the model."""
        return self._client.name

    def ask(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool] = (),
    ) -> Reply:
        """The stored answer, otherwise the model's; see `ModelClient`."""
        key = call_hash(
            {"model": self.name, "messages": list(messages), "schema": schema,
             "tools": [tool.name for tool in tools]}
        )  # fmt: skip
        self._asked[key] = self._asked.get(key, 0) + 1
        key = f"{key}-{self._asked[key]}"
        if key in self._answers:
            self.replayed += 1
            return self._answers[key]
        try:
            reply = self._client.ask(messages, schema=schema, tools=tools)
        except StoppedAfterAnswer as stopped:
            self._keep_answer(key, stopped.reply)
            raise
        self._keep_answer(key, reply)
        return reply

    def _keep_answer(self, key: str, reply: Reply) -> None:
        """Append an answer to the file. Raises `ServiceError`."""
        line = json.dumps({"question": key, "reply": reply._asdict()}, ensure_ascii=True)
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with open(descriptor, "a", encoding="utf-8") as file:
                # begun with a line end: what a crash left unfinished stays a line of its own
                file.write(f"\n{line}")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise ServiceError(f"answers cannot be kept in {self._path}: {error}") from None


def _read_answers(path: Path) -> dict[str, Reply]:
    """The answers in a journal; a line that a crash cut off is none."""
    answers: dict[str, Reply] = {}
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except FileNotFoundError:
        return answers
    except OSError as error:
        raise ServiceError(f"{path} cannot be read: {error}") from None
    for line in lines:
        try:
            entry = json.loads(line)
            reply = entry["reply"]
            answers[str(entry["question"])] = Reply(
                str(reply["text"]), int(reply["tokens_in"]), int(reply["tokens_out"]),
                tuple(ToolCall(*(str(part) for part in call)) for call in reply["calls"]),
                bool(reply["truncated"]),
            )  # fmt: skip
        except (ValueError, KeyError, TypeError):
            continue
    return answers
