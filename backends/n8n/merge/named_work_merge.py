"""Workflows of named work in files of an earlier compile: what somebody implemented there stays."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from orgflow.backends.n8n.format.compiled_workflow import (
    Bases,
    exists_for_callers,
    is_implemented,
    read_base,
)
from orgflow.backends.n8n.format.document import dump_json
from orgflow.backends.n8n.format.identity import MAP_PREFIX, WORK_PREFIX
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument, workflows_of
from orgflow.backends.n8n.merge.file_merge import report_merge
from orgflow.backends.n8n.merge.merge_rules import UncalledWork, UnmergeableFile
from orgflow.backends.n8n.merge.three_way_merge import merge_workflows
from orgflow.backends.n8n.node_types.workflow_calls import called_workflows
from orgflow.backends.n8n.plan.named_work import WORK_TO_DO, work_to_do
from orgflow.backends.n8n.plan.scope_plan import ScopePlan

from orgflow_ir.diagnostics import Severity
from orgflow_ir.model.json_source_map import JsonFault, parse_json
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.artifact import Artifact, Emitted

if TYPE_CHECKING:
    from orgflow.backends.n8n.emit.compiled import CompiledScope


class _Written(NamedTuple):
    """A workflow in a file of an earlier compile."""

    file: SourceFile
    workflow: WorkflowDocument


def keep_filled(
    compiled: Sequence[Emitted], there: Sequence[SourceFile], ctx: PassContext, bases: Bases
) -> tuple[Emitted, ...]:
    """See `Backend.keep_filled`."""
    workflows = [item for file in there for item in _written_workflows(file)]
    if not workflows:
        return tuple(compiled)
    named = _named_scopes(compiled)
    new = {
        item.path: WorkflowDocument(json.loads(item.text))
        for emitted in compiled
        for item in emitted.artifacts
    }
    ours = {path: document for path, document in new.items() if document.id in named}
    texts: dict[str, str] = {}
    for file, theirs in workflows:
        place = SourceLocation(file=file.path, line=1)
        path = _same_work(theirs, ours)
        base = read_base(theirs, bases)
        if path is None:
            if not (theirs.map.process or "").startswith(WORK_PREFIX):
                continue
            if is_implemented(theirs, bases):
                ctx.emit(
                    UnmergeableFile,
                    f"{file.path} contains the implementation of `{theirs.title}`, which the model "
                    "no longer names, and would be overwritten",
                    loc=place,
                    help="move the file to another folder, or delete it",
                )
            continue
        merged = merge_workflows(base, theirs.raw, ours[path].raw)
        report_merge(merged, theirs.title, place, ctx)
        # What calls it is compiled with the id of this compile.
        texts[path] = dump_json({**merged.workflow, "id": ours[path].raw["id"]})
    changed = {p for p, text in texts.items() if text != dump_json(ours[p].raw)}
    if not changed:
        return tuple(compiled)
    scopes = {path: named[document.id] for path, document in ours.items() if document.id}
    return tuple(_replace_texts(emitted, texts, changed, scopes) for emitted in compiled)


def report_uncalled(
    compiled: Sequence[Emitted], beside: Sequence[SourceFile], ctx: PassContext, bases: Bases
) -> None:
    """See `Backend.report_uncalled`."""
    if not any(MAP_PREFIX.encode() in file.data for file in beside):
        return
    there = [item for file in beside for item in _written_workflows(file)]
    new = [WorkflowDocument(json.loads(a.text)) for item in compiled for a in item.artifacts]
    ids = {document.id for document in new}
    left = [
        item for item in there if exists_for_callers(item.workflow) and item.workflow.id not in ids
    ]
    if not left:
        return
    gone = [item.workflow for item in left]
    while True:
        calls = {
            id
            for item in (*new, *(item.workflow for item in there))
            if item not in gone
            for id, _ in called_workflows(item.raw)
        }
        still = [item for item in gone if item.id not in calls]
        if len(still) == len(gone):
            break
        gone = still
    for file, workflow in left:
        if workflow in gone:
            _report_uncalled(file, workflow, ctx, bases)


def _report_uncalled(
    file: SourceFile, workflow: WorkflowDocument, ctx: PassContext, bases: Bases
) -> None:
    implemented = is_implemented(workflow, bases)
    folder = os.path.dirname(file.path) or "."
    what = ", which somebody implemented," if implemented else ""
    ctx.emit(
        UncalledWork,
        f"no workflow in {folder} calls `{workflow.title}`{what} any more; {file.path} was not "
        "changed",
        loc=SourceLocation(file=file.path, line=1),
        severity=None if implemented else Severity.INFO,
        help="copy its nodes into the workflow that is called now, then delete the file"
        if implemented
        else "delete the file if nobody needs it",
    )


def _written_workflows(file: SourceFile) -> Iterator[_Written]:
    """The workflows in a file."""
    try:
        workflows = workflows_of(parse_json(file.path, file.data).root.value)
    except JsonFault:
        return
    yield from (_Written(file, workflow) for workflow in workflows)


def _named_scopes(outputs: Sequence[Emitted]) -> dict[str | None, CompiledScope]:
    """What workflows of named work were compiled from, by their ids."""
    return {
        scope.workflow["id"]: scope
        for emitted in outputs
        for process in emitted.compiled.values()
        for scope in process.scopes
        if scope.plan.scope.only_called
    }


def _same_work(theirs: WorkflowDocument, ours: Mapping[str, WorkflowDocument]) -> str | None:
    """The path of the workflow for the same work. A copy from an editor has another id, and has no
    map if somebody deleted the note."""
    for path, document in ours.items():
        if document.id == theirs.id:
            return path
    process = theirs.map.process
    for path, document in ours.items():
        if document.title == theirs.title and process in (None, document.map.process):
            return path
    return None


def _replace_texts(
    emitted: Emitted,
    texts: Mapping[str, str],
    changed: set[str],
    scopes: Mapping[str, CompiledScope],
) -> Emitted:
    """What was emitted, with merged texts; the list of work names the files that have edits."""
    mine = {artifact.path for artifact in emitted.artifacts}
    return dataclasses.replace(
        emitted,
        artifacts=tuple(Artifact(a.path, texts.get(a.path, a.text)) for a in emitted.artifacts),
        beside=tuple(
            Artifact(a.path, work_to_do(_listed_scopes(a, mine, scopes), changed))
            if a.path.endswith(WORK_TO_DO)
            else a
            for a in emitted.beside
        ),
    )


def _listed_scopes(
    work: Artifact, mine: set[str], scopes: Mapping[str, CompiledScope]
) -> dict[str, ScopePlan]:
    """What a list of work is about: one without a prefix is about all models."""
    alone = work.path != WORK_TO_DO
    return {path: scope.plan for path, scope in scopes.items() if not alone or path in mine}
