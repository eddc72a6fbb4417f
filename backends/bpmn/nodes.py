"""Flow nodes as BPMN: tasks, calls, events, gateways, loops, event definitions."""

from __future__ import annotations

from typing import assert_never

from orgflow.backends.bpmn.format import (
    BPMN,
    EVENT_DEFINITIONS,
    EVENTS,
    GATEWAYS,
    ITEM_END,
    LOOP_INPUT,
    NO_BINDING,
    ORGFLOW,
    TASKS,
    called_by,
    run_by,
)
from orgflow.backends.bpmn.kept import find_kept, kept_attribute, parse_fragment
from orgflow.backends.bpmn.writer import Writer, default_attribute, flow_lists
from orgflow.backends.bpmn.xml_text import Child, ranked_child, write_element

from orgflow_ir.model import (
    CallActivity,
    Event,
    EventDefinition,
    Expression,
    Gateway,
    Loop,
    Node,
    Opaque,
    SubProcess,
    Task,
)
from orgflow_ir.model.bindings import (
    BINDINGS,
    ENGINES,
    AnyBinding,
    Script,
    Worker,
    says_binding,
)
from orgflow_ir.model.codec import to_json
from orgflow_ir.model.value import Extra

_TASK_TAGS = {kind: tag for tag, kind in TASKS.items()}
_EVENT_TAGS = {kind: tag for tag, kind in EVENTS.items()}
_GATEWAY_TAGS = {kind: tag for tag, kind in GATEWAYS.items()}
_DEFINITION_TAGS = {kind: (tag, ref) for tag, (kind, ref) in EVENT_DEFINITIONS.items()}
_TIMES = {"date": "timeDate", "duration": "timeDuration", "cycle": "timeCycle"}
_BY_OPERATION = ("service", "send", "receive")
_BY_IMPLEMENTATION = ("service", "send", "receive", "user", "business-rule")

_EMPTY = Expression(text="")

Pairs = list[tuple[str, str | None]]


def write_task(w: Writer, node: Task, depth: int, data: list[Child]) -> str:
    """A task of any type; `data` are its data associations."""
    tag = _TASK_TAGS[node.task_type]
    attributes, children, natural = _write_binding(w, node, tag, depth + 1)
    if node.message is not None and node.task_type in ("send", "receive"):
        attributes.append(w.pointer("messageRef", node.message))
    if node.instantiate:
        attributes.append(("instantiate", "true"))
    extra = node.extra
    if node.binding is not None and not natural:
        kept = (f"{{{ORGFLOW}}}binding", foreign_binding(w, node.binding))
        extra = (*extra, kept)
    more, inside = activity_parts(w, node, tag, depth)
    return w.thing(depth, tag, node, [*more, *attributes], [*inside, *data, *children], extra=extra)


def _write_binding(w: Writer, node: Task, tag: str, depth: int) -> tuple[Pairs, list[Child], bool]:
    """Attributes and children that say what does a task, and whether all of it is said.

    What an engine's extensions in `extra` say is said there.
    """
    binding = node.binding
    if binding is None:
        return [], [], True
    kept = _states_binding(node.extra)
    if isinstance(binding, Script) and not _is_shown(binding, w):
        return [], [], False
    if not isinstance(binding, Script | Worker) or not (kept or _is_plain(binding)):
        return [], [], kept
    if isinstance(binding, Script) and node.task_type == "script":
        return _write_script(w, node, binding, tag, depth, kept=kept)
    attributes = _worker_attributes(node, binding) if isinstance(binding, Worker) else []
    return attributes, [], bool(attributes) or kept


def _is_shown(script: Script, w: Writer) -> bool:
    """Whether BPMN's own elements for a script mean the same to the engine of the file."""
    return script.language == "feel" or script.by == run_by(w.engine)


def _write_script(
    w: Writer, node: Task, script: Script, tag: str, depth: int, *, kept: bool
) -> tuple[Pairs, list[Child], bool]:
    """See `_write_binding`: of a script task. `kept`: extensions state the binding."""
    if script.code is None and script.language is None:
        return [], [], kept
    if _kept_script(node.extra):
        return [], [], True
    children = []
    if script.code is not None and not _has_script(node.extra, script.code):
        children = [w.leaf(tag, "script", script.code, depth)]
    return [("scriptFormat", script.language)], children, True


def _worker_attributes(node: Task, worker: Worker) -> Pairs:
    """The attributes that name an operation or an implementation; empty where none can."""
    if worker.code is not None or not worker.target:
        return []
    names = [name for name, _ in worker.parameters]
    kind = node.task_type
    if worker.by == "operation" and kind in _BY_OPERATION and names in ([], ["implementation"]):
        return [*worker.parameters, ("operationRef", worker.target)]
    if worker.by == "implementation" and kind in _BY_IMPLEMENTATION and not names:
        return [("implementation", worker.target)]
    return []


def _is_plain(b: Script | Worker) -> bool:
    """Whether a binding says no more than BPMN's attributes, or our oldest element, can."""
    more = isinstance(b, Script) and (b.resource is not None or b.parameters)
    return not (b.inputs or b.outputs or b.result or b.retries or b.listeners or more)


def _states_binding(extra: Extra) -> bool:
    """Whether extension data says what does a task."""
    return any(says_binding(key) for key, _ in extra)


def _kept_script(extra: Extra) -> bool:
    """Whether an engine's own element holds the script."""
    return any(ENGINES.get(k[1:].rpartition("}")[0]) == "zeebe" and k.endswith("}script")
               for k, _ in extra)  # fmt: skip


def _has_script(extra: Extra, text: str) -> bool:
    """Whether the first script is kept as it is, for its attributes or its markup."""
    scripts = find_kept(extra, "script")
    first = parse_fragment(scripts[0][1]) if scripts else None
    if first is None or first.text != text:
        return False
    return bool(first.parts) or any(not k.startswith("xmlns") for k in first.attrs)


def foreign_binding(w: Writer, binding: AnyBinding | None) -> str:
    """A binding without a BPMN attribute, as an element of orgflow's namespace; `None` states that
    there is none.

    A worker with only a target, code and parameters has attributes and children; any other binding
    is JSON, as in the IR's own text form.
    """
    name = w.names.of(ORGFLOW, "binding")
    if binding is None:
        return write_element(0, name, [("kind", NO_BINDING)]).strip()
    if isinstance(binding, Script) and binding.by is None and _is_plain(binding):
        return _write_worker(w, "script", binding.language, binding.code, ())
    if isinstance(binding, Worker) and _is_plain(binding) and binding.by not in BINDINGS:
        return _write_worker(w, binding.by, binding.target, binding.code, binding.parameters)
    text = to_json(binding, exclude_none=True)
    return write_element(0, name, [("kind", binding.kind)], text=text).strip()


def _write_worker(
    w: Writer,
    kind: str,
    target: str | None,
    code: str | None,
    parameters: tuple[tuple[str, str], ...],
) -> str:
    children = [
        Child(1, write_element(0, w.names.of(ORGFLOW, "parameter"), [("name", key)], text=value))
        for key, value in parameters
    ]
    if code is not None:
        children.append(Child(0, write_element(0, w.names.of(ORGFLOW, "text"), text=code)))
    name = w.names.of(ORGFLOW, "binding")
    return write_element(0, name, [("kind", kind), ("target", target)], children).strip()


def activity_parts(
    w: Writer, node: Task | CallActivity | SubProcess, tag: str, depth: int
) -> tuple[Pairs, list[Child]]:
    """Common attributes and children of activities."""
    attributes: Pairs = [("isForCompensation", "true" if node.for_compensation else None)]
    if kept_attribute(node.extra, "default") is None:
        attributes.append(default_attribute(w, node.id))
    children = flow_lists(w, tag, node.id, depth + 1)
    if node.loop is not None:
        children.append(_write_loop(w, node, node.loop, tag, depth + 1))
    return attributes, children


def _write_loop(
    w: Writer, node: Task | CallActivity | SubProcess, loop: Loop, parent: str, depth: int
) -> Child:
    standard = loop.kind == "standard"
    tag = "standardLoopCharacteristics" if standard else "multiInstanceLoopCharacteristics"
    attributes: Pairs = []
    children: list[Child] = []
    if standard:
        attributes.append(("testBefore", "true" if loop.test_before else None))
        maximum = None if loop.maximum is None else str(loop.maximum)
        attributes.append(("loopMaximum", maximum))
        children += w.expression(tag, "loopCondition", loop.condition, depth + 1)
    else:
        attributes.append(("isSequential", "true" if loop.sequential else None))
        children += w.expression(tag, "loopCardinality", loop.cardinality, depth + 1)
        if loop.collection is not None:
            children += _write_collection(w, node, loop, tag, depth + 1, attributes)
        if loop.item is not None and not find_kept(loop.extra, "inputDataItem"):
            named: Pairs = [("id", f"{w.id(node.id)}{ITEM_END}"), ("name", loop.item)]
            text = write_element(depth + 1, w.names.bpmn("inputDataItem"), named)
            children.append(ranked_child(tag, "inputDataItem", text))
        children += w.expression(tag, "completionCondition", loop.until, depth + 1)
    kept = tuple(pair for pair in loop.extra if pair[0] != LOOP_INPUT)
    return ranked_child(parent, tag, _write_value(w, tag, attributes, children, kept, depth))


def _write_collection(
    w: Writer,
    node: Task | CallActivity | SubProcess,
    loop: Loop,
    tag: str,
    depth: int,
    attributes: Pairs,
) -> list[Child]:
    """`loopDataInputRef`: the data input of the activity that the file referred to, while the
    collection is still given to it; a collection that is nothing of the model stands in an
    attribute."""
    name = loop.collection or ""
    given = next((value for key, value in loop.extra if key == LOOP_INPUT), None)
    flows = (flow for scope in w.model.scopes() for flow in scope.data_flows)
    if given is not None and any(f.source == name and f.target == node.id for f in flows):
        name = given
    local, value = w.pointer("loopDataInputRef", name)
    if local == "loopDataInputRef":
        return [w.leaf(tag, "loopDataInputRef", value or "", depth)]
    attributes.append((w.names.of(ORGFLOW, "collection"), name))
    return []


def _write_value(
    w: Writer, tag: str, attributes: Pairs, children: list[Child], extra: Extra, depth: int
) -> str:
    """Something without documentation of its own: all of it is among the kept elements, the first
    one, where it is plain, behind the others."""
    docs = find_kept(extra, "documentation")
    if len(docs) > 1:
        last = parse_fragment(docs[-1][1])
        if last is not None and not last.attrs.keys() - {"xmlns"} and not last.parts:
            at = docs[-1][0]
            extra = (extra[at], *extra[:at], *extra[at + 1 :])
    inside = [*children, *w.keep.elements(extra, tag, depth + 1)]
    more = w.keep.attributes(extra)
    return write_element(depth, w.names.bpmn(tag), attributes, inside, more=more)


def write_call(w: Writer, node: CallActivity, depth: int, data: list[Child]) -> str:
    """A call activity."""
    more, inside = activity_parts(w, node, "callActivity", depth)
    attributes = [*more, w.pointer("calledElement", node.called)]
    extra = node.extra
    binding = node.binding
    if binding != called_by(w.engine) and not _states_binding(extra):
        extra = (*extra, (f"{{{ORGFLOW}}}binding", foreign_binding(w, binding)))
    return w.thing(depth, "callActivity", node, attributes, [*inside, *data], extra=extra)


def write_gateway(w: Writer, node: Gateway, depth: int) -> str:
    """A gateway."""
    kind = node.gateway_kind
    tag = _GATEWAY_TAGS[kind]
    attributes: Pairs = []
    children = flow_lists(w, tag, node.id, depth + 1)
    if takes_default(node) and kept_attribute(node.extra, "default") is None:
        attributes.append(default_attribute(w, node.id))
    if kind == "event":
        attributes.append(("instantiate", "true" if node.instantiate else None))
        attributes.append(("eventGatewayType", "Parallel" if node.await_all else None))
    if kind == "complex":
        children += w.expression(tag, "activationCondition", node.condition, depth + 1)
    return w.thing(depth, tag, node, attributes, children)


def takes_default(node: Node) -> bool:
    """Whether BPMN permits a default flow for a node."""
    match node:
        case Gateway():
            return node.gateway_kind in ("exclusive", "inclusive", "complex")
        case Task() | CallActivity() | SubProcess():
            return True
        case Event() | Opaque():
            return False
        case _:
            assert_never(node)


def write_event(w: Writer, node: Event, depth: int, data: list[Child]) -> str:
    """An event with its definitions; a definition of several events is in the root."""
    tag = _EVENT_TAGS[node.position]
    attributes: Pairs = []
    if node.position == "boundary":
        attributes.append(("attachedToRef", w.id(node.attached_to or "")))
        attributes.append(("cancelActivity", None if node.interrupting else "false"))
    elif node.position == "start":
        attributes.append(("isInterrupting", None if node.interrupting else "false"))
    if node.position in ("start", "catch", "boundary"):
        attributes.append(("parallelMultiple", "true" if node.parallel_multiple else None))
    children = [*flow_lists(w, tag, node.id, depth + 1), *data]
    shared = False
    for number, definition in enumerate(node.definitions):
        shared = shared or definition.id in w.shared
        if shared:
            name = definition.id or f"{w.id(node.id)}__definition_{number + 1}"
            w.root_definitions.setdefault(name, definition.replace(id=name))
            children.append(w.leaf(tag, "eventDefinitionRef", name, depth + 1))
        else:
            local = _DEFINITION_TAGS[definition.kind][0]
            children.append(ranked_child(tag, local, event_definition(w, definition, depth + 1)))
    extra = node.extra
    if node.binding is not None and not any(
        map(_states_binding, (extra, *_definition_extras(node)))
    ):
        extra = (*extra, (f"{{{ORGFLOW}}}binding", foreign_binding(w, node.binding)))
    return w.thing(depth, tag, node, attributes, children, extra=extra)


def _definition_extras(event: Event) -> list[Extra]:
    return [definition.extra for definition in event.definitions]


def event_definition(w: Writer, value: EventDefinition, depth: int) -> str:
    """The trigger or result of an event."""
    tag, reference = _DEFINITION_TAGS[value.kind]
    attributes: Pairs = [("id", value.id)]
    children: list[Child] = []
    if reference:
        attributes.append(w.pointer(reference, value.ref))
    if value.kind == "compensation":
        attributes.append(("waitForCompletion", None if value.wait_for_completion else "false"))
    elif value.kind == "link":
        attributes.append(("name", value.name))
    elif value.kind == "timer" and (value.timer or value.expression):
        time = _TIMES[value.timer or "duration"]
        if value.expression is not None or not find_kept(value.extra, time):
            children += w.expression(tag, time, value.expression or _EMPTY, depth + 1)
    elif value.kind == "conditional" and (
        value.expression is not None or not find_kept(value.extra, "condition")
    ):
        children += w.expression(tag, "condition", value.expression or _EMPTY, depth + 1)
    return _write_value(w, tag, attributes, children, value.extra, depth)


def write_opaque(w: Writer, node: Opaque, depth: int) -> str:
    """A kept element, verbatim; if it is not XML, an element of its tag."""
    if node.payload.lstrip().startswith("<") and parse_fragment(node.payload) is not None:
        return w.keep.verbatim(node.payload, depth)
    ns, _, local = node.tag.removeprefix("{").rpartition("}")
    if ns == BPMN:
        name, more = w.names.bpmn(local), ""
    else:
        name, declared = w.names.attribute(ns or ORGFLOW, local or "thing")
        more = declared or ""
    attributes: Pairs = [("id", w.id(node.id)), ("name", node.name or None)]
    return write_element(depth, name, attributes, text=node.payload or None, more=more)


def opaque_node(w: Writer, node: Opaque, depth: int) -> str:
    """A flow node without a BPMN element: verbatim or, if it is not XML, as a task that names its
    original."""
    if node.payload.lstrip().startswith("<") and parse_fragment(node.payload) is not None:
        return w.keep.verbatim(node.payload, depth)
    harmless = "true" if node.harmless else None
    name = w.names.of(ORGFLOW, "opaque")
    attributes: Pairs = [("tag", node.tag), ("harmless", harmless)]
    text = write_element(0, name, attributes, text=node.payload or None).strip()
    extra = (*node.extra, (f"{{{ORGFLOW}}}opaque", text))
    return w.thing(depth, "task", node, (), flow_lists(w, "task", node.id, depth + 1), extra=extra)
