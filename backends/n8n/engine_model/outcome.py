"""Decisions outside of n8n's engine: the outcome of the running node."""

from __future__ import annotations

from typing import Final

from orgflow_ir.model.records import dataclass


@dataclass(frozen=True, slots=True)
class Runs:
    """The node has a single possible behaviour: a Merge merges, a NoOp passes on, a call is
    made."""


@dataclass(frozen=True, slots=True)
class Emits:
    """The node outputs items; valid for every node that is not disabled.

    Attributes:
        counts: items on each output, including the error output (the last one, if the node has
            `continueErrorOutput`); outputs past the end get none.
    """

    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fails:
    """The node throws, after all its tries.

    Without `onError` that ends the execution. With it, n8n passes the *input* on by output 0, also
    under `continueErrorOutput`: only items that a node itself marks as failed leave by the error
    output, which is `Emits`.
    """


@dataclass(frozen=True, slots=True)
class Opens:
    """The node begins to wait.

    Attributes:
        in_process: whether n8n sleeps (a timer under 65 s) instead of storing the execution.
    """

    in_process: bool = False


@dataclass(frozen=True, slots=True)
class Resumes:
    """The wait ends.

    Attributes:
        items: number of items in the answer; None for a timer or an elapsed time limit: the input
            is passed on.
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
