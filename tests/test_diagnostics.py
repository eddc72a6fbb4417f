"""One runner over the cases of rules, `diagnostics/CODE-name/`, and: every rule has one.

A case has the files `bad.*` and `good.*`, and either of

- `expected.txt`: the findings of `check` in the bad model, one a line; a missing line and an extra
  one both fail. The good model must be free of the code. A safe fix must clear it.
- `transcript.txt`: command lines and everything that they print, for rules that `check` alone does
  not provoke or whose finding is about the file. The code must be among the findings of a command
  line, and not of those that name the good file, which succeed. `pytest --snapshot-update
  tests/test_diagnostics.py` writes what is printed (look at the difference).
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
import transcripts
from orgflow.compilation.model_checks import needs_diagram
from orgflow.compilation.reading import choose_frontend, own_backend
from orgflow.passes.optional import OPTIONAL
from orgflow.passes.pipelines import CHECK, GAPS

from orgflow_ir.diagnostics import Category, Diagnostic, Rule, Severity, apply
from orgflow_ir.diagnostics.grading import Grading
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import Pass, PassContext, PassManager
from orgflow_ir.plugins import Registry

FOLDER = Path(__file__).resolve().parent / "diagnostics"
FOLDERS = sorted(p for p in FOLDER.iterdir() if p.is_dir())
CASES = [p for p in FOLDERS if (p / "expected.txt").is_file()]
TRANSCRIPTS = [p for p in FOLDERS if (p / "transcript.txt").is_file()]
REGISTRY = Registry(outside=False)


def check(path: Path, case: Path | None = None) -> tuple[Model | None, list[Diagnostic]]:
    """What `check` does: parse, the passes, and what the format's own backend has to say. For the
    case of a gap also gaps, which almost every small model has, and for that of an optional rule
    this rule."""
    rule = REGISTRY.rules[case.name.split("-")[0]] if case is not None else None
    source = SourceFile(path.name, path.read_bytes())
    ctx = context(rule)
    frontend = choose_frontend(source, REGISTRY, ctx, None)
    assert frontend is not None
    model = frontend.parse(source, ctx)
    if model is not None:
        backend = own_backend(source, REGISTRY, None)
        without = backend.lint_replaces if backend is not None else ()
        checked = PassManager([p for p in passes(rule) if p.name not in without]).run(model, ctx)
        assert checked is model, "a pass that only looks gives back the model it was given"
        if backend is not None:
            backend.lint(source, ctx)
    return model, ctx.diagnostics


def context(rule: type[Rule] | None) -> PassContext:
    on = {rule.code: rule.severity} if rule is not None and rule.optional else {}
    ctx = PassContext(registry=REGISTRY, grading=Grading(on))
    ctx.options = {"diagram": needs_diagram(ctx)}
    return ctx


def passes(rule: type[Rule] | None) -> list[Pass]:
    if rule is None:
        return list(CHECK)
    more = (*OPTIONAL, *(GAPS if rule.category is Category.GAP else ()))
    return [*CHECK, *(p for p in more if rule in p.rules or p in GAPS)]


def line(diagnostic: Diagnostic) -> str:
    where = f" [{diagnostic.element}]" if diagnostic.element else ""
    return f"{diagnostic.severity} {diagnostic.code}{where}: {diagnostic.message}"


def source(case: Path, stem: str) -> Path:
    (found,) = case.glob(f"{stem}.*")
    return found


def test_every_folder_is_a_case() -> None:
    assert sorted(CASES + TRANSCRIPTS) == FOLDERS


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_bad_model_is_told_as_expected(case: Path) -> None:
    code = case.name.split("-")[0]
    _, found = check(source(case, "bad"), case)
    lines = [line(d) for d in found]
    expected = (case / "expected.txt").read_text("utf-8").splitlines()
    assert lines == expected
    assert any(d.code == code for d in found), f"{code} itself is not among them"


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_good_model_is_free_of_it(case: Path) -> None:
    code = case.name.split("-")[0]
    _, found = check(source(case, "good"), case)
    assert [line(d) for d in found if d.code == code or d.severity is Severity.ERROR] == []


@pytest.mark.parametrize("case", FOLDERS, ids=lambda p: p.name)
def test_name_of_the_case_is_the_rule(case: Path) -> None:
    code, _, name = case.name.partition("-")
    assert REGISTRY.rules[code].name == name


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_messages_keep_the_style(case: Path) -> None:
    _, found = check(source(case, "bad"), case)
    for diagnostic in found:
        for text in (diagnostic.message, diagnostic.help or ""):
            assert not text.endswith("."), text
            assert not text[:1].isupper(), text


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_fixes_apply_and_safe_ones_clear_the_fault(case: Path) -> None:
    model, found = check(source(case, "bad"), case)
    for diagnostic in found:
        if diagnostic.fix is None or diagnostic.fix.applicability == "manual":
            continue
        assert model is not None
        fixed = apply(model, diagnostic.fix)
        assert fixed != model
        rule = REGISTRY.rules[case.name.split("-")[0]]
        ctx = context(rule)
        PassManager(passes(rule)).run(fixed, ctx)
        left = {(d.code, d.element) for d in ctx.diagnostics}
        assert (diagnostic.code, diagnostic.element) not in left
        if diagnostic.fix.applicability == "safe":
            assert not any(d.severity is Severity.ERROR for d in ctx.diagnostics)


@pytest.mark.parametrize("case", TRANSCRIPTS, ids=lambda p: p.name)
def test_the_transcript_is_what_is_printed(
    case: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    folder = tmp_path / "case"
    shutil.copytree(case, folder)
    (tmp_path / ".git").mkdir()  # no orgflow.toml above it counts
    transcript = case / "transcript.txt"
    played = transcripts.play(transcript.read_text("utf-8"), folder, capsys.readouterr)
    if request.config.getoption("update_snapshots"):
        transcript.write_text(transcripts.written(played), "utf-8")
    assert transcripts.written(played) == transcript.read_text("utf-8")
    code = case.name.split("-")[0]
    provoked = [p for p in played if code in transcripts.codes(p.printed)]
    assert provoked, f"{code} itself is not among the findings"
    for near in played:
        if re.search(r"\bgood\.", near.command):
            assert near not in provoked
            assert near.code == 0, near


def test_a_transcript_shows_what_a_command_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (first, second) = transcripts.play(
        "$ orgflowc list frontends\nanything\n$ orgflowc check none.bpmn\n", tmp_path,
        capsys.readouterr,
    )  # fmt: skip
    assert (first.command, first.code) == ("list frontends", 0)
    assert second.code == 2
    assert transcripts.codes(second.printed) == {"OF002"}
    assert str(second).startswith("$ orgflowc check none.bpmn\n")
    assert str(second).endswith("[exit code 2]\n")
