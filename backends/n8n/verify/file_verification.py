"""Verification of a whole file, reported as diagnostics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from orgflow.backends.n8n.format.workflow_document import WorkflowDocument, workflows_of
from orgflow.backends.n8n.plan.names import title
from orgflow.backends.n8n.verify import verification_rules
from orgflow.backends.n8n.verify.reference import NotLegal, Reference, compile_references
from orgflow.backends.n8n.verify.verify import UNREAD, V1, verify_process

from orgflow_ir.model import Model, Process
from orgflow_ir.model.element_names import CALLED, is_taken_over
from orgflow_ir.model.json_source_map import JsonFault, parse_json
from orgflow_ir.model.source import SourceFile, SourceLocation
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.artifact import Emitted
from orgflow_ir.targets.verification import ConditionKind, Difference, Verdict, Verification


def verify_file(
    model: Model,
    source: SourceFile,
    ctx: PassContext,
    *,
    strict: bool,
    emitted: Emitted | None = None,
) -> tuple[Verification, ...]:
    """Verify each process of `model` against its workflow in `source`; findings go to `ctx`.

    `emitted` is the existing output for the model, if there is one. Empty after an error that
    prevents the verification.
    """
    try:
        flows = workflows_of(parse_json(source.path, source.data).root.value)
    except JsonFault as fault:
        place = SourceLocation(file=source.path, line=fault.line, column=fault.column)
        _report_unverifiable(f"{source.path} is not JSON: {fault}", place, ctx)
        return ()
    here = SourceLocation(file=source.path)
    if not flows:
        _report_unverifiable(f"{source.path} contains no n8n workflow", here, ctx)
        return ()
    try:
        refs = compile_references(model, ctx, emitted, flows)
    except NotLegal as refused:
        ctx.diagnostics += refused.diagnostics
        return ()
    verifications = []
    processes = {p: ref.process for p, ref in refs.items()}
    pairs = pair_workflows(model, refs, flows)
    ids = {
        refs[process].plan.scope.workflow_id: str(flow.raw.get("id", ""))
        for process, flow in pairs.items()
        if flow is not None
    }
    for process, flow in (*pairs.items(), *_more_pairs(pairs, processes, model, flows, ctx, here)):
        if flow is None:
            ctx.emit(
                verification_rules.MissingWorkflow,
                f"no workflow in {source.path} was compiled from {ctx.name(processes[process])}",
                element=processes[process],
                help="pass all files that were compiled from the model, or their folder, or "
                "select one process with --process; if the model was compiled together with "
                "others, pass the folder of the models as MODEL",
            )
            label = processes[process].label
            missing = Difference("there is no workflow for this process")
            verifications.append(
                Verification(process, label, "", Verdict.DIFFERENT, difference=missing)
            )
            continue
        result = verify_process(
            model, processes[process], flow, ctx, strict=strict, against=refs[process], ids=ids
        )
        _report_result(result, processes[process], here, ctx, strict)
        verifications.append(result)
    return tuple(verifications)


_LEAST = 0.5
"""Share of the nodes of a process that a workflow of another process must have to be compared."""


def pair_workflows(
    model: Model, references: Mapping[str, Reference], flows: Sequence[WorkflowDocument]
) -> dict[str, WorkflowDocument | None]:
    """The workflow of each process: the one whose map names it, or with its title, or with most of
    its nodes, if these are enough; the only one for the only process."""
    left = list(flows)
    pairs: dict[str, WorkflowDocument | None] = dict.fromkeys(references)
    processes = {p: ref.process for p, ref in references.items()}

    def of_other(flow: WorkflowDocument, process: str) -> bool:
        return _is_of_other_model(flow, processes[process], model)

    def take(process: str, fitting: Iterable[WorkflowDocument]) -> None:
        if pairs[process] is None:
            chosen = next((f for f in fitting if f in left), None)
            if chosen is not None:
                left.remove(chosen)
                pairs[process] = chosen

    for process in references:
        take(process, (f for f in flows if f.map.process == process and not of_other(f, process)))
    for process in references:
        take(process, (f for f in flows if f.map.process == process))
    for process in references:
        wanted = references[process].plan.scope.title
        take(process, (f for f in flows if f.title == wanted))
    if len(references) == 1:
        take(next(iter(references)), list(left))
    for process, ref in references.items():
        near = [
            f
            for f in left
            if _count_shared(ref, f) > (_LEAST * len(ref.nodes) if f.map.process else 0)
        ]
        take(process, sorted(near, key=lambda f: -_count_shared(ref, f)))
    return pairs


def _is_of_other_model(flow: WorkflowDocument, process: Process, model: Model) -> bool:
    """Whether a workflow was compiled from a process for another model: of a process of another
    file, that which its own file became; of an own process, that for a caller in another file."""
    name = title(model, process)
    if is_taken_over(process, model):
        return flow.title == name[: name.rindex(CALLED)]
    return flow.title.startswith(f"{name}{CALLED}")


def _count_shared(ref: Reference, flow: WorkflowDocument) -> int:
    names = {node.name for node in ref.plan.workflow_graph.nodes.values()}
    return len(names & set(flow.steps))


def _more_pairs(
    pairs: Mapping[str, WorkflowDocument | None],
    processes: Mapping[str, Process],
    model: Model,
    flows: Sequence[WorkflowDocument],
    ctx: PassContext,
    place: SourceLocation,
) -> list[tuple[str, WorkflowDocument]]:
    """Further workflows of a process that has one already: another copy is judged like the first.
    What belongs to no process is reported."""
    pairs_added = []
    for flow in flows:
        if any(flow is taken for taken in pairs.values()):
            continue
        process = processes.get(str(flow.map.process))
        other = process is not None and _is_of_other_model(flow, process, model)
        if process is not None and not other:
            pairs_added.append((process.id, flow))
            continue
        ctx.emit(
            verification_rules.UnverifiedWorkflow,
            f"the workflow `{flow.title}` was compiled for another model and was not compared"
            if other
            else f"the workflow `{flow.title}` belongs to no process of the model and was not "
            "compared",
            loc=place,
            help="verify it with that model"
            if other
            else "pass --target with the options of the compile, or omit it",
        )
    return pairs_added


_HELP: Mapping[ConditionKind, str] = {
    "one-item": "turn on Always Output Data in the settings of the node, and Execute Once in the "
    "next one, or use a node that returns one item for each",
    "keeps-variables": "write only fields of your own, in a node whose fields are known, such as "
    "Edit Fields",
}
"""How a node is changed so that the workflow is proved without the condition."""


def _report_unverifiable(message: str, place: SourceLocation, ctx: PassContext) -> None:
    ctx.emit(
        verification_rules.UnverifiableFile,
        message,
        loc=place,
        help="pass a workflow as exported from n8n's editor or written by `compile --target n8n`",
    )


def _report_result(
    result: Verification, process: Process, place: SourceLocation, ctx: PassContext, strict: bool
) -> None:
    """Report what was found in one workflow."""
    named = f"`{result.workflow}`" if result.workflow else "the workflow"
    if result.difference is not None:
        ctx.emit(
            verification_rules.DifferentWorkflow,
            result.difference.message,
            loc=place,
            trace=result.difference.steps,
            help=result.difference.help
            or "compile the model again, or change the model to match the workflow",
        )
    if result.verdict is Verdict.NOT_COMPARED:
        ctx.emit(
            verification_rules.UncomparedWorkflow,
            f"{named} cannot be compared: {result.bound}",
            loc=place,
            help="undo the edit, or compile the model again",
        )
    elif result.verdict is Verdict.BOUNDED and not result.states:
        _report_unverifiable(f"{named} cannot be followed: {result.bound}", place, ctx)
    elif result.verdict is Verdict.BOUNDED:
        ctx.emit(
            verification_rules.UnfinishedVerification,
            f"no difference was found in {named}, but not everything was compared: {result.bound}",
            loc=place,
            help="run it as well: orgflowc run --all-paths",
        )
    for change in result.changed:
        if change.was == V1:
            ctx.emit(
                verification_rules.UnverifiableFile,
                f"{named} does not use the execution order v1: n8n runs it in its "
                "legacy order, in which parallel branches and their joins behave differently",
                loc=place,
                help="in the editor, set the execution order in the settings of the workflow to "
                "v1 (recommended)",
            )
            continue
        if change.was == UNREAD:
            ctx.emit(
                verification_rules.UnreadSegment,
                f"`{change.node}` cannot be verified: {change.now}",
                element=change.element or None,
                loc=place,
                help="undo the edit, or change the model and compile it again",
            )
            continue
        ctx.emit(
            verification_rules.ChangedExpression,
            f"`{change.node}` has `{change.now}`, but the model has `{change.was}`",
            element=change.element,
            loc=place,
            help="if this is intended, change the model and compile again",
        )
    if not strict:
        for name in result.added:
            # A trigger that was added for testing has a reason of its own.
            apart = (text for text in result.assumed if text.startswith(f"`{name}` "))
            added = f"`{name}` has no counterpart in the model; it is assumed not to fail"
            ctx.emit(verification_rules.AddedStep, next(apart, added), loc=place)
        for condition in result.conditions:
            ctx.emit(
                verification_rules.ConditionalProof,
                f"{named} behaves like the model only if {condition.text}",
                element=condition.element or None,
                loc=place,
                help=_HELP[condition.kind],
            )
        for delay in result.delayed:
            ctx.emit(verification_rules.StandsStill, delay, element=process, loc=place)
