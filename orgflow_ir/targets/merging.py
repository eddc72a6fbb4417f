"""What a merge says: an edited file of a target with the changes of its model, or conflicts."""

from __future__ import annotations

from typing import Literal, NamedTuple

from orgflow_ir.targets.artifact import Artifact

Origin = Literal["model", "workflow"]


class MergeChange(NamedTuple):
    """Something that one side changed and the merged file has.

    Attributes:
        origin: the side that changed it: the model, or the file as a person edited it.
        text: what it is.
        notable: whether somebody should look at it: it had to be adapted.
    """

    origin: Origin
    text: str
    notable: bool = False


class MergeConflict(NamedTuple):
    """Something that both sides changed, so only a person can say which one counts.

    Attributes:
        name: what it is about, as people call it.
        workflow: what the edited file has.
        model: what the model has.
        help: how to settle it.
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
        name: what it is called.
        changes: what either side changed, those of the model first.
        conflicts: what has to be settled first.
        two_way: the previous compile was not available.
        new: only the model has it.
    """

    name: str
    changes: tuple[MergeChange, ...] = ()
    conflicts: tuple[MergeConflict, ...] = ()
    two_way: bool = False
    new: bool = False


class Merging(NamedTuple):
    """The result for one file.

    Attributes:
        artifacts: the merged files under the names that a compile gives them; empty where there
            are conflicts.
        parts: a workflow each.
    """

    artifacts: tuple[Artifact, ...]
    parts: tuple[MergedPart, ...]


def merging_text(merging: Merging) -> str:
    """The result for people: a block a workflow."""
    lines: list[str] = []
    for part in merging.parts:
        state = "conflicts" if part.conflicts else "new" if part.new else "merged"
        lines.append(f"{state:<10} `{part.name}`")
        for origin, words in (("model", "from the model"), ("workflow", "kept from the workflow")):
            found = [one.text for one in part.changes if one.origin == origin]
            lines += [f"  {words}:", *(f"    {text}" for text in found)] if found else []
        lines += [f"  conflict: {conflict}" for conflict in part.conflicts]
    return "".join(f"{line}\n" for line in lines)
