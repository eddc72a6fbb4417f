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
from dataclasses import dataclass, field
from typing import Any

from orgflow import compiler
from orgflow.backends import DEFAULT_TARGET
from orgflow.compiler import InputError, OptionError, UnknownName, UnsupportedError
from orgflow.evaluation.replay import ReplayReport, replay_model
from orgflow.passes.presets import DEFAULT_PRESET, PRESETS, preset_grading

from orgflow_ir.diagnostics import Diagnostic, Severity
from orgflow_ir.diagnostics.agent_rules import UnansweredGap
from orgflow_ir.diagnostics.grading import Grading
from orgflow_ir.model import Model
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
from orgflow_ir.plugins.guards import given
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
        found = [f"{n} {s.value}{'s' if n > 1 else ''}" for s in Severity if (n := counts[s])]
        parts = [*self._contents(), ", ".join(found) or "nothing found"]
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
        """Whether every process was compared without a difference."""
        found = self.verifications
        return bool(found) and all(v.verdict is not Verdict.DIFFERENT for v in found)

    def _contents(self) -> Iterator[str]:
        found = [f"`{v.label}` {v.verdict.value}" for v in self.verifications]
        yield ", ".join(found) or "nothing compared"


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
    ctx = _context()
    model = file = None
    with compiler.open_source(os.fspath(path)) as opened:
        selected = compiler.select_frontend(opened, _registry(), ctx, format)
        if selected is not None:
            frontend, source = selected
            file = source if isinstance(source, SourceFile) else None
            model = compiler.parse(frontend, source, ctx, diagram=True)
    if model is not None and process is not None:
        model = compiler.only_process(model, process)
    return ReadResult(tuple(ctx.diagnostics), model, file, format)


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
    ctx = _context(services)
    drafter = compiler.choose_drafter(agent, _registry())
    model = compiler.draft_model(drafter, documents, ctx)
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
    model, ctx = _begin(source, agents, services, report_open=True)
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
    grading = Grading() if usual else preset_grading(preset, _registry().rules)
    model, ctx = _begin(source, agents)
    ctx.grading = grading
    if not usual and isinstance(source, ReadResult) and source._source is not None:
        ctx.diagnostics[:] = _read_again(source._source, source._format, grading)
        ctx.options = {**ctx.options, "diagram": True}  # `read` reads it, so none is a finding
    file = source._source if isinstance(source, ReadResult) else None
    if model is not None and file is not None and isinstance(source, ReadResult):
        compiler.check_source(file, model, ctx, source._format)
        ctx.diagnostics[:] = grading.graded(ctx.diagnostics)
        own = compiler.own_backend(file, _registry(), source._format)
        compiler.check_gaps(model, ctx, own)
    elif model is not None:
        compiler.check_model(model, ctx)
        ctx.diagnostics[:] = grading.graded(ctx.diagnostics)
        compiler.check_gaps(model, ctx)
    return CheckResult(tuple(grading.graded(ctx.diagnostics)))


def _read_again(file: SourceFile, format: str | None, grading: Grading) -> list[Diagnostic]:
    """What a frontend reports of a file where optional rules of its own are on."""
    ctx = _context()
    ctx.grading = grading
    selected = compiler.select_frontend(file, _registry(), ctx, format)
    if selected is not None:
        compiler.parse(*selected, ctx, diagram=True)
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
    backend, chosen = _target(target, options)
    model, ctx = _begin(source, agents)
    emitted = None
    if model is not None:
        model = compiler.with_called(model, backend, ctx)
        emitted = compiler.compile_model(
            model, backend, ctx, options=chosen, allow_lossy=allow_lossy, force=force,
            strict=strict,
        )  # fmt: skip
    return CompileResult(tuple(ctx.diagnostics), emitted)


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
        workflow: the file of the target, its content, or the result of `compile`.
        target: the name of a backend.
        options: options of the target.
        strict: added steps, changed expressions and stalled work are differences.

    Raises:
        InputError: the file cannot be read.
        UnknownName: there is no such target.
        OptionError: the target has no such option, or the option does not accept the value.
        UnsupportedError: the target cannot be verified.
    """
    backend, chosen = _target(target, options)
    files = tuple(_files(workflow))
    model, ctx = _begin(source)
    if isinstance(workflow, CompileResult) and not files:  # its errors say why
        told = (*ctx.diagnostics, *(d for d in workflow.diagnostics if d not in ctx.diagnostics))
        return VerifyResult(told, ())
    ctx.options = {**ctx.options, **chosen}
    if model is None or ctx.has_errors:
        return VerifyResult(tuple(ctx.diagnostics), ())
    model = compiler.with_called(model, backend, ctx)
    found: list[Verification] = []
    for file in files:
        verified = given(backend, "verify", tuple, model, file, ctx, strict=strict)
        if verified is None:
            raise UnsupportedError(f"target `{backend.name}` does not support verification")
        found += verified
    return VerifyResult(tuple(ctx.diagnostics), tuple(found))


def _files(
    workflow: str | os.PathLike[str] | SourceFile | CompileResult,
) -> Iterator[SourceFile]:
    """The files that are meant."""
    if isinstance(workflow, CompileResult):
        yield from (SourceFile(path, text.encode()) for path, text in workflow.files.items())
    elif isinstance(workflow, SourceFile):
        yield workflow
    else:
        yield compiler.read_source(os.fspath(workflow))


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
    backend, chosen = _target(target, options)
    model, ctx = _begin(source)
    report = None
    with _runner(backend, engine, key_file, ctx) as (runner, demanded, used):
        if model is not None and runner is not None and not ctx.has_errors:
            model = compiler.with_called(model, backend, ctx)
            emitted = compiler.compile_model(model, backend, ctx, options={**demanded, **chosen})
            if emitted is not None:
                report = replay_model(
                    model, emitted, runner, ctx, max_runs=max_runs, all_paths=all_paths
                )
    return RunResult(tuple(ctx.diagnostics), report, used)


@contextlib.contextmanager
def _runner(
    backend: Backend, engine: str | None, key_file: str | None, ctx: PassContext
) -> Iterator[tuple[Runner | None, Mapping[str, str], str]]:
    """A runner, closed afterwards, the options its engine demands, and the name of the engine; the
    runner is None after an error."""
    engines: EngineProvider | None = given(backend, "engines", EngineProvider)
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


def _target(name: str, options: Mapping[str, str] | None) -> tuple[Backend, dict[str, str]]:
    backend = compiler.choose_backend(name, _registry())
    if not isinstance(options, Mapping | None):
        form = "{'name': 'value'}"
        raise OptionError(f"the options are {_type_name(options)}; pass a mapping, as in {form}")
    return backend, compiler.target_options(backend, options or {})


def _begin(
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
        raise TypeError(f"the source is {_type_name(given)}, not a model{hint}")
    ctx = _context(services)
    chosen = compiler.choose_agents(agents, _registry()) if agents else ()
    model = source if isinstance(source, Model) else source.model
    if not isinstance(source, Model):
        # gaps that `fill` left open are found again by whoever goes on with its result
        ctx.diagnostics.extend(d for d in source.diagnostics if d.code != UnansweredGap.code)
        ctx.file = source._source.path if source._source is not None else ""
    if model is not None and (chosen or report_open):
        model = compiler.fill_gaps(model, chosen, ctx, report_open=report_open)
    return model, ctx


def _type_name(value: object) -> str:
    return f"a `{type(value).__name__}`"


def _context(services: Services | None = None) -> PassContext:
    if not isinstance(services, Services | None):
        raise TypeError(f"the services are {_type_name(services)}, not `orgflow.Services(...)`")
    return PassContext(registry=_registry(), services=services or Services())


@functools.cache
def _registry() -> Registry:
    """The leaves that ship with orgflow, and those of installed plugins."""
    return Registry()
