"""Listeners in extension data, as Camunda 7, Camunda 8, Flowable, Activiti and jBPM write them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from orgflow_ir.lazy_modules import LazyModule
from orgflow_ir.model.bindings import (
    ENTRY_SCRIPT,
    EXIT_SCRIPT,
    LISTENER_RESULT,
    LISTENERS,
    Listener,
    is_listener,
)
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.value import Extra

if TYPE_CHECKING:
    from xml.etree import ElementTree
else:  # models with listeners only
    ElementTree = LazyModule("xml.etree.ElementTree")

_SCRIPT_CLASSES = (
    "bpmn.listener.ScriptExecutionListener", "bpmn.listener.ScriptTaskListener",
)  # fmt: skip
"""Ends of the names of Flowable's and Activiti's own classes that run a script in a field."""

_ENGINES = {"http://flowable.org/bpmn": "flowable", "http://activiti.org/bpmn": "activiti"}
_EVENTS = {ENTRY_SCRIPT: "start", EXIT_SCRIPT: "end"}
_ALL = ("assignment", "create", "complete", "delete")
"""The events of a task that `all` stands for in Flowable and Activiti."""


class Xml(Protocol):
    """The part of an XML element from which listeners are read."""

    @property
    def local(self) -> str:
        """Its name without a prefix."""

    @property
    def ns(self) -> str:
        """Its namespace."""

    @property
    def text(self) -> str:
        """Its text."""

    @property
    def attrs(self) -> dict[str, str]:
        """Its attributes."""

    @property
    def children(self) -> Sequence[Xml]:
        """Its content."""


def read_listeners(elements: Iterable[Xml]) -> Iterator[Listener]:
    """The listeners among the extension elements of a node."""
    listener_elements = [e for e in elements if e.local in LISTENERS]
    for element in (
        c for e in listener_elements for c in (e.children if e.local.endswith("s") else [e])
    ):
        listener = _read_listener(element)
        every = listener.event == "all" and listener.engine is not None
        for event in _ALL if every else (listener.event,):
            yield listener.replace(event=event)


def _read_jbpm_listener(element: Xml) -> Listener:
    """A script that jBPM runs when a node begins or ends."""
    code = next((c.text.strip() for c in element.children if c.local == "script"), "")
    return Listener(
        event=_EVENTS[element.local], by="script", target=code,
        language=element.attrs.get("scriptFormat"), engine="jbpm",
    )  # fmt: skip


def _read_script_class(element: Xml, event: str, engine: str | None) -> Listener | None:
    """A script in the fields of a class that runs it; `None` without a script."""
    fields = {c.attrs.get("name"): field_text(c) for c in element.children}
    if not fields.get("script"):
        return None
    return Listener(
        event=event,
        by="script",
        target=(fields["script"] or "").strip(),
        language=fields.get("language"),
        engine=engine,
        parameters=_result_setting(fields.get("resultVariable")),
    )


def _read_listener(element: Xml) -> Listener:
    if element.local in _EVENTS:
        return _read_jbpm_listener(element)
    attributes = element.attrs
    engine = _ENGINES.get(element.ns)
    event = attributes.get("event") or attributes.get("eventType") or ""
    by = next((n for n in ("class", "delegateExpression", "expression", "type")
               if n in attributes), "")  # fmt: skip
    script = next((c for c in element.children if c.local == "script"), None)
    target = attributes.get(by, "") if by else ""
    if by == "class" and target.endswith(_SCRIPT_CLASSES):
        listener = _read_script_class(element, event, engine)
        if listener is not None:
            return listener
    if script is not None and (not by or (by, target) == ("type", "script")):
        by, target = "script", script.text.strip() or script.attrs.get("resource", "")
    language = None
    if script is not None:
        language = script.attrs.get("scriptFormat") or script.attrs.get("language")
    result = _result_setting(script.attrs.get("resultVariable")) if script is not None else ()
    return Listener(
        event=event, by=by, target=target, language=language, engine=engine,
        parameters=(*_list_settings(element), *result),
    )  # fmt: skip


def _result_setting(name: str | None) -> tuple[tuple[str, str], ...]:
    """The variable that gets the value of a script, in Flowable (`AbstractScriptEvaluator`)."""
    return ((LISTENER_RESULT, name.strip()),) if name and name.strip() else ()


def _list_settings(element: Xml) -> Iterator[tuple[str, str]]:
    """The injected fields of a listener; the headers and retries of a job."""
    for child in element.children:
        if child.local == "field":
            yield child.attrs.get("name", ""), field_text(child)
        elif child.local == "taskHeaders":
            yield from ((h.attrs.get("key", ""), h.attrs.get("value", "")) for h in child.children)
    if element.attrs.get("retries"):
        yield "retries", element.attrs["retries"]


def field_text(element: Xml) -> str:
    """The value of an injected field."""
    inner = next((c.text for c in element.children if c.local in ("string", "expression")), "")
    return element.attrs.get("stringValue") or element.attrs.get("expression") or inner


class Parsed(NamedTuple):
    """An element of the standard library's XML as `Xml`."""

    local: str
    ns: str
    text: str
    attrs: dict[str, str]
    children: tuple[Parsed, ...]


def parse_element(text: str) -> Parsed:
    """An element of extension data."""

    def parse_one(element: ElementTree.Element) -> Parsed:
        ns, _, local = str(element.tag).removeprefix("{").rpartition("}")
        children = tuple(parse_one(c) for c in element if isinstance(c.tag, str))
        return Parsed(local, ns, "".join(element.itertext()), dict(element.attrib), children)

    return parse_one(ElementTree.fromstring(text))


def listeners_in(extra: Extra) -> tuple[Listener, ...]:
    """The listeners in extension data."""
    return tuple(
        listener
        for key, text in extra
        if is_listener(key)
        for listener in read_listeners([parse_element(text)])
    )
