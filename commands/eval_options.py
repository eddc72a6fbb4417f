"""The options of `orgflowc eval`, which the modules of its suites take."""

from __future__ import annotations

from pathlib import Path

from orgflow.commands.options import ModelOptions
from orgflow.commands.server import ServerOptions


class EvalOptions(ModelOptions, ServerOptions):
    """The options of `eval`."""

    suite: str
    location: str
    truth: Path | None
    seeds: int
    true_models: Path | None
    output: str | None
    html: str | None
    models: str | None
    engine: str
    agent: str | None
    samples: int
    rounds: int
    prompt: str | None

    @property
    def folder(self) -> Path:
        """The folder of a suite other than `discovery`."""
        return Path(self.location)
