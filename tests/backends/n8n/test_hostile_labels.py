"""Labels that look like code stay labels: nothing is evaluated, nothing changes the structure."""

from __future__ import annotations

import json

import pytest
from hostile_labels import HOSTILE, hostile_model
from n8n_compiled import emitted, workflows
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.format.identity import readable_text
from orgflow.backends.n8n.plan.names import literal, quoted
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.evaluation.replay import replay_model

from orgflow_ir.flow.token_game.runs import enumerate_runs
from orgflow_ir.model import Event, Flow, Lane, Model, Process, Task
from orgflow_ir.pipeline import PassContext


@pytest.mark.parametrize("text", HOSTILE, ids=lambda t: ascii(t)[:30])
def test_runs_as_the_model_says(engine: LocalEngine, text: str) -> None:
    model = hostile_model(text, HOSTILE[(HOSTILE.index(text) + 1) % len(HOSTILE)])
    report = replay_model(model, emitted(model), LocalRunner(engine), PassContext(), max_runs=4)
    assert report.ok, [r.divergence for r in report.runs]
    assert len(report.runs) >= 2


@pytest.mark.parametrize("text", HOSTILE, ids=lambda t: ascii(t)[:30])
def test_no_parameter_becomes_an_expression(text: str) -> None:
    model = hostile_model(text, "other")
    workflow = workflows(model)[0]
    for node in workflow["nodes"]:
        assert not node["name"].startswith("=")
        for value in strings(node["parameters"]):
            if value.startswith("="):
                assert value.startswith("={{ (") or value.startswith("={{ ["), value
    assert json.loads(json.dumps(workflow)) == workflow


def strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [s for v in value.values() for s in strings(v)]
    return [s for v in value for s in strings(v)] if isinstance(value, list) else []


def test_labels_are_carried_whole() -> None:
    """A name that had to be cut or cleaned still says where it comes from."""
    model = hostile_model("a" * 300, "other")
    names = [n["name"] for n in workflows(model)[0]["nodes"]]
    assert len(set(names)) == len(names)
    assert all(len(n) <= 120 for n in names)


def test_enumerated_runs_exist() -> None:
    model = hostile_model("x", "y")
    assert enumerate_runs(model, "P").flows_covered == 12


def test_no_label_is_markdown_in_a_sticky_note() -> None:
    """The editor shows sticky notes as Markdown: it loaded the picture that a lane was called."""
    label = "![x](https://example.com/pixel.png) <img src=x> *b* `c` [l](u) a_b _i_ \\"
    assert literal(label) == (
        "!\\[x\\](https\\:\\//example\\.com/pixel\\.png) \\<img src\\=x\\> "
        "\\*b\\* \\`c\\` \\[l\\]\\(u) a_b \\_i\\_ \\\\"
    )
    assert literal("Ask Kim: 3 - 4 days, e.g. by mail (2)") == (
        "Ask Kim: 3 - 4 days, e\\.g. by mail \\(2)"
    )
    assert quoted("a`b") == "`` a`b ``"
    assert quoted("``` fence ``") == "```` ``` fence `` ````"
    task = Task(id="t", name=label)
    process = Process(
        id="p",
        name=label,
        nodes=(Event(id="s", position="start"), task, Event(id="e", position="end")),
        flows=(Flow(id="f", source="s", target="t"), Flow(id="g", source="t", target="e")),
        lanes=(Lane(id="l", name=label, members=("s", "t", "e")),),
    )
    (workflow,) = workflows(Model(id="m", processes=(process,)))
    notes = [n["parameters"]["content"] for n in workflow["nodes"] if "sticky" in n["type"]]
    shown = [readable_text(text) for text in notes]
    assert len(shown) == 2
    for text in shown:
        assert "![x]" not in text
        assert "!\\[x\\]" in text
        assert "<img" not in text.replace("\\<img", "")
