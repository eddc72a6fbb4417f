"""Vectors in a flat file of 32-bit floats, and their signs in another, which is searched first."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

EXHAUSTIVE = 10_000
"""Maximum number of vectors that are compared one by one; beyond it, only those with similar
signs."""

COMPARED = 2_000
"""Minimum number of vectors with the most similar signs that are compared by their numbers."""

_PART = 20_000


class Vectors:
    """The vectors of one model in a folder, by row. A row of zeros is erased.

    A search among more than `EXHAUSTIVE` vectors counts the signs that differ from the query's (48
    bytes per vector of MiniLM, kept in memory), and computes the cosine of the nearest `COMPARED`
    or more. `benchmarks/messages.py store` prints how often the result equals that of comparing
    all.
    """

    def __init__(self, folder: str, model: str, size: int = 0) -> None:
        """`size`: how many numbers a vector has; 0 where the file exists and says so itself."""
        name = re.sub(r"[^\w.-]", "_", model)
        files = [
            entry for entry in sorted(os.listdir(folder))
            if re.fullmatch(re.escape(f"vectors-{name}-") + r"\d+\.f32", entry)
        ]  # fmt: skip
        if not size and not files:
            raise FileNotFoundError(f"{folder} has no vectors of the model {model}")
        self.size = size or int(files[0].rpartition("-")[2].removesuffix(".f32"))
        self.path = os.path.join(folder, f"vectors-{name}-{self.size}.f32")
        self.signs_path = self.path.removesuffix("f32") + "signs"
        self._sign_bytes = -(-self.size // 64) * 8
        self._map: Any = None
        self._signs: Any = None

    def _mapped(self) -> Any:
        size = os.path.getsize(self.path) if os.path.exists(self.path) else 0
        rows = size // (4 * self.size)
        if not rows:
            return np.zeros((0, self.size), np.float32)
        if self._map is None or len(self._map) != rows:
            self._map = np.memmap(self.path, np.float32, "r", shape=(rows, self.size))
        return self._map

    @property
    def rows(self) -> int:
        """The number of vectors in the file, including erased ones."""
        return len(self._mapped())

    def write(self, row: int, vectors: Sequence[Sequence[float]]) -> None:
        """Write vectors from a row on; leftovers of a crashed process are overwritten."""
        data = np.ascontiguousarray(vectors, np.float32).reshape(-1, self.size)
        with _open_in_place(self.path) as file, _open_in_place(self.signs_path) as signs:
            file.seek(row * 4 * self.size)
            file.write(data.tobytes())
            signs.seek(row * self._sign_bytes)
            signs.write(self._signs_of(data).tobytes())
        self._map = self._signs = None

    def erase(self, rows: Sequence[int]) -> None:
        """Overwrite rows with zeros."""
        with _open_in_place(self.path) as file, _open_in_place(self.signs_path) as signs:
            for row in rows:
                file.seek(row * 4 * self.size)
                file.write(bytes(4 * self.size))
                signs.seek(row * self._sign_bytes)
                signs.write(bytes(self._sign_bytes))
        self._map = self._signs = None

    def read(self, rows: Sequence[int]) -> Any:
        """The vectors of rows."""
        return np.array(self._mapped()[np.asarray(rows, int)])

    def nearest(
        self,
        vector: Sequence[float],
        limit: int,
        rows: Sequence[int] | None = None,
        *,
        exhaustive: bool = False,
    ) -> list[tuple[int, float]]:
        """The rows with the largest cosine, and the cosine: among all rows, or those given.
        `exhaustive` compares all of them, regardless of their number."""
        everything = self._mapped()
        query = np.asarray(vector, np.float32)
        chosen: Any = None if rows is None else np.asarray(rows, int)
        wanted = max(COMPARED, 20 * limit)
        count = len(everything) if chosen is None else len(chosen)
        if count > max(EXHAUSTIVE, wanted) and not exhaustive:
            near = self._near(query, wanted, chosen)
            chosen = np.sort(near if chosen is None else chosen[near])
        scores = (everything if chosen is None else everything[chosen]) @ query
        count = min(limit, len(scores))
        if not count:
            return []
        top = np.argpartition(-scores, count - 1)[:count]
        top = top[np.lexsort((top, -scores[top]))]
        return [(int(i) if chosen is None else int(chosen[i]), float(scores[i])) for i in top]

    def _near(self, query: Any, wanted: int, rows: Any) -> Any:
        """Places, among the rows if given, whose signs differ least from the query's."""
        signs = self._all_signs()
        unlike: Any = np.zeros(signs.shape[1] if rows is None else len(rows), np.uint16)
        for word, asked in zip(signs, self._signs_of(query[None, :])[0], strict=True):
            unlike += np.bitwise_count((word if rows is None else word[rows]) ^ asked)
        return np.argpartition(unlike, wanted - 1)[:wanted]

    def _signs_of(self, data: Any) -> Any:
        """One bit a number, in words of 64 bits."""
        bits: Any = np.zeros((len(data), self._sign_bytes), np.uint8)
        packed = np.packbits(data > 0, axis=1)
        bits[:, : packed.shape[1]] = packed
        return bits.view(np.uint64)

    def _all_signs(self) -> Any:
        """The signs of all rows, word by word. Those that the file has not are made again: it holds
        nothing that the vectors do not."""
        everything = self._mapped()
        if self._signs is not None and self._signs.shape[1] == len(everything):
            return self._signs
        words = self._sign_bytes // 8
        try:
            signs = np.fromfile(self.signs_path, np.uint64)
        except FileNotFoundError:
            signs = np.zeros(0, np.uint64)
        if len(signs) < words * len(everything):
            with _open_in_place(self.signs_path) as file:
                for begin in range(0, len(everything), _PART):
                    file.write(self._signs_of(everything[begin : begin + _PART]).tobytes())
            signs = np.fromfile(self.signs_path, np.uint64)
        rows = signs[: words * len(everything)].reshape(-1, words)
        self._signs = np.ascontiguousarray(rows.T)
        return self._signs

    def close(self) -> None:
        """Forget the mapping."""
        self._map = self._signs = None


@contextmanager
def _open_in_place(path: str) -> Iterator[BinaryIO]:
    """A file to change in place, readable by its owner only; on the disk when this ends."""
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, 0o600), "r+b") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
