"""The selection of the embedder."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from orgflow.store.minilm import MiniLM, ModelMissing

from orgflow_ir.pipeline.agent_services import Embedder


class HashedWords:
    """Vectors without a model: words and word pairs, hashed into 1,024 places. They compare
    wording, not meaning."""

    name = "hashed-words-1024"
    size = 1024

    def embed(self, texts: Sequence[str]) -> Sequence[Sequence[float]]:
        """A vector of length 1 for each text."""
        vectors: Any = np.zeros((len(texts), self.size), np.float32)
        for row, text in enumerate(texts):
            words = re.findall(r"\w{2,}", text.lower())
            counts: dict[str, int] = {}
            for part in (*words, *(f"{a} {b}" for a, b in pairwise(words))):
                counts[part] = counts.get(part, 0) + 1
            for part, count in counts.items():
                code = int.from_bytes(hashlib.blake2b(part.encode(), digest_size=8).digest(), "big")
                sign = 1 if code >> 63 else -1
                vectors[row, code % self.size] += sign * (1 + math.log(count))
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        normalised: Sequence[Sequence[float]] = vectors / np.maximum(norms, 1e-9)
        return normalised


def local_embedder() -> Embedder:
    """MiniLM if its package is installed, otherwise `HashedWords`; the caller reports `name`."""
    try:
        return MiniLM()
    except ModelMissing:
        return HashedWords()
