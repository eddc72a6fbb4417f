"""Functions and methods that people call in scripts and conditions, one row each.

A row has a value where its language and JavaScript have the same, and none otherwise: for operands
of another type, for texts outside the Basic Multilingual Plane (their positions differ), for
numbers whose type would matter, and where the language ends with an error. A target computes such a
row by the function of the same name, whose value is then `undefined`, tests for that first
(`RESULT`), and stops the run.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any, Final

from orgflow_ir.program import requirements
from orgflow_ir.program.syntax import (
    Call,
    Compute,
    Found,
    FunctionRow,
    KnownType,
    Tree,
    keep_operation,
)
from orgflow_ir.program.values import NoAnswer, equal_values, js_text, type_name

MOST_EXACT: Final = 2**53 - 1
MOST_INT: Final = 2**31 - 1


def _keep_function(tree: Call) -> Tree:
    """The form in JavaScript: the same call."""
    return keep_operation(tree)


def require_result(tree: Call) -> tuple[Found, ...]:
    """A row requires that it has a value itself."""
    return ((requirements.RESULT, (tree,)),)


def define_function(
    name: str, compute: Callable[..., Any], result: KnownType | None = None
) -> FunctionRow:
    """A row of the table; `compute` is its value in Python, from the values of its operands."""
    return FunctionRow(
        name,
        checked="nothing",
        type_of=lambda tree: result,
        compute=_compute_defined(compute),
        javascript=_keep_function,
        requirements=require_result,
    )


def _compute_defined(compute: Callable[..., Any]) -> Compute:
    def compute_call(tree: Call, value: Callable[[Tree], Any]) -> Any:
        return compute(*map(value, tree.operands))

    return compute_call


# What operands are.


def _read_text(value: Any) -> str:
    """A text whose characters have one unit of UTF-16 each."""
    if not isinstance(value, str) or any(char > "\uffff" for char in value):
        raise NoAnswer
    return value


def _read_number(value: Any) -> float:
    if type_name(value) != "number" or not math.isfinite(value):
        raise NoAnswer
    return float(value) if isinstance(value, float) else int(value)


def _read_whole(value: Any, most: int = MOST_EXACT) -> int:
    number = _read_number(value)
    if number != int(number) or abs(number) > most:
        raise NoAnswer
    return int(number)


def _read_list(value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise NoAnswer
    return list(value)


def _check_number(number: float) -> float:
    """A number that JSON has."""
    if not math.isfinite(number) or abs(number) > MOST_EXACT:
        raise NoAnswer
    return int(number) if number == int(number) else number


def _read_numbers(values: list[Any]) -> list[float]:
    if not values:
        raise NoAnswer
    return [_read_number(value) for value in values]


def _find_extreme(values: list[Any], choose: Callable[[Any], Any]) -> Any:
    """The smallest or greatest of numbers, or of texts."""
    if values and all(isinstance(value, str) for value in values):
        return choose(map(_read_text, values))
    return choose(_read_numbers(values))


# Numbers.


def _round_up_half(number: float) -> float:
    below = math.floor(number)  # `number + 0.5` would itself be rounded
    return below + (number - below >= 0.5)


def _divide_floor(left: Any, right: Any) -> int:
    a, b = _read_whole(left), _read_whole(right)
    if b == 0:
        raise NoAnswer
    return a // b


def _round_python(value: Any, places: Any = 0) -> float:
    number, digits = _read_number(value), _read_whole(places)
    if not 0 <= digits <= 15 or abs(number) > 1e15:
        raise NoAnswer
    exact = Decimal(number)
    rounded = exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN)
    if abs(exact - rounded) * 2 == Decimal(1).scaleb(-digits):
        raise NoAnswer  # versions round a tie in different ways
    return _check_number(float(rounded))


def _sum_whole(values: Any, most: int = MOST_EXACT) -> int:
    total = 0
    for value in _read_list(values):
        total += _read_whole(value, most)
        _read_whole(total, most)
    return total


def _sum_python(values: Any) -> float:
    numbers = [_read_number(value) for value in _read_list(values)]
    if not all(number == int(number) for number in numbers):
        total, lost = 0.0, 0.0
        for number in numbers:
            added = total + number
            large = abs(total) >= abs(number)
            lost += total - added + number if large else number - added + total
            total = added
        if total != total + lost:  # versions of Python add with and without compensation
            raise NoAnswer
        return _check_number(total)
    return _sum_whole(values)


def _sum_groovy(values: Any) -> int:
    if not _read_list(values):
        raise NoAnswer  # null, which a script computes with otherwise
    return _sum_whole(values, MOST_INT)


def _same_class(values: list[Any]) -> list[Any]:
    """Numbers of one class of Java: whole ones, or fractions."""
    numbers = _read_numbers(values)
    if len({number == int(number) for number in numbers}) > 1:
        raise NoAnswer
    return numbers


def _parse_whole(text: Any) -> int:
    """The number that begins a text, in JavaScript."""
    match = re.match(
        r"\s*([+-]?\d{1,15})(?![0-9xX])", text if isinstance(text, str) else "", re.ASCII
    )
    if match is None:
        number = _read_number(text)
        if abs(number) > MOST_EXACT or 0 < abs(number) < 1e-6:
            raise NoAnswer
        return int(number)
    return int(match[1])


def _parse_float(text: Any) -> float:
    if not isinstance(text, str):
        return _read_number(text)
    match = re.match(r"\s*([+-]?(?:\d{1,15}(?:\.\d{0,15})?|\.\d{1,15}))(?![0-9eE])", text, re.ASCII)
    if match is None:
        raise NoAnswer
    return _check_number(float(match[1]))


def _to_number(value: Any) -> float:
    """JavaScript's `Number` of a number, a truth value, or the text of a decimal number."""
    if isinstance(value, bool):
        return int(value)
    if not isinstance(value, str):
        return _read_number(value)
    if re.fullmatch(r" *[+-]?(?:\d{1,15}(?:\.\d{1,15})?) *", value, re.ASCII) is None:
        raise NoAnswer
    return _check_number(float(value))


def _to_text(value: Any) -> str:
    if type_name(value) not in ("truth", "number", "text"):
        raise NoAnswer
    return js_text(value)


def _to_fixed(value: Any, places: Any = 0) -> str:
    number, digits = _read_number(value), _read_whole(places)
    if not 0 <= digits <= 15 or abs(number) > 1e15:
        raise NoAnswer
    exact = Decimal(number)
    unit = Decimal(1).scaleb(-digits)
    rounded = exact.quantize(unit, ROUND_HALF_EVEN)
    if abs(exact - rounded) * 2 == unit:
        rounded = (abs(exact) + unit / 2).quantize(unit, "ROUND_DOWN").copy_sign(exact)
    text = f"{rounded:.{digits}f}"
    return text.removeprefix("-") if number == 0 else text


def _raise_power(left: Any, right: Any) -> float:
    base, exponent = _read_whole(left), _read_whole(right)
    if not 0 <= exponent <= 64:
        raise NoAnswer
    return _check_number(base**exponent)


def _square_root(value: Any) -> float:
    number = _read_number(value)
    if number < 0:
        raise NoAnswer
    return _check_number(math.sqrt(number))


def _find_absolute(value: Any) -> float:
    return abs(_read_number(value))


def _whole_of(change: Callable[[float], float]) -> Callable[[Any], float]:
    return lambda value: _check_number(change(_read_number(value)))


ABSOLUTE = define_function("absolute", _find_absolute, "number")
FLOOR = define_function("floor", _whole_of(math.floor), "number")
CEILING = define_function("ceiling", _whole_of(math.ceil), "number")
TRUNCATE = define_function("truncate", _whole_of(math.trunc), "number")
ROUND = define_function("round half up", _whole_of(_round_up_half), "number")
SIGN_OF = define_function("sign of", _whole_of(lambda x: (x > 0) - (x < 0)), "number")
ROOT = define_function("square root", _square_root, "number")
POWER_OF = define_function("power of", _raise_power, "number")
LEAST = define_function("least", lambda *v: min(_read_numbers(list(v))), "number")
GREATEST = define_function("greatest", lambda *v: max(_read_numbers(list(v))), "number")
LEAST_CLASS = define_function("least of class", lambda *v: min(_same_class(list(v))), "number")
GREATEST_CLASS = define_function(
    "greatest of class", lambda *v: max(_same_class(list(v))), "number"
)
LEAST_IN = define_function("least in", lambda v: _find_extreme(_read_list(v), min))
GREATEST_IN = define_function("greatest in", lambda v: _find_extreme(_read_list(v), max))
LEAST_VALUE = define_function("least value", lambda *v: _find_extreme(list(v), min))
GREATEST_VALUE = define_function("greatest value", lambda *v: _find_extreme(list(v), max))
FLOOR_DIVIDE = define_function("floor divide", _divide_floor, "number")
ROUND_EVEN = define_function("round python", _round_python, "number")
SUM = define_function("sum python", _sum_python, "number")
SUM_GROOVY = define_function("sum groovy", _sum_groovy, "whole")
PARSE_WHOLE = define_function("parse whole", _parse_whole, "number")
PARSE_FLOAT = define_function("parse number", _parse_float, "number")
TO_NUMBER = define_function("to number", _to_number, "number")
TO_TEXT = define_function("to text", _to_text, "text")
TO_FIXED = define_function("to fixed", _to_fixed, "text")


def _python_int(value: Any) -> int:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        if re.fullmatch(r" *[+-]?\d{1,15} *", value, re.ASCII) is None:
            raise NoAnswer
        return int(value)
    return int(_check_number(math.trunc(_read_number(value))))


def _python_float(value: Any) -> float:
    if isinstance(value, bool):
        return int(value)
    return _to_number(value)


def _python_text(value: Any, *leaves: Any) -> str:
    """Python's `str`; `leaves` are what a number is computed from: with a fraction among them, a
    whole result is a float."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "True" if value else "False"
    number = _read_number(value)
    if number == int(number):
        parts = [part for leaf in leaves for part in (leaf if isinstance(leaf, list) else [leaf])]
        if any(type_name(part) == "number" and part % 1 for part in parts):
            raise NoAnswer
        return str(_read_whole(number))
    text = js_text(number)
    if re.fullmatch(r"-?\d{1,6}\.\d{1,5}", text) is None or abs(number) < 1e-4:
        raise NoAnswer  # versions have different digits
    return text


def _java_int(text: Any) -> int:
    if not isinstance(text, str) or re.fullmatch(r"-?\d{1,9}", text, re.ASCII) is None:
        raise NoAnswer
    return int(text)


PYTHON_INT = define_function("python int", _python_int, "number")
PYTHON_FLOAT = define_function("python float", _python_float, "number")
PYTHON_TEXT = define_function("python text", _python_text, "text")
JAVA_INT = define_function("java int", _java_int, "whole")

# Texts and lists by position.


def _read_sequence(value: Any) -> Any:
    return _read_text(value) if isinstance(value, str) else _read_list(value)


def _count_entries(value: Any) -> int:
    return len(value) if isinstance(value, dict) else len(_read_sequence(value))


def _slice_substring(text: Any, start: Any, end: Any = None) -> str:
    """JavaScript's `substring`, which exchanges positions in the wrong order."""
    chars = _read_text(text)
    ends = [
        min(max(_read_whole(position), 0), len(chars))
        for position in (start, len(chars) if end is None else end)
    ]
    return chars[min(ends) : max(ends)]


def _slice_java(text: Any, start: Any, end: Any = None) -> str:
    chars = _read_text(text)
    first = _read_whole(start)
    last = len(chars) if end is None else _read_whole(end)
    if not 0 <= first <= last <= len(chars):
        raise NoAnswer
    return chars[first:last]


def _slice_sequence(value: Any, start: Any = None, end: Any = None) -> Any:
    """A part of a text or list; positions below zero count from the end."""
    of = _read_sequence(value)
    first = None if start is None else _read_whole(start)
    return of[first : None if end is None else _read_whole(end)]


def _item_at(value: Any, position: Any) -> Any:
    """The entry of a list, or a character; a position below zero counts from the end."""
    of, at = _read_sequence(value), _read_whole(position)
    if not -len(of) <= at < len(of):
        raise NoAnswer
    return of[at]


def _char_at(text: Any, position: Any) -> str:
    chars, at = _read_text(text), _read_whole(position)
    return chars[at] if 0 <= at < len(chars) else ""


def _member_of(value: Any, name: Any) -> Any:
    """The entry of an object or list."""
    if isinstance(value, dict) and isinstance(name, str) and name in value:
        return value[name]
    if isinstance(name, str):
        raise NoAnswer
    at = _read_whole(name)
    of = _read_sequence(value)
    if not 0 <= at < len(of):
        raise NoAnswer
    return of[at]


def _has_scalar(values: list[Any], wanted: Any) -> None:
    """Raises `NoAnswer` where the identity of objects, or a missing value, matters."""
    if any(type_name(value) not in ("truth", "number", "text") for value in (*values, wanted)):
        raise NoAnswer


def _index_of(value: Any, wanted: Any) -> int:
    if isinstance(value, str):
        return _read_text(value).find(_read_text(wanted))
    of = _read_list(value)
    _has_scalar(of, wanted)
    return next((at for at, entry in enumerate(of) if equal_values(entry, wanted)), -1)


def _last_index_of(value: Any, wanted: Any) -> int:
    if isinstance(value, str):
        return _read_text(value).rfind(_read_text(wanted))
    of = _read_list(value)
    _has_scalar(of, wanted)
    return max((at for at, entry in enumerate(of) if equal_values(entry, wanted)), default=-1)


def _contains_exactly(value: Any, wanted: Any) -> bool:
    """Whether a list has an equal entry of the same class of Java."""
    of = _read_list(value)
    _has_scalar(of, wanted)
    numbers = [entry for entry in (*of, wanted) if type_name(entry) == "number"]
    if any(number % 1 for number in numbers):
        raise NoAnswer
    return any(equal_values(entry, wanted) for entry in of)


def _contains_python(value: Any, wanted: Any) -> bool:
    if isinstance(value, str):
        return _read_text(wanted) in _read_text(value)
    if isinstance(value, dict):
        return _read_text(wanted) in value
    of = _read_list(value)
    _has_scalar(of, wanted)
    return any(entry == wanted for entry in of)


def _has_same(value: Any, wanted: Any) -> bool:
    """Whether a text contains a text, or a list of texts, numbers and truth values a value."""
    if isinstance(value, str):
        return _read_text(wanted) in _read_text(value)
    of = _read_list(value)
    _has_scalar(of, wanted)
    return any(equal_values(entry, wanted) for entry in of)


HAS_SAME = define_function("has same", _has_same, "truth")
HAS_NOTHING = define_function("has nothing", lambda value: not _count_entries(value), "truth")
COUNT_OF = define_function("count of", _count_entries, "whole")
SUBSTRING = define_function("substring", _slice_substring, "text")
JAVA_SUBSTRING = define_function("java substring", _slice_java, "text")
SLICE = define_function("slice", _slice_sequence)
ITEM_AT = define_function("item at", _item_at)
CHAR_AT = define_function("char at", _char_at, "text")
MEMBER_OF = define_function("member of", _member_of)
INDEX_OF = define_function("index of", _index_of, "whole")
LAST_INDEX_OF = define_function("last index of", _last_index_of, "whole")
CONTAINS_EXACTLY = define_function("contains exactly", _contains_exactly, "truth")
CONTAINS_PYTHON = define_function("contains python", _contains_python, "truth")

# Texts.

_PLAIN_CASE = re.compile(r"[\x00-\x7f\xa1-\xb4\xb6-\xde\xe0-\xfe]*")
"""Characters whose other case is one character in every version of every language."""


def _split_text(text: Any, separator: Any) -> list[str]:
    chars, by = _read_text(text), _read_text(separator)
    return chars.split(by) if by else list(chars)


def _split_python(text: Any, separator: Any) -> list[str]:
    chars, by = _read_text(text), _read_text(separator)
    if not by:
        raise NoAnswer
    return chars.split(by)


def _split_java(text: Any, separator: Any) -> list[str]:
    """Java's `split` by a text that is no pattern; empty parts at the end are left out."""
    by = _read_text(separator)
    if not by or re.search(r"[\\.\[\]{}()*+?^$|]", by):
        raise NoAnswer
    parts = _read_text(text).split(by)
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    if parts == [""] and text:
        return []
    return parts


def _replace_first(text: Any, old: Any, new: Any) -> str:
    chars, part, other = map(_read_text, (text, old, new))
    if "$" in other:
        raise NoAnswer
    return chars.replace(part, other, 1)


def _replace_all(text: Any, old: Any, new: Any) -> str:
    chars, part, other = map(_read_text, (text, old, new))
    if "$" in other or not part:
        raise NoAnswer
    return chars.replace(part, other)


def _join_texts(values: Any, separator: Any = ",") -> str:
    """Texts, whole numbers and truth values one after the other."""
    texts = []
    for value in _read_list(values):
        if type_name(value) == "number":
            value = _read_whole(value, MOST_INT)
        texts.append(_to_text(value))
    return _read_text(separator).join(texts)


def _join_python(separator: Any, values: Any) -> str:
    return _read_text(separator).join(map(_read_text, _read_list(values)))


def _change_case(change: Callable[[str], str]) -> Callable[[Any], str]:
    def changed(text: Any) -> str:
        if _PLAIN_CASE.fullmatch(_read_text(text)) is None:
            raise NoAnswer
        return change(text)

    return changed


def _strip_text(text: Any) -> str:
    chars = _read_text(text)
    if re.fullmatch(r"[\t\n\r -\x7e\xa1-\uff00]*", chars) is None or re.search(
        r"[\u1680\u180e\u2000-\u200b\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]", chars
    ):
        raise NoAnswer
    return chars.strip(" \t\n\r")


def _repeat_text(text: Any, count: Any) -> str:
    times = _read_whole(count)
    if not 0 <= times <= 1000:
        raise NoAnswer
    return _read_text(text) * times


def _pad_text(text: Any, length: Any, fill: Any, *, start: bool) -> str:
    chars, filler, size = _read_text(text), _read_text(fill), _read_whole(length)
    if not filler or size > 1000:
        raise NoAnswer
    missing = max(size - len(chars), 0)
    padding = (filler * (missing // len(filler) + 1))[:missing]
    return padding + chars if start else chars + padding


def _count_in(text: Any, part: Any) -> int:
    if not _read_text(part):
        raise NoAnswer
    return _read_text(text).count(part)


def _starts_with(text: Any, part: Any) -> bool:
    return _read_text(text).startswith(_read_text(part))


def _ends_with(text: Any, part: Any) -> bool:
    return _read_text(text).endswith(_read_text(part))


SPLIT = define_function("split text", _split_text)
SPLIT_PYTHON = define_function("split python", _split_python)
SPLIT_JAVA = define_function("split java", _split_java)
REPLACE_FIRST = define_function("replace first", _replace_first, "text")
REPLACE_ALL = define_function("replace all", _replace_all, "text")
JOIN = define_function("join texts", _join_texts, "text")
JOIN_PYTHON = define_function("join python", _join_python, "text")
UPPER_PLAIN = define_function("upper plain", _change_case(str.upper), "text")
LOWER_PLAIN = define_function("lower plain", _change_case(str.lower), "text")
STRIP_PLAIN = define_function("strip plain", _strip_text, "text")
REPEAT = define_function("repeat text", _repeat_text, "text")
PAD_START = define_function("pad start", lambda t, n, f=" ": _pad_text(t, n, f, start=True), "text")
PAD_END = define_function("pad end", lambda t, n, f=" ": _pad_text(t, n, f, start=False), "text")
COUNT_IN = define_function("count in", _count_in, "whole")
STARTS = define_function("starts", _starts_with, "truth")
ENDS = define_function("ends", _ends_with, "truth")

# Lists.


def _take_first(values: Any, count: Any) -> list[Any]:
    number = _read_whole(count)
    if number < 0:
        raise NoAnswer
    return _read_list(values)[:number]


def _drop_first(values: Any, count: Any) -> list[Any]:
    number = _read_whole(count)
    if number < 0:
        raise NoAnswer
    return _read_list(values)[number:]


def _join_lists(values: Any, *others: Any) -> list[Any]:
    return [entry for of in (values, *others) for entry in _read_list(of)]


def _reverse_sequence(value: Any) -> Any:
    return _read_sequence(value)[::-1]


def _all_of(values: Any, *, wanted: bool) -> bool:
    of = _read_list(values)
    if not all(isinstance(entry, bool) for entry in of):
        raise NoAnswer
    return all(of) if wanted else any(of)


TAKE = define_function("take first", _take_first)
DROP = define_function("drop first", _drop_first)
JOIN_LISTS = define_function("join lists", _join_lists)
REVERSE = define_function("reverse", _reverse_sequence)
ALL_TRUE = define_function("all true", lambda values: _all_of(values, wanted=True), "truth")
ANY_TRUE = define_function("any true", lambda values: _all_of(values, wanted=False), "truth")
