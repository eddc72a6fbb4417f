"""One runner over `diagnostics/CODE-name/{bad.*, good.*, expected.txt}`.

`expected.txt` holds what `check` says about the bad model, one diagnostic a line; a missing line
and an extra one both fail. The good model must be free of the code. A safe fix must clear it.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from orgflow.compiler import choose_frontend, own_backend
from orgflow.passes.pipelines import CHECK, GAPS

from orgflow_ir.diagnostics import Category, Diagnostic, Severity, apply
from orgflow_ir.model import Model
from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext, PassManager
from orgflow_ir.plugins import Registry

FOLDER = Path(__file__).resolve().parent / "diagnostics"
CASES = sorted(p for p in FOLDER.iterdir() if p.is_dir())
REGISTRY = Registry(outside=False)


def check(path: Path, *, gaps: bool = False) -> tuple[Model | None, list[Diagnostic]]:
    """What `check` does: parse, the passes, and what the format's own backend has to say; gaps,
    which almost every small model has, for the cases of their rules."""
    source = SourceFile(path.name, path.read_bytes())
    ctx = PassContext(registry=REGISTRY)
    frontend = choose_frontend(source, REGISTRY, ctx, None)
    assert frontend is not None
    model = frontend.parse(source, ctx)
    if model is not None:
        backend = own_backend(source, REGISTRY, None)
        without = backend.lint_replaces if backend is not None else ()
        wanted = (*CHECK, *(GAPS if gaps else ()))
        checked = PassManager([p for p in wanted if p.name not in without]).run(model, ctx)
        assert checked is model, "a pass that only looks gives back the model it was given"
        if backend is not None:
            backend.lint(source, ctx)
    return model, ctx.diagnostics


def line(diagnostic: Diagnostic) -> str:
    where = f" [{diagnostic.element}]" if diagnostic.element else ""
    return f"{diagnostic.severity} {diagnostic.code}{where}: {diagnostic.message}"


def source(case: Path, stem: str) -> Path:
    (found,) = case.glob(f"{stem}.*")
    return found


def is_gap(case: Path) -> bool:
    return REGISTRY.rules[case.name.split("-")[0]].category is Category.GAP


def test_there_are_cases() -> None:
    assert len(CASES) >= 25


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_bad_model_is_told_as_expected(case: Path) -> None:
    code = case.name.split("-")[0]
    _, found = check(source(case, "bad"), gaps=is_gap(case))
    lines = [line(d) for d in found]
    expected = (case / "expected.txt").read_text("utf-8").splitlines()
    assert lines == expected
    assert any(d.code == code for d in found), f"{code} itself is not among them"


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_good_model_is_free_of_it(case: Path) -> None:
    code = case.name.split("-")[0]
    _, found = check(source(case, "good"), gaps=is_gap(case))
    assert [line(d) for d in found if d.code == code or d.severity is Severity.ERROR] == []


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_name_of_the_case_is_the_rule(case: Path) -> None:
    code, _, name = case.name.partition("-")
    assert REGISTRY.rules[code].name == name


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_messages_keep_the_style(case: Path) -> None:
    _, found = check(source(case, "bad"), gaps=is_gap(case))
    for diagnostic in found:
        for text in (diagnostic.message, diagnostic.help or ""):
            assert not text.endswith("."), text
            assert not text[:1].isupper(), text


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.name)
def test_fixes_apply_and_safe_ones_clear_the_fault(case: Path) -> None:
    model, found = check(source(case, "bad"), gaps=is_gap(case))
    for diagnostic in found:
        if diagnostic.fix is None or diagnostic.fix.applicability == "manual":
            continue
        assert model is not None
        fixed = apply(model, diagnostic.fix)
        assert fixed != model
        ctx = PassContext(registry=REGISTRY)
        PassManager(CHECK).run(fixed, ctx)
        left = {(d.code, d.element) for d in ctx.diagnostics}
        assert (diagnostic.code, diagnostic.element) not in left
        if diagnostic.fix.applicability == "safe":
            assert not any(d.severity is Severity.ERROR for d in ctx.diagnostics)
