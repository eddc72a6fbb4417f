"""Connections to engines and servers, shared by `deploy`, `run` and `eval`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import Any, TypeVar

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.options import Options
from orgflow.commands.session import Session, exit_code

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.plugins.deployment import Deployer
from orgflow_ir.plugins.engines import (
    LOCAL,
    MODEL,
    AccessError,
    EngineProvider,
    ServerAccess,
    is_address,
    local_engine,
    looks_like_server,
)
from orgflow_ir.plugins.guards import call_guarded
from orgflow_ir.plugins.runners import Runner

F = TypeVar("F", bound=Callable[..., Any])

T = TypeVar("T")

SERVER_FAILED = 3


def server_exit_code(session: Session, backend: Backend) -> int:
    """Like `exit_code`, and 3 if a server of the target failed."""
    codes = {rule.code for rule in backend.server_rules}
    if any(d.code in codes for d in session.diagnostics):
        return SERVER_FAILED
    return exit_code(session.diagnostics)


def environment_variable(backend: str, what: str) -> str:
    """The environment variable for the `URL` or the `API_KEY` of a target's server."""
    return f"{backend.upper().replace('-', '_')}_{what}"


def deployer_of(backend: Backend) -> Deployer:
    """The deployer of a target. Raises `click.UsageError` if it has none."""
    deployer: Deployer | None = call_guarded(backend, "deployer", Deployer)
    if deployer is None:
        raise click.UsageError(f"target `{backend.name}` does not support deployment")
    return deployer


def deployer_and_address(backend: Backend, url: str | None) -> tuple[Deployer, str]:
    """The deployer of a target, and the address of its server: `--url`, or that of the environment.

    Raises: click.UsageError: the target has no deployer, or no address is given.
    """
    return deployer_of(backend), server_address(url, backend)


def server_address(url: str | None, backend: Backend, option: str = "--url") -> str:
    """The address of a target's server: that of an option, or of the environment. Raises
    `click.UsageError` if there is none."""
    address = url or os.environ.get(environment_variable(backend.name, "URL"))
    if not address:
        variable = environment_variable(backend.name, "URL")
        raise click.UsageError(
            f"no server is named: use {option}, or set {variable}{_running_here(backend, option)}"
        )
    return address


def _running_here(backend: Backend, option: str) -> str:
    """How to name the server of this machine, if it is running."""
    engines: EngineProvider | None = call_guarded(backend, "engines", EngineProvider)
    local = engines.local_server() if engines is not None else None
    running = local.running() if local is not None else None
    if running is None:
        return ""
    return f"; the one on this machine is {option} {running.address} --key-file {running.key_file}"


class ServerOptions(Options):
    """The options of `server_options`."""

    key_file: str | None
    wait: float


def server_options(function: F) -> F:
    """`--key-file` and `--wait`."""
    function = click.option(
        "--wait",
        type=click.FloatRange(0, 3600),
        default=30.0,
        metavar="SECONDS",
        help="How long to retry a call that fails temporarily, in seconds. [default: 30]",
    )(function)
    return click.option(
        "--key-file",
        metavar="FILE|-",
        help=f"File with {DEFAULT_TARGET}'s API key, - for standard input.  "
        f"[default: {environment_variable(DEFAULT_TARGET, 'API_KEY')}]",
    )(function)


@contextlib.contextmanager
def open_connection(connection: AbstractContextManager[T]) -> Iterator[T]:
    """A connection of a contract; errors of address and key become those of the command line.

    Raises: click.UsageError: the address or the key is invalid, or a package is not installed.
    """
    with contextlib.ExitStack() as stack:
        try:
            resource = stack.enter_context(connection)
        except AccessError as error:
            raise click.UsageError(str(error)) from None
        yield resource


class Engine(NamedTuple):
    """What plays runs.

    Attributes:
        runner: executes the runs; `None` after an error of a server.
        options: target options that the engine requires.
        name: `local`, `model`, or the address of a server.
    """

    runner: Runner | None
    options: dict[str, str]
    name: str


@contextlib.contextmanager
def engine_runner(
    engine: str | None, backend: Backend, key_file: str | None, wait: float, ctx: PassContext
) -> Iterator[Engine]:
    """The runner of the requested engine, closed afterwards.

    Args:
        engine: `local`, `model`, or the address of a server; `None` for the local engine if it is
            installed, otherwise its model.
        backend: the target.
        key_file, wait: see `server_options`.
        ctx: receives the faults of a server.

    Raises: click.UsageError: the engine does not exist.
    """
    if engine is not None and not is_address(engine) and engine not in (LOCAL, MODEL):
        meant = f"; did you mean http://{engine}?" if looks_like_server(engine) else ""
        raise click.UsageError(
            f"there is no engine `{engine}`; use {LOCAL}, {MODEL}, or the URL of a server{meant}"
        )
    engines: EngineProvider | None = call_guarded(backend, "engines", EngineProvider)
    if engine is None or not is_address(engine):
        if engines is None:
            raise click.UsageError(f"target `{backend.name}` has no engine to run on")
        local = local_engine(engines, engine)
        if local is None:
            raise click.UsageError(f"target `{backend.name}` has no model of its engine")
        try:
            yield Engine(local.runner, {}, local.name)
        finally:
            local.runner.close()
        return
    access = ServerAccess(engine, key_file, wait)
    connection = engines.connect(access, ctx) if engines is not None else None
    if connection is None:
        raise click.UsageError(f"target `{backend.name}` does not run on a server")
    with open_connection(connection) as remote:
        if remote is None:
            yield Engine(None, {}, engine)
        else:
            yield Engine(remote.runner, dict(remote.options), engine)
