"""The wheel has everything, works installed, and leaves nothing else in site-packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import audit
import pytest
import release
from cli_cases import LINEAR

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel that `make release` makes: of two builds that are equal byte for byte."""
    before = os.umask(0o002)
    try:
        return release.reproducible("wheel", tmp_path_factory.mktemp("wheel"))
    finally:
        os.umask(before)


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
    for folder in (
        "frontends",
        "backends",
        "passes",
        "agents",
        "compilation",
        "evaluation",
        "commands",
    ):
        expected |= {f"orgflow/{p.relative_to(ROOT)}" for p in (ROOT / folder).rglob("*.py")}
    expected |= {str(p.relative_to(ROOT)) for p in (ROOT / "orgflow_ir").rglob("*.py")}
    for data in ("*.json", "*.cjs", "*.j2", "*.toml"):
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


# -- releases ----------------------------------------------------------------------------------


def test_builds_that_differ_are_no_release(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    count = iter(range(9))

    def build(kind: str, source: Path, out: Path) -> Path:
        made = out / "orgflow-1-py3-none-any.whl"
        made.write_bytes(b"%d" % next(count))
        return made

    monkeypatch.setattr(release, "build", build)
    with pytest.raises(release.ReleaseError, match="differ"):
        release.reproducible("wheel", tmp_path)


def test_the_sdist_holds_documentation_and_examples(tmp_path: Path) -> None:
    archive = release.reproducible("sdist", tmp_path, "https://forge.example/orgflow")
    with tarfile.open(archive) as opened:
        names = {name.partition("/")[2] for name in opened.getnames()}
        (head,) = [n for n in opened.getnames() if n.count("/") == 1 and n.endswith("/PKG-INFO")]
        metadata = opened.extractfile(head)
        assert metadata is not None
        said = metadata.read().decode()
    wanted = {"CHANGELOG.md", "LICENSE", "mkdocs.yml", "pyproject.toml"}
    for folder in ("docs", "examples"):
        kept = (p for p in (ROOT / folder).rglob("*") if p.is_file())
        made = (".egg-info", "_cache", "__pycache__")
        wanted |= {str(p.relative_to(ROOT)) for p in kept
                   if not any(part.endswith(made) for part in p.parts)}  # fmt: skip
    assert wanted - names == set()
    assert "Project-URL: Source, https://forge.example/orgflow" in said
    assert "Author: orgflow contributors" in said


def test_the_wheel_does_not_depend_on_the_umask(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as opened:
        modes = {
            entry.external_attr >> 16 & 0o777
            for entry in opened.infolist()
            if not entry.filename.endswith("/RECORD")  # always 664
        }
    assert not any(mode & 0o020 for mode in modes), modes


def test_a_source_archive_does_not_depend_on_the_machine(tmp_path: Path) -> None:
    archives = []
    for name, seconds, mode in (("a", 1_000, 0o600), ("b", 2_000.5, 0o664)):
        file = tmp_path / "file.txt"
        file.write_text("content")
        file.chmod(mode)
        os.utime(file, (seconds, seconds))
        archives.append(tmp_path / f"{name}.tar.gz")
        with tarfile.open(archives[-1], "w:gz") as written:
            written.add(file, "orgflow/file.txt")
        release.normalise(archives[-1])
    assert archives[0].read_bytes() == archives[1].read_bytes()
    with tarfile.open(archives[0]) as opened:
        (member,) = opened.getmembers()
        assert (member.mtime, member.mode, member.uname) == (int(release.EPOCH), 0o644, "")


def test_no_address_is_invented() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert "project.urls" not in project
    with pytest.raises(release.ReleaseError, match="no address"):
        release.with_address(project, "forge.example")


def test_the_bill_of_materials_has_what_is_needed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    bill = release.bill(project)
    names = {one["name"].lower() for one in bill["components"]}
    assert {"pydantic", "pydantic_core", "click", "markupsafe"} <= names
    assert not names & {"pytest", "numpy", "mypy"}
    refs = {one["bom-ref"] for one in bill["components"]}
    edges = {row["ref"]: row["dependsOn"] for row in bill["dependencies"]}
    assert refs == {ref for ref in edges if not ref.startswith("pkg:pypi/orgflow@")}
    assert {on for row in edges.values() for on in row} == refs
    assert release.bill(project) == bill
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5")


def test_an_audit_without_a_network_is_skipped_loudly() -> None:
    bad, line = audit.outcome("pip-audit", 1, "requests.exceptions.ConnectionError: …")
    assert not bad
    assert "SKIPPED" in line
    assert audit.outcome("npm audit", 1, "lodash  <4.17  Severity: critical")[0]
    assert audit.outcome("npm audit", 0, "found 0 vulnerabilities")[0] is False
    unknown = "tomli-w  Dependency not found on PyPI and could not be audited: tomli-w (1.2.0)"
    assert audit.outcome("pip-audit", 0, unknown) == (
        False, "pip-audit: SKIPPED 1 PACKAGES THAT ITS SERVER DOES NOT KNOW",
    )  # fmt: skip
