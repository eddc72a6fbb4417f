"""Live tests: collected only when called by their folder (`make test-live`), on a real server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_fixture import missing
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.install import server_status
from orgflow.backends.n8n.server.process import N8nServer, Owner

HERE = Path(__file__).resolve().parent


def pytest_ignore_collect(config: pytest.Config) -> bool | None:
    """`make test` boots no server: this folder has to be named."""
    named = [Path(argument.partition("::")[0]).resolve() for argument in config.args]
    return None if any(path == HERE or HERE in path.parents for path in named) else True


@pytest.fixture(scope="session")
def owner() -> Owner:
    """The account of the server."""
    return Owner()


@pytest.fixture(scope="session")
def server() -> Iterator[N8nServer]:
    """A fresh n8n server with a data folder of its own."""
    found = server_status()
    if found.files is None:
        missing(f"n8n's server is not installed: {found.problem}")
    with N8nServer() as running:
        yield running


@pytest.fixture(scope="session")
def client(server: N8nServer, owner: Owner) -> Iterator[Client]:
    """A client with a key and a login."""
    with Client(server.url) as connected:
        connected.set_up_owner(owner.email, owner.password)
        yield connected


@pytest.fixture(scope="session")
def server_url(server: N8nServer) -> str:
    """Where it answers."""
    return server.url


@pytest.fixture(scope="session")
def key(client: Client) -> str:
    """A key of the public API."""
    return client.key
