"""`import orgflow`: the README's lines, results, usage errors, types, and what is loaded when."""

from __future__ import annotations

import copy
import json
import os
import pickle
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orgflow
import pytest
from cli_cases import DEADLOCK, LINEAR, orgflowc
from orgflow.api import OptionError, UnknownName, UnsupportedError
from orgflow.passes.presets import PRESETS

import orgflow_ir.plugins
from orgflow_ir.model.source import SourceFile

ROOT = Path(__file__).resolve().parent.parent


def python(*args: str, cwd: Path = ROOT, **more: str) -> subprocess.CompletedProcess[str]:
    """A Python process; `more` are environment variables."""
    return subprocess.run(
        [sys.executable, *args], capture_output=True, text=True, check=False, cwd=cwd, timeout=300,
        env={**os.environ, **more},
    )  # fmt: skip


@pytest.fixture
def linear(tmp_path: Path) -> Path:
    path = tmp_path / "order.bpmn"
    path.write_text(LINEAR)
    return path


@pytest.fixture
def deadlock(tmp_path: Path) -> Path:
    path = tmp_path / "deadlock.bpmn"
    path.write_text(DEADLOCK)
    return path


def test_a_workflow_is_linted_as_on_the_command_line() -> None:
    case = ROOT / "tests" / "diagnostics" / "OF432-missing-parameter"
    found = orgflow.check(orgflow.read(case / "bad.json", format="n8n"))
    shown = json.loads(orgflowc("check", case / "bad.json", "--format", "json").out)["diagnostics"]
    assert "OF432" in {d.code for d in found.diagnostics}
    assert [d.code for d in found.diagnostics] == [d["code"] for d in shown]
    assert "OF432" not in {d.code for d in orgflow.check(orgflow.read(case / "good.json")).errors}


def readme() -> str:
    """The lines of the section "As a library"."""
    section = (ROOT / "README.md").read_text("utf-8").split("## As a library\n")[1]
    found = re.match(r"```python\n(.*?)```", section, re.S)
    assert found is not None
    return found[1]


def test_the_lines_of_the_readme_run_as_written() -> None:
    assert len(readme().splitlines()) == 10
    ran = python("-c", readme())
    assert (ran.returncode, ran.stderr) == (0, "")
    assert ran.stdout.splitlines()[-2:] == ["leave-request.json True", "True"]


@pytest.mark.slow
def test_what_it_exports_is_typed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        readme()
        + textwrap.dedent("""
        version: str = orgflow.__version__
        verdicts: list[orgflow.Verdict] = [
            v.verdict for v in orgflow.verify(order, "x.json").verifications
        ]
        ran: orgflow.RunResult = orgflow.run(order, engine="local")
        model: orgflow.Model | None = order.model
        """)
    )
    types = tmp_path / "types"  # where a wheel puts the packages; mypy follows no editable install
    types.mkdir()
    (types / "orgflow").symlink_to(ROOT)
    (types / "orgflow_ir").symlink_to(ROOT / "orgflow_ir")
    arguments = ["-m", "mypy", "--strict", "--config-file", "/dev/null", "--cache-dir"]
    arguments += [str(tmp_path / "cache"), str(script)]
    checked = python(*arguments, cwd=tmp_path, MYPYPATH=str(types))
    assert checked.returncode == 0, checked.stdout + checked.stderr
    script.write_text("import orgflow\norgflow.read(1)\n")
    wrong = python(*arguments, cwd=tmp_path, MYPYPATH=str(types))
    assert 'Argument 1 to "read"' in wrong.stdout


def test_both_packages_say_that_they_are_typed() -> None:
    assert (ROOT / "py.typed").is_file()
    assert (ROOT / "orgflow_ir" / "py.typed").is_file()


def test_importing_it_loads_nothing() -> None:
    ran = python(
        "-c",
        "import sys, orgflow; print(sorted(m for m in sys.modules if m.startswith('orgflow')))",
    )
    assert ran.stdout.strip() == "['orgflow']"


def test_the_command_line_as_a_module(linear: Path) -> None:
    ran = python("-m", "orgflow", "check", str(linear))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert python("-m", "orgflow", "--version").stdout.startswith(f"orgflowc {orgflow.__version__}")


def test_every_name_it_lists_is_there() -> None:
    assert all(getattr(orgflow, name) is not None for name in orgflow.__all__)
    assert set(orgflow.__all__) <= set(dir(orgflow))
    with pytest.raises(AttributeError, match="has no attribute 'compil'"):
        _ = orgflow.compil


def test_findings_of_a_model_are_values(deadlock: Path) -> None:
    read = orgflow.read(deadlock)
    assert read.ok
    checked = orgflow.check(read)
    assert [d.code for d in checked.errors] == ["OF201"]
    made = orgflow.compile(read)
    assert (made.ok, made.files) == (False, {})
    assert orgflow.compile(read, force=True).ok
    assert orgflow.run(read, "asl").report is None


def test_what_reading_found_is_part_of_every_result(tmp_path: Path) -> None:
    path = tmp_path / "broken.bpmn"
    path.write_text("<definitions")
    read = orgflow.read(path)
    assert read.model is None
    assert read.errors
    assert orgflow.check(read).diagnostics == read.diagnostics
    assert orgflow.compile(read).diagnostics == read.diagnostics
    assert orgflow.verify(read, SourceFile("x.json", b"{}")).verifications == ()


def test_a_workflow_is_verified_as_it_was_compiled_and_as_it_was_edited(linear: Path) -> None:
    read = orgflow.read(linear)
    made = orgflow.compile(read)
    (text,) = made.files.values()
    for workflow in (made, SourceFile("w.json", text.encode())):
        same = orgflow.verify(read, workflow)
        assert same.ok
        assert [v.verdict for v in same.verifications] == [orgflow.Verdict.PROVED]
    disabled = text.replace('"name": "Ship order"', '"disabled": true, "name": "Ship order"')
    assert disabled != text
    assert not orgflow.verify(read, SourceFile("w.json", disabled.encode())).ok


def test_what_was_compiled_goes_to_another_process(linear: Path) -> None:
    """Pools of processes pickle results."""
    order = orgflow.read(linear)
    made = orgflow.compile(order)
    assert made.emitted is not None
    for again in (pickle.loads(pickle.dumps(made)), copy.deepcopy(made)):
        assert again.files == made.files
        assert again.diagnostics == made.diagnostics
        assert again.emitted.source_map.parts == made.emitted.source_map.parts
        assert orgflow.verify(order, again).ok


def test_a_model_is_run(linear: Path) -> None:
    ran = orgflow.run(orgflow.read(linear), "asl")
    assert ran.ok
    assert ran.report is not None
    assert len(ran.report.runs) == 1


def test_a_usage_error_is_an_exception(linear: Path, tmp_path: Path) -> None:
    with pytest.raises(orgflow.InputError, match="does not exist"):
        orgflow.read(tmp_path / "nowhere.bpmn")
    with pytest.raises(UnknownName, match="no frontend `bpmm`; did you mean `bpmn`"):
        orgflow.read(linear, format="bpmm")
    with pytest.raises(UnknownName, match="no process `Q`"):
        orgflow.read(linear, process="Q")
    read = orgflow.read(linear)
    with pytest.raises(UnknownName, match="no target `n9n`"):
        orgflow.compile(read, "n9n")
    with pytest.raises(OptionError, match="target `n8n` has no option `verson`"):
        orgflow.compile(read, options={"verson": "2.41"})
    with pytest.raises(UnsupportedError, match="target `svg` does not support verification"):
        orgflow.verify(read, SourceFile("x.svg", b""), "svg")
    with pytest.raises(UnsupportedError, match="`svg` has no engine"):
        orgflow.run(read, "svg")
    with pytest.raises(UnsupportedError, match="`asl` has no engine `http://x`"):
        orgflow.run(read, "asl", engine="http://x")


def _agent(**fields: object) -> orgflow_ir.plugins.GapAgent:
    parts = {"name": "odd", "answer": lambda *_: None, **fields}
    made: orgflow_ir.plugins.GapAgent = type("Odd", (orgflow_ir.plugins.GapAgent,), parts)()
    return made


@pytest.mark.parametrize(
    ("agents", "message"),
    [
        ([object()], "which is not of type `Agent`"),
        ([orgflow_ir.plugins.GapAgent], "the class `GapAgent`; it takes an instance of it"),
        ("odd", r"the agents are a text; pass a list, as in \['odd'\]"),
        ([_agent(attempts="3")], "whose `attempts` is '3'"),
        ([_agent(kinds=7)], "whose `kinds` is 7"),
        ([_agent(name=None)], "with the name None"),
    ],
    ids=["no agent", "a class", "a text", "attempts", "kinds", "no name"],
)
def test_what_cannot_be_an_agent_is_a_usage_error(linear: Path, agents: Any, message: str) -> None:
    with pytest.raises(UnsupportedError, match=message):
        orgflow.fill(orgflow.read(linear), agents)


def test_a_path_in_place_of_a_model_is_told(linear: Path) -> None:
    path: Any = linear
    calls: tuple[Callable[[Any], object], ...] = (
        orgflow.check, orgflow.compile, orgflow.run, lambda it: orgflow.verify(it, path),
        lambda it: orgflow.fill(it, ()),
    )  # fmt: skip
    for call in calls:
        for given in (path, str(path)):
            with pytest.raises(TypeError, match=r"not a model: read the file first, orgflow\.read"):
                call(given)
        with pytest.raises(TypeError, match="the source is a `NoneType`, not a model"):
            call(None)


def test_documents_that_are_none_are_told() -> None:
    for given in ("First pack.", [("d", "First pack.")], ["First pack."]):
        documents: Any = given
        with pytest.raises(TypeError, match=r"orgflow\.Document\(name, text\)"):
            orgflow.draft(documents, "odd")


def test_an_option_that_is_no_text_is_told_with_its_form(linear: Path) -> None:
    options: Any = {"version": 2.41}
    with pytest.raises(OptionError, match=r"is a `float`; options are text, as in \{'version'"):
        orgflow.compile(orgflow.read(linear), options=options)


@pytest.mark.parametrize("options", ["version=2.41", ["version"], 3])
def test_options_that_are_no_mapping_are_a_usage_error(options: Any, linear: Path) -> None:
    with pytest.raises(OptionError, match=r"the options are .*; pass a mapping, as in \{'name'"):
        orgflow.compile(orgflow.read(linear), options=options)


def test_a_name_or_services_of_another_type_are_told_as_they_are(linear: Path) -> None:
    order = orgflow.read(linear)
    wrong: Any = 3
    with pytest.raises(orgflow.UnknownName, match=r"no target `3`; there are: asl"):
        orgflow.compile(order, wrong)
    with pytest.raises(orgflow.UnknownName, match=r"no preset `\[\]`; there are: recommended"):
        orgflow.check(order, preset=[] if wrong else "")  # type: ignore[arg-type]
    with pytest.raises(orgflow.UnknownName, match=r"no frontend `3`; there are: bpmn"):
        orgflow.read(linear, format=wrong)
    with pytest.raises(TypeError, match=r"the services are .*, not `orgflow\.Services"):
        orgflow.fill(order, [], services=wrong)


def test_what_was_not_compiled_is_not_verified_and_says_why(linear: Path, deadlock: Path) -> None:
    made = orgflow.compile(orgflow.read(deadlock))
    verified = orgflow.verify(orgflow.read(linear), made)
    assert not verified.ok
    assert [d.code for d in verified.errors] == [d.code for d in made.errors] != []


def test_results_are_short_in_a_console(linear: Path, deadlock: Path) -> None:
    order, broken = orgflow.read(linear), orgflow.read(deadlock)
    compiled = orgflow.compile(order)
    assert repr(order) == "<ReadResult: model `d` with 3 nodes; nothing found>"
    assert repr(compiled).startswith("<CompileResult: order.json; ")
    assert repr(orgflow.compile(broken)).startswith("<CompileResult: no files; 1 error")
    assert repr(orgflow.verify(order, compiled)).startswith("<VerifyResult: `")
    assert repr(orgflow.check(broken)).startswith("<CheckResult: 1 error")
    missing = orgflow.ReadResult((), None)
    assert repr(missing) == "<ReadResult: no model; nothing found>"
    assert repr(orgflow.RunResult((), None)) == "<RunResult: not run; nothing found>"


@pytest.mark.parametrize("runs", [0, -1])
def test_a_number_of_runs_below_one_is_a_usage_error(runs: int, linear: Path) -> None:
    with pytest.raises(ValueError, match=rf"max_runs is {runs}; it must be 1 or more"):
        orgflow.run(orgflow.read(linear), max_runs=runs)


def test_findings_without_a_place_name_the_file(tmp_path: Path) -> None:
    file = tmp_path / "m.ir.json"
    node = {"kind": "task", "id": "t", "name": "Do"}
    file.write_text(json.dumps({"id": "m", "processes": [{"id": "P", "nodes": [node]}]}))
    result = orgflow.check(orgflow.read(file))
    assert result.diagnostics
    assert {str(d.loc) for d in result.diagnostics} == {str(file)}


@pytest.mark.parametrize("preset", PRESETS)
def test_check_takes_the_presets_of_the_command(preset: str, tmp_path: Path) -> None:
    """The same findings as `orgflowc check --preset`, for files that the presets differ on."""
    cases = Path(__file__).parent / "diagnostics"
    for name in ("OF170-missing-label", "OF201-deadlocked-join", "OF131-duplicate-flow"):
        case = cases / name
        file = tmp_path / f"{case.name}.bpmn"
        file.write_bytes((case / "bad.bpmn").read_bytes())
        printed = orgflowc("check", str(file), "--preset", preset, "--format", "json")
        wanted = [(d["code"], d["severity"]) for d in json.loads(printed.out)["diagnostics"]]
        found = orgflow.check(orgflow.read(file), preset=preset).diagnostics
        assert sorted((d.code, str(d.severity)) for d in found) == sorted(wanted)


def test_an_unknown_preset_is_named(linear: Path) -> None:
    with pytest.raises(UnknownName, match="no preset `srict`; did you mean `strict`"):
        orgflow.check(orgflow.read(linear), preset="srict")
