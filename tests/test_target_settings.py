"""`[targets.NAME]` in orgflow.toml: options of backends, for every command that compiles."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from orgflow import cli

EXAMPLE = Path(__file__).parents[1] / "examples" / "leave-request" / "model.bpmn"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model of people's tasks, in which commands run."""
    shutil.copy(EXAMPLE, tmp_path / "leave.bpmn")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def compiled(*more: str) -> str:
    assert cli.run(["compile", "leave.bpmn", "-o", "out.json", *more]) == 0
    return Path("out.json").read_text("utf-8")


def test_options_hold_for_models_near_the_file(project: Path) -> None:
    plain = compiled("--target", "n8n")
    chosen = compiled("--target", "n8n{people=placeholder}")
    assert plain != chosen
    (project / "orgflow.toml").write_text('[targets.n8n]\npeople = "placeholder"\n', "utf-8")
    assert compiled("--target", "n8n") == chosen


def test_the_command_line_goes_first(project: Path) -> None:
    plain = compiled("--target", "n8n")
    (project / "orgflow.toml").write_text('[targets.n8n]\npeople = "placeholder"\n', "utf-8")
    assert compiled("--target", "n8n{people=form}") == plain


def test_options_of_other_targets_are_left_alone(project: Path) -> None:
    before = compiled("--target", "mermaid")
    (project / "orgflow.toml").write_text('[targets.n8n]\npeople = "placeholder"\n', "utf-8")
    assert compiled("--target", "mermaid") == before


FAULTS = {
    'people = "pigeon"': ("option `people` of target `n8n` cannot be `pigeon`", "it is one of"),
    'pepole = "mail"': ("target `n8n` has no option `pepole`", "did you mean `people`?"),
    "version = 1.123": ("option `version` of target `n8n` is not a text", 'version = "1.123"'),
    'timeout = "soon"': ("option `timeout` of target `n8n` cannot be `soon`", ""),
}


@pytest.mark.parametrize("line", FAULTS)
def test_a_fault_has_file_line_key_and_remedy(
    project: Path, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "orgflow.toml").write_text(f"# ours\n[targets.n8n]\n{line}\n", "utf-8")
    message, remedy = FAULTS[line]
    for command in (["compile", "leave.bpmn", "--target", "n8n"], ["run", "leave.bpmn"],
                    ["verify", "leave.bpmn", "w.json"]):  # fmt: skip
        assert cli.run(command) == 2
        said = capsys.readouterr().err
        assert "orgflow.toml:3: " in said
        assert message in said
        assert remedy in said
    assert cli.run(["check", "leave.bpmn", "--format", "json"]) == 1
    findings = json.loads(capsys.readouterr().out)["diagnostics"]
    (fault,) = [one for one in findings if one["code"] == "OF004"]
    assert (fault["loc"]["file"], fault["loc"]["line"]) == ("orgflow.toml", 3)
    assert fault["message"] == message
    assert remedy in fault["help"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[targets.n9n]\npeople = "mail"\n', "there is no target `n9n`"),
        ('targets = "n8n"\n', "`targets` is no table"),
        ('[targets]\nn8n = "mail"\n', "`n8n` in `targets` is not a table"),
    ],
)
def test_a_target_that_does_not_exist(
    project: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "orgflow.toml").write_text(text, "utf-8")
    assert cli.run(["check", "leave.bpmn"]) == 1
    said = capsys.readouterr().out
    assert message in said
    assert "orgflow.toml:1:1" in said or "orgflow.toml:2:1" in said


def test_check_for_a_target_takes_them_file_by_file(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, people in (("a", "placeholder"), ("b", "form")):
        folder = project / name
        folder.mkdir()
        shutil.copy(EXAMPLE, folder / "leave.bpmn")
        (folder / "orgflow.toml").write_text(f'[targets.n8n]\npeople = "{people}"\n', "utf-8")
    assert cli.run(["check", "a", "b", "--target", "n8n"]) == 0
    capsys.readouterr()
    code = cli.run(["deploy", "a/leave.bpmn", "b/leave.bpmn", "--url", "http://127.0.0.1:9"])
    said = capsys.readouterr().err
    assert code == 2
    assert "a/orgflow.toml and b/orgflow.toml" in " ".join(said.split())


def test_options_of_a_plugins_target(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from orgflow.commands.options import resolve_target

    from orgflow_ir.authoring import Backend, Emitted, Model, PassContext, TargetSpec
    from orgflow_ir.plugins import Registry

    class Knot(Backend):
        name = "knot"
        target = TargetSpec("knot", {}, options={"rope": ("hemp", "nylon")})

        def emit(self, model: Model, ctx: PassContext) -> Emitted:
            raise AssertionError("nothing is compiled")

    registry = Registry()
    monkeypatch.setattr(type(registry), "backends", {"knot": Knot()})
    (project / "orgflow.toml").write_text('[targets.knot]\nrope = "nylon"\n', "utf-8")
    assert resolve_target("knot", registry, ["leave.bpmn"])[1] == {"rope": "nylon"}
    assert resolve_target("knot{rope=hemp}", registry, ["leave.bpmn"])[1] == {"rope": "hemp"}
