"""Relations of points and ranges (DMN 1.5, 10.3.4.11)."""

from __future__ import annotations

from orgflow_ir.program.feel.relations import compare_values, conjoin_truths, disjoin_truths
from orgflow_ir.program.feel.relations import is_in_range as holds
from orgflow_ir.program.feel.values import Range, Value


def _open_end(*ranges: Range) -> bool:
    """A relation of ranges needs all four ends."""
    return any(found.low is None or found.high is None for found in ranges)


def before_points(one: Value, two: Value) -> Value:
    return compare_values("<", one, two)


def before_point_range(point: Value, range_: Range) -> Value:
    if range_.low is None:
        return None
    return compare_values("<" if range_.low_included else "<=", point, range_.low)


def before_range_point(range_: Range, point: Value) -> Value:
    if range_.high is None:
        return None
    return compare_values("<" if range_.high_included else "<=", range_.high, point)


def before(one: Range, two: Range) -> Value:
    if one.high is None or two.low is None:
        return None
    closed = one.high_included and two.low_included
    return compare_values("<" if closed else "<=", one.high, two.low)


def after_points(one: Value, two: Value) -> Value:
    return compare_values(">", one, two)


def after_point_range(point: Value, range_: Range) -> Value:
    return before_range_point(range_, point)


def after_range_point(range_: Range, point: Value) -> Value:
    return before_point_range(point, range_)


def after(one: Range, two: Range) -> Value:
    return before(two, one)


def meets(one: Range, two: Range) -> Value:
    if one.high is None or two.low is None:
        return None
    closed = one.high_included and two.low_included
    return conjoin_truths(closed, compare_values("==", one.high, two.low))


def met_by(one: Range, two: Range) -> Value:
    return meets(two, one)


def _reaches(low: Range, high: Range) -> bool | None:
    """Whether `low` begins no later than `high` ends, with a point in common."""
    closed = low.low_included and high.high_included
    return compare_values("<=" if closed else "<", low.low, high.high)


def overlaps(one: Range, two: Range) -> Value:
    if _open_end(one, two):
        return None
    return conjoin_truths(_reaches(one, two), _reaches(two, one))


def _begins_before(one: Range, two: Range, *, or_together: bool) -> bool | None:
    same = or_together or (one.low_included and not two.low_included)
    if or_together:
        same = one.low_included or not two.low_included
    return disjoin_truths(
        compare_values("<", one.low, two.low),
        conjoin_truths(compare_values("==", one.low, two.low), same),
    )


def _ends_before(one: Range, two: Range, *, or_together: bool) -> bool | None:
    same = not one.high_included and two.high_included
    if or_together:
        same = not one.high_included or two.high_included
    return disjoin_truths(
        compare_values("<", one.high, two.high),
        conjoin_truths(compare_values("==", one.high, two.high), same),
    )


def overlaps_before(one: Range, two: Range) -> Value:
    if _open_end(one, two):
        return None
    return conjoin_truths(
        conjoin_truths(_begins_before(one, two, or_together=False), _reaches(two, one)),
        _ends_before(one, two, or_together=True),
    )


def overlaps_after(one: Range, two: Range) -> Value:
    return overlaps_before(two, one)


def finishes_point(point: Value, range_: Range) -> Value:
    if range_.high is None:
        return None
    return conjoin_truths(range_.high_included, compare_values("==", range_.high, point))


def finishes(one: Range, two: Range) -> Value:
    if _open_end(one, two):
        return None
    together = conjoin_truths(
        one.high_included == two.high_included, compare_values("==", one.high, two.high)
    )
    return conjoin_truths(together, _begins_before(two, one, or_together=True))


def finished_by_point(range_: Range, point: Value) -> Value:
    return finishes_point(point, range_)


def finished_by(one: Range, two: Range) -> Value:
    return finishes(two, one)


def includes_point(range_: Range, point: Value) -> Value:
    return holds(range_, point)


def includes(one: Range, two: Range) -> Value:
    if _open_end(one, two):
        return None
    return conjoin_truths(
        _begins_before(one, two, or_together=True), _ends_before(two, one, or_together=True)
    )


def during_point(point: Value, range_: Range) -> Value:
    return holds(range_, point)


def during(one: Range, two: Range) -> Value:
    return includes(two, one)


def starts_point(point: Value, range_: Range) -> Value:
    if range_.low is None:
        return None
    return conjoin_truths(range_.low_included, compare_values("==", range_.low, point))


def starts(one: Range, two: Range) -> Value:
    if _open_end(one, two):
        return None
    together = conjoin_truths(
        one.low_included == two.low_included, compare_values("==", one.low, two.low)
    )
    return conjoin_truths(together, _ends_before(one, two, or_together=True))


def started_by_point(range_: Range, point: Value) -> Value:
    return starts_point(point, range_)


def started_by(one: Range, two: Range) -> Value:
    return starts(two, one)


def coincides_points(one: Value, two: Value) -> Value:
    return compare_values("==", one, two)


def coincides(one: Range, two: Range) -> Value:
    if _open_end(one, two):
        return None
    ends = one.low_included == two.low_included and one.high_included == two.high_included
    return conjoin_truths(
        conjoin_truths(ends, compare_values("==", one.low, two.low)),
        compare_values("==", one.high, two.high),
    )
