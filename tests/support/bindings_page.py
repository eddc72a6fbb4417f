"""The page on bindings, made by reading small tasks of every engine and compiling every kind."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from binding_values import filled, markers
from bpmn_text import by_id, parse
from orgflow.backends.bpmn.format import BPMN
from orgflow.compiler import compile_model

from orgflow_ir.diagnostics import Diagnostic
from orgflow_ir.model import CallActivity, Event, Flow, Model, Process, Task
from orgflow_ir.model.bindings import BINDINGS, ENGINES, AnyBinding
from orgflow_ir.pipeline import PassContext
from orgflow_ir.plugins import Registry

_COMMON = ("inputs", "outputs", "result", "retries", "parameters", "listeners")
_MEANING = {
    "inputs": "values handed to what does the task, each with a name, text and language",
    "outputs": "values taken from it",
    "result": "the variable that gets its result",
    "retries": "how often, or when, it is tried again",
    "parameters": "settings of the vendor that have no field, under the vendor's names",
    "listeners": "what the engine calls when it enters or leaves the task",
}
_PREFIXES = {
    "camunda": "http://camunda.org/schema/1.0/bpmn",
    "flowable": "http://flowable.org/bpmn",
    "zeebe": "http://camunda.org/schema/zeebe/1.0",
    "drools": "http://www.jboss.org/drools",
}

_WHERE = {
    "n8n": ", in the note of a placeholder",
    "asl": ", in the `Comment` of a state that does it or calls a function",
}

Sample = tuple[str, str, str]
"""Tag, attributes, content in `extensionElements`."""

_ACTIVITI: tuple[Sample, ...] = (
    ("serviceTask", 'camunda:class="org.acme.Ship"', ""),
    ("serviceTask", 'camunda:delegateExpression="${ship}"', ""),
    ("serviceTask", 'camunda:expression="${bean.ship()}" camunda:resultVariable="r"', ""),
    ("serviceTask", 'flowable:expression="${bean.ship()}" flowable:resultVariableName="r"', ""),
    ("serviceTask", 'camunda:type="external" camunda:topic="ship" camunda:taskPriority="5"', ""),
    ("serviceTask", 'camunda:type="shell"', '<camunda:field name="command" stringValue="ls"/>'),
    ("serviceTask", 'flowable:type="http"',
     '<flowable:field name="requestUrl" stringValue="https://a.example"/>'),
    ("serviceTask", 'flowable:type="http"',
     '<flowable:httpRequestHandler class="A"/><flowable:httpResponseHandler class="B"/>'),
    ("serviceTask", 'flowable:type="mail"', '<flowable:field name="to" expression="${to}"/>'),
    ("serviceTask", "", "<camunda:connector><camunda:connectorId>http-connector"
     '</camunda:connectorId><camunda:inputOutput><camunda:inputParameter name="url">'
     "https://a.example</camunda:inputParameter></camunda:inputOutput></camunda:connector>"),
    ("serviceTask", 'camunda:class="A"', '<camunda:inputOutput><camunda:inputParameter name="a">'
     "${b}</camunda:inputParameter></camunda:inputOutput>"),
    ("serviceTask", 'camunda:class="A"',
     "<camunda:failedJobRetryTimeCycle>R3/PT10S</camunda:failedJobRetryTimeCycle>"),
    ("serviceTask", 'camunda:class="A"', "<camunda:retry>3</camunda:retry>"),
    ("serviceTask", 'camunda:class="A"',
     '<camunda:executionListener event="start" class="org.acme.Log"/>'),
    ("scriptTask", 'camunda:resource="classpath://ship.js"', ""),
    ("scriptTask", 'scriptFormat="groovy" flowable:autoStoreVariables="false"', ""),
    ("businessRuleTask", 'camunda:decisionRef="price" camunda:decisionRefBinding="version" '
     'camunda:decisionRefVersion="2" camunda:mapDecisionResult="singleEntry"', ""),
    ("userTask", 'camunda:assignee="kim" camunda:candidateUsers="a, b" '
     'camunda:candidateGroups="staff"', ""),
    ("userTask", 'camunda:dueDate="${due}" camunda:followUpDate="${then}" camunda:priority="5"',
     ""),
    ("userTask", 'camunda:formKey="ship.html"', ""),
    ("userTask", 'camunda:formRef="ship" camunda:formRefBinding="version" '
     'camunda:formRefVersion="2"', ""),
    ("userTask", 'flowable:formHandlerClass="A" flowable:category="c" '
     'flowable:skipExpression="${skip}" flowable:businessCalendarName="work"', ""),
    ("userTask", "", '<camunda:formData><camunda:formField id="size" label="Size" type="long"/>'
     "</camunda:formData>"),
    ("userTask", "", '<flowable:formProperty id="size" name="Size" type="long"/>'),
    ("userTask", "", '<camunda:taskListener event="create" delegateExpression="${log}"/>'),
    ("callActivity", 'camunda:calledElementBinding="version" camunda:calledElementVersion="2"',
     '<camunda:in source="a" target="b"/><camunda:out source="c" target="d"/>'),
    ("callActivity", 'camunda:inheritBusinessKey="true" flowable:calledElementType="key" '
     'camunda:calledElementTenantId="t"', '<camunda:in businessKey="${key}"/>'),
    ("callActivity", 'camunda:variableMappingClass="A"', '<camunda:in variables="all"/>'),
    ("callActivity", 'camunda:variableMappingDelegateExpression="${map}"', ""),
    ("callActivity", 'flowable:useLocalScopeForOutParameters="true"', ""),
    ("boundaryEvent", "", '<errorEventDefinition camunda:errorCodeVariable="code" '
     'camunda:errorMessageVariable="text"/>'),
    ("boundaryEvent", "", '<errorEventDefinition flowable:errorVariableName="code"/>'),
)  # fmt: skip
_ZEEBE: tuple[Sample, ...] = (
    ("serviceTask", "", '<zeebe:taskDefinition type="ship" retries="3"/><zeebe:taskHeaders>'
     '<zeebe:header key="unit" value="kg"/></zeebe:taskHeaders>'),
    ("serviceTask", "", '<zeebe:taskDefinition type="io.camunda:http-json:1"/><zeebe:ioMapping>'
     '<zeebe:input source="https://a.example" target="url"/></zeebe:ioMapping>'),
    ("sendTask", "", '<zeebe:taskDefinition type="io.camunda:email:1"/><zeebe:ioMapping>'
     '<zeebe:input source="kim@a.example" target="to"/></zeebe:ioMapping>'),
    ("serviceTask", "", '<zeebe:taskDefinition type="ship"/><zeebe:ioMapping><zeebe:input '
     'source="=a" target="b"/><zeebe:output source="=c" target="d"/></zeebe:ioMapping>'),
    ("serviceTask", "", '<zeebe:taskDefinition type="ship"/><zeebe:executionListeners>'
     '<zeebe:executionListener eventType="start" type="log"/></zeebe:executionListeners>'),
    ("scriptTask", "", '<zeebe:script expression="=a + 1" resultVariable="r"/>'),
    ("businessRuleTask", "", '<zeebe:calledDecision decisionId="price" resultVariable="r"/>'),
    ("userTask", "",
     '<zeebe:assignmentDefinition assignee="kim" candidateGroups="staff" candidateUsers="a, b"/>'),
    ("userTask", "", '<zeebe:taskSchedule dueDate="=due" followUpDate="=then"/>'
     '<zeebe:priorityDefinition priority="5"/>'),
    ("userTask", "", '<zeebe:formDefinition formId="ship"/>'),
    ("userTask", "", '<zeebe:formDefinition formId="ship"/><zeebe:taskListeners>'
     '<zeebe:taskListener eventType="creating" type="log"/></zeebe:taskListeners>'),
    ("callActivity", "",
     '<zeebe:calledElement processId="ship" propagateAllChildVariables="true"/>'),
)  # fmt: skip
_DROOLS: tuple[Sample, ...] = (
    ("task", 'drools:taskName="Ship"', ""),
    ("businessRuleTask", 'drools:ruleFlowGroup="price"', ""),
    (
        "task",
        'drools:taskName="Ship"',
        '<drools:onEntry-script scriptFormat="http://www.java.com/java"><drools:script>a = 1;'
        "</drools:script></drools:onEntry-script>"
        '<drools:onExit-script scriptFormat="http://www.mvel.org/2.0"><drools:script>b = 2;'
        "</drools:script></drools:onExit-script>",
    ),
)
_BPMN: tuple[tuple[str, str, str], ...] = (
    ("serviceTask", 'implementation="##WebService"', ""),
    ("serviceTask", 'operationRef="ship"', ""),
    ("scriptTask", 'scriptFormat="groovy"', "<script>x + 1</script>"),
    ("userTask", "", '<performer id="d"><resourceAssignmentExpression id="e"><formalExpression>kim'
     "</formalExpression></resourceAssignmentExpression></performer>"),
    ("userTask", "", '<humanPerformer id="d"><resourceAssignmentExpression id="e">'
     "<formalExpression>kim</formalExpression></resourceAssignmentExpression></humanPerformer>"),
    ("userTask", "", '<potentialOwner id="d"><resourceAssignmentExpression id="e">'
     "<formalExpression>staff</formalExpression></resourceAssignmentExpression></potentialOwner>"),
)  # fmt: skip
_FAMILIES = {"activiti": _ACTIVITI, "zeebe": _ZEEBE, "drools": _DROOLS}
_TITLES = {
    "activiti": "Camunda 7, Operaton, Flowable and Activiti",
    "zeebe": "Camunda 8 (Zeebe)",
    "drools": "jBPM and Drools",
}


def bindings(registry: Registry) -> str:
    """The page."""
    from write_docs import page, table, text

    lines = page(
        "Bindings",
        "A binding records what does a task: the class, script, HTTP request, mail, decision, form "
        "or worker that the source names. The BPMN frontend reads bindings from BPMN's own "
        "attributes and from the extensions of the engines below; the n8n frontend reads every "
        "node that does work as a `worker` by `n8n`. Nothing evaluates the texts in a binding.",
        "The extensions themselves stay in the task's `extra`, as they were written. The BPMN "
        "backend writes them back unless the binding was edited since the file was read: then the "
        "extensions that say what does the task go, and the edited binding is written, in BPMN's "
        "attributes where they can hold it, else as an `orgflow:binding` element.",
    )
    lines += ["", "## Kinds", ""]
    lines += table(
        ("kind", "holds", "fields"),
        [
            (f"`{kind}`", text(_about(cls)), ", ".join(f"`{n}`" for n in _fields(cls)) or "none")
            for kind, cls in BINDINGS.items()
        ],
    )
    lines += ["", "Every kind also has these:", ""]
    lines += table(("field", "holds"), [(f"`{name}`", _MEANING[name]) for name in _COMMON])
    lines += ["", "## What targets do with them", ""]
    lines += table(("target", "in its files", "reported as"), list(_targets(registry)))
    lines += ["", "## BPMN", ""]
    lines += table(("in the file", "kind", "fields"), [_row(s, plain=True) for s in _BPMN])
    for family, samples in _FAMILIES.items():
        spaces = ", ".join(f"`{ns}`" for ns, known in ENGINES.items() if known == family)
        lines += ["", f"## {_TITLES[family]}", ""]
        lines += [f"Namespaces: {spaces}. Prefixes do not matter.", ""]
        lines += table(("in the file", "kind", "fields"), [_row(s) for s in samples])
    return "\n".join([*lines, ""])


def _about(cls: type[AnyBinding]) -> str:
    whole = inspect.cleandoc(cls.__doc__ or "").split("\n\n")[0]
    return " ".join(whole.split()).partition(";")[0].partition(". ")[0].rstrip(".")


def _fields(cls: type[AnyBinding]) -> list[str]:
    return [name for name in cls.__dataclass_fields__ if name not in (*_COMMON, "kind")]


def read_sample(sample: Sample, *, plain: bool = False) -> AnyBinding:
    """The binding of a task; `plain`: its content is BPMN's own."""
    tag, attributes, content = sample
    inside = content
    if content and not plain and "EventDefinition" not in content:
        inside = f"<extensionElements>{content}</extensionElements>"
    spaces = " ".join(f'xmlns:{prefix}="{ns}"' for prefix, ns in _PREFIXES.items())
    model, _ = parse(
        f'<definitions xmlns="{BPMN}" {spaces} targetNamespace="urn:t"><process id="p">'
        f'<{tag} id="x" {attributes}>{inside}</{tag}></process></definitions>'
    )
    assert model is not None, sample
    task = by_id(model)["x"]
    assert isinstance(task, Task | CallActivity | Event)
    assert task.binding is not None, sample
    return task.binding


def _row(sample: Sample, *, plain: bool = False) -> tuple[str, str, str]:
    tag, attributes, content = sample
    binding = read_sample(sample, plain=plain)
    shown = " ".join(part for part in (tag, attributes, content) if part)
    said = [f"`{name}` {_value(value)}".rstrip() for name, value in _said(binding)]
    return f"`{shown}`", f"`{binding.kind}`", ", ".join(said) or "none"


def _said(binding: AnyBinding) -> Iterator[tuple[str, object]]:
    for name, value in binding.content().items():
        if name != "kind" and value not in (None, "", (), False):
            yield name, value


def _value(value: object) -> str:
    """A text, or pairs of names and texts; what has more parts is named only."""
    if isinstance(value, str):
        return f"`{value}`"
    if isinstance(value, tuple) and all(isinstance(one, tuple) for one in value):
        return ", ".join(f"`{key}`: `{text}`" for key, text in value)
    return ""


def _targets(registry: Registry) -> Iterator[tuple[str, str, str]]:
    for name in registry.backends:
        kept: set[str] = set()
        reported: set[str] = set()
        for kind in BINDINGS:
            text, found = compiled(filled(kind), name, registry)
            wanted = markers(filled(kind))
            there = sum(marker in text for marker in wanted)
            kept.add("every field" if there == len(wanted) else "nothing" if not there else "part")
            reported |= {d.code for d in found}
        assert len(kept) == 1, (name, kept)
        codes = [f"[{code}](reference/rules.md#{code.lower()})" for code in sorted(reported)]
        yield f"`{name}`", kept.pop() + _WHERE.get(name, ""), ", ".join(codes) or "not reported"


def compiled(binding: AnyBinding, target: str, registry: Registry) -> tuple[str, list[Diagnostic]]:
    """What a target makes of a service task with a binding, and what is reported."""
    nodes = (
        Event(id="s", position="start"),
        Task(id="t", name="Ship", task_type="service", binding=binding),
        Event(id="e", position="end"),
    )
    flows = (Flow(id="a", source="s", target="t"), Flow(id="b", source="t", target="e"))
    model = Model(id="m", processes=(Process(id="p", nodes=nodes, flows=flows),))
    ctx = PassContext(registry=registry)
    made = compile_model(model, registry.backends[target], ctx)
    assert made is not None
    return "\n".join(a.text for a in made.artifacts), ctx.diagnostics
