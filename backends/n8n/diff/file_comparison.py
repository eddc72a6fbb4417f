"""Two files of workflows: read, paired, compared."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Iterator, Mapping, Sequence
from typing import Any

from orgflow.backends.n8n.diff.behaviour import Decisions, diff_behaviour
from orgflow.backends.n8n.diff.changes import list_changes
from orgflow.backends.n8n.diff.comparison_rules import NotComparable
from orgflow.backends.n8n.diff.paired_walk import LIMIT
from orgflow.backends.n8n.format.compiled_workflow import exists_for_callers, is_implemented
from orgflow.backends.n8n.format.matching import (
    BY_ID,
    BY_MAP,
    BY_NOTES,
    ByNeighbours,
    Matching,
    Side,
    by_name,
    match_nodes,
)
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument, workflows_of
from orgflow.backends.n8n.node_types.workflow_calls import called_workflows

from orgflow_ir.model.element_names import join_listed
from orgflow_ir.model.json_source_map import JsonFault, parse_json
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.comparison import Comparison, Part


def diff_files(old: SourceFile, new: SourceFile, ctx: PassContext) -> Comparison | None:
    """The changes from `old` to `new`; `None` after OF490 if a file contains no workflow."""
    versions = [_read_workflows(source, ctx) for source in (old, new)]
    if versions[0] is None or versions[1] is None:
        return None
    parts = []
    pairs = pair_workflows(versions[0], versions[1])
    ids = {mine.id: its.id for mine, its, _ in pairs if mine is not None and its is not None}
    for mine, its, how in pairs:
        if mine is not None and its is not None:
            parts.append(diff_workflows(mine, its, how=how, ids=ids))
        else:
            names = [flow.title if flow is not None else None for flow in (mine, its)]
            parts.append(Part(names[0], names[1], how))
    notes = tuple(_note_options(pairs))
    if len(pairs) > 1:
        notes += tuple(_note_uncalled(pairs))
    return Comparison(old.path, new.path, "workflows", tuple(parts), notes)


Pair = tuple[WorkflowDocument | None, WorkflowDocument | None, str]
"""A workflow of the old and of the new file, and how they were paired."""


def _note_options(pairs: Sequence[Pair]) -> Iterator[str]:
    """Notes about workflows whose versions were compiled with different options."""
    for mine, its, _ in pairs:
        if mine is None or its is None or mine.map.options == its.map.options:
            continue
        old, new = (_describe_options(flow.map.options or {}) for flow in (mine, its))
        yield f"`{its.title}` was compiled with {new}, and its old version with {old}"


def _describe_options(options: Mapping[str, str]) -> str:
    if not options:
        return "default options"
    return join_listed(f"`{key}={options[key]}`" for key in sorted(options))


def _note_uncalled(pairs: Sequence[Pair]) -> Iterator[str]:
    """Notes about implemented workflows that their callers in the old version do not call in the
    new one."""
    olds = [mine for mine, _, _ in pairs if mine is not None]
    now = [its for _, its, _ in pairs if its is not None]
    calls = {id for workflow in now for id in _called_ids(workflow)}
    kept = {(workflow.map.process, workflow.title) for workflow in now if workflow.id in calls}
    for work in olds:
        if work.id in calls or not exists_for_callers(work):
            continue
        if (work.map.process, work.title) in kept or not is_implemented(work, lambda _: None):
            continue
        callers = [
            its.title
            for mine, its, _ in pairs
            if mine is not None and its is not None and work.id in _called_ids(mine)
        ]
        if callers:
            yield (
                f"`{work.title}` has an implementation in the old version, and nothing calls it "
                f"in the new one; {join_listed(f'`{name}`' for name in callers)} called it before"
            )


def _called_ids(workflow: WorkflowDocument) -> set[str]:
    return {id for id, _ in called_workflows(workflow.raw)}


def diff_workflows(
    old: WorkflowDocument | dict[str, Any],
    new: WorkflowDocument | dict[str, Any],
    *,
    how: str = "name",
    limit: int = LIMIT,
    ids: Mapping[str, str] | None = None,
) -> Part:
    """The changes in one workflow; `limit` bounds the explored configurations, and `ids` are those
    of workflows of the new version by their old ids."""
    old = old if isinstance(old, WorkflowDocument) else WorkflowDocument(old)
    new = new if isinstance(new, WorkflowDocument) else WorkflowDocument(new)
    matching = match_versions(old, new)
    decisions = Decisions(old, new, matching)
    return Part(
        old.title,
        new.title,
        how,
        diff_behaviour(old, new, matching, decisions, limit, ids or {}),
        list_changes(old, new, matching, decisions),
        layout=old.raw != new.raw or list(old.raw) != list(new.raw),
    )


def match_versions(old: WorkflowDocument, new: WorkflowDocument) -> Matching[str]:
    """The nodes of two versions, matched."""
    mine, its = (Side(flow.steps, flow.wires, flow.map) for flow in (old, new))
    neighbours = ByNeighbours[str](lambda node: node.type)
    return match_nodes(mine, its, by=(by_name, BY_MAP, BY_NOTES, BY_ID, neighbours))


def _read_workflows(source: SourceFile, ctx: PassContext) -> tuple[WorkflowDocument, ...] | None:
    again = "correct the file, or write it again with `compile` or n8n's export"
    try:
        value = parse_json(source.path, source.data).root.value
    except JsonFault as fault:
        loc = SourceLocation(file=source.path, line=fault.line, column=fault.column)
        message = f"{source.path} cannot be compared: not JSON: {fault.message}"
        ctx.emit(NotComparable, message, loc=loc, help=again)
        return None
    flows = workflows_of(value)
    if not flows:
        message = f"{source.path} cannot be compared: it contains no n8n workflow"
        ctx.emit(NotComparable, message, loc=SourceLocation(file=source.path, line=1), help=again)
        return None
    return flows


def pair_workflows(
    old: tuple[WorkflowDocument, ...], new: tuple[WorkflowDocument, ...]
) -> list[Pair]:
    """The workflows of two files by their source process, by name, by id; a single remaining pair
    is matched. They are in the order of the new file, followed by removed ones."""
    partner: dict[int, tuple[int, str]] = {}
    taken: set[int] = set()
    keys: tuple[tuple[str, Callable[[WorkflowDocument], Hashable]], ...] = (
        ("map", lambda f: (f.map.process, f.title) if f.map.process else None),
        ("name", lambda f: f.title or None),
        ("map", lambda f: f.map.process),
        ("id", lambda f: f.id or None),
    )
    for how, key in keys:
        left = _group_by_key(old, key, taken)
        right = _group_by_key(new, key, partner)
        for value, indexes in right.items():
            for index, other in zip(indexes, left.get(value, ()), strict=False):
                partner[index] = (other, how)
                taken.add(other)
    lone = [i for i in range(len(new)) if i not in partner]
    rest = [i for i in range(len(old)) if i not in taken]
    if len(lone) == len(rest) == 1:
        partner[lone[0]] = (rest[0], "only one")
        rest = []
    pairs: list[Pair] = []
    for index, flow in enumerate(new):
        at, how = partner.get(index, (None, ""))
        pairs.append((old[at] if at is not None else None, flow, how))
    return [*pairs, *((old[i], None, "") for i in rest)]


def _group_by_key(
    flows: Sequence[WorkflowDocument],
    key: Callable[[WorkflowDocument], Hashable],
    taken: Container[int],
) -> dict[Hashable, list[int]]:
    """The indexes of workflows that are not taken, by their keys; without those that have none."""
    groups: dict[Hashable, list[int]] = {}
    for index, flow in enumerate(flows):
        if index not in taken and key(flow) is not None:
            groups.setdefault(key(flow), []).append(index)
    return groups
