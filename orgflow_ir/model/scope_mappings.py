"""Mappings of sub-processes and events in extension data, as Camunda 7 and Camunda 8 write them."""

from __future__ import annotations

from orgflow_ir.model.bindings import Form, Parameter
from orgflow_ir.model.elements import Event, SubProcess
from orgflow_ir.model.listener_data import parse_element
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.model.value import Extra

_GROUPS = {
    "{http://camunda.org/schema/1.0/bpmn}inputOutput": ("inputParameter", "outputParameter"),
    "{http://camunda.org/schema/zeebe/1.0}ioMapping": ("input", "output"),
}
"""The element with the mappings, and the names of those at the start and at the end."""


class ScopeMappings(NamedTuple):
    """The mappings of a sub-process or an event.

    Attributes:
        inputs: variables of the element, set when it begins.
        outputs: variables of the scope around it, set when it is done.
        unread: the name of a parameter whose value is not an expression or text; empty if there is
            none.
    """

    inputs: tuple[Parameter, ...] = ()
    outputs: tuple[Parameter, ...] = ()
    unread: str = ""


def has_mappings(node: SubProcess | Event) -> bool:
    """Whether a sub-process or an event has mappings."""
    return any(key in _GROUPS for key, _ in node.extra)


def maps_by_itself(event: Event) -> bool:
    """Whether an event has mappings that are no part of what it sends or receives."""
    return has_mappings(event) and (event.binding is None or isinstance(event.binding, Form))


def mapping_data(extra: Extra) -> Extra:
    """What extension data has of mappings."""
    return tuple(pair for pair in extra if pair[0] in _GROUPS)


def without_mappings(node: SubProcess | Event) -> SubProcess | Event:
    """The element when its mappings have become steps."""
    return node.replace(extra=tuple(pair for pair in node.extra if pair[0] not in _GROUPS))


def scope_mappings(node: SubProcess | Event) -> ScopeMappings:
    """The mappings of a sub-process or an event."""
    if not has_mappings(node):
        return ScopeMappings()

    inputs: list[Parameter] = []
    outputs: list[Parameter] = []
    unread = ""
    for key, text in node.extra:
        if key not in _GROUPS:
            continue
        for element in parse_element(text).children:
            if element.local not in _GROUPS[key]:
                continue
            side = inputs if element.local == _GROUPS[key][0] else outputs
            if key.endswith("ioMapping"):
                language = (
                    "feel" if element.attrs.get("source", "").lstrip().startswith("=") else None
                )
                source, name = element.attrs.get("source", ""), element.attrs.get("target", "")
                side.append(Parameter(name=name, text=source, language=language))
                continue
            name = element.attrs.get("name", "")
            script = next((c for c in element.children if c.local == "script"), None)
            if script is not None and "resource" not in script.attrs:
                language = script.attrs.get("scriptFormat")
                side.append(Parameter(name=name, text=script.text, language=language))
            elif element.children:
                unread = unread or name
            else:
                side.append(Parameter(name=name, text=element.text))
    return ScopeMappings(tuple(inputs), tuple(outputs), unread)
