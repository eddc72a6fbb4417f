"""Reads DMN 1.1 to 1.5: the elements of all versions have the same names, and only their
namespaces differ."""

from __future__ import annotations

from typing import cast

from orgflow.frontends.dmn.names import NAMESPACES
from orgflow.frontends.dmn.xml import DmnError, Element, parse

from orgflow_ir.analysis.expressions.feel.syntax import Aggregation, HitPolicy
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

_BOXES = (
    "literalExpression", "context", "list", "relation", "invocation", "functionDefinition",
    "conditional", "for", "some", "every", "filter", "decisionTable",
)  # fmt: skip
_POLICIES = (
    "UNIQUE", "FIRST", "PRIORITY", "ANY", "COLLECT", "RULE ORDER", "OUTPUT ORDER",
)  # fmt: skip
_KINDS = {"F": "FEEL", "J": "Java", "P": "PMML", "FEEL": "FEEL", "Java": "Java", "PMML": "PMML"}


def read_dmn(data: bytes) -> Definitions:
    """The definitions of a file.

    Raises:
        DmnError: it is no XML, no DMN, or holds what DMN does not have.
    """
    root = parse(data)
    if root.name != "definitions" or root.namespace not in NAMESPACES:
        raise DmnError(
            f"`{root.name}` of the namespace `{root.namespace}` is no definitions of DMN 1.1 to 1.5"
        )
    namespace = root.attributes.get("namespace", "")
    language = root.attributes.get("expressionLanguage")
    reader = _Reader(namespace, language)
    own = [child for child in root.children if child.namespace == root.namespace]
    return Definitions(
        name=root.attributes.get("name", ""),
        namespace=namespace,
        imports=tuple(
            Import(name=e.attributes.get("name", ""), namespace=e.attributes.get("namespace", ""))
            for e in own
            if e.name == "import"
        ),
        types=tuple(reader.item(e) for e in own if e.name == "itemDefinition"),
        inputs=tuple(reader.input_data(e) for e in own if e.name == "inputData"),
        decisions=tuple(reader.decision(e) for e in own if e.name == "decision"),
        knowledge=tuple(reader.knowledge(e) for e in own if e.name == "businessKnowledgeModel"),
        services=tuple(reader.service(e) for e in own if e.name == "decisionService"),
    )


def _text(element: Element | None) -> str | None:
    """The content of a `text` child."""
    found = element.first("text") if element is not None else None
    return None if found is None else found.text


def _place(element: Element) -> str:
    return f"line {element.line}"


class _Reader:
    def __init__(self, namespace: str, language: str | None) -> None:
        self.namespace, self.language = namespace, language

    def type_ref(self, element: Element | None) -> str | None:
        """The name of a type: an attribute, or before DMN 1.2 sometimes a child."""
        if element is None:
            return None
        found = element.attributes.get("typeRef")
        if found is None:
            child = element.first("typeRef")
            found = child.text.strip() if child is not None else None
        if found and ":" in found:  # DMN 1.1: a qualified name of XML
            found = found.partition(":")[2]
        return found or None

    def reference(self, element: Element) -> str:
        """An id in this file, or `namespace#id`."""
        namespace, _, name = element.attributes.get("href", "").rpartition("#")
        return name if namespace in ("", self.namespace) else f"{namespace}#{name}"

    def references(self, element: Element, *path: str) -> tuple[str, ...]:
        """What the elements of a path refer to."""
        found = [element]
        for name in path:
            found = [child for parent in found for child in parent.all(name)]
        return tuple(self.reference(child) for child in found)

    # -- elements ------------------------------------------------------------------------------

    def named(self, element: Element) -> tuple[str, str, str | None]:
        """Id, name and type of an element that has a variable."""
        variable = element.first("variable")
        name = element.attributes.get("name", "")
        return element.attributes.get("id", name), name, self.type_ref(variable)

    def item(self, element: Element) -> ItemDefinition:
        function = element.first("functionItem")
        return ItemDefinition(
            name=element.attributes.get("name", ""),
            type_ref=self.type_ref(element),
            components=tuple(self.item(child) for child in element.all("itemComponent")),
            collection=element.attributes.get("isCollection") == "true",
            allowed=_text(element.first("allowedValues")),
            type_constraint=_text(element.first("typeConstraint")),
            function=None
            if function is None
            else (
                tuple(self.type_ref(child) for child in function.all("parameters")),
                function.attributes.get("outputTypeRef"),
            ),
            place=_place(element),
        )

    def input_data(self, element: Element) -> InputData:
        id_, name, type_ref = self.named(element)
        return InputData(id=id_, name=name, type_ref=type_ref)

    def decision(self, element: Element) -> Decision:
        id_, name, type_ref = self.named(element)
        logic = element.first(*_BOXES)
        return Decision(
            id=id_,
            name=name,
            type_ref=type_ref,
            logic=None if logic is None else self.box(logic),
            requires=(
                *self.references(element, "informationRequirement", "requiredDecision"),
                *self.references(element, "informationRequirement", "requiredInput"),
            ),
            knowledge=self.references(element, "knowledgeRequirement", "requiredKnowledge"),
            place=_place(element),
        )

    def knowledge(self, element: Element) -> BusinessKnowledge:
        id_, name, type_ref = self.named(element)
        logic = element.first("encapsulatedLogic")
        return BusinessKnowledge(
            id=id_,
            name=name,
            type_ref=type_ref,
            logic=None if logic is None else self.function(logic),
            knowledge=self.references(element, "knowledgeRequirement", "requiredKnowledge"),
            place=_place(element),
        )

    def service(self, element: Element) -> DecisionService:
        id_, name, type_ref = self.named(element)
        return DecisionService(
            id=id_,
            name=name,
            type_ref=type_ref,
            outputs=self.references(element, "outputDecision"),
            encapsulated=self.references(element, "encapsulatedDecision"),
            input_decisions=self.references(element, "inputDecision"),
            input_data=self.references(element, "inputData"),
            place=_place(element),
        )

    # -- boxed expressions ---------------------------------------------------------------------

    def only(self, element: Element | None, inside: Element) -> Boxed:
        """The boxed expression in a wrapper such as `then` or `in`."""
        found = None if element is None else element.first(*_BOXES)
        if found is None:
            raise DmnError(f"line {inside.line}: `{inside.name}` lacks an expression")
        return self.box(found)

    def box(self, element: Element) -> Boxed:
        type_ref, place = self.type_ref(element), _place(element)
        match element.name:
            case "literalExpression":
                return self.literal(element)
            case "context":
                return BoxedContext(
                    entries=tuple(self.context_entry(e) for e in element.all("contextEntry")),
                    type_ref=type_ref,
                    place=place,
                )
            case "list":
                items = tuple(self.box(e) for e in element.all(*_BOXES))
                return BoxedList(items=items, type_ref=type_ref, place=place)
            case "relation":
                return Relation(
                    columns=tuple(
                        (e.attributes.get("name", ""), self.type_ref(e))
                        for e in element.all("column")
                    ),
                    rows=tuple(
                        tuple(self.box(cell) for cell in row.all(*_BOXES))
                        for row in element.all("row")
                    ),
                    type_ref=type_ref,
                    place=place,
                )
            case "invocation":
                return Invocation(
                    function=self.only(element, element),
                    bindings=tuple(self.binding(e) for e in element.all("binding")),
                    type_ref=type_ref,
                    place=place,
                )
            case "functionDefinition":
                return self.function(element)
            case "conditional":
                return Conditional(
                    condition=self.only(element.first("if"), element),
                    then=self.only(element.first("then"), element),
                    otherwise=self.only(element.first("else"), element),
                    type_ref=type_ref,
                    place=place,
                )
            case "for" | "some" | "every":
                return BoxedIteration(
                    kind="for"
                    if element.name == "for"
                    else "some"
                    if element.name == "some"
                    else "every",
                    variable=element.attributes.get("iteratorVariable", ""),
                    domain=self.only(element.first("in"), element),
                    body=self.only(element.first("return", "satisfies"), element),
                    type_ref=type_ref,
                    place=place,
                )
            case "filter":
                return BoxedFilter(
                    base=self.only(element.first("in"), element),
                    condition=self.only(element.first("match"), element),
                    type_ref=type_ref,
                    place=place,
                )
        return self.table(element)

    def literal(self, element: Element) -> LiteralExpression:
        text = _text(element)
        if text is None and element.first("importedValues") is not None:
            raise DmnError(f"line {element.line}: imported values are not supported")
        return LiteralExpression(
            text=text or "",
            language=element.attributes.get("expressionLanguage", self.language),
            type_ref=self.type_ref(element),
            place=_place(element),
        )

    def context_entry(self, element: Element) -> ContextEntry:
        variable = element.first("variable")
        return ContextEntry(
            name=None if variable is None else variable.attributes.get("name", ""),
            value=self.only(element, element),
            type_ref=self.type_ref(variable),
        )

    def binding(self, element: Element) -> tuple[str, Boxed]:
        parameter = element.first("parameter")
        if parameter is None:
            raise DmnError(f"line {element.line}: `binding` lacks a parameter")
        return parameter.attributes.get("name", ""), self.only(element, element)

    def function(self, element: Element) -> BoxedFunction:
        body = element.first(*_BOXES)
        return BoxedFunction(
            parameters=tuple(
                FormalParameter(name=e.attributes.get("name", ""), type_ref=self.type_ref(e))
                for e in element.all("formalParameter")
            ),
            body=None if body is None else self.box(body),
            kind="FEEL"
            if (kind := _KINDS.get(element.attributes.get("kind", "FEEL"))) == "FEEL"
            else "PMML"
            if kind == "PMML"
            else "Java",
            type_ref=self.type_ref(element) if element.name == "functionDefinition" else None,
            place=_place(element),
        )

    def table(self, element: Element) -> Table:
        policy = element.attributes.get("hitPolicy", "UNIQUE")
        aggregation = element.attributes.get("aggregation")
        if policy not in _POLICIES:
            raise DmnError(f"line {element.line}: there is no hit policy `{policy}`")
        if aggregation not in (None, "COUNT", "SUM", "MIN", "MAX"):
            raise DmnError(f"line {element.line}: there is no aggregation `{aggregation}`")
        return Table(
            inputs=tuple(self.input_clause(e) for e in element.all("input")),
            outputs=tuple(
                OutputClause(
                    name=e.attributes.get("name"),
                    type_ref=self.type_ref(e),
                    values=_text(e.first("outputValues")),
                    default=_text(e.first("defaultOutputEntry")),
                )
                for e in element.all("output")
            ),
            rules=tuple(
                Rule(
                    tests=tuple(_text(e) or "" for e in rule.all("inputEntry")),
                    entries=tuple(_text(e) or "" for e in rule.all("outputEntry")),
                    place=_place(rule),
                )
                for rule in element.all("rule")
            ),
            hit_policy=cast(HitPolicy, policy),
            aggregation=cast("Aggregation | None", aggregation),
            type_ref=self.type_ref(element),
            place=_place(element),
        )

    def input_clause(self, element: Element) -> InputClause:
        found = element.first("inputExpression")
        if found is None:
            raise DmnError(f"line {element.line}: an input without expression")
        return InputClause(
            expression=self.literal(found), allowed=_text(element.first("inputValues"))
        )
