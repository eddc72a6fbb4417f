"""First drafts that several evaluations of one text share, so that each is paid for once and rounds
improve the draft that they are compared with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from orgflow_ir.pipeline.agent_services import ModelClient, Reply


class FirstDrafts:
    """Replies to requests for a first draft, by what a caller knows them by.

    Attributes:
        key: of the next request, such as the name of a text and the number of the sample.
        saved_tokens: the tokens of replies that were used again.
    """

    def __init__(self) -> None:
        self.key: object = None
        self.saved_tokens = 0
        self._replies: dict[object, tuple[Reply, ...]] = {}

    def ask_once(
        self, client: ModelClient, messages: Sequence[Mapping[str, Any]], number: int = 0
    ) -> Reply:
        """The reply to the request `number` of a draft, asked for once per key. Raises as
        `ModelClient.ask`."""
        replies = self._replies.get(self.key, ())
        if number < len(replies):
            self.saved_tokens += replies[number].tokens_in + replies[number].tokens_out
            return replies[number]
        reply = client.ask(messages)
        self._replies[self.key] = (*replies, reply)
        return reply
