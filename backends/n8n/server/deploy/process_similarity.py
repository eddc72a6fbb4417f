"""Whether two workflows are of the same process, by their steps, and the source file of a workflow.

The data of identities (file name, process id, name) are often defaults of the modelling tool, so
they alone do not prove that a workflow on the server may be overwritten.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, Final

from orgflow.backends.n8n.format.identity import folded_name
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.server.deploy.git_history import (
    Repository,
    read_repository,
    remote_address,
)

from orgflow_ir.model.records import NamedTuple

Json = Mapping[str, Any]

SAME_PROCESS: Final = Fraction(1, 3)
"""Share of the smaller one's steps that must be in both for an update of the same identity."""

SAME_UNDER_ANOTHER_NAME: Final = Fraction(1, 2)
"""Share of the larger one's steps that must be in both for another name of the same process."""

_DEFAULT_NAMES: Final = frozenset({"start", "end"})
_NUMBERED: Final = frozenset(
    {
        "activity", "and", "businessrule", "catch", "end", "endevent", "event", "eventbased",
        "eventbasedgateway", "element", "exclusive", "exclusivegateway", "fork", "gateway", "id",
        "inclusive", "inclusivegateway", "intermediatecatchevent", "intermediatethrowevent", "join",
        "manualtask", "node", "or", "parallel", "parallelgateway", "receivetask", "scripttask",
        "sendtask", "servicetask", "sid", "split", "start", "startevent", "step", "task", "throw",
        "usertask", "xor",
    }
)  # fmt: skip
"""Names that are numbered by tools and in hasty models: `Task_1` of two models is not the same
step."""

_LENGTH = 12
_MOST_FOLDERS = 2_000

_LETTERS = re.compile(r"[^a-z]+")


class Steps(NamedTuple):
    """The steps of a workflow.

    Attributes:
        process: the id of its source process, None if it is unknown.
        elements: the id of the element by the name of each step, empty if it does not distinguish
            the step from those of other models.
    """

    process: str | None
    elements: Mapping[str, str]


def steps_of(workflow: Json) -> Steps:
    """The steps of a workflow, without triggers, ends and auxiliary nodes, unless it has no others:
    `Start` is in most models."""
    document = WorkflowDocument(workflow)
    wired = {wire.source for wire in document.wires if wire.kind == "main"}
    every: dict[str, str] = {}
    work: dict[str, str] = {}
    for name, step in document.steps.items():
        if step.tag is not None and step.tag[1]:
            continue
        element = document.map.nodes.get(name, "")
        every[folded_name(name)] = element if _is_telling(element) else ""
        ends = step.short == "noOp" and name not in wired
        if not (step.trigger or ends or folded_name(name) in _DEFAULT_NAMES):
            work[folded_name(name)] = every[folded_name(name)]
    return Steps(document.map.process, work or every)


def is_same_process(old: Steps, new: Steps) -> bool:
    """Whether the new one can be an edit of the old one."""
    least = min(len(old.elements), len(new.elements))
    return not least or _count_common(old, new) >= SAME_PROCESS * least


def is_renamed(old: Steps, new: Steps, same_file: bool) -> bool:
    """Whether the new one is the process of the old one under another name.

    Args:
        old, new: the steps of the two.
        same_file: whether they have the same source file; otherwise the process must have the same
            id.
    """
    if not same_file and (old.process is None or old.process != new.process):
        return False
    most = max(len(old.elements), len(new.elements))
    return bool(most) and _count_common(old, new) >= SAME_UNDER_ANOTHER_NAME * most


def _count_common(old: Steps, new: Steps) -> int:
    ids = {element for element in old.elements.values() if element}
    return sum(name in old.elements or element in ids for name, element in new.elements.items())


def _is_telling(element: str) -> bool:
    """Whether an id says more than a kind and a number."""
    letters = _LETTERS.sub("", element.lower())
    return len(letters) > 2 and letters not in _NUMBERED


class Origin(NamedTuple):
    """The source file of a workflow.

    Attributes:
        root: the folder that contains `place`; specific to this machine and never sent anywhere.
        place: path relative to it, with `/`; empty if it is unknown.
        project: see `project_of`; empty if it is unknown.
        repository: the git repository in `root`.
    """

    root: Path
    place: str
    project: str = ""
    repository: Repository = Repository()

    def is_there(self, place: str) -> bool:
        """Whether another place, from a note on a server, is also a local file."""
        parts = PurePosixPath(place)
        if not place or parts.is_absolute() or ".." in parts.parts or "\0" in place:
            return False
        try:
            return (self.root / parts).is_file()
        except OSError:  # a name that no file can have
            return False


NOWHERE: Final = Origin(Path(), "")


def origin_of(file: str) -> Origin:
    """The place of a file: relative to its git repository, otherwise to its folder, which are the
    same on other machines. Standard input has no place."""
    if file == "-":
        return NOWHERE
    path = Path(file).resolve()
    folders = path.parents
    root = next((folder for folder in folders if (folder / ".git").exists()), None)
    if root is None:
        root = folders[1] if len(folders) > 1 else folders[0]
    place = path.relative_to(root).as_posix()
    shown = place.encode("utf-8", "replace").decode()
    return Origin(root, shown, project_of(root), read_repository(root))


@lru_cache(maxsize=64)
def project_of(root: Path) -> str:
    """A digest that distinguishes the places in one root from those in another: of the address from
    which a git repository was cloned, which is the same on other machines; otherwise of the path of
    the root. Two projects of a server may have files of one place, such as `models/order.bpmn`."""
    address = remote_address(root)
    project = f"git {address}" if address else f"path {root}"
    return hashlib.sha256(project.encode("utf-8", "surrogateescape")).hexdigest()[:_LENGTH]


def deleted_in(folder: str, place: str, project: str) -> bool:
    """Whether a file, known by its place and project, was in a folder or below it, and no longer
    exists."""
    if not place or not project:
        return False
    inside = Path(folder).resolve()
    git = next((parent for parent in (inside, *inside.parents) if (parent / ".git").exists()), None)
    roots = (git,) if git is not None else (inside.parent, *_list_folders(inside))
    for root in roots:
        if project_of(root) == project:
            file = Path(os.path.normpath(root / place))
            return file.is_relative_to(inside) and not Origin(root, place).is_there(place)
    return False


@lru_cache(maxsize=8)
def _list_folders(inside: Path) -> tuple[Path, ...]:
    paths = []
    for place, folders, _ in os.walk(inside):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        paths.append(Path(place))
        if len(paths) == _MOST_FOLDERS:
            break
    return tuple(paths)
