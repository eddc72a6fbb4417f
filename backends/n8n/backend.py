"""The n8n backend: from a legal process to a checked workflow."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orgflow.backends.n8n import rules as n8n_rules
from orgflow.backends.n8n.emit.emitter import (
    CompiledProcess,
    CompiledScope,
    compile_made,
    compile_process,
)
from orgflow.backends.n8n.emit.parallel import report_parallel
from orgflow.backends.n8n.emit.scopes import scopes_of
from orgflow.backends.n8n.emit.settings import version_of
from orgflow.backends.n8n.emit.source_map import parts
from orgflow.backends.n8n.emit.workflow import build, model_hash
from orgflow.backends.n8n.format.document import dumps
from orgflow.backends.n8n.format.merge_base import MOST_CHARACTERS, base_path
from orgflow.backends.n8n.format.workflow_check import check_workflow
from orgflow.backends.n8n.target import N8N_TARGET

from orgflow_ir.facts import keep
from orgflow_ir.flow.control_flow.calls import called_from
from orgflow_ir.lowering.meaning import as_executed
from orgflow_ir.model import Model
from orgflow_ir.model.element_names import slug
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import TargetSpec, executable_processes
from orgflow_ir.targets.artifact import Artifact, Emitted, SourceMap

if TYPE_CHECKING:
    from orgflow_ir.diagnostics import Rule
    from orgflow_ir.pipeline.operation_catalogue import Catalogue
    from orgflow_ir.plugins.deployment import Deployer
    from orgflow_ir.plugins.engines import EngineProvider
    from orgflow_ir.plugins.executions import ExecutionReader
    from orgflow_ir.targets.comparison import Comparison
    from orgflow_ir.targets.merging import Merging
    from orgflow_ir.targets.verification import Verification


class N8nBackend(Backend):
    """Workflows for n8n, one per process."""

    name = "n8n"
    summary = "n8n workflow JSON, checked offline, for the editor, the API and n8n's own engine"
    lint_replaces = frozenset(
        {
            "gaps",
            "merge-deadlock",
            "loop-termination",
            "lack-of-synchronisation",
            "leftover-tokens",
            "dead-steps",
            "undecided-flow",
            # A workflow may start with the error of another.
            "event-triggers",
            # A workflow has no end events, and splits and joins at any node.
            "missing-ends",
            "dead-ends",
            "implicit-flow",
            "event-style",
            "gateway-style",
            "labels",
            "drawing",
        }
    )

    @property
    def rules(self) -> tuple[type[Rule], ...]:
        """See `Backend`. A compilation imports only the first of them."""
        from orgflow.backends.n8n.diff.rules import DIFF_RULES
        from orgflow.backends.n8n.lint import LINT_RULES
        from orgflow.backends.n8n.merge.rules import MERGE_RULES
        from orgflow.backends.n8n.server.deploy.rules import DEPLOY_RULES
        from orgflow.backends.n8n.verify.rules import VERIFY_RULES

        return (
            *n8n_rules.N8N_RULES, *LINT_RULES, *VERIFY_RULES, *DIFF_RULES, *MERGE_RULES,
            *DEPLOY_RULES,
        )  # fmt: skip

    @property
    def server_rules(self) -> tuple[type[Rule], ...]:
        """See `Backend`."""
        from orgflow.backends.n8n.server.deploy.rules import SERVER_RULES

        return SERVER_RULES

    @property
    def target(self) -> TargetSpec:
        return N8N_TARGET

    def meaning(self, model: Model) -> Model:
        """See `Backend`: repeated activities are loops of flows, listeners are tasks."""
        return as_executed(model)

    def engines(self) -> EngineProvider:
        """n8n's own engine, and servers."""
        from orgflow.backends.n8n.engine_provider import N8nEngines

        return N8nEngines()

    def deployer(self) -> Deployer:
        """Deploys to n8n servers by their public API."""
        from orgflow.backends.n8n.server.deploy.deployer import N8nDeployer

        return N8nDeployer()

    def executions(self) -> ExecutionReader:
        """Executions that n8n servers store, or that were saved from them."""
        from orgflow.backends.n8n.server.executions.reader import N8nExecutions

        return N8nExecutions()

    def catalogue(self, where: str = "") -> Catalogue:
        """The node types of the n8n on this machine, in a folder, or of a server."""
        from orgflow.backends.n8n.catalogue.catalogue import read_catalogue
        from orgflow.backends.n8n.engine.install import engine_dir
        from orgflow.backends.n8n.server.server_catalogue import server_catalogue

        if "://" in where:
            return server_catalogue(where)
        return read_catalogue(Path(where).expanduser() if where else engine_dir())

    def shape(self, artifact: Artifact) -> str:
        """See `Backend`."""
        from orgflow.backends.n8n.format.shape import workflow_shape

        return workflow_shape(artifact.text)

    def validate(self, artifacts: Iterable[Artifact], ctx: PassContext) -> bool:
        """By the JSON schemas of orgflow's output; violations are OF911."""
        from orgflow.backends.n8n.format.schema_check import check_schemas

        faults = [
            (artifact.path, problem)
            for artifact in artifacts
            for problem in check_schemas(json.loads(artifact.text), version=version_of(ctx))
        ]
        for path, problem in faults:
            ctx.emit(
                n8n_rules.FaultyWorkflow,
                f"the workflow `{path}` is faulty at {problem.path}: {problem.message}",
                help="this is a bug in orgflow: report it and attach the model",
            )
        return not faults

    def diff(self, old: SourceFile, new: SourceFile, ctx: PassContext) -> Comparison | None:
        """Behaviour on n8n's engine, then nodes; positions and ids are ignored. OF490."""
        from orgflow.backends.n8n.diff.files import diff

        return diff(old, new, ctx)

    def merge(
        self,
        edited: SourceFile,
        emitted: Emitted,
        ctx: PassContext,
        bases: Callable[[str], str | None],
    ) -> Merging | None:
        """Three-way, by the map: the earlier output, its edited version, and the current output.
        N8N001 to N8N004."""
        from orgflow.backends.n8n.merge.files import merge_file

        return merge_file(edited, emitted, ctx, lambda id: bases(base_path(id)))

    def verify(
        self,
        model: Model,
        source: SourceFile,
        ctx: PassContext,
        *,
        strict: bool = False,
        emitted: Emitted | None = None,
    ) -> tuple[Verification, ...]:
        """By the product of a model of n8n's engine and the token game: `backends/n8n/verify`."""
        from orgflow.backends.n8n.verify.report import verify_file

        return verify_file(model, source, ctx, strict=strict, emitted=emitted)

    def lint(self, source: SourceFile, ctx: PassContext) -> None:
        """Content that n8n refuses or executes unexpectedly: `LINT_RULES`."""
        from orgflow.backends.n8n.lint.lint import lint

        lint(source, ctx)

    def emit(self, model: Model, ctx: PassContext) -> Emitted:
        """One file per process. A violation found by orgflow's own check of the format is OF911,
        and nothing is printed."""
        return _emitted(model, compile_processes(model, ctx), ctx, {})

    def link(self, made: Sequence[tuple[Model, Emitted]], ctx: PassContext) -> tuple[Emitted, ...]:
        """See `Backend`: what several models name or call is one workflow, with one contract."""
        from orgflow.backends.n8n.emit.named_work import linked

        compiled = [list(emitted.compiled.values()) for _, emitted in made]
        remade: list[CompiledProcess] = []
        if any(len(model) > 1 for model in compiled):
            from orgflow.backends.n8n.emit.together import compile_together

            compiled, remade = compile_together(compiled, ctx, finish_processes)
        for one in (named := linked(compiled, ctx)):
            build(one.root, _digest(one, ""), version_of(ctx))
        remade += named
        if not _correct(remade, ctx):
            return tuple(Emitted((), SourceMap(model, tuple)) for model, _ in made)
        names: dict[str, CompiledScope] = {}
        found = [
            _emitted(model, rest, ctx, names, listed=False)
            for (model, _), rest in zip(made, compiled, strict=True)
        ]
        if found and (work := (*_work_to_do(names, ""),)):
            found[0] = dataclasses.replace(found[0], beside=(*found[0].beside, *work))
        return tuple(found)

    def keep_filled(
        self,
        made: Sequence[Emitted],
        there: Sequence[SourceFile],
        ctx: PassContext,
        bases: Callable[[str], str | None],
    ) -> tuple[Emitted, ...]:
        """See `Backend`: workflows of named work are merged with those in the files. N8N001 to
        N8N004."""
        from orgflow.backends.n8n.merge.filled import keep_filled

        return keep_filled(made, there, ctx, lambda id: bases(base_path(id)))

    def report_uncalled(
        self,
        made: Sequence[Emitted],
        beside: Sequence[SourceFile],
        ctx: PassContext,
        bases: Callable[[str], str | None],
    ) -> None:
        """See `Backend`: workflows that exist only for their callers. N8N005."""
        from orgflow.backends.n8n.merge.filled import report_uncalled

        report_uncalled(made, beside, ctx, lambda id: bases(base_path(id)))


def _emitted(
    model: Model,
    compiled: Sequence[CompiledProcess],
    ctx: PassContext,
    taken: dict[str, CompiledScope],
    *,
    listed: bool = True,
) -> Emitted:
    """The files of compiled processes, under names that are not taken; from now on they are. With
    `listed`, the work that is to be implemented is listed beside them."""
    if not _correct(compiled, ctx):
        return Emitted((), SourceMap(model, tuple))
    names: dict[str, CompiledScope] = {}
    numbers: dict[str, int] = {}
    for one in (scope for process in compiled for scope in process.scopes):
        base = slug(one.workflow["name"]).replace("_", "-") or "workflow"
        name = base
        while f"{name}.json" in taken:
            numbers[base] = numbers.get(base, 1) + 1
            name = f"{base}-{numbers[base]}"
        names[f"{name}.json"] = taken[f"{name}.json"] = one
    bases = (
        Artifact(base_path(one.workflow["id"]), f"{one.base}\n")
        for one in names.values()
        if len(one.base) > MOST_CHARACTERS
    )
    work = _work_to_do(names, f"{next(iter(names), '').removesuffix('.json')}-") if listed else ()
    return Emitted(
        tuple(Artifact(path, dumps(one.workflow)) for path, one in names.items()),
        SourceMap(model, lambda: parts(names)),
        {one.process.id: one for one in compiled},
        (*bases, *work),
    )


def compile_processes(model: Model, ctx: PassContext) -> list[CompiledProcess]:
    """Each process with executable content, compiled but not checked."""
    digest = model_hash(model)
    model = keep(model, "the notes of the workflow", ctx, listeners=True)
    compiled = []
    for process in executable_processes(model):
        for scope in scopes_of(model, process):
            report_parallel(scope.body, ctx)
        compiled.append(compile_process(model, process, ctx)._replace(digest=digest))
    errors = [_errors(compiled, ctx)] if ctx.options.get("errors") == "workflow" else []
    return finish_processes(compiled, ctx, errors)


def finish_processes(
    compiled: list[CompiledProcess], ctx: PassContext, more: Sequence[CompiledProcess] = ()
) -> list[CompiledProcess]:
    """The processes of a model with the workflows of work that they name, built."""
    model, digest = compiled[0].root.scope.model, compiled[0].digest
    if ctx.options.get("stubs") == "workflow":
        compiled = [*compiled, *_named_work(model, compiled, ctx)]
    compiled = [*compiled, *more]
    version = version_of(ctx)
    for process_made in compiled:
        for one in process_made.scopes:
            build(one, _digest(process_made, digest), version)
    scopes = {one.process.id: one.scopes for one in compiled}
    return [
        one._replace(
            called=tuple(
                scope for p in called_from(one.process, model) for scope in scopes.get(p.id, ())
            )
        )
        for one in compiled
    ]


def _digest(compiled: CompiledProcess, model: str) -> str:
    """The hash in the map of a workflow: of the model that it is made from; of work that several
    models may name, a hash that is the same for all of them."""
    scope = compiled.root.scope
    if not scope.shared:
        return model
    if not scope.only_called:
        return model_hash(Model(id="called", processes=(scope.process,)))
    return model_hash(scope.model.replace(processes=(scope.process.replace(doc="", nodes=()),)))


def _named_work(
    model: Model, compiled: Iterable[CompiledProcess], ctx: PassContext
) -> Iterator[CompiledProcess]:
    """The workflows of work that tasks only name, one a name."""
    from orgflow.backends.n8n.emit.named_work import contract, report_conflicts, uses

    first = executable_processes(model)[0]
    for work, called in uses(scope for one in compiled for scope in one.scopes).items():
        report_conflicts(work, called, ctx)
        scope = work.scope(model, first, contract(called))
        yield compile_made(scope, ctx)


def _work_to_do(files: Mapping[str, CompiledScope], prefix: str) -> Iterator[Artifact]:
    """The contracts of named work, for whoever implements it; `prefix` of the name of the file."""
    if not any(one.scope.only_called for one in files.values()):
        return
    from orgflow.backends.n8n.emit.named_work import WORK_TO_DO, work_to_do

    yield Artifact(f"{prefix}{WORK_TO_DO}", work_to_do(files))


def _errors(compiled: Sequence[CompiledProcess], ctx: PassContext) -> CompiledProcess:
    """The workflow that is started with what failed in the others."""
    from orgflow.backends.n8n.emit.failure_report import failure_scope, write_failures

    first = compiled[0].root.scope
    made = compile_made(failure_scope(first.model), ctx)
    write_failures(made, compiled)
    ctx.emit(
        n8n_rules.SettingNeeded,
        "the model does not define the recipient of failure reports; emitted a placeholder in "
        f"the workflow `{made.root.scope.title}`",
        element=first.process,
        help="in n8n, replace the placeholder with a node that sends `text` to the recipient",
    )
    return made


def _correct(compiled: Iterable[CompiledProcess], ctx: PassContext) -> bool:
    """Whether every workflow passes our check of the format; what does not is OF911."""
    faulty = False
    for one in (scope for process in compiled for scope in process.scopes):
        nodes = one.workflow_graph.nodes.values()
        filled = {node.name for node in nodes if node.version is not None}
        for problem in check_workflow(one.workflow, version=version_of(ctx), filled=filled):
            if problem.kind == "unreachable" and (_has_islands(one) or _has_stubs(one)):
                continue  # the model has parts that nothing leads to, and a rule says so
            faulty = True
            ctx.emit(
                n8n_rules.FaultyWorkflow,
                f"the workflow compiled from `{one.scope.body.label}` is faulty at "
                f"{problem.path}: {problem.message}",
                element=one.scope.body,
                help="this is a bug in orgflow: report it and attach the model",
            )
    return not faulty


def _has_stubs(compiled: CompiledScope) -> bool:
    """Whether runs stop before something, so that nothing leads to what is behind."""
    return any(node.role == "stub" for node in compiled.workflow_graph.nodes.values())


def _has_islands(compiled: CompiledScope) -> bool:
    return len(compiled.graph.reachable) < len(compiled.graph.nodes)
