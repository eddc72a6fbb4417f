"""Mappings of tasks that are forms, executed on n8n's engine: what the page shows, what becomes of
the answers, and what conditions see behind it. What is expected follows from the documentation of
the engines, written down by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from one_task import compiled, one_task
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest
from orgflow.backends.n8n.engine.runs import EngineRun
from orgflow.backends.n8n.plan import variables
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.backends.n8n.verify.verify import verify_process
from orgflow.evaluation.replay import replay_model
from played_models import compiled as compiled_model

from orgflow_ir.model import Event, Expression, Flow, Gateway, Model, Process, Task
from orgflow_ir.model.bindings import Field, Form, Http, Listener, Parameter
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry
from orgflow_ir.targets.verification import Verdict

FIELDS = (
    Field(name="ok", label="OK?", type="boolean"),
    Field(name="amount", label="Amount", type="long"),
    Field(name="note", label="Note", type="string"),
)


def adds(event: str, text: str, *, first: bool = False) -> Listener:
    """Code that adds a text to the variable `x`."""
    value = f"'{text}'" if first else f"x + '{text}'"
    code = f"execution.setVariable('x', {value})"
    return Listener(event=event, by="script", language="groovy", target=code)


def model(form: Form, *conditions: str) -> Model:
    """Somebody says some things first, then does the task; with conditions a gateway behind it."""
    first = Task(id="a", name="Before", task_type="user", binding=Form(fields=(
        Field(name="price", type="double"), Field(name="amount", type="long"),
        Field(name="name", type="string"))))  # fmt: skip
    task = Task(id="t", name="Ask", task_type="user", binding=form)
    nodes: list[Any] = [Event(id="s", position="start"), first, task]
    flows = [Flow(id="f0", source="s", target="a"), Flow(id="f1", source="a", target="t")]
    if not conditions:
        nodes.append(Event(id="e", name="Done", position="end"))
        flows.append(Flow(id="f2", source="t", target="e"))
    else:
        nodes.append(Gateway(id="g", gateway_kind="exclusive"))
        flows.append(Flow(id="f2", source="t", target="g"))
        for n, text in enumerate(conditions):
            nodes.append(Event(id=f"e{n}", name=f"End {n}", position="end"))
            condition = Expression(text=text)
            flows.append(Flow(id=f"c{n}", source="g", target=f"e{n}", condition=condition))
    return Model(id="m", processes=(Process(id="p", nodes=tuple(nodes), flows=tuple(flows)),))


def played(
    engine: LocalEngine, model: Model, before: dict[str, Any], answers: dict[str, Any]
) -> EngineRun:
    made, errors = compiled_model(model, Registry())
    assert made is not None, errors
    workflow = made.compiled["p"].root.workflow
    trigger = next(n["name"] for n in workflow["nodes"] if n["type"].endswith("Trigger"))
    given = {"Ask": [answers]} | ({"Before": [before]} if before else {})
    (run,) = engine.run_many([RunRequest(workflow, trigger, answers=given, data=True)])
    return run


def at_the_end(run: EngineRun) -> dict[str, Any]:
    """Variables on the last item, but for what a page hands on of itself."""
    assert run.status == "success", run.error
    last = run.order[-1]
    assert last.items is not None
    of_the_page = ("submittedAt", "formMode", "formQueryParameters", "orgflowPage")
    return {k: v for k, v in last.items[0][0].items() if k not in of_the_page}


def seven(name: str, text: str) -> Parameter:
    """A mapping of Camunda 7."""
    return Parameter(name=name, text=text)


def eight(name: str, text: str) -> Parameter:
    """A mapping of Camunda 8."""
    return Parameter(name=name, text=text, language="feel")


def jbpm(name: str, text: str) -> Parameter:
    return Parameter(name=name, text=text, language="variable")


BEFORE = {"Price": "2.5", "Amount": "4", "Name": "Bo"}
KNOWN = {"price": 2.5, "amount": 4, "name": "Bo"}
CASES: tuple[tuple[str, Form, dict[str, Any], dict[str, Any]], ...] = (
    (
        "an answer is known outside, what its mapping computes of it, too",
        Form(fields=FIELDS, outputs=(seven("total", "${price * amount}"),)),
        {"OK?": "Yes", "Amount": "10"},
        {**KNOWN, "ok": True, "amount": 10, "total": 25},
    ),
    (
        "an answer whose name an input has stays in the task (Camunda 7)",
        Form(fields=FIELDS, inputs=(seven("amount", "${price * 2}"),)),
        {"OK?": "No", "Amount": "10"},
        {**KNOWN, "ok": False},
    ),
    (
        "unless an output takes it out",
        Form(fields=FIELDS, inputs=(seven("amount", "${price * 2}"),),
             outputs=(seven("amount", "${amount}"),)),
        {"OK?": "No", "Amount": "10"},
        {**KNOWN, "ok": False, "amount": 10},
    ),
    (
        "outputs see inputs that nobody answers",
        Form(fields=FIELDS, inputs=(seven("rate", "${price * 2}"),),
             outputs=(seven("sum", "${rate + amount}"),)),
        {"Amount": "10"},
        {**KNOWN, "ok": False, "amount": 10, "sum": 15},
    ),
    (
        "outputs see each other, in their order",
        Form(fields=FIELDS, outputs=(seven("x", "${amount + 1}"), seven("y", "${x * 2}"))),
        {"Amount": "1"},
        {**KNOWN, "ok": False, "amount": 1, "x": 2, "y": 4},
    ),
    (
        "what is left blank is null in a mapping, unless it was known before",
        Form(fields=FIELDS, outputs=(seven("remark", "${note}"), seven("n", "${amount}"))),
        {"Note": "", "Amount": ""},
        {**KNOWN, "ok": False, "remark": None, "n": 4},
    ),
    (
        "what an input gave and somebody cleared is null",
        Form(fields=FIELDS, inputs=(seven("note", "Hi ${name}"),),
             outputs=(seven("remark", "${note}"),)),
        {"Note": ""},
        {**KNOWN, "ok": False, "remark": None},
    ),
    (
        "with Camunda 8 only outputs leave a task that has some",
        Form(fields=FIELDS, outputs=(eight("total", "price * amount"),)),
        {"OK?": "Yes", "Amount": "10"},
        {**KNOWN, "total": 25},
    ),
    (
        "and all answers where it has none",
        Form(fields=FIELDS, inputs=(eight("shown", '"Hi " + name'),)),
        {"OK?": "Yes", "Note": "x"},
        {**KNOWN, "ok": True, "note": "x"},
    ),
    (
        "jBPM takes results by their names",
        Form(outputs=(jbpm("approved", "approved_out"), jbpm("reason", "why"))),
        {"Approved out": "yes", "Why": "cheap"},
        {**KNOWN, "approved": "yes", "reason": "cheap"},
    ),
    (
        "code at the start and the end of the task",
        Form(fields=FIELDS, listeners=(
            Listener(event="start", by="expression", target="${execution.setVariable('x', name)}"),
            Listener(event="end", by="script", language="groovy",
                     target="execution.setVariable('y', note + '!')"))),
        {"Note": "a"},
        {**KNOWN, "ok": False, "note": "a", "x": "Bo", "y": "a!"},
    ),
    (
        "Camunda 7 creates a task, then assigns it",
        Form(fields=FIELDS[2:], assignee="${name}", listeners=(
            adds("assignment", "a"), adds("create", "c"), adds("start", "s", first=True),
            adds("complete", "d"), adds("end", "e"))),
        {"Note": "a"},
        {**KNOWN, "note": "a", "x": "scade"},
    ),
    (
        "Flowable assigns a task, then creates it, and deletes it when it is completed",
        Form(fields=FIELDS[2:], assignee="bo", listeners=tuple(
            one.replace(engine="flowable") for one in (
                adds("delete", "x"), adds("create", "c"), adds("assignment", "a"),
                adds("start", "s", first=True), adds("complete", "d"), adds("end", "e")))),
        {"Note": "a"},
        {**KNOWN, "note": "a", "x": "sacdxe"},
    ),
    (
        "who has no name in the run gets no task",
        Form(fields=FIELDS[2:], assignee="${boss}", listeners=(
            adds("create", "c", first=True), adds("assignment", "a"))),
        {"Note": "a"},
        {**KNOWN, "note": "a", "x": "c"},
    ),
    (
        "nobody changes or cancels a task, or is assigned by claiming it",
        Form(fields=FIELDS[2:], candidate_groups="sales", listeners=(
            adds("create", "c", first=True), adds("assignment", "a"), adds("update", "u"),
            adds("delete", "d"), adds("timeout", "t"))),
        {"Note": "a"},
        {**KNOWN, "note": "a", "x": "c"},
    ),
)  # fmt: skip


@pytest.mark.parametrize(("form", "answers", "expected"), [c[1:] for c in CASES],
                         ids=[c[0] for c in CASES])  # fmt: skip
def test_who_sees_what(
    form: Form, answers: dict[str, Any], expected: dict[str, Any], engine: LocalEngine
) -> None:
    assert at_the_end(played(engine, model(form), BEFORE, answers)) == expected


def evaluating(node: Any, texts: dict[str, str]) -> Any:
    """A node in the place of a form, in which n8n itself evaluates what the page shows."""
    code = {name: text.removeprefix("={{").removesuffix("}}") for name, text in texts.items()}
    shown = ", ".join(f"{name!r}: {text}" for name, text in code.items())
    parameters = {"mode": "raw", "jsonOutput": "={{ ({ " + shown + " }) }}", "options": {}}
    return {**node, "type": "n8n-nodes-base.set", "typeVersion": 3.4, "parameters": parameters}


def evaluated(run: EngineRun) -> Any:
    """What that node hands on."""
    assert run.status == "success", run.error
    (found,) = [node.items for node in run.order if node.node == "Ask"]
    assert found is not None
    return found[0][0]


def test_the_page_shows_what_inputs_give(engine: LocalEngine) -> None:
    """Fields begin with the input of their name; what no field is about stands above them, and is
    no markup. What nobody has set is left out."""
    form = Form(
        fields=(*FIELDS, Field(name="kind", label="Kind", type="enum",
                               values=(("a", "Type A"), ("b", "Type B")))),
        inputs=(
            seven("amount", "${price * 2}"), seven("kind", "b"), seven("note", "${name}"),
            seven("ok", "${amount > 3}"), seven("hint", "by <b>mail</b>"),
            seven("who", "for ${name}"), seven("what", "${nobody}"),
        ),
    )  # fmt: skip
    source = model(form)
    made, errors = compiled_model(source, Registry())
    assert made is not None, errors
    workflow = made.compiled["p"].root.workflow
    ask = next(n for n in workflow["nodes"] if n["name"] == "Ask")
    rows = {r["fieldLabel"]: r for r in ask["parameters"]["formFields"]["values"]
            if "fieldLabel" in r}  # fmt: skip
    texts = {"description": ask["parameters"]["formDescription"]}
    texts |= {label: row["defaultValue"] for label, row in rows.items() if "defaultValue" in row}
    workflow["nodes"][workflow["nodes"].index(ask)] = evaluating(ask, texts)
    before = {"Before": [{**BEFORE, "Name": "B&o"}]}
    (run,) = engine.run_many([RunRequest(workflow, "Start", answers=before, data=True)])
    assert evaluated(run) == {
        "description": "hint: by &lt;b&gt;mail&lt;/b&gt;\nwho: for B&#38;o",
        "Amount": "5", "Kind": "Type B", "Note": "B&o", "OK?": "Yes",
    }  # fmt: skip


def test_the_page_shows_values_of_variables(engine: LocalEngine) -> None:
    """As Camunda 7 does: those of fields that only show one, and of those that are asked for again,
    also behind a request, whose answer replaces the item. An unset variable is left out."""
    only = (("readonly", ""),)
    kinds = (("a", "Type A"), ("b", "Type B"))
    first = Task(id="a", name="Before", task_type="user", binding=Form(fields=(
        Field(name="price", type="double"), Field(name="kind", type="enum", values=kinds),
        Field(name="urgent", type="boolean"), Field(name="name", type="string"),
        Field(name="day", type="date"))))  # fmt: skip
    request = Task(id="r", name="Look up", task_type="service", binding=Http(
        by="camunda", method="GET", url="https://x.example/rates"))  # fmt: skip
    last = Task(id="t", name="Ask", task_type="user", binding=Form(fields=(
        Field(name="price", label="Price <b>", type="double", constraints=only),
        Field(name="kind", label="Kind", type="enum", values=kinds, constraints=only),
        Field(name="urgent", label="Urgent?", type="boolean", constraints=only),
        Field(name="nobody", label="Nobody", type="string", constraints=only),
        Field(name="name", label="Name", type="string"), Field(name="day", type="date"),
        Field(name="kind", label="Kind", type="enum", values=kinds),
        Field(name="new", label="New", type="string"))))  # fmt: skip
    ids = ("s", "a", "r", "t", "e")
    flows = tuple(Flow(id=f"f{i}", source=ids[i], target=ids[i + 1]) for i in range(4))
    nodes = (Event(id="s", position="start"), first, request, last, Event(id="e", position="end"))
    source = Model(id="m", processes=(Process(id="p", nodes=nodes, flows=flows),))
    made, errors = compiled_model(source, Registry())
    assert made is not None, errors
    workflow = made.compiled["p"].root.workflow
    ask = next(n for n in workflow["nodes"] if n["name"] == "Ask")
    rows = {r["fieldLabel"]: r for r in ask["parameters"]["formFields"]["values"]
            if "fieldLabel" in r}  # fmt: skip
    assert list(rows) == ["Name", "Day", "Kind", "New"]
    texts = {"text": ask["parameters"]["formDescription"], "kind": rows["Kind"]["defaultValue"]}
    workflow["nodes"][workflow["nodes"].index(ask)] = evaluating(ask, texts)
    before = {"Price": "2.5", "Kind": "Type B", "Urgent": "Yes", "Name": "B<o", "Day": "2024-02-29"}
    (run,) = engine.run_many([
        RunRequest(workflow, "Start", answers={"Before": [before]}, data=True,
                   stubs={"Look up": {"visits": [{"body": {"rate": 3}}], "mode": "replace"}})
    ])  # fmt: skip
    assert evaluated(run) == {
        "text": "Price &#60;b&#62;: 2.5\nKind: Type B\nUrgent?: Yes\nName so far: B&#60;o\n"
        "Day so far: 2024-02-29",
        "kind": "Type B",
    }


def test_the_page_shows_the_documentation_with_values(engine: LocalEngine) -> None:
    """As Camunda 7 and Flowable show it. What nobody has set, and what is not supported, stays; a
    value is no markup."""
    doc = "${name} asks for ${amount * 2} (${nobody}, ${bean.call(1)}).\nIs it <fine>?"
    form = Form(fields=FIELDS, assignee="${name}")
    source = model(form)
    (process,) = source.processes
    nodes = tuple(n.replace(doc=doc) if n.id == "t" else n for n in process.nodes)
    source = source.replace(processes=(process.replace(nodes=nodes),))
    made, errors = compiled_model(source, Registry())
    assert made is not None, errors
    workflow = made.compiled["p"].root.workflow
    ask = next(n for n in workflow["nodes"] if n["name"] == "Ask")
    texts = {"text": ask["parameters"]["formDescription"]}
    workflow["nodes"][workflow["nodes"].index(ask)] = evaluating(ask, texts)
    before = {"Before": [{**BEFORE, "Name": "B&o"}]}
    (run,) = engine.run_many([RunRequest(workflow, "Start", answers=before, data=True)])
    twice = int(BEFORE["Amount"]) * 2
    assert evaluated(run) == {
        "text": f"B&#38;o asks for {twice} (${{nobody}}, ${{bean.call(1)}}).\n"
        f"Is it &#60;fine&#62;?\nFor: B&#38;o\nAmount so far: {BEFORE['Amount']}"
    }


MAPPED = (
    (Form(fields=FIELDS, outputs=(seven("fine", "${ok}"),)), ("OK?", "Yes", "No")),
    (Form(fields=FIELDS, outputs=(eight("fine", "ok"),)), ("OK?", "Yes", "No")),
    (Form(outputs=(jbpm("fine", "approved"),)), ("Approved", "Yes", "No")),
    (
        Form(outputs=(seven("fine", "${decision == 'yes'}"),)),
        ("Decision", "yes", "Something else"),
    ),
)


@pytest.mark.parametrize(("form", "answered"), MAPPED)
@pytest.mark.parametrize("fine", [True, False])
def test_conditions_see_what_mappings_set(
    form: Form, answered: tuple[str, str, str], fine: bool, engine: LocalEngine
) -> None:
    source = model(form, "${fine}", "${!fine}")
    label, yes, no = answered
    answers = {label: yes if fine else no}
    run = played(engine, source, BEFORE, answers)
    assert run.status == "success", run.error
    assert run.order[-1].node == ("End 0" if fine else "End 1")


@pytest.mark.parametrize("most_listed", [variables.MOST_LISTED, 0])
@pytest.mark.parametrize("form", [form for form, _ in MAPPED])
def test_every_run_is_that_of_the_model(
    form: Form, most_listed: int, engine: LocalEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if the variables are kept in a loop over their names."""
    monkeypatch.setattr(variables, "MOST_LISTED", most_listed)
    source = model(form, "${fine}", "${!fine}")
    made, errors = compiled_model(source, Registry())
    assert made is not None, errors
    report = replay_model(source, made, LocalRunner(engine), PassContext())
    assert [(r.verdict, r.divergence) for r in report.runs] == [("equal", None)] * 2
    ctx = PassContext(target=N8N_TARGET)
    found = verify_process(source, source.processes[0], made.compiled["p"].root.workflow, ctx)
    assert found.verdict is Verdict.PROVED


def test_what_is_not_understood_is_reported(tmp_path: Path) -> None:
    task = (
        '<userTask id="t" name="Work"><extensionElements><camunda:inputOutput>'
        '<camunda:outputParameter name="x">${bean.pick(1)}</camunda:outputParameter>'
        "</camunda:inputOutput></extensionElements></userTask>"
    )
    process, ctx = compiled(one_task(task), tmp_path)
    (found,) = [d for d in ctx.diagnostics if d.code == "OF404"]
    assert "does not support the output mappings of `Work`" in found.message
    assert "calls of `pick` are not supported" in found.message
    assert "Work outputs" not in {n["name"] for n in process.root.workflow["nodes"]}


@pytest.mark.parametrize("most_listed", [variables.MOST_LISTED, 0])
def test_mappings_beside_other_work_count_as_what_was_set(
    most_listed: int, engine: LocalEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The form stands beside a task that waits for nobody; behind the join a gateway reads what
    the mapping of the form set."""
    monkeypatch.setattr(variables, "MOST_LISTED", most_listed)
    form = Form(fields=FIELDS, outputs=(seven("fine", "${ok}"),))
    task = Task(id="t", name="Ask", task_type="user", binding=form)
    nodes = (
        Event(id="s", position="start"), Gateway(id="fork", gateway_kind="parallel"), task,
        Task(id="b", name="Beside"), Gateway(id="join", gateway_kind="parallel"),
        Gateway(id="g", gateway_kind="exclusive"), Event(id="e0", name="End 0", position="end"),
        Event(id="e1", name="End 1", position="end"),
    )  # fmt: skip
    wires = ("s fork", "fork t", "fork b", "t join", "b join", "join g", "g e0", "g e1")
    conditions = {"g e0": Expression(text="${fine}"), "g e1": Expression(text="${!fine}")}
    flows = tuple(
        Flow(id=f"f{n}", source=w.split()[0], target=w.split()[1], condition=conditions.get(w))
        for n, w in enumerate(wires)
    )
    source = Model(id="m", processes=(Process(id="p", nodes=nodes, flows=flows),))
    for answer, end in (("Yes", "End 0"), ("No", "End 1")):
        run = played(engine, source, {}, {"OK?": answer})
        assert run.status == "success", run.error
        assert run.order[-1].node == end
