"""The implementation of a task: BPMN's own attributes and the extensions of engines, as typed
bindings.

One table per vendor, by namespace, so that prefixes do not matter: Camunda 7, Activiti, Flowable
and Operaton share a vocabulary, Zeebe (Camunda 8) and jBPM (Drools) have their own. Everything read
here also stays in the element's `extra` in its original form; data that no table contains are only
there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from orgflow.backends.bpmn.format import NO_BINDING, called_by
from orgflow.frontends.bpmn.bpmn_reading import Reading, describe_element
from orgflow.frontends.bpmn.own import own_extensions
from orgflow.frontends.bpmn.reading_rules import InvalidValue
from orgflow.frontends.bpmn.xml.bpmn_names import BPMN
from orgflow.frontends.xml.tree import XmlElement

from orgflow_ir.flow.control_flow.calls import variable_of
from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model.bindings import (
    AUTO_STORE,
    BINDINGS,
    ENGINES,
    ERROR_CODE,
    ERROR_MESSAGE,
    HANDLERS,
    MAPPED_FAILURE,
    PART,
    PERFORMERS,
    AnyBinding,
    Decision,
    Field,
    Form,
    Http,
    Mail,
    Parameter,
    Script,
    SubProcessCall,
    Worker,
)
from orgflow_ir.model.codec import from_json
from orgflow_ir.model.listener_data import field_text, read_listeners

if TYPE_CHECKING:
    from orgflow.frontends.bpmn import forms
else:  # forms only
    forms = LazyModule("orgflow.frontends.bpmn.forms")

ACTIVITI, ZEEBE, DROOLS = "activiti", "zeebe", "drools"
_DOERS = (("class", "class"), ("delegateExpression", "delegate"), ("expression", "expression"))
"""Attributes by which the Activiti family names code, and `Worker.by`."""

_FLOWABLE_HTTP = {"requestUrl": "url", "requestMethod": "method", "requestBody": "body"}
_NAMED_MAIL = {
    "from": "sender", "to": "to", "cc": "cc", "bcc": "bcc", "subject": "subject", "text": "text",
    "html": "html",
}  # fmt: skip
_C7_HTTP = {"url": "url", "method": "method", "payload": "body"}
_ZEEBE_HTTP = {"url": "url", "method": "method", "body": "body"}
_DROOLS_HTTP = {"Url": "url", "Method": "method", "ContentData": "body"}
_DROOLS_MAIL = {"From": "sender", "To": "to", "Cc": "cc", "Bcc": "bcc", "Subject": "subject",
                "Body": "html"}  # fmt: skip
_JOB_HTTP = "io.camunda:http-json"
_JOB_MAILS = ("io.camunda:sendgrid", "io.camunda:email")
_ZEEBE_MAIL = {
    "from": "sender", "from.email": "sender", "to": "to", "to.email": "to", "cc": "cc",
    "bcc": "bcc", "subject": "subject", "content.subject": "subject", "body": "text",
    "content.value": "text", "data.smtpAction.from": "sender", "data.smtpAction.to": "to",
    "data.smtpAction.cc": "cc", "data.smtpAction.bcc": "bcc",
    "data.smtpAction.subject": "subject", "data.smtpAction.body": "text",
    "data.smtpAction.htmlBody": "html",
}  # fmt: skip
_FORM_ATTRIBUTES = {
    "assignee": "assignee", "candidateUsers": "candidate_users",
    "candidateGroups": "candidate_groups", "dueDate": "due", "followUpDate": "follow_up",
    "priority": "priority",
}  # fmt: skip
_FORM_SETTINGS = (
    "formRefBinding", "formRefVersion", "formHandlerClass", "category", "skipExpression",
    "businessCalendarName", "class", "delegateExpression", "expression", "type",
)  # fmt: skip
_DROOLS_FORM = {
    "ActorId": "assignee", "GroupId": "candidate_groups", "Priority": "priority",
    "TaskName": "form",
}  # fmt: skip


class _Source:
    """What vendors say of one element and its parts: attributes and extension elements."""

    def __init__(self, node: XmlElement, *parts: XmlElement) -> None:
        self.node = node
        self.attributes: dict[tuple[str, str], str] = {}
        self.elements: list[tuple[str, XmlElement]] = []
        for element in (node, *parts):
            self._add_extensions(element)

    def _add_extensions(self, node: XmlElement) -> None:
        for key, value in node.attrs.items():
            if ":" in key and not key.startswith("xmlns"):
                ns, local = node.scope.attribute_name(key)
                if ns in ENGINES:
                    self.attributes[ENGINES[ns], local] = value
        for extensions in node.children:
            if extensions.local == "extensionElements" and extensions.ns == BPMN:
                self.elements += [
                    (ENGINES[c.ns], c) for c in extensions.children if c.ns in ENGINES
                ]

    @property
    def empty(self) -> bool:
        """Whether no vendor says anything."""
        return not self.attributes and not self.elements

    def attribute(self, vendor: str, name: str) -> str | None:
        """An attribute of the task."""
        return self.attributes.get((vendor, name))

    def all(self, vendor: str, name: str) -> list[XmlElement]:
        """Extension elements of a name."""
        return [e for v, e in self.elements if v == vendor and e.local == name]

    def first(self, vendor: str, name: str) -> XmlElement | None:
        """The first extension element of a name."""
        return next(iter(self.all(vendor, name)), None)

    def settings(self, vendor: str, *names: str) -> tuple[tuple[str, str], ...]:
        """Those of the attributes that are there, under their own names."""
        values = ((name, self.attribute(vendor, name)) for name in names)
        return tuple((name, text) for name, text in values if text is not None)


def read_binding(
    r: Reading, node: XmlElement, plain: AnyBinding | None
) -> tuple[AnyBinding | None, bool]:
    """The implementation of a task or the call of an activity, and whether it comes from an
    engine's extensions; `plain` comes from BPMN's own attributes.

    orgflow's own element takes precedence over the engines' extensions, and these over BPMN's own
    attributes.
    """
    own = _read_own(r, node) if node.children else None
    if own is not None:
        return own, False
    if node.local == "userTask":
        form = _read_user_task(r, node)
        return (form, True) if form is not None else (plain, False)
    source = _Source(node) if _has_extensions(node) else None
    if source is None or source.empty:
        return plain, False
    args = _read_common(source)
    inputs = _data_inputs(node) if any(v == DROOLS for v, _ in source.attributes) else ()
    if node.local == "callActivity":
        return _read_call(source, args), True
    for read in (_read_zeebe, _read_drools, _read_activiti):
        binding = read(source, args, inputs)
        if binding is not None:
            return binding, True
    if node.local == "scriptTask" and (given := tuple(_given_parameters(source))):
        args["inputs"] = (*args.get("inputs", ()), *given)
    if node.local == "scriptTask" and (setting := source.settings(ACTIVITI, AUTO_STORE)):
        args["parameters"] = setting
    if not args and not inputs:
        return plain, False
    if inputs:
        args["inputs"] = (*args.get("inputs", ()), *inputs)
    return (plain.replace(**args) if plain is not None else Worker(**args)), False


def _read_user_task(r: Reading, node: XmlElement) -> Form | None:
    """The form of a user task; `None` where neither extensions nor data nor performers state
    anything about it."""
    performers = _read_performers(r, node)
    data = _is_jbpm(r) and _has_data(node)
    if not performers and not data and not _has_extensions(node):
        return None
    source = _Source(node)
    if source.empty and not performers and not data:
        return None
    says = data or any(v == DROOLS for v, _ in source.attributes)
    inputs = _data_inputs(node) if says else ()
    return _read_form(r, source, _read_common(source), performers, inputs)


def _is_jbpm(r: Reading) -> bool:
    return r.dialect is not None and r.dialect.engine == "jbpm"


def _has_data(node: XmlElement) -> bool:
    """Whether a task has data inputs or outputs that variables are assigned to or from."""
    names = ("dataInputAssociation", "dataOutputAssociation")
    return any(child.local in names and child.ns == BPMN for child in node.children)


def read_call_binding(r: Reading, node: XmlElement) -> AnyBinding | None:
    """How an activity calls another process: as stated, otherwise by the default of the file's
    engine (`called_by`). In jBPM the data associations of BPMN are the mappings."""
    binding, _ = read_binding(r, node, None)
    if r.dialect is None or next(own_extensions(node, "binding"), None) is not None:
        return binding
    engine = r.dialect.engine
    if binding is None:
        binding = called_by(engine)
    if not isinstance(binding, SubProcessCall):
        return binding
    if engine == "jbpm":
        inputs = (*binding.inputs, *_data_inputs(node))
        outputs = (*binding.outputs, *_data_outputs(node))
        binding = binding.replace(inputs=inputs, outputs=outputs)
    return binding.replace(by=engine)


def read_sending(r: Reading, node: XmlElement, definition: XmlElement) -> AnyBinding | None:
    """The implementation that sends the message of a throw or end event: in the Activiti family it
    is in the event definition, in Zeebe in the event."""
    own = _read_own(r, node)
    if own is not None or not (_has_extensions(node) or _has_extensions(definition)):
        return own
    source = _Source(node, definition)
    if source.empty:
        return None
    args = _read_common(source)
    for read in (_read_zeebe, _read_activiti):
        binding = read(source, args, ())
        if binding is not None:
            return binding
    return Worker(**args) if args else None


def read_catching(r: Reading, node: XmlElement) -> AnyBinding | None:
    """The use of a caught event's payload: its output mappings."""
    own = _read_own(r, node)
    if own is not None or not _has_extensions(node):
        return own
    outputs = _read_common(_Source(node)).get("outputs")
    return Worker(outputs=outputs) if outputs else None


def read_catching_error(r: Reading, node: XmlElement, definition: XmlElement) -> AnyBinding | None:
    """The use of a caught error: variables for its code and its message, and output mappings."""
    own = _read_own(r, node)
    if own is not None or not (_has_extensions(node) or _has_extensions(definition)):
        return own
    source = _Source(node, definition)
    outputs = tuple(
        Parameter(name=name, text=text, language="variable")
        for attribute, text in _OF_ERRORS
        if (name := source.attribute(ACTIVITI, attribute))
    )
    outputs += _read_common(source).get("outputs", ())
    return Worker(outputs=outputs) if outputs else None


def read_start_form(r: Reading, node: XmlElement) -> AnyBinding | None:
    """The form that starts a process at a none start event."""
    own = _read_own(r, node)
    if own is not None or not _has_extensions(node):
        return own
    source = _Source(node)
    return None if source.empty else _read_form(r, source, {}, {}, ())


_OF_ERRORS = (
    ("errorCodeVariable", ERROR_CODE), ("errorVariableName", ERROR_CODE),
    ("errorMessageVariable", ERROR_MESSAGE),
)  # fmt: skip
"""Attributes of Camunda 7 and Flowable that name variables for parts of an error."""


def read_script(node: XmlElement) -> Script | None:
    """The script of a script task in BPMN's own attributes."""
    scripts = [c for c in node.children if c.local == "script" and c.ns == BPMN]
    language = node.attrs.get("scriptFormat")
    if not scripts and language is None:
        return None
    return Script(language=language, code=scripts[0].text if scripts else None)


def _has_extensions(node: XmlElement) -> bool:
    """Whether there is anything in another namespace; nearly always there is not."""
    for key in node.attrs:
        if ":" in key:
            return True
    return any(c.local == "extensionElements" for c in node.children)


def _read_own(r: Reading, node: XmlElement) -> AnyBinding | None:
    """A binding that BPMN has no attributes for: an element of our own (`backends/bpmn`)."""
    child = next(own_extensions(node, "binding"), None)
    return None if child is None else _from_own(r, child)


def _from_own(r: Reading, child: XmlElement) -> AnyBinding | None:
    kind = child.attrs.get("kind", "")
    if kind == NO_BINDING:
        return None
    if kind in BINDINGS and child.text.strip():
        try:
            return from_json(BINDINGS[kind], child.text)
        except ValueError as error:
            r.report(
                InvalidValue,
                f"the binding of {describe_element(child)} cannot be read: "
                f"{str(error).splitlines()[0]}",
                child,
                help="use the form that orgflow writes, or remove the element",
            )
            return None
    texts = [c.text for c in child.children if c.local == "text"]
    text, target = texts[0] if texts else None, child.attrs.get("target")
    parameters = tuple(
        (c.attrs.get("name", ""), c.text) for c in child.children if c.local == "parameter"
    )
    if kind == "script":
        return Script(language=target, code=text, parameters=parameters)
    return Worker(by=kind, target=target, code=text, parameters=parameters)


def _read_common(source: _Source) -> dict[str, Any]:
    """What every binding may have; only what is there."""
    inputs: list[Parameter] = []
    outputs: list[Parameter] = []
    for group in source.all(ACTIVITI, "inputOutput"):
        inputs += _read_parameters(group, "inputParameter")
        outputs += _read_parameters(group, "outputParameter")
    for group in source.all(ZEEBE, "ioMapping"):
        inputs += _read_mappings(group.children, "input")
        outputs += _read_mappings(group.children, "output")
    common_parts: dict[str, Any] = {
        "inputs": tuple(inputs),
        "outputs": tuple(outputs),
        "result": source.attribute(ACTIVITI, "resultVariable")
        or source.attribute(ACTIVITI, "resultVariableName"),
        "listeners": tuple(read_listeners(element for _, element in source.elements)),
        "retries": _read_retries(source),
    }
    return {name: value for name, value in common_parts.items() if value}


def _read_retries(source: _Source) -> str | None:
    for name in ("failedJobRetryTimeCycle", "retry"):
        element = source.first(ACTIVITI, name)
        if element is not None and element.text.strip():
            return element.text.strip()
    definition = source.first(ZEEBE, "taskDefinition")
    return definition.attrs.get("retries") if definition is not None else None


def _read_parameters(group: XmlElement, local: str) -> Iterator[Parameter]:
    """Camunda 7's parameters: text, a script, a list or a map."""
    for child in group.children:
        if child.local == local:
            script = next((c for c in child.children if c.local == "script"), None)
            language = script.attrs.get("scriptFormat") if script is not None else None
            text = script.text if script is not None else _read_content(child)
            kind = child.children[0].local if child.children else ""
            if kind in ("list", "map") and _shows_entries(child.children[0]):
                language = kind
            elif kind in ("list", "map"):
                text = json.dumps(_read_structure(child.children[0]), ensure_ascii=False)
                language = "nested"
            yield Parameter(name=child.attrs.get("name", ""), text=text, language=language)


def _shows_entries(element: XmlElement) -> bool:
    """Whether the lines of a list or map show its entries: texts of a line each."""
    return all(
        not child.children
        and child.text.strip()
        and "\n" not in child.text.strip()
        and ": " not in child.attrs.get("key", "")
        for child in element.children
    )


def _read_structure(element: XmlElement) -> object:
    """A list or map of a parameter, or something in one, as JSON: a text, null where there is none,
    `{"list": […]}`, `{"map": [[key, …], …]}` or `{"script": text, "language": name}`."""
    if element.local == "list":
        return {"list": [_read_structure(child) for child in element.children]}
    if element.local == "map":
        return {"map": [[c.attrs.get("key", ""), _read_structure(c)] for c in element.children]}
    if element.local == "script":
        return {"script": element.text, "language": element.attrs.get("scriptFormat", "")}
    if element.children:
        return _read_structure(element.children[0])
    return element.text.strip() or None


def _read_content(element: XmlElement) -> str:
    """Text, or the entries of a map or list, one a line."""
    if not element.children:
        return element.text.strip()
    lines = []
    for child in element.children:
        key = child.attrs.get("key")
        lines.append(f"{key}: {_read_content(child)}" if key is not None else _read_content(child))
    return "\n".join(line for line in lines if line) or element.text.strip()


def _read_mappings(children: list[XmlElement], local: str) -> Iterator[Parameter]:
    """Zeebe's `source`, a FEEL expression with `=` or a constant, and `target`."""
    for child in children:
        if child.local == local:
            text = child.attrs.get("source", "")
            yield Parameter(
                name=child.attrs.get("target", ""),
                text=text,
                language="feel" if text.startswith("=") else None,
            )


def _read_activiti(
    source: _Source, common: dict[str, Any], inputs: tuple[Parameter, ...]
) -> AnyBinding | None:
    """Camunda 7, Activiti, Flowable: an attribute names what does it, fields configure it."""
    settings = _read_fields(source)
    kind = source.attribute(ACTIVITI, "type")
    connector = source.first(ACTIVITI, "connector")
    decision = source.attribute(ACTIVITI, "decisionRef")
    if decision is not None or kind == "dmn":
        return _read_decision(source, common, decision, settings)
    if connector is not None:
        return _read_connector(connector, common)
    if kind == "http":
        headers = _header_lines(settings.pop("requestHeaders", ""))
        result = settings.pop("responseVariableName", None)
        settings.update(_settings_beside(source))
        return _build_http(
            "flowable", settings, _FLOWABLE_HTTP, common, headers=headers, result=result
        )
    if kind == "mail":
        return _build_mail("flowable", settings, _NAMED_MAIL, common)
    parameters = tuple(settings.items())
    for name, by in _DOERS:
        target = source.attribute(ACTIVITI, name)
        if target is not None:
            return Worker(by=by, target=target, **common, parameters=parameters)
    if kind is not None:
        topic = source.attribute(ACTIVITI, "topic")
        by, target = ("topic", topic) if topic is not None else ("type", kind)
        event = source.first(ACTIVITI, "eventType") if kind == "send-event" else None
        if event is not None and event.text.strip():
            target = f"{kind} {event.text.strip()}"
            given = tuple(_event_inputs(source))
            if given:
                common = {**common, "inputs": (*common.get("inputs", ()), *given)}
        parameters += source.settings(ACTIVITI, "taskPriority")
        return Worker(by=by, target=target, **common, parameters=parameters)
    resource = source.attribute(ACTIVITI, "resource")
    if resource is not None and source.node.local == "scriptTask":
        script = read_script(source.node) or Script()
        return script.replace(resource=resource, **common)
    return None


def _read_decision(
    source: _Source, common: dict[str, Any], decision: str | None, settings: dict[str, str]
) -> Decision:
    reference = settings.pop("decisionTableReferenceKey", None)
    version = source.attribute(ACTIVITI, "decisionRefVersion")
    return Decision(
        decision=decision or reference,
        version=version or source.attribute(ACTIVITI, "decisionRefBinding"),
        mapping=source.attribute(ACTIVITI, "mapDecisionResult")
        or ("resultList" if decision is not None else "variables"),
        **common,
        parameters=tuple(settings.items()),
    )


def _read_connector(connector: XmlElement, common: dict[str, Any]) -> AnyBinding:
    """Camunda 7's connectors: an id, and mappings of their own."""
    name = next((c.text.strip() for c in connector.children if c.local == "connectorId"), "")
    inputs: list[Parameter] = []
    outputs: list[Parameter] = []
    for group in connector.children:
        if group.local == "inputOutput":
            inputs += _read_parameters(group, "inputParameter")
            outputs += _read_parameters(group, "outputParameter")
    common = {**common, "outputs": (*common.get("outputs", ()), *outputs)}
    if name in ("http-connector", "soap-http-connector", "mail-send"):
        texts = () if name == "mail-send" else _C7_HTTP
        values = {
            p.name: p.text
            for p in inputs
            if p.language is None or (p.language == "map" and p.name not in texts)
        }
        scripts = tuple(p for p in inputs if p.name not in values)
        if scripts:
            common["inputs"] = (*common.get("inputs", ()), *scripts)
        if name == "mail-send":
            return _build_mail("camunda", values, _NAMED_MAIL, common)
        headers = _header_lines(values.pop("headers", ""))
        if name == "soap-http-connector":
            values.setdefault("method", "POST")
            headers = _soap_headers(headers)
        return _build_http("camunda", values, _C7_HTTP, common, headers=headers)
    common["inputs"] = (*common.get("inputs", ()), *inputs)
    return Worker(by="connector", target=name, **common)


def _soap_headers(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Headers of a SOAP request; a message of SOAP 1.1 is `text/xml` where nothing else is said."""
    if any(name.lower() == "content-type" for name, _ in headers):
        return headers
    return (*headers, ("Content-Type", "text/xml; charset=utf-8"))


def _build_http(
    by: str,
    settings: dict[str, str],
    names: dict[str, str],
    common: dict[str, Any],
    *,
    headers: tuple[tuple[str, str], ...] = (),
    result: str | None = None,
    query: tuple[tuple[str, str], ...] = (),
    authentication: tuple[tuple[str, str], ...] = (),
) -> Http:
    known: dict[str, Any] = {names[k]: v for k, v in settings.items() if k in names}
    rest = tuple((k, v) for k, v in settings.items() if k not in names)
    if result:
        common = {**common, "result": result}
    return Http(by=by, **known, headers=headers, query=query, authentication=authentication,
        **{**common, "parameters": (*common.get("parameters", ()), *rest)},
    )  # fmt: skip


def _build_mail(
    by: str, settings: dict[str, str], names: dict[str, str], common: dict[str, Any]
) -> Mail:
    known: dict[str, Any] = {names[k]: v for k, v in settings.items() if k in names}
    rest = tuple((k, v) for k, v in settings.items() if k not in names)
    return Mail(by=by, **known, **{**common, "parameters": (*common.get("parameters", ()), *rest)})


def _header_lines(text: str) -> tuple[tuple[str, str], ...]:
    """`Name: value` lines."""
    pairs = (line.partition(":") for line in text.splitlines() if line.strip())
    return tuple((name.strip(), value.strip()) for name, _, value in pairs)


def _read_fields(source: _Source) -> dict[str, str]:
    """Injected fields, which Flowable's own tasks take their settings from."""
    fields_read = {}
    for element in source.all(ACTIVITI, "field"):
        fields_read[element.attrs.get("name", "")] = field_text(element)
    return fields_read


def _given_parameters(source: _Source) -> Iterator[Parameter]:
    """What Flowable gives to a script: variables and expressions, by their names there."""
    for element in source.all(ACTIVITI, "in"):
        attrs = element.attrs
        if attrs.get("target") and attrs.get("source"):
            yield Parameter(name=attrs["target"], text=attrs["source"], language="variable")
        elif attrs.get("target") and attrs.get("sourceExpression"):
            yield Parameter(name=attrs["target"], text=attrs["sourceExpression"])


def _event_inputs(source: _Source) -> Iterator[Parameter]:
    """The payload of an event that Flowable sends: names, and constants or expressions."""
    for element in source.all(ACTIVITI, "eventInParameter"):
        text = element.attrs.get("source") or element.attrs.get("sourceExpression")
        if text and element.attrs.get("target"):
            yield Parameter(name=element.attrs["target"], text=text)


def _settings_beside(source: _Source) -> Iterator[tuple[str, str]]:
    """What changes a request or its response in Flowable and is no field of its task."""
    for name in (*HANDLERS, MAPPED_FAILURE):
        for element in source.all(ACTIVITI, name):
            code = next((c.text for c in element.children if c.local == "script"), "")
            words = (*element.attrs.values(), code or element.text)
            yield name, " ".join(" ".join(text.split()) for text in words if text.strip())


def _read_zeebe(
    source: _Source, common: dict[str, Any], inputs: tuple[Parameter, ...]
) -> AnyBinding | None:
    """Camunda 8: a job type with headers, a script or a decision."""
    script = source.first(ZEEBE, "script")
    if script is not None:
        if "resultVariable" in script.attrs:
            common = {**common, "result": script.attrs["resultVariable"]}
        return Script(language="feel", code=script.attrs.get("expression", ""), **common)
    called = source.first(ZEEBE, "calledDecision")
    if called is not None:
        if "resultVariable" in called.attrs:
            common = {**common, "result": called.attrs["resultVariable"]}
        return Decision(
            decision=called.attrs.get("decisionId"),
            version=called.attrs.get("versionTag") or called.attrs.get("bindingType"),
            **common,
        )
    definition = source.first(ZEEBE, "taskDefinition")
    if definition is None:
        return None
    job = definition.attrs.get("type", "")
    headers = tuple(
        (h.attrs.get("key", ""), h.attrs.get("value", ""))
        for group in source.all(ZEEBE, "taskHeaders")
        for h in group.children
    )
    if not job.startswith((_JOB_HTTP, *_JOB_MAILS)):
        return Worker(by="job", target=job, **common, parameters=headers)
    settings = {p.name: p.text for p in common.pop("inputs", ())}
    common = {**common, "parameters": headers}
    if job.startswith(_JOB_MAILS):
        html = "html" in settings.get("content.type", "").lower()
        names = {**_ZEEBE_MAIL, "content.value": "html"} if html else _ZEEBE_MAIL
        kind = settings.get("data.smtpAction.contentType", "PLAIN").strip('="').upper()
        unused = {"PLAIN": "data.smtpAction.htmlBody", "HTML": "data.smtpAction.body"}.get(kind)
        names = {name: field for name, field in names.items() if name != unused}
        return _build_mail("zeebe", settings, names, common)
    result = dict(headers).get("resultVariable")
    pick = {
        target: tuple((k.removeprefix(f"{target}."), settings.pop(k)) for k in list(settings)
                      if k.startswith(f"{target}."))
        for target in ("headers", "queryParameters", "authentication")
    }  # fmt: skip
    return _build_http(
        "zeebe", settings, _ZEEBE_HTTP, common, headers=pick["headers"],
        query=pick["queryParameters"],
        authentication=pick["authentication"], result=result,
    )  # fmt: skip


def _read_drools(
    source: _Source, common: dict[str, Any], inputs: tuple[Parameter, ...]
) -> AnyBinding | None:
    """jBPM: a work item handler by name, its settings as data inputs; a rule group."""
    group = source.attribute(DROOLS, "ruleFlowGroup")
    if group is not None:
        return Decision(decision=group, **{**common, "inputs": inputs})
    handler = source.attribute(DROOLS, "taskName")
    if handler is None:
        return None
    settings = {
        p.name: f"#{{{p.text}}}" if p.language == "variable" else p.text
        for p in inputs
        if p.name != "TaskName"
    }
    outputs = _data_outputs(source.node)
    if outputs:
        common = {**common, "outputs": (*common.get("outputs", ()), *outputs)}
    if handler == "Rest":
        pairs = (header.split("=") for header in settings.pop("Headers", "").split(";"))
        headers = tuple((p[0].strip(), p[1].strip()) for p in pairs if len(p) == 2)
        if "Content" in settings:  # the older name
            settings.setdefault("ContentData", settings.pop("Content"))
        auth = tuple((k, settings.pop(k)) for k in ("AuthType", "Username", "Password", "AuthUrl")
                     if k in settings)  # fmt: skip
        return _build_http(
            "jbpm", settings, _DROOLS_HTTP, common, headers=headers, authentication=auth
        )
    if handler == "Email":
        return _build_mail("jbpm", settings, _DROOLS_MAIL, common)
    rest = tuple(p for p in inputs if p.name != "TaskName")
    return Worker(by="handler", target=handler, **{**common, "inputs": rest})


def _data_names(node: XmlElement, kind: str) -> dict[str, str]:
    """Names by id of what an activity declares: `dataInput` or `dataOutput`."""
    return {
        data.attrs.get("id", ""): data.attrs.get("name", "")
        for io in node.children
        if io.local == "ioSpecification" and io.ns == BPMN
        for data in io.children
        if data.local == kind
    }


def _data_inputs(node: XmlElement) -> tuple[Parameter, ...]:
    """jBPM's settings: data inputs by name, each with the constant or variable assigned to it."""
    names = _data_names(node, "dataInput")
    inputs = []
    for association in node.children:
        if association.local != "dataInputAssociation" or association.ns != BPMN:
            continue
        parts = {c.local: c for c in association.children}
        target = parts["targetRef"].text.strip() if "targetRef" in parts else ""
        text = parts["sourceRef"].text.strip() if "sourceRef" in parts else None
        language = "variable" if text else None
        if "assignment" in parts:
            if text:  # it selects a part of the variable, and takes another language for that
                continue
            written = [c.text for c in parts["assignment"].children if c.local == "from"]
            text, language = (written[0], None) if written else (text, language)
        if text is not None and names.get(target):
            inputs.append(Parameter(name=names[target], text=text.strip(), language=language))
    return tuple(inputs)


def _data_outputs(node: XmlElement) -> tuple[Parameter, ...]:
    """jBPM's results: data outputs by name, each with the variable that it is assigned to."""
    names = _data_names(node, "dataOutput")
    outputs = []
    for association in node.children:
        if association.local != "dataOutputAssociation" or association.ns != BPMN:
            continue
        parts = {c.local: c for c in association.children}
        source = parts["sourceRef"].text.strip() if "sourceRef" in parts else ""
        target = parts["targetRef"].text.strip() if "targetRef" in parts else ""
        if target and names.get(source) and "assignment" not in parts:
            outputs.append(Parameter(name=target, text=names[source], language="variable"))
    return tuple(outputs)


def _read_performers(r: Reading, node: XmlElement) -> dict[str, str]:
    """Who does a user task, in BPMN's own words (BPMN 2.0.2, 10.3.2.3): an expression, or a
    resource of the document by its name."""
    performers: dict[str, str] = {}
    for child in node.children:
        if child.ns != BPMN or child.local not in PERFORMERS:
            continue
        texts = [e.text.strip() for e in child.descendants() if e.local == "formalExpression"]
        for reference in child.children:
            if reference.local == "resourceRef":
                resource = r.ids.get(reference.text.strip().rpartition(":")[2])
                name = resource.attrs.get("name", "") if resource is not None else ""
                texts.append(name or reference.text.strip())
        text = " ".join(texts).strip()
        if text:
            name = "candidate_groups" if child.local == "potentialOwner" else "assignee"
            performers[name] = f"{performers[name]}, {text}" if name in performers else text
    return performers


def _all_form_fields(r: Reading, source: _Source, form: str | None) -> tuple[Field, ...]:
    """The fields of a form: those in the task, else those of the form that it names."""
    fields = tuple(_form_fields(source))
    if fields or not form:
        return fields

    return forms.fields_of(r, form, source.node)


def _read_form(
    r: Reading,
    source: _Source,
    common: dict[str, Any],
    performers: dict[str, str],
    inputs: tuple[Parameter, ...],
) -> Form | None:
    """Assignment, form and dates of a user task, of all vendors at once."""
    parts: dict[str, Any] = dict(performers)
    for name, field in _FORM_ATTRIBUTES.items():
        text = source.attribute(ACTIVITI, name)
        if text is not None:
            parts[field] = text
    for element_name, names in _ZEEBE_FORMS.items():
        element = source.first(ZEEBE, element_name)
        if element is not None:
            parts |= {field: element.attrs[n] for n, field in names.items() if n in element.attrs}
    form = source.attribute(ACTIVITI, "formKey") or source.attribute(ACTIVITI, "formRef")
    if form is not None:
        parts["form"] = form
    fields = _all_form_fields(r, source, parts.get("form"))
    if fields:
        parts["fields"] = fields
    rest = []
    for parameter in inputs:
        if parameter.name in _DROOLS_FORM:
            parts.setdefault(_DROOLS_FORM[parameter.name], parameter.text)
        else:
            rest.append(parameter)
    settings = source.settings(ACTIVITI, *_FORM_SETTINGS)
    if _is_jbpm(r):
        given = dict(_fields_of_outputs(r, source.node))
        outputs = tuple(p for p in _data_outputs(source.node) if p.text in given)
        if outputs:
            parts.setdefault("fields", tuple(given.values()))
            common = {**common, "outputs": (*common.get("outputs", ()), *outputs)}
    if rest:
        common = {**common, "inputs": (*common.get("inputs", ()), *rest)}
    if settings:
        common = {**common, "parameters": settings}
    return Form(**parts, **common) if parts or common else None


_TYPED = (
    "String", "Object", "Integer", "Long", "Short", "Boolean", "Float", "Double", "BigDecimal",
    "Date",
)  # fmt: skip
"""Types of Java whose values a field of a form gives; those of other classes have parts."""


def _fields_of_outputs(r: Reading, node: XmlElement) -> Iterator[tuple[str, Field]]:
    """jBPM: the fields of the form of a task, which are its data outputs that become variables, by
    their names."""
    wanted = {p.text for p in _data_outputs(node)}
    for io in node.children:
        for data in io.children if io.local == "ioSpecification" and io.ns == BPMN else ():
            name = data.attrs.get("name", "")
            if data.local == "dataOutput" and name in wanted:
                kind = _java_type(r, data)
                if kind in _TYPED:
                    yield name, Field(name=name, type="" if kind == "Object" else kind)


def _java_type(r: Reading, data: XmlElement) -> str:
    """The class of the value of a data input or output, without its package."""
    item = r.ids.get(r.resolve(data.attrs.get("itemSubjectRef", "")) or "")
    structure = item.attrs.get("structureRef", "") if item is not None else ""
    stated = next((v for k, v in data.attrs.items() if k.endswith(":dtype")), "")
    return (structure or stated or "Object").rpartition(".")[2].strip()


_ZEEBE_FORMS: dict[str, dict[str, str]] = {
    "assignmentDefinition": {
        "assignee": "assignee", "candidateGroups": "candidate_groups",
        "candidateUsers": "candidate_users",
    },
    "taskSchedule": {"dueDate": "due", "followUpDate": "follow_up"},
    "priorityDefinition": {"priority": "priority"},
    "formDefinition": {"formId": "form", "formKey": "form", "externalReference": "form"},
}  # fmt: skip


def _form_fields(source: _Source) -> Iterator[Field]:
    """Camunda 7's `formData` and the older `formProperty`."""
    elements = [c for e in source.all(ACTIVITI, "formData") for c in e.children]
    for element in [*elements, *source.all(ACTIVITI, "formProperty")]:
        if element.local not in ("formField", "formProperty"):
            continue
        attributes = element.attrs
        constraints = [
            (c.attrs.get("name", ""), c.attrs.get("config", ""))
            for v in element.children if v.local == "validation" for c in v.children
        ]  # fmt: skip
        variable = attributes.get("variable", "") if element.local == "formProperty" else ""
        yield Field(name=variable if variable.isidentifier() else attributes.get("id", ""),
            label=attributes.get("label") or attributes.get("name") or "",
            type=attributes.get("type", ""),
            default=attributes.get("defaultValue") or attributes.get("default"),
            required=attributes.get("required") == "true"
            or any(name == "required" for name, _ in constraints),
            values=tuple(
                (c.attrs.get("id", ""), c.attrs.get("name", ""))
                for c in element.children if c.local == "value"
            ),
            constraints=(
                *(c for c in constraints if c[0] != "required"),
                *((n, "false") for n in ("writable",) if attributes.get(n) == "false"),
                *_shown_part(attributes.get("expression", "")),
            ),
        )  # fmt: skip


def _shown_part(expression: str) -> Iterator[tuple[str, str]]:
    """Flowable: the part of a variable that a form property shows and sets."""
    match = re.fullmatch(r"\s*[#$]\{\s*((?:[^\W\d]\w*\.)+[^\W\d]\w*)\s*\}\s*", expression)
    if match is not None:
        yield PART, match[1]


def _read_activiti_call(
    source: _Source, inputs: list[Parameter], outputs: list[Parameter]
) -> dict[str, Any]:
    """What `in` and `out` elements of a call say as a whole; single variables are added to the
    lists."""
    parts: dict[str, Any] = {}
    for element in source.all(ACTIVITI, "in"):
        if "businessKey" in element.attrs:
            parts["business_key"] = element.attrs["businessKey"]
        elif element.attrs.get("variables") == "all":
            parts["all_variables"] = True
        else:
            inputs.append(_call_parameter(element))
    for element in source.all(ACTIVITI, "out"):
        if element.attrs.get("variables") == "all":
            parts["all_results"] = True
        else:
            outputs.append(_call_parameter(element))
    return parts


def _read_call(source: _Source, common: dict[str, Any]) -> SubProcessCall | None:
    """How a process is called: what goes in and out, which version, by which key."""
    inputs, outputs = list(common.get("inputs", ())), list(common.get("outputs", ()))
    parts = _read_activiti_call(source, inputs, outputs)
    version = (source.attribute(ACTIVITI, "calledElementVersion")
               or source.attribute(ACTIVITI, "calledElementBinding"))  # fmt: skip
    called = source.first(ZEEBE, "calledElement")
    if called is not None:
        parts["process"] = called.attrs.get("processId")
        version = called.attrs.get("versionTag") or called.attrs.get("bindingType") or version
        # Camunda 8 hands over everything unless it is told not to; what comes back is limited by
        # output mappings as well.
        if called.attrs.get("propagateAllParentVariables") != "false":
            parts["all_variables"] = True
        if called.attrs.get("propagateAllChildVariables") != "false" and not outputs:
            parts["all_results"] = True
    if source.attribute(ACTIVITI, "inheritVariables") == "true":  # Flowable
        parts["all_variables"] = True
    if key := source.attribute(ACTIVITI, "businessKey"):
        parts["business_key"] = key
    if version:
        parts["version"] = version
    common = {**common, "inputs": tuple(inputs), "outputs": tuple(outputs)}
    common = {name: value for name, value in common.items() if value}
    settings = source.settings(
        ACTIVITI, "calledElementTenantId", "variableMappingClass",
        "variableMappingDelegateExpression", "inheritBusinessKey", "calledElementType",
        "useLocalScopeForOutParameters",
    )  # fmt: skip
    settings += source.settings(DROOLS, "waitForCompletion", "independent")
    if any(True for _ in source.all(ACTIVITI, "inputOutput")):
        settings += (("inputOutput", "true"),)
    if settings:
        common["parameters"] = settings
    return SubProcessCall(**parts, **common) if parts or common else None


def _call_parameter(element: XmlElement) -> Parameter:
    """One variable, by its name or computed. The text alone says which of them, but for odd ones:
    the name of a variable that looks like something else, and a constant that looks like a name."""
    attributes = element.attrs
    name = attributes.get("target", "")
    named, computed = attributes.get("source"), attributes.get("sourceExpression") or ""
    if named:
        odd = variable_of(named) is None
        return Parameter(name=name, text=named, language="variable" if odd else None)
    constant = variable_of(computed) == computed
    return Parameter(name=name, text=computed, language="constant" if constant else None)
