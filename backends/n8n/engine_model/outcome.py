"""What the outside of n8n's engine decides: what the node that runs now does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Runs:
    """The node does the one thing it can do: a Merge merges, a NoOp passes on, a call is made."""


@dataclass(frozen=True, slots=True)
class Emits:
    """The node hands on items; accepted of every node that is not disabled.

    Attributes:
        counts: items on each output, the error output (the last one, where the node has
            `continueErrorOutput`) included; outputs past the end get none.
    """

    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fails:
    """The node throws, after all its tries.

    Without `onError` that ends the execution. With it, n8n hands the *input* on by output 0, also
    under `continueErrorOutput`: by the error output go only the items that a node itself marks as
    failed, which is `Emits`.
    """


@dataclass(frozen=True, slots=True)
class Opens:
    """The node begins to wait.

    Attributes:
        in_process: n8n sleeps (a timer under 65 s) instead of parking the execution.
    """

    in_process: bool = False


@dataclass(frozen=True, slots=True)
class Resumes:
    """The wait ends.

    Attributes:
        items: how many items the answer brings; None for a timer or a time limit that ran out:
            what the node got is passed on.
    """

    items: int | None = None


@dataclass(frozen=True, slots=True)
class Stays:
    """The wait never ends, nor does anything that waits for this execution."""


Outcome = Runs | Emits | Fails | Opens | Resumes | Stays

RUNS: Final = Runs()
FAILS: Final = Fails()
ANSWERED: Final = Resumes(1)
TIMED_OUT: Final = Resumes(None)
