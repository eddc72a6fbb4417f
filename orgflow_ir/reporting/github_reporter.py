"""The GitHub reporter: findings as annotations of a pull request."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import ClassVar, TextIO

from orgflow_ir.diagnostics.diagnostic import Diagnostic
from orgflow_ir.diagnostics.ordering import order_diagnostics
from orgflow_ir.model.printable import escape_controls
from orgflow_ir.plugins.contracts import Reporter

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


class GithubReporter(Reporter):
    """For GitHub Actions: one workflow command per line, shown as an annotation at its place
    (docs.github.com, "Workflow commands for GitHub Actions"). Suppressed findings are omitted."""

    name: ClassVar[str] = "github"

    def report(self, diagnostics: Iterable[Diagnostic], out: TextIO) -> None:
        for finding in order_diagnostics(diagnostics):
            if finding.suppressed is None:
                out.write(_finding_line(finding) + "\n")


def _finding_line(finding: Diagnostic) -> str:
    properties = {}
    if finding.loc is not None:
        # as in the repository: `./a.bpmn` is no path of a changed file
        properties["file"] = PurePosixPath(finding.loc.file.replace("\\", "/")).as_posix()
        if finding.loc.line is not None:
            properties["line"] = str(finding.loc.line)
            if finding.loc.column is not None:
                properties["col"] = str(finding.loc.column)
    properties["title"] = f"{finding.code} {finding.name}"
    text = finding.message if finding.help is None else f"{finding.message}\n{finding.help}"
    named = ",".join(f"{key}={_escape_property(value)}" for key, value in properties.items())
    return f"::{_COMMANDS[finding.severity.value]} {named}::{_escape_message(text)}"


def _escape_message(text: str) -> str:
    """As the runner reads it back. Characters that act on a log or change the direction of text are
    shown as their numbers."""
    lines = escape_controls(text.replace("\r\n", "\n"))
    return lines.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_message(text).replace(":", "%3A").replace(",", "%2C")
