"""The syntax tree of FEEL: one node per construct of the grammar (DMN 1.5, 10.3.1), and the two
boxed expressions of DMN without a FEEL notation: decision tables and typed variables.

Equivalent notations share a node: `(< 10)` is a range without a lower end, `a.b` and a qualified
name are paths. Equality of trees ignores spans.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Literal as OneOf
from typing import TypeVar

from orgflow_ir.languages.feel.types import Type
from orgflow_ir.program.syntax import NOWHERE, Node, Span

ComparisonSign = OneOf["=", "!=", "<", "<=", ">", ">=", "==", "===", "!=="]
"""`==`, `===` and `!==` are no operators of FEEL; they are read in conditions of processes."""

HitPolicy = OneOf["UNIQUE", "FIRST", "PRIORITY", "ANY", "COLLECT", "RULE ORDER", "OUTPUT ORDER"]
Aggregation = OneOf["COUNT", "SUM", "MIN", "MAX"]
ArithmeticSign = OneOf["+", "-", "*", "/", "**"]


class FeelError(ValueError):
    """A text is not FEEL. `span` is the position in the text, `reason` the fault."""

    def __init__(self, reason: str, span: Span) -> None:
        super().__init__(reason)
        self.reason, self.span = reason, span


class Literal(Node):
    """A number, string, boolean, or null."""

    value: Decimal | str | bool | None
    span: Span = NOWHERE

    def _compared(self) -> tuple[object, ...]:
        # Else 1 and true are one literal.
        return (type(self.value), self.value)


class AtLiteral(Node):
    """`@"2024-01-31"`: a date, time, date and time or duration literal."""

    text: str
    span: Span = NOWHERE


class Name(Node):
    """A variable or function; `?` is the input of a unary test."""

    name: str
    span: Span = NOWHERE


class Path(Node):
    """`base.name`: an entry of a context or a property of a value."""

    base: Tree
    name: str
    span: Span = NOWHERE


class Filter(Node):
    """`base[condition]`: the element at an index, or those that satisfy a condition."""

    base: Tree
    condition: Tree
    span: Span = NOWHERE


class Negation(Node):
    """`-operand`."""

    operand: Tree
    span: Span = NOWHERE


class Arithmetic(Node):
    """An arithmetic operation; on texts, dates and durations as well as numbers."""

    operator: ArithmeticSign
    left: Tree
    right: Tree
    span: Span = NOWHERE


class Comparison(Node):
    """Equality or order of two values."""

    operator: ComparisonSign
    left: Tree
    right: Tree
    span: Span = NOWHERE


class Logical(Node):
    """Conjunction or disjunction in three-valued logic."""

    operator: OneOf["and", "or"]
    left: Tree
    right: Tree
    span: Span = NOWHERE


class Between(Node):
    """`value between low and high`."""

    value: Tree
    low: Tree
    high: Tree
    span: Span = NOWHERE


class UnaryTest(Node):
    """One unary test: `sign` and operand as in `< 10`; without a sign, an expression whose value
    equals or contains the input, or (if it uses the input, `?`) is true."""

    operator: ComparisonSign | None
    operand: Tree
    span: Span = NOWHERE


class UnaryTests(Node):
    """Tests, one of which has to hold or, if `negated`, none; without tests (`-`) every value
    matches."""

    tests: tuple[UnaryTest, ...]
    negated: bool
    span: Span = NOWHERE


class In(Node):
    """`value in tests`."""

    value: Tree
    tests: UnaryTests
    span: Span = NOWHERE


class InstanceOf(Node):
    """`value instance of type`."""

    value: Tree
    type: Type
    span: Span = NOWHERE


class If(Node):
    """`if condition then one else other`."""

    condition: Tree
    then: Tree
    otherwise: Tree
    span: Span = NOWHERE


class Iteration(Node):
    """`name in domain`, or with `end` `name in domain..end`."""

    name: str
    domain: Tree
    end: Tree | None
    span: Span = NOWHERE


class For(Node):
    """`for … return body`: a list; `partial` refers to the results so far."""

    iterators: tuple[Iteration, ...]
    body: Tree
    span: Span = NOWHERE


class Quantified(Node):
    """`some … satisfies condition`, `every … satisfies condition`."""

    quantifier: OneOf["some", "every"]
    iterators: tuple[Iteration, ...]
    condition: Tree
    span: Span = NOWHERE


class Parameter(Node):
    """A formal parameter of a function."""

    name: str
    type: Type
    span: Span = NOWHERE


class FunctionDefinition(Node):
    """`function(parameters) body`; `external` if the body describes code outside FEEL."""

    parameters: tuple[Parameter, ...]
    body: Tree
    external: bool
    span: Span = NOWHERE


class Call(Node):
    """A call with arguments by position, or by name (`names`, one per argument)."""

    function: Tree
    arguments: tuple[Tree, ...]
    names: tuple[str, ...] | None
    span: Span = NOWHERE


class ListLiteral(Node):
    """`[a, b]`."""

    items: tuple[Tree, ...]
    span: Span = NOWHERE


class Entry(Node):
    """`key: value` of a context."""

    key: str
    value: Tree
    span: Span = NOWHERE


class ContextLiteral(Node):
    """`{key: value}`; an entry sees those before it."""

    entries: tuple[Entry, ...]
    span: Span = NOWHERE


class RangeLiteral(Node):
    """`[low..high]`; an end that is `None` is unbounded, as in `(> 5)`."""

    low: Tree | None
    high: Tree | None
    low_included: bool
    high_included: bool
    span: Span = NOWHERE


class Coerced(Node):
    """A value coerced to a type, or null if it does not conform; this is DMN's rule for
    variables."""

    value: Tree
    type: Type
    span: Span = NOWHERE


class TableInput(Node):
    """An input column; a value outside `allowed` matches no rule. `converts` is the type to which
    Camunda 7 converts the value (`string`, `integer`, `long`, `double`, `boolean`, `date`)."""

    expression: Tree
    allowed: UnaryTests | None
    converts: str = ""
    span: Span = NOWHERE


class TableOutput(Node):
    """An output column; `priorities` are its values, the most important first."""

    name: str
    type: Type
    priorities: tuple[Tree, ...]
    default: Tree | None
    span: Span = NOWHERE


class TableRule(Node):
    """A row: one test per input, one entry per output."""

    tests: tuple[UnaryTests, ...]
    entries: tuple[Tree, ...]
    span: Span = NOWHERE


TableEngine = OneOf["camunda7", "camunda8", "flowable"]


class DecisionTable(Node):
    """A decision table of DMN (DMN 1.5, chapter 8), evaluated as an `engine` does, if there is one.

    In engines, rules that match against the hit policy are an error; in DMN, the value is null.
    Camunda 7 and Flowable have no default outputs, ignore matches with an empty output when they
    aggregate, and add fractions as doubles. Flowable aggregates distinct outputs only
    (`HitPolicyCollect`). If no rule matches, Camunda 8 has the default outputs that the table
    states, also instead of a list, and null instead of a count
    (`DecisionTableEvaluator.applyDefaultOutputEntries` of dmn-scala).
    """

    inputs: tuple[TableInput, ...]
    outputs: tuple[TableOutput, ...]
    rules: tuple[TableRule, ...]
    hit_policy: HitPolicy
    aggregation: Aggregation | None
    engine: TableEngine | None = None
    span: Span = NOWHERE


Tree = (
    Literal
    | AtLiteral
    | Name
    | Path
    | Filter
    | Negation
    | Arithmetic
    | Comparison
    | Logical
    | Between
    | In
    | InstanceOf
    | If
    | For
    | Quantified
    | FunctionDefinition
    | Call
    | ListLiteral
    | ContextLiteral
    | RangeLiteral
    | Coerced
    | DecisionTable
)

Part = (
    Tree
    | UnaryTest
    | UnaryTests
    | Iteration
    | Parameter
    | Entry
    | TableInput
    | TableOutput
    | TableRule
)


_N = TypeVar("_N", bound=Node)


def children(part: Part) -> Iterator[Part]:
    """The direct children of a node, in text order."""
    for name in part.__match_args__[:-1]:
        value = getattr(part, name)
        for found in value if isinstance(value, tuple) else (value,):
            if isinstance(found, Node):
                yield found  # type: ignore[misc]  # every node here is a Part


def with_children(part: _N, change: Callable[[Node], Node]) -> _N:
    """A node, each direct child of which is what `change` makes of it."""
    changed: dict[str, object] = {}
    for name in part.__match_args__:
        value = getattr(part, name)
        if isinstance(value, tuple) and name != "span":
            value = tuple(change(one) if isinstance(one, Node) else one for one in value)
        elif isinstance(value, Node):
            value = change(value)
        changed[name] = value
    return type(part)(**changed)


def parts(root: Part) -> Iterator[Part]:
    """A node and its descendants, in preorder."""
    stack: list[Part] = [root]
    while stack:
        part = stack.pop()
        yield part
        stack.extend(reversed(tuple(children(part))))


def reads_input(root: Part) -> bool:
    """Whether a unary test refers to its input, `?`."""
    return any(isinstance(part, Name) and part.name == "?" for part in parts(root))
