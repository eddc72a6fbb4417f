"""Every kind of work that a model can state is computed by a state, or somebody is called or asked
with its contract and a diagnostic, or it is refused. Nothing is dropped."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asl_play import Validator, validator
from asl_work_play import play_machine
from jsonata_tools import Referee, jsonata_referee
from orgflow.backends.asl.definition_check import list_problems
from orgflow.backends.asl.element_states import CALLBACK
from orgflow.backends.asl.format import Definition, State, all_states
from orgflow.backends.asl.work_states import FUNCTION_CALL
from orgflow.backends.asl.work_support import PARTS, WORK
from orgflow.compilation.reading import load_model
from orgflow.compiler import compile_model

from orgflow_ir.diagnostics import Severity
from orgflow_ir.model import Task
from orgflow_ir.model.bindings import BINDINGS, Form
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" '
    'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" '
    'xmlns:flowable="http://flowable.org/bpmn" xmlns:drools="http://www.jboss.org/drools" '
    'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" id="d">'
)
DMN = """<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" name="D" namespace="n">
<decision id="rating" name="Rating"><decisionTable id="dt" hitPolicy="{policy}">
<input id="i"><inputExpression id="ie"><text>{column}</text></inputExpression></input>
<output id="o" name="level"/>
<rule id="r1"><inputEntry id="e1"><text>&gt; 10</text></inputEntry>
<outputEntry id="o1"><text>"high"</text></outputEntry></rule>
<rule id="r2"><inputEntry id="e2"><text>[5..20]</text></inputEntry>
<outputEntry id="o2"><text>"low"</text></outputEntry></rule>
</decisionTable></decision></definitions>"""


class Made(NamedTuple):
    """A compiled model: its machine, what was said, and the states of its task."""

    definition: Definition | None
    ctx: PassContext
    states: dict[str, State]

    def told(self, code: str) -> list[str]:
        return [d.message for d in self.ctx.diagnostics if d.code == code]

    @property
    def work(self) -> State:
        """The state of the task called Work."""
        return self.states["Work"]


def compile_text(text: str, folder: Path, registry: Registry) -> Made:
    path = folder / "model.bpmn"
    path.write_text(text, "utf-8")
    ctx = PassContext(registry=registry)
    model = load_model(str(path), registry, ctx)
    assert model is not None, ctx.diagnostics
    ctx.source = model
    emitted = compile_model(model, registry.backends["asl"], ctx)
    if emitted is None or not emitted.artifacts:
        return Made(None, ctx, {})
    (artifact,) = emitted.artifacts
    definition = json.loads(artifact.text)
    assert list(list_problems(definition)) == []
    return Made(definition, ctx, dict(all_states(definition)))


def one_task(element: str, *, more: str = "") -> str:
    """A process of one element `t` called Work, with more beside it."""
    return (
        f'{HEAD}<process id="p" isExecutable="true"><startEvent id="s" name="Begin"/>'
        f'<sequenceFlow id="f0" sourceRef="s" targetRef="t"/>{element}'
        '<sequenceFlow id="f1" sourceRef="t" targetRef="e"/><endEvent id="e" name="Done"/>'
        f"{more}</process></definitions>"
    )


@pytest.fixture(scope="module")
def referee() -> Iterator[Referee]:
    with jsonata_referee() as found:
        yield found


@pytest.fixture(scope="module")
def checker() -> Iterator[Validator]:
    with validator() as found:
        yield found


# -- the inventory -----------------------------------------------------------------------------

SAMPLES: dict[str, tuple[str, str]] = {
    # what: the task, and what the state of it is
    "script": (
        '<scriptTask id="t" name="Work" scriptFormat="groovy"><script>total = amount + 1</script>'
        "</scriptTask>", "computed",
    ),
    "script not exact": (
        '<scriptTask id="t" name="Work" scriptFormat="groovy"><script>total = amount * 0.19'
        "</script></scriptTask>", "called",
    ),
    "script of a library": (
        '<scriptTask id="t" name="Work" scriptFormat="groovy"><script>new Ship().go()</script>'
        "</scriptTask>", "called",
    ),
    "decision": (
        '<businessRuleTask id="t" name="Work" camunda:decisionRef="rating" '
        'camunda:mapDecisionResult="singleEntry" camunda:resultVariable="level"/>', "computed",
    ),
    "decision nobody knows": (
        '<businessRuleTask id="t" name="Work" camunda:decisionRef="other"/>', "called",
    ),
    "worker class": (
        '<serviceTask id="t" name="Work" camunda:class="org.acme.Ship"/>', "called",
    ),
    "worker delegate": (
        '<serviceTask id="t" name="Work" camunda:delegateExpression="${ship}"/>', "called",
    ),
    "worker topic": (
        '<serviceTask id="t" name="Work" camunda:type="external" camunda:topic="ship"/>', "called",
    ),
    "worker job": (
        '<serviceTask id="t" name="Work"><extensionElements><zeebe:taskDefinition type="ship" '
        'retries="3"/></extensionElements></serviceTask>', "called",
    ),
    "worker handler": ('<task id="t" name="Work" drools:taskName="Ship"/>', "called"),
    "worker expression": (
        '<serviceTask id="t" name="Work" camunda:expression="${amount + 1}" '
        'camunda:resultVariable="total"/>', "computed",
    ),
    "worker expression of a bean": (
        '<serviceTask id="t" name="Work" camunda:expression="${bean.ship()}"/>', "called",
    ),
    "http": (
        '<serviceTask id="t" name="Work" flowable:type="http"><extensionElements><flowable:field '
        'name="requestUrl" stringValue="https://a.example/${amount}"/></extensionElements>'
        "</serviceTask>", "called",
    ),
    "mail": (
        '<serviceTask id="t" name="Work" flowable:type="mail"><extensionElements><flowable:field '
        'name="to" expression="${to}"/></extensionElements></serviceTask>', "called",
    ),
    "form": (
        '<userTask id="t" name="Work" camunda:assignee="kim"><extensionElements><camunda:formData>'
        '<camunda:formField id="ok" label="OK?" type="boolean"/></camunda:formData>'
        "</extensionElements></userTask>", "asked",
    ),
    "call": (
        '<callActivity id="t" name="Work" calledElement="q"><extensionElements><camunda:in '
        'source="a" target="b"/></extensionElements></callActivity>', "refused",
    ),
}  # fmt: skip


def is_contract(made: Made, kind: str) -> None:
    """The state says what is called or asked, and the text of the model stays in it."""
    state = made.work
    assert state["Resource"] == {"called": FUNCTION_CALL, "asked": CALLBACK}[kind]
    (message,) = made.told("OF404")
    assert "`Work`" in message
    assert "contract" in message
    assert "From the model:" in state["Comment"]


def test_every_kind_of_work_has_a_sample() -> None:
    assert {sample.split()[0] for sample in SAMPLES} == set(BINDINGS)
    assert {BINDINGS[kind] for kind in BINDINGS} == set(WORK)
    for kind, supported in ((kind, WORK[BINDINGS[kind]].support) for kind in BINDINGS):
        found = {state for sample, (_, state) in SAMPLES.items() if sample.split()[0] == kind}
        assert supported in found, kind


def test_every_common_part_is_decided() -> None:
    fields = [{f.name for f in dataclasses.fields(binding)} for binding in BINDINGS.values()]
    assert set.intersection(*fields) - {"kind"} == set(PARTS)


@pytest.mark.parametrize("sample", SAMPLES)
def test_work_is_computed_or_a_contract_or_refused(
    sample: str, tmp_path: Path, registry: Registry, checker: Validator
) -> None:
    task, kind = SAMPLES[sample]
    (tmp_path / "rating.dmn").write_text(DMN.format(policy="FIRST", column="amount"), "utf-8")
    made = compile_text(one_task(task), tmp_path, registry)
    if kind == "refused":
        assert made.definition is None
        assert [d.code for d in made.ctx.diagnostics if d.severity is Severity.ERROR] == ["OF403"]
        return
    assert made.definition is not None
    assert checker.problems(made.definition) == []
    if kind == "computed":
        assert (made.work["Type"], made.work["QueryLanguage"]) == ("Pass", "JSONata")
        assert made.told("OF404") == []
    else:
        is_contract(made, kind)


# -- what is computed --------------------------------------------------------------------------


class Computed(NamedTuple):
    """A task, the input of an execution, and the variables that its result has."""

    task: str
    given: dict[str, Any]
    result: dict[str, Any]


LISTENER = (
    '<camunda:executionListener event="{}" expression="${{execution.setVariable(\'k\', {})}}"/>'
)
COMPUTED = {
    "script": Computed(SAMPLES["script"][0], {"amount": 4}, {"total": 5}),
    "mappings of a script": Computed(
        '<scriptTask id="t" name="Work" scriptFormat="groovy"><extensionElements>'
        '<camunda:inputOutput><camunda:inputParameter name="b">${amount}</camunda:inputParameter>'
        '<camunda:outputParameter name="q">${total}</camunda:outputParameter>'
        "</camunda:inputOutput></extensionElements>"
        "<script>execution.setVariable('total', b + 1)</script></scriptTask>",
        {"amount": 4}, {"total": 5, "q": 5},
    ),
    "listeners of a script": Computed(
        '<scriptTask id="t" name="Work" scriptFormat="groovy"><extensionElements>'
        + LISTENER.format("start", 1) + LISTENER.format("end", "k + 1") + "</extensionElements>"
        "<script>execution.setVariable('total', k)</script></scriptTask>",
        {}, {"k": 2, "total": 1},
    ),
    "expression": Computed(SAMPLES["worker expression"][0], {"amount": "4"}, {"total": 5}),
    "feel": Computed(
        '<scriptTask id="t" name="Work"><extensionElements><zeebe:script expression="=a &gt; 3" '
        'resultVariable="r"/></extensionElements></scriptTask>',
        {"a": "x"}, {"r": None},
    ),
    "loop": Computed(
        '<scriptTask id="t" name="Work" scriptFormat="javascript"><script>var n = 0; for (const i '
        "of items) { if (i.price &gt; 2) { n += i.price; } } execution.setVariable('n', n);"
        "</script></scriptTask>",
        {"items": [{"price": 3}, {"price": 1}, {"price": 4}]}, {"n": 7},
    ),
    "decision": Computed(SAMPLES["decision"][0], {"amount": 15}, {"level": "high"}),
    "no rule of a decision": Computed(SAMPLES["decision"][0], {"amount": 1}, {"level": None}),
}  # fmt: skip


@pytest.mark.parametrize("name", COMPUTED)
def test_a_state_sets_the_variables(
    name: str, tmp_path: Path, registry: Registry, referee: Referee
) -> None:
    case = COMPUTED[name]
    (tmp_path / "rating.dmn").write_text(DMN.format(policy="FIRST", column="amount"), "utf-8")
    made = compile_text(one_task(case.task), tmp_path, registry)
    assert made.definition is not None
    played = play_machine(made.definition, case.given, referee)
    assert (played.status, played.error) == ("SUCCEEDED", None), played.cause
    assert played.output["results"]["work"] == case.result


def test_a_variable_that_nobody_set_fails_with_its_name(
    tmp_path: Path, registry: Registry, referee: Referee
) -> None:
    made = compile_text(one_task(SAMPLES["script"][0]), tmp_path, registry)
    assert made.definition is not None
    played = play_machine(made.definition, {}, referee)
    assert played.status == "FAILED"
    assert "“amount” was never set" in str(played.cause)


BOUNDARY = (
    '<boundaryEvent id="b" name="Big" attachedToRef="t"><errorEventDefinition errorRef="x"/>'
    '</boundaryEvent><sequenceFlow id="f2" sourceRef="b" targetRef="c"/>'
    '<endEvent id="c" name="Caught"/>'
)
THROWING = (
    '<scriptTask id="t" name="Work" scriptFormat="groovy"><script>if (amount &gt; 3) throw new '
    "org.camunda.bpm.engine.delegate.BpmnError('E1', 'too big')</script></scriptTask>"
)


@pytest.mark.parametrize(("amount", "last"), [(5, "Caught"), (2, "Done")])
def test_an_error_of_a_script_is_caught(
    amount: int, last: str, tmp_path: Path, registry: Registry, referee: Referee
) -> None:
    text = one_task(THROWING, more=BOUNDARY)
    text = text.replace("<process", '<error id="x" errorCode="E1"/><process')
    made = compile_text(text, tmp_path, registry)
    assert made.definition is not None
    played = play_machine(made.definition, {"amount": amount}, referee)
    assert (played.status, played.entered[-1]) == ("SUCCEEDED", last), played


def test_a_fault_of_a_script_is_no_error_of_the_process(
    tmp_path: Path, registry: Registry, checker: Validator
) -> None:
    every = BOUNDARY.replace(' errorRef="x"', "")
    made = compile_text(one_task(THROWING, more=every), tmp_path, registry)
    assert made.definition is not None
    assert checker.problems(made.definition) == []
    caught = made.states["Work: attempt"]["Catch"]
    assert [entry["ErrorEquals"] for entry in caught] == [
        ["States.QueryEvaluationError"], ["States.ALL"]
    ]  # fmt: skip
    assert made.states[caught[0]["Next"]]["Type"] == "Fail"


def test_an_error_that_nothing_catches_fails_the_execution(
    tmp_path: Path, registry: Registry, referee: Referee
) -> None:
    made = compile_text(one_task(THROWING), tmp_path, registry)
    assert made.definition is not None
    played = play_machine(made.definition, {"amount": 5}, referee)
    assert (played.status, played.error, played.cause) == ("FAILED", "E1", "too big")
    assert play_machine(made.definition, {"amount": 1}, referee).status == "SUCCEEDED"


# -- what somebody else does -------------------------------------------------------------------

CALLED_WITH_MAPPINGS = (
    '<serviceTask id="t" name="Work" camunda:class="org.acme.Ship"><extensionElements>'
    '<camunda:inputOutput><camunda:inputParameter name="b">${amount + 1}</camunda:inputParameter>'
    '<camunda:outputParameter name="q">${total + b}</camunda:outputParameter>'
    "</camunda:inputOutput></extensionElements></serviceTask>"
)


def test_a_function_gets_inputs_and_its_result_is_mapped(
    tmp_path: Path, registry: Registry, referee: Referee
) -> None:
    made = compile_text(one_task(CALLED_WITH_MAPPINGS), tmp_path, registry)
    assert made.definition is not None
    is_contract(made, "called")
    assert "support the class `org.acme.Ship` of `Work`" in made.told("OF404")[0]
    called: list[Any] = []

    def answer(payload: dict[str, Any]) -> Any:
        called.append(payload)
        return {"total": 10}

    played = play_machine(made.definition, {"amount": 4}, referee, answer)
    assert played.status == "SUCCEEDED", played
    assert called == [{"element": "t", "name": "Work", "input": {"amount": 4}, "inputs": {"b": 5}}]
    assert played.output["results"]["work"] == {"total": 10, "q": 15}


def test_only_output_mappings_of_camunda_8_leave_a_task(
    tmp_path: Path, registry: Registry, referee: Referee
) -> None:
    task = (
        '<serviceTask id="t" name="Work"><extensionElements><zeebe:taskDefinition type="ship"/>'
        '<zeebe:ioMapping><zeebe:input source="=amount" target="b"/><zeebe:output source="=sent" '
        'target="q"/></zeebe:ioMapping></extensionElements></serviceTask>'
    )
    made = compile_text(one_task(task), tmp_path, registry)
    assert made.definition is not None
    answer = {"sent": True, "other": 1}
    played = play_machine(made.definition, {"amount": 4}, referee, lambda payload: answer)
    assert played.output["results"]["work"] == {"q": True}


def test_a_form_is_in_the_event_and_its_fields_are_variables(
    tmp_path: Path, registry: Registry, referee: Referee
) -> None:
    task = SAMPLES["form"][0] + (
        '<sequenceFlow id="g0" sourceRef="t" targetRef="u"/><scriptTask id="u" name="Use" '
        'scriptFormat="javascript"><script>execution.setVariable("no", !ok);</script></scriptTask>'
        '<sequenceFlow id="g1" sourceRef="u" targetRef="e"/>'
    )
    text = one_task(task).replace('<sequenceFlow id="f1" sourceRef="t" targetRef="e"/>', "")
    made = compile_text(text, tmp_path, registry)
    assert made.definition is not None
    asked: list[Any] = []

    def answer(detail: dict[str, Any]) -> Any:
        asked.append(detail["form"])
        return {"ok": False}

    played = play_machine(made.definition, {}, referee, answer)
    assert played.status == "SUCCEEDED", played
    field = {"name": "ok", "label": "OK?", "type": "boolean", "required": False}
    assert asked == [{"assignee": "kim", "fields": [field]}]
    assert played.output["results"]["use"] == {"no": True}


def test_mappings_of_a_form_are_computed(
    tmp_path: Path, registry: Registry, referee: Referee
) -> None:
    task = (
        '<userTask id="t" name="Work"><extensionElements><camunda:inputOutput>'
        '<camunda:inputParameter name="b">${amount + 1}</camunda:inputParameter>'
        '<camunda:outputParameter name="q">${ok}</camunda:outputParameter></camunda:inputOutput>'
        "</extensionElements></userTask>"
    )
    made = compile_text(one_task(task), tmp_path, registry)
    assert made.definition is not None
    asked: list[Any] = []

    def answer(detail: dict[str, Any]) -> Any:
        asked.append(detail["inputs"])
        return {"ok": 7, "b": 3}

    played = play_machine(made.definition, {"amount": 4}, referee, answer)
    assert played.status == "SUCCEEDED", played
    assert asked == [{"b": 5}]
    assert played.output["results"]["work"] == {"ok": 7, "q": 7}


def test_mappings_of_a_message_are_computed(
    tmp_path: Path, registry: Registry, referee: Referee
) -> None:
    event = (
        '<intermediateCatchEvent id="t" name="Work"><extensionElements><zeebe:ioMapping>'
        '<zeebe:output source="=body.ok" target="ok"/></zeebe:ioMapping></extensionElements>'
        '<messageEventDefinition messageRef="m"/></intermediateCatchEvent>'
    )
    text = one_task(event).replace("<process", '<message id="m" name="M"/><process')
    made = compile_text(text, tmp_path, registry)
    assert made.definition is not None
    body = {"body": {"ok": True}}
    played = play_machine(made.definition, {}, referee, lambda detail: body)
    assert played.status == "SUCCEEDED", played
    assert played.output["results"]["work"] == {"ok": True}


@pytest.mark.parametrize("policy", ["PRIORITY", "OUTPUT ORDER"])
def test_a_decision_that_is_not_exact_is_a_contract_with_its_table(
    policy: str, tmp_path: Path, registry: Registry
) -> None:
    (tmp_path / "rating.dmn").write_text(DMN.format(policy=policy, column="amount"), "utf-8")
    made = compile_text(one_task(SAMPLES["decision"][0]), tmp_path, registry)
    is_contract(made, "called")
    comment = made.work["Comment"]
    assert f"- hit policy {policy}; columns: amount : level" in comment
    assert '- rule: > 10 : "high"\n- rule: [5..20] : "low"' in comment


def test_a_column_that_is_computed_is_a_contract(tmp_path: Path, registry: Registry) -> None:
    (tmp_path / "rating.dmn").write_text(DMN.format(policy="FIRST", column="amount * 1.1"), "utf-8")
    made = compile_text(one_task(SAMPLES["decision"][0]), tmp_path, registry)
    is_contract(made, "called")
    assert "JSONata does not have this expression of FEEL" in made.told("OF404")[0]


# -- the places of work ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("element", "more"),
    [
        # a listener of a gateway, a flow, an event and the process becomes a task
        ('<exclusiveGateway id="t" name="Work"><extensionElements>'
         + LISTENER.format("start", 1) + "</extensionElements></exclusiveGateway>", ""),
        ('<intermediateThrowEvent id="t" name="Work"><extensionElements>'
         + LISTENER.format("end", 1) + "</extensionElements></intermediateThrowEvent>", ""),
    ],
)  # fmt: skip
def test_listeners_beside_tasks_are_states(
    element: str, more: str, tmp_path: Path, registry: Registry, referee: Referee
) -> None:
    made = compile_text(one_task(element, more=more), tmp_path, registry)
    assert made.definition is not None
    assert made.told("OF404") == []
    played = play_machine(made.definition, {}, referee)
    assert played.status == "SUCCEEDED", played
    assert {"k": 1} in played.output["results"].values()


def test_mappings_of_a_sub_process_are_states(
    tmp_path: Path, registry: Registry, referee: Referee
) -> None:
    element = (
        '<subProcess id="t" name="Work"><extensionElements><camunda:inputOutput>'
        '<camunda:inputParameter name="b">${amount + 1}</camunda:inputParameter>'
        '<camunda:outputParameter name="q">${b + 1}</camunda:outputParameter>'
        '</camunda:inputOutput></extensionElements><startEvent id="s2"/><sequenceFlow id="h0" '
        'sourceRef="s2" targetRef="e2"/><endEvent id="e2"/></subProcess>'
    )
    made = compile_text(one_task(element), tmp_path, registry)
    assert made.definition is not None
    played = play_machine(made.definition, {"amount": 4}, referee)
    assert played.status == "SUCCEEDED", played
    assert {"q": 6} in played.output["results"].values()


def test_work_that_reads_a_variable_of_a_parallel_branch_is_warned(
    tmp_path: Path, registry: Registry
) -> None:
    script = '<scriptTask id="{}" name="{}" scriptFormat="groovy"><script>{}</script></scriptTask>'
    flows = ("s>a", "a>t", "a>u", "t>b", "u>b", "b>e")
    text = (
        f'{HEAD}<process id="p" isExecutable="true"><startEvent id="s"/><parallelGateway id="a"/>'
        + script.format("t", "Work", "total = 1")
        + script.format("u", "Use", "execution.setVariable('twice', total * 2)")
        + '<parallelGateway id="b"/><endEvent id="e"/>'
        + "".join(
            f'<sequenceFlow id="f{at}" sourceRef="{ends[0]}" targetRef="{ends[2]}"/>'
            for at, ends in enumerate(flows)
        )
        + "</process></definitions>"
    )
    made = compile_text(text, tmp_path, registry)
    (message,) = made.told("OF488")
    assert message.startswith("`Use` does not see `total` as `Work` sets it")


def test_work_of_a_repeated_task_is_a_contract(
    tmp_path: Path, registry: Registry, referee: Referee
) -> None:
    task = SAMPLES["script"][0].replace(
        "<script>",
        '<multiInstanceLoopCharacteristics camunda:collection="items" '
        'camunda:elementVariable="item"/><script>',
    )
    made = compile_text(one_task(task), tmp_path, registry)
    assert made.work["Type"] == "Map"
    (message,) = made.told("OF404")
    assert "a Map state passes on no variables of its iterations" in message
    called: list[Any] = []

    def answer(payload: dict[str, Any]) -> Any:
        called.append(payload["item"])
        return {"total": payload["item"]}

    assert made.definition is not None
    played = play_machine(made.definition, {"items": [3, 4], "amount": 1}, referee, answer)
    assert played.status == "SUCCEEDED", played
    assert sorted(called) == [3, 4]
    assert played.output["results"]["work"]["all"] == {"items": [{"total": 3}, {"total": 4}]}


def test_collected_results_are_reported(tmp_path: Path, registry: Registry) -> None:
    task = (
        '<serviceTask id="t" name="Work" camunda:class="org.acme.Ship">'
        '<multiInstanceLoopCharacteristics camunda:collection="items">'
        "<loopDataOutputRef>sent</loopDataOutputRef>"
        '<outputDataItem id="o" name="ok"/></multiInstanceLoopCharacteristics></serviceTask>'
    )
    made = compile_text(one_task(task), tmp_path, registry)
    assert made.work["Type"] == "Map"
    assert any("collected results of `Work`" in message for message in made.told("OF404"))


def test_a_list_that_no_path_reads_is_refused(tmp_path: Path, registry: Registry) -> None:
    task = (
        '<serviceTask id="t" name="Work"><extensionElements><zeebe:taskDefinition type="ship"/>'
        "</extensionElements><multiInstanceLoopCharacteristics><extensionElements>"
        '<zeebe:loopCharacteristics inputCollection="=items" outputCollection="sent" '
        'outputElement="=ok"/></extensionElements></multiInstanceLoopCharacteristics></serviceTask>'
    )
    made = compile_text(one_task(task), tmp_path, registry)
    assert made.definition is None
    assert len(made.told("OF403")) == 1


@pytest.mark.parametrize(
    "event",
    [
        '<startEvent id="s" name="Begin"><extensionElements><camunda:formData><camunda:formField '
        'id="size" label="Size" type="long"/></camunda:formData></extensionElements></startEvent>',
    ],
)
def test_work_of_an_event_that_no_state_does_is_reported(
    event: str, tmp_path: Path, registry: Registry
) -> None:
    text = one_task('<task id="t" name="Work"/>')
    text = text.replace('<startEvent id="s" name="Begin"/>', event)
    made = compile_text(text, tmp_path, registry)
    (message,) = made.told("OF404")
    assert "`Begin`" in message
    assert "stays in the `Comment`" in message
    assert "form field size" in made.states["Begin"]["Comment"]


def test_a_name_is_no_expression(tmp_path: Path, registry: Registry, referee: Referee) -> None:
    name = "{% $error(1) %}"
    task = CALLED_WITH_MAPPINGS.replace('name="Work"', f'name="{name}"')
    made = compile_text(one_task(task), tmp_path, registry)
    assert made.definition is not None
    answer = {"total": 1}
    called: list[Any] = []

    def answer_called(payload: dict[str, Any]) -> Any:
        called.append(payload["name"])
        return answer

    assert play_machine(made.definition, {"amount": 1}, referee, answer_called).error is None
    assert called == [name]


def test_a_task_without_work_is_as_before(tmp_path: Path, registry: Registry) -> None:
    made = compile_text(one_task('<task id="t" name="Work"/>'), tmp_path, registry)
    assert made.work["Type"] == "Pass"
    assert "QueryLanguage" not in json.dumps(made.definition)
    assert not isinstance(Task(id="x").binding, Form)
