"""`run --executions`: executions of a deployed workflow, replayed on its model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from orgflow.commands.language_model import diagnose_runs
from orgflow.commands.options import Options
from orgflow.commands.output import print_json, print_text, write_files
from orgflow.commands.progress import progress_bar
from orgflow.commands.run_table import chain_steps, failure_lines, format_table, wrap_text
from orgflow.commands.server import open_connection, server_exit_code
from orgflow.commands.session import Session
from orgflow.compilation.input_sources import read_source
from orgflow.compilation.target_choice import keep_deployed_options
from orgflow.compilation.usage_errors import InputError, suggest_name
from orgflow.compiler import LOWER, CompileRequest, run_stages, take_called_processes

from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.engines import RemoteError, ServerAccess, is_address
from orgflow_ir.plugins.executions import ExecutionQuery, ExecutionReader, NotDeployed, time_of
from orgflow_ir.plugins.guards import call_guarded, emit_guarded

if TYPE_CHECKING:
    import datetime

    from orgflow.evaluation import page as report_page
    from orgflow.evaluation import page_model, page_production, production
    from orgflow.evaluation.production import ProductionReport

    from orgflow_ir.model import Model
    from orgflow_ir.pipeline.services import Progress
    from orgflow_ir.plugins.contracts import Backend
    from orgflow_ir.plugins.executions import (
        Execution,
        ExecutionQuery,
        ExecutionReader,
        ExecutionStore,
        StoredWorkflow,
    )
    from orgflow_ir.targets.artifact import Emitted
else:  # with --executions only
    report_page = LazyModule("orgflow.evaluation.page")
    page_model = LazyModule("orgflow.evaluation.page_model")
    page_production = LazyModule("orgflow.evaluation.page_production")
    production = LazyModule("orgflow.evaluation.production")

F = TypeVar("F", bound=Callable[..., Any])

_SHOWN = 20


class Pull(NamedTuple):
    """The values of the options: a number or a file, and the selection of executions."""

    executions: str
    status: str | None
    since: str | None
    until: str | None
    workflow_id: str | None


class ExecutionsOptions(Options):
    """The options of `executions_options`."""

    executions: str | None
    status: str | None
    since: str | None
    until: str | None
    workflow_id: str | None


def executions_options(function: F) -> F:
    """`--executions` and the options that narrow it."""
    for option in (
        click.option("--workflow", "workflow_id", metavar="ID",
                     help="With --executions N: the workflow on the server, by its id there."),
        click.option("--until", metavar="DATE",
                     help="With --executions: only those started before this time."),
        click.option("--since", metavar="DATE",
                     help="With --executions: only those started at or after this time."),
        click.option("--status", metavar="STATUS",
                     help="With --executions: only success, error, crashed, canceled or waiting."),
        click.option("--executions", metavar="N|FILE",
                     help="Replay the last N executions of the deployed workflow (with --engine "
                     "URL), or those saved in FILE, instead of running the model."),
    ):  # fmt: skip
        function = option(function)
    return function


class Asked(NamedTuple):
    """One call of the command.

    Attributes:
        model: the model, with the processes that it calls as soon as it is compiled.
        emitted: what it was compiled to, `None` before.
        options: of the target.
        engine: the address of the server.
    """

    session: Session
    ctx: PassContext
    backend: Backend
    model: Model
    emitted: Emitted | None
    options: dict[str, str]
    engine: str
    key_file: str | None
    wait: float


def replay_production(asked: Asked, pull: Pull, *, as_json: bool, html: str | None) -> int:
    """Run it and return the exit code: 1 if an execution left the model or failed, or there is
    none; 3 if the server failed.

    Raises: click.UsageError: the options cannot be combined.
    """
    reader: ExecutionReader | None = call_guarded(asked.backend, "executions", ExecutionReader)
    if reader is None:
        raise click.UsageError(f"target `{asked.backend.name}` has no executions to replay")
    query = _parse_query(pull, reader)
    if query.most is None:
        replayed = _replay_saved(asked, reader, pull.executions, query)
    else:
        replayed = _replay_pulled(asked, reader, pull, query)
    asked.session.collect(asked.ctx)
    asked.session.show()
    if replayed is None:
        return server_exit_code(asked.session, asked.backend)
    report, source, asked = replayed
    if as_json:
        print_json(report.to_json(asked.session.more()))
    else:
        print_text(report_text(report, asked.model))
    if html is not None:
        write_page(html, asked, report, source)
    return 0 if report.ok else 1


def _compile_as_deployed(asked: Asked, stated: Mapping[str, str]) -> Asked | None:
    """The model compiled with the options that its deployed workflow states; `None` after errors,
    which are in the findings."""
    ctx, backend = asked.ctx, asked.backend
    options = keep_deployed_options(backend, asked.options, stated, ctx)
    request = CompileRequest(asked.model, backend, options)
    outcome = run_stages((take_called_processes, *LOWER), request, ctx)
    if outcome.legal is None:
        return None
    quiet = PassContext(registry=ctx.registry, target=ctx.target, options=ctx.options)
    emitted = emit_guarded(backend, outcome.legal, quiet)
    if emitted is None:
        ctx.diagnostics.extend(quiet.diagnostics)
        return None
    return asked._replace(model=outcome.model, emitted=emitted, options=options)


def _judge_executions(
    asked: Asked, emitted: Emitted, reader: ExecutionReader, executions: Iterable[Execution]
) -> ProductionReport:
    observer = reader.observer(asked.model, emitted)
    report = production.replay_executions(asked.model, executions, asked.backend, observer)
    target = asked.backend.name
    failures = diagnose_runs(report.failures, asked.model, target, asked.session)
    return report._replace(failures=failures)


def _parse_query(pull: Pull, reader: ExecutionReader) -> ExecutionQuery:
    if pull.status is not None and pull.status not in reader.statuses:
        known = suggest_name(pull.status, reader.statuses)
        raise click.UsageError(f"no status `{pull.status}`; {known}")
    most = int(pull.executions) if pull.executions.isdecimal() else None
    if most == 0:
        raise click.UsageError("--executions 0 replays nothing")
    since, until = _parse_date(pull.since, "--since"), _parse_date(pull.until, "--until")
    return ExecutionQuery(most, pull.status, since, until)


def _parse_date(text: str | None, option: str) -> datetime.datetime | None:
    if text is None:
        return None
    time = time_of(text)
    if time is None:
        raise click.UsageError(
            f"{option} {text!r} is not a date such as 2026-01-31 or 2026-01-31T08:00:00Z"
        )
    return time


def _replay_saved(
    asked: Asked, reader: ExecutionReader, path: str, query: ExecutionQuery
) -> tuple[ProductionReport, str, Asked] | None:
    try:
        executions = reader.saved(read_source(path), query)
        compiled = _compile_as_deployed(asked, reader.stated_options(asked.model, executions))
        if compiled is None or compiled.emitted is None:
            return None
        report = _judge_executions(compiled, compiled.emitted, reader, executions)
        return report, f"saved in `{Path(path).name}`", compiled
    except InputError as error:
        asked.ctx.emit(UnreadableInput, str(error), help=error.help)
    except ValueError as error:
        asked.ctx.emit(UnreadableInput, str(error), help=reader.saved_help)
    return None


def _replay_pulled(
    asked: Asked, reader: ExecutionReader, pull: Pull, query: ExecutionQuery
) -> tuple[ProductionReport, str, Asked] | None:
    if not is_address(asked.engine):
        raise click.UsageError(
            "--executions N requires --engine URL; or name a file with executions"
        )
    access = ServerAccess(asked.engine, asked.key_file, asked.wait)
    with open_connection(reader.connect(access, asked.ctx)) as store:
        if store is None:
            return None
        try:
            stated = store.stated_options(asked.model, pull.workflow_id)
            compiled = _compile_as_deployed(asked, stated)
            if compiled is None or compiled.emitted is None:
                return None
            workflows = store.workflows(compiled.emitted, pull.workflow_id)
            with progress_bar() as progress:
                executions = _one_by_one(store, workflows, query, progress)
                report = _judge_executions(compiled, compiled.emitted, reader, executions)
        except NotDeployed as error:
            raise click.UsageError(
                f"{error}; deploy the model, or name an existing workflow with --workflow ID"
            ) from None
        except RemoteError as error:
            error.report(asked.ctx)
            return None
    names = " and ".join(f"`{workflow.name}`" for workflow in workflows)
    return report, f"of the deployed workflow {names}", compiled


def _one_by_one(
    store: ExecutionStore,
    workflows: Sequence[StoredWorkflow],
    query: ExecutionQuery,
    progress: Progress,
) -> Iterator[Execution]:
    """Executions of all workflows, one after the other: none is kept."""
    total = (query.most or 0) * len(workflows)
    done = 0
    for workflow in workflows:
        for execution in store.executions(workflow, query):
            yield execution
            done += 1
            progress(done, total, workflow.name)


def write_page(path: str, asked: Asked, report: ProductionReport, source: str) -> None:
    """Write the report as an HTML page. Raises `OutputError`."""
    assert asked.emitted is not None
    nodes = page_model.NodeTable(asked.emitted.source_map, asked.backend.name)
    page = page_production.production_page(
        asked.model, nodes, asked.ctx.diagnostics, report, source
    )
    write_files([(Path(path), report_page.render_page(page))])


def report_text(report: ProductionReport, model: Model) -> str:
    """Text for people: one row for executions with the same path, faults, frequencies."""
    canvas = page_model.Canvas(model, page_model.NodeTable())
    lines: list[str] = []
    rows = []
    paths = page_production.group_executions(report)
    for number, path in enumerate(paths[:_SHOWN], 1):
        texts = [chain_steps([n.node for n in path.judged.observed.nodes])]
        chosen = page_production.describe_choices(canvas, path.judged)
        texts += [f"chose: {chosen}"] if chosen else []
        if path.judged.reason:
            texts.append(f"! {path.judged.reason}")
        if path.judged.strange:
            texts.append(f"! unknown nodes: {', '.join(path.judged.strange)}")
        if path.judged.verdict != "equal":
            texts.append(f"executions {_list_ids([m.observed.id for m in path.members])}")
        result = (
            "equal"
            if path.judged.verdict == "equal"
            else page_production.RESULTS[path.judged.verdict][1]
        )
        rows.append(((str(number), result, str(len(path.members))), texts))
    if rows:
        lines += [*format_table(("way", "result", "runs"), "what fired", rows), ""]
    if len(paths) > _SHOWN:
        lines += wrap_text(f"{len(paths) - _SHOWN} further paths are not shown")
    branches = page_production.flow_lines(canvas, report)
    if branches:
        frequencies = [
            ((str(count), f"{percent} %"), [f"{choice} → {branch}"])
            for choice, branch, count, percent in branches
        ]
        lines += [*format_table(("taken", "share"), "branch", frequencies), ""]
    for one_edited in report.edited:
        for line in page_production.edited_lines(one_edited):
            lines += wrap_text(f"edited: {line}")
    for line in report.unread:
        lines += wrap_text(f"not judged: {line}")
    lines += failure_lines(report.failures)
    lines += wrap_text(page_production.headline_of(report)[1].rstrip("."))
    return "\n".join(lines) + "\n"


def _list_ids(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else ""
    return ", ".join(ids[:_SHOWN]) + more
