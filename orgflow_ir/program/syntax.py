"""The syntax tree shared by FEEL, JUEL, JavaScript and scripts.

A node's `meaning` names the language whose rules compute it, since the same operator means
different
things: `a == "1"` converts in JUEL and JavaScript, and gives no answer in FEEL. Equality of trees
ignores positions in the text (`span`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any, ClassVar, Literal, cast, dataclass_transform

from orgflow_ir.model.records import NamedTuple

if TYPE_CHECKING:
    from orgflow_ir.languages.feel.syntax import Tree as FeelTree

Meaning = Literal[
    "feel", "juel", "loose", "strict", "java", "typed", "identity", "equals", "python", "xpath",
    "exact",
]  # fmt: skip
"""The language whose rules compute a node.

- `feel`: three-valued logic; operands of different types give null, and so do operands of `and`,
  `or`, `not` that are not truth values. There is one null, which equals only itself (DMN 1.3,
  10.3.2.13).
- `juel`: operands are converted to numbers if one is a number, otherwise to truth values or texts;
  null is neither less nor greater than anything (Jakarta Expression Language 3.0, 1.7–1.9).
- `loose`: JavaScript with `==`: truthiness, texts converted to numbers (ECMA-262, 7.2).
- `strict`: JavaScript with `===`.
- `java`: equality as in `equals`: texts by content, numbers by value, without conversion. Groovy
  agrees with it on the subset read here.
- `typed`: as `java`, but only truth values are operands of logic, and values of different types
  have no result: MVEL converts some of them, and Java does not compile.
- `identity`: Java's `==`, which compares texts and large numbers by identity. It has a result only
  where that is equality.
- `equals`: the method of that name, which null does not have.
- `python`: as `java`, but true is 1 and false is 0, numbers are never converted to texts, and `%`
  has the sign of its right operand. Where Python 2 and 3 differ there is no result.
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

MOST_INT = 2**31 - 1
"""The largest number of Java's type `int`."""

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


class FeelPath(Variable):
    """A path whose value FEEL reads: a part of a list is the list of the parts of its entries. It
    is equal to the same path elsewhere."""

    path: Path
    span: Span = NOWHERE


EntryRules = Literal["juel", "groovy", "java", "mvel", "python"]
"""The rules of entries: in JUEL, an entry of null is null; in JUEL and Groovy, one beyond the end
of a list is. In Python, names have to exist as well, in MVEL those after a point
(`PropertyAccessor.getBeanProperty`). Groovy and Python have positions in texts."""


class EntryPath(Variable):
    """A path in a Java engine or Python: names are keys of maps, numbers positions in lists. It is
    equal to the same path elsewhere.

    `counted` are the steps that are numbers in brackets, `got` those that are arguments of `get`.
    """

    path: Path
    span: Span = NOWHERE
    counted: tuple[int, ...] = ()
    got: tuple[int, ...] = ()
    rules: EntryRules = "juel"


class Flag(Variable):
    """A variable that is a whole condition in JUEL, or a result of one; the fields are those of
    `EntryPath`. It is equal to the same path elsewhere."""

    path: Path
    span: Span = NOWHERE
    counted: tuple[int, ...] = ()
    got: tuple[int, ...] = ()


KnownType = Literal["number", "whole", "text", "truth"]
"""The type of a variable, which may also be null. `whole` is a number without a fraction."""


class Known(Variable):
    """A variable of a known type. It is equal to the same path elsewhere."""

    path: Path
    span: Span = NOWHERE
    type: KnownType = "text"


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
    "json", "written json", "escaped json", "entry", "list", "map", "append", "single", "truth",
    "item", "part", "three-valued",
    "type", "is list", "is true", "same", "juel equal", "compared", "sum", "json text",
    "media type", "other headers", "as media", "literal plus",
    "length", "count", "has", "strip", "same letters", "java text", "computed text",
    "or null", "concat", "python equal", "modulo", "decimal", "unsure", "xpath count",
    "xpath number", "xpath text",
]  # fmt: skip
"""Methods of texts and collections, under one name for all languages. `text` concatenates values to
a text, in which null is empty. `json` parses JSON text, `written json` is the JSON of a value
(`escaped json` in ASCII), and `entry` is the entry of an object or list under a constant name or
number. `list` makes a list of values, `map` an object of constant names, each followed by its
value. `append` is a list with a value added at the end, `single` the only value of a list or object
(null if it is empty, no result if there are several), and `truth` whether a value counts as true in
Groovy. `item` is FEEL's `list[n]`, counted from 1, where any value is a list of itself, `part` an
entry of a FEEL context under a constant name, and `three-valued` the value of a FEEL expression
that may be true, false or null. `decimal` is the value of an arithmetic expression of Groovy with
decimals (`expressions.decimals`), in which `unsure` is a number that may be a decimal or a double.
In XPath, `xpath count` is the number of values, and `xpath number` and `xpath text` are the first
of them as a number or text.

The methods of Java's classes are more strict: `length` is that of a text, `count` the number of
entries of a list or object, `has` whether a text contains a text or a list an equal value, `strip`
a text without spaces and control characters at its ends, `same letters` whether texts are equal but
for case, and `concat` a text with another at its end.

The others occur only in translations to JavaScript: `type` is `typeof`, `is list` whether a value
is a list, `is true` whether it is true or the text `true`, `same` whether two values are equal
without conversion (lists and objects by their content), and `juel equal` and `python equal` whether
they are equal in JUEL and Python. `modulo` is Python's `%`. `compared` is a number below, equal to
or above 0 as the first of two FEEL values is to the second (NaN if they have no order), and `sum`
the sum of the products in lists of decimal numbers, of which the sign is exact. `json text` is the
value, which has to be JSON if it is a text. Of the headers of a request, `media type` is the type
of its body (JSON if they state none), and `other headers` are those without it; `as media` is a
body as the text that is sent in a media type. `literal plus` is an address in which each plus is
encoded, so that it is not read as a space. `java text` is the text that Java has for a value, and
`computed text` that of a number computed from the other arguments: Java writes 3.0 if one of them
is a number with a fraction. `or null` is the value, or null if there is none."""


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


def with_paths(tree: Tree, path: Callable[[Path], Path]) -> Tree:
    """The tree with other paths of its variables, except those in FEEL expressions."""
    if isinstance(tree, Feel):
        return tree
    fields = {name: getattr(tree, name) for name in tree.__match_args__}
    if isinstance(tree, Variable):
        return type(tree)(**{**fields, "path": path(tree.path)})
    if isinstance(tree, Call):
        arguments = tuple(with_paths(one, path) for one in tree.arguments)
        return Call(tree.function, arguments, tree.span)
    parts = {
        name: with_paths(cast("Tree", part), path)
        for name, part in fields.items()
        if isinstance(part, Node)
    }
    return type(tree)(**{**fields, **parts})


def with_members(tree: Tree) -> Tree:
    """The tree with paths as members of objects."""
    if isinstance(tree, Variable):
        plain = len(tree.path) == 1 or isinstance(tree, EntryPath)
        return tree if plain else Member(tree.path, tree.span)
    if isinstance(tree, Call):
        return Call(tree.function, tuple(map(with_members, tree.arguments)), tree.span)
    fields = {name: getattr(tree, name) for name in tree.__match_args__}
    parts = {
        name: with_members(cast("Tree", part))
        for name, part in fields.items()
        if isinstance(part, Node) and not isinstance(tree, Feel)
    }
    return type(tree)(**{**fields, **parts})


def with_types(tree: Tree, types: Callable[[Path], KnownType | None]) -> Tree:
    """The tree with variables of known types; FEEL expressions of which all variables are known may
    become trees of the shared grammar."""
    if isinstance(tree, Feel):
        from orgflow_ir.languages.feel.short import shared_tree  # of FEEL only

        found = shared_tree(tree, types)
        return tree if found is None else found
    if type(tree) is Variable:
        known = types(tree.path)
        return tree if known is None else Known(tree.path, tree.span, known)
    if isinstance(tree, Variable):
        return tree
    if isinstance(tree, Call):
        arguments = tuple(with_types(one, types) for one in tree.arguments)
        return Call(tree.function, arguments, tree.span)
    fields = {name: getattr(tree, name) for name in tree.__match_args__}
    parts = {
        name: with_types(cast("Tree", part), types)
        for name, part in fields.items()
        if isinstance(part, Node)
    }
    return type(tree)(**{**fields, **parts})


def constants(tree: Tree) -> Iterator[bool | int | float | str]:
    """Constants in a tree except null: the values at which comparisons change."""
    for node in nodes(tree):
        if isinstance(node, Constant) and node.value is not None:
            yield node.value
        elif isinstance(node, Feel):
            from orgflow_ir.languages.feel.reading import literals

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
        case Call("three-valued", (inner,), span):
            truths = [_in_feel(inner, wanted) for wanted in (True, False)]
            other = Conditional(truths[1], Constant(False), Constant(None), "loose", span)
            return Conditional(truths[0], Constant(True), other, "loose", span)
        case Call("text", arguments, span):
            return Call("text", tuple(map(_as_java_text, arguments)), span)
        case Call(function, arguments, span):
            return Call(function, tuple(map(as_javascript, arguments)), span)
        case Empty(operand, span):
            return Empty(as_javascript(operand), span)
        case Not(operand, meaning, span):
            return Not(_truth(operand, meaning), "loose", span)
        case Negative(operand, meaning, span):
            return Negative(as_javascript(_operand(operand, meaning)), "loose", span)
        case Logical(operator, left, right, meaning, span):
            return Logical(operator, _truth(left, meaning), _truth(right, meaning), "loose", span)
        case Arithmetic(sign, left, right, meaning, span):
            left, right = _operand(left, meaning), _operand(right, meaning)
            if sign == "+" and meaning == "juel" and _may_be_text(left, right):
                # Only with minus JavaScript takes texts for the numbers that they are.
                negative = Negative(as_javascript(right), "loose", right.span)
                return Arithmetic("-", as_javascript(left), negative, "loose", span)
            if sign == "%" and meaning == "python":
                return Call("modulo", (as_javascript(left), as_javascript(right)), span)
            if sign == "+" and meaning in ("java", "typed") and kind_of(tree) == "text":
                return Arithmetic("+", _summand(left), _summand(right), "loose", span)
            return Arithmetic(sign, as_javascript(left), as_javascript(right), "loose", span)
    if tree.meaning == "xpath":
        left, right = as_javascript(tree.left), as_javascript(tree.right)
        return Comparison(tree.operator, left, right, "xpath", tree.span)
    if tree.operator in ("==", "!="):
        return _equality(tree)
    return _order(tree)


def _truth(tree: Tree, meaning: Meaning) -> Tree:
    """What decides by its truth value: in JUEL the text "false" is false, in FEEL only true is."""
    if isinstance(tree, Known) and tree.type == "truth":
        return tree
    if meaning == "juel" and kind_of(tree) in (None, "text"):
        return Call("is true", (as_javascript(tree),), tree.span)
    if isinstance(tree, Variable) and meaning == "feel":
        return Comparison("==", tree, Constant(True), "strict", tree.span)
    return as_javascript(tree)


def _operand(tree: Tree, meaning: Meaning) -> Tree:
    """An operand of arithmetic: in JUEL, the text of a number is that number, and an entry that is
    not found is null, which is 0."""
    if meaning == "juel" and isinstance(tree, EntryPath):
        return Call("or null", (tree,), tree.span)
    if meaning != "juel" or not isinstance(tree, Constant) or not isinstance(tree.value, str):
        return tree
    if tree.value == "":
        return Constant(0, tree.span)
    if JUEL_NUMBER.fullmatch(tree.value) is None:
        return tree
    whole = WHOLE_NUMBER.fullmatch(tree.value) is not None
    return Constant(int(tree.value) if whole else float(tree.value), tree.span)


def _as_java_text(tree: Tree) -> Tree:
    from orgflow_ir.program.java_text import as_java_text  # few trees are texts

    return as_java_text(tree)


def _summand(tree: Tree) -> Tree:
    """A value that is added to a text: the text that Java has for a computed number."""
    computed = isinstance(tree, Arithmetic | Negative) and kind_of(tree) != "text"
    if isinstance(tree, EntryPath):
        return Call("or null", (tree,), tree.span)  # not the text “undefined”
    return _as_java_text(tree) if computed else as_javascript(tree)


_KINDS: dict[str, KnownType] = {
    "size": "whole", "length": "whole", "count": "whole", "is empty": "truth", "contains": "truth",
    "has": "truth", "starts with": "truth", "ends with": "truth", "same letters": "truth",
    "truth": "truth", "is true": "truth", "is list": "truth", "lower": "text", "upper": "text",
    "trim": "text", "strip": "text", "text": "text", "concat": "text", "written json": "text",
    "escaped json": "text", "type": "text", "decimal": "number", "xpath count": "whole",
    "xpath number": "number", "xpath text": "text",
}  # fmt: skip
"""The types of what functions give."""


def kind_of(tree: Tree) -> KnownType | None:
    """The type of the values of a tree of a Java engine or a script language, if they all have one;
    they may be null only if it is a `Known` variable."""
    # Kept with the node: every node above it asks for it, and so does every check of one of these.
    kept = tree.__dict__
    if "_kind" not in kept:
        kept["_kind"] = _kind(tree)
    kind: KnownType | None = kept["_kind"]
    return kind


def _kind(tree: Tree) -> KnownType | None:
    match tree:
        case Constant(value):
            kinds: dict[type, KnownType] = {bool: "truth", int: "whole", float: "number"}
            return None if value is None else kinds.get(type(value), "text")
        case Known(type=known):
            return known
        case Not() | Comparison() | Empty():
            return "truth"
        case Logical(meaning=meaning):
            return None if meaning == "loose" else "truth"
        case Negative(operand):
            return "whole" if kind_of(operand) == "whole" else "number"
        case Arithmetic(operator, left, right, meaning):
            sides = {kind_of(left), kind_of(right)}
            if operator == "+" and meaning != "juel" and not sides <= {"number", "whole"}:
                return "text" if "text" in sides else None
            return "whole" if sides == {"whole"} and operator != "/" else "number"
        case Conditional(_, then, otherwise):
            branches = {kind_of(then), kind_of(otherwise)}
            if branches == {"number", "whole"}:
                return "number"
            return branches.pop() if len(branches) == 1 else None
        case Call(function):
            return _KINDS.get(function)
    return None


OPPOSITE: dict[ComparisonOperator, ComparisonOperator] = {
    "==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
}  # fmt: skip
"""The operator that holds for two numbers where another does not."""

_KNOWN: dict[KnownType, str] = {
    "number": "number", "whole": "number", "text": "string", "truth": "boolean",
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
                operator = OPPOSITE[operator]
                wanted = not wanted if operator == "==" else wanted
            if operator == "==":
                return _equal_in_feel(left, right, wanted, span)
            return _ordered_in_feel(operator, left, right, span)
        case Not() | Logical() | Comparison() | Empty():
            found = as_javascript(tree)
            return found if wanted else Not(found, "loose", tree.span)
        case Known(type="truth") if wanted:
            return tree
        case _:
            return Comparison("==", as_javascript(tree), Constant(wanted), "strict", tree.span)


def _equal_in_feel(left: Tree, right: Tree, wanted: bool, span: Span) -> Tree:
    """Values of different types are neither equal nor different, but null differs from all."""
    if isinstance(left, Constant) and not isinstance(right, Constant):
        left, right = right, left
    one, two = as_javascript(left), as_javascript(right)
    sign: ComparisonOperator = "==" if wanted else "!="
    known = _known_type(two)
    if Constant(None) in (left, right):
        nothing = _is_null(one if right == Constant(None) else two)
        return nothing if wanted else Not(nothing, "loose", span)
    if isinstance(one, Arithmetic) or isinstance(two, Arithmetic):
        both = _computed_in_feel(Comparison("==", left, right, "feel", span), "strict")
        for part in reversed([*_operands(one), *_operands(two)]):
            both = Logical("and", _is_a(part, "number"), both, "loose", span)
        return both if wanted else Not(both, "loose", span)
    if isinstance(one, Known) and one.type == "truth" and two == Constant(True) and wanted:
        return one
    if isinstance(one, Known) and isinstance(two, Known) and _known_type(one) == known:
        return Comparison(sign, one, two, "loose", span)  # one may be null, the other undefined
    if isinstance(two, Known):
        known = None
    if known is None:
        same = Call("same", (one, two), span)
        if wanted:
            return same
        types = (Call("type", (one,), span), Call("type", (two,), span))
        lists = (Call("is list", (one,), span), Call("is list", (two,), span))
        of_one_type: Tree = Logical(
            "and",
            Comparison("==", *types, "strict", span),
            Comparison("==", *lists, "strict", span),
            "loose",
            span,
        )
        for part in (two, one):
            of_one_type = Logical("or", _is_null(part), of_one_type, "loose", span)
        return Logical("and", of_one_type, Not(same, "loose", span), "loose", span)
    found = Comparison(sign, one, two, "strict", span)
    if wanted or _known_type(one) == known:
        return found
    differs = Logical("and", _is_a(one, known), found, "loose", span)
    return Logical("or", _is_null(one), differs, "loose", span)


def _is_null(tree: Tree) -> Tree:
    """Whether a value is null in FEEL, where a part of a list is the list of the parts of its
    entries."""
    found: Tree = Comparison("==", tree, Constant(None), "loose", tree.span)
    if isinstance(tree, Variable):
        for size in range(len(tree.path) - 1, 0, -1):
            lists = Call("is list", (Variable(tree.path[:size], tree.span),), tree.span)
            found = Logical("and", found, Not(lists, "loose", tree.span), "loose", tree.span)
    return found


def _ordered_in_feel(operator: ComparisonOperator, left: Tree, right: Tree, span: Span) -> Tree:
    """Only two numbers, or two texts, are in an order. Texts are ordered by code points, which
    matters if none is a constant."""
    one, two = as_javascript(left), as_javascript(right)
    types = {_known_type(one), _known_type(two)}
    found = _computed_in_feel(Comparison(operator, left, right, "feel", span), "loose")
    if isinstance(one, Arithmetic) or isinstance(two, Arithmetic):
        types = {"number"}
    texts = types <= {None, "string"} and not any(isinstance(s, Constant) for s in (one, two))
    if types == {None} or texts:
        order = Call("compared", (one, two), span)
        return Comparison(operator, order, Constant(0), "loose", span)
    kinds_known = types - {None}
    kind = kinds_known.pop()
    if kinds_known or kind not in ("number", "string"):
        return Constant(False, span)
    if any(_known_type(part) not in (None, kind) for part in (*_operands(one), *_operands(two))):
        return Constant(False, span)
    null_holds = _is_summed(found) or _holds_of_null(operator, one, two)
    for part in reversed([*_operands(one), *_operands(two)]):
        if _known_type(part) is None:
            found = Logical("and", _is_a(part, kind), found, "loose", span)
        elif null_holds:
            there = Comparison("!=", part, Constant(None), "loose", span)
            found = Logical("and", there, found, "loose", span)
    return found


def _is_summed(tree: Tree) -> bool:
    total = tree.left if isinstance(tree, Comparison) else None
    return isinstance(total, Call) and total.function == "sum"


def _computed_in_feel(tree: Comparison, meaning: Meaning) -> Tree:
    """A comparison that doubles decide, or one of a sum whose sign is exact."""
    left, right = as_javascript(tree.left), as_javascript(tree.right)
    found = Comparison(tree.operator, left, right, meaning, tree.span)
    if isinstance(left, Arithmetic) or isinstance(right, Arithmetic):
        from orgflow_ir.program.exact import (  # few trees compute
            exact_comparison,
            is_decided_by_doubles,
            terms,
        )

        if is_decided_by_doubles(tree):
            return found
        exact = exact_comparison(tree)
        if exact is not None:
            left, right = as_javascript(exact.left), as_javascript(exact.right)
            return Comparison(exact.operator, left, right, meaning, tree.span)
        if (every := terms(tree)) is not None:
            products = tuple(Call("list", one) for one in every)
            total = Call("sum", products, tree.span)
            return Comparison(tree.operator, total, Constant(0), meaning, tree.span)
    return found


def _operands(tree: Tree) -> list[Tree]:
    """The operands of arithmetic operations, else the tree itself, without constants."""
    if isinstance(tree, Arithmetic):
        return [*_operands(tree.left), *_operands(tree.right)]
    return [] if _is_constant(tree) else [tree]


def _is_constant(tree: Tree) -> bool:
    return isinstance(tree.operand if isinstance(tree, Negative) else tree, Constant)


def _known_type(tree: Tree) -> str | None:
    """The type in JavaScript of a constant, or of a variable that may also be null, and of what is
    computed of known numbers."""
    inner = tree.operand if isinstance(tree, Negative) else tree
    if isinstance(inner, Constant):
        return "null" if inner.value is None else _TYPES[type(inner.value)]
    if isinstance(inner, Known):
        return _KNOWN[inner.type]
    if isinstance(inner, Arithmetic):
        sides = {_known_type(inner.left), _known_type(inner.right)}
        return "number" if sides == {"number"} else None
    return None


def _is_a(tree: Tree, kind: str) -> Tree:
    return Comparison("==", Call("type", (tree,), tree.span), Constant(kind), "strict", tree.span)


def _either(tree: Tree, values: tuple[Scalar, ...], span: Span) -> Tree:
    """Whether a value is exactly one of several."""
    first, *rest = (Comparison("==", tree, Constant(v), "strict", span) for v in values)
    found: Tree = first
    for one in rest:
        found = Logical("or", found, one, "loose", span)
    return found


_BY_VALUE = ("java", "typed", "identity", "equals")
"""Meanings of an equality that converts nothing."""


def _equality(tree: Comparison) -> Tree:
    left, right = as_javascript(tree.left), as_javascript(tree.right)
    found: Tree | None = None
    constant = isinstance(left, Constant) or isinstance(right, Constant)
    types = {_known_type(one) for one in (left, right) if isinstance(one, Known)}
    both = isinstance(left, Known) and isinstance(right, Known)
    if tree.meaning == "juel" and both and len(types) == 1:
        return Comparison(tree.operator, left, right, "loose", tree.span)
    if tree.meaning == "juel":
        for one, other in ((left, right), (right, left)):
            if not isinstance(one, Constant) and isinstance(other, Constant):
                found = _like(one, other.value, tree.span)
        kinds = {kind_of(side) for side in (tree.left, tree.right)}
        numbers = kinds & {"number", "whole"}
        if not constant and not numbers and (len(kinds) > 1 or kinds == {None}):
            found = Call("juel equal", (left, right), tree.span)
    elif tree.meaning in _BY_VALUE and not constant:
        found = Call("same", (left, right), tree.span)
    elif tree.meaning == "python" and not constant:
        found = Call("python equal", (left, right), tree.span)
    elif tree.meaning == "python":
        for one, other in ((left, right), (right, left)):
            if isinstance(other, Constant) and other.value in (0, 1):
                found = _either(one, (bool(other.value), int(other.value)), tree.span)
    if found is not None:
        return found if tree.operator == "==" else Not(found, "loose", tree.span)
    strict = tree.meaning == "strict" or (
        tree.meaning in (*_BY_VALUE, "python") and Constant(None) not in (left, right)
    )
    return Comparison(tree.operator, left, right, "strict" if strict else "loose", tree.span)


def _like(one: Tree, value: Scalar, span: Span) -> Tree | None:
    """Whether a value is equal in JUEL to a truth value or a text that says one."""
    if isinstance(one, Known) and one.type == "truth" and isinstance(value, bool):
        return one if value else Comparison("==", one, Constant(False), "strict", span)
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
    if Constant(None) in (left, right):  # null is only as much as null
        other = right if left == Constant(None) else left
        null = Comparison("==", other, Constant(None), "loose", tree.span)
        return null if tree.operator in ("<=", ">=") else Constant(False, tree.span)
    sides = ((left, tree.left), (right, tree.right))
    may = [one for one, side in sides if isinstance(side, Variable) or kind_of(side) is None]
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
        elif isinstance(side, Variable) or _is_multiple(side):
            numbers.append(0)
        else:
            return True
    first, second = numbers
    both = not any(map(_is_constant, (left, right)))
    holds = {"<": first < second, "<=": first <= second, ">": first > second, ">=": first >= second}
    return both or holds[operator]


def _is_multiple(tree: Tree) -> bool:
    """Whether a value is a variable multiplied or divided by a constant: 0 if that is null."""
    if not isinstance(tree, Arithmetic) or tree.operator not in ("*", "/"):
        return False
    return (isinstance(tree.left, Variable) and isinstance(tree.right, Constant)) or (
        tree.operator == "*"
        and isinstance(tree.right, Variable)
        and isinstance(tree.left, Constant)
    )


def _may_be_text(left: Tree, right: Tree) -> bool:
    """Whether one of two values may be a text that is a number, and none is another text."""
    sides = (left, right)
    if any(isinstance(one, Constant) and isinstance(one.value, str) for one in sides):
        return False
    if all(_known_type(one) == "number" for one in sides):
        return False
    return any(isinstance(one, Variable | Call | Conditional) for one in sides)
