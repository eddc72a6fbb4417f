"""A process that several models of a folder call: one workflow, which all of them call."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from n8n_stand_in import KEY, StandIn
from orgflow import cli
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest

Json = dict[str, Any]

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" id="d">'
    '<error id="declined" errorCode="declined"/><escalation id="late" escalationCode="late"/>'
)
OUT = '<camunda:out source="{0}" target="{0}"/>'


def flow(id: str, source: str, target: str, condition: str = "") -> str:
    inner = f"<conditionExpression>{condition}</conditionExpression>" if condition else ""
    return (
        f'<sequenceFlow id="{id}" sourceRef="{source}" targetRef="{target}">{inner}</sequenceFlow>'
    )


def caller(id: str, variable: str, more: str = "", prefix: str = "") -> str:
    """A process that calls `pay` and asks for one of its variables."""
    s, c, g, y, n = (prefix + one for one in "scgyn")
    return (
        f'{HEAD}<process id="{id}" name="{id.title()}" isExecutable="true">'
        f'<startEvent id="{s}"/><callActivity id="{c}" name="Call" calledElement="pay">'
        f'<extensionElements><camunda:in variables="all"/>{OUT.format(variable)}'
        f'</extensionElements></callActivity><exclusiveGateway id="{g}" name="Ok?"/>'
        f'<endEvent id="{y}" name="Yes"/><endEvent id="{n}" name="No"/>'
        + flow(f"{prefix}1", s, c) + flow(f"{prefix}2", c, g)
        + flow(f"{prefix}3", g, y, f"${{{variable} == 'a'}}")
        + flow(f"{prefix}4", g, n, f"${{{variable} != 'a'}}") + more
        + "</process></definitions>"
    )  # fmt: skip


def pay(step: str, after: str = '<endEvent id="e" name="Paid"/>') -> str:
    return (
        f'{HEAD}<process id="pay" name="Pay" isExecutable="true"><startEvent id="s" name="Called"/>'
        f"{step}{after}{flow('f', 's', 't')}{flow('g', 't', 'e')}</process></definitions>"
    )


BOOK = '<serviceTask id="t" name="Book" camunda:class="org.acme.Book"/>'
ESCALATES = (
    '<endEvent id="e" name="Paid"><escalationEventDefinition escalationRef="late"/></endEvent>'
)
CATCHES = (
    '<boundaryEvent id="b" attachedToRef="c"><escalationEventDefinition escalationRef="late"/>'
    f'</boundaryEvent><endEvent id="x" name="Late"/>{flow("5", "b", "x")}'
)


def folder_of(place: Path, **models: str) -> Path:
    place.mkdir()
    for name, text in models.items():
        (place / f"{name}.bpmn").write_text(text, "utf-8")
    return place


def compiled(models: Path, out: Path, options: str = "") -> dict[str, Json]:
    """The workflows of a folder by their files."""
    assert cli.run(["compile", str(models), "--target", f"n8n{options}", "-o", f"{out}/"]) == 0
    return {path.name: json.loads(path.read_text("utf-8")) for path in out.glob("*.json")}


def called_by(workflow: Json) -> list[str]:
    return [
        node["parameters"]["workflowId"]["value"]
        for node in workflow["nodes"]
        if "workflowId" in node["parameters"]
    ]


def test_all_callers_call_one_workflow_that_hands_back_what_any_reads(
    engine: LocalEngine, tmp_path: Path
) -> None:
    models = folder_of(
        tmp_path / "models", order=caller("order", "left"), refund=caller("refund", "right"),
        pay=pay(BOOK),
    )  # fmt: skip
    out = tmp_path / "out"
    found = compiled(models, out)
    assert set(found) == {
        "order.json", "refund.json", "pay-called-by-other-files.json", "pay.json",
        "org-acme-book-class.json",
    }  # fmt: skip
    shared = found["pay-called-by-other-files.json"]
    assert called_by(found["order.json"]) == called_by(found["refund.json"]) == [shared["id"]]
    stub = found["org-acme-book-class.json"]
    for node in stub["nodes"]:
        if node["name"] == "org.acme.Book":
            code = "return [{ json: { left: 'a', right: 'b' } }];"
            node.update(type="n8n-nodes-base.code", typeVersion=2, parameters={"jsCode": code})
    called = {one["id"]: one for one in (shared, stub)}
    for name, end in (("order", "Yes"), ("refund", "No")):
        request = RunRequest(
            found[f"{name}.json"], "Start", items=[{"json": {}}], workflows=called, data=True
        )
        (run,) = engine.run_many([request])
        assert run.status == "success", run.error
        assert run.order[-1].node == end


def test_a_model_is_verified_with_the_folder_of_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each process has a workflow of its own file and one for its callers: they are not compared
    with each other's."""
    models = folder_of(
        tmp_path / "models", order=caller("order", "left", CATCHES),
        refund=caller("refund", "left", CATCHES), pay=pay(BOOK, ESCALATES),
    )  # fmt: skip
    out = tmp_path / "out"
    assert "pay-called-by-other-files.json" in compiled(models, out)
    for name in ("order", "refund", "pay"):
        capsys.readouterr()
        assert cli.run(["verify", str(models / f"{name}.bpmn"), str(out)]) == 0
        told = capsys.readouterr()
        assert "different:" not in told.out
        other = "Pay (called by other files)" if name == "pay" else "Pay"
        said = " ".join(told.err.split())
        assert f"the workflow `{other}` was compiled for another model" in said


@pytest.mark.parametrize("prefix", ["", "own_"])
def test_a_model_alone_is_verified_with_the_workflow_that_others_call_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], prefix: str
) -> None:
    """It hands back what another caller reads; a change is found nevertheless."""
    models = folder_of(
        tmp_path / "models", order=caller("order", "left"),
        refund=caller("refund", "right", prefix=prefix), pay=pay(BOOK),
    )  # fmt: skip
    out = tmp_path / "out"
    path = out / "pay-called-by-other-files.json"
    assert path.name in compiled(models, out)
    for name in ("order", "refund"):
        capsys.readouterr()
        assert cli.run(["verify", str(models / f"{name}.bpmn"), str(out)]) == 0
        said = capsys.readouterr().out
        assert (said.count("proved:"), said.count("changed")) == (3, 0)
    path.write_text(path.read_text("utf-8").replace("?.right", "?.wrong"), "utf-8")
    assert cli.run(["verify", str(models / "order.bpmn"), str(out), "--strict"]) == 1
    assert "wrong" in capsys.readouterr().out


def test_a_folder_of_models_is_verified_with_the_folder_of_its_workflows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = folder_of(
        tmp_path / "models", order=caller("order", "left"), refund=caller("refund", "right"),
        pay=pay(BOOK),
    )  # fmt: skip
    out = tmp_path / "out"
    compiled(models, out)
    capsys.readouterr()
    assert cli.run(["verify", str(models), str(out)]) == 0
    told = capsys.readouterr()
    assert told.out.count("proved:") == 5
    assert told.err == ""
    (out / "other.json").write_bytes((out / "order.json").read_bytes())
    wrong = json.loads((out / "refund.json").read_text())
    wrong["connections"] = {}
    (out / "refund.json").write_text(json.dumps(wrong), "utf-8")
    assert cli.run(["verify", str(models), str(out), "--json"]) == 1
    results = json.loads(capsys.readouterr().out)["results"]
    assert [one["label"] for one in results if one["verdict"] == "different"] == ["Refund"]
    assert cli.run(["verify", str(models), str(out), "--process", "order"]) == 2
    assert "name the file with the model of the process" in capsys.readouterr().err
    assert cli.run(["verify", str(out), str(out), "--from", "bpmn"]) != 0


def test_it_is_the_same_whichever_ids_of_its_callers_are_taken(tmp_path: Path) -> None:
    """Elements of the process get other ids where the caller has these."""
    models = folder_of(
        tmp_path / "models", order=caller("order", "left"),
        refund=caller("refund", "right", prefix="own_"), pay=pay(BOOK),
    )  # fmt: skip
    found = compiled(models, tmp_path / "out", "{errors=workflow}")
    shared = found["pay-called-by-other-files.json"]
    assert called_by(found["order.json"]) == called_by(found["refund.json"]) == [shared["id"]]
    assert "errorWorkflow" not in shared["settings"]


def test_a_process_that_it_calls_is_one_workflow_as_well(tmp_path: Path) -> None:
    nested = '<callActivity id="t" name="Nested" calledElement="book"/>'
    models = folder_of(
        tmp_path / "models", order=caller("order", "left"), refund=caller("refund", "right"),
        pay=pay(nested), book=pay(BOOK).replace('id="pay" name="Pay"', 'id="book" name="Book it"'),
    )  # fmt: skip
    found = compiled(models, tmp_path / "out")
    inner = found["book-it-called-by-other-files.json"]
    for name in ("pay-called-by-other-files.json", "pay.json"):
        assert called_by(found[name]) == [inner["id"]]


def test_what_callers_make_different_stays_a_workflow_each(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An escalation ends the call that catches it, and is nothing to the other."""
    models = folder_of(
        tmp_path / "models", order=caller("order", "left", CATCHES),
        refund=caller("refund", "right"), pay=pay(BOOK, ESCALATES),
    )  # fmt: skip
    argument = ["compile", str(models), "--target", "n8n", "-o", f"{tmp_path}/out/", "-v"]
    code = cli.run(argument)
    said = " ".join(capsys.readouterr().err.split())
    assert code == 0, said
    assert (
        "the process `Pay` became a workflow for each of its callers `Order` and `Refund`" in said
    )
    made = {path.name for path in (tmp_path / "out").glob("pay*.json")}
    assert made == {"pay.json", "pay-called-by-order.json", "pay-called-by-refund.json"}


def test_work_of_unsupported_scripts_belongs_to_each_caller(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = (
        '<scriptTask id="t" name="Odd" scriptFormat="groovy">'
        "<script>for (i in 1..3) { a = i }</script></scriptTask>"
    )
    models = folder_of(
        tmp_path / "models", order=caller("order", "left"), refund=caller("refund", "right"),
        pay=pay(script),
    )  # fmt: skip
    argument = ["compile", str(models), "--target", "n8n", "-o", f"{tmp_path}/out/", "-v"]
    assert cli.run(argument) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "because what it calls is a workflow for each of them" in said


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    made = StandIn()
    monkeypatch.setenv("N8N_API_KEY", KEY)
    monkeypatch.setenv("N8N_URL", made.url)
    yield made
    made.close()


def test_it_is_deployed_once_and_stays_while_somebody_calls_it(
    server: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = folder_of(
        tmp_path / "models", order=caller("order", "left"), refund=caller("refund", "right"),
        pay=pay('<userTask id="t" name="Confirm"/>'),
    )  # fmt: skip
    assert cli.run(["deploy", str(models)]) == 0, capsys.readouterr().err
    names = ["Order", "Pay", "Pay (called by other files)", "Refund"]
    assert sorted(row["name"] for row in server.workflows.values()) == names
    capsys.readouterr()
    assert cli.run(["deploy", str(models), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["workflows"]
    assert {row["action"] for row in rows} == {"unchanged"}
    assert cli.run(["undeploy", str(models)]) == 0, capsys.readouterr().err
    assert not server.workflows


def test_another_caller_changes_no_workflow_but_its_own(tmp_path: Path) -> None:
    """The identity of a called process does not depend on the number of its callers."""
    models = folder_of(tmp_path / "models", order=caller("order", "left"), pay=pay(BOOK))
    before = compiled(models, tmp_path / "one")
    (models / "refund.bpmn").write_text(caller("refund", "left"), "utf-8")
    after = compiled(models, tmp_path / "two")
    assert after.keys() - before.keys() == {"refund.json"}
    assert {before[name]["id"] == after[name]["id"] for name in before} == {True}
    assert before["pay-called-by-other-files.json"] == after["pay-called-by-other-files.json"]


MESSAGE = (
    '<startEvent id="s"/>',
    ('<startEvent id="s"><messageEventDefinition messageRef="m"/></startEvent>'),
)


@pytest.mark.parametrize("more", [(), ("--no-publish",)])
def test_a_published_workflow_gets_something_new_to_call(
    server: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...]
) -> None:
    """n8n refuses an update of a published workflow that calls an unpublished one."""
    text = caller("order", "left").replace(*MESSAGE).replace("<error", '<message id="m"/><error')
    before = text.replace('calledElement="pay"', 'calledElement="later"')
    models = folder_of(tmp_path / "models", order=before)
    assert cli.run(["deploy", str(models)]) == 0, capsys.readouterr().err
    (models / "order.bpmn").write_text(text, "utf-8")
    nested = '<callActivity id="t" name="Nested" calledElement="book"/>'
    (models / "pay.bpmn").write_text(pay(nested), "utf-8")
    book = pay(BOOK).replace('id="pay" name="Pay"', 'id="book" name="Book it"')
    (models / "book.bpmn").write_text(book, "utf-8")
    assert cli.run(["deploy", str(models), *more]) == 0, capsys.readouterr().err
    rows = {row["name"]: row["active"] for row in server.workflows.values()}
    assert rows["Order"]
    assert rows["Pay (called by other files)"]
    assert rows["Book it (called by other files)"]
    assert rows["org.acme.Book (class)"]


def test_a_model_that_is_deployed_without_what_it_calls(
    server: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The folder was deployed, and then one of its models alone: N8N014."""
    models = folder_of(tmp_path / "models")
    sales = folder_of(models / "sales", order=caller("order", "left"))
    folder_of(models / "money", pay=pay(BOOK))
    assert cli.run(["deploy", str(models)]) == 0, capsys.readouterr().err
    capsys.readouterr()
    for more in (["--dry-run"], []):
        assert cli.run(["deploy", str(sales / "order.bpmn"), *more]) == 0
        said = " ".join(capsys.readouterr().err.split())
        assert "warning N8N014 [lost-callee]" in said
        assert (
            "`Order` called `Pay (called by other files)` and now calls the placeholder in "
            "`pay (process)`" in said
        )
    assert cli.run(["deploy", str(models)]) == 0, capsys.readouterr().err
    assert "N8N014" not in capsys.readouterr().err


def test_a_workflow_for_one_caller_becomes_that_of_all(
    server: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Deployed with one file and then with the folder: nothing old stays on the server."""
    models = folder_of(
        tmp_path / "models", order=caller("order", "left"), refund=caller("refund", "right"),
        pay=pay('<userTask id="t" name="Confirm"/>'),
    )  # fmt: skip
    assert cli.run(["deploy", str(models / "order.bpmn")]) == 0, capsys.readouterr().err
    before = {row["name"]: id for id, row in server.workflows.items()}
    assert set(before) == {"Order", "Pay (called by Order)"}
    capsys.readouterr()
    assert cli.run(["deploy", str(models), "--dry-run"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert "info N8N013 [replaced-workflow]" in said
    assert "`Pay (called by other files)` replaces `Pay (called by Order)`" in said
    assert cli.run(["deploy", str(models)]) == 0, capsys.readouterr().err
    said = " ".join(capsys.readouterr().err.split())
    assert "info N8N013 [replaced-workflow]" in said
    assert "`Pay (called by other files)` replaces `Pay (called by Order)`" in said
    after = {row["name"]: id for id, row in server.workflows.items()}
    assert set(after) == {"Order", "Pay", "Pay (called by other files)", "Refund"}
    assert after["Pay (called by other files)"] == before["Pay (called by Order)"]
    assert cli.run(["deploy", str(models), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["workflows"]
    assert {row["action"] for row in rows} == {"unchanged"}
