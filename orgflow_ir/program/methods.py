"""Methods and functions that several languages have, one row each.

Where a method has no result for a receiver, engines raise an error. A target prints each row by its
name, or refuses it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from orgflow_ir.program import requirements
from orgflow_ir.program.syntax import (
    Apply,
    Arithmetic,
    Call,
    Checked,
    Compute,
    Constant,
    Empty,
    Found,
    KnownType,
    Method,
    Negative,
    Operation,
    Tree,
    is_open,
    keep_operation,
    no_requirements,
    same_tree,
)
from orgflow_ir.program.values import (
    UNDEFINED,
    NoAnswer,
    equal_if_typed,
    equal_values,
    is_nothing,
    length_of,
    or_null,
    type_name,
)

Value = Callable[[Tree], Any]
"""Evaluates an operand."""


def define_method(
    name: str,
    *,
    compute: Compute,
    result: KnownType | None = None,
    javascript: Callable[[Any], Tree] = keep_operation,
    checked: Checked = "receiver",
    needs: Callable[[Any], Iterable[Found]] = no_requirements,
) -> Method:
    """A row of the table. Raises `ValueError` for a name that is taken.

    Args:
        name: unique.
        compute: the value in Python of a node; the second argument evaluates operands.
        result: the type of every value.
        javascript: the form in JavaScript, if the target does not print the method itself.
        checked: the operands for which an engine may end with an error.
        needs: what the operands have to be.
    """
    return Method(
        name,
        checked=checked,
        type_of=lambda tree: result,
        compute=compute,
        javascript=javascript,
        requirements=needs,
    )


def _compute_eagerly(compute: Callable[..., Any]) -> Compute:
    """The value of a method of which all operands are evaluated."""
    return lambda tree, value: compute(*map(value, tree.operands))


def _no_answer(*values: Any) -> Any:
    raise NoAnswer


def _of_texts(text: Callable[..., Any], collection: Callable[..., Any] = _no_answer) -> Compute:
    """The value of a method of texts with texts as arguments, and of lists and objects."""

    def compute(receiver: Any, *arguments: Any) -> Any:
        if isinstance(receiver, list | tuple | dict):
            return collection(receiver, *arguments)
        if not isinstance(receiver, str) or not all(
            isinstance(argument, str) for argument in arguments
        ):
            raise NoAnswer
        return text(receiver, *arguments)

    return _compute_eagerly(compute)


# Texts and collections.


def _count_utf16(text: str) -> int:
    return len(text.encode("utf-16-be", "surrogatepass")) // 2


def _contains_same(collection: Any, wanted: Any) -> bool:
    if isinstance(collection, dict):
        raise NoAnswer
    return any(type_name(v) == type_name(wanted) and v == wanted for v in collection)


def _contains_equal(collection: Any, wanted: Any) -> bool:
    if isinstance(collection, dict):
        raise NoAnswer
    return any(equal_values(entry, wanted) for entry in collection)


def _is_empty(value: Any) -> bool:
    return not value


def _contains_text(text: str, part: str) -> bool:
    return part in text


_BLANK = "".join(map(chr, range(33)))
"""The characters that Java's `trim` removes."""

SIZE = define_method("size", result="whole", compute=_of_texts(_count_utf16, len))
IS_EMPTY = define_method("is empty", result="truth", compute=_of_texts(_is_empty, _is_empty))
CONTAINS = define_method(
    "contains", result="truth", compute=_of_texts(_contains_text, _contains_same)
)
STARTS_WITH = define_method(
    "starts with", result="truth", compute=_of_texts(str.startswith), checked="operands"
)
ENDS_WITH = define_method(
    "ends with", result="truth", compute=_of_texts(str.endswith), checked="operands"
)
LOWER = define_method("lower", result="text", compute=_of_texts(str.lower))
UPPER = define_method("upper", result="text", compute=_of_texts(str.upper))
TRIM = define_method("trim", result="text", compute=_of_texts(str.strip))

# Methods of Java's classes, which are more strict.

LENGTH = define_method("length", result="whole", compute=_of_texts(_count_utf16))
"""The length of a text."""

COUNT = define_method("count", result="whole", compute=_of_texts(_no_answer, len))
"""The number of entries of a list or object."""

HAS = define_method(
    "has",
    result="truth",
    compute=_of_texts(_contains_text, _contains_equal),
    checked="operands",
)
"""Whether a text contains a text, or a list an equal value."""

STRIP = define_method("strip", result="text", compute=_of_texts(lambda text: text.strip(_BLANK)))
"""A text without spaces and control characters at its ends."""

CONCAT = define_method("concat", result="text", compute=_of_texts(str.__add__), checked="operands")
"""A text with another at its end."""


def _same_letters(left: Any, right: Any) -> bool:
    """Java's `equalsIgnoreCase`, which compares the characters one by one."""
    if not isinstance(left, str) or not (isinstance(right, str) or is_nothing(right)):
        raise NoAnswer
    if is_nothing(right) or len(left) != len(right):
        return False
    return all(_without_case(a) == _without_case(b) for a, b in zip(left, right, strict=True))


def _without_case(char: str) -> str:
    """A character without its case; a character whose other case is several is itself."""
    upper = char.upper() if len(char.upper()) == 1 else char
    return upper.lower() if len(upper.lower()) == 1 else upper


SAME_LETTERS = define_method(
    "same letters", result="truth", compute=_compute_eagerly(_same_letters), checked="operands"
)
"""Whether texts are equal but for case."""


def _compute_empty(tree: Empty, value: Value) -> bool:
    operand = value(tree.operand)
    return is_nothing(operand) or length_of(operand) == 0


EMPTY: Operation[Empty] = Operation(
    "empty",
    Empty,
    "",
    type_of=lambda tree: "truth",
    compute=_compute_empty,
    javascript=keep_operation,
    requirements=no_requirements,
    guard=same_tree,
)
"""JUEL's `empty`: null, or an empty text or collection."""


# JSON.

_LEAST_PLAIN, _MOST_PLAIN = 1e-4, 2**53
"""JavaScript and Python write numbers between these without an exponent."""


def _parse_json(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text)
    except ValueError:
        raise NoAnswer from None


def _check_json(text: Any) -> Any:
    if isinstance(text, str):
        _parse_json(text)
    return text


def _as_written(value: Any) -> Any:
    """A value as JavaScript writes it: whole numbers without a fraction. Numbers that it writes
    with an exponent have no answer, nor has undefined."""
    if value is UNDEFINED:
        raise NoAnswer
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not (value == 0 or _LEAST_PLAIN <= abs(value) <= _MOST_PLAIN):
            raise NoAnswer
        return int(value) if value == int(value) else value
    if isinstance(value, list | tuple):
        return [_as_written(entry) for entry in value]
    if isinstance(value, dict):
        return {key: _as_written(entry) for key, entry in value.items()}
    return value


def _write_json(value: Any, *, ascii_only: bool) -> str:
    return json.dumps(_as_written(value), ensure_ascii=ascii_only, separators=(",", ":"))


JSON = define_method("json", compute=_compute_eagerly(_parse_json))
"""The value of JSON text; another value is itself."""

WRITTEN_JSON = define_method(
    "written json",
    result="text",
    compute=_compute_eagerly(lambda v: _write_json(v, ascii_only=False)),
)
ESCAPED_JSON = define_method(
    "escaped json",
    result="text",
    compute=_compute_eagerly(lambda v: _write_json(v, ascii_only=True)),
)
"""The JSON of a value in ASCII."""

JSON_TEXT = define_method("json text", compute=_compute_eagerly(_check_json))
"""The value, which has to be JSON if it is a text."""


# Lists and objects.


def _compute_entry(tree: Call, value: Value) -> Any:
    of, key = value(tree.left), tree.right
    if not isinstance(key, Constant):
        raise NoAnswer
    name = key.value
    if isinstance(of, dict) and name in of:
        return of[name]
    if isinstance(of, list | tuple) and isinstance(name, int) and 0 <= name < len(of):
        return of[name]
    raise NoAnswer


def _compute_map(*operands: Any) -> dict[Any, Any]:
    return dict(zip(operands[::2], operands[1::2], strict=True))


def _append_entry(of: Any, entry: Any) -> list[Any]:
    if not isinstance(of, list):
        raise NoAnswer
    return [*of, entry]


def _find_single(of: Any) -> Any:
    every = [*of.values()] if isinstance(of, dict) else of
    if is_nothing(every):
        return None
    if not isinstance(every, list) or len(every) > 1:
        raise NoAnswer
    return every[0] if every else None


ENTRY = define_method("entry", compute=_compute_entry)
"""The entry of an object or list under a constant name or number."""

LIST = define_method("list", compute=_compute_eagerly(lambda *entries: list(entries)))
MAP = define_method("map", compute=_compute_eagerly(_compute_map))
"""An object of constant names, each followed by its value."""

APPEND = define_method("append", compute=_compute_eagerly(_append_entry))
"""A list with a value added at the end."""

SINGLE = define_method("single", compute=_compute_eagerly(_find_single))
"""The only value of a list or object; null if it is empty, no result if there are several."""

TRUTH = define_method("truth", result="truth", compute=_compute_eagerly(bool), checked="nothing")
"""Whether a value counts as true in Groovy: an empty list or object does not."""

OR_NULL = define_method("or null", compute=_compute_eagerly(or_null))
"""The value, or null if there is none."""


# Tests that translations to JavaScript contain.

_TYPES_OF = {
    "truth": "boolean", "number": "number", "text": "string", "object": "object",
    "nothing": "undefined",
}  # fmt: skip


def _type_of(value: Any) -> str:
    return "object" if value is None else _TYPES_OF[type_name(value)]


def _says_true(value: Any) -> bool:
    return value is True or (isinstance(value, str) and value.lower() == "true")


def _python_equal(left: Any, right: Any) -> bool:
    if is_nothing(left) or is_nothing(right):
        return is_nothing(left) and is_nothing(right)
    return bool(left == right)


def _juel_equal(left: Any, right: Any) -> bool:
    from orgflow_ir.program.juel_operators import equal_converted  # whose rows need this one

    try:
        return equal_converted(left, right)
    except NoAnswer:
        return False


def _compute_modulo(left: Any, right: Any) -> Any:
    if type_name(left) != "number" or type_name(right) != "number" or right == 0:
        raise NoAnswer
    return left % right


TYPE = define_method("type", result="text", compute=_compute_eagerly(_type_of), checked="nothing")
"""JavaScript's `typeof`."""

IS_LIST = define_method(
    "is list",
    result="truth",
    compute=_compute_eagerly(lambda value: isinstance(value, list | tuple)),
)
IS_TRUE = define_method(
    "is true", result="truth", compute=_compute_eagerly(_says_true), checked="nothing"
)
"""Whether a value is true, or the text `true`."""

SAME = define_method("same", compute=_compute_eagerly(equal_if_typed))
"""Whether two values are equal without conversion, lists and objects by their content."""

JUEL_EQUAL = define_method("juel equal", compute=_compute_eagerly(_juel_equal))
PYTHON_EQUAL = define_method("python equal", compute=_compute_eagerly(_python_equal))
MODULO = define_method("modulo", compute=_compute_eagerly(_compute_modulo))
"""Python's `%`."""


# Requests.

MEDIA_TYPE = define_method("media type", compute=_compute_eagerly(_no_answer))
"""Of the headers of a request, the type of its body; JSON if they state none."""

OTHER_HEADERS = define_method("other headers", compute=_compute_eagerly(_no_answer))
"""Those without the type of the body."""

AS_MEDIA = define_method("as media", compute=_compute_eagerly(_no_answer))
"""A body as the text that is sent in a media type."""

LITERAL_PLUS = define_method("literal plus", compute=_compute_eagerly(_no_answer))
"""An address in which each plus is encoded, so that it is not read as a space."""


# Arithmetic of Groovy with decimals.


def _compute_decimal(tree: Call, value: Value) -> float | None:
    from orgflow_ir.program.decimals import value_in_groovy  # needed for few trees

    def find_number(operand: Tree) -> Any:
        number = value(operand)
        if type_name(number) != "number":
            raise NoAnswer
        return number

    return value_in_groovy(tree.operand, find_number)


def _decimal_requirements(tree: Call) -> Iterator[Found]:
    yield from ((requirements.NUMBER, (leaf,)) for leaf in _open_leaves(tree.operand))
    yield requirements.EXACT, (tree,)


def _open_leaves(tree: Tree) -> Iterator[Tree]:
    """Operands of arithmetic whose type depends on variables."""
    if isinstance(tree, Arithmetic | Negative) or (
        isinstance(tree, Apply) and tree.operation is UNSURE
    ):
        for operand in tree.operands:
            yield from _open_leaves(operand)
    elif is_open(tree, "number"):
        yield tree


DECIMAL = define_method(
    "decimal", result="number", compute=_compute_decimal, needs=_decimal_requirements
)
"""The value of an arithmetic expression of Groovy with decimals (`orgflow_ir.program.decimals`)."""

UNSURE = define_method("unsure", compute=lambda tree, value: value(tree.operand), checked="nothing")
"""A number in it that may be a decimal or a double."""

COMMON_METHODS: Final[dict[str, tuple[Method, int]]] = {
    "size": (SIZE, 0), "length": (SIZE, 0), "isEmpty": (IS_EMPTY, 0), "contains": (CONTAINS, 1),
    "includes": (CONTAINS, 1), "startsWith": (STARTS_WITH, 1), "endsWith": (ENDS_WITH, 1),
    "toLowerCase": (LOWER, 0), "toUpperCase": (UPPER, 0), "trim": (TRIM, 0),
}  # fmt: skip
"""Methods of texts and collections in JavaScript, Python and dialects of them, with their number of
arguments."""
