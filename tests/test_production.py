"""Replay of stored executions: on the model, off it, failed, not over; edited workflows; files."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest
from cli_cases import Ran
from html_pages import parsed
from model_gen import implicit, random_model
from n8n_compiled import emitted, workflows
from n8n_stand_in import KEY, StandIn
from orgflow import cli
from orgflow.backends.n8n.backend import N8nBackend
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.backends.n8n.server.executions.observing import Observer
from orgflow.backends.n8n.verify.reference import compile_references
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model
from orgflow.evaluation.page import render_page
from orgflow.evaluation.page_model import NodeTable
from orgflow.evaluation.page_production import group_executions, production_page
from orgflow.evaluation.production import ProductionReport, replay_executions
from played_models import ONE_EXECUTION
from stored_executions import plain, production, stored

from orgflow_ir.flow.token_game.runs import enumerate_runs
from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import Event, Flow, Gateway, Model, Process, Task
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

Json = dict[str, Any]
Invoke = Callable[..., Ran]


N8N = N8nBackend()


def small() -> Model:
    nodes = (
        Event(id="s", name="Order received", position="start"),
        Task(id="t", name="Check stock"),
        Gateway(id="g", name="In stock?", gateway_kind="exclusive"),
        Task(id="a", name="Ship order"),
        Task(id="b", name="Tell customer"),
        Gateway(id="m", gateway_kind="exclusive"),
        Event(id="e", name="Done", position="end"),
    )
    pairs = [("s", "t", ""), ("t", "g", ""), ("g", "a", "Yes"), ("g", "b", "No"), ("a", "m", ""),
             ("b", "m", ""), ("m", "e", "")]  # fmt: skip
    flows = tuple(Flow(id=f"f{i}", source=x, target=y, name=n) for i, (x, y, n) in enumerate(pairs))
    return Model(id="M", name="Order", processes=(Process(id="P", nodes=nodes, flows=flows),))


@pytest.fixture
def workflow() -> Json:
    found: Any = workflows(small())[0]
    return copy.deepcopy(found)


def went(branch: int, *names: str) -> list[Any]:
    """Order received, Check stock, In stock? by a branch, and what comes behind it."""
    outputs = tuple(int(at == branch) for at in range(3))
    begin = plain(["Order received", "Check stock"])
    return [*begin, ("In stock?", outputs, "success", None), *plain(names)]


def replayed(*executions: Json, model: Model | None = None, **options: str) -> ProductionReport:
    model = model or small()
    references = compile_references(model, PassContext(options=dict(options)))
    return replay_executions(model, executions, N8N, Observer(references))


def row(workflow: Json, name: str) -> Json:
    found: Json = next(r for r in workflow["nodes"] if r["name"] == name)
    return found


def test_runs_of_the_model_are_counted_by_branch_and_element(workflow: Json) -> None:
    report = replayed(
        stored(1, workflow, went(0, "Ship order", "Done")),
        stored(2, workflow, went(1, "Tell customer", "Done")),
        stored(3, workflow, went(0, "Ship order", "Done")),
    )
    assert [j.verdict for j in report.executions] == ["equal"] * 3
    assert report.ok
    assert not report.edited
    assert not report.failures
    assert report.flows["f2"] == 2
    assert report.flows["f3"] == 1
    assert report.elements == {"s": 3, "t": 3, "g": 3, "a": 2, "b": 1, "e": 3}
    assert [len(w.members) for w in group_executions(report)] == [2, 1]


def test_a_branch_against_its_output_is_a_deviation(workflow: Json) -> None:
    """The node said Yes, and what comes behind No ran: somebody crossed the wires."""
    report = replayed(stored(1, workflow, went(0, "Tell customer", "Done")))
    (one,) = report.executions
    assert one.verdict == "different"
    assert one.ran == "b"
    assert one.reason == "`Tell customer` ran, but the model allows `Ship order`"
    (failure,) = report.failures
    assert (failure.failure_stage, failure.rule, failure.element) == ("logical", "deviation", "b")
    assert not report.ok


def test_work_done_twice_and_an_early_end_are_deviations(workflow: Json) -> None:
    report = replayed(
        stored(1, workflow, went(0, "Ship order", "Ship order", "Done")),
        stored(2, workflow, went(0, "Ship order")),
        stored(3, workflow, went(0)),
    )
    said = [j.reason for j in report.executions]
    assert said[0] == "`Ship order` ran, but the model allows `Done`"
    assert said[1] == "it ended, but the model continues with `Done`"
    assert said[2] == "it ended, but the model continues with `Ship order`"


def test_a_failed_run_is_no_deviation_but_a_typed_failure(workflow: Json) -> None:
    order = went(0)
    order.append(("Ship order", (), "error", "connect ECONNREFUSED 10.0.0.1:80"))
    error = "connect ECONNREFUSED 10.0.0.1:80"
    report = replayed(stored(7, workflow, order, "error", error))
    (one,) = report.executions
    assert one.verdict == "failed"
    assert one.reason == f"failed at `Ship order`: {error}"
    (failure,) = report.failures
    assert (failure.failure_stage, failure.rule) == ("execution", "no-connection")
    assert failure.element == "a"
    assert failure.bpmn_construct_responsible == "task.abstract"
    assert failure.evidence[-1] == "execution 7"


def test_a_failed_run_that_was_off_the_model_is_a_deviation(workflow: Json) -> None:
    order = [*went(0, "Tell customer"), ("Done", (), "error", "oops")]
    (one,) = replayed(stored(1, workflow, order, "error", "oops")).executions
    assert one.verdict == "different"


def test_no_branch_that_fits_is_a_failure_at_the_gateway(workflow: Json) -> None:
    said = "No branch of “In stock?” fits. Set in_stock …"
    order = [*went(2), ("Stop: In stock?", (), "error", said)]
    report = replayed(stored(1, workflow, order, "error", said))
    (one,) = report.executions
    assert one.verdict == "failed"
    assert one.observed.failed == "g"
    assert one.free == ()
    assert "f2" not in report.flows
    assert "f3" not in report.flows
    assert report.failures[0].rule == "no-branch"


def test_what_waits_or_was_stopped_is_told(workflow: Json) -> None:
    report = replayed(
        stored(1, workflow, went(0, "Ship order"), "waiting"),
        stored(2, workflow, went(0, "Ship order"), "canceled"),
        stored(3, workflow, went(0, "Tell customer"), "waiting"),
    )
    assert [j.verdict for j in report.executions] == ["unfinished", "failed", "different"]
    assert report.executions[0].reason == "waits at `Ship order`"
    assert {f.rule for f in report.failures} == {"unfinished", "stopped", "deviation"}


def test_unknown_nodes_are_named_and_not_guessed(workflow: Json) -> None:
    """A step that lost its name, notes and id stands for nothing, however well it would fit."""
    changed = row(workflow, "Ship order")
    changed.update(name="Send by courier", notes="", id="new")
    wires = workflow["connections"]
    wires["Send by courier"] = wires.pop("Ship order")
    for outputs in wires.values():
        for ends in outputs["main"]:
            for end in ends:
                if end["node"] == "Ship order":
                    end["node"] = "Send by courier"
    report = replayed(stored(1, workflow, went(0, "Send by courier", "Done")))
    (one,) = report.executions
    assert one.strange == ("Send by courier",)
    assert one.verdict == "different"
    assert "`Ship order` no longer has a node in the workflow" in one.reason
    (edited,) = report.edited
    assert edited.unknown == ("Send by courier",)
    assert edited.missing == ("Ship order",)
    assert report.failures[0].rule == "edited-workflow"


def test_a_renamed_step_is_known_by_its_notes(workflow: Json) -> None:
    row(workflow, "Ship order")["name"] = "Ship it"
    report = replayed(stored(1, workflow, went(0, "Ship it", "Done")))
    assert report.ok
    assert report.elements["a"] == 1


def test_a_step_switched_off_did_not_run(workflow: Json) -> None:
    row(workflow, "Ship order")["disabled"] = True
    (one,) = replayed(stored(1, workflow, went(0, "Ship order", "Done"))).executions
    assert one.verdict == "different"
    assert "`Ship order` is disabled in the workflow" in one.reason


def test_a_choice_nobody_tells_is_tried_and_said(workflow: Json) -> None:
    changed = row(workflow, "In stock?")
    changed.update(type="n8n-nodes-base.code", parameters={})
    report = replayed(stored(1, workflow, went(0, "Tell customer", "Done")))
    (one,) = report.executions
    assert one.verdict == "equal"
    assert one.free == ("g",)
    assert report.flows["f3"] == 1


def test_executions_that_cannot_be_judged_say_why(workflow: Json) -> None:
    foreign = {"name": "Other", "nodes": [{"name": "X", "type": "n8n-nodes-base.noOp"}]}
    report = replayed(
        stored(1, foreign, plain(["X"])),
        {**stored(2, workflow, []), "data": None},
        {**stored(3, workflow, []), "workflowData": None},
        {**stored(4, workflow, []), "data": {"resultData": {"runData": {"X": 7}}}},
        {"id": 5},
        stored(6, workflow, went(0), data={"startData": {"destinationNode": "Ship order"},
                                           "resultData": {"runData": {}}}),
    )  # fmt: skip
    assert len(report.unread) == 5
    assert "`Other`, which was not compiled from this model" in report.unread[0]
    assert "kept no data of execution 2" in report.unread[1]
    assert "its workflow" in report.unread[2]
    assert [j.verdict for j in report.executions] == ["partial"]
    assert not replayed().ok


def test_several_branches_at_once_are_told(workflow: Json) -> None:
    order = went(0, "Ship order", "Done")
    order[2] = ("In stock?", (1, 1, 0), "success", None)
    (one,) = replayed(stored(1, workflow, order)).executions
    assert one.verdict == "different"
    assert one.reason == "`In stock?` continued with `Yes` and `No`, which the model does not allow"


def page(report: ProductionReport, model: Model) -> str:
    nodes = NodeTable(emitted(model).source_map, "n8n")
    return render_page(production_page(model, nodes, (), report, "saved in `x.json`"))


def test_the_page_shows_deviations_and_frequencies(workflow: Json) -> None:
    report = replayed(
        stored(1, workflow, went(0, "Ship order", "Done")),
        stored(2, workflow, went(0, "Ship order", "Done")),
        stored(3, workflow, went(1, "Tell customer", "Done")),
        stored(4, workflow, went(0, "Tell customer", "Done")),
    )
    text = page(report, small())
    assert text == page(report, small())
    root = parsed(text)
    assert "3 of 4 executions conform to the model; 1 left the model." in root.text
    assert [t.text.strip() for t in root.all("span", "share")] == ["75 %", "25 %"]
    first = root.one("figure", "view-1")
    marked = {t.attributes["data-element"] for t in first.all("g") if "of-error" in t.classes}
    assert marked == {"b"}
    assert "4, 2026-03-01 04:00:00, success" in root.text
    rows = [t.text for t in root.one("table", "pick").all("tr")]
    assert "deviates1" in rows[2]
    assert "conforms2" in rows[3]


def test_hostile_executions_stay_text(workflow: Json) -> None:
    evil = "</script><img src=x onerror=alert(1)>`{{ 7*7 }}`\x00\x1b"
    workflow["nodes"].append({"name": evil, "type": evil, "position": [0, 0], "parameters": {}})
    order = [*went(0), (evil, (1,), "success", None), ("Ship order", (), "error", evil)]
    report = replayed(stored(1, workflow, order, "error", evil, startedAt=evil, mode=evil))
    root = parsed(page(report, small()))
    assert not list(root.all("img"))
    assert "{{ 7*7 }}" in root.text
    assert "\x00" not in root.text


def test_production_of_an_example(root: Path, registry: Registry, engine: LocalEngine) -> None:
    """What n8n's engine did of itself is what the model says, loops and inclusive joins included;
    a wire taken out shows in every execution that would have used it."""
    ctx = PassContext(registry=registry)
    path = str(root / "examples" / "order-to-cash" / "model.bpmn")
    model = load_model(path, registry, ctx, diagram=True)
    assert model is not None
    made = compile_model(model, registry.backends["n8n"], ctx, options=dict(ONE_EXECUTION))
    assert made is not None

    def without_invoice(workflow: Json) -> None:
        ends = workflow["connections"]["Create invoice"]
        workflow["connections"]["Hand over the order"] = copy.deepcopy(ends)

    right = production(model, made, ctx, engine, 40)
    wrong = production(model, made, ctx, engine, 10, edit=without_invoice)
    report = replayed(*right, model=model, **ONE_EXECUTION)
    assert report.ok, [j.reason for j in report.executions if j.verdict != "equal"]
    assert not any(j.free for j in report.executions)
    assert report.elements["send_invoice"] == 40
    spoiled = replayed(*wrong, model=model, **ONE_EXECUTION)
    assert spoiled.count("different") == 10
    assert "`Hand over the order` leads to `Send invoice`" in spoiled.edited[0].rewired


@pytest.mark.parametrize("kinds", [("task", "xor", "and", "loop"), ("task", "or", "and", "loop"),
                                   ("task", "xor", "and", "or", "loop", "jumble")])  # fmt: skip
def test_random_models_in_production(kinds: tuple[str, ...], engine: LocalEngine) -> None:
    """Every choice is read from the nodes that made it: each execution is the run it was made by,
    inclusive splits and choices of tasks included."""
    played = 0
    for seed in range(12):
        model = random_model(5000 + seed, 10 + seed, kinds)
        model = implicit(model) if seed % 3 == 0 else model
        ctx = PassContext()
        lowered = legalise(model, N8N_TARGET, ctx, allow_lossy=False)
        assert not ctx.has_errors
        runner = LocalRunner(engine)
        process = model.processes[0].id
        runner.load(emitted(lowered), process, PassContext())
        runs = enumerate_runs(model, process, max_runs=4).runs
        workflow: Any = runner.workflow
        executions = [
            stored(i, workflow, [(n.node, n.outputs, n.status, n.error) for n in ran.order])
            for i, ran in enumerate(engine.run_many([runner._run_request(run) for run in runs]))
        ]
        report = replayed(*executions, model=model)
        assert not report.edited
        for run, one in zip(runs, report.executions, strict=True):
            assert (one.verdict, one.reason, one.free) == ("equal", "", ()), f"seed {seed}"
            wanted = Counter(f for s in run.steps for f in s.taken)
            assert Counter(f for s in one.steps for f in s.taken) == wanted
        played += len(runs)
    assert played > 30


# -- the command --------------------------------------------------------------------------------


@pytest.fixture
def invoke(capfdbinary: pytest.CaptureFixture[bytes]) -> Invoke:
    def run(*args: str | Path) -> Ran:
        code = cli.run([str(a) for a in args])
        found = capfdbinary.readouterr()
        return Ran(code, found.out.decode(), found.err.decode())

    return run


@pytest.fixture
def leave(root: Path) -> Path:
    return root / "examples" / "leave-request" / "model.bpmn"


@pytest.fixture
def deployed(leave: Path, registry: Registry) -> Json:
    ctx = PassContext(registry=registry)
    model = load_model(str(leave), registry, ctx, diagram=True)
    assert model is not None
    made = compile_model(model, registry.backends["n8n"], ctx, options={})
    assert made is not None
    found: Json = json.loads(made.artifacts[0].text)
    return found


BEGIN = ["Leave needed", "Fill in leave request", "Check leave request"]


def refused(workflow: Json, identity: int, **more: Any) -> Json:
    row = next(r for r in workflow["nodes"] if r["name"] == "Request approved?")
    keys = [v["outputKey"] for v in row["parameters"]["rules"]["values"]]
    outputs = tuple(int(key == "No") for key in keys)
    order = [*plain(BEGIN), ("Request approved?", outputs, "success", None)]
    ends = workflow["connections"]["Request approved?"]["main"][keys.index("No")]
    name = ends[0]["node"]
    while True:
        order += plain([name])
        ahead = (workflow["connections"].get(name) or {}).get("main") or []
        if not ahead or not ahead[0]:
            return stored(identity, workflow, order, **more)
        name = ahead[0][0]["node"]


@pytest.mark.parametrize("shape", ["list", "page", "one", "lines"])
def test_executions_in_a_file(
    invoke: Invoke, leave: Path, deployed: Json, tmp_path: Path, shape: str
) -> None:
    many = [refused(deployed, i) for i in (1, 2)]
    said = {
        "list": json.dumps(many, indent=1),
        "page": json.dumps({"data": many, "nextCursor": None}),
        "one": json.dumps(many[0]),
        "lines": "\n".join(map(json.dumps, many)) + "\n",
    }[shape]
    file, html = tmp_path / "runs.json", tmp_path / "page.html"
    file.write_text(said)
    ran = invoke("run", leave, "--executions", file, "--html", html)
    assert ran.code == 0, ran.err
    assert "Request approved? → No" in ran.out
    count = "the execution conforms" if shape == "one" else "all 2 executions conform"
    assert f"{count} to the model" in ran.out.casefold()
    assert max(map(len, ran.out.splitlines())) <= 80
    assert "Leave request" in parsed(html.read_text()).text
    as_json = json.loads(invoke("run", leave, "--executions", file, "--json").out)
    assert as_json["ok"] is True
    assert as_json["executions"][0]["verdict"] == "equal"


def test_status_and_dates_narrow_a_file(
    invoke: Invoke, leave: Path, deployed: Json, tmp_path: Path
) -> None:
    many = [refused(deployed, i) for i in (1, 30, 60)] + [refused(deployed, 90, status="canceled")]
    file = tmp_path / "runs.json"
    file.write_text(json.dumps(many))

    def ids(*more: str) -> list[str]:
        ran = invoke("run", leave, "--executions", file, "--json", *more)
        return [e["id"] for e in json.loads(ran.out)["executions"]]

    assert ids("--since", "2026-03-02") == ["30", "60", "90"]
    assert ids("--since", "2026-03-02", "--until", "2026-03-03T00:00:00Z") == ["30"]
    assert ids("--status", "canceled") == ["90"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--executions", "nowhere.json"], "does not exist"),
        (["--executions", "5"], "requires --engine URL"),
        (["--executions", "0", "--engine", "http://127.0.0.1:9"], "replays nothing"),
        (["--executions", "x.json", "--status", "sucess"], "did you mean `success`?"),
        (["--executions", "x.json", "--since", "yesterday"], "is not a date"),
        (["--since", "2026-01-01"], "require --executions"),
        (["--executions", "x.json", "--target", "mermaid"], "has no executions"),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else "",
)
def test_misuse_is_told(invoke: Invoke, leave: Path, options: list[str], said: str) -> None:
    ran = invoke("run", leave, *options)
    assert ran.code == 2
    assert said in " ".join(ran.err.split())


@pytest.mark.parametrize("text", ["", "{}", "[]", "{", "7", '{"data": 5}', "\x00", "[[[[", '"x"'])
def test_a_file_without_executions_is_told(
    invoke: Invoke, leave: Path, tmp_path: Path, text: str
) -> None:
    file = tmp_path / "runs.json"
    file.write_text(text)
    ran = invoke("run", leave, "--executions", file)
    assert ran.code == 2
    assert "OF002" in ran.err


# -- a server -----------------------------------------------------------------------------------


class Serving(StandIn):
    """Lists executions page by page, the latest first, as n8n does."""

    stored: tuple[Json, ...] = ()

    def _api(self, method: str, place: str, query: str, body: Any) -> Any:
        if place != "/executions":
            return super()._api(method, place, query, body)
        asked = {name: values[0] for name, values in parse_qs(query).items()}
        rows = [
            e
            for e in sorted(self.stored, key=lambda e: -int(e["id"]))
            if e["workflowId"] == asked["workflowId"] and asked.get("status") in (None, e["status"])
        ]
        first, size = int(asked.get("cursor", 0)), int(asked["limit"])
        more = str(first + size) if first + size < len(rows) else None
        return {"data": rows[first : first + size], "nextCursor": more}


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch) -> Iterator[Serving]:
    monkeypatch.setenv("N8N_API_KEY", KEY)
    server = Serving()
    yield server
    server.close()


def test_executions_are_pulled_from_the_deployed_workflow(
    invoke: Invoke, leave: Path, deployed: Json, serving: Serving
) -> None:
    assert invoke("deploy", leave, "--url", serving.url).code == 0
    (row,) = serving.workflows.values()
    serving.stored = tuple(
        refused(deployed, i, workflowId=row["id"], status="canceled" if i == 9 else "success")
        for i in range(1, 61)
    )
    run = ("run", leave, "--engine", serving.url, "--json", "--executions")
    ran = invoke(*run, "40")
    assert ran.code == 0, ran.err
    found = [int(e["id"]) for e in json.loads(ran.out)["executions"]]
    assert found == list(range(60, 20, -1))
    pages = [c for c in serving.calls if c.startswith("GET /api/v1/executions")]
    assert len(pages) == 2
    one = json.loads(invoke(*run, "5", "--status", "canceled").out)
    assert [e["id"] for e in one["executions"]] == ["9"]
    before = len(serving.calls)
    since = json.loads(invoke(*run, "99", "--since", "2026-03-03T08:00:00Z").out)
    assert min(int(e["id"]) for e in since["executions"]) == 56
    asked = [c for c in serving.calls[before:] if c.startswith("GET /api/v1/executions")]
    assert len(asked) == 1  # they come in order: no page is asked for in vain
    assert json.loads(invoke(*run, "3", "--workflow", row["id"]).out)["ok"]
    assert KEY not in ran.out + ran.err


def test_a_workflow_that_is_not_there_is_told(
    invoke: Invoke, leave: Path, deployed: Json, serving: Serving, registry: Registry
) -> None:
    run = ("run", leave, "--engine", serving.url, "--executions", "5")
    ran = invoke(*run)
    assert ran.code == 2
    assert "no workflow on the server was compiled from this model" in " ".join(ran.err.split())
    body = {k: deployed[k] for k in ("name", "nodes", "connections", "settings")}
    foreign = copy.deepcopy(body)
    process = load_model(str(leave), registry, PassContext(registry=registry)).processes[0].id  # type: ignore[union-attr]
    note = next(r for r in foreign["nodes"] if "orgflow-map" in str(r["parameters"]))
    said = {"process": process, "nodes": {"X": "x"}}
    note["parameters"]["content"] = f"`orgflow-map 1 {json.dumps(said)}`"
    serving._create(foreign)  # another model's process may have the same id
    assert invoke(*run).code == 2
    serving.workflows.clear()
    serving._create(body)
    assert invoke(*run).code == 1  # imported by hand: known by its map; nothing was run yet
    serving._create(body)
    ran = invoke(*run)
    assert ran.code == 2
    assert "server0002, server0003" in ran.err
    gone = invoke(*run, "--workflow", "nothing")
    assert gone.code == 2
    assert "the server has no workflow `nothing`" in gone.err
