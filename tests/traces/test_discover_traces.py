"""`discover --traces`: processes of logs with a known truth, and faults of logs."""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from orgflow import cli

from orgflow_ir.diagnostics.log_rules import (
    ClockFault,
    DuplicateEvent,
    HalfCase,
    NoEvents,
    SkippedEvent,
    UnreadableEventLog,
)
from orgflow_ir.model import Model
from orgflow_ir.model.codec import from_json

RANDOM = 5


def run_command(capsys: pytest.CaptureFixture[str], *args: str | Path) -> tuple[int, str, str]:
    code = cli.run(["discover", "--traces", *map(str, args)])
    out, err = capsys.readouterr()
    return code, out, err


def write_orders(folder: Path, cases: int = 400) -> Path:
    """Orders: two checks together, an approval of large ones, questions that recur, a reminder
    three days later, and a visit in the south."""
    draw = random.Random(RANDOM)
    rows = ["case_id,activity,timestamp,amount,region,shelf"]
    for case in range(cases):
        amount, region = draw.randrange(10, 5000), draw.choice(["north", "south", "west"])
        time = datetime(2025, 1, 1) + timedelta(minutes=7 * case)
        shelf = draw.randrange(100)

        names = ["Register", *draw.sample(["Check stock", "Check credit"], 2)]
        names += ["Approve"] if amount > 1000 else []
        while draw.random() < 0.3:
            names += ["Ask", "Update"]
        names += ["Invoice", "Remind", "Visit" if region == "south" else "Call", "Close"]
        for name in names:
            hours = 72 + draw.gauss(0, 0.5) if name == "Remind" else draw.expovariate(1)
            time += timedelta(hours=hours)
            rows.append(f"c{case},{name},{time.isoformat()},{amount},{region},{shelf}")
    path = folder / "orders.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_a_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run_command(capsys, write_orders(tmp_path))
    assert (code, err) == (0, "")
    words = [line.strip().split(": ")[0] for line in out.splitlines()[1:]]
    assert words[:6] == ["Register", "together:", "branch:", words[3], "branch:", words[5]]
    assert {words[3], words[5]} == {"Check stock", "Check credit"}
    assert words[7:11] == ["amount > 1000", "Approve", "else", "nothing"]
    assert words[13:17] == ["repeat:", "Ask", "Update", "way"]
    assert words[18:21] == ["Invoice", "timer", "Remind"]
    assert words[-1] == "Close"
    assert "amount > 1000" in out
    assert 'region = "south"' in out
    assert "timer: 3 d (2.9" in out
    assert "Occurs in 400 of 400 cases" in out


def test_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run_command(capsys, write_orders(tmp_path), "--json")
    data = json.loads(out)
    by_name = {entry["activity"]: entry for entry in data["activities"]}
    assert code == 0
    assert by_name["Remind"]["timer_seconds"] == 3 * 86_400
    assert [name for name, entry in by_name.items() if entry["timer_seconds"]] == ["Remind"]
    rules = [entry["conditions"] for entry in data["choices"] if entry["conditions"]]
    assert sorted(rule for own in rules for rule in own if rule) == [
        "amount > 1000",
        'region = "south"',
    ]


@pytest.mark.parametrize("suffix", [".bpmn", ".outline", ".powl", ".ir.json"])
def test_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str) -> None:
    path = tmp_path / f"model{suffix}"
    code, _, err = run_command(capsys, write_orders(tmp_path), "-o", path)
    assert code == 0
    assert "error" not in err
    assert cli.run(["check", str(path)]) == 0
    if suffix != ".powl":
        assert cli.run(["compile", str(path), "--target", "n8n", "-o", str(tmp_path / "w")]) == 0
        assert "Register" in (tmp_path / "w").read_text()
    capsys.readouterr()


def test_elements_have_figures_and_evidence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run_command(capsys, write_orders(tmp_path), "--target", "ir")
    model = from_json(Model, out)
    assert code == 0
    (process,) = model.processes
    task = next(node for node in process.nodes if node.name == "Register")
    assert task.doc.startswith("Occurs in 400 of 400 cases")
    assert [(e.document, e.quote, e.lines) for e in task.evidence][:1] == [
        ("orders.csv", "Register", (2, 2))
    ]
    timers = [n for n in process.nodes if getattr(n, "construct", "") == "event.catch.timer"]
    assert [timer.definitions[0].expression.text for timer in timers] == ["P3D"]  # type: ignore[union-attr]
    conditions = [flow.condition.text for flow in process.flows if flow.condition is not None]
    assert sorted(conditions) == ["amount > 1000", 'region = "south"']


def test_tool_calls_become_service_tasks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = []
    for number in range(20):
        tools = ["find", "ship" if number % 2 else "refund"]
        calls = [{"id": tool, "function": {"name": tool, "arguments": "{}"}} for tool in tools]
        lines.append(json.dumps({"messages": [{"role": "assistant", "tool_calls": calls}]}))
    path = tmp_path / "calls.jsonl"
    path.write_text("\n".join(lines) + "\n")
    code, out, _ = run_command(capsys, path, "--target", "ir")
    (process,) = from_json(Model, out).processes
    tasks = {n.name: n.task_type for n in process.nodes if n.kind == "task"}
    assert code == 0
    assert tasks == {"find": "service", "ship": "service", "refund": "service"}


# -- faults ------------------------------------------------------------------------------------


def list_codes(err: str) -> list[str]:
    return [word for line in err.splitlines() for word in line.split() if word.startswith("OF6")]


def test_a_file_that_is_no_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert UnreadableEventLog.code == "OF660"
    path = tmp_path / "x.csv"
    path.write_text("who,what\n1,A\n")
    code, out, err = run_command(capsys, path)
    assert (code, out, list_codes(err)) == (1, "", ["OF660"])
    assert "`who`, `what`" in " ".join(err.split())
    assert "--map case=COLUMN" in err
    code, out, err = run_command(capsys, path, "--map", "case=who", "--map", "activity=what")
    assert (code, "A: Occurs in 1 of 1 cases" in out) == (0, True)
    code, out, err = run_command(capsys, tmp_path / "missing.csv")
    assert (code, list_codes(err)) == (1, ["OF660"])


def test_a_log_without_events(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert NoEvents.code == "OF665"
    path = tmp_path / "x.csv"
    path.write_text("case,activity\n")
    code, _, err = run_command(capsys, path)
    assert (code, list_codes(err)) == (1, ["OF665"])


def test_faults_of_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    codes = [SkippedEvent.code, ClockFault.code, DuplicateEvent.code]
    assert codes == ["OF661", "OF662", "OF663"]
    rows = ["case,activity,time"]
    for case in range(20):
        rows += [f"{case},A,2025-01-01T10:00:00", f"{case},B,2025-01-01T11:00:00"]
    rows += [
        "0,,2025-01-01T12:00:00",
        "1,B,2025-01-01T11:00:00",
        "2,C,2025-01-01T10:30:00",
        "3,C,1900-01-01T00:00:00",
    ]
    path = tmp_path / "x.csv"
    path.write_text("\n".join(rows) + "\n")
    code, _, err = run_command(capsys, path)
    assert code == 0
    assert {"OF661", "OF662", "OF663"} <= set(list_codes(err))
    for place in ("x.csv:42", "x.csv:43", "x.csv:44", "x.csv:45"):
        assert place in err


def test_half_cases(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert HalfCase.code == "OF664"
    rows = ["case,activity"]
    for case in range(100):
        rows += [f"{case},{activity}" for activity in "ABC"]
    rows += ["last,A", "last,B"]
    path = tmp_path / "x.csv"
    path.write_text("\n".join(rows) + "\n")
    code, out, err = run_command(capsys, path)
    assert (code, list_codes(err)) == (0, ["OF664"])
    assert "x.csv:303" in err
    assert "nothing" not in out  # the cut case does not make `C` optional


def test_many_faults_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.csv"
    path.write_text("case,activity\n1,A\n" + "1,\n" * 500)
    _, _, err = run_command(capsys, path)
    assert "490 more findings of this kind" in err
    assert err.count("the row has no activity") == 10


@pytest.mark.parametrize(
    ("args", "reason"),
    [(["--map", "x"], "write FIELD=COLUMN"), (["-o", "x.docx"], "no format has the suffix .docx"),
     (["--page"], "no --page"), (["--json", "--target", "ir"], "--json")],
)  # fmt: skip
def test_usage_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], args: list[str], reason: str
) -> None:
    code, _, err = run_command(capsys, write_orders(tmp_path, 3), *args)
    assert code == 2
    assert reason in " ".join(err.split())


def test_life_cycles_give_working_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ["case,activity,time,lifecycle:transition"]
    for case in range(12):
        rows += [
            f"{case},A,2025-01-01T10:00:00,start", f"{case},A,2025-01-01T10:30:00,suspend",
            f"{case},A,2025-01-01T12:00:00,complete", f"{case},B,2025-01-01T15:00:00,START",
            f"{case},B,2025-01-01T16:00:00,Complete",
        ]  # fmt: skip
    path = tmp_path / "x.csv"
    path.write_text("\n".join(rows) + "\n")
    _, out, _ = run_command(capsys, path, "--json")
    first, second = json.loads(out)["activities"]
    assert (first["events"], first["work"]["median"]) == (12, 7200)
    assert (second["work"]["median"], second["wait"]["median"]) == (3600, 3 * 3600)
