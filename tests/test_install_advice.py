"""Advice to install packages works: no unpublished name, no stale version."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from orgflow_ir.plugins.packages import REQUIREMENTS, install_command, pip_command

ROOT = Path(__file__).parents[1]
ROOMS = (
    "agents", "backends", "commands", "compilation", "evaluation", "frontends", "orgflow_ir",
    "store",
)  # fmt: skip
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def advised() -> Iterator[tuple[str, str]]:
    """Each call of `install_command` in the code: its place and a package it names."""
    for room in ROOMS:
        for file in sorted((ROOT / room).rglob("*.py")):
            text = file.read_text("utf-8")
            if "install_command(" not in text:
                continue
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "install_command":
                    for name in node.args:
                        yield f"{file.relative_to(ROOT)}:{node.lineno}", ast.literal_eval(name)


def test_requirements_are_those_of_the_project() -> None:
    extras = {one for group in PROJECT["optional-dependencies"].values() for one in group}
    assert set(REQUIREMENTS.values()) <= extras
    assert all(re.match(re.escape(k) + r"\W", v) for k, v in REQUIREMENTS.items())


def test_every_advice_names_known_packages() -> None:
    found = list(advised())
    assert {name for _, name in found} >= {"pygls", "asyncpg", "numpy", "openai", "spacy", "moto"}
    assert [place for place, name in found if name not in REQUIREMENTS] == []


def test_the_name_that_is_not_published_is_never_advised() -> None:
    shown = [
        f"{path.relative_to(ROOT)}:{number}: {line}"
        for path in sorted(ROOT.rglob("*"))
        if path.suffix in {".py", ".md", ".yml", ".toml", ".j2", ".cjs", ".js"}
        and not {"node_modules", ".git", ".venv", ".types", "build"} & set(path.parts)
        and path != Path(__file__)
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if re.search(r"pip install [^`]*\borgflow(?![-\w/.*])", line) or "pypi.org/project" in line
    ]
    assert shown == []


def test_the_advice_installs_for_the_python_that_runs(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    beside = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", beside)
    if (Path(beside) / "pip").is_file():
        assert pip_command() == "pip"
    monkeypatch.setenv("PATH", str(tmp_path))
    command = install_command("asyncpg", "numpy")
    assert command == f"{sys.executable} -m pip install 'asyncpg>=0.29' 'numpy>=2.0'"
    monkeypatch.setattr(sys, "executable", "/a b/python")
    assert pip_command() == "'/a b/python' -m pip"


def test_a_client_of_a_server_needs_no_extra() -> None:
    assert any(one.startswith("httpx") for one in PROJECT["dependencies"])


def test_the_command_names_what_is_missing() -> None:
    code = (
        "import importlib.util as u, sys; f = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'pygls' else f(name, *a)\n"
        "from orgflow.cli import run; sys.exit(run(['lsp']))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "pip install 'pygls>=2.0,<3'" in ran.stderr
