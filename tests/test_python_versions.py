"""The package on Python 3.12 to 3.14, compiled to WebAssembly (Pyodide), compared with this one.

The whole suite runs on one version; here every module is imported on the others and an example is
checked and compiled. pydantic's compiled part comes from PyPI, for 3.14 only: the older versions
show that checking and compiling need no pydantic at all.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import shutil
import subprocess
import sys
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from node_tools import missing, tool
from orgflow.backends.n8n.engine.node import find_node
from seeds import EVERY

SUPPORT = Path(__file__).parent / "support"
MODEL = "examples/order-to-cash/model.bpmn"
PYODIDE = {(3, 12): "0.27.7", (3, 13): "0.29.4", (3, 14): "314.0.7"}
VERSIONS = tuple(PYODIDE) if EVERY else ((3, 12), (3, 14))
"""The one between the two is tried with `make fuzz`."""

PLATFORM = "pyemscripten_2026_0_wasm32"
"""Of PyPI's wheels for the Pyodide of Python 3.14 (PEP 783)."""

PURE = (
    "click", "pluggy", "rich", "pygments", "markdown_it", "mdurl", "jinja2", "markupsafe",
    "pydantic", "typing_extensions.py", "typing_inspection", "annotated_types",
)  # fmt: skip
"""Packages that this Python's own installation lends."""

ABSENT = frozenset(
    {"pytest", "jsonschema", "fcntl", "numpy", "pygls", "lsprotocol", "httpx", "ssl"}
)
"""What WebAssembly or the borrowed packages lack; some modules import it at the top."""


@cache
def on_this_python(root: Path) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, SUPPORT / "python_version.py", root, MODEL],
        capture_output=True,
        text=True,
        check=True,
    )
    return dict(json.loads(done.stdout))


def borrowed(folder: Path) -> Path:
    """A folder with the pure packages of this Python."""
    folder.mkdir()
    for name in PURE:
        spec = importlib.util.find_spec(name.removesuffix(".py"))
        assert spec is not None
        assert spec.origin is not None
        origin = Path(spec.origin)
        if name.endswith(".py"):
            shutil.copy(origin, folder / name)
        else:
            shutil.copytree(
                origin.parent, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.so")
            )
    return folder


def add_pydantic_core(site: Path, wheels: Path) -> None:
    """The compiled part of the pydantic that is installed here, for WebAssembly."""
    version = importlib.metadata.version("pydantic-core")
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
            *("--only-binary", ":all:", "--platform", PLATFORM, "--python-version", "3.14"),
            *("--implementation", "cp", "--abi", "cp314", "--dest", str(wheels)),
            f"pydantic-core=={version}",
        ],
        capture_output=True,
        text=True,
    )
    found = list(wheels.glob(f"pydantic_core-{version}-*{PLATFORM}.whl"))
    if not found:
        missing(f"needs pydantic-core {version} for {PLATFORM} from PyPI: {done.stderr[-500:]}")
    with zipfile.ZipFile(found[0]) as wheel:
        wheel.extractall(site)


@pytest.mark.parametrize("version", VERSIONS, ids=lambda v: ".".join(map(str, v)))
def test_python_version(version: tuple[int, int], root: Path, tmp_path: Path) -> None:
    home = tool("pyodide", {"pyodide": PYODIDE[version]}) / "node_modules" / "pyodide"
    site = borrowed(tmp_path / "site")
    if version == (3, 14):
        add_pydantic_core(site, tmp_path / "wheels")
    done = subprocess.run(
        [
            *(find_node().path, SUPPORT / "pyodide_run.mjs", home),
            *(SUPPORT / "python_version.py", root, site, MODEL),
        ],
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr[-3000:] + done.stdout[-3000:]
    found, here = json.loads(done.stdout.splitlines()[-1]), on_this_python(root)
    assert here["failed"] == {}
    assert tuple(found["python"]) == version
    allowed = {f"ModuleNotFoundError: No module named '{name}'" for name in ABSENT}
    assert {n: e for n, e in found["failed"].items() if e not in allowed} == {}
    missing = len(here["modules"]) - len(found["modules"])
    assert missing <= len(found["failed"]), sorted(set(here["modules"]) - set(found["modules"]))
    for part in ("code", "check", "workflow", "findings"):
        assert found[part] == here[part], part
    assert ("text" in found) == (version == (3, 14))
    assert found.get("text", here["text"]) == here["text"]
