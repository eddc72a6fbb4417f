"""Vectors in a flat file of 32-bit floats: mapped into memory, searched exhaustively."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from typing import Any

import numpy as np


class Vectors:
    """The vectors of one model in a folder, by row. A row of zeros is an erased one.

    Searching takes one product of a matrix and a vector: 100,000 vectors of MiniLM are 154 MB, read
    at the speed of memory.
    """

    def __init__(self, folder: str, model: str, size: int = 0) -> None:
        """`size`: how many numbers a vector has; 0 where the file exists and says so itself."""
        name = re.sub(r"[^\w.-]", "_", model)
        found = [
            entry for entry in sorted(os.listdir(folder))
            if re.fullmatch(re.escape(f"vectors-{name}-") + r"\d+\.f32", entry)
        ]  # fmt: skip
        if not size and not found:
            raise FileNotFoundError(f"{folder} has no vectors of the model {model}")
        self.size = size or int(found[0].rpartition("-")[2].removesuffix(".f32"))
        self.path = os.path.join(folder, f"vectors-{name}-{self.size}.f32")
        self._map: Any = None

    def _mapped(self) -> Any:
        size = os.path.getsize(self.path) if os.path.exists(self.path) else 0
        rows = size // (4 * self.size)
        if not rows:
            return np.zeros((0, self.size), np.float32)
        if self._map is None or len(self._map) != rows:
            self._map = np.memmap(self.path, np.float32, "r", shape=(rows, self.size))
        return self._map

    def write(self, row: int, vectors: Sequence[Sequence[float]]) -> None:
        """Write vectors from a row on; what a crashed process left there is overwritten."""
        data = np.ascontiguousarray(vectors, np.float32).reshape(-1, self.size)
        flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
        with os.fdopen(os.open(self.path, flags, 0o600), "r+b") as file:
            file.seek(row * 4 * self.size)
            file.write(data.tobytes())
            file.flush()
            os.fsync(file.fileno())
        self._map = None

    def erase(self, rows: Sequence[int]) -> None:
        """Overwrite rows with zeros."""
        for row in rows:
            self.write(row, [[0.0] * self.size])

    def read(self, row: int) -> Sequence[float]:
        """The vector of a row."""
        vector: Any = np.array(self._mapped()[row])
        found: Sequence[float] = vector
        return found

    def nearest(
        self, vector: Sequence[float], limit: int, rows: Sequence[int] | None = None
    ) -> list[tuple[int, float]]:
        """The rows with the largest cosine, and it: of all rows, or of those given."""
        everything = self._mapped()
        matrix = everything if rows is None else everything[np.asarray(rows, int)]
        scores = matrix @ np.asarray(vector, np.float32)
        count = min(limit, len(scores))
        if not count:
            return []
        top = np.argpartition(-scores, count - 1)[:count]
        top = top[np.lexsort((top, -scores[top]))]
        return [(int(i) if rows is None else int(rows[i]), float(scores[i])) for i in top]

    def close(self) -> None:
        """Forget the mapping."""
        self._map = None
