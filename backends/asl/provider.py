"""The local engine for state machines: moto's interpreter, a Python package."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from importlib import metadata

from orgflow.backends.asl.runner import MotoRunner

from orgflow_ir.plugins.engines import EngineProvider, EngineStatus, Installable, InstallError
from orgflow_ir.plugins.packages import install_command


class MotoEngines(EngineProvider):
    """moto's interpreter of Amazon States Language, in process; nothing is sent to AWS."""

    about = "moto's interpreter of Amazon States Language on this machine, a Python package."
    engine = Installable("The engine is the Python package moto, with its extra `stepfunctions`.")

    def runner(self) -> MotoRunner:
        """See `EngineProvider`; moto is imported when the first machine is loaded."""
        return MotoRunner()

    def status(self) -> EngineStatus:
        """See `EngineProvider`; imports nothing of moto."""
        package = importlib.util.find_spec("moto")
        if package is None or not package.origin:
            return EngineStatus(False, {}, (f"moto is not installed: {install_command('moto')}",))
        return EngineStatus(True, {"folder": package.origin, "moto": metadata.version("moto")})

    def install(
        self,
        on_line: Callable[[str], None],
        *,
        force: bool = False,
        server: bool = False,
        version: str | None = None,
    ) -> str:
        """The location of moto, which this does not install. Raises `InstallError` if it is
        missing."""
        status = self.status()
        if not status.installed:
            raise InstallError(status.problems[0])
        on_line("already installed")
        return status.facts["folder"]
