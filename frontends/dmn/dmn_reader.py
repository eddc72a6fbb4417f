"""Reads DMN 1.1 to 1.5: the elements of all versions have the same names, and only their
namespaces differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from orgflow.frontends.dmn.columns import column_type, convert_cell, engine_of
from orgflow.frontends.dmn.dmn_names import NAMESPACES
from orgflow.frontends.dmn.flowable import in_feel, output_in_feel
from orgflow.frontends.xml.parser import Limits, XmlFault, parse_xml
from orgflow.frontends.xml.tree import XmlElement

from orgflow_ir.decisions.languages import is_feel, simple_language
from orgflow_ir.decisions.model import (
    Boxed,
    BoxedContext,
    BoxedFilter,
    BoxedFunction,
    BoxedIteration,
    BoxedList,
    BusinessKnowledge,
    Conditional,
    ContextEntry,
    Decision,
    DecisionService,
    Definitions,
    Engine,
    FormalParameter,
    Import,
    InputClause,
    InputData,
    Invocation,
    ItemDefinition,
    LiteralExpression,
    OutputClause,
    Relation,
    Rule,
    Table,
)
from orgflow_ir.program.structures import Aggregation, HitPolicy

_BOXES = (
    "literalExpression", "context", "list", "relation", "invocation", "functionDefinition",
    "conditional", "for", "some", "every", "filter", "decisionTable",
)  # fmt: skip
_POLICIES = (
    "UNIQUE", "FIRST", "PRIORITY", "ANY", "COLLECT", "RULE ORDER", "OUTPUT ORDER",
)  # fmt: skip
_KINDS = {"F": "FEEL", "J": "Java", "P": "PMML", "FEEL": "FEEL", "Java": "Java", "PMML": "PMML"}


_LIMITS = Limits(max_bytes=16 * 1024 * 1024)


class DmnError(ValueError):
    """A file that is not DMN; the text gives the reason and the place."""


def read_dmn(data: bytes) -> Definitions:
    """The definitions of a file.

    Raises:
        DmnError: it is no XML, no DMN, or holds what DMN does not have.
    """
    try:
        root = parse_xml(data, _LIMITS).root
    except XmlFault as fault:
        place = f"line {fault.line}: " if fault.line is not None else ""
        raise DmnError(f"{place}{fault.message}") from None
    if root.local != "definitions" or root.ns not in NAMESPACES:
        raise DmnError(
            f"`{root.local}` in the namespace `{root.ns}` is not the definitions element of "
            "DMN 1.1 to 1.5"
        )
    namespace = root.attrs.get("namespace", "")
    language = root.attrs.get("expressionLanguage")
    engine = engine_of(root)
    reader = _Reader(namespace, language, engine)
    own = [child for child in root.children if child.ns == root.ns]
    return Definitions(
        name=root.attrs.get("name", ""),
        namespace=namespace,
        engine=engine,
        imports=tuple(
            Import(name=e.attrs.get("name", ""), namespace=e.attrs.get("namespace", ""))
            for e in own
            if e.local == "import"
        ),
        types=tuple(reader.item(e) for e in own if e.local == "itemDefinition"),
        inputs=tuple(reader.input_data(e) for e in own if e.local == "inputData"),
        decisions=tuple(reader.decision(e) for e in own if e.local == "decision"),
        knowledge=tuple(reader.knowledge(e) for e in own if e.local == "businessKnowledgeModel"),
        services=tuple(reader.service(e) for e in own if e.local == "decisionService"),
    )


def _text_content(element: XmlElement | None) -> str | None:
    """The content of a `text` child."""
    text_element = _first_child(element, "text") if element is not None else None
    return None if text_element is None else text_element.text


def _list_children(element: XmlElement, *names: str) -> list[XmlElement]:
    """Children of these names, in order."""
    return [child for child in element.children if child.local in names]


def _first_child(element: XmlElement, *names: str) -> XmlElement | None:
    """The first child of one of these names."""
    return next((child for child in element.children if child.local in names), None)


def _line_place(element: XmlElement) -> str:
    return f"line {element.line}"


def _rule_tests(rule: XmlElement, columns: Sequence[str | None]) -> Iterator[str]:
    """The cells of a rule below columns of these types; there may be more or less of them."""
    for number, entry in enumerate(_list_children(rule, "inputEntry")):
        yield in_feel(
            _text_content(entry) or "", columns[number] if number < len(columns) else None
        )


def _output_text(entry: XmlElement) -> str:
    """The text of an output cell in FEEL, if it can be written in FEEL."""
    text, language = _text_content(entry) or "", entry.attrs.get("expressionLanguage")
    if language is not None and not is_feel(language):
        text = simple_language(text) or text
    return output_in_feel(text)


def _foreign_cells(rule: XmlElement) -> Iterator[tuple[str, str]]:
    """The cells of a rule that state a language other than FEEL, with the language."""
    for entry in _list_children(rule, "inputEntry", "outputEntry"):
        language = entry.attrs.get("expressionLanguage")
        text = (_text_content(entry) or "").strip()
        if language is None or is_feel(language) or text in ("", "-"):
            continue
        if entry.local == "inputEntry" or simple_language(text) is None:
            yield text, language


class _Reader:
    def __init__(self, namespace: str, language: str | None, engine: Engine | None) -> None:
        self.namespace, self.language, self.engine = namespace, language, engine

    def type_ref(self, element: XmlElement | None) -> str | None:
        """The name of a type: an attribute, or before DMN 1.2 sometimes a child."""
        if element is None:
            return None
        type_name = element.attrs.get("typeRef")
        if type_name is None:
            child = _first_child(element, "typeRef")
            type_name = child.text.strip() if child is not None else None
        if type_name and ":" in type_name:  # DMN 1.1: a qualified name of XML
            type_name = type_name.partition(":")[2]
        return type_name or None

    def reference(self, element: XmlElement) -> str:
        """An id in this file, or `namespace#id`."""
        namespace, _, name = element.attrs.get("href", "").rpartition("#")
        return name if namespace in ("", self.namespace) else f"{namespace}#{name}"

    def references(self, element: XmlElement, *path: str) -> tuple[str, ...]:
        """What the elements of a path refer to."""
        elements = [element]
        for name in path:
            elements = [child for parent in elements for child in _list_children(parent, name)]
        return tuple(self.reference(child) for child in elements)

    # -- elements ------------------------------------------------------------------------------

    def named(self, element: XmlElement) -> tuple[str, str, str | None]:
        """Id, name and type of an element that has a variable."""
        variable = _first_child(element, "variable")
        name = element.attrs.get("name", "")
        return element.attrs.get("id", name), name, self.type_ref(variable)

    def variable(self, element: XmlElement) -> str | None:
        """The name of the variable of an element."""
        variable = _first_child(element, "variable")
        return None if variable is None else variable.attrs.get("name") or None

    def item(self, element: XmlElement) -> ItemDefinition:
        function = _first_child(element, "functionItem")
        return ItemDefinition(
            name=element.attrs.get("name", ""),
            type_ref=self.type_ref(element),
            components=tuple(
                self.item(child) for child in _list_children(element, "itemComponent")
            ),
            collection=element.attrs.get("isCollection") == "true",
            allowed=_text_content(_first_child(element, "allowedValues")),
            type_constraint=_text_content(_first_child(element, "typeConstraint")),
            function=None
            if function is None
            else (
                tuple(self.type_ref(child) for child in _list_children(function, "parameters")),
                function.attrs.get("outputTypeRef"),
            ),
            place=_line_place(element),
        )

    def input_data(self, element: XmlElement) -> InputData:
        id_, name, type_ref = self.named(element)
        return InputData(id=id_, name=name, type_ref=type_ref, variable=self.variable(element))

    def decision(self, element: XmlElement) -> Decision:
        id_, name, type_ref = self.named(element)
        logic = _first_child(element, *_BOXES)
        return Decision(
            id=id_,
            name=name,
            type_ref=type_ref,
            variable=self.variable(element),
            logic=None if logic is None else self.box(logic),
            requires=(
                *self.references(element, "informationRequirement", "requiredDecision"),
                *self.references(element, "informationRequirement", "requiredInput"),
            ),
            knowledge=self.references(element, "knowledgeRequirement", "requiredKnowledge"),
            place=_line_place(element),
        )

    def knowledge(self, element: XmlElement) -> BusinessKnowledge:
        id_, name, type_ref = self.named(element)
        logic = _first_child(element, "encapsulatedLogic")
        return BusinessKnowledge(
            id=id_,
            name=name,
            type_ref=type_ref,
            logic=None if logic is None else self.function(logic),
            knowledge=self.references(element, "knowledgeRequirement", "requiredKnowledge"),
            place=_line_place(element),
        )

    def service(self, element: XmlElement) -> DecisionService:
        id_, name, type_ref = self.named(element)
        return DecisionService(
            id=id_,
            name=name,
            type_ref=type_ref,
            outputs=self.references(element, "outputDecision"),
            encapsulated=self.references(element, "encapsulatedDecision"),
            input_decisions=self.references(element, "inputDecision"),
            input_data=self.references(element, "inputData"),
            place=_line_place(element),
        )

    # -- boxed expressions ---------------------------------------------------------------------

    def only(self, element: XmlElement | None, inside: XmlElement) -> Boxed:
        """The boxed expression in a wrapper such as `then` or `in`."""
        box_element = None if element is None else _first_child(element, *_BOXES)
        if box_element is None:
            raise DmnError(f"line {inside.line}: `{inside.local}` lacks an expression")
        return self.box(box_element)

    def box(self, element: XmlElement) -> Boxed:
        type_ref, place = self.type_ref(element), _line_place(element)
        match element.local:
            case "literalExpression":
                return self.literal(element)
            case "context":
                return BoxedContext(
                    entries=tuple(
                        self.context_entry(e) for e in _list_children(element, "contextEntry")
                    ),
                    type_ref=type_ref,
                    place=place,
                )
            case "list":
                items = tuple(self.box(e) for e in _list_children(element, *_BOXES))
                return BoxedList(items=items, type_ref=type_ref, place=place)
            case "relation":
                return Relation(
                    columns=tuple(
                        (e.attrs.get("name", ""), self.type_ref(e))
                        for e in _list_children(element, "column")
                    ),
                    rows=tuple(
                        tuple(self.box(cell) for cell in _list_children(row, *_BOXES))
                        for row in _list_children(element, "row")
                    ),
                    type_ref=type_ref,
                    place=place,
                )
            case "invocation":
                return Invocation(
                    function=self.only(element, element),
                    bindings=tuple(self.binding(e) for e in _list_children(element, "binding")),
                    type_ref=type_ref,
                    place=place,
                )
            case "functionDefinition":
                return self.function(element)
            case "conditional":
                return Conditional(
                    condition=self.only(_first_child(element, "if"), element),
                    then=self.only(_first_child(element, "then"), element),
                    otherwise=self.only(_first_child(element, "else"), element),
                    type_ref=type_ref,
                    place=place,
                )
            case "for" | "some" | "every":
                return BoxedIteration(
                    kind="for"
                    if element.local == "for"
                    else "some"
                    if element.local == "some"
                    else "every",
                    variable=element.attrs.get("iteratorVariable", ""),
                    domain=self.only(_first_child(element, "in"), element),
                    body=self.only(_first_child(element, "return", "satisfies"), element),
                    type_ref=type_ref,
                    place=place,
                )
            case "filter":
                return BoxedFilter(
                    base=self.only(_first_child(element, "in"), element),
                    condition=self.only(_first_child(element, "match"), element),
                    type_ref=type_ref,
                    place=place,
                )
        return self.table(element)

    def literal(self, element: XmlElement) -> LiteralExpression:
        text = _text_content(element)
        if text is None and _first_child(element, "importedValues") is not None:
            raise DmnError(f"line {element.line}: imported values are not supported")
        return LiteralExpression(
            text=text or "",
            language=element.attrs.get("expressionLanguage", self.language),
            type_ref=self.type_ref(element),
            place=_line_place(element),
        )

    def context_entry(self, element: XmlElement) -> ContextEntry:
        variable = _first_child(element, "variable")
        return ContextEntry(
            name=None if variable is None else variable.attrs.get("name", ""),
            value=self.only(element, element),
            type_ref=self.type_ref(variable),
        )

    def binding(self, element: XmlElement) -> tuple[str, Boxed]:
        parameter = _first_child(element, "parameter")
        if parameter is None:
            raise DmnError(f"line {element.line}: `binding` lacks a parameter")
        return parameter.attrs.get("name", ""), self.only(element, element)

    def function(self, element: XmlElement) -> BoxedFunction:
        body = _first_child(element, *_BOXES)
        return BoxedFunction(
            parameters=tuple(
                FormalParameter(name=e.attrs.get("name", ""), type_ref=self.type_ref(e))
                for e in _list_children(element, "formalParameter")
            ),
            body=None if body is None else self.box(body),
            kind="FEEL"
            if (kind := _KINDS.get(element.attrs.get("kind", "FEEL"))) == "FEEL"
            else "PMML"
            if kind == "PMML"
            else "Java",
            type_ref=self.type_ref(element) if element.local == "functionDefinition" else None,
            place=_line_place(element),
        )

    def table(self, element: XmlElement) -> Table:
        policy = element.attrs.get("hitPolicy", "UNIQUE")
        aggregation = element.attrs.get("aggregation")
        if policy not in _POLICIES:
            raise DmnError(f"line {element.line}: unknown hit policy `{policy}`")
        if aggregation not in (None, "COUNT", "SUM", "MIN", "MAX"):
            raise DmnError(f"line {element.line}: unknown aggregation `{aggregation}`")
        inputs = tuple(self.input_clause(e) for e in _list_children(element, "input"))
        columns = [column.expression.type_ref for column in inputs]
        rules, outputs = _list_children(element, "rule"), _list_children(element, "output")
        types = [self.type_ref(e) for e in outputs]
        cells = [self.entries(rule, types) for rule in rules]
        unchanged = self.engine == "flowable" and aggregation is not None
        return Table(
            inputs=inputs,
            outputs=tuple(
                OutputClause(
                    name=e.attrs.get("name"),
                    type_ref=types[at]
                    if unchanged
                    else column_type(types[at], [row[at] for row in cells if at < len(row)]),
                    values=_text_content(_first_child(e, "outputValues")),
                    default=_text_content(_first_child(e, "defaultOutputEntry")),
                )
                for at, e in enumerate(outputs)
            ),
            rules=tuple(
                Rule(
                    tests=tuple(_rule_tests(rule, columns)),
                    entries=row,
                    foreign=tuple(_foreign_cells(rule)),
                    place=_line_place(rule),
                )
                for rule, row in zip(rules, cells, strict=True)
            ),
            hit_policy=cast(HitPolicy, policy),
            aggregation=cast("Aggregation | None", aggregation),
            type_ref=self.type_ref(element),
            place=_line_place(element),
        )

    def entries(self, rule: XmlElement, types: Sequence[str | None]) -> tuple[str, ...]:
        """The conclusions of a rule in columns of these types, of which there may be fewer."""
        conclusions = map(_output_text, _list_children(rule, "outputEntry"))
        return tuple(
            convert_cell(text, types[at] if at < len(types) else None, self.engine)
            for at, text in enumerate(conclusions)
        )

    def input_clause(self, element: XmlElement) -> InputClause:
        expression_element = _first_child(element, "inputExpression")
        if expression_element is None:
            raise DmnError(f"line {element.line}: an input has no expression")
        named = [v for k, v in element.attrs.items() if k.endswith(":inputVariable") and v.strip()]
        return InputClause(
            expression=self.literal(expression_element),
            allowed=_text_content(_first_child(element, "inputValues")),
            variable=named[0].strip() if named else None,
        )
