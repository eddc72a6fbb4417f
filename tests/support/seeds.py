"""How many random cases a test tries: a tenth in `make test`, all with `make fuzz`."""

from __future__ import annotations

import os

EVERY = os.environ.get("ORGFLOW_FUZZ", "") not in ("", "0")
"""Whether every seed is tried: `make fuzz` sets ORGFLOW_FUZZ=1."""

SHARE = 10
"""Of so many seeds `make test` tries one."""


def seeds(*bounds: int) -> range:
    """`range(*bounds)`, or every tenth number of it."""
    whole = range(*bounds)
    return whole if EVERY else whole[::SHARE]


def at_least(count: int) -> int:
    """What a test expects to have met at least, where `count` is expected of every seed. A tenth of
    the seeds may meet less than a tenth of it by chance: half of that is asked for, at least 1."""
    return count if EVERY else max(1, count // (2 * SHARE))
