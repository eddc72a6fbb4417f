"""The processes of a model with all that a compilation adds to them: work that is only named, and
the report of failures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from orgflow.backends.n8n.emit.emission_rules import SettingNeeded
from orgflow.backends.n8n.emit.emitter import CompiledProcess, compile_made, compile_process
from orgflow.backends.n8n.emit.parallel import report_parallel
from orgflow.backends.n8n.emit.scopes import scopes_of
from orgflow.backends.n8n.emit.workflow import build, model_hash
from orgflow.backends.n8n.plan.target_options import version_of

from orgflow_ir.facts import keep
from orgflow_ir.flow.control_flow.calls import called_from
from orgflow_ir.model import Model
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import executable_processes


def compile_processes(model: Model, ctx: PassContext) -> list[CompiledProcess]:
    """Each process with executable content, compiled but not checked."""
    digest = model_hash(model)
    model = keep(model, "the notes of the workflow", ctx, listeners=True)
    compiled = []
    for process in executable_processes(model):
        for scope in scopes_of(model, process):
            report_parallel(scope.body, ctx)
        compiled.append(compile_process(model, process, ctx)._replace(digest=digest))
    reports = ctx.options.get("errors") == "workflow"
    more = [_compile_failure_report(compiled, ctx)] if reports else []
    return finish_processes(compiled, ctx, more)


def finish_processes(
    compiled: list[CompiledProcess], ctx: PassContext, more: Sequence[CompiledProcess] = ()
) -> list[CompiledProcess]:
    """The processes of a model with the workflows of work that they name, built."""
    model, digest = compiled[0].root.scope.model, compiled[0].digest
    if ctx.options.get("stubs") == "workflow":
        compiled = [*compiled, *_compile_named_work(model, compiled, ctx)]
    compiled = [*compiled, *more]
    version = version_of(ctx)
    for process_made in compiled:
        for one in process_made.scopes:
            build(one, digest_of_process(process_made, digest), version)
    scopes = {one.process.id: one.scopes for one in compiled}
    return [
        one._replace(
            called=tuple(
                scope for p in called_from(one.process, model) for scope in scopes.get(p.id, ())
            )
        )
        for one in compiled
    ]


def digest_of_process(compiled: CompiledProcess, model: str) -> str:
    """The hash in the map of a workflow: of the model that it is made from; of work that several
    models may name, a hash that is the same for all of them."""
    scope = compiled.root.scope
    if not scope.shared:
        return model
    if not scope.only_called:
        return model_hash(Model(id="called", processes=(scope.process,)))
    return model_hash(scope.model.replace(processes=(scope.process.replace(doc="", nodes=()),)))


def _compile_named_work(
    model: Model, compiled: Iterable[CompiledProcess], ctx: PassContext
) -> Iterator[CompiledProcess]:
    """The workflows of work that tasks only name, one a name."""
    from orgflow.backends.n8n.emit.named_work import contract, report_conflicts, uses

    first = executable_processes(model)[0]
    for work, called in uses(scope for one in compiled for scope in one.scopes).items():
        report_conflicts(work, called, ctx)
        scope = work.scope(model, first, contract(called))
        yield compile_made(scope, ctx)


def _compile_failure_report(
    compiled: Sequence[CompiledProcess], ctx: PassContext
) -> CompiledProcess:
    """The workflow that is started with what failed in the others."""
    from orgflow.backends.n8n.emit.failure_report import failure_scope, write_failures

    first = compiled[0].root.scope
    made = compile_made(failure_scope(first.model), ctx)
    write_failures(made, compiled)
    ctx.emit(
        SettingNeeded,
        "the model does not define the recipient of failure reports; emitted a placeholder in "
        f"the workflow `{made.root.scope.title}`",
        element=first.process,
        help="in n8n, replace the placeholder with a node that sends `text` to the recipient",
    )
    return made
