"""Install n8n's engine from npm into a cache folder, on the user's command.

n8n's packages are under the Sustainable Use License: they are never part of this project.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from orgflow.backends.n8n.engine.engine_folder import LAYOUT, PACKAGES, engine_dir
from orgflow.backends.n8n.engine.local import EngineError, LocalEngine
from orgflow.backends.n8n.engine.node import NodeError, NodeRuntime, find_node, npm_command
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

OVERRIDES: Mapping[str, str] = MappingProxyType({"linkedom": "0.18.13"})
"""Otherwise npm installs a linkedom with which n8n 2.41 does not load."""

_MARKER = "orgflow-engine.json"


class EngineStatus(NamedTuple):
    """What is there.

    Attributes:
        installed: an engine of the right versions and a Node to run it are present.
        path: the engine folder, whether or not it exists.
        node: the Node that would run it.
        versions: the versions of the installed packages, by name.
        problems: the reasons why it is not installed, in words; otherwise empty.
    """

    installed: bool
    path: Path
    node: NodeRuntime | None
    versions: Mapping[str, str]
    problems: tuple[str, ...]


def engine_status() -> EngineStatus:
    """Examine the engine folder and find Node; starts only `node --version`."""
    path = engine_dir()
    problems = []
    node: NodeRuntime | None = None
    try:
        node = find_node()
    except NodeError as error:
        problems.append(str(error))
    versions = {
        name: version for name in PACKAGES if (version := package_version(path, name)) is not None
    }
    if not path.is_dir():
        problems.append(f"{path} does not exist: run `orgflowc engine install`")
    elif not (path / _MARKER).is_file():
        problems.append(
            f"{path} is an incomplete installation: run `orgflowc engine install --force`"
        )
    else:
        problems += [
            f"{name} is {versions.get(name, 'missing')}, {wanted} is needed: "
            "run `orgflowc engine install --force`"
            for name, wanted in PACKAGES.items()
            if versions.get(name) != wanted
        ]
    return EngineStatus(
        installed=not problems,
        path=path,
        node=node,
        versions=MappingProxyType(versions),
        problems=tuple(problems),
    )


def install_engine(on_line: OnLine | None = None, force: bool = False) -> EngineStatus:
    """Install the engine (about 0.9 GB; one to two minutes) unless it exists.

    npm works in a folder next to the final one, which is moved into place only after the engine in
    it has run a workflow, so an interruption at any time leaves nothing incomplete. A second
    install of the same folder waits for the first.

    Args:
        on_line: called with each line of progress.
        force: install again even if it exists.

    Raises:
        NodeError: there is no usable Node or npm.
        InstallError: npm failed, or the installed engine does not run.
    """
    say = on_line or (lambda _: None)
    node = find_node()
    npm = npm_command(node)
    target = engine_dir()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InstallError(f"cannot make {target.parent}: {error}") from error
    with hold_lock(target.with_name(f"{target.name}.lock"), say):
        if not force and engine_status().installed:
            say(f"already installed in {target}")
            return engine_status()
        remove_leftovers(target)
        work = work_folder(target)
        try:
            _fill_folder(work, node, npm, say)
            _verify_engine(work, node, say)
            move_into_place(work, target)
        except OSError as error:
            raise InstallError(f"cannot install into {target}: {error}") from error
        finally:
            remove_unfinished(work, say)
    say(f"installed in {target}")
    return engine_status()


def _fill_folder(work: Path, node: NodeRuntime, npm: tuple[str, ...], say: OnLine) -> None:
    work.mkdir()
    manifest = {
        "name": "orgflow-engine",
        "private": True,
        "dependencies": dict(PACKAGES),
        "overrides": dict(OVERRIDES),
    }
    (work / "package.json").write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    say(f"npm install with Node {node.version_text} ({node.origin})")
    # Nothing that n8n needs here is built natively.
    run_npm(npm, ("install", "--ignore-scripts", *QUIET_FLAGS), work, node, say)
    wrong = [name for name, wanted in PACKAGES.items() if package_version(work, name) != wanted]
    if wrong:
        raise InstallError(
            f"npm reported success but installed a missing or different {', '.join(wrong)}"
        )
    marker = {"layout": LAYOUT, "packages": dict(PACKAGES), "node": node.version_text}
    (work / _MARKER).write_text(json.dumps(marker, indent=1) + "\n", encoding="utf-8")


def _verify_engine(work: Path, node: NodeRuntime, say: OnLine) -> None:
    say("starting the engine once")
    start = {
        "name": "Start",
        "type": "n8n-nodes-base.manualTrigger",
        "typeVersion": 1,
        "position": [0, 0],
        "parameters": {},
    }
    workflow = {"nodes": [start], "connections": {}, "settings": {"executionOrder": "v1"}}
    try:
        with LocalEngine(work, node) as engine:
            run = engine.run(workflow, "Start")
    except EngineError as error:
        raise InstallError(f"the installed engine does not run: {error}") from error
    if run.status != "success" or [entry.node for entry in run.order] != ["Start"]:
        raise InstallError(f"the installed engine does not run a trigger: {run.error}")
