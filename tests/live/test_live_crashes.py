"""A killed n8n server, whose crashed executions are retried: nothing is done twice or missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from crash_runs import CrashingServer, EffectServer, crash_model, judge_effects, play_crashes
from engine_fixture import missing
from orgflow import cli
from orgflow.backends.n8n.server.install import server_status

KILLS, ORDERS = 4, 5


def test_killed_and_retried_orders_are_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each crashed execution is retried, also those of called workflows, whose callers are."""
    found = server_status()
    if found.files is None:
        missing(f"n8n's server is not installed: {found.problem}")
    outside, crashing = EffectServer(), CrashingServer(tmp_path / "n8n")
    try:
        model = tmp_path / "crash.bpmn"
        model.write_text(crash_model(outside.place), encoding="utf-8")
        monkeypatch.setenv("N8N_API_KEY", crashing.key)
        assert cli.run(["deploy", "--url", crashing.server.url, str(model)]) == 0
        place = next(w for w in capsys.readouterr().out.split() if "/webhook/" in w)
        orders, crashed = play_crashes(crashing, place.rpartition("/webhook/")[2], KILLS, ORDERS)
        judged = judge_effects(orders, outside.effects)
    finally:
        crashing.close()
        outside.close()
    with capsys.disabled():
        print(
            f"{judged.whole} of {judged.orders} orders whole after {KILLS} kills: {crashed} "
            f"crashed executions, {len(judged.doubled)} effects under two keys, "
            f"{len(judged.missing)} missing, {judged.repeated} requests sent again under their key"
        )
    assert crashed
    assert judged.missing == ()
    assert judged.doubled == ()
    assert judged.whole == judged.orders == KILLS * ORDERS
