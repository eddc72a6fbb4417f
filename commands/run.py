"""`orgflowc run`: run a model on the target's engine and compare with its token flow."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from orgflow.commands.completion_values import FILE
from orgflow.commands.executions import Asked, Pull, executions_options, replay_production
from orgflow.commands.inputs import models_in
from orgflow.commands.language_model import connect_to_diagnose, diagnose_runs
from orgflow.commands.options import (
    model_flags_with,
    model_options,
    process_option,
    resolve_target,
    source_options,
    target_option,
)
from orgflow.commands.output import write_files, write_stdout
from orgflow.commands.run_table import report_text, wrapped
from orgflow.commands.server import engine_runner, server_exit_code, server_options
from orgflow.commands.session import Session, leave, list_folders_once
from orgflow.compiler import emit_anyway, lower_model, with_called

from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.model.codec import to_data
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.engines import LOCAL, MODEL
from orgflow_ir.plugins.guards import emitted

if TYPE_CHECKING:
    from orgflow.evaluation.failures import Failure
    from orgflow.evaluation.replay import ReplayReport

    from orgflow_ir.diagnostics import Diagnostic
    from orgflow_ir.model import Model
    from orgflow_ir.plugins.contracts import Backend
    from orgflow_ir.plugins.runners import Runner, RunnerError
    from orgflow_ir.targets.artifact import Emitted

MAX_RUNS = 32
MISUSE = 2


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
def command(
    inputs: tuple[str, ...],
    target: str,
    engine: str | None,
    all_paths: bool,
    as_json: bool,
    html: str | None,
    diagnose: bool,
    executions: str | None,
    status: str | None,
    since: str | None,
    until: str | None,
    workflow_id: str | None,
    process: str | None,
    key_file: str | None,
    wait: float,
    from_: str | None,
    format_: str,
    verbose: bool,
    **more: Any,
) -> None:
    """Compile the model in IN, run it on the target's engine, and compare the result with the
    model; of a folder, each model in it. Called processes and decisions are found in all files of
    the command and next to the calling file.

    Scripted answers replace placeholder tasks and set the decision variables; expressions run as
    emitted. On a server (--engine URL), a copy is deployed for the duration of the runs. The engine
    model needs no installation: it follows the connections of the workflow as the engine does, but
    does not evaluate expressions. With --executions, nothing is run: executions of the deployed
    workflow are compared with the model. Of several models, one with errors does not stop the
    others, and --json prints an array. Exit code 1: a run differs, or a model has errors; 3: the
    server failed.
    """
    flags = model_flags_with("--diagnose", more, used=diagnose)
    session = Session(format_, verbose=verbose)
    whole = format_ == "json" and executions is None  # the report has the findings
    as_json = as_json or format_ == "json"
    backend, options = resolve_target(target, session.registry, inputs)
    paths, empty = models_in(inputs, session)
    if len(paths) != 1:
        for option, given in (
            ("--process", process), ("--html", html), ("--executions", executions),
        ):  # fmt: skip
            if given is not None:
                raise click.UsageError(
                    f"{option} is for one model, and there are {len(paths)}; name the file with it"
                )
    if diagnose:
        connect_to_diagnose(session, flags, inputs[0])
    ctx = session.context()
    pull = None
    if executions is not None:
        pull = Pull(executions, status, since, until, workflow_id)
    elif any((status, since, until, workflow_id)):
        raise click.UsageError("--status, --since, --until and --workflow require --executions")
    from orgflow_ir.plugins.runners import RunnerError

    if pull is not None:
        model = session.load(paths[0], ctx, from_, diagram=True, process=process)
        if model is None:
            session.collect(ctx)
            session.show()
            leave(server_exit_code(session, backend))
        model = with_called(model, backend, ctx)
        lowered = lower_model(model, backend, ctx, options=options)
        made = None
        if lowered is not None:
            quiet = PassContext(registry=ctx.registry, target=ctx.target, options=ctx.options)
            made = emitted(backend, lowered, quiet)
            if made is None:
                ctx.diagnostics.extend(quiet.diagnostics)
        asked = Asked(session, ctx, backend, model, made, options, engine or LOCAL, key_file, wait)
        leave(replay_production(asked, pull, as_json=as_json, html=html))
    several = len(paths) != 1
    if several:
        list_folders_once()
    texts: list[str] = []
    page: Callable[[], None] | None = None
    code = 0
    for folder in empty:
        ctx.emit(UnreadableInput, f"there is no model in {folder}", help="name a file in it")
    try:
        with engine_runner(engine, backend, key_file, wait, ctx) as (runner, demanded, used):
            one = _Run(
                session, backend, runner, {**demanded, **options}, used, from_, process,
                all_paths=all_paths, as_json=as_json, whole=whole, html=html, several=several,
            )  # fmt: skip
            for number, path in enumerate(paths):
                if several:
                    session.collect(ctx)
                    if number:
                        session.forget()
                        ctx = session.context()
                    ctx.given = paths
                    if not as_json:
                        write_stdout(f"\n{path}\n" if number else f"{path}\n")
                text, ended = one.run(path, ctx)
                code, page = max(code, ended), one.page
                if as_json:
                    texts.append(text)
                else:
                    write_stdout(text)
    except RunnerError as error:
        leave(_engine_failed(error, backend, engine, session, as_json=as_json, whole=whole))
    if not paths:
        session.collect(ctx)
        session.show()
        code = server_exit_code(session, backend)
    if as_json:
        inner = ",\n".join(text.rstrip("\n") for text in texts)
        write_stdout(f"[\n{inner}\n]\n" if several else "".join(texts))
    if page is not None:
        page()
    leave(code)


class _Run:
    """Runs models with the same options, one after the other.

    Args:
        session: has the findings of the current model.
        backend, runner, options, engine: the target and its engine; without a runner, models are
            only compiled.
        from_, process: as for `Session.load`.
        all_paths: whether every enumerated run is executed.
        as_json: whether the report is JSON; `whole`: whether it has all findings.
        html: the file for the report as a page.
        several: whether the report is one of several, and names its model.
    """

    def __init__(
        self,
        session: Session,
        backend: Backend,
        runner: Runner | None,
        options: Mapping[str, str],
        engine: str,
        from_: str | None,
        process: str | None,
        *,
        all_paths: bool,
        as_json: bool,
        whole: bool,
        html: str | None,
        several: bool,
    ) -> None:
        self.several = several
        self.page: Callable[[], None] | None = None
        """Writes the page about the last model, after its report."""
        self.session, self.backend, self.runner = session, backend, runner
        self.options, self.engine, self.from_, self.process = options, engine, from_, process
        self.all_paths, self.as_json, self.whole, self.html = all_paths, as_json, whole, html

    def run(self, path: str, ctx: PassContext) -> tuple[str, int]:
        """The report of one model, empty after errors that were shown, and the exit code."""
        session, backend, used = self.session, self.backend, self.engine
        wants = backend.target.wants_diagram
        model = session.load(path, ctx, self.from_, diagram=wants, process=self.process)
        lowered = None
        if model is not None:
            model = with_called(model, backend, ctx)
            lowered = lower_model(model, backend, ctx, options=self.options)
        session.collect(ctx)
        if not self.whole:
            session.show(brief=True)
        if model is None or lowered is None or self.runner is None:
            text = self._without_runs(path, session.diagnostics)
            if self.html is not None and model is not None and self.runner is not None:
                shown = emit_anyway(model, backend, ctx)
                self.page = partial(
                    write_page, self.html, model, shown, ctx, backend, None, (), used
                )
            return text, server_exit_code(session, backend)
        shown = emitted(backend, lowered, ctx)
        if shown is None:
            text = self._without_runs(path, ctx.diagnostics)
            if not self.whole:
                new = [d for d in ctx.diagnostics if d not in session.diagnostics]
                session.diagnostics = new
                session.show()
            return text, server_exit_code(session, backend)
        from orgflow.evaluation.failures import by_replay
        from orgflow.evaluation.replay import replay_model

        report = replay_model(
            model, shown, self.runner, ctx, max_runs=MAX_RUNS, all_paths=self.all_paths
        )
        failures = () if report.ok else by_replay(model, report, backend)
        failures = diagnose_runs(failures, model, backend.name, session)
        if self.as_json:
            more = {**self._named(path), **session.more()}
            text = report_json(report, failures, used, session.diagnostics, more)
        else:
            text = report_text(report, failures) + played_by(used, backend.name)
        if self.html is not None:
            self.page = partial(
                write_page, self.html, model, shown, ctx, backend, report, failures, used
            )
        return text, 0 if report.ok else 1

    def _without_runs(self, path: str, found: Sequence[Diagnostic]) -> str:
        """The report of a model with errors: nothing, unless somebody expects JSON for each."""
        if not self.whole and not (self.several and self.as_json):
            return ""
        return report_json(None, (), self.engine, found, self._named(path))

    def _named(self, path: str) -> dict[str, Any]:
        return {"model": path} if self.several else {}


def write_page(
    path: str,
    model: Model,
    made: Emitted | None,
    ctx: PassContext,
    backend: Backend,
    report: ReplayReport | None,
    failures: Sequence[Failure],
    engine: str,
) -> None:
    """Write the report as an HTML page. Raises `OutputError`."""
    from orgflow.evaluation.page import render_page
    from orgflow.evaluation.page_model import NodeTable
    from orgflow.evaluation.page_runs import replay_page

    nodes = NodeTable(made.source_map, backend.name) if made is not None else NodeTable()
    where = f"an {backend.name} server"
    if engine == LOCAL:
        where = f"the engine of {backend.name} on this machine"
    elif engine == MODEL:
        where = f"a model of {backend.name}'s engine"
    page = replay_page(model, nodes, ctx.diagnostics, report, failures, where)
    write_files([(Path(path), render_page(page))])


def _engine_failed(
    error: RunnerError, backend: Backend, engine: str | None, session: Session, *, as_json: bool,
    whole: bool,
) -> int:  # fmt: skip
    """Say that an engine or a server failed; the exit code."""
    from orgflow_ir.plugins.engines import RemoteError

    if not isinstance(error, RemoteError):
        click.echo(f"orgflowc run: {error}", err=True)
        return MISUSE
    from orgflow.evaluation.failures import by_message

    found = session.diagnostics
    ctx = session.context()
    error.report(ctx)
    session.diagnostics = []
    session.collect(ctx)
    if not whole:
        session.show()
    if as_json:
        failure = by_message(error.stage, str(error), backend)
        found = [*found, *session.diagnostics]
        write_stdout(report_json(None, (failure,), engine, found))
    return server_exit_code(session, backend)


def played_by(engine: str, target: str) -> str:
    """The line about the engine model if it executed the runs, otherwise empty."""
    if engine != MODEL:
        return ""
    return "".join(
        f"{line}\n"
        for line in wrapped(
            f"simulated by a model of {target}'s engine, which evaluates no expressions; to run "
            "on the engine itself: orgflowc engine install"
        )
    )


def report_json(
    report: ReplayReport | None, failures: Sequence[Failure], engine: str | None,
    diagnostics: Sequence[Diagnostic], more: Mapping[str, Any] | None = None,
) -> str:  # fmt: skip
    """The report (`None` if there were no runs) as JSON by `orgflow_ir/schema/replay.schema.json`:
    the engine, a typed record for each kind of failure, all findings, and `more`: optional fields
    about the work."""
    from orgflow.evaluation.replay import ReplayReport

    from orgflow_ir.reporting.json_reporter import diagnostics_data

    data = (report or ReplayReport((), (0, 0))).as_dict()
    data["engine"] = engine
    data["failures"] = [to_data(one) for one in failures]
    data |= {**diagnostics_data(diagnostics), **(more or {})}
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
