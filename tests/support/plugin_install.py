"""Installing a plugin package for a test: with pip, from this checkout's tools, no downloads."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FLAGS = ("--no-deps", "--no-index", "--no-build-isolation", "--no-compile", "-q")
"""Build with the setuptools that is installed here; dependencies are installed here, too."""


def clean_environment(**more: str) -> dict[str, str]:
    """This process's environment without what concerns this project's own tests."""
    kept = {
        k: v
        for k, v in os.environ.items()
        if not k.startswith(("PYTEST_", "ORGFLOW_", "COVERAGE_", "PIP_TARGET"))
    }
    return {**kept, **more}


def install_into(folder: Path, package: Path) -> dict[str, str]:
    """Install a package into a folder; the environment in which Python finds it there."""
    _run("-m", "pip", "install", *FLAGS, "--target", str(folder), str(package))
    return clean_environment(PYTHONPATH=str(folder))


def fresh_environment(folder: Path) -> Path:
    """The Python of a new virtual environment that has all that this one has."""
    _run("-m", "venv", "--without-pip", str(folder))
    python = folder / "bin" / "python"
    site = _run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))", python=python)
    here = _run("-c", "import sysconfig; print(sysconfig.get_path('purelib'))")
    line = f"import site; site.addsitedir({here.strip()!r})\n"  # its .pth files count, too
    (Path(site.strip()) / "outer.pth").write_text(line)
    return python


def install_in(python: Path, package: Path) -> None:
    """Install a package in the environment of a Python."""
    _run("-m", "pip", "--python", str(python), "install", *FLAGS, str(package))


def run_pytest(
    folder: Path, env: dict[str, str], *args: str, python: Path | str = sys.executable
) -> subprocess.CompletedProcess[str]:
    """Run the tests of a package in a process of their own."""
    return subprocess.run(
        [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *args],
        cwd=folder, env={**env, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}, capture_output=True,
        text=True, check=False, timeout=120,
    )  # fmt: skip


def _run(*args: str, python: Path | str = sys.executable) -> str:
    done = subprocess.run(
        [str(python), *args],
        cwd="/", env=clean_environment(), capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, f"{args}\n{done.stdout}\n{done.stderr}"
    return done.stdout
