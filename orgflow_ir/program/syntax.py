"""The trees of programs: constants, variables, and operations on them, for every language.

A language elaborates its operators when it is parsed: `a == "1"` of JUEL is the operation
`juel ==`, which converts, that of FEEL the operation `feel ==`, which gives null. Each operation is
one value of `Operation` with its types, its meaning in Python, its form in JavaScript, and what it
requires of its operands, so that no later stage asks for a language. Equality of trees ignores
positions in the text (`span`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import FrozenInstanceError
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Literal,
    TypeAlias,
    TypeVar,
    assert_never,
    cast,
    dataclass_transform,
)

from orgflow_ir.model.records import NamedTuple

ComparisonOperator = Literal["==", "!=", "<", "<=", ">", ">="]
ArithmeticOperator = Literal["+", "-", "*", "/", "%"]
LogicalOperator = Literal["and", "or"]
MOST_INT = 2**31 - 1
"""The largest number of Java's type `int`."""

Path = tuple[str, ...]
if TYPE_CHECKING:
    from decimal import Decimal

Scalar: TypeAlias = "bool | int | float | str | Decimal | None"
"""A constant; a decimal is a number in a program over exact values."""


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

    _defaults: ClassVar[Mapping[str, Any]] = {}

    def __init_subclass__(cls) -> None:
        # Methods that `dataclass` generates would be compiled for each class at every start.
        if own := tuple(cls.__annotations__):  # a kind of `Apply` has none of its own
            cls.__match_args__ = own  # type: ignore[misc]  # mypy takes it for frozen
            cls._defaults = {name: vars(cls)[name] for name in own if name in vars(cls)}

    def __init__(self, *values: Any, **named: Any) -> None:
        names = self.__match_args__
        content = {**self._defaults, **dict(zip(names, values, strict=False)), **named}
        if (
            content.keys() != set(names)
            or len(values) > len(names)
            or not named.keys().isdisjoint(names[: len(values)])
        ):
            raise TypeError(f"{type(self).__name__} is made of {', '.join(names)}")
        object.__setattr__(self, "__dict__", content)

    def _compared(self) -> tuple[Any, ...]:
        """The values that equality is about."""
        return tuple(self.__dict__[name] for name in self.__match_args__ if name != "span")

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


KnownType = Literal["number", "whole", "text", "truth"]
"""The type of a value, which may also be null. `whole` is a number without a fraction."""


class Reading:
    """The way in which a language reads a path of names: one row of the table of readings.

    Args:
        name: unique.
        compute: the value of a variable in Python.
        requirements: what the steps of a path require of the values that they are read from.
        may_miss: whether the value may be undefined in JavaScript where the language has null.
    """

    __slots__ = ("compute", "may_miss", "name", "requirements")

    def __init__(
        self,
        name: str,
        *,
        compute: Callable[[Variable, Mapping[Path, Any]], Any],
        requirements: Callable[[Variable], Iterable[Found]],
        may_miss: bool,
    ) -> None:
        self.name = name
        self.compute = compute
        self.requirements = requirements
        self.may_miss = may_miss

    def __repr__(self) -> str:
        return self.name


class Variable(Node):
    """A variable or a path from one: `order.amount` is `("order", "amount")`.

    It is equal to the same path that is read in another way. `counted` are the steps that are
    numbers in brackets, `got` those that are arguments of `get`; `type` is that of its values, if
    it is known. Without `reading`, a step of nothing gives nothing.
    """

    path: Path
    span: Span = NOWHERE
    reading: Reading | None = None
    counted: tuple[int, ...] = ()
    got: tuple[int, ...] = ()
    type: KnownType | None = None

    @property
    def name(self) -> str:
        """Its first name."""
        return self.path[0]

    def __eq__(self, other: object) -> bool:
        return self.path == other.path if isinstance(other, Variable) else NotImplemented

    def __hash__(self) -> int:
        return hash((Variable, self.path))


Kind = TypeVar("Kind", bound="Apply", covariant=True)
Found = tuple["Requirement", tuple["Tree", ...]]
"""A requirement with the operands that have to meet it."""

Compute = Callable[[Any, Callable[["Tree"], Any]], Any]
"""The value of a node in Python; the second argument evaluates operands."""


class Requirement:
    """What one or two operands have to be at run time: one row of the table of requirements.

    Args:
        name: unique.
        operands: their number.
        fault: what a message says of an operand that is something else.
        use: what it says of the element that reads the operand; empty for two operands.
        met_by: types of variables that meet it, null included.
        met_by_computed: types of computed values, which are never null, that meet it as well.
    """

    __slots__ = ("fault", "met_by", "met_by_computed", "name", "operands", "use")

    def __init__(
        self,
        name: str,
        *,
        operands: int,
        fault: str,
        use: str,
        met_by: frozenset[KnownType],
        met_by_computed: frozenset[KnownType],
    ) -> None:
        self.name = name
        self.operands = operands
        self.fault = fault
        self.use = use
        self.met_by = met_by
        self.met_by_computed = met_by_computed

    def __repr__(self) -> str:
        return self.name


class Operation(Generic[Kind]):
    """An operation: one row of the table of operations, complete or not defined at all.

    Calling it makes a node: `juel.EQUAL(left, right, span=span)`.

    Args:
        name: unique; the language and what it computes.
        node: the kind of its nodes.
        sign: the operator as written in most languages; empty for a method.
        type_of: the type of the value of a node, `None` if it has none for sure.
        compute: the value of a node in Python. Raises `NoAnswer` where the language ends with an
            error.
        javascript: the node in operations that JavaScript has.
        requirements: what the operands of a node have to be for that form to have the same value.
        guard: an operand as a condition with the same truth value in JavaScript.

    Raises `ValueError` for a name that is taken.
    """

    __slots__ = (
        "compute", "guard", "javascript", "name", "node", "requirements", "sign", "type_of",
    )  # fmt: skip

    def __init__(
        self,
        name: str,
        node: type[Kind],
        sign: str,
        *,
        type_of: Callable[[Any], KnownType | None],
        compute: Compute,
        javascript: Callable[[Any], Tree],
        requirements: Callable[[Any], Iterable[Found]],
        guard: Callable[[Tree], Tree],
    ) -> None:
        self.name = name
        self.node = node
        self.guard = guard
        self.sign = sign
        self.type_of = type_of
        self.compute = compute
        self.javascript = javascript
        self.requirements = requirements
        if OPERATIONS.setdefault(name, self) is not self:
            raise ValueError(f"two operations are named {name!r}")

    def __call__(self, *operands: Tree, span: Span = NOWHERE) -> Kind:
        return self.node(self, operands, span)

    def __repr__(self) -> str:
        return self.name


Checked = Literal["nothing", "receiver", "operands"]
"""The operands of a method that are checked at run time where they are variables: none, the value
that has the method, or all."""


class Method(Operation["Call"]):
    """A method or function.

    Args:
        name: unique.
        checked: the operands for which an engine may end with an error.

    The other arguments are those of `Operation`.
    """

    __slots__ = ("checked",)

    def __init__(
        self,
        name: str,
        *,
        checked: Checked,
        type_of: Callable[[Any], KnownType | None],
        compute: Compute,
        javascript: Callable[[Any], Tree],
        requirements: Callable[[Any], Iterable[Found]],
    ) -> None:
        super().__init__(
            name,
            Call,
            "",
            type_of=type_of,
            compute=compute,
            javascript=javascript,
            requirements=requirements,
            guard=same_tree,
        )
        self.checked = checked


class FunctionRow(Method):
    """A function that a target prints as a call of a function with the same name
    (`function_rows.py`)."""

    __slots__ = ()


OPERATIONS: dict[str, Operation[Any]] = {}
"""The operations of the languages that are loaded, by name."""


class Apply(Node):
    """An operation applied to operands."""

    operation: Operation[Apply]
    operands: tuple[Tree, ...]
    span: Span = NOWHERE

    @property
    def operand(self) -> Tree:
        """The only operand."""
        (operand,) = self.operands
        return operand

    @property
    def left(self) -> Tree:
        """The first of two operands."""
        return self.operands[0]

    @property
    def right(self) -> Tree:
        """The second of two operands."""
        return self.operands[1]


class Not(Apply):
    """Negation of a truth value."""


class Negative(Apply):
    """A number with the opposite sign."""


class Logical(Apply):
    """Conjunction or disjunction."""

    @property
    def operator(self) -> LogicalOperator:
        """Its operator."""
        return cast(LogicalOperator, self.operation.sign)


class Comparison(Apply):
    """Equality or order of two values."""

    @property
    def operator(self) -> ComparisonOperator:
        """Its operator."""
        return cast(ComparisonOperator, self.operation.sign)


class Arithmetic(Apply):
    """An arithmetic operation, or, with `+`, a concatenation of texts."""

    @property
    def operator(self) -> ArithmeticOperator:
        """Its operator."""
        return cast(ArithmeticOperator, self.operation.sign)


class Conditional(Apply):
    """`a ? b : c`."""

    @property
    def condition(self) -> Tree:
        """What decides."""
        return self.operands[0]

    @property
    def then(self) -> Tree:
        """The value if the condition holds."""
        return self.operands[1]

    @property
    def otherwise(self) -> Tree:
        """The value if it does not."""
        return self.operands[2]


class Empty(Apply):
    """Whether a value is null, or an empty text or collection."""


class Call(Apply):
    """A method or function; a receiver is the first operand. It has no result for other receivers,
    for which engines raise an error."""

    @property
    def method(self) -> Method:
        """Its row of the table of operations."""
        return cast(Method, self.operation)


class Structure(Node):
    """A node that binds names, or makes a structure of values (`structures.py`)."""

    @property
    def span(self) -> Span:
        """A field of each kind."""
        raise NotImplementedError


class Exact(Node):
    """A program over exact values: decimals of 34 digits, dates, durations, ranges and functions.

    Values of variables are read from JSON, and the value of `body` is written as JSON. `paths` are
    the process variables that it reads, in order; `tested` are the names among them that are
    compared with null.
    """

    body: Tree
    paths: tuple[Path, ...]
    tested: frozenset[str]
    span: Span = NOWHERE


Tree = Constant | Variable | Apply | Exact | Structure
"""A program that computes one value."""


def list_child_parts(part: Node) -> Iterator[Node]:
    """The direct children of a node of any kind, in text order."""
    fields = part.__dict__
    for name in part.__match_args__:
        value = fields[name]
        if value.__class__ is tuple:  # not a span, a tuple of another class
            for child in value:
                if isinstance(child, Node):
                    yield child
        elif isinstance(value, Node):
            yield value


def walk_parts(root: Node) -> Iterator[Node]:
    """A node of any kind and its descendants, in preorder."""
    stack = [root]
    while stack:
        part = stack.pop()
        yield part
        stack.extend(reversed(tuple(list_child_parts(part))))


def is_operation(node: Node, operation: Operation[Any]) -> bool:
    """Whether a node applies an operation."""
    return isinstance(node, Apply) and node.operation is operation


def children(tree: Tree) -> tuple[Tree, ...]:
    """The operands of a node, left to right."""
    return tree.operands if isinstance(tree, Apply) else ()


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
        elif isinstance(node, Exact):
            yield from node.paths


def with_operands(tree: Apply, change: Callable[[Tree], Tree]) -> Apply:
    """The node with each operand changed; the node itself if none is another value."""
    operands = tuple(map(change, tree.operands))
    if all(new is old for new, old in zip(operands, tree.operands, strict=True)):
        return tree
    return type(tree)(tree.operation, operands, tree.span)


def constants(tree: Tree) -> Iterator[bool | int | float | str]:
    """Constants in a tree except null: the values at which comparisons change."""
    for node in nodes(tree):
        if isinstance(node, Constant) and node.value is not None:
            yield cast("bool | int | float | str", node.value)
        elif isinstance(node, Exact):
            from orgflow_ir.program.feel.boundary import to_json  # in few models

            for part in walk_parts(node.body):
                if isinstance(part, Constant) and part.value is not None:
                    yield cast("bool | int | float | str", to_json(part.value))


def is_plain(tree: Tree) -> bool:
    """Whether a tree contains only comparisons, arithmetic and logic: no calls, and no exact
    values."""
    return not any(isinstance(node, Call | Conditional | Exact) for node in nodes(tree))


def as_javascript(tree: Tree) -> Tree:
    """The tree in operations that JavaScript has, with the same value.

    Equality without conversion becomes `===`, except with null, since JavaScript has two null
    values; JUEL's conversions become `==`. Where JavaScript converts null, texts or truth values
    differently, the tree contains the tests that give the result of the language.
    """
    if not isinstance(tree, Apply):
        return tree
    for node in _list_unfinished(tree, "_javascript"):
        node.__dict__["_javascript"] = node.operation.javascript(node)
    code: Tree = tree.__dict__["_javascript"]
    return code


def _list_unfinished(tree: Apply, result: str) -> list[Apply]:
    """The node and its first operands, from the inside out, as far as a result is not kept with
    them: `a and b and …` may be deeper than calls can be nested."""
    chain: list[Apply] = []
    node: Tree = tree
    while isinstance(node, Apply) and result not in node.__dict__:
        chain.append(node)
        if not node.operands:
            break
        node = node.operands[0]
    chain.reverse()
    return chain


def keep_operation(tree: Apply) -> Apply:
    """The form in JavaScript of an operation that JavaScript has: its operands change."""
    return with_operands(tree, as_javascript)


def same_tree(tree: Tree) -> Tree:
    """The tree itself."""
    return tree


def no_requirements(tree: Apply) -> tuple[Found, ...]:
    """The requirements of an operation whose value JavaScript has for all operands."""
    return ()


def kind_of(tree: Tree) -> KnownType | None:
    """The type of the values of a tree of a Java engine or a script language, if they all have one;
    they may be null only if it is a variable of a known type."""
    match tree:
        case Constant(value):
            return None if value is None else _KINDS_OF_CONSTANTS[type(value)]
        case Variable():
            return tree.type
        case Apply():
            # Kept with the node: every node above it asks for it, and every check of one of these.
            for node in _list_unfinished(tree, "_kind"):
                node.__dict__["_kind"] = node.operation.type_of(node)
            kind: KnownType | None = tree.__dict__["_kind"]
            return kind
        case Exact() | Structure():
            return None
        case _:
            assert_never(tree)


_KINDS_OF_CONSTANTS: dict[type, KnownType] = {
    bool: "truth", int: "whole", float: "number", str: "text",
}  # fmt: skip


OPPOSITE: dict[ComparisonOperator, ComparisonOperator] = {
    "==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">",
}  # fmt: skip
"""The operator that holds for two numbers where another does not."""


def is_open(tree: Tree, kind: KnownType) -> bool:
    """Whether a value may have another type at run time."""
    known = kind_of(tree)
    return known != kind and not (kind == "number" and known == "whole")


def is_constant(tree: Tree) -> bool:
    """Whether a tree is a constant, or a number with its sign."""
    return isinstance(tree.operand if isinstance(tree, Negative) else tree, Constant)


_JS_TYPES: dict[KnownType, str] = {
    "number": "number", "whole": "number", "text": "string", "truth": "boolean",
}  # fmt: skip
_JS_TYPES_OF_CONSTANTS: dict[type, str] = {
    bool: "boolean", int: "number", float: "number", str: "string",
}  # fmt: skip


def known_js_type(tree: Tree) -> str | None:
    """The type in JavaScript of a constant, or of a variable that may also be null, and of what is
    computed from known numbers."""
    inner = tree.operand if isinstance(tree, Negative) else tree
    if isinstance(inner, Constant):
        return "null" if inner.value is None else _JS_TYPES_OF_CONSTANTS[type(inner.value)]
    if isinstance(inner, Variable):
        return None if inner.type is None else _JS_TYPES[inner.type]
    if isinstance(inner, Arithmetic):
        sides = {known_js_type(side) for side in inner.operands}
        return "number" if sides == {"number"} else None
    return None
