"""The content of the marker of a repeated activity: number of instances, list, and completion
condition.

Engines keep most of it outside of BPMN: Camunda 7, Flowable and Activiti in attributes, Camunda 8
in its own element. Each uses its own names for the variables of an instance.
"""

from __future__ import annotations

import re
from html import unescape

from orgflow_ir.flow.control_flow.calls import called_from, find_callee
from orgflow_ir.model import (
    CallActivity,
    Event,
    Expression,
    Loop,
    Model,
    Node,
    Scope,
    SubProcess,
    Task,
)
from orgflow_ir.model.bindings import Parameter
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.syntax import ConditionError, Variable
from orgflow_ir.work.mappings import read_value

_ZEEBE = "{http://camunda.org/schema/zeebe/1.0}loopCharacteristics"
_BPMN = "{http://www.omg.org/spec/BPMN/20100524/MODEL}"
_NAME = re.compile(r"(?a:[A-Za-z_]\w*)")
_WAITS = frozenset(("message", "timer", "signal", "conditional"))

COUNTS = {
    "nrOfInstances": "count", "numberOfInstances": "count",
    "nrOfCompletedInstances": "completed", "numberOfCompletedInstances": "completed",
    "nrOfActiveInstances": "active", "numberOfActiveInstances": "active",
    "numberOfTerminatedInstances": "terminated",
}  # fmt: skip
"""Variables of a multi-instance activity in Camunda 7, Flowable and jBPM, and in BPMN and Camunda 8
(BPMN 2.0.2, table 10.31)."""


class Repetition(NamedTuple):
    """A parsed multi-instance marker.

    Attributes:
        items: the list, as a parameter; `None` if only a number or nothing is known.
        number: the number of instances, likewise.
        item: the variable that holds the element of each instance; may be empty.
        results: the variable for the list of results; may be empty.
        result: the value that an instance adds to the results.
        first: the value of `loopCounter` in the first instance: 1 in Camunda 8, otherwise 0.
        fresh: the variable of `result` that every instance has as its own one, null at first; may
            be empty. Camunda 8 creates it if the result is a variable or a part of one
            (`MultiInstanceBodyProcessor`).
        in_places: each instance has a place in the list of results from the beginning, which is
            null until it is done.
    """

    items: Parameter | None = None
    number: Parameter | None = None
    item: str = ""
    results: str = ""
    result: Parameter | None = None
    first: int = 0
    fresh: str = ""
    in_places: bool = False


class NotRepeatable(ValueError):
    """The marker contains something unsupported; the message names it."""


def list_of(loop: Loop) -> str | None:
    """The list of a multi-instance marker, in the notation of its engine; engines keep it outside
    of BPMN."""
    if loop.collection is not None:
        return loop.collection
    own = (v for k, v in loop.extra if k.startswith("@") and k.endswith("}collection"))
    zeebe = next((dict(_read_attributes(v)) for k, v in loop.extra if k == _ZEEBE), {})
    text = next(own, None) or zeebe.get("inputCollection")
    return text.strip().removeprefix("=").strip() if text is not None else None


def read_repetition(loop: Loop, scope: Scope) -> Repetition:
    """The multi-instance marker of an activity of `scope`. Raises `NotRepeatable`."""
    zeebe = next((dict(_read_attributes(v)) for k, v in loop.extra if k == _ZEEBE), None)
    if zeebe is not None:
        repetition = Repetition(
            items=_marker_parameter(zeebe["inputCollection"], None, "feel")
            if "inputCollection" in zeebe
            else None,
            item=zeebe.get("inputElement", ""),
            results=zeebe.get("outputCollection", ""),
            result=_marker_parameter(zeebe["outputElement"], None, "feel")
            if "outputElement" in zeebe
            else None,
            first=1,
            in_places="inputCollection" in zeebe,
        )
        repetition = repetition._replace(fresh=_find_fresh_variable(repetition))
    else:
        vendor = {k.rpartition("}")[2]: v for k, v in loop.extra if k.startswith("@")}
        named = loop.collection or vendor.get("collection")
        inner = {k.removeprefix(_BPMN): v for k, v in loop.extra if k.startswith(_BPMN)}
        if any(k.endswith("}variableAggregation") for k, _ in loop.extra):
            raise NotRepeatable("it collects variables of its instances")
        results = re.sub(r"<[^>]*>", "", inner.get("loopDataOutputRef", "")).strip()
        item = dict(_read_attributes(inner.get("outputDataItem", "")))
        result = item.get("name") or item.get("id", "")
        repetition = Repetition(
            items=_marker_parameter(_data_name(named, scope), None, "variable") if named else None,
            item=loop.item or vendor.get("elementVariable", ""),
            results=_data_name(_taken_from(results, loop, scope), scope),
            result=_marker_parameter(result, None, "variable") if result else None,
        )
    if loop.cardinality is not None and repetition.items is None:
        count = loop.cardinality
        repetition = repetition._replace(
            number=_marker_parameter(count.text.strip(), count.language, "feel")
        )
    if repetition.results and repetition.result is None:
        raise NotRepeatable(f"it does not define the values in `{repetition.results}`")
    for name in (repetition.item, repetition.results):
        if name and _NAME.fullmatch(name) is None:
            raise NotRepeatable(f"`{name}` is not a variable name")
    for value in (repetition.items, repetition.number, repetition.result):
        if value is not None:
            _check_parameter(value)
    return repetition


def _find_fresh_variable(repetition: Repetition) -> str:
    """The variable that each instance of Camunda 8 begins with as null; empty if its result is no
    variable or part of one, or it is the variable of its item."""
    result = repetition.result
    if result is None or not repetition.results:
        return ""
    try:
        tree = read_value(result.text, result.language)
    except ConditionError:
        return ""
    if not isinstance(tree, Variable) or tree.name == repetition.item:
        return ""
    return tree.name


def _taken_from(data: str, loop: Loop, scope: Scope) -> str:
    """The target of a data output of an activity, which its list of results refers to; the
    reference itself if it is none."""
    activity = next((n.id for n in scope.nodes if getattr(n, "loop", None) == loop), None)
    for flow in scope.data_flows if data else ():
        reference = dict(flow.extra).get(f"{_BPMN}sourceRef", "")
        if flow.source == activity and re.sub(r"<[^>]*>", "", reference).strip() == data:
            return flow.target
    return data


def _data_name(named: str, scope: Scope) -> str:
    """A reference to a data object as the name that the object has."""
    data = next((d for d in scope.data_objects if d.id == named), None)
    name = data.name.strip() if data is not None else ""
    return name if _NAME.fullmatch(name) else named


def _marker_parameter(text: str, language: str | None, plain: str) -> Parameter:
    """A text of a marker as a parameter: marked code as it is, a name as a variable, a number."""
    if text.startswith("="):
        return Parameter(name="value", text=text, language="feel")
    if re.match(r"\s*[$#]\{", text):
        return Parameter(name="value", text=text)
    if _NAME.fullmatch(text):
        return Parameter(name="value", text=text, language="variable")
    if text.isdigit():
        plain, language = "feel", None
    return Parameter(name="value", text=text, language=language or plain)


def _check_parameter(value: Parameter) -> None:
    """Raises `NotRepeatable` where a value cannot be computed."""
    try:
        read_value(value.text, value.language)
    except ConditionError as error:
        raise NotRepeatable(f"`{value.text}` is not supported: {error}") from None


def _read_attributes(xml: str) -> list[tuple[str, str]]:
    """The attributes of one element, as text."""
    pairs = re.findall(r"""([\w:]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""", xml)
    return [(name, unescape(a or b)) for name, a, b in pairs]


def counted_in(condition: Expression | None) -> tuple[str, ...]:
    """The variables of `COUNTS` that a completion condition reads."""
    words = set(_NAME.findall(condition.text)) if condition is not None else set()
    return tuple(name for name in COUNTS if name in words)


def waits_in(node: Node, model: Model) -> bool:
    """Whether a step of an activity, or of a process that it calls, waits for anything other than a
    person."""
    if isinstance(node, CallActivity):
        called = find_callee(node, model)
        processes = (called, *called_from(called, model)) if called is not None else ()
        return any(_is_waiting(n) for p in processes for s in p.scopes() for n in s.nodes)
    if isinstance(node, SubProcess):
        inside = [n for s in node.scopes() for n in s.nodes]
        return any(
            _is_waiting(n) or (isinstance(n, CallActivity) and waits_in(n, model)) for n in inside
        )
    return _is_waiting(node)


def _is_waiting(node: Node) -> bool:
    if isinstance(node, Event):
        caught = node.position in ("catch", "boundary")
        return caught and any(d.kind in _WAITS for d in node.definitions)
    return isinstance(node, Task) and node.task_type == "receive"
