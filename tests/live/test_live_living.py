"""A series of edits and deployments on two n8n servers: no edit is lost silently, and nothing that
belongs to another repository is changed. `benchmarks/living_servers.py` plays longer ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from living_series import LivingSeries, ServerAddress, describe_series
from orgflow.backends.n8n.server.client.client import Client
from orgflow.backends.n8n.server.process import N8nServer, Owner

STEPS, SEED = 30, 12


def test_edits_and_deployments_on_two_servers(
    client: Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = set(client.workflows())
    with N8nServer() as second, Client(second.url) as other:
        owner = Owner()
        other.set_up_owner(owner.email, owner.password)
        servers = {
            "test": ServerAddress(client.url, client.key),
            "production": ServerAddress(second.url, other.key),
        }
        series = LivingSeries(servers, tmp_path, SEED)
        try:
            series.play(STEPS)
        finally:
            for id in set(client.workflows()) - before:
                servers["test"].delete(id)
    with capsys.disabled():
        print(f"\n{describe_series(series.counts, series.faults)}")
    assert series.faults == []
    assert series.counts["edits kept"]
