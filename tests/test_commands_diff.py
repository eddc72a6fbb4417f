"""`orgflowc diff` and `compile --check` from the outside: output, exit codes, misuse."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from cli_cases import LINEAR, Ran
from diff_edits import compiled, relaid, renamed, swapped_branches
from orgflow import cli

from orgflow_ir.plugins import Registry

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "benchmarks"))

Invoke = Callable[..., Ran]
SCHEMA = Path(__file__).resolve().parent.parent / "orgflow_ir" / "schema" / "comparison.schema.json"


@pytest.fixture
def invoke(capfdbinary: pytest.CaptureFixture[bytes]) -> Invoke:
    """Runs a command line in this process."""

    def run(*args: str | Path) -> Ran:
        code = cli.run([str(a) for a in args])
        found = capfdbinary.readouterr()
        return Ran(code, found.out.decode(), found.err.decode())

    return run


@pytest.fixture(scope="module")
def leave(root: Path) -> Path:
    return root / "examples" / "leave-request" / "model.bpmn"


@pytest.fixture(scope="module")
def workflow(leave: Path, registry: Registry) -> dict[str, Any]:
    (found,) = compiled(leave, registry)
    return found


def write(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def test_what_differs_is_told(invoke: Invoke, workflow: Any, tmp_path: Path) -> None:
    old = write(tmp_path / "old.json", workflow)
    new = write(tmp_path / "new.json", swapped_branches(workflow, "Request approved?"))
    ran = invoke("diff", old, new)
    assert (ran.code, ran.err) == (1, "")
    assert ran.out.startswith("Leave request: different behaviour\n")
    assert "≠ Send rejection                       Record absence in payroll\n" in ran.out
    assert "- Request approved? [No] → Send rejection\n" in ran.out


def test_only_layout(invoke: Invoke, workflow: Any, tmp_path: Path) -> None:
    old = write(tmp_path / "old.json", workflow)
    ran = invoke("diff", old, write(tmp_path / "new.json", relaid(workflow)))
    assert ran == Ran(0, "only layout differs: positions, ids or order\n", "")
    ran = invoke("diff", old, old)
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "no difference")


def test_json_keeps_its_schema(invoke: Invoke, workflow: Any, tmp_path: Path) -> None:
    schema = json.loads(SCHEMA.read_text("utf-8"))
    old = write(tmp_path / "old.json", [workflow, {**workflow, "name": "Gone"}])
    for other in (workflow, relaid(workflow), renamed(workflow)[0],
                  swapped_branches(workflow, "Request approved?")):  # fmt: skip
        ran = invoke("diff", old, write(tmp_path / "new.json", other), "--format", "json")
        said = json.loads(ran.out)
        jsonschema.validate(said, schema)
        assert said["differs"] is (ran.code == 1)


def test_models_of_two_languages_are_compared(invoke: Invoke, leave: Path, tmp_path: Path) -> None:
    ir = tmp_path / "model.ir.json"
    assert invoke("compile", leave, "--target", "ir", "-o", ir).code == 0
    ran = invoke("diff", leave, ir, "--from", "bpmn")
    assert ran.code == 2  # it is no BPMN
    ran = invoke("diff", leave, ir)
    assert ran.code == 0, ran.out


def test_a_model_and_a_workflow(invoke: Invoke, leave: Path, workflow: Any, tmp_path: Path) -> None:
    same = invoke("diff", leave, write(tmp_path / "w.json", workflow))
    assert same.code == 0
    assert "w.json is a workflow: the model that is read from it is compared" in " ".join(
        same.out.split()
    )
    assert same.out.endswith("no difference\n")
    other = swapped_branches(workflow, "Request approved?")
    ran = invoke("diff", leave, write(tmp_path / "x.json", other))
    assert ran.code == 1
    assert "≠" in ran.out


def test_two_drawings(invoke: Invoke, leave: Path, tmp_path: Path) -> None:
    text = leave.read_text("utf-8")
    new = write(tmp_path / "new.bpmn", text.replace("Send rejection", "Send refusal"))
    ran = invoke("diff", leave, new)
    assert ran.code == 1
    assert "same behaviour" in ran.out
    assert "`Send rejection` is now `Send refusal`, found by its id" in ran.out
    moved = text.replace('<dc:Bounds x="', '<dc:Bounds x="1')
    assert moved != text
    ran = invoke("diff", leave, write(tmp_path / "moved.bpmn", moved))
    assert (ran.code, ran.out) == (0, "only layout differs: positions, ids or order\n")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("missing.json", "{old}"), "missing.json does not exist"),
        (("{old}", "{tmp}"), "bad.json is not JSON"),
        (("{old}", "{empty}"), "contains no JSON files"),
        (("-", "-"), "only one of OLD and NEW can be standard input"),
        (("-", "{old}"), "standard input needs its format"),
        (("{old}", "{old}", "--from", "n9n"), "no frontend `n9n`"),
        (("{old}", "{bad}", "--from", "n8n"), "OF490"),
        (("{old}", "{text}"), "is not in a supported notation for processes"),
        (("{old}",), "missing argument"),
        (("{old}", "{old}", "--format", "xml"), "xml"),
    ],
)
def test_what_cannot_be_compared_is_exit_code_2(
    invoke: Invoke, workflow: Any, tmp_path: Path, args: tuple[str, ...], said: str
) -> None:
    places = {
        "old": write(tmp_path / "old.json", workflow),
        "bad": write(tmp_path / "bad.json", "<<<<<<< HEAD"),
        "text": write(tmp_path / "a.txt", "words"),
        "tmp": tmp_path,
        "empty": tmp_path / "empty",
    }
    places["empty"].mkdir()
    ran = invoke("diff", *(a.format(**places) for a in args))
    assert (ran.code, ran.out) == (2, "")
    assert said in " ".join(ran.err.split())
    assert "Traceback" not in ran.err


# -- compile --check -------------------------------------------------------------------------


def test_check_shows_what_the_workflow_does_differently(
    invoke: Invoke, leave: Path, tmp_path: Path
) -> None:
    golden = tmp_path / "golden.json"
    command = ("compile", leave, "--target", "n8n", "--check", golden)
    assert invoke("compile", leave, "--target", "n8n", "-o", golden).code == 0
    assert invoke(*command).out == ""
    workflow = json.loads(golden.read_text("utf-8"))
    write(golden, swapped_branches(workflow, "Request approved?"))
    ran = invoke(*command)
    assert ran.code == 1
    assert ran.out.startswith(
        f"--- {golden}\n+++ compiled now\nLeave request: different behaviour\n"
    )
    assert "≠ Record absence in payroll            Send rejection\n" in ran.out


def test_check_says_that_only_bytes_differ(invoke: Invoke, leave: Path, tmp_path: Path) -> None:
    golden = tmp_path / "golden.json"
    invoke("compile", leave, "--target", "n8n", "-o", golden)
    text = golden.read_text("utf-8")
    assert '"position": [\n        336,' in text
    golden.write_text(text.replace('"position": [\n        336,', '"position": [\n        340,'))
    ran = invoke("compile", leave, "--target", "n8n", "--check", golden)
    assert ran.code == 1
    assert ran.out.startswith(f"--- {golden}\n+++ compiled now\n@@")
    assert "-        340,\n+        336,\n" in ran.out
    assert ran.out.endswith("only layout differs: positions, ids, white space or order\n")


def test_check_of_a_golden_file_that_is_broken(invoke: Invoke, leave: Path, tmp_path: Path) -> None:
    golden = write(tmp_path / "golden.json", "<<<<<<< HEAD\n")
    ran = invoke("compile", leave, "--target", "n8n", "--check", golden)
    assert ran.code == 1
    assert ran.out.startswith(f"--- {golden}\n+++ compiled now\n@@")
    assert "OF490" in ran.err


def test_check_of_a_folder(invoke: Invoke, tmp_path: Path) -> None:
    second = LINEAR.split("<process", 1)[1].split("</process>")[0]
    for old, new in (("id=\"p\"", "id=\"q\""), ("Order", "Sale"), ("order", "sale"),
                     ("\"start\"", "\"s2\""), ("\"ship\"", "\"t2\""), ("\"end\"", "\"e2\""),
                     ("\"f1\"", "\"g1\""), ("\"f2\"", "\"g2\"")):  # fmt: skip
        second = second.replace(old, new)
    two = LINEAR.replace("</definitions>", f"<process{second}</process></definitions>")
    model, golden = write(tmp_path / "two.bpmn", two), tmp_path / "golden"
    command = ("compile", model, "--target", "n8n", "--check", golden)
    assert invoke("compile", model, "--target", "n8n", "-o", f"{golden}/").code == 0
    names = sorted(p.name for p in golden.iterdir())
    assert len(names) == 2
    assert invoke(*command) == Ran(0, "", invoke(*command).err)
    write(golden / "other.json", "{}")  # of another model
    assert invoke(*command).code == 0
    (golden / names[0]).unlink()
    ran = invoke(*command)
    assert ran.code == 1
    assert f"--- {golden / names[0]}\n+++ compiled now\n@@ -0,0" in ran.out
    assert names[1] not in ran.out


def test_check_of_another_target_is_textual(invoke: Invoke, leave: Path, tmp_path: Path) -> None:
    golden = tmp_path / "model.json"
    invoke("compile", leave, "--target", "ir", "-o", golden)
    golden.write_text(golden.read_text("utf-8").replace("Send rejection", "Send refusal"))
    ran = invoke("compile", leave, "--target", "ir", "--check", golden)
    assert ran.code == 1
    assert ran.out.startswith(f"--- {golden}\n+++ compiled now\n@@")


def test_a_file_does_not_differ_from_itself(shared: Path, root: Path) -> None:
    """A sample of what `benchmarks/diff_self.py` compares."""
    diff_self: Any = importlib.import_module("diff_self")
    paths = list(diff_self.files([shared / "data"]))[::20]
    paths += sorted(root.glob("tests/diagnostics/OF131*/*.*"))
    found = {str(path): diff_self.compared(path) for path in paths}
    assert {path: f.fault for path, f in found.items() if f.fault} == {}
    assert {f.kind for f in found.values()} >= {"workflow", "model"}
