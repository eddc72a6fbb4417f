"""The retry time of a temporarily failing call."""

from __future__ import annotations

import time
from collections.abc import Iterator

from orgflow_ir.model.records import NamedTuple


class Backoff(NamedTuple):
    """Doubling pauses, until a time has elapsed.

    Attributes:
        seconds: total retry time of one call; 0 tries once.
        first: the first pause, in seconds.
        most: the longest pause, in seconds, even if the server requests a longer one.
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
