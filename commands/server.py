"""What `deploy`, `run` and `eval` share of talking to an n8n server."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click
from orgflow.commands.session import Session, exit_code

if TYPE_CHECKING:
    from orgflow.backends.n8n.server.client.compatibility import ServerVersion
    from orgflow.backends.n8n.server.client.workflows import WorkflowClient

    from orgflow_ir.pipeline import PassContext
    from orgflow_ir.plugins.contracts import Backend, Runner

F = TypeVar("F", bound=Callable[..., Any])

SERVER_FAILED = 3

_UNDO_SECONDS = 5.0


class Server(NamedTuple):
    """A server that answers.

    Attributes:
        client: with the key.
        undo: the same with shorter backoff, for tidying up.
        version: what it runs.
    """

    client: WorkflowClient
    undo: WorkflowClient
    version: ServerVersion


def server_exit_code(session: Session) -> int:
    """As `exit_code`, and 3 where a server failed."""
    from orgflow.backends.n8n.server.deploy.diagnostics import SERVER_CODES

    if any(d.code in SERVER_CODES for d in session.diagnostics):
        return SERVER_FAILED
    return exit_code(session.diagnostics)


def server_options(function: F) -> F:
    """`--key-file` and `--wait`."""
    function = click.option(
        "--wait",
        type=click.FloatRange(0, 3600),
        default=30.0,
        metavar="SECONDS",
        help="How long a call that fails for the moment is tried again.  [default: 30]",
    )(function)
    return click.option(
        "--key-file",
        metavar="FILE|-",
        help="File with n8n's API key, - for standard input.  [default: N8N_API_KEY]",
    )(function)


@contextlib.contextmanager
def connected(
    url: str, key_file: str | None, wait: float, ctx: PassContext
) -> Iterator[Server | None]:
    """A server by its address; None after an error, which is in `ctx` then.

    Raises:
        click.UsageError: the address or the key cannot be one, or httpx is not installed.
    """
    from orgflow.backends.n8n.server.client.backoff import Backoff
    from orgflow.backends.n8n.server.client.compatibility import server_version
    from orgflow.backends.n8n.server.client.credentials import AccessError, api_key, server_urls
    from orgflow.backends.n8n.server.client.errors import NotN8nError, ServerError
    from orgflow.backends.n8n.server.client.workflows import WorkflowClient
    from orgflow.backends.n8n.server.deploy.diagnostics import report_error, report_version

    try:
        addresses = server_urls(url)
        key = api_key(key_file, sys.stdin)
    except AccessError as error:
        raise click.UsageError(str(error)) from None
    with contextlib.ExitStack() as stack:

        def client_of(address: str, seconds: float) -> WorkflowClient:
            made = WorkflowClient(address, key, backoff=Backoff(seconds))
            return stack.enter_context(made)

        try:
            client = client_of(addresses[0], wait)
        except ServerError as error:
            raise click.UsageError(str(error)) from None
        try:
            try:
                client.check()
            except NotN8nError:
                if len(addresses) == 1:
                    raise
                client = client_of(addresses[1], wait)
                client.check()
            undo = client_of(client.url, min(wait, _UNDO_SECONDS))
            version = server_version(client.version_text())
        except ServerError as error:
            report_error(error, ctx)
            yield None
            return
        report_version(version, ctx)
        if version.known is None:
            yield None
            return
        client.version = undo.version = version.known
        yield Server(client, undo, version)


def clear_stale(
    rows: Iterable[dict[str, Any]], undo: WorkflowClient | None, ctx: PassContext
) -> None:
    """Remove what killed runs have left among the workflows of a server, and say so; `undo` None
    only looks."""
    import datetime

    from orgflow.backends.n8n.server.deploy.diagnostics import report_stale_runs
    from orgflow.backends.n8n.server.executions.stale_runs import clear_stale_runs

    report_stale_runs(clear_stale_runs(rows, undo, datetime.datetime.now(datetime.UTC)), ctx)


@contextlib.contextmanager
def engine_runner(
    engine: str, backend: Backend, key_file: str | None, wait: float, ctx: PassContext
) -> Iterator[tuple[Runner | None, dict[str, str]]]:
    """What runs workflows (closed afterwards), and the target options that its engine demands.

    Args:
        engine: `local`, or the address of a server.
        backend: the target.
        key_file, wait: see `server_options`.
        ctx: gets what is wrong with a server; the runner is None then.

    Raises:
        click.UsageError: there is no such engine.
    """
    if "://" not in engine:
        if engine != "local":
            from orgflow.backends.n8n.server.client.credentials import looks_like_server

            meant = f"; did you mean http://{engine}?" if looks_like_server(engine) else ""
            raise click.UsageError(
                f"no engine `{engine}`; there is: local, or the URL of a server{meant}"
            )
        runner = backend.runner()
        if runner is None:
            raise click.UsageError(f"target `{backend.name}` has no engine to run on")
        try:
            yield runner, {}
        finally:
            runner.close()
        return
    if backend.name != "n8n":
        raise click.UsageError(f"target `{backend.name}` does not run on a server")
    from orgflow.backends.n8n.server.executions.runner import ServerRunner

    with connected(engine, key_file, wait, ctx) as server:
        if server is None:
            yield None, {}
            return
        clear_stale(list(server.client.listed()), server.undo, ctx)
        played = ServerRunner(server.client, server.undo)
        try:
            yield played, {"version": str(server.client.version)}
        finally:
            played.close()
