"""Our commands against a real server: ended in the middle, and models that share their ids."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cli_cases import Ran, orgflowc
from deploy_faults import Site
from deploy_origins import moved, renamed_file, same_name_in_two_folders
from ended_commands import MOMENTS, Moment, ended_in_the_middle, run_killed_and_tidied_up

MODEL = Path(__file__).resolve().parents[2] / "examples/leave-request/model.bpmn"


@pytest.fixture
def site(server_url: str, key: str) -> Iterator[Site]:
    made = Site(server_url, key)
    yield made
    made.close()


ENDED = [(moment, number) for moment in MOMENTS for number in (signal.SIGINT, signal.SIGKILL)]
ENDED.append((MOMENTS[3], signal.SIGTERM))


@pytest.mark.parametrize(("moment", "number"), ENDED, ids=lambda one: getattr(one, "name", None))
def test_ended_in_the_middle(site: Site, moment: Moment, number: int, tmp_path: Path) -> None:
    ended_in_the_middle(site, moment, number, tmp_path)


@pytest.mark.parametrize("command", ["run", "deploy"])
def test_a_killed_run_is_tidied_up_by_the_next_command(site: Site, command: str) -> None:
    run_killed_and_tidied_up(site, MODEL, command)


@pytest.mark.parametrize(
    "scenario",
    [same_name_in_two_folders, moved, renamed_file],
    ids=lambda scenario: scenario.__name__,
)
def test_origin(scenario: Callable[..., None], site: Site, tmp_path: Path) -> None:
    """The others, which are about rules of ours alone, run before a stand-in."""

    def deploy(*args: object, stdin: str = "") -> Ran:
        where = {"N8N_API_KEY": site.key, "N8N_URL": site.direct.url}
        return orgflowc("deploy", *map(str, args), env=where, stdin=stdin)

    scenario(deploy, site.rows, tmp_path)
