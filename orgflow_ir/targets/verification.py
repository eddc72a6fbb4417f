"""What a translation validation says: verdict, first difference, and how nodes were matched."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, NamedTuple

from orgflow_ir.diagnostics import Step

VERIFICATION_VERSION = 1
"""Version of the JSON; raised when a field changes its meaning or goes."""


class Verdict(StrEnum):
    """What is known of a workflow and a process (DESIGN, idea 4).

    PROVED: every state was looked at, all loops included. BOUNDED: as far as was looked; the bound
    is given. CHANGED: as PROVED, where each changed expression still chooses as the original did,
    which nobody has judged. DIFFERENT: a run shows the difference.
    """

    PROVED = "proved"
    BOUNDED = "bounded"
    CHANGED = "changed expression"
    DIFFERENT = "different"


How = Literal["map", "notes", "id", "name", "graph", "copy"]
"""How a node was tied to the model: the map in the sticky note, the node's own notes, its id, its
name, its neighbours, or as a copy of a node that was."""


class Matched(NamedTuple):
    """A node and the element it belongs to."""

    node: str
    element: str
    how: How


class Changed(NamedTuple):
    """An expression that decides and is not the one the model gives.

    Attributes:
        node: where it stands.
        element: id of the gateway or event it belongs to.
        was: what the model gives, as text.
        now: what stands there.
    """

    node: str
    element: str
    was: str
    now: str


class SideBySide(NamedTuple):
    """One line of two runs: what the model does and what the workflow does, in labels; empty where
    a side does nothing."""

    model: str
    workflow: str


class Difference(NamedTuple):
    """The first difference.

    Attributes:
        message: what differs, in labels.
        lines: both runs up to there.
        steps: the model's side of the run, which the token game can follow.
        unfit: it takes a decision with a value that is no branch's.
    """

    message: str
    lines: tuple[SideBySide, ...] = ()
    steps: tuple[Step, ...] = ()
    unfit: bool = False


class Verification(NamedTuple):
    """The result for one process.

    Attributes:
        process: its id.
        label: its label.
        workflow: name of the workflow; empty where there is none for the process.
        verdict: see `Verdict`.
        states: pairs of an engine configuration and a marking that were looked at.
        bound: what was not looked at, for BOUNDED.
        difference: for DIFFERENT.
        changed: expressions and times that differ from what the model gives.
        added: nodes that stand for nothing in the model, in the order of the file.
        missing: elements without a node.
        matched: nodes that do, with how it is known.
        delayed: what stands still in the workflow while the model lets it go on, in words.
        assumed: assumptions about the environment, as text.
    """

    process: str
    label: str
    workflow: str
    verdict: Verdict
    states: int = 0
    bound: str | None = None
    difference: Difference | None = None
    changed: tuple[Changed, ...] = ()
    added: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    matched: tuple[Matched, ...] = ()
    delayed: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """No difference was found, and something was looked at."""
        return self.verdict is not Verdict.DIFFERENT and self.states > 0
