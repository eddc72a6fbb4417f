"""The GitHub reporter: findings as annotations of a pull request."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import ClassVar, TextIO

from orgflow_ir.diagnostics.diagnostic import Diagnostic
from orgflow_ir.diagnostics.ordering import order_diagnostics
from orgflow_ir.plugins.contracts import Reporter

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


class GithubReporter(Reporter):
    """For GitHub Actions: one workflow command per line, shown as an annotation at its place
    (docs.github.com, "Workflow commands for GitHub Actions"). Suppressed findings are omitted."""

    name: ClassVar[str] = "github"

    def report(self, diagnostics: Iterable[Diagnostic], out: TextIO) -> None:
        for one in order_diagnostics(diagnostics):
            if one.suppressed is None:
                out.write(_line(one) + "\n")


def _line(one: Diagnostic) -> str:
    properties = {}
    if one.loc is not None:
        # as in the repository: `./a.bpmn` is no path of a changed file
        properties["file"] = PurePosixPath(one.loc.file.replace("\\", "/")).as_posix()
        if one.loc.line is not None:
            properties["line"] = str(one.loc.line)
            if one.loc.column is not None:
                properties["col"] = str(one.loc.column)
    properties["title"] = f"{one.code} {one.name}"
    text = one.message if one.help is None else f"{one.message}\n{one.help}"
    named = ",".join(f"{key}={_property(value)}" for key, value in properties.items())
    return f"::{_COMMANDS[one.severity.value]} {named}::{_message(text)}"


def _message(text: str) -> str:
    """As the runner reads it back; everything else stays as it is."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _message(text).replace(":", "%3A").replace(",", "%2C")
