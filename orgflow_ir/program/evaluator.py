"""Evaluates expressions by the rules that their nodes name (`Meaning`).

One evaluator serves every language: languages differ in how they convert operands before they
compare or compute, so each language is a few functions. Evaluated as JavaScript (`as_javascript`),
a tree has the same value as its translation in Node.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, assert_never

from orgflow_ir.program.syntax import (
    JUEL_NUMBER,
    WHOLE_NUMBER,
    XPATH_NUMBER,
    Arithmetic,
    Call,
    Comparison,
    Conditional,
    Constant,
    Empty,
    EntryPath,
    Feel,
    Flag,
    Function,
    Logical,
    Meaning,
    Negative,
    Not,
    Path,
    Tree,
    Variable,
    kind_of,
)

_TYPES_OF = {
    "truth": "boolean", "number": "number", "text": "string", "object": "object",
    "nothing": "undefined",
}  # fmt: skip


class _Undefined:
    """What a variable without a value has in JavaScript; null everywhere else."""

    def __bool__(self) -> bool:
        return False


_UNDEFINED = _Undefined()
_LEAST, _MOST = 1e-4, 2**53


class _NoAnswer(Exception):
    """The language ends the evaluation with an error here."""


def evaluate(tree: Tree, values: Mapping[Path, Any], *, meaning: Meaning | None = None) -> Any:
    """The value of a tree; `None` for null, undefined, or an error of the language.

    Args:
        tree: an expression.
        values: values of variables by path; a missing variable is undefined.
        meaning: compute every node by these rules instead of its own; a result computed by `exact`
            is the same in every language.

    Example:
        >>> evaluate(JuelParser("a == 1").parse(), {("a",): "1"})
        True
    """
    try:
        found = _value(tree, values, meaning)
    except (_NoAnswer, OverflowError):
        return None
    return None if found is _UNDEFINED else found


def is_truthy(value: Any) -> bool:
    """Whether a value is truthy in JavaScript."""
    return _truth(value, "loose") is True


def _value(tree: Tree, values: Mapping[Path, Any], forced: Meaning | None) -> Any:
    match tree:
        case Constant(constant):
            return constant
        case Flag(path) if forced is None:
            return _truth(values.get(path, _UNDEFINED), "juel")
        case EntryPath(path, _, _, got) if forced is None and len(path) - 1 in got:
            if path not in values and path[-1].isdigit():
                raise _NoAnswer  # a list has no such position
            return values.get(path, _UNDEFINED)
        case Variable(path):
            if forced == "exact" and path not in values:
                raise _NoAnswer
            return values.get(path, _UNDEFINED)
        case Empty(operand):
            found = _value(operand, values, forced)
            return found is None or found is _UNDEFINED or _length(found) == 0
        case Not(operand, meaning):
            truth = _truth(_value(operand, values, forced), forced or meaning)
            return None if truth is None else not truth
        case Negative(operand, meaning):
            number = _number(_value(operand, values, forced), forced or meaning)
            return None if number is None else -number
        case Logical(operator, left, right, meaning):
            return _logical(
                operator == "or", left, right, values, forced, _plain(forced or meaning)
            )
        case Comparison(_, left, right, "feel") if forced is None and (
            isinstance(left, Arithmetic) or isinstance(right, Arithmetic)
        ):
            from orgflow_ir.program.exact import compared_decimals  # in few trees

            return compared_decimals(tree, lambda one: _null(_value(one, values, forced)))
        case Comparison(operator, left, right, meaning):
            one, two = _value(left, values, forced), _value(right, values, forced)
            if operator in ("==", "!="):
                if meaning == "xpath" and forced is None:
                    return _in_xpath(operator, one, two)
                equal = _equal(one, two, forced or meaning)
                return equal if equal is None or operator == "==" else not equal
            if meaning == "xpath" and forced is None:
                return _in_xpath(operator, one, two)
            return _ordered(operator, one, two, _plain(forced or meaning))
        case Arithmetic("+", left, right, "java" | "typed") if forced is None and (
            kind_of(tree) == "text"
        ):
            return _summand(left, values) + _summand(right, values)
        case Arithmetic(operator, left, right, meaning):
            one, two = _value(left, values, forced), _value(right, values, forced)
            return _computed(operator, one, two, _plain(forced or meaning))
        case Conditional(condition, then, otherwise, meaning):
            truth = _truth(_value(condition, values, forced), _plain(forced or meaning))
            return _value(then if truth else otherwise, values, forced)
        case Call("text", arguments):
            return "".join(_java_text(one, values, forced) for one in arguments)
        case Call("or null", (argument,)):
            return _null(_value(argument, values, forced))
        case Call("java text", (argument,)):
            return _java_text(argument, values, forced)
        case Call("computed text", (argument, *operands)):
            from orgflow_ir.program.java_text import is_double, java_text

            double = any(is_double(_value(one, values, forced)) for one in operands)
            return java_text(_value(argument, values, forced), double)
        case Call("same letters", (left, right)):
            return _same_letters(*(_value(part, values, forced) for part in (left, right)))
        case Call("json", (argument,)):
            return _parsed(_value(argument, values, forced))
        case Call(("written json" | "escaped json") as how, (argument,)):
            found = _whole(_value(argument, values, forced))
            return json.dumps(found, ensure_ascii=how == "escaped json", separators=(",", ":"))
        case Call("json text", (argument,)):
            found = _value(argument, values, forced)
            if isinstance(found, str):
                _parsed(found)
            return found
        case Call("list", arguments):
            return [_value(a, values, forced) for a in arguments]
        case Call("map", arguments):
            items = [_value(a, values, forced) for a in arguments]
            return dict(zip(items[::2], items[1::2], strict=True))
        case Call("append", (of, value)):
            found = _value(of, values, forced)
            if not isinstance(found, list):
                raise _NoAnswer
            return [*found, _value(value, values, forced)]
        case Call("single", (argument,)):
            found = _value(argument, values, forced)
            every = [*found.values()] if isinstance(found, dict) else found
            if _nothing(every):
                return None
            if not isinstance(every, list) or len(every) > 1:
                raise _NoAnswer
            return every[0] if every else None
        case Call("truth", (argument,)):
            found = _value(argument, values, forced)
            return bool(found)
        case Call("item", (of, Constant(int() as number))):
            found = _value(of, values, forced)
            every = found if isinstance(found, list | tuple) else [found]
            return every[number - 1] if 0 < number <= len(every) else None
        case Call("part", (of, Constant(str() as key))):
            return _part(_value(of, values, forced), key)
        case Call("three-valued", (inner,)):
            return _value(inner, values, forced)
        case Call("compared", (left, right)):
            one, two = (_value(part, values, forced) for part in (left, right))
            if _type(one) != _type(two) or _type(one) not in ("number", "text"):
                return math.nan
            return (one > two) - (one < two)
        case Call("sum", products):
            from orgflow_ir.program.exact import sign_of  # in few trees

            return sign_of([_value(one, values, forced) for one in products])
        case Call("type", (argument,)):
            found = _value(argument, values, forced)
            return "object" if found is None else _TYPES_OF[_type(found)]
        case Call("xpath count", (argument,)):
            return len(_every(_value(argument, values, forced)))
        case Call("xpath number", (argument,)):
            every = _every(_value(argument, values, forced))
            return _xpath_number(every[0]) if every else math.nan
        case Call("xpath text", (argument,)):
            every = _every(_value(argument, values, forced))
            return _js_text(_primitive(every[0])) if every and not _nothing(every[0]) else ""
        case Call("is list", (argument,)):
            return isinstance(_value(argument, values, forced), list | tuple)
        case Call("is true", (argument,)):
            found = _value(argument, values, forced)
            return found is True or (isinstance(found, str) and found.lower() == "true")
        case Call("same", (left, right)):
            return _equal(_value(left, values, forced), _value(right, values, forced), "java")
        case Call("decimal", (inner,)):
            from orgflow_ir.program.decimals import value_in_groovy  # in few trees

            def number(one: Tree) -> Any:
                found = _value(one, values, forced)
                if _type(found) != "number":
                    raise _NoAnswer
                return found

            return value_in_groovy(inner, number)
        case Call("unsure", (argument,)):
            return _value(argument, values, forced)
        case Call("python equal", (left, right)):
            return _equal(_value(left, values, forced), _value(right, values, forced), "python")
        case Call("modulo", (left, right)):
            one, two = _value(left, values, forced), _value(right, values, forced)
            return _computed("%", one, two, "python")
        case Call("juel equal", (left, right)):
            try:
                return _equal_converted(*(_value(part, values, forced) for part in (left, right)))
            except _NoAnswer:
                return False
        case Call("entry", (of, Constant(key))):
            return _entry(_value(of, values, forced), key)
        case Call(function, arguments):
            receiver, *others = (_value(a, values, forced) for a in arguments)
            return _asked(function, receiver, others)
        case Feel():
            return _feel(tree, values)
        case _:
            assert_never(tree)


def _java_text(tree: Tree, values: Mapping[Path, Any], forced: Meaning | None) -> str:
    """The text of a value in Java."""
    from orgflow_ir.program.java_text import computed_from, is_double, java_text

    if isinstance(tree, Conditional):
        truth = _truth(_value(tree.condition, values, forced), _plain(forced or tree.meaning))
        return _java_text(tree.then if truth else tree.otherwise, values, forced)
    double = False
    if isinstance(tree, Arithmetic | Negative):
        double = any(is_double(_value(one, values, forced)) for one in computed_from(tree))
    elif isinstance(tree, Constant):
        double = isinstance(tree.value, float)
    return java_text(_null(_value(tree, values, forced)), double)


def _summand(tree: Tree, values: Mapping[Path, Any]) -> str:
    """The text of a value that is added to a text in Java."""
    if isinstance(tree, Arithmetic | Negative) and kind_of(tree) != "text":
        return _java_text(tree, values, None)
    return _juel_text(_null(_value(tree, values, None)))


def _same_letters(one: Any, two: Any) -> bool:
    """Java's `equalsIgnoreCase`, which compares the characters one by one."""
    if not isinstance(one, str) or not (isinstance(two, str) or _nothing(two)):
        raise _NoAnswer
    if _nothing(two) or len(one) != len(two):
        return False
    return all(_letter(a) == _letter(b) for a, b in zip(one, two, strict=True))


def _letter(char: str) -> str:
    """A character without its case; a character whose other case is several is itself."""
    upper = char.upper() if len(char.upper()) == 1 else char
    return upper.lower() if len(upper.lower()) == 1 else upper


def _feel(tree: Feel, values: Mapping[Path, Any]) -> Any:
    """FEEL is computed by its own evaluator, loaded for models that have it."""
    from orgflow_ir.languages.feel.evaluator import Unsupported
    from orgflow_ir.languages.feel.reading import value_of

    try:
        return value_of(tree, values)
    except Unsupported:
        raise _NoAnswer from None


def _parsed(text: Any) -> Any:
    """The value that a text is the JSON of; other values are themselves."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise _NoAnswer from None


def _whole(value: Any) -> Any:
    """A value as JavaScript writes it: whole numbers without a fraction. Numbers that it writes
    with an exponent have no answer, nor has what is no value."""
    if value is _UNDEFINED:
        raise _NoAnswer
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not (value == 0 or _LEAST <= abs(value) <= _MOST):
            raise _NoAnswer
        return int(value) if value == int(value) else value
    if isinstance(value, list | tuple):
        return [_whole(one) for one in value]
    return {key: _whole(one) for key, one in value.items()} if isinstance(value, dict) else value


def _entry(of: Any, key: Any) -> Any:
    """What an object or list has under a name or number."""
    if isinstance(of, dict) and key in of:
        return of[key]
    if isinstance(of, list | tuple) and isinstance(key, int) and 0 <= key < len(of):
        return of[key]
    raise _NoAnswer


def _null(value: Any) -> Any:
    return None if value is _UNDEFINED else value


def _part(of: Any, key: str) -> Any:
    """FEEL's path: the entry of a context, or of each context in a list."""
    if isinstance(of, list | tuple):
        return [_part(one, key) for one in of]
    return of.get(key) if isinstance(of, dict) else None


def _asked(function: Function, receiver: Any, others: Sequence[Any]) -> Any:
    """What a text or a collection answers."""
    if isinstance(receiver, list | tuple | dict):
        match function:
            case "size" | "count":
                return len(receiver)
            case "is empty":
                return not receiver
            case "contains" if not isinstance(receiver, dict):
                return any(_type(v) == _type(others[0]) and v == others[0] for v in receiver)
            case "has" if not isinstance(receiver, dict):
                return any(_alike(v, others[0]) for v in receiver)
        raise _NoAnswer
    if not isinstance(receiver, str) or not all(isinstance(o, str) for o in others):
        raise _NoAnswer
    match function:
        case "size" | "length":
            return len(receiver.encode("utf-16-be", "surrogatepass")) // 2
        case "is empty":
            return not receiver
        case "contains" | "has":
            return others[0] in receiver
        case "starts with":
            return receiver.startswith(others[0])
        case "ends with":
            return receiver.endswith(others[0])
        case "lower":
            return receiver.lower()
        case "upper":
            return receiver.upper()
        case "trim":
            return receiver.strip()
        case "concat":
            return receiver + others[0]
        case "strip":
            return receiver.strip(_BLANK)
    raise _NoAnswer


_BLANK = "".join(map(chr, range(33)))
"""The characters that Java's `trim` removes."""


def _plain(meaning: Meaning) -> Meaning:
    """`===` differs from `==` in equality only."""
    return "loose" if meaning in ("strict", "xpath") else meaning


def _logical(
    either: bool,
    left: Tree,
    right: Tree,
    values: Mapping[Path, Any],
    forced: Meaning | None,
    meaning: Meaning,
) -> Any:
    one = _value(left, values, forced)
    truth = _truth(one, meaning)
    if truth is either:
        return one if meaning == "loose" else truth
    two = _value(right, values, forced)
    if meaning == "loose":
        return two
    other = _truth(two, meaning)
    return other if other is either or truth is not None else None


def _truth(value: Any, meaning: Meaning) -> bool | None:
    """What `and`, `or`, `not` make of a value; `None` is FEEL's third truth value."""
    if isinstance(value, bool):
        return value
    match meaning:
        case "feel":
            return None
        case "juel":
            if _nothing(value) or value == "":
                return False
            if isinstance(value, str):
                return value.lower() == "true"
            raise _NoAnswer
        case "loose" | "strict" | "xpath":
            return isinstance(value, list | tuple | dict) or not (
                _nothing(value) or value == "" or value == 0 or value != value
            )
        case "typed" | "identity":
            raise _NoAnswer
        case "java" | "equals" | "python":
            return bool(value)
        case "exact":
            raise _NoAnswer
        case _:
            assert_never(meaning)


def _equal(one: Any, two: Any, meaning: Meaning) -> bool | None:
    match meaning:
        case "feel":
            if _nothing(one) or _nothing(two):
                return _nothing(one) and _nothing(two)
            if _type(one) != _type(two) or isinstance(one, dict) != isinstance(two, dict):
                return None
            return _alike(one, two)
        case "juel":
            return _equal_converted(one, two)
        case "loose" | "xpath":
            return _equal_loosely(one, two)
        case "strict":
            if _nothing(one) or _nothing(two):
                return one is two
            return _type(one) == _type(two) and _same(one, two)
        case "java" | "typed" | "identity" | "equals":
            if meaning == "equals" and _nothing(one):
                raise _NoAnswer
            if _nothing(one) or _nothing(two):
                return _nothing(one) and _nothing(two)
            return _type(one) == _type(two) and _alike(one, two)
        case "python":
            if _nothing(one) or _nothing(two):
                return _nothing(one) and _nothing(two)
            return bool(one == two)
        case "exact":
            if _nothing(one) or _nothing(two):
                return _nothing(one) and _nothing(two)
            if _type(one) != _type(two) or _type(one) == "object":
                raise _NoAnswer
            return bool(one == two)
        case _:
            assert_never(meaning)


def _ordered(operator: str, one: Any, two: Any, meaning: Meaning) -> bool | None:
    match meaning:
        case "feel":
            if _type(one) != _type(two) or _type(one) not in ("number", "text"):
                return None
        case "juel":
            if _nothing(one) or _nothing(two):
                return _nothing(one) and _nothing(two) and operator in ("<=", ">=")
            if "number" in (_type(one), _type(two)):
                one, two = _juel_numbers(one, two)
            elif "text" in (_type(one), _type(two)):
                one, two = _juel_text(one), _juel_text(two)
            elif not isinstance(one, bool) or not isinstance(two, bool):
                raise _NoAnswer
        case "loose" | "strict" | "xpath":
            one, two = _primitive(one), _primitive(two)
            if not (isinstance(one, str) and isinstance(two, str)):
                one, two = _js_number(one), _js_number(two)
        case "python":
            one, two = (int(v) if isinstance(v, bool) else v for v in (one, two))
            if _type(one) != _type(two) or _type(one) not in ("number", "text"):
                raise _NoAnswer
        case "java" | "typed" | "identity" | "equals":
            if _type(one) != _type(two) or _type(one) not in ("number", "text", "truth"):
                raise _NoAnswer
        case "exact":
            if _type(one) != _type(two) or _type(one) not in ("number", "text"):
                raise _NoAnswer
        case _:
            assert_never(meaning)
    if isinstance(one, str) and meaning != "feel":  # Java's and JavaScript's texts are UTF-16
        one, two = (text.encode("utf-16-be", "surrogatepass") for text in (one, two))
    compare = {"<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}[operator]
    if isinstance(one, int) != isinstance(two, int):
        one, two = float(one), float(two)
    return bool(getattr(one, compare)(two))


def _computed(operator: str, one: Any, two: Any, meaning: Meaning) -> Any:
    match meaning:
        case "feel":
            if operator == "+" and isinstance(one, str) and isinstance(two, str):
                return one + two
            if _type(one) != "number" or _type(two) != "number":
                return None
            if operator in ("/", "%") and two == 0:
                return None
        case "juel":
            one, two = _number(one, meaning), _number(two, meaning)
            if operator == "%" and two == 0:
                raise _NoAnswer
            if operator in ("+", "-", "*") and isinstance(one, int) and isinstance(two, int):
                found = _calculated(operator, one, two)
                if abs(found) >= _MOST:
                    raise _NoAnswer
        case "loose" | "strict" | "xpath":
            one, two = _primitive(one), _primitive(two)
            if operator == "+" and (isinstance(one, str) or isinstance(two, str)):
                return _js_text(one) + _js_text(two)
            one, two = _js_number(one), _js_number(two)
        case "java" | "typed" | "identity" | "equals":
            if operator == "+" and (isinstance(one, str) or isinstance(two, str)):
                return _juel_text(one) + _juel_text(two)
            if _type(one) != "number" or _type(two) != "number":
                raise _NoAnswer
            if operator in ("/", "%") and two == 0:
                raise _NoAnswer
        case "python":
            if operator == "+" and isinstance(one, str) and isinstance(two, str):
                return one + two
            if _type(one) != "number" or _type(two) != "number":
                raise _NoAnswer
            if operator in ("/", "%") and two == 0:
                raise _NoAnswer
            if operator == "%":
                return one % two
        case "exact":
            if _type(one) != "number" or _type(two) != "number":
                raise _NoAnswer
            if operator in ("/", "%") and two == 0:
                raise _NoAnswer
        case _:
            assert_never(meaning)
    return _calculated(operator, one, two)


def _calculated(operator: str, one: Any, two: Any) -> Any:
    if operator == "+":
        return one + two
    if operator == "-":
        return one - two
    if operator == "*":
        return one * two
    if two == 0:
        undefined = operator == "%" or one == 0 or one != one
        return math.nan if undefined else math.copysign(math.inf, one) * math.copysign(1, two)
    if operator == "/":
        return one / two
    return math.nan if math.isinf(one) else math.fmod(one, two)


def _number(value: Any, meaning: Meaning) -> Any:
    """A value as a number, the way each language converts."""
    if _type(value) == "number":
        return _double(value) if meaning in ("loose", "strict") else value
    match meaning:
        case "feel":
            return None
        case "juel":
            if _nothing(value) or value == "":
                return 0
            if isinstance(value, str):
                if JUEL_NUMBER.fullmatch(value) is None:
                    raise _NoAnswer
                return float(value) if any(c in value for c in ".eE") else int(value)
            raise _NoAnswer
        case "loose" | "strict" | "xpath":
            return _js_number(_primitive(value))
        case "java" | "typed" | "identity" | "equals" | "python" | "exact":
            raise _NoAnswer
        case _:
            assert_never(meaning)


def _nothing(value: Any) -> bool:
    return value is None or value is _UNDEFINED


def _type(value: Any) -> str:
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "text"
    return "nothing" if _nothing(value) else "object"


def _length(value: Any) -> int | None:
    return len(value) if isinstance(value, str | list | tuple | dict) else None


def _alike(one: Any, two: Any) -> bool:
    """Whether values are equal without conversion: Python's true is 1."""
    if isinstance(one, list | tuple) and isinstance(two, list | tuple):
        return len(one) == len(two) and all(map(_alike, one, two))
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(_alike(one[k], two[k]) for k in one)
    if _nothing(one) or _nothing(two):
        return _nothing(one) and _nothing(two)
    return _type(one) == _type(two) and bool(one == two)


def _same(one: Any, two: Any) -> bool:
    """Objects are the same where they are one object, all else where it is equal."""
    if _type(one) == "object":
        return one is two
    return bool(one == two) if _type(one) != "number" else _double(one) == _double(two)


# XPath


def _in_xpath(operator: str, one: Any, two: Any) -> bool:
    """XPath 1.0, 3.4: a list is compared by its values, of which one has to fit."""
    if operator in ("==", "!=") and "truth" in (_type(one), _type(two)):
        truths = [bool(value) for value in (one, two)]
        return (truths[0] == truths[1]) is (operator == "==")
    return any(_fits(operator, x, y) for x in _every(one) for y in _every(two))


def _every(value: Any) -> Sequence[Any]:
    if isinstance(value, list | tuple):
        return value
    return () if _nothing(value) else (value,)


def _fits(operator: str, one: Any, two: Any) -> bool:
    if operator in ("==", "!="):
        if "number" in (_type(one), _type(two)):
            equal = _xpath_number(one) == _xpath_number(two)
        else:
            equal = _js_text(_primitive(one)) == _js_text(_primitive(two))
        return equal is (operator == "==")
    return bool(_ordered(operator, _xpath_number(one), _xpath_number(two), "loose"))


def _xpath_number(value: Any) -> float:
    if not isinstance(value, str):
        return _js_number(_primitive(value))
    return float(value) if XPATH_NUMBER.fullmatch(value) else math.nan


# JUEL


def _equal_converted(one: Any, two: Any) -> bool:
    if _nothing(one) or _nothing(two):
        return _nothing(one) and _nothing(two)
    kinds = (_type(one), _type(two))
    if "number" in kinds:
        first, second = _juel_numbers(one, two)
        return bool(first == second)
    if "truth" in kinds:
        return _truth(one, "juel") == _truth(two, "juel")
    if "text" in kinds:
        return _juel_text(one) == _juel_text(two)
    return _alike(one, two)


def _juel_numbers(one: Any, two: Any) -> tuple[Any, Any]:
    """Two values to be compared as numbers: beside a whole number, only the text of one is
    converted (Expression Language 3.0, 1.8.1)."""
    for number, text in ((one, two), (two, one)):
        whole = isinstance(number, int) and not isinstance(number, bool)
        if whole and isinstance(text, str) and text and WHOLE_NUMBER.fullmatch(text) is None:
            raise _NoAnswer
    return _number(one, "juel"), _number(two, "juel")


def _juel_text(value: Any) -> str:
    if _type(value) == "object":
        raise _NoAnswer  # what `toString` gives depends on the class
    return _js_text(value)


# JavaScript


def _equal_loosely(one: Any, two: Any) -> bool:
    """ECMA-262, 7.2.15 (IsLooselyEqual)."""
    if _nothing(one) or _nothing(two):
        return _nothing(one) and _nothing(two)
    if _type(one) == _type(two):
        return _same(one, two)
    one, two = _primitive(one), _primitive(two)
    if isinstance(one, str) and isinstance(two, str):
        return one == two
    return bool(_js_number(one) == _js_number(two))


def _primitive(value: Any) -> Any:
    """ECMA-262, 7.1.1 (ToPrimitive) for the objects that JSON has."""
    if isinstance(value, list | tuple):
        return ",".join("" if _nothing(v) else _js_text(_primitive(v)) for v in value)
    return "[object Object]" if isinstance(value, dict) else value


def _js_number(value: Any) -> float:
    """ECMA-262, 7.1.4 (ToNumber) for a primitive."""
    if value is None:
        return 0.0
    if value is _UNDEFINED:
        return math.nan
    if not isinstance(value, str):
        return _double(value)
    text = value.strip(" \t\n\r\v\f\u00a0\ufeff\u2028\u2029")
    if not text:
        return 0.0
    for prefix, base in (("0x", 16), ("0o", 8), ("0b", 2)):
        if text[:2].lower() == prefix:
            digits = text[2:]
            return _double(int(digits, base)) if digits.isalnum() and digits.isascii() and all(
                int(c, 36) < base for c in digits
            ) else math.nan  # fmt: skip
    if text.lstrip("+-") == "Infinity" and len(text) <= 9:
        return -math.inf if text[0] == "-" else math.inf
    if any(c not in "0123456789.eE+-" for c in text):
        return math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan


def _double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)


def _js_text(value: Any) -> str:
    """ECMA-262, 7.1.17 (ToString) for a primitive."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if value is _UNDEFINED:
        return "undefined"
    return _js_digits(_double(value))


def _js_digits(number: float) -> str:
    """ECMA-262, 6.1.6.1.20 (Number::toString): shortest digits; exponent beyond 21 places."""
    if number != number:
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    mantissa, _, exponent = f"{abs(number)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    digits = (whole + fraction).lstrip("0")
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len(digits))
    digits = digits.rstrip("0")
    count = len(digits)
    if count <= point <= 21:
        return sign + digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{tail}e{'+' if point > 0 else '-'}{abs(point - 1)}"
