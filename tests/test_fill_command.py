"""`orgflowc fill` and `compile --fill` on the installed n8n, with a language model and without."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli_cases import orgflowc
from engine_fixture import missing
from model_server import model_server
from orgflow.backends.n8n.engine.install import engine_status

EXAMPLES = Path(__file__).parents[1] / "examples"

MODEL = """\
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d">
<process id="p" name="Orders" isExecutable="true"><startEvent id="s"/>
<sequenceFlow id="f0" sourceRef="s" targetRef="t"/>
<serviceTask id="t" name="Send a message in Slack">
<documentation>The channel is #orders, the text "An order came in".</documentation></serviceTask>
<sequenceFlow id="f1" sourceRef="t" targetRef="w"/>
<intermediateCatchEvent id="w" name="Two days later"><timerEventDefinition/>
</intermediateCatchEvent>
<sequenceFlow id="f2" sourceRef="w" targetRef="u"/>
<serviceTask id="u" name="Weigh the elephant"/>
<sequenceFlow id="f3" sourceRef="u" targetRef="e"/><endEvent id="e" name="Done"/>
</process></definitions>"""
VALUES = {
    "select": "channel",
    "channelId": {"__rl": True, "mode": "name", "value": "#orders"},
    "text": "An order came in",
}


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if not engine_status().installed:
        missing("n8n's engine is not installed")
    for name in ("ORGFLOW_MODEL_URL", "ORGFLOW_MODEL", "ORGFLOW_MODEL_KEY"):
        monkeypatch.delenv(name, raising=False)
    found = tmp_path / "order.bpmn"
    found.write_text(MODEL)
    return found


@pytest.fixture
def configured(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    def configure(url: str) -> None:
        monkeypatch.setenv("ORGFLOW_MODEL_URL", url)
        monkeypatch.setenv("ORGFLOW_MODEL", "toy")

    return configure


def answer(request: dict[str, Any]) -> str:
    """What a good model answers; it knows nothing that weighs elephants."""
    asked = request["messages"][-1]["content"]
    if "Which operation" in asked:
        ids = [line.split(" = ")[0][2:] for line in asked.splitlines() if line.startswith("- ")]
        slack = [i for i in ids if ".slack@" in i and i.endswith(":message:post")]
        return json.dumps({"operation": slack[0] if "Slack" in asked else "none"})
    return json.dumps(VALUES)


def node(text: str, name: str) -> dict[str, Any]:
    found = next(n for n in json.loads(text)["nodes"] if n["name"] == name)
    assert isinstance(found, dict)
    return found


def test_fill_and_compile(path: Path, configured: Callable[[str], None]) -> None:
    filled = path.parent / "filled.bpmn"
    with model_server(answer) as server:
        configured(server.url)
        ran = orgflowc("fill", str(path), "-o", str(filled))
        assert ran.code == 0, ran.err
        # no variable, so nothing to arrange, and no operation has the words of the other task
        assert len(server.requests) == 2
    assert "operations: 2 calls" in ran.err
    made = orgflowc("compile", str(filled), "--target", "n8n")
    assert made.code == 0, made.err
    post = node(made.out, "Send a message in Slack")
    assert post["type"] == "n8n-nodes-base.slack"
    assert post["parameters"]["channelId"] == VALUES["channelId"]
    assert post["parameters"]["text"] == "An order came in"
    assert post["executeOnce"]
    assert node(made.out, "Two days later")["parameters"]["amount"] == 2
    assert node(made.out, "Weigh the elephant")["type"] == "n8n-nodes-base.noOp"
    verified = orgflowc("compile", str(filled), "--target", "n8n", "--verify")
    assert "verified `Orders`: proved" in verified.err


def test_compile_fills_first(path: Path, configured: Callable[[str], None]) -> None:
    with model_server(answer) as server:
        configured(server.url)
        ran = orgflowc("compile", str(path), "--target", "n8n", "--fill")
    assert ran.code == 0, ran.err
    assert node(ran.out, "Send a message in Slack")["type"] == "n8n-nodes-base.slack"


@pytest.mark.parametrize("invented", ['{"operation": "n8n-nodes-base.elephant@1:weigh"}', "Slack!"])
def test_a_task_that_stays_open_is_reported(
    path: Path, configured: Callable[[str], None], invented: str
) -> None:
    with model_server([invented]) as server:
        configured(server.url)
        shown = orgflowc("fill", str(path), "-o", str(path.parent / "filled.bpmn"))
        ran = orgflowc(
            "fill", str(path), "-o", str(path.parent / "filled.bpmn"), "--format", "json"
        )
    assert (shown.code, ran.code) == (0, 0)
    assert "warning OF523" in shown.err
    assert "`Send a message in Slack` stays open" in shown.err
    shown_as_data = json.loads(ran.err)
    found = {d["element"]: d for d in shown_as_data["diagnostics"] if d["code"] == "OF523"}
    assert found.keys() == {"t", "u"}
    assert found["t"]["severity"] == "warning"
    reason = "the operation `n8n-nodes-base.elephant@1:weigh`" if "n8n" in invented else "JSON"
    assert reason in found["t"]["message"]
    assert found["u"]["severity"] == "info"  # nothing in n8n has to do with elephants


def test_what_no_agent_answers_is_reported(path: Path) -> None:
    ran = orgflowc("fill", str(path), "-o", str(path.parent / "filled.bpmn"), "--no-model")
    assert ran.code == 0
    assert "info OF522" in ran.err
    assert "no answer by `operations-rules`" in " ".join(ran.err.split())


def test_without_a_model_operations_are_proposed(path: Path) -> None:
    ran = orgflowc("fill", str(path))
    assert ran.code == 0, ran.err
    assert ran.err.splitlines()[0].endswith("filling by rules alone")
    assert "OF520" in ran.err
    assert "catalogue" not in ran.out
    assert "P2D" in ran.out
    accepted = orgflowc("fill", str(path), "--accept")
    assert "n8n-nodes-base.slack@" in accepted.out


def test_what_people_change_in_a_filled_node_is_kept(path: Path) -> None:
    filled, workflow = path.parent / "filled.bpmn", path.parent / "order.json"
    assert orgflowc("fill", str(path), "--accept", "-o", str(filled)).code == 0
    made = orgflowc("compile", str(filled), "--target", "n8n", "-o", str(workflow))
    assert made.code == 0, made.err
    edited = json.loads(workflow.read_text())
    post = next(n for n in edited["nodes"] if n["name"] == "Send a message in Slack")
    post["parameters"] |= {"select": "user", "text": "by hand"}
    post["credentials"] = {"slackApi": {"id": "1", "name": "Ours"}}
    workflow.write_text(json.dumps(edited))
    filled.write_text(filled.read_text().replace("Weigh the elephant", "Weigh the mouse"))
    ran = orgflowc("compile", str(filled), "--target", "n8n", "--merge", str(workflow))
    assert ran.code == 0, ran.err
    kept = node(ran.out, "Send a message in Slack")
    assert kept["parameters"]["text"] == "by hand"
    assert kept["credentials"] == post["credentials"]
    assert node(ran.out, "Weigh the mouse")


def test_what_is_missing_is_said_in_a_line(path: Path, tmp_path: Path) -> None:
    ran = orgflowc("fill", str(path), "--catalogue", str(tmp_path))
    assert ran.code == 2
    assert "contains no n8n-nodes-base: run `orgflowc engine install`" in ran.err
    other = orgflowc("fill", str(path), "--target", "svg")
    assert other.code == 2
    assert "target `svg` has no catalogue of operations" in other.err


def test_a_server_that_fails_is_exit_code_3(path: Path, configured: Callable[[str], None]) -> None:
    with model_server([""]) as server:
        configured(server.url.replace("/v1", "/nothing/here"))
    ran = orgflowc("fill", str(path), "--timeout", "1")
    assert ran.code == 3, ran.err
    assert "OF514" in ran.err


CALLER = """\
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" id="d-{id}">
<process id="{id}" name="{id}" isExecutable="true"><startEvent id="s-{id}"/>
<sequenceFlow id="f0-{id}" sourceRef="s-{id}" targetRef="c-{id}"/>
<callActivity id="c-{id}" name="Order" calledElement="p"/>
<sequenceFlow id="f1-{id}" sourceRef="c-{id}" targetRef="e-{id}"/><endEvent id="e-{id}"/>
</process></definitions>"""


def folder_of_callers(path: Path, *, callee: str = "models/parts/order.bpmn") -> Path:
    """Two models that call the process of the file at `path`, which moves to `callee`."""
    models = path.parent / "models"
    place = path.parent / callee
    place.parent.mkdir(parents=True)
    path.rename(place)
    for id in ("one", "two"):
        models.joinpath(f"{id}.bpmn").write_text(CALLER.format(id=id))
    return models


def with_slack(folder: Path) -> set[str]:
    """The names of the workflows that send a message in Slack."""
    workflows = [json.loads(p.read_text()) for p in folder.glob("*.json")]
    return {w["name"] for w in workflows if any("slack" in str(n["type"]) for n in w["nodes"])}


def test_a_folder_keeps_its_shape(path: Path) -> None:
    models = folder_of_callers(path)
    decision = (EXAMPLES / "expense-claim" / "approver.dmn").read_bytes()
    (models / "parts" / "rules.dmn").write_bytes(decision)
    out = path.parent / "out"
    ran = orgflowc("fill", str(models), "--accept", "--no-model", "-o", f"{out}/")
    assert ran.code == 0, ran.err
    written = sorted(p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file())
    assert written == ["one.bpmn", "parts/order.bpmn", "parts/rules.dmn", "two.bpmn"]
    assert (out / "parts" / "rules.dmn").read_bytes() == decision
    assert ran.err.count("operations of n8n-nodes-base") == 1
    assert "n8n-nodes-base.slack@" in (out / "parts" / "order.bpmn").read_text()
    assert "n8n-nodes-base.slack@" not in (out / "one.bpmn").read_text()
    made = orgflowc("compile", str(out), "--target", "n8n", "-o", f"{path.parent / 'n8n'}/")
    assert made.code == 0, made.err
    assert with_slack(path.parent / "n8n") == {"Orders", "Orders (called by other files)"}


@pytest.mark.slow
@pytest.mark.parametrize("callee", ["models/parts/order.bpmn", "models/order.bpmn"])
def test_a_process_of_another_file_is_asked_about_once(
    path: Path, configured: Callable[[str], None], callee: str
) -> None:
    models = folder_of_callers(path, callee=callee)
    out = path.parent / "out"
    given = [str(models)]
    if callee == "models/order.bpmn":  # a file beside them, which nobody names
        given = [str(models / "one.bpmn"), str(models / "two.bpmn")]
    with model_server(answer) as server:
        configured(server.url)
        ran = orgflowc("compile", *given, "--fill", "--target", "n8n", "-o", f"{out}/")
        assert ran.code == 0, ran.err
        assert len(server.requests) == 2
        to_n8n = orgflowc("fill", *given, "--to", "n8n", "-o", f"{path.parent / 'again'}/")
        assert to_n8n.code == 0, to_n8n.err
        assert len(server.requests) == 4
    assert ran.err.count("asking ") == 1
    assert "differ" not in ran.err
    expected = {"Orders (called by other files)"}
    if callee == "models/parts/order.bpmn":  # which is compiled by itself, too
        expected.add("Orders")
    for folder in (out, path.parent / "again"):
        assert with_slack(folder) == expected
        assert len(list(folder.glob("*.json"))) == 2 + len(expected)


def test_one_faulty_model_does_not_stop_the_others(path: Path) -> None:
    broken = path.parent / "broken.bpmn"
    broken.write_text(MODEL.replace("</process>", ""))
    out = path.parent / "out"
    ran = orgflowc("fill", str(path), str(broken), "--no-model", "-o", f"{out}/")
    assert ran.code == 1
    assert "broken.bpmn:" in ran.err
    assert [p.name for p in out.iterdir()] == ["order.bpmn"]


def test_a_server_that_failed_is_not_asked_about_the_next_model(
    path: Path, configured: Callable[[str], None]
) -> None:
    other = path.parent / "other.bpmn"
    other.write_text(MODEL)
    with model_server([""]) as server:
        configured(server.url.replace("/v1", "/nothing/here"))
    ran = orgflowc(
        "fill", str(path), str(other), "--timeout", "1", "-o", f"{path.parent}/out/", "-v"
    )
    assert ran.code == 3, ran.err
    assert ran.err.count("OF514") == 1
    assert sorted(p.name for p in (path.parent / "out").iterdir()) == ["order.bpmn", "other.bpmn"]


def test_several_models_need_a_folder(path: Path) -> None:
    other = path.parent / "other.bpmn"
    other.write_text(MODEL)
    both = (str(path), str(other))
    for more, reason in (
        ((), "there are 2 models; name a folder: -o DIR/"),
        (("-o", f"{path.parent}/one.bpmn"), "there are 2 models; name a folder: -o DIR/"),
        (("-o", f"{path.parent}/"), "would overwrite the input"),
        (("--process", "p"), "--process is for one model, and there are 2"),
        (("--feedback", "x.json"), "--feedback is for one model, and there are 2"),
    ):
        ran = orgflowc("fill", *both, "--no-model", *more)
        assert ran.code == 2
        assert reason in ran.err
