"""Work that a model only names: one workflow a name, called wherever it is used, filled once."""

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
    '<process id="p" name="Pay" isExecutable="true">'
)
CHARGE = (
    '<serviceTask id="t" name="Charge card" camunda:type="external" camunda:topic="charge">'
    "<extensionElements><camunda:inputOutput>"
    '<camunda:inputParameter name="amount">${total}</camunda:inputParameter>'
    '<camunda:outputParameter name="paid">${ok}</camunda:outputParameter>'
    "</camunda:inputOutput></extensionElements></serviceTask>"
)


def flow(id: str, source: str, target: str, condition: str = "") -> str:
    inner = f"<conditionExpression>{condition}</conditionExpression>" if condition else ""
    return (
        f'<sequenceFlow id="{id}" sourceRef="{source}" targetRef="{target}">{inner}</sequenceFlow>'
    )


MODEL = f"""{HEAD}<startEvent id="s"/>{CHARGE}<exclusiveGateway id="g" name="Paid?"/>
<serviceTask id="u" name="Charge fee" camunda:type="external" camunda:topic="charge"/>
<serviceTask id="w" name="Ship it" camunda:class="org.acme.Ship"/>
<scriptTask id="x" name="Count" scriptFormat="groovy"><script>for (i in 1..3) {{ a = i }}</script>
</scriptTask><exclusiveGateway id="h" name="Sent?"/>
<endEvent id="e" name="Done"/><endEvent id="n" name="Not sent"/>
{flow("f0", "s", "t")}{flow("f1", "t", "g")}{flow("f2", "g", "u", "${paid}")}
{flow("f3", "g", "w", "${!paid}")}{flow("f4", "u", "w")}{flow("f5", "w", "x")}{flow("f6", "x", "h")}
{flow("f7", "h", "e", "${sent == 'yes'}")}{flow("f8", "h", "n", "${sent != 'yes'}")}
</process></definitions>"""
TARGET = "n8n{stubs=workflow}"
PATHS = {
    "pay.json": "Pay",
    "charge-topic.json": "charge (topic)",
    "org-acme-ship-class.json": "org.acme.Ship (class)",
    "pay-count-script.json": "Pay: Count (script)",
}


def compiled(folder: Path) -> dict[str, Json]:
    """The workflows of the model, by their titles; proved to do what it says."""
    model = folder / "model.bpmn"
    model.write_text(MODEL, "utf-8")
    out = folder / "out"
    said = ["compile", str(model), "--target", TARGET, "-o", f"{out}/", "--verify"]
    assert cli.run(said) == 0
    assert {path.name for path in out.glob("*.json")} == set(PATHS)
    return {title: json.loads((out / name).read_text("utf-8")) for name, title in PATHS.items()}


def node(workflow: Json, name: str) -> Json:
    return next(one for one in workflow["nodes"] if one["name"] == name)  # type: ignore[no-any-return]


def contract(workflow: Json) -> str:
    (note,) = [n for n in workflow["nodes"] if n["name"] == "About this workflow"]
    return str(note["parameters"]["content"]).replace("\\", "")


def test_one_workflow_for_all_that_name_the_same(tmp_path: Path) -> None:
    found = compiled(tmp_path)
    calls = {
        name: node(found["Pay"], name)["parameters"]["workflowId"]["value"]
        for name in ("Charge card", "Charge fee", "Ship it", "Count")
    }
    assert calls["Charge card"] == calls["Charge fee"] == found["charge (topic)"]["id"]
    assert calls["Ship it"] == found["org.acme.Ship (class)"]["id"]
    assert calls["Count"] == found["Pay: Count (script)"]["id"]
    assert not [n for n in found["Pay"]["nodes"] if "Placeholder" in n.get("notes", "")]
    said = contract(found["charge (topic)"])
    assert "Called by “Charge card”\ninput amount = ${total}" in said
    assert "Called by “Charge fee”" in said
    assert "ok: the output mapping of “Charge card”" in said
    assert "sent: “Sent?” reads it" in contract(found["org.acme.Ship (class)"])
    assert "for (i in 1..3) { a = i }" in contract(found["Pay: Count (script)"])
    assert (
        "- Workflows to implement: **charge (topic)**, **org.acme.Ship (class)**, "
        "**Count (script)**"
    ) in contract(found["Pay"])


def test_what_is_to_be_implemented_is_listed_beside_the_workflows(tmp_path: Path) -> None:
    compiled(tmp_path)
    said = (tmp_path / "out/pay-work-to-implement.md").read_text("utf-8")
    assert said.count("\n## ") == 3
    assert "In `charge-topic.json`, replace the placeholder" in said
    assert "    Called by “Charge card”\n    input amount = ${total}\n" in said


def test_what_fills_a_workflow_is_done_for_every_caller(
    engine: LocalEngine, tmp_path: Path
) -> None:
    """The same code for both callers: it gets what the mapping of the first gives it, and all else
    that is known; what it hands on is mapped, and read by the gateways."""
    found = compiled(tmp_path)
    code = "const d = $json; return [{ json: { ok: d.amount > 5, seen: d.amount ?? d.total } }];"
    fill(found["charge (topic)"], "charge", code)
    fill(found["org.acme.Ship (class)"], "org.acme.Ship", "return [{ json: { sent: 'yes' } }];")
    whole = found.pop("Pay")
    called = {one["id"]: one for one in found.values()}
    rows = ((7, True, "Done"), (3, False, "Done"))
    runs = engine.run_many(
        RunRequest(whole, "Start", items=[{"json": {"total": total}}], workflows=called, data=True)
        for total, *_ in rows
    )
    for (_, fee, end), run in zip(rows, runs, strict=True):
        assert run.status == "success", run.error
        assert run.order[-1].node == end
        assert ("Charge fee" in [one.node for one in run.order]) is fee


def fill(workflow: Json, name: str, code: str) -> None:
    node(workflow, name).update(
        type="n8n-nodes-base.code", typeVersion=2, parameters={"jsCode": code}
    )


LISTENED = f"""{HEAD}<startEvent id="s"/><userTask id="t" name="Review"><extensionElements>
<camunda:taskListener event="create" class="org.acme.Notify">
<camunda:field name="channel" stringValue="mail"/></camunda:taskListener>
<camunda:executionListener event="end" delegateExpression="${{audit}}"/></extensionElements>
</userTask><serviceTask id="u" name="Tell" camunda:class="org.acme.Notify"/>
<exclusiveGateway id="g" name="Audited?"/><endEvent id="e" name="Yes"/><endEvent id="n" name="No"/>
{flow("f0", "s", "t")}{flow("f1", "t", "u")}{flow("f2", "u", "g")}
{flow("f3", "g", "e", "${audited}")}{flow("f4", "g", "n", "${!audited}")}</process></definitions>"""


def test_classes_of_listeners_are_workflows_that_are_called_before_and_after(
    engine: LocalEngine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same workflow as that of a task with the class; what it hands on decides later."""
    model = tmp_path / "model.bpmn"
    model.write_text(LISTENED, "utf-8")
    out = tmp_path / "out"
    said = ["compile", str(model), "--target", "n8n{people=placeholder}", "-o", f"{out}/"]
    assert cli.run([*said, "--verify"]) == 0
    assert "is not executed" not in capsys.readouterr().err
    read = {path.name: json.loads(path.read_text("utf-8")) for path in out.glob("*.json")}
    assert set(read) == {
        "pay.json", "org-acme-notify-class.json", "audit-delegate-expression.json",
    }  # fmt: skip
    work = contract(read["org-acme-notify-class.json"])
    assert "Called by “Listener before Review”\nsetting channel = mail" in work
    assert "Called by “Tell”" in work
    code = "return [{ json: { told: ($json.told ?? 0) + 1 } }];"
    fill(read["org-acme-notify-class.json"], "org.acme.Notify", code)
    code = "return [{ json: { audited: $json.told === 1 } }];"
    fill(read["audit-delegate-expression.json"], "audit", code)
    whole = read.pop("pay.json")
    called = {one["id"]: one for one in read.values()}
    request = RunRequest(whole, "Start", items=[{"json": {}}], workflows=called, data=True)
    (run,) = engine.run_many([request])
    assert run.status == "success", run.error
    steps = ["Listener before Review", "Review", "Listener after Review", "Tell", "Audited?", "Yes"]
    assert [one.node for one in run.order if one.node in (*steps, "No")] == steps


def test_runs_are_played_with_scripted_answers(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model.bpmn"
    model.write_text(MODEL, "utf-8")
    assert cli.run(["run", str(model), "--target", TARGET, "--all-paths"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "runs conform to the model, mean F1 1.000" in said
    assert ("scripted values replace the workflow that `Charge card` calls") in said


def test_deploy_keeps_what_somebody_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = StandIn()
    try:
        monkeypatch.setenv("N8N_API_KEY", KEY)
        model = tmp_path / "model.bpmn"
        model.write_text(MODEL, "utf-8")
        deploy = ["deploy", "--url", server.url, "--target", TARGET, str(model)]
        assert cli.run(deploy) == 0, capsys.readouterr().err
        rows = {row["name"]: row for row in server.workflows.values()}
        assert set(rows) == set(PATHS.values())
        charge = rows["charge (topic)"]
        nodes = json.loads(json.dumps(charge["nodes"]))
        body = {"parameters": {"url": "https://pay.example"}, "typeVersion": 4.2}
        node({"nodes": nodes}, "charge").update(type="n8n-nodes-base.httpRequest", **body)
        server.edit(charge["id"], nodes=nodes)
        model.write_text(MODEL.replace("Charge fee", "Charge the fee"), "utf-8")
        assert cli.run(deploy) == 0, capsys.readouterr().err
        now = server.workflows[charge["id"]]
        assert node(now, "charge")["parameters"] == body["parameters"]
        assert "“Charge the fee”" in contract(now)
        assert len(server.workflows) == len(PATHS)
    finally:
        server.close()


ORDER, RETURN = (
    f"""{HEAD.replace('id="p" name="Pay"', f'id="{id}" name="{name}"')}<startEvent id="s"/>
<serviceTask id="t" name="{task}" camunda:type="external" camunda:topic="charge">{inner}
</serviceTask>
<exclusiveGateway id="g" name="Ok?"/><endEvent id="e" name="Yes"/><endEvent id="n" name="No"/>
{flow("f0", "s", "t")}{flow("f1", "t", "g")}{flow("f2", "g", "e", f"${{{yes}}}")}
{flow("f3", "g", "n", f"${{{no}}}")}</process></definitions>"""
    for id, name, task, inner, yes, no in (
        (
            "o", "Order", "Charge order",
            "<extensionElements><camunda:inputOutput><camunda:inputParameter name='amount'>${total}"
            "</camunda:inputParameter></camunda:inputOutput></extensionElements>",
            "ok", "!ok",
        ),
        ("r", "Return", "Charge return", "", "ok == 'yes'", "ok != 'yes'"),
    )
)  # fmt: skip


def folder_of(place: Path, **models: str) -> Path:
    place.mkdir()
    for name, text in models.items():
        (place / f"{name}.bpmn").write_text(text, "utf-8")
    return place


def test_models_of_a_folder_share_what_they_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One workflow with the contract of both callers, which expect different values of it; a model
    with an error does not stop the others."""
    bad = ORDER.replace('sourceRef="s" targetRef="t"', 'sourceRef="s" targetRef="gone"')
    models = folder_of(tmp_path / "models", bad=bad, order=ORDER, refund=RETURN)
    out = tmp_path / "out"
    assert cli.run(["compile", str(models), "--target", "n8n", "-o", f"{out}/"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert "error OF101" in said
    assert (
        "cannot give each caller the `ok` that it expects: `Charge order` of `Order` expects true "
        "or false and `Charge return` of `Return` expects a text"
    ) in said
    assert sorted(path.name for path in out.iterdir()) == [
        "charge-topic.json", "order.json", "return.json", "work-to-implement.md",
    ]  # fmt: skip
    found = {one.stem: json.loads(one.read_text("utf-8")) for one in out.glob("*.json")}
    stub = found["charge-topic"]
    for caller, task in (("order", "Charge order"), ("return", "Charge return")):
        called = node(found[caller], task)["parameters"]["workflowId"]["value"]
        assert called == stub["id"]
    told = contract(stub)
    assert "Called by “Charge order” of “Order”\ninput amount = ${total}" in told
    assert "Called by “Charge return” of “Return”" in told
    assert "amount: only by “Charge order” of “Order”" in told
    work = (out / "work-to-implement.md").read_text("utf-8")
    assert work.count("\n## ") == 1
    for name, model in (("order", "order"), ("return", "refund")):
        checked = [str(models / f"{model}.bpmn"), str(out / f"{name}.json")]
        assert cli.run(["verify", *checked, str(out / "charge-topic.json")]) == 0


def test_files_that_are_compiled_one_by_one_share_it_too(tmp_path: Path) -> None:
    models = folder_of(tmp_path / "models", order=ORDER, refund=RETURN)
    ids = set()
    for name in ("order", "refund"):
        out = tmp_path / name
        assert (
            cli.run(["compile", str(models / f"{name}.bpmn"), "--target", "n8n", "-o", f"{out}/"])
            == 0
        )
        ids.add(json.loads((out / "charge-topic.json").read_text("utf-8"))["id"])
    assert len(ids) == 1


def test_several_files_are_one_array(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    models = folder_of(tmp_path / "models", order=ORDER, refund=RETURN)
    files = [str(models / "order.bpmn"), str(models / "refund.bpmn")]
    assert cli.run(["compile", *files, "--target", "n8n"]) == 0
    printed = capsys.readouterr().out
    assert [one["name"] for one in json.loads(printed)] == ["Order", "charge (topic)", "Return"]
    assert cli.run(["compile", *files, "--target", "n8n", "-o", str(tmp_path / "all.json")]) == 0
    assert (tmp_path / "all.json").read_text("utf-8") == printed
    golden = ["compile", *files, "--target", "n8n", "--check", str(tmp_path / "all.json")]
    assert cli.run(golden) == 0
    assert cli.run(["compile", *files, "--target", "n8n", "--process", "o"]) == 2


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    made = StandIn()
    monkeypatch.setenv("N8N_API_KEY", KEY)
    monkeypatch.setenv("N8N_URL", made.url)
    yield made
    made.close()


def test_what_is_shared_is_deployed_once_and_stays_while_somebody_calls_it(
    server: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = folder_of(tmp_path / "models", order=ORDER, refund=RETURN)
    names = ["Order", "Return", "charge (topic)"]
    assert cli.run(["deploy", str(models)]) == 0, capsys.readouterr().err
    assert sorted(row["name"] for row in server.workflows.values()) == names
    # one after the other, and the first again: no other file, nothing older
    for name in ("order", "refund", "order"):
        assert cli.run(["deploy", str(models / f"{name}.bpmn")]) == 0, capsys.readouterr().err
    assert sorted(row["name"] for row in server.workflows.values()) == names
    capsys.readouterr()
    assert cli.run(["undeploy", str(models / "order.bpmn")]) == 1
    said = capsys.readouterr().out
    assert "charge (topic)  still called by `Return`" in said
    assert sorted(row["name"] for row in server.workflows.values()) == names[1:]
    assert cli.run(["undeploy", str(models / "refund.bpmn")]) == 0
    assert not server.workflows


def test_one_of_several_workflows_gets_the_name_of_a_deploy(
    server: StandIn, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = folder_of(tmp_path / "models", order=ORDER)
    deploy = ["deploy", str(models / "order.bpmn"), "--as", "Order of March"]
    assert cli.run(deploy) == 0, capsys.readouterr().err
    names = sorted(row["name"] for row in server.workflows.values())
    assert names == ["Order of March", "charge (topic)"]


def test_a_kind_of_implementation_names_no_work(tmp_path: Path) -> None:
    text = ORDER.replace(
        'camunda:type="external" camunda:topic="charge"', 'implementation="##WebService"'
    )
    models = folder_of(tmp_path / "models", order=text)
    out = tmp_path / "out"
    assert cli.run(["compile", str(models), "--target", "n8n", "-o", f"{out}/"]) == 0
    assert [path.name for path in out.iterdir()] == ["order.json"]


def implement(path: Path, name: str, code: str) -> None:
    """Fill the placeholder of a workflow in a file, as an export from an editor has it."""
    found = json.loads(path.read_text("utf-8"))
    for workflow in found if isinstance(found, list) else [found]:
        if any(one["name"] == name for one in workflow["nodes"]):
            fill(workflow, name, code)
    path.write_text(json.dumps(found), "utf-8")


def codes(path: Path) -> list[str]:
    found = json.loads(path.read_text("utf-8"))
    return [
        one["parameters"]["jsCode"]
        for workflow in (found if isinstance(found, list) else [found])
        for one in workflow["nodes"]
        if one["type"] == "n8n-nodes-base.code" and one["name"] in ("charge", "ch-arge")
    ]


CODE = "return [{ json: { ok: true } }];"


def test_compile_keeps_what_somebody_filled(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What an earlier compile put into the folder and somebody implemented is not overwritten; its
    contract follows the models, the list of work says so, and other files are as without it."""
    models = folder_of(tmp_path / "models", order=ORDER, back=RETURN.replace("== 'yes'", ""))
    out, clean = tmp_path / "out", tmp_path / "clean"
    compiling = ["compile", str(models), "--target", "n8n", "-o"]
    assert cli.run([*compiling, f"{out}/"]) == 0
    implement(out / "charge-topic.json", "charge", CODE)
    (models / "order.bpmn").write_text(ORDER.replace("Charge order", "Charge the order"), "utf-8")
    capsys.readouterr()
    assert cli.run([*compiling, f"{out}/"]) == 0
    assert "kept the edits of charge-topic.json" in capsys.readouterr().err
    assert codes(out / "charge-topic.json") == [CODE]
    assert "“Charge the order”" in contract(json.loads((out / "charge-topic.json").read_text()))
    listed = (out / "work-to-implement.md").read_text("utf-8")
    assert "`charge-topic.json` was edited after it was compiled, and its edits are kept." in listed
    assert "In `charge-topic.json`, replace the placeholder" not in listed
    assert cli.run([*compiling, f"{clean}/"]) == 0
    for path in clean.iterdir():
        if path.name not in ("charge-topic.json", "work-to-implement.md"):
            assert path.read_bytes() == (out / path.name).read_bytes()
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert cli.run([*compiling, f"{out}/"]) == 0
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert cli.run(["compile", str(models), "--target", "n8n", "--check", f"{out}/"]) == 0


def test_compile_to_one_file_keeps_what_somebody_filled(tmp_path: Path) -> None:
    models = folder_of(tmp_path / "models", order=ORDER)
    out = tmp_path / "all.json"
    compiling = ["compile", str(models / "order.bpmn"), "--target", "n8n", "-o", str(out)]
    assert cli.run(compiling) == 0
    implement(out, "charge", CODE)
    assert cli.run(compiling) == 0
    assert codes(out) == [CODE]


@pytest.mark.parametrize("id", ["kept", "other"])
def test_compile_keeps_what_somebody_filled_without_its_note(tmp_path: Path, id: str) -> None:
    """The note has the map and what was compiled; somebody deleted it."""
    models = folder_of(tmp_path / "models", order=ORDER)
    out = tmp_path / "out"
    compiling = ["compile", str(models / "order.bpmn"), "--target", "n8n", "-o", f"{out}/"]
    assert cli.run(compiling) == 0
    path = out / "charge-topic.json"
    implement(path, "charge", CODE)
    found = json.loads(path.read_text("utf-8"))
    found["nodes"] = [one for one in found["nodes"] if one["name"] != "About this workflow"]
    if id == "other":
        found["id"] = "fromAnEditor"
    path.write_text(json.dumps(found), "utf-8")
    assert cli.run(compiling) == 0
    assert codes(path) == [CODE]
    caller = json.loads((out / "order.json").read_text("utf-8"))
    called = node(caller, "Charge order")["parameters"]["workflowId"]["value"]
    assert json.loads(path.read_text("utf-8"))["id"] == called


def test_compile_overwrites_no_work_that_is_not_named_any_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Another name whose workflow gets the same file: only what nobody filled is replaced."""
    models = folder_of(tmp_path / "models", order=ORDER.replace('"charge"', '"ch-arge"'))
    out = tmp_path / "out"
    compiling = ["compile", str(models), "--target", "n8n", "-o", f"{out}/"]
    assert cli.run(compiling) == 0
    text = ORDER.replace('"charge"', '"ch arge"')
    (models / "order.bpmn").write_text(text, "utf-8")
    assert cli.run(compiling) == 0
    assert "ch arge" in contract(json.loads((out / "ch-arge-topic.json").read_text()))
    (models / "order.bpmn").write_text(ORDER.replace('"charge"', '"ch-arge"'), "utf-8")
    assert cli.run(compiling) == 0
    implement(out / "ch-arge-topic.json", "ch-arge", CODE)
    (models / "order.bpmn").write_text(text, "utf-8")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    capsys.readouterr()
    assert cli.run(compiling) == 1
    said = capsys.readouterr().err
    assert "contains the implementation of `ch-arge (topic)`" in " ".join(said.split())
    assert "unsupported=stub" not in said
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_files_that_swap_their_names_keep_what_somebody_filled(tmp_path: Path) -> None:
    """Two names with the same file name: the one that comes first has no number."""
    models = folder_of(
        tmp_path / "models",
        a=ORDER.replace('"charge"', '"ch-arge"'),
        b=RETURN.replace('"charge"', '"ch arge"'),
    )
    out = tmp_path / "out"
    compiling = ["compile", str(models), "--target", "n8n", "-o", f"{out}/"]
    assert cli.run(compiling) == 0
    implement(out / "ch-arge-topic.json", "ch-arge", CODE)
    (models / "a.bpmn").rename(models / "c.bpmn")
    assert cli.run(compiling) == 0
    assert codes(out / "ch-arge-topic.json") == []
    assert codes(out / "ch-arge-topic-2.json") == [CODE]


def expecting(id: str, steps: str, flows: str, yes: str, no: str) -> str:
    """A process whose gateway tests `ok` after some steps."""
    return f"""{HEAD.replace('id="p" name="Pay"', f'id="{id}" name="{id.title()}"')}
<startEvent id="s"/>{steps}<exclusiveGateway id="g" name="Ok?"/><endEvent id="e"/><endEvent id="n"/>
{flows}{flow("y", "g", "e", yes)}{flow("z", "g", "n", no)}</process></definitions>"""


def step(id: str, topic: str) -> str:
    return f'<serviceTask id="{id}" name="{id}" camunda:type="external" camunda:topic="{topic}"/>'


LOG = '<scriptTask id="l" name="l" scriptFormat="groovy"><script>execution.setVariable("n", 1)</script></scriptTask>'  # noqa: E501
FORM = (
    '<userTask id="l" name="l"><extensionElements><camunda:formData><camunda:formField id="ok" '
    'type="boolean"/></camunda:formData></extensionElements></userTask>'
)
TWO_WAYS = (
    '<exclusiveGateway id="x" name="Way?"/>' + step("t", "charge") + step("u", "other"),
    flow("a", "s", "x") + flow("b", "x", "t", "${w}") + flow("c", "x", "u", "${!w}")
    + flow("v", "u", "g") + flow("f", "t", "g"),
)  # fmt: skip
THROUGH = flow("a", "s", "t") + flow("b", "t", "l") + flow("c", "l", "g")


@pytest.mark.parametrize(
    ("steps", "flows", "conflicts"),
    [
        (*TWO_WAYS, True),
        (TWO_WAYS[0].replace("charge", "o").replace("other", "charge"), TWO_WAYS[1], True),
        (step("t", "charge") + LOG, THROUGH, True),
        (step("t", "charge") + FORM, THROUGH, False),
        (step("t", "charge") + step("l", "other"), THROUGH, False),
    ],
)
def test_callers_are_compared_by_what_gateways_get_from_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], steps: str, flows: str, conflicts: bool
) -> None:
    """On each path to a gateway the last step that can set the variable, not only the nearest."""
    models = folder_of(
        tmp_path / "models",
        one=expecting("one", steps, flows, "${ok}", "${!ok}"),
        two=expecting(
            "two", step("t", "charge"), flow("a", "s", "t") + flow("b", "t", "g"),
            "${ok == 'yes'}", "${ok != 'yes'}",
        ),
    )  # fmt: skip
    assert cli.run(["compile", str(models), "--target", "n8n", "-o", f"{tmp_path}/out/"]) == 0
    assert ("OF428" in capsys.readouterr().err) is conflicts


RENAMED = ORDER.replace('"charge"', '"debit"')


def test_work_of_another_name_is_reported_where_it_was_implemented(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The topic has another name in the model: nothing calls the implementation any more."""
    models = folder_of(tmp_path / "models", order=ORDER)
    old, out = tmp_path / "old", tmp_path / "out"
    compiling = ["compile", str(models), "--target", "n8n", "-v", "-o"]
    for place in (old, out):
        assert cli.run([*compiling, f"{place}/"]) == 0
    (models / "order.bpmn").write_text(RENAMED, "utf-8")
    capsys.readouterr()
    assert cli.run([*compiling, f"{out}/"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert f"no workflow in {out} calls `charge (topic)` any more" in said
    assert "info N8N005" in said
    (models / "order.bpmn").write_text(ORDER, "utf-8")
    for place in (old, out):
        assert cli.run([*compiling, f"{place}/"]) == 0
        implement(place / "charge-topic.json", "charge", CODE)
    (models / "order.bpmn").write_text(RENAMED, "utf-8")
    before = (out / "charge-topic.json").read_bytes()
    capsys.readouterr()
    assert cli.run([*compiling, f"{out}/"]) == 0
    said = " ".join(capsys.readouterr().err.split())
    assert f"no workflow in {out} calls `charge (topic)`, which somebody implemented, any" in said
    assert "warning N8N005" in said
    assert (out / "charge-topic.json").read_bytes() == before
    (out / "charge-topic.json").unlink()
    assert cli.run(["diff", str(old), str(out)]) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert "note: `charge (topic)` has an implementation in the old version" in said
    assert "`Order` called it before" in said


def test_work_is_not_reported_if_a_caller_may_be_among_files_that_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    models = folder_of(tmp_path / "models", order=ORDER)
    compiling = ["compile", str(models), "--target", "n8n", "-v", "-o", f"{tmp_path / 'out'}/"]
    assert cli.run(compiling) == 0
    (tmp_path / "out" / "order.json").rename(tmp_path / "out" / "zz.json")
    (models / "order.bpmn").write_text(RENAMED, "utf-8")
    monkeypatch.setattr("orgflow.commands.filled_work._MOST_OTHERS", 1)
    capsys.readouterr()
    assert cli.run(compiling) == 0
    assert "N8N005" not in capsys.readouterr().err


def test_work_that_another_file_in_the_folder_calls_is_not_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each model compiled by itself into one folder."""
    models = folder_of(tmp_path / "models", order=ORDER, back=RETURN)
    out = tmp_path / "out"
    for name, text in (("order", ORDER), ("back", RETURN), ("order", RENAMED)):
        (models / f"{name}.bpmn").write_text(text, "utf-8")
        place = str(models / f"{name}.bpmn")
        capsys.readouterr()
        assert cli.run(["compile", place, "--target", "n8n", "-v", "-o", f"{out}/"]) == 0
        assert "N8N005" not in capsys.readouterr().err


def test_deploy_reports_implemented_work_that_nothing_calls_any_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server = StandIn()
    try:
        monkeypatch.setenv("N8N_API_KEY", KEY)
        models = folder_of(tmp_path / "models", order=ORDER, back=RETURN)
        deploy = ["deploy", "--url", server.url, str(models)]
        assert cli.run(deploy) == 0, capsys.readouterr().err
        (charge,) = (row for row in server.workflows.values() if row["name"] == "charge (topic)")
        nodes = json.loads(json.dumps(charge["nodes"]))
        node({"nodes": nodes}, "charge").update(
            type="n8n-nodes-base.code", typeVersion=2, parameters={"jsCode": CODE}
        )
        server.edit(charge["id"], nodes=nodes)
        (models / "order.bpmn").write_text(RENAMED, "utf-8")
        capsys.readouterr()
        assert cli.run(deploy) == 0  # the other one calls it
        assert "N8N012" not in capsys.readouterr().err
        (models / "back.bpmn").write_text(RETURN.replace('"charge"', '"debit"'), "utf-8")
        said = "nothing calls `charge (topic)` (id {}), which somebody implemented, any more"
        for more in (["--dry-run"], []):
            assert cli.run([*deploy, *more]) == 0
            told = " ".join(capsys.readouterr().err.split())
            assert "warning N8N012" in told
            assert said.format(charge["id"]) in told
        assert server.workflows[charge["id"]]["name"] == "charge (topic)"
        assert node(server.workflows[charge["id"]], "charge")["parameters"] == {"jsCode": CODE}
    finally:
        server.close()
