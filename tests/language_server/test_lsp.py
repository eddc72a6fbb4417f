"""`orgflowc lsp` as editors use it: a client library starts the process and reads its answers."""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from editor_client import Editor, applied, in_editor
from lsprotocol import types as lsp
from orgflow.commands import lsp as lsp_command
from orgflow.commands.language_server.documents import Document
from orgflow.commands.language_server.positions import Lines, Position, diff_edits
from orgflow.commands.project.file_fixes import Fixer

from orgflow_ir.model.source import SourceFile
from orgflow_ir.plugins import Registry

ROOT = Path(__file__).resolve().parents[2]
DEADLOCK = (ROOT / "tests/diagnostics/OF201-deadlocked-join/bad.bpmn").read_text("utf-8")
DANGLING = (ROOT / "tests/diagnostics/OF101-dangling-flow/bad.bpmn").read_text("utf-8")
JOIN = '<parallelGateway id="join"/>'


def place(text: str, part: str) -> lsp.Range:
    """The range of the first occurrence of a part, in UTF-16 units."""
    before = text[: text.index(part)]
    line = before.count("\n")
    column = len(before.rpartition("\n")[2].encode("utf-16-le")) // 2
    width = len(part.encode("utf-16-le")) // 2
    return lsp.Range(lsp.Position(line, column), lsp.Position(line, column + width))


def checked(path: Path) -> set[tuple[str, str | None]]:
    """Code and element of what `orgflowc check` finds."""
    done = subprocess.run(
        [sys.executable, "-m", "orgflow.cli", "check", str(path), "--format", "json"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return {(d["code"], d.get("element")) for d in json.loads(done.stdout)["diagnostics"]}


def reported(found: list[lsp.Diagnostic]) -> set[tuple[str, str | None]]:
    return {(str(d.code), (d.data or {}).get("element")) for d in found}  # type: ignore[attr-defined]


def test_findings_follow_the_text_and_fixes_cure_them(tmp_path: Path) -> None:
    path = tmp_path / "order.bpmn"
    # An emoji before the element on its line: two units of UTF-16, one character, four bytes.
    text = DEADLOCK.replace(JOIN, f"<!-- 🛒 -->{JOIN}").replace("\n", "\r\n")
    path.write_bytes(text.encode())

    async def story(editor: Editor) -> None:
        editor.open(path, text)
        found = await editor.findings(path)
        assert reported(found) == checked(path)
        deadlock = next(d for d in found if d.code == "OF201")
        where = place(text, JOIN)
        assert deadlock.range == where
        assert deadlock.severity == lsp.DiagnosticSeverity.Error
        related = deadlock.related_information or []
        split = place(text, '<exclusiveGateway id="stock"')
        assert any(r.location.range.start == split.start for r in related)
        assert deadlock.code_description is not None
        page = Path(deadlock.code_description.href.removeprefix("file://"))
        assert "deadlocked-join" in page.read_text("utf-8")

        said = await editor.hover(path, where.start.line, where.start.character + 3)
        assert said is not None
        assert "OF201" in said
        assert "never takes" in said

        offered = await editor.actions(path, where)
        fix = next(a for t, a in offered.items() if t.startswith("Make the parallel gateway"))
        assert fix.is_preferred
        fixed = applied(text, fix, path)
        wanted = Fixer(Registry(outside=False), "bpmn", unsafe=False, write=False)
        assert fixed.encode() == wanted.fixed(SourceFile(str(path), text.encode())).data
        editor.change(path, fixed)
        assert "OF201" not in {d.code for d in await editor.findings(path)}

        editor.change(path, text)  # not saved: the text counts, not the file
        assert reported(await editor.findings(path)) == reported(found)
        every = await editor.actions(path, where, only=["source.fixAll"])
        (all_safe,) = every.values()
        assert all_safe.kind == "source.fixAll.orgflow"
        assert applied(text, all_safe, path) == fixed

        suppress = next(a for t, a in offered.items() if t.startswith("Suppress OF201"))
        unexplained = applied(text, suppress, path)
        editor.change(path, unexplained)
        assert {"OF201", "OF006"} <= {d.code for d in await editor.findings(path)}
        editor.change(path, unexplained.replace('"OF201: "', '"OF201: by design"'))
        codes = {d.code for d in await editor.findings(path)}
        assert not codes & {"OF201", "OF006", "OF010"}

        broken = text.replace("</process>", "</proces>")
        editor.change(path, broken)
        (fault,) = await editor.findings(path)
        assert fault.code == "OF010"
        assert fault.range.start.line == broken[: broken.index("</proces>")].count("\n")

    in_editor(story, tmp_path)


def test_two_documents_and_the_configuration(tmp_path: Path) -> None:
    one, two = tmp_path / "one.bpmn", tmp_path / "two.bpmn"
    settings = tmp_path / "orgflow.toml"
    faulty = '[rules]\ndeadlocked-join = "off"\nno-such-rule = "error"\n\n[rulez]\n'

    async def story(editor: Editor) -> None:
        editor.open(one, DEADLOCK)
        assert "OF201" in {d.code for d in await editor.findings(one)}
        editor.open(two, DANGLING)
        found = await editor.findings(two)
        assert "OF101" in {d.code for d in found}
        offered = await editor.actions(two, place(DANGLING, '<sequenceFlow id="Flow_3"'))
        unsafe = next(a for t, a in offered.items() if t.startswith("Remove the flow"))
        assert "unsafe" in unsafe.title
        assert not unsafe.is_preferred

        editor.open(settings, faulty)
        shown = {
            (d.range.start.line, d.message.partition("\n")[0])
            for d in await editor.findings(settings)
        }
        assert shown == {
            (2, "there is no rule `no-such-rule`"),
            (4, "orgflow.toml has an unknown key `rulez`"),
        }
        settings.write_text('[rules]\ndeadlocked-join = "off"\n', "utf-8")
        editor.save(settings)
        again = [await editor.sent.get(), await editor.sent.get()]
        assert [p.uri for p in again] == [one.as_uri(), two.as_uri()]
        assert "OF201" not in {d.code for d in again[0].diagnostics}

        editor.close(one)
        assert await editor.findings(one) == []
        editor.change(two, DANGLING)
        assert await editor.findings(two) == found  # the same input, the same answer
        assert editor.sent.empty()

    in_editor(story, tmp_path)


def test_a_document_of_ten_thousand_elements_and_typing_in_it(tmp_path: Path) -> None:
    path = tmp_path / "large.bpmn"
    tasks = "".join(f'<task id="t{i}" name="Step {i}"/>\n' for i in range(5_000))
    ends = ["start", *(f"t{i}" for i in range(5_000)), "end"]
    flows = "".join(
        f'<sequenceFlow id="f{i}" sourceRef="{a}" targetRef="{b}"/>\n'
        for i, (a, b) in enumerate(pairwise(ends))
    )
    text = (
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="x">\n'
        '<process id="p" isExecutable="true"><startEvent id="start"/>\n'
        f'{tasks}{flows}<endEvent id="end"/></process></definitions>\n'
    )
    lost = text.replace('targetRef="t4000"', 'targetRef=""')

    async def story(editor: Editor) -> None:
        editor.open(path, text)
        for number in range(20):  # each letter is a version; only the last is judged
            editor.change(path, lost + " " * number)
        found = await editor.findings(path)
        assert {(d.code, d.range.start.line) for d in found if d.code == "OF101"} == {
            ("OF101", 2 + 5_000 + 4_000)
        }
        assert editor.sent.empty()

    in_editor(story, tmp_path)


def test_a_client_that_sends_nonsense(tmp_path: Path) -> None:
    path = tmp_path / "a.bpmn"

    async def story(editor: Editor) -> None:
        process = editor.client._server
        assert process is not None
        assert process.stdin is not None
        for body in (
            b"{not json",
            b"[]",
            b'{"jsonrpc": "2.0", "id": 9, "method": "no/such"}',
            b'{"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"x": 1}}',
            b'{"jsonrpc": "2.0", "id": 10, "method": "textDocument/hover", "params": 3}',
        ):
            process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        process.stdin.write(b"Nonsense: 1\r\n")
        editor.close(path)  # never opened
        assert await editor.hover(path, 10**6, 10**6) is None
        assert await editor.actions(path, lsp.Range(lsp.Position(9, 9), lsp.Position(1, 1))) == {}
        editor.open(path, DEADLOCK)
        assert "OF201" in {d.code for d in await editor.findings(path)}
        beyond = lsp.Range(lsp.Position(10**6, 5), lsp.Position(10**7, 5))
        assert await editor.actions(path, beyond) == {}

    in_editor(story, tmp_path)


def test_the_server_ends_when_it_is_told_to() -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "orgflow.cli", "lsp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert child.stdin is not None
    assert child.stdout is not None
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}'
    child.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    child.stdin.flush()
    assert child.stdout.readline().startswith(b"Content-Length")
    child.terminate()  # its input stays open
    assert child.wait(120) != 0
    child.stdin.close()
    child.stdout.close()


def test_without_the_extra(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from orgflow.cli import run

    monkeypatch.setattr(lsp_command, "find_spec", lambda name: None)
    assert run(["lsp"]) == 2
    assert "pip install 'pygls>=2.0,<3'" in capsys.readouterr().err


# -- without a process -----------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["utf-8", "utf-16", "utf-32"])
def test_positions_there_and_back(unit: str) -> None:
    text = "a\r\n🛒é\u2028b\rc\n\nlast"
    lines = Lines(text, unit)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] == "\r\n":
            continue  # not a place
        assert lines.offset(lines.position(offset)) == offset
    width = {"utf-8": 4, "utf-16": 2, "utf-32": 1}[unit]
    assert lines.position(text.index("é")) == Position(1, width)
    assert lines.position(text.index("last")) == Position(4, 0)
    assert lines.offset(Position(0, 99)) == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "a"),
        ("a\nb\nc", "a\nX\nc"),
        ("a\r\nb\r\n", "b\r\n"),
        ("a\n" * 9, "a\n" * 4),
        ("x", "x"),
    ],
)
def test_edits_make_the_new_text(old: str, new: str) -> None:
    text = old
    for edit in reversed(diff_edits(old, new)):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    assert text == new
    assert bool(diff_edits(old, new)) == (old != new)


@pytest.mark.parametrize("encoding", ["ISO-8859-1", "UTF-16", "no-such", "UTF-8"])
def test_texts_that_declare_an_encoding(encoding: str, tmp_path: Path) -> None:
    text = DEADLOCK.partition("?>")[2].lstrip() if DEADLOCK.startswith("<?xml") else DEADLOCK
    text = f'<?xml version="1.0" encoding="{encoding}"?>\n' + text.replace("Ship", "Müll")
    document = Document(str(tmp_path / "a.bpmn"), text, Registry(outside=False))
    found = {f.diagnostic.code: f for f in document.findings}
    if encoding == "no-such":
        assert "OF016" in found
        return
    assert text[slice(*found["OF201"].span)] == JOIN
    fix = document.offers((found["OF201"],))[0]
    fixed = text
    for edit in reversed(fix.edits):
        fixed = fixed[: edit.span.start] + edit.text + fixed[edit.span.end :]
    assert fixed == text.replace(JOIN, '<exclusiveGateway id="join"/>')


def test_a_day_in_the_editor(tmp_path: Path) -> None:
    """Names with spaces, empty and unfinished files, a rename, a file that is only in the editor, a
    configuration that is broken, corrected and deleted, a fix of an old version."""
    folder = tmp_path / "Ablage für Modelle & mehr"
    folder.mkdir()
    old, new = folder / "Auftrag #1.bpmn", folder / "Auftrag 2 %20.bpmn"
    settings = folder / "orgflow.toml"

    async def codes(editor: Editor, path: Path) -> set[str]:
        return {str(d.code) for d in await editor.findings(path)}

    async def story(editor: Editor) -> None:
        editor.open(old, "")  # new, and never saved
        assert await codes(editor, old)
        editor.change(old, "<definitions")
        assert await codes(editor, old) == {"OF010"}
        editor.change(old, DEADLOCK)
        assert "OF201" in await codes(editor, old)

        editor.close(old)  # renamed: editors close one and open the other
        assert await editor.findings(old) == []
        editor.open(new, DEADLOCK)
        assert "OF201" in await codes(editor, new)

        offered = await editor.actions(new, place(DEADLOCK, JOIN))
        fix = next(a for t, a in offered.items() if t.startswith("Make the parallel gateway"))
        fixed = applied(DEADLOCK, fix, new)
        editor.change(new, fixed)
        assert "OF201" not in await codes(editor, new)
        again = await editor.actions(new, place(fixed, '<exclusiveGateway id="join"'))
        assert not [t for t in again if t.startswith("Make the parallel gateway")]
        editor.change(new, DEADLOCK)  # undone
        assert "OF201" in await codes(editor, new)

        settings.write_text("[rules\n", "utf-8")
        editor.open(settings, "[rules\n")
        (broken,) = await editor.findings(settings)
        assert broken.range.start.line == 0
        settings.write_text('[rules]\ndeadlocked-join = "info"\n', "utf-8")
        editor.change(settings, '[rules]\ndeadlocked-join = "info"\n')
        assert await editor.findings(settings) == []
        editor.save(settings)
        found = (await editor.sent.get()).diagnostics
        while not any(d.code == "OF201" for d in found):
            found = (await editor.sent.get()).diagnostics
        graded = next(d for d in found if d.code == "OF201")
        assert graded.severity == lsp.DiagnosticSeverity.Information

    in_editor(story, tmp_path)
