"""The demo: what it prints, what it leaves, and that the README shows the same."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from shown_output import shown

ROOT = Path(__file__).resolve().parent.parent
DEMO = ROOT / "examples/demo/demo.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder to run it in, as from a checkout."""
    return tmp_path_factory.mktemp("checkout")


def children_seconds() -> float:
    """Processor time of the processes that have ended."""
    used = os.times()
    return used.children_user + used.children_system


@pytest.fixture(scope="module")
def out(folder: Path) -> str:
    """What it prints where n8n is not installed."""
    begun = children_seconds()
    ran = subprocess.run(
        [sys.executable, str(DEMO)],
        cwd=folder, env={**os.environ, "ORGFLOW_ENGINE_DIR": str(folder / "none")},
        capture_output=True, text=True, encoding="utf-8", check=False, timeout=120,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert ran.stderr == ""
    assert children_seconds() - begun < 15
    return ran.stdout


def test_it_shows_the_fault_the_fix_the_proof_and_the_runs(out: str) -> None:
    assert shown(
        """\
$ orgflowc check build/demo/order.bpmn
build/demo/order.bpmn:9:5: error OF201 [deadlocked-join]
…
  run: `Order received` → `Check stock` → `In stock?` takes `Yes` → `Pack goods`
…
fixed: build/demo/order.bpmn: make `Goods ready` an exclusive gateway (OF201)
…
proved: the workflow `Order` behaves like the process `Order`…
2 of 2 runs conform to the model, mean F1 1.000, 8 of 8 flows covered
simulated by a model of n8n's engine…
""",
        out,
    )
    assert len(out.splitlines()) < 65


def test_every_file_it_names_is_there(out: str, folder: Path) -> None:
    named = set(re.findall(r"^  (build/demo/\S+)", out, re.M))
    assert {Path(name).suffix for name in named} == {".svg", ".html", ".json"}
    assert len(named) == 4
    for name in named:
        assert (folder / name).stat().st_size > 1000
    assert "parallelGateway" not in (folder / "build/demo/order.bpmn").read_text("utf-8")
    assert "parallelGateway" in (ROOT / "examples/demo/order.bpmn").read_text("utf-8")


def test_commands_to_go_on_with_exist(out: str) -> None:
    from orgflow.cli import _COMMANDS

    _, _, after = out.partition("Next")
    named = re.findall(r"orgflowc (\w+)", after)
    assert len(named) >= 3
    assert set(named) <= set(_COMMANDS)


def test_the_readme_shows_it(out: str) -> None:
    said = (ROOT / "README.md").read_text("utf-8")
    block = next(
        one for one in re.findall(r"(?ms)^```\w*\n(.*?)^```$", said) if "build/demo" in one
    )
    for part in re.split(r"(?m)^(?=\$ )", block):
        _, _, printed = part.partition("\n")
        if printed.strip("…\n"):
            assert shown(printed, out), printed
