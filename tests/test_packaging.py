"""The wheel has everything, works installed, and leaves nothing else in site-packages."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from cli_cases import LINEAR

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from a copy of what is checked in (a build leaves files in the source)."""
    source = tmp_path_factory.mktemp("source") / "orgflow"
    shutil.copytree(
        ROOT,
        source,
        ignore=shutil.ignore_patterns(
            ".*", "build", "dist", "*.egg-info", "__pycache__", "node_modules"
        ),
    )
    out = tmp_path_factory.mktemp("wheel")
    _run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", out, source)
    (built,) = out.glob("*.whl")
    return built


def _run(*command: str | Path, **more: str) -> str:
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(
        [str(c) for c in command],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env=env,
        cwd=more.get("cwd"),
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_wheel_holds_every_shipped_file_and_nothing_else(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {t for t in tops if not t.endswith(".dist-info")} == {"orgflow", "orgflow_ir"}
    expected = {"orgflow/py.typed", "orgflow_ir/py.typed"}
    expected |= {f"orgflow/{path.name}" for path in ROOT.glob("*.py")}
    for folder in ("frontends", "backends", "passes", "agents", "evaluation", "commands"):
        expected |= {f"orgflow/{p.relative_to(ROOT)}" for p in (ROOT / folder).rglob("*.py")}
    expected |= {str(p.relative_to(ROOT)) for p in (ROOT / "orgflow_ir").rglob("*.py")}
    for data in ("*.json", "*.cjs", "*.j2"):
        for folder in ("orgflow_ir", "frontends", "backends", "agents", "commands"):
            expected |= {
                name if folder == "orgflow_ir" else f"orgflow/{name}"
                for name in (str(p.relative_to(ROOT)) for p in (ROOT / folder).rglob(data))
            }
    assert expected - set(names) == set()
    assert [n for n in names if "test" in n.split("/")[0:-1]] == []


def test_the_installed_wheel_compiles(wheel: Path, tmp_path: Path) -> None:
    """In an environment of its own, with this one's dependencies: nothing is downloaded."""
    venv = tmp_path / "venv"
    _run(sys.executable, "-m", "venv", "--without-pip", venv)
    python = venv / "bin" / "python"
    site = Path(
        _run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip()
    )
    with zipfile.ZipFile(wheel) as archive:  # installing a pure wheel is unpacking it
        archive.extractall(site)
    dependencies = tmp_path / "dependencies"
    dependencies.mkdir()
    for name in ("purelib", "platlib"):
        for item in Path(sysconfig.get_path(name)).iterdir():
            ours = item.name.startswith(("orgflow", "__editable__"))
            if not ours and not (dependencies / item.name).exists():
                (dependencies / item.name).symlink_to(item)
    (site / "dependencies.pth").write_text(f"{dependencies}\n")

    where = _run(python, "-c", "import orgflow.cli; print(orgflow.cli.__file__)", cwd="/")
    assert where.strip() == str(site / "orgflow" / "cli.py")
    assert "compile" in _run(python, "-m", "orgflow.cli", "--help", cwd="/")
    model = tmp_path / "order.bpmn"
    model.write_text(LINEAR)
    out = _run(python, "-m", "orgflow.cli", "compile", model, "--target", "n8n", cwd="/")
    assert json.loads(out)["nodes"]


def test_editable_imports_are_this_checkout() -> None:
    code = (
        "import json, orgflow.cli as a, orgflow_ir as b; "
        "print(json.dumps([a.__file__, b.__file__]))"
    )
    files = [Path(f).resolve() for f in json.loads(_run(sys.executable, "-c", code, cwd="/"))]
    assert files == [ROOT / "cli.py", ROOT / "orgflow_ir" / "__init__.py"]
