"""Conditions and values as JSONata.

Every operation is printed by one row of a table; an operation without a row has no translation.
JSONata differs from JavaScript in its conversions, in null and in lists of one value, so that most
operations are functions (`functions.jsonata`), which end an execution with an error for operands
whose result they do not have. No text of the source is copied.

Rules are those of JSONata 2.0.6, the version of Step Functions ("Transforming data with JSONata in
Step Functions").
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Final, assert_never

from orgflow_ir.model.records import NamedTuple
from orgflow_ir.program.feel_operators import FEEL
from orgflow_ir.program.readings import FLAG
from orgflow_ir.program.syntax import (
    Apply,
    Arithmetic,
    Call,
    Comparison,
    ConditionError,
    Constant,
    Exact,
    Logical,
    Negative,
    Path,
    Scalar,
    Structure,
    Tree,
    Variable,
    as_javascript,
    nodes,
)


class Variables(NamedTuple):
    """The code that reads a variable or a part of one: `read` its value, which is null if it has
    none, and `exists` whether it has one."""

    read: Callable[[Path], str]
    exists: Callable[[Path], str]


def print_value(tree: Tree, variables: Variables) -> str:
    """JSONata for the value of a tree. Raises `ConditionError` for a tree with an operation that
    JSONata does not have exactly."""
    code = as_javascript(tree)
    if _has_decimals(tree) and any(isinstance(node, Arithmetic | Negative) for node in nodes(code)):
        raise ConditionError("JSONata has no decimal numbers")
    return _print_code(code, variables)


def print_condition(tree: Tree, variables: Variables) -> str:
    """JSONata that is true if a condition holds, else false. Raises as `print_value`."""
    return _print_truth(as_javascript(tree), print_value(tree, variables))


def print_constant(value: Scalar) -> str:
    """A literal. Raises `ConditionError` for a number that JSONata has no literal for."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ConditionError("JSONata has finite numbers only")
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53:
        raise ConditionError("JSONata has no whole numbers beyond 2**53")
    # An expression ends at the first `%}`.
    return json.dumps(value, ensure_ascii=False).replace("%}", "%\\u007d")


def _has_decimals(tree: Tree) -> bool:
    """Whether a tree computes with the numbers of FEEL, which have 34 decimal digits."""
    rows = (*FEEL.arithmetic.values(), FEEL.negative)
    computed = (node for node in nodes(tree) if isinstance(node, Arithmetic | Negative))
    return any(
        node.operation in rows
        and not (isinstance(node, Negative) and isinstance(node.operand, Constant))
        for node in computed
    )


def _print_code(tree: Tree, variables: Variables) -> str:
    """The code of a tree in operations of JavaScript."""
    match tree:
        case Constant(value):
            return print_constant(value)
        case Variable(path):
            return f"$isTrue({variables.read(path)})" if is_flag(tree) else variables.read(path)
        case Apply(operation):
            special = SPECIAL.get(operation.name)
            if special is not None and (code := special(tree, variables)) is not None:
                return code
            row = PRINTED.get(operation.name)
            if row is None:
                raise ConditionError(f"JSONata has no exact `{operation.name}`")
            return row([_print_code(operand, variables) for operand in tree.operands])
        case Exact() | Structure():
            raise ConditionError("JSONata does not have this expression of FEEL")
        case _:
            assert_never(tree)


# Truth values.


def is_known_truth(tree: Tree) -> bool:
    """Whether the code of a tree is true or false for all values of its variables."""
    if isinstance(tree, Constant):
        return isinstance(tree.value, bool)
    if isinstance(tree, Variable):
        return is_flag(tree)
    if isinstance(tree, Logical):
        return all(map(is_known_truth, tree.operands))
    return isinstance(tree, Apply) and (
        isinstance(tree, Comparison) or tree.operation.name in TRUTHS
    )


def is_flag(variable: Variable) -> bool:
    """Whether a variable is a whole condition of JUEL, in which the text `true` is true."""
    return variable.reading is FLAG


def _print_truth(tree: Tree, code: str) -> str:
    return code if is_known_truth(tree) else f"$isTruthy({code})"


# Operations whose code depends on their operands.

Special = Callable[[Apply, Variables], str | None]
"""The code of a node, or `None` if it is not special."""


def _print_logical(tree: Apply, variables: Variables) -> str:
    """`and` and `or`, whose value is that of an operand; the right one may not be evaluated."""
    left, right = (_print_code(operand, variables) for operand in tree.operands)
    either = tree.operation.sign == "or"
    if is_known_truth(tree.left):
        return f"({left} ? true : {right})" if either else f"({left} ? {right} : false)"
    chosen = f"$left : {right}" if either else f"{right} : $left"
    return f"($left := {left}; $isTruthy($left) ? {chosen})"


def _print_not(tree: Apply, variables: Variables) -> str:
    return f"$not({_print_truth(tree.operand, _print_code(tree.operand, variables))})"


def _print_choice(tree: Apply, variables: Variables) -> str:
    condition, then, otherwise = (_print_code(operand, variables) for operand in tree.operands)
    return f"({_print_truth(tree.operands[0], condition)} ? {then} : {otherwise})"


def _print_order(tree: Apply, variables: Variables) -> str | None:
    """An order by code points (`compared`), which is null for values without an order."""
    left = tree.left
    if any(map(_is_beyond_surrogates, tree.operands)):
        raise ConditionError("JSONata orders texts by the units of UTF-16")
    if not isinstance(left, Call) or left.operation.name != "compared":
        return None
    sign = _JSONATA_SIGNS[tree.operation.sign]
    sides = ", ".join(_print_code(side, variables) for side in left.operands)
    compared = f"$order := $compared({sides})"
    return f'({compared}; $type($order) = "null" ? false : $order {sign} 0)'


def _is_beyond_surrogates(tree: Tree) -> bool:
    """Whether a constant is in another order with some text by code points than by the units of
    UTF-16."""
    return (
        isinstance(tree, Constant)
        and isinstance(tree.value, str)
        and any(character >= "\ud800" for character in tree.value)
    )


def _print_loose_equality(tree: Apply, variables: Variables) -> str | None:
    """A test for null converts nothing."""
    special = _print_missing(tree, variables) or _print_order(tree, variables)
    if special is not None or Constant(None) not in tree.operands:
        return special
    other = tree.left if tree.right == Constant(None) else tree.right
    return f"({_print_code(other, variables)} {_JSONATA_SIGNS[tree.operation.sign]} null)"


def _print_missing(tree: Apply, variables: Variables) -> str | None:
    """Whether the type of a value is that of undefined: it does not exist."""
    if Constant("undefined") not in tree.operands:
        return None
    other = tree.left if tree.right == Constant("undefined") else tree.right
    if not isinstance(other, Call) or other.operation.name != "type":
        return None
    if not isinstance(other.operand, Variable):
        raise ConditionError("JSONata does not tell whether a computed value exists")
    exists = variables.exists(other.operand.path)
    return f"$not({exists})" if tree.operation.sign == "==" else exists


def _print_strict_equality(tree: Apply, variables: Variables) -> str | None:
    """An equality with a constant, which no value of another type has."""
    if Constant(None) in tree.operands:
        raise ConditionError("JSONata does not distinguish null and undefined")
    if (missing := _print_missing(tree, variables)) is not None:
        return missing
    if not any(isinstance(operand, Constant) for operand in tree.operands):
        return None
    left, right = (_print_code(operand, variables) for operand in tree.operands)
    return f"({left} {_JSONATA_SIGNS[tree.operation.sign]} {right})"


def _print_texts(tree: Apply, variables: Variables) -> str:
    """The texts of values one after the other."""
    parts = []
    for operand in tree.operands:
        code = _print_code(operand, variables)
        is_text = isinstance(operand, Constant) and isinstance(operand.value, str)
        parts.append(code if is_text else f"$insertedText({code})")
    return f"({' & '.join(parts)})"


_JSONATA_SIGNS: Final = {"==": "=", "!=": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
"""JSONata's operators by those of most languages."""

SPECIAL: Final[Mapping[str, Special]] = {
    "js and": _print_logical,
    "js or": _print_logical,
    "js not": _print_not,
    "js choice": _print_choice,
    "text": _print_texts,
    **{f"js {sign}": _print_order for sign in ("<", "<=", ">", ">=")},
    **{f"js {sign}": _print_loose_equality for sign in ("==", "!=")},
    **{f"js strict {sign}": _print_strict_equality for sign in ("==", "!=")},
}


# The table: code by the codes of operands, for each operation by its name.

Print = Callable[[list[str]], str]


def _call_function(name: str) -> Print:
    return lambda codes: f"{name}({', '.join(codes)})"


def _call_swapped(name: str) -> Print:
    return lambda codes: f"{name}({codes[1]}, {codes[0]})"


def _call_negated(name: str) -> Print:
    return lambda codes: f"$not({name}({', '.join(codes)}))"


def _print_computed_text(codes: list[str]) -> str:
    value, *operands = codes
    doubles = [f"$isDouble({code})" for code in dict.fromkeys(operands)]
    double = "true" if "0.5" in operands else f"({' or '.join(doubles)})" if doubles else "false"
    return f"$javaText({value}, {double})"


def _print_list(codes: list[str]) -> str:
    code = "[]"
    for entry in codes:
        code = f"$append({code}, $listed({entry}))"
    return code


def _print_map(codes: list[str]) -> str:
    pairs = zip(codes[::2], codes[1::2], strict=True)
    return f"{{{', '.join(f'{name}: {value}' for name, value in pairs)}}}"


PRINTED: Final[Mapping[str, Print]] = {
    # Operators.
    "js ==": _call_function("$looselyEqual"),
    "js !=": _call_negated("$looselyEqual"),
    "js strict ==": _call_function("$strictlyEqual"),
    "js strict !=": _call_negated("$strictlyEqual"),
    "js <": _call_function("$less"),
    "js <=": _call_function("$lessOrEqual"),
    "js >": _call_swapped("$less"),
    "js >=": _call_swapped("$lessOrEqual"),
    "js +": _call_function("$add"),
    "js -": _call_function("$subtract"),
    "js *": _call_function("$multiply"),
    "js /": _call_function("$divide"),
    "js %": _call_function("$remainder"),
    "js negative": _call_function("$negate"),
    # Tests.
    "empty": _call_function("$isNothing"),
    "type": _call_function("$typeName"),
    "is list": lambda codes: f'($type({codes[0]}) = "array")',
    "is true": _call_function("$isTrue"),
    "truth": _call_function("$groovyTruth"),
    "same": lambda codes: f"({codes[0]} = {codes[1]})",
    "juel equal": _call_function("$juelEqual"),
    "python equal": _call_function("$pythonEqual"),
    "same letters": _call_function("$sameLetters"),
    "is empty": lambda codes: f"($size({codes[0]}) = 0)",
    "contains": _call_function("$includes"),
    "has": _call_function("$hasEqual"),
    "starts with": _call_function("$startsWith"),
    "ends with": _call_function("$endsWith"),
    # Texts and numbers.
    "size": _call_function("$size"),
    "length": _call_function("$textLength"),
    "count": _call_function("$entryCount"),
    "lower": lambda codes: f"$lowercase($text({codes[0]}))",
    "upper": lambda codes: f"$uppercase($text({codes[0]}))",
    "trim": _call_function("$trimmed"),
    "strip": _call_function("$stripped"),
    "concat": lambda codes: f"($text({codes[0]}) & $text({codes[1]}))",
    "java text": lambda codes: f"$javaText({codes[0]}, false)",
    "computed text": _print_computed_text,
    "modulo": _call_function("$modulo"),
    # Lists and objects.
    "list": _print_list,
    "map": _print_map,
    "append": _call_function("$appended"),
    "entry": _call_function("$needed"),
    "item": _call_function("$item"),
    "part": _call_function("$part"),
    "single": _call_function("$single"),
    "or null": lambda codes: codes[0],
}

TRUTHS: Final = frozenset(
    ("js not", "empty", "is list", "is true", "truth", "same", "juel equal", "python equal",
     "same letters", "is empty", "contains", "has", "starts with", "ends with")
)  # fmt: skip
"""Operations besides comparisons whose code is true or false."""

REFUSED: Final = frozenset(
    (
        # exact decimal numbers, and expressions over them
        "between", "exact list", "decimal", "unsure", "sum", "compared",
        # comparisons of lists in XPath
        *(f"xpath {sign}" for sign in ("==", "!=", "<", "<=", ">", ">=")),
        "xpath count", "xpath number", "xpath text",
        # JSON and requests
        "json", "written json", "escaped json", "json text", "literal plus", "media type",
        "other headers", "as media",
    )
)  # fmt: skip
"""Operations without an exact form; `compared` has one as an operand of an order."""
