"""For whom a form is and until when, by expressions that each run evaluates."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from n8n_compiled import emitted
from orgflow.backends.n8n.emit.compiled import CompiledProcess
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.backends.n8n.verify.verify import verify_process
from orgflow.evaluation.replay import replay_model

from orgflow_ir.model import Event, Flow, Model, Process, Task
from orgflow_ir.model.bindings import Field, Form
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets.verification import Verdict
from orgflow_ir.work.people import about


def asked_twice(form: Form) -> Model:
    """Somebody says who is the boss, then a task with a binding."""
    first = Task(id="a", name="Ask", task_type="user",
                 binding=Form(fields=(Field(name="boss", type="string"),)))  # fmt: skip
    second = Task(id="t", name="Check", task_type="user", binding=form)
    nodes = (Event(id="s", position="start"), first, second, Event(id="e", position="end"))
    ends = [node.id for node in nodes]
    flows = tuple(Flow(id=f"f{i}", source=a, target=b) for i, (a, b) in enumerate(pairwise(ends)))
    return Model(id="m", processes=(Process(id="p", name="P", nodes=nodes, flows=flows),))


def computed(
    engine: LocalEngine, form: Form, boss: str, **options: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What stands in front of the form hands on, and the parameters of the form."""
    (one,) = emitted(asked_twice(form), PassContext(options=options)).compiled.values()
    assert isinstance(one, CompiledProcess)
    workflow = one.root.workflow
    request = RunRequest(
        workflow, "Start", answers={"Ask": [{"Boss": boss}], "Check": [{}]}, data=True
    )
    (run,) = engine.run_many([request])
    assert run.status == "success", run.error
    (node,) = [n for n in run.order if n.node == "Check inputs"]
    assert node.items is not None
    (item,) = node.items[0]
    (row,) = [n for n in workflow["nodes"] if n["name"] == "Check"]
    return item, row["parameters"]


@pytest.mark.parametrize("version", ["2.41", "1.123"])
def test_whom_a_task_is_for_is_computed(engine: LocalEngine, version: str) -> None:
    form = Form(assignee="${boss}", candidate_groups="desk-${boss}", candidate_users="kim",
                priority='=if boss = "jo" then "high" else "low"')  # fmt: skip
    item, parameters = computed(engine, form, "jo", version=version)
    assert item["_task"] == {"assignee": "jo", "candidate_groups": "desk-jo", "priority": "high"}
    assert "For: kim" in parameters["formDescription"]
    assert "Check inputs" in parameters["formDescription"]


@pytest.mark.parametrize("assignee", ["${boss}", "=boss", "${starter}", "${boss.name}"])
def test_what_nobody_has_set_is_left_out(engine: LocalEngine, assignee: str) -> None:
    item, _ = computed(engine, Form(assignee=assignee), "")
    assert item["_task"].get("assignee") is None


@pytest.mark.parametrize(
    ("due", "moment"),
    [
        ("${dateTime().plusWeeks(1).toDate()}", None),
        ("PT36H", None),
        ("${boss}", "2031-05-06T00:00:00.000+00:00"),
        ("=date and time(boss)", "2031-05-06T00:00:00"),
    ],
)
def test_until_when_is_a_moment(engine: LocalEngine, due: str, moment: str | None) -> None:
    item, _ = computed(engine, Form(due=due), "2031-05-06")
    found = item.get("_due")
    assert isinstance(found, str)
    assert found[:4] >= "2026" if moment is None else found[:10] == moment[:10]


def test_what_a_page_says_of_a_run_is_no_markup() -> None:
    """The texts of the model are escaped by the compiler, those of a run by the page."""
    (one,) = emitted(
        asked_twice(Form(assignee="${boss}", candidate_groups="<b>"))
    ).compiled.values()
    assert isinstance(one, CompiledProcess)
    (row,) = [n for n in one.root.workflow["nodes"] if n["name"] == "Check"]
    text = row["parameters"]["formDescription"]
    assert "Group: &lt;b&gt;" in text
    assert "charCodeAt" in text


def test_what_is_not_understood_is_reported() -> None:
    found = about(Form(assignee="${bean.pick(1)}", due="${bean.date()}", priority="5"))
    assert ([u.what for u in found.work.unread], found.computed) == (["assignee", "due"], ())
    assert found.fixed == {"priority": "5"}


def test_a_form_that_computes_is_still_what_the_model_says(engine: LocalEngine) -> None:
    model = asked_twice(Form(assignee="${boss}", due="P1D"))
    made = emitted(model)
    report = replay_model(model, made, LocalRunner(engine), PassContext(), max_runs=3)
    assert [r.verdict for r in report.runs] == ["equal"]
    (one,) = made.compiled.values()
    assert isinstance(one, CompiledProcess)
    ctx = PassContext(target=N8N_TARGET)
    found = verify_process(model, model.processes[0], one.root.workflow, ctx)
    assert found.verdict is Verdict.PROVED
