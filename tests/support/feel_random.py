"""Random expressions of FEEL, and their values by the evaluator and by what is emitted."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from orgflow.backends.javascript.exact_code import make_runtime_printer
from orgflow.evaluation.dmn_kit import run_javascript

from orgflow_ir.languages.feel.parser import parse_expression
from orgflow_ir.program.feel.conversion_functions import text_of
from orgflow_ir.program.feel.signatures import SIGNATURES
from orgflow_ir.program.feel.values import Unsupported
from orgflow_ir.program.structure_evaluation import evaluate

NUMBERS = (
    "0", "1", "2", "3", "-1", "0.5", "2.5", "-2.5", "10", "100", "0.1", "0.333", "1e20", "1e-20",
    "12345678901234567890123456789012345678", "9.999999999999999999999999999999999e6144",
    "1e-6176", "0.1234567890123456789012345678901234567", "-7", "7", "12", "31", "2024", "-0.1",
)  # fmt: skip
STRINGS = (
    '""', '"a"', '"b"', '"foobar"', '"Foo Bar"', r'"\U01F40Eab"', '"\\"quoted\\""', '"1.000,5"',
    '"1,5"', '"2024-02-29"', '"10:30:00Z"', '"P1D"', '"[1..3)"', '"é\uff5e\U0001f600"', '"ß"',
    '"}}"', '"{{x"', r'"a.b"', r'"(a|b)+"', r'"[^a-c]\\d*"', '"$1x"', '"Europe/Paris"', '","',
    '"."', '" "', '"i"', '"Monday"', '"-1.5e3"',
)  # fmt: skip
TEMPORAL = (
    '@"2024-02-29"', '@"2023-12-31"', '@"-0044-03-15"', '@"999999999-12-31"', '@"10:30:00"',
    '@"23:59:59.999999999Z"', '@"00:00:00+14:00"', '@"10:30:00@Europe/Paris"',
    '@"2024-03-31T02:30:00@Europe/Paris"', '@"2024-10-27T02:30:00@Europe/Paris"',
    '@"2024-07-01T12:00:00@America/New_York"', '@"2024-07-01T12:00:00Z"', '@"2024-07-01T12:00:00"',
    '@"1750-01-01T00:00:00@Europe/London"', '@"12024-07-01T00:00:00@Asia/Tokyo"', '@"P1D"',
    '@"-P1DT2H3M4.5S"', '@"PT0S"', '@"P1Y2M"', '@"-P13M"', '@"P0Y"', '@"PT36H"',
)  # fmt: skip
RANGES = ("[1..3]", "(1..3)", "[2..5)", "(< 3)", "(>= 2)", '["a".."c"]',
          '[@"2024-01-01"..@"2024-12-31"]', "(= 2)")  # fmt: skip
LISTS = (
    "[]", "[1]", "[1, 2, 3]", "[3, 1, 2, 1]", '["b", "a"]', "[true, false]", "[true, null]",
    "[[1], [2, [3]]]", "[{a: 1}, {a: 2, b: 1}]", "[null]", '[1, "a"]', '[@"P1D", @"PT2H"]',
    '[{key: "a", value: 1}]', "[2.5, 2.50, 1e1]",
)  # fmt: skip
OTHERS = ("null", "true", "false", "{a: 1, b: {c: 2}}", "{}", '{"x y": "z"}', "a", "item", "b c")
FUNCTIONS = ("function(x, y) x < y", "function(x, y) x <= y", "function(x) x * 2", "abs", "sum")
TYPES = ("number", "string", "list<number>", "context<a: number>", "date", "range<number>", "Any")
WITHOUT = frozenset({"now", "today"})
"""Functions whose value depends on when they are called."""

VALUES = {"a": "2.5", "b c": '{a: [1, 2], "d e": "x"}'}
"""Variables that the expressions may name, as expressions."""


def expression(rng: random.Random, depth: int = 3) -> str:
    """A random expression."""
    if depth == 0 or rng.random() < 0.1:
        pools = (NUMBERS, NUMBERS, STRINGS, TEMPORAL, RANGES, LISTS, OTHERS)
        return rng.choice(rng.choice(pools))

    def inner() -> str:
        return expression(rng, depth - 1)

    match rng.randrange(19):
        case 18:
            return f"-({inner()})"
        case 0 | 1 | 2:
            return f"({inner()} {rng.choice(('+', '-', '*', '/', '**'))} {inner()})"
        case 3:
            return f"({inner()} {rng.choice(('=', '!=', '<', '<=', '>', '>='))} {inner()})"
        case 4:
            return f"({inner()} {rng.choice(('and', 'or'))} {inner()})"
        case 5:
            return f"(if {inner()} then {inner()} else {inner()})"
        case 6:
            tests = rng.choice((f"(< {inner()}, {inner()})", f"{rng.choice(RANGES)}", inner()))
            return f"({inner()} in {tests})"
        case 7:
            condition = rng.choice(("item > 1", "a > 1", "1", "-1", "true", inner()))
            return f"({inner()})[{condition}]"
        case 8:
            names = ("a", "b", "year", "hour", "days", "months", "start", "time offset", "second")
            return f"({inner()}).{rng.choice(names)}"
        case 9:
            body = rng.choice(("i", "i + 1", "count(partial)", inner()))
            return f"(for i in {inner()} return {body})"
        case 10:
            kind = rng.choice(("some", "every"))
            return f"({kind} i in {inner()} satisfies {rng.choice(('i > 1', 'i', inner()))})"
        case 11:
            return f"({inner()} instance of {rng.choice(TYPES)})"
        case 12:
            return f"[{inner()}, {inner()}]"
        case 13:
            return f"({inner()} between {inner()} and {inner()})"
        case _:
            return call(rng, depth)


def call(rng: random.Random, depth: int) -> str:
    """A call of a built-in function, mostly with arguments of the right kinds."""
    name = rng.choice(sorted(SIGNATURES.keys() - WITHOUT))
    signature = rng.choice(SIGNATURES[name])
    arguments = []
    for parameter in signature.parameters:
        if parameter.optional and rng.random() < 0.5:
            break
        kind = rng.choice(parameter.kinds)
        if rng.random() < 0.1:
            arguments.append(expression(rng, depth - 1))
            continue
        arguments.append(argument(rng, kind, depth))
    if signature.variadic and rng.random() < 0.4:
        arguments += [expression(rng, depth - 1) for _ in range(rng.randrange(3))]
    return f"{name}({', '.join(arguments)})"


def argument(rng: random.Random, kind: str, depth: int) -> str:
    """An expression that is likely of a kind."""
    match kind:
        case "number":
            if rng.random() < 0.3:
                return f"({rng.choice(NUMBERS)} * {rng.choice(NUMBERS)})"
            return rng.choice(NUMBERS)
        case "string":
            return rng.choice(STRINGS)
        case "list":
            return rng.choice(LISTS)
        case "range":
            return rng.choice(RANGES)
        case "context":
            return rng.choice(("{a: 1, b: {c: 2}}", "{}", "b c"))
        case "function":
            return rng.choice(FUNCTIONS)
        case "date" | "time" | "date and time" | "duration" | "days and time duration":
            return rng.choice(TEMPORAL)
    return expression(rng, depth - 1)


def differences(texts: Sequence[str]) -> tuple[list[str], int]:
    """Expressions whose values differ between the evaluator and JavaScript in Node, and how many
    were compared; those that the evaluator refuses have to be refused by JavaScript."""
    known = {name: evaluate(parse_expression(text)) for name, text in VALUES.items()}
    programs: list[str] = []
    expected: list[tuple[str, str | None]] = []
    for text in texts:
        tree = parse_expression(text, VALUES)
        printer = make_runtime_printer()
        code = printer.tree(tree)
        entries = ", ".join(
            f'["{name}", ((s) => {printer.tree(parse_expression(value))})(null)]'
            for name, value in VALUES.items()
        )
        # The flags stay as they are: what is left out has to be what is not needed.
        programs.append(
            printer.program(f"const s = scope([{entries}], null);\nreturn show({code});")
        )
        try:
            expected.append((text, text_of(evaluate(tree, known))))
        except Unsupported:
            expected.append((text, None))
    found = run_javascript(programs)
    wrong = [
        f"{text}\n  evaluator: {value}\n  {kind}: {shown}"
        for (text, value), (kind, shown) in zip(expected, found, strict=True)
        if (kind, shown) != ("value", value)
        and not (value is None and kind == "error" and shown.startswith("Error: FEEL: "))
    ]
    return wrong, len(expected)


_LEAVES = {
    "number": ("5", "0.1", "-1", "2", "0.3", "null", "a", "b", "a.b", "b.b", "a[1]", "a[1].b"),
    "text": ('"a"', '""', '"b"', "null", "a", "b", "a.b", "a[1]", "b[-1].b"),
    "truth": ("true", "false", "null", "a", "b.b"),
    "list": ("[]", "[1, 5]", '["a"]', "a", "b", "a.b", "[{b: 5}, {b: 0.1}]", "[true, null]"),
    "any": ("null", "a", "b", "a.b", "{b: 5}", "{b: [a]}"),
}
_SIGNS = ("=", "!=", "<", "<=", ">", ">=")
_OPERATIONS = {
    "number": (
        "({number} + {number})", "({number} - {number})", "({number} * {number})", "count({list})",
        "string length({text})", "sum({list})", "modulo({number}, 2)", "{list}[1]",
        "get or else({number}, {number})", "(if {truth} then {number} else {number})",
        "{{b: {number}}}.b", "({any} + {any})",
    ),
    "text": (
        "({text} + {text})", "upper case({text})", "string({any})", "{list}[2]",
        "(if {truth} then {text} else {text})", "({any} + {text})", 'string join({list}, ", ")',
    ),
    "truth": (
        "({number} {sign} {number})", "({text} {sign} {text})", "({any} {sign} {any})",
        "({list} {sign} {list})", "({truth} and {truth})", "({truth} or {truth})", "not({truth})",
        "({truth} = {truth})", "contains({text}, {text})", "starts with({text}, {text})",
        "list contains({list}, {any})", "is defined({any})", "is empty({list})", "all({list})",
        "(some {new} in {list} satisfies {truth})", "(every {new} in {list} satisfies {truth})",
        "({number} in ({sign} {number}, {number}))", "({number} in [0.1..5])",
        '({text} in ("a", "b"))', "({any} in [1, 5])", "({any} in (null))", "any({list})",
        "({number} between {number} and {number})", "(if {truth} then {truth} else {truth})",
    ),
    "list": (
        "(for {new} in {list} return {any})", "{list}[{truth}]", "append({list}, {any})",
        "[{any}, {any}]", "({list}).b", "{list}[item {sign} {any}]", "{list}[b {sign} {any}]",
    ),
    "any": ("{number}", "{text}", "{truth}", "{list}", "{{b: {any}}}", "({any}).b"),
}  # fmt: skip


_DATED_LEAVES = {
    **_LEAVES,
    "date": ("date(a)", "date(b)", "date(a.b)", "today()", '@"2024-02-29"', 'date("2023-12-31")',
             "date(date and time(b))", "null", "a"),
    "moment": ("date and time(a)", "date and time(b)", '@"2024-03-31T02:30:00Z"',
               '@"2024-03-31T02:30:00"', '@"2024-03-31T02:30:00@Europe/Paris"', "null",
               "date and time(today())"),
    "days": ('@"P1D"', '@"-PT36H"', 'duration("P30DT0.5S")', '@"P4000D"', '@"PT0S"'),
    "months": ('@"P1M"', '@"-P13M"', 'duration("P400Y")', '@"P0M"'),
}  # fmt: skip
_DATED_OPERATIONS = {
    **_OPERATIONS,
    "number": (
        *_OPERATIONS["number"], "({number} / {number})", "({number} / 3)", "({date}).year",
        "({date}).month", "({moment}).day",
        "({days}).days", "({date}).weekday", "({moment}).hour", "({moment}).second",
        "({days}).hours", "({days}).seconds", "({months}).years", "({months}).months",
        "day of year({date})",
    ),
    "text": (
        *_OPERATIONS["text"], "string({date})", "string({moment})",
        "string({months})", "string(duration({text}))",
        "day of week({date})", "month of year({moment})", 'replace({text}, "a(b)?", "$1x")',
        "substring({text}, 2)", 'substring before({text}, "b")', 'substring after({text}, "-")',
    ),
    "truth": (
        *_OPERATIONS["truth"], *("({date} {sign} {date})", "({moment} {sign} {moment})") * 4,
        *("({days} {sign} {days})", "({months} {sign} {months})") * 3,
        *("({date} in ({sign} {date}))",) * 3,
        "({date} between {date} and {date})", '({date} in [@"2024-01-01"..today()))',
        '({date} in (@"2024-02-29", @"2023-12-31"))', "is defined({date})", "({any} {sign} {date})",
        'matches({text}, "^[0-9]{{4}}-")', "({date} {sign} {moment})",
        "({text} in (matches(?, \"a\"), \"b\"))",
    ),
    "any": (*_OPERATIONS["any"], "{date}", "{moment}", "{months}"),
    "date": (
        "({date} + {days})", "({date} - {months})", "({days} + {date})", "date({moment})",
        "(if {truth} then {date} else {date})", "({date} + {days})", "date({text})",
    ),
    "moment": (
        "({moment} + {days})", "({moment} - {days})", "({moment} + {months})",
        "date and time({text})", "date and time({date})",
    ),
    "days": ("({date} - {date})", "({moment} - {moment})"),
    "months": ("years and months duration({date}, {date})",),
}  # fmt: skip


def plain_expression(
    rng: random.Random,
    depth: int,
    of: str = "",
    names: tuple[str, ...] = (),
    *,
    dated: bool = False,
) -> str:
    """A random expression of the operations that conditions use, over the variables `a` and `b`;
    if `dated`, also with dates and durations. Most operands have the type that an operation
    takes."""
    leaves = _DATED_LEAVES if dated else _LEAVES
    of = of if of and rng.random() < 0.9 else rng.choice(tuple(leaves))
    if depth == 0 or rng.random() < 0.15:
        return rng.choice((*leaves[of], *names * 3, *(f"{name}.b" for name in names)))
    new = rng.choice("xyz")
    text = rng.choice((_DATED_OPERATIONS if dated else _OPERATIONS)[of])
    parts = re.split(r"(\{\w+\})", text)
    inner = (*names, new) if "{new}" in text else names
    written = []
    bound = False
    for part in parts:
        if part == "{new}":
            written.append(new)
        elif part == "{sign}":
            written.append(rng.choice(_SIGNS))
        elif part[:1] == "{" and part[1:-1] in leaves:
            bound = bound or "return" in "".join(written) or "satisfies" in "".join(written)
            given = inner if bound else names
            written.append(plain_expression(rng, depth - 1, part[1:-1], given, dated=dated))
        else:
            written.append(part.replace("{{", "{").replace("}}", "}"))
    return "".join(written)
