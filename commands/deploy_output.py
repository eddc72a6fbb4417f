"""The output of `deploy` and `undeploy` on standard output: lines, or one JSON document."""

from __future__ import annotations

import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click
from orgflow.commands.output import print_json, print_text
from orgflow.commands.session import Session

from orgflow_ir.reporting.json_reporter import diagnostics_data

if TYPE_CHECKING:
    from orgflow_ir.plugins.deployment import Deployed, DeployResult, Removed

_SHOWN_NAME = 40


class Output(ABC):
    """Prints the results."""

    @abstractmethod
    def results(self, results: Sequence[DeployResult]) -> None:
        """Print the deployed workflows."""

    @abstractmethod
    def preview(self, text: str) -> None:
        """Print the changes that `--dry-run` found for one workflow."""

    @abstractmethod
    def removed(self, action: str, workflow: Removed) -> None:
        """Print the result for one workflow: `removed`, `kept`, or `would go`."""

    @abstractmethod
    def finish(self) -> None:
        """Print the part that follows everything else, when all findings are known."""


class TextOutput(Output):
    """One line per workflow, as soon as its result is known."""

    def results(self, results: Sequence[DeployResult]) -> None:
        print_text(
            "".join(
                _describe_workflow(workflow) for result in results for workflow in result.deployed
            )
        )
        skipped = [name for result in results if result.skipped for name in result.names]
        if skipped and sys.stderr is not None:
            click.echo(f"not deployed: {', '.join(skipped)}", err=True)

    def preview(self, text: str) -> None:
        print_text(text)

    def removed(self, action: str, workflow: Removed) -> None:
        print_text(
            "  ".join(filter(None, (action, workflow.id, workflow.name, workflow.kept))) + "\n"
        )

    def finish(self) -> None:
        pass


class JsonOutput(Output):
    """One document: the workflows, the names of those that failed, and all findings."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._workflows: list[dict[str, Any]] = []
        self._failed: list[str] = []
        self._previews: list[str] = []

    def results(self, results: Sequence[DeployResult]) -> None:
        self._workflows += [
            workflow._asdict() for result in results for workflow in result.deployed
        ]
        self._failed += [name for result in results if not result.ok for name in result.names]

    def preview(self, text: str) -> None:
        self._previews.append(text)

    def removed(self, action: str, workflow: Removed) -> None:
        self._workflows.append({"action": action, **workflow._asdict()})
        if workflow.kept:
            self._failed.append(workflow.name)

    def finish(self) -> None:
        document = {
            "version": 1,
            "workflows": self._workflows,
            "failed": self._failed,
            **({"preview": self._previews} if self._previews else {}),
            **diagnostics_data(self._session.diagnostics),
            **self._session.more(),
        }
        print_json(json.dumps(document, ensure_ascii=False, indent=2) + "\n")


def _describe_workflow(workflow: Deployed) -> str:
    name = (
        workflow.name
        if len(workflow.name) <= _SHOWN_NAME
        else f"{workflow.name[: _SHOWN_NAME - 1]}…"
    )
    words = [f"{workflow.action:<9}", workflow.id, f"{workflow.state:<9}", name, *workflow.urls]
    return "  ".join(words).rstrip() + "\n"
