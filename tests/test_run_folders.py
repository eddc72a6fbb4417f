"""`run` of several models and of folders: called processes and decisions in other files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from orgflow import cli

BPMN = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" id="d">'
    '<process id="{id}" name="{name}" isExecutable="true"><startEvent id="s"/>{step}'
    '<endEvent id="e" name="{name} done"/><sequenceFlow id="f" sourceRef="s" targetRef="t"/>'
    '<sequenceFlow id="g" sourceRef="t" targetRef="e"/></process></definitions>'
)
CALL = '<callActivity id="t" name="Call" calledElement="{}"/>'
RULE = (
    '<businessRuleTask id="t" name="Decide" camunda:decisionRef="class" '
    'camunda:mapDecisionResult="singleEntry" camunda:resultVariable="class"/>'
)
DMN = (
    '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="x" name="Class" '
    'namespace="n"><decision id="class" name="Class"><decisionTable id="t">'
    '<input id="i"><inputExpression id="j" typeRef="number"><text>amount</text>'
    '</inputExpression></input><output id="o" name="class" typeRef="string"/>'
    '<rule id="r"><inputEntry id="a"><text>{}</text></inputEntry><outputEntry id="b">'
    '<text>"A"</text></outputEntry></rule></decisionTable></decision></definitions>'
)
SCHEMA = Path(__file__).parents[1] / "orgflow_ir/schema/replay.schema.json"


def model(id: str, step: str) -> str:
    return BPMN.format(id=id, name=id.title(), step=step)


def written(root: Path, **files: str) -> Path:
    """Files by their paths, in which `__` is the separator and names have spaces and umlauts."""
    for name, text in files.items():
        path = root / (name.replace("__", "/").replace("_", " ü ") + ".bpmn")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.replace("><", ">\r\n<").encode())
    return root


def ran(capsys: pytest.CaptureFixture[str], *args: str, code: int = 0) -> tuple[str, str]:
    capsys.readouterr()
    got = cli.run([*args, "--engine", "model"])
    said = capsys.readouterr()
    assert got == code, said.err
    return said.out, " ".join(said.err.split())


def test_a_folder_is_run_with_what_its_models_call(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In other folders, which a model alone does not see."""
    models = written(
        tmp_path / "models", sales__big_order=model("order", CALL.format("pay")),
        money__pay=model("pay", '<task id="t" name="Book"/>'),
    )  # fmt: skip
    order = str(models / "sales" / "big ü order.bpmn")
    out, _ = ran(capsys, "run", str(models))
    assert out.index("pay.bpmn\n") < out.index(f"{order}\n")
    assert "Call → Start → Book → Pay done" in " ".join(out.split())
    assert out.count("runs conform") == 2
    alone, _ = ran(capsys, "run", order)
    assert "Book" not in alone
    _, err = ran(capsys, "run", order, "-v")
    assert "OF120" in err
    assert "pass both files (or a folder with both) to the command" in err
    both, _ = ran(capsys, "run", order, str(models / "money" / "pay.bpmn"))
    assert "Book → Pay done" in " ".join(both.split())


def test_a_model_with_errors_does_not_stop_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = written(
        tmp_path / "models", a=model("a", CALL.format("b")), b=model("b", CALL.format("a")),
        c=model("c", '<task id="t" name="Book"/>'),
    )  # fmt: skip
    out, err = ran(capsys, "run", str(models), code=1)
    assert "1 of 1 runs conform" in out
    assert "`B` calls `A`, which calls it again" in err
    assert "no call back to its caller" in err
    schema = json.loads(SCHEMA.read_text("utf-8"))
    for more in (["--json"], ["--format", "json"]):
        out, _ = ran(capsys, "run", str(models), *more, code=1)
        found: list[dict[str, Any]] = json.loads(out)
        for one in found:
            jsonschema.validate(one, schema)
        assert [(Path(one["model"]).name, one["verdict"]) for one in found] == [
            ("a.bpmn", "not run"), ("b.bpmn", "not run"), ("c.bpmn", "equal"),
        ]  # fmt: skip


@pytest.mark.parametrize("option", ["--process=a", "--html=x.html", "--executions=x.json"])
def test_options_for_one_model(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    task = '<task id="t" name="Book"/>'
    models = written(tmp_path / "models", a=model("a", task), b=model("b", task))
    _, err = ran(capsys, "run", str(models), option, code=2)
    assert f"{option.partition('=')[0]} is for one model, and there are 2; name the file" in err


def test_a_folder_without_models(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, err = ran(capsys, "run", str(tmp_path), code=2)
    assert (out, f"there is no model in {tmp_path}" in err) == ("", True)


def test_a_circle_of_calls_is_an_error_for_a_folder_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With an output folder, processes of one file are compiled separately if they cannot be
    compiled together: a call is part of that, and is no placeholder instead."""
    models = written(
        tmp_path / "models", a=model("a", CALL.format("b")), b=model("b", CALL.format("a")),
    )  # fmt: skip
    out = tmp_path / "out"
    for what in (str(models), str(models / "a.bpmn")):
        capsys.readouterr()
        assert cli.run(["compile", what, "--target", "n8n", "-o", f"{out}/"]) == 1
        said = " ".join(capsys.readouterr().err.split())
        assert said.count("`B` calls `A`, which calls it again") == 1
        assert not out.exists()


def test_decisions_next_to_a_called_process_and_in_other_folders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = written(
        tmp_path / "models", sales__order=model("order", CALL.format("rate")),
        money__rate=model("rate", RULE), store__check=model("check", RULE),
    )  # fmt: skip
    (models / "money" / "class.dmn").write_text(DMN.format("&lt; 5"), "utf-8")
    compiling = ["compile", str(models), "--target", "n8n", "-o"]
    assert cli.run([*compiling, f"{tmp_path}/out/"]) == 0
    made = {path.name: path.read_text("utf-8") for path in (tmp_path / "out").glob("*.json")}
    assert "class-decision.json" not in made
    for name in ("rate.json", "rate-called-by-other-files.json", "check.json"):
        assert "amount" in made[name], name
    alone = str(models / "store" / "check.bpmn")
    assert cli.run(["compile", alone, "--target", "n8n", "-o", f"{tmp_path}/alone/"]) == 0
    assert (tmp_path / "alone" / "class-decision.json").exists()
    (models / "rules").mkdir()
    (models / "rules" / "class.dmn").write_text(DMN.format("&gt; 5"), "utf-8")
    capsys.readouterr()
    assert cli.run([*compiling, f"{tmp_path}/two/", "-v"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "rules/class.dmn have it; put one of them next to the model" in said


def test_the_process_in_the_folder_of_the_caller_counts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of two processes with the same id, the one in the same folder is called. A call from another
    folder is reported with the paths of both files."""
    models = written(
        tmp_path / "models", new__order=model("order", CALL.format("pay")),
        new__pay=model("pay", '<task id="t" name="Book"/>'),
        old__pay=model("pay", '<task id="t" name="Note"/>'),
        other__refund=model("refund", CALL.format("pay")),
    )  # fmt: skip
    assert cli.run(["check", str(models), "--no-cache"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert said.count("OF120") == 1
    assert "`pay`, which is defined differently in `new/pay.bpmn` and `old/pay.bpmn`" in said
    assert "put one of these files into the folder of the calling file" in said
    order = str(models / "new" / "order.bpmn")
    out, _ = ran(capsys, "run", str(models))
    assert "Call → Start → Book → Pay done" in " ".join(out.partition(order)[2].split())


def test_an_output_folder_in_the_folder_of_the_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What an earlier compilation wrote there is no model of the next one."""
    written(tmp_path, a=model("a", '<task id="t" name="Book"/>'))
    monkeypatch.chdir(tmp_path)
    compiling = ["compile", ".", "--target", "n8n"]
    assert cli.run([*compiling, "-o", "out/"]) == 0
    before = {path: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    for more in ("-o", "--check"):
        assert cli.run([*compiling, more, "out/"]) == 0, capsys.readouterr().err
        assert {path: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before
