"""`orgflowc watch`: a local page with a model and its workflow, refreshed at every save."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Mapping
from typing import Any, ClassVar

import click
from orgflow import compiler
from orgflow.commands.completion_values import FILE
from orgflow.commands.options import (
    Options,
    parsed_into,
    resolve_target,
    target_option,
    watched_file_option,
)
from orgflow.commands.output import join_artifacts
from orgflow.commands.page_server import Page, PageServer, PageText, browser_at
from orgflow.commands.project.suppressions import Acceptance
from orgflow.commands.session import Session, end_command
from orgflow.evaluation.watch_page import Fact, Finding, Seen, render_watch, seen_json

from orgflow_ir.diagnostics import Category, Diagnostic, Severity
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins.contracts import Backend
from orgflow_ir.targets.artifact import Emitted

_POLL_SECONDS = 0.25
_PATIENCE_SECONDS = 10.0
_UNFINISHED = frozenset({Category.GAP})


class WatchOptions(Options):
    """The options of `watch`."""

    in_: str
    target: str
    from_: str | None
    port: int
    no_open: bool


@click.command(
    "watch", short_help="Show a model and its workflow on a page that follows every save."
)
@click.argument("in_", metavar="IN", type=FILE)
@target_option
@watched_file_option
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=0,
    help="Port to listen on. [default: a free port]",
)
@click.option("--no-open", is_flag=True, help="Open no browser.")
@parsed_into(WatchOptions)
def command(options: WatchOptions) -> None:
    """Serve a page that shows the model in IN with its findings and the state of the compiled
    workflow: whether it compiles, whether it provably behaves like the model, and what is
    unfinished. The page is refreshed when the file is saved; while the file cannot be read, it
    keeps the last picture.

    The page is on 127.0.0.1 and needs no network; its address has a secret part. Ctrl-C ends the
    command.
    """
    if options.in_ == "-":
        raise click.UsageError("standard input cannot be watched: name a file")
    session = Session()
    backend, target_options = resolve_target(options.target, session.registry, [options.in_])
    watched = Watched(session, options.in_, options.from_, backend, target_options)
    page = WatchPage(watched.look())
    try:
        server = PageServer(port=options.port)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        click.echo(
            f"orgflowc watch: port {options.port}: {reason}; without --port a free one is taken",
            err=True,
        )
        end_command(2)
    with server:
        address = server.add(page)
        try:
            click.echo(f"{options.in_} at {address}\nCtrl-C ends this")
            terminal = sys.stdout is not None and sys.stdout.isatty()
            with browser_at(address, wanted=terminal and not options.no_open):
                while True:
                    time.sleep(_POLL_SECONDS)  # Ctrl-C ends it
                    server.check()
                    if watched.is_saved():
                        page.show(watched.look())
        except KeyboardInterrupt:
            page.close()
    end_command(0)


class Watched:
    """A file, and the result of compiling it."""

    def __init__(
        self,
        session: Session,
        path: str,
        from_: str | None,
        backend: Backend,
        options: Mapping[str, str],
    ) -> None:
        self._session, self._path, self._from = session, path, from_
        self._backend, self._options = backend, dict(options)
        self._state = self._stat()

    def is_saved(self) -> bool:
        """Whether the file changed since the previous call."""
        before, self._state = self._state, self._stat()
        return before != self._state

    def _stat(self) -> tuple[int, int, int] | None:
        try:
            entry = os.stat(self._path)
        except OSError:
            return None
        return entry.st_mtime_ns, entry.st_size, entry.st_ino

    def look(self) -> Seen:
        """Read, check, compile, verify and draw the file in its current state."""
        self._session.forget()
        ctx = self._session.context()
        accepted = Acceptance(self._session.registry, errors=True, whole=True)
        accepted.configure(self._path, ctx)
        model = self._session.load(self._path, ctx, self._from, diagram=True)
        emitted = None
        if model is not None:
            called = compiler.add_called_processes(model, self._backend, ctx)
            emitted = compiler.compile_model(called, self._backend, ctx, options=self._options)
        accepted.apply(self._path, model, ctx, None)
        shown = [d for d in ctx.diagnostics if d.suppressed is None]
        grave = [d for d in shown if d.severity is not Severity.INFO]
        unfinished = [d for d in shown if d.severity is Severity.INFO and d.category in _UNFINISHED]
        facts = self._facts(model, emitted, grave)
        if emitted is not None:
            count = len(unfinished)
            things = "one thing is" if count == 1 else f"{count or 'no'} things are"
            facts.append(Fact("Unfinished", f"{things} left to do", "warning" if count else "ok"))
        title = os.path.basename(self._path)
        if model is not None and model.processes:
            title = model.processes[0].caption or title
        return Seen(
            title,
            self._path,
            "" if model is None else self._picture(model, grave),
            [
                _describe_finding(d)
                for d in sorted(grave, key=lambda d: d.severity is not Severity.ERROR)
            ],
            facts,
            [d.message for d in unfinished],
            emitted is not None,
        )

    def _facts(
        self, model: Model | None, emitted: Emitted | None, grave: list[Diagnostic]
    ) -> list[Fact]:
        target = self._backend.name
        errors = sum(d.severity is Severity.ERROR for d in grave)
        if model is None:
            return [Fact("Read", "no", "error")]
        if emitted is None:
            what = "one error" if errors == 1 else f"{errors} errors"
            return [Fact("Compiles", f"not to {target}: {what}", "error")]
        files = ", ".join(artifact.path for artifact in emitted.artifacts)
        facts = [Fact("Compiles", f"to {target}: {files}", "ok")]
        quiet = PassContext(registry=self._session.registry)
        workflow = SourceFile(
            files, join_artifacts(emitted.artifacts).encode("utf-8", "surrogatepass")
        )
        for result in self._backend.verify(model, workflow, quiet, emitted=emitted) or ():
            words = f"{result.label}: {result.verdict.value}"
            if result.bound:
                words += f" ({result.bound})"
            level = "ok" if result.verdict.value == "proved" else "warning"
            facts.append(Fact("Verified", words, level if result.permits_edits else "error"))
        return facts

    def _picture(self, model: Model, grave: list[Diagnostic]) -> str:
        """The model with its findings, as SVG text; empty where it cannot be drawn."""
        drawing = self._session.registry.backend("svg")
        if drawing is None:
            return ""
        ctx = PassContext(registry=self._session.registry, options={"findings": "yes"})
        ctx.diagnostics.extend(grave)
        return drawing.emit(model, ctx).artifacts[0].text


class WatchPage(Page):
    """The page; its script requests the next state.

    Args:
        seen: the first state.
    """

    name: ClassVar[str] = "watch"

    def __init__(self, seen: Seen) -> None:
        self._news = threading.Condition()
        self._seen, self._version, self._closed = seen, 0, False
        self._picture = seen.picture

    def show(self, seen: Seen) -> None:
        """Set another state; a file that cannot be read leaves the picture unchanged."""
        with self._news:
            self._seen, self._version = seen, self._version + 1
            self._picture = seen.picture or self._picture
            self._news.notify_all()

    def close(self) -> None:
        """End waiting requests."""
        with self._news:
            self._closed = True
            self._news.notify_all()

    def text(self, notice: str) -> PageText:
        """The page without a state, which its script requests."""
        del notice
        html, style, script = render_watch(self._seen.title)
        return PageText(html, styles=(style,), scripts=(script,))

    def until_ready(self, query: Mapping[str, str]) -> None:
        """Wait until the state is newer than `version`, or for some seconds."""
        with self._news:
            self._news.wait_for(
                lambda: self._closed or str(self._version) != query.get("version"),
                _PATIENCE_SECONDS,
            )

    def data(self, query: Mapping[str, str]) -> Any:
        """The state."""
        del query
        with self._news:
            stale = bool(self._picture) and not self._seen.picture
            return seen_json(self._seen, self._version, picture=self._picture, stale=stale)


def _describe_finding(finding: Diagnostic) -> Finding:
    place = ""
    if finding.loc is not None and finding.loc.line is not None:
        place = f"line {finding.loc.line}"
    return Finding(
        finding.severity.value,
        finding.code,
        finding.name,
        finding.message,
        finding.help or "",
        place,
    )
