"""Starts, waits, ends and placeholders: parameters, gaps, and how they run on the engine."""

from __future__ import annotations

from typing import Any

import pytest
from event_models import event, line, timer
from n8n_compiled import emitted, workflows
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.backends.n8n.verify.verify import verify_process
from orgflow.evaluation.replay import replay_model
from orgflow.passes.pipelines import GAPS

from orgflow_ir.diagnostics import Diagnostic, Severity
from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import Flow, Gateway, Model, Process, Task
from orgflow_ir.model.bindings import Script
from orgflow_ir.pipeline import PassContext, PassManager
from orgflow_ir.plugins import Registry


def compiled(model: Model) -> tuple[Workflow, list[Diagnostic]]:
    ctx = PassContext()
    PassManager(GAPS).run(model, ctx)
    legal = legalise(model, N8N_TARGET, ctx, allow_lossy=False)
    return workflows(legal, ctx)[0], ctx.diagnostics


def node(workflow: Workflow, name: str) -> Any:
    return next(n for n in workflow["nodes"] if n["name"] == name)


@pytest.mark.parametrize(
    ("kind", "text", "parameters"),
    [
        ("duration", "PT90M", {"resume": "timeInterval", "amount": 90, "unit": "minutes"}),
        ("duration", "P2W", {"resume": "timeInterval", "amount": 14, "unit": "days"}),
        ("duration", "PT1H30S", {"resume": "timeInterval", "amount": 3630, "unit": "seconds"}),
        ("duration", "P1M",
         {"resume": "specificTime", "dateTime": "={{ $now.plus({ months: 1 }) }}"}),
        ("date", "2030-01-02T03:04:05Z",
         {"resume": "specificTime", "dateTime": "2030-01-02T03:04:05Z"}),
        ("duration", "5s", {"resume": "timeInterval", "amount": 5, "unit": "seconds"}),
        ("duration", "1d2h", {"resume": "timeInterval", "amount": 26, "unit": "hours"}),
        ("duration", "PT0.5H", {"resume": "timeInterval", "amount": 30, "unit": "minutes"}),
        ("duration", "14 Tage", {"resume": "timeInterval", "amount": 14, "unit": "days"}),
        ("duration", "2 Monate",
         {"resume": "specificTime", "dateTime": "={{ $now.plus({ months: 2 }) }}"}),
        ("duration", '= duration("PT1H")',
         {"resume": "timeInterval", "amount": 1, "unit": "hours"}),
        ("date", "PT5S", {"resume": "timeInterval", "amount": 5, "unit": "seconds"}),
        ("duration", "2030-01-01", {"resume": "specificTime", "dateTime": "2030-01-01"}),
        ("cycle", "R3/PT10M", {"resume": "timeInterval", "amount": 10, "unit": "minutes"}),
        ("cycle", "500ms###1s", {"resume": "timeInterval", "amount": 0.5, "unit": "seconds"}),
        ("cycle", "R3/2030-01-01T10:00Z/P1D",
         {"resume": "specificTime", "dateTime": "2030-01-01T10:00Z"}),
    ],
)  # fmt: skip
def test_times_that_can_be_read(kind: str, text: str, parameters: dict[str, Any]) -> None:
    workflow, found = compiled(line(event("s", "start"), timer("w", kind, text), event("e", "end")))
    assert node(workflow, "w")["parameters"] == parameters
    assert "OF504" not in {d.code for d in found}


@pytest.mark.parametrize(("kind", "text"), [(None, None), ("duration", None), ("duration", " ")])
def test_a_time_left_open_is_a_gap_and_waits_0_seconds(kind: str | None, text: str | None) -> None:
    workflow, found = compiled(line(event("s", "start"), timer("w", kind, text), event("e", "end")))
    wait = node(workflow, "w")
    assert wait["parameters"] == {"resume": "timeInterval", "amount": 0, "unit": "seconds"}
    assert [d.code for d in found if d.element == "w"] == ["OF504"]


NOT_KEPT = [
    ("catch", "soon", "it is not an ISO 8601 time"),
    ("catch", "14 Werktage", "it is not an ISO 8601 time"),
    ("catch", "P", "it is not an ISO 8601 time"),
    (
        "catch",
        "${timer.next()}",
        "an unsupported expression computes it: calls of `next` are not supported",
    ),
    ("catch", "-PT5S", "it is negative"),
    ("catch", "P0.5M", "a part of it is not a whole number"),
    ("catch", "2030-13-01", "this time does not exist"),
    ("start", "2030-02-29T10:00:00", "this time does not exist"),
    ("catch", "0 0 12 L * ?", "this cron expression has unsupported parts"),
    ("start", "${due}", "an expression computes it, but a trigger has no data to read"),
    ("start", "R3/PT10M", "a Schedule Trigger repeats indefinitely"),
    ("start", "R/2030-01-01/P1D", "a Schedule Trigger has no first or last time"),
    ("start", "R/PT7M", "n8n's scheduler cannot keep this interval exactly"),
    ("start", "0 0 12 L * ?", "n8n's scheduler does not support this cron expression"),
]


@pytest.mark.parametrize("kind", ["date", "duration", "cycle"])
@pytest.mark.parametrize(("position", "text", "reason"), NOT_KEPT)
def test_a_stated_time_that_n8n_does_not_keep_is_refused(
    position: str, text: str, reason: str, kind: str
) -> None:
    """It is never taken for a wait of no time at all."""
    at = timer("w", kind, text, position)
    nodes = (at,) if position == "start" else (event("s", "start"), at)
    ctx = PassContext()
    legalise(line(*nodes, event("e", "end")), N8N_TARGET, ctx, allow_lossy=False)
    (told,) = ctx.diagnostics
    assert (told.code, told.severity, told.element) == ("OF405", Severity.ERROR, "w")
    assert told.message == (
        f"orgflow does not support the time of `w`, `{text}`, on n8n yet: {reason}"
    )


def test_an_implementation_that_n8n_does_not_run_is_no_gap() -> None:
    script = Task(id="t", name="T", binding=Script(code="x = 1"))
    _, found = compiled(line(event("s", "start"), script, event("e", "end")))
    assert [d.code for d in found if d.element == "t"] == ["OF404"]


@pytest.mark.parametrize(
    ("text", "interval"),
    [
        ("R/PT2H", {"field": "hours", "hoursInterval": 2}),
        ("R/P1D", {"field": "days", "daysInterval": 1}),
        ("R/P2W", {"field": "days", "daysInterval": 14}),
        ("R/P3M", {"field": "months", "monthsInterval": 3}),
        ("R/P1Y", {"field": "months", "monthsInterval": 12}),
        ("every Monday at 9", {"field": "cronExpression", "expression": "0 9 * * 1"}),
        ("0 9 * * 1-5", {"field": "cronExpression", "expression": "0 9 * * 1-5"}),
        ("0 0 9-17 * * MON-FRI", {"field": "cronExpression", "expression": "0 0 9-17 * * 1-5"}),
    ],
)
def test_schedules(text: str, interval: dict[str, Any]) -> None:
    workflow, _ = compiled(line(timer("s", "cycle", text, "start"), event("e", "end")))
    start = node(workflow, "s")
    assert start["type"].endswith("scheduleTrigger")
    assert start["parameters"] == {"rule": {"interval": [interval]}}


@pytest.mark.parametrize(
    ("kind", "text", "waits"),
    [
        ("duration", "PT5M", {"resume": "timeInterval", "amount": 5, "unit": "minutes"}),
        ("duration", "14 Tage", {"resume": "timeInterval", "amount": 14, "unit": "days"}),
        ("date", "2036-11-14T11:12:22Z",
         {"resume": "specificTime", "dateTime": "2036-11-14T11:12:22Z"}),
    ],
)  # fmt: skip
def test_a_start_at_a_time_that_comes_once_waits_from_publication_on(
    engine: LocalEngine, kind: str, text: str, waits: dict[str, Any]
) -> None:
    model = line(timer("s", kind, text, "start"), Task(id="t", name="Work"), event("e", "end"))
    workflow, found = compiled(model)
    assert node(workflow, "s")["type"] == "n8n-nodes-base.n8nTrigger"
    assert node(workflow, "s")["parameters"] == {"events": ["activate"]}
    (wait,) = (n for n in workflow["nodes"] if n["type"].endswith(".wait"))
    assert wait["parameters"] == waits
    assert not [d for d in found if d.code in ("OF405", "OF504")]
    legal = legalise(model, N8N_TARGET, PassContext(), allow_lossy=False)
    report = replay_model(model, emitted(legal), LocalRunner(engine), PassContext())
    assert report.ok, [r.divergence for r in report.runs]
    (process,) = model.processes
    proof = verify_process(model, process, workflow, PassContext(registry=Registry()))
    assert proof.verdict.value == "proved", proof.difference


def test_a_start_that_has_come_waits_for_nothing() -> None:
    model = line(timer("s", "duration", "PT0S", "start"), event("e", "end"))
    workflow, _ = compiled(model)
    kinds = {n["type"].rpartition(".")[2] for n in workflow["nodes"]}
    assert kinds >= {"n8nTrigger"}
    assert "wait" not in kinds


def test_a_schedule_that_cannot_be_read_starts_by_hand() -> None:
    workflow, found = compiled(
        line(timer("s", "cycle", "every monday", "start"), event("e", "end"))
    )
    assert node(workflow, "s")["type"].endswith("manualTrigger")
    assert "OF504" in {d.code for d in found}


def test_message_start_is_a_webhook_and_a_second_start_is_none_by_hand() -> None:
    model = line(event("order", "start", "message"), event("e", "end"))
    process = model.processes[0]
    more = (event("s1", "start"), event("s2", "start"))
    flows = tuple(Flow(id=f"g{s.id}", source=s.id, target="e") for s in more)
    process = process.replace(nodes=process.nodes + more, flows=process.flows + flows)
    workflow, _ = compiled(model.replace(processes=(process,)))
    kinds = [node(workflow, n)["type"].rsplit(".")[-1] for n in ("order", "s1", "s2")]
    assert kinds == ["webhook", "manualTrigger", "webhook"]
    paths = [n["parameters"]["path"] for n in workflow["nodes"] if "path" in n["parameters"]]
    assert len(set(paths)) == 2


def test_waits_and_placeholders_run(engine: LocalEngine) -> None:
    model = line(
        event("s", "start"),
        timer("pause", "duration", "P3D"),
        event("answer", "catch", "message"),
        event("sunny", "catch", "conditional"),
        event("told", "throw", "message"),
        Task(id="t", name="Work", task_type="receive"),
        event("sent", "end", "message"),
    )
    legal = legalise(model, N8N_TARGET, PassContext(), allow_lossy=False)
    report = replay_model(model, emitted(legal), LocalRunner(engine), PassContext())
    assert report.ok, [r.divergence for r in report.runs]
    assert list(report.runs[0].executed) == [
        "s", "pause", "answer", "sunny", "told", "Work", "sent",
    ]  # fmt: skip
    assert any("`pause` is resumed immediately" in line for line in report.changed)


def test_signals_from_and_to_outside_run(engine: LocalEngine) -> None:
    model = line(
        event("s", "start", "signal"),
        event("heard", "catch", "signal"),
        event("told", "throw"),
        event("over", "end"),
    )
    legal = legalise(model, N8N_TARGET, PassContext(), allow_lossy=False)
    report = replay_model(model, emitted(legal), LocalRunner(engine), PassContext())
    assert report.ok, [r.divergence for r in report.runs]
    assert list(report.runs[0].executed) == ["s", "heard", "told", "over"]
    assert any("`heard` is resumed immediately" in line for line in report.changed)
    workflow, found = compiled(model)
    assert node(workflow, "s")["type"] == "n8n-nodes-base.webhook"
    assert node(workflow, "heard")["parameters"]["resume"] == "webhook"
    assert [d.element for d in found if d.code == "OF505"] == ["s", "heard"]


@pytest.mark.parametrize("position", ["throw", "end"])
def test_a_thrown_signal_is_a_placeholder_and_a_gap(engine: LocalEngine, position: str) -> None:
    last = () if position == "end" else (event("over", "end"),)
    model = line(event("s", "start"), event("told", position, "signal"), *last)
    legal = legalise(model, N8N_TARGET, PassContext(), allow_lossy=False)
    report = replay_model(model, emitted(legal), LocalRunner(engine), PassContext())
    assert report.ok, [r.divergence for r in report.runs]
    workflow, found = compiled(model)
    assert node(workflow, "told")["type"] == "n8n-nodes-base.noOp"
    assert [d.code for d in found if d.element == "told"] == ["OF505"]


def test_a_signal_between_events_of_the_model_is_refused() -> None:
    model = line(
        event("s", "start"), event("told", "throw", "signal"), event("heard", "catch", "signal"),
        event("e", "end"),
    )  # fmt: skip
    ctx = PassContext()
    legalise(model, N8N_TARGET, ctx, allow_lossy=False)
    (error,) = ctx.diagnostics  # one refusal for one signal
    assert (error.code, error.element) == ("OF403", "heard")
    assert (
        "yet: a signal reaches every instance that waits for it, and none is delivered from `told`"
        in error.message
    )


def test_a_wait_in_parallel_is_a_warning() -> None:
    split, join = (Gateway(id=i, gateway_kind="parallel") for i in ("split", "join"))
    nodes = (event("s", "start"), split, timer("w", "duration", "P1D"), Task(id="t"), join,
             timer("after", "duration", "P1D"), event("e", "end"))  # fmt: skip
    ends = [("s", "split"), ("split", "w"), ("split", "t"), ("w", "join"), ("t", "join"),
            ("join", "after"), ("after", "e")]  # fmt: skip
    flows = tuple(Flow(id=f"f{i}", source=a, target=b) for i, (a, b) in enumerate(ends))
    _, found = compiled(Model(id="m", processes=(Process(id="P", nodes=nodes, flows=flows),)))
    assert [d.element for d in found if d.code == "OF422"] == ["w"]
