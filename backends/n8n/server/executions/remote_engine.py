"""A server as an engine: runs of emitted workflows on it, by its address."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from orgflow.backends.n8n.server.executions.runner import ServerRunner
from orgflow.backends.n8n.server.session import clear_stale, connect_server

from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.engines import RemoteEngine, ServerAccess


@contextlib.contextmanager
def connect_engine(access: ServerAccess, ctx: PassContext) -> Iterator[RemoteEngine | None]:
    """A server that runs workflows; leftovers of killed runs on it are removed. None after an error
    in `ctx`."""
    with connect_server(access, ctx) as server:
        if server is None:
            yield None
            return
        clear_stale(list(server.client.listed()), server.undo, ctx)
        runner = ServerRunner(server.client, server.undo)
        try:
            yield RemoteEngine(runner, server.options)
        finally:
            runner.close()
