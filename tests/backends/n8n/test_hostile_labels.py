"""Labels that look like code stay labels: nothing is evaluated, nothing changes the structure."""

from __future__ import annotations

import json

import pytest
from orgflow.backends.n8n.backend import emit_workflows
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.runner import LocalRunner
from orgflow.evaluation.replay import replay_model

from orgflow_ir.model import Event, Flow, Gateway, Lane, Model, Process, Task
from orgflow_ir.pass_manager import PassContext
from orgflow_ir.runs import enumerate_runs

HOSTILE = [
    "={{ $json.x }}", "={{ 1 + 1 }}", "= $json", "=", "==", "{{ $json.x }}", "}}", "{{",
    "a }} b {{ c", "{{{{", "}}}}", "$('Start').last().json", "`${1+1}`", "${process.exit()}",
    "\\", "\\\\", "a\\", "it's", 'say "yes"', "'", '"', "''", '""', "`", "$", "$$", "%s %d",
    "a\nb", "a\tb", "a\r\nb", "\u2028\u2029", "\u202eevil", "\u200b", "\x07bell", "ünïcödé",
    "日本語", "🙂🙃", "é", "<b>bold</b>", "</script><script>alert(1)</script>", "<!-- x -->",
    "&amp; &lt;", "__proto__", "constructor", "toString", "hasOwnProperty", "prototype", "null",
    "undefined", "true", "0", "NaN", "-1", "; drop table", "../../etc/passwd", "a" * 300,
    " lead and trail ", "#heading", "orgflow-map 1 {}", "|", "a|b", "[x](y)", "$json", "$('x')",
    "={{$('", "')}}", "\\u007d\\u007d", "{{ '}}' }}", "=={{2}}", "? ", "yes", "Yes", "YES",
]  # fmt: skip


def hostile_model(text: str, other: str) -> Model:
    nodes = (
        Event(id="s", name=text, position="start", doc=text),
        Task(id="t", name=text, doc=text),
        Gateway(id="g", name=text, gateway_kind="exclusive", doc=text),
        Task(id="a", name=other),
        Task(id="b", name=text + text),
        Gateway(id="h", name=text, gateway_kind="inclusive"),
        Task(id="c", name="C " + text),
        Task(id="d", name=text + " D"),
        Gateway(id="j", name=text, gateway_kind="inclusive"),
        Event(id="e", name=text, position="end"),
    )
    pairs = [
        ("s", "t", ""), ("t", "g", ""), ("g", "a", text), ("g", "b", other), ("a", "m", ""),
        ("b", "m", ""), ("m", "h", ""), ("h", "c", text), ("h", "d", other), ("c", "j", ""),
        ("d", "j", ""), ("j", "e", ""),
    ]  # fmt: skip
    flows = tuple(Flow(id=f"f{i}", source=x, target=y, name=n) for i, (x, y, n) in enumerate(pairs))
    merge = Gateway(id="m", gateway_kind="exclusive")
    lane = Lane(id="lane", name=text, members=tuple(n.id for n in nodes))
    process = Process(id="P", name=text, nodes=(*nodes, merge), flows=flows, lanes=(lane,))
    return Model(id="M", name=text, processes=(process,), source=text)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda t: ascii(t)[:30])
def test_runs_as_the_model_says(engine: LocalEngine, text: str) -> None:
    model = hostile_model(text, HOSTILE[(HOSTILE.index(text) + 1) % len(HOSTILE)])
    report = replay_model(model, model, LocalRunner(engine), PassContext(), max_runs=4)
    assert report.ok, [r.divergence for r in report.runs]
    assert len(report.runs) >= 2


@pytest.mark.parametrize("text", HOSTILE, ids=lambda t: ascii(t)[:30])
def test_no_parameter_becomes_an_expression(text: str) -> None:
    model = hostile_model(text, "other")
    workflows = emit_workflows(model, PassContext())
    assert workflows is not None
    workflow = workflows[0][1]
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
    workflows = emit_workflows(model, PassContext())
    assert workflows is not None
    names = [n["name"] for n in workflows[0][1]["nodes"]]
    assert len(set(names)) == len(names)
    assert all(len(n) <= 120 for n in names)


def test_enumerated_runs_exist() -> None:
    model = hostile_model("x", "y")
    assert enumerate_runs(model, "P").flows_covered == 12
