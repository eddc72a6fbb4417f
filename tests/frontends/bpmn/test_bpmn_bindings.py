"""Extensions of engines as typed bindings; shapes as real models have them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from bpmn_text import by_id, model_of, parse
from bpmn_trips import differences, read, written
from orgflow.frontends.bpmn.xml.bpmn_names import BPMN

from orgflow_ir.model.bindings import (
    Decision,
    Field,
    Form,
    Http,
    Listener,
    Mail,
    Parameter,
    Script,
    SubProcessCall,
    Worker,
)
from orgflow_ir.model.rewriter import Rewriter

_PREFIXES = (
    'xmlns:camunda="http://camunda.org/schema/1.0/bpmn" '
    'xmlns:flowable="http://flowable.org/bpmn" xmlns:activiti="http://activiti.org/bpmn" '
    'xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" '
    'xmlns:drools="http://www.jboss.org/drools" xmlns:p="http://flowable.org/bpmn"'
)


def _file(content: str) -> str:
    return (
        f'<definitions xmlns="{BPMN}" {_PREFIXES} targetNamespace="urn:t"><process id="p">'
        f"{content}</process></definitions>"
    )


def _task(tag: str, attributes: str, extensions: str = "", after: str = "") -> str:
    inside = f"<extensionElements>{extensions}</extensionElements>" if extensions else ""
    return f'<{tag} id="x" {attributes}>{inside}{after}</{tag}>'


CAMUNDA_7: list[tuple[str, Any]] = [
    (_task("serviceTask", 'camunda:class="org.acme.Ship"'),
     Worker(by="class", target="org.acme.Ship")),
    (_task("serviceTask", 'camunda:delegateExpression="${ship}" camunda:asyncBefore="true"',
           "<camunda:failedJobRetryTimeCycle>R5/PT10S</camunda:failedJobRetryTimeCycle>"
           '<camunda:field name="unit"><camunda:string>kg</camunda:string></camunda:field>'
           '<camunda:field name="by" stringValue="air"/>'
           '<camunda:field name="to" expression="${to}"/>'),
     Worker(by="delegate", target="${ship}", retries="R5/PT10S",
            parameters=(("unit", "kg"), ("by", "air"), ("to", "${to}")))),
    (_task("serviceTask", 'camunda:expression="${bean.run(x)}" camunda:resultVariable="r"'),
     Worker(by="expression", target="${bean.run(x)}", result="r")),
    (_task("serviceTask", 'camunda:type="external" camunda:topic="ship" camunda:taskPriority="5"',
           "<camunda:inputOutput>"
           '<camunda:inputParameter name="a">${order.id}</camunda:inputParameter>'
           '<camunda:inputParameter name="m"><camunda:map><camunda:entry key="k">v</camunda:entry>'
           "</camunda:map></camunda:inputParameter>"
           '<camunda:inputParameter name="l"><camunda:list><camunda:value>1</camunda:value>'
           "<camunda:value>2</camunda:value></camunda:list></camunda:inputParameter>"
           '<camunda:outputParameter name="b"><camunda:script scriptFormat="groovy">x + 1'
           "</camunda:script></camunda:outputParameter></camunda:inputOutput>"
           '<camunda:executionListener event="start" class="org.acme.Log"/>'),
     Worker(by="topic", target="ship", parameters=(("taskPriority", "5"),),
            inputs=(Parameter(name="a", text="${order.id}"),
                    Parameter(name="m", text="k: v", language="map"),
                    Parameter(name="l", text="1\n2", language="list")),
            outputs=(Parameter(name="b", text="x + 1", language="groovy"),),
            listeners=(Listener(event="start", by="class", target="org.acme.Log"),))),
    (_task("serviceTask", "",
           "<camunda:connector><camunda:inputOutput>"
           '<camunda:inputParameter name="url">https://a.example/${id}</camunda:inputParameter>'
           '<camunda:inputParameter name="method">POST</camunda:inputParameter>'
           '<camunda:inputParameter name="payload">{"a": 1}</camunda:inputParameter>'
           '<camunda:inputParameter name="headers"><camunda:map><camunda:entry key="Accept">'
           "application/json</camunda:entry></camunda:map></camunda:inputParameter>"
           '<camunda:outputParameter name="r">${response}</camunda:outputParameter>'
           "</camunda:inputOutput><camunda:connectorId>http-connector</camunda:connectorId>"
           "</camunda:connector>"),
     Http(by="camunda", url="https://a.example/${id}", method="POST", body='{"a": 1}',
          headers=(("Accept", "application/json"),),
          outputs=(Parameter(name="r", text="${response}"),))),
    (_task("serviceTask", "",
           "<camunda:connector><camunda:connectorId>soap-http-connector</camunda:connectorId>"
           "</camunda:connector>"),
     Http(by="camunda", method="POST", headers=(("Content-Type", "text/xml; charset=utf-8"),))),
    (_task("serviceTask", "",
           "<camunda:connector><camunda:connectorId>mail-send</camunda:connectorId>"
           '<camunda:inputOutput><camunda:inputParameter name="to">${to}</camunda:inputParameter>'
           '<camunda:inputParameter name="html">Hi</camunda:inputParameter>'
           '<camunda:inputParameter name="fileNames">a.pdf</camunda:inputParameter>'
           "</camunda:inputOutput></camunda:connector>"),
     Mail(by="camunda", to="${to}", html="Hi", parameters=(("fileNames", "a.pdf"),))),
    (_task("businessRuleTask", 'camunda:decisionRef="fee" camunda:mapDecisionResult="singleEntry" '
           'camunda:resultVariable="f" camunda:decisionRefBinding="deployment"'),
     Decision(decision="fee", mapping="singleEntry", result="f", version="deployment")),
    (_task("scriptTask", 'scriptFormat="groovy" camunda:resultVariable="y"', "",
           "<script>x + 1</script>"),
     Script(language="groovy", code="x + 1", result="y", by="camunda7")),
    (_task("scriptTask", 'scriptFormat="js" camunda:resource="deployment://a.js"'),
     Script(language="js", resource="deployment://a.js", by="camunda7")),
    (_task("userTask", 'camunda:formKey="embedded:app:forms/a.html" camunda:assignee="${who}" '
           'camunda:candidateGroups="sales" camunda:candidateUsers="kim" camunda:priority="50" '
           'camunda:dueDate="${dateTime().plusWeeks(1).toDate()}" camunda:followUpDate="P1D"',
           '<camunda:taskListener event="create" expression="${log.it()}"/>'),
     Form(form="embedded:app:forms/a.html", assignee="${who}", candidate_groups="sales",
          candidate_users="kim", priority="50", due="${dateTime().plusWeeks(1).toDate()}",
          follow_up="P1D",
          listeners=(Listener(event="create", by="expression", target="${log.it()}"),))),
    (_task("userTask", "",
           '<camunda:formData><camunda:formField id="n" label="Name" type="string" '
           'defaultValue="Kim"><camunda:validation><camunda:constraint name="required"/>'
           '<camunda:constraint name="maxlength" config="9"/></camunda:validation>'
           '</camunda:formField><camunda:formField id="c" type="enum"><camunda:value id="r" '
           'name="red"/></camunda:formField></camunda:formData>'),
     Form(fields=(Field(name="n", label="Name", type="string", default="Kim", required=True,
                        constraints=(("maxlength", "9"),)),
                  Field(name="c", type="enum", values=(("r", "red"),))))),
    (_task("callActivity", 'calledElement="other"',
           '<camunda:in variables="all"/><camunda:out source="a-b" target="c"/>'
           '<camunda:out sourceExpression="d" target="e"/>'),
     SubProcessCall(by="camunda7", all_variables=True,
                    outputs=(Parameter(name="c", text="a-b", language="variable"),
                             Parameter(name="e", text="d", language="constant")))),
    (_task("callActivity", 'calledElement="other" camunda:calledElementBinding="latest"',
           '<camunda:in source="a" target="b"/><camunda:in sourceExpression="${c}" target="d"/>'
           '<camunda:in businessKey="${k}"/><camunda:out variables="all"/>'),
     SubProcessCall(by="camunda7", version="latest", business_key="${k}",
                    all_results=True,
                    inputs=(Parameter(name="b", text="a"), Parameter(name="d", text="${c}")))),
]  # fmt: skip

ZEEBE: list[tuple[str, Any]] = [
    (_task("serviceTask", "",
           '<zeebe:taskDefinition type="ship" retries="3"/><zeebe:taskHeaders>'
           '<zeebe:header key="h" value="v"/></zeebe:taskHeaders><zeebe:ioMapping>'
           '<zeebe:input source="=order.id" target="id"/><zeebe:output source="=r" target="s"/>'
           "</zeebe:ioMapping>"),
     Worker(by="job", target="ship", retries="3", parameters=(("h", "v"),),
            inputs=(Parameter(name="id", text="=order.id", language="feel"),),
            outputs=(Parameter(name="s", text="=r", language="feel"),))),
    (_task("serviceTask", "",
           '<zeebe:taskDefinition type="io.camunda:http-json:1"/><zeebe:ioMapping>'
           '<zeebe:input source="https://a.example" target="url"/>'
           '<zeebe:input source="GET" target="method"/>'
           '<zeebe:input source="{{secrets.T}}" target="authentication.token"/>'
           '<zeebe:input source="20" target="connectionTimeoutInSeconds"/></zeebe:ioMapping>'
           '<zeebe:taskHeaders><zeebe:header key="resultVariable" value="r"/>'
           "</zeebe:taskHeaders>"),
     Http(by="zeebe", url="https://a.example", method="GET",
          authentication=(("token", "{{secrets.T}}"),),
          result="r",
          parameters=(("resultVariable", "r"), ("connectionTimeoutInSeconds", "20")))),
    (_task("sendTask", "",
           '<zeebe:taskDefinition type="io.camunda:sendgrid:1"/><zeebe:ioMapping>'
           '<zeebe:input source="a@b.example" target="to.email"/>'
           '<zeebe:input source="Hi" target="content.subject"/></zeebe:ioMapping>'),
     Mail(by="zeebe", to="a@b.example", subject="Hi")),
    (_task("userTask", "",
           '<zeebe:formDefinition formId="f"/><zeebe:assignmentDefinition assignee="=who" '
           'candidateGroups="sales" candidateUsers="kim"/>'
           '<zeebe:taskSchedule dueDate="=due" followUpDate="=then"/><zeebe:userTask/>'),
     Form(form="f", assignee="=who", candidate_groups="sales", candidate_users="kim", due="=due",
          follow_up="=then")),
    (_task("businessRuleTask", "",
           '<zeebe:calledDecision decisionId="fee" resultVariable="f"/>'),
     Decision(decision="fee", result="f")),
    (_task("scriptTask", "", '<zeebe:script expression="=a + 1" resultVariable="b"/>'),
     Script(language="feel", code="=a + 1", result="b")),
    (_task("callActivity", "",
           '<zeebe:calledElement processId="other" propagateAllChildVariables="true"/>'),
     SubProcessCall(by="camunda8", process="other", all_variables=True, all_results=True)),
    (_task("callActivity", "",
           '<zeebe:calledElement processId="other" propagateAllParentVariables="false"/>'
           '<zeebe:ioMapping><zeebe:output source="=r" target="s"/></zeebe:ioMapping>'),
     SubProcessCall(by="camunda8", process="other",
                    outputs=(Parameter(name="s", text="=r", language="feel"),))),
]  # fmt: skip

FLOWABLE: list[tuple[str, Any]] = [
    (_task("callActivity",
           'calledElement="other" flowable:inheritVariables="true" flowable:businessKey="${k}"',
           '<flowable:out sourceExpression="${a + 1}" target="b"/>'),
     SubProcessCall(by="flowable", business_key="${k}", all_variables=True,
                    outputs=(Parameter(name="b", text="${a + 1}"),))),
    (_task("serviceTask", 'flowable:type="http"',
           '<flowable:field name="requestMethod"><flowable:string>GET</flowable:string>'
           '</flowable:field><flowable:field name="requestUrl"><flowable:expression>'
           "https://a.example/${id}</flowable:expression></flowable:field>"
           '<flowable:field name="requestHeaders" stringValue="Accept: text/plain"/>'
           '<flowable:field name="responseVariableName" stringValue="r"/>'
           '<flowable:field name="failStatusCodes" stringValue="4XX"/>'),
     Http(by="flowable", method="GET", url="https://a.example/${id}",
          headers=(("Accept", "text/plain"),),
          result="r", parameters=(("failStatusCodes", "4XX"),))),
    (_task("serviceTask", 'activiti:type="mail"',
           '<activiti:field name="to" stringValue="a@b.example"/>'
           '<activiti:field name="subject" expression="Hello ${name}"/>'
           '<activiti:field name="html"><activiti:string>&lt;b&gt;</activiti:string>'
           "</activiti:field>"),
     Mail(by="flowable", to="a@b.example", subject="Hello ${name}", html="<b>")),
    (_task("serviceTask", 'p:type="dmn"',
           '<p:field name="decisionTableReferenceKey" stringValue="fee"/>'),
     Decision(decision="fee", mapping="variables")),
    (_task("serviceTask", 'flowable:type="camel"'), Worker(by="type", target="camel")),
    (_task("userTask", 'activiti:assignee="kim" activiti:formKey="f"',
           '<activiti:formProperty id="n" name="Name" type="long" required="true"/>'),
     Form(assignee="kim", form="f",
          fields=(Field(name="n", label="Name", type="long", required=True),))),
    (_task("userTask", "", "",
           "<potentialOwner><resourceAssignmentExpression><formalExpression>group(sales)"
           "</formalExpression></resourceAssignmentExpression></potentialOwner>"),
     Form(candidate_groups="group(sales)")),
]  # fmt: skip


def _inputs(**values: str) -> str:
    """jBPM's way to configure a task."""
    data = "".join(f'<dataInput id="i_{n}" name="{n}"/>' for n in values)
    sets = "".join(f"<dataInputRefs>i_{n}</dataInputRefs>" for n in values)
    wires = "".join(
        f"<dataInputAssociation><targetRef>i_{n}</targetRef><assignment><from>{v}</from>"
        f"<to>i_{n}</to></assignment></dataInputAssociation>"
        for n, v in values.items()
    )
    return (f"<ioSpecification>{data}<inputSet>{sets}</inputSet><outputSet/></ioSpecification>"
            f"{wires}")  # fmt: skip


JBPM: list[tuple[str, Any]] = [
    (_task("task", 'drools:taskName="Rest"', "",
           _inputs(TaskName="Rest", Url="https://a.example", Method="GET", AuthType="BASIC")),
     Http(by="jbpm", url="https://a.example", method="GET",
          authentication=(("AuthType", "BASIC"),))),
    (_task("task", 'drools:taskName="Email"', "", _inputs(To="a@b.example", Body="Hi")),
     Mail(by="jbpm", to="a@b.example", html="Hi")),
    (_task("serviceTask", 'drools:taskName="Ship"', "", _inputs(Order="#{order}")),
     Worker(by="handler", target="Ship", inputs=(Parameter(name="Order", text="#{order}"),))),
    (_task("businessRuleTask", 'drools:ruleFlowGroup="fees"'), Decision(decision="fees")),
]  # fmt: skip


def _event(attributes: str, inside: str = "", extensions: str = "", tag: str = "endEvent") -> str:
    said = f"<extensionElements>{inside}</extensionElements>" if inside else ""
    own = f"<extensionElements>{extensions}</extensionElements>" if extensions else ""
    definition = f"<messageEventDefinition {attributes}>{said}</messageEventDefinition>"
    return f'<{tag} id="x">{own}{definition}</{tag}>'


EVENTS: list[tuple[str, Any]] = [
    (_event('camunda:type="external" camunda:topic="ship"'), Worker(by="topic", target="ship")),
    (_event('camunda:class="A"', "", "<camunda:inputOutput>"
            '<camunda:inputParameter name="a">${b}</camunda:inputParameter></camunda:inputOutput>',
            "intermediateThrowEvent"),
     Worker(by="class", target="A", inputs=(Parameter(name="a", text="${b}"),))),
    (_event('camunda:expression="${bean.go()}" camunda:resultVariable="r"'),
     Worker(by="expression", target="${bean.go()}", result="r")),
    (_event("", '<camunda:connector><camunda:inputOutput><camunda:inputParameter name="url">'
            'https://a.example</camunda:inputParameter><camunda:inputParameter name="method">POST'
            "</camunda:inputParameter></camunda:inputOutput><camunda:connectorId>http-connector"
            "</camunda:connectorId></camunda:connector>"),
     Http(by="camunda", url="https://a.example", method="POST")),
    (_event("", "", '<zeebe:taskDefinition type="tell" retries="2"/>', "intermediateThrowEvent"),
     Worker(by="job", target="tell", retries="2")),
    (_event(""), None),
]  # fmt: skip


@pytest.mark.parametrize(("content", "expected"), EVENTS)
def test_what_sends_the_message_of_an_event_is_read(content: str, expected: Any) -> None:
    assert _read(content).binding == expected


def test_an_event_that_waits_for_a_message_sends_none() -> None:
    content = _event('camunda:class="A"', tag="intermediateCatchEvent")
    assert _read(content).binding is None


def _read(content: str) -> Any:
    return by_id(model_of(_file(content)))["x"]


@pytest.mark.parametrize(("content", "expected"), [*CAMUNDA_7, *ZEEBE, *FLOWABLE, *JBPM])
def test_an_extension_is_a_typed_binding(content: str, expected: Any) -> None:
    assert _read(content).binding == expected


@pytest.mark.parametrize("content", [c for c, _ in (*CAMUNDA_7, *ZEEBE, *FLOWABLE, *JBPM, *EVENTS)])
def test_the_extension_itself_comes_back(content: str) -> None:
    model = model_of(_file(content))
    text = written(model)
    again, said = read(text)
    assert list(differences(model, again)) == []
    assert said == []
    assert "orgflow:binding" not in text


@pytest.mark.parametrize(
    "content",
    [
        _task("serviceTask", 'implementation="##WebService" camunda:class="A"'),
        _task("scriptTask", 'scriptFormat="js" camunda:class="A"', "", "<script>a</script>"),
        _task("scriptTask", 'scriptFormat="js"', '<zeebe:script expression="=a"/>',
              "<script>a</script>"),
        _task("userTask", 'implementation="##form" camunda:assignee="kim"'),
    ],
)  # fmt: skip
def test_what_bpmn_says_beside_an_engine_comes_back(content: str) -> None:
    model = model_of(_file(content))
    text = written(model)
    again, said = read(text)
    assert list(differences(model, again)) == []
    assert said == []
    for said_there in ("implementation=", "scriptFormat=", ">a</"):
        assert (said_there in content) == (said_there in text)


@pytest.mark.parametrize("content", [c for c, _ in (*CAMUNDA_7, *ZEEBE, *FLOWABLE, *JBPM)])
def test_another_binding_replaces_what_the_engine_said(content: str) -> None:
    model = model_of(_file(content))
    node = by_id(model)["x"]
    if node.kind != "task":
        return
    other = Http(url="https://other.example", method="GET")
    rewriter = Rewriter(model)
    rewriter.set_binding("p", "x", other)
    again, said = read(written(rewriter.done()))
    assert said == []
    assert by_id(again)["x"].binding == other


def test_settings_of_an_engine_that_say_nothing_of_the_work_stay() -> None:
    model = model_of(_file(_task("serviceTask", 'camunda:asyncBefore="true" camunda:class="A"')))
    rewriter = Rewriter(model)
    rewriter.set_binding("p", "x", Script(code="x"))
    text = written(rewriter.done())
    assert "asyncBefore" in text
    assert "class=" not in text
    assert by_id(read(text)[0])["x"].binding == Script(code="x")


def test_other_namespaces_say_nothing() -> None:
    content = _task("serviceTask", 'xmlns:camunda="urn:mine" camunda:class="A"')
    assert _read(content).binding is None


def test_a_binding_that_cannot_be_read_is_reported() -> None:
    own = '<o:binding xmlns:o="urn:orgflow:bpmn" kind="http">{"kind": "http", "no": 1}</o:binding>'
    from orgflow.backends.bpmn.format import ORGFLOW

    _, found = parse(_file(_task("serviceTask", "", own.replace("urn:orgflow:bpmn", ORGFLOW))))
    assert [d.code for d in found] == ["OF154"]
    assert "cannot be read" in found[0].message


def test_every_doer_of_the_executable_models_is_read(shared: Path) -> None:
    """No task with an attribute that names its doer is without a binding."""
    files = sorted((shared / "data" / "camunda7-executable").rglob("*.bpmn*"))
    assert len(files) > 100
    names = ("class", "delegateExpression", "expression", "type", "decisionRef", "assignee",
             "formKey", "candidateGroups", "dueDate", "resultVariable")  # fmt: skip
    seen = 0
    for path in files:
        model, _ = parse(path.read_bytes(), path.name)
        for scope in model.scopes() if model is not None else ():
            for node in scope.nodes:
                if node.kind == "task" and any(
                    key in [f"@{{http://camunda.org/schema/1.0/bpmn}}{n}" for n in names]
                    for key, _ in node.extra
                ):
                    assert node.binding is not None, (path.name, node.id)
                    seen += 1
    assert seen > 50
