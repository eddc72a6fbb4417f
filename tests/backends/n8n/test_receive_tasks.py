"""Receive tasks and message catches that wait for a call, on n8n's engine."""

from __future__ import annotations

import itertools
import re
from typing import Any

import pytest
from event_models import event, line
from n8n_compiled import emitted, workflows
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.engine.runs import EngineRun, RunRequest
from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.evaluation.replay import replay_model

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import Event, Expression, Flow, Gateway, Model, Process, Task
from orgflow_ir.model.bindings import Parameter, Worker
from orgflow_ir.pipeline import PassContext


def receive(id: str, **more: Any) -> Task:
    return Task(id=id, name=id, task_type="receive", **more)


def compiled(model: Model, **options: str) -> tuple[Workflow, list[Diagnostic]]:
    ctx = PassContext(options=dict(options))
    legal = legalise(model, N8N_TARGET, ctx, allow_lossy=False)
    workflow = workflows(legal, ctx)[0]
    assert not ctx.has_errors, ctx.diagnostics
    return workflow, ctx.diagnostics


def played(workflow: Workflow, engine: LocalEngine, **answers: list[Any]) -> EngineRun:
    (run,) = engine.run_many([RunRequest(workflow, "s", answers=answers, data=True)])
    return run


def choosing(*into: Task, by_label: bool) -> Model:
    """A gateway behind tasks: by labels, or by conditions on `paid`."""
    gateway = Gateway(id="g", name="Paid?", gateway_kind="exclusive")
    nodes = (event("s", "start"), *into, gateway, Task(id="ship"), Task(id="remind"),
             event("e", "end"), event("e2", "end"))  # fmt: skip
    chain = ("s", *(task.id for task in into), "g")
    pairs = enumerate(itertools.pairwise(chain))
    flows = [Flow(id=f"f{i}", source=a, target=b) for i, (a, b) in pairs]

    def test(text: str) -> Expression | None:
        return None if by_label else Expression(text=text)

    flows += [
        Flow(id="yes", name="yes", source="g", target="ship", condition=test("${paid}")),
        Flow(id="no", name="no", source="g", target="remind", condition=test("${!paid}")),
        Flow(id="x", source="ship", target="e"),
        Flow(id="y", source="remind", target="e2"),
    ]
    return Model(id="m", processes=(Process(id="P", nodes=nodes, flows=tuple(flows)),))


def test_a_receive_task_waits_for_a_call_of_its_own_address(engine: LocalEngine) -> None:
    model = line(event("s", "start"), receive("Order"), receive("Payment"), event("e", "end"))
    workflow, found = compiled(model)
    waits = [n for n in workflow["nodes"] if n["type"].endswith(".wait")]
    assert [n["parameters"]["options"]["webhookSuffix"] for n in waits] == ["order", "payment"]
    assert [n["parameters"]["httpMethod"] for n in waits] == ["POST", "POST"]
    assert "OF423" not in {d.code for d in found}
    run = played(workflow, engine)
    assert [(w.node, w.kind, w.resumed) for w in run.waits] == [
        ("Order", "webhook", "answer"), ("Payment", "webhook", "answer"),
    ]  # fmt: skip


def test_the_note_says_how_a_sender_finds_the_run(engine: LocalEngine) -> None:
    """The expression of the note, evaluated by n8n: the suffix comes before the signature."""
    model = line(event("s", "start"), Task(id="tell"), receive("Order paid"), event("e", "end"))
    workflow, _ = compiled(model)
    wait = next(n for n in workflow["nodes"] if n["name"] == "Order paid")
    code = re.search(r"\$execution\.resumeUrl\.replace\(.*?\$&'\)", wait["notes"])
    assert code is not None
    tell = next(n for n in workflow["nodes"] if n["name"] == "tell")
    tell["type"] = "n8n-nodes-base.set"
    tell["typeVersion"] = 3.4
    said = "={{ ({ to: " + code[0] + ", own: $execution.resumeUrl }) }}"
    tell["parameters"] = {"mode": "raw", "jsonOutput": said, "options": {}}
    run = played(workflow, engine)
    assert run.status == "success", run.error
    told = next(n for n in run.order if n.node == "tell")
    assert told.items is not None
    item = told.items[0][0]
    address, mark, query = str(item["own"]).partition("?")
    assert item["to"] == f"{address}/order-paid{mark}{query}"


@pytest.mark.parametrize("by_label", [True, False])
@pytest.mark.parametrize("paid", [True, False])
def test_what_is_posted_decides(by_label: bool, paid: bool, engine: LocalEngine) -> None:
    """Under the name of the decision, or of a variable that conditions read."""
    workflow, _ = compiled(choosing(receive("Payment"), by_label=by_label))
    note = next(n["notes"] for n in workflow["nodes"] if n["name"] == "Payment")
    body: dict[str, Any] = {"paid": paid}
    if by_label:
        (variable,) = re.findall(r"Sets (\w+): yes \| no", note)
        body = {variable: "yes" if paid else "no"}
    run = played(workflow, engine, Payment=[body])
    assert run.status == "success", run.error
    assert ("ship" in [n.node for n in run.order]) is paid


@pytest.mark.parametrize("by_label", [True, False])
def test_every_run_is_that_of_the_model(by_label: bool, engine: LocalEngine) -> None:
    model = choosing(receive("Payment"), by_label=by_label)
    report = replay_model(model, emitted(model), LocalRunner(engine), PassContext())
    assert report.ok, [r.divergence for r in report.runs]
    assert len(report.runs) == 2


def test_mappings_take_the_payload(engine: LocalEngine) -> None:
    """The model's output mapping makes variables of what was posted; what was known stays."""
    mapped = receive(
        "Payment",
        binding=Worker(outputs=(Parameter(name="paid", text='state = "done"', language="feel"),)),
    )
    workflow, _ = compiled(choosing(mapped, by_label=False))
    for state, path in (("done", "ship"), ("open", "remind")):
        run = played(workflow, engine, Payment=[{"state": state}])
        assert run.status == "success", run.error
        assert path in [n.node for n in run.order]


def caught(id: str, *outputs: Parameter) -> Event:
    binding = Worker(outputs=outputs)
    return event(id, "catch", "message", binding=binding).replace(name=id)


@pytest.mark.parametrize("language", ["feel", None])
def test_mappings_of_a_message_event_take_the_payload(
    language: str | None, engine: LocalEngine
) -> None:
    """With Camunda 8 nothing else of it is known behind the event; else all of it."""
    text = "amount * 2" if language else "${amount * 2}"
    model = line(
        event("s", "start"), caught("Paid", Parameter(name="total", text=text, language=language)),
        Task(id="show"), event("e", "end"),
    )  # fmt: skip
    workflow, _ = compiled(model)
    run = played(workflow, engine, Paid=[{"amount": 4, "note": "x"}])
    assert run.status == "success", run.error
    (items,) = [n.items for n in run.order if n.node == "show"]
    assert items is not None
    assert items[0][0]["total"] == 8
    assert ("note" in items[0][0]) is (language is None)


@pytest.mark.parametrize("paid", [True, False])
def test_conditions_see_what_a_message_event_maps(paid: bool, engine: LocalEngine) -> None:
    model = choosing(Task(id="Payment"), by_label=False)
    (process,) = model.processes
    taken = caught("Payment", Parameter(name="paid", text='state = "done"', language="feel"))
    nodes = tuple(taken if n.id == "Payment" else n for n in process.nodes)
    model = model.replace(processes=(process.replace(nodes=nodes),))
    workflow, _ = compiled(model)
    run = played(workflow, engine, Payment=[{"state": "done" if paid else "open"}])
    assert run.status == "success", run.error
    assert ("ship" in [n.node for n in run.order]) is paid
    report = replay_model(model, emitted(model), LocalRunner(engine), PassContext())
    assert [r.verdict for r in report.runs] == ["equal"] * 2


def test_a_mapping_that_is_not_understood_is_reported() -> None:
    taken = caught("Paid", Parameter(name="total", text="${bean.pick(1)}"))
    _, found = compiled(line(event("s", "start"), taken, event("e", "end")))
    (told,) = [d for d in found if d.code == "OF404"]
    assert "does not support the output mappings of `Paid`" in told.message


def test_what_may_be_open_beside_something_else_needs_rows() -> None:
    split = Gateway(id="g", gateway_kind="parallel")
    join = Gateway(id="j", gateway_kind="parallel")
    nodes = (event("s", "start"), split, receive("a"), receive("b"), join, receive("c"),
             event("e", "end"))  # fmt: skip
    wires = ("s g", "g a", "g b", "a j", "b j", "j c", "c e")
    flows = tuple(
        Flow(id=f"f{i}", source=w.split()[0], target=w.split()[1]) for i, w in enumerate(wires)
    )
    model = Model(id="m", processes=(Process(id="P", nodes=nodes, flows=flows),))
    workflow, found = compiled(model)
    kinds = {n["name"]: n["type"].rpartition(".")[2] for n in workflow["nodes"]}
    assert kinds["c"] == "executeWorkflow", "it writes the row that waits for the message"
    assert "wait" not in kinds.values()
    opened = [str(n["parameters"].get("workflowInputs")) for n in workflow["nodes"]]
    for name in ("a", "b", "c"):
        assert any(f'element:"{name}"' in text for text in opened), name
    assert not [d for d in found if d.code == "OF423"]
    workflow, found = compiled(model, waits="execution")
    kinds = {n["name"]: n["type"].rpartition(".")[2] for n in workflow["nodes"]}
    assert (kinds["a"], kinds["b"], kinds["c"]) == ("noOp", "noOp", "wait")
    (told,) = [d for d in found if d.code == "OF423"]
    assert told.message.startswith("`a` and `b` may be open while other work waits")
