"""Mutated model files: no OF9xx, no exception (`make odd-files` tries 20,000)."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.shared_data import shared_data

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

import mutated_models  # noqa: E402

COUNT = 300


def test_a_sample_of_mutated_files_has_no_fault() -> None:
    shared_data()
    player, totals = mutated_models.Player(), mutated_models.Totals()
    folders = [shared_data(), ROOT / "examples"]
    for odd in mutated_models.list_mutants(folders, 34, COUNT):
        totals.add(odd, player.play_file(odd))
    assert totals.faults == {}, totals.text()
    assert totals.outcomes["files"] > COUNT * 0.9
    assert min(totals.outcomes["refused"], totals.outcomes["compiled"]) > COUNT / 5


def test_the_same_seed_gives_the_same_files() -> None:
    folders = [ROOT / "examples"]
    first = [odd.data for odd in mutated_models.list_mutants(folders, 1, 20)]
    assert first == [odd.data for odd in mutated_models.list_mutants(folders, 1, 20)]
    assert first != [odd.data for odd in mutated_models.list_mutants(folders, 2, 20)]


def test_a_fault_is_found_and_made_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    player = mutated_models.Player()
    (odd, *_) = (
        o for o in mutated_models.list_mutants([ROOT / "examples"], 1, 60) if b"userTask" in o.data
    )

    def fail(tree: object) -> None:
        raise KeyError("broken")

    monkeypatch.setattr(mutated_models, "load_model", lambda *args, **more: fail(args))
    played = player.play_file(odd)
    assert played.outcome == "exception"
    mutated_models.keep_fault(tmp_path, odd, played, player)
    (kept, _) = sorted(tmp_path.iterdir())
    assert kept.stat().st_size < len(odd.data)
