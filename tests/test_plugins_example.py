"""`examples/plugins/orgflow-board`: installed in a fresh environment, used by the command line."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_cases import Ran
from plugin_install import clean_environment, fresh_environment, install_in, run_pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "plugins" / "orgflow-board"
PYTHON_ONLY = shutil.ignore_patterns("__pycache__", "*.egg-info", "build")

Command = Callable[..., Ran]


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with this checkout and the example, which is built there."""
    folder = tmp_path_factory.mktemp("board")
    package = folder / "orgflow-board"
    shutil.copytree(EXAMPLE, package, ignore=PYTHON_ONLY)  # a build leaves files behind
    made = fresh_environment(folder / "venv")
    install_in(made, package)
    return made


@pytest.fixture
def orgflowc(python: Path, tmp_path: Path) -> Command:
    """Run the command line of that environment, in a folder of the test's own."""

    def run(*args: str) -> Ran:
        done = subprocess.run(
            [str(python), "-m", "orgflow.cli", *args],
            cwd=tmp_path, env=clean_environment(), capture_output=True, text=True, check=False,
            timeout=120,
        )  # fmt: skip
        return Ran(done.returncode, done.stdout, done.stderr)

    return run


def test_it_is_installed_there_and_not_here(python: Path) -> None:
    code = "import orgflow_board, orgflow_ir; print(orgflow_board.__file__, orgflow_ir.__file__)"
    done = subprocess.run(
        [str(python), "-c", code],
        cwd="/", env=clean_environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    board, core = done.stdout.split()
    assert Path(board).is_relative_to(python.parents[1])
    assert Path(core).parent == ROOT / "orgflow_ir"
    with pytest.raises(ModuleNotFoundError):
        __import__("orgflow_board")


def test_its_own_tests_pass_there(python: Path, tmp_path: Path) -> None:
    package = tmp_path / "orgflow-board"
    shutil.copytree(EXAMPLE, package, ignore=PYTHON_ONLY)
    ran = run_pytest(package, clean_environment(), python=python)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "skipped" not in ran.stdout


def test_everything_is_listed(orgflowc: Command) -> None:
    for kind, name in (
        ("frontends", "board"), ("backends", "dot"), ("passes", "vague-label"),
        ("rules", "BOARD501"),
    ):  # fmt: skip
        ran = orgflowc("list", kind)
        assert ran.err == ""
        assert any(line.startswith(f"{name} ") for line in ran.out.splitlines()), ran.out
    assert orgflowc("explain", "vague-step").out.startswith("BOARD501 vague-step (info)")
    head = orgflowc("list", "constructs", "--matrix").out.splitlines()[0]
    assert "dot" in head.split()


def test_the_text_becomes_a_drawing_and_a_workflow(orgflowc: Command) -> None:
    board = str(EXAMPLE / "leave.board")
    drawn = orgflowc("compile", board, "--target", "dot", "-v")
    assert drawn.code == 0
    assert drawn.out.startswith('digraph {\n  label="Leave request";')
    assert '"n3" -> "n4"' in drawn.out
    assert "info BOARD501 [vague-step]" in drawn.err
    assert "leave.board:4:1" in drawn.err

    made = orgflowc("compile", board, "--target", "n8n", "--verify")
    assert made.code == 0, made.err
    assert "verified `Leave request`: proved" in made.err
    assert "Update calendar" in {node["name"] for node in json.loads(made.out)["nodes"]}


def test_what_is_wrong_in_a_text_has_its_place(orgflowc: Command, tmp_path: Path) -> None:
    bad = tmp_path / "bad.board"
    bad.write_text("process Order\ndo Check order\nperform Ship order\n")
    ran = orgflowc("check", "bad.board")
    assert ran.code == 1
    assert "bad.board:3:1: error BOARD003 [unknown-word]" in ran.out + ran.err
    ran = orgflowc("check", "bad.board", "--format", "sarif")
    found = json.loads(ran.out or ran.err)["runs"][0]["results"]
    assert [r["ruleId"] for r in found] == ["BOARD003"]


def test_the_lowering_asks_before_it_loses_something(orgflowc: Command, tmp_path: Path) -> None:
    (tmp_path / "late.board").write_text("process Order\ndo Check order\nescalate Order is late\n")
    refused = orgflowc("compile", "late.board", "--target", "asl")
    assert refused.code == 1
    assert "OF402" in refused.err
    made = orgflowc("compile", "late.board", "--target", "asl", "--allow-lossy")
    assert made.code == 0, made.err
    assert '"Tell about Order is late"' in made.out
    assert "warning OF402" in made.err


def test_the_pass_takes_its_option(orgflowc: Command) -> None:
    board = str(EXAMPLE / "leave.board")
    ran = orgflowc("opt", board, "--passes", "vague-label{verbs=fill}")
    assert ran.code == 0
    assert "`Fill in request` does not say" in ran.err
    assert "Handle request" not in ran.err
