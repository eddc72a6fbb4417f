"""The result of a translation validation: verdict, first difference, and the matching of nodes."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from orgflow_ir.diagnostics import Step
from orgflow_ir.model.records import NamedTuple

VERIFICATION_VERSION = 2
"""Version of the JSON; increased when a field changes its meaning or is removed."""


class Verdict(StrEnum):
    """The verdict on a workflow and a process (DESIGN, idea 4).

    PROVED: every state was examined, including all loops, and every program of the workflow is that
    of the model. CONDITIONAL: as PROVED, provided that the conditions hold, which concern nodes
    that a person added or put in the place of a placeholder. BOUNDED: no difference was found
    within the given bound. CHANGED: content that the compiler wrote differs, and whether it does
    the same was not determined. DIFFERENT: a run shows the difference. NOT_COMPARED: the parts
    of the workflow cannot be distinguished, so nothing was compared.
    """

    PROVED = "proved"
    CONDITIONAL = "proved if"
    BOUNDED = "bounded"
    CHANGED = "changed"
    DIFFERENT = "different"
    NOT_COMPARED = "not compared"


How = Literal["map", "notes", "id", "name", "graph", "copy"]
"""How a node was matched with the model: by the map in the sticky note, the node's own notes, its
id, its name, its neighbours, or as a copy of a matched node."""


class Matched(NamedTuple):
    """A node and the element it belongs to."""

    node: str
    element: str
    how: How


class Changed(NamedTuple):
    """Content of a node that differs from what the compiler writes for the model.

    Attributes:
        node: the node that contains it.
        element: id of the element it belongs to.
        was: the content as compiled, as text.
        now: the current content.
    """

    node: str
    element: str
    was: str
    now: str


ConditionKind = Literal["one-item", "keeps-variables"]
"""What has to hold of a node: it returns one item for one item, or it leaves variables as they are
that are not its own."""


class Condition(NamedTuple):
    """What has to hold for a workflow to be proved.

    Attributes:
        kind: see `ConditionKind`.
        node: the node that it concerns.
        element: id of the element that the node stands for; empty for an added node.
        text: the condition as words that follow "if".
        variables: the variables that it concerns.
    """

    kind: ConditionKind
    node: str
    element: str
    text: str
    variables: tuple[str, ...] = ()


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
        bound: the part that was not examined, for BOUNDED; why nothing was, for NOT_COMPARED.
        difference: for DIFFERENT.
        changed: content that differs from that of the model, for CHANGED.
        conditions: what has to hold, for CONDITIONAL.
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
    conditions: tuple[Condition, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether at least one state was examined, and nothing was found that differs."""
        return self.permits_edits and self.verdict is not Verdict.CHANGED

    @property
    def permits_edits(self) -> bool:
        """Whether the workflow may be merged or deployed with the edits of a person, who may have
        changed content on purpose: as `ok`, but for such changes."""
        return self.verdict is not Verdict.DIFFERENT and self.states > 0
