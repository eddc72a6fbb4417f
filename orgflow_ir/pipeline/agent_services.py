"""Services for agents in `ctx.services`: a language model, an embedder, a document store.

Only contracts are defined here; the caller of a compilation provides the implementations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

from orgflow_ir.model.records import NamedTuple


class Tool(NamedTuple):
    """A tool that a language model may call; `parameters` is the JSON Schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


class ToolCall(NamedTuple):
    """A call that a language model requests; `arguments` is JSON text, not yet parsed or
    validated."""

    id: str
    name: str
    arguments: str


class Reply(NamedTuple):
    """The reply of a language model and the tokens it used; `truncated` if the endpoint cut it off
    at the maximum length."""

    text: str
    tokens_in: int = 0
    tokens_out: int = 0
    calls: tuple[ToolCall, ...] = ()
    truncated: bool = False


@runtime_checkable
class ReadsAhead(Protocol):
    """A `ModelClient` that needs the texts of a run before the first request, so that a person
    whose full name occurs only in the last text is replaced in all of them."""

    def learn(self, texts: Iterable[str]) -> None:
        """Record the content of the texts; nothing is sent."""


@runtime_checkable
class StatesStrength(Protocol):
    """A `ModelClient` whose user states whether its model is weak, so that its answers are reviewed
    once more."""

    @property
    def weak(self) -> bool:
        """Whether it is."""


class ModelClient(Protocol):
    """A language model at an endpoint. The client itself spends the budget, retries, and
    notices cancellation."""

    @property
    def name(self) -> str:
        """The name of the model, for reports."""

    def ask(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        schema: Mapping[str, Any] | None = None,
        tools: Sequence[Tool] = (),
    ) -> Reply:
        """Reply to a conversation (each message has `role` and `content`; the result of a tool also
        has the `tool_call_id`), as JSON that matches `schema` if one is given; the text is not
        validated.

        Raises `ServiceError` if the endpoint fails, `OverBudget` if the budget is exhausted (a
        reply that has been paid for is returned), and `Cancelled`."""


class Embedder(Protocol):
    """Converts texts to vectors whose cosine measures the similarity of their meanings."""

    @property
    def name(self) -> str:
        """The name of the embedding model, since vectors of two models cannot be compared."""

    @property
    def size(self) -> int:
        """The dimension of a vector."""

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector of length 1 for each text, in order. Raises `ServiceError`, `Cancelled`."""


class Passage(NamedTuple):
    """A passage of a stored document.

    Attributes:
        document: the name of the document, as cited in evidence.
        text: the passage, word for word.
        span: its position in the document's text, in characters.
        score: how well it matches the query; higher is better.
        fields: metadata of the document, such as its sender and date.
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
        """The passages that match a query best, best first; only from documents whose fields have
        the values in `where`. Raises `ServiceError`."""

    def text(self, document: str) -> str | None:
        """The text of a document; None if there is no document with that name. Raises
        `ServiceError`."""

    def documents(self) -> Iterator[str]:
        """The names of all documents, in a fixed order. Raises `ServiceError`."""
