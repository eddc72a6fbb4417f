"""Functions of lists and truth values (DMN 1.5, 10.3.4.2, 10.3.4.4, 10.3.4.8)."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from orgflow_ir.program.feel import numbers
from orgflow_ir.program.feel.relations import compare_values, equal_values
from orgflow_ir.program.feel.values import Days, Function, Months, Value, kind

List = tuple[Value, ...]


def not_(negand: Value) -> Value:
    return (not negand) if isinstance(negand, bool) else None


def list_contains(list_: List, element: Value) -> Value:
    return any(equal_values(member, element) is True for member in list_)


def count(list_: List) -> Value:
    return Decimal(len(list_))


def _find_extreme(list_: List, sign: str) -> Value:
    if not list_:
        return None
    best = list_[0]
    for element in list_:
        precedes = compare_values(sign, element, best)
        if precedes is None:
            return None
        best = element if precedes else best
    return best


def min_(list_: List) -> Value:
    return _find_extreme(list_, "<=")


def max_(list_: List) -> Value:
    return _find_extreme(list_, ">=")


def _list_decimals(list_: List) -> list[Decimal] | None:
    """The numbers of a list; `None` where it holds anything else, or nothing."""
    decimals = [element for element in list_ if isinstance(element, Decimal)]
    return decimals if decimals and len(decimals) == len(list_) else None


def _compute_total(list_: Sequence[Decimal], sign: str = "+") -> Decimal | None:
    result: Decimal | None = list_[0]
    for number in list_[1:]:
        if result is None:
            return None
        result = numbers.compute_operation(sign, result, number)
    return result


def sum_(list_: List) -> Value:
    decimals = _list_decimals(list_)
    if decimals is not None:
        return _compute_total(decimals)
    kinds = {kind(element) for element in list_}
    if kinds == {"days and time duration"}:
        return Days(sum(element.nanos for element in list_))
    if kinds == {"years and months duration"}:
        return Months(sum(element.months for element in list_))
    return None


def mean(list_: List) -> Value:
    total = sum_(list_)
    if isinstance(total, Decimal):
        return numbers.compute_operation("/", total, Decimal(len(list_)))
    return None


def product(list_: List) -> Value:
    decimals = _list_decimals(list_)
    return None if decimals is None else _compute_total(decimals, "*")


def median(list_: List) -> Value:
    decimals = sorted(_list_decimals(list_) or ())
    if not decimals:
        return None
    half = len(decimals) // 2
    if len(decimals) % 2:
        return decimals[half]
    total = numbers.compute_operation("+", decimals[half - 1], decimals[half])
    return None if total is None else numbers.compute_operation("/", total, Decimal(2))


def stddev(list_: List) -> Value:
    """The standard deviation of a sample."""
    decimals = _list_decimals(list_)
    average = mean(list_)
    if decimals is None or average is None or len(decimals) < 2:
        return None
    squares: list[Decimal] = []
    for number in decimals:
        distance = numbers.compute_operation("-", number, average)
        square = None if distance is None else numbers.compute_operation("*", distance, distance)
        if square is None:
            return None
        squares.append(square)
    total = _compute_total(squares)
    if total is None:
        return None
    variance = numbers.compute_operation("/", total, Decimal(len(decimals) - 1))
    return None if variance is None else numbers.require_finite(numbers.CONTEXT.sqrt(variance))


def mode(list_: List) -> Value:
    if not list_:
        return ()
    decimals = sorted(_list_decimals(list_) or ())
    if not decimals:
        return None
    most = max(decimals.count(number) for number in decimals)
    return tuple(
        n for at, n in enumerate(decimals) if decimals.index(n) == at and decimals.count(n) == most
    )


def all_(list_: List) -> Value:
    if any(element is False for element in list_):
        return False
    return True if all(element is True for element in list_) else None


def any_(list_: List) -> Value:
    if any(element is True for element in list_):
        return True
    return False if all(element is False for element in list_) else None


def _truncate_number(number: Decimal) -> int | None:
    return numbers.to_integer(number.to_integral_value("ROUND_DOWN"))


def _find_index(list_: List, position: Decimal, beyond: int = 0) -> int | None:
    """An index from 0 of a position from 1 or, negative, from the end; `None` out of bounds."""
    at = _truncate_number(position)
    if not at or not -len(list_) <= at <= len(list_) + beyond:
        return None
    return at - 1 if at > 0 else len(list_) + at


def sublist(list_: List, position: Decimal, length: Decimal | None = None) -> Value:
    at = _find_index(list_, position)
    if at is None:
        return None
    if length is None:
        return list_[at:]
    size = _truncate_number(length)
    return list_[at : at + size] if size is not None and 0 <= size <= len(list_) - at else None


def append(list_: List, items: List) -> Value:
    return (*list_, *items)


def concatenate(lists: List) -> Value:
    result: list[Value] = []
    for list_ in lists:
        if list_ is None:
            return None
        result += list_ if isinstance(list_, tuple) else (list_,)
    return tuple(result)


def insert_before(list_: List, position: Decimal, new: Value) -> Value:
    at = _find_index(list_, position, 1)
    return None if at is None else (*list_[:at], new, *list_[at:])


def remove(list_: List, position: Decimal) -> Value:
    at = _find_index(list_, position)
    return None if at is None else (*list_[:at], *list_[at + 1 :])


def list_replace(list_: List, position: Decimal, new: Value) -> Value:
    at = _find_index(list_, position)
    return None if at is None else (*list_[:at], new, *list_[at + 1 :])


def list_replace_match(list_: List, match: Function, new: Value) -> Value:
    result: list[Value] = []
    for element in list_:
        matches = match.call((element, new), None)
        if not isinstance(matches, bool):
            return None
        result.append(new if matches else element)
    return tuple(result)


def reverse(list_: List) -> Value:
    return list_[::-1]


def index_of(list_: List, match: Value) -> Value:
    return tuple(
        Decimal(at) for at, element in enumerate(list_, 1) if equal_values(element, match) is True
    )


def union(lists: List) -> Value:
    elements = concatenate(lists)
    return None if elements is None else distinct_values(elements)


def distinct_values(list_: List) -> Value:
    result: list[Value] = []
    for element in list_:
        if not any(equal_values(element, member) is True for member in result):
            result.append(element)
    return tuple(result)


def flatten(list_: List) -> Value:
    result: list[Value] = []
    for element in list_:
        result += flatten(element) if isinstance(element, tuple) else (element,)
    return tuple(result)


def sort(list_: List, precedes: Function | None = None) -> Value:
    unordered = False

    def before(first: Value, second: Value) -> bool:
        nonlocal unordered
        is_before = (
            compare_values("<", first, second)
            if precedes is None
            else precedes.call((first, second), None)
        )
        unordered = unordered or not isinstance(is_before, bool)
        return is_before is True

    def merged(all_: List) -> List:
        if len(all_) < 2:
            return all_
        half = len(all_) // 2
        left, right = merged(all_[:half]), merged(all_[half:])
        ordered: list[Value] = []
        i = j = 0
        while i < len(left) and j < len(right):
            if before(right[j], left[i]):
                ordered.append(right[j])
                j += 1
            else:
                ordered.append(left[i])
                i += 1
        return (*ordered, *left[i:], *right[j:])

    # A merge sort by hand: a function that is no order gives the same in every translation.
    result = merged(list_)
    return None if unordered else result
