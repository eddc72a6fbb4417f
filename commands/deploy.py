"""`orgflowc deploy`: put workflows on an n8n server and publish them."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from orgflow import compiler
from orgflow.commands.completion_values import FILE
from orgflow.commands.options import source_options
from orgflow.commands.output import write_stdout
from orgflow.commands.progress import progress_bar
from orgflow.commands.server import (
    SERVER_FAILED,
    Server,
    clear_stale,
    connected,
    server_exit_code,
    server_options,
)
from orgflow.commands.session import Session, leave, text_width

from orgflow_ir.diagnostics import Category, Diagnostic, Severity
from orgflow_ir.diagnostics.core_rules import UnreadableInput
from orgflow_ir.pipeline import PassContext

if TYPE_CHECKING:
    from orgflow.backends.n8n.server.deploy.apply import Placed
    from orgflow.backends.n8n.server.deploy.carry_out import Deployer, GroupResult
    from orgflow.backends.n8n.server.deploy.plan import Group, Wanted

_MODEL_ERRORS = 1
_SHOWN_NAME = 40


@click.command("deploy", short_help="Put workflows on an n8n server and publish them.")
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FILE)
@click.option(
    "--url",
    envvar="N8N_URL",
    metavar="URL",
    help="Address of n8n's editor.  [default: N8N_URL]",
)
@click.option("--dry-run", is_flag=True, help="Only say what would change, by `diff`.")
@click.option(
    "--take-over",
    is_flag=True,
    help="Overwrite what somebody edited, made without deploying, or from another process.",
)
@click.option(
    "--as", "name", metavar="NAME", help="Deploy one workflow under this name, as one of its own."
)
@click.option("--no-publish", is_flag=True, help="Leave new workflows as drafts.")
@click.option("--allow-lossy", is_flag=True, help="Models: as for `compile`.")
@click.option("--force", is_flag=True, help="Models: as for `compile`.")
@click.option("--strict", is_flag=True, help="Models: as for `compile`.")
@click.option("--json", "as_json", is_flag=True, help="Print what was done as JSON.")
@server_options
@source_options
def command(
    files: tuple[str, ...],
    url: str | None,
    dry_run: bool,
    take_over: bool,
    name: str | None,
    no_publish: bool,
    allow_lossy: bool,
    force: bool,
    strict: bool,
    as_json: bool,
    key_file: str | None,
    wait: float,
    from_: str | None,
    format_: str,
    verbose: bool,
) -> None:
    """Deploy each FILE, a compiled n8n workflow or a model that is compiled first.

    A workflow that was deployed before is updated; one that somebody edited since, or made
    otherwise or from another process, is left alone. Workflows of one file, or that call each
    other, are deployed together or not at all. Exit code 1: a workflow was not deployed; 3: the
    server failed.
    """
    if not url:
        raise click.UsageError("which server? give --url, or set N8N_URL")
    if name is not None and not name.strip():
        raise click.UsageError("--as needs a name")
    if key_file == "-" and "-" in files:
        raise click.UsageError("standard input cannot be both the key and a model")
    session = Session(format_, verbose=verbose)
    ctx = session.context()
    code = 0
    with connected(url, key_file, wait, ctx) as server:
        if server is not None:
            options = {"allow_lossy": allow_lossy, "force": force, "strict": strict}
            wanted = _wanted(files, from_, name, server, session, ctx, options)
            if wanted and not ctx.has_errors:
                code = _deploy(wanted, server, ctx, dry_run=dry_run, take_over=take_over,
                               publish=not no_publish, as_json=as_json)  # fmt: skip
    session.collect(ctx)
    if format_ == "text" and not verbose:  # what is open in a model, `compile` tells
        session.diagnostics = [d for d in session.diagnostics if _is_shown(d)]
    session.show()
    leave(max(code, server_exit_code(session)))


def _is_shown(diagnostic: Diagnostic) -> bool:
    return diagnostic.severity is not Severity.INFO or diagnostic.category is Category.DEPLOY


def _wanted(
    files: Sequence[str],
    from_: str | None,
    name: str | None,
    server: Server,
    session: Session,
    ctx: PassContext,
    options: dict[str, bool],
) -> list[Wanted]:
    """The workflows in all files, compiled for the server where they are models.

    Raises:
        click.UsageError: there are several, and `name` names one.
    """
    from orgflow.backends.n8n.server.deploy.diagnostics import report_fit

    found: list[Wanted] = []
    for path in files:
        one = session.context()
        for wanted in _workflows(path, from_, name, server, session, one, options):
            report_fit(wanted, server.client.version, one)
            found.append(wanted)
        ctx.diagnostics.extend(one.diagnostics)
    if name is not None and len(found) > 1:
        raise click.UsageError(f"--as names one workflow, and there are {len(found)}")
    return found


def _workflows(
    path: str,
    from_: str | None,
    name: str | None,
    server: Server,
    session: Session,
    ctx: PassContext,
    options: dict[str, bool],
) -> list[Wanted]:
    from orgflow.backends.n8n.server.deploy.plan import Wanted
    from orgflow.backends.n8n.server.deploy.process_similarity import origin_of

    try:
        source = compiler.read_source(path)
    except compiler.InputError as error:
        ctx.emit(UnreadableInput, str(error), help=error.help)
        return []
    session.inputs.append(source.path)
    session.sources[source.path] = source.data
    backend = compiler.choose_backend("n8n", session.registry)
    if path == "-" and from_ is None:
        raise click.UsageError("standard input needs its format: --from FRONTEND")
    try:
        frontend = compiler.choose_frontend(source, session.registry, ctx, from_)
    except compiler.UnknownName as error:
        raise click.UsageError(str(error)) from None
    if frontend is None:
        return []
    if frontend.name == backend.name:
        from orgflow.backends.n8n.server.deploy.deployment_marker import renamed
        from orgflow.backends.n8n.server.deploy.reading import read_workflows

        rows = read_workflows(source, ctx)
        return [Wanted(renamed(row, name), path, named=name is not None) for row in rows]
    diagram = backend.target.wants_diagram
    model = compiler.load(source, session.registry, ctx, from_=from_, diagram=diagram)
    if model is None:
        return []
    if name is not None and len(model.processes) == 1:
        model = model.replace(processes=(model.processes[0].replace(name=name.strip()),))
    session.models.append(model)
    emitted = compiler.compile_model(
        model, backend, ctx, options={"version": str(server.client.version)}, **options
    )
    return [
        Wanted(json.loads(artifact.text), path, origin_of(path), named=name is not None)
        for artifact in (emitted.artifacts if emitted is not None else ())
    ]


def _deploy(
    wanted: Sequence[Wanted],
    server: Server,
    ctx: PassContext,
    *,
    dry_run: bool,
    take_over: bool,
    publish: bool,
    as_json: bool,
) -> int:
    """Deploy and print; the exit code as far as diagnostics do not say it."""
    from orgflow.backends.n8n.server.client.errors import ServerError
    from orgflow.backends.n8n.server.deploy.carry_out import Deployer
    from orgflow.backends.n8n.server.deploy.diagnostics import report_error, report_results

    with progress_bar() as progress:
        deployer = Deployer(server.client, server.undo, publish, take_over, progress)
        try:
            groups = deployer.plan(wanted)
        except ServerError as error:
            report_error(error, ctx)
            return SERVER_FAILED
        clear_stale(deployer.seen, None if dry_run else server.undo, ctx)
        if dry_run:
            return _show_plan(deployer, groups, ctx)
        try:
            results = deployer.deploy(groups)
        except BaseException:
            _print([deployer.results[i] for i in sorted(deployer.results)], as_json)
            raise
    report_results(results, ctx)
    _print(results, as_json)
    return 0 if all(result.ok for result in results) else _MODEL_ERRORS


def _print(results: Sequence[GroupResult], as_json: bool) -> None:
    placed = [one for result in results for one in result.placed]
    if as_json:
        rows = [one._asdict() for one in placed]
        said = {"version": 1, "workflows": rows, "failed": _failed(results)}
        write_stdout(json.dumps(said, ensure_ascii=False, indent=2) + "\n")
        return
    write_stdout("".join(_line(one) for one in placed))
    skipped = [name for result in results if result.skipped for name in _names(result)]
    if skipped and sys.stderr is not None:
        click.echo(f"not deployed: {', '.join(skipped)}", err=True)


def _failed(results: Sequence[GroupResult]) -> list[str]:
    return [name for result in results if not result.ok for name in _names(result)]


def _names(result: GroupResult) -> list[str]:
    return [step.wanted.name for step in result.group.steps]


def _line(one: Placed) -> str:
    name = one.name if len(one.name) <= _SHOWN_NAME else f"{one.name[: _SHOWN_NAME - 1]}…"
    words = [f"{one.action:<9}", one.id, f"{one.state:<9}", name, *one.urls]
    return "  ".join(words).rstrip() + "\n"


def _show_plan(deployer: Deployer, groups: Sequence[Group], ctx: PassContext) -> int:
    """Print what a deploy would do, workflow by workflow; nothing is changed."""
    from orgflow.backends.n8n.server.deploy.diagnostics import report_step
    from orgflow.backends.n8n.server.deploy.preview import preview

    for group in groups:
        for step in group.steps:
            report_step(step, ctx)
            write_stdout(preview(deployer, step, text_width()))
    return 0
