"""An editor for tests of the language server: pygls' client, which starts the real process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

T = TypeVar("T")

PATIENCE = 120.0
"""Seconds after which an answer will not come any more."""


class Editor:
    """A session; documents are named by their path."""

    def __init__(self, client: LanguageClient) -> None:
        self.client = client
        self.sent: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()

        @client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def _(params: lsp.PublishDiagnosticsParams) -> None:
            self.sent.put_nowait(params)

        self._versions: dict[Path, int] = {}

    def open(self, path: Path, text: str) -> None:
        self._versions[path] = 1
        self.client.text_document_did_open(
            lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(path.as_uri(), "xml", 1, text))
        )

    def change(self, path: Path, text: str) -> None:
        self._versions[path] += 1
        self.client.text_document_did_change(
            lsp.DidChangeTextDocumentParams(
                lsp.VersionedTextDocumentIdentifier(self._versions[path], path.as_uri()),
                [lsp.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    def save(self, path: Path) -> None:
        self.client.text_document_did_save(
            lsp.DidSaveTextDocumentParams(lsp.TextDocumentIdentifier(path.as_uri()))
        )

    def close(self, path: Path) -> None:
        self.client.text_document_did_close(
            lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(path.as_uri()))
        )

    async def findings(self, path: Path) -> list[lsp.Diagnostic]:
        """What is reported next; it has to be about this document, as it is now."""
        params = await asyncio.wait_for(self.sent.get(), PATIENCE)
        assert params.uri == path.as_uri()
        assert params.version in (self._versions[path], None)
        return list(params.diagnostics)

    async def actions(
        self, path: Path, where: lsp.Range, only: list[str] | None = None
    ) -> dict[str, lsp.CodeAction]:
        """What the server offers there, by title."""
        context = lsp.CodeActionContext(
            diagnostics=[], only=only, trigger_kind=lsp.CodeActionTriggerKind.Automatic
        )
        found = await asyncio.wait_for(
            self.client.text_document_code_action_async(
                lsp.CodeActionParams(lsp.TextDocumentIdentifier(path.as_uri()), where, context)
            ),
            PATIENCE,
        )
        return {a.title: a for a in found or [] if isinstance(a, lsp.CodeAction)}

    async def hover(self, path: Path, line: int, character: int) -> str | None:
        found = await self.client.text_document_hover_async(
            lsp.HoverParams(
                lsp.TextDocumentIdentifier(path.as_uri()), lsp.Position(line, character)
            )
        )
        assert found is None or isinstance(found.contents, lsp.MarkupContent)
        return None if found is None else found.contents.value  # type: ignore[union-attr]


def in_editor(
    story: Callable[[Editor], Awaitable[T]],
    folder: Path,
    capabilities: lsp.ClientCapabilities | None = None,
) -> T:
    """What a story gives that is played in a session of its own, which then ends as it should."""

    async def played() -> T:
        client = LanguageClient("tests", "1")
        await client.start_io(sys.executable, "-m", "orgflow.cli", "lsp", "--stdio")
        editor = Editor(client)
        await asyncio.wait_for(
            client.initialize_async(
                lsp.InitializeParams(
                    capabilities=capabilities or lsp.ClientCapabilities(),
                    root_uri=folder.as_uri(),
                )
            ),
            PATIENCE,
        )
        client.initialized(lsp.InitializedParams())
        try:
            result = await story(editor)
            await asyncio.wait_for(client.shutdown_async(None), PATIENCE)
        finally:
            client.exit(None)
            process = client._server
            assert process is not None
            code = await asyncio.wait_for(process.wait(), PATIENCE)
            await client.stop()
        assert code == 0, code
        return result

    return asyncio.run(played())


def applied(text: str, action: lsp.CodeAction, path: Path) -> str:
    """A text with the edits of an action, as an editor makes them: columns are UTF-16 units."""
    assert action.edit is not None
    assert action.edit.changes is not None
    changes = action.edit.changes[path.as_uri()]
    rows = text.encode("utf-16-le").split("\n".encode("utf-16-le"))
    starts = [0]
    for row in rows:
        starts.append(starts[-1] + len(row) + 2)
    data = text.encode("utf-16-le")

    def at(position: lsp.Position) -> int:
        return min(starts[position.line] + 2 * position.character, len(data))

    for edit in sorted(changes, key=lambda e: at(e.range.start), reverse=True):
        new = edit.new_text.encode("utf-16-le")
        data = data[: at(edit.range.start)] + new + data[at(edit.range.end) :]
    return data.decode("utf-16-le")
