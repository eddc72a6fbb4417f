"""The command line's contract: streams, exit codes, options, and one clear line for every fault."""

from __future__ import annotations

import html
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
from cli_cases import DEADLOCK, LINEAR, Ran, interruptible, orgflowc
from orgflow import cli
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.commands.options import parse_target
from orgflow.compilation import reading
from write_schemas import replay_schema

from orgflow_ir.plugins import Registry

Invoke = Callable[..., Ran]

COMMANDS = (
    "compile", "check", "explain", "opt", "list", "trace", "verify", "diff", "run", "engine",
    "eval", "new", "completion",
)  # fmt: skip


@pytest.fixture
def invoke(capsys: pytest.CaptureFixture[str]) -> Invoke:
    """Run a command line in this process."""

    def call(*args: str | Path) -> Ran:
        code = cli.run([str(a) for a in args])
        captured = capsys.readouterr()
        return Ran(code, captured.out, captured.err)

    return call


@pytest.fixture
def linear(tmp_path: Path) -> Path:
    path = tmp_path / "order.bpmn"
    path.write_text(LINEAR)
    return path


@pytest.fixture
def deadlock(tmp_path: Path) -> Path:
    path = tmp_path / "deadlock.bpmn"
    path.write_text(DEADLOCK)
    return path


def one_line(ran: Ran) -> str:
    """The one line on standard error of a command line that was misused."""
    assert ran.code == 2, ran
    assert ran.out == ""
    assert "Traceback" not in ran.err
    assert len(ran.err.splitlines()) == 1, ran.err
    return ran.err


# -- help ------------------------------------------------------------------------------------


def test_help_names_every_command(invoke: Invoke) -> None:
    ran = invoke("--help")
    assert ran.code == 0
    assert [c for c in COMMANDS if f"\n  {c} " not in ran.out] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(invoke: Invoke, command: str) -> None:
    ran = invoke(command, "--help")
    assert ran.code == 0
    assert ran.out.startswith(f"Usage: orgflowc {command}")


def test_version(invoke: Invoke) -> None:
    first, second = invoke("--version").out.splitlines()
    assert first.startswith("orgflowc 0.")
    assert second == "no plugins"


# -- compile ---------------------------------------------------------------------------------


def test_compile_prints_the_artifact_and_nothing_else(invoke: Invoke, linear: Path) -> None:
    ran = invoke("compile", linear, "--target", "n8n")
    assert ran.code == 0, ran.err
    workflow = json.loads(ran.out)
    assert {n["name"] for n in workflow["nodes"]} >= {"Ship order"}


def test_compile_is_deterministic_over_processes(linear: Path) -> None:
    seeds = ({"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2"})
    first, second = (orgflowc("compile", linear, "--target", "n8n", env=e) for e in seeds)
    assert first.code == 0
    assert first.out == second.out


def test_compile_from_standard_input(linear: Path) -> None:
    ran = orgflowc("compile", "-", "--from", "bpmn", "--target", "n8n", stdin=LINEAR)
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["nodes"]


def test_standard_input_is_recognised_by_its_content(linear: Path) -> None:
    text = linear.read_text("utf-8")
    ran = orgflowc("compile", "-", "--target", "n8n", stdin=text)
    assert ran.code == 0, ran.err
    assert ran.out == orgflowc("compile", "-", "--target", "n8n", "--from", "bpmn", stdin=text).out
    ran = orgflowc("compile", "-", "--target", "n8n", stdin="something else")
    assert ran.code == 2
    assert "--from bpmn" in ran.err


def test_compile_into_a_file_and_a_folder(invoke: Invoke, linear: Path, tmp_path: Path) -> None:
    printed = invoke("compile", linear, "--target", "n8n").out
    file = tmp_path / "new" / "order.json"
    ran = invoke("compile", linear, "--target", "n8n", "-o", file)
    assert (ran.code, ran.out) == (0, "")
    assert file.read_text() == printed
    assert invoke("compile", linear, "--target", "n8n", "-o", f"{tmp_path}/out/").code == 0
    assert [p.read_text() for p in (tmp_path / "out").iterdir()] == [printed]
    (tmp_path / "there").mkdir()
    assert invoke("compile", linear, "--target", "n8n", "-o", tmp_path / "there").code == 0
    assert [p.read_text() for p in (tmp_path / "there").iterdir()] == [printed]


def test_compile_refuses_a_deadlock_and_force_does_not(invoke: Invoke, deadlock: Path) -> None:
    ran = invoke("compile", deadlock, "--target", "n8n")
    assert (ran.code, ran.out) == (1, "")
    assert "error OF201" in ran.err
    forced = invoke("compile", deadlock, "--target", "n8n", "--force")
    assert forced.code == 0
    assert "warning OF201" in forced.err
    assert json.loads(forced.out)["nodes"]


def test_force_does_not_force_a_malformed_model(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "broken.bpmn"
    path.write_text(LINEAR.replace('targetRef="end"', 'targetRef="nowhere"'))
    ran = invoke("compile", path, "--target", "n8n", "--force")
    assert (ran.code, ran.out) == (1, "")
    assert "error OF1" in ran.err


def test_old_output_stays_when_compiling_fails(
    invoke: Invoke, deadlock: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    out.write_text("old")
    assert invoke("compile", deadlock, "--target", "n8n", "-o", out).code == 1
    assert out.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["deadlock.bpmn", "out.json"]


def test_the_input_is_not_overwritten(invoke: Invoke, linear: Path) -> None:
    said = one_line(invoke("compile", linear, "--target", "n8n", "-o", linear))
    assert "overwrite the input" in said
    assert linear.read_text() == LINEAR


def test_check_golden(invoke: Invoke, linear: Path, tmp_path: Path) -> None:
    golden = tmp_path / "golden.json"
    command = ("compile", linear, "--target", "n8n", "--check", golden)
    assert "does not exist" in one_line(invoke(*command))
    invoke("compile", linear, "--target", "n8n", "-o", golden)
    same = invoke(*command)
    assert (same.code, same.out) == (0, "")
    golden.write_text(golden.read_text().replace("Ship order", "Keep order"))
    differs = invoke(*command)
    assert differs.code == 1
    assert differs.out.startswith(f"--- {golden}\n+++ compiled now\nOrder: same behaviour\n")
    assert "`Keep order` is now `Ship order`" in differs.out
    assert "Keep order" in golden.read_text()


def test_check_and_output_exclude_each_other(invoke: Invoke, linear: Path) -> None:
    one_line(invoke("compile", linear, "--target", "n8n", "--check", "a", "-o", "b"))


def test_report(invoke: Invoke, linear: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.md"
    ran = invoke("compile", linear, "--target", "n8n", "--report", report)
    assert ran.code == 0
    text = report.read_text()
    assert f"- source: `{linear}`" in text
    assert "| Order | 3 | 2 |" in text
    page = tmp_path / "report.html"
    assert invoke("compile", linear, "--target", "n8n", "--report", page).code == 0
    assert '<li><label><input type="checkbox">' in page.read_text()
    assert "<td>Order</td><td>3</td><td>2</td>" in page.read_text()


# -- targets ---------------------------------------------------------------------------------


def test_target_text() -> None:
    target = parse_target("n8n{version=2.41, people=placeholder}")
    assert target.name == "n8n"
    assert target.options == {"version": "2.41", "people": "placeholder"}
    assert parse_target("n8n").options == {}
    assert parse_target(" n8n { } ").options == {}


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("n8m", "did you mean `n8n`?"),
        ("zzz", "there are: "),
        ("n8n{peple=placeholder}", "did you mean `people`?"),
        ("n8n{people=robots}", "one of: form, placeholder"),
        ("n8n{people}", "option=value"),
        ("n8n{people=}", "option=value"),
        ("n8n{people=placeholder,people=placeholder}", "twice"),
        ("n8n{people=placeholder", "cannot read the target"),
        ("", "cannot read the target"),
    ],
)
def test_wrong_targets(invoke: Invoke, linear: Path, target: str, said: str) -> None:
    assert said in one_line(invoke("compile", linear, "--target", target))


def test_target_options_are_taken(invoke: Invoke, linear: Path) -> None:
    plain = invoke("compile", linear, "--target", "n8n")
    said = invoke("compile", linear, "--target", "n8n{version=2.41,people=form}")
    assert said.code == 0
    assert said.out == plain.out


# -- misuse ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("comple",), "did you mean 'compile'?"),
        (("zzz",), "there are: compile"),
        (("compile",), "missing argument"),
        (("compile", "a.bpmn"), "--target"),
        (("compile", "a.bpmn", "--target", "n8n", "--alow-lossy"), "--allow-lossy"),
        (("list", "backend"), "did you mean `backends`?"),
        (("list", "rules", "--matrix"), "--matrix"),
        (("explain", "OF9021"), "did you mean `OF902`?"),
        (("explain", "deadlock-join"), "deadlocked-join"),
        (("check", "a.bpmn", "--format", "jsn"), "did you mean `json`?"),
        (("trace", "a.bpmn", "--max", "0"), "--max"),
        (("run", "a.bpmn", "--engine", "remote"), "local"),
        (("eval", "pmu", "."), "pmo"),
        (("eval", "pmo", "nowhere"), "nowhere is not a folder"),
        (("opt", "a.bpmn", "--passes", "no-such-pass"), "no pass `no-such-pass`"),
        (("opt", "a.bpmn", "--passes", "}"), "cannot read the pipeline"),
    ],
)
def test_misuse_is_one_line(invoke: Invoke, args: tuple[str, ...], said: str) -> None:
    assert said in one_line(invoke(*args))


def test_unknown_frontend(invoke: Invoke, linear: Path) -> None:
    ran = invoke("compile", linear, "--target", "n8n", "--from", "bpnm")
    assert "did you mean `bpmn`?" in one_line(ran)


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("missing.bpmn", "OF002"),
        (".", "OF002"),
        (f"{'x' * 300}.bpmn", "OF002"),
        ("words.txt", "OF003"),
        ("odd.json", "OF003"),
    ],
)
def test_unreadable_inputs(invoke: Invoke, tmp_path: Path, name: str, code: str) -> None:
    (tmp_path / "words.txt").write_text("Ship the order.")
    (tmp_path / "odd.json").write_text("[1, 2]")
    ran = invoke("compile", tmp_path / name, "--target", "n8n")
    assert (ran.code, ran.out) == (2, "")
    assert f"error {code}" in ran.err
    assert "Traceback" not in ran.err


def test_unwritable_outputs(invoke: Invoke, linear: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = invoke("compile", linear, "--target", "n8n", "-o", tmp_path / "file" / "below.json")
    assert (ran.code, ran.out) == (2, "")
    assert "cannot write" in ran.err
    ran = invoke("compile", linear, "--target", "n8n", "-o", "/proc/nothing/order.json")
    assert ran.code == 2
    assert "cannot write /proc/nothing/order.json" in ran.err
    assert "Traceback" not in ran.err


def test_several_files_are_written_all_or_none(tmp_path: Path) -> None:
    from orgflow.commands.output import OutputError, write_files

    (tmp_path / "a").write_text("old")
    (tmp_path / "b").mkdir()
    with pytest.raises(OutputError, match=r"cannot write .*b: is a folder"):
        write_files([(tmp_path / "a", "new"), (tmp_path / "b", "new")])
    assert (tmp_path / "a").read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]
    (tmp_path / "link").symlink_to("a")
    write_files([(tmp_path / "link", "new")])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_text() == "new"


@pytest.mark.parametrize("closed", [(1,), (2,), (1, 2)], ids=["stdout", "stderr", "both"])
@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("list constructs", 0),
        ("explain OF201", 0),
        ("--help", 0),
        ("check {linear}", 0),
        ("check {deadlock}", 1),
        ("check {deadlock} --format sarif", 1),
        ("check {deadlock} --diff", 1),
        ("compile {linear} --target n8n", 0),
        ("compile {deadlock} --target n8n", 1),
        ("trace {linear}", 0),
        ("opt {linear} --passes references --time", 0),
        ("diff {linear} {deadlock}", 1),
        ("check --no-such-option", 2),
    ],
)
def test_a_closed_pipe_is_no_error(
    linear: Path, deadlock: Path, command: str, code: int, closed: tuple[int, ...]
) -> None:
    """Whoever reads may stop at once (`| head -1`): the exit code stays that of the command."""
    nobody, pipe = os.pipe()
    os.close(nobody)
    with open(pipe, "wb") as broken:
        done = subprocess.run(
            [sys.executable, "-m", "orgflow.cli",
             *command.format(linear=linear, deadlock=deadlock).split()],
            stdout=broken if 1 in closed else subprocess.PIPE,
            stderr=broken if 2 in closed else subprocess.PIPE,
            text=True, check=False, timeout=120,
        )  # fmt: skip
    assert done.returncode == code, done
    assert "orgflowc: " not in (done.stderr or "").replace("orgflowc check: no such option", "")
    assert "BrokenPipe" not in (done.stderr or "")


def test_findings_of_check_are_its_output(deadlock: Path, tmp_path: Path) -> None:
    """As of every linter: they can be filtered and redirected; other commands keep them apart from
    their result."""
    for form, is_finding in (
        ("text", lambda out: "error OF201" in out),
        ("json", lambda out: json.loads(out)["summary"]["error"] == 1),
        ("sarif", lambda out: json.loads(out)["runs"][0]["results"][0]["ruleId"] == "OF201"),
        ("github", lambda out: out.startswith("::error ")),
    ):
        ran = orgflowc("check", deadlock, "--format", form)
        assert (ran.code, ran.err) == (1, "")
        assert is_finding(ran.out)
    written = orgflowc("check", deadlock, "-o", tmp_path / "found.txt")
    assert (written.code, written.out, written.err) == (1, "", "")
    assert "error OF201" in (tmp_path / "found.txt").read_text("utf-8")
    preview = orgflowc("check", deadlock, "--diff")
    assert preview.out.startswith("--- ")
    assert "OF201" not in preview.out
    assert "error OF201" in preview.err
    misuse = orgflowc("check", deadlock, "--preset", "none")
    assert (misuse.code, misuse.out) == (2, "")
    compiled = orgflowc("compile", deadlock, "--target", "n8n", "--force")
    assert json.loads(compiled.out)["nodes"]
    assert "warning OF201" in compiled.err


def test_a_full_disk_is_one_line() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "orgflow.cli", "list", "constructs"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_ctrl_c_is_130(tmp_path: Path) -> None:
    pipe = tmp_path / "order.bpmn"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-m", "orgflow.cli", "compile", str(pipe), "--target", "n8n"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=interruptible,
    )
    with pipe.open("wb"):  # opens when the command has opened its end, and keeps it reading
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    assert err.strip() == "orgflowc: interrupted"


def test_a_fault_of_ours_is_one_line(
    invoke: Invoke, linear: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("no\nluck")

    monkeypatch.setattr(reading, "choose_frontend", broken)
    said = one_line(invoke("check", linear))
    assert "internal error: RuntimeError: no luck" in said
    monkeypatch.setenv("ORGFLOW_DEBUG", "1")
    assert "Traceback" in invoke("check", linear).err


# -- check -----------------------------------------------------------------------------------


def test_check_says_what_is_wrong_and_where(invoke: Invoke, deadlock: Path) -> None:
    ran = invoke("check", deadlock)
    assert (ran.code, ran.err) == (1, "")
    assert f"{deadlock}:" in ran.out
    assert ran.out.endswith(f"1 error in {deadlock}\n")


def test_check_of_a_sound_model(invoke: Invoke, linear: Path) -> None:
    ran = invoke("check", linear)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith(f"in {linear}\n")


def test_check_of_several_goes_on_after_a_fault(
    invoke: Invoke, linear: Path, deadlock: Path, tmp_path: Path
) -> None:
    ran = invoke("check", tmp_path / "missing.bpmn", deadlock, linear)
    assert ran.code == 2
    assert "OF002" in ran.out
    assert "OF201" in ran.out
    assert "in 3 files" in ran.out


def test_check_with_a_target_finds_what_it_cannot_say(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "complex.bpmn"
    path.write_text(LINEAR.replace("<task id=", "<complexGateway id="))
    assert invoke("check", path).code == 0
    assert invoke("check", path, "--target", "n8n").code == 0
    ran = invoke("check", path, "--target", "asl")
    assert ran.code == 1
    assert "error OF403" in ran.out


def test_a_workflow_has_the_same_findings_with_its_own_target(invoke: Invoke, shared: Path) -> None:
    looks = [shared / "data" / "outside-look" / "cli" / "check_target.json"]
    for path in (*looks, *sorted((shared / "data" / "n8n-workflows").glob("*.json"))[::10]):
        plain, with_target = invoke("check", path), invoke("check", path, "--target", "n8n")
        assert (plain.code, plain.out) == (with_target.code, with_target.out)


def test_json_diagnostics_are_valid_and_alone(invoke: Invoke, deadlock: Path, root: Path) -> None:
    ran = invoke("check", deadlock, "--format", "json")
    schema = json.loads((root / "orgflow_ir/schema/diagnostics.schema.json").read_text())
    said = json.loads(ran.out)
    jsonschema.Draft202012Validator(schema).validate(said)
    assert said["diagnostics"][0]["code"] == "OF201"
    assert ran.code == 1


def test_diagnostics_into_a_file(invoke: Invoke, deadlock: Path, tmp_path: Path) -> None:
    out = tmp_path / "found.sarif"
    ran = invoke("check", deadlock, "--format", "sarif", "-o", out)
    assert (ran.code, ran.out, ran.err) == (1, "", "")
    log = json.loads(out.read_text())
    assert log["runs"][0]["results"][0]["ruleId"] == "OF201"


# -- the other commands ----------------------------------------------------------------------


def test_explain_by_code_and_by_name(invoke: Invoke) -> None:
    by_code = invoke("explain", "of201")
    assert by_code.code == 0
    assert by_code.out.startswith("OF201 deadlocked-join (error)\n\nWhat it finds\n")
    assert invoke("explain", "deadlocked-join").out == by_code.out


@pytest.mark.parametrize(
    ("kind", "some"),
    [
        ("frontends", "bpmn"),
        ("backends", "n8n"),
        ("passes", "merge-deadlock"),
        ("rules", "OF201"),
        ("constructs", "gateway.inclusive"),
    ],
)
def test_list(invoke: Invoke, kind: str, some: str) -> None:
    ran = invoke("list", kind)
    assert ran.code == 0
    names = [line.split()[0] for line in ran.out.splitlines()]
    assert some in names
    assert names == sorted(names) or kind == "constructs"


def test_list_agents(invoke: Invoke) -> None:
    listed = invoke("list", "agents")
    assert listed.code == 0
    assert [line.split()[:2] for line in listed.out.splitlines()] == [
        ["labels", "gaps=branch"], ["operations", "gaps=message"],
        ["operations-rules", "gaps=message"], ["text", "models"], ["text-rules", "models"],
        ["times", "gaps=time"],
    ]  # fmt: skip


def test_the_matrix_has_a_cell_for_every_construct_and_target(invoke: Invoke) -> None:
    table = invoke("list", "constructs", "--matrix").out.split("\n\n")[0].splitlines()
    targets = table[0].split()[1:]
    assert "n8n" in targets
    words = {"Supported", "Supported*", "Lowered", "Degraded", "Refused", "-"}
    rows = {line.split()[0]: line.split()[1:] for line in table[1:]}
    assert all(len(cells) == len(targets) and set(cells) <= words for cells in rows.values())
    assert rows["gateway.complex"][targets.index("n8n")] == "Lowered"
    assert rows["gateway.complex"][targets.index("asl")] == "Refused"


def test_opt_prints_a_model_that_can_be_read_again(invoke: Invoke, linear: Path) -> None:
    ran = invoke("opt", linear, "--passes", "")
    assert ran.code == 0
    path = linear.with_suffix(".json")
    path.write_text(ran.out)
    again = invoke("opt", path, "--passes", "", "--from", "ir")
    assert again.out == ran.out


def test_opt_runs_passes_and_can_show_the_model_after_each(invoke: Invoke, deadlock: Path) -> None:
    ran = invoke("opt", deadlock, "--passes", "merge-deadlock", "--print-after", "--time")
    assert ran.code == 1
    assert "OF201" in ran.err
    assert "// after merge-deadlock\n{" in ran.err
    assert " ms\n" in ran.err


def test_trace_prints_runs_by_the_published_schema(
    invoke: Invoke, root: Path, tmp_path: Path
) -> None:
    schema = json.loads((root / "orgflow_ir/schema/run.schema.json").read_text())
    ran = invoke("trace", root / "examples/leave-request/model.bpmn")
    assert ran.code == 0
    runs = [json.loads(line) for line in ran.out.splitlines()]
    for run in runs:
        jsonschema.Draft202012Validator(schema).validate(run)
    assert [r["run"] for r in runs] == list(range(1, len(runs) + 1))
    assert "runs take 14 of 14 flows" in ran.err
    only = invoke("trace", root / "examples/leave-request/model.bpmn", "--max", "1")
    assert only.out == ran.out.splitlines(keepends=True)[0]


def test_engine_status_without_an_engine(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ORGFLOW_ENGINE_DIR", str(tmp_path / "none"))
    ran = invoke("engine", "status")
    assert ran.code == 2
    assert "engine: not installed" in ran.out
    assert "orgflowc engine install" in ran.err


def test_run_without_an_engine(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, linear: Path
) -> None:
    monkeypatch.setenv("ORGFLOW_ENGINE_DIR", str(tmp_path / "none"))
    ran = invoke("run", linear)
    assert (ran.code, ran.err) == (0, "")
    assert "Order received → Ship order → Order shipped" in " ".join(ran.out.split())
    assert "simulated by a model of n8n's engine" in ran.out
    assert "orgflowc engine install" in ran.out
    told = json.loads(invoke("run", linear, "--json").out)
    assert (told["ok"], told["engine"]) == (True, "model")
    only = invoke("run", linear, "--engine", "local")
    assert (only.code, only.out) == (2, "")
    assert "orgflowc engine install" in only.err


def test_run_as_json_carries_the_whole_result(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, linear: Path, deadlock: Path
) -> None:
    schema = json.loads(
        (Path(__file__).parents[1] / "orgflow_ir/schema/replay.schema.json").read_text("utf-8")
    )
    assert schema == replay_schema(), "run `make golden`"

    def told(*args: str | Path, code: int) -> dict[str, Any]:
        ran = invoke("run", *args, "--engine", "model", "--format", "json")
        assert (ran.code, ran.err) == (code, "")
        jsonschema.validate(json.loads(ran.out), schema)
        found: dict[str, Any] = json.loads(ran.out)
        return found

    equal = told(linear, code=0)
    assert (equal["verdict"], equal["runs"][0]["verdict"]) == ("equal", "equal")
    assert equal["summary"]["error"] == 0
    refused = told(deadlock, code=1)
    assert (refused["verdict"], refused["runs"], refused["summary"]["error"]) == ("not run", [], 1)
    monkeypatch.setattr(
        "orgflow.evaluation.replay.ReplayReport.ok", property(lambda report: not report.runs)
    )
    assert told(linear, code=1)["verdict"] == "different"


def test_diff_as_json_is_one_document(invoke: Invoke, linear: Path, tmp_path: Path) -> None:
    ran = invoke("diff", linear, linear, "--format", "json")
    assert (ran.code, json.loads(ran.out)["verdict"], ran.err) == (0, "same", "")
    ran = invoke("diff", linear, tmp_path / "none.bpmn", "--format", "json")
    assert (ran.code, ran.err) == (2, "")
    assert json.loads(ran.out)["diagnostics"][0]["code"] == "OF002"


def test_the_engine_that_played_is_named(
    invoke: Invoke, engine: LocalEngine, linear: Path, tmp_path: Path
) -> None:
    told = json.loads(invoke("run", linear, "--json").out)
    assert (told["ok"], told["engine"]) == (True, "local")
    page = tmp_path / "runs.html"
    chosen = invoke("run", linear, "--engine", "model", "--html", page)
    assert chosen.code == 0
    assert "simulated by a model of n8n's engine" in chosen.out
    assert "a model of n8n's engine" in html.unescape(page.read_text("utf-8"))
    assert "played by" not in invoke("run", linear, "--engine", "local").out


POOLS = """<?xml version="1.0"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d" targetNamespace="x">
  <collaboration id="c">
    <participant id="buyer" name="Buyer" processRef="p1" />
    <participant id="seller" name="Seller" processRef="p2" />
    <messageFlow id="m" sourceRef="order" targetRef="s2" />
  </collaboration>
  <process id="p1">
    <startEvent id="s1" /><task id="order" name="Order" /><endEvent id="e1" />
    <sequenceFlow id="f1" sourceRef="s1" targetRef="order" />
    <sequenceFlow id="f2" sourceRef="order" targetRef="e1" />
  </process>
  <process id="p2">
    <startEvent id="s2"><messageEventDefinition /></startEvent><endEvent id="e2" />
    <sequenceFlow id="f3" sourceRef="s2" targetRef="e2" />
  </process>
</definitions>
"""


def test_one_process_of_a_collaboration(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "pools.bpmn"
    path.write_text(POOLS, "utf-8")
    refused = invoke("compile", str(path), "--target", "n8n{version=1.123}")
    assert refused.code == 1
    said = " ".join(refused.err.split())
    assert "the message flow from `Order` to the message start event" in said
    assert "--process NAME" in refused.err
    for name in ("Buyer", "p1", "Seller"):
        one = invoke("compile", str(path), "--target", "n8n", "--process", name)
        assert one.code == 0, one.err
        assert json.loads(one.out)["name"] == ("Seller" if name == "Seller" else "Buyer")
    unknown = invoke("compile", str(path), "--target", "n8n", "--process", "Sellers")
    assert unknown.code == 2
    assert "did you mean `Seller`?" in unknown.err


def test_several_workflows_are_one_array_in_a_file(invoke: Invoke, tmp_path: Path) -> None:
    path = tmp_path / "pools.bpmn"
    path.write_text(POOLS.replace('<messageFlow id="m" sourceRef="order" targetRef="s2" />', ""))
    printed = invoke("compile", str(path), "--target", "n8n")
    one = invoke("compile", str(path), "--target", "n8n", "-o", str(tmp_path / "two.json"))
    assert one.code == printed.code == 0
    assert (tmp_path / "two.json").read_text("utf-8") == printed.out
    assert len(json.loads(printed.out)) == 2
    done = invoke("compile", str(path), "--target", "n8n", "-o", str(tmp_path / "two"))
    assert done.code == 0
    assert len(list((tmp_path / "two").iterdir())) == 2


@pytest.mark.parametrize(
    "args",
    [
        ("check", "IN", "-o", "IN"),
        ("check", "FOLDER", "-o", "IN"),
        ("opt", "IN", "--passes", "flow-ends", "-o", "IN"),
        ("compile", "IN", "--target", "ir", "-o", "OUT", "--report", "IN"),
        ("compile", "IN", "--target", "ir", "-o", "OUT", "--report", "OUT"),
    ],
)
def test_no_result_overwrites_what_it_is_made_from(
    args: tuple[str, ...], tmp_path: Path, invoke: Invoke
) -> None:
    path, out = tmp_path / "m.bpmn", tmp_path / "out.json"
    path.write_text(LINEAR)
    names = {"IN": path, "FOLDER": tmp_path, "OUT": out}
    ran = invoke(*(names.get(a, a) for a in args))
    assert ran.code == 2
    assert path.read_text() == LINEAR
    assert not out.exists()


@pytest.mark.parametrize("target", ["svg", "bpmn", "mermaid", "ir"])
def test_a_faulty_model_can_be_drawn(target: str, deadlock: Path, invoke: Invoke) -> None:
    ran = invoke("compile", deadlock, "--target", target)
    assert ran.code == 0
    assert ran.out
    assert "warning OF201" in ran.err


def test_without_standard_input() -> None:
    command = f"{sys.executable} -m orgflow.cli check --from bpmn - <&-"
    ran = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 2
    assert "there is no standard input" in ran.stdout


def test_gaps_have_their_section_in_every_target_s_report(
    invoke: Invoke, linear: Path, tmp_path: Path
) -> None:
    for target in ("n8n", "asl"):
        report = tmp_path / f"{target}.md"
        assert invoke("compile", linear, "--target", target, "--report", report).code == 0
        _, _, after = report.read_text().partition("## Remaining work")
        section, _, rest = after.partition("\n## ")
        assert "### Work to put in place" in section, target
        assert "has no implementation; emitted a " in section, target
        assert "has no implementation" not in rest


def test_a_retired_code_is_explained_by_its_successor(invoke: Invoke) -> None:
    said = invoke("explain", "OF470").out
    assert said.startswith(
        "OF470 placeholder-state is retired; its successor is:\n\nOF501 open-task"
    )
    assert invoke("explain", "placeholder-state").out == said


def test_a_list_in_a_pipe_has_one_line_for_each_entry(invoke: Invoke) -> None:
    """However long it is: programs read it line by line."""
    registry = Registry()
    for kind, names in (("passes", registry.passes), ("backends", registry.backends)):
        lines = invoke("list", kind).out.splitlines()
        assert [re.split(" {2,}", line)[0] for line in lines] == list(names)
    assert max(map(len, lines)) > 200


def test_a_command_that_is_looked_up_again_has_one_parser() -> None:
    context = click.Context(cli.orgflowc)
    first = cli.orgflowc.get_command(context, "compile")
    assert first is not None
    before = first.make_parser
    again = cli.orgflowc.get_command(context, "compile")
    assert again is first
    assert again.make_parser is before
