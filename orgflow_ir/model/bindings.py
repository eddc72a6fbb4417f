"""The implementation of a task as stated in the source: one class for each kind, distinguished by
`kind`.

Texts are taken from the source unchanged. They may be templates or expressions of its language
(`${url}`, `=order.id`), which are not evaluated here. Vendor settings without a field are in
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
    """A value passed to the implementation of a task (`inputs`) or returned by it (`outputs`).

    `name` is the variable that is set, `text` the expression or constant. `language` is the
    vendor's (`feel`, `juel`, the language of a script), `variable` if the text is the name of one,
    `constant` if it is the value, `list` or `map` if it lists the entries of one, one per line,
    `nested` if these have more parts, and `None` if the source does not state it.
    """

    name: str
    text: str = ""
    language: str | None = None

    @property
    def variable(self) -> str:
        """The variable that it sets; for a Camunda 8 target such as `order.ok`, the whole
        variable."""
        return self.name.partition(".")[0] if self.language == "feel" else self.name


class Listener(Value):
    """Code that an engine calls when it enters or leaves a task: `by` is the kind of reference
    (`class`, `expression`, `script`, …), `target` its name or code, `language` the language of a
    script. `parameters` are the injected fields of a class (Camunda 7, Flowable) and the headers
    and retries of a job (Camunda 8). `engine` is `flowable`, `activiti` or `jbpm` if the listener
    is in their vocabulary: they call listeners in another order than Camunda 7."""

    event: str = ""
    by: str = ""
    target: str = ""
    language: str | None = None
    engine: str | None = None
    parameters: Pairs = field(default=(), metadata={"exclude_if": _is_empty})


ENTRY_SCRIPT, EXIT_SCRIPT = "onEntry-script", "onExit-script"
"""Names of jBPM's extension elements with code that it executes before and after an activity."""

LISTENER_RESULT = "resultVariable"
"""The parameter of a script listener that names the variable for its value."""

LISTENERS = (
    "executionListener", "taskListener", "executionListeners", "taskListeners",
    ENTRY_SCRIPT, EXIT_SCRIPT,
)  # fmt: skip
"""Names of extension elements that are listeners."""


def is_listener(key: str) -> bool:
    """Whether a key of extension data (`Extra`) contains listeners."""
    return key.endswith(("istener", "isteners", "-script")) and key.rpartition("}")[2] in LISTENERS


def listener_data(extra: Extra) -> Extra:
    """The listeners in extension data."""
    return tuple((key, text) for key, text in extra if is_listener(key))


PART = "part"
"""The constraint of a field whose answer is a part of a variable: the names on the way to it, with
points between."""


class Field(Value):
    """A field of a form. `type` is the vendor's term (`string`, `boolean`, `enum`, `date` …)."""

    name: str
    label: str = ""
    type: str = ""
    default: str | None = None
    required: bool = False
    values: Pairs = field(default=(), metadata={"exclude_if": _is_empty})
    constraints: Pairs = field(default=(), metadata={"exclude_if": _is_empty})

    @property
    def path(self) -> tuple[str, ...]:
        """The variable that its answer becomes, and the names of the part where it is one."""
        part = dict(self.constraints).get(PART)
        return tuple(part.split(".")) if part else (self.name,)

    @property
    def is_read_only(self) -> bool:
        """Whether it only shows a value."""
        constraints = dict(self.constraints)
        return constraints.get("readonly") in ("", "true") or constraints.get("writable") == "false"


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
"""Flowable's setting that determines whether plain assignments of a script set process
variables."""


_STORING = ("flowable", "activiti")
"""Engines that read `autoStoreVariables`."""


class Script(_Binding):
    """Code; `language` is the name in the source, `resource` a file that contains the code. `by` is
    the engine that runs it, as in `Dialect.engine`, if the source shows it: it determines which
    variables assignments set."""

    kind: Literal["script"] = "script"
    by: str | None = None
    language: str | None = None
    code: str | None = None
    resource: str | None = None

    @property
    def stores(self) -> bool | None:
        """Whether plain assignments set process variables; `None` if nothing states it. Of
        engines, only Flowable and Activiti store them, if their attribute is set."""
        setting = dict(self.parameters).get(AUTO_STORE)
        if self.by is None and setting is None:
            return None
        reads = self.by is None or self.by in _STORING
        return reads and setting is not None and setting.strip().lower() == "true"


class Decision(_Binding):
    """A decision table or rule set by its id; `mapping` is the conversion of its result to one
    value in Camunda 7's terms, or `variables` if each output becomes a variable (Flowable)."""

    kind: Literal["decision"] = "decision"
    decision: str | None = None
    version: str | None = None
    mapping: str | None = None


class Worker(_Binding):
    """A named implementation that only its owner has.

    `by` is the kind of the name: `class`, `delegate`, `expression`, `topic`, `job`, `handler`,
    `connector`, `type`, `operation` (of a BPMN interface), `implementation`, `process` (one that is
    called and not in the model), `n8n` (a node of an existing workflow: `target` is `type@version`,
    `parameters` are those of the node, each as JSON), or `catalogue` (an operation that a task was
    filled
    with: `target` is `backend:type@version`, `parameters` are constants as JSON, `inputs` are named
    by the path of a parameter, with an empty text if its value is not known yet); empty if the
    source has settings but names no implementation. `code` is the code that it runs, if the source
    contains it.
    """

    kind: Literal["worker"] = "worker"
    by: str = ""
    target: str | None = None
    code: str | None = None


class Mail(_Binding):
    """An email; several addresses are one text, separated as in the source. `by` is the
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
    """The call of another process: `all_variables` passes every variable, `all_results` returns
    every variable of the called process. `by` is the engine, as in `Dialect.engine`; it passes and
    returns only what is stated here. If the source states nothing, not even an engine, all
    variables are passed and returned."""

    kind: Literal["call"] = "call"
    by: str | None = None
    process: str | None = None
    version: str | None = None
    business_key: str | None = None
    all_variables: bool = False
    all_results: bool = False


class Form(_Binding):
    """The performers, due date and form of a user task."""

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
"""Names of the code and message of an error in the mappings of the event that catches it."""

HANDLERS = ("httpRequestHandler", "httpResponseHandler")
"""Elements of Flowable with code that changes a request before it is sent, or its response."""
MAPPED_FAILURE = "mapException"
"""The element of Flowable that makes an exception an error of the process."""

CATALOGUE = "catalogue"
"""`by` of workers that are operations of a target's catalogue."""

ACCOUNTS = "@accounts"
"""The parameter of such a worker that lists the kinds of credentials; it needs one of them."""

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
        "inputOutput", "connector", "field", "failedJobRetryTimeCycle", "retry", *HANDLERS,
        *LISTENERS, "formData",
        "formProperty", "in", "out", "script", "taskDefinition", "taskHeaders", "ioMapping",
        "calledDecision", "calledElement", "assignmentDefinition", "taskSchedule",
        "priorityDefinition", "formDefinition",
    )
)  # fmt: skip


def says_binding(key: str) -> bool:
    """Whether the binding read from extension data contains the content of this key (`@{ns}class`,
    `{ns}field`)."""
    namespace, _, local = key.removeprefix("@").removeprefix("{").rpartition("}")
    if namespace in ENGINES:
        return local in _ENGINE_NAMES
    return namespace == _BPMN and local in PERFORMERS


def without_binding(extra: Extra) -> Extra:
    """Extension data without the definition of the task's implementation, by an engine or in BPMN's
    own terms; that part is removed when the task gets another binding."""
    own = [f"@{{{_BPMN}}}{name}" for name in ("implementation", "operationRef", "scriptFormat")]
    gone = (*own, f"{{{_BPMN}}}script")
    return tuple((k, v) for k, v in extra if k not in gone and not says_binding(k))
