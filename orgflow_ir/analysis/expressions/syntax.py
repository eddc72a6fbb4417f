"""The syntax tree shared by FEEL, JUEL, JavaScript and scripts.

A node's `meaning` names the language whose rules compute it, since the same operator means
different
things: `a == "1"` converts in JUEL and JavaScript, and gives no answer in FEEL. Equality of trees
ignores positions in the text (`span`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, dataclass_transform

from orgflow_ir.model.records import NamedTuple

if TYPE_CHECKING:
    from orgflow_ir.analysis.expressions.feel.syntax import Tree as FeelTree

Meaning = Literal["feel", "juel", "loose", "strict", "java", "equals", "xpath", "exact"]
"""The language whose rules compute a node.

- `feel`: three-valued logic; operands of different types give null, and so do operands of `and`,
  `or`, `not` that are not truth values. There is one null, which equals only itself (DMN 1.3,
  10.3.2.13).
- `juel`: operands are converted to numbers if one is a number, otherwise to truth values or texts;
  null is neither less nor greater than anything (Jakarta Expression Language 3.0, 1.7–1.9).
- `loose`: JavaScript with `==`: truthiness, texts converted to numbers (ECMA-262, 7.2).
- `strict`: JavaScript with `===`.
- `java`: equality as in `equals`: texts by content, numbers by value, without conversion. Groovy
  and Python agree with it on the subset read here.
- `equals`: the method of that name, which null does not have.
- `xpath`: comparisons of XPath 1.0, in which one value of a list has to fit.
- `exact`: rules of no particular language, whose result is the same in every language. No value is
  converted or missing; expressions that would need either have no result.
"""

ComparisonOperator = Literal["==", "!=", "<", "<=", ">", ">="]
ArithmeticOperator = Literal["+", "-", "*", "/", "%"]
JUEL_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
"""Texts that JUEL converts to numbers."""

WHOLE_NUMBER = re.compile(r"[-+]?[0-9]+")
"""Texts that JUEL converts to whole numbers."""

XPATH_NUMBER = re.compile(r"[ \t\r\n]*-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[ \t\r\n]*")
"""Texts that XPath converts to numbers."""

Path = tuple[str, ...]
Scalar = bool | int | float | str | None


class ConditionError(ValueError):
    """The text does not match the grammar, or a target cannot express it."""


class Span(NamedTuple):
    """The position of a part in its text, in characters; the end is exclusive."""

    start: int
    end: int


NOWHERE = Span(0, 0)
"""The span of a node without a source text."""


@dataclass_transform(frozen_default=True)
class Node:
    """Base class of the nodes: immutable, constructed by position or by keyword; equality compares
    all fields but `span`, which is the last one.

    Raises `TypeError` for a field that is missing or unknown.
    """

    __match_args__: ClassVar[tuple[str, ...]] = ()
    """The fields in order."""

    def __init_subclass__(cls) -> None:
        # Methods that `dataclass` generates would be compiled for each class at every start.
        cls.__match_args__ = tuple(cls.__annotations__)  # type: ignore[misc]  # mypy takes it for frozen

    def __init__(self, *values: Any, **named: Any) -> None:
        names = self.__match_args__
        content = {"span": NOWHERE, **dict(zip(names, values, strict=False)), **named}
        if (
            content.keys() != set(names)
            or len(values) > len(names)
            or not named.keys().isdisjoint(names[: len(values)])
        ):
            raise TypeError(f"{type(self).__name__} is made of {', '.join(names)}")
        object.__setattr__(self, "__dict__", content)

    def _compared(self) -> tuple[Any, ...]:
        """The values that equality is about."""
        return tuple(self.__dict__[name] for name in self.__match_args__[:-1])

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, Node)
        return self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash((type(self), self._compared()))

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={self.__dict__[name]!r}" for name in self.__match_args__)
        return f"{type(self).__name__}({parts})"

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r} of {type(self).__name__}")

    def __delattr__(self, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r} of {type(self).__name__}")


class Constant(Node):
    """A number, text, truth value, or null (`None`)."""

    value: Scalar
    span: Span = NOWHERE

    def _compared(self) -> tuple[Any, ...]:
        # Else 1, 1.0 and true are one constant.
        return (type(self.value), self.value)


class Variable(Node):
    """A variable or a path from one: `order.amount` is `("order", "amount")`."""

    path: Path
    span: Span = NOWHERE

    def __eq__(self, other: object) -> bool:
        return self.path == other.path if isinstance(other, Variable) else NotImplemented

    def __hash__(self) -> int:
        return hash((Variable, self.path))


class Member(Variable):
    """A path whose last name is read in JavaScript, where it is an error that there is nothing to
    read it of. It is equal to the same path elsewhere."""

    path: Path
    span: Span = NOWHERE


class Flag(Variable):
    """A variable that is a whole condition in JUEL, or a result of one. It is equal to the same
    path elsewhere."""

    path: Path
    span: Span = NOWHERE


class Not(Node):
    """Negation of a truth value."""

    operand: Tree
    meaning: Meaning
    span: Span = NOWHERE


class Negative(Node):
    """A number with the opposite sign."""

    operand: Tree
    meaning: Meaning
    span: Span = NOWHERE


class Empty(Node):
    """JUEL's `empty`: null, or an empty text or collection."""

    operand: Tree
    span: Span = NOWHERE


class Logical(Node):
    """Conjunction or disjunction."""

    operator: Literal["and", "or"]
    left: Tree
    right: Tree
    meaning: Meaning
    span: Span = NOWHERE


class Comparison(Node):
    """Equality or order of two values."""

    operator: ComparisonOperator
    left: Tree
    right: Tree
    meaning: Meaning
    span: Span = NOWHERE


class Arithmetic(Node):
    """An arithmetic operation, or, with `+`, a concatenation of texts."""

    operator: ArithmeticOperator
    left: Tree
    right: Tree
    meaning: Meaning
    span: Span = NOWHERE


class Conditional(Node):
    """`a ? b : c`."""

    condition: Tree
    then: Tree
    otherwise: Tree
    meaning: Meaning
    span: Span = NOWHERE


Function = Literal[
    "size", "is empty", "contains", "starts with", "ends with", "lower", "upper", "trim", "text",
    "json", "entry", "list", "map", "append", "single", "truth", "item", "type", "is true",
    "same", "juel equal", "json text",
]  # fmt: skip
"""Methods of texts and collections, under one name for all languages. `text` concatenates values to
a text, in which null is empty. `json` parses JSON text, and `entry` is the entry of an object or
list under a constant name or number. `list` makes a list of values, `map` an object of constant
names, each followed by its value. `append` is a list with a value added at the end, `single` the
only value of a list or object (null if it is empty, no result if there are several), and `truth`
whether a value counts as true in Groovy. `item` is FEEL's `list[n]`, counted from 1, where any
value is a list of itself.

The others occur only in translations to JavaScript: `type` is `typeof`, `is true` whether a value
is true or the text `true`, `same` whether two values are equal without conversion (lists and
objects by their content), `juel equal` whether they are equal in JUEL, and `json text` the value,
which has to be JSON if it is a text."""


class Call(Node):
    """A method of a text or a collection; the receiver is the first argument. It has no result for
    other receivers, for which engines raise an error."""

    function: Function
    arguments: tuple[Tree, ...]
    span: Span = NOWHERE


class Feel(Node):
    """A FEEL expression beyond the grammar shared with other languages.

    `tree` is that of `expressions.feel`. `paths` are the process variables that it reads, in order;
    `tested` are the names among them that are compared with null.
    """

    tree: FeelTree
    paths: tuple[Path, ...]
    tested: frozenset[str]
    span: Span = NOWHERE


Tree = (
    Constant | Variable | Not | Negative | Empty | Logical | Comparison | Arithmetic | Conditional
    | Call | Feel
)  # fmt: skip


def children(tree: Tree) -> tuple[Tree, ...]:
    """The operands of a node, left to right."""
    if isinstance(tree, Constant | Variable | Feel):
        return ()
    if isinstance(tree, Not | Negative | Empty):
        return (tree.operand,)
    if isinstance(tree, Conditional):
        return (tree.condition, tree.then, tree.otherwise)
    if isinstance(tree, Call):
        return tree.arguments
    return (tree.left, tree.right)


def nodes(tree: Tree) -> Iterator[Tree]:
    """Every node of a tree, in preorder."""
    stack = [tree]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


def variables(tree: Tree) -> Iterator[Path]:
    """Paths of the variables in a tree, in order, with repetitions."""
    for node in nodes(tree):
        if isinstance(node, Variable):
            yield node.path
        elif isinstance(node, Feel):
            yield from node.paths


def replaced(tree: Tree, values: Mapping[str, Tree]) -> Tree:
    """The tree with values for some variables; a path into one becomes an entry of its value.
    Raises `ConditionError` for a FEEL expression that reads one of them."""
    if isinstance(tree, Variable) and (value := values.get(tree.path[0])) is not None:
        for step in tree.path[1:]:
            key = Constant(int(step) if step.isdigit() else step)
            value = Call("entry", (value, key), tree.span)
        return value
    if isinstance(tree, Feel):
        if any(path[0] in values for path in tree.paths):
            raise ConditionError("its variables are not supported here")
        return tree
    if isinstance(tree, Call):
        return Call(tree.function, tuple(replaced(a, values) for a in tree.arguments), tree.span)
    parts = {
        name: replaced(cast("Tree", part), values)
        for name in tree.__match_args__
        if isinstance(part := getattr(tree, name), Node)
    }
    fields = {name: getattr(tree, name) for name in tree.__match_args__}
    return type(tree)(**{**fields, **parts})


def with_members(tree: Tree) -> Tree:
    """The tree with paths as members of objects."""
    if isinstance(tree, Variable):
        return Member(tree.path, tree.span) if len(tree.path) > 1 else tree
    if isinstance(tree, Call):
        return Call(tree.function, tuple(map(with_members, tree.arguments)), tree.span)
    fields = {name: getattr(tree, name) for name in tree.__match_args__}
    parts = {
        name: with_members(cast("Tree", part))
        for name, part in fields.items()
        if isinstance(part, Node) and not isinstance(tree, Feel)
    }
    return type(tree)(**{**fields, **parts})


def constants(tree: Tree) -> Iterator[bool | int | float | str]:
    """Constants in a tree except null: the values at which comparisons change."""
    for node in nodes(tree):
        if isinstance(node, Constant) and node.value is not None:
            yield node.value
        elif isinstance(node, Feel):
            from orgflow_ir.analysis.expressions.feel.reading import literals

            yield from literals(node.tree)


def is_plain(tree: Tree) -> bool:
    """Whether a tree contains only comparisons, arithmetic and logic: no calls, and no construct
    specific to FEEL."""
    return not any(isinstance(node, Call | Conditional | Feel) for node in nodes(tree))


def as_javascript(tree: Tree) -> Tree:
    """The same tree with the semantics of its translation to JavaScript.

    Equality without conversion becomes `===`, except with null, since JavaScript has two null
    values; JUEL's conversions become `==`. Where JavaScript converts null, texts or truth values
    differently, the tree contains the tests that give the result of the language.
    """
    match tree:
        case Constant() | Variable() | Feel():
            return tree
        case Not(meaning="feel") | Logical(meaning="feel") | Comparison(meaning="feel"):
            return _in_feel(tree, True)
        case Conditional(condition, then, otherwise, meaning, span):
            return Conditional(
                _truth(condition, meaning),
                as_javascript(then),
                as_javascript(otherwise),
                "loose",
                span,
            )
        case Call(function, arguments, span):
            return Call(function, tuple(map(as_javascript, arguments)), span)
        case Empty(operand, span):
            return Empty(as_javascript(operand), span)
        case Not(operand, meaning, span):
            return Not(_truth(operand, meaning), "loose", span)
        case Negative(operand, _, span):
            return Negative(as_javascript(operand), "loose", span)
        case Logical(operator, left, right, meaning, span):
            return Logical(operator, _truth(left, meaning), _truth(right, meaning), "loose", span)
        case Arithmetic("+", left, right, "juel", span) if _may_be_text(left, right):
            # Only with minus JavaScript takes texts for the numbers that they are.
            return Arithmetic(
                "-",
                as_javascript(left),
                Negative(as_javascript(right), "loose", right.span),
                "loose",
                span,
            )
        case Arithmetic(sign, left, right, _, span):
            return Arithmetic(sign, as_javascript(left), as_javascript(right), "loose", span)
    if tree.meaning == "xpath":
        left, right = as_javascript(tree.left), as_javascript(tree.right)
        return Comparison(tree.operator, left, right, "xpath", tree.span)
    if tree.operator in ("==", "!="):
        return _equality(tree)
    return _order(tree)


def _truth(tree: Tree, meaning: Meaning) -> Tree:
    """What decides by its truth value: in JUEL the text "false" is false, in FEEL only true is."""
    if isinstance(tree, Variable) and meaning == "juel":
        return Call("is true", (tree,), tree.span)
    if isinstance(tree, Variable) and meaning == "feel":
        return Comparison("==", tree, Constant(True), "strict", tree.span)
    return as_javascript(tree)


_OPPOSITE: dict[ComparisonOperator, ComparisonOperator] = {
    "==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
}  # fmt: skip
_TYPES: dict[type, str] = {bool: "boolean", int: "number", float: "number", str: "string"}


def _in_feel(tree: Tree, wanted: bool) -> Tree:
    """Whether an expression of FEEL, which may also be null, has this truth value."""
    match tree:
        case Constant(value):
            return Constant(value is wanted, tree.span)
        case Not(operand, "feel"):
            return _in_feel(operand, not wanted)
        case Logical(operator, left, right, "feel", span):
            if not wanted:
                operator = "and" if operator == "or" else "or"
            return Logical(operator, _in_feel(left, wanted), _in_feel(right, wanted), "loose", span)
        case Comparison(operator, left, right, "feel", span):
            if operator == "!=" or (operator != "==" and not wanted):
                operator = _OPPOSITE[operator]
                wanted = not wanted if operator == "==" else wanted
            if operator == "==":
                return _equal_in_feel(left, right, wanted, span)
            return _ordered_in_feel(operator, left, right, span)
        case Not() | Logical() | Comparison() | Empty():
            found = as_javascript(tree)
            return found if wanted else Not(found, "loose", tree.span)
        case _:
            return Comparison("==", as_javascript(tree), Constant(wanted), "strict", tree.span)


def _equal_in_feel(left: Tree, right: Tree, wanted: bool, span: Span) -> Tree:
    """Values of different types are neither equal nor different, but null differs from all."""
    if isinstance(left, Constant) and not isinstance(right, Constant):
        left, right = right, left
    one, two = as_javascript(left), as_javascript(right)
    sign: ComparisonOperator = "==" if wanted else "!="
    if Constant(None) in (left, right):
        return Comparison(sign, one, two, "loose", span)
    known = _known_type(two)
    if known is None:
        same = Call("same", (one, two), span)
        if wanted:
            return same
        types = (Call("type", (one,), span), Call("type", (two,), span))
        of_one_type = Comparison("==", *types, "strict", span)
        for part in (two, one):
            nothing = Comparison("==", part, Constant(None), "loose", span)
            of_one_type = Logical("or", nothing, of_one_type, "loose", span)  # type: ignore[assignment]
        return Logical("and", of_one_type, Not(same, "loose", span), "loose", span)
    found = Comparison(sign, one, two, "strict", span)
    if isinstance(one, Arithmetic):
        right_type = _is_a(_variable_of(one), "number")
        both = Logical("and", right_type, Comparison("==", one, two, "strict", span), "loose", span)
        return both if wanted else Not(both, "loose", span)
    if wanted or _known_type(one) == known:
        return found
    nothing = Comparison("==", one, Constant(None), "loose", span)
    differs = Logical("and", _is_a(one, known), found, "loose", span)
    return Logical("or", nothing, differs, "loose", span)


def _ordered_in_feel(operator: ComparisonOperator, left: Tree, right: Tree, span: Span) -> Tree:
    """Only two numbers, or two texts, are in an order."""
    one, two = as_javascript(left), as_javascript(right)
    types = {_known_type(one), _known_type(two)}
    found: Tree = Comparison(operator, one, two, "loose", span)
    if types == {None}:
        same = Comparison("==", Call("type", (one,)), Call("type", (two,)), "strict", span)
        kinds = [_is_a(one, kind) for kind in ("number", "string")]
        either = Logical("or", kinds[0], kinds[1], "loose", span)
        return Logical("and", Logical("and", same, either, "loose", span), found, "loose", span)
    kinds_known = types - {None}
    kind = kinds_known.pop()
    if kinds_known or kind not in ("number", "string"):
        return Constant(False, span)
    for side in (two, one):
        if _known_type(side) is None:
            found = Logical("and", _is_a(_variable_of(side), kind), found, "loose", span)
    return found


def _known_type(tree: Tree) -> str | None:
    """The type in JavaScript of a constant."""
    inner = tree.operand if isinstance(tree, Negative) else tree
    if isinstance(inner, Constant):
        return "null" if inner.value is None else _TYPES[type(inner.value)]
    return None


def _variable_of(tree: Tree) -> Tree:
    """The operand of an arithmetic operation with a constant; any other tree is itself."""
    if isinstance(tree, Arithmetic):
        return tree.right if isinstance(tree.left, Constant) else tree.left
    return tree


def _is_a(tree: Tree, kind: str) -> Tree:
    return Comparison("==", Call("type", (tree,), tree.span), Constant(kind), "strict", tree.span)


def _either(tree: Tree, values: tuple[Scalar, ...], span: Span) -> Tree:
    """Whether a value is exactly one of several."""
    first, *rest = (Comparison("==", tree, Constant(v), "strict", span) for v in values)
    found: Tree = first
    for one in rest:
        found = Logical("or", found, one, "loose", span)
    return found


def _equality(tree: Comparison) -> Tree:
    left, right = as_javascript(tree.left), as_javascript(tree.right)
    found: Tree | None = None
    constant = isinstance(left, Constant) or isinstance(right, Constant)
    if tree.meaning == "juel":
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Variable) and isinstance(other, Constant):
                found = _like(one, other.value, tree.span)
        if isinstance(left, Variable) and isinstance(right, Variable):
            found = Call("juel equal", (left, right), tree.span)
    elif tree.meaning in ("java", "equals") and not constant:
        found = Call("same", (left, right), tree.span)
    if found is not None:
        return found if tree.operator == "==" else Not(found, "loose", tree.span)
    strict = tree.meaning == "strict" or (
        tree.meaning in ("java", "equals") and Constant(None) not in (left, right)
    )
    return Comparison(tree.operator, left, right, "strict" if strict else "loose", tree.span)


def _like(one: Tree, value: Scalar, span: Span) -> Tree | None:
    """Whether a value is equal in JUEL to a truth value or a text that says one."""
    if value is True:
        return Call("is true", (one,), span)
    if value is False:
        there = Comparison("!=", one, Constant(None), "loose", span)
        return Logical("and", there, Not(Call("is true", (one,)), "loose", span), "loose", span)
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return _either(one, (value.lower() == "true", value), span)
    return None


def _order(tree: Comparison) -> Tree:
    """An order, which nothing with null is in but for JavaScript, where null is 0."""
    left, right = as_javascript(tree.left), as_javascript(tree.right)
    found: Tree = Comparison(tree.operator, left, right, "loose", tree.span)
    if tree.meaning != "juel":
        return found
    may = [one for one in (left, right) if isinstance(one, Variable)]
    if not may or not _holds_of_null(tree.operator, left, right):
        return found
    known = [Comparison("!=", one, Constant(None), "loose", tree.span) for one in may]
    guard: Tree = known[0]
    if len(known) == 2:  # null is as much as null there
        guard = Comparison("==", known[0], known[1], "loose", tree.span)
    return Logical("and", guard, found, "loose", tree.span)


def _holds_of_null(operator: ComparisonOperator, left: Tree, right: Tree) -> bool:
    """Whether an order may hold in JavaScript where a variable in it is null, that is 0 there."""
    numbers: list[float] = []
    for side in (left, right):
        one = side.operand if isinstance(side, Negative) else side
        if isinstance(one, Constant) and isinstance(one.value, int | float):
            numbers.append(-one.value if side is not one else one.value)
        elif isinstance(one, Constant) and isinstance(one.value, str):
            return any(c.isdigit() for c in one.value) or not one.value.strip()
        elif isinstance(side, Variable):
            numbers.append(0)
        else:
            return True
    first, second = numbers
    both = isinstance(left, Variable) and isinstance(right, Variable)
    holds = {"<": first < second, "<=": first <= second, ">": first > second, ">=": first >= second}
    return both or holds[operator]


def _may_be_text(left: Tree, right: Tree) -> bool:
    """Whether one of two values may be a text that is a number, and none is another text."""
    sides = (left, right)
    if any(isinstance(one, Constant) and isinstance(one.value, str) for one in sides):
        return False
    return any(isinstance(one, Variable | Call | Conditional) for one in sides)
