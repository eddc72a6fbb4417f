"""An embedder that remembers its vectors."""

from __future__ import annotations

from collections.abc import Sequence

from orgflow_ir.pipeline.agent_services import Embedder


class Remembered:
    """An `Embedder` that asks another one once for each text.

    Attributes:
        known: the vectors so far, by text; a second embedder of the same model may start with them.
    """

    def __init__(self, embedder: Embedder, known: dict[str, Sequence[float]] | None = None) -> None:
        self._embedder = embedder
        self.known = known if known is not None else {}

    @property
    def name(self) -> str:
        """The name of the embedding model."""
        return self._embedder.name

    @property
    def size(self) -> int:
        """The dimension of a vector."""
        return self._embedder.size

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        """A vector of length 1 for each text, in order; raises the exceptions of the other
        embedder."""
        new = [text for text in dict.fromkeys(texts) if text not in self.known]
        if new:
            self.known.update(zip(new, self._embedder.embed(new), strict=True))
        return [self.known[text] for text in texts]
