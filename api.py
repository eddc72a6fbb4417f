"""Functions of `import orgflow`: read, draft, fill, check, compile, verify, run; none writes files.

Faults of a model are in the `diagnostics` of a result; a usage error is an exception: `InputError`,
`UnknownName`, `OptionError`, `UnsupportedError`, `RunnerError`.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from orgflow.backends import DEFAULT_TARGET
from orgflow.compilation.agent_answers import (
    choose_agents,
    choose_drafter,
    draft_model,
    fill_gaps,
)
from orgflow.compilation.json_lists import join_json_texts, read_together
from orgflow.compilation.model_checks import check_gaps
from orgflow.compilation.reading import (
    ReadRequest,
    own_backend,
    parse_source,
    read_model,
    select_frontend,
)
from orgflow.compilation.target_choice import check_target_options, choose_backend
from orgflow.compilation.usage_errors import (
    InputError,
    OptionError,
    UnknownName,
    UnsupportedError,
)
from orgflow.compiler import (
    CHECK,
    COMPILE,
    VERIFY,
    CompileOutcome,
    CompileRequest,
    run_stages,
    take_called_processes,
)
from orgflow.evaluation.replay import ReplayReport, replay_model
from orgflow.passes.presets import DEFAULT_PRESET, PRESETS, preset_grading

from orgflow_ir.diagnostics import Diagnostic, Severity
from orgflow_ir.diagnostics.agent_rules import UnansweredGap
from orgflow_ir.diagnostics.grading import Grading
from orgflow_ir.model import Model
from orgflow_ir.model.records import dataclass
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.pipeline.services import Services
from orgflow_ir.plugins import Agent, Backend, Document, Registry, Runner, RunnerError
from orgflow_ir.plugins.engines import (
    LOCAL,
    AccessError,
    EngineProvider,
    ServerAccess,
    is_address,
    local_engine,
)
from orgflow_ir.plugins.guards import call_guarded
from orgflow_ir.targets import Emitted
from orgflow_ir.targets.verification import Verdict, Verification

__all__ = [
    "AccessError", "CheckResult", "CompileResult", "Diagnostic", "Document", "Emitted",
    "InputError", "Model", "OptionError", "ReadResult", "ReplayReport", "RunResult",
    "RunnerError", "Services", "UnknownName", "UnsupportedError", "Verdict", "Verification",
    "VerifyResult", "check", "compile", "draft", "fill", "read", "run", "verify",
]  # fmt: skip


@dataclass(frozen=True, repr=False)
class CheckResult:
    """The findings for a model.

    Attributes:
        diagnostics: every finding; those from reading the file come first.
    """

    diagnostics: tuple[Diagnostic, ...]

    @property
    def ok(self) -> bool:
        """Whether the findings contain no error."""
        return not self.errors

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """The findings that are errors."""
        return tuple(d for d in self.diagnostics if d.severity is Severity.ERROR)

    def __repr__(self) -> str:
        counts = Counter(d.severity for d in self.diagnostics)
        totals = [f"{n} {s.value}{'s' if n > 1 else ''}" for s in Severity if (n := counts[s])]
        parts = [*self._contents(), ", ".join(totals) or "nothing found"]
        return f"<{type(self).__name__}: {'; '.join(parts)}>"

    def _contents(self) -> Iterator[str]:
        """What else `repr` states, as short texts."""
        yield from ()


@dataclass(frozen=True, repr=False)
class ReadResult(CheckResult):
    """A file that was read.

    Attributes:
        model: the model of the file, or None if errors prevented reading it.
    """

    model: Model | None
    _source: SourceFile | None = field(default=None, repr=False, compare=False)
    _format: str | None = field(default=None, repr=False, compare=False)

    def _contents(self) -> Iterator[str]:
        if self.model is None:
            yield "no model"
        else:
            nodes = sum(len(scope.nodes) for scope in self.model.scopes())
            yield f"model `{self.model.label}` with {nodes} nodes"


@dataclass(frozen=True, repr=False)
class CompileResult(CheckResult):
    """A model that was compiled.

    Attributes:
        emitted: the files, with a map from their parts to model elements; None after an error.
    """

    emitted: Emitted | None

    @property
    def files(self) -> dict[str, str]:
        """The text of each file by its path; empty after an error."""
        artifacts = self.emitted.artifacts if self.emitted is not None else ()
        return {artifact.path: artifact.text for artifact in artifacts}

    def _contents(self) -> Iterator[str]:
        yield ", ".join(self.files) or "no files"


@dataclass(frozen=True, repr=False)
class VerifyResult(CheckResult):
    """A workflow that was compared with a model.

    Attributes:
        verifications: one per process, each with its `verdict`; empty after an error.
    """

    verifications: tuple[Verification, ...]

    @property
    def ok(self) -> bool:
        """Whether every process was compared, and nothing was found that differs."""
        return bool(self.verifications) and all(v.ok for v in self.verifications)

    def _contents(self) -> Iterator[str]:
        verdicts = [f"`{v.label}` {v.verdict.value}" for v in self.verifications]
        yield ", ".join(verdicts) or "nothing compared"


@dataclass(frozen=True, repr=False)
class RunResult(CheckResult):
    """A model that was run on the target's engine.

    Attributes:
        report: each run and how it compares with the model; None after an error.
        engine: the engine that executed the runs: `local`, `model`, or the address of a server.
    """

    report: ReplayReport | None
    engine: str | None = None

    @property
    def ok(self) -> bool:
        """Whether at least one run was made and every run conforms to the model."""
        return self.report is not None and self.report.ok

    def _contents(self) -> Iterator[str]:
        yield f"{len(self.report.runs)} runs" if self.report is not None else "not run"


Source = Model | ReadResult
"""A model, or a result of `read`, whose diagnostics are carried over to the next result."""


def read(
    path: str | os.PathLike[str], *, format: str | None = None, process: str | None = None
) -> ReadResult:
    """Read the model in a file.

    Args:
        path: the file, or a folder for formats that consist of folders; `-` is standard input.
        format: the name of the format, such as `bpmn`; by default, suffix and content decide.
        process: the only process to keep, by its id, its name, or the name of its pool.

    Raises:
        InputError: the file cannot be read, or the format does not read folders.
        UnknownName: there is no such format or process.

    Example:
        >>> order = read("order.bpmn")
        >>> order.ok
        True
    """
    ctx = _new_context()
    outcome = read_model(ReadRequest(os.fspath(path), format, process, diagram=True), ctx)
    file = outcome.source if isinstance(outcome.source, SourceFile) else None
    return ReadResult(tuple(ctx.diagnostics), outcome.model, file, format)


def draft(
    documents: Sequence[Document], agent: str | Agent, *, services: Services | None = None
) -> ReadResult:
    """Let an agent produce a model from documents; its evidence is compared with them.

    Args:
        documents: the source documents; may be empty if the agent reads a store.
        agent: an agent that produces models, or its name.
        services: the language model, the store, the budget … that the agent may use.

    Raises:
        UnknownName: there is no such agent.
        UnsupportedError: the agent does not produce models.
    """
    given: Any = documents
    if isinstance(given, str) or not all(isinstance(item, Document) for item in given):
        raise TypeError("documents are a sequence of `orgflow.Document(name, text)`")
    ctx = _new_context(services)
    model = draft_model(choose_drafter(agent, _load_registry()), documents, ctx)
    return ReadResult(tuple(ctx.diagnostics), model)


def fill(
    source: Source, agents: Sequence[str | Agent], *, services: Services | None = None
) -> ReadResult:
    """Let agents close the gaps of a model; returns the model with their answers.

    Every gap is offered to the agents in order until an answer introduces no error. Accepted and
    rejected answers and the gaps that stay open (OF522) are in the diagnostics. A model with errors
    is returned unchanged.

    Args:
        source: the model.
        agents: agents that answer gaps, or their names.
        services: the language model, the store, the budget … that agents may use.

    Raises:
        UnknownName: there is no such agent.
        UnsupportedError: an agent does not answer gaps.
    """
    model, ctx = _begin_request(source, agents, services, report_open=True)
    return ReadResult(tuple(ctx.diagnostics), model)


def check(
    source: Source,
    *,
    preset: str = DEFAULT_PRESET,
    agents: Sequence[str | Agent] = (),
) -> CheckResult:
    """Find faults and gaps of a model, independent of a target; for a file that `read` returned in
    the format of a target, also the constructs that the target refuses.

    Args:
        source: the model.
        preset: the rules that report, and the severity of their findings: `recommended`, `strict`,
            `all` or `bpmnlint`, as for `orgflowc check --preset`. No `orgflow.toml` is read.
        agents: agents that fill gaps first, as with `fill`.

    Raises:
        UnknownName: there is no such preset or agent.

    Example:
        >>> check(read("order.bpmn"), preset="strict").ok
        False
    """
    if not isinstance(preset, str) or preset not in PRESETS:
        raise UnknownName("preset", preset, tuple(PRESETS))
    usual = preset == DEFAULT_PRESET
    grading = Grading() if usual else preset_grading(preset, _load_registry().rules)
    model, ctx = _begin_request(source, agents)
    ctx.grading = grading
    file = source._source if isinstance(source, ReadResult) else None
    format = source._format if isinstance(source, ReadResult) else None
    if file is not None and not usual:
        ctx.diagnostics[:] = _find_again(file, format, grading)
        ctx.options = {**ctx.options, "diagram": True}  # `read` reads it, so none is a finding
    if model is not None:
        own = own_backend(file, _load_registry(), format) if file is not None else None
        run_stages(CHECK, CompileRequest(model, source=file, own=own), ctx)
        ctx.diagnostics[:] = grading.graded(ctx.diagnostics)
        check_gaps(model, ctx, own)
    return CheckResult(tuple(grading.graded(ctx.diagnostics)))


def _find_again(file: SourceFile, format: str | None, grading: Grading) -> list[Diagnostic]:
    """What a frontend reports of a file where optional rules of its own are on."""
    ctx = _new_context()
    ctx.grading = grading
    selected = select_frontend(file, _load_registry(), ctx, format)
    if selected is not None:
        parse_source(*selected, ctx, diagram=True)
    return ctx.diagnostics


def compile(
    source: Source,
    target: str = DEFAULT_TARGET,
    *,
    options: Mapping[str, str] | None = None,
    allow_lossy: bool = False,
    force: bool = False,
    strict: bool = False,
    agents: Sequence[str | Agent] = (),
) -> CompileResult:
    """Check a model and compile it.

    Args:
        source: the model.
        target: the name of a backend.
        options: options of the target, as `{"version": "2.41"}`.
        allow_lossy: allow approximations that lose information.
        force: downgrade flow errors to warnings.
        strict: duplicate execution and leftover tokens are errors.
        agents: agents that fill gaps first, as with `fill`. `verify` needs the model with their
            answers: call `fill`, and compile its result.

    Raises:
        UnknownName: there is no such target or agent.
        OptionError: the target has no such option, or the option does not accept the value.
    """
    backend, chosen = _choose_target(target, options)
    model, ctx = _begin_request(source, agents)
    emitted = None
    if model is not None:
        request = CompileRequest(model, backend, chosen, allow_lossy, force, strict)
        emitted = _compile_with_called(request, ctx).emitted
    return CompileResult(tuple(ctx.diagnostics), emitted)


def _compile_with_called(request: CompileRequest, ctx: PassContext) -> CompileOutcome:
    """The outcome for a model with the processes that it calls."""
    return run_stages((take_called_processes, *COMPILE), request, ctx)


def verify(
    source: Source,
    workflow: str | os.PathLike[str] | SourceFile | CompileResult,
    target: str = DEFAULT_TARGET,
    *,
    options: Mapping[str, str] | None = None,
    strict: bool = False,
) -> VerifyResult:
    """Compare a workflow, as compiled or edited later, with the model it was compiled from.

    Args:
        source: the model.
        workflow: the file of the target or a folder of them, its content, or the result of
            `compile`. Workflows that call each other are compared together.
        target: the name of a backend.
        options: options of the target.
        strict: added steps, changed content, stalled work and conditions are differences.

    Raises:
        InputError: the file cannot be read.
        UnknownName: there is no such target.
        OptionError: the target has no such option, or the option does not accept the value.
        UnsupportedError: the target cannot be verified.
    """
    backend, chosen = _choose_target(target, options)
    file = _read_workflow(workflow)
    files = (file,) if file is not None else ()
    model, ctx = _begin_request(source)
    if isinstance(workflow, CompileResult) and not files:  # its errors say why
        new = (d for d in workflow.diagnostics if d not in ctx.diagnostics)
        return VerifyResult((*ctx.diagnostics, *new), ())
    ctx.options = {**ctx.options, **chosen}
    if model is None or ctx.has_errors:
        return VerifyResult(tuple(ctx.diagnostics), ())
    request = CompileRequest(model, backend, strict=strict, workflows=files)
    outcome = run_stages(VERIFY, request, ctx)
    return VerifyResult(tuple(ctx.diagnostics), outcome.verifications)


def _read_workflow(
    workflow: str | os.PathLike[str] | SourceFile | CompileResult,
) -> SourceFile | None:
    """The file that is meant, or all files as one list."""
    if isinstance(workflow, CompileResult):
        return join_json_texts(workflow.files)
    if isinstance(workflow, SourceFile):
        return workflow
    return read_together([os.fspath(workflow)])


def run(
    source: Source,
    target: str = DEFAULT_TARGET,
    *,
    options: Mapping[str, str] | None = None,
    engine: str | None = None,
    key_file: str | None = None,
    all_paths: bool = False,
    max_runs: int = 32,
) -> RunResult:
    """Compile a model, run it on the target's engine, and compare each run with the model.

    Args:
        source: the model.
        target: the name of a backend.
        options: options of the target.
        engine: `local`, the installed engine; `model`, the engine model, which does not evaluate
            expressions; or the address of a server. Default: the installed engine if there is one,
            otherwise the engine model.
        key_file: the file with the server's key; by default, the target's environment variable.
        all_paths: every enumerated run instead of only the first of each process.
        max_runs: the maximum number of runs per process.

    Raises:
        UnknownName: there is no such target.
        OptionError: the target has no such option, or the option does not accept the value.
        UnsupportedError: the target has no such engine.
        AccessError: the address or the key is malformed.
        RunnerError: the engine is missing, or failed.
        ValueError: `max_runs` is below 1.
    """
    if max_runs < 1:
        raise ValueError(f"max_runs is {max_runs}; it must be 1 or more")
    backend, chosen = _choose_target(target, options)
    model, ctx = _begin_request(source)
    report = None
    with _open_runner(backend, engine, key_file, ctx) as (runner, demanded, used):
        if model is not None and runner is not None and not ctx.has_errors:
            request = CompileRequest(model, backend, {**demanded, **chosen})
            outcome = _compile_with_called(request, ctx)
            if outcome.emitted is not None:
                report = replay_model(
                    outcome.model, outcome.emitted, runner, ctx, max_runs=max_runs,
                    all_paths=all_paths,
                )  # fmt: skip
    return RunResult(tuple(ctx.diagnostics), report, used)


@contextlib.contextmanager
def _open_runner(
    backend: Backend, engine: str | None, key_file: str | None, ctx: PassContext
) -> Iterator[tuple[Runner | None, Mapping[str, str], str]]:
    """A runner, closed afterwards, the options its engine demands, and the name of the engine; the
    runner is None after an error."""
    engines: EngineProvider | None = call_guarded(backend, "engines", EngineProvider)
    if engines is None:
        raise UnsupportedError(f"target `{backend.name}` has no engine to run on")
    local = local_engine(engines, engine)
    if local is not None:
        with contextlib.closing(local.runner) as runner:
            yield runner, {}, local.name
        return
    connection = None
    engine = engine or LOCAL
    if is_address(engine):
        connection = engines.connect(ServerAccess(engine, key_file), ctx)
    if connection is None:
        raise UnsupportedError(f"target `{backend.name}` has no engine `{engine}`")
    with connection as remote:
        if remote is None:
            yield None, {}, engine
        else:
            yield remote.runner, remote.options, engine


def _choose_target(name: str, options: Mapping[str, str] | None) -> tuple[Backend, dict[str, str]]:
    backend = choose_backend(name, _load_registry())
    if not isinstance(options, Mapping | None):
        form = "{'name': 'value'}"
        raise OptionError(f"the options are {_name_type(options)}; pass a mapping, as in {form}")
    return backend, check_target_options(backend, options or {})


def _begin_request(
    source: Source,
    agents: Sequence[str | Agent] = (),
    services: Services | None = None,
    *,
    report_open: bool = False,
) -> tuple[Model | None, PassContext]:
    """The model, with the answers of agents, and a context with what was found so far, with
    `report_open` also the gaps that stay open.

    Raises `TypeError` for anything but a model or what `read` gave.
    """
    given: Any = source  # callers need not check their types
    if not isinstance(given, Model | ReadResult):
        hint = (
            ": read the file first, orgflow.read(path)"
            if isinstance(given, str | os.PathLike)
            else ""
        )
        raise TypeError(f"the source is {_name_type(given)}, not a model{hint}")
    ctx = _new_context(services)
    chosen = choose_agents(agents, _load_registry()) if agents else ()
    model = source if isinstance(source, Model) else source.model
    if not isinstance(source, Model):
        # gaps that `fill` left open are found again by whoever goes on with its result
        ctx.diagnostics.extend(d for d in source.diagnostics if d.code != UnansweredGap.code)
        ctx.file = source._source.path if source._source is not None else ""
    if model is not None and (chosen or report_open):
        model = fill_gaps(model, chosen, ctx, report_open=report_open)
    return model, ctx


def _name_type(value: object) -> str:
    return f"a `{type(value).__name__}`"


def _new_context(services: Services | None = None) -> PassContext:
    if not isinstance(services, Services | None):
        raise TypeError(f"the services are {_name_type(services)}, not `orgflow.Services(...)`")
    return PassContext(registry=_load_registry(), services=services or Services())


@functools.cache
def _load_registry() -> Registry:
    """The leaves that ship with orgflow, and those of installed plugins."""
    return Registry()
