"""`eval traces LOG MODEL`: figures, deviations, and limits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from orgflow import cli

from orgflow_ir.diagnostics.log_rules import BoundedAlignment, UnknownActivity

MODEL = """process: order
start: start
Register
choose: large
  if: yes
    Approve
  if: no
Ship
end: end
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "order.outline"
    path.write_text(MODEL)
    return path


def write_log(folder: Path, *cases: str) -> Path:
    names = {"R": "register", "A": "Approve", "S": "Ship", "X": "Phone"}
    rows = ["case,activity"]
    for number, case in enumerate(cases):
        rows += [f"{number},{names[letter]}" for letter in case]
    path = folder / "log.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def run_command(capsys: pytest.CaptureFixture[str], *args: str | Path) -> tuple[int, str, str]:
    code = cli.run(["eval", "traces", *map(str, args)])
    out, err = capsys.readouterr()
    return code, out, " ".join(err.split())


def test_a_log_that_fits(tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run_command(capsys, write_log(tmp_path, "RAS", "RS"), model)
    assert code == 0
    assert out.split() == ["cases", "2", "fitting", "2", "100.0%", "fitness", "1.000",
                           "precision", "1.000"]  # fmt: skip


def test_where_cases_leave_the_model(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = write_log(tmp_path, "RAS", "RS", "R", "SR")
    code, out, _ = run_command(capsys, log, model, "-o", tmp_path / "x.json")
    data = json.loads((tmp_path / "x.json").read_text())
    assert code == 0
    assert (data["cases"], data["fitting"]) == (4, 2)
    # one missing, and one event that is elsewhere: 1 + 2 of 8 events and 4 shortest runs of 2
    assert data["fitness"] == pytest.approx(1 - 3 / 16)
    assert "`Ship` is skipped after `Register`" in out
    run_command(capsys, log, model, "-o", tmp_path / "x.csv")
    rows = (tmp_path / "x.csv").read_text().splitlines()
    assert rows[0] == "kind,activity,after,cases,share"
    assert "skipped,Ship,Register," in rows[1]


def test_an_activity_that_the_model_does_not_have(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert UnknownActivity.code == "OF667"
    code, out, err = run_command(capsys, write_log(tmp_path, "RXS"), model)
    assert code == 0
    assert "OF667" in err
    assert "no task `Phone`" in err
    assert "`Phone` occurs after `Register`, where the model does not allow it" in out


def test_a_case_beyond_the_limit(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert BoundedAlignment.code == "OF666"
    log = write_log(tmp_path, "RS", "SSSSAAAARRRR")
    code, out, err = run_command(capsys, log, model, "--most-states", "5")
    assert code == 0
    assert "OF666" in err
    assert "1 cases need more than 5 states" in err
    assert "unaligned" in out


def test_usage_errors(tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = write_log(tmp_path, "RS")
    assert run_command(capsys, log)[0] == 2
    assert run_command(capsys, log, model, "--html", "x.html")[0] == 2
    assert run_command(capsys, model, model)[0] == 1  # an outline is no log
    assert run_command(capsys, log, model, "--map", "x")[0] == 2
    assert cli.run(["eval", "pmo", str(tmp_path), "--object-type", "x"]) == 2
