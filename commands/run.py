"""`orgflowc run`: run a model on the target's engine and compare with its token flow."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import click
from orgflow.commands.completion_values import FILE
from orgflow.commands.executions import (
    Asked,
    ExecutionsOptions,
    Pull,
    executions_options,
    replay_production,
)
from orgflow.commands.inputs import models_in
from orgflow.commands.language_model import connect_to_diagnose, diagnose_runs
from orgflow.commands.options import (
    ModelOptions,
    ProcessOptions,
    SourceOptions,
    model_options,
    model_settings_with,
    parsed_into,
    process_option,
    resolve_target,
    source_options,
    target_option,
)
from orgflow.commands.output import print_json, print_text, write_files
from orgflow.commands.run_table import report_text, workflow_text, wrap_text
from orgflow.commands.server import (
    ServerOptions,
    engine_runner,
    server_exit_code,
    server_options,
)
from orgflow.commands.session import Session, end_command, list_folders_once
from orgflow.compilation.input_sources import read_source, source_name
from orgflow.compilation.reading import own_backend
from orgflow.compilation.target_choice import combine_stated_options
from orgflow.compiler import (
    LOWER,
    CompileRequest,
    emit_despite_errors,
    run_stages,
    take_called_processes,
)
from orgflow.evaluation.failures import Failure, by_message, by_replay, report_faults
from orgflow.evaluation.page import render_page
from orgflow.evaluation.page_model import NodeTable
from orgflow.evaluation.page_runs import replay_page
from orgflow.evaluation.replay import ReplayReport, replay_model

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.model import Model
from orgflow_ir.model.codec import to_data
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.plugins.engines import LOCAL, MODEL, RemoteError
from orgflow_ir.plugins.guards import emit_guarded
from orgflow_ir.plugins.runners import (
    Runner,
    RunnerError,
    UnplayableProcessError,
    WorkflowReport,
)
from orgflow_ir.reporting.json_reporter import diagnostics_data
from orgflow_ir.targets.artifact import Emitted

MAX_RUNS = 32
MISUSE = 2


class RunOptions(ModelOptions, ExecutionsOptions, ProcessOptions, ServerOptions, SourceOptions):
    """The options of `run`."""

    inputs: tuple[str, ...]
    target: str
    engine: str | None
    all_paths: bool
    as_json: bool
    html: str | None
    diagnose: bool

    @property
    def prints_json(self) -> bool:
        """Whether the report is JSON."""
        return self.as_json or self.format_ == "json"

    @property
    def prints_findings(self) -> bool:
        """Whether the report has all findings, which are then not shown separately."""
        return self.format_ == "json" and self.executions is None


@click.command("run", short_help="Run a model on the target's engine and compare.")
@click.argument("inputs", metavar="IN...", nargs=-1, required=True, type=FILE)
@target_option
@click.option(
    "--engine",
    metavar="local|model|URL",
    help="The installed engine, the engine model, or a server. [default: local if installed, "
    "otherwise model]",
)
@click.option("--all-paths", is_flag=True, help="Run every enumerated run, not only the first.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the report as JSON, with the findings.",
)
@click.option("--html", metavar="FILE", help="Also write the report as a page with pictures.")
@click.option(
    "--diagnose", is_flag=True, help="Ask the language model about failures that no rule explains."
)
@model_options
@executions_options
@process_option
@server_options
@source_options
@parsed_into(RunOptions)
def command(options: RunOptions) -> None:
    """Compile the model in IN, run it on the target's engine, and compare the result with the
    model; of a folder, each model in it. Called processes and decisions are found in all files of
    the command and next to the calling file.

    Scripted answers replace placeholder tasks and steps that reach something outside. Conditions,
    scripts, decisions, mappings and computed times run as emitted; their inputs are searched so
    that each branch is reached, and what no input reaches is a finding. A workflow that orgflow did
    not compile runs as it is, and is compared with nothing. On a server (--engine URL), a copy is
    deployed for the duration of the runs. The engine model needs no installation: it follows the
    connections of the workflow as the engine does, but does not evaluate expressions. With
    --executions, nothing is run: executions of the deployed workflow are compared with the model.
    Of several models, one with errors does not stop the others, and --json prints an array. Exit
    code 1: a run differs or fails, no input reaches a branch, or a model has errors; 3: the server
    failed.
    """
    settings = model_settings_with("--diagnose", options, used=options.diagnose)
    session = Session.with_options(options)
    backend, target_options = resolve_target(options.target, session.registry, options.inputs)
    paths, empty = models_in(options.inputs, session)
    _refuse_options_for_one_model(options, paths)
    if options.diagnose:
        connect_to_diagnose(session, settings, options.inputs[0])
    target = _Target(backend, target_options)
    if options.executions is not None:
        _replay_executions(options.executions, options, session, target, paths[0])
    if any((options.status, options.since, options.until, options.workflow_id)):
        raise click.UsageError("--status, --since, --until and --workflow require --executions")
    runs = _Runs(options, session, target, paths)
    end_command(runs.run_models(empty))


class _Target(NamedTuple):
    """A backend and the options of the command line for it."""

    backend: Backend
    options: dict[str, str]


def _refuse_options_for_one_model(options: RunOptions, paths: Sequence[str]) -> None:
    """Raises `click.UsageError` if an option does not apply to several models."""
    if len(paths) == 1:
        return
    for option, value in (
        ("--process", options.process), ("--html", options.html),
        ("--executions", options.executions),
    ):  # fmt: skip
        if value is not None:
            raise click.UsageError(
                f"{option} is for one model, and there are {len(paths)}; name the file with it"
            )


def _replay_executions(
    executions: str, options: RunOptions, session: Session, target: _Target, path: str
) -> NoReturn:
    """Compare executions of the deployed workflow with the model, and end the command."""
    ctx = session.context()
    model = session.load(path, ctx, options.from_, diagram=True, process=options.process)
    if model is None:
        session.collect(ctx)
        session.show()
        end_command(server_exit_code(session, target.backend))
    asked = Asked(
        session, ctx, target.backend, model, None, target.options,
        options.engine or LOCAL, options.key_file, options.wait,
    )  # fmt: skip
    pull = Pull(executions, options.status, options.since, options.until, options.workflow_id)
    end_command(replay_production(asked, pull, as_json=options.prints_json, html=options.html))


class _Engine(NamedTuple):
    """An engine that plays runs.

    Attributes:
        runner: executes the runs; without one, models are only compiled.
        options: of the target, with those that the engine requires.
        name: `local`, `model`, or the address of a server.
    """

    runner: Runner | None
    options: Mapping[str, str]
    name: str


class _Runs:
    """The runs of all models of a command, one model after the other.

    Attributes:
        session: has the findings of the current model.
        several: whether the report is one of several, and names its model.
        write_last_page: writes the page about the last model, after its report.
    """

    def __init__(
        self, options: RunOptions, session: Session, target: _Target, paths: Sequence[str]
    ) -> None:
        self.options, self.session, self.target, self.paths = options, session, target, paths
        self.backend = target.backend
        self.several = len(paths) != 1
        self.write_last_page: Callable[[], None] | None = None

    def run_models(self, empty: Sequence[str]) -> int:
        """Run every model, print the reports, and return the exit code."""
        session, options = self.session, self.options
        if self.several:
            list_folders_once()
        ctx = session.context()
        for folder in empty:
            ctx.emit(UnreadableInput, f"there is no model in {folder}", help="name a file in it")
        try:
            with engine_runner(
                options.engine, self.backend, options.key_file, options.wait, ctx
            ) as (runner, demanded, name):
                engine = _Engine(runner, {**demanded, **self.target.options}, name)
                code, texts = self._run_with(engine, ctx)
        except RunnerError as error:
            return self._report_engine_failure(error)
        if not self.paths:
            session.collect(ctx)
            session.show()
            code = server_exit_code(session, self.backend)
        if options.prints_json:
            inner = ",\n".join(text.rstrip("\n") for text in texts)
            print_json(f"[\n{inner}\n]\n" if self.several else "".join(texts))
        if self.write_last_page is not None:
            self.write_last_page()
        return code

    def _run_with(self, engine: _Engine, ctx: PassContext) -> tuple[int, list[str]]:
        """The exit code, and the reports that are JSON; text is printed at once."""
        session, as_json = self.session, self.options.prints_json
        code, texts = 0, []
        for number, path in enumerate(self.paths):
            if self.several:
                session.collect(ctx)
                if number:
                    session.forget()
                    ctx = session.context()
                ctx.given = self.paths
                if not as_json:
                    print_text(f"\n{path}\n" if number else f"{path}\n")
            text, ended = self._run_model(path, engine, ctx)
            code = max(code, ended)
            if as_json:
                texts.append(text)
            else:
                print_text(text)
        return code, texts

    def _run_model(self, path: str, engine: _Engine, ctx: PassContext) -> tuple[str, int]:
        """The report of one model, empty after errors that were shown, and the exit code."""
        session, backend, options = self.session, self.backend, self.options
        model = session.load(
            path, ctx, options.from_, diagram=backend.target.wants_diagram, process=options.process
        )
        if model is not None and engine.runner is not None:
            foreign = self._run_foreign(path, engine.runner)
            if foreign is not None:
                return self._report_foreign(path, foreign, engine, ctx)
        legal = None
        if model is not None:
            chosen = self._with_stated_options(path, engine.options, ctx)
            request = CompileRequest(model, backend, chosen)
            outcome = run_stages((take_called_processes, *LOWER), request, ctx)
            model, legal = outcome.model, outcome.legal
        session.collect(ctx)
        if not options.prints_findings:
            session.show(brief=True)
        if model is None or legal is None or engine.runner is None:
            text = self._report_without_runs(path, engine, session.diagnostics)
            if options.html is not None and model is not None and engine.runner is not None:
                shown = emit_despite_errors(model, backend, ctx)
                self.write_last_page = partial(
                    write_page, options.html, model, shown, ctx, backend, None, (), engine.name
                )
            return text, server_exit_code(session, backend)
        files = emit_guarded(backend, legal, ctx)
        if files is None:
            return self._report_failed_output(path, engine, ctx)
        try:
            report = replay_model(
                model, files, engine.runner, ctx, max_runs=MAX_RUNS, all_paths=options.all_paths
            )
        except UnplayableProcessError as error:
            click.echo(f"orgflowc run: {error}", err=True)
            return self._report_without_runs(path, engine, session.diagnostics), MISUSE
        return self._report_runs(path, model, files, report, engine, ctx)

    def _with_stated_options(
        self, path: str, options: Mapping[str, str], ctx: PassContext
    ) -> Mapping[str, str]:
        """The options for a model, with those that a workflow of the target states."""
        source = self.session.sources.get(source_name(path))
        if not isinstance(source, SourceFile):
            return options
        own = own_backend(source, self.session.registry, self.options.from_)
        if own is None or own.name != self.backend.name:
            return options
        return {**combine_stated_options(own, self.target.options, source, ctx), **options}

    def _run_foreign(self, path: str, runner: Runner) -> WorkflowReport | None:
        """The runs of a workflow that no model describes, as it is; `None` for any other input."""
        if not Path(path).is_file():
            return None
        return runner.run_workflow(read_source(path).data.decode("utf-8-sig", "replace"))

    def _report_foreign(
        self, path: str, report: WorkflowReport, engine: _Engine, ctx: PassContext
    ) -> tuple[str, int]:
        """The report of runs that are compared with no model, and the exit code."""
        session, options = self.session, self.options
        session.collect(ctx)
        if not options.prints_findings:
            session.show(brief=True)
        errors = (run.error for run in report.runs if run.error is not None and run.is_known)
        failures = tuple(
            by_message("execution", error, self.backend) for error in dict.fromkeys(errors)
        )
        if options.prints_json:
            more = {**self._name_model(path), **session.more()}
            text = workflow_json(report, failures, engine.name, session.diagnostics, more)
        else:
            text = workflow_text(report, failures)
        return text, 0 if report.ok else 1

    def _report_failed_output(
        self, path: str, engine: _Engine, ctx: PassContext
    ) -> tuple[str, int]:
        """The report where the backend failed, which is shown."""
        session = self.session
        text = self._report_without_runs(path, engine, ctx.diagnostics)
        if not self.options.prints_findings:
            new = [d for d in ctx.diagnostics if d not in session.diagnostics]
            session.diagnostics = new
            session.show()
        return text, server_exit_code(session, self.backend)

    def _report_runs(
        self,
        path: str,
        model: Model,
        files: Emitted,
        report: ReplayReport,
        engine: _Engine,
        ctx: PassContext,
    ) -> tuple[str, int]:
        """The report of the runs of a model, and the exit code."""
        session, backend, options = self.session, self.backend, self.options
        self._show_faults(report, model, ctx)
        failures = () if report.ok else by_replay(model, report, backend)
        failures = diagnose_runs(failures, model, backend.name, session)
        if options.prints_json:
            more = {**self._name_model(path), **session.more()}
            if source_node_names(model, backend.name) is not None:
                more["redrawn"] = True
            text = report_json(report, failures, engine.name, session.diagnostics, more)
        else:
            redrawn = source_node_names(model, backend.name)
            text = report_text(report, failures, redrawn=redrawn)
            text += describe_engine(engine.name, backend.name, requested=options.engine == MODEL)
        if options.html is not None:
            self.write_last_page = partial(
                write_page, options.html, model, files, ctx, backend, report, failures, engine.name
            )
        return text, 0 if report.ok else 1

    def _show_faults(self, report: ReplayReport, model: Model, ctx: PassContext) -> None:
        """Report what the runs found in the model, before their own report."""
        session = self.session
        if not report.faults:
            return
        known = len(ctx.diagnostics)
        report_faults(report, model, ctx)
        earlier, session.diagnostics = session.diagnostics, ctx.diagnostics[known:]
        if not self.options.prints_findings:
            session.show()
        session.diagnostics = [*earlier, *session.diagnostics]

    def _report_without_runs(
        self, path: str, engine: _Engine, findings: Sequence[Diagnostic]
    ) -> str:
        """The report of a model with errors: nothing, unless somebody expects JSON for each."""
        if not self.options.prints_findings and not (self.several and self.options.prints_json):
            return ""
        return report_json(None, (), engine.name, findings, self._name_model(path))

    def _name_model(self, path: str) -> dict[str, Any]:
        return {"model": path} if self.several else {}

    def _report_engine_failure(self, error: RunnerError) -> int:
        """Report that an engine or a server failed; the exit code."""
        if not isinstance(error, RemoteError):
            click.echo(f"orgflowc run: {error}", err=True)
            return MISUSE
        session = self.session
        earlier = session.diagnostics
        ctx = session.context()
        error.report(ctx)
        session.diagnostics = []
        session.collect(ctx)
        if not self.options.prints_findings:
            session.show()
        if self.options.prints_json:
            failure = by_message(error.stage, str(error), self.backend)
            findings = [*earlier, *session.diagnostics]
            print_json(report_json(None, (failure,), self.options.engine, findings))
        return server_exit_code(session, self.backend)


def write_page(
    path: str,
    model: Model,
    files: Emitted | None,
    ctx: PassContext,
    backend: Backend,
    report: ReplayReport | None,
    failures: Sequence[Failure],
    engine: str,
) -> None:
    """Write the report as an HTML page. Raises `OutputError`."""
    nodes = NodeTable(files.source_map, backend.name) if files is not None else NodeTable()
    where = f"an {backend.name} server"
    if engine == LOCAL:
        where = f"the engine of {backend.name} on this machine"
    elif engine == MODEL:
        where = f"a model of {backend.name}'s engine"
    page = replay_page(model, nodes, ctx.diagnostics, report, failures, where)
    write_files([(Path(path), render_page(page))])


def source_node_names(model: Model, target: str) -> frozenset[str] | None:
    """The names of the nodes of the workflow of a target that a model was read from; `None` if it
    was read from something else."""
    mark = f"{{urn:orgflow:{target}}}"
    nodes = [node for process in model.processes for node in process.nodes]
    own = [node for node in nodes if any(key.startswith(mark) for key, _ in node.extra)]
    return frozenset(node.name for node in own) if own else None


def describe_engine(engine: str, target: str, *, requested: bool) -> str:
    """The line about the engine model if it executed the runs, otherwise empty; where it was not
    requested, with the way to the engine."""
    if engine != MODEL:
        return ""
    line = f"simulated by a model of {target}'s engine, which evaluates no expressions"
    if not requested:
        line += "; to run on the engine itself: orgflowc engine install"
    return "".join(f"{part}\n" for part in wrap_text(line))


def workflow_json(
    report: WorkflowReport, failures: Sequence[Failure], engine: str,
    diagnostics: Sequence[Diagnostic], more: Mapping[str, Any],
) -> str:  # fmt: skip
    """The runs of a workflow that no model describes, by the same schema: `workflow_runs`."""
    data = json.loads(report_json(None, failures, engine, diagnostics, more))
    data |= {"ok": report.ok, "verdict": "not compared", "changed": list(report.replaced)}
    data["workflow_runs"] = [run._asdict() for run in report.runs]
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def report_json(
    report: ReplayReport | None, failures: Sequence[Failure], engine: str | None,
    diagnostics: Sequence[Diagnostic], more: Mapping[str, Any] | None = None,
) -> str:  # fmt: skip
    """The report (`None` if there were no runs) as JSON by `orgflow_ir/schema/replay.schema.json`:
    the engine, a typed record for each kind of failure, all findings, and `more`: optional fields
    about the work."""
    data = (report or ReplayReport((), (0, 0))).as_dict()
    data["engine"] = engine
    data["failures"] = [to_data(failure) for failure in failures]
    data |= {**diagnostics_data(diagnostics), **(more or {})}
    if data.get("redrawn"):
        data["verdict"] = "not compared"
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
