"""What a test does where the project's data is missing: skip and name it, or fail in CI."""

from __future__ import annotations

from pathlib import Path

import pytest
import shared_data


@pytest.fixture
def missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(shared_data, "FOLDER", tmp_path / "shared")
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv(shared_data.WITHOUT, raising=False)
    return monkeypatch


def test_a_skip_says_what_is_missing_and_where_it_comes_from(
    missing: pytest.MonkeyPatch, root: Path
) -> None:
    with pytest.raises(pytest.skip.Exception, match=r"needs \.\./shared/data/pmo/bpmn") as skipped:
        shared_data.shared_data("pmo", "bpmn")
    heading = str(skipped.value).partition("`")[2].partition("`")[0]
    assert f"## {heading}\n" in (root / "CONTRIBUTING.md").read_text("utf-8")
    (case,) = shared_data.shared_cases([("a", 1), ("b", 2)], "pmo")
    assert case.values == ("a", 1)
    assert case.marks[0].kwargs["reason"].startswith("2 cases: needs ../shared/data/pmo,")
    (case,) = shared_data.shared_cases(sorted, "pmo")
    assert case.marks[0].kwargs["reason"].startswith("needs ../shared/data/pmo,")


def test_it_fails_in_ci_unless_the_skip_is_allowed(missing: pytest.MonkeyPatch) -> None:
    missing.setenv("CI", "true")
    for ask in (shared_data.shared_data, lambda *parts: shared_data.shared_cases("ab", *parts)):
        with pytest.raises(pytest.fail.Exception, match=r"needs \.\./shared/data/pmo"):
            ask("pmo")
    missing.setenv(shared_data.WITHOUT, "1")
    with pytest.raises(pytest.skip.Exception):
        shared_data.shared_data("pmo")
    assert len(shared_data.shared_cases("ab", "pmo")) == 1


def test_data_that_is_there(missing: pytest.MonkeyPatch) -> None:
    folder = shared_data.FOLDER / "data" / "pmo"
    folder.mkdir(parents=True)
    (folder / "b").touch()
    (folder / "a").touch()
    assert shared_data.shared_data("pmo") == folder
    assert shared_data.shared_cases("ab", "pmo") == ["a", "b"]
    assert shared_data.shared_cases(lambda f: sorted(f.iterdir()), "pmo") == [
        folder / "a",
        folder / "b",
    ]
    missing.setenv(shared_data.WITHOUT, "1")
    with pytest.raises(pytest.skip.Exception):
        shared_data.shared_data("pmo")
