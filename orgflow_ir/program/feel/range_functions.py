"""Relations of points and ranges (DMN 1.5, 10.3.4.11)."""

from __future__ import annotations

from orgflow_ir.program.feel.relations import compare_values, conjoin_truths, disjoin_truths
from orgflow_ir.program.feel.relations import is_in_range as holds
from orgflow_ir.program.feel.values import Range, Value


def _open_end(*ranges: Range) -> bool:
    """A relation of ranges needs all four ends."""
    return any(range_.low is None or range_.high is None for range_ in ranges)


def before_points(first: Value, second: Value) -> Value:
    return compare_values("<", first, second)


def before_point_range(point: Value, range_: Range) -> Value:
    if range_.low is None:
        return None
    return compare_values("<" if range_.low_included else "<=", point, range_.low)


def before_range_point(range_: Range, point: Value) -> Value:
    if range_.high is None:
        return None
    return compare_values("<" if range_.high_included else "<=", range_.high, point)


def before(first: Range, second: Range) -> Value:
    if first.high is None or second.low is None:
        return None
    closed = first.high_included and second.low_included
    return compare_values("<" if closed else "<=", first.high, second.low)


def after_points(first: Value, second: Value) -> Value:
    return compare_values(">", first, second)


def after_point_range(point: Value, range_: Range) -> Value:
    return before_range_point(range_, point)


def after_range_point(range_: Range, point: Value) -> Value:
    return before_point_range(point, range_)


def after(first: Range, second: Range) -> Value:
    return before(second, first)


def meets(first: Range, second: Range) -> Value:
    if first.high is None or second.low is None:
        return None
    closed = first.high_included and second.low_included
    return conjoin_truths(closed, compare_values("==", first.high, second.low))


def met_by(first: Range, second: Range) -> Value:
    return meets(second, first)


def _reaches_end(low: Range, high: Range) -> bool | None:
    """Whether `low` begins no later than `high` ends, with a point in common."""
    closed = low.low_included and high.high_included
    return compare_values("<=" if closed else "<", low.low, high.high)


def overlaps(first: Range, second: Range) -> Value:
    if _open_end(first, second):
        return None
    return conjoin_truths(_reaches_end(first, second), _reaches_end(second, first))


def _begins_before(first: Range, second: Range, *, or_together: bool) -> bool | None:
    same = or_together or (first.low_included and not second.low_included)
    if or_together:
        same = first.low_included or not second.low_included
    return disjoin_truths(
        compare_values("<", first.low, second.low),
        conjoin_truths(compare_values("==", first.low, second.low), same),
    )


def _ends_before(first: Range, second: Range, *, or_together: bool) -> bool | None:
    same = not first.high_included and second.high_included
    if or_together:
        same = not first.high_included or second.high_included
    return disjoin_truths(
        compare_values("<", first.high, second.high),
        conjoin_truths(compare_values("==", first.high, second.high), same),
    )


def overlaps_before(first: Range, second: Range) -> Value:
    if _open_end(first, second):
        return None
    return conjoin_truths(
        conjoin_truths(
            _begins_before(first, second, or_together=False), _reaches_end(second, first)
        ),
        _ends_before(first, second, or_together=True),
    )


def overlaps_after(first: Range, second: Range) -> Value:
    return overlaps_before(second, first)


def finishes_point(point: Value, range_: Range) -> Value:
    if range_.high is None:
        return None
    return conjoin_truths(range_.high_included, compare_values("==", range_.high, point))


def finishes(first: Range, second: Range) -> Value:
    if _open_end(first, second):
        return None
    together = conjoin_truths(
        first.high_included == second.high_included, compare_values("==", first.high, second.high)
    )
    return conjoin_truths(together, _begins_before(second, first, or_together=True))


def finished_by_point(range_: Range, point: Value) -> Value:
    return finishes_point(point, range_)


def finished_by(first: Range, second: Range) -> Value:
    return finishes(second, first)


def includes_point(range_: Range, point: Value) -> Value:
    return holds(range_, point)


def includes(first: Range, second: Range) -> Value:
    if _open_end(first, second):
        return None
    return conjoin_truths(
        _begins_before(first, second, or_together=True),
        _ends_before(second, first, or_together=True),
    )


def during_point(point: Value, range_: Range) -> Value:
    return holds(range_, point)


def during(first: Range, second: Range) -> Value:
    return includes(second, first)


def starts_point(point: Value, range_: Range) -> Value:
    if range_.low is None:
        return None
    return conjoin_truths(range_.low_included, compare_values("==", range_.low, point))


def starts(first: Range, second: Range) -> Value:
    if _open_end(first, second):
        return None
    together = conjoin_truths(
        first.low_included == second.low_included, compare_values("==", first.low, second.low)
    )
    return conjoin_truths(together, _ends_before(first, second, or_together=True))


def started_by_point(range_: Range, point: Value) -> Value:
    return starts_point(point, range_)


def started_by(first: Range, second: Range) -> Value:
    return starts(second, first)


def coincides_points(first: Value, second: Value) -> Value:
    return compare_values("==", first, second)


def coincides(first: Range, second: Range) -> Value:
    if _open_end(first, second):
        return None
    ends = first.low_included == second.low_included and first.high_included == second.high_included
    return conjoin_truths(
        conjoin_truths(ends, compare_values("==", first.low, second.low)),
        compare_values("==", first.high, second.high),
    )
