"""Tasks of people as forms: what they ask for, what answers become, and where they cannot be."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import pytest
from bpmn_text import definitions, model_of, process
from hostile_labels import HOSTILE
from n8n_compiled import emitted as emitted_by
from orgflow.backends.n8n.emit.compiled import CompiledProcess, CompiledScope
from orgflow.backends.n8n.engine.local import LocalEngine, RunRequest
from orgflow.backends.n8n.plan.target import N8N_TARGET
from orgflow.backends.n8n.replay.local_runner import LocalRunner
from orgflow.backends.n8n.verify.verify import verify_process
from orgflow.evaluation.replay import replay_model
from orgflow.passes.gaps import Gaps

from orgflow_ir.legalisation.legalise import legalise
from orgflow_ir.model import Event, Flow, Model, Process, Task
from orgflow_ir.model.bindings import Field, Form
from orgflow_ir.pipeline import PassContext
from orgflow_ir.targets import Emitted
from orgflow_ir.targets.verification import Verdict
from orgflow_ir.work.asked_fields import AskedField, Option


def emitted(model: Model, **options: str) -> Emitted:
    """What a model becomes with forms."""
    return emitted_by(model, PassContext(options=options))


def compiled(model: Model, **options: str) -> CompiledProcess:
    (found,) = emitted(model, **options).compiled.values()
    assert isinstance(found, CompiledProcess)
    return found


def one_task(*fields: Field) -> Model:
    """A process of one form."""
    task = Task(id="t", name="Ask", task_type="user", binding=Form(fields=fields))
    nodes = (Event(id="s", position="start"), task, Event(id="e", position="end"))
    flows = (Flow(id="f", source="s", target="t"), Flow(id="g", source="t", target="e"))
    return Model(id="m", processes=(Process(id="p", name="P", nodes=nodes, flows=flows),))


def asked(body: str, task: str = "t") -> dict[str, AskedField]:
    """The fields that the form of a task asks for, by variable."""
    form = compiled(model_of(process(body))).root.plan.forms[task]
    return {field.asked.variable: field.asked for field in form.fields}


def sent(
    engine: LocalEngine, model: Model, answers: Mapping[str, Any], *, again: bool = False
) -> Mapping[str, Any]:
    """What the node behind the form hands on when its fields (by label) are filled so; `again`
    where it asks again, and gets no answers then."""
    scope = compiled(model).root
    trigger = next(n.name for n in scope.plan.workflow_graph.nodes.values() if n.role == "trigger")
    request = RunRequest(scope.workflow, trigger, answers={"Ask": [answers]}, data=True)
    (run,) = engine.run_many([request])
    assert run.status == "success", run.error
    assert len([n for n in run.order if n.node == "Ask"]) == (2 if again else 1)
    (node,) = [n for n in run.order if n.node == "Ask data"]
    assert node.items is not None
    (item,) = node.items[0]
    return item


FIELDS = (
    Field(name="amount", label="Amount", type="double", required=True),
    Field(name="pieces", type="long", constraints=(("min", "1"), ("max", "10"))),
    Field(name="ok", label="Ok?", type="boolean"),
    Field(name="day", type="date"),
    Field(name="kind", type="enum", values=(("a", "Type A"), ("b", "Type B"), ("c", "Type A"))),
    Field(name="note", type="string", constraints=(("maxlength", "5"),)),
    Field(name="shown", type="string", constraints=(("readonly", ""),)),
)


@pytest.mark.parametrize(
    ("answers", "variables"),
    [
        (
            {"Amount": "12.5", "Pieces": "3", "Ok?": "Yes", "Day": "2024-02-29",
             "Kind": "Type A (2)", "Note": "hello"},
            {"amount": 12.5, "pieces": 3, "ok": True, "day": "2024-02-29", "kind": "c",
             "note": "hello"},
        ),
        ({"Amount": "0", "Ok?": "No", "Kind": "Type B"}, {"amount": 0, "ok": False, "kind": "b"}),
        ({"Amount": "1e3", "Pieces": "", "Day": "", "Note": "", "Ok?": ""},
         {"amount": 1000, "ok": False}),
        ({"Amount": "-1", "Note": "short"}, {"amount": -1, "ok": False, "note": "short"}),
        ({"Amount": "x", "Ok?": "true", "Day": "tomorrow", "Kind": "a"}, {}),
        ({"Kind": "constructor", "Ok?": "__proto__"}, {}),
        ({}, {"ok": False}),
        ({"Amount": "1", "Tags": ["Blue"]}, {"amount": 1, "ok": False, "tags": ["b"]}),
    ],
)  # fmt: skip
def test_answers_become_typed_variables(
    engine: LocalEngine, answers: dict[str, Any], variables: dict[str, Any]
) -> None:
    """A blank is no answer but of a box that may stay unticked; what no page sends is none."""
    tags = Field(name="tags", type="checklist", values=(("r", "Red"), ("b", "Blue")))
    wanted = variables if "Tags" in answers else {**variables, "tags": []}
    assert sent(engine, one_task(*FIELDS, tags), answers) == wanted


@pytest.mark.parametrize(
    "answers",
    [{"Pieces": "0"}, {"Pieces": "11"}, {"Pieces": "2.5"}, {"Pieces": "three"}, {"Note": "longer"},
     {"Plate": "DD 1"}, {"Plate": "xKA-AB 12"}],
)  # fmt: skip
def test_an_answer_that_breaks_a_rule_is_asked_for_again(
    engine: LocalEngine, answers: dict[str, Any]
) -> None:
    """Rules that n8n's page does not check."""
    plate = Field(name="plate", type="string", constraints=(("pattern", r"^[A-Z]{1,3}-\w+ \d+$"),))
    model = one_task(*FIELDS, plate)
    assert sent(engine, model, {"Plate": "KA-AB 12"}) == {"plate": "KA-AB 12", "ok": False}
    assert sent(engine, model, answers, again=True) == {"ok": False}


def test_a_box_that_has_to_be_answered_has_no_answer_before(engine: LocalEngine) -> None:
    """What somebody is asked to choose is not chosen by a blank; nor is what the model does not
    define but a gateway reads."""
    needed = Field(name="ok", type="boolean", required=True)
    assert sent(engine, one_task(needed), {}) == {}
    form = compiled(model_of(process(gateway("${approved}")))).root.plan.forms["t"]
    assert [(f.asked.source, f.ticked) for f in form.fields] == [("condition", False)]


@pytest.mark.parametrize(
    "pattern", ["(", "(?i)a", "a++", r"\p{L}", r"\Aa", "[]a]", "{,3}", "a" * 501, "a{2}}", "ä"]
)
def test_patterns_that_are_read_in_several_ways_are_no_rules(pattern: str) -> None:
    field = Field(name="x", type="string", constraints=(("pattern", pattern),))
    assert not compiled(one_task(field)).root.plan.forms["t"].is_checked


def test_labels_and_values_are_never_code(engine: LocalEngine) -> None:
    """Labels, choices, names of variables and answers that look like code, all in one form."""
    fields = [
        Field(name=f"v{i}", label=text, type="string", values=()) for i, text in enumerate(HOSTILE)
    ]
    fields += [Field(name=t, label="Same", type="string") for t in HOSTILE if t.strip()]
    model = one_task(*fields)
    form = compiled(model).root.plan.forms["t"]
    assert len({field.label for field in form.fields}) == len(form.fields) > len(HOSTILE)
    texts = [HOSTILE[-i - 1].strip() for i in range(len(HOSTILE))]
    entered = {f.label: texts[i % len(texts)] for i, f in enumerate(form.fields)}
    found = sent(engine, model, entered)
    for field in form.fields:
        name = field.asked.variable
        if name == "__proto__":
            continue
        assert found.get(name) == (entered[field.label] or None), name


def test_choices_are_never_code(engine: LocalEngine) -> None:
    values = tuple((text, text) for text in HOSTILE)
    model = one_task(Field(name="x", label="X", type="enum", values=values))
    (field,) = compiled(model).root.plan.forms["t"].fields
    assert len({o.label for o in field.options}) == len(HOSTILE)
    for option in field.options[::7]:
        assert sent(engine, model, {"X": option.label}) == {"x": option.value}


GATEWAY = """
<startEvent id="s"/><sequenceFlow id="f1" sourceRef="s" targetRef="t"/>
<userTask id="t" name="Check"/><sequenceFlow id="f2" sourceRef="t" targetRef="g"/>
<exclusiveGateway id="g" name="{name}" default="f4"/>
<sequenceFlow id="f3" name="{label}" sourceRef="g" targetRef="e1">{condition}</sequenceFlow>
<sequenceFlow id="f4" name="No" sourceRef="g" targetRef="e2"/>
<endEvent id="e1"/><endEvent id="e2"/>"""


def gateway(condition: str = "", name: str = "Ok?", label: str = "") -> str:
    if condition:
        condition = f"<conditionExpression>{condition}</conditionExpression>"
    return GATEWAY.format(name=name, label=label, condition=condition)


@pytest.mark.parametrize(
    ("condition", "type", "options"),
    [
        ("${approved}", "boolean", ()),
        ("${!approved}", "boolean", ()),
        ("${approved == true}", "boolean", ()),
        ("${approved &gt; 3}", "number", ()),
        ("${approved * 2 &gt; other}", "number", ()),
        ("${approved == 'a' || approved == 'b'}", "choice", ("a", "b")),
        ("${approved == 'a' || approved}", "text", ()),
    ],
)
def test_a_form_asks_for_what_the_next_gateway_reads(
    engine: LocalEngine, condition: str, type: str, options: tuple[str, ...]
) -> None:
    body = gateway(condition)
    field = asked(body)["approved"]
    assert (field.type, tuple(o.value for o in field.options)) == (type, options)
    model = model_of(process(body))
    report = replay_model(model, emitted(model), LocalRunner(engine), PassContext(), max_runs=4)
    assert [r.verdict for r in report.runs if r.verdict != "unplayable"]
    assert all(r.verdict in ("equal", "unplayable") for r in report.runs)
    assert verified(model) is Verdict.PROVED


def verified(model: Model) -> Verdict:
    artifacts = emitted(model)
    (one,) = artifacts.compiled.values()
    assert isinstance(one, CompiledProcess)
    return verify_process(
        model, model.processes[0], one.root.workflow, PassContext(target=N8N_TARGET)
    ).verdict


def test_a_form_asks_for_the_decision_of_the_next_gateway(engine: LocalEngine) -> None:
    body = gateway(label="Yes")
    (field,) = asked(body).values()
    assert field.options == (Option("Yes", "Yes"), Option("No", "No"))
    assert (field.label, field.type) == ("Ok?", "choice")
    model = model_of(process(body))
    report = replay_model(model, emitted(model), LocalRunner(engine), PassContext(), max_runs=4)
    assert report.ok
    assert len(report.runs) == 2
    assert verified(model) is Verdict.PROVED


def test_what_the_model_sets_is_not_asked_for() -> None:
    """Only the nearest person asks, and nobody for what a form or a mapping sets."""
    head = (
        '<startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="u"/>'
        '<userTask id="u" name="First"/><sequenceFlow id="fu" sourceRef="u" targetRef="t"/>'
    )
    body = gateway("${approved}").split("\n", 2)[2]
    first, second = asked(head + body, "u"), asked(head + body, "t")
    assert (list(first), list(second)) == ([], ["approved"])


PARALLEL = """
<startEvent id="s"/><sequenceFlow id="f1" sourceRef="s" targetRef="k"/>
<parallelGateway id="k"/><sequenceFlow id="f2" sourceRef="k" targetRef="a"/>
<sequenceFlow id="f3" sourceRef="k" targetRef="b"/>
<userTask id="a" name="A"/><{kind} id="b" name="B"/>
<sequenceFlow id="f4" sourceRef="a" targetRef="j"/>
<sequenceFlow id="f5" sourceRef="b" targetRef="j"/>
<parallelGateway id="j"/><sequenceFlow id="f6" sourceRef="j" targetRef="c"/>
<userTask id="c" name="C"/><sequenceFlow id="f7" sourceRef="c" targetRef="e"/><endEvent id="e"/>"""


@pytest.mark.parametrize(
    ("kind", "waits", "forms", "codes"),
    [
        ("userTask", "execution", {"c"}, ["OF423"]),
        ("receiveTask", "execution", {"c"}, ["OF423"]),
        ("serviceTask", "execution", {"a", "c"}, []),
        ("userTask", "rows", {"a", "b", "c"}, []),
        ("receiveTask", "rows", {"a", "c"}, []),
        ("serviceTask", "rows", {"a", "c"}, []),
    ],
)
def test_what_may_be_open_beside_other_waits_needs_rows(
    engine: LocalEngine, kind: str, waits: str, forms: set[str], codes: list[str]
) -> None:
    model = model_of(process(PARALLEL.format(kind=kind)))
    ctx = PassContext(target=N8N_TARGET, options={"waits": waits})
    from orgflow.backends.n8n.backend import N8nBackend

    made = N8nBackend().emit(legalise(model, N8N_TARGET, ctx, allow_lossy=False), ctx)
    (one,) = made.compiled.values()
    assert isinstance(one, CompiledProcess)
    plan = one.root.plan
    assert set(plan.forms) == forms
    assert (plan.segments is not None) is (waits == "rows" and kind != "serviceTask")
    assert [d.code for d in ctx.diagnostics if d.code == "OF423"] == codes
    report = replay_model(model, made, LocalRunner(engine), PassContext(), max_runs=4)
    assert report.ok, [r.divergence for r in report.runs]


CHAIN = """
<startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="t0"/>
<userTask id="t0" name="Check"/><sequenceFlow id="f1" sourceRef="t0" targetRef="t1"/>
<userTask id="t1" name="Check"/><sequenceFlow id="f2" sourceRef="t1" targetRef="t2"/>
<userTask id="t2"/><sequenceFlow id="f3" sourceRef="t2" targetRef="e"/><endEvent id="e"/>"""


def test_every_form_tells_its_page_from_others() -> None:
    forms = compiled(model_of(process(CHAIN))).root.plan.forms
    assert [form.page for form in forms.values()] == ["check", "check (2)", "page"]
    assert compiled(one_task()).root.plan.forms["t"].page == ""


def test_the_page_of_another_form_answers_nothing(engine: LocalEngine) -> None:
    """A page that is sent twice comes to the next form, which asks again."""
    model = model_of(process(CHAIN))
    scope = compiled(model).root
    trigger = next(n.name for n in scope.plan.workflow_graph.nodes.values() if n.role == "trigger")
    answers = {"Check": [{}], "Check (2)": [{"orgflowPage": "check"}, {}], "t2": [{}]}
    (run,) = engine.run_many([RunRequest(scope.workflow, trigger, answers=answers)])
    assert run.status == "success", run.error
    order = [n.node for n in run.order if "answered" not in n.node]
    assert order == [trigger, "Check", "Check (2)", "Check (2)", "t2", "End"]
    assert verified(model) is Verdict.PROVED


ROUNDS = """
<startEvent id="s"/><sequenceFlow id="f0" sourceRef="s" targetRef="x"/>
<exclusiveGateway id="x"/><sequenceFlow id="f1" sourceRef="x" targetRef="t"/>
<userTask id="t" name="Check"/><sequenceFlow id="f2" sourceRef="t" targetRef="g"/>
<exclusiveGateway id="g" name="Done?"/>
<sequenceFlow id="f3" name="Yes" sourceRef="g" targetRef="e"/>
<sequenceFlow id="f4" name="No" sourceRef="g" targetRef="x"/><endEvent id="e"/>"""


@pytest.mark.parametrize("version", ["2.41", "1.123"])
def test_the_page_of_an_earlier_round_answers_nothing(engine: LocalEngine, version: str) -> None:
    """Somebody goes back in the browser, and sends what they sent before."""
    model = model_of(process(ROUNDS))
    scope = compiled(model, version=version).root
    old = {"Done?": "Yes", "orgflowPage": "check 0"}
    answers = {"Check": [{"Done?": "No"}, old, {"Done?": "No"}, {"Done?": "Yes"}]}
    (run,) = engine.run_many([RunRequest(scope.workflow, "Start", answers=answers)])
    assert run.status == "success", run.error
    order = [n.node for n in run.order]
    assert [order.count(n) for n in ("Check", "Check round", "Check data", "End")] == [4, 3, 3, 1]
    report = replay_model(model, emitted(model), LocalRunner(engine), PassContext(), max_runs=6)
    assert report.ok, [r.divergence for r in report.runs]
    assert len(report.runs) >= 2
    assert verified(model) is Verdict.PROVED


@pytest.mark.parametrize(
    ("edit", "verdict"), [("test", Verdict.CHANGED), ("wire", Verdict.DIFFERENT)]
)
def test_verify_knows_what_asks_again(edit: str, verdict: Verdict) -> None:
    """The way back to a form is no step of the model; one that leads elsewhere is."""
    model = model_of(process(CHAIN))
    workflow = copy.deepcopy(compiled(model).root.workflow)
    if edit == "test":
        (guard,) = [n for n in workflow["nodes"] if n["name"] == "Check (2) answered?"]
        guard["parameters"]["conditions"]["conditions"][0]["leftValue"] = "={{ true }}"
    else:
        main = workflow["connections"]["Check (2) answered?"]["main"]
        main[1] = [{"node": "Check", "type": "main", "index": 0}]
    found = verify_process(model, model.processes[0], workflow, PassContext(target=N8N_TARGET))
    assert found.verdict is verdict
    assert found.changed


def test_what_stands_in_the_place_of_a_form_is_not_asked_again(engine: LocalEngine) -> None:
    """A node that hands on what comes in, also the answers to the form before it."""
    model = model_of(process(CHAIN))
    workflow = copy.deepcopy(compiled(model).root.workflow)
    (node,) = [n for n in workflow["nodes"] if n["name"] == "Check (2)"]
    node.update(type="n8n-nodes-base.noOp", typeVersion=1, parameters={})
    del node["webhookId"]
    (run,) = engine.run_many([RunRequest(workflow, "Start", answers={"Check": [{}], "t2": [{}]})])
    assert run.status == "success", run.error
    assert [n.node for n in run.order].count("Check (2)") == 1


@pytest.mark.parametrize(
    ("trigger", "kind"),
    [("manual", "manualTrigger"), ("form", "formTrigger"), ("webhook", "webhook")],
)
@pytest.mark.parametrize("start", ["event", "implicit"])
def test_how_a_plain_start_begins(engine: LocalEngine, trigger: str, kind: str, start: str) -> None:
    body = CHAIN
    if start == "implicit":
        body = body.replace('<startEvent id="s"/>', "").replace(
            '<sequenceFlow id="f0" sourceRef="s" targetRef="t0"/>', ""
        )
    model = model_of(process(body))
    made = emitted(model, trigger=trigger)
    root = compiled(model, trigger=trigger).root
    (node,) = [n for n in root.plan.workflow_graph.nodes.values() if n.role == "trigger"]
    assert printed_type(root, node.name) == kind
    report = replay_model(model, made, LocalRunner(engine), PassContext(), max_runs=4)
    assert [r.verdict for r in report.runs] == ["equal"]
    ctx = PassContext(target=N8N_TARGET, options={"trigger": trigger})
    found = verify_process(model, model.processes[0], root.workflow, ctx)
    assert found.verdict is Verdict.PROVED


def printed_type(scope: CompiledScope, name: str) -> str:
    """The short type of a node of a workflow."""
    (kind,) = (row["type"] for row in scope.workflow["nodes"] if row["name"] == name)
    return kind.removeprefix("n8n-nodes-base.")


def started_by(model: Model, **options: str) -> tuple[str, dict[str, AskedField]]:
    """The type of the trigger of a process, and what its page asks for."""
    root = compiled(model, **options).root
    (node,) = [n for n in root.plan.workflow_graph.nodes.values() if n.role == "trigger"]
    form = root.plan.forms.get(node.element)
    kind = printed_type(root, node.name)
    return kind, {f.asked.variable: f.asked for f in form.fields} if form else {}


def behind_the_start(condition: str, before: str = "") -> Model:
    """A gateway that reads what nobody sets, behind the start or a step; a person on one branch."""
    first = "w" if before else "g"
    body = gateway(condition).split("\n", 3)[3].replace('<endEvent id="e1"/>', "")
    head = (
        f'<startEvent id="s" name="Go"/><sequenceFlow id="f1" sourceRef="s" targetRef="{first}"/>'
    )
    if before:
        head += f'<{before} id="w" name="Work"/><sequenceFlow id="fw" sourceRef="w" targetRef="g"/>'
    tail = '<userTask id="e1" name="Look"/><sequenceFlow id="fe" sourceRef="e1" targetRef="e3"/>'
    return model_of(process(f'{head}{body}{tail}<endEvent id="e3"/>'))


def test_a_process_with_forms_starts_by_a_page() -> None:
    """Others by hand, and so does one whose tasks stay placeholders."""
    model = model_of(process(CHAIN))
    assert started_by(model) == ("formTrigger", {})
    assert started_by(model, people="placeholder") == ("manualTrigger", {})
    assert started_by(model_of(process(CHAIN.replace("userTask", "task")))) == ("manualTrigger", {})


def test_the_page_that_starts_asks_for_what_a_gateway_reads(engine: LocalEngine) -> None:
    """Behind it nobody else is asked before; what is left blank stops the run and is named."""
    model = behind_the_start("${amount &gt; 100}")
    kind, fields = started_by(model)
    assert kind == "formTrigger"
    assert [(f.variable, f.type, f.required) for f in fields.values()] == [
        ("amount", "number", True)
    ]
    made = emitted(model)
    report = replay_model(model, made, LocalRunner(engine), PassContext(), max_runs=4)
    assert [r.verdict for r in report.runs] == ["equal", "equal"]
    assert verified(model) is Verdict.PROVED
    workflow = compiled(model).root.workflow
    for entered, reached in (("250", "Look"), ("3", "End"), ("", "Stop: Ok?")):
        item = {"Amount": entered, "submittedAt": "2026-01-01", "formMode": "production"}
        (run,) = engine.run_many([RunRequest(workflow, "Go", items=[{"json": item}])])
        assert reached in [n.node for n in run.order], entered


@pytest.mark.parametrize("before", ["task", "serviceTask"])
def test_what_work_may_set_can_be_left_blank_at_the_start(before: str) -> None:
    _, fields = started_by(behind_the_start("${amount &gt; 100}", before))
    assert [(f.variable, f.required) for f in fields.values()] == [("amount", False)]


def of_camunda(content: str) -> Model:
    """A process that Camunda 7 runs."""
    camunda = ' xmlns:camunda="http://camunda.org/schema/1.0/bpmn"'
    return model_of(definitions(f'<process id="p">{content}</process>', camunda))


COMPUTES = (
    ("scriptTask scriptFormat=\"groovy\"",
     "<script>execution.setVariable('large', price * quantity &gt; 1000)</script>"),
    ("serviceTask camunda:expression=\"${execution.setVariable('large', "
     'price * quantity &gt; 9)}"', ""),
    ("task",
     '<extensionElements><camunda:executionListener event="end" expression="'
     "${execution.setVariable('large', true)}\"/></extensionElements>"),
)  # fmt: skip


@pytest.mark.parametrize(("step", "content"), COMPUTES)
def test_what_code_sets_is_not_asked_for_at_the_start(step: str, content: str) -> None:
    """By a script, a method of the execution, or a listener; what the code reads is asked for."""
    kind = step.split()[0]
    model = of_camunda(
        '<startEvent id="s" name="Go"/><sequenceFlow id="f1" sourceRef="s" targetRef="w"/>'
        f'<{step} id="w" name="Work">{content}</{kind}>'
        '<sequenceFlow id="f2" sourceRef="w" targetRef="g"/>'
        '<exclusiveGateway id="g" name="Large?" default="f4"/>'
        '<sequenceFlow id="f3" sourceRef="g" targetRef="u"><conditionExpression>${large}'
        "</conditionExpression></sequenceFlow>"
        '<userTask id="u" name="Look"/><sequenceFlow id="f5" sourceRef="u" targetRef="e"/>'
        '<sequenceFlow id="f4" sourceRef="g" targetRef="e"/><endEvent id="e"/>'
    )
    kind, fields = started_by(model)
    asked = [] if "Listener" in content else ["price", "quantity"]
    assert kind == "formTrigger"
    assert [(f.variable, f.type, f.required) for f in fields.values()] == [
        (name, "number", True) for name in asked
    ]


FLOW_SETS = """
<startEvent id="s"/><sequenceFlow id="f1" sourceRef="s" targetRef="g"/>
<exclusiveGateway id="g" name="Score?" default="f3"/>
<sequenceFlow id="f2" sourceRef="g" targetRef="m"><extensionElements><camunda:executionListener
 event="take" expression="${execution.setVariable('auto', true)}"/></extensionElements>
<conditionExpression>${score &gt;= 70}</conditionExpression></sequenceFlow>
<sequenceFlow id="f3" sourceRef="g" targetRef="m"><extensionElements><camunda:executionListener
 event="take" expression="${execution.setVariable('auto', false)}"/></extensionElements>
</sequenceFlow>
<exclusiveGateway id="m"/><sequenceFlow id="f4" sourceRef="m" targetRef="h"/>
<exclusiveGateway id="h" name="Automatic?" default="f6"/>
<sequenceFlow id="f5" sourceRef="h" targetRef="e"><conditionExpression>${auto}
</conditionExpression></sequenceFlow>
<sequenceFlow id="f6" sourceRef="h" targetRef="u"/><userTask id="u" name="Look"/>
<sequenceFlow id="f7" sourceRef="u" targetRef="e"/><endEvent id="e"/>
"""


def test_what_listeners_of_flows_set_is_set_by_the_model() -> None:
    model = of_camunda(FLOW_SETS)
    assert [f.variable for f in started_by(model)[1].values()] == ["score"]
    ctx = PassContext()
    Gaps().run(model, ctx)
    open_decisions = [d.message for d in ctx.diagnostics if d.code == "OF502"]
    assert [m for m in open_decisions if "`auto`" in m] == []
    assert len(open_decisions) == 1


def test_what_only_another_step_can_set_is_not_asked_for_at_the_start() -> None:
    """The start page has no field for what a step sets before every reader, for parts of objects,
    and for what may be a list; what a step sets on some path to it is optional."""
    body = (
        '<startEvent id="s"/><sequenceFlow id="f1" sourceRef="s" targetRef="a"/>'
        '<scriptTask id="a" scriptFormat="groovy"><script>execution.setVariable(\'rate\', 2)'
        '</script></scriptTask><sequenceFlow id="f2" sourceRef="a" targetRef="b"/>'
        '<scriptTask id="b" scriptFormat="groovy"><script>execution.setVariable(\'total\', '
        "rate * amount + order.extra + items.size())</script></scriptTask>"
        '<sequenceFlow id="f3" sourceRef="b" targetRef="u"/><userTask id="u" name="Look"/>'
        '<sequenceFlow id="f4" sourceRef="u" targetRef="e"/><endEvent id="e"/>'
    )
    _, fields = started_by(model_of(process(body)))
    assert [(f.variable, f.type) for f in fields.values()] == [("amount", "number")]
    looped = body.replace("'rate', 2", "'total', total + amount")
    looped = looped.replace("rate * amount + order.extra + items.size()", "total * 2")
    _, fields = started_by(model_of(process(looped)))
    assert [f.variable for f in fields.values()] == ["total", "amount"]


def test_what_unsupported_calls_mention_is_asked_for_and_kept(engine: LocalEngine) -> None:
    """Whoever implements them receives it, whatever the implementation before has returned."""
    body = (
        '<startEvent id="s" name="Go"/><sequenceFlow id="f1" sourceRef="s" targetRef="a"/>'
        '<serviceTask id="a" name="Score" camunda:resultVariable="score" camunda:expression="'
        "${scorer.of(applicant, 'text', form.size())}\"/>"
        '<sequenceFlow id="f2" sourceRef="a" targetRef="b"/>'
        '<serviceTask id="b" name="Send" camunda:expression="'
        '${mail.send(address, applicant, score)}"/>'
        '<sequenceFlow id="f3" sourceRef="b" targetRef="u"/><userTask id="u" name="Look"/>'
        '<sequenceFlow id="f4" sourceRef="u" targetRef="e"/><endEvent id="e"/>'
    )
    model = of_camunda(body)
    _, fields = started_by(model)
    assert [(f.variable, f.type, f.required) for f in fields.values()] == [
        ("applicant", "text", False), ("address", "text", False),
    ]  # fmt: skip
    entered = {"Applicant": "Ada", "Address": "a@x.test", "formMode": "production"}
    stubs = {"Score": {"visits": [{"score": 7}], "mode": "replace"}}
    request = RunRequest(
        compiled(model).root.workflow, "Go", items=[{"json": entered}], data=True, stubs=stubs
    )
    (run,) = engine.run_many([request])
    (data,) = [step for step in run.order if step.node == "Score data"]
    assert data.items is not None
    assert data.items[0][0] == {"applicant": "Ada", "address": "a@x.test", "score": 7}


def test_what_is_given_at_the_start_is_not_asked_for_again() -> None:
    """A gateway before all work reads the amount, and one after an approval does."""
    above = "<conditionExpression>${amount &gt; %d}</conditionExpression></sequenceFlow>"
    model = model_of(process(
        '<startEvent id="s"/><exclusiveGateway id="g" default="f2"/>'
        '<userTask id="t" name="Approve"/><exclusiveGateway id="h" default="f5"/>'
        '<userTask id="u" name="Approve as director"/><endEvent id="e"/>'
        '<sequenceFlow id="f0" sourceRef="s" targetRef="g"/>'
        f'<sequenceFlow id="f1" sourceRef="g" targetRef="t">{above % 10}'
        '<sequenceFlow id="f2" sourceRef="g" targetRef="e"/>'
        '<sequenceFlow id="f3" sourceRef="t" targetRef="h"/>'
        f'<sequenceFlow id="f4" sourceRef="h" targetRef="u">{above % 99}'
        '<sequenceFlow id="f5" sourceRef="h" targetRef="e"/>'
        '<sequenceFlow id="f6" sourceRef="u" targetRef="e"/>'
    ))  # fmt: skip
    assert list(started_by(model)[1]) == ["amount"]
    forms = compiled(model).root.plan.forms
    assert {task: list(form.variables) for task, form in forms.items()} == {
        "s": ["amount"],
        "t": [],
        "u": [],
    }
    assert verified(model) is Verdict.PROVED


def test_what_no_field_is_for_is_given_by_hand() -> None:
    """Part of an object: a page has no field for it."""
    model = behind_the_start("${order.amount &gt; 100}")
    assert started_by(model) == ("manualTrigger", {})
    (node,) = [
        n for n in compiled(model).root.plan.workflow_graph.nodes.values() if n.role == "trigger"
    ]
    assert "Started manually" in " ".join(node.notes)
    assert started_by(behind_the_start("${order.amount &gt; 100}", "task"))[0] == "formTrigger"


@pytest.mark.parametrize(("task", "label"), [("Check order", "Which way after “Check order”?"),
                                             ("", "Which way?")])  # fmt: skip
def test_a_gateway_without_a_name_is_asked_for_in_words(task: str, label: str) -> None:
    found = asked(
        f'<startEvent id="s"/><userTask id="t" name="{task}"/><exclusiveGateway id="g"/>'
        '<endEvent id="e"/><endEvent id="f"/><sequenceFlow id="f0" sourceRef="s" targetRef="t"/>'
        '<sequenceFlow id="f1" sourceRef="t" targetRef="g"/>'
        '<sequenceFlow id="f2" name="yes" sourceRef="g" targetRef="e"/>'
        '<sequenceFlow id="f3" name="no" sourceRef="g" targetRef="f"/>'
    )
    assert [field.label for field in found.values()] == [label]
