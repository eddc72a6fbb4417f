"""The support set on a real server: two people in parallel, with a repeated answer and a repeated
start, joined once; installed twice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.client.data_tables import TableClient
from orgflow.backends.n8n.server.process import N8nServer
from orgflow.backends.n8n.waiting.installation import CREDENTIAL_HEADER, install_support_set
from waiting_trials import OutsideServer, TrialRunner

SECRET = "live-secret"


@pytest.fixture
def runner(server: N8nServer, client: Client) -> Iterator[TrialRunner]:
    outside = OutsideServer()
    with TableClient(server.url, client.key, seconds=120) as connected:
        installed = install_support_set(connected, SECRET)
        assert install_support_set(connected, SECRET).changes == ()
        made = TrialRunner(connected, installed, outside)
        yield made
        made.close()
        for workflow_id in reversed(list(installed.workflows.values())):
            connected.delete(workflow_id)
    outside.close()


def test_two_people_in_parallel_join_once(runner: TrialRunner) -> None:
    trial = runner.start(2, "live-case")
    tasks = runner.open_tasks(trial)
    again = runner.start(2, "live-case")
    for task, key in tasks.items():
        runner.answer(trial, task, key, f"answer of {task}")
        runner.answer(trial, task, key, "too late")
    runner.check_end(trial, 240)
    assert trial.failures == []
    assert trial.accepted == {task: f"answer of {task}" for task in tasks}
    assert runner.rows_of(again) == runner.rows_of(trial)


def test_messages_need_the_header_and_are_kept_once(runner: TrialRunner) -> None:
    place = "/webhook/orgflow-message"
    body = {"name": "live", "key": "1", "id": "same", "data": {"x": 1}}
    assert runner.client.call(place, body)["status"] == 403
    answers = [
        runner.call_outside(place, body, {CREDENTIAL_HEADER: SECRET}).json() for _ in range(2)
    ]
    assert answers == [
        {"accepted": True, "repeated": False},
        {"accepted": True, "repeated": True},
    ]
