"""Java and MVEL, as jBPM and Bonita have them in conditions: `return amount > 100;`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from orgflow_ir.languages.expression_parser import (
    JAVA_METHODS,
    refuse_too_large,
    refuse_zero_in,
)
from orgflow_ir.languages.javascript import EqualsParser
from orgflow_ir.program import methods, readings
from orgflow_ir.program.java_operators import IDENTITY, JAVA, TYPED
from orgflow_ir.program.juel_operators import JUEL
from orgflow_ir.program.operators import Operators
from orgflow_ir.program.syntax import (
    Arithmetic,
    Comparison,
    ComparisonOperator,
    ConditionError,
    Constant,
    Method,
    Operation,
    Reading,
    Span,
    Tree,
    Variable,
    children,
    kind_of,
    nodes,
)

_KIE = "KieFunctions"
_ORDERS: dict[str, ComparisonOperator] = {
    "greaterThan": ">", "greaterOrEqualThan": ">=", "lessThan": "<", "lessOrEqualThan": "<=",
}  # fmt: skip
_TEXTS: dict[str, Method] = {
    "contains": methods.CONTAINS, "startsWith": methods.STARTS_WITH, "endsWith": methods.ENDS_WITH,
}  # fmt: skip


class JavaParser(EqualsParser):
    """Comparisons, logic and `equals`. Java's `==` compares texts and boxed numbers by identity,
    which has a meaning only where that is equality."""

    operators: ClassVar[Operators] = TYPED
    signs: ClassVar[Mapping[str, Operation[Comparison]]] = {
        **EqualsParser.signs, "==": IDENTITY["=="], "!=": IDENTITY["!="],
    }  # fmt: skip
    methods: ClassVar[dict[str, tuple[Method, int]]] = JAVA_METHODS
    entries: ClassVar[Reading | None] = readings.JAVA_ENTRY

    beans: ClassVar[bool] = True

    fractions: ClassVar[bool] = False
    """Whether a division of whole numbers has a fraction."""

    def parse(self) -> Tree:
        """As in the base class, but for divisions: those of whole numbers have no fraction in Java,
        and the types of variables are not known."""
        tree = super().parse()
        refuse_zero_in(tree)
        refuse_too_large(tree)
        for node in nodes(tree):
            identity = isinstance(node, Comparison) and node.operation in IDENTITY.values()
            if identity and all(kind_of(side) == "text" for side in children(node)):
                raise ConditionError("`==` of texts compares identity in Java: use `equals`")
        if self.fractions:
            return tree
        for node in nodes(tree):
            if isinstance(node, Arithmetic) and node.operator == "/":
                sides = (node.left, node.right)
                if not any(isinstance(s.value, float) for s in sides if isinstance(s, Constant)):
                    raise ConditionError("whether `/` gives a fraction depends on types")
        return tree

    def named(self, root: str, parts: list[str], span: Span) -> Tree:
        """As in the base class, but the class of jBPM's functions is not a variable."""
        if parts == [_KIE]:
            return Variable((_KIE,), span)
        return super().named(root, parts, span)

    def method(self, receiver: Tree, name: str) -> Tree:
        """`kind.equals("vip")`; in jBPM `KieFunctions.isTrue(ok)`, whose arguments the editor
        writes as texts: numeric texts are compared as numbers."""
        if receiver != Variable((_KIE,)):
            return super().method(receiver, name)
        given = self.arguments()
        span = Span(receiver.span.start, self.tokens[self.at - 1].span.end)
        match name, given:
            case (("isTrue" | "isFalse"), [value]):
                return JAVA.comparison["=="](value, Constant(name == "isTrue"), span=span)
            case "isNull", [value]:
                return JAVA.comparison["=="](value, Constant(None), span=span)
            case "isEmpty", [value]:
                return methods.EMPTY(value, span=span)
            case "equalsTo", [value, other]:
                return JUEL.comparison["=="](value, other, span=span)
            case "between", [value, low, high]:
                over = JUEL.comparison[">="](value, low, span=span)
                under = JUEL.comparison["<="](value, high, span=span)
                return JAVA.logic["and"](over, under, span=span)
            case name, [value, other] if name in _ORDERS:
                return JUEL.comparison[_ORDERS[name]](value, other, span=span)
            case name, [value, other] if name in _TEXTS:
                return _TEXTS[name](value, other, span=span)
        raise ConditionError(f"calls of `{_KIE}.{name}` are not supported")


class MvelParser(JavaParser):
    """MVEL, which divides whole numbers as any others."""

    signs: ClassVar[Mapping[str, Operation[Comparison]]] = {
        **EqualsParser.signs, "==": TYPED.comparison["=="], "!=": TYPED.comparison["!="],
    }  # fmt: skip
    entries = readings.MVEL_ENTRY
    fractions = True
