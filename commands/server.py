"""What `deploy`, `run` and `eval` share of talking to engines and servers."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click
from orgflow.backends import DEFAULT_TARGET
from orgflow.commands.session import Session, exit_code

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from orgflow_ir.pipeline import PassContext
    from orgflow_ir.plugins.contracts import Backend, Runner
    from orgflow_ir.plugins.deployment import Deployer

F = TypeVar("F", bound=Callable[..., Any])

T = TypeVar("T")

SERVER_FAILED = 3


def server_exit_code(session: Session, backend: Backend) -> int:
    """As `exit_code`, and 3 where a server of the target failed."""
    codes = {rule.code for rule in backend.server_rules}
    if any(d.code in codes for d in session.diagnostics):
        return SERVER_FAILED
    return exit_code(session.diagnostics)


def variable(backend: str, what: str) -> str:
    """The environment variable for the `URL` or the `API_KEY` of a target's server."""
    return f"{backend.upper().replace('-', '_')}_{what}"


def deployer_of(backend: Backend) -> Deployer:
    """What deploys for a target. Raises `click.UsageError` where there is no such thing."""
    from orgflow_ir.plugins.deployment import Deployer
    from orgflow_ir.plugins.guards import given

    deployer: Deployer | None = given(backend, "deployer", Deployer)
    if deployer is None:
        raise click.UsageError(f"target `{backend.name}` does not support deployment")
    return deployer


def deployer_and_address(backend: Backend, url: str | None) -> tuple[Deployer, str]:
    """What deploys for a target, and the address of its server: `--url`, or the environment's.

    Raises:
        click.UsageError: the target has nothing to deploy with, or no address is given.
    """
    deployer = deployer_of(backend)
    address = url or os.environ.get(variable(backend.name, "URL"))
    if not address:
        raise click.UsageError(
            f"no server is named: use --url, or set {variable(backend.name, 'URL')}"
        )
    return deployer, address


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
        f"[default: {variable(DEFAULT_TARGET, 'API_KEY')}]",
    )(function)


@contextlib.contextmanager
def connected(connection: AbstractContextManager[T]) -> Iterator[T]:
    """A connection of a contract, whose errors of address and key are those of the command line.

    Raises:
        click.UsageError: the address or the key cannot be one, or a package is not installed.
    """
    from orgflow_ir.plugins.engines import AccessError

    with contextlib.ExitStack() as stack:
        try:
            made = stack.enter_context(connection)
        except AccessError as error:
            raise click.UsageError(str(error)) from None
        yield made


class Engine(NamedTuple):
    """What plays runs.

    Attributes:
        runner: plays them; `None` after an error of a server.
        options: target options that the engine demands.
        name: `local`, `model`, or the address of a server.
    """

    runner: Runner | None
    options: dict[str, str]
    name: str


@contextlib.contextmanager
def engine_runner(
    engine: str | None, backend: Backend, key_file: str | None, wait: float, ctx: PassContext
) -> Iterator[Engine]:
    """What plays runs, closed afterwards.

    Args:
        engine: `local`, `model`, or the address of a server; `None` for the local engine where it
            is installed, else its model.
        backend: the target.
        key_file, wait: see `server_options`.
        ctx: gets what is wrong with a server.

    Raises:
        click.UsageError: there is no such engine.
    """
    from orgflow_ir.plugins.engines import (
        LOCAL,
        MODEL,
        EngineProvider,
        ServerAccess,
        is_address,
        local_engine,
        looks_like_server,
    )
    from orgflow_ir.plugins.guards import given

    if engine is not None and not is_address(engine) and engine not in (LOCAL, MODEL):
        meant = f"; did you mean http://{engine}?" if looks_like_server(engine) else ""
        raise click.UsageError(
            f"there is no engine `{engine}`; use {LOCAL}, {MODEL}, or the URL of a server{meant}"
        )
    engines: EngineProvider | None = given(backend, "engines", EngineProvider)
    if engine is None or not is_address(engine):
        if engines is None:
            raise click.UsageError(f"target `{backend.name}` has no engine to run on")
        found = local_engine(engines, engine)
        if found is None:
            raise click.UsageError(f"target `{backend.name}` has no model of its engine")
        try:
            yield Engine(found.runner, {}, found.name)
        finally:
            found.runner.close()
        return
    access = ServerAccess(engine, key_file, wait)
    connection = engines.connect(access, ctx) if engines is not None else None
    if connection is None:
        raise click.UsageError(f"target `{backend.name}` does not run on a server")
    with connected(connection) as remote:
        if remote is None:
            yield Engine(None, {}, engine)
        else:
            yield Engine(remote.runner, dict(remote.options), engine)
