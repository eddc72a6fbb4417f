"""A connection to an n8n server for commands: checked, with its version, and cleaned up."""

from __future__ import annotations

import contextlib
import datetime
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from orgflow.backends.n8n.format.versions import N8nVersion
from orgflow.backends.n8n.server.client.backoff import Backoff
from orgflow.backends.n8n.server.client.compatibility import report_version, server_version
from orgflow.backends.n8n.server.client.credentials import api_key, server_urls
from orgflow.backends.n8n.server.client.data_tables import TableClient
from orgflow.backends.n8n.server.client.errors import NotN8nError, ServerError
from orgflow.backends.n8n.server.client.workflows import WorkflowClient
from orgflow.backends.n8n.server.stale_runs import clear_stale_runs, report_stale_runs

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.engines import AccessError, ServerAccess

_UNDO_SECONDS = 5.0


class Server(NamedTuple):
    """A server that answers.

    Attributes:
        client: the client with the key.
        undo: the same with shorter backoff, for cleaning up.
        version: the target version of its workflows.
    """

    client: TableClient
    undo: WorkflowClient
    version: N8nVersion

    @property
    def options(self) -> dict[str, str]:
        """Target options for workflows that this server accepts."""
        return {"version": str(self.version)}


@contextlib.contextmanager
def connect_server(access: ServerAccess, ctx: PassContext) -> Iterator[Server | None]:
    """A server by its address; None after an error in `ctx`.

    Raises:
        AccessError: the address or the key is malformed.
    """
    addresses = server_urls(access.address)
    key = api_key(access.key_file, sys.stdin)
    with contextlib.ExitStack() as stack:

        def client_of(address: str, seconds: float) -> TableClient:
            client = TableClient(address, key, backoff=Backoff(seconds))
            return stack.enter_context(client)

        try:
            client = client_of(addresses[0], access.wait)
        except ServerError as error:
            raise AccessError(str(error)) from None
        try:
            try:
                client.check()
            except NotN8nError:
                if len(addresses) == 1:
                    raise
                client = client_of(addresses[1], access.wait)
                client.check()
            undo = client_of(client.url, min(access.wait, _UNDO_SECONDS))
            version = server_version(client.version_text())
        except ServerError as error:
            error.report(ctx)
            yield None
            return
        report_version(version, ctx)
        if version.known is None:
            yield None
            return
        client.version = undo.version = version.known
        yield Server(client, undo, version.known)


def clear_stale(
    rows: Iterable[dict[str, Any]], undo: WorkflowClient | None, ctx: PassContext
) -> None:
    """Remove the leftovers of killed runs among the workflows of a server, and report them; with
    `undo` None, only search."""
    report_stale_runs(clear_stale_runs(rows, undo, datetime.datetime.now(datetime.UTC)), ctx)
