"""Types that the operands of conditions and scripts must have at run time.

Where an operand has another type, an engine ends with an error or converts it by rules that
JavaScript does not have. A target tests the operand first and stops the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from orgflow_ir.analysis.expressions.syntax import (
    JUEL_NUMBER,
    Arithmetic,
    Comparison,
    Conditional,
    Constant,
    FeelPath,
    Flag,
    KnownType,
    Logical,
    Member,
    Negative,
    Not,
    Path,
    Tree,
    Variable,
)
from orgflow_ir.analysis.variables import Guards, implied, right_guard, walked
from orgflow_ir.model.records import NamedTuple

Demanded = Literal[
    "flag", "truth", "text", "scalar", "whole numeral", "numeral", "equal", "ordered",
    "number", "summand", "printable", "only text", "one type", "there", "object", "no list",
]  # fmt: skip
"""What operands have to be.

JUEL (Jakarta Expression Language 3.0, 1.7 to 1.9), where null is always valid:

- `flag`: a truth value, or the text `true` or `false`: the result of a condition.
- `truth`: a truth value or a text.
- `text`; `scalar`: a text or a number.
- `numeral`: a number or a text that is converted to one; `whole numeral`: without a fraction.
- `equal`, `ordered`: two values that can be converted to one type to be compared.

Java, Groovy and MVEL:

- `number`; `summand`: a number or a text; `printable`: anything but a list or object.
- `only text`; `one type`: two numbers or two texts; `there`: anything but null.

All scripts: `object`, a value whose member is read. FEEL: `no list`, a value whose part is read.
"""

_VALID: dict[KnownType, frozenset[Demanded]] = {
    "number": frozenset(("scalar", "numeral", "whole numeral")),
    "whole": frozenset(("scalar", "numeral", "whole numeral")),
    "text": frozenset(("truth", "text", "scalar")),
    "truth": frozenset(("flag", "truth")),
}
"""What values of a type, and null, always are."""


class Demand(NamedTuple):
    """What one or two operands have to be if every tree of `guards` has its truth value."""

    guards: Guards
    kind: Demanded
    operands: tuple[Variable, ...]


def demands(
    trees: Iterable[Tree],
    types: Callable[[Path], KnownType | None] = lambda _: None,
    *,
    in_turn: bool,
) -> tuple[Demand, ...]:
    """The demands of trees in evaluation order (`needed`), without those that the known types of
    variables meet and those that earlier ones imply."""
    found: dict[Demand, None] = {}
    said: dict[tuple[Demanded, tuple[Path, ...]], list[Guards]] = {}
    before: Guards = ()
    for tree in trees:
        for guards, node in walked(tree, before):
            for kind, operands in _of(node):
                inner = guards
                if isinstance(node, Logical) and operands[0] is node.right:
                    inner = (*guards, right_guard(node))
                known = [types(one.path) for one in operands]
                if _met(kind, known):
                    continue
                earlier = said.setdefault((kind, tuple(one.path for one in operands)), [])
                if not implied(inner, earlier):
                    earlier.append(inner)
                    found[Demand(inner, kind, operands)] = None
        if in_turn:
            before = (*before, (tree, False))
    return tuple(found)


def _met(kind: Demanded, known: list[KnownType | None]) -> bool:
    if kind in ("equal", "ordered"):
        kinds = {"number" if one == "whole" else one for one in known}
        return None not in kinds and len(kinds) == 1
    return all(one is not None and kind in _VALID[one] for one in known)


_Found = tuple[Demanded, tuple[Variable, ...]]


def _of(node: Tree) -> Iterator[_Found]:
    """What a node demands of its operands."""
    match node:
        case Flag():
            yield "flag", (node,)
        case Member(path):
            yield "object", (Variable(path[:-1], node.span),)
        case FeelPath(path):
            for size in range(1, len(path)):
                yield "no list", (Variable(path[:size], node.span),)
        case Not(Variable() as one, "juel") | Conditional(Variable() as one, _, _, "juel"):
            yield "truth", (one,)
        case Logical(_, left, right, "juel"):
            yield from (("truth", (v,)) for v in (left, right) if isinstance(v, Variable))
        case Negative(Variable() as one, "juel"):
            yield "numeral", (one,)
        case Negative(Variable() as one, "java"):
            yield "number", (one,)
        case Arithmetic(sign, left, right, meaning) if meaning in ("juel", "java"):
            for side, other in ((left, right), (right, left)):
                if isinstance(side, Variable):
                    yield _operand(sign, other) if meaning == "java" else "numeral", (side,)
        case Comparison(sign, left, right, meaning):
            yield from _compared(sign in ("==", "!="), left, right, meaning)


def _operand(sign: str, other: Tree) -> Demanded:
    if sign != "+":
        return "number"
    is_text = isinstance(other, Constant) and isinstance(other.value, str)
    return "printable" if is_text else "summand"


def _compared(equality: bool, left: Tree, right: Tree, meaning: str) -> Iterator[_Found]:
    both = [one for one in (left, right) if isinstance(one, Variable)]
    if meaning == "equals" and isinstance(left, Variable):
        yield "there", (left,)
    elif meaning == "juel" and len(both) == 2:
        yield "equal" if equality else "ordered", tuple(both)
    elif meaning == "juel":
        for one, other in ((left, right), (right, left)):
            kind = _against(equality, other)
            if isinstance(one, Variable) and kind is not None:
                yield kind, (one,)
    elif meaning == "java" and not equality:
        if len(both) == 2:
            yield "one type", tuple(both)
            return
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Variable):
                is_text = isinstance(other, Constant) and isinstance(other.value, str)
                yield "only text" if is_text else "number", (one,)


def _against(equality: bool, other: Tree) -> Demanded | None:
    """What is comparable in JUEL with another operand."""
    inner = other.operand if isinstance(other, Negative) else other
    if isinstance(inner, Arithmetic):
        return "numeral"
    if not isinstance(inner, Constant) or inner.value is None:
        return None
    value = inner.value
    if isinstance(value, bool):
        return "truth" if equality else "text"
    if isinstance(value, int | float):
        return "whole numeral" if isinstance(value, int) else "numeral"
    if value == "" or JUEL_NUMBER.fullmatch(value):
        return "scalar"
    return "truth" if equality and value.lower() in ("true", "false") else "text"
