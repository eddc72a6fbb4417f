"""`examples/golden-repo` as a team would use it: green, red after an edit, updated, green again."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from orgflow_ir.testing import GoldenMismatch, artifact_extension, check_golden, difference_text

ROOT = Path(__file__).resolve().parent.parent
EXAMPLE = ROOT / "examples" / "golden-repo"
MODEL, GOLDEN = Path("models/leave-request.bpmn"), Path("golden/leave-request.json")

SWAP = (
    ('sourceRef="fill_or_rework" targetRef="fill_in_request"',
     'sourceRef="fill_or_rework" targetRef="check_request"'),
    ('sourceRef="fill_in_request" targetRef="check_request"',
     'sourceRef="check_request" targetRef="fill_in_request"'),
    ('sourceRef="check_request" targetRef="request_approved"',
     'sourceRef="fill_in_request" targetRef="request_approved"'),
)  # fmt: skip
"""`Fill in leave request` and `Check leave request` change places."""


@cache
def _registered() -> bool:
    """An environment that was installed before there was a plugin does not load it by itself."""
    code = (
        "from importlib.metadata import entry_points; "
        "print([e.value for e in entry_points(group='pytest11')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd="/", capture_output=True, text=True, check=True
    )
    return "orgflow_ir.testing.pytest_plugin" in done.stdout


def pytest_in(folder: Path, *args: str, others: bool = False) -> tuple[int, str]:
    """Run pytest there with nothing of this project's own set-up; with `others` also what other
    plugins are installed, and ours by its entry point."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "ORGFLOW_"))}
    plugin = [] if others and _registered() else ["-p", "orgflow_ir.testing.pytest_plugin"]
    if not others:
        env["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, "-p", "no:cacheprovider", "-q", *args],
        cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def swap(model: Path) -> None:
    text = model.read_text("utf-8")
    for before, after in SWAP:
        assert text.count(before) == 1
        text = text.replace(before, after)
    model.write_text(text, "utf-8")


def edit(folder: Path) -> None:
    """Swap two tasks in the folder's model."""
    swap(folder / MODEL)


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_it_is_green_then_red_then_updated_and_green(repo: Path) -> None:
    code, said = pytest_in(repo)
    assert code == 0, said
    assert "3 passed" in said
    before = (repo / GOLDEN).read_bytes()
    edit(repo)
    code, said = pytest_in(repo)
    assert code == 1
    assert "2 failed, 1 passed" in said
    assert f"{MODEL} no longer compiles to {GOLDEN}\n" in said
    assert "Leave request: different behaviour\n" in said
    assert "≠ Fill in leave request round          Check leave request round\n" in said
    assert "Traceback" not in said
    assert "pytest --orgflow-update" in said
    assert (repo / GOLDEN).read_bytes() == before
    code, said = pytest_in(repo, "--orgflow-update")
    assert code == 0, said
    assert (repo / GOLDEN).read_bytes() != before
    code, said = pytest_in(repo)
    assert code == 0, said


def test_without_a_golden_file_and_with_a_broken_model(repo: Path) -> None:
    (repo / GOLDEN).unlink()
    code, said = pytest_in(repo, "models")
    assert code == 1
    assert f"{GOLDEN} does not exist: {MODEL} has no golden file yet" in said
    model = repo / MODEL
    model.write_text(model.read_text("utf-8").replace('targetRef="book_split"', 'targetRef="no"'))
    code, said = pytest_in(repo, "models", "--orgflow-update")
    assert code == 1
    assert f"{MODEL} does not compile\n" in said
    assert "OF101" in said
    assert not (repo / GOLDEN).exists()


def test_the_readme_shows_what_is_said_and_done() -> None:
    text = (EXAMPLE / "README.md").read_text("utf-8")
    commands = [line.split("#")[0].strip() for line in text.splitlines() if line.startswith("    ")]
    install = "pip install wheels/orgflow-*.whl pytest"
    assert commands == [install, "pytest", "pytest --orgflow-update"]
    assert install in (EXAMPLE / ".github/workflows/models.yml").read_text("utf-8")
    assert f"{MODEL} no longer compiles to {GOLDEN}\n" in text
    assert "run: pytest" in (EXAMPLE / ".github/workflows/models.yml").read_text("utf-8")


def test_the_model_is_that_of_the_other_example() -> None:
    other = ROOT / "examples" / "leave-request" / "model.bpmn"
    assert (EXAMPLE / MODEL).read_bytes() == other.read_bytes()


# -- the plugin ------------------------------------------------------------------------------


def test_the_plugin_is_an_entry_point() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["entry-points"]["pytest11"] == {"orgflow": "orgflow_ir.testing.pytest_plugin"}


def test_the_plugin_imports_nothing_of_ours_nor_syrupy() -> None:
    code = (
        "import sys, pytest, _pytest.config as c; before = set(sys.modules); "
        "import orgflow_ir.testing.pytest_plugin; print(sorted(set(sys.modules) - before))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd="/"
    )
    new = [
        m for m in ast.literal_eval(done.stdout) if m.split(".")[0] not in sys.stdlib_module_names
    ]
    assert new == ["orgflow_ir", "orgflow_ir.testing", "orgflow_ir.testing.pytest_plugin"]


def test_other_projects_see_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "model.bpmn").write_text("no model of ours")
    (tmp_path / "test_it.py").write_text("def test_it(): pass\n")
    code, said = pytest_in(tmp_path, others=True)
    assert code == 0, said
    assert "1 passed" in said


def test_beside_syrupy_its_own_option_updates_too(repo: Path) -> None:
    (repo / GOLDEN).unlink()
    code, said = pytest_in(repo, "--snapshot-update", others=True)
    assert code == 0, said
    assert (repo / GOLDEN).is_file()


def test_the_fixture_speaks_of_misuse(repo: Path) -> None:
    (repo / "tests" / "test_workflows.py").write_text(
        "def test_a(orgflow_golden): orgflow_golden('models/missing.bpmn')\n"
        "def test_b(orgflow_golden): orgflow_golden('models/leave-request.bpmn', target='n9n')\n"
        "def test_c(orgflow_golden): orgflow_golden('models/leave-request.bpmn', 'golden/new/')\n"
    )
    code, said = pytest_in(repo, "tests")
    assert code == 1
    assert "models/missing.bpmn" in said
    assert "no target `n9n`; did you mean `n8n`?" in said
    assert "golden/new/leave-request.json does not exist" in said


# -- as functions ----------------------------------------------------------------------------


def test_check_golden_without_pytest(repo: Path) -> None:
    model, golden = repo / MODEL, repo / GOLDEN
    check_golden(model, golden)
    edit(repo)
    with pytest.raises(GoldenMismatch, match="different behaviour"):
        check_golden(model, golden)
    check_golden(model, golden, update=True)
    check_golden(model, golden)
    with pytest.raises(ValueError, match="no target"):
        check_golden(model, golden, target="n9n")


def test_update_leaves_a_file_alone_that_is_right(repo: Path) -> None:
    golden = repo / GOLDEN
    golden.chmod(0o444)
    before = golden.stat().st_mtime_ns
    check_golden(repo / MODEL, golden, update=True)
    assert golden.stat().st_mtime_ns == before


def test_the_syrupy_extension_tells_what_changed(tmp_path: Path, repo: Path) -> None:
    old = (repo / GOLDEN).read_text("utf-8")
    edit(repo)
    check_golden(repo / MODEL, repo / GOLDEN, update=True)
    new = (repo / GOLDEN).read_text("utf-8")
    assert difference_text(old, old) is None
    extension: Any = artifact_extension(target="n8n")()
    lines = list(extension.diff_lines(new, old))
    assert lines[0] == "Leave request: different behaviour"
    both = f"=== a.json\n{old}=== b.json\n{old}", f"=== a.json\n{old}=== b.json\n{new}"
    assert "different behaviour" in (difference_text(*both) or "")
    plain: Any = artifact_extension()()
    assert "different behaviour" not in "".join(plain.diff_lines(new, old))
