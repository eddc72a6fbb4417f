"""Executions of n8n, by the contract of `orgflow_ir.plugins.executions`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence

from orgflow.backends.n8n.format.workflow_document import WorkflowDocument
from orgflow.backends.n8n.server.client.errors import RefusedError
from orgflow.backends.n8n.server.deployed_options import (
    read_deployed_options,
    read_process_options,
)
from orgflow.backends.n8n.server.executions import fetch
from orgflow.backends.n8n.server.executions.observing import Observer
from orgflow.backends.n8n.server.session import Server, connect_server
from orgflow.backends.n8n.verify.reference import compile_references

from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.engines import ServerAccess
from orgflow_ir.plugins.executions import (
    Execution,
    ExecutionQuery,
    ExecutionReader,
    ExecutionStore,
    StoredWorkflow,
)
from orgflow_ir.targets.artifact import Emitted


class N8nExecutions(ExecutionReader):
    """Executions with their data, in the form of n8n's public API."""

    statuses = fetch.STATUSES
    saved_help = "pass the response of n8n to GET /api/v1/executions?includeData=true"

    def observer(
        self, model: Model, emitted: Emitted, *, workflow: Execution | None = None
    ) -> Observer:
        """See `ExecutionReader`."""
        references = compile_references(model, PassContext(), emitted)
        reports = frozenset(_list_reports(emitted))
        own = {process: ref for process, ref in references.items() if process not in reports}
        return Observer(own, workflow, reports)

    def saved(self, source: SourceFile, query: ExecutionQuery) -> Sequence[Execution]:
        """See `ExecutionReader`: one answer of the API, a page of them, a list, or one per line."""
        return fetch.read_saved(source.path, source.data, query)

    def stated_options(self, model: Model, executions: Sequence[Execution]) -> Mapping[str, str]:
        """See `ExecutionReader`: of the latest execution whose workflow states some."""
        rows = (execution.get("workflowData") for execution in executions)
        documents = (WorkflowDocument(row) for row in rows if isinstance(row, Mapping))
        return read_process_options(documents, model)

    @contextlib.contextmanager
    def connect(self, access: ServerAccess, ctx: PassContext) -> Iterator[ExecutionStore | None]:
        """See `ExecutionReader`."""
        with connect_server(access, ctx) as server:
            yield N8nExecutionStore(server) if server is not None else None


class N8nExecutionStore(ExecutionStore):
    """The executions that one server stores."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def workflows(self, emitted: Emitted, named: str | None) -> Sequence[StoredWorkflow]:
        """See `ExecutionStore`: by the note of the deployment, otherwise by the map of the
        nodes."""
        reports = frozenset(_list_reports(emitted))
        compiled = [
            (process, process_compiled.root.workflow)
            for process, process_compiled in emitted.compiled.items()
            if named is not None or process not in reports
        ]
        rows = fetch.find_deployed(self._server.client, compiled, named)
        return [StoredWorkflow(str(row["id"]), str(row.get("name"))) for row in rows]

    def stated_options(self, model: Model, named: str | None) -> Mapping[str, str]:
        """See `ExecutionStore`."""
        client = self._server.client
        if named is None:
            return read_deployed_options(client.listed(), model)
        try:
            return read_process_options([WorkflowDocument(client.workflow(named))], model)
        except RefusedError as error:
            if error.status != 404:
                raise
            return {}  # `workflows` reports it

    def executions(self, workflow: StoredWorkflow, query: ExecutionQuery) -> Iterator[Execution]:
        """See `ExecutionStore`."""
        return fetch.pull_executions(self._server.client, workflow.id, query)


def _list_reports(emitted: Emitted) -> Iterator[str]:
    """Processes of workflows that report failures: their executions are no runs of the model."""
    for process, compiled in emitted.compiled.items():
        if compiled.root.plan.scope.on_error:
            yield process
