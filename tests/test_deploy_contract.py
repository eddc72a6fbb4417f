"""Deploying and running by contract: a target of a plugin, and one whose engine is no server."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from cli_cases import LINEAR, Ran, orgflowc

TOY = Path(__file__).parent / "support"


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """Has the plugin of `toy_target`."""
    info = tmp_path / "site" / "toy-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toy\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[orgflow.plugins]\ntoy = toy_target\n")
    paths = [str(tmp_path / "site"), str(TOY), os.environ.get("PYTHONPATH", "")]
    return {"PYTHONPATH": os.pathsep.join(paths)}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "order.bpmn"
    path.write_text(LINEAR)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "deployed"
    made.mkdir()
    return made


def deploy(*args: str | Path, env: dict[str, str]) -> Ran:
    return orgflowc("deploy", *args, "--target", "toy", env=env)


def test_a_target_of_a_plugin_is_deployed(env: dict[str, str], model: Path, folder: Path) -> None:
    looked = deploy(model, "--url", folder, "--dry-run", env=env)
    assert (looked.code, looked.out) == (0, "created  steps.txt\n")
    assert list(folder.iterdir()) == []
    ran = deploy(model, env={**env, "TOY_URL": str(folder)})
    assert (ran.code, ran.out.split()) == (0, ["created", "steps.txt", "published", "steps.txt"])
    # The session's options went into the compilation.
    assert (folder / "steps.txt").read_text() == "ORDER RECEIVED, SHIP ORDER, ORDER SHIPPED\n"
    again = deploy(model, "--url", folder, "--json", env=env)
    assert [w["action"] for w in json.loads(again.out)["workflows"]] == ["unchanged"]


def test_an_option_of_the_target_wins_over_the_servers(
    env: dict[str, str], model: Path, folder: Path
) -> None:
    args = ("deploy", model, "--url", folder, "--target", "toy{case=lower}")
    assert orgflowc(*args, env=env).code == 0
    assert (folder / "steps.txt").read_text() == "order received, ship order, order shipped\n"


def test_what_stands_against_a_deploy_is_reported(
    env: dict[str, str], model: Path, folder: Path
) -> None:
    (folder / "steps.txt").write_text("by hand\n")
    ran = deploy(model, "--url", folder, env=env)
    assert ran.code == 1
    assert "error OF699 [toy-edited-file]\n  `steps.txt` was edited" in ran.err
    assert (folder / "steps.txt").read_text() == "by hand\n"
    assert deploy(model, "--url", folder, "--take-over", env=env).code == 0


def test_faults_of_the_target_have_the_exit_codes_of_the_command(
    env: dict[str, str], model: Path, folder: Path
) -> None:
    gone = deploy(model, "--url", folder / "gone", env=env)
    assert gone.code == 3
    assert "OF698 [toy-folder-missing]" in gone.err
    misused = deploy(model, "--url", "http://x", env=env)
    assert (misused.code, misused.err) == (2, "orgflowc deploy: `http://x` is no folder\n")
    nowhere = deploy(model, env=env)
    assert nowhere.code == 2
    assert "no server is named: use --url, or set TOY_URL" in nowhere.err


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("deploy", "MODEL", "--url", "x", "--target", "svg"),
         "orgflowc deploy: target `svg` does not support deployment"),
        (("run", "MODEL", "--target", "svg"),
         "orgflowc run: target `svg` has no engine to run on"),
        (("run", "MODEL", "--target", "asl", "--engine", "http://x"),
         "orgflowc run: target `asl` does not run on a server"),
        (("run", "MODEL", "--target", "asl", "--executions", "f"),
         "orgflowc run: target `asl` has no executions to replay"),
        (("engine", "status", "--target", "svg"),
         "orgflowc engine status: target `svg` has no engine to run on"),
        (("engine", "install", "--target", "asl", "--server"),
         "orgflowc engine install: target `asl` has no server to install"),
    ],
)  # fmt: skip
def test_what_a_target_lacks_is_a_usage_error(
    args: tuple[str, ...], message: str, model: Path
) -> None:
    ran = orgflowc(*(str(model) if a == "MODEL" else a for a in args))
    assert (ran.code, ran.out, ran.err) == (2, "", f"{message}\n")


def test_an_engine_that_is_a_python_package(model: Path) -> None:
    status = orgflowc("engine", "status", "--target", "asl")
    assert status.code == 0, status.err
    assert "engine: installed\n" in status.out
    assert "moto: 5." in status.out
    installed = orgflowc("engine", "install", "--target", "asl")
    assert (installed.code, installed.err) == (0, "already installed\n")
    ran = orgflowc("run", model, "--target", "asl")
    assert ran.code == 0, ran.err
