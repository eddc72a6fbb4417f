"""What does a task, as the source says it: one class a way of doing work, distinguished by `kind`.

Texts are those of the source: they may be templates or expressions of its language (`${url}`,
`=order.id`), which nothing here evaluates. What a vendor says beyond the fields stands in
`parameters` under the vendor's own names; the extension XML itself stays in the task's `extra`.
"""

from __future__ import annotations

from dataclasses import field
from typing import Annotated, Literal

from orgflow_ir.model.value import Extra, TaggedBy, Value

Pairs = tuple[tuple[str, str], ...]


def _is_empty(value: tuple[object, ...]) -> bool:
    return not value


class Parameter(Value):
    """A value handed to what does a task (`inputs`), or taken from it (`outputs`).

    `name` is the variable it becomes; `text` the expression or constant it comes from, `language`
    the vendor's (`feel`, `juel`, a script's), `variable` where the text is the name of one,
    `constant` where it is the value, `list` or `map` where it shows the entries of one, a line
    each, and `nested` where these have more parts; `None` where the source does not say.
    """

    name: str
    text: str = ""
    language: str | None = None

    @property
    def variable(self) -> str:
        """The variable that it sets: of a target of Camunda 8, `order.ok`, the whole."""
        return self.name.partition(".")[0] if self.language == "feel" else self.name


class Listener(Value):
    """What an engine calls when it enters or leaves a task: `by` is how it is named (`class`,
    `expression`, `script`, …), `target` its name or code, `language` that of a script."""

    event: str = ""
    by: str = ""
    target: str = ""
    language: str | None = None


LISTENERS = ("executionListener", "taskListener", "executionListeners", "taskListeners")
"""Names of extension elements that are listeners."""


def is_listener(key: str) -> bool:
    """Whether a key of extension data (`Extra`) is one of listeners."""
    return key.endswith(("istener", "isteners")) and key.rpartition("}")[2] in LISTENERS


def listener_data(extra: Extra) -> Extra:
    """The part of extension data that is listeners."""
    return tuple((key, text) for key, text in extra if is_listener(key))


class Field(Value):
    """A field of a form. `type` is the vendor's word (`string`, `boolean`, `enum`, `date` …)."""

    name: str
    label: str = ""
    type: str = ""
    default: str | None = None
    required: bool = False
    values: Pairs = field(default=(), metadata={"exclude_if": _is_empty})
    constraints: Pairs = field(default=(), metadata={"exclude_if": _is_empty})


class _Binding(Value):
    inputs: tuple[Parameter, ...] = field(default=(), metadata={"exclude_if": _is_empty})
    outputs: tuple[Parameter, ...] = field(default=(), metadata={"exclude_if": _is_empty})
    result: str | None = None
    retries: str | None = None
    parameters: Pairs = field(default=(), metadata={"exclude_if": _is_empty})
    listeners: tuple[Listener, ...] = field(default=(), metadata={"exclude_if": _is_empty})


class Http(_Binding):
    """A call of a URL; `authentication` are the vendor's settings for it.

    `by` is the vendor whose notation the texts use; it defines how the answer and errors are
    handled: `camunda` (7), `zeebe`, `flowable` or `jbpm`; `None` if the source does not state it.
    """

    kind: Literal["http"] = "http"
    by: str | None = None
    url: str | None = None
    method: str | None = None
    headers: Pairs = field(default=(), metadata={"exclude_if": _is_empty})
    query: Pairs = field(default=(), metadata={"exclude_if": _is_empty})
    body: str | None = None
    authentication: Pairs = field(default=(), metadata={"exclude_if": _is_empty})


AUTO_STORE = "autoStoreVariables"
"""Flowable's setting by which plain assignments of a script set process variables, or not."""


class Script(_Binding):
    """Code; `language` is the source's word for it, `resource` a file that holds it."""

    kind: Literal["script"] = "script"
    language: str | None = None
    code: str | None = None
    resource: str | None = None

    @property
    def stores(self) -> bool:
        """Whether plain assignments set process variables: Flowable can switch that off."""
        return dict(self.parameters).get(AUTO_STORE) != "false"


class Decision(_Binding):
    """A decision table or rule set by its id; `mapping` is how its result is made one value:
    Camunda 7's word, or `variables` where each output becomes a variable (Flowable)."""

    kind: Literal["decision"] = "decision"
    decision: str | None = None
    version: str | None = None
    mapping: str | None = None


class Worker(_Binding):
    """Something named that does the work, which only its owner has.

    `by` says how it is named: `class`, `delegate`, `expression`, `topic`, `job`, `handler`,
    `connector`, `type`, `operation` (of a BPMN interface), `implementation`, `process` (one that is
    called and not in the model), `n8n` (a node of an existing workflow: `target` is `type@version`,
    `parameters` are the node's, each as JSON), or `catalogue` (an operation that a task was filled
    with: `target` is `backend:type@version`, `parameters` are constants as JSON, `inputs` are named
    by the path of a parameter, with an empty text where its value is not known yet); nothing, where
    the source has settings and names nobody. `code` is what it runs where the source shows it.
    """

    kind: Literal["worker"] = "worker"
    by: str = ""
    target: str | None = None
    code: str | None = None


class Mail(_Binding):
    """A message by mail; several addresses are one text, as the source separates them. `by` is the
    vendor whose notation the texts use, as in `Http`."""

    kind: Literal["mail"] = "mail"
    by: str | None = None
    sender: str | None = None
    to: str | None = None
    cc: str | None = None
    bcc: str | None = None
    subject: str | None = None
    text: str | None = None
    html: str | None = None


class SubProcessCall(_Binding):
    """How another process is called: `all_variables` passes on everything there is, `all_results`
    takes back everything that the called process has. `by` is the engine that does it, as in
    `Dialect.engine`: it passes on and takes back what is stated here and nothing else. Where
    nothing at all is stated, no engine either, everything goes both ways."""

    kind: Literal["call"] = "call"
    by: str | None = None
    process: str | None = None
    version: str | None = None
    business_key: str | None = None
    all_variables: bool = False
    all_results: bool = False


class Form(_Binding):
    """Who does a user task, until when, and what is filled in."""

    kind: Literal["form"] = "form"
    form: str | None = None
    fields: tuple[Field, ...] = field(default=(), metadata={"exclude_if": _is_empty})
    assignee: str | None = None
    candidate_users: str | None = None
    candidate_groups: str | None = None
    due: str | None = None
    follow_up: str | None = None
    priority: str | None = None


Binding = Annotated[
    Http | Script | Decision | Worker | Mail | SubProcessCall | Form, TaggedBy("kind")
]
AnyBinding = Http | Script | Decision | Worker | Mail | SubProcessCall | Form
BINDINGS: dict[str, type[AnyBinding]] = {
    "http": Http, "script": Script, "decision": Decision, "worker": Worker, "mail": Mail,
    "call": SubProcessCall, "form": Form,
}  # fmt: skip
"""The classes by `kind`."""

ENGINES = {
    "http://camunda.org/schema/1.0/bpmn": "activiti",
    "http://operaton.org/schema/1.0/bpmn": "activiti",
    "http://flowable.org/bpmn": "activiti",
    "http://activiti.org/bpmn": "activiti",
    "http://camunda.org/schema/zeebe/1.0": "zeebe",
    "http://www.jboss.org/drools": "drools",
}
"""Namespaces of the engines whose extensions are read as bindings, and whose vocabulary each has:
Camunda 7, Operaton, Flowable and Activiti share one."""

ERROR_CODE, ERROR_MESSAGE = "errorCode", "errorMessage"
"""Names under which the mappings of an event that catches an error know its code and message."""

CATALOGUE = "catalogue"
"""`by` of workers that are operations of a target's catalogue."""

ACCOUNTS = "@accounts"
"""The parameter of such a worker with the kinds of credentials of which it needs one."""

PERFORMERS = ("performer", "humanPerformer", "potentialOwner")
"""BPMN elements that assign a task to people."""

_BPMN = "http://www.omg.org/spec/BPMN/20100524/MODEL"
_ENGINE_NAMES = frozenset(
    (
        # attributes
        "class", "delegateExpression", "expression", "type", "topic", "taskPriority", "resource",
        "decisionRef", "decisionRefBinding", "decisionRefVersion", "mapDecisionResult",
        "resultVariable", "resultVariableName", "assignee", "candidateUsers", "candidateGroups",
        "dueDate", "followUpDate", "priority", "formKey", "formRef", "formRefBinding",
        "formRefVersion", "formHandlerClass", "category", "skipExpression", "businessCalendarName",
        "calledElementBinding", "calledElementVersion", "calledElementTenantId",
        "calledElementType", "variableMappingClass", "variableMappingDelegateExpression",
        "inheritBusinessKey", "taskName", "ruleFlowGroup", AUTO_STORE,
        "useLocalScopeForOutParameters", "errorCodeVariable", "errorMessageVariable",
        "errorVariableName",
        # elements
        "inputOutput", "connector", "field", "failedJobRetryTimeCycle", "retry",
        "executionListener", "taskListener", "executionListeners", "taskListeners", "formData",
        "formProperty", "in", "out", "script", "taskDefinition", "taskHeaders", "ioMapping",
        "calledDecision", "calledElement", "assignmentDefinition", "taskSchedule",
        "priorityDefinition", "formDefinition",
    )
)  # fmt: skip


def says_binding(key: str) -> bool:
    """Whether extension data under this key (`@{ns}class`, `{ns}field`) says what a binding that
    was read from it says."""
    namespace, _, local = key.removeprefix("@").removeprefix("{").rpartition("}")
    if namespace in ENGINES:
        return local in _ENGINE_NAMES
    return namespace == _BPMN and local in PERFORMERS


def without_binding(extra: Extra) -> Extra:
    """Extension data but for what says what does a task, of an engine or in BPMN's own words: what
    goes when the task gets another binding."""
    own = [f"@{{{_BPMN}}}{name}" for name in ("implementation", "operationRef", "scriptFormat")]
    gone = (*own, f"{{{_BPMN}}}script")
    return tuple((k, v) for k, v in extra if k not in gone and not says_binding(k))
