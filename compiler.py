"""The compilation as a library: a request goes through stages and gives an outcome; prints nothing.

Faults of the model are diagnostics in the `PassContext`; usage errors are exceptions
(`orgflow.compilation.usage_errors`). `READ`, `CHECK`, `LOWER`, `COMPILE` and `VERIFY` are the
stages in order; `run_stages` runs them. The commands and `import orgflow` use it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from orgflow.compilation import usage_errors
from orgflow.compilation.model_checks import check_gaps, check_model
from orgflow.passes.pipelines import COMPILE_SEVERITIES, DRAWABLE, FORCEABLE, GAP_SEVERITIES

from orgflow_ir.diagnostics import Severity
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import CallActivity, Model
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import Source, SourceFile
from orgflow_ir.pipeline import PassContext, Stage
from orgflow_ir.pipeline.collector import paused_collector
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.plugins.guards import call_guarded, emit_guarded
from orgflow_ir.targets.artifact import Emitted

if TYPE_CHECKING:
    from orgflow.compilation import process_groups, target_choice

    from orgflow_ir.linking import called_processes
    from orgflow_ir.targets.verification import Verification
else:  # calls of other models, processes compiled one by one, and options of workflows
    target_choice = LazyModule("orgflow.compilation.target_choice")
    process_groups = LazyModule("orgflow.compilation.process_groups")
    called_processes = LazyModule("orgflow_ir.linking.called_processes")


class CompileRequest(NamedTuple):
    """A model, and how it is checked, compiled and verified.

    Attributes:
        model: the model, as it was read.
        backend: the target; `None` for a check without one.
        options: of the target, as `check_target_options` returns them.
        allow_lossy: allow approximations that lose information.
        force: flow errors (`FORCEABLE`) are warnings.
        strict: duplicate execution and leftover tokens are errors; when workflows are compared,
            added steps, changed content, stalled work and conditions are differences.
        source: the input of the model, where its format has rules of its own.
        own: the backend of that format; see `own_backend`.
        workflows: the files that are compared with the model.
    """

    model: Model
    backend: Backend | None = None
    options: Mapping[str, str] = {}  # never changed
    allow_lossy: bool = False
    force: bool = False
    strict: bool = False
    source: Source | None = None
    own: Backend | None = None
    workflows: tuple[SourceFile, ...] = ()

    @property
    def target(self) -> Backend:
        """The backend of a request that has one."""
        assert self.backend is not None
        return self.backend


class CompileOutcome(NamedTuple):
    """The result of a request after its stages; findings are in the `PassContext`.

    Attributes:
        model: the model, with the processes that it calls where a stage takes them.
        legal: the model in supported constructs; `None` after errors.
        emitted: the files; `None` after errors.
        verifications: one per compared process.
        stopped: whether errors keep the following stages from running.
    """

    model: Model
    legal: Model | None = None
    emitted: Emitted | None = None
    verifications: tuple[Verification, ...] = ()
    stopped: bool = False

    def stop(self) -> CompileOutcome:
        """The outcome after an error that later stages cannot work with."""
        return self._replace(legal=None, stopped=True)


CompileStage = Callable[[CompileRequest, CompileOutcome, PassContext], CompileOutcome]


def run_stages(
    stages: Sequence[CompileStage], request: CompileRequest, ctx: PassContext
) -> CompileOutcome:
    """Run stages in order, up to the first that stops. Findings are in `ctx`."""
    outcome = CompileOutcome(request.model)
    with paused_collector():
        for stage in stages:
            outcome = stage(request, outcome, ctx)
            if outcome.stopped:
                break
    return outcome


# -- stages ----------------------------------------------------------------------------------


def take_called_processes(
    request: CompileRequest, outcome: CompileOutcome, ctx: PassContext
) -> CompileOutcome:
    """Add the processes that the model calls but does not contain."""
    return outcome._replace(model=add_called_processes(outcome.model, request.target, ctx))


def run_check_passes(
    request: CompileRequest, outcome: CompileOutcome, ctx: PassContext
) -> CompileOutcome:
    """Check the model as it was read; rules of its own format replace those of some passes."""
    check_model(outcome.model, ctx, without=request.own.lint_replaces if request.own else ())
    return outcome


def lint_own_format(
    request: CompileRequest, outcome: CompileOutcome, ctx: PassContext
) -> CompileOutcome:
    """Check an input in the format of a backend by the rules of that backend."""
    if request.own is not None and isinstance(request.source, SourceFile):
        request.own.lint(request.source, ctx)
    return outcome


def soften_severities(
    request: CompileRequest, outcome: CompileOutcome, ctx: PassContext
) -> CompileOutcome:
    """Give findings the severities that they have for a compilation."""
    let_through: frozenset[str] = FORCEABLE if request.force else frozenset()
    if not request.target.target.executes:  # a drawing of a deadlock stops nobody
        let_through = DRAWABLE
    ctx.severities = {
        **({} if request.strict else COMPILE_SEVERITIES),
        **dict.fromkeys(let_through, Severity.WARNING),
        **ctx.severities,
    }
    return outcome


def enter_target(
    request: CompileRequest, outcome: CompileOutcome, ctx: PassContext
) -> CompileOutcome:
    """Set the target and its options, which later stages find in `ctx`."""
    spec = request.target.target
    ctx.target = spec
    ctx.options = {**spec.default_options, **ctx.options, **request.options}
    return outcome.stop() if _is_blocked(ctx) else outcome


def run_passes_for_check(
    request: CompileRequest, outcome: CompileOutcome, ctx: PassContext
) -> CompileOutcome:
    """Check the model before it is legalised, without the passes of plugins that lower it."""
    del request
    checked = check_model(outcome.model, ctx)
    return outcome.stop() if _is_blocked(ctx) else outcome._replace(legal=checked)


def run_passes_for_output(
    request: CompileRequest, outcome: CompileOutcome, ctx: PassContext
) -> CompileOutcome:
    """Check the model before it is legalised, with the passes of plugins that lower it."""
    del request
    checked = check_model(outcome.model, ctx, last=Stage.LOWER)
    return outcome.stop() if _is_blocked(ctx) else outcome._replace(legal=checked)


def legalise_constructs(
    request: CompileRequest, outcome: CompileOutcome, ctx: PassContext
) -> CompileOutcome:
    """Rewrite the model into constructs that the target supports."""
    assert outcome.legal is not None
    spec = request.target.target
    legal = legalise(outcome.legal, spec, ctx, allow_lossy=request.allow_lossy)
    return outcome._replace(legal=legal)


def stop_at_errors(
    request: CompileRequest, outcome: CompileOutcome, ctx: PassContext
) -> CompileOutcome:
    """Stop after an error; unsupported constructs are reported by now, even after a flow error."""
    del request
    return outcome.stop() if ctx.has_errors else outcome


def report_gaps(
    request: CompileRequest, outcome: CompileOutcome, ctx: PassContext
) -> CompileOutcome:
    """Report the gaps of a model that the target executes."""
    if request.target.target.executes:
        ctx.severities = {**GAP_SEVERITIES, **ctx.severities}
        check_gaps(outcome.model, ctx)
    return outcome


def emit_files(
    request: CompileRequest, outcome: CompileOutcome, ctx: PassContext
) -> CompileOutcome:
    """Emit the files of the target."""
    assert outcome.legal is not None
    return outcome._replace(emitted=emit_guarded(request.target, outcome.legal, ctx))


def report_output_findings(
    request: CompileRequest, outcome: CompileOutcome, ctx: PassContext
) -> CompileOutcome:
    """Report the findings of a backend's own rules about the files, such as addresses that anybody
    can call; neither the files nor remarks on what became of each element are kept."""
    backend = request.target
    if outcome.legal is None or not backend.target.executes or ctx.has_errors:
        return outcome
    quiet = dataclasses.replace(ctx, _found=[], _advice=[])
    emit_guarded(backend, outcome.legal, quiet)
    ctx.diagnostics += [
        d for d in quiet.diagnostics if d.target == backend.name or d.severity is Severity.ERROR
    ]
    return outcome


def compare_workflows(
    request: CompileRequest, outcome: CompileOutcome, ctx: PassContext
) -> CompileOutcome:
    """Compare workflows with the model. Raises `UnsupportedError` for a target that cannot."""
    results: list[Verification] = []
    backend, model, given = request.target, outcome.model, ctx.options
    processes = [process.id for process in model.processes]
    for file in request.workflows:
        ctx.options = target_choice.combine_stated_options(backend, given, file, ctx, processes)
        compared = call_guarded(backend, "verify", tuple, model, file, ctx, strict=request.strict)
        ctx.options = given
        if compared is None:
            raise usage_errors.UnsupportedError(
                f"target `{backend.name}` does not support verification"
            )
        results += compared
    return outcome._replace(verifications=tuple(results))


CHECK: tuple[CompileStage, ...] = (run_check_passes, lint_own_format)
"""Find faults of a model, whatever its target; `check_gaps` finds gaps, which are not faults."""

LEGAL: tuple[CompileStage, ...] = (
    take_called_processes, enter_target, run_passes_for_check, legalise_constructs,
    report_output_findings,
)  # fmt: skip
"""Find what a target refuses, in addition to the faults of the model."""

LOWER: tuple[CompileStage, ...] = (
    soften_severities, enter_target, run_passes_for_output, legalise_constructs, stop_at_errors,
)  # fmt: skip
"""Check a model and rewrite it into the form that the backend may emit."""

COMPILE: tuple[CompileStage, ...] = (*LOWER, report_gaps, emit_files)
"""Check, lower and emit a model."""

VERIFY: tuple[CompileStage, ...] = (take_called_processes, compare_workflows)
"""Compare workflows with a model."""


def add_called_processes(model: Model, backend: Backend, ctx: PassContext) -> Model:
    """The model with the processes that it calls but does not contain, from the files of the
    command (`ctx.given`) and their neighbours, if the target executes."""
    if not backend.target.executes or not any(
        isinstance(node, CallActivity) for scope in model.scopes() for node in scope.nodes
    ):
        return model
    return called_processes.with_called_processes(model, ctx)


def compile_model(
    model: Model,
    backend: Backend,
    ctx: PassContext,
    *,
    options: Mapping[str, str] | None = None,
    allow_lossy: bool = False,
    force: bool = False,
    strict: bool = False,
) -> Emitted | None:
    """The stages `COMPILE` for the attributes of a `CompileRequest`; `None` after errors."""
    request = CompileRequest(model, backend, options or {}, allow_lossy, force, strict)
    return run_stages(COMPILE, request, ctx).emitted


def compile_separately(request: CompileRequest, ctx: PassContext) -> list[tuple[Model, Emitted]]:
    """Each process of a model compiled separately, in the form of `select_process`, but together
    with the processes that it calls; a faulty process does not affect the others. Messages between
    processes are reported as gaps, and findings about the whole model once. Files that a backend
    names after the model are named after the process; duplicate names get a number."""
    compiled: list[tuple[Model, Emitted]] = []
    reported = list(ctx.diagnostics)
    paths: set[str] = set()
    for process, alone in process_groups.split_processes(request.model):
        own = PassContext(
            registry=ctx.registry, services=ctx.services, grading=ctx.grading, given=ctx.given,
            folders=ctx.folders, changed=ctx.changed,
        )  # fmt: skip
        outcome = run_stages(COMPILE, request._replace(model=alone), own)
        new = [d for d in own.diagnostics if d not in reported]
        ctx.diagnostics += new
        reported += new
        if outcome.emitted is not None:
            files = process_groups.rename_files(outcome.emitted, alone, process, paths)
            compiled.append((alone, files))
    ctx.source = request.model
    process_groups.report_lost_messages(request.model, ctx)
    return compiled


def emit_despite_errors(model: Model, backend: Backend, ctx: PassContext) -> Emitted | None:
    """The backend's output for a model with errors in its flow, to show it with them; `None` if the
    target does not support it. Nothing is reported to `ctx`."""
    spec = backend.target
    options = {**spec.default_options, **ctx.options}
    quiet = PassContext(
        registry=ctx.registry, target=spec, options=options, given=ctx.given, folders=ctx.folders
    )
    legal = legalise(model, spec, quiet, allow_lossy=True)
    return None if quiet.has_errors else emit_guarded(backend, legal, quiet)


def _is_blocked(ctx: PassContext) -> bool:
    """Whether an error stands that makes the model unfit for looking further: any but those of
    its flow, its data, its target or its gaps."""
    return any(
        d.severity is Severity.ERROR and d.category is not None and d.category.stops
        for d in ctx.diagnostics
    )


def __getattr__(name: str) -> Any:
    if name[:2] == "__":  # the import system asks for `__path__`
        raise AttributeError(name)
    from orgflow.compilation.moved_names import find_moved  # names of version 0.2

    return find_moved(name)
