"""The language server protocol around documents: the times of checks, and the transfer of
results."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import PurePosixPath
from typing import TypeVar
from urllib.parse import unquote, urlsplit

from lsprotocol import types as lsp
from orgflow.commands.language_server import outline_words
from orgflow.commands.language_server.documents import (
    CONFIGURATION,
    Document,
    Finding,
    Offer,
)
from orgflow.commands.language_server.positions import Lines, Position, Span
from orgflow.commands.language_server.rule_pages import rule_page, rule_text
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from orgflow_ir.diagnostics import Category, Diagnostic, Severity
from orgflow_ir.pipeline.services import Cancelled
from orgflow_ir.plugins import Registry

PAUSE = 0.25
"""Seconds without a change after which a document is checked."""

BPMN_NAMESPACE = "http://www.omg.org/spec/BPMN/20100524/MODEL"

FIX_ALL = "source.fixAll.orgflow"

_SEVERITIES = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.INFO: lsp.DiagnosticSeverity.Information,
}

T = TypeVar("T")


class OpenDocument:
    """An open document of the client: its latest text and its running check."""

    def __init__(self, uri: str, path: str) -> None:
        self.uri, self.path = uri, path
        self.version: int | None = None
        self.document: Document | None = None
        self.task: asyncio.Task[None] | None = None

    def stop(self) -> None:
        """Cancel the waiting or running check."""
        if self.task is not None:
            self.task.cancel()
        if self.document is not None:
            self.document.cancel()


class OrgflowServer(LanguageServer):
    """The server: all checks run one after the other in one thread besides that of the protocol."""

    def __init__(self) -> None:
        super().__init__(
            "orgflow",
            version("orgflow"),
            # Whole texts: what counts as the end of a line differs between clients and Python.
            text_document_sync_kind=lsp.TextDocumentSyncKind.Full,
        )
        self.registry = Registry()
        self.open: dict[str, OpenDocument] = {}
        self._thread = ThreadPoolExecutor(1, "orgflow-check")

    # -- documents ---------------------------------------------------------------------------

    def opened(self, item: lsp.TextDocumentItem) -> None:
        """Check a document from now on if orgflow reads its format."""
        path = self._path(item.uri)
        if not (_is_model(path, item.text) or os.path.basename(path) == CONFIGURATION):
            return
        self.open[item.uri] = OpenDocument(item.uri, path)
        self.changed(item.uri, item.text, item.version, pause=0)

    def changed(self, uri: str, text: str, number: int | None, *, pause: float = PAUSE) -> None:
        """Accept a new text and check it after a pause in editing."""
        opened = self.open.get(uri)
        if opened is None:
            return
        opened.stop()
        opened.version = number
        unit = self.workspace.position_encoding or lsp.PositionEncodingKind.Utf16
        opened.document = Document(
            opened.path, text, self.registry, str(getattr(unit, "value", unit))
        )
        opened.task = asyncio.ensure_future(self._publish(opened, opened.document, pause))

    def closed(self, uri: str) -> None:
        """Forget a document and clear its diagnostics."""
        opened = self.open.pop(uri, None)
        if opened is not None:
            opened.stop()
            self._send(uri, None, ())

    def judge_again(self, uris: Iterable[str]) -> None:
        """Check documents again whose text is unchanged but whose settings changed."""
        for uri in uris:
            opened = self.open.get(uri)
            if opened is not None and opened.document is not None:
                self.changed(uri, opened.document.text, opened.version)

    def saved(self, uri: str) -> None:
        """A saved configuration applies to the models below it, which are checked again."""
        if os.path.basename(self._path(uri)) == CONFIGURATION:
            self.judge_again(u for u in tuple(self.open) if u != uri)

    def _path(self, uri: str) -> str:
        """Where a document is; one without a file is as if in the folder of the workspace."""
        path = to_fs_path(uri) if urlsplit(uri).scheme == "file" else None
        if path:
            return path
        name = PurePosixPath(unquote(urlsplit(uri).path)).name or "untitled"
        return os.path.join(self.workspace.root_path or os.getcwd(), name)

    async def _publish(self, opened: OpenDocument, document: Document, pause: float) -> None:
        await asyncio.sleep(pause)
        try:
            sent = await self.in_thread(
                lambda: [self._diagnostic(document, f) for f in document.findings]
            )
        except Cancelled:
            return  # a later text is judged
        if self.open.get(opened.uri) is opened and opened.document is document:
            self._send(opened.uri, opened.version, sent)

    async def in_thread(self, work: Callable[[], T]) -> T:
        """The result of work that takes a while. Raises the exception of the work."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _send(self, uri: str, number: int | None, sent: Iterable[lsp.Diagnostic]) -> None:
        self.text_document_publish_diagnostics(
            lsp.PublishDiagnosticsParams(uri=uri, version=number, diagnostics=list(sent))
        )

    def shutdown(self) -> None:
        """Shut down without waiting for a running check."""
        for opened in self.open.values():
            if opened.document is not None:
                opened.document.cancel()
        self._thread.shutdown(wait=False, cancel_futures=True)
        super().shutdown()  # type: ignore[no-untyped-call]

    # -- as the protocol has it --------------------------------------------------------------

    def _diagnostic(self, document: Document, finding: Finding) -> lsp.Diagnostic:
        d = finding.diagnostic
        rule = self.registry.rules.get(d.code)
        page = rule_page(rule) if rule is not None else None
        address = from_fs_path(str(page)) if page is not None else None
        message = d.message if d.help is None else f"{d.message}\n{d.help}"
        data: dict[str, object] = {"name": d.name}
        if d.element is not None:
            data["element"] = d.element
        return lsp.Diagnostic(
            range=_span_range(document.lines, finding.span),
            severity=_SEVERITIES[d.severity],
            code=d.code,
            code_description=lsp.CodeDescription(href=address) if address is not None else None,
            source="orgflow",
            message=message.replace(f"{os.path.dirname(document.path)}{os.sep}", ""),
            related_information=self._related(document, d),
            data=data,
        )

    def _related(self, document: Document, d: Diagnostic) -> list[lsp.DiagnosticRelatedInformation]:
        """Second places, and the place in another file."""
        places = [(r.message, r.loc, r.element) for r in d.related]
        if d.loc is not None and not document.holds(d.loc):
            places.insert(0, ("the place of this finding", d.loc, None))
        information = []
        for message, loc, element in places:
            if loc is not None and loc.line is not None and not document.holds(loc):
                uri = from_fs_path(os.path.abspath(loc.file))
                start = lsp.Position(loc.line - 1, max((loc.column or 1) - 1, 0))
                where = lsp.Range(start, start)
            else:
                uri = from_fs_path(document.path)
                where = _span_range(document.lines, document.span(loc, element))
            if uri is not None:
                information.append(
                    lsp.DiagnosticRelatedInformation(lsp.Location(uri, where), message)
                )
        return information

    async def actions(self, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        """The possible actions for the findings in a range, and for all findings."""
        opened = self.open.get(params.text_document.uri)
        if opened is None or opened.document is None:
            return []
        document, wanted = opened.document, params.context.only

        def asked(kind: str) -> bool:
            return wanted is None or any(
                kind == w or kind.startswith(f"{w}.") for w in map(_kind_value, wanted)
            )

        by_hand = params.context.trigger_kind != lsp.CodeActionTriggerKind.Automatic

        def offers() -> tuple[list[Offer], Offer | None]:
            here = _offset_span(document, params.range)
            touched = tuple(f for f in document.findings if _ranges_touch(f.span, here))
            quick = document.offers(touched) if asked("quickfix") else []
            every = asked(FIX_ALL) and (wanted is not None or by_hand)
            return quick, document.fix_all() if every else None

        try:
            quick, every = await self.in_thread(offers)
        except Cancelled:  # the text changed since: the client asks again
            return []
        if opened.document is not document:
            return []
        result = [self._action(opened, o, lsp.CodeActionKind.QuickFix, document) for o in quick]
        if every is not None:
            result.append(self._action(opened, every, FIX_ALL, document))
        return result

    def _action(
        self, opened: OpenDocument, offer: Offer, kind: str, document: Document
    ) -> lsp.CodeAction:
        changes = [
            lsp.TextEdit(_span_range(document.lines, edit.span), edit.text) for edit in offer.edits
        ]
        workspace = self.client_capabilities.workspace
        versioned = (
            workspace and workspace.workspace_edit and workspace.workspace_edit.document_changes
        )
        if versioned:
            name = lsp.OptionalVersionedTextDocumentIdentifier(
                uri=opened.uri, version=opened.version
            )
            edit = lsp.WorkspaceEdit(
                document_changes=[lsp.TextDocumentEdit(text_document=name, edits=list(changes))]
            )
        else:
            edit = lsp.WorkspaceEdit(changes={opened.uri: changes})
        return lsp.CodeAction(
            title=offer.title,
            kind=kind,
            diagnostics=[self._diagnostic(document, f) for f in offer.findings],
            is_preferred=offer.safe and kind == lsp.CodeActionKind.QuickFix,
            edit=edit,
        )

    async def formatting(self, uri: str) -> list[lsp.TextEdit]:
        """The edits that bring a document into its canonical form."""
        opened = self.open.get(uri)
        if opened is None or opened.document is None:
            return []
        document = opened.document
        edits = await self.in_thread(document.canonical_edits)
        return [lsp.TextEdit(_span_range(document.lines, e.span), e.text) for e in edits]

    def complete(self, uri: str, position: lsp.Position) -> list[lsp.CompletionItem]:
        """The words that fit at a place of an outline."""
        opened = self.open.get(uri)
        if opened is None or opened.document is None or opened.document.format != "outline":
            return []
        document = opened.document
        offset = document.lines.offset(Position(position.line, position.character))
        before = document.text[:offset].rpartition("\n")[2]
        words = outline_words.complete_words(document.text, position.line, before)
        return [lsp.CompletionItem(word.strip(), insert_text=word) for word in words]

    async def hover(self, uri: str, position: lsp.Position) -> lsp.Hover | None:
        """The element at a position: its kind and its findings."""
        opened = self.open.get(uri)
        if opened is None or opened.document is None:
            return None
        document = opened.document

        def look() -> lsp.Hover | None:
            offset = document.lines.offset(Position(position.line, position.character))
            element = document.element_at(offset)
            about = [f.diagnostic for f in document.findings if f.span.start <= offset < f.span.end]
            if element is None and not about:
                return None
            parts = []
            if element is not None:
                kind = _split_words(type(element).__name__)
                parts.append(f"**{kind}** {_label_code(element.label)}")
            for d in about:
                parts.append(
                    f"**{d.code} {d.name}**: {d.message}" + (f"\n\n{d.help}" if d.help else "")
                )
                rule = self.registry.rules.get(d.code)
                if rule is not None and d.category is not Category.GAP:
                    parts.append(_first_section(rule_text(rule)))
            if not parts:
                return None
            text = lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n".join(parts))
            span = document.span(element.loc, None) if element is not None else None
            return lsp.Hover(text, _span_range(document.lines, span) if span is not None else None)

        with contextlib.suppress(Cancelled):
            return await self.in_thread(look)
        return None


def _is_model(path: str, text: str) -> bool:
    return path.endswith((".bpmn", ".bpmn2", ".outline")) or (
        path.endswith(".xml") and BPMN_NAMESPACE in text
    )


def _span_range(lines: Lines, span: Span) -> lsp.Range:
    start, end = lines.position(span.start), lines.position(span.end)
    return lsp.Range(lsp.Position(*start), lsp.Position(*end))


def _offset_span(document: Document, asked: lsp.Range) -> Span:
    start, end = asked.start, asked.end
    return Span(
        document.lines.offset(Position(start.line, start.character)),
        document.lines.offset(Position(end.line, end.character)),
    )


def _ranges_touch(span: Span, other: Span) -> bool:
    return span.start <= other.end and other.start <= span.end


def _kind_value(kind: str | lsp.CodeActionKind) -> str:
    return kind.value if isinstance(kind, lsp.CodeActionKind) else kind


def _split_words(name: str) -> str:
    """`UserTask` as user task."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def _label_code(label: str) -> str:
    return f"`{label.replace('`', ' ')}`"


def _first_section(page: str) -> str:
    """The text of the first section of a rule's page."""
    section = page.partition("## ")[2].partition("## ")[0]
    return " ".join(section.partition("\n")[2].split())


def serve_editor() -> None:
    """Speak the protocol on standard input and output until the client leaves."""
    server = OrgflowServer()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def _(params: lsp.DidOpenTextDocumentParams) -> None:
        server.opened(params.text_document)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def _(params: lsp.DidChangeTextDocumentParams) -> None:
        name = params.text_document
        document = server.workspace.get_text_document(name.uri)
        server.changed(name.uri, document.source, name.version)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def _(params: lsp.DidCloseTextDocumentParams) -> None:
        server.closed(params.text_document.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def _(params: lsp.DidSaveTextDocumentParams) -> None:
        server.saved(params.text_document.uri)

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    async def _(params: lsp.DidChangeWatchedFilesParams) -> None:
        for change in params.changes:
            server.saved(change.uri)

    @server.feature(
        lsp.TEXT_DOCUMENT_CODE_ACTION,
        lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix, FIX_ALL]),
    )
    async def _(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        return await server.actions(params)

    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    async def _(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        return await server.formatting(params.text_document.uri)

    @server.feature(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=["#", "|"])
    )
    async def _(params: lsp.CompletionParams) -> list[lsp.CompletionItem]:
        return server.complete(params.text_document.uri, params.position)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def _(params: lsp.HoverParams) -> lsp.Hover | None:
        return await server.hover(params.text_document.uri, params.position)

    # There is nothing to put away, and the thread that waits for input would not end by itself.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    # The protocol has standard output to itself: what a plugin prints goes to standard error.
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)
        server.start_io(stdout=out)
