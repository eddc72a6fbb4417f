"""Conditions on the path of a run over inputs that nothing has changed, values under which all of
them hold, and whether a search for such values says anything."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeGuard

from orgflow_ir.flow.token_game.stub_data import list_candidates
from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.evaluator import evaluate, is_truthy
from orgflow_ir.program.structures import (
    Filter,
    FunctionCall,
    In,
    Iteration,
    Quantified,
    RangeLiteral,
    UnaryTest,
    UnaryTests,
)
from orgflow_ir.program.structures import Path as Member
from orgflow_ir.program.syntax import (
    Arithmetic,
    Call,
    Comparison,
    Conditional,
    Constant,
    Empty,
    Exact,
    Logical,
    Negative,
    Node,
    Not,
    Path,
    Tree,
    Variable,
    constants,
    walk_parts,
)

MOST_EVALUATIONS = 4_000
"""Maximum number of evaluations of one search for values."""

_MOST_VALUES = 60
_MOST_SLOTS = 4
_MOST_STARTS = 3
_MOST_LENGTH = 40
_STRIDES = (1, -1, 8, -8, 64, -64, 512, -512, 4096, -4096, 0.5, -0.5)


class Slot(NamedTuple):
    """An input of a run: a variable, or a part of one, that a step outputs at one of its visits.

    Attributes:
        site: the id of the step; of the run, if it is given at its start.
        visit: counted from 1.
        path: the variable and its part.
    """

    site: str
    visit: int
    path: Path


class PathCondition(NamedTuple):
    """The requirement of a choice of a run on its conditions.

    Attributes:
        demands: conditions, each with its truth value.
        inputs: the variables that are inputs as they were given.
        fixed: the values of the others.
    """

    demands: tuple[tuple[Tree, bool], ...]
    inputs: Mapping[Path, Slot]
    fixed: Mapping[Path, Any]

    def values(self, given: Mapping[Slot, Any]) -> dict[Path, Any]:
        """The variables, with values of inputs."""
        mine = {path: given[slot] for path, slot in self.inputs.items() if slot in given}
        return {**self.fixed, **mine}

    def distance(self, given: Mapping[Slot, Any]) -> float:
        """How far the conditions are from their truth values with values of inputs."""
        values = self.values(given)
        return sum(branch_distance(tree, want, values) for tree, want in self.demands)


def relate_conditions(
    failed: PathCondition, passed: Sequence[PathCondition]
) -> list[PathCondition]:
    """A condition with all earlier ones that depend, directly or not, on the same inputs."""
    related, slots = [failed], set(failed.inputs.values())
    rest = list(passed)
    while more := [p for p in rest if slots & set(p.inputs.values())]:
        related += more
        slots.update(slot for p in more for slot in p.inputs.values())
        rest = [p for p in rest if p not in more]
    return related


def solve_conditions(
    related: Sequence[PathCondition], current: Mapping[Slot, Any], types: Mapping[str, str]
) -> dict[Slot, Any] | None:
    """Values of the inputs of the first condition, and of more where it has to be, under which all
    conditions hold, those of the expected type first; `None` if none are found."""
    own = sorted(set(related[0].inputs.values()), key=str)
    others = {slot for p in related[1:] for slot in p.inputs.values()} - set(own)
    slots = [*own, *sorted(others, key=str)]
    if not own:
        return None
    # 1. Constants of the conditions and their neighbours: first for the inputs of the first one.
    values = list_values([demand for p in related for demand in p.demands])
    budget = [MOST_EVALUATIONS]
    for free in (own, slots):
        if len(free) <= _MOST_SLOTS:
            ordered = [order_values(values, _type_of_slot(slot, types)) for slot in free]
            solved = _search_product(related, free, ordered, dict(current), budget)
            if solved is not None:
                return solved
    # 2. From there on, and from such constants, steps that come nearer.
    starts = [value for value in values if is_number(value)][:_MOST_STARTS]
    for start in (None, *starts):
        given = dict(current) if start is None else {**current, **dict.fromkeys(slots, start)}
        solved = _climb_distances(related, slots, given, [MOST_EVALUATIONS // 4])
        if solved is not None:
            return solved
    return None


def _search_product(
    related: Sequence[PathCondition],
    free: Sequence[Slot],
    values: Sequence[Sequence[Any]],
    given: dict[Slot, Any],
    budget: list[int],
) -> dict[Slot, Any] | None:
    """The first values of some inputs under which all conditions hold, by backtracking."""
    # A condition is tested as soon as the last of its inputs has a value.
    last = {slot: number for number, slot in enumerate(free)}
    tested: list[list[PathCondition]] = [[] for _ in free]
    for condition in related:
        numbers = [last[slot] for slot in condition.inputs.values() if slot in last]
        if numbers:
            tested[max(numbers)].append(condition)
        elif condition.distance(given) > 0:
            return None

    def assign(number: int) -> bool:
        if number == len(free):
            return True
        for value in values[number]:
            if budget[0] <= 0:
                return False
            given[free[number]] = value
            budget[0] -= len(tested[number])
            if all(c.distance(given) == 0 for c in tested[number]) and assign(number + 1):
                return True
        return False

    return given if assign(0) else None


def _type_of_slot(slot: Slot, types: Mapping[str, str]) -> str | None:
    return types.get(slot.path[0]) if len(slot.path) == 1 else None


def _climb_distances(
    related: Sequence[PathCondition],
    slots: Sequence[Slot],
    given: dict[Slot, Any],
    budget: list[int],
) -> dict[Slot, Any] | None:
    """Values that numbers come to by steps, each of which comes nearer."""
    best = sum(condition.distance(given) for condition in related)
    while best > 0 and budget[0] > 0:
        for slot, stride in itertools.product(slots, _STRIDES):
            value = given.get(slot)
            if not is_number(value):
                continue
            assert value is not None
            tried = {**given, slot: value + stride}
            budget[0] -= len(related)
            distance = sum(condition.distance(tried) for condition in related)
            if distance < best:
                best, given = distance, tried
                break
        else:
            return None
    return given if best == 0 else None


def list_values(demands: Sequence[tuple[Tree, bool]]) -> list[Any]:
    """Values that conditions may tell apart: their constants, the numbers beside and between them,
    texts of such lengths and numerals, and lists of them."""
    values = list_candidates(demands)
    known = (value for tree, _ in demands for value in constants(tree))
    numbers: list[Any] = sorted({v for v in known if is_number(v)})
    more: list[Any] = [(low + high) / 2 for low, high in itertools.pairwise(numbers)]
    for number in numbers:
        more += [math.isqrt(int(number))] if number >= 0 else []
        more += [str(number), str(number + 1)] if isinstance(number, int) else []
        if isinstance(number, int) and 0 < number <= _MOST_LENGTH:
            more += ["a" * number, "a" * (number + 1), [1] * number, [1] * (number + 1)]
    more += [[value] * 2 for value in values[:8] if not isinstance(value, list | dict)]
    more += [0, 1, "", [], None]
    unique = {repr(value): value for value in (*values, *more)}
    return list(unique.values())[:_MOST_VALUES]


def branch_distance(tree: Tree, want: bool, values: Mapping[Path, Any]) -> float:
    """How far a condition is from a truth value: 0 if it has it, otherwise at most 1; less the
    nearer the operands of its comparisons are (Korel 1990, "Automated software test data
    generation")."""
    if is_truthy(evaluate(tree, values)) is want:
        return 0.0
    match _open_exact(tree):
        case Not(operands=(operand,)):
            return branch_distance(operand, not want, values) or 1.0
        case Logical(operands=operands) as logical:
            apart = [branch_distance(operand, want, values) for operand in operands]
            is_all = (logical.operator in ("&&", "and")) is want
            total = sum(apart) if is_all else min((a for a in apart if a > 0), default=1.0)
            return min(total / len(apart) if is_all else total, 1.0) or 1.0
        case Comparison(operands=operands):
            left, right = (evaluate(operand, values) for operand in operands)
            if is_number(left) and is_number(right):
                apart_by = abs(left - right) + 1
                return float(apart_by / (apart_by + 10))
            return 1.0
        case _:
            return 1.0


def _open_exact(tree: Tree) -> Tree:
    """The operation of a condition of FEEL with operands that can be evaluated by themselves; any
    other condition as it is."""
    body = tree.body if isinstance(tree, Exact) else None
    if not isinstance(tree, Exact) or not isinstance(body, Not | Logical | Comparison):
        return tree
    parts = tuple(Exact(operand, tree.paths, tree.tested) for operand in body.operands)
    return type(body)(body.operation, parts)


def is_number(value: Any) -> bool:
    """Whether a value of JSON is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def tells_all_apart(demands: Sequence[tuple[Tree, bool]]) -> bool:
    """Whether the listed values of conditions stand for all values, so that a search through them
    proves that no value meets the conditions: at most two variables, each only compared with
    constants, and texts only for equality."""
    names = {part.path for tree, _ in demands for part in walk_parts(tree) if _is_variable(part)}
    if len(names) > _MOST_PROVED or len(list_values(demands)) >= _MOST_VALUES:
        return False
    return all(_is_compared(part) for tree, _ in demands for part in walk_parts(tree))


_MOST_PROVED = 2


def _is_variable(part: Node) -> TypeGuard[Variable]:
    return isinstance(part, Variable)


def _is_compared(part: Node) -> bool:
    if not isinstance(part, Comparison):
        return isinstance(part, Constant | Exact | Logical | Not | Variable)
    constants_of = [operand for operand in part.operands if isinstance(operand, Constant)]
    if not constants_of or not any(isinstance(operand, Variable) for operand in part.operands):
        return False
    is_equality = part.operator in ("==", "!=", "=")
    return is_equality or is_number(constants_of[0].value)


# -- what a search says ----------------------------------------------------------------------------

_PLAIN = (
    Arithmetic, Comparison, Conditional, Constant, Empty, Exact, Filter, In, Iteration, Logical,
    Member, Negative, Not, Quantified, RangeLiteral, UnaryTest, UnaryTests, Variable,
)  # fmt: skip
"""Nodes of conditions whose values a search covers: comparisons with constants, and arithmetic."""

_TEXT_TESTS = frozenset({
    "contains", "starts with", "ends with", "string length", "upper case", "lower case",
    "startsWith", "endsWith", "length", "toUpperCase", "toLowerCase", "equals",
    "equalsIgnoreCase", "isEmpty",
})  # fmt: skip
_LIST_TESTS = frozenset({"count", "sum", "list contains", "size", "not", "abs"})
"""Functions that a search covers where a condition applies one of them to an input."""


def is_covered(trees: Iterable[Tree]) -> bool:
    """Whether a search that finds no values for conditions is a reason to say that there are none:
    they compare with constants, compute with numbers, and test each text or list in one way."""
    tests: set[Hashable] = set()
    for tree in trees:
        for part in walk_parts(tree):
            name = _function_name(part)
            if isinstance(part, Arithmetic) and any(
                isinstance(o, Constant) and isinstance(o.value, str) for o in part.operands
            ):
                return False  # a text that is put together
            if name is None and not isinstance(part, _PLAIN):
                return False
            if name is not None and name not in _TEXT_TESTS | _LIST_TESTS:
                return False
            if name is not None and name not in ("not", "abs"):
                tests.add((name, *_list_constants(part)))
            if isinstance(part, Filter | Quantified):
                tests.add(id(part))
    return len(tests) <= 1


def _function_name(part: Node) -> str | None:
    if isinstance(part, FunctionCall):
        return part.function.name if isinstance(part.function, Variable) else ""
    return str(part.operation.name) if isinstance(part, Call) else None


def _list_constants(part: Node) -> Iterator[str]:
    yield from (repr(inner.value) for inner in walk_parts(part) if isinstance(inner, Constant))


# -- types of inputs -------------------------------------------------------------------------------

_TYPED: dict[str, type | tuple[type, ...]] = {
    "number": (int, float), "text": str, "truth": bool, "list": list,
}  # fmt: skip
DEFAULTS: dict[str, Any] = {"number": 1, "text": "text", "truth": False, "list": [1]}
"""A value of each type."""

_NUMBER_TESTS = frozenset({"modulo", "abs", "floor", "ceiling", "decimal", "sqrt", "even", "odd"})
_OTHER_LIST_TESTS = frozenset({"min", "max", "mean", "append", "concatenate", "reverse", "sort"})
_OTHER_TEXT_TESTS = frozenset({"substring", "matches", "replace", "split", "trim", "number"})


def infer_types(trees: Iterable[Tree], copies: Iterable[tuple[str, str]] = ()) -> dict[str, str]:
    """The type that expressions expect of each variable, by what they do with it: those of the
    first use, of what a variable is compared with, and of its copies."""
    types: dict[str, str] = {}
    pairs: list[tuple[str, str]] = []
    copied = list(copies)
    for tree in trees:
        for part in walk_parts(tree):
            for operand, kind in _list_expected(part):
                name = _variable_name(operand)
                if name is not None:
                    types.setdefault(name, kind)
            if isinstance(part, Comparison):
                left, right = (_variable_name(operand) for operand in part.operands)
                if left is not None and right is not None:
                    pairs.append((left, right))
    both = [*pairs, *copied]
    for _ in both:  # a chain of comparisons passes a type on, one by one
        for left, right in both:
            known = types.get(left) or types.get(right)
            if known is not None:
                types.setdefault(left, known)
                types.setdefault(right, known)
    for left, right in pairs:
        types.setdefault(left, "number")
        types.setdefault(right, "number")
    return types


def _list_expected(part: Node) -> Iterator[tuple[Node, str]]:
    """The operands of a node of which it expects a type."""
    if isinstance(part, Comparison):
        for operand, other in zip(part.operands, reversed(part.operands), strict=True):
            if isinstance(other, Constant) and other.value is not None:
                yield operand, _type_of(other.value)
            elif isinstance(other, Arithmetic):
                yield operand, "number"
    elif isinstance(part, Arithmetic):
        is_text = any(isinstance(o, Constant) and isinstance(o.value, str) for o in part.operands)
        for operand in part.operands:
            yield operand, "text" if is_text else "number"
    elif isinstance(part, Not | Logical):
        for operand in part.operands:
            yield operand, "truth"
    elif isinstance(part, In):
        yield part.value, "number"
    elif isinstance(part, Iteration):
        yield part.domain, "list"
    elif isinstance(part, Filter):
        yield part.base, "list"
    elif isinstance(part, Conditional):
        yield part.operands[0], "truth"
    else:
        name = _function_name(part)
        operands = part.arguments if isinstance(part, FunctionCall) else ()
        operands = part.operands if isinstance(part, Call) else operands
        if name and operands:
            for names, kind in _BY_FUNCTION:
                if name in names:
                    yield operands[0], kind


_BY_FUNCTION = (
    (_NUMBER_TESTS, "number"),
    (_LIST_TESTS - {"not", "abs"} | _OTHER_LIST_TESTS, "list"),
    (_TEXT_TESTS - {"isEmpty"} | _OTHER_TEXT_TESTS, "text"),
)


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "truth"
    return "text" if isinstance(value, str) else "number"


def _variable_name(part: Node) -> str | None:
    return part.path[0] if isinstance(part, Variable) and len(part.path) == 1 else None


def order_values(values: Iterable[Any], kind: str | None) -> list[Any]:
    """Values with those of a type first."""
    if kind is None:
        return list(values)
    expected, listed = _TYPED[kind], list(values)
    fits = [
        isinstance(value, expected) and isinstance(value, bool) is (kind == "truth")
        for value in listed
    ]
    mine = [value for value, fit in zip(listed, fits, strict=True) if fit]
    return [*mine, *(value for value, fit in zip(listed, fits, strict=True) if not fit)]
