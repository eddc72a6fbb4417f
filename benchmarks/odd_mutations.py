"""Mutations of model files that stay well-formed, for `mutated_models.py`: XML and JSON."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Sequence
from typing import Any

from fuzz_mutators import ODD_TEXT, mutate_json
from lxml import etree

BPMN = "http://www.omg.org/spec/BPMN/20100524/MODEL"
NAMESPACES = (
    BPMN, "", "urn:x", "http://camunda.org/schema/1.0/bpmn", "http://camunda.org/schema/zeebe/1.0",
    "http://flowable.org/bpmn", "http://www.omg.org/spec/BPMN/20100524/DI",
    "https://www.omg.org/spec/DMN/20191111/MODEL/",
)  # fmt: skip
EVENTS = (
    "startEvent", "endEvent", "boundaryEvent", "intermediateCatchEvent", "intermediateThrowEvent",
)  # fmt: skip
DEFINITIONS = tuple(
    f"{kind}EventDefinition"
    for kind in (
        "message", "timer", "signal", "error", "escalation", "conditional", "compensate", "cancel",
        "terminate", "link",
    )
)  # fmt: skip
NODES = (
    "task", "userTask", "serviceTask", "scriptTask", "sendTask", "receiveTask", "manualTask",
    "businessRuleTask", "callActivity", "subProcess", "transaction", "adHocSubProcess",
    "exclusiveGateway", "parallelGateway", "inclusiveGateway", "eventBasedGateway",
    "complexGateway",
)  # fmt: skip
FLAGS = (
    "isForCompensation", "cancelActivity", "isInterrupting", "triggeredByEvent", "isSequential",
    "instantiate", "parallelMultiple", "isExecutable", "testBefore", "waitForCompletion",
)  # fmt: skip
LOOPS = ("standardLoopCharacteristics", "multiInstanceLoopCharacteristics")


def mutate_file(data: bytes, suffix: str, other: bytes, dice: random.Random) -> bytes | None:
    """The bytes of a file with one to four mutations; `other` lends values to JSON. `None` where
    the file is neither XML nor JSON."""
    if suffix == "json":
        return mutate_json(data, other, dice)
    try:
        root = etree.fromstring(data, _parser())
    except (etree.XMLSyntaxError, ValueError):
        return None
    return etree.tostring(mutate_tree(root, dice), xml_declaration=True, encoding="UTF-8")


def mutate_tree(root: Any, dice: random.Random) -> Any:
    """A tree with one to four mutations; the argument is changed."""
    for _ in range(dice.choice((1, 1, 1, 2, 2, 3, 4))):
        elements = [e for e in root.iter() if isinstance(e.tag, str) and e is not root]
        if not elements:
            break
        dice.choice(MUTATIONS)(elements, dice)
    return root


def smaller_files(data: bytes, suffix: str) -> list[bytes]:
    """Files with one part less each, largest parts first, to minimise a file that has a fault."""
    if suffix == "json":
        return _smaller_values(data)
    try:
        root = etree.fromstring(data, _parser())
    except (etree.XMLSyntaxError, ValueError):
        return []
    total = sum(1 for _ in root.iter())
    sized = [
        (sum(1 for _ in element.iter()), place)
        for place, element in enumerate(root.iter())
        if element is not root
    ]
    smaller = []
    for _, place in sorted(sized, reverse=True):
        tree = copy.deepcopy(root)
        element = next(e for at, e in enumerate(tree.iter()) if at == place)
        element.getparent().remove(element)
        smaller.append(etree.tostring(tree, encoding="UTF-8"))
    return smaller if total < 3_000 else smaller[:200]


def _smaller_values(data: bytes) -> list[bytes]:
    root = json.loads(data)
    smaller: list[bytes] = []
    places: list[list[Any]] = [[]]
    while places:
        path = places.pop(0)
        value = root
        for key in path:
            value = value[key]
        if isinstance(value, dict | list):
            places += [
                [*path, key] for key in (value if isinstance(value, dict) else range(len(value)))
            ]
        if path:
            tree = copy.deepcopy(root)
            holder = tree
            for key in path[:-1]:
                holder = holder[key]
            del holder[path[-1]]
            smaller.append(json.dumps(tree, ensure_ascii=True).encode())
    return smaller


def _parser() -> Any:
    return etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True)


def _name(element: Any) -> str:
    return str(etree.QName(element).localname)


def _retag(element: Any, name: str) -> None:
    namespace = etree.QName(element).namespace
    element.tag = f"{{{namespace}}}{name}" if namespace else name


def _named(elements: Sequence[Any], names: Sequence[str]) -> list[Any]:
    return [element for element in elements if _name(element) in names]


def _ids(elements: Sequence[Any]) -> list[str]:
    return [id for element in elements if (id := element.get("id"))]


def _references(elements: Sequence[Any]) -> list[tuple[Any, str]]:
    """Attributes that name another element, as (element, attribute)."""
    ids = set(_ids(elements))
    return [
        (element, key)
        for element in elements
        for key, value in element.attrib.items()
        if key != "id" and (value in ids or key.endswith("Ref"))
    ]


def _remove(elements: Sequence[Any], dice: random.Random) -> None:
    element = dice.choice(elements)
    element.getparent().remove(element)


def _swap_ids(elements: Sequence[Any], dice: random.Random) -> None:
    having = [element for element in elements if element.get("id")]
    if len(having) > 1:
        one, other = dice.sample(having, 2)
        first, second = one.get("id"), other.get("id")
        one.set("id", second)
        other.set("id", first)


def _repeat_id(elements: Sequence[Any], dice: random.Random) -> None:
    having = [element for element in elements if element.get("id")]
    if having:
        dice.choice(having).set("id", dice.choice(having).get("id"))


def _drop_id(elements: Sequence[Any], dice: random.Random) -> None:
    having = [element for element in elements if element.get("id")]
    if having:
        del dice.choice(having).attrib["id"]


def _empty_reference(elements: Sequence[Any], dice: random.Random) -> None:
    if found := _references(elements):
        element, key = dice.choice(found)
        if dice.random() < 0.5:
            element.set(key, dice.choice(("", " ", "nowhere")))
        else:
            del element.attrib[key]


def _lead_elsewhere(elements: Sequence[Any], dice: random.Random) -> None:
    found, ids = _references(elements), _ids(elements)
    if found and ids:
        element, key = dice.choice(found)
        element.set(key, dice.choice(ids))


def _garble_attribute(elements: Sequence[Any], dice: random.Random) -> None:
    having = [element for element in elements if element.attrib]
    if having:
        element = dice.choice(having)
        element.set(dice.choice(list(element.attrib)), _clean(dice.choice(ODD_TEXT)))


def _garble_text(elements: Sequence[Any], dice: random.Random) -> None:
    having = [element for element in elements if (element.text or "").strip()]
    if having:
        dice.choice(having).text = _clean(dice.choice(ODD_TEXT))


def _flip_flag(elements: Sequence[Any], dice: random.Random) -> None:
    nodes = _named(elements, (*EVENTS, *NODES, "process", *LOOPS))
    if nodes:
        dice.choice(nodes).set(dice.choice(FLAGS), dice.choice(("true", "false")))


def _move(elements: Sequence[Any], dice: random.Random) -> None:
    element, parent = dice.choice(elements), dice.choice(elements)
    if not any(above is element for above in (parent, *parent.iterancestors())):
        parent.append(element)


def _move_node(elements: Sequence[Any], dice: random.Random) -> None:
    """A node into another scope; its flows stay."""
    nodes = _named(elements, (*EVENTS, *NODES, "sequenceFlow", "association"))
    scopes = _named(elements, ("process", "subProcess", "transaction", "adHocSubProcess"))
    if nodes and scopes:
        element, parent = dice.choice(nodes), dice.choice(scopes)
        if not any(above is element for above in (parent, *parent.iterancestors())):
            parent.append(element)


def _change_namespace(elements: Sequence[Any], dice: random.Random) -> None:
    element, namespace = dice.choice(elements), dice.choice(NAMESPACES)
    element.tag = f"{{{namespace}}}{_name(element)}" if namespace else _name(element)


def _retype_event(elements: Sequence[Any], dice: random.Random) -> None:
    if events := _named(elements, EVENTS):
        event = dice.choice(events)
        _retag(event, dice.choice(EVENTS))
        nodes = _ids(_named(elements, NODES))
        if _name(event) == "boundaryEvent" and nodes:
            event.set("attachedToRef", dice.choice(nodes))


def _retype_definition(elements: Sequence[Any], dice: random.Random) -> None:
    if definitions := _named(elements, DEFINITIONS):
        _retag(dice.choice(definitions), dice.choice(DEFINITIONS))


def _add_definition(elements: Sequence[Any], dice: random.Random) -> None:
    if events := _named(elements, EVENTS):
        event = dice.choice(events)
        etree.SubElement(event, f"{{{BPMN}}}{dice.choice(DEFINITIONS)}")


def _retype_node(elements: Sequence[Any], dice: random.Random) -> None:
    if nodes := _named(elements, NODES):
        _retag(dice.choice(nodes), dice.choice(NODES))


def _add_loop(elements: Sequence[Any], dice: random.Random) -> None:
    if nodes := _named(elements, NODES):
        loop = etree.SubElement(dice.choice(nodes), f"{{{BPMN}}}{dice.choice(LOOPS)}")
        if dice.random() < 0.5 and _name(loop) == LOOPS[1]:
            etree.SubElement(loop, f"{{{BPMN}}}loopCardinality").text = dice.choice(("3", "x"))


def _attach_event(elements: Sequence[Any], dice: random.Random) -> None:
    """A boundary event more, which leads to some node."""
    if nodes := _named(elements, NODES):
        node = dice.choice(nodes)
        id = f"odd{dice.randrange(1_000_000)}"
        scope = node.getparent()
        event = etree.SubElement(scope, f"{{{BPMN}}}boundaryEvent", id=id)
        event.set("attachedToRef", node.get("id") or "")
        event.set("cancelActivity", dice.choice(("true", "false")))
        etree.SubElement(event, f"{{{BPMN}}}{dice.choice(DEFINITIONS)}")
        flow = etree.SubElement(scope, f"{{{BPMN}}}sequenceFlow", id=f"{id}f", sourceRef=id)
        flow.set("targetRef", dice.choice(_ids(nodes) or [""]))


def _duplicate(elements: Sequence[Any], dice: random.Random) -> None:
    element = dice.choice(elements)
    twin = copy.deepcopy(element)
    if dice.random() < 0.5:
        for each in twin.iter():
            if isinstance(each.tag, str) and each.get("id"):
                each.set("id", f"{each.get('id')}_2")
    element.addnext(twin)


def _wrap_in_process(elements: Sequence[Any], dice: random.Random) -> None:
    """The content of a scope into a sub-process of its own, also an event sub-process."""
    scopes = _named(elements, ("process", "subProcess", "transaction"))
    if not scopes:
        return
    scope = dice.choice(scopes)
    content = [child for child in scope if isinstance(child.tag, str)]
    inner = etree.SubElement(scope, f"{{{BPMN}}}{dice.choice(('subProcess', 'transaction'))}")
    inner.set("id", f"odd{dice.randrange(1_000_000)}")
    if dice.random() < 0.3:
        inner.set("triggeredByEvent", "true")
    for child in content:
        if dice.random() < 0.9:
            inner.append(child)


def _clean(text: str) -> str:
    """A text that XML can contain."""
    return "".join(c for c in text if c in "\t\n" or (c >= " " and not "\ud800" <= c <= "\udfff"))


MUTATIONS: tuple[Callable[[Sequence[Any], random.Random], None], ...] = (
    _remove, _remove, _swap_ids, _repeat_id, _drop_id, _empty_reference, _empty_reference,
    _lead_elsewhere, _lead_elsewhere, _garble_attribute, _garble_attribute, _garble_text,
    _flip_flag, _flip_flag, _move, _move_node, _move_node, _change_namespace, _retype_event,
    _retype_event, _retype_definition, _retype_definition, _add_definition, _retype_node,
    _retype_node, _add_loop, _attach_event, _duplicate, _wrap_in_process,
)  # fmt: skip
