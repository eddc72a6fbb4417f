"""A newcomer with the README: a fresh clone, an empty environment, and the commands of the page as
they are printed. `-s` prints how long each takes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_cases import DEADLOCK
from plugin_install import clean_environment

STARTS = {"watch": "order.bpmn at http", "serve": "editor: http"}
"""Commands that go on until Ctrl-C, and a line that says that they are ready; `serve` is followed
in `test_live_serve.py`, on a server that is installed."""


class Newcomer:
    """A shell in the clone."""

    def __init__(self, clone: Path) -> None:
        self.clone = clone
        path = os.pathsep.join([str(clone / ".venv" / "bin"), os.environ["PATH"]])
        self.env = clean_environment(PATH=path, COLUMNS="80")
        self.times: list[tuple[str, float]] = []

    def run(self, line: str, code: int = 0) -> str:
        begun = time.perf_counter()
        done = subprocess.run(
            ["bash", "-c", line], cwd=self.clone, env=self.env, text=True, timeout=600, check=False,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.times.append((line, time.perf_counter() - begun))
        assert done.returncode == code, f"$ {line}\n{done.stdout}"
        return done.stdout


@pytest.fixture(scope="module")
def newcomer(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Newcomer]:
    clone = tmp_path_factory.mktemp("newcomer") / "orgflow"
    subprocess.run(["git", "clone", "-q", str(root), str(clone)], check=True)
    made = Newcomer(clone)
    yield made
    for line, took in made.times:
        print(f"{took:7.2f} s  {line}")
    shutil.rmtree(clone, ignore_errors=True)


def blocks(clone: Path) -> list[str]:
    """The blocks of the README, in order: install, a first result, one's own file, the library."""
    return re.findall(r"```\w*\n(.*?)```", (clone / "README.md").read_text("utf-8"), re.DOTALL)


def test_the_readme_is_followed_from_a_fresh_clone(newcomer: Newcomer) -> None:
    install, first, own, library = blocks(newcomer.clone)
    for line in install.splitlines():
        newcomer.run(line.partition("#")[0])
    for name in ("deadlock.svg", "order.json", "to-do.html", "runs.html"):
        assert (newcomer.clone / "build" / "demo" / name).exists(), name

    # `make demo` has taken the fix already: the page shows what it printed before.
    demo = (newcomer.clone / "examples" / "demo" / "order.bpmn").read_bytes()
    (newcomer.clone / "build" / "demo" / "order.bpmn").write_bytes(demo)
    shown: list[str] = []
    for part in re.split(r"^\$ ", first, flags=re.MULTILINE)[1:]:
        line, _, wanted = part.partition("\n")
        out = newcomer.run(line, 1 if line.endswith("check build/demo/order.bpmn") else 0)
        for piece in re.split(r"^…\n", wanted, flags=re.MULTILINE):
            assert piece in out, f"$ {line}\n{out}\ndoes not show\n{piece}"
        shown.append(line)
    assert len(shown) == 4

    (newcomer.clone / "order.bpmn").write_text(DEADLOCK)
    for line in own.splitlines():
        command = line.partition("#")[0].strip()
        if command.split()[1] in STARTS:
            assert command.split()[1] in newcomer.run("orgflowc --help")
            continue
        newcomer.run(command, 1 if command == "orgflowc check order.bpmn" else 0)

    (newcomer.clone / "library.py").write_text(library)
    assert newcomer.run("python library.py").rstrip().endswith("True")
