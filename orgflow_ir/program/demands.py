"""Types that the operands of conditions and scripts must have at run time.

Where an operand has another type, an engine ends with an error or converts it by rules that
JavaScript does not have. A target tests the operand first and stops the run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.evaluation_guards import Guards, is_implied, right_guard, walk_guarded
from orgflow_ir.program.syntax import (
    JUEL_NUMBER,
    WHOLE_NUMBER,
    Arithmetic,
    Call,
    Comparison,
    Conditional,
    Constant,
    EntryPath,
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
    children,
    kind_of,
    nodes,
)

Demanded = Literal[
    "flag", "truth", "text", "scalar", "fraction", "whole numeral", "numeral", "equal", "ordered",
    "no order", "divisor", "number", "summand", "printable", "joined", "boolean", "only text",
    "one type", "there", "object", "no list", "map", "list", "collection", "map there",
    "list there", "collection there", "item", "no numeral", "no truth", "no scalar",
    "truth or null", "alike", "no text", "identical", "computed", "exact", "quotient", "indexed",
    "sequence",
]  # fmt: skip
"""What operands have to be.

JUEL (Jakarta Expression Language 3.0, 1.7 to 1.9), where null is always valid:

- `flag`: a truth value, or the text `true` or `false`: the result of a condition.
- `truth`: a truth value or a text.
- `text`; `scalar`: a text or a number; `fraction`: a text or a number with a fraction.
- `numeral`: a number or a text that is converted to one; `whole numeral`: without a fraction.
- `equal`, `ordered`: two values that can be converted to one type to be compared.
- `map`, `list`, `collection` (one of them): a value of which an entry is read.

Java, Groovy and MVEL:

- `number`; `summand`: a number or a text; `printable`: a value whose text is the same in
  JavaScript; `joined`: two values that are so if one of them is a text.
- `boolean`; `only text`; `one type`: two numbers or two texts; `there`: anything but null.
- `map there`, `list there`, `collection there`: the same as without `there`, and not null.
- `no numeral` (a text with digits, or a truth value), `no truth`, `no scalar` (a number or a truth
  value), `truth or null`: values that MVEL does not convert to compare them with a number, a text
  without digits, another text, a truth value; `alike`: two such values.
- `no text`; `identical`: two values that are equal in Java if they are identical.
- `computed`: a result that Java has as well, no whole number beyond the type of its operands.
- `indexed`: a list, or a text and a character that it has.

Python also: `quotient`, two numbers of which the division has the same result in Python 2 and 3;
`sequence`, a text or list and what it has at a position.

All of these: `item`, a value that is there; `divisor`, a number but zero; `no order`, null;
`exact`, no number beyond those that doubles have.
Scripts: `object`, a value whose member is read. FEEL: `no list`, a value whose part is read.
"""

_VALID: dict[KnownType, frozenset[Demanded]] = {
    "number": frozenset(("scalar", "fraction", "numeral", "whole numeral")),
    "whole": frozenset(("scalar", "numeral", "whole numeral")),
    "text": frozenset(("truth", "text", "scalar", "fraction")),
    "truth": frozenset(("flag", "truth", "truth or null")),
}
"""What values of a type, and null, always are."""

_COMPUTED: dict[KnownType, frozenset[Demanded]] = {
    "number": frozenset(("number", "summand", "there", "no numeral", "no truth", "no text")),
    "whole": frozenset(
        ("number", "summand", "printable", "there", "no numeral", "no truth", "no text")
    ),
    "text": frozenset(("summand", "printable", "only text", "there", "no truth", "no scalar")),
    "truth": frozenset(("boolean", "printable", "there")),
}
"""What computed values of a type, which are never null, always are in addition."""


class Demand(NamedTuple):
    """What one or two operands have to be if every tree of `guards` has its truth value."""

    guards: Guards
    kind: Demanded
    operands: tuple[Tree, ...]


def demands(
    trees: Iterable[Tree],
    types: Callable[[Path], KnownType | None] = lambda _: None,
    *,
    in_turn: bool,
) -> tuple[Demand, ...]:
    """The demands of trees in evaluation order (`needed`), without those that the known types of
    variables meet and those that earlier ones imply."""
    found: dict[Demand, None] = {}
    said: dict[tuple[Demanded, tuple[Tree, ...]], list[Guards]] = {}
    before: Guards = ()
    for tree in trees:
        for guards, node in walk_guarded(tree, before):
            for kind, operands in _of(node):
                inner = guards
                if isinstance(node, Logical) and operands[0] is node.right:
                    inner = (*guards, right_guard(node))
                if _met(kind, operands, types):
                    continue
                earlier = said.setdefault((kind, operands), [])
                if not is_implied(inner, earlier):
                    earlier.append(inner)
                    found[Demand(inner, kind, operands)] = None
        if in_turn:
            before = (*before, (tree, False))
    return tuple(found)


def _met(
    kind: Demanded, operands: tuple[Tree, ...], types: Callable[[Path], KnownType | None]
) -> bool:
    known = [types(one.path) if isinstance(one, Variable) else kind_of(one) for one in operands]
    if kind in ("equal", "ordered"):
        kinds = {"number" if one == "whole" else one for one in known}
        return None not in kinds and len(kinds) == 1
    return all(
        of is not None
        and (kind in _VALID[of] or (not isinstance(one, Variable) and kind in _COMPUTED[of]))
        for one, of in zip(operands, known, strict=True)
    )


_Found = tuple[Demanded, tuple[Tree, ...]]
_TYPED = ("java", "typed", "identity")


def _of(node: Tree) -> Iterator[_Found]:
    """What a node demands of its operands."""
    match node:
        case Flag(path, span, counted, got):
            yield from _entries(EntryPath(path, span, counted, got, "juel"))
            yield "flag", (node,)
        case EntryPath():
            yield from _entries(node)
        case Member(path):
            yield "object", (Variable(path[:-1], node.span),)
        case FeelPath(path):
            for size in range(1, len(path)):
                yield "no list", (Variable(path[:size], node.span),)
        case Not(one, "juel") | Conditional(one, _, _, "juel") if _is_open(one, "truth"):
            yield "truth", (one,)
        case Not(one, "typed") | Conditional(one, _, _, "typed") if _is_open(one, "truth"):
            yield "boolean", (one,)
        case Logical(_, left, right, "juel" | "typed" as meaning):
            kind: Demanded = "truth" if meaning == "juel" else "boolean"
            yield from ((kind, (v,)) for v in (left, right) if _is_open(v, "truth"))
        case Negative(one, "juel") if _is_open(one, "number"):
            yield "numeral", (one,)
        case Negative(one, "java" | "typed" | "python") if _is_open(one, "number"):
            yield "number", (one,)
        case Arithmetic(sign, left, right, "python"):
            yield from _in_python(sign, left, right)
            if sign in ("+", "-", "*") and kind_of(node) != "text":
                yield "exact", (node,)
        case Call("decimal", (inner,)):
            yield from (("number", (leaf,)) for leaf in _leaves(inner))
            yield "exact", (node,)
        case Arithmetic(sign, left, right, meaning) if meaning in ("juel", "java", "typed"):
            yield from _computed(sign, left, right, meaning)
            if meaning == "juel":
                # Numbers without a fraction are `long` there, others are doubles.
                if sign in ("+", "-", "*") and not any(map(_has_fraction, nodes(node))):
                    yield "exact", (node,)
            elif kind_of(node) != "text":
                yield "computed", (node,)
        case Comparison(sign, left, right, meaning):
            yield from _compared(sign in ("==", "!="), left, right, meaning)


def _in_python(sign: str, left: Tree, right: Tree) -> Iterator[_Found]:
    """Python converts no text, and a division of whole numbers depends on its version."""
    kinds = [kind_of(left), kind_of(right)]
    if sign == "+" and kinds == [None, None]:
        yield "one type", (left, right)
    else:
        kind: Demanded = "only text" if "text" in kinds else "number"
        yield from ((kind, (one,)) for one in (left, right) if kind_of(one) is None)
    if sign in ("/", "%") and not isinstance(right, Constant):
        yield "divisor", (right,)
    whole = not any(isinstance(s, Constant) and isinstance(s.value, float) for s in (left, right))
    if sign == "/" and whole:
        yield "quotient", (left, right)


def _leaves(tree: Tree) -> Iterator[Tree]:
    """Operands of arithmetic whose type depends on variables."""
    if isinstance(tree, Arithmetic | Negative) or (
        isinstance(tree, Call) and tree.function == "unsure"
    ):
        for one in children(tree):
            yield from _leaves(one)
    elif _is_open(tree, "number"):
        yield tree


def _is_open(tree: Tree, kind: KnownType) -> bool:
    """Whether a value may have another type at run time."""
    known = kind_of(tree)
    return known != kind and not (kind == "number" and known == "whole")


def _entries(path: EntryPath) -> Iterator[_Found]:
    """What the steps of a path demand of the values that they are read of."""
    for at in range(1, len(path.path)):
        kind: Demanded = "map"
        if at in path.counted:
            kind = "list"
        elif path.path[at].isdigit() and path.rules == "juel" and at not in path.got:
            kind = "collection"
        whole = Variable(path.path[:at], path.span)
        part = Variable(path.path[: at + 1], path.span)
        if at in path.counted and at not in path.got and path.rules in ("groovy", "python"):
            yield "indexed" if path.rules == "groovy" else "sequence", (whole, part)
            continue
        if path.rules != "juel" or at in path.got:
            kind = _THERE[kind]
        yield kind, (whole,)
        if (path.rules in ("python", "mvel") and at not in path.got) or (
            at in path.counted and (at in path.got or path.rules in ("java", "mvel"))
        ):
            yield "item", (part,)


_THERE: dict[Demanded, Demanded] = {
    "map": "map there", "list": "list there", "collection": "collection there",
}  # fmt: skip


def _computed(sign: str, left: Tree, right: Tree, meaning: str) -> Iterator[_Found]:
    """What arithmetic demands."""
    sides = ((left, right), (right, left))
    if meaning == "juel":
        for side, _ in sides:
            if not isinstance(side, Constant) and _is_open(side, "number"):
                yield "numeral", (side,)
    elif sign == "+":
        for side, other in sides:
            if not isinstance(side, Constant):
                yield "printable" if kind_of(other) == "text" else "summand", (side,)
        if kind_of(left) is None and kind_of(right) is None:
            yield "joined", (left, right)
    else:
        for side, _ in sides:
            if _is_open(side, "number"):
                yield "number", (side,)
    if sign in ("/", "%") and not isinstance(right, Constant):
        yield "divisor", (right,)


def _compared(equality: bool, left: Tree, right: Tree, meaning: str) -> Iterator[_Found]:
    both = [one for one in (left, right) if not isinstance(one, Constant)]
    sides = ((left, right), (right, left))
    if meaning == "equals" and isinstance(left, Variable):
        yield "there", (left,)
    elif meaning == "juel":
        yield from _in_juel(equality, left, right)
    elif meaning == "python" and not equality:
        yield from _ordered_in_python(left, right)
    elif meaning in _TYPED and not equality:
        if len(both) == 2 and kind_of(left) is None and kind_of(right) is None:
            yield "one type", (left, right)
            return
        for one, other in sides:
            if one in both:
                yield _ordered_with(other), (one,)
    elif meaning in ("typed", "identity"):
        if len(both) == 2 and kind_of(left) is None and kind_of(right) is None:
            yield "alike" if meaning == "typed" else "identical", (left, right)
            return
        for one, other in sides:
            if one in both and other != Constant(None):
                yield _equal_to(other, meaning), (one,)


def _ordered_in_python(left: Tree, right: Tree) -> Iterator[_Found]:
    """Truth values are numbers in Python, and only Python 2 has an order of anything else."""
    kinds = [kind_of(left), kind_of(right)]
    if kinds == [None, None]:
        yield "one type", (left, right)
        return
    wanted: Demanded = "only text" if "text" in kinds else "number"
    yield from ((wanted, (one,)) for one in (left, right) if kind_of(one) is None)


def _ordered_with(other: Tree) -> Demanded:
    """What has an order with another operand in Java, Groovy and MVEL."""
    kind = kind_of(other)
    if other == Constant(None) or kind == "truth":
        return "no order"
    return "only text" if kind == "text" else "number"


def _equal_to(other: Tree, meaning: str) -> Demanded:
    """What can be compared with `==` in Java and MVEL."""
    kind = kind_of(other)
    if meaning == "identity":
        if kind == "text":
            return "no text"
        return "boolean" if kind == "truth" else "number"
    if kind == "text":
        digits = not isinstance(other, Constant) or any(map(str.isdigit, str(other.value)))
        return "no scalar" if digits else "no truth"
    return "truth or null" if kind == "truth" else "no numeral"


def _in_juel(equality: bool, left: Tree, right: Tree) -> Iterator[_Found]:
    """What a comparison demands in JUEL."""
    variable = [one for one in (left, right) if not isinstance(one, Constant)]
    kinds = {"number" if kind == "whole" else kind for kind in (kind_of(left), kind_of(right))}
    if not variable or (len(kinds) == 1 and kinds != {None}):
        return
    open_pair = kinds <= {None, "text"} or any(map(_may_be_whole, (left, right)))
    if len(variable) == 2 and open_pair:
        yield "equal" if equality else "ordered", (left, right)
        return
    for one, other in ((left, right), (right, left)):
        kind = _against(equality, other)
        if one in variable and kind is not None:
            yield kind, (one,)


def _may_be_whole(tree: Tree) -> bool:
    """Whether a computed number may be whole or not."""
    if not isinstance(tree, Arithmetic | Negative) or kind_of(tree) == "whole":
        return False
    return not any(_has_fraction(node) for node in nodes(tree))


def _has_fraction(tree: Tree) -> bool:
    divides = isinstance(tree, Arithmetic) and tree.operator == "/"
    return divides or (isinstance(tree, Constant) and isinstance(tree.value, float))


def _against(equality: bool, other: Tree) -> Demanded | None:
    """What is comparable in JUEL with another operand."""
    inner = other.operand if isinstance(other, Negative) else other
    if not isinstance(inner, Constant):
        match kind_of(inner):
            case "number":
                return "numeral"
            case "whole":
                return "whole numeral"
            case "truth":
                return "truth" if equality else "no order"
        return None
    value = inner.value
    if value is None:
        return None
    if isinstance(value, bool):
        return "truth" if equality else "no order"
    if isinstance(value, int | float):
        return "whole numeral" if isinstance(value, int) else "numeral"
    if value == "" or WHOLE_NUMBER.fullmatch(value):
        return "scalar"
    if JUEL_NUMBER.fullmatch(value):
        return "fraction"
    return "truth" if equality and value.lower() in ("true", "false") else "text"
