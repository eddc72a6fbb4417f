"""Models that are deployed to a server and used there: how each is started, what its waits are
answered with, and what it has done in the end."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orgflow.backends.n8n.format.document import short_type
from orgflow.backends.n8n.server.client.client import FINISHED
from orgflow.backends.n8n.server.client.workflows import WorkflowClient
from orgflow.backends.n8n.server.executions.execution import read_execution
from user_runs import executions_of, submit, whole

Json = dict[str, Any]

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="x"'
    ' xmlns:camunda="http://camunda.org/schema/1.0/bpmn"'
    ' xmlns:flowable="http://flowable.org/bpmn"'
    ' xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">'
    '<message id="me" name="Order"/><message id="pay" name="Payment"/>'
    '<signal id="si" name="Alarm"/><error id="er" name="Too much" errorCode="E1"/>'
)
MESSAGE = '<messageEventDefinition messageRef="me"/>'


@dataclass(frozen=True)
class UserModel:
    """Attributes:
    name: of the process.
    files: the model and what lies beside it, by name.
    given: what it is started with, on a page by label.
    answers: what its waits are answered with, by node.
    steps: the nodes of the model that have run, in order.
    variables: what they have set in the end.
    """

    name: str
    files: Mapping[str, str]
    given: Json
    steps: tuple[str, ...]
    variables: Json
    answers: Mapping[str, Json] = field(default_factory=dict)


def process(id: str, name: str, body: str, *wires: str) -> str:
    """A process; a wire is `a>b`, or `a>b?condition`; `a>b!` is a default flow."""
    flows, defaults = [], {}
    for number, wire in enumerate(wires):
        ends, _, condition = wire.partition("?")
        source, target = ends.removesuffix("!").split(">")
        inner = f"<conditionExpression>{condition}</conditionExpression>" if condition else ""
        ref = f"{id}_f{number}"
        flows.append(
            f'<sequenceFlow id="{ref}" sourceRef="{source}" targetRef="{target}">{inner}'
            "</sequenceFlow>"
        )
        if ends.endswith("!"):
            defaults[source] = ref
    for source, ref in defaults.items():
        body = body.replace(f'id="{source}"', f'id="{source}" default="{ref}"')
    return f'<process id="{id}" name="{name}" isExecutable="true">{body}{"".join(flows)}</process>'


def script(id: str, name: str, variable: str, code: str, more: str = "") -> str:
    return (
        f'<scriptTask id="{id}" name="{name}" scriptFormat="javascript" '
        f'camunda:resultVariable="{variable}">{more}<script>{code}</script></scriptTask>'
    )


def _file(*processes: str) -> dict[str, str]:
    return {"model.bpmn": f"{HEAD}{''.join(processes)}</definitions>"}


_SCRIPTS = process(
    "scripts", "Scripts",
    f'<startEvent id="s" name="Order in">{MESSAGE}</startEvent>'
    + script("t", "Add", "total", "amount * 2")
    + '<exclusiveGateway id="g" name="Much?"/>'
    '<task id="a" name="Ask"><extensionElements><camunda:executionListener event="start">'
    '<camunda:script scriptFormat="groovy">execution.setVariable("seen", total + 1)'
    "</camunda:script></camunda:executionListener></extensionElements></task>"
    '<task id="b" name="Book"/><endEvent id="e" name="Done"/><endEvent id="f" name="Booked"/>',
    "s>t", "t>g", "g>a?${total > 10}", "g>b!", "a>e", "b>f",
)  # fmt: skip

_DECISION = process(
    "decision", "Decision",
    f'<startEvent id="s" name="Request">{MESSAGE}</startEvent>'
    '<businessRuleTask id="t" name="Classify" camunda:decisionRef="risk" '
    'camunda:mapDecisionResult="singleEntry" camunda:resultVariable="risk"/>'
    '<exclusiveGateway id="g" name="Risky?"/><task id="a" name="Check it"/>'
    '<task id="b" name="Accept it"/><endEvent id="e" name="Done"/>',
    "s>t", "t>g", "g>a?${risk == 'high'}", "g>b!", "a>e", "b>e",
)  # fmt: skip

_TABLE = """<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="d"
 namespace="x"><decision id="risk" name="Risk"><decisionTable id="dt" hitPolicy="FIRST">
<input id="i"><inputExpression id="ie" typeRef="number"><text>amount</text></inputExpression>
</input>
<output id="o" name="risk" typeRef="string"/>
<rule id="r1"><inputEntry id="e1"><text>&gt; 100</text></inputEntry>
<outputEntry id="o1"><text>"high"</text></outputEntry></rule>
<rule id="r2"><inputEntry id="e2"><text>-</text></inputEntry>
<outputEntry id="o2"><text>"low"</text></outputEntry></rule>
</decisionTable></decision></definitions>"""

_DUE = process(
    "due", "Due",
    f'<startEvent id="s" name="Invoice">{MESSAGE}</startEvent>'
    '<businessRuleTask id="t" name="Compare dates" camunda:decisionRef="due" '
    'camunda:mapDecisionResult="singleEntry" camunda:resultVariable="late"/>'
    '<exclusiveGateway id="g" name="Late?"/><task id="a" name="Remind"/>'
    '<task id="b" name="Wait on"/><endEvent id="e" name="Over"/>',
    "s>t", "t>g", "g>a?${late}", "g>b!", "a>e", "b>e",
)  # fmt: skip

_DATES = """<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="d" name="d"
 namespace="http://camunda.org/schema/1.0/dmn"><decision id="due" name="Due">
<decisionTable id="dt" hitPolicy="UNIQUE">
<input id="i"><inputExpression id="ie" typeRef="date"><text>due</text></inputExpression></input>
<input id="k"><inputExpression id="ke" typeRef="double"><text>net * 1.1 + 0.1</text>
</inputExpression></input>
<output id="o" name="late" typeRef="boolean"/>
<rule id="r1"><inputEntry id="e1"><text>&lt; date and time("2026-03-29T02:30:00")</text>
</inputEntry><inputEntry id="f1"><text>1.31</text></inputEntry>
<outputEntry id="o1"><text>true</text></outputEntry></rule>
<rule id="r2"><inputEntry id="e2"><text>&gt;= date and time("2026-03-29T02:30:00")</text>
</inputEntry><inputEntry id="f2"><text>-</text></inputEntry>
<outputEntry id="o2"><text>false</text></outputEntry></rule>
</decisionTable></decision></definitions>"""
"""Dates and exact decimals: more than a line of code for each rule."""

_HEARD = process(
    "heard", "Heard",
    f'<startEvent id="s" name="Call">{MESSAGE}</startEvent>'
    '<task id="t" name="Talk"><extensionElements><camunda:executionListener event="start" '
    'class="org.acme.Note"/></extensionElements></task><endEvent id="e" name="Hung up"/>',
    "s>t", "t>e",
)  # fmt: skip

_EACH = process(
    "each", "Each",
    f'<startEvent id="s" name="List">{MESSAGE}</startEvent>'
    '<scriptTask id="t" name="Double"><extensionElements>'
    '<zeebe:script expression="=item * 2" resultVariable="doubled"/></extensionElements>'
    '<multiInstanceLoopCharacteristics isSequential="true"><extensionElements>'
    '<zeebe:loopCharacteristics inputCollection="=items" inputElement="item" '
    'outputCollection="all" outputElement="=doubled"/></extensionElements>'
    '<completionCondition>=doubled &gt; 3</completionCondition>'
    '</multiInstanceLoopCharacteristics></scriptTask><endEvent id="e" name="Done"/>',
    "s>t", "t>e",
)  # fmt: skip

_CALLS = _file(
    process(
        "caller", "Caller",
        f'<startEvent id="s" name="Case">{MESSAGE}</startEvent>'
        '<callActivity id="c" name="Work on it" calledElement="callee"><extensionElements>'
        '<camunda:in source="amount" target="n"/><camunda:out source="r" target="result"/>'
        "</extensionElements></callActivity>"
        '<boundaryEvent id="b" name="Too much" attachedToRef="c">'
        '<errorEventDefinition errorRef="er"/></boundaryEvent>'
        '<task id="h" name="Handle it"/><exclusiveGateway id="g" name="Half?"/>'
        '<endEvent id="e" name="Fine"/><endEvent id="o" name="Odd"/><endEvent id="f" name="Bad"/>',
        "s>c", "c>g", "g>e?${result * 2 == amount}", "g>o!", "b>h", "h>f",
    ),
    process(
        "callee", "Callee",
        '<startEvent id="cs" name="Begin"/><exclusiveGateway id="cg" name="How much?"/>'
        '<endEvent id="ce" name="Failed"><errorEventDefinition errorRef="er"/></endEvent>'
        + script("ct", "Take half", "r", "n / 2") + '<endEvent id="cf" name="Returned"/>',
        "cs>cg", "cg>ce?${n > 5}", "cg>ct!", "ct>cf",
    ),
)  # fmt: skip

_SIGNALS = process(
    "signals", "Signals",
    '<startEvent id="s" name="Alarm"><signalEventDefinition signalRef="si"/></startEvent>'
    '<receiveTask id="r" name="Payment comes" messageRef="pay"/>'
    '<intermediateCatchEvent id="w" name="All clear"><signalEventDefinition signalRef="si"/>'
    '</intermediateCatchEvent><exclusiveGateway id="g" name="Paid?"/>'
    '<task id="a" name="Thank"/><task id="b" name="Remind"/><endEvent id="e" name="Over"/>',
    "s>r", "r>w", "w>g", "g>a?${paid}", "g>b!", "a>e", "b>e",
)  # fmt: skip

_SCOPES = process(
    "scopes", "Scopes",
    f'<startEvent id="s" name="Go">{MESSAGE}</startEvent>'
    '<subProcess id="sub" name="Part"><startEvent id="is"/>'
    + script("it", "Try", "tried", 'if (amount &gt; 5) throw new BpmnError("E1"); amount + 1')
    + '<endEvent id="ie" name="Tried"/>'
    '<sequenceFlow id="x1" sourceRef="is" targetRef="it"/>'
    '<sequenceFlow id="x2" sourceRef="it" targetRef="ie"/></subProcess>'
    '<boundaryEvent id="b" name="It failed" attachedToRef="sub">'
    '<errorEventDefinition errorRef="er"/></boundaryEvent>'
    '<inclusiveGateway id="g" name="Whom to tell?"/><task id="p" name="Tell one"/>'
    '<task id="q" name="Tell two"/><inclusiveGateway id="j" name="All told"/>'
    '<intermediateCatchEvent id="w" name="A moment"><timerEventDefinition><timeDuration>PT1S'
    '</timeDuration></timerEventDefinition></intermediateCatchEvent>'
    '<endEvent id="e" name="Told"/><endEvent id="f" name="Failed"/>',
    "s>sub", "sub>g", "g>p?${tried > 1}", "g>q?${tried > 2}", "p>j", "q>j", "j>w", "w>e", "b>f",
)  # fmt: skip

_APPLY = """{"type": "default", "id": "apply", "components": [
 {"type": "textfield", "key": "who", "label": "Who", "validate": {"required": true}},
 {"type": "number", "key": "amount", "label": "Amount"},
 {"type": "checkbox", "key": "urgent", "label": "Urgent"},
 {"type": "select", "key": "kind", "label": "Kind",
  "values": [{"label": "Big thing", "value": "big"},
   {"label": "Small thing", "value": "small"}]}]}"""

_CHECK = """{"key": "check", "name": "Check", "fields": [
 {"type": "integer", "id": "points", "name": "Points", "required": true},
 {"type": "text", "id": "remark", "name": "Remark"}]}"""

_PAGES = process(
    "pages", "Pages",
    '<startEvent id="s" name="Apply" camunda:formKey="camunda-forms:deployment:apply.form"/>'
    '<userTask id="t" name="Check" flowable:formKey="check"/>'
    '<exclusiveGateway id="g" name="Enough?"/><task id="a" name="Grant"/>'
    '<task id="b" name="Refuse"/><endEvent id="e" name="Granted"/>'
    '<endEvent id="f" name="Refused"/>',
    "s>t", "t>g", "g>a?${points * 2 > amount and urgent and kind == 'big'}", "g>b!", "a>e", "b>f",
)  # fmt: skip

_FORMS = _file(_PAGES) | {"apply.form": _APPLY, "check.form": _CHECK}
_APPLIED = {"Who": "Kim", "Amount": "19", "Urgent": "Yes", "Kind": "Big thing"}

_CONDITION = process(
    "condition", "Condition",
    f'<startEvent id="s" name="Level">{MESSAGE}</startEvent>'
    '<intermediateCatchEvent id="w" name="High enough"><conditionalEventDefinition>'
    "<condition>${level &gt; 3}</condition></conditionalEventDefinition></intermediateCatchEvent>"
    '<endEvent id="e" name="High"/>',
    "s>w", "w>e",
)  # fmt: skip

MODELS = (
    UserModel("Pages", _FORMS, _APPLIED, ("Check", "Enough?", "Grant", "Granted"),
              {"amount": 19, "urgent": True, "kind": "big", "points": 10},
              {"Check": {"Points": "10"}}),
    UserModel("Pages", _FORMS, _APPLIED, ("Check", "Enough?", "Refuse", "Refused"),
              {"points": 9}, {"Check": {"Points": "9"}}),
    UserModel("Condition", _file(_CONDITION), {"level": 4}, ("High enough", "High"),
              {"level": 4}),
    UserModel("Scripts", _file(_SCRIPTS), {"amount": 6}, ("Add", "Much?", "Ask", "Done"),
              {"total": 12, "seen": 13}),
    UserModel("Scripts", _file(_SCRIPTS), {"amount": 2}, ("Add", "Much?", "Book", "Booked"),
              {"total": 4}),
    UserModel("Decision", _file(_DECISION) | {"risk.dmn": _TABLE}, {"amount": 200},
              ("Classify", "Risky?", "Check it", "Done"), {"risk": "high"}),
    UserModel("Decision", _file(_DECISION) | {"risk.dmn": _TABLE}, {"amount": 20},
              ("Classify", "Risky?", "Accept it", "Done"), {"risk": "low"}),
    UserModel("Due", _file(_DUE) | {"due.dmn": _DATES},
              {"due": "2026-03-29T02:00:00", "net": 1.1},
              ("Compare dates", "Late?", "Remind", "Over"), {"late": True}),
    UserModel("Due", _file(_DUE) | {"due.dmn": _DATES}, {"due": "2026-03-30", "net": 1},
              ("Compare dates", "Late?", "Wait on", "Over"), {"late": False}),
    UserModel("Heard", _file(_HEARD), {"who": "Kim"}, ("Talk", "Hung up"), {}),
    UserModel("Each", _file(_EACH), {"items": [1, 2, 3]}, ("Double", "Double", "Done"),
              {"all": [2, 4, None]}),
    UserModel("Caller", _CALLS, {"amount": 4}, ("Work on it", "Half?", "Fine"),
              {"result": 2}),
    UserModel("Caller", _CALLS, {"amount": 9}, ("Work on it", "Too much", "Handle it", "Bad"),
              {"lastError": "E1: Too much"}),
    UserModel("Signals", _file(_SIGNALS), {}, ("Payment comes", "All clear", "Paid?", "Thank",
              "Over"), {"paid": True}, {"Payment comes": {"paid": True}, "All clear": {}}),
    UserModel("Scopes", _file(_SCOPES), {"amount": 1},
              ("Try", "Whom to tell?", "Tell one", "A moment", "Told"), {"tried": 2}),
    UserModel("Scopes", _file(_SCOPES), {"amount": 2},
              ("Try", "Whom to tell?", "Tell one", "Tell two", "A moment", "Told"), {"tried": 3}),
    UserModel("Scopes", _file(_SCOPES), {"amount": 7}, ("Try", "It failed", "Failed"), {}),
)  # fmt: skip


def write(folder: Path) -> list[Path]:
    """Write the files of the models; returns those of the processes."""
    for model in MODELS:
        (folder / model.name).mkdir(exist_ok=True)
        for name, text in model.files.items():
            (folder / model.name / name).write_text(text, "utf-8")
    return sorted(folder.glob("*/model.bpmn"))


def differences(client: WorkflowClient, models: Sequence[UserModel], seconds: float) -> list[str]:
    """Use deployed models, and say what they did otherwise."""
    rows = {row["name"]: client.workflow(str(row["id"])) for row in client.listed()}
    started = [
        (model, rows[model.name], _start(client, rows[model.name], model)) for model in models
    ]
    deadline = time.monotonic() + seconds
    return [text for one in started if (text := _difference(client, *one, deadline))]


def _start(client: WorkflowClient, workflow: Json, model: UserModel) -> str:
    """The id of the execution that a call or a page begins."""
    kinds = ("webhook", "formTrigger")
    (hook,) = [row for row in workflow["nodes"] if short_type(row) in kinds]
    before = {one["id"] for one in executions_of(client)}
    parameters = hook["parameters"]
    if short_type(hook) == "webhook":
        said = client.call(f"/webhook/{parameters['path']}", model.given)
        assert said["status"] == 200, said
    else:
        place = f"{client.url}/form/{parameters['options']['path']}"
        submit(place, parameters["formFields"]["values"], model.given)
    while True:
        for one in executions_of(client):
            if one["id"] not in before and one["workflowId"] == workflow["id"]:
                return str(one["id"])
        time.sleep(0.05)


def _difference(
    client: WorkflowClient, model: UserModel, workflow: Json, execution: str, deadline: float
) -> str:
    rows = {row["name"]: row for row in workflow["nodes"]}
    answered: set[str] = set()
    while (answer := client.execution(execution))["status"] not in FINISHED:
        if time.monotonic() > deadline:
            return f"{model.name} {model.given} is {answer['status']}"
        name = str(answer["data"]["resultData"].get("lastNodeExecuted"))
        if answer["status"] == "waiting" and name in model.answers and name not in answered:
            parameters = rows[name]["parameters"]
            if parameters["resume"] == "form":
                place = f"{client.url}/form-waiting/{execution}"
                submit(place, parameters["formFields"]["values"], model.answers[name])
            else:
                suffix = parameters["options"]["webhookSuffix"]
                said = client.resume(answer, model.answers[name], suffix=suffix)
                assert said["status"] == 200, said
            answered.add(name)
        time.sleep(0.1)
    answer = whole(client, execution)
    order = read_execution(answer).order
    named = {step for one in MODELS if one.name == model.name for step in one.steps}
    steps = tuple(run.node for run in order if run.node in named)
    run = answer["data"]["resultData"]["runData"][order[-1].node][-1]
    item = next((items[0]["json"] for items in run["data"]["main"] if items), {})
    left = {name: item.get(name) for name in model.variables}
    if (steps, left) == (model.steps, model.variables):
        return ""
    return f"{model.name} {model.given}: {answer['status']} {steps} {item}"
