"""Nodes of programs that bind names or make structures: FEEL (DMN 1.5, 10.3.1) with its loops,
functions and tests, and the two boxed expressions of DMN without a notation: decision tables and
typed variables.

Operators, literals and names are the nodes that every language has (`Constant`, `Variable`,
`Apply`). Equivalent notations share a node: `(< 10)` is a range without a lower end, `a.b` and a
qualified name are paths. In these trees a variable is a name, which another node may bind.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar
from typing import Literal as OneOf

from orgflow_ir.program.feel.types import ANY, Type
from orgflow_ir.program.syntax import (
    NOWHERE,
    Comparison,
    Node,
    Operation,
    Span,
    Structure,
    Tree,
    Variable,
    list_child_parts,
    walk_parts,
)

HitPolicy = OneOf["UNIQUE", "FIRST", "PRIORITY", "ANY", "COLLECT", "RULE ORDER", "OUTPUT ORDER"]
Aggregation = OneOf["COUNT", "SUM", "MIN", "MAX"]


class AtLiteral(Structure):
    """`@"2024-01-31"`: a date, time, date and time or duration literal."""

    text: str
    span: Span = NOWHERE


class Path(Structure):
    """`base.name`: an entry of a context or a property of a value."""

    base: Tree
    name: str
    span: Span = NOWHERE


class Filter(Structure):
    """`base[condition]`: the element at an index, or those that satisfy a condition."""

    base: Tree
    condition: Tree
    span: Span = NOWHERE


class UnaryTest(Node):
    """One unary test: operator and operand as in `< 10`; without an operator, an expression whose
    value equals or contains the input, or (if it uses the input, `?`) is true."""

    operator: Operation[Comparison] | None
    operand: Tree
    span: Span = NOWHERE


class UnaryTests(Node):
    """Tests, one of which has to hold or, if `negated`, none; without tests (`-`) every value
    matches."""

    tests: tuple[UnaryTest, ...]
    negated: bool
    span: Span = NOWHERE


class In(Structure):
    """`value in tests`."""

    value: Tree
    tests: UnaryTests
    span: Span = NOWHERE


class InstanceOf(Structure):
    """`value instance of type`."""

    value: Tree
    type: Type
    span: Span = NOWHERE


class Iteration(Node):
    """`name in domain`, or with `end` `name in domain..end`."""

    name: str
    domain: Tree
    end: Tree | None
    span: Span = NOWHERE


class For(Structure):
    """`for … return body`: a list; `partial` refers to the results so far."""

    iterators: tuple[Iteration, ...]
    body: Tree
    span: Span = NOWHERE


class Quantified(Structure):
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


class FunctionDefinition(Structure):
    """`function(parameters) body`; `external` if the body describes code outside FEEL."""

    parameters: tuple[Parameter, ...]
    body: Tree
    external: bool
    span: Span = NOWHERE


class FunctionCall(Structure):
    """A call with arguments by position, or by name (`names`, one per argument)."""

    function: Tree
    arguments: tuple[Tree, ...]
    names: tuple[str, ...] | None
    span: Span = NOWHERE


class Entry(Node):
    """`key: value` of a context."""

    key: str
    value: Tree
    span: Span = NOWHERE


class ContextLiteral(Structure):
    """`{key: value}`; an entry sees those before it."""

    entries: tuple[Entry, ...]
    span: Span = NOWHERE


class RangeLiteral(Structure):
    """`[low..high]`; an end that is `None` is unbounded, as in `(> 5)`."""

    low: Tree | None
    high: Tree | None
    low_included: bool
    high_included: bool
    span: Span = NOWHERE


class Coerced(Structure):
    """A value coerced to a type, or null if it does not conform; this is DMN's rule for
    variables."""

    value: Tree
    type: Type
    span: Span = NOWHERE


class TableInput(Node):
    """An input column; a value outside `allowed` matches no rule. `converts` is the type to which
    Camunda 7 converts the value (`string`, `integer`, `long`, `double`, `boolean`, `date`), `type`
    the one to which a text is converted that stands for a date, a time or a duration."""

    expression: Tree
    allowed: UnaryTests | None
    converts: str = ""
    type: Type = ANY
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


class DecisionTable(Structure):
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
    direct: Iterator[Any] = list_child_parts(part)
    return direct


def with_children(part: _N, change: Callable[[Node], Node]) -> _N:
    """A node, each direct child of which is what `change` makes of it."""
    changed: dict[str, object] = {}
    for name in part.__match_args__:
        value = getattr(part, name)
        if isinstance(value, tuple) and name != "span":
            value = tuple(change(child) if isinstance(child, Node) else child for child in value)
        elif isinstance(value, Node):
            value = change(value)
        changed[name] = value
    return type(part)(**changed)


def parts(root: Part) -> Iterator[Part]:
    """A node and its descendants, in preorder."""
    walked: Iterator[Any] = walk_parts(root)
    return walked


def reads_input(root: Part) -> bool:
    """Whether a unary test refers to its input, `?`."""
    return any(part.name == "?" for part in parts(root) if isinstance(part, Variable))
