"""Tasks that were filled with an operation of the installed n8n, executed by its own engine."""

from __future__ import annotations

import json
from typing import Any

import orgflow
import pytest
from engine_fixture import missing
from orgflow.backends.n8n.catalogue.node_catalogue import N8nCatalogue, read_catalogue
from orgflow.backends.n8n.emit.compiled import CompiledProcess
from orgflow.backends.n8n.engine.engine_folder import engine_dir
from orgflow.backends.n8n.engine.install import engine_status
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.engine.runs import RunRequest

from orgflow_ir.model import Event, Expression, Flow, Gateway, Model, Process, Task
from orgflow_ir.model.bindings import AnyBinding, Parameter, Script, Worker


@pytest.fixture(scope="module")
def catalogue() -> N8nCatalogue:
    if not engine_status().installed:
        missing("n8n's engine is not installed")
    return read_catalogue(engine_dir())


def feel(name: str, text: str) -> Parameter:
    return Parameter(name=name, text=text, language="feel")


def model(binding: AnyBinding, when: str) -> Model:
    """A script sets `order`, the task does its work, and a gateway reads `month`."""
    nodes = (
        Event(id="s", name="Start", position="start"),
        Task(
            id="a", name="Read order", task_type="script",
            binding=Script(language="feel", code=f'={{date: "{when}", data: 7}}', result="order"),
        ),
        Task(id="t", name="Look at the date", task_type="service", binding=binding),
        Gateway(id="g", name="March?", gateway_kind="exclusive"),
        Event(id="yes", name="In March", position="end"),
        Event(id="no", name="Later", position="end"),
    )  # fmt: skip
    flows = (
        Flow(id="f1", source="s", target="a"),
        Flow(id="f2", source="a", target="t"),
        Flow(id="f3", source="t", target="g"),
        Flow(
            id="f4", source="g", target="yes",
            condition=Expression(text="month = 3", language="FEEL"),
        ),
        Flow(id="f5", source="g", target="no", default=True),
    )  # fmt: skip
    process = Process(id="p", name="Dates", executable=True, nodes=nodes, flows=flows)
    return Model(id="m", name="Dates", processes=(process,))


def looking_at_the_date(catalogue: N8nCatalogue) -> Worker:
    operation = catalogue.operation("n8n-nodes-base.dateTime@2:extractDate")
    assert operation is not None
    assert catalogue.accepts_input(operation, {}, "date")
    return catalogue.binding(
        operation,
        {"part": "month"},
        (feel("date", "order.date"),),
        (feel("month", "datePart"),),
    )


@pytest.mark.parametrize(("when", "end"), [("2026-03-04", "In March"), ("2026-05-04", "Later")])
def test_a_filled_task_works(
    catalogue: N8nCatalogue, engine: LocalEngine, when: str, end: str
) -> None:
    source = model(looking_at_the_date(catalogue), when)
    made = orgflow.compile(source)
    assert made.emitted is not None, made.diagnostics
    assert not [d for d in made.diagnostics if d.code in ("OF404", "OF501")]
    compiled = made.emitted.compiled["p"]
    assert isinstance(compiled, CompiledProcess)
    (run,) = engine.run_many([RunRequest(compiled.root.workflow, "Start", data=True)])
    assert run.status == "success", run.error
    assert run.order[-1].node == end
    last = run.order[-1].items
    assert last is not None
    assert last[0][0]["month"] == int(when[5:7])


def test_a_filled_task_is_proved_and_replayed(catalogue: N8nCatalogue) -> None:
    source = model(looking_at_the_date(catalogue), "2026-03-04")
    made = orgflow.compile(source)
    assert orgflow.verify(source, made).ok
    report = orgflow.run(source, all_paths=True).report
    assert report is not None
    assert report.ok
    assert {run.run.choices for run in report.runs} == {(("g", ("f4",)),), (("g", ("f5",)),)}


def test_what_nobody_knows_is_visible(catalogue: N8nCatalogue) -> None:
    post = next(o for o in catalogue.operations if o.title == "Slack: send a message")
    binding = catalogue.binding(post, {"select": "channel"}, (feel("text", "order.date"),))
    made = orgflow.compile(model(binding, "2026-03-04"))
    found = {d.code: d for d in made.diagnostics}
    said = "the model does not define what `channelId` is for `Look at the date`"
    assert found["OF426"].message == said
    assert "slackApi" in found["OF424"].message
    node = _node(made, "Look at the date")
    assert node["parameters"]["channelId"]["value"] == "(fill in: Channel)"
    assert "Fill in: channelId." in node["notes"]


def test_a_constant_is_never_computed() -> None:
    hostile = Worker(
        by="catalogue", target="n8n:n8n-nodes-base.crypto@2",
        parameters=(("value", '"={{ $env.HOME }}"'), ("options", '{"a": ["={{ 1 }}"]}')),
    )  # fmt: skip
    node = _node(orgflow.compile(model(hostile, "2026-03-04")), "Look at the date")
    assert node["parameters"]["value"] == '={{ "={\\u007b $env.HOME }\\u007d" }}'
    assert node["parameters"]["options"]["a"][0].startswith('={{ "')


@pytest.mark.parametrize(
    "target", ["n8n:n8n-nodes-base.crypto", "n8n:other.node@1", "asl:arn@1", "crypto", "n8n:"]
)
def test_what_is_no_node_stays_a_placeholder(target: str) -> None:
    made = orgflow.compile(model(Worker(by="catalogue", target=target), "2026-03-04"))
    assert any(d.code == "OF404" for d in made.diagnostics)
    assert _node(made, "Look at the date")["type"] == "n8n-nodes-base.noOp"


def _node(made: orgflow.api.CompileResult, name: str) -> dict[str, Any]:
    (text,) = made.files.values()
    nodes = json.loads(text)["nodes"]
    return next(node for node in nodes if node["name"] == name)
