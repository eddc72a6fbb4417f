"""The result of a translation validation: verdict, first difference, and the matching of nodes."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from orgflow_ir.diagnostics import Step
from orgflow_ir.model.records import NamedTuple

VERIFICATION_VERSION = 1
"""Version of the JSON; increased when a field changes its meaning or is removed."""


class Verdict(StrEnum):
    """The verdict on a workflow and a process (DESIGN, idea 4).

    PROVED: every state was examined, including all loops. BOUNDED: no difference was found within
    the given bound. CHANGED: as PROVED, provided that each changed expression still chooses like
    the original, which was not examined. DIFFERENT: a run shows the difference.
    """

    PROVED = "proved"
    BOUNDED = "bounded"
    CHANGED = "changed expression"
    DIFFERENT = "different"


How = Literal["map", "notes", "id", "name", "graph", "copy"]
"""How a node was matched with the model: by the map in the sticky note, the node's own notes, its
id, its name, its neighbours, or as a copy of a matched node."""


class Matched(NamedTuple):
    """A node and the element it belongs to."""

    node: str
    element: str
    how: How


class Changed(NamedTuple):
    """A deciding expression that differs from the one in the model.

    Attributes:
        node: the node that contains it.
        element: id of the gateway or event it belongs to.
        was: the expression of the model, as text.
        now: the current expression.
    """

    node: str
    element: str
    was: str
    now: str


class SideBySide(NamedTuple):
    """One line of two runs: the steps of the model and of the workflow, by label; empty if a side
    does nothing."""

    model: str
    workflow: str


class Difference(NamedTuple):
    """The first difference.

    Attributes:
        message: the difference, with labels.
        lines: both runs up to the difference.
        steps: the model's side of the run, which the token game can follow.
        unfit: whether a decision has a value that belongs to no branch.
        help: how to resolve it; empty if only the difference is known.
    """

    message: str
    lines: tuple[SideBySide, ...] = ()
    steps: tuple[Step, ...] = ()
    unfit: bool = False
    help: str = ""


class Verification(NamedTuple):
    """The result for one process.

    Attributes:
        process: its id.
        label: its label.
        workflow: name of the workflow; empty if the process has none.
        verdict: see `Verdict`.
        states: number of examined pairs of an engine configuration and a marking.
        bound: the part that was not examined, for BOUNDED.
        difference: for DIFFERENT.
        changed: expressions and times that differ from those of the model.
        added: nodes without an element in the model, in the order of the file.
        missing: elements without a node.
        matched: nodes with an element, and how they were matched.
        delayed: a description of work that waits in the workflow although the model lets it
            continue.
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
        """Whether at least one state was examined and no difference was found."""
        return self.verdict is not Verdict.DIFFERENT and self.states > 0
