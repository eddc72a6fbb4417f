"""Files of workflows merged with the current output for their model."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from orgflow.backends.n8n.diff.file_comparison import Pair, pair_workflows
from orgflow.backends.n8n.format.compiled_workflow import (
    Bases,
    exists_for_callers,
    is_implemented,
    read_base,
)
from orgflow.backends.n8n.format.document import dump_json
from orgflow.backends.n8n.format.workflow_document import WorkflowDocument, workflows_of
from orgflow.backends.n8n.merge.content import is_placeholder
from orgflow.backends.n8n.merge.merge_outcome import Merged
from orgflow.backends.n8n.merge.merge_rules import (
    AdaptedEdit,
    MergeConflicts,
    MergedWithoutBase,
    RemovedWorkflow,
    UnmergeableFile,
)
from orgflow.backends.n8n.merge.three_way_merge import merge_workflows
from orgflow.backends.n8n.node_types.workflow_calls import called_workflows

from orgflow_ir.diagnostics import Severity
from orgflow_ir.gaps.gap_rules import OpenMessage, OpenTask
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
    pairs = _pair_work(flows, ours)
    partners = [theirs for theirs, new, _ in pairs if theirs is not None and new is not None]
    rest = [theirs for theirs, new, _ in pairs if theirs is not None and new is None]
    for theirs, new, _ in pairs:
        if new is None:
            continue
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
        _drop_filled_gaps(new, merged.workflow, ctx)
        texts[mine[id(new)]] = dump_json(merged.workflow)
        parts[mine[id(new)]] = MergedPart(
            theirs.title, merged.changes, merged.conflicts, merged.two_way
        )
    foreign = [theirs for theirs in rest if not _is_of_compile(theirs, partners)]
    if foreign:
        title = foreign[0].title
        _report_unmergeable(f"`{title}` is not a workflow of this model", here, ctx)
        return None
    merged_documents = [WorkflowDocument(json.loads(text)) for text in texts.values()]
    removed = [*_list_removed(rest, merged_documents, here, ctx, bases)]
    whole = not any(part.conflicts for part in parts.values())
    artifacts = tuple(
        Artifact(artifact.path, texts[index]) for index, artifact in enumerate(emitted.artifacts)
    )
    kept = tuple(
        Artifact(f"{theirs.id or index}.json", dump_json(theirs.raw))
        for index, (theirs, stays) in enumerate(removed)
        if stays
    )
    removed_parts = (MergedPart(theirs.title, removed=True, kept=s) for theirs, s in removed)
    return Merging(
        artifacts if whole else (),
        (*(parts[index] for index in sorted(parts)), *removed_parts),
        kept if whole else (),
    )


def _drop_filled_gaps(
    new: WorkflowDocument, workflow: Mapping[str, object], ctx: PassContext
) -> None:
    """Remove the findings of tasks for which the merged workflow keeps the work of a person."""
    open_before, open_after = (_list_placeholders(w) for w in (new, WorkflowDocument(workflow)))
    filled = open_before - open_after
    codes = {OpenTask.code, OpenMessage.code}
    ctx.diagnostics[:] = [
        d for d in ctx.diagnostics if d.code not in codes or d.element not in filled
    ]


def _list_placeholders(document: WorkflowDocument) -> set[str]:
    """The elements whose node does nothing."""
    elements = document.map.nodes
    return {
        elements[key]
        for key, node in document.steps.items()
        if key in elements and is_placeholder(dict(node.raw))
    }


def _pair_work(
    flows: tuple[WorkflowDocument, ...], ours: tuple[WorkflowDocument, ...]
) -> list[Pair]:
    """The workflows of the edited file and the new output, paired; the last ones of both are no
    pair if each does other work that the models name."""
    pairs: list[Pair] = []
    for theirs, new, how in pair_workflows(flows, ours):
        apart = (
            theirs is not None
            and new is not None
            and exists_for_callers(theirs)
            and theirs.map.process != new.map.process
        )
        pairs += [(None, new, ""), (theirs, None, "")] if apart else [(theirs, new, how)]
    return pairs


def _is_of_compile(theirs: WorkflowDocument, partners: Sequence[WorkflowDocument]) -> bool:
    """Whether a workflow without a partner in the new output was compiled with those that have one:
    it is called by them, was compiled from the same model, or does work that a model names."""
    models = {partner.map.model for partner in partners if partner.map.model}
    called = {id for partner in partners for id, _ in called_workflows(partner.raw)}
    if not partners:
        return False
    return bool(theirs.map.model in models or theirs.id in called or exists_for_callers(theirs))


def _list_removed(
    rest: Sequence[WorkflowDocument],
    merged: Sequence[WorkflowDocument],
    place: SourceLocation,
    ctx: PassContext,
    bases: Bases,
) -> Iterator[tuple[WorkflowDocument, bool]]:
    """N8N006 for each workflow that the model no longer has, and whether the output keeps it:
    somebody implemented it, or one that the output contains calls it."""
    implemented = [theirs for theirs in rest if is_implemented(theirs, bases)]
    callers = _find_callers(rest, [*merged, *implemented])
    for theirs in rest:
        caller = callers.get(id(theirs))
        if caller is None and theirs not in implemented:
            ctx.emit(
                RemovedWorkflow,
                f"the model no longer has `{theirs.title}`: its workflow was removed",
                loc=place,
                severity=Severity.INFO,
                help="restore the name in the model if the workflow is still needed",
            )
            yield theirs, False
            continue
        use = "somebody implemented it" if caller is None else f"`{caller}` still calls it"
        ctx.emit(
            RemovedWorkflow,
            f"the model no longer has `{theirs.title}`; it was kept, since {use}",
            loc=place,
            help="copy its nodes to where they are needed now, then delete the workflow",
        )
        yield theirs, True


def _find_callers(
    rest: Sequence[WorkflowDocument], staying: Sequence[WorkflowDocument]
) -> dict[int, str]:
    """The name of a caller of each workflow of `rest` that one of `staying` calls, also through
    others of `rest`; by the identity of its object."""
    callers: dict[int, str] = {}
    todo = [*staying]
    while todo:
        caller = todo.pop(0)
        called = {id for id, _ in called_workflows(caller.raw)}
        for theirs in rest:
            if theirs is not caller and theirs.id in called and id(theirs) not in callers:
                callers[id(theirs)] = caller.title
                todo.append(theirs)
    return callers


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
