"""The engines that run n8n workflows: n8n's own on this machine, and n8n servers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from orgflow.backends.n8n.engine import install as local
from orgflow.backends.n8n.engine.engine_messages import MESSAGES
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.backends.n8n.replay.model_runner import ModelRunner
from orgflow.backends.n8n.server import install as whole_server

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.engines import (
    EngineMessage,
    EngineProvider,
    EngineStatus,
    Installable,
    LocalServer,
    RemoteEngine,
    ServerAccess,
)
from orgflow_ir.plugins.runners import Runner

if TYPE_CHECKING:
    from orgflow.backends.n8n.server import local_server as local_n8n
    from orgflow.backends.n8n.server.executions import remote_engine
    from orgflow.backends.n8n.waiting import manual_import
else:  # one of two kinds of engine, and files for a manual import
    manual_import = LazyModule("orgflow.backends.n8n.waiting.manual_import")
    remote_engine = LazyModule("orgflow.backends.n8n.server.executions.remote_engine")
    local_n8n = LazyModule("orgflow.backends.n8n.server.local_server")


class N8nEngines(EngineProvider):
    """n8n's engine in a Node process of this machine, or a server by its address and key."""

    about = (
        "n8n's own engine on this machine, with which `run`, `eval` and the tests execute "
        "workflows."
        "\n\nOnly this command installs it, from npm, into ORGFLOW_ENGINE_DIR (by "
        "default the user's cache folder), and takes about 0.9 GB. n8n's packages are under the "
        "Sustainable Use License."
    )
    engine = Installable("Install the engine, unless it is already installed (about a minute).")
    server = Installable(
        "With --server, also install a complete n8n server into ORGFLOW_N8N_SERVER (by default the "
        "user's cache folder), to test against the real server. It needs python3, make and a C++ "
        "compiler.",
        "2.9 GB, minutes",
        whole_server.VERSIONS,
    )

    @property
    def messages(self) -> tuple[EngineMessage, ...]:
        """The messages of n8n 2.41 and of this project's client."""
        return MESSAGES

    def runner(self) -> Runner:
        """See `EngineProvider`; one Node process."""
        return LocalRunner()

    def model_runner(self) -> Runner:
        """See `EngineProvider`; it evaluates no expression."""
        return ModelRunner()

    def status(self) -> EngineStatus:
        """See `EngineProvider`; starts nothing but `node --version`."""
        status = local.engine_status()
        facts = {"folder": str(status.path)}
        if status.node is not None:
            node = status.node
            facts["node"] = f"{node.version_text} ({node.origin}: {node.path})"
        facts.update(sorted(status.versions.items()))
        return EngineStatus(status.installed, facts, status.problems)

    def install(
        self,
        on_line: Callable[[str], None],
        *,
        force: bool = False,
        server: bool = False,
        version: str | None = None,
    ) -> str:
        """See `EngineProvider`; from npm."""
        if not server:
            return str(local.install_engine(on_line, force=force).path)
        wanted = version or whole_server.N8N_VERSION
        return str(whole_server.install_server(on_line, force=force, version=wanted).path)

    def shared_workflows(self) -> dict[str, str]:
        """See `EngineProvider`: the support set of processes that wait in several places."""
        return manual_import.import_files()

    def local_server(self) -> LocalServer:
        """See `EngineProvider`."""
        # A client of a server loads httpx, which runs on this machine do not need.

        return local_n8n.LocalN8n()

    @contextlib.contextmanager
    def connect(self, access: ServerAccess, ctx: PassContext) -> Iterator[RemoteEngine | None]:
        """See `EngineProvider`; leftovers of killed runs on the server are removed."""
        # As above: only servers need httpx.

        with remote_engine.connect_engine(access, ctx) as engine:
            yield engine
