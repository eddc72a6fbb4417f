"""BERT's tokens: lower-cased words split into the longest pieces of a vocabulary."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache

_PARTS = re.compile(r"\w+|[^\w\s]", re.UNICODE)
MAX_WORD = 100


class WordPiece:
    """Splits texts into the ids of a vocabulary (`bert-base-uncased`)."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._ids = dict(vocabulary)
        self._unknown = self._ids["[UNK]"]
        self._begin, self._end = self._ids["[CLS]"], self._ids["[SEP]"]
        self._cut = lru_cache(maxsize=100_000)(self._pieces)

    def ids(self, text: str, longest: int) -> list[int]:
        """The ids of a text between the begin and end marks, at most `longest`."""
        ids: list[int] = [self._begin]
        for word in self._words(text):
            ids += self._cut(word)
            if len(ids) >= longest:
                break
        return [*ids[: longest - 1], self._end]

    def _words(self, text: str) -> list[str]:
        if not text.isascii():
            text = "".join(
                " " if unicodedata.category(c) in ("Cc", "Cf", "Zs") else
                f" {c} " if 0x4E00 <= ord(c) <= 0x9FFF else c
                for c in text
            )  # fmt: skip
            text = unicodedata.normalize("NFD", text.lower())
            text = "".join(c for c in text if unicodedata.category(c) != "Mn")
        else:
            text = text.lower()
        return [w for part in _PARTS.findall(text) for w in part.replace("_", " _ ").split()]

    def _pieces(self, word: str) -> tuple[int, ...]:
        if len(word) > MAX_WORD:
            return (self._unknown,)
        pieces: list[int] = []
        begin = 0
        while begin < len(word):
            end = len(word)
            while end > begin:
                piece = word[begin:end] if begin == 0 else "##" + word[begin:end]
                piece_id = self._ids.get(piece)
                if piece_id is not None:
                    pieces.append(piece_id)
                    break
                end -= 1
            else:
                return (self._unknown,)
            begin = end
        return tuple(pieces)
