"""How long a call that failed for the moment is made again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple


class Backoff(NamedTuple):
    """Pauses that double, until a time is over.

    Attributes:
        seconds: how long one call is tried again in all; 0 tries once.
        first: the first pause, in seconds.
        most: the longest pause, in seconds, also where the server asks for a longer one.
    """

    seconds: float = 30.0
    first: float = 0.1
    most: float = 5.0

    def pauses(self) -> Iterator[float]:
        """The pauses before each new try, from now on."""
        deadline = time.monotonic() + self.seconds
        pause = self.first
        while time.monotonic() + pause <= deadline:
            yield pause
            pause = min(pause * 2, self.most)
