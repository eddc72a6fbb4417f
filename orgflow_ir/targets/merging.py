"""The result of a merge: an edited file of a target with the changes of its model, or conflicts."""

from __future__ import annotations

from typing import Literal

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.targets.artifact import Artifact

Origin = Literal["model", "workflow"]


class MergeChange(NamedTuple):
    """A change by one side that the merged file contains.

    Attributes:
        origin: the side that made the change: the model, or the edited file.
        text: a description of the change.
        notable: whether somebody should review it, because it had to be adapted.
    """

    origin: Origin
    text: str
    notable: bool = False


class MergeConflict(NamedTuple):
    """A conflicting change by both sides, which only a person can resolve.

    Attributes:
        name: the name of the changed part, for people.
        workflow: the content of the edited file.
        model: the content of the model.
        help: how to resolve it.
    """

    name: str
    workflow: str
    model: str
    help: str

    def __str__(self) -> str:
        return f"`{self.name}`: in the workflow {self.workflow}; in the model {self.model}"


class MergedPart(NamedTuple):
    """One workflow of the merged file.

    Attributes:
        name: its name.
        changes: the changes of both sides, those of the model first.
        conflicts: conflicts that have to be resolved first.
        two_way: whether the previous compile was not available.
        new: whether only the model contains it.
        removed: whether only the edited file contains it.
        kept: whether the merged file contains it although it was removed from the model.
    """

    name: str
    changes: tuple[MergeChange, ...] = ()
    conflicts: tuple[MergeConflict, ...] = ()
    two_way: bool = False
    new: bool = False
    removed: bool = False
    kept: bool = False


class Merging(NamedTuple):
    """The result for one file.

    Attributes:
        artifacts: the merged files under the names that a compile gives them; empty if there are
            conflicts.
        parts: one result per workflow.
        kept: workflows that the model has no more and that the merged file keeps.
    """

    artifacts: tuple[Artifact, ...]
    parts: tuple[MergedPart, ...]
    kept: tuple[Artifact, ...] = ()


def _describe_state(part: MergedPart) -> str:
    if part.removed:
        return "kept" if part.kept else "removed"
    return "conflicts" if part.conflicts else "new" if part.new else "merged"


def merging_text(merging: Merging) -> str:
    """The result as text for people, one block per workflow."""
    lines: list[str] = []
    for part in merging.parts:
        state = _describe_state(part)
        lines.append(f"{state:<10} `{part.name}`")
        for origin, words in (("model", "from the model"), ("workflow", "kept from the workflow")):
            texts = [change.text for change in part.changes if change.origin == origin]
            lines += [f"  {words}:", *(f"    {text}" for text in texts)] if texts else []
        lines += [f"  conflict: {conflict}" for conflict in part.conflicts]
    return "".join(f"{line}\n" for line in lines)
