"""The plan of a deployment: workflows paired with those on the server, in the order of their
calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

from orgflow.backends.n8n.format.document import to_api
from orgflow.backends.n8n.format.identity import CALLED_PROCESS_PREFIX
from orgflow.backends.n8n.format.json_values import mapping
from orgflow.backends.n8n.format.merge_base import is_kept_base, pack_base
from orgflow.backends.n8n.format.support_ids import SUPPORT_IDS
from orgflow.backends.n8n.format.versions import DEFAULT_VERSION, N8nVersion
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.merge.merge_outcome import Merged
from orgflow.backends.n8n.node_types.workflow_calls import called_workflows
from orgflow.backends.n8n.plan.scopes import MOST_NAME
from orgflow.backends.n8n.server.deploy.git_history import contains_commit, is_another_repository
from orgflow.backends.n8n.server.deploy.open_rows import OpenRows
from orgflow.backends.n8n.server.deploy.process_similarity import (
    NOWHERE,
    Origin,
    Steps,
    is_renamed,
    is_same_process,
    steps_of,
)
from orgflow.backends.n8n.server.deploy.succession import find_predecessor, is_for_callers
from orgflow.backends.n8n.server.deployment_marker import (
    RUN_MARK,
    DeploymentMarker,
    adoptable_marker,
    copied_from,
    differs_from,
    digest_of,
    identity_of,
    is_edited,
    marker_of,
    node_ids,
)

from orgflow_ir.model.records import NamedTuple, dataclass

Json = dict[str, Any]

_COMPILED = ("id", "name", "nodes", "connections", "settings")
_SHARE = 0.5
"""Share of orgflow's nodes that a workflow without its note must still have to be recognised."""


class Wanted(NamedTuple):
    """A workflow to deploy, in file form.

    Attributes:
        workflow: the content of the file.
        source: the file; workflows of one file are deployed together or not at all.
        origin: the place of its source model.
        named: whether it was named for this deployment, and so is a separate workflow.
        verify: for a compiled model, the differences of a workflow from the model, in words, or
            nothing. None for a file.
        bases: returns the packed base stored next to the source, by its id.
        kept: whether a person's edits are merged into it.
    """

    workflow: Mapping[str, Any]
    source: str
    origin: Origin = NOWHERE
    named: bool = False
    verify: Callable[[Mapping[str, Any]], str] | None = None
    bases: Callable[[str], str | None] = lambda _: None
    kept: bool = False

    @property
    def name(self) -> str:
        return str(self.workflow.get("name") or "workflow")

    @property
    def identity(self) -> str:
        return identity_of(self.workflow)

    @property
    def model(self) -> str:
        """The hash of its source model; empty for a file that differs from the compiled one."""
        if self.verify is None and not is_as_compiled(self.workflow):
            return ""
        return WorkflowDocument(self.workflow).map.model


class Problem(NamedTuple):
    """A problem that prevents the deployment of a workflow.

    Attributes:
        kind: `edited`, `foreign` (not created by a deployment), `copy` (of a deployed one),
            `ambiguous`, `circle`, `twice`, `missing`, `another` (from another process),
            `other-file` (from another file that still exists), `other-repository` (from a file in
            another git repository), `renamed` (the same process under
            another name), `conflict` (with a person's edits), `unverified` (merged, it would not
            behave like the model), `older` (a model that was deployed before and replaced since),
            `open-rows` (which the new version would lose), `old-n8n` (without Data Tables).
        detail: of the kind.
        newer: for `older`, whether the checkout is known to lack the replacing commit.
    """

    kind: str
    detail: str = ""
    newer: bool = False


@dataclass
class Step:
    """One workflow of a deployment.

    Attributes:
        wanted: the workflow to deploy.
        existing: its current version on the server; None for a new one.
        problems: the problems that prevent its deployment.
        replaces: the name of `existing`, if this is another workflow, which had the same callers.
        moved_from: the place of its previous source file, if it is another one that no longer
            exists.
        spare: ids of unpublished twins of `existing`, which a killed deployment left behind.
        merged: the result of merging a person's edits.
        adopted: the note of `existing`, if it came from another server or a backup.
        reverted: the commit of the model that an earlier one replaces, if the checkout contains it.
        claimed: whether `existing` belonged to another repository, and is taken over.
        open_rows: what becomes of the open rows of `existing`, if it has any.
        moved: number of open rows that were given another element or link.
    """

    wanted: Wanted
    existing: Json | None = None
    problems: tuple[Problem, ...] = ()
    spare: tuple[str, ...] = ()
    moved_from: str = ""
    replaces: str = ""
    merged: Merged | None = None
    adopted: DeploymentMarker | None = None
    reverted: str = ""
    claimed: bool = False
    open_rows: OpenRows | None = None
    moved: int = 0

    def __post_init__(self) -> None:
        self.asked = self.wanted
        """The wanted workflow before anything was merged into it."""

    @property
    def marker(self) -> DeploymentMarker | None:
        """The marker of the existing workflow; None if it has no own note."""
        if self.adopted is not None or self.existing is None:
            return self.adopted
        return marker_of(self.existing)


@dataclass
class Group:
    """Steps that succeed or fail together, called workflows before their callers."""

    steps: list[Step] = field(default_factory=list)


class Inventory:
    """The workflows of a server by the search keys of a deployment; archived ones are omitted.

    Args:
        rows: the server's list.
        version: the version of the server.
    """

    def __init__(self, rows: Iterable[Json], version: N8nVersion = DEFAULT_VERSION) -> None:
        self._version = version
        self.by_id: dict[str, Json] = {}
        self.by_identity: dict[str, list[Json]] = {}
        self._by_name: dict[str, list[Json]] = {}
        self._by_node: dict[str, list[Json]] = {}
        self._by_noted: dict[str, list[Json]] = {}
        for row in rows:
            if row.get("isArchived"):
                continue
            self.by_id[str(row["id"])] = row
            marker = marker_of(row)
            if marker is not None:
                self.by_identity.setdefault(marker.identity, []).append(row)
                continue
            noted = adoptable_marker(row)
            if noted is not None:
                self._by_noted.setdefault(noted.identity, []).append(row)
            self._by_name.setdefault(str(row.get("name")), []).append(row)
            for node in node_ids(row):
                self._by_node.setdefault(node, []).append(row)

    def partner(
        self, wanted: Wanted, take_over: bool, claimed: frozenset[str] = frozenset()
    ) -> Step:
        """The workflow paired with the one to update, or with none; `claimed` are the identities of
        all workflows of the deployment."""
        mine = self.by_identity.get(wanted.identity, [])
        if mine:
            return self._compare_step(_choose_among(wanted, mine, take_over), take_over)
        adopted = self._adopt(wanted, take_over)
        if adopted is not None:
            return adopted
        ours = self._without_note(wanted)
        alike = ours or self._by_name.get(wanted.name[:MOST_NAME], [])
        if not alike:
            return self._under_another_name(wanted, take_over, claimed)
        if not take_over:
            return Step(wanted, alike[0], (_not_ours(alike[0], bool(ours)),))
        if len(alike) > 1:
            return Step(wanted, None, (Problem("ambiguous", _list_ids(alike)),))
        return Step(wanted, alike[0])

    def _adopt(self, wanted: Wanted, take_over: bool) -> Step | None:
        """The step with the workflow that came from another server or a backup: its note is that of
        this workflow but for the id on the server, and it still has the name. A copy that somebody
        made beside the deployed workflow is none, since that is found first."""
        rows = [
            row
            for row in self._by_noted.get(wanted.identity, ())
            if row.get("name") == wanted.name[:MOST_NAME]
        ]
        noted = adoptable_marker(rows[0]) if len(rows) == 1 else None
        # A note without an id is of a deployment that was killed.
        if noted is None or not noted.server:
            return None
        edited = differs_from(rows[0], noted) and not take_over
        problems = (Problem("edited", str(rows[0]["id"])),) if edited else ()
        return self._compare_step(Step(wanted, rows[0], problems, adopted=noted), take_over)

    def _compare_step(self, step: Step, take_over: bool) -> Step:
        """The step, with what stands against it where the workflow of this identity is made from
        another process or another file: the ids of models are often a tool's defaults."""
        now, wanted, marker = step.existing, step.wanted, step.marker
        if now is None or marker is None:
            return step
        if is_another_repository(wanted.origin.repository.noted_digests, marker.repository):
            step.claimed = take_over
            if not take_over:
                # Neither its edits nor its model concern this repository.
                detail = f"{now['id']} {marker.origin}".strip()
                step.problems = (Problem("other-repository", detail),)
            return step
        if marker.sent == digest_of(to_api(wanted.workflow, self._version)):
            return step
        origin = wanted.origin
        elsewhere = bool(origin.place and marker.origin and origin.place != marker.origin)
        there = elsewhere and origin.is_there(marker.origin)
        kind = "other-file" if there else "another"
        same = is_same_process(steps_of(now), steps_of(wanted.workflow))
        if not take_over and (there or not same):
            problem = Problem(kind, f"{now['id']} {marker.origin}".strip())
            step.problems = (*step.problems, problem)
        elif elsewhere and not there:
            step.moved_from = marker.origin
        return step

    def _under_another_name(self, wanted: Wanted, take_over: bool, claimed: frozenset[str]) -> Step:
        """The workflow paired with one that is made from the same process and has another identity,
        unless the file of that one is still there: then they are two."""
        if wanted.named or is_for_callers(wanted.workflow):  # those of others may stay beside it
            return Step(wanted)
        steps = steps_of(wanted.workflow)
        candidates = [
            row
            for row, marker, old in self._list_deployed
            if marker.identity not in claimed and _is_renamed(marker, old, wanted, steps)
        ]
        if not candidates:
            return Step(wanted)
        if not take_over:
            names = ", ".join(sorted(f"`{row.get('name')}` (id {row['id']})" for row in candidates))
            return Step(wanted, candidates[0], (Problem("renamed", names),))
        if len(candidates) > 1:
            return Step(wanted, None, (Problem("ambiguous", _list_ids(candidates)),))
        return Step(wanted, candidates[0])

    @cached_property
    def _list_deployed(self) -> tuple[tuple[Json, DeploymentMarker, Steps], ...]:
        """What has a marker, but for copies that `run` made."""
        return tuple(
            (row, marker, steps_of(row))
            for identity, rows in self.by_identity.items()
            if not identity.startswith(RUN_MARK)
            for row in rows
            if (marker := marker_of(row)) is not None
        )

    def _without_note(self, wanted: Wanted) -> list[Json]:
        """Workflows with the ids of our nodes, whose note somebody has deleted."""
        ours = node_ids(wanted.workflow)
        candidates = {
            str(row["id"]): row for node in sorted(ours) for row in self._by_node.get(node, ())
        }
        return [
            row
            for row in candidates.values()
            if len(node_ids(row) & ours) > _SHARE * max(1, len(ours))
        ]


def _not_ours(row: Json, by_nodes: bool) -> Problem:
    """Why a workflow without a marker is left alone; `by_nodes`: it has the ids of our nodes."""
    original = copied_from(row)
    if original is not None:
        return Problem("copy", f"{row['id']} {original}".strip())
    return Problem("edited" if by_nodes else "foreign", str(row["id"]))


def _is_renamed(marker: DeploymentMarker, old: Steps, wanted: Wanted, new: Steps) -> bool:
    if is_another_repository(wanted.origin.repository.noted_digests, marker.repository):
        return False
    same_file = bool(marker.origin) and marker.origin == wanted.origin.place
    if not is_renamed(old, new, same_file):
        return False
    return same_file or not wanted.origin.is_there(marker.origin)


def _choose_among(wanted: Wanted, mine: Sequence[Json], take_over: bool) -> Step:
    """One of several with the note of this workflow: the published one, else the oldest. Others
    are left from a deploy that was killed, if nobody has touched or published them."""
    kept = [row for row in mine if row.get("active")] or list(mine)
    kept.sort(key=lambda row: (is_edited(row), str(row.get("createdAt")), str(row["id"])))
    rest = [row for row in mine if row is not kept[0]]
    # One whose note has its id was completed: it is no rest of a killed deploy but was restored.
    if any(row.get("active") or is_edited(row) or _is_complete(row) for row in rest):
        return Step(wanted, None, (Problem("ambiguous", _list_ids(mine)),))
    problems: tuple[Problem, ...] = ()
    if is_edited(kept[0]) and not take_over:
        problems = (Problem("edited", str(kept[0]["id"])),)
    return Step(wanted, kept[0], problems, tuple(str(row["id"]) for row in rest))


def _is_complete(row: Json) -> bool:
    marker = marker_of(row)
    return marker is not None and bool(marker.server)


def is_as_compiled(workflow: Mapping[str, Any]) -> bool:
    """Whether a workflow is exactly the compiled form of a model."""
    rows = [row for row in workflow.get("nodes", ()) if isinstance(row, Mapping)]
    contents = [str(mapping(row.get("parameters")).get("content", "")) for row in rows]
    try:
        packed = pack_base({k: workflow[k] for k in _COMPILED if k in workflow})
        return is_kept_base(contents, packed)
    except (KeyError, TypeError, IndexError, AttributeError):
        return False  # not even the form of a compile


def plan_groups(
    wanted: Sequence[Wanted],
    inventory: Inventory,
    *,
    take_over: bool = False,
    rollback: bool = False,
    beside: frozenset[str] = frozenset(),
) -> tuple[Group, ...]:
    """Groups in the order of the files; the problems of a workflow are in its step.

    Args:
        wanted: the workflows to deploy.
        inventory: the existing workflows.
        take_over: whether to overwrite workflows that others created or edited.
        rollback: whether a replaced model may be deployed again.
        beside: identities of the other workflows of the same command.
    """
    claimed = beside | {workflow.identity for workflow in wanted}
    steps = [inventory.partner(workflow, take_over, claimed) for workflow in wanted]
    places: dict[str, int] = {}
    for index, step in enumerate(steps):
        if step.wanted.identity in places:
            first = steps[places[step.wanted.identity]].wanted
            step.problems = (Problem("twice", first.source),)
        places.setdefault(step.wanted.identity, index)
    _same_partner(steps)
    _pair_successors(steps, inventory, claimed)
    for step in steps:
        if not (rollback or take_over or step.problems or _finds_process(step, inventory)):
            _check_older(step)
    calls = [_find_calls(step, places, inventory) for step in steps]
    groups = _group_steps(steps, calls)
    return tuple(Group([steps[i] for i in _bottom_up(group, calls, steps)]) for group in groups)


def _pair_successors(steps: Sequence[Step], inventory: Inventory, claimed: frozenset[str]) -> None:
    """Pair new workflows of a process for its callers with those that the same callers have called:
    their runs and edits stay."""
    updated = {str(step.existing["id"]) for step in steps if step.existing is not None}
    rows = [row for identity in claimed for row in inventory.by_identity.get(identity, ())]
    taken = updated.union(str(row["id"]) for row in rows)
    for step in steps:
        wanted = step.wanted
        if step.existing is not None or step.problems or wanted.named:
            continue
        if is_for_callers(wanted.workflow):
            predecessor = find_predecessor(
                wanted.workflow, inventory.by_id.values(), updated, taken
            )
            if predecessor is not None:
                step.existing, step.replaces = predecessor, str(predecessor.get("name"))
                taken.add(str(predecessor["id"]))


def _finds_process(step: Step, inventory: Inventory) -> bool:
    """Whether it calls a process again that was not found when the existing workflow was compiled:
    the model is the same then, and no earlier one."""
    calls = {identity for identity, _ in called_workflows(step.wanted.workflow)}
    for id, _ in called_workflows(step.existing or {}):
        row = inventory.by_id.get(id)
        marker = marker_of(row) if row is not None else None
        if row is None or marker is None or marker.identity in calls:
            continue
        if (WorkflowDocument(row).map.process or "").startswith(CALLED_PROCESS_PREFIX):
            return True
    return False


def _check_older(step: Step) -> None:
    """A problem where the model was deployed before and another one has replaced it since, unless
    the checkout contains the commit of that one: it is out of date, or unknown."""
    marker, model = step.marker, step.wanted.model
    if marker is None or not model or model == marker.model or model not in marker.earlier:
        return
    # A checkout with the replacing commit goes back on purpose, as after `git revert`.
    origin = step.wanted.origin
    known = bool(marker.commit) and origin != NOWHERE
    contained = contains_commit(origin.root, marker.commit) if known else None
    if contained:
        step.reverted = marker.commit
    else:
        step.problems = (Problem("older", str(marker.revision), contained is False),)


def _same_partner(steps: list[Step]) -> None:
    """Two workflows of one name cannot both take over the one that is there."""
    seen: dict[str, Step] = {}
    for step in steps:
        if step.existing is None:
            continue
        other = seen.setdefault(str(step.existing["id"]), step)
        if other is not step and not step.problems:
            step.problems = (Problem("twice", other.wanted.source),)


def _find_calls(step: Step, places: Mapping[str, int], inventory: Inventory) -> list[int]:
    """Which of the others it calls; what is nowhere becomes a problem."""
    calls = []
    for identity, where in called_workflows(step.wanted.workflow):
        if identity in places:
            calls.append(places[identity])
        elif identity in SUPPORT_IDS:
            continue  # the deployment installs them
        elif identity not in inventory.by_identity and identity not in inventory.by_id:
            step.problems = (*step.problems, Problem("missing", f"{identity} in {where}"))
    return calls


def _group_steps(steps: Sequence[Step], calls: Sequence[Sequence[int]]) -> list[list[int]]:
    """Steps connected by calls or by their file."""
    root = list(range(len(steps)))

    def find_root(index: int) -> int:
        while root[index] != index:
            root[index] = root[root[index]]
            index = root[index]
        return index

    first: dict[str, int] = {}
    for index, step in enumerate(steps):
        pairs = [*calls[index], first.setdefault(step.wanted.source, index)]
        for other in pairs:
            a, b = sorted((find_root(index), find_root(other)))
            root[b] = a
    groups: dict[int, list[int]] = {}
    for index in range(len(steps)):
        groups.setdefault(find_root(index), []).append(index)
    return list(groups.values())


def _bottom_up(
    group: Sequence[int], calls: Sequence[Sequence[int]], steps: Sequence[Step]
) -> list[int]:
    """Called before caller, else in the order of the files; circles are a problem of each in one
    (but for a workflow that calls itself)."""
    order: list[int] = []
    left = list(group)
    while left:
        ready = [i for i in left if all(c == i or c not in left for c in calls[i])]
        if not ready:
            circle = [i for i in left if _is_reachable(i, i, calls)]
            for index in circle:
                names = ", ".join(f"`{steps[i].wanted.name}`" for i in circle)
                steps[index].problems = (*steps[index].problems, Problem("circle", names))
            return [*order, *left]
        order += ready
        left = [i for i in left if i not in ready]
    return order


def _is_reachable(start: int, goal: int, calls: Sequence[Sequence[int]]) -> bool:
    seen: set[int] = set()
    todo = [c for c in calls[start] if c != start]
    while todo:
        index = todo.pop()
        if index == goal:
            return True
        if index not in seen:
            seen.add(index)
            todo += calls[index]
    return False


def _list_ids(rows: Sequence[Json]) -> str:
    return ", ".join(sorted(str(row["id"]) for row in rows))
