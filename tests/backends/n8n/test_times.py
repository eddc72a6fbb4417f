"""Times that a run computes: expressions and schedules of events that wait, on n8n's engine."""

from __future__ import annotations

import datetime
import json
import subprocess
from typing import Any

import pytest
from event_models import event, line, timer
from n8n_compiled import emitted, workflows
from orgflow.backends.n8n.engine.engine_folder import engine_dir
from orgflow.backends.n8n.engine.local import LocalEngine
from orgflow.backends.n8n.engine.node import find_node
from orgflow.backends.n8n.engine.runs import EngineRun, RunRequest
from orgflow.backends.n8n.format.document import Workflow
from orgflow.backends.n8n.node_types.schedule_trigger import cron_sets, for_timer
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.evaluation.replay import replay_model
from orgflow.passes.pipelines import GAPS

from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import Task
from orgflow_ir.model.bindings import Field, Form
from orgflow_ir.model.timer_values import Cron
from orgflow_ir.model.timers import read_time
from orgflow_ir.pipeline import PassContext, PassManager

DAY = datetime.timedelta(days=1)


def compiled(text: str, kind: str = "duration") -> Workflow:
    model = line(event("s", "start"), timer("w", kind, text), Task(id="t"), event("e", "end"))
    ctx = PassContext()
    legal = legalise(model, N8N_TARGET, ctx, allow_lossy=False)
    assert not ctx.has_errors, ctx.diagnostics
    return workflows(legal, ctx)[0]


def played(workflow: Workflow, engine: LocalEngine, **data: Any) -> EngineRun:
    return next(iter(engine.run_many([RunRequest(workflow, "s", items=[{"json": data}])])))


def until(run: EngineRun) -> datetime.datetime:
    (wait,) = run.waits
    assert wait.wait_till is not None
    return datetime.datetime.fromisoformat(wait.wait_till)


LENGTHS = [
    ("${dur}", {"dur": "PT2H"}, datetime.timedelta(hours=2)),
    ("=dur", {"dur": "P1D"}, DAY),
    ("#{order.wait}", {"order": {"wait": "P2DT3H"}}, datetime.timedelta(days=2, hours=3)),
    ("PT${n}H", {"n": 3}, datetime.timedelta(hours=3)),
    ('=duration("PT" + string(n) + "H")', {"n": 3}, datetime.timedelta(hours=3)),
    ("${fast ? 'PT5M' : 'PT1H'}", {"fast": False}, datetime.timedelta(hours=1)),
    ("${dur}", {"dur": "PT70S"}, datetime.timedelta(seconds=70)),
]


@pytest.mark.parametrize(("text", "data", "length"), LENGTHS)
def test_a_computed_length(
    text: str, data: dict[str, Any], length: datetime.timedelta, engine: LocalEngine
) -> None:
    before = datetime.datetime.now(datetime.UTC)
    run = played(compiled(text), engine, **data)
    assert run.status == "success", run.error
    late = until(run) - before - length
    assert datetime.timedelta(seconds=-1) < late < datetime.timedelta(minutes=2)
    assert [n.node for n in run.order][-2:] == ["t", "e"]


@pytest.mark.parametrize(
    ("text", "data", "moment"),
    [
        ("${due}", {"due": "2099-01-31T10:00:00Z"}, "2099-01-31T10:00:00+00:00"),
        ("${due}", {"due": "2099-01-31T10:00:00+02:00"}, "2099-01-31T08:00:00+00:00"),
        ("=date and time(due)", {"due": "2099-01-31T10:00:00Z"}, "2099-01-31T10:00:00+00:00"),
    ],
)
def test_a_computed_date(text: str, data: dict[str, Any], moment: str, engine: LocalEngine) -> None:
    run = played(compiled(text, "date"), engine, **data)
    assert until(run) == datetime.datetime.fromisoformat(moment)


def test_a_date_without_a_zone_is_in_that_of_the_workflow(engine: LocalEngine) -> None:
    workflow = compiled("${due}", "date")
    workflow["settings"]["timezone"] = "Asia/Tokyo"  # type: ignore[typeddict-unknown-key]
    run = played(workflow, engine, due="2099-01-31")
    assert until(run) == datetime.datetime(2099, 1, 30, 15, tzinfo=datetime.UTC)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({}, "“dur” was never set, and “w” reads it. Set it in the input of the run."),
        ({"dur": "soon"}, 'The time to wait is no ISO 8601 date or duration: "soon"'),
        ({"dur": 5}, "The time to wait is no ISO 8601 date or duration: 5"),
        ({"dur": "-PT5M"}, 'The time to wait is no ISO 8601 date or duration: "-PT5M"'),
        ({"dur": ""}, 'The time to wait is no ISO 8601 date or duration: ""'),
        ({"dur": None}, "The time to wait is no ISO 8601 date or duration: null"),
    ],
)
def test_what_is_no_time_stops_the_run(
    data: dict[str, Any], message: str, engine: LocalEngine
) -> None:
    """It is never taken for a wait of no time at all."""
    run = played(compiled("${dur}"), engine, **data)
    assert run.status == "error"
    assert run.error is not None
    assert message in run.error
    assert not run.waits


def test_a_schedule_that_is_waited_for(engine: LocalEngine) -> None:
    """The next of its moments, by a search of our own minute by minute."""
    for text in ("0 30 9 ? * MON-FRI", "15 10 1 * *", "0 0 12 29 2 ?", "0 8 13 * 5"):
        workflow = compiled(text, "cycle")
        workflow["settings"]["timezone"] = "UTC"  # type: ignore[typeddict-unknown-key]
        cron = read_time(text)
        assert isinstance(cron, Cron)
        before = _next(cron, datetime.datetime.now(datetime.UTC))
        found = until(played(workflow, engine))
        assert found in (before, _next(cron, datetime.datetime.now(datetime.UTC))), text


def _next(cron: Cron, now: datetime.datetime) -> datetime.datetime:
    seconds, minutes, hours, days, months, weekdays, either = cron_sets(cron)
    assert seconds == [0]
    at = now.replace(hour=0, minute=0, second=0, microsecond=0)
    while True:
        in_month, in_week = at.day in days, (at.isoweekday() % 7) in weekdays
        fits = in_month or in_week if either == [1] else in_month and in_week
        if at.month in months and fits:
            for minute in range(1440):
                found = at + datetime.timedelta(minutes=minute)
                if found.hour in hours and found.minute in minutes and found > now:
                    return found
        at += DAY


@pytest.mark.parametrize(
    ("text", "sets"),
    [
        ("0 0 12 ? * 2-6", ([0], [0], [12], [*range(1, 32)], [*range(1, 13)], [1, 2, 3, 4, 5],
                            [0])),
        ("0 8 13 * 5", ([0], [0], [8], [13], [*range(1, 13)], [5], [1])),
        ("*/20 0 * * 7", ([0], [0, 20, 40], [0], [*range(1, 32)], [*range(1, 13)], [0], [0])),
        ("5/20 0 * * *", ([0], [5, 25, 45], [0], [*range(1, 32)], [*range(1, 13)], [*range(7)],
                          [0])),
    ],
)  # fmt: skip
def test_values_of_a_cron_expression(text: str, sets: tuple[list[int], ...]) -> None:
    cron = read_time(text)
    assert isinstance(cron, Cron)
    assert cron_sets(cron) == sets


def test_a_time_that_a_person_enters(engine: LocalEngine) -> None:
    """The answer of a form is the time; the model says who sets it, so that nothing is open."""
    ask = Task(
        id="ask",
        name="Ask",
        task_type="user",
        binding=Form(fields=(Field(name="due", type="date"),)),
    )
    model = line(event("s", "start"), ask, timer("w", "date", "${due}"), event("e", "end"))
    ctx = PassContext()
    PassManager(GAPS).run(model, ctx)
    assert "OF504" not in {d.code for d in ctx.diagnostics}
    workflow = workflows(legalise(model, N8N_TARGET, ctx, allow_lossy=False), ctx)[0]
    workflow["settings"]["timezone"] = "UTC"  # type: ignore[typeddict-unknown-key]
    request = RunRequest(workflow, "s", answers={"Ask": [{"Due": "2099-01-31"}]})
    (run,) = engine.run_many([request])
    assert run.status == "success", run.error
    assert [wait.node for wait in run.waits] == ["Ask", "w"]
    assert run.waits[1].wait_till == "2099-01-31T00:00:00.000Z"


_SCHEDULED = """
const folder = process.argv[1];
const nodes = folder + "/node_modules/n8n-nodes-base/dist/nodes";
const schedule = require(nodes + "/Schedule/GenericFunctions.js");
const core = { paths: [folder + "/node_modules/n8n-core"] };
const { CronTime } = require(require.resolve("cron", core));
for (const interval of JSON.parse(process.argv[2])) {
  schedule.validateInterval({ name: "s" }, 0, interval);
  new CronTime(schedule.toCronExpression(schedule.withIntervalDefaults(interval), "key"));
}
"""


def test_n8n_accepts_every_schedule() -> None:
    """Its own check of intervals, and its own reader of the cron expressions it makes of them."""
    texts = [
        "R/PT1S", "R/PT30S", "R/PT1M", "R/PT20M", "R/PT1H", "R/PT12H", "R/P1D", "R/P31D", "R/P4W",
        "R/P1M", "R/P6M", "R/P2Y", "0 9 * * 1-5", "0 0/5 * * * ?", "0 0 12 ? * 2-6",
        "every Monday at 9", "daily at 23:59", "on the 28th of every month at noon",
    ]  # fmt: skip
    found = [for_timer(timer("s", "cycle", text).definitions[0]) for text in texts]
    assert None not in found
    intervals = [row for one in found if one for row in one["rule"]["interval"]]
    done = subprocess.run(
        [find_node().path, "-e", _SCHEDULED, str(engine_dir()), json.dumps(intervals)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert len(intervals) == len(texts)


@pytest.mark.parametrize("text", ["${dur}", "0 30 9 ? * MON-FRI"])
def test_replays_do_not_wait(text: str, engine: LocalEngine) -> None:
    model = line(event("s", "start"), timer("w", "cycle", text), Task(id="t"), event("e", "end"))
    report = replay_model(model, emitted(model), LocalRunner(engine), PassContext())
    assert report.ok, [r.divergence for r in report.runs]
    assert list(report.runs[0].executed) == ["s", "w time", "w", "t", "e"]
