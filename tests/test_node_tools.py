"""npm packages that tests need are installed once, whole or not at all; without npm tests skip."""

from __future__ import annotations

import json
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import node_tools
import pytest
from node_tools import BPMNLINT_PACKAGES, NodeChild, ToolMissingError, install, tool
from orgflow.backends.n8n.engine.node import NodeError, NodeRuntime, find_node

PACKAGES = {"thing": "1.2.3", "part": "4.5.6"}
NPM = """
import json, pathlib, sys
wanted = json.loads(pathlib.Path("package.json").read_text())["dependencies"]
with open(sys.argv[1], "a") as log: log.write("x")
if sys.argv[2] == "fail":
    sys.exit("no such version")
for name, version in wanted.items():
    folder = pathlib.Path("node_modules", name)
    folder.mkdir(parents=True)
    version = "9.9.9" if sys.argv[2] == "other" else version
    (folder / "package.json").write_text(json.dumps({"version": version}))
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty tools folder and an npm that writes an x here each time it installs."""
    path = tmp_path / "log"
    path.touch()
    monkeypatch.setenv("ORGFLOW_TEST_TOOLS", str(tmp_path / "tools"))
    monkeypatch.setattr(
        node_tools, "find_node", lambda: NodeRuntime(Path(sys.executable), (20, 0, 0), "test")
    )
    use_npm(monkeypatch, path, "work")
    return path


def use_npm(monkeypatch: pytest.MonkeyPatch, log: Path, how: str) -> None:
    command = (sys.executable, "-c", NPM, str(log), how)
    monkeypatch.setattr(node_tools, "npm_command", lambda node: command)


def test_installs_once(log: Path):
    folder = install("thing", PACKAGES)
    assert folder.name == "thing-1.2.3"
    assert (folder / "node_modules" / "part" / "package.json").is_file()
    assert install("thing", PACKAGES) == folder
    assert log.read_text() == "x"


def test_installs_again_for_other_versions(log: Path):
    install("thing", PACKAGES)
    folder = install("thing", PACKAGES | {"part": "5.0.0"})
    found = json.loads((folder / "node_modules" / "part" / "package.json").read_text())
    assert found["version"] == "5.0.0"
    assert log.read_text() == "xx"


def test_two_at_once(log: Path):
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: install("thing", PACKAGES), range(2))
    assert first == second
    assert log.read_text() == "x"


@pytest.mark.parametrize(("how", "said"), [("fail", "no such version"), ("other", "9.9.9")])
def test_leaves_nothing_half_done(
    log: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, how: str, said: str
):
    use_npm(monkeypatch, log, how)
    with pytest.raises(ToolMissingError, match=said):
        install("thing", PACKAGES)
    assert [path.name for path in (tmp_path / "tools").iterdir()] == ["thing-1.2.3.lock"]
    use_npm(monkeypatch, log, "work")
    assert install("thing", PACKAGES).is_dir()


@pytest.mark.parametrize(("ci", "outcome"), [("", "skipped"), ("true", "failed")])
def test_skips_but_fails_in_ci(log: Path, monkeypatch: pytest.MonkeyPatch, ci: str, outcome: str):
    monkeypatch.setenv("CI", ci)
    use_npm(monkeypatch, log, "fail")
    expected = pytest.skip.Exception if outcome == "skipped" else pytest.fail.Exception
    with pytest.raises(expected, match=r"needs thing 1\.2\.3 from npm: (.|\n)*no such version"):
        tool("thing", PACKAGES)


def test_a_child_that_dies_says_why(tmp_path: Path):
    try:
        find_node()
    except NodeError as error:
        node_tools.missing(str(error))
    script = tmp_path / "dies.cjs"
    script.write_text(
        "require('readline').createInterface({input: process.stdin}).on('line', (line) => {"
        "if (line === '{}') throw new Error('had enough'); console.log(line); });"
    )
    with NodeChild(script) as child:
        assert child.ask({"a": "ä"}) == {"a": "ä"}
        with pytest.raises(RuntimeError, match="had enough"):
            child.ask({})


def test_one_version_of_bpmnlint() -> None:
    """Tests, benchmarks and the documentation compare with the same one."""
    root = Path(__file__).resolve().parent.parent
    pinned = re.compile(r'"bpmnlint": "\d')
    files = [*(root / "benchmarks").glob("*.py"), *(root / "tests").rglob("*.py")]
    found = [path.name for path in files if pinned.search(path.read_text("utf-8"))]
    assert found == ["node_tools.py"]
    version = BPMNLINT_PACKAGES["bpmnlint"].rpartition(".")[0]
    named = re.findall(r"bpmnlint (\d+\.\d+)", (root / "docs" / "checking.md").read_text("utf-8"))
    assert set(named) == {version}
