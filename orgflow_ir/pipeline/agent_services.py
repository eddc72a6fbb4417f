"""What agents reach through `ctx.services`: a language model, an embedder, a store of documents.

Only the contracts: whoever starts a compilation provides what is after them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, runtime_checkable


class Tool(NamedTuple):
    """A tool that a language model may call; `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class ToolCall(NamedTuple):
    """A call that a language model asks for; `arguments` is JSON text, not yet read or checked."""

    id: str
    name: str
    arguments: str


class Reply(NamedTuple):
    """What a language model replied, and the tokens it took; `truncated` where the endpoint ended
    it at its longest."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    calls: tuple[ToolCall, ...] = ()
    truncated: bool = False


@runtime_checkable
class ReadsAhead(Protocol):
    """A `ModelClient` that wants the texts of a run before the first request: a person who is named
    in full only in the last one is then replaced in all."""

    def learn(self, texts: Iterable[str]) -> None:
        """Remember what the texts show; nothing is sent."""


class ModelClient(Protocol):
    """A language model after some endpoint. The client itself spends the budget, retries, and
    notices cancellation."""

    @property
    def name(self) -> str:
        """Of the model, for reports."""

    def ask(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool] = (),
    ) -> Reply:
        """Reply to a conversation (`role` and `content` each; the result of a tool has the
        `tool_call_id`), as JSON of `schema` where one is given; the text is not checked.

        Raises `ServiceError` where the endpoint fails, `OverBudget` where nothing may be spent any
        more (a reply that was paid is given), and `Cancelled`."""


class Embedder(Protocol):
    """Turns texts into vectors whose cosine says how near their meanings are."""

    @property
    def name(self) -> str:
        """Of the embedding model: vectors of two models cannot be compared."""

    @property
    def size(self) -> int:
        """How many numbers a vector has."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector of length 1 for each text, in order. Raises `ServiceError`, `Cancelled`."""


class Passage(NamedTuple):
    """A passage of a stored document.

    Attributes:
        document: the name of the document, as evidence cites it.
        text: the passage, word for word.
        span: where it stands in the document's text, in characters.
        score: how well it fits the query, the higher the better.
        fields: what is known of the document, such as its sender and date.
    """

    document: str
    text: str
    span: tuple[int, int] | None = None
    score: float = 0.0
    fields: Mapping[str, str] = MappingProxyType({})


class Store(Protocol):
    """Documents that can be searched."""

    def search(
        self, query: str, *, limit: int = 10, where: Mapping[str, str] | None = None
    ) -> Sequence[Passage]:
        """The passages that fit a query best, best first; of documents whose fields have the values
        `where` only. Raises `ServiceError`."""

    def text(self, document: str) -> str | None:
        """The text of a document, None where there is none of that name. Raises `ServiceError`."""

    def documents(self) -> Iterator[str]:
        """The names of all documents, in an order that does not change. Raises `ServiceError`."""
