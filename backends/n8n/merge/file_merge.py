"""Files of workflows merged with the current output for their model."""

from __future__ import annotations

import json

from orgflow.backends.n8n.diff.file_comparison import pair_workflows
from orgflow.backends.n8n.format.compiled_workflow import Bases, read_base
from orgflow.backends.n8n.format.document import dump_json
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument, workflows_of
from orgflow.backends.n8n.merge.merge_outcome import Merged
from orgflow.backends.n8n.merge.merge_rules import (
    AdaptedEdit,
    MergeConflicts,
    MergedWithoutBase,
    UnmergeableFile,
)
from orgflow.backends.n8n.merge.three_way_merge import merge_workflows

from orgflow_ir.model.json_source_map import JsonFault, parse_json
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.artifact import Artifact, Emitted
from orgflow_ir.targets.merging import MergedPart, Merging


def merge_file(
    edited: SourceFile, emitted: Emitted, ctx: PassContext, bases: Bases
) -> Merging | None:
    """Merge every workflow of a file; findings are reported to `ctx`. None if the file cannot be
    read as workflows of this model."""
    here = SourceLocation(file=edited.path, line=1)
    try:
        flows = workflows_of(parse_json(edited.path, edited.data).root.value)
    except JsonFault as fault:
        place = SourceLocation(file=edited.path, line=fault.line, column=fault.column)
        _report_unmergeable(f"{edited.path} is not JSON: {fault.message}", place, ctx)
        return None
    if not flows:
        _report_unmergeable(f"{edited.path} contains no n8n workflow", here, ctx)
        return None
    ours = tuple(WorkflowDocument(json.loads(artifact.text)) for artifact in emitted.artifacts)
    mine = {id(document): index for index, document in enumerate(ours)}
    texts: dict[int, str] = {}
    parts: dict[int, MergedPart] = {}
    for theirs, new, _ in pair_workflows(flows, ours):
        if new is None:
            assert theirs is not None
            _report_unmergeable(f"`{theirs.title}` is not a workflow of this model", here, ctx)
            return None
        if theirs is None:
            texts[mine[id(new)]] = dump_json(new.raw)
            parts[mine[id(new)]] = MergedPart(new.title, new=True)
            continue
        faults = [f for f in theirs.faults if f.kind in ("repeated-name", "missing", "wrong-type")]
        if faults:
            odd = faults[0]
            words = f"`{odd.name}` {odd.kind.replace('-', ' ')}"
            _report_unmergeable(f"`{theirs.title}` cannot be merged: {words}", here, ctx)
            return None
        merged = merge_workflows(read_base(theirs, bases), theirs.raw, new.raw)
        report_merge(merged, theirs.title, here, ctx)
        texts[mine[id(new)]] = dump_json(merged.workflow)
        parts[mine[id(new)]] = MergedPart(
            theirs.title, merged.changes, merged.conflicts, merged.two_way
        )
    whole = not any(part.conflicts for part in parts.values())
    artifacts = tuple(
        Artifact(artifact.path, texts[index]) for index, artifact in enumerate(emitted.artifacts)
    )
    return Merging(artifacts if whole else (), tuple(parts[index] for index in sorted(parts)))


def report_merge(merged: Merged, name: str, place: SourceLocation | None, ctx: PassContext) -> None:
    """N8N001 to N8N003 for one workflow."""
    if merged.two_way:
        ctx.emit(
            MergedWithoutBase,
            f"`{name}` has no readable record of its compiled form: merged without a base",
            loc=place,
            help="review the result; parts that differ on both sides count as conflicts",
        )
    for conflict in merged.conflicts:
        ctx.emit(MergeConflicts, str(conflict), loc=place, help=conflict.help)
    for change in merged.changes:
        if change.notable:
            ctx.emit(AdaptedEdit, change.text, loc=place, help="review it in n8n's editor")


def _report_unmergeable(message: str, place: SourceLocation, ctx: PassContext) -> None:
    ctx.emit(
        UnmergeableFile,
        message,
        loc=place,
        help="pass the workflow that was compiled from this model, as exported from n8n's editor",
    )
