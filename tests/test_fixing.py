"""`check --fix` and `--diff`: what is written, what is not, and that it is proved."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_cases import LINEAR, orgflowc
from orgflow.compilation.input_sources import read_source
from orgflow.compilation.reading import load_model
from orgflow.compiler import CHECK, CompileRequest, run_stages
from seeds import EVERY

from orgflow_ir.model.source import SourceFile
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

CASES = Path(__file__).resolve().parent / "diagnostics"
FIXED = {
    "OF201-deadlocked-join": ('exclusiveGateway id="join"', ()),
    "OF203-work-done-twice": ('parallelGateway id="ship_join"', ()),
    "OF101-dangling-flow": ("", ("--unsafe-fixes",)),
    "OF311-no-branch-fits": ('default="f2"', ("--unsafe-fixes",)),
}


@pytest.fixture(params=FIXED)
def case(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Path]:
    name: str = request.param
    path = tmp_path / "bad.bpmn"
    path.write_bytes((CASES / name / "bad.bpmn").read_bytes())
    return name, path


def test_the_fault_is_gone_from_the_file(case: tuple[str, Path]) -> None:
    name, path = case
    wanted, flags = FIXED[name]
    ran = orgflowc("check", "--fix", *flags, path)
    assert ran.err.startswith("fixed: ")
    code = name.partition("-")[0]
    assert f"({code})" in ran.err
    assert wanted in path.read_text()
    again = orgflowc("check", path)
    assert code not in again.out
    assert again.code == 0


def test_a_diff_changes_nothing(case: tuple[str, Path]) -> None:
    name, path = case
    before = path.read_bytes()
    ran = orgflowc("check", "--diff", *FIXED[name][1], path)
    assert ran.err.startswith("would fix: ")
    assert ran.out.startswith(f"--- {path}\n+++ {path}\n@@")
    assert path.read_bytes() == before


def test_unsafe_ones_need_to_be_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "m.bpmn"
    path.write_bytes((CASES / "OF101-dangling-flow" / "bad.bpmn").read_bytes())
    before = path.read_bytes()
    ran = orgflowc("check", "--fix", path)
    assert "2 fixes more with --unsafe-fixes\n" in ran.err
    assert path.read_bytes() == before


def test_nothing_to_fix_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.bpmn"
    path.write_text(LINEAR)
    path.chmod(0o444)
    ran = orgflowc("check", "--fix", path)
    assert ran.code == 0
    assert ran.out.endswith(f"\n1 info in {path}\n")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--fix", "-", "--from", "bpmn"), "need files"),
        (("--unsafe-fixes", "x.bpmn"), "requires --fix or --diff"),
    ],
)
def test_misuse(args: tuple[str, ...], said: str) -> None:
    ran = orgflowc("check", *args)
    assert ran.code == 2
    assert said in ran.err


def test_a_format_that_takes_no_fixes_says_so(tmp_path: Path) -> None:
    path = tmp_path / "m.bpmn"
    path.write_bytes((CASES / "OF201-deadlocked-join" / "bad.bpmn").read_bytes())
    made = tmp_path / "m.ir.json"
    done = orgflowc("opt", path, "--passes", "flow-ends", "-o", made)
    assert done.code == 0, done.err
    ran = orgflowc("check", "--fix", made)
    assert ran.err.startswith(f"not fixed: {made}: ")
    assert "fixes cannot be written into files of the format `ir`" in ran.err


def test_a_suppressed_fault_is_left(tmp_path: Path) -> None:
    text = (CASES / "OF201-deadlocked-join" / "bad.bpmn").read_text()
    path = tmp_path / "m.bpmn"
    path.write_text(
        text.replace("<process ", '<process xmlns:o="urn:orgflow" o:suppress="OF201: as it is" ')
    )
    before = path.read_bytes()
    assert orgflowc("check", "--fix", path).code == 0
    assert path.read_bytes() == before


def test_every_fix_on_real_files_is_proved(shared: Path, tmp_path: Path) -> None:
    """Faulty models of the data, all with `make fuzz`: what is fixed is gone, and all else is as it
    was."""
    registry = Registry(outside=False)
    own = registry.backend("bpmn")
    fixed = 0
    paths = sorted((shared / "data" / "soundness").rglob("*.bpmn"))
    for path in paths if EVERY else paths[::4]:
        source = read_source(str(path))
        ctx = PassContext(registry=registry)
        model = load_model(source, registry, ctx, from_="bpmn")
        if model is None:
            continue
        run_stages(CHECK, CompileRequest(model, source=source, own=own), ctx)
        told = {(d.code, d.element) for d in ctx.diagnostics}
        safe = [d for d in ctx.diagnostics if d.fix is not None and d.fix.applicability == "safe"]
        unsafe = [d for d in ctx.diagnostics if d.fix and d.fix.applicability == "unsafe"]
        for diagnostic in (*safe[:2], *unsafe[:1]):
            assert diagnostic.fix is not None
            frontend = registry.frontends["bpmn"]
            data = frontend.patched(source, model, diagnostic.fix)
            changed = SourceFile(source.path, data)
            after = PassContext(registry=registry)
            repaired = load_model(changed, registry, after, from_="bpmn")
            assert repaired is not None
            run_stages(CHECK, CompileRequest(repaired, source=changed, own=own), after)
            left = {(d.code, d.element) for d in after.diagnostics}
            assert (diagnostic.code, diagnostic.element) not in left, path.name
            assert {(c, e) for c, e in left if c.startswith("OF2")} <= told, path.name
            fixed += 1
    assert fixed >= (80 if EVERY else 20)
