"""What commands of ours leave on a server when they are ended, and who takes it away."""

from __future__ import annotations

import datetime
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_cases import LINEAR
from deploy_faults import CREATE, PUBLISH, Site, hook
from ended_commands import (
    MOMENTS,
    Moment,
    ended_in_the_middle,
    interrupted_at,
    run_killed_and_tidied_up,
)
from faulty_proxy import Fault
from n8n_stand_in import KEY, StandIn
from orgflow.backends.n8n.server.deployment_marker import with_marker
from orgflow.backends.n8n.server.stale_runs import clear_stale_runs, is_over, process_identity

NOW = datetime.datetime(2026, 1, 1, 12, tzinfo=datetime.UTC)


@pytest.fixture
def server() -> Iterator[StandIn]:
    made = StandIn()
    yield made
    made.close()


@pytest.fixture
def site(server: StandIn) -> Iterator[Site]:
    made = Site(server.url, KEY)
    yield made
    made.close()


def of_a_dead_process() -> str:
    program = (
        "from orgflow.backends.n8n.server.stale_runs import process_identity; "
        "print(process_identity())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    return done.stdout.strip()


def test_who_is_over() -> None:
    me = process_identity()
    machine, process, begun = me.split(".")
    assert process == str(os.getpid())
    assert is_over(me) is False
    assert is_over(of_a_dead_process()) is True
    if begun:  # the number of a process that is gone, given to another one since
        assert is_over(f"{machine}.{process}.{int(begun) - 1}") is True
    assert is_over(f"{machine}.{process}.") is False
    for elsewhere in ("", "x", f"0123.{process}.{begun}", f"{machine}.-1.2", f"{machine}.x.2"):
        assert is_over(elsewhere) is None, elsewhere
    assert is_over(f"{machine}.{10**30}.2") is True


@pytest.mark.parametrize(
    ("whose", "hours", "fate"),
    [("dead", 0, "removed"), ("mine", 5, None), ("elsewhere", 0, "kept"),
     ("elsewhere", 2, "removed"), ("", 0, "kept")],
)  # fmt: skip
def test_what_becomes_of_a_copy(site: Site, whose: str, hours: int, fate: str | None) -> None:
    said = {"dead": of_a_dead_process(), "mine": process_identity(), "elsewhere": "abc.1.2"}.get(
        whose, ""
    )
    site.direct.create_body(with_marker(site.direct.body_of(hook()), "run-0", origin=said))
    site.direct.create_body(site.direct.body_of(hook("Of a person", "p")))
    rows = [row | {"updatedAt": NOW.isoformat()} for row in site.rows()]
    now = NOW + datetime.timedelta(hours=hours)
    looked = clear_stale_runs(rows, None, now)
    assert len(site.rows()) == 2
    found = clear_stale_runs(rows, site.direct, now)
    assert [one.fate for one in found] == ([fate] if fate else [])
    assert [one.fate for one in looked] == [{"removed": "over"}.get(one.fate, one.fate)
                                            for one in found]  # fmt: skip
    assert len(site.rows()) == (1 if fate == "removed" else 2)


def test_one_that_cannot_be_removed_is_told(site: Site) -> None:
    site.direct.create_body(
        with_marker(site.direct.body_of(hook()), "run-0", origin=of_a_dead_process())
    )
    rows = site.rows()
    site.direct._api.headers["X-N8N-API-KEY"] = "revoked"
    (one,) = clear_stale_runs(rows, site.direct, NOW)
    assert one.fate == "stuck"
    site.direct._api.headers["X-N8N-API-KEY"] = KEY


@pytest.mark.parametrize("command", ["run", "deploy"])
def test_a_killed_run_is_tidied_up_by_the_next_command(
    site: Site, tmp_path: Path, command: str
) -> None:
    model = tmp_path / "order.bpmn"
    model.write_text(LINEAR, encoding="utf-8")
    run_killed_and_tidied_up(site, model, command)


@pytest.mark.parametrize(
    "number", [pytest.param(signal.SIGINT, marks=pytest.mark.slow), signal.SIGKILL]
)
@pytest.mark.parametrize("moment", MOMENTS, ids=lambda moment: moment.name)
def test_ended_in_the_middle(site: Site, moment: Moment, number: int, tmp_path: Path) -> None:
    ended_in_the_middle(site, moment, number, tmp_path)


CALLS = (
    ("GET /api/v1/workflows", "before"), (CREATE, "before"), (CREATE, "carried-out"),
    (CREATE, "between"), (CREATE, "answered"), ("PUT ", "answered"), (PUBLISH, "carried-out"),
    (PUBLISH, "answered"), ("OPTIONS ", "answered"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("call", "moment", "number", "slow"),
    [*((*one, signal.SIGINT, True) for one in CALLS), (*CALLS[2], signal.SIGTERM, True),
     *((*one, signal.SIGINT, False) for one in CALLS[2:4])],
)  # fmt: skip
def test_ended_at_any_moment_of_a_call(
    site: Site, tmp_path: Path, call: str, moment: str, number: int, slow: bool
) -> None:
    """Whenever the signal arrives, also while a thread is just being started: all that was created
    is undone, or completed and told."""
    interrupted_at(site, Fault(call, moment=moment), number, tmp_path, slow=slow)
