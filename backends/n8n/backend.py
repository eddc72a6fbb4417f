"""The n8n backend: from a legal process to a checked workflow.

A compilation loads only `plan` and `emit`: every other capability imports its room where it is
asked for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from orgflow.backends.n8n.emit.model_compilation import compile_processes, emit_files
from orgflow.backends.n8n.format.merge_base import base_path
from orgflow.backends.n8n.plan import emission_rules
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.plan.target_options import version_of

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.lowering.meaning import as_executed
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets import TargetSpec
from orgflow_ir.targets.artifact import Artifact, Emitted

if TYPE_CHECKING:
    from orgflow.backends.n8n import backend_rules, engine_provider
    from orgflow.backends.n8n.catalogue import node_catalogue
    from orgflow.backends.n8n.diff import file_comparison
    from orgflow.backends.n8n.emit import model_linking, schema_check
    from orgflow.backends.n8n.engine import engine_folder
    from orgflow.backends.n8n.format import compilation_options
    from orgflow.backends.n8n.format import shape as shapes
    from orgflow.backends.n8n.lint import lint as workflow_lint
    from orgflow.backends.n8n.merge import file_merge, named_work_merge
    from orgflow.backends.n8n.server import open_work as open_work_reader
    from orgflow.backends.n8n.server import server_catalogue
    from orgflow.backends.n8n.server.deploy import deployer as workflow_deployer
    from orgflow.backends.n8n.server.executions import execution_reader
    from orgflow.backends.n8n.verify import file_verification

    from orgflow_ir.diagnostics import Rule
    from orgflow_ir.pipeline.operation_catalogue import Catalogue
    from orgflow_ir.plugins.deployment import Deployer
    from orgflow_ir.plugins.engines import EngineProvider
    from orgflow_ir.plugins.executions import ExecutionReader
    from orgflow_ir.plugins.open_work import OpenWorkReader
    from orgflow_ir.targets.comparison import Comparison
    from orgflow_ir.targets.merging import Merging
    from orgflow_ir.targets.verification import Verification
else:  # a target is loaded for compiling; each of these serves one other command
    backend_rules = LazyModule("orgflow.backends.n8n.backend_rules")
    node_catalogue = LazyModule("orgflow.backends.n8n.catalogue.node_catalogue")
    file_comparison = LazyModule("orgflow.backends.n8n.diff.file_comparison")
    model_linking = LazyModule("orgflow.backends.n8n.emit.model_linking")
    schema_check = LazyModule("orgflow.backends.n8n.emit.schema_check")
    engine_folder = LazyModule("orgflow.backends.n8n.engine.engine_folder")
    engine_provider = LazyModule("orgflow.backends.n8n.engine_provider")
    compilation_options = LazyModule("orgflow.backends.n8n.format.compilation_options")
    shapes = LazyModule("orgflow.backends.n8n.format.shape")
    workflow_lint = LazyModule("orgflow.backends.n8n.lint.lint")
    file_merge = LazyModule("orgflow.backends.n8n.merge.file_merge")
    named_work_merge = LazyModule("orgflow.backends.n8n.merge.named_work_merge")
    workflow_deployer = LazyModule("orgflow.backends.n8n.server.deploy.deployer")
    execution_reader = LazyModule("orgflow.backends.n8n.server.executions.execution_reader")
    open_work_reader = LazyModule("orgflow.backends.n8n.server.open_work")
    server_catalogue = LazyModule("orgflow.backends.n8n.server.server_catalogue")
    file_verification = LazyModule("orgflow.backends.n8n.verify.file_verification")


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
        """See `Backend`."""
        # A compilation imports only the rules of `emit`.

        return backend_rules.BACKEND_RULES

    @property
    def server_rules(self) -> tuple[type[Rule], ...]:
        """See `Backend`."""
        return backend_rules.SERVER_RULES

    @property
    def target(self) -> TargetSpec:
        return N8N_TARGET

    def meaning(self, model: Model) -> Model:
        """See `Backend`: repeated activities are loops of flows, listeners are tasks."""
        return as_executed(model)

    def engines(self) -> EngineProvider:
        """n8n's own engine, and servers."""
        return engine_provider.N8nEngines()

    def deployer(self) -> Deployer:
        """Deploys to n8n servers by their public API."""
        return workflow_deployer.N8nDeployer()

    def executions(self) -> ExecutionReader:
        """Executions that n8n servers store, or that were saved from them."""
        return execution_reader.N8nExecutions()

    def open_work(self) -> OpenWorkReader:
        """Tasks and instances of processes that wait in several places."""
        return open_work_reader.N8nOpenWorkReader()

    def catalogue(self, where: str = "") -> Catalogue:
        """The node types of the n8n on this machine, in a folder, or of a server."""
        if "://" in where:
            # Only servers need httpx.

            return server_catalogue.server_catalogue(where)
        return node_catalogue.read_catalogue(
            Path(where).expanduser() if where else engine_folder.engine_dir()
        )

    def shape(self, artifact: Artifact) -> str:
        """See `Backend`."""
        return shapes.workflow_shape(artifact.text)

    def validate(self, artifacts: Iterable[Artifact], ctx: PassContext) -> bool:
        """By the JSON schemas of orgflow's output; violations are OF911."""
        faults = [
            (artifact.path, problem)
            for artifact in artifacts
            for problem in schema_check.check_schemas(
                json.loads(artifact.text), version=version_of(ctx)
            )
        ]
        for path, problem in faults:
            ctx.emit(
                emission_rules.FaultyWorkflow,
                f"the workflow `{path}` is faulty at {problem.path}: {problem.message}",
                help="this is a bug in orgflow: report it and attach the model",
            )
        return not faults

    def stated_options(
        self, source: SourceFile, processes: Collection[str] = ()
    ) -> dict[str, str] | None:
        """See `Backend`: in the sticky note with the map."""
        return compilation_options.read_stated_options(source, processes, N8N_TARGET)

    def diff(self, old: SourceFile, new: SourceFile, ctx: PassContext) -> Comparison | None:
        """Behaviour on n8n's engine, then nodes; positions and ids are ignored. OF490."""
        return file_comparison.diff_files(old, new, ctx)

    def merge(
        self,
        edited: SourceFile,
        emitted: Emitted,
        ctx: PassContext,
        bases: Callable[[str], str | None],
    ) -> Merging | None:
        """Three-way, by the map: the earlier output, its edited version, and the current output.
        N8N001 to N8N004."""
        return file_merge.merge_file(edited, emitted, ctx, lambda id: bases(base_path(id)))

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
        return file_verification.verify_file(model, source, ctx, strict=strict, emitted=emitted)

    def lint(self, source: SourceFile, ctx: PassContext) -> None:
        """Content that n8n refuses or executes unexpectedly: `LINT_RULES`."""
        workflow_lint.lint_file(source, ctx)

    def emit(self, model: Model, ctx: PassContext) -> Emitted:
        """One file per process. A violation found by orgflow's own check of the format is OF911,
        and nothing is printed."""
        return emit_files(model, compile_processes(model, ctx), ctx, {})

    def link(
        self, compiled: Sequence[tuple[Model, Emitted]], ctx: PassContext
    ) -> tuple[Emitted, ...]:
        """See `Backend`: what several models name or call is one workflow, with one contract."""
        return model_linking.link_files(compiled, ctx)

    def keep_filled(
        self,
        compiled: Sequence[Emitted],
        there: Sequence[SourceFile],
        ctx: PassContext,
        bases: Callable[[str], str | None],
    ) -> tuple[Emitted, ...]:
        """See `Backend`: workflows of named work are merged with those in the files. N8N001 to
        N8N004."""
        return named_work_merge.keep_filled(compiled, there, ctx, lambda id: bases(base_path(id)))

    def report_uncalled(
        self,
        compiled: Sequence[Emitted],
        beside: Sequence[SourceFile],
        ctx: PassContext,
        bases: Callable[[str], str | None],
    ) -> None:
        """See `Backend`: workflows that exist only for their callers. N8N005."""
        named_work_merge.report_uncalled(compiled, beside, ctx, lambda id: bases(base_path(id)))
