"""Outlines in an editor: findings, hover, formatting and completion."""

from __future__ import annotations

from pathlib import Path

import pytest
from editor_client import Editor, applied, in_editor
from lsprotocol import types as lsp
from orgflow.commands.language_server.outline_words import complete_words

FAULTY = "check order | clerk\nif: in stock\n  ship order\n"
LOOSE = "choose in stock?\n\tif: yes\n\t\tship order|clerk\n\telse\n\t\torder goods\n"
CANONICAL = "choose: in stock?\n  if: yes\n    ship order | clerk\n  else:\n    order goods\n"


def test_an_outline_is_checked_and_formatted(tmp_path: Path) -> None:
    path = tmp_path / "order.outline"

    async def story(editor: Editor) -> None:
        name = lsp.TextDocumentIdentifier(path.as_uri())
        editor.open(path, FAULTY)
        (found,) = await editor.findings(path)
        assert found.code == "OF077"
        assert found.range.start == lsp.Position(1, 0)
        options = lsp.FormattingOptions(tab_size=2, insert_spaces=True)
        formatting = lsp.DocumentFormattingParams(text_document=name, options=options)
        assert not await editor.client.text_document_formatting_async(formatting)
        editor.change(path, LOOSE)
        assert {d.code for d in await editor.findings(path)} <= {"OF501", "OF502"}
        edits = await editor.client.text_document_formatting_async(formatting)
        changes = {path.as_uri(): list(edits or [])}
        action = lsp.CodeAction("format", edit=lsp.WorkspaceEdit(changes=changes))
        assert applied(LOOSE, action, path) == CANONICAL
        hover = await editor.client.text_document_hover_async(
            lsp.HoverParams(text_document=name, position=lsp.Position(2, 4))
        )
        assert hover is not None
        completion = await editor.client.text_document_completion_async(
            lsp.CompletionParams(text_document=name, position=lsp.Position(3, 1))
        )
        assert isinstance(completion, list)
        assert [item.label for item in completion] == ["if:", "else:"]

    in_editor(story, tmp_path)


@pytest.mark.parametrize(
    ("text", "line", "before", "words"),
    [
        ("choose: x\n  ", 1, "  ", ["if: ", "else:"]),
        ("first:\n  on: after 3 days\n", 2, "  ", ["on: "]),
        ("a | clerk | #pay\ngo to: #", 1, "go to: #", ["pay"]),
        ("a | clerk | #pay\nb | ", 1, "b | ",
         ["clerk", "each ", "reads ", "writes ", "after #", "named "]),
        ("check order ", 0, "check order ", []),
        ("a\n  ", 1, "  ", ["on: "]),
    ],
)  # fmt: skip
def test_words_that_fit(text: str, line: int, before: str, words: list[str]) -> None:
    assert complete_words(text, line, before) == words


def test_words_at_the_top() -> None:
    words = complete_words("", 0, "")
    assert {"start: ", "choose: ", "process: ", "on: "} <= set(words)
    assert "if: " not in words
