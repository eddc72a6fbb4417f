"""What `make release` does: wheel, sdist, bill of materials and check sums in dist/.

Everything is built from a copy of what is checked in, wheel and sdist twice: two builds that differ
by a byte fail. ORGFLOW_REPOSITORY, where it is set, is the address of the source in the metadata.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.metadata
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import uuid
from pathlib import Path
from typing import Any

Json = dict[str, Any]

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = (".git", ".venv", ".types", ".*_cache", ".hypothesis", "build", "dist", "*.egg-info",
            "__pycache__", "node_modules")  # fmt: skip
EPOCH = "1577836800"
"""Seconds since 1970 that stand for every date in an archive: 2020, whatever the clock shows."""


class ReleaseError(Exception):
    """A release that must not be used; the message is one line."""


def copy(target: Path, repository: str) -> None:
    """The source without what builds leave in it, with the address in its metadata."""
    shutil.copytree(ROOT, target, ignore=shutil.ignore_patterns(*LEFT_OUT))
    if repository:
        project = target / "pyproject.toml"
        project.write_text(with_address(project.read_text("utf-8"), repository), "utf-8")


def with_address(project: str, repository: str) -> str:
    """pyproject.toml with the project's addresses. Raises `ReleaseError` for what is no address."""
    if not re.fullmatch(r"https?://[^\s\"\\]+", repository):
        raise ReleaseError(f"ORGFLOW_REPOSITORY is no address: {repository}")
    base = repository.rstrip("/")
    lines = ["[project.urls]", f'Source = "{base}"', f'Changelog = "{base}/blob/main/CHANGELOG.md"']
    return project.replace(
        "[project.optional-dependencies]",
        "\n".join([*lines, "", "[project.optional-dependencies]"]),
    )


def build(kind: str, source: Path, out: Path) -> Path:
    """A `wheel` or an `sdist`. Raises `ReleaseError` with what the build printed."""
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    done = subprocess.run(
        [sys.executable, "-m", "build", f"--{kind}", "--no-isolation", "--outdir", out, source],
        env={**env, "SOURCE_DATE_EPOCH": EPOCH}, capture_output=True, text=True, check=False,
        timeout=600, umask=0o022,  # the wheel has the permissions of new files
    )  # fmt: skip
    if done.returncode:
        raise ReleaseError(f"the {kind} was not built:\n{done.stdout}{done.stderr}")
    (built,) = out.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    if kind == "sdist":
        normalise(built)
    return built


def normalise(archive: Path) -> None:
    """Write a source archive again without the times, owners and permissions of its files, which
    setuptools takes from the machine."""
    with tarfile.open(archive) as opened:
        members = [
            (member, file.read() if (file := opened.extractfile(member)) else b"")
            for member in sorted(opened.getmembers(), key=lambda member: member.name)
        ]
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as written:
        for member, content in members:
            entry = tarfile.TarInfo(member.name)
            entry.type, entry.size, entry.mtime = member.type, len(content), int(EPOCH)
            entry.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
            written.addfile(entry, io.BytesIO(content))
    archive.write_bytes(gzip.compress(plain.getvalue(), mtime=int(EPOCH)))


def reproducible(kind: str, out: Path, repository: str = "") -> Path:
    """The `wheel` or `sdist` in `out`, built from two copies. Raises `ReleaseError` if they
    differ."""
    with tempfile.TemporaryDirectory() as folder:
        built = []
        for name in ("first", "second"):
            source = Path(folder) / name / "orgflow"
            copy(source, repository)
            built.append(build(kind, source, Path(folder) / name))
        if built[0].read_bytes() != built[1].read_bytes():
            raise ReleaseError(f"two builds of the {kind} differ")
        out.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(built[0], out))


# -- bill of materials -------------------------------------------------------------------------


def bill(project: Json) -> Json:
    """CycloneDX 1.5: orgflow and everything that its dependencies need in this environment, with
    versions and licences. The same environment gives the same bytes."""
    found = _closure(project["dependencies"])
    components = [_component(one) for one in found.values()]
    own = f"pkg:pypi/orgflow@{project['version']}"
    edges: dict[str, list[str]] = {own: [_purl(found[_key(d)]) for d in project["dependencies"]]}
    for one in found.values():
        edges[_purl(one)] = [_purl(found[_key(d)]) for d in _needed(one)]
    content: Json = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application", "bom-ref": own, "name": "orgflow",
                "version": project["version"], "purl": own,
                "licenses": [{"license": {"id": project["license"]}}],
            }
        },
        "components": components,
        "dependencies": [
            {"ref": ref, "dependsOn": sorted(set(on))} for ref, on in sorted(edges.items())
        ],
    }  # fmt: skip
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(content, sort_keys=True))
    return {**content, "serialNumber": f"urn:uuid:{serial}"}


def _closure(requirements: list[str]) -> dict[str, importlib.metadata.Distribution]:
    found: dict[str, importlib.metadata.Distribution] = {}
    ahead = list(requirements)
    while ahead:
        key = _key(ahead.pop())
        if key not in found:
            try:
                found[key] = importlib.metadata.distribution(key)
            except importlib.metadata.PackageNotFoundError:
                raise ReleaseError(f"`{key}` is not installed, so its version is unknown") from None
            ahead += _needed(found[key])
    return dict(sorted(found.items()))


def _key(requirement: str) -> str:
    name = re.match(r"[\w.-]+", requirement)
    assert name is not None, requirement
    return re.sub(r"[-_.]+", "-", name[0]).lower()


def _needed(one: importlib.metadata.Distribution) -> list[str]:
    """Requirements without extras whose markers hold here."""
    from packaging.requirements import Requirement

    rows = [Requirement(row) for row in one.requires or ()]
    return [row.name for row in rows if row.marker is None or row.marker.evaluate({"extra": ""})]


def _purl(one: importlib.metadata.Distribution) -> str:
    return f"pkg:pypi/{_key(one.metadata['Name'])}@{one.version}"


def _component(one: importlib.metadata.Distribution) -> Json:
    licence = one.metadata.get("License-Expression") or _classified(one)
    return {
        "type": "library",
        "bom-ref": _purl(one),
        "name": one.metadata["Name"],
        "version": one.version,
        "purl": _purl(one),
        **({"licenses": [{"license": {"name": licence}}]} if licence else {}),
    }


def _classified(one: importlib.metadata.Distribution) -> str:
    names = [c for c in one.metadata.get_all("Classifier") or () if c.startswith("License ::")]
    return names[0].rpartition(" :: ")[2] if names else ""


def main() -> None:
    """Build into dist/."""
    out = ROOT / "dist"
    shutil.rmtree(out, ignore_errors=True)
    repository = os.environ.get("ORGFLOW_REPOSITORY", "")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    try:
        made = [reproducible(kind, out, repository) for kind in ("wheel", "sdist")]
        materials = out / f"orgflow-{project['version']}.cdx.json"
        materials.write_text(json.dumps(bill(project), indent=2) + "\n", encoding="utf-8")
    except ReleaseError as error:
        sys.exit(f"release: {error}")
    made.append(materials)
    sums = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}" for path in made]
    (out / "SHA256SUMS").write_text("\n".join([*sums, ""]), encoding="utf-8")
    print("wheel and sdist were built twice: equal bytes")
    print("\n".join(sums))
    if not repository:
        print("no project addresses: ORGFLOW_REPOSITORY=https://… make release puts them in")


if __name__ == "__main__":
    main()
