"""The workflows of a model, compiled and written as files: those of its processes, of work that it
only names, and the one that reports failures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from orgflow.backends.n8n.emit.compiled import CompiledProcess, CompiledScope
from orgflow.backends.n8n.emit.workflow import build_workflow, model_hash
from orgflow.backends.n8n.emit.workflow_check import check_workflow
from orgflow.backends.n8n.format.document import dump_json
from orgflow.backends.n8n.format.merge_base import MOST_CHARACTERS, base_path
from orgflow.backends.n8n.plan.actions import Send
from orgflow.backends.n8n.plan.emission_rules import FaultyWorkflow, SettingNeeded
from orgflow.backends.n8n.plan.graph import PlanNode
from orgflow.backends.n8n.plan.lazy_modules import load_function
from orgflow.backends.n8n.plan.parallel import report_parallel
from orgflow.backends.n8n.plan.passes import PlannedProcess, plan_added_process, plan_process
from orgflow.backends.n8n.plan.row_waits import RowVerdicts, flatten_scopes
from orgflow.backends.n8n.plan.scope_plan import ScopePlan
from orgflow.backends.n8n.plan.scopes import scopes_of
from orgflow.backends.n8n.plan.target_options import version_of

from orgflow_ir.facts import keep
from orgflow_ir.flow.concurrency.model_concurrency import share_concurrency
from orgflow_ir.flow.control_flow.calls import called_from
from orgflow_ir.model import Model
from orgflow_ir.model.element_names import slug
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import executable_processes
from orgflow_ir.targets.artifact import Artifact, Emitted, Part, SourceMap


def compile_processes(model: Model, ctx: PassContext) -> list[CompiledProcess]:
    """Each process with executable content, compiled but not checked."""
    digest = model_hash(model)
    where = "the notes of the workflow"
    legal, model = model, keep(model, where, ctx, listeners=True, messages=True)
    share_concurrency(model, legal, ctx)
    if ctx.shared(RowVerdicts).used and any(p.has_kind("sub-process") for p in model.processes):
        model = flatten_scopes(model, ctx)
    planned = []
    for process in executable_processes(model):
        plans = plan_process(model, process, ctx)._replace(digest=digest)
        if plans.root.segments is None:
            for scope in scopes_of(model, process):
                report_parallel(scope.body, model, ctx)
        planned.append(plans)
    reports = ctx.options.get("errors") == "workflow"
    more = [_plan_failure_report(planned, ctx)] if reports else []
    return build_processes(planned, ctx, more)


def build_processes(
    planned: Sequence[PlannedProcess], ctx: PassContext, more: Sequence[PlannedProcess] = ()
) -> list[CompiledProcess]:
    """The workflows of the processes of a model, with those of work that they name."""
    model, digest = planned[0].root.scope.model, planned[0].digest
    every = [*planned]
    if any(plan.named_work for process in planned for plan in process.scopes):
        every += _plan_named_work(model, planned, ctx)
    every += more
    scopes = {
        process_plan.process.id: build_process(process_plan, digest, ctx).scopes
        for process_plan in every
    }
    return [
        CompiledProcess(
            process_plan.process,
            scopes[process_plan.process.id],
            tuple(
                scope
                for callee in called_from(process_plan.process, model)
                for scope in scopes.get(callee.id, ())
            ),
            process_plan.digest,
        )
        for process_plan in every
    ]


def build_process(planned: PlannedProcess, model: str, ctx: PassContext) -> CompiledProcess:
    """The workflows of one process; `model` is the hash of its model."""
    digest, version = digest_of_process(planned, model), version_of(ctx)
    scopes = tuple(build_workflow(plan, digest, version) for plan in planned.scopes)
    return CompiledProcess(planned.process, scopes, (), planned.digest)


def digest_of_process(planned: PlannedProcess, model: str) -> str:
    """The hash in the map of a workflow: of the model that it is made from; of work that several
    models may name, a hash that is the same for all of them."""
    scope = planned.root.scope
    if not scope.shared:
        return model
    if not scope.only_called:
        return model_hash(Model(id="called", processes=(scope.process,)))
    return model_hash(scope.model.replace(processes=(scope.process.replace(doc="", nodes=()),)))


def _plan_named_work(
    model: Model, planned: Iterable[PlannedProcess], ctx: PassContext
) -> Iterator[PlannedProcess]:
    """The workflows of work that tasks only name, one a name."""
    from orgflow.backends.n8n.plan.named_work import list_uses, report_conflicts, write_contract

    first = executable_processes(model)[0]
    for work, called in list_uses(plan for process in planned for plan in process.scopes).items():
        report_conflicts(work, called, ctx)
        scope = work.scope(model, first, write_contract(called))
        yield plan_added_process(scope, ctx)


def _plan_failure_report(planned: Sequence[PlannedProcess], ctx: PassContext) -> PlannedProcess:
    """The workflow that is started with what failed in the others."""
    from orgflow.backends.n8n.plan.failure_report import failure_scope, plan_failure_report

    first = planned[0].root.scope
    report = plan_added_process(failure_scope(first.model), ctx)
    plan_failure_report(report, planned)
    ctx.emit(
        SettingNeeded,
        "the model does not define the recipient of failure reports; emitted a placeholder in "
        f"the workflow `{report.root.scope.title}`",
        element=first.process,
        help="in n8n, replace the placeholder with a node that sends `text` to the recipient",
    )
    return report


def emit_files(
    model: Model,
    compiled: Sequence[CompiledProcess],
    ctx: PassContext,
    taken: dict[str, CompiledScope],
    *,
    listed: bool = True,
) -> Emitted:
    """The files of compiled processes, under names that are not taken; from now on they are. With
    `listed`, the work that is to be implemented is listed beside them."""
    if not check_workflows(compiled, ctx):
        return Emitted((), SourceMap(model, tuple))
    names: dict[str, CompiledScope] = {}
    numbers: dict[str, int] = {}
    for scope in (scope for process in compiled for scope in process.scopes):
        base = slug(scope.workflow["name"]).replace("_", "-") or "workflow"
        name = base
        while f"{name}.json" in taken:
            numbers[base] = numbers.get(base, 1) + 1
            name = f"{base}-{numbers[base]}"
        names[f"{name}.json"] = taken[f"{name}.json"] = scope
    bases = (
        Artifact(base_path(scope.workflow["id"]), f"{scope.base}\n")
        for scope in names.values()
        if len(scope.base) > MOST_CHARACTERS
    )
    work = (
        list_named_work(names, f"{next(iter(names), '').removesuffix('.json')}-") if listed else ()
    )
    return Emitted(
        tuple(Artifact(path, dump_json(scope.workflow)) for path, scope in names.items()),
        SourceMap(model, lambda: _list_parts(names)),
        {process.process.id: process for process in compiled},
        (*bases, *work),
    )


def list_named_work(files: Mapping[str, CompiledScope], prefix: str) -> Iterator[Artifact]:
    """The contracts of named work, for whoever implements it; `prefix` of the name of the file."""
    if not any(scope.plan.scope.only_called for scope in files.values()):
        return
    from orgflow.backends.n8n.plan.named_work import WORK_TO_DO, work_to_do

    yield Artifact(
        f"{prefix}{WORK_TO_DO}", work_to_do({path: scope.plan for path, scope in files.items()})
    )


def check_workflows(compiled: Iterable[CompiledProcess], ctx: PassContext) -> bool:
    """Whether every workflow passes our check of the format; what does not is OF911."""
    faulty = False
    for scope in (scope for process in compiled for scope in process.scopes):
        filled = {
            node.name for node in scope.plan.workflow_graph.nodes.values() if _is_filled(node)
        }
        for problem in check_workflow(scope.workflow, version=version_of(ctx), filled=filled):
            if problem.kind == "unreachable" and (
                _has_islands(scope.plan) or _has_stubs(scope.plan)
            ):
                continue  # the model has parts that nothing leads to, and a rule says so
            faulty = True
            ctx.emit(
                FaultyWorkflow,
                f"the workflow compiled from `{scope.plan.scope.body.label}` is faulty at "
                f"{problem.path}: {problem.message}",
                element=scope.plan.scope.body,
                help="this is a bug in orgflow: report it and attach the model",
            )
    return not faulty


def _is_filled(node: PlanNode) -> bool:
    """Whether an operation of the catalogue fills a task, in the version of its node type."""
    action = node.action
    return isinstance(action, Send) and bool(load_function("operations.is_operation")(action.act))


def _has_stubs(plan: ScopePlan) -> bool:
    """Whether runs stop before something, so that nothing leads to what is behind."""
    return any(True for _ in plan.with_role("stub"))


def _has_islands(plan: ScopePlan) -> bool:
    return len(plan.graph.reachable) < len(plan.graph.nodes)


def _list_parts(files: Mapping[str, CompiledScope]) -> Iterator[Part]:
    """The parts of files for the map, which few commands ask for."""
    from orgflow.backends.n8n.emit.source_map import list_parts

    return list_parts(files)
