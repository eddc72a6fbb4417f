"""Flow nodes: tasks, call activities, events, gateways, and the loops of activities."""

from __future__ import annotations

from typing import Any

from orgflow.backends.bpmn.format import ITEM_END, LOOP_INPUT, run_by
from orgflow.frontends.bpmn.bindings import (
    read_binding,
    read_call_binding,
    read_catching,
    read_catching_error,
    read_script,
    read_sending,
    read_start_form,
)
from orgflow.frontends.bpmn.bpmn_reading import NAMED, NOTHING, Reading, describe_element
from orgflow.frontends.bpmn.own import is_empty, own_extensions
from orgflow.frontends.bpmn.reading_rules import (
    DetachedBoundaryEvent,
    InvalidValue,
    MisplacedElement,
    UnmodelledBehaviour,
)
from orgflow.frontends.bpmn.xml.bpmn_names import BPMN, EVENT_DEFINITIONS, EVENTS, GATEWAYS, TASKS
from orgflow.frontends.xml.tree import XmlElement

from orgflow_ir.model import (
    Event,
    EventDefinition,
    Expression,
    Loop,
)
from orgflow_ir.model.bindings import AnyBinding, Script, Worker

LOOPS = ("standardLoopCharacteristics", "multiInstanceLoopCharacteristics")
_FLOWS = frozenset(("incoming", "outgoing"))
ACTIVITY_CHILDREN = _FLOWS | {*LOOPS, "dataInputAssociation", "dataOutputAssociation"}
ACTIVITY_ATTRIBUTES = NAMED | {"isForCompensation", "default"}
_TASK_ATTRIBUTES: dict[str, frozenset[str]] = {
    "task": ACTIVITY_ATTRIBUTES,
    "manualTask": ACTIVITY_ATTRIBUTES,
    "userTask": ACTIVITY_ATTRIBUTES | {"implementation"},
    "businessRuleTask": ACTIVITY_ATTRIBUTES | {"implementation"},
    "serviceTask": ACTIVITY_ATTRIBUTES | {"implementation", "operationRef"},
    "scriptTask": ACTIVITY_ATTRIBUTES | {"scriptFormat"},
    "sendTask": ACTIVITY_ATTRIBUTES | {"implementation", "operationRef", "messageRef"},
    "receiveTask": ACTIVITY_ATTRIBUTES
    | {"implementation", "operationRef", "messageRef", "instantiate"},
}
_SCRIPT_CHILDREN = ACTIVITY_CHILDREN | {"script"}
_CALL_ATTRIBUTES = ACTIVITY_ATTRIBUTES | {"calledElement"}
_EVENT_CHILDREN = _FLOWS | {
    *EVENT_DEFINITIONS, "eventDefinitionRef", "dataInputAssociation", "dataOutputAssociation",
}  # fmt: skip
_EVENT_ATTRIBUTES: dict[str, frozenset[str]] = {
    "startEvent": NAMED | {"isInterrupting", "parallelMultiple"},
    "intermediateCatchEvent": NAMED | {"parallelMultiple"},
    "boundaryEvent": NAMED | {"cancelActivity", "attachedToRef", "parallelMultiple"},
    "intermediateThrowEvent": NAMED,
    "endEvent": NAMED,
}
_SENDING = ("intermediateThrowEvent", "endEvent")
_CATCHING = ("intermediateCatchEvent", "startEvent")
_CATCHING_ERRORS = ("boundaryEvent", "startEvent")
_GATEWAY_ATTRIBUTES: dict[str, frozenset[str]] = {
    "exclusiveGateway": NAMED | {"default"},
    "inclusiveGateway": NAMED | {"default"},
    "complexGateway": NAMED | {"default"},
    "parallelGateway": NAMED,
    "eventBasedGateway": NAMED | {"instantiate", "eventGatewayType"},
}
_GATEWAY_CHILDREN = _FLOWS
_COMPLEX_CHILDREN = _FLOWS | {"activationCondition"}


def read_task(r: Reading, node: XmlElement) -> dict[str, Any]:
    """Arguments of a task of any type (BPMN 2.0.2, 10.3.3)."""
    local = node.local
    children = _SCRIPT_CHILDREN if local == "scriptTask" else ACTIVITY_CHILDREN
    args = r.base(node, _TASK_ATTRIBUTES[local], children)
    args["task_type"] = task_type = TASKS[local]
    if local == "scriptTask":
        _keep_marked_up_script(r, node, args)
    can_bind = task_type != "abstract" and task_type != "manual"
    plain = _bpmn_binding(r, node) if can_bind else None
    binding, by_engine = read_binding(r, node, plain)
    engine = None if r.dialect is None else run_by(r.dialect.engine)
    own = next(own_extensions(node, "binding"), None) is not None
    if (
        engine is not None
        and isinstance(binding, Script)
        and binding.language != "feel"
        and not own
    ):
        binding = binding.replace(by=engine)
    if can_bind or binding is not None:
        args["binding"] = binding
    if by_engine or (own and isinstance(plain, Worker)):
        _keep_unsaid(r, node, plain, args)
    if can_bind:
        if "messageRef" in node.attrs and task_type in ("send", "receive"):
            args["message"] = r.ref(node, "messageRef")
            r.known(node, args["message"], None, "message")
        if task_type == "receive":
            args["instantiate"] = r.boolean(node, "instantiate", False)
    return activity_arguments(r, node, args)


def activity_arguments(r: Reading, node: XmlElement, args: dict[str, Any]) -> dict[str, Any]:
    """`args` with loop and compensation (BPMN 2.0.2, 10.3)."""
    if "isForCompensation" in node.attrs:
        args["for_compensation"] = r.boolean(node, "isForCompensation", False)
    for quantity in ("startQuantity", "completionQuantity"):
        if quantity in node.attrs:
            r.quantity(node, quantity)
    loops = [c for c in node.children if c.local in LOOPS and c.ns == BPMN]
    if loops:
        args["loop"] = _read_loop(r, loops[0], node)
        for other in loops[1:]:
            r.report(
                MisplacedElement,
                f"{describe_element(node)} has more than one loop",
                other,
                help="only the first one is used",
            )
            args["extra"] += ((other.tag, r.document.standalone(other)),)
    return args


def read_call(r: Reading, node: XmlElement) -> dict[str, Any]:
    """Arguments of a call activity; the called process may be in another file."""
    args = r.base(node, _CALL_ATTRIBUTES, ACTIVITY_CHILDREN)
    args["called"] = r.ref(node, "calledElement")
    args["binding"] = read_call_binding(r, node)
    return activity_arguments(r, node, args)


def own_opaque(node: XmlElement) -> XmlElement | None:
    """The indication that a task stands for a node that BPMN does not have."""
    return next(own_extensions(node, "opaque"), None)


def _bpmn_binding(r: Reading, node: XmlElement) -> AnyBinding | None:
    """What BPMN's own attributes say does a task."""
    implementation = node.attrs.get("implementation")
    operation = r.ref(node, "operationRef") if "operationRef" in node.attrs else None
    if node.local == "scriptTask":
        return read_script(node)
    if operation is not None and node.local in ("serviceTask", "sendTask", "receiveTask"):
        r.known(node, operation, None, "operation")
        parameters = (("implementation", implementation),) if implementation is not None else ()
        return Worker(by="operation", target=operation, parameters=parameters)
    if implementation is not None:
        return Worker(by="implementation", target=implementation)
    return None


def _keep_unsaid(
    r: Reading, node: XmlElement, plain: AnyBinding | None, args: dict[str, Any]
) -> None:
    """What BPMN's own attributes say and an engine's binding does not, kept as it is."""
    kept: list[tuple[str, str]] = []
    if isinstance(plain, Worker) and plain.target is not None:
        name = "operationRef" if plain.by == "operation" else "implementation"
        kept = [(f"@{{{BPMN}}}{key}", text) for key, text in plain.parameters]
        kept.append((f"@{{{BPMN}}}{name}", plain.target))
        args["extra"] = (*kept, *args["extra"])
    bound = args["binding"]
    replaced = not isinstance(bound, Script) or bound.code != getattr(plain, "code", None)
    if isinstance(plain, Script) and replaced:
        if plain.language is not None:
            args["extra"] = ((f"@{{{BPMN}}}scriptFormat", plain.language), *args["extra"])
        kept_keys = {key for key, _ in args["extra"]}
        args["extra"] += tuple(
            (c.tag, r.document.standalone(c))
            for c in node.children
            if c.local == "script" and c.ns == BPMN and c.tag not in kept_keys
        )


def _keep_marked_up_script(r: Reading, node: XmlElement, args: dict[str, Any]) -> None:
    scripts = [c for c in node.children if c.local == "script" and c.ns == BPMN]
    for number, script in enumerate(scripts):
        if number or script.children or script.attrs:
            args["extra"] += ((script.tag, r.document.standalone(script)),)


_LOOP_ATTRIBUTES = frozenset(("testBefore", "loopMaximum", "isSequential"))
_LOOP_CHILDREN = frozenset(
    ("loopCondition", "loopCardinality", "loopDataInputRef", "completionCondition")
)


def _read_loop(r: Reading, node: XmlElement, activity: XmlElement) -> Loop:
    _, extra = r.kept(node, _LOOP_ATTRIBUTES, _LOOP_CHILDREN)
    extra += _plain_documentation(r, node)
    if node.local == "standardLoopCharacteristics":
        condition, unread = single_expression(r, node, "loopCondition")
        return Loop(
            kind="standard",
            condition=condition,
            test_before=r.boolean(node, "testBefore", False),
            maximum=r.integer(node, "loopMaximum", None),
            extra=extra + unread,
        )
    cardinality, unread = single_expression(r, node, "loopCardinality")
    until, unread_until = single_expression(r, node, "completionCondition")
    events = [a for a in ("oneBehaviorEventRef", "noneBehaviorEventRef") if a in node.attrs]
    if events or any(c.local == "complexBehaviorDefinition" for c in node.children):
        r.report(
            UnmodelledBehaviour,
            "a multi-instance activity throws events as its instances complete; they are kept "
            "in the model but not thrown",
            node,
            help="model the effect, for example as an event after the activity",
        )
    collection = [c for c in node.children if c.local == "loopDataInputRef" and c.ns == BPMN]
    items = [c for c in node.children if c.local == "inputDataItem" and c.ns == BPMN]
    item = items[0].attrs.get("name") or items[0].attrs.get("id") if items else None
    named = r.resolve(collection[0].text) if collection else None
    given = _given_to(r, activity, named) if collection else None
    if named is not None and given != named:  # the writer writes what the file refers to
        extra = (*extra, (LOOP_INPUT, named))
    if len(items) == 1 and _is_made_item(items[0]):
        extra = tuple(pair for pair in extra if pair[0] != items[0].tag)
    return Loop(
        kind="multi-instance",
        sequential=r.boolean(node, "isSequential", False),
        cardinality=cardinality,
        collection=r.own(node).get("collection") or given,
        item=item,
        until=until,
        extra=extra + unread + unread_until,
    )


def _given_to(r: Reading, activity: XmlElement, data: str | None) -> str | None:
    """The source of a data input of an activity, which a list of instances refers to; the reference
    itself if it is none."""
    for association in activity.children:
        if association.local == "dataInputAssociation" and association.ns == BPMN:
            parts = {c.local: c.text for c in association.children}
            whole = parts.keys() == {"sourceRef", "targetRef"}
            if whole and r.resolve(parts["targetRef"]) == data:
                return r.resolve(parts["sourceRef"])
    return data


def _is_made_item(node: XmlElement) -> bool:
    """Whether an item is only there to have its name."""
    is_generated = node.attrs.keys() == {"id", "name"} and node.attrs["id"].endswith(ITEM_END)
    return is_generated and not node.children


def _plain_documentation(r: Reading, node: XmlElement) -> tuple[tuple[str, str], ...]:
    """The first documentation, verbatim, for values that have no field for it."""
    docs = [c for c in node.children if c.local == "documentation" and c.ns == BPMN][:1]
    return tuple((d.tag, r.document.standalone(d)) for d in docs if not d.attrs and not d.children)


def single_expression(
    r: Reading, node: XmlElement, local: str, *, blank: bool = False
) -> tuple[Expression | None, tuple[tuple[str, str], ...]]:
    """The expression in the child `local`, and its remaining content as kept data; an empty one
    counts only if `blank`."""
    expressions = [c for c in node.children if c.local == local and c.ns == BPMN]
    if not expressions:
        return None, ()
    value = r.expression(expressions[0], blank=blank)
    rest = expressions if value is None else expressions[1:]
    if len(expressions) > 1:
        r.report(
            InvalidValue,
            f"{describe_element(node)} has more than one `{local}`",
            expressions[1],
            of=node,
            help="only the first one is used",
        )
    return value, tuple((c.tag, r.document.standalone(c)) for c in rest)


def _definition_elements(r: Reading, node: XmlElement, args: dict[str, Any]) -> list[XmlElement]:
    """The definitions inside an event, and those of the document that it refers to. A reference to
    nothing is reported and kept in `args`."""
    elements: list[XmlElement] = []
    for child in node.children:
        if child.ns != BPMN:
            continue
        if child.local in EVENT_DEFINITIONS:
            elements.append(child)
        elif child.local == "eventDefinitionRef":
            name = r.resolve(child.text)
            target = r.event_definitions.get(name or "")
            if target is None:
                r.known(node, name, r.event_definitions, "event definition")
                args["extra"] += ((child.tag, r.document.standalone(child)),)
            else:
                r.used_definitions.add(name or "")
                elements.append(target)
    return elements


def read_event(r: Reading, node: XmlElement) -> dict[str, Any]:
    """Arguments of a start, intermediate, boundary or end event (BPMN 2.0.2, 10.5)."""
    local = node.local
    args = r.base(node, _EVENT_ATTRIBUTES[local], _EVENT_CHILDREN)
    elements = _definition_elements(r, node, args)
    definitions = [_read_definition(r, element) for element in elements]
    args["definitions"] = tuple(definitions)
    if len(elements) == 1:
        kind = definitions[0].kind
        if kind == "message" and local in _SENDING:
            args["binding"] = read_sending(r, node, elements[0])
        if kind in ("message", "signal") and local in _CATCHING:
            args["binding"] = read_catching(r, node)
        if kind == "error" and local in _CATCHING_ERRORS:
            args["binding"] = read_catching_error(r, node, elements[0])
    elif not elements and local == "startEvent":
        args["binding"] = read_start_form(r, node)
    attrs = node.attrs
    if "parallelMultiple" in attrs and "parallelMultiple" in _EVENT_ATTRIBUTES[local]:
        args["parallel_multiple"] = r.boolean(node, "parallelMultiple", False)
    if local == "startEvent":
        args["interrupting"] = r.boolean(node, "isInterrupting", True)
    elif local == "boundaryEvent":
        args["interrupting"] = r.boolean(node, "cancelActivity", True)
        args["attached_to"] = r.ref(node, "attachedToRef")
    args["position"] = EVENTS[local]
    return args


def report_detached(r: Reading, event: Event, node: XmlElement, activities: set[str]) -> None:
    """OF153 unless the boundary event is attached to an activity in its scope."""
    if event.attached_to in activities:
        return
    on = r.ids.get(event.attached_to) if event.attached_to else None
    if not event.attached_to:
        message = f"boundary event {describe_element(node)} is attached to nothing"
    elif on is None:
        message = (
            f"boundary event {describe_element(node)} is attached to `{event.attached_to}`, "
            "which is not in the file"
        )
    else:
        message = (
            f"boundary event {describe_element(node)} is attached to {describe_element(on)}, "
            "which is not an activity in the same process or sub-process"
        )
    r.report(
        DetachedBoundaryEvent,
        message,
        node,
        help="set `attachedToRef` to the id of a task, call activity or sub-process in the same "
        "scope",
    )


_TIMES = {"timeDate": "date", "timeDuration": "duration", "timeCycle": "cycle"}
_DEFINITION_CHILDREN = frozenset((*_TIMES, "condition"))


def _read_definition(r: Reading, node: XmlElement) -> EventDefinition:
    kind, reference = EVENT_DEFINITIONS[node.local]
    args: dict[str, Any] = {}
    attributes = {"id"}
    children = NOTHING
    unread: tuple[tuple[str, str], ...] = ()
    if reference:
        attributes.add(reference)
        args["ref"] = r.ref(node, reference)
        r.known(node, args["ref"], None, "activity" if kind == "compensation" else kind)
    if kind == "compensation":
        attributes.add("waitForCompletion")
        args["wait_for_completion"] = r.boolean(node, "waitForCompletion", True)
    elif kind == "link":
        attributes.add("name")
        args["name"] = node.attrs.get("name", "")
    elif kind == "timer":
        children = _DEFINITION_CHILDREN
        unread = _read_timer(r, node, args)
    elif kind == "conditional":
        children = _DEFINITION_CHILDREN
        args["expression"], unread = single_expression(r, node, "condition")
        if args["expression"] is None and all(is_empty(c) for c in node.children):
            unread = ()
    _, extra = r.kept(node, frozenset(attributes), children)
    identity = node.attrs.get("id", "").strip() or None
    return EventDefinition(
        kind=kind,
        id=identity,
        extra=extra + _plain_documentation(r, node) + unread,
        loc=r.loc(node, identity),
        **args,
    )


def _read_timer(r: Reading, node: XmlElement, args: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    unread: tuple[tuple[str, str], ...] = ()
    times = [c for c in node.children if c.local in _TIMES and c.ns == BPMN]
    times.sort(key=lambda c: not c.text.strip())  # an empty one says nothing
    for number, child in enumerate(times):
        if number == 0:
            args["timer"] = _TIMES[child.local]
            args["expression"] = r.expression(child)
            if args["expression"] is not None or is_empty(child):
                continue
        unread += ((child.tag, r.document.standalone(child)),)
        if number and child.text.strip():
            r.report(
                InvalidValue,
                f"{describe_element(node)} has both `{times[0].local}` and `{child.local}`",
                child,
                help="a timer takes one of date, duration and cycle; the first one is used",
            )
    return unread


def read_gateway(r: Reading, node: XmlElement) -> dict[str, Any]:
    """Arguments of a gateway (BPMN 2.0.2, 10.6)."""
    kind = GATEWAYS[node.local]
    complex_ = kind == "complex"
    children = _COMPLEX_CHILDREN if complex_ else _GATEWAY_CHILDREN
    args = r.base(node, _GATEWAY_ATTRIBUTES[node.local], children)
    if kind == "event":
        args["instantiate"] = r.boolean(node, "instantiate", False)
        way = r.choice(node, "eventGatewayType", ("Exclusive", "Parallel"), "Exclusive")
        args["await_all"] = way == "Parallel"
    elif complex_:
        args["condition"], unread = single_expression(r, node, "activationCondition")
        args["extra"] += unread
    args["gateway_kind"] = kind
    return args
