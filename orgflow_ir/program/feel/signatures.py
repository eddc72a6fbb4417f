"""The built-in functions of FEEL (DMN 1.5, 10.3.4): names, parameters and the types they take.

The parser takes the names from this table, the evaluator uses it to bind and check arguments, and
printers include the signatures of the called functions in their output. The result is null if no
signature accepts the arguments. Only `any` and `Null` accept null;
a list of one element is accepted in place of the element, and an element in place of such a list.
"""

from __future__ import annotations

import re

from orgflow_ir.model.records import NamedTuple


class FunctionParameter(NamedTuple):
    """A parameter: the kinds of values it accepts, and whether it is optional."""

    name: str
    kinds: tuple[str, ...]
    optional: bool


class Signature(NamedTuple):
    """One signature of a function. `implementation` names the Python function; `variadic` functions
    accept any number of arguments, as one list."""

    implementation: str
    parameters: tuple[FunctionParameter, ...]
    variadic: bool


_TABLE = """
not = not_(negand: any)
date = date_from(from: string|date|date and time)
date = date_of(year: number, month: number, day: number)
date and time = date_time_from(from: string|date|date and time)
date and time = date_time_at(date: date|date and time, time: time)
date and time = date_time_in(date: date and time, timezone: string)
date and time = date_time_of(year: number, month: number, day: number, hour: number,
  minute: number, second: number)
date and time = date_time_offset(year: number, month: number, day: number, hour: number,
  minute: number, second: number, offset: days and time duration)
date and time = date_time_zone(year: number, month: number, day: number, hour: number,
  minute: number, second: number, timezone: string)
time = time_from(from: string|time|date and time|date)
time = time_of(hour: number, minute: number, second: number, offset?: any)
number = number_from(from: string|number, grouping separator?: any, decimal separator?: any)
string = string_from(from: any)
duration = duration_from(from: string|duration)
years and months duration = months_between(from: date|date and time, to: date|date and time)
range = range_from(from: string)
substring = substring(string: string, start position: number, length?: number)
string length = string_length(string: string)
upper case = upper_case(string: string)
lower case = lower_case(string: string)
substring before = substring_before(string: string, match: string)
substring after = substring_after(string: string, match: string)
replace = replace(input: string, pattern: string, replacement: string, flags?: string|Null)
contains = contains(string: string, match: string)
starts with = starts_with(string: string, match: string)
ends with = ends_with(string: string, match: string)
matches = matches(input: string, pattern: string, flags?: string|Null)
split = split(string: string, delimiter: string)
string join = string_join(list: list, delimiter?: any)
list contains = list_contains(list: list, element: any)
list replace = list_replace_match(list: list, match: function, newItem: any)
list replace = list_replace(list: list, position: number, newItem: any)
count = count(list: list)
min = min_(list...)
max = max_(list...)
sum = sum_(list...)
mean = mean(list...)
all = all_(list...)
any = any_(list...)
sublist = sublist(list: list, start position: number, length?: number)
append = append(list: list, item...)
concatenate = concatenate(list...)
insert before = insert_before(list: list, position: number, newItem: any)
remove = remove(list: list, position: number)
reverse = reverse(list: list)
index of = index_of(list: list, match: any)
union = union(list...)
distinct values = distinct_values(list: list)
flatten = flatten(list: list)
product = product(list...)
median = median(list...)
stddev = stddev(list...)
mode = mode(list...)
decimal = decimal(n: number, scale: number)
floor = floor(n: number, scale?: number)
ceiling = ceiling(n: number, scale?: number)
round up = round_up(n: number, scale: number)
round down = round_down(n: number, scale: number)
round half up = round_half_up(n: number, scale: number)
round half down = round_half_down(n: number, scale: number)
abs = abs_(n: number|duration)
modulo = modulo(dividend: number, divisor: number)
sqrt = sqrt(number: number)
log = log(number: number)
exp = exp(number: number)
odd = odd(number: number)
even = even(number: number)
is = is_(value1: any, value2: any)
day of year = day_of_year(date: date|date and time)
day of week = day_of_week(date: date|date and time)
month of year = month_of_year(date: date|date and time)
week of year = week_of_year(date: date|date and time)
sort = sort(list: list, precedes?: function)
get value = get_value(m: context, key: string)
get value = get_value_at(m: context, keys: list)
get entries = get_entries(m: context)
context = context_of(entries: list)
context put = context_put(context: context, key: string, value: any)
context put = context_put_at(context: context, keys: list, value: any)
context merge = context_merge(contexts: list)
now = now()
today = today()
before = before_points(point1: point, point2: point)
before = before_point_range(point: point, range: range)
before = before_range_point(range: range, point: point)
before = before(range1: range, range2: range)
after = after_points(point1: point, point2: point)
after = after_point_range(point: point, range: range)
after = after_range_point(range: range, point: point)
after = after(range1: range, range2: range)
meets = meets(range1: range, range2: range)
met by = met_by(range1: range, range2: range)
overlaps = overlaps(range1: range, range2: range)
overlaps before = overlaps_before(range1: range, range2: range)
overlaps after = overlaps_after(range1: range, range2: range)
finishes = finishes_point(point: point, range: range)
finishes = finishes(range1: range, range2: range)
finished by = finished_by_point(range: range, point: point)
finished by = finished_by(range1: range, range2: range)
includes = includes_point(range: range, point: point)
includes = includes(range1: range, range2: range)
during = during_point(point: point, range: range)
during = during(range1: range, range2: range)
starts = starts_point(point: point, range: range)
starts = starts(range1: range, range2: range)
started by = started_by_point(range: range, point: point)
started by = started_by(range1: range, range2: range)
coincides = coincides_points(point1: point, point2: point)
coincides = coincides(range1: range, range2: range)
"""

_LINE = re.compile(r"(?P<name>[a-z ]+) = (?P<implementation>\w+)\((?P<parameters>[^)]*)\)")
_VARIADIC = "..."


def _read_signatures() -> dict[str, tuple[Signature, ...]]:
    signatures: dict[str, tuple[Signature, ...]] = {}
    for match in _LINE.finditer(_TABLE):
        written = [part.strip() for part in match["parameters"].split(",") if part.strip()]
        signature = Signature(
            match["implementation"],
            tuple(_read_parameter(part) for part in written),
            bool(written) and written[-1].endswith(_VARIADIC),
        )
        signatures[match["name"]] = (*signatures.get(match["name"], ()), signature)
    return signatures


def _read_parameter(text: str) -> FunctionParameter:
    name, _, kinds = text.removesuffix(_VARIADIC).partition(":")
    optional = name.endswith("?")
    return FunctionParameter(
        name.removesuffix("?"), tuple(kinds.strip().split("|")) if kinds else ("any",), optional
    )


SIGNATURES: dict[str, tuple[Signature, ...]] = _read_signatures()
"""Signatures by function name, in the order in which they are tried."""
