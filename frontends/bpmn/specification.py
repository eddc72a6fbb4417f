"""Requirements of the specification on a file apart from its flow: one walk over the elements
passes each tag to its checks. Data, references and expressions that the IR does not keep are
checked while they are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property

from orgflow.frontends.bpmn.bpmn_reading import Reading
from orgflow.frontends.bpmn.reading_rules import InvalidValue, UnknownReference
from orgflow.frontends.bpmn.specification_rules import (
    ChoreographyContent,
    Contradiction,
    DataReferenceName,
    DataSets,
    DataTypeMismatch,
    EmptyExpression,
    GatewayDirection,
    ImportNotRead,
    InformalExpression,
    LinkEnds,
    MissingFlowList,
    MissingForEngine,
    MissingPart,
    SubProcessData,
    SurplusData,
    WrongReference,
)
from orgflow.frontends.bpmn.xml.bpmn_names import BPMN, GATEWAYS, XSI
from orgflow.frontends.xml.tree import XmlElement, describe_element, element_label

from orgflow_ir.diagnostics import Rule

Check = Callable[["_Specification", XmlElement], None]


def check_specification(r: Reading) -> None:
    """Report violations of the specification by the elements of a document."""
    state = _Specification(r)
    table = _CHECKS if any(map(state.on, _OPTIONAL_RULES)) else _ALWAYS
    for node in r.document.elements:
        if node.local in table and node.ns == BPMN:
            for check in table[node.local]:
                check(state, node)


class _Specification:
    """The document, and what several checks look up in it."""

    def __init__(self, r: Reading) -> None:
        self.r = r
        self.told_delayed = False

    @cached_property
    def parents(self) -> dict[XmlElement, XmlElement]:
        return {c: node for node in self.r.document.elements for c in node.children}

    def on(self, rule: type[Rule]) -> bool:
        """Whether a rule that takes time to check is reported."""
        return self.r.ctx.grading.reports(rule)

    def around(self, node: XmlElement) -> Iterator[XmlElement]:
        """The elements around one, nearest first."""
        parents = self.parents
        while node in parents:
            node = parents[node]
            yield node

    def executable(self, node: XmlElement) -> bool:
        """Whether a node is in a process that is to be executed."""
        for outer in self.around(node):
            if outer.local == "process":
                return outer.attrs.get("isExecutable", "").strip() in ("true", "1")
        return False

    def report(self, rule: type[Rule], message: str, node: XmlElement, help: str) -> None:
        """A finding at an element; one without an id is about what is around it."""
        of = node
        if not node.attrs.get("id", "").strip():
            of = next((o for o in self.around(node) if o.attrs.get("id", "").strip()), node)
        self.r.report(rule, message, node, help=help, of=of)

    def named(self, node: XmlElement) -> str:
        """How messages name an element: by its tag and label; one without a label by what it
        connects or what it is in; by its id where nothing around it has a label, or where
        something like it stands there, too."""
        own = element_label(node)
        if own:
            return f"`{node.local}` `{own}`"
        if place := self._between_labels(node):
            return f"the `{node.local}` {place}"
        key = node.attrs.get("id", "").strip()
        if node.local == "process":
            pools = [
                p for p in self._list_pools if p.attrs.get("processRef") == key and element_label(p)
            ]
            if pools:
                return f"the `process` of the pool `{element_label(pools[0])}`"
        for outer in self.around(node):
            if element_label(outer):
                like = (e for e in outer.descendants() if e.local == node.local)
                which = f"`{node.local}` `{key}`" if key and len(list(like)) > 1 else ""
                return f"{which or f'the `{node.local}`'} of `{element_label(outer)}`"
        if key:
            return f"`{node.local}` `{key}`"
        outer = next(
            (o for o in self.around(node) if o.attrs.get("id", "").strip()), self.r.document.root
        )
        return f"the `{node.local}` of {describe_element(outer)}"

    def names(self, first_element: XmlElement, second_element: XmlElement) -> tuple[str, str]:
        """The names of two elements of one message; by id or line as well where they are alike."""
        first, second = self.named(first_element), self.named(second_element)
        if first != second or first_element is second_element:
            return first, second
        if not all(e.attrs.get("id", "").strip() for e in (first_element, second_element)):
            return f"{first} (line {first_element.line})", f"{second} (line {second_element.line})"
        first, second = (
            f"{first} (`{e.attrs['id'].strip()}`)" for e in (first_element, second_element)
        )
        return first, second

    def part(self, held: XmlElement, owner: XmlElement) -> str:
        """The name of data with that of the element that has it."""
        own = (
            f"`{held.local}` `{element_label(held)}`"
            if element_label(held)
            else f"the `{held.local}`"
        )
        return f"{own} of {self.named(owner)}"

    def _between_labels(self, node: XmlElement) -> str:
        """The labels of what a flow or a data association connects; empty where none has one."""
        if "sourceRef" in node.attrs or "targetRef" in node.attrs:
            ends = [node.attrs.get("sourceRef"), node.attrs.get("targetRef")]
        elif node.local in ("dataInputAssociation", "dataOutputAssociation"):
            ends = [text_of(node, "sourceRef"), text_of(node, "targetRef")]
        else:
            return ""
        end_elements = {
            word: end
            for word, reference in zip(("from", "to"), ends, strict=True)
            if (end := self.find(reference)) is not None and element_label(end)
        }
        alike = len({element_label(end) for end in end_elements.values()}) < len(end_elements)
        one_tag = len({end.local for end in end_elements.values()}) < len(end_elements)
        words = []
        for word, end in end_elements.items():
            tag = f"`{end.local}` " if alike else ""
            key = f" (`{end.attrs['id'].strip()}`)" if alike and one_tag else ""
            words.append(f"{word} {tag}`{element_label(end)}`{key}")
        owner = next((o for o in self.around(node) if element_label(o)), None)
        if words and node.local.startswith("data") and owner is not None:
            return f"of `{element_label(owner)}` {' '.join(words)}"
        return " ".join(words)

    @cached_property
    def _list_pools(self) -> list[XmlElement]:
        return [e for e in self.r.document.elements if e.local == "participant" and e.ns == BPMN]

    def find(self, reference: str | None) -> XmlElement | None:
        """The element that the text of a reference means."""
        name = self.r.resolve(reference) if reference else None
        return self.r.ids.get(name) if name is not None else None

    def structure(self, item: str | None) -> str | None:
        """What a reference to an item definition stands for: its structure, else itself; `None`
        where that is not known."""
        item_element = self.find(item)
        if item_element is None or item_element.local != "itemDefinition":
            return None
        return item_element.attrs.get("structureRef", "").strip() or item_element.attrs.get("id")

    def type_of(self, data: XmlElement | None) -> str | None:
        """The type of something that holds data; that of a reference is its object's."""
        if data is None:
            return None
        if "itemSubjectRef" in data.attrs:
            return self.structure(data.attrs["itemSubjectRef"])
        for reference in ("dataObjectRef", "dataStoreRef"):
            if reference in data.attrs:
                held = self.find(data.attrs[reference])
                return (
                    self.structure(held.attrs.get("itemSubjectRef")) if held is not None else None
                )
        return None


def list_children(node: XmlElement, *tags: str) -> list[XmlElement]:
    """The BPMN children of an element with one of these tags."""
    return [c for c in node.children if c.local in tags and c.ns == BPMN]


def count_words(number: int, word: str) -> str:
    """`1 input`, `2 inputs`, `no input`."""
    return f"{number or 'no'} {word}{'s' if number > 1 else ''}"


def text_of(node: XmlElement, tag: str) -> str | None:
    """The text of the first child with a tag."""
    text_elements = list_children(node, tag)
    return text_elements[0].text.strip() if text_elements else None


# -- references --------------------------------------------------------------------------------

_CALLABLE = frozenset(
    ("process", "globalTask", "globalUserTask", "globalManualTask", "globalScriptTask",
     "globalBusinessRuleTask")
)  # fmt: skip
_ITEM = frozenset(("itemDefinition",))
_DATA = frozenset(
    ("dataObject", "dataObjectReference", "dataStore", "dataStoreReference", "property",
     "dataInput", "dataOutput")
)  # fmt: skip
_DEFINITIONS = frozenset(
    f"{kind}EventDefinition"
    for kind in ("cancel", "compensate", "conditional", "error", "escalation", "link", "message",
                 "signal", "terminate", "timer")
)  # fmt: skip
_PARTICIPANT = frozenset(("participant",))
_MESSAGE = frozenset(("message",))
_OPERATION = frozenset(("operation",))


def _single_tag(tag: str) -> frozenset[str]:
    return frozenset((tag,))


REFERENCES: Mapping[str, Mapping[str, tuple[frozenset[str], bool]]] = {
    "callActivity": {"calledElement": (_CALLABLE, False)},
    "correlationKey": {"correlationPropertyRef": (_single_tag("correlationProperty"), False)},
    "correlationPropertyBinding": {
        "correlationPropertyRef": (_single_tag("correlationProperty"), True)
    },
    "correlationPropertyRetrievalExpression": {"messageRef": (_MESSAGE, True)},
    "correlationSubscription": {"correlationKeyRef": (_single_tag("correlationKey"), True)},
    "dataInput": {"itemSubjectRef": (_ITEM, True)},
    "dataInputAssociation": {"sourceRef": (_DATA, False), "targetRef": (_DATA, True)},
    "dataObject": {"itemSubjectRef": (_ITEM, True)},
    "dataObjectReference": {
        "dataObjectRef": (_single_tag("dataObject"), False), "itemSubjectRef": (_ITEM, True),
    },
    "dataOutput": {"itemSubjectRef": (_ITEM, True)},
    "dataOutputAssociation": {"sourceRef": (_DATA, True), "targetRef": (_DATA, False)},
    "dataStore": {"itemSubjectRef": (_ITEM, True)},
    "dataStoreReference": {
        "dataStoreRef": (_single_tag("dataStore"), False), "itemSubjectRef": (_ITEM, True),
    },
    "error": {"structureRef": (_ITEM, True)},
    "errorEventDefinition": {"errorRef": (_single_tag("error"), False)},
    "escalation": {"structureRef": (_ITEM, True)},
    "escalationEventDefinition": {"escalationRef": (_single_tag("escalation"), False)},
    "group": {"categoryValueRef": (_single_tag("categoryValue"), True)},
    "inputSet": {
        "dataInputRefs": (_single_tag("dataInput"), True),
        "optionalInputRefs": (_single_tag("dataInput"), True),
        "whileExecutingInputRefs": (_single_tag("dataInput"), True),
        "outputSetRefs": (_single_tag("outputSet"), True),
    },
    "ioBinding": {
        "operationRef": (_OPERATION, True), "inputDataRef": (_single_tag("dataInput"), True),
        "outputDataRef": (_single_tag("dataOutput"), True),
    },
    "message": {"itemRef": (_ITEM, True)},
    "messageEventDefinition": {
        "messageRef": (_MESSAGE, False), "operationRef": (_OPERATION, True),
    },
    "messageFlow": {"messageRef": (_MESSAGE, False)},
    "multiInstanceLoopCharacteristics": {
        "loopDataInputRef": (_DATA, False), "loopDataOutputRef": (_DATA, False),
        "oneBehaviorEventRef": (_DEFINITIONS, True), "noneBehaviorEventRef": (_DEFINITIONS, True),
    },
    "operation": {
        "inMessageRef": (_MESSAGE, True), "outMessageRef": (_MESSAGE, True),
        "errorRef": (_single_tag("error"), True),
    },
    "outputSet": {
        "dataOutputRefs": (_single_tag("dataOutput"), True),
        "optionalOutputRefs": (_single_tag("dataOutput"), True),
        "whileExecutingOutputRefs": (_single_tag("dataOutput"), True),
        "inputSetRefs": (_single_tag("inputSet"), True),
    },
    "participant": {
        "processRef": (_single_tag("process"), False),
        "interfaceRef": (_single_tag("interface"), True),
        "endPointRef": (_single_tag("endPoint"), True),
    },
    "participantAssociation": {
        "innerParticipantRef": (_PARTICIPANT, True), "outerParticipantRef": (_PARTICIPANT, True),
    },
    "partnerEntity": {"participantRef": (_PARTICIPANT, True)},
    "partnerRole": {"participantRef": (_PARTICIPANT, True)},
    "performer": {"resourceRef": (_single_tag("resource"), True)},
    "humanPerformer": {"resourceRef": (_single_tag("resource"), True)},
    "potentialOwner": {"resourceRef": (_single_tag("resource"), True)},
    "process": {
        "definitionalCollaborationRef": (_single_tag("collaboration"), True),
        "supportedInterfaceRef": (_single_tag("interface"), True),
    },
    "property": {"itemSubjectRef": (_ITEM, True)},
    "receiveTask": {"messageRef": (_MESSAGE, False), "operationRef": (_OPERATION, False)},
    "resourceParameterBinding": {"parameterRef": (_single_tag("resourceParameter"), True)},
    "sendTask": {"messageRef": (_MESSAGE, False), "operationRef": (_OPERATION, False)},
    "serviceTask": {"operationRef": (_OPERATION, False)},
    "signal": {"structureRef": (_ITEM, True)},
    "signalEventDefinition": {"signalRef": (_single_tag("signal"), False)},
}  # fmt: skip
"""References by tag: the tags that they may refer to, and whether a missing one is reported here
(the others are reported by their readers). Derived from the class diagrams of the specification."""


def _check_references(s: _Specification, node: XmlElement) -> None:
    for name, (tags, report_missing) in REFERENCES[node.local].items():
        if name in node.attrs:
            _check_reference(s, node, name, node.attrs[name], tags, report_missing)
    if node.children:
        known = REFERENCES[node.local]
        for child in node.children:
            if child.ns == BPMN and child.local in known and not child.children:
                tags, report_missing = known[child.local]
                _check_reference(s, node, child.local, child.text, tags, report_missing)


def _check_reference(
    s: _Specification,
    node: XmlElement,
    name: str,
    value: str,
    tags: frozenset[str],
    report_missing: bool,
) -> None:
    """Report a reference to nothing, or to what it cannot mean. One with the prefix of another
    namespace is about another document, or a type of XML Schema."""
    target = s.r.resolve(value)
    if target is None or ":" in target:
        return
    referred = s.r.ids.get(target)
    wanted = "an activity of its type" if len(tags) > 6 else " or ".join(sorted(tags))
    if referred is None:
        if report_missing:
            s.report(
                UnknownReference,
                f"{s.named(node)}: `{name}` is `{target}`, which is not in the file",
                node,
                "reference an element of this file, or remove the reference",
            )
    elif referred.local not in tags and referred.ns == BPMN and referred is not node:
        own, other = s.names(node, referred)
        s.report(
            WrongReference,
            f"{own}: `{name}` is {other}",
            node,
            f"name a {wanted}"
            if len(tags) <= 6
            else ("reference a data object, an input or an output"),
        )


# -- required parts ----------------------------------------------------------------------------

_REQUIRED: Mapping[str, tuple[str, ...]] = {
    "assignment": ("from", "to"),
    "complexBehaviorDefinition": ("condition",),
    "correlationProperty": ("correlationPropertyRetrievalExpression",),
    "correlationPropertyBinding": ("@correlationPropertyRef", "dataPath"),
    "correlationPropertyRetrievalExpression": ("@messageRef", "messagePath"),
    "correlationSubscription": ("@correlationKeyRef",),
    "dataInputAssociation": ("targetRef",),
    "dataOutputAssociation": ("targetRef",),
    "import": ("@importType", "@location", "@namespace"),
    "interface": ("@name", "operation"),
    "ioBinding": ("@operationRef", "@inputDataRef", "@outputDataRef"),
    "ioSpecification": ("inputSet", "outputSet"),
    "operation": ("@name", "inMessageRef"),
    "participantAssociation": ("innerParticipantRef", "outerParticipantRef"),
    "resourceAssignmentExpression": ("expression",),
    "association": ("@sourceRef", "@targetRef"),
}
"""The requirements of Semantic.xsd for each tag: attributes with `@`, elements without."""


def _check_required(s: _Specification, node: XmlElement) -> None:
    for part in _REQUIRED[node.local]:
        name = part.removeprefix("@")
        if part.startswith("@"):
            missing = not node.attrs.get(name, "").strip()
        elif name == "expression":
            missing = not list_children(node, "expression", "formalExpression")
        else:
            missing = not list_children(node, name)
        if missing:
            kind = "attribute" if part.startswith("@") else "element"
            s.report(
                MissingPart,
                f"{s.named(node)} lacks the {kind} `{name}`",
                node,
                f"add the {kind}; BPMN requires it",
            )


def _io_binding(s: _Specification, node: XmlElement) -> None:
    """A process or global task that is a service says which data its operations use."""
    if list_children(node, "supportedInterfaceRef") and not list_children(node, "ioBinding"):
        s.report(
            MissingPart,
            f"{s.named(node)} supports an interface and lacks the element `ioBinding`",
            node,
            "bind an input and an output to each operation",
        )
    for binding in list_children(node, "ioBinding"):
        operation = s.find(binding.attrs.get("operationRef"))
        if operation is None:
            continue
        own, bound = s.names(node, operation)
        for data, message in (("inputDataRef", "inMessageRef"), ("outputDataRef", "outMessageRef")):
            _same_type(
                s, binding, s.type_of(s.find(binding.attrs.get(data))),
                _message_type(s, text_of(operation, message)),
                f"{own} binds {{}} to {bound}, whose message is {{}}",
            )  # fmt: skip


# -- data --------------------------------------------------------------------------------------


def _message_type(s: _Specification, message: str | None) -> str | None:
    message_element = s.find(message)
    return (
        s.structure(message_element.attrs.get("itemRef")) if message_element is not None else None
    )


def _same_type(
    s: _Specification,
    node: XmlElement,
    first_type: str | None,
    second_type: str | None,
    message: str,
) -> None:
    """Report two types that are known and differ; `message` has a place for each."""
    if first_type is not None and second_type is not None and first_type != second_type:
        s.report(
            DataTypeMismatch,
            message.format(f"`{first_type}`", f"`{second_type}`"),
            node,
            "use the same type at both ends, or transform the data",
        )


def _io_specification(s: _Specification, node: XmlElement) -> None:
    outer = s.parents.get(node)
    if outer is not None and outer.local in ("subProcess", "transaction", "adHocSubProcess"):
        s.report(
            SubProcessData,
            f"{s.named(outer)} has an `ioSpecification`",
            node,
            "move the inputs and outputs to the activities inside it",
        )
    inputs, outputs = list_children(node, "inputSet"), list_children(node, "outputSet")
    _check_sets(s, node, "dataInput", inputs, "dataInputRefs", "input set")
    _check_sets(s, node, "dataOutput", outputs, "dataOutputRefs", "output set")
    for sets, mine, others, theirs in (
        (inputs, "outputSetRefs", outputs, "inputSetRefs"),
        (outputs, "inputSetRefs", inputs, "outputSetRefs"),
    ):
        by_id = {o.attrs.get("id", "").strip(): o for o in others}
        for data_set in sets:
            own = data_set.attrs.get("id", "").strip()
            for reference in list_children(data_set, mine):
                other = by_id.get(reference.text.strip())
                back = list_children(other, theirs) if other is not None else []
                if other is not None and own not in {c.text.strip() for c in back}:
                    this, that = s.names(data_set, other)
                    s.report(
                        DataSets,
                        f"{this} refers to {that}, which does not refer back",
                        data_set,
                        f"add `{theirs}` with `{own}` to {describe_element(other)}",
                    )


def _check_sets(
    s: _Specification,
    node: XmlElement,
    tag: str,
    sets: list[XmlElement],
    listing: str,
    word: str,
) -> None:
    listed: set[str] = set()
    for data_set in sets:
        own = {c.text.strip() for c in list_children(data_set, listing)}
        listed |= own
        kind = "Input" if tag == "dataInput" else "Output"
        for part in (f"optional{kind}Refs", f"whileExecuting{kind}Refs"):
            for reference in list_children(data_set, part):
                name = reference.text.strip()
                if name not in own:
                    s.report(
                        DataSets,
                        f"{s.named(data_set)} has `{name}` in `{part}` and not in `{listing}`",
                        data_set,
                        f"add `{listing}` with `{name}`",
                    )
    for data in list_children(node, tag):
        name = data.attrs.get("id", "").strip()
        if name and name not in listed:
            s.report(
                DataSets,
                f"{s.named(data)} is in no {word}",
                data,
                f"add `{listing}` with `{name}` to an {word}",
            )


def _check_association(s: _Specification, node: XmlElement) -> None:
    if list_children(node, "transformation"):
        return
    tool_maps = bool(list_children(node, "extensionElements", "assignment"))
    sources = list_children(node, "sourceRef")
    if len(sources) > 1:
        s.report(
            SurplusData,
            f"{s.named(node)} has {len(sources)} sources and no transformation",
            node,
            "transform them into one, or use a separate association for each",
        )
    if sources and not tool_maps:
        target = text_of(node, "targetRef")
        _same_type(
            s, node, s.type_of(s.find(sources[0].text)), s.type_of(s.find(target)),
            f"{s.named(node)} takes data of the type {{}} to data of the type {{}}",
        )  # fmt: skip


def _check_collection(s: _Specification, node: XmlElement) -> None:
    item = s.find(node.attrs.get("itemSubjectRef"))
    if item is None or item.local != "itemDefinition":
        return
    own, types = (
        e.attrs.get("isCollection", "false").strip() in ("true", "1") for e in (node, item)
    )
    if own != types:
        structure = s.structure(node.attrs["itemSubjectRef"])
        s.report(
            DataTypeMismatch,
            f"{s.named(node)} is {'a' if own else 'no'} collection, its type `{structure}` is "
            f"{'one' if types else 'none'}",
            node,
            "use the same `isCollection` for both",
        )


def _task_data(s: _Specification, node: XmlElement) -> None:
    """Inputs and outputs of a task for one message, or for one operation."""
    specifications = list_children(node, "ioSpecification")
    message, operation = node.attrs.get("messageRef"), node.attrs.get("operationRef")
    if not specifications:
        if operation is not None and node.local == "serviceTask" and s.on(MissingForEngine):
            _for_engine(s, node, "input set for its operation")
        return
    data = specifications[0]
    sets = {
        tag: len(list_children(data, tag))
        for tag in ("inputSet", "outputSet", "dataInput", "dataOutput")
    }
    wanted: list[tuple[str, str, str | None]] = []
    if node.local == "serviceTask" and operation is not None:
        operation_element = s.find(operation)
        if sets["inputSet"] != 1:
            _report_surplus(
                s, node, f"{count_words(sets['inputSet'], 'input set')} for its operation", "one"
            )
        if sets["outputSet"] > 1:
            _report_surplus(
                s, node, f"{sets['outputSet']} output sets for its operation", "one at most"
            )
        if operation_element is not None:
            wanted = [
                (
                    "dataInput",
                    "the request of its operation",
                    text_of(operation_element, "inMessageRef"),
                ),
                (
                    "dataOutput",
                    "the answer of its operation",
                    text_of(operation_element, "outMessageRef"),
                ),
            ]
    elif node.local in ("sendTask", "receiveTask") and message is not None:
        kind = "Input" if node.local == "sendTask" else "Output"
        for tag in (f"{kind.lower()}Set", f"data{kind}"):
            if sets[tag] > 1:
                _report_surplus(
                    s, node, f"{sets[tag]} elements `{tag}` for its message", "one at most"
                )
        wanted = [(f"data{kind}", "its message", message)]
    for tag, what, reference in wanted:
        for held in list_children(data, tag)[:1]:
            _same_type(
                s, held, s.type_of(held), _message_type(s, reference),
                f"{s.part(held, node)} is of the type {{}}, {what} of the type {{}}",
            )  # fmt: skip


def _report_surplus(s: _Specification, node: XmlElement, what: str, wanted: str) -> None:
    s.report(SurplusData, f"{s.named(node)} has {what}", node, f"keep {wanted}")


def _event_data(s: _Specification, node: XmlElement) -> None:
    """The data of an event: one input or output for each of its triggers, of the same type."""
    data = list_children(node, "dataInput", "dataOutput")
    if not data:
        return
    triggers = [
        c for c in node.children
        if c.ns == BPMN and (c.local in _DEFINITIONS or c.local == "eventDefinitionRef")
    ]  # fmt: skip
    if len(data) != len(triggers):
        what = "data input" if data[0].local == "dataInput" else "data output"
        _report_surplus(
            s,
            node,
            f"{count_words(len(data), what)} for {count_words(len(triggers), 'trigger')}",
            "one for each trigger",
        )
        return
    for held, trigger in zip(data, triggers, strict=True):
        definition = trigger if trigger.local in _DEFINITIONS else s.find(trigger.text)
        if definition is None:
            continue
        kind = definition.local.removesuffix("EventDefinition")
        entry = s.find(definition.attrs.get(f"{kind}Ref"))
        if entry is None:
            continue
        item = entry.attrs.get("itemRef" if kind == "message" else "structureRef")
        _same_type(
            s, held, s.type_of(held), s.structure(item),
            f"{s.part(held, node)} is of the type {{}}, {s.named(entry)} of the type {{}}",
        )  # fmt: skip


def _called_data(s: _Specification, node: XmlElement) -> None:
    """A call activity has the inputs and outputs of what it calls."""
    called = s.find(node.attrs.get("calledElement"))
    if called is None or called.local not in _CALLABLE:
        return
    mine, theirs = list_children(node, "ioSpecification"), list_children(called, "ioSpecification")
    if not mine and not theirs:
        return
    own_name, called_name = s.names(node, called)
    for tag, word in (("dataInput", "input"), ("dataOutput", "output")):
        own = [d for specification in mine for d in list_children(specification, tag)]
        other = [d for specification in theirs for d in list_children(specification, tag)]
        if len(own) != len(other):
            s.report(
                DataTypeMismatch,
                f"{own_name} has {count_words(len(own), word)}, {called_name}, which it calls, has "
                f"{len(other) or 'none'}",
                node,
                "give the call the inputs and outputs of the called element",
            )
            return
        for own_item, called_item in zip(own, other, strict=True):
            _same_type(
                s, own_item, s.type_of(own_item), s.type_of(called_item),
                f"{s.part(own_item, node)} is of the type {{}}, that of {called_name} of the "
                f"type {{}}",
            )  # fmt: skip


def _check_instances(s: _Specification, node: XmlElement) -> None:
    """Items of a multi-instance activity have the type of the list's parts."""
    for listing, part in (
        ("loopDataInputRef", "inputDataItem"), ("loopDataOutputRef", "outputDataItem"),
    ):  # fmt: skip
        items = list_children(node, part)
        held = s.find(text_of(node, listing))
        if items and held is not None:
            _same_type(
                s, node, s.type_of(held), s.type_of(items[0]),
                f"the list of {s.named(node)} is of the type {{}}, its item of the type {{}}",
            )  # fmt: skip
    if not s.on(MissingForEngine) or not s.executable(node):
        return
    owner = s.parents[node]
    reference = text_of(node, "loopDataInputRef")
    if reference is None and not list_children(node, "loopCardinality"):
        _for_engine(s, owner, "number or list of its instances")
    elif reference is not None and owner.local not in ("subProcess", "transaction"):
        inputs = (
            d
            for specification in list_children(owner, "ioSpecification")
            for d in list_children(specification, "dataInput")
        )
        if reference not in {d.attrs.get("id", "").strip() for d in inputs}:
            _for_engine(s, owner, "data input for its list")


# -- expressions, engines ----------------------------------------------------------------------


def _for_engine(s: _Specification, node: XmlElement, what: str) -> None:
    s.report(
        MissingForEngine,
        f"{s.named(node)} is executable and lacks the {what}",
        node,
        "add it, unless your engine uses its own attribute for it",
    )


def _check_expression(s: _Specification, node: XmlElement) -> None:
    kind = next(
        (
            v
            for k, v in node.attrs.items()
            if ":" in k and node.scope.attribute_name(k) == (XSI, "type")
        ),
        "",
    )
    formal = kind.endswith("tFormalExpression") or node.local in _FORMAL
    text = node.text.strip()
    if not text and not node.children and formal:
        s.report(
            EmptyExpression, f"{s.named(node)} is empty", node, "write the expression, or remove it"
        )
    elif text and not formal and s.on(InformalExpression) and s.executable(node):
        s.report(
            InformalExpression,
            f"{s.named(node)} is natural language in an executable process: it is not marked as a "
            "formal expression",
            node,
            'add xsi:type="tFormalExpression"',
        )


_FORMAL = ("dataPath", "messagePath", "transformation", "formalExpression")
"""Expressions whose type is formal by the schema."""


def _message_event(s: _Specification, node: XmlElement) -> None:
    if s.on(MissingForEngine) and s.executable(node):
        if "messageRef" not in node.attrs:
            _for_engine(s, node, "message")
        if not list_children(node, "operationRef"):
            _for_engine(s, node, "operation")


def _escalation_event(s: _Specification, node: XmlElement) -> None:
    if not s.on(MissingForEngine) or not s.executable(node):
        return
    if s.parents[node].local in ("endEvent", "intermediateThrowEvent"):
        entry = s.find(node.attrs.get("escalationRef"))
        if entry is None or not entry.attrs.get("escalationCode", "").strip():
            _for_engine(s, node, "code of its escalation")


def _check_script(s: _Specification, node: XmlElement) -> None:
    if (
        s.on(MissingForEngine)
        and list_children(node, "script")
        and "scriptFormat" not in node.attrs
    ):
        _for_engine(s, node, "format of its script")


# -- attributes --------------------------------------------------------------------------------


def _check_process(s: _Specification, node: XmlElement) -> None:
    public = node.attrs.get("processType", "").strip() == "Public"
    if public and node.attrs.get("isExecutable", "").strip() in ("true", "1"):
        s.report(
            Contradiction,
            f"{s.named(node)} is public and executable",
            node,
            "a public process shows only its interaction with others; make an executable process "
            "private",
        )


def _check_immediate(s: _Specification, node: XmlElement) -> None:
    """One finding for all flows of a process: where one is delayed, mostly all are."""
    delayed = node.attrs.get("isImmediate", "").strip() in ("false", "0")
    if not delayed or s.told_delayed or not s.executable(node):
        return
    s.told_delayed = True
    s.report(
        Contradiction,
        f"{s.named(node)} is not immediate, but its process is executable",
        node,
        "remove `isImmediate` from all flows, or model the intermediate steps",
    )


def _flow_lists(s: _Specification, node: XmlElement) -> None:
    if not s.on(MissingFlowList):
        return
    name = node.attrs.get("id", "").strip()
    for end, tag in (("sourceRef", "outgoing"), ("targetRef", "incoming")):
        end_element = s.find(node.attrs.get(end))
        if end_element is None:
            continue
        if name not in {s.r.resolve(c.text) for c in list_children(end_element, tag)}:
            s.report(
                MissingFlowList,
                f"{s.named(end_element)} does not list {s.named(node)} as `{tag}`",
                node,
                f"add `{tag}` with `{name}` to {describe_element(end_element)}",
            )


def _check_direction(s: _Specification, node: XmlElement) -> None:
    direction = node.attrs.get("gatewayDirection", "").strip()
    name = node.attrs.get("id", "").strip()
    if not direction or direction == "Unspecified" or not name:
        return
    into, out = s.r.targets.get(name, 0), s.r.sources.get(name, 0)
    fits = {
        "Converging": out <= 1, "Diverging": into <= 1, "Mixed": into > 1 and out > 1,
    }  # fmt: skip
    if not fits.get(direction, True):
        s.report(
            GatewayDirection,
            f"{s.named(node)} is `{direction}`, and has {count_words(into, 'way')} in and "
            f"{count_words(out, 'way')} out",
            node,
            "correct `gatewayDirection`, or the flows",
        )


def _check_quantity(s: _Specification, node: XmlElement) -> None:
    """Numbers below the least that makes sense."""
    numbers: dict[str, int] = {}
    for name, low in _QUANTITIES[node.local].items():
        if name not in node.attrs:
            continue
        text = node.attrs[name].strip()
        if not text.lstrip("+-").isdecimal():
            continue
        numbers[name] = int(text)
        if numbers[name] < low:
            s.report(
                InvalidValue,
                f"{s.named(node)}: `{name}` is `{text}`, which is less than {low}",
                node,
                f"write {low} or more",
            )
    if numbers.get("maximum", 1) < numbers.get("minimum", 0) and "maximum" in numbers:
        s.report(
            InvalidValue,
            f"{s.named(node)}: `maximum` is less than `minimum`",
            node,
            "make `maximum` at least `minimum`",
        )


_ACTIVITIES = (
    "task", "userTask", "manualTask", "serviceTask", "scriptTask", "sendTask", "receiveTask",
    "businessRuleTask", "callActivity", "subProcess", "transaction", "adHocSubProcess",
)  # fmt: skip
_QUANTITIES: Mapping[str, Mapping[str, int]] = {
    **{tag: {"startQuantity": 1, "completionQuantity": 1} for tag in _ACTIVITIES},
    "participantMultiplicity": {"minimum": 0, "maximum": 1},
}
"""The minimum value of each number."""


def _check_choreography(s: _Specification, node: XmlElement) -> None:
    if node.local != "collaboration" and list_children(node, "choreographyRef"):
        s.report(
            ChoreographyContent,
            f"{s.named(node)} refers to a choreography",
            node,
            "remove `choreographyRef`",
        )
    if node.local == "globalConversation":
        for child in node.children:
            if child.ns == BPMN and child.local in _NOT_GLOBAL:
                s.report(
                    ChoreographyContent,
                    f"{s.named(child)} has no place in {s.named(node)}",
                    child,
                    "move it into a collaboration",
                )
    if node.local == "collaboration":
        for reference in list_children(node, "choreographyRef"):
            referred = s.find(reference.text)
            if referred is None:
                continue
            closed = [
                e.attrs.get("isClosed", "false").strip() in ("true", "1") for e in (node, referred)
            ]
            if closed[0] != closed[1]:
                own_name, other_name = s.names(node, referred)
                s.report(
                    Contradiction,
                    f"{own_name} is {'' if closed[0] else 'not '}closed, its choreography "
                    f"{other_name} is "
                    f"{'' if closed[1] else 'not '}closed",
                    node,
                    "use the same `isClosed` for both",
                )


_NOT_GLOBAL = (
    "conversation", "subConversation", "callConversation", "participantAssociation",
    "messageFlowAssociation", "conversationAssociation", "association", "group", "textAnnotation",
)  # fmt: skip


def _reference_name(s: _Specification, node: XmlElement) -> None:
    if not s.on(DataReferenceName):
        return
    held = s.find(node.attrs.get("dataObjectRef"))
    name = " ".join(node.attrs.get("name", "").split())
    base = " ".join(held.attrs.get("name", "").split()) if held is not None else ""
    if not name or not base:
        return
    states = list_children(node, "dataState")
    state = states[0].attrs.get("name", "").strip() if states else ""
    wanted = f"{base} [{state}]" if state else base
    if name != wanted:
        s.report(
            DataReferenceName,
            f"{s.named(node)} references the data object `{base}` but does not use its name",
            node,
            f"name it `{wanted}`",
        )


def _check_link(s: _Specification, node: XmlElement) -> None:
    if not s.on(LinkEnds):
        return
    catches = s.parents[node].local == "intermediateCatchEvent"
    mine, theirs = ("source", "target") if catches else ("target", "source")
    ends = list_children(node, mine)
    if not ends or (len(ends) > 1 and not catches):
        count = "at least one" if catches else "exactly one"
        s.report(
            LinkEnds,
            f"{s.named(node)} has {len(ends)} elements `{mine}`",
            node,
            f"name {count}: the link to pair it with",
        )
    own = node.attrs.get("id", "").strip()
    for end in ends:
        other = s.find(end.text)
        back = list_children(other, theirs) if other is not None else []
        if other is not None and own not in {c.text.strip() for c in back}:
            s.report(
                LinkEnds,
                "{} names {}, which does not name it back back".format(*s.names(node, other)),
                node,
                f"add `{theirs}` with `{own}` to {describe_element(other)}",
            )


def _check_import(s: _Specification, node: XmlElement) -> None:
    s.report(
        ImportNotRead,
        f"`{node.attrs.get('location', '').strip()}` is imported and not read",
        node,
        "copy the required definitions into this file",
    )


def _build_table() -> Mapping[str, tuple[Check, ...]]:
    checks_by_tag: dict[str, list[Check]] = {}
    for tag in REFERENCES:
        checks_by_tag.setdefault(tag, []).append(_check_references)
    for tag in _REQUIRED:
        checks_by_tag.setdefault(tag, []).append(_check_required)
    for tag in _QUANTITIES:
        checks_by_tag.setdefault(tag, []).append(_check_quantity)
    for tag in (*_CALLABLE,):
        checks_by_tag.setdefault(tag, []).append(_io_binding)
    expressions = (
        "conditionExpression", "condition", "activationCondition", "completionCondition",
        "loopCardinality", "loopCondition", "timeDate", "timeDuration", "timeCycle", "from", "to",
        *_FORMAL,
    )  # fmt: skip
    for tags, check in (
        (("ioSpecification",), _io_specification),
        (("dataInputAssociation", "dataOutputAssociation"), _check_association),
        (("dataObject", "dataInput", "dataOutput"), _check_collection),
        (("serviceTask", "sendTask", "receiveTask"), _task_data),
        (("startEvent", "endEvent", "intermediateCatchEvent", "intermediateThrowEvent",
          "boundaryEvent"), _event_data),
        (("callActivity",), _called_data),
        (("multiInstanceLoopCharacteristics",), _check_instances),
        (expressions, _check_expression),
        (("messageEventDefinition",), _message_event),
        (("escalationEventDefinition",), _escalation_event),
        (("scriptTask",), _check_script),
        (("process",), _check_process),
        (("sequenceFlow",), _check_immediate),
        (("sequenceFlow",), _flow_lists),
        (tuple(GATEWAYS), _check_direction),
        (("collaboration", "choreography", "globalConversation"), _check_choreography),
        (("dataObjectReference",), _reference_name),
        (("linkEventDefinition",), _check_link),
        (("import",), _check_import),
    ):  # fmt: skip
        for tag in tags:
            checks_by_tag.setdefault(tag, []).append(check)
    return {tag: tuple(checks) for tag, checks in checks_by_tag.items()}


_CHECKS = _build_table()
_OPTIONAL: Mapping[Check, type[Rule]] = {
    _check_expression: InformalExpression,
    _message_event: MissingForEngine,
    _escalation_event: MissingForEngine,
    _check_script: MissingForEngine,
    _flow_lists: MissingFlowList,
    _reference_name: DataReferenceName,
    _check_link: LinkEnds,
    _check_import: ImportNotRead,
}
"""Checks for optional rules only."""
_OPTIONAL_RULES: tuple[type[Rule], ...] = (EmptyExpression, *_OPTIONAL.values())
_ALWAYS = {
    tag: kept
    for tag, checks in _CHECKS.items()
    if (kept := tuple(c for c in checks if c not in _OPTIONAL))
}
